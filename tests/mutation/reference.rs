//! A second opinion on a model: its matrix by shape functions and quadrature of its own, without the library's kernels,
//! solved by Cholesky.
//!
//! `K_ab = sum_q w |det J| B_a' D B_b`, with shape functions that are the polynomials of an element's space which are 1
//! at one node and 0 at the others: the inverse of the Vandermonde matrix of its nodes.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use std::cell::Cell;
use warpfem::element::ElementKind;
use warpfem::model::{Analysis, Model};

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
    let c = model.analysis.components();
    let prescribed = prescribed(model, c);
    let free: Vec<usize> = (0..prescribed.len()).filter(|i| prescribed[*i].is_none()).collect();
    let mut place = vec![usize::MAX; prescribed.len()];
    free.iter().enumerate().for_each(|(row, dof)| place[*dof] = row);
    let mut k = DMatrix::zeros(free.len(), free.len());
    let mut f = DVector::from_iterator(free.len(), free.iter().map(|dof| model.nodal_forces[dof / c][dof % c]));
    for (block, cells) in model.mesh.solids() {
        let space = Space::of(cells.kind);
        for (cell, nodes) in cells.nodes.chunks_exact(space.nodes.len()).enumerate() {
            let (ke, fe) = space.element(model, nodes, model.cell_material[block][cell] as usize);
            let dofs: Vec<usize> = nodes.iter().flat_map(|node| (0..c).map(move |i| c * *node as usize + i)).collect();
            for (a, row) in dofs.iter().map(|dof| place[*dof]).enumerate().filter(|(_, row)| *row != usize::MAX) {
                f[row] += fe[a];
                for (b, dof) in dofs.iter().enumerate() {
                    match prescribed[*dof] {
                        Some(value) => f[row] -= ke[(a, b)] * value,
                        None => k[(row, place[*dof])] += ke[(a, b)],
                    }
                }
            }
        }
    }
    if f.amax() < LEAST_LOAD {
        return None;
    }
    let factor = k.clone().cholesky()?;
    let mut u = factor.solve(&f);
    let correction = factor.solve(&(&f - &k * &u));
    if correction.amax() > RELIABLE * u.amax() || !u.amax().is_finite() {
        return None;
    }
    u += correction;
    Some((0..prescribed.len()).map(|dof| prescribed[dof].unwrap_or_else(|| u[place[dof]])).collect())
}

/// What supports prescribe, `[n_nodes][components]`.
fn prescribed(model: &Model, c: usize) -> Vec<Option<f64>> {
    let mut all = vec![None; c * model.mesh.coords.len()];
    for support in &model.supports {
        for node in &support.nodes {
            for i in 0..c {
                let dof = &mut all[c * *node as usize + i];
                *dof = support.displacement[i].or(*dof);
            }
        }
    }
    all
}

/// The shape functions of an element, and the points of its rule.
struct Space {
    dim: usize,
    nodes: Vec<[f64; 3]>,
    /// Exponents of the monomials that span it.
    monomials: Vec<[i32; 3]>,
    /// Coefficients of the shape functions, `[monomial][node]`.
    coefficients: DMatrix<f64>,
    points: Vec<([f64; 3], f64)>,
}

impl Space {
    fn of(kind: ElementKind) -> Space {
        let (nodes, points) = (nodes(kind), points(kind));
        let dim = kind.info().dim;
        let monomials = monomials(kind);
        let vandermonde = DMatrix::from_fn(nodes.len(), monomials.len(), |a, m| monomial(monomials[m], nodes[a]));
        let coefficients = vandermonde.try_inverse().expect("the nodes span the space");
        Space { dim, nodes, monomials, coefficients, points }
    }

    /// The shape functions' values and derivatives, `[node]`, `[node][3]`.
    fn shapes(&self, xi: [f64; 3]) -> (Vec<f64>, Vec<Vector3<f64>>) {
        let of = |a: usize, f: &dyn Fn([i32; 3]) -> f64| -> f64 {
            self.monomials.iter().enumerate().map(|(m, exponents)| self.coefficients[(m, a)] * f(*exponents)).sum()
        };
        let value = |a: usize| of(a, &|e| monomial(e, xi));
        let slope = |a: usize| Vector3::from_fn(|i, _| of(a, &|e| derivative(e, xi, i)));
        ((0..self.nodes.len()).map(value).collect(), (0..self.nodes.len()).map(slope).collect())
    }

