//! Assembly and supports, on every device: as a serial element-by-element assembly into a dense matrix does it.

use crate::common::blocks::{dense_of, zeros};
use crate::common::elements::solvable;
use crate::common::fields::converged;
use crate::common::reference::{Partitioned, flat};
use crate::common::{
    Random, assert_close, assert_orders_agree, bits, emulators, largest, meshes, on_every_device, reference, rounding,
};
use kernels_rs::real::Real;
use nalgebra::{DMatrix, DVector};
use warpfem::assembly::{DeviceMesh, Supports, Symbolic};
use warpfem::device::DeviceName;
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::model::{Analysis, Model};
use warpfem::result::choices::{Format, Ordering};
use warpfem::sparse::{LinOp, Matrix};

/// A distorted box or square of each element in each analysis, and an unstructured mesh; of two materials each.
fn models() -> Vec<Model> {
    let mut models = vec![meshes::two_materials((*meshes::load("cube_463.toml").mesh).clone())];
    for kind in solvable() {
        let cells = if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 4, 2] };
        let distorted =
            |analysis: &Analysis| meshes::two_materials_in(*analysis, meshes::distorted_box(kind, cells, 0.2));
        models.extend(meshes::all_analyses(kind).iter().map(distorted));
    }
    models
}

/// A matrix `[dim n][dim n]` in the solver's numbering, from the mesh's.
fn renumbered(dim: usize, symbolic: &Symbolic, k: &DMatrix<f64>) -> DMatrix<f64> {
    let to_mesh = |i: usize| dim * symbolic.numbering.to_mesh[i / dim] as usize + i % dim;
    DMatrix::from_fn(k.nrows(), k.ncols(), |i, j| k[(to_mesh(i), to_mesh(j))])
}

/// A model's mesh on a device, and its stiffness there.
fn stiff<T: Real>(space: &Space, model: &Model, symbolic: &Symbolic) -> (DeviceMesh, Matrix<T>) {
    let mesh = meshes::upload(space, model, symbolic);
    let mut matrix = zeros(space, Format::Ebw, model.analysis.components(), &symbolic.sparsity);
    meshes::assemble(space, &mesh, &mut matrix);
    (mesh, matrix)
}

fn assembled<T: Real>(space: &Space, model: &Model, symbolic: &Symbolic, expected: &DMatrix<f64>) -> Vec<u64> {
    let run = || {
        let (_, matrix) = stiff::<T>(space, model, symbolic);
        (matrix.blocks(space).unwrap(), dense_of(space, &matrix))
    };
    let (values, k) = run();
    assert!(bits(&values) == bits(&run().0), "two assemblies differ");
    assert_close(T::NAME, k.as_slice(), expected.as_slice(), 10.0 * rounding::<T>(), expected.amax());
    assert!((&k - k.transpose()).amax() <= rounding::<T>() * k.amax(), "not symmetric");
    for motion in rigid_motions(model, symbolic) {
        let force = &k * &motion;
        assert!(
            force.amax() <= 20.0 * rounding::<T>() * k.amax() * motion.amax(),
            "a rigid motion takes {}",
            force.amax()
        );
    }
    bits(&values)
}

/// All translations and rotations, in the solver's numbering; of a potential a constant.
fn rigid_motions(model: &Model, symbolic: &Symbolic) -> Vec<DVector<f64>> {
    let dim = model.analysis.components();
    let motion = |m: usize| {
        let at = |[x, y, z]: [f64; 3]| match m {
            3 => [0.0, -z, y],
            4 => [z, 0.0, -x],
            5 => [-y, x, 0.0],
            _ => core::array::from_fn(|i| if i == m { 1.0 } else { 0.0 }),
        };
        let u: Vec<[f64; 3]> = symbolic.numbering.gather(&model.mesh.coords).into_iter().map(at).collect();
        DVector::from_vec(flat(dim, &u))
    };
    let free = model.analysis.free_motions();
    let all = (0..6).filter(|&m| free[m] == 1.0);
    all.map(motion).collect()
}

#[test]
fn stiffness_is_the_serial_assembly() {
    for model in models() {
        for (order, window) in [(Ordering::Mesh, 1), (Ordering::Hilbert, 1024), (Ordering::ReverseCuthillMckee, 64)] {
            let symbolic = Symbolic::new(&model.mesh, &[], order, window).unwrap();
            let expected = renumbered(model.analysis.components(), &symbolic, &reference::stiffness(&model));
            on_every_device!(assembled::<f64>, &model, &symbolic, &expected);
            if model.form().is_isotropic {
                on_every_device!(assembled::<f32>, &model, &symbolic, &expected);
                continue;
            }
            // Plans refuse single precision for all others, and GPUs have no kernel for it.
            let check = |space: &Space| assembled::<f32>(space, &model, &symbolic, &expected);
            check(&Space::cpu());
            assert_orders_agree(&emulators().iter().map(check).collect::<Vec<_>>());
        }
    }
}

