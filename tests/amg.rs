//! Smoothed aggregation multigrid: its parts against dense references, and how many iterations it takes.

use crate::common::blocks::dense_of;
use crate::common::fields::converged;
use crate::common::meshes::{self, CLAMP, SOFT, analysis, clamp, distorted_box, model, system};
use crate::common::recorder::{Counts, Recorder};
use crate::common::{Random, applied, assert_close, bits, columns_of, largest, on_every_device, on_threads};
use kernels_rs::amg::NONE;
use nalgebra::{DMatrix, SymmetricEigen};
use std::rc::Rc;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Quad4, Tet4, Tet10, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::model::{Analysis, Model};
use warpfem::pipeline::{Operator, System};
use warpfem::precond::amg::aggregate::Aggregates;
use warpfem::precond::amg::blocks::BlockRows;
use warpfem::precond::amg::fine::Fine;
use warpfem::precond::amg::setup::{Symbolic, aggregate};
use warpfem::precond::amg::strength::{REACH, Strength};
use warpfem::precond::amg::tentative::Modes;
use warpfem::precond::{self, Context, Hierarchy, SetupCache, spectrum};
use warpfem::result::Outcome;
use warpfem::result::choices::{Precision, Preconditioner};
use warpfem::solve::{CgOptions, Equations, Iteration, Silent, cg, iteration};
use warpfem::sparse::{LinOp, Matrix, Sparsity};

/// A force on the end of what is clamped at the other; heat for a potential.
fn loaded(kind: Analysis, mesh: Mesh) -> Model {
    let load = match kind {
        Analysis::Laplace => "[[flux]]\non = \"ymax\"\nvalue = 1.0\n",
        _ => "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.3, 2.0]\n",
    };
    let load = if mesh.dim() == 2 { load.replace(", 2.0]", ", 0.0]") } else { load.into() };
    model(&format!("{}{SOFT}{}{load}", analysis(kind, 1.0), clamp(kind)), mesh)
}

fn unit(kind: ElementKind, n: usize) -> Mesh {
    meshes::regular_box(kind, [n; 3])
}

/// The next level.
struct Coarse {
    prolongator: Rc<BlockRows<f64>>,
    matrix: Matrix<f64>,
    modes: Rc<Modes>,
}

/// A matrix, the inverse of its largest eigenvalue of `D^-1 A`, its modes and its next level.
struct Two {
    matrix: Matrix<f64>,
    upper: f64,
    modes: Vec<f64>,
    coarse: Coarse,
}

fn two(space: &Space, model: &Model) -> Two {
    let System { operator: Operator::Assembled(matrix), body, .. } = system(space, model) else {
        unreachable!("a plain plan has a matrix")
    };
    let mesh = &body.mesh;
    let fine = Fine::new(space, &matrix).unwrap().unwrap();
    let upper = spectrum::estimate(space, &matrix, &fine.inverse, spectrum::FEW).unwrap().upper;
    let (coords, mut modes) = (mesh.coords(), Vec::new());
    let aggregation =
        aggregate(space, &fine, coords, (0, REACH, &[]), Modes::rigid_number(matrix.block_size()), |free| {
            let found = Modes::rigid(space, matrix.block_size(), coords, &free)?;
            modes = space.download(&found.values)?;
            Ok(Rc::new(found))
        });
    let aggregation = aggregation.unwrap().expect("there is a next level");
    let of_coarse = aggregation.modes.clone();
    let symbolic = Symbolic::new(space, &fine, aggregation).unwrap();
    let (prolongator, next) = symbolic.values(space, &fine, 4.0 / (3.0 * upper)).unwrap();
    let coarse = Coarse { prolongator, matrix: next, modes: of_coarse };
    Two { upper, modes, coarse, matrix }
}