    /// `ke` and `fe` of one cell.
    fn element(&self, model: &Model, nodes: &[u32], material: usize) -> (DMatrix<f64>, DVector<f64>) {
        let c = model.analysis.components();
        let n = c * nodes.len();
        let (mut ke, mut fe) = (DMatrix::zeros(n, n), DVector::zeros(n));
        let body = body_force(model, material);
        for (xi, weight) in &self.points {
            let (value, slope) = self.shapes(*xi);
            let mut jac = Matrix3::zeros();
            for (node, dn) in nodes.iter().zip(&slope) {
                jac += Vector3::from(model.mesh.coords[*node as usize]) * dn.transpose();
            }
            if self.dim == 2 {
                // The third direction is the plane's normal.
                jac.set_column(2, &Vector3::z());
            }
            let w = weight * jac.determinant().abs() * model.thickness;
            let inverse = jac.try_inverse().expect("sound elements");
            let b = strains(model.analysis, &slope.iter().map(|dn| inverse.transpose() * dn).collect::<Vec<_>>());
            ke += b.transpose() * law(model, material) * &b * w;
            for a in 0..nodes.len() {
                (0..c).for_each(|i| fe[c * a + i] += w * value[a] * body[i]);
            }
        }
        (ke, fe)
    }
}

/// Force per volume; of a potential the source.
fn body_force(model: &Model, material: usize) -> [f64; 3] {
    match (model.gravity, model.source) {
        (Some(gravity), _) => gravity.map(|g| model.materials[material].density.unwrap_or(0.0) * g),
        (_, source) => [source.unwrap_or(0.0), 0.0, 0.0],
    }
}

