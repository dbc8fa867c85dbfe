//! Stiffness and stress, and the matrix of a potential, by the textbook: `K_e = sum_q w |J| B^T D B` with B and D
//! written out, one element after the other into a dense matrix. Shares no formula with the kernels.

use super::elements::{Point, Reference};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use warpfem::element::ElementKind;
use warpfem::model::{Analysis, Material, Model};

/// `D` by Young's modulus and Poisson's ratio, in the order xx, yy, zz, xy, yz, xz. In plane stress only xx, yy and xy
/// take part; the strain along a plane strain's z is 0.
pub fn elasticity(analysis: Analysis, material: &Material) -> SMatrix<f64, 6, 6> {
    let (e, nu) = (material.young, material.poisson);
    let mut d = SMatrix::zeros();
    if analysis == Analysis::PlaneStress {
        let c = e / (1.0 - nu * nu);
        (d[(0, 0)], d[(1, 1)]) = (c, c);
        (d[(0, 1)], d[(1, 0)]) = (c * nu, c * nu);
        d[(3, 3)] = c * (1.0 - nu) / 2.0;
        return d;
    }
    let c = e / ((1.0 + nu) * (1.0 - 2.0 * nu));
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

/// The quadrature points of a cell with nodes at `x`.
pub fn points(kind: ElementKind, x: &[[f64; 3]]) -> Vec<Point> {
    Reference::of(kind).rule.iter().map(|at| at.of(x)).collect()
}

/// The point at a cell's centroid.
pub fn centroid(kind: ElementKind, x: &[[f64; 3]]) -> Point {
    Reference::of(kind).centroid.of(x)
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
    if model.analysis == Analysis::Laplace {
        return conduction(model);
    }
    let dim = model.analysis.components();
    let n = dim * model.mesh.coords.len();
    let mut k = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        let d = elasticity(model.analysis, &model.materials[material]);
        for point in points(kind, x) {
            for (a, ga) in nodes.iter().zip(&point.gradients) {
                let bt_d = model.thickness * point.weight * b_matrix(*ga).transpose() * d;
                for (b, gb) in nodes.iter().zip(&point.gradients) {
                    let block = bt_d * b_matrix(*gb);
                    let (row, column) = (dim * *a as usize, dim * *b as usize);
                    for i in 0..dim {
                        for j in 0..dim {
                            k[(row + i, column + j)] += block[(i, j)];
                        }
                    }
                }
            }
        }
    });
    k
}

/// `K_ab = int k grad N_a . grad N_b dV`.
fn conduction(model: &Model) -> DMatrix<f64> {
    let n = model.mesh.coords.len();
    let mut k = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        for point in points(kind, x) {
            let w = model.thickness * point.weight * model.materials[material].conductivity;
            for (a, ga) in nodes.iter().zip(&point.gradients) {
                for (b, gb) in nodes.iter().zip(&point.gradients) {
                    k[(*a as usize, *b as usize)] += w * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
                }
            }
        }
    });
    k
}

/// Nodal forces of a force per volume, one per material, `[n_nodes][dim]` flat; of a potential the first component.
pub fn body_force(model: &Model, force: &[[f64; 3]]) -> Vec<f64> {
    let dim = model.analysis.components();
    let mut f = vec![0.0; dim * model.mesh.coords.len()];
    for_each_cell(model, |kind, nodes, x, material, _| {
        for point in points(kind, x) {
            for (node, shape) in nodes.iter().zip(&point.shape) {
                for i in 0..dim {
                    f[dim * *node as usize + i] += model.thickness * point.weight * shape * force[material][i];
                }
            }
        }
    });
    f
}

/// The first `dim` components of vectors, one after the other.
pub fn flat(dim: usize, vectors: &[[f64; 3]]) -> Vec<f64> {
    vectors.iter().flat_map(|vector| vector[..dim].iter().copied()).collect()
}

/// What supports prescribe, `[n_nodes][dim]` flat.
pub fn prescribed(model: &Model) -> Vec<Option<f64>> {
    let dim = model.analysis.components();
    let mut prescribed = vec![None; dim * model.mesh.coords.len()];
    for (support, node) in model.supports.iter().flat_map(|support| support.nodes.iter().map(move |n| (support, *n))) {
        for i in 0..dim {
            let at = &mut prescribed[dim * node as usize + i];
            *at = support.displacement[i].or(*at);
        }
    }
    prescribed
}

/// The system of what supports leave free: `K u = f`, with the prescribed entries taken over to the right.
pub struct Partitioned {
    pub k: DMatrix<f64>,
    pub f: DVector<f64>,
    /// The places of its unknowns among all.
    pub free: Vec<usize>,
    /// All, the free ones 0.
    pub u: DVector<f64>,
}

/// That of a model under its nodal forces and its weight or source.
pub fn partitioned(model: &Model) -> Partitioned {
    let prescribed = prescribed(model);
    let of_material = |material: &Material| match (model.gravity, model.source) {
        (Some(gravity), _) => gravity.map(|g| material.density.unwrap_or(0.0) * g),
        (_, source) => [source.unwrap_or(0.0), 0.0, 0.0],
    };
    let body = body_force(model, &model.materials.iter().map(of_material).collect::<Vec<_>>());
    let loads = DVector::from_vec(flat(model.analysis.components(), &model.nodal_forces)) + DVector::from_vec(body);
    let k = stiffness(model);
    let u = DVector::from_iterator(k.nrows(), prescribed.iter().map(|value| value.unwrap_or(0.0)));
    let free: Vec<usize> = (0..k.nrows()).filter(|i| prescribed[*i].is_none()).collect();
    let f = (loads - &k * &u).select_rows(&free);
    Partitioned { k: k.select_columns(&free).select_rows(&free), f, free, u }
}

/// The strain at a point of displacements `u [n_nodes][dim]`, flat.
pub fn strain(dim: usize, point: &Point, nodes: &[u32], u: &[f64]) -> SVector<f64, 6> {
    let terms = nodes.iter().zip(&point.gradients).map(|(node, g)| {
        let own = |i: usize, _| if i < dim { u[dim * *node as usize + i] } else { 0.0 };
        b_matrix(*g) * SVector::from_fn(own)
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