fn dense_rows(space: &Space, p: &BlockRows<f64>) -> DMatrix<f64> {
    let (values, rows) = (space.download(&p.values).unwrap(), space.download(&p.shape.rows).unwrap());
    let columns = space.download(&p.shape.pattern.columns).unwrap();
    let mut dense = DMatrix::zeros(p.shape.pattern.n_rows * p.rows, p.shape.n_columns * p.columns);
    for (block, (row, column)) in rows.iter().zip(&columns).enumerate() {
        for (i, j) in (0..p.rows).flat_map(|i| (0..p.columns).map(move |j| (i, j))) {
            dense[(*row as usize * p.rows + i, *column as usize * p.columns + j)] =
                values[(block * p.columns + j) * p.rows + i];
        }
    }
    dense
}

/// Small models of every analysis and shape, regular and not, of one material and of two.
fn models() -> Vec<Model> {
    vec![
        loaded(Analysis::Elasticity, unit(Hex8, 5)),
        meshes::two_materials(distorted_box(Tet4, [5, 4, 4], 0.2)),
        loaded(Analysis::PlaneStress, unit(Tri3, 9)),
        meshes::two_materials(unit(Quad4, 8)),
        loaded(Analysis::Laplace, unit(Tet4, 5)),
        loaded(Analysis::Laplace, unit(Quad4, 9)),
        loaded(Analysis::Elasticity, unit(ElementKind::Tet10, 2)),
    ]
}

#[test]
fn modes_cost_nothing_and_the_prolongator_has_them_away_from_supports() {
    let space = Space::cpu();
    for model in models() {
        let Two { matrix, modes, coarse, .. } = two(&space, &model);
        let (a, p) = (dense_of(&space, &matrix), dense_rows(&space, &coarse.prolongator));
        let b = DMatrix::from_row_slice(a.nrows(), coarse.modes.number, &modes);
        let coarse_b = DMatrix::from_row_slice(p.ncols(), coarse.modes.number, coarse.modes.values.host());
        let (forces, error) = (&a * &b, &p * coarse_b - &b);
        let is_free = |row: &usize| forces.row(*row).amax() < 1e-11 * a.amax() * b.amax();
        let free: Vec<usize> = (0..a.nrows()).filter(is_free).collect();
        assert!(2 * free.len() > a.nrows(), "{} of {} rows", free.len(), a.nrows());
        for row in free {
            assert!(error.row(row).amax() < 1e-12 * b.amax(), "row {row}: {}", error.row(row));
        }
    }
}

#[test]
fn the_next_level_is_the_galerkin_product() {
    let space = Space::cpu();
    for model in models() {
        let Two { matrix, coarse, .. } = two(&space, &model);
        let (a, p) = (dense_of(&space, &matrix), dense_rows(&space, &coarse.prolongator));
        let (mut expected, found) = (p.transpose() * a * p, dense_of(&space, &coarse.matrix));
        // What was left out has a diagonal entry.
        for i in (0..expected.nrows()).filter(|i| found.row(*i).iter().filter(|v| **v != 0.0).count() == 1) {
            assert!(expected.row(i).amax() == 0.0 && found[(i, i)] > 0.0);
            expected[(i, i)] = found[(i, i)];
        }
        assert!(found == found.transpose(), "it is symmetric to the last bit");
        assert_close("P^T A P", found.as_slice(), expected.as_slice(), 1e-13, expected.amax());
        let scale = DMatrix::from_diagonal(&found.diagonal().map(|v| 1.0 / v.sqrt()));
        assert!(SymmetricEigen::new(&scale * &found * &scale).eigenvalues.min() > 1e-6);
    }
}

/// Whether some nodes are connected by the couplings of a matrix.
fn is_connected(sparsity: &Sparsity, members: &[u32]) -> bool {
    let mut reached = vec![members[0]];
    let mut next = 0;
    while next < reached.len() {
        for other in sparsity.row(reached[next] as usize) {
            if members.contains(other) && !reached.contains(other) {
                reached.push(*other);
            }
        }
        next += 1;
    }
    reached.len() == members.len()
}

fn aggregates(space: &Space, system: &System<f64>) -> (Aggregates, Strength) {
    let fine = Fine::new(space, system.matrix()).unwrap().unwrap();
    let strength = Strength::new(space, &fine, system.body.mesh.coords(), 0, REACH).unwrap();
    (Aggregates::new(space, system.matrix().pattern(), &strength).unwrap(), strength)
}

