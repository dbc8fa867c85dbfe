//! Direct solvers: the order of elimination, and solutions, against conjugate gradients and known answers.

use crate::common::blocks::{random_sparsity, sparsity};
use crate::common::fields::converged;
use crate::common::recorder::Recorder;
use crate::common::{Random, assert_close, bits, largest, meshes};
use std::collections::BTreeSet;
use std::rc::Rc;
use warpfem::assembly::{Symbolic, symbolic};
use warpfem::device::{DeviceName, Emulated};
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline;
use warpfem::result::choices::{Format, Method, Ordering, Precision};
use warpfem::result::{DirectError, Error, Fill};
use warpfem::solve::Silent;
use warpfem::solve::direct::dense::DenseCholesky;
use warpfem::solve::direct::{DeviceSparseFactor, Dissection};
use warpfem::sparse::{Matrix, Pattern, Sparsity, Tuning};

fn assert_dissects(sparsity: &Sparsity, coords: &[[f64; 3]]) -> Dissection {
    let found = Dissection::new(sparsity, coords);
    let n = coords.len();
    assert_eq!(found.order.iter().copied().collect::<BTreeSet<u32>>(), (0..n as u32).collect());
    assert_eq!(found.order.len(), n);
    let mut place = vec![0; n];
    found.order.iter().enumerate().for_each(|(at, node)| place[*node as usize] = at);
    for division in &found.divisions {
        let (low, high, separator) = (&division.low, &division.high, &division.separator);
        assert!(low.end == high.start && high.end == separator.start, "{division:?}");
        for at in low.clone() {
            let mut neighbours = sparsity.row(found.order[at] as usize).iter();
            assert!(neighbours.all(|other| !high.contains(&place[*other as usize])), "{division:?}: not separated");
        }
    }
    assert_eq!(found, Dissection::new(sparsity, coords), "two runs differ");
    found
}

#[test]
fn separators_separate() {
    for kind in [ElementKind::Hex8, ElementKind::Tet4, ElementKind::Hex20, ElementKind::Quad4, ElementKind::Tri6] {
        let mesh = meshes::distorted_box(kind, [7, 6, 5], 0.2);
        let found = assert_dissects(&symbolic::neighbours(&mesh, &[]), &mesh.coords);
        assert!(found.divisions.len() > 3);
        let first = &found.divisions[0];
        let smaller = first.low.len().min(first.high.len());
        assert!(6 * smaller > mesh.coords.len(), "{kind:?}: {first:?}");
    }
}

#[test]
fn any_graph_and_any_points_are_dissected() {
    let mut random = Random(3);
    for n in [0, 1, 2, 12, 13, 14, 300] {
        let graph = random_sparsity(n, 4, 5);
        let mut scattered = || core::array::from_fn(|_| random.next());
        assert_dissects(&graph, &(0..n).map(|_| scattered()).collect::<Vec<_>>());
        assert_dissects(&graph, &vec![[1.0; 3]; n]);
        // All nodes but one at the same place.
        assert_dissects(&graph, &(0..n).map(|i| [f64::from(u8::from(i == 0)), 0.0, 0.0]).collect::<Vec<_>>());
        assert_dissects(&sparsity(&vec![Vec::new(); n]), &vec![[f64::NAN; 3]; n]);
    }
}

/// Entries of the factor's lower triangle when nodes are eliminated in this order, by eliminating them.
fn fill(sparsity: &Sparsity, order: &[u32]) -> usize {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node as usize] = at);
    let later = |at: usize| {
        let row = sparsity.row(order[at] as usize).iter();
        row.map(|other| place[*other as usize]).filter(move |other| *other > at)
    };
    let mut columns: Vec<BTreeSet<usize>> = (0..order.len()).map(|at| later(at).collect()).collect();
    let mut total = 0;
    for at in 0..order.len() {
        let column = std::mem::take(&mut columns[at]);
        total += 1 + column.len();
        if let Some(parent) = column.first().copied() {
            columns[parent].extend(column.into_iter().skip(1));
        }
    }
    total
}

#[test]
fn dissection_halves_the_fill_of_a_box() {
    for kind in [ElementKind::Hex8, ElementKind::Tet4] {
        let mesh = meshes::regular_box(kind, [16; 3]);
        let nodes = symbolic::neighbours(&mesh, &[]);
        let natural: Vec<u32> = (0..mesh.coords.len() as u32).collect();
        let [natural, dissected] =
            [natural, Dissection::new(&nodes, &mesh.coords).order].map(|order| fill(&nodes, &order));
        assert!(2 * dissected < natural, "{kind:?}: {dissected} entries, and {natural} in the mesh's order");
    }
}

