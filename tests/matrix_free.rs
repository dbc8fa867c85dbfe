//! K without a matrix: its products and its diagonal are those of the assembled one, on meshes of every kind, with supports
//! along the components and in other directions.

use crate::common::{Random, assert_close, bits, floats, largest, meshes, on_every_device, rounding};
use kernels_rs::real::Real;
use std::rc::Rc;
use warpfem::assembly::matrix_free::Division;
use warpfem::assembly::{Addition, DeviceMesh, MatrixFree, Supports, Symbolic};
use warpfem::element::ElementKind::{self, Hex8, Hex20, Pyramid5, Quad4, Tet4, Tet10, Tri3, Tri6, Wedge6};
use warpfem::linalg::{Scalar, Space};
use warpfem::mesh::{Cells, Mesh};
use warpfem::model::{Analysis, Model};
use warpfem::result::choices::{Format, Ordering};
use warpfem::sparse::{Epilogue, LinOp};

/// Patches of few cells.
pub const FEW: Division = Division { most: 5, by_formulas: true };
/// Of as many as there is room for.
pub const MANY: Division = Division { most: usize::MAX, ..FEW };
/// The same by the kernels that serve all elements.
pub const COMMON: Division = Division { by_formulas: false, ..MANY };

/// A model's mesh on a device, and its springs.
fn upload(space: &Space, model: &Model, symbolic: &Symbolic) -> Rc<DeviceMesh> {
    let mut mesh = meshes::upload(space, model, symbolic);
    mesh.addition = Addition::new(space, model, &symbolic.numbering).unwrap();
    Rc::new(mesh)
}

/// The assembled matrix of a model after supports: `K x`, its diagonal, and its largest sum of magnitudes in a row.
fn assembled(model: &Model, symbolic: &Symbolic, supports: &Supports, x: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let (space, size) = (Space::cpu(), model.analysis.components());
    let mesh = upload(&space, model, symbolic);
    let mut matrix = crate::common::blocks::zeros::<f64>(&space, Format::Ebw, size, &symbolic.sparsity);
    meshes::assemble(&space, &mesh, &mut matrix);
    supports.eliminate(&space, &mut matrix).unwrap();
    let mut y = space.zeros(x.len()).unwrap();
    matrix.apply(&space, &space.upload(x).unwrap(), &mut y).unwrap();
    let blocks = matrix.blocks(&space).unwrap();
    let first = |i: usize| symbolic.sparsity.row_start[i / size] as usize * size * size;
    let diagonal = (0..x.len()).map(|i| blocks[first(i) + (size + 1) * (i % size)]).collect();
    let sums = space.take(matrix.row_sums(&space).unwrap()).unwrap();
    (space.take(y).unwrap(), diagonal, largest(&sums))
}

/// Compares the product, the diagonal and the norm of a model; their bits.
pub fn compare<T: Real>(space: &Space, model: &Model, division: Division) -> Vec<u64> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    let (mesh, supports) = (upload(space, model, &symbolic), Supports::new(model, &symbolic.numbering));
    let operator = MatrixFree::<T>::new(space, &mesh, &supports, division).unwrap();
    let x = Random(3).vector::<T>(operator.n());
    let (expected, diagonal, norm) = assembled(model, &symbolic, &supports, &floats(&x));
    let device_x = space.upload(&x).unwrap();
    let product = || {
        let mut y = space.upload(&vec![T::from_f64(f64::NAN); x.len()]).unwrap();
        operator.apply(space, &device_x, &mut y).unwrap();
        space.take(y).unwrap()
    };
    let (y, again) = (product(), product());
    let what = format!("{} {}", model.mesh.cells[0].kind.info().name, model.analysis.name());
    let scale = largest(&expected);
    assert_close(&what, &y, &expected, if T::NAME == "f32" { rounding::<T>() } else { 1e-13 }, scale);
    assert!(bits(&y) == bits(&again), "{what}: two products differ");
    let found = space.download(operator.diagonal()).unwrap();
    assert_close(&what, &found, &diagonal, 1e-13, largest(&diagonal));
    let mut product = space.zeros(x.len()).unwrap();
    operator.apply_dot(space, &device_x, &mut product, Scalar::new(0)).unwrap();
    let dot: f64 = floats(&x).iter().zip(&expected).map(|(x, y)| x * y).sum();
    let [found_dot] = space.read([Scalar::new(0)]).unwrap();
    let most = if T::NAME == "f32" { 1e-4 } else { 1e-11 };
    assert!((found_dot - dot).abs() <= most * dot.abs(), "{what}: {found_dot} for {dot}");
    compare_several(space, &operator, 3);
    let inverse = space.take(operator.inverse_diagonal(space).unwrap()).unwrap();
    let expected: Vec<f64> = found.iter().map(|entry| if *entry == 0.0 { 0.0 } else { 1.0 / entry }).collect();
    assert_close(&what, &inverse, &expected, rounding::<T>(), largest(&expected));
    let sums = space.take(operator.row_sums(space).unwrap()).unwrap();
    let bound = largest(&sums);
    assert!(bound >= (1.0 - 1e-12) * norm && bound <= 16.0 * norm, "{what}: {bound} for a norm of {norm}");
    [bits(&y), bits(&found), bits(&sums)].concat()
}