#[test]
fn aggregates_are_connected_and_cover_all_nodes_that_are_free() {
    let space = Space::cpu();
    for model in models() {
        let system = system(&space, &model);
        let (found, strength) = aggregates(&space, &system);
        let sparsity = system.matrix().pattern().download(&space).unwrap();
        let held = model.supports.iter().map(|support| support.nodes.len()).sum::<usize>();
        let outside = found.of_nodes.host().iter().filter(|aggregate| **aggregate == NONE).count();
        assert_eq!((outside, strength.linked.host().iter().filter(|linked| **linked == 0).count()), (held, held));
        for aggregate in 0..found.number as u32 {
            let members: Vec<u32> =
                (0..sparsity.n_rows() as u32).filter(|n| found.of_nodes.host()[*n as usize] == aggregate).collect();
            assert!(members.len() > 1 && is_connected(&sparsity, &members), "{aggregate}: {members:?}");
        }
        let mean = (sparsity.n_rows() - outside) / found.number;
        assert!(mean >= 4, "{mean} nodes per aggregate");
    }
}

/// Also where norms say that the strongest coupling is the longest one, as in bricks.
#[test]
fn aggregates_of_stretched_elements_lie_across_their_long_edges() {
    let space = Space::cpu();
    for (element, size, cells) in [(Hex8, [20.0, 1.0, 1.0], [4; 3]), (Tet4, [12.0, 12.0, 1.0], [3, 3, 6])] {
        let model = loaded(Analysis::Elasticity, generate_box(element, size, cells).unwrap());
        let system = system(&space, &model);
        let (found, _) = aggregates(&space, &system);
        let x = space.download(system.body.mesh.coords()).unwrap();
        for aggregate in 0..found.number as u32 {
            let members: Vec<usize> = (0..x.len()).filter(|n| found.of_nodes.host()[*n] == aggregate).collect();
            let is_beside = |n: &usize| (x[*n][0] - x[members[0]][0]).abs() < 1e-9;
            assert!(members.iter().all(is_beside), "{element:?}: aggregate {aggregate}");
        }
    }
}

/// A hierarchy, with what is kept.
fn keeping(space: &Space, system: &System<f64>, kept: Option<&SetupCache>) -> Box<dyn precond::Preconditioner<f64>> {
    let context = Context { kept, ..Context::of_nodes(1, system.body.mesh.coords(), system.body.mesh.ends()) };
    precond::build(Preconditioner::Amg, &context, space, system.matrix()).unwrap()
}

fn multigrid(space: &Space, system: &System<f64>) -> Box<dyn precond::Preconditioner<f64>> {
    keeping(space, system, None)
}

/// The cycle of two levels from its definition: a Chebyshev polynomial in closed form, and an exact correction between
/// two of them.
#[test]
fn the_cycle_is_that_of_its_definition() {
    let space = Space::cpu();
    for model in [loaded(Analysis::Elasticity, unit(Hex8, 4)), loaded(Analysis::Laplace, unit(Tri3, 9))] {
        let Two { matrix, upper, coarse, .. } = two(&space, &model);
        let (a, p) = (dense_of(&space, &matrix), dense_rows(&space, &coarse.prolongator));
        let (identity, n) = (DMatrix::<f64>::identity(a.nrows(), a.nrows()), a.nrows());
        let scaled = DMatrix::from_diagonal(&a.diagonal().map(|v| 1.0 / v)) * &a;
        let (centre, half) = (0.55 * upper, 0.45 * upper);
        // T_2(x) = 2 x^2 - 1.
        let x = (&identity * centre - scaled) / half;
        let smoothing = (&x * &x * 2.0 - &identity) / (2.0 * (centre / half).powi(2) - 1.0);
        let inverse = dense_of(&space, &coarse.matrix).try_inverse().unwrap();
        let correction = &identity - &p * inverse * p.transpose() * &a;
        let expected = (&identity - &smoothing * correction * &smoothing) * a.try_inverse().unwrap();
        let system = system(&space, &model);
        let found = columns_of(&space, &*multigrid(&space, &system), system.matrix());
        assert_close("M^-1", found.as_slice(), expected.as_slice(), 1e-9, expected.amax());
        assert_eq!(found.nrows(), n);
    }
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let space = Space::cpu();
    for model in models() {
        let system = system(&space, &model);
        let a = dense_of(&space, system.matrix());
        let inverse = columns_of(&space, &*multigrid(&space, &system), system.matrix());
        assert!((&inverse - inverse.transpose()).amax() < 1e-12 * inverse.amax());
        // M^-1 A is similar to L^T M^-1 L.
        let l = a.cholesky().unwrap().l();
        let spectrum = SymmetricEigen::new(l.transpose() * inverse * l).eigenvalues;
        assert!(spectrum.min() > 0.05 && spectrum.max() < 1.0 + 1e-9, "{} to {}", spectrum.min(), spectrum.max());
    }
}