/// By eliminating the graph of the unknowns, one by one.
#[test]
fn the_fill_is_counted_from_the_graph_of_the_nodes() {
    let mut graphs: Vec<(Sparsity, Vec<[f64; 3]>)> = Vec::new();
    for kind in [ElementKind::Hex8, ElementKind::Tet10, ElementKind::Quad4] {
        let mesh = meshes::distorted_box(kind, [6, 5, 4], 0.2);
        graphs.push((symbolic::neighbours(&mesh, &[]), mesh.coords));
    }
    let mut random = Random(7);
    for n in [0, 1, 13, 200] {
        graphs.push((random_sparsity(n, 4, 5), (0..n).map(|_| core::array::from_fn(|_| random.next())).collect()));
    }
    for (graph, coords) in &graphs {
        let dissection = Dissection::new(graph, coords);
        for size in [1, 3] {
            let unknowns_of = |node: usize| (0..size).map(move |c| node * size + c);
            let row = |i: usize| graph.row(i / size).iter().flat_map(|node| unknowns_of(*node as usize)).collect();
            let rows: Vec<Vec<usize>> = (0..graph.n_rows() * size).map(row).collect();
            let order: Vec<u32> = dissection.of_unknowns(size).0.into_iter().map(|unknown| unknown as u32).collect();
            let fill_of = Fill::of(graph, &dissection, size);
            assert_eq!(fill_of.nonzeros as usize, fill(&sparsity(&rows), &order), "{} nodes x {size}", coords.len());
        }
    }
    // A tridiagonal matrix of two rows: 2 + 1 values, and (4 + 1) / 2 multiplications.
    let pair = sparsity(&[vec![1], vec![0]]);
    let dissection = Dissection::new(&pair, &[[0.0; 3], [1.0, 0.0, 0.0]]);
    assert_eq!(Fill::of(&pair, &dissection, 1), Fill { nonzeros: 3, operations: 2.5 });
}

fn with(model: &mut Model, method: Method, precision: Precision, tolerance: f64) -> &mut Model {
    model.solver.method = Some(method);
    model.solver.precision = Some(precision);
    model.solver.tolerance = tolerance;
    model
}

/// Devices that this build has a direct solver for.
fn devices() -> Vec<DeviceName> {
    let has_factor = |device: &DeviceName| cfg!(feature = "direct") || *device != DeviceName::Cpu;
    crate::common::devices().into_iter().filter(has_factor).collect()
}

/// A clamped body of two materials under its weight.
fn body(kind: ElementKind, analysis: warpfem::model::Analysis, cells: [usize; 3]) -> Model {
    let mut model = meshes::two_materials_in(analysis, meshes::distorted_box(kind, cells, 0.2));
    model.gravity = Some([0.5, -1.0, if kind.info().dim == 3 { 2.0 } else { 0.0 }]);
    model
}

fn assert_direct_is_cg(mut model: Model, device: DeviceName) {
    let expected = converged(with(&mut model, Method::Cg, Precision::Double, 1e-11), DeviceName::Cpu);
    let model = with(&mut model, Method::Direct, Precision::Double, 1e-8);
    let found = converged(model, device);
    let (u, expected) = (found.displacement().as_flattened(), expected.displacement().as_flattened());
    assert_close(&format!("displacements on {device:?}"), u, expected, 1e-8, largest(expected));
    // Quadratic elements were seen to end at 1.1e-12.
    let is_quadratic = model.mesh.solids().any(|(_, cells)| cells.kind.info().is_quadratic());
    let residual = found.outcome.relative_residual;
    assert!(residual <= if is_quadratic { 5e-12 } else { 1e-12 }, "{device:?}: {residual:e}");
    assert!((1..=3).contains(&found.outcome.iterations), "{}", found.outcome.iterations);
    assert!(found.used.factor_nonzeros > Some(0) && found.used.plan.preconditioner.is_none());
    if matches!(device, DeviceName::Cuda(_)) && crate::common::gpu().is_some_and(|gpu| gpu.lacks_factors().is_none()) {
        // The library's last bits differ.
        return;
    }
    let again = converged(model, device);
    assert!(bits(u) == bits(again.displacement().as_flattened()), "{device:?}: two runs differ");
}