/// Eliminates the supports, takes what they prescribe to the right-hand side, and solves densely.
fn constrained(space: &Space, model: &Model, expected: &DVector<f64>) -> Vec<u64> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let (mesh, mut matrix) = stiff::<f64>(space, model, &symbolic);
    let supports = Supports::new(model, &symbolic.numbering);
    let before = dense_of(space, &matrix);
    let dim = model.analysis.components();
    let prescribed = mesh.internal_force(space, &space.upload(&supports.prescribed).unwrap(), None).unwrap();
    let mut f = flat(dim, &symbolic.numbering.gather(&model.nodal_forces));
    f.iter_mut().zip(space.take(prescribed).unwrap()).for_each(|(f, prescribed)| *f -= prescribed);
    supports.free_part(&mut f);
    supports.eliminate(space, &mut matrix).unwrap();
    let k = dense_of(space, &matrix);
    assert!((&k - k.transpose()).amax() <= 1e-14 * k.amax(), "not symmetric");
    assert_eq!(k.diagonal(), before.diagonal(), "the diagonal is kept");
    for i in (0..f.len()).filter(|i| supports.is_fixed(i / dim, i % dim)) {
        assert_eq!(f[i], 0.0);
        assert_eq!(k.row(i).iter().filter(|v| **v != 0.0).count(), 1, "row {i} is the diagonal alone");
    }
    let mut u = k.cholesky().expect("positive definite").solve(&DVector::from_vec(f));
    u += DVector::from_column_slice(&supports.prescribed);
    let u = flat(dim, &symbolic.numbering.scatter(u.as_slice(), dim));
    assert_close("displacements", &u, expected.as_slice(), 1e-11, expected.amax());
    bits(&u)
}

/// The free part of `K u = f` solved with the prescribed part taken over to the right.
fn partitioned(model: &Model) -> DVector<f64> {
    let Partitioned { k, f, free, mut u } = reference::partitioned(model);
    let solution = k.cholesky().unwrap().solve(&f);
    free.iter().zip(solution.iter()).for_each(|(i, value)| u[*i] = *value);
    u
}

#[test]
fn supports_are_eliminated_and_prescribed_values_lifted() {
    let solid = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n\
                 [[support]]\non = \"xmax\"\ndisplacement = { x = 0.01, z = -0.02 }\n\
                 [[traction]]\non = \"zmax\"\nvector = [1.0, 2.0, -3.0]\n";
    let plane = "[[support]]\non = \"xmin\"\nfix = \"xy\"\n\
                 [[support]]\non = \"xmax\"\ndisplacement = { y = -0.02 }\n\
                 [[traction]]\non = \"ymax\"\nvector = [1.0, -3.0]\n";
    let potential = "[[support]]\non = \"xmin\"\nvalue = 0.5\n[[support]]\non = \"xmax\"\nvalue = -2.0\n\
                     [[flux]]\non = \"ymax\"\nvalue = 3.0\n";
    let kinds = solvable().collect::<Vec<_>>();
    let last = |kind: &ElementKind| (*kind, *meshes::analyses(*kind).last().unwrap());
    let potentials = kinds.iter().map(|kind| (*kind, Analysis::Laplace));
    for (kind, analysis) in kinds.iter().map(last).chain(potentials) {
        let (cells, tables) =
            (if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 4, 2] }, [potential, plane, solid]);
        let tables =
            format!("{}{}{}", meshes::analysis(analysis, 0.4), meshes::SOFT, tables[analysis.components() - 1]);
        let model = meshes::model(&tables, meshes::distorted_box(kind, cells, 0.2));
        let expected = partitioned(&model);
        on_every_device!(constrained, &model, &expected);
        let solution = converged(&model, DeviceName::Cpu);
        let found = solution.unknown(analysis.components());
        assert_close("pipeline", &found, expected.as_slice(), 1e-7, expected.amax());
    }
}

fn gravity(space: &Space, model: &Model) -> Vec<u64> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let mesh = meshes::upload(space, model, &symbolic);
    let weights = [2.0, 5.0];
    let moments = space.take(mesh.node_moments(space, &weights).unwrap()).unwrap();
    let found = symbolic.numbering.to_mesh_order(&moments);
    let expected = reference::moments(model, &weights);
    assert_close("moments", found.as_flattened(), expected.as_flattened(), 1e-13, largest(expected.as_flattened()));
    bits(found.as_flattened())
}

#[test]
fn gravity_adds_up_to_the_weight() {
    for model in models() {
        on_every_device!(gravity, &model);
    }
}

fn internal(space: &Space, model: &Model) -> Vec<u64> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let (mesh, matrix) = stiff::<f64>(space, model, &symbolic);
    let u = space.upload(&Random(6).vector::<f64>(mesh.components() * mesh.n_nodes)).unwrap();
    let mut product = space.zeros(mesh.components() * mesh.n_nodes).unwrap();
    matrix.apply(space, &u, &mut product).unwrap();
    let forces = |of| space.download(&mesh.internal_force(space, &u, of).unwrap()).unwrap();
    let (force, product) = (forces(None), space.download(&product).unwrap());
    assert_close("internal force", &force, &product, 1e-13, largest(&product));
    // Of some nodes the same, of the others nothing.
    let every_third: Vec<u32> = (0..mesh.n_nodes as u32).step_by(3).collect();
    let of_node = |entry: usize| if (entry / mesh.components()).is_multiple_of(3) { force[entry] } else { 0.0 };
    let expected: Vec<f64> = (0..force.len()).map(of_node).collect();
    assert_eq!(bits(&forces(Some(&every_third))), bits(&expected));
    bits(&force)
}

#[test]
fn internal_force_is_the_matrix_times_displacements() {
    for model in models() {
        on_every_device!(internal, &model);
    }
}
