//! Eigenvalues of bodies, with the preconditioners that there are: K on a device, every free unknown with a mass.

use crate::common::blocks::{Blocks, dense_of};
use crate::common::meshes::{CLAMP, SOFT, distorted_box, model, system};
use crate::common::{bits, on_every_device};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use warpfem::eigen::{EigenOptions, Eigenpairs, Pencil, lobpcg, n_vectors};
use warpfem::element::ElementKind::Hex8;
use warpfem::linalg::Space;
use warpfem::precond::{self, Context};
use warpfem::result::Ending;
use warpfem::result::choices::{Format, Preconditioner};

/// A clamped beam of distorted cells: its matrix, the masses, and what was found.
fn beam(
    space: &Space,
    cells: [usize; 3],
    n: usize,
    preconditioner: Preconditioner,
) -> (DMatrix<f64>, Vec<f64>, Eigenpairs) {
    let mut mesh = distorted_box(Hex8, cells, 0.1);
    mesh.coords.iter_mut().for_each(|x| x[0] *= 4.0);
    let system = system(space, &model(&format!("{SOFT}{CLAMP}"), mesh));
    let k = dense_of(space, system.matrix());
    // Rows of held unknowns have a diagonal alone.
    let is_held = |row: usize| k.row(row).iter().filter(|value| **value != 0.0).count() == 1;
    let masses: Vec<f64> = (0..k.nrows()).map(|row| if is_held(row) { 0.0 } else { 1.0 + (row % 3) as f64 }).collect();
    let m = Blocks::diagonal(&masses).upload::<f64>(space, Format::Ebw);
    let context = Context::of_nodes(2, system.body.mesh.coords(), system.body.mesh.ends());
    let t = precond::build(preconditioner, &context, space, system.matrix()).unwrap();
    let pencil = Pencil { a: system.matrix(), m: &m, preconditioner: &*t, deflated: &[] };
    let options = EigenOptions { n, shift: 0.0, tolerance: 1e-9, max_iterations: 1000 };
    let found = lobpcg(space, &pencil, &options, &mut |_| true).unwrap();
    (k, masses, found)
}

/// Eigenvalues, ascending: those of `M^1/2 K^-1 M^1/2` are one over them.
fn expected(k: &DMatrix<f64>, masses: &[f64], n: usize) -> Vec<f64> {
    let free: Vec<usize> = (0..masses.len()).filter(|row| masses[*row] > 0.0).collect();
    let scaled = |i: usize, j: usize| k[(free[i], free[j])] / (masses[free[i]] * masses[free[j]]).sqrt();
    let mut values: Vec<f64> =
        SymmetricEigen::new(DMatrix::from_fn(free.len(), free.len(), scaled)).eigenvalues.iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values.truncate(n);
    values
}

#[test]
fn every_preconditioner_finds_the_same() {
    let space = Space::cpu();
    let mut counts = Vec::new();
    for preconditioner in Preconditioner::ALL {
        let (k, masses, found) = beam(&space, [14, 3, 3], 6, preconditioner);
        println!("{preconditioner}: {} iterations, {} products", found.iterations, found.products);
        assert_eq!((found.ending, found.converged), (Ending::Converged, 6), "{preconditioner}");
        assert!(found.iterations > 0 && n_vectors(6) == 88);
        for (value, expected) in found.values.iter().zip(expected(&k, &masses, 6)) {
            assert!((value - expected).abs() < 1e-8 * expected, "{preconditioner}: {value}, not {expected}");
        }
        for (x, value) in found.vectors.iter().zip(&found.values) {
            let x = DVector::from_vec(space.download(x).unwrap());
            let mx = DVector::from_fn(x.len(), |row, _| masses[row] * x[row]);
            let residual = (&k * &x - *value * &mx).norm();
            assert!((x.dot(&mx) - 1.0).abs() < 1e-10 && residual < 1e-2 * value * mx.norm(), "{residual}");
        }
        counts.push((preconditioner, found.iterations));
    }
    let count = |of: Preconditioner| counts.iter().find(|(preconditioner, _)| *preconditioner == of).unwrap().1;
    assert!(
        count(Preconditioner::Amg) < 30 && count(Preconditioner::Amg) < count(Preconditioner::Jacobi),
        "{counts:?}"
    );
}

#[test]
fn devices_find_the_same() {
    let check = |space: &Space| {
        let (k, masses, found) = beam(space, [8, 2, 3], 2, Preconditioner::Amg);
        assert!(found.ending == Ending::Converged && found.iterations > 0);
        for (value, expected) in found.values.iter().zip(expected(&k, &masses, 2)) {
            assert!((value - expected).abs() < 1e-9 * expected, "{value}, not {expected}");
        }
        bits(&found.values)
    };
    on_every_device!(check);
}