#[test]
fn direct_is_cg_on_small_bodies() {
    for device in devices() {
        assert_direct_is_cg(meshes::load("cube_463.toml"), device);
        for kind in [ElementKind::Hex8, ElementKind::Tet4, ElementKind::Quad4] {
            let analysis = meshes::analyses(kind)[0];
            assert_direct_is_cg(body(kind, analysis, [3, 2, 2]), device);
        }
    }
}

/// The stiffness of a body before its supports, in the mesh's order.
fn unsupported(space: &Space, model: &Model) -> Matrix<f64> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    let mesh = meshes::upload(space, model, &symbolic);
    let pattern = Rc::new(Pattern::upload(space, symbolic.sparsity).unwrap());
    let mut matrix = Matrix::zeros(space, Format::Ebw, 3, &pattern, Tuning::default()).unwrap();
    meshes::assemble(space, &mesh, &mut matrix);
    matrix
}

/// Without the library that it needs; with it, a body that nothing holds is found out.
#[test]
fn sparse_factors_of_a_device_need_its_library() {
    let model = body(ElementKind::Hex8, meshes::analyses(ElementKind::Hex8)[0], [4; 3]);
    let coords = &model.mesh.coords;
    let emulator = Space::gpu(Emulated::default()).unwrap();
    let found = DeviceSparseFactor::<f64, f64>::build(&emulator, &unsupported(&emulator, &model), coords);
    match found.map(|_| ()) {
        Err(error @ Error::Direct(DirectError::NoLibrary(_))) => {
            assert!(error.to_string().contains("cuDSS"), "{error}")
        }
        other => panic!("{other:?}"),
    }
    let Some(gpu) = crate::common::gpu() else { return };
    match DeviceSparseFactor::<f64, f64>::build(&gpu, &unsupported(&gpu, &model), coords).map(|_| ()) {
        Err(Error::Direct(DirectError::NoLibrary(why))) => println!("skipped: no cuDSS: {why}"),
        Err(Error::Direct(DirectError::NotPositive { .. })) => {}
        other => panic!("{other:?}"),
    }
}

#[cfg(feature = "direct")]
mod on_the_cpu {
    use super::*;
    use crate::common::blocks::Blocks;
    use crate::common::elements::solvable;
    use warpfem::linalg::Space;
    use warpfem::solve::direct::{Factor, HostDenseFactor, SparseFactor};

    #[test]
    fn direct_is_cg_on_every_element() {
        for kind in solvable() {
            let cells = if kind.info().dim == 2 { [12, 9, 1] } else { [5, 4, 4] };
            for analysis in meshes::analyses(kind) {
                assert_direct_is_cg(body(kind, analysis, cells), DeviceName::Cpu);
            }
        }
    }

    #[test]
    fn single_and_mixed_precision() {
        let mut model = body(ElementKind::Hex8, meshes::analyses(ElementKind::Hex8)[0], [6; 3]);
        let double = converged(with(&mut model, Method::Direct, Precision::Double, 1e-10), DeviceName::Cpu);
        let mixed = converged(with(&mut model, Method::Direct, Precision::Mixed, 1e-10), DeviceName::Cpu);
        let single = converged(with(&mut model, Method::Direct, Precision::Single, 1e-3), DeviceName::Cpu);
        let u = double.displacement().as_flattened();
        assert_close("mixed", mixed.displacement().as_flattened(), u, 1e-8, largest(u));
        assert_close("single", single.displacement().as_flattened(), u, 1e-3, largest(u));
        assert!(mixed.outcome.relative_residual <= 1e-12 && mixed.outcome.iterations > 1, "{:?}", mixed.outcome);
        // The true residual of the matrix in double, which a matrix in single cannot reach.
        assert!((1e-9..1e-3).contains(&single.outcome.relative_residual), "{:?}", single.outcome);
        with(&mut model, Method::Direct, Precision::Single, 1e-10).solver.residual_tolerance = Some(1e-10);
        assert!(!pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap().outcome.converged);
    }

    #[test]
    fn factors_solve_what_a_dense_factor_does() {
        let space = Space::cpu();
        for (n, size) in [(1, 1), (2, 2), (40, 1), (120, 3)] {
            let blocks = Blocks::dominant(random_sparsity(n, 6, 3), size, 0.25, 5);
            let matrix: Matrix<f64> = blocks.upload(&space, Format::Csr);
            let points: Vec<[f64; 3]> = (0..n).map(|i| [i as f64, (i % 7) as f64, 0.0]).collect();
            let factors: [Box<dyn Factor<f64>>; 2] = [
                Box::new(SparseFactor::<f64>::build(&space, &matrix, &points).unwrap()),
                Box::new(HostDenseFactor::build(&space, &matrix, &points).unwrap()),
            ];
            let f: Vec<f64> = Random(9).vector(n * size);
            let expected = blocks.dense().lu().solve(&nalgebra::DVector::from_vec(f.clone())).unwrap();
            for factor in factors {
                let mut d = space.zeros(f.len()).unwrap();
                factor.solve(&space, &space.upload(&f).unwrap(), &mut d).unwrap();
                assert_close("solution", &space.download(&d).unwrap(), expected.as_slice(), 1e-13, 1.0);
            }
        }
    }