/// Vectors go through the cycle together as each does alone, bit by bit: a V and a K, with flat elements and without, in both
/// precisions.
#[test]
fn several_vectors_go_through_the_cycle_as_each_does() {
    let plane = loaded(Analysis::PlaneStress, unit(Quad4, 44));
    let solids = [unit(Hex8, 6), unit(Tet10, 4), distorted_box(Hex8, [12, 12, 1], 0.1)];
    let solids = solids.map(|mesh| loaded(Analysis::Elasticity, mesh));
    for model in solids.iter().chain([&plane]) {
        on_every_device!(|space: &Space| {
            let system = system(space, model);
            let context = Context::of_nodes(1, system.body.mesh.coords(), system.body.mesh.ends());
            let matrix = system.matrix();
            let double = multigrid(space, &system);
            let single = precond::build_rounded::<f32>(Preconditioner::Amg, &context, space, matrix).unwrap();
            let r: Vec<Vec<f64>> = (0..11).map(|k| Random(5 + k).vector(matrix.n())).collect();
            let on_device: Vec<_> = r.iter().map(|r| space.upload(r).unwrap()).collect();
            let mut found = Vec::new();
            for amg in [&*double, &*single] {
                let mut z: Vec<_> = r.iter().map(|r| space.zeros(r.len()).unwrap()).collect();
                amg.apply_all(space, matrix, &on_device, &mut z).unwrap();
                for (r, z) in r.iter().zip(&z) {
                    let z = bits(&space.download(z).unwrap());
                    assert!(z == bits(&applied(space, amg, matrix, r)), "{}", space.name());
                    found.extend(z);
                }
            }
            found
        });
    }
}

fn solved(space: &Space, model: &Model, name: Preconditioner) -> (Outcome, Option<Hierarchy>) {
    let system = system(space, model);
    let context = Context::of_nodes(6, system.body.mesh.coords(), system.body.mesh.ends());
    let preconditioner = precond::build(name, &context, space, system.matrix()).unwrap();
    let mut u = space.zeros(system.matrix().n()).unwrap();
    let options = CgOptions::new(1e-8, 5000);
    let outcome =
        cg(space, &Equations::new(system.matrix(), &system.f), &*preconditioner, &mut u, options, &Silent).unwrap();
    assert!(outcome.converged, "{name}: {:?}", outcome.ending);
    (outcome, preconditioner.hierarchy().cloned())
}

/// Iterations until the residual is small; the iteration itself looks at every tenth.
fn iterations(outcome: &Outcome) -> usize {
    outcome.history.iter().position(|r| *r <= 1e-8).unwrap() + 1
}

