//! Solutions without a matrix are those with it: elements, materials, supports, springs, couplings, load cases,
//! preconditioners and precisions.

use crate::common::blocks::dense_of;
use crate::common::fields::converged;
use crate::common::meshes::{
    self, CLAMP, SOFT, analysis, anisotropic, clamp, distorted_box, regular_box, two_materials_in,
};
use crate::common::{devices, elements, largest};
use crate::matrix_free::covered;
use nalgebra::{DMatrix, DVector};
use warpfem::assembly::{SlabStiffness, VertexLevel};
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex8I, Hex20, Tet10};
use warpfem::linalg::Space;
use warpfem::model::{Analysis, Model};
use warpfem::pipeline::{self, Phase, Solution, System, Timings};
use warpfem::result::Plan;
use warpfem::result::choices::{Method, Operator, Ordering, Precision, Preconditioner, Strategy};
use warpfem::solve::Silent;
use warpfem::sparse::Slabs;

const PULL: &str = "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.5, -2.0]\n";

fn solve(model: &mut Model, operator: Operator, device: DeviceName) -> Solution {
    model.solver.operator = Some(operator);
    let found = converged(model, device);
    assert_eq!(found.used.plan.operator, Some(operator));
    let most = model.solver.residual_tolerance.map_or(1e-6, |tolerance| 1e2 * tolerance);
    assert!(found.equilibrium_error < most, "out of balance by {:.1e}", found.equilibrium_error);
    found
}

fn displacement(solution: &Solution, size: usize) -> Vec<f64> {
    solution.unknown(size)
}

/// Solves with and without a matrix on every device; the iterations of both on the CPU.
fn compare(model: &mut Model, tolerance: f64) -> [usize; 2] {
    let what = format!("{} {} {:?}", model.mesh.cells[0].kind.info().name, model.analysis.name(), model.solver);
    model.solver.residual_tolerance = Some(tolerance);
    let size = model.analysis.components();
    let with = solve(model, Operator::Assembled, DeviceName::Cpu);
    let expected = displacement(&with, size);
    let mut iterations = [with.outcome.iterations, 0];
    for device in devices() {
        let without = solve(model, Operator::MatrixFree, device);
        let found = displacement(&without, size);
        let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // The condition of these models is below 1e4.
        assert!(error <= 1e4 * tolerance * largest(&expected), "{what} on {device:?}: {error:e}");
        for (support, _) in model.supports.iter().enumerate() {
            let pairs = with.reaction(support).iter().zip(without.reaction(support));
            let largest = with.reaction(support).iter().fold(0.0_f64, |most, force| most.max(force.abs()));
            pairs.for_each(|(a, b)| assert!((a - b).abs() <= 1e4 * tolerance * largest.max(1.0), "{what}: {a} {b}"));
        }
        iterations[1] = without.outcome.iterations;
    }
    iterations
}

fn cells(kind: ElementKind) -> [usize; 3] {
    if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 2, 2] }
}

#[test]
fn of_every_element_and_analysis() {
    for kind in elements::solvable().filter(|kind| *kind != Hex8I) {
        for analysis in meshes::all_analyses(kind) {
            let mut model = two_materials_in(analysis, distorted_box(kind, cells(kind), 0.1));
            std::sync::Arc::make_mut(&mut model.mesh).coords.iter_mut().for_each(|x| x[0] += 0.25);
            model.solver.preconditioner = Some(Preconditioner::Jacobi);
            compare(&mut model, 1e-10);
        }
    }
}

#[test]
fn by_every_preconditioner() {
    let tables = format!("{SOFT}{CLAMP}{PULL}");
    for by in [
        Preconditioner::Identity,
        Preconditioner::Jacobi,
        Preconditioner::Neumann,
        Preconditioner::Chebyshev,
        Preconditioner::LeastSquares,
        Preconditioner::Amg,
    ] {
        let mut model = meshes::model(&tables, distorted_box(Tet10, [2, 2, 2], 0.1));
        model.solver.preconditioner = Some(by);
        let [with, without] = compare(&mut model, 1e-10);
        assert!(without.abs_diff(with) <= 1 + with / 20, "{by}: {without} iterations, {with} with a matrix");
    }
}