    /// What becomes of a matrix's factors, sparse and dense.
    fn both(space: &Space, matrix: &Matrix<f64>, coords: &[[f64; 3]]) -> [warpfem::result::Result<()>; 2] {
        [
            SparseFactor::<f64>::build(space, matrix, coords).map(|_| ()),
            HostDenseFactor::build(space, matrix, coords).map(|_| ()),
        ]
    }

    /// A body that nothing holds, and one of negative stiffness.
    #[test]
    fn singular_and_indefinite_matrices_are_reported() {
        let space = Space::cpu();
        let model = body(ElementKind::Hex8, meshes::analyses(ElementKind::Hex8)[0], [4; 3]);
        let free = unsupported(&space, &model);
        for found in both(&space, &free, &model.mesh.coords) {
            let Err(error @ Error::Direct(DirectError::NotPositive { .. })) = found else { panic!("{found:?}") };
            assert!(error.exit_code() == 4 && error.to_string().contains("singular or indefinite"), "{error}");
        }
        let mut blocks = Blocks::dominant(random_sparsity(50, 6, 3), 1, 0.25, 5);
        let dense = blocks.dense();
        blocks.set_all(|row, column| if (row, column) == (20, 20) { -1.0 } else { dense[(row, column)] });
        let matrix: Matrix<f64> = blocks.upload(&space, Format::Csr);
        for found in both(&space, &matrix, &vec![[0.0; 3]; 50]) {
            assert!(matches!(found, Err(Error::Direct(DirectError::NotPositive { .. }))), "{found:?}");
        }
    }

    #[test]
    fn a_factor_that_has_no_room_is_refused_before_it_is_computed() {
        let recorder = Recorder { room: Some(500_000), ..Recorder::default() };
        let space = recorder.space().unwrap();
        let blocks = Blocks::dominant(random_sparsity(200, 6, 3), 3, 0.25, 5);
        let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
        match SparseFactor::<f64>::build(&space, &matrix, &[[0.0; 3]; 200]).map(|_| ()) {
            Err(error @ Error::OutOfMemory { needed: Some(needed), available, .. }) => {
                assert!(error.exit_code() == 6 && error.to_string().contains("`--method cg`"), "{error}");
                // More than the matrix, less than a full factor with as much beside it.
                assert!((500_000..2 * 600 * 600 * 8).contains(&needed) && available == Some(500_000), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_dense_factor_that_has_no_room_is_refused() {
    let space = Recorder { room: Some(1 << 30), ..Recorder::default() }.space().unwrap();
    match DenseCholesky::<f64>::zeros(&space, 12_000).map(|_| ()) {
        Err(error @ Error::OutOfMemory { needed: Some(needed), .. }) => {
            assert!(error.exit_code() == 6 && needed > 1 << 30, "{error}");
            assert!(error.to_string().contains("`--method cg`"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Every section of a row of hex20r has a motion that strains none of its points. What does not drive it has an answer.
#[test]
fn motions_that_reduced_integration_leaves_free_are_named() {
    let tables = format!("{}{}[[force]]\non = \"xmax\"\ntotal = [0.0, 0.0, -1.0]\n", meshes::SOFT, meshes::CLAMP);
    let mesh = warpfem::mesh::generate::generate_box(ElementKind::Hex20R, [3.0, 1.0, 1.0], [3, 1, 1]).unwrap();
    let mut model = meshes::model(&tables, mesh);
    let named = "reduced integration leaves motions free";
    assert!(model.warnings.iter().any(|warning| warning.contains(named)), "{:?}", model.warnings);
    model.solver.method = Some(Method::Direct);
    let error = pipeline::solve(&model, DeviceName::Cpu, &Silent).err().map(|error| error.to_string());
    assert!(error.as_ref().is_some_and(|error| error.contains("does reduced integration leave")), "{error:?}");
    (model.solver.method, model.solver.residual_tolerance) = (Some(Method::Cg), Some(1e-10));
    assert!(converged(&model, DeviceName::Cpu).outcome.converged);
}