#[test]
fn iterations_hardly_grow_and_levels_are_small() {
    let space = Space::cpu();
    let cases = [
        (Analysis::Elasticity, Hex8, [6, 12], 18, 4),
        (Analysis::Elasticity, Tet4, [6, 12], 22, 8),
        (Analysis::PlaneStress, Quad4, [20, 60], 22, 8),
        (Analysis::PlaneStrain, Tri3, [20, 60], 26, 12),
        (Analysis::Laplace, Hex8, [6, 14], 14, 1),
        (Analysis::Laplace, Tet4, [6, 14], 16, 2),
        (Analysis::Laplace, Quad4, [20, 60], 16, 4),
        (Analysis::Laplace, Tri3, [20, 60], 18, 6),
    ];
    for (kind, element, sizes, most, saved) in cases {
        let found = sizes.map(|n| {
            let (model, what) = (loaded(kind, unit(element, n)), format!("{kind:?} {element:?} {n}"));
            let ((amg, hierarchy), (jacobi, _)) =
                (solved(&space, &model, Preconditioner::Amg), solved(&space, &model, Preconditioner::Jacobi));
            let (amg, jacobi, hierarchy) = (iterations(&amg), iterations(&jacobi), hierarchy.unwrap());
            let complexity = hierarchy.operator_complexity();
            println!("{what}: {amg} of {jacobi}, {complexity:.2}, {:?}", hierarchy.levels);
            assert!(amg <= most && saved * amg < jacobi, "{what}: {amg}, {jacobi} with Jacobi");
            assert!(complexity <= 1.5 && hierarchy.levels.len() >= 2, "{what}: {hierarchy:?}");
            amg
        });
        assert!(found[1] as f64 <= 1.35 * found[0] as f64 + 1.0, "{kind:?} {element:?}: {found:?}");
    }
}

/// A beam of two materials, one over the other.
fn layered(ratio: f64) -> Model {
    let mut model = loaded(Analysis::Elasticity, generate_box(Hex8, [2.0, 1.0, 1.0], [16, 8, 8]).unwrap());
    let mut hard = model.materials[0].clone();
    hard.set_isotropic(ratio * hard.law.young(), hard.law.poisson());
    model.materials.push(hard);
    let half = model.mesh.cells[0].len() / 2;
    for (block, materials) in model.cell_material.iter_mut().enumerate() {
        if block == 0 {
            materials.iter_mut().enumerate().for_each(|(cell, material)| *material = (cell >= half).into());
        }
    }
    model
}

#[test]
fn hard_problems_converge_too() {
    let space = Space::cpu();
    let nearly_incompressible = SOFT.replace("poisson = 0.3", "poisson = 0.49");
    let pulled = "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.3, 2.0]\n";
    let with = |tables: &str, mesh| model(&format!("{tables}{CLAMP}{pulled}"), mesh);
    let cases = [
        ("1:1000", layered(1000.0), 60),
        ("nu = 0.49", with(&nearly_incompressible, unit(Hex8, 10)), 60),
        ("slender", with(SOFT, generate_box(Hex8, [50.0, 1.0, 1.0], [200, 4, 4]).unwrap()), 60),
        ("stretched", with(SOFT, generate_box(Tet4, [20.0, 1.0, 1.0], [10; 3]).unwrap()), 80),
        ("tet10", loaded(Analysis::Elasticity, unit(ElementKind::Tet10, 5)), 40),
        ("plate", with(SOFT, generate_box(Hex8, [1.0, 1.0, 0.02], [30, 30, 1]).unwrap()), 150),
    ];
    for (what, model, most) in cases {
        let (outcome, hierarchy) = solved(&space, &model, Preconditioner::Amg);
        let amg = iterations(&outcome);
        println!("{what}: {amg}, {:?}", hierarchy.map(|h| (h.operator_complexity(), h.levels)));
        assert!(amg <= most, "{what}: {amg}");
    }
}

/// A quarter of a tube, from a plate: x is the way around.
fn bent(mut mesh: Mesh) -> Mesh {
    for x in &mut mesh.coords {
        let (angle, radius) = (std::f64::consts::FRAC_PI_2 * x[0], 1.0 + x[2]);
        *x = [radius * angle.sin(), x[1], radius * angle.cos()];
    }
    mesh
}