/// Products with several vectors at once, and their dot products, have the bits of each one's alone.
fn compare_several<T: Real>(space: &Space, operator: &MatrixFree<T>, count: usize) {
    let n = operator.n();
    let upload = |values: Vec<T>| space.upload(&values).unwrap();
    let none = || upload(vec![T::from_f64(f64::NAN); n]);
    let x: Vec<_> = (0..count).map(|m| upload(Random(5 + m as u64).vector::<T>(n))).collect();
    let (mut y, mut with_dots): (Vec<_>, Vec<_>) = (0..count).map(|_| (none(), none())).unzip();
    operator.apply_all(space, &x, &mut y).unwrap();
    let to: Vec<_> = (0..count).map(|m| Epilogue::Dot(Scalar::new(m))).collect();
    // SAFETY: these are no steps.
    unsafe { operator.apply_all_then(space, &x, &mut with_dots, &to) }.unwrap();
    for m in 0..count {
        let [dot] = space.read([Scalar::new(m)]).unwrap();
        let mut alone = none();
        operator.apply_dot(space, &x[m], &mut alone, Scalar::new(count)).unwrap();
        let (alone, [of_alone]) = (space.take(alone).unwrap(), space.read([Scalar::new(count)]).unwrap());
        assert!(bits(&alone) == bits(&space.download(&y[m]).unwrap()), "product {m} of {count}");
        assert!(bits(&alone) == bits(&space.download(&with_dots[m]).unwrap()), "product {m} of {count}, with dots");
        assert_eq!(dot.to_bits(), of_alone.to_bits(), "x . y {m} of {count}");
    }
}

/// Elements that have no products without a matrix are refused by their name.
pub fn refused(space: &Space, model: &Model) {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    let (mesh, supports) = (upload(space, model, &symbolic), Supports::new(model, &symbolic.numbering));
    let error = MatrixFree::<f64>::new(space, &mesh, &supports, MANY).err().unwrap().to_string();
    assert!(error.contains(model.mesh.cells[0].kind.info().name), "{error}");
}

/// In patches of few cells and of many, in double and, where there are kernels, in single precision.
fn compare_all(space: &Space, model: &Model) -> Vec<u64> {
    let mut found = compare::<f64>(space, model, FEW);
    found.extend(compare::<f64>(space, model, MANY));
    if model.form().is_isotropic && model.analysis.components() > 1 {
        found.extend(compare::<f32>(space, model, FEW));
        found.extend(compare::<f32>(space, model, MANY));
        found.extend(compare::<f32>(space, model, COMMON));
    }
    found
}

/// Cells some of which are covered by others of this kind at these corners.
pub fn covered(kind: ElementKind, cells: [usize; 3], by: ElementKind, corners: &[usize]) -> Mesh {
    let mut mesh = meshes::distorted_box(kind, cells, 0.2);
    let cells = mesh.cells[0].nodes.chunks_exact(kind.info().n_nodes).step_by(2);
    let nodes: Vec<u32> = cells.flat_map(|cell| corners.iter().map(|corner| cell[*corner])).collect();
    let tags = (1000..1000 + (nodes.len() / corners.len()) as u64).collect();
    mesh.cells.push(Cells { kind: by, nodes, tags });
    mesh
}