/// The level of the vertices is what the matrix's own would be, where edges are straight. No elements are flat: for these the
/// matrix has stacks of nodes. Linear elements have all of their matrix, in slabs, and nodes in another order.
#[test]
fn multigrid_takes_as_many_iterations() {
    for kind in elements::solvable().filter(|kind| kind.of_kernels() == *kind && *kind != Hex8I) {
        let dim = kind.info().dim;
        let tables = match dim {
            3 => format!("{SOFT}{CLAMP}{PULL}"),
            _ => format!(
                "{}{SOFT}{}[[traction]]\non = \"xmax\"\nvector = [1.0, 0.5]\n",
                analysis(Analysis::PlaneStrain, 1.0),
                clamp(Analysis::PlaneStrain)
            ),
        };
        let is_quadratic = kind.info().is_quadratic();
        let cells = if dim == 2 { [16, 16, 1] } else { [if is_quadratic { 4 } else { 8 }; 3] };
        let mut model = meshes::model(&tables, regular_box(kind, cells));
        model.solver.preconditioner = Some(Preconditioner::Amg);
        model.solver.residual_tolerance = Some(1e-8);
        let with = solve(&mut model, Operator::Assembled, DeviceName::Cpu);
        let without = solve(&mut model, Operator::MatrixFree, DeviceName::Cpu);
        let [with, without] = [with, without].map(|of| of.outcome.iterations);
        assert!(without <= with + 1 + with / 10, "{}: {without} iterations, {with} with a matrix", kind.info().name);
    }
}

/// `P^T K P`, K by its columns and P the mean of an edge's ends in its middle, where nothing is held.
pub fn vertex_level(space: &Space) -> Vec<u64> {
    let tables = format!(
        "{SOFT}{CLAMP}[[support]]\non = \"ymin\"\nfix = \"y\"\n[[spring]]\nname = \"bed\"\non = \"zmax\"\nfoundation = 20.0\n{PULL}"
    );
    let mut found = Vec::new();
    for kind in [Tet10, Hex20, ElementKind::Wedge15] {
        let model = meshes::model(&tables, regular_box(kind, [2, 1, 2]));
        let plan = Plan { operator: Some(Operator::MatrixFree), ..Plan::plain(&model, space.on_host()) };
        let (mut phase, mut timings) = (Phase::begin(&Silent, "setup"), Timings::default());
        let System { body, operator, .. } =
            System::<f64>::assemble(space, &model, &plan, &mut phase, &mut timings).unwrap();
        let level = VertexLevel::new(space, &model, &body.numbering, &body.mesh, &body.supports).unwrap().unwrap();
        let (ends, free) = (space.download(body.mesh.ends().unwrap()).unwrap(), space.download(&level.free).unwrap());
        let vertices: Vec<usize> = (0..ends.len()).filter(|node| ends[*node][0] as usize == *node).collect();
        let number = |node: u32| vertices.binary_search(&(node as usize)).unwrap();
        let mut p = DMatrix::<f64>::zeros(3 * ends.len(), 3 * vertices.len());
        let mut is_free = Vec::new();
        for (node, i) in (0..ends.len()).flat_map(|node| (0..3).map(move |i| (node, i))) {
            for end in ends[node].into_iter().filter(|end| (free[node] & free[*end as usize]) >> i & 1 == 1) {
                p[(3 * node + i, 3 * number(end) + i)] += 0.5;
            }
        }
        vertices.iter().for_each(|node| is_free.extend((0..3).map(|i| free[*node] >> i & 1 == 1)));
        let mut k = DMatrix::zeros(p.nrows(), p.nrows());
        for j in 0..k.ncols() {
            let x: Vec<f64> = (0..k.nrows()).map(|i| f64::from(u8::from(i == j))).collect();
            let (x, mut y) = (space.upload(&x).unwrap(), space.zeros(x.len()).unwrap());
            operator.product().apply(space, &x, &mut y).unwrap();
            k.set_column(j, &DVector::from_vec(space.take(y).unwrap()));
        }
        let expected: DMatrix<f64> = p.transpose() * k * &p;
        let level = dense_of(space, &level.matrix);
        let largest = expected.amax();
        for (i, j) in (0..level.nrows()).flat_map(|i| (0..level.ncols()).map(move |j| (i, j))) {
            if is_free[i] && is_free[j] {
                let error = (level[(i, j)] - expected[(i, j)]).abs();
                assert!(error < 1e-12 * largest, "{} {i} {j}: {error:e}", kind.info().name);
            }
        }
        found.extend(level.iter().map(|value| value.to_bits()));
    }
    found
}