/// Iterations that bring the true error in the energy norm down to 1e-6: the bound is how many are done.
#[test]
fn thin_slender_and_quadratic_bodies_take_few_iterations() {
    use ElementKind::{Hex20, Tet10};
    let (plate, beam, cube) = (|t: f64| [1.0, 1.0, t], [100.0, 1.0, 1.0], [1.0; 3]);
    let cases = [
        ("cube hex8", Hex8, cube, [12; 3], 9),
        ("cube tet10", Tet10, cube, [8; 3], 11),
        ("cube hex20", Hex20, cube, [8; 3], 10),
        ("beam hex8", Hex8, beam, [300, 3, 3], 15),
        ("beam tet10", Tet10, beam, [200, 2, 2], 20),
        ("beam hex20", Hex20, beam, [200, 2, 2], 13),
        ("plate hex8", Hex8, plate(0.02), [50, 50, 1], 27),
        ("plate tet10", Tet10, plate(1.0 / 30.0), [30, 30, 1], 22),
        ("plate hex20", Hex20, plate(0.04), [25, 25, 1], 15),
        ("flat hex20", Hex20, plate(0.005), [25, 25, 1], 60),
        ("shell hex20", Hex20, plate(0.01), [16, 16, 1], 60),
        ("stretched hex8", Hex8, [20.0, 1.0, 1.0], [12; 3], 40),
    ];
    let space = Space::cpu();
    for (what, element, size, cells, most) in cases {
        let mut mesh = generate_box(element, size, cells).unwrap();
        if what.starts_with("shell") {
            mesh = bent(mesh);
        }
        let system = system(&space, &loaded(Analysis::Elasticity, mesh));
        let amg = multigrid(&space, &system);
        let after = |iterations: usize| {
            let (equations, mut u) =
                (Equations::new(system.matrix(), &system.f), space.zeros(system.matrix().n()).unwrap());
            cg(&space, &equations, &*amg, &mut u, CgOptions::new(1e-13, iterations), &Silent).unwrap();
            u.host().to_vec()
        };
        let exact = after(2 * most);
        let energy = |u: &[f64]| {
            let mut forces = space.zeros(u.len()).unwrap();
            system.matrix().apply(&space, &space.upload(u).unwrap(), &mut forces).unwrap();
            u.iter().zip(forces.host()).map(|(u, f)| u * f).sum::<f64>()
        };
        let difference = |u: &[f64]| u.iter().zip(&exact).map(|(u, exact)| u - exact).collect::<Vec<_>>();
        let error = (energy(&difference(&after(most))) / energy(&exact)).sqrt();
        let hierarchy = amg.hierarchy().unwrap();
        println!("{what}: {error:.1e} after {most}, {:.2}", hierarchy.operator_complexity());
        assert!(error <= 1e-6, "{what}: {error:.1e} after {most}");
        assert!(hierarchy.operator_complexity() <= 2.0, "{what}: {hierarchy:?}");
    }
}

fn on_a_device(space: &Space) -> (Vec<u64>, Vec<usize>) {
    let model = meshes::two_materials(distorted_box(Tet4, [4, 4, 4], 0.2));
    let system = system(space, &model);
    let amg = multigrid(space, &system);
    let r: Vec<f64> = Random(3).vector(system.matrix().n());
    let rows = amg.hierarchy().unwrap().levels.iter().flat_map(|level| [level.rows, level.blocks]).collect();
    (bits(&applied(space, &*amg, system.matrix(), &r)), rows)
}

#[test]
fn devices_have_the_same_levels_and_orders_the_same_bits() {
    let results = on_every_device!(on_a_device);
    let floats = |bits: &[u64]| bits.iter().map(|b| f64::from_bits(*b)).collect::<Vec<f64>>();
    let expected = floats(&results[0].0);
    for (found, rows) in &results {
        assert_eq!(rows, &results[0].1);
        assert_close("devices", &floats(found), &expected, 1e-11, largest(&expected));
    }
    assert!(on_threads(1, || on_a_device(&Space::cpu())) == results[0], "threads change the result");
}

/// An answer to 1e-4 saves iterations to 1e-8, and one to 1e-8 takes none.
fn starts_from_what_is_near(space: &Space, system: &System<f64>, way: &dyn Iteration<f64>) {
    let from = |start: &[f64], tolerance: f64| {
        let options = CgOptions::new(tolerance, 500);
        let (v, outcome) = system.iterate_from(space, way, start, options, &Silent).unwrap();
        assert!(outcome.converged);
        (v, outcome.history.len())
    };
    let zeros = vec![0.0; system.matrix().n()];
    let (near, few) = from(&zeros, 1e-4);
    let [(there, rest), (_, all)] = [&near, &zeros].map(|start| from(start, 1e-8));
    assert!(few > 0 && rest > 0 && rest < all, "{few} and {rest} of {all}");
    assert_eq!(from(&there, 1e-8).1, 0);
}