#[test]
fn of_several_element_types() {
    let models = [
        covered(Hex8, [3, 2, 2], Tet4, &[0, 1, 3, 4]),
        covered(Hex8, [3, 2, 2], Wedge6, &[0, 1, 2, 4, 5, 6]),
        covered(Hex8, [2, 2, 2], Pyramid5, &[0, 1, 2, 3, 6]),
        covered(Hex20, [2, 2, 1], Hex8, &[0, 1, 2, 3, 4, 5, 6, 7]),
        covered(Quad4, [4, 3, 1], Tri3, &[0, 1, 3]),
        covered(Tri6, [3, 3, 1], Tri3, &[0, 1, 2]),
    ];
    for model in models.map(meshes::two_materials) {
        on_every_device!(compare_all, &model);
    }
}

#[test]
fn of_a_body_of_many_patches() {
    let cells = |kind: ElementKind| if kind.info().is_quadratic() { [4, 4, 3] } else { [7, 6, 8] };
    for kind in [Tet4, Hex8, Tet10, Hex20] {
        let mut model = meshes::two_materials(meshes::distorted_box(kind, cells(kind), 0.2));
        let all = compare::<f64>(&Space::cpu(), &model, MANY);
        // As many bits of the product are right far from the origin.
        std::sync::Arc::make_mut(&mut model.mesh).coords.iter_mut().for_each(|x| *x = x.map(|c| c + 1024.0));
        compare::<f32>(&Space::cpu(), &model, MANY);
        assert!(!all.is_empty());
    }
}

#[test]
fn of_an_unstructured_body() {
    let model = meshes::two_materials((*meshes::load("cube_463.toml").mesh).clone());
    on_every_device!(compare_all, &model);
}

/// Rollers along the normals of a turned and bent box, some nodes of which are held in two of them, and nodes of no cell.
#[test]
fn with_supports_in_any_direction() {
    let held = "[[support]]\non = [\"xmin\", \"ymin\"]\nfix = \"normal\"\n[[support]]\non = \"zmin\"\nfix = \"z\"\n";
    for kind in [Hex8, Tet10] {
        let mut mesh = meshes::regular_box(kind, [2, 3, 2]);
        mesh.coords.iter_mut().for_each(|[x, y, z]| {
            (*x, *y) = (0.8 * *x - 0.6 * *y + 0.1 * *z, 0.6 * *x + 0.8 * *y);
        });
        let model = meshes::model(&format!("{}{held}", meshes::SOFT), mesh);
        let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
        assert!(!Supports::new(&model, &symbolic.numbering).slanted.rows.is_empty());
        on_every_device!(compare_all, &model);
    }
}

/// A bed under a part of a body, which is clamped at another.
pub fn with_springs(space: &Space) -> Vec<u64> {
    let bed = "[[spring]]\nname = \"bed\"\non = [\"zmin\", \"xmin\"]\nfoundation = 20.0\n";
    let tables = format!("{}{}{bed}", meshes::SOFT, meshes::CLAMP);
    let model = |kind: ElementKind| meshes::model(&tables, meshes::distorted_box(kind, [2, 3, 2], 0.2));
    [Hex8, Tet10].into_iter().flat_map(|kind| compare_all(space, &model(kind))).collect()
}

/// Straight edges have formulas of their own.
pub fn of_straight_edges(space: &Space) -> Vec<u64> {
    compare_all(space, &meshes::two_materials(meshes::regular_box(Tet10, [2, 2, 1])))
}

#[test]
fn of_a_body_without_supports() {
    let mut model = meshes::two_materials(meshes::distorted_box(Hex8, [2, 2, 2], 0.2));
    model.supports.clear();
    on_every_device!(compare_all, &model);
    assert_eq!(model.analysis, Analysis::Elasticity);
}
