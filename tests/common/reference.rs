//! Stiffness and stress by the textbook: `K_e = sum_q w |J| B^T D B` with B and D written out, one element after
//! the other into a dense matrix. Shares no formula with the kernels.

use nalgebra::{DMatrix, Matrix3, Matrix4, SMatrix, SVector};
use warpfem::element::ElementKind;
use warpfem::model::{Material, Model};

/// A quadrature point of an element in space: gradients `[n_nodes]`, shape functions `[n_nodes]`, weight times `|J|`.
pub struct Point {
    pub gradients: Vec<[f64; 3]>,
    pub shape: Vec<f64>,
    pub weight: f64,
}

/// `D` by Young's modulus and Poisson's ratio, in the order xx, yy, zz, xy, yz, xz.
pub fn elasticity(material: &Material) -> SMatrix<f64, 6, 6> {
    let (e, nu) = (material.young, material.poisson);
    let c = e / ((1.0 + nu) * (1.0 - 2.0 * nu));
    let mut d = SMatrix::zeros();
    for i in 0..3 {
        for j in 0..3 {
            d[(i, j)] = if i == j { c * (1.0 - nu) } else { c * nu };
        }
        d[(i + 3, i + 3)] = c * (1.0 - 2.0 * nu) / 2.0;
    }
    d
}

/// `B` of one node.
pub fn b_matrix([x, y, z]: [f64; 3]) -> SMatrix<f64, 6, 3> {
    SMatrix::from_row_slice(&[x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z, y, x, 0.0, 0.0, z, y, z, 0.0, x])
}

/// The tetrahedron's barycentric coordinates are the rows of the inverse of `[1 x y z]^T` by nodes.
fn tet4(x: &[[f64; 3]]) -> Vec<Point> {
    let nodes = Matrix4::from_fn(|i, a| if i == 0 { 1.0 } else { x[a][i - 1] });
    let inverse = nodes.try_inverse().unwrap();
    let gradients = (0..4).map(|a| [1, 2, 3].map(|i| inverse[(a, i)])).collect();
    vec![Point { gradients, shape: vec![0.25; 4], weight: nodes.determinant().abs() / 6.0 }]
}

/// One point of the hexahedron, given `xi`; `weight` is the reference weight.
fn hex8_at(x: &[[f64; 3]], xi: [f64; 3], weight: f64) -> Point {
    let side = |a: usize| {
        [[0, 3, 4, 7].contains(&a), [0, 1, 4, 5].contains(&a), a < 4].map(|low| if low { -1.0 } else { 1.0 })
    };
    let factor = |a: usize, i: usize| 0.5 * (1.0 + side(a)[i] * xi[i]);
    let slope = |a: usize, i: usize| 0.5 * side(a)[i];
    let derivative =
        |a: usize, i: usize| (0..3).map(|k| if k == i { slope(a, k) } else { factor(a, k) }).product::<f64>();
    let jacobian = Matrix3::from_fn(|i, j| (0..8).map(|a| derivative(a, i) * x[a][j]).sum::<f64>());
    let inverse = jacobian.try_inverse().unwrap();
    let gradient = |a: usize| core::array::from_fn(|j| (0..3).map(|i| inverse[(j, i)] * derivative(a, i)).sum::<f64>());
    let shape = (0..8).map(|a| (0..3).map(|k| factor(a, k)).product()).collect();
    Point { gradients: (0..8).map(gradient).collect(), shape, weight: weight * jacobian.determinant() }
}

/// The quadrature points of a cell with nodes at `x`: one for a tetrahedron, eight for a hexahedron.
pub fn points(kind: ElementKind, x: &[[f64; 3]]) -> Vec<Point> {
    let g = 1.0 / 3.0_f64.sqrt();
    match kind {
        ElementKind::Tet4 => tet4(x),
        _ => (0..8)
            .map(|q| hex8_at(x, [q & 1, q >> 1 & 1, q >> 2].map(|upper| if upper == 1 { g } else { -g }), 1.0))
            .collect(),
    }
}

/// The point at a cell's centroid.
pub fn centroid(kind: ElementKind, x: &[[f64; 3]]) -> Point {
    if kind == ElementKind::Tet4 { tet4(x).remove(0) } else { hex8_at(x, [0.0; 3], 8.0) }
}

/// Calls `visit(kind, nodes, coordinates, material index, block, cell)` for every solid cell of a model.
pub fn for_each_cell(model: &Model, mut visit: impl FnMut(ElementKind, &[u32], &[[f64; 3]], usize, (usize, usize))) {
    for (block, cells) in model.mesh.solids() {
        for cell in 0..cells.len() {
            let nodes = cells.cell(cell);
            let x: Vec<[f64; 3]> = nodes.iter().map(|node| model.mesh.coords[*node as usize]).collect();
            visit(cells.kind, nodes, &x, model.cell_material[block][cell] as usize, (block, cell));
        }
    }
}

/// K of a model before supports, in the mesh's numbering, element by element.
pub fn stiffness(model: &Model) -> DMatrix<f64> {
    let n = 3 * model.mesh.coords.len();
    let mut k = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        let d = elasticity(&model.materials[material]);
        for point in points(kind, x) {
            for (a, ga) in nodes.iter().zip(&point.gradients) {
                let bt_d = point.weight * b_matrix(*ga).transpose() * d;
                for (b, gb) in nodes.iter().zip(&point.gradients) {
                    let block = bt_d * b_matrix(*gb);
                    let (row, column) = (3 * *a as usize, 3 * *b as usize);
                    for i in 0..3 {
                        for j in 0..3 {
                            k[(row + i, column + j)] += block[(i, j)];
                        }
                    }
                }
            }
        }
    });
    k
}

/// Nodal forces of a force per volume, one per material, `[n_nodes][3]` flat.
pub fn body_force(model: &Model, force: &[[f64; 3]]) -> Vec<f64> {
    let mut f = vec![0.0; 3 * model.mesh.coords.len()];
    for_each_cell(model, |kind, nodes, x, material, _| {
        for point in points(kind, x) {
            for (node, shape) in nodes.iter().zip(&point.shape) {
                for i in 0..3 {
                    f[3 * *node as usize + i] += point.weight * shape * force[material][i];
                }
            }
        }
    });
    f
}

/// The strain at a point of displacements `u [n_nodes][3]`, flat.
pub fn strain(point: &Point, nodes: &[u32], u: &[f64]) -> SVector<f64, 6> {
    let terms = nodes.iter().zip(&point.gradients).map(|(node, g)| {
        let at = 3 * *node as usize;
        b_matrix(*g) * SVector::from([u[at], u[at + 1], u[at + 2]])
    });
    terms.sum()
}

/// Von Mises stress by the deviator: `sqrt(3/2 s : s)`.
pub fn von_mises(s: &[f64; 6]) -> f64 {
    let mean = (s[0] + s[1] + s[2]) / 3.0;
    let normal: f64 = s[..3].iter().map(|v| (v - mean) * (v - mean)).sum();
    let shear: f64 = s[3..].iter().map(|v| 2.0 * v * v).sum();
    (1.5 * (normal + shear)).sqrt()
}