/// Strains xx, yy, zz, xy, yz, xz (in the plane xx, yy, xy; of a potential its gradient) of the unknowns of each node.
fn strains(analysis: Analysis, dn: &[Vector3<f64>]) -> DMatrix<f64> {
    let pairs: &[[usize; 2]] = match analysis {
        Analysis::Laplace => return DMatrix::from_fn(3, dn.len(), |i, a| dn[a][i]),
        Analysis::Elasticity => &[[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [0, 2]],
        _ => &[[0, 0], [1, 1], [0, 1]],
    };
    let c = analysis.components();
    DMatrix::from_fn(pairs.len(), c * dn.len(), |row, column| {
        let ([i, j], a, k) = (pairs[row], column / c, column % c);
        let part = |of: usize, along: usize| if k == of { dn[a][along] } else { 0.0 };
        if i == j { part(i, i) } else { part(i, j) + part(j, i) }
    })
}

/// Stress of strain.
fn law(model: &Model, material: usize) -> DMatrix<f64> {
    let material = &model.materials[material];
    let (e, nu) = (material.young, material.poisson);
    let isotropic = |n: usize, normal: f64, across: f64| {
        let shear = e / (2.0 * (1.0 + nu));
        DMatrix::from_fn(if n == 3 { 6 } else { 3 }, if n == 3 { 6 } else { 3 }, |i, j| {
            match (i == j, i < n && j < n) {
                (true, true) => normal,
                (false, true) => across,
                (true, false) => shear,
                (false, false) => 0.0,
            }
        })
    };
    let stiff = e / ((1.0 + nu) * (1.0 - 2.0 * nu));
    match model.analysis {
        Analysis::Laplace => DMatrix::from_diagonal_element(3, 3, material.conductivity),
        Analysis::Elasticity => isotropic(3, stiff * (1.0 - nu), stiff * nu),
        Analysis::PlaneStrain => isotropic(2, stiff * (1.0 - nu), stiff * nu),
        Analysis::PlaneStress => isotropic(2, e / (1.0 - nu * nu), e * nu / (1.0 - nu * nu)),
    }
}

fn monomial(exponents: [i32; 3], xi: [f64; 3]) -> f64 {
    (0..3).map(|i| xi[i].powi(exponents[i])).product()
}

fn derivative(mut exponents: [i32; 3], xi: [f64; 3], along: usize) -> f64 {
    let power = exponents[along];
    exponents[along] = (power - 1).max(0);
    if power == 0 { 0.0 } else { f64::from(power) * monomial(exponents, xi) }
}

/// Whether cells are tetrahedra or triangles.
fn is_simplex(kind: ElementKind) -> bool {
    matches!(kind, ElementKind::Tet4 | ElementKind::Tet10 | ElementKind::Tri3 | ElementKind::Tri6)
}

fn is_quadratic(kind: ElementKind) -> bool {
    kind.linear() != kind
}

/// Polynomials of full degree on simplices; elsewhere the serendipity spaces, whose superlinear degree is at most two.
fn monomials(kind: ElementKind) -> Vec<[i32; 3]> {
    let order = if is_quadratic(kind) { 2 } else { 1 };
    let most = if kind.info().dim == 3 { order } else { 0 };
    let all = (0..=most).flat_map(|z| (0..=order).flat_map(move |y| (0..=order).map(move |x| [x, y, z])));
    let superlinear = |e: &[i32; 3]| e.iter().filter(|power| **power > 1).sum::<i32>();
    all.filter(|e| if is_simplex(kind) { e.iter().sum::<i32>() <= order } else { superlinear(e) <= 2 }).collect()
}

/// Corners, then the middles of edges in Gmsh's order.
fn nodes(kind: ElementKind) -> Vec<[f64; 3]> {
    let corners: &[[f64; 3]] = match kind.linear() {
        ElementKind::Tet4 => &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ElementKind::Tri3 => &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        ElementKind::Quad4 => &[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
        _ => &[
            [-1.0, -1.0, -1.0],
            [1.0, -1.0, -1.0],
            [1.0, 1.0, -1.0],
            [-1.0, 1.0, -1.0],
            [-1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
        ],
    };
    let edges: &[[usize; 2]] = match kind {
        ElementKind::Tri6 => &[[0, 1], [1, 2], [2, 0]],
        ElementKind::Quad8 => &[[0, 1], [1, 2], [2, 3], [3, 0]],
        ElementKind::Tet10 => &[[0, 1], [1, 2], [2, 0], [3, 0], [2, 3], [1, 3]],
        ElementKind::Hex20 => {
            &[[0, 1], [0, 3], [0, 4], [1, 2], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 7], [5, 6], [6, 7]]
        }
        _ => &[],
    };
    let middle = |[a, b]: &[usize; 2]| std::array::from_fn(|i| 0.5 * (corners[*a][i] + corners[*b][i]));
    corners.iter().copied().chain(edges.iter().map(middle)).collect()
}

/// The rule that the library documents for an element: another one has another matrix where edges are curved.
fn points(kind: ElementKind) -> Vec<([f64; 3], f64)> {
    match kind {
        ElementKind::Tri3 => vec![([1.0 / 3.0, 1.0 / 3.0, 0.0], 0.5)],
        ElementKind::Tet4 => vec![([0.25; 3], 1.0 / 6.0)],
        ElementKind::Tri6 => {
            let (a, b) = (1.0 / 6.0, 2.0 / 3.0);
            [[a, a, 0.0], [b, a, 0.0], [a, b, 0.0]].map(|point| (point, 1.0 / 6.0)).to_vec()
        }
        ElementKind::Tet10 => {
            let (a, b) = ((5.0 - 5f64.sqrt()) / 20.0, (5.0 + 3.0 * 5f64.sqrt()) / 20.0);
            (0..4).map(|i| (std::array::from_fn(|k| if k == i { b } else { a }), 1.0 / 24.0)).collect()
        }
        _ => gauss(kind.info().dim, is_quadratic(kind)),
    }
}

/// Gauss's points in each direction: two, or three.
fn gauss(dim: usize, three: bool) -> Vec<([f64; 3], f64)> {
    let (two, g) = ((1.0f64 / 3.0).sqrt(), 0.6f64.sqrt());
    let line = match three {
        true => vec![(-g, 5.0 / 9.0), (0.0, 8.0 / 9.0), (g, 5.0 / 9.0)],
        false => vec![(-two, 1.0), (two, 1.0)],
    };
    let third = if dim == 3 { line.clone() } else { vec![(0.0, 1.0)] };
    let mut all = Vec::new();
    for (z, wz) in third {
        for (y, wy) in &line {
            all.extend(line.iter().map(|(x, wx)| ([*x, *y, z], wx * wy * wz)));
        }
    }
    all
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
            let found = pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap().displacement.concat();
            let expected = solution(&model).unwrap();
            assert!(difference(&expected, &found) < 1e-6, "{element}: {:e}", difference(&expected, &found));
            model.materials[0].poisson = 0.301;
            let off = difference(&solution(&model).unwrap(), &found);
            assert!(off > ALLOWED, "{element}: {off:e}");
        }
    }
}