/// K in slabs has the columns that products have, and each of its rows once.
pub fn slabs(space: &Space) -> Vec<u64> {
    let tables = format!(
        "{SOFT}{CLAMP}[[support]]\non = \"ymin\"\nfix = \"y\"\n[[spring]]\nname = \"bed\"\non = \"zmax\"\nfoundation = 20.0\n{PULL}"
    );
    let mut found = Vec::new();
    let of_one_type = [ElementKind::Tet4, Hex8, ElementKind::Wedge6].map(|kind| regular_box(kind, [3, 2, 2]));
    let of_two = covered(Hex8, [3, 2, 2], ElementKind::Tet4, &[0, 1, 3, 4]);
    for (mesh, number) in of_one_type.into_iter().chain([of_two]).zip(0..) {
        let model = meshes::model(&tables, mesh);
        let plan = Plan { operator: Some(Operator::MatrixFree), ..Plan::plain(&model, space.on_host()) };
        let (mut phase, mut timings) = (Phase::begin(&Silent, "setup"), Timings::default());
        let System { body, operator, .. } =
            System::<f64>::assemble(space, &model, &plan, &mut phase, &mut timings).unwrap();
        let slabs = SlabStiffness::new(space, &model, &body.numbering, &body.mesh, &body.supports).unwrap();
        let n = 3 * body.mesh.n_nodes;
        let (mut k, mut rows) = (DMatrix::zeros(n, n), Vec::new());
        slabs
            .for_each(space, &mut |slab, of| {
                k += dense_of(space, slab);
                rows.extend(of);
                Ok(())
            })
            .unwrap();
        assert!(rows.iter().copied().eq(0..body.mesh.n_nodes));
        for j in 0..n {
            let x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
            let (x, mut y) = (space.upload(&x).unwrap(), space.zeros(n).unwrap());
            operator.product().apply(space, &x, &mut y).unwrap();
            let error = (DVector::from_vec(space.take(y).unwrap()) - k.column(j)).amax();
            assert!(error < 1e-12 * k.amax(), "mesh {number} {j}: {error:e}");
        }
        found.extend(k.iter().map(|value| value.to_bits()));
    }
    found
}

#[test]
fn in_every_precision() {
    let tables = format!("{SOFT}{CLAMP}{PULL}");
    for (precision, by, tolerance) in [
        (Precision::Mixed, Preconditioner::Amg, 1e-10),
        (Precision::Mixed, Preconditioner::Chebyshev, 1e-10),
        (Precision::Single, Preconditioner::Jacobi, 2e-5),
        (Precision::Single, Preconditioner::Amg, 2e-5),
    ] {
        for (kind, cells) in [(Hex20, 2), (Hex8, 5)] {
            let mut model = meshes::model(&tables, distorted_box(kind, [cells; 3], 0.05));
            (model.solver.precision, model.solver.preconditioner) = (Some(precision), Some(by));
            compare(&mut model, tolerance);
        }
    }
}

/// Rollers along normals, springs on curved faces, a displacement that is prescribed, own axes of a material.
#[test]
fn with_supports_springs_and_materials_of_all_kinds() {
    let tables = format!(
        "{SOFT}[[support]]\non = [\"xmin\", \"ymin\"]\nfix = \"normal\"\n[[support]]\non = \"zmin\"\n\
         displacement = {{ z = 1e-3 }}\n[[spring]]\nname = \"bed\"\non = \"zmax\"\nfoundation = 20.0\n{PULL}"
    );
    for (kind, cells) in [(Tet10, 2), (Hex20, 2), (Hex8, 5)] {
        let mut mesh = regular_box(kind, [cells; 3]);
        mesh.coords.iter_mut().for_each(|[x, y, z]| {
            (*x, *y) = (0.8 * *x - 0.6 * *y + 0.1 * *z * *z, 0.6 * *x + 0.8 * *y);
        });
        for by in [Preconditioner::Jacobi, Preconditioner::Amg] {
            let mut model = meshes::model(&tables, mesh.clone());
            model.solver.preconditioner = Some(by);
            compare(&mut model, 1e-10);
            let mut model = anisotropic(meshes::model(&tables, mesh.clone()));
            model.solver.preconditioner = Some(by);
            compare(&mut model, 1e-10);
        }
    }
}

#[test]
fn with_couplings() {
    let remote = "[[remote]]\nname = \"end\"\non = \"xmax\"\nkind = \"rigid\"\nforce = [0.0, 0.0, -1.0]\n\
                  moment = [0.5, 0.0, 0.0]\n";
    let mut model = meshes::model(&format!("{SOFT}{CLAMP}{remote}"), distorted_box(Hex8, [3, 2, 2], 0.1));
    model.solver.preconditioner = Some(Preconditioner::Jacobi);
    compare(&mut model, 1e-10);
}