#[test]
fn in_lower_precision_it_takes_hardly_more_iterations() {
    let space = Space::cpu();
    for (model, room) in [(loaded(Analysis::Elasticity, unit(Hex8, 8)), 2), (meshes::load("cube_1149.toml"), 2)] {
        let system = system(&space, &model);
        let context = Context::of_nodes(6, system.body.mesh.coords(), system.body.mesh.ends());
        let found = [iteration::plain, iteration::mixed, iteration::mixed_half].map(|make| {
            let way = make(Preconditioner::Amg, &context, &space, system.matrix()).unwrap();
            let (_, outcome) = system.iterate(&space, &*way, CgOptions::new(1e-8, 500), &Silent).unwrap();
            assert!(outcome.converged && way.hierarchy().is_some_and(|h| h.levels.len() > 1));
            starts_from_what_is_near(&space, &system, &*way);
            iterations(&outcome)
        });
        assert!(found[1] <= found[0] + room && found[2] <= found[0] + room, "{found:?}");
    }
}

#[test]
fn every_precision_solves_a_case() {
    let mut model = meshes::load("cube_463.toml");
    model.solver.tolerance = 1e-9;
    let expected = converged(&model, DeviceName::Cpu).unknown(3);
    model.solver.preconditioner = Some(Preconditioner::Amg);
    for precision in [Precision::Double, Precision::Mixed, Precision::MixedHalf, Precision::Single] {
        model.solver.precision = Some(precision);
        model.solver.tolerance = if precision == Precision::Single { 1e-4 } else { 1e-9 };
        let found = converged(&model, DeviceName::Cpu);
        let hierarchy = found.used.hierarchy.as_ref().expect("its levels are told");
        assert!(hierarchy.levels[0].rows == model.mesh.coords.len() && found.outcome.iterations <= 40, "{precision}");
        let (found, expected) = (found.displacement().as_flattened(), &expected[..]);
        let tolerance = if precision == Precision::Single { 1e-2 } else { 1e-6 };
        assert_close(precision.name(), found, expected, tolerance, largest(expected));
    }
}

/// So that a graph can hold it: launches, no arrays made or read, no waits.
#[test]
fn an_application_only_launches() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    let model = loaded(Analysis::Elasticity, unit(Hex8, 3));
    let system = system(&space, &model);
    let amg = multigrid(&space, &system);
    let n = system.matrix().n();
    let (r, mut z) = (space.zeros::<f64>(n).unwrap(), space.zeros(n).unwrap());
    let before = recorder.counts();
    amg.apply(&space, system.matrix(), &r, &mut z).unwrap();
    let after = recorder.counts();
    let launches = |counts: &Counts| counts.launches.values().sum::<usize>();
    assert!(launches(&after) > launches(&before) + 5);
    let rest = Counts { launches: before.launches.clone(), ..after };
    assert_eq!(rest, before);
}

/// A body that hangs on nothing but its supports has no next level, and the cycle is its smoothing.
#[test]
fn a_matrix_without_couplings_is_smoothed_alone() {
    let space = Space::cpu();
    let model = loaded(Analysis::Laplace, unit(Quad4, 1));
    let (outcome, hierarchy) = solved(&space, &model, Preconditioner::Amg);
    assert!(outcome.iterations <= 10 && !hierarchy.unwrap().levels.is_empty());
}

