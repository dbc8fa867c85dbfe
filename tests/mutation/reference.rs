//! A second opinion on a model: its matrix by the textbook's shape functions and quadrature, without the library's
//! kernels, solved by Cholesky.

use crate::common::reference::{Partitioned, partitioned};
use std::cell::Cell;
use warpfem::model::Model;

/// Unknowns of what is compared, prescribed ones included: a dense factor of more takes long.
const MOST: usize = 900;
/// Where one step of refinement changes a solution by more, the matrix is nearly singular, and no solution is right.
const RELIABLE: f64 = 1e-6;
/// The squares of smaller loads are 0 to the solver, and so is their solution.
const LEAST_LOAD: f64 = 1e-150;
/// Largest difference of the unknowns, relative to the largest of them.
const ALLOWED: f64 = 1e-4;

thread_local! {
    static COMPARED: Cell<usize> = const { Cell::new(0) };
}

/// How many solutions this thread has compared.
pub fn compared() -> usize {
    COMPARED.get()
}

/// Whether a model is small enough to be compared.
pub fn is_small(model: &Model) -> bool {
    model.analysis.components() * model.mesh.coords.len() <= MOST
}

/// Compares a solution, `[n_nodes][components]`, with Cholesky's.
///
/// # Panics
/// If they differ.
pub fn compare(model: &Model, found: &[f64]) {
    let Some(expected) = solution(model) else { return };
    COMPARED.set(COMPARED.get() + 1);
    let off = difference(&expected, found);
    assert!(off <= ALLOWED, "the solution is off by {off:.1e} of its largest value");
}

/// The largest difference, relative to the largest value expected; NaN counts as infinite.
fn difference(expected: &[f64], found: &[f64]) -> f64 {
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    let off =
        expected.iter().zip(found).map(|(u, v)| (u - v).abs()).map(|d| if d.is_nan() { f64::INFINITY } else { d });
    let off = off.fold(0.0, f64::max);
    if off == 0.0 { 0.0 } else { off / largest }
}

/// The unknowns by Cholesky, unless the matrix is too near to a singular one.
fn solution(model: &Model) -> Option<Vec<f64>> {
    let Partitioned { k, f, free, mut u } = partitioned(model);
    if f.amax() < LEAST_LOAD {
        return None;
    }
    let factor = k.clone().cholesky()?;
    let mut found = factor.solve(&f);
    let correction = factor.solve(&(&f - &k * &found));
    if correction.amax() > RELIABLE * found.amax() || !found.amax().is_finite() {
        return None;
    }
    found += correction;
    free.iter().zip(found.iter()).for_each(|(i, value)| u[*i] = *value);
    Some(u.as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use warpfem::device::DeviceName;
    use warpfem::model::Case;
    use warpfem::pipeline;
    use warpfem::solve::Silent;

    const BAR: &str = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [2.0, 1.0, 1.0], cells = [3, 2, 2] }\n\
                       [[material]]\nname = \"soft\"\nyoung = 1e3\npoisson = 0.3\n\
                       [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 2.0]\n";

    fn model(element: &str) -> Model {
        let case = Case::parse(Path::new("bar.toml"), &BAR.replace("hex8", element)).unwrap();
        Model::resolve(&case, case.mesh().unwrap()).unwrap()
    }

    #[test]
    fn a_wrong_solution_is_seen() {
        for element in ["tet4", "hex8", "tet10", "hex20"] {
            let mut model = model(element);
            let found = pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap().unknown(3);
            let expected = solution(&model).unwrap();
            assert!(difference(&expected, &found) < 1e-6, "{element}: {:e}", difference(&expected, &found));
            let young = model.materials[0].law.young();
            model.materials[0].set_isotropic(young, 0.301);
            let off = difference(&solution(&model).unwrap(), &found);
            assert!(off > ALLOWED, "{element}: {off:e}");
        }
    }
}