#[test]
fn of_several_load_cases() {
    let loads = "[[traction]]\nname = \"pull\"\non = \"xmax\"\nvector = [1.0, 0.0, 0.0]\n\
                 [[traction]]\nname = \"bend\"\non = \"xmax\"\nvector = [0.0, 0.0, 1.0]\n\
                 [[load_case]]\nname = \"a\"\nfactors = { pull = 1.0 }\n\
                 [[load_case]]\nname = \"b\"\nfactors = { bend = 2.0, pull = 0.5 }\n";
    let mut model = meshes::model(&format!("{SOFT}{CLAMP}{loads}"), distorted_box(Tet10, [2, 2, 2], 0.1));
    (model.solver.preconditioner, model.solver.residual_tolerance) = (Some(Preconditioner::Amg), Some(1e-10));
    let mut solve = |operator| {
        model.solver.operator = Some(operator);
        pipeline::solve_cases(&Space::cpu(), &model, &Silent).unwrap()
    };
    let (with, without) = (solve(Operator::Assembled), solve(Operator::MatrixFree));
    assert_eq!([with.len(), without.len()], [2; 2]);
    for (with, without) in with.iter().zip(&without) {
        let [a, b] = [with, without].map(|of| of.unknown(3));
        let error = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error <= 1e-7 * largest(&a), "{error:e}");
    }
}

/// An element, what is asked for besides, and what the message says.
type Refused<'a> = (ElementKind, &'a dyn Fn(&mut Model), &'a str);

/// Cells ten times as long as thick, with multigrid.
fn flatten(model: &mut Model) {
    std::sync::Arc::make_mut(&mut model.mesh).coords.iter_mut().for_each(|x| x[2] *= 0.1);
    model.solver.preconditioner = Some(Preconditioner::Amg);
}

/// Nothing but the operator is asked for: the rest fits to it.
#[test]
fn what_is_not_asked_for_goes_with_it() {
    let remote = "[[remote]]\nname = \"end\"\non = \"xmax\"\nkind = \"rigid\"\nforce = [0.0, 0.0, -1.0]\n";
    for (kind, tables) in [(Hex8, PULL), (Tet10, remote), (Tet10, PULL)] {
        let cells = if kind == Hex8 { [12; 3] } else { [6; 3] };
        let mut model = meshes::model(&format!("{SOFT}{CLAMP}{tables}"), regular_box(kind, cells));
        assert!(3 * model.mesh.coords.len() > 3_000);
        let plan = solve(&mut model, Operator::MatrixFree, DeviceName::Cpu).used.plan;
        let expected = if tables == PULL { Preconditioner::Amg } else { Preconditioner::Jacobi };
        assert_eq!(plan.preconditioner, Some(expected));
    }
}

/// What needs the entries of K is refused, and `auto` takes the matrix.
#[test]
fn what_needs_a_matrix_is_refused() {
    let tables = format!("{SOFT}{CLAMP}{PULL}");
    let refused = |kind: ElementKind, change: &dyn Fn(&mut Model)| {
        let mut model = meshes::model(&tables, regular_box(kind, [2, 1, 1]));
        model.solver.operator = Some(Operator::MatrixFree);
        change(&mut model);
        pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap_err().to_string()
    };
    let cases: [Refused; 9] = [
        (Tet10, &|model| model.solver.ordering = Some(Ordering::Mesh), "no format, no ordering"),
        (Tet10, &|model| flatten(model), "flat elements"),
        (Tet10, &|model| model.solver.method = Some(Method::Direct), "method direct"),
        (Tet10, &|model| model.solver.assembly = Some(Strategy::RowOwner), "no format, no ordering"),
        (Tet10, &|model| model.solver.preconditioner = Some(Preconditioner::BlockJacobi), "block_jacobi"),
        (Tet10, &|model| model.solver.precision = Some(Precision::MixedHalf), "mixed_half"),
        (Hex8, &|model| flatten(model), "flat elements"),
        (Hex8I, &|model| model.solver.preconditioner = Some(Preconditioner::Jacobi), "hex8i"),
        (
            Tet10,
            &|model| {
                *model = anisotropic(std::mem::replace(model, meshes::model(&tables, regular_box(Tet10, [1, 1, 1]))));
                model.solver.precision = Some(Precision::Single);
            },
            "single",
        ),
    ];
    for (kind, change, expected) in cases {
        let message = refused(kind, change);
        assert!(message.contains(expected), "{message}");
    }
}