/// A hierarchy of new materials on the same mesh: what depends on the blocks alone is taken from the first one.
#[test]
fn new_materials_take_the_numeric_part_alone() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    let first = loaded(Analysis::Elasticity, distorted_box(Tet4, [6, 5, 5], 0.2));
    let mut second = loaded(Analysis::Elasticity, distorted_box(Tet4, [6, 5, 5], 0.2));
    let young = second.materials[0].law.young();
    second.materials[0].set_isotropic(3.0 * young, 0.2);
    let systems = [&first, &second].map(|model| system(&space, model));
    let kept = SetupCache::default();
    let make = |system: &System<f64>, kept| {
        let before = recorder.counts().launches;
        let amg = keeping(&space, system, kept);
        let launched = recorder.counts().launches;
        let of = |name: &str| launched.get(name).unwrap_or(&0) - before.get(name).unwrap_or(&0);
        (amg, ["decide", "list_products", "begin_set", "rigid_modes"].map(of).iter().sum::<usize>())
    };
    let (whole, symbolic) = make(&systems[0], Some(&kept));
    assert!(symbolic > 4);
    let (again, symbolic) = make(&systems[0], Some(&kept));
    let r: Vec<f64> = Random(3).vector(systems[0].matrix().n());
    let [of_again, of_whole] = [&again, &whole].map(|amg| applied(&space, &**amg, systems[0].matrix(), &r));
    assert!(symbolic == 0 && bits(&of_again) == bits(&of_whole));
    let (other, symbolic) = make(&systems[1], Some(&kept));
    let (anew, _) = make(&systems[1], None);
    assert_eq!((symbolic, other.hierarchy().unwrap().bytes), (0, whole.hierarchy().unwrap().bytes));
    let iterations = |amg: &dyn precond::Preconditioner<f64>| {
        let (System { f, .. }, matrix, mut u) = (&systems[1], systems[1].matrix(), space.zeros(r.len()).unwrap());
        let found = cg(&space, &Equations::new(matrix, f), amg, &mut u, CgOptions::new(1e-8, 500), &Silent).unwrap();
        assert!(found.converged);
        iterations(&found)
    };
    assert!(iterations(&*other) <= iterations(&*anew) + 2);
}

/// A box that is held at the nodes of the matrix's first rows.
fn first_rows_held(space: &Space, mesh: Mesh) -> Model {
    let mut model = loaded(Analysis::Elasticity, mesh);
    let nodes: Vec<u32> = (0..model.mesh.coords.len() as u32).collect();
    let mut held = system(space, &model).body.numbering.gather(&nodes)[..40].to_vec();
    held.sort_unstable();
    model.supports[0].nodes = held;
    model
}

/// What is kept of another matrix is recognised, whether it has as many rows or not, and a hierarchy is made as if
/// nothing were kept.
#[test]
fn other_blocks_and_other_supports_make_another_hierarchy() {
    let space = Space::cpu();
    let model = first_rows_held(&space, distorted_box(Tet4, [6, 5, 5], 0.2));
    // The first one joined in another way, smaller, held elsewhere, and held less.
    let mut held = loaded(Analysis::Elasticity, distorted_box(Tet4, [6, 5, 5], 0.2));
    held.supports[0].nodes = held.mesh.nodes_on("xmax").unwrap();
    let mut sliding = loaded(Analysis::Elasticity, distorted_box(Tet4, [6, 5, 5], 0.2));
    sliding.supports[0].displacement[2] = None;
    let others = [
        first_rows_held(&space, distorted_box(Tet4, [5, 6, 5], 0.2)),
        loaded(Analysis::Elasticity, distorted_box(Tet4, [5, 5, 5], 0.2)),
        held,
        sliding,
    ];
    let first = system(&space, &model);
    for (which, other) in others.iter().enumerate() {
        let other = system(&space, other);
        let r: Vec<f64> = Random(5).vector(other.matrix().n());
        let of = |amg: &dyn precond::Preconditioner<f64>| bits(&applied(&space, amg, other.matrix(), &r));
        let kept = SetupCache::default();
        keeping(&space, &first, Some(&kept));
        let made = keeping(&space, &other, Some(&kept));
        assert!(of(&*made) == of(&*multigrid(&space, &other)), "matrix {which}");
        // What is kept then is the other's: its next hierarchy takes no aggregates.
        assert!(of(&*keeping(&space, &other, Some(&kept))) == of(&*made), "matrix {which} again");
        // But for the smaller one, numbers of rows and blocks do not tell.
        let [before, after] = [&first, &other].map(|system| system.matrix().pattern());
        assert_eq!((before.n_rows, before.n_blocks()) == (after.n_rows, after.n_blocks()), which != 1);
    }
}
