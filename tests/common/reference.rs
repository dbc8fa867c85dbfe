//! Stiffness and stress, and the matrix of a potential, by the textbook: `K_e = sum_q w |J| B^T D B` with B and D
//! written out, one element after the other into a dense matrix. Shares no formula with the kernels.

use super::elements::{Point, Reference};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use warpfem::element::ElementKind;
use warpfem::model::{Analysis, Material, Model};

/// `D` of an isotropic material by Young's modulus and Poisson's ratio, in the order xx, yy, zz, xy, yz, xz; of others from
/// the inverse of their compliance, turned as a tensor of fourth order. In plane stress only xx, yy and xy take part; the
/// strain along a plane strain's z is 0.
pub fn elasticity(analysis: Analysis, material: &Material, place: [f64; 3]) -> SMatrix<f64, 6, 6> {
    let (e, nu) = (material.law.young(), material.law.poisson());
    let mut d = SMatrix::zeros();
    if material.law.lame().is_none() {
        d = turned(&material.law.stiffness(), &material.axes.at(place));
        if analysis == Analysis::PlaneStress {
            let plane = [0, 1, 3];
            let compliance = d.try_inverse().unwrap();
            let small = SMatrix::<f64, 3, 3>::from_fn(|i, j| compliance[(plane[i], plane[j])]).try_inverse().unwrap();
            d = SMatrix::zeros();
            (0..9).for_each(|k| d[(plane[k / 3], plane[k % 3])] = small[(k / 3, k % 3)]);
        }
        return d;
    }
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

/// `C_ijkl = r_ai r_bj r_ck r_dl C_abcd`, `r` the material's axes row by row.
fn turned(d: &SMatrix<f64, 6, 6>, r: &SMatrix<f64, 3, 3>) -> SMatrix<f64, 6, 6> {
    let component = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (0, 1) => 3,
        (1, 2) => 4,
        (0, 2) => 5,
        (i, _) => i,
    };
    let pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];
    let all = || (0..81).map(|n| (n % 3, n / 3 % 3, n / 9 % 3, n / 27));
    SMatrix::from_fn(|row, column| {
        let ((i, j), (k, l)) = (pairs[row], pairs[column]);
        all()
            .map(|(a, b, c, e)| r[(a, i)] * r[(b, j)] * r[(c, k)] * r[(e, l)] * d[(component(a, b), component(c, e))])
            .sum()
    })
}

/// `B` of one node in a solid or a plane body.
pub fn b_matrix([x, y, z]: [f64; 3]) -> SMatrix<f64, 6, 3> {
    SMatrix::from_row_slice(&[x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z, y, x, 0.0, 0.0, z, y, z, 0.0, x])
}

/// `B` of each node at a point of a cell with nodes at `x`; in a body of revolution with the hoop strain `N u_r / r`.
fn b_matrices(analysis: Analysis, point: &Point, x: &[[f64; 3]]) -> Vec<SMatrix<f64, 6, 3>> {
    let radius = place(point, x)[0];
    let of_node = |(g, shape): (&[f64; 3], &f64)| {
        let mut b = b_matrix(*g);
        if analysis.is_revolved() {
            b[(2, 0)] = shape / radius;
        }
        b
    };
    point.gradients.iter().zip(&point.shape).map(of_node).collect()
}

/// Where a point is.
fn place(point: &Point, x: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|i| point.shape.iter().zip(x).map(|(shape, x)| shape * x[i]).sum())
}

/// The volume that a point stands for: times the thickness, or once round the axis.
pub fn volume(model: &Model, point: &Point, x: &[[f64; 3]]) -> f64 {
    let across = match model.analysis.is_revolved() {
        true => std::f64::consts::TAU * place(point, x)[0],
        false => model.thickness,
    };
    across * point.weight
}

/// The middle of a cell's nodes, where its axes are taken.
pub fn middle(nodes: &[u32], model: &Model) -> [f64; 3] {
    let x = |i: usize| nodes.iter().map(|node| model.mesh.coords[*node as usize][i]).sum::<f64>() / nodes.len() as f64;
    [x(0), x(1), x(2)]
}

/// The quadrature points of a cell with nodes at `x`.
pub fn points(kind: ElementKind, x: &[[f64; 3]]) -> Vec<Point> {
    Reference::of(kind).rule.iter().map(|at| at.of(x)).collect()
}

/// The points of a cell with nodes at `x` at these places of the reference element.
pub fn at_points(kind: ElementKind, x: &[[f64; 3]], points: &[([f64; 3], f64)]) -> Vec<Point> {
    points.iter().map(|&(xi, weight)| Reference::of(kind).at(xi, weight).of(x)).collect()
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
    if model.analysis.physics().is_scalar() {
        return conduction(model);
    }
    let dim = model.analysis.components();
    let n = dim * model.mesh.coords.len();
    let mut k = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        let cell = cell_stiffness(model, kind, nodes, x, material);
        let unknown = |i: usize| dim * nodes[i / dim] as usize + i % dim;
        for i in 0..dim * nodes.len() {
            for j in 0..dim * nodes.len() {
                k[(unknown(i), unknown(j))] += cell[(i, j)];
            }
        }
    });
    k
}

/// That of a cell; modes are eliminated.
fn cell_stiffness(model: &Model, kind: ElementKind, nodes: &[u32], x: &[[f64; 3]], material: usize) -> DMatrix<f64> {
    let dim = model.analysis.components();
    let d = elasticity(model.analysis, &model.materials[material], middle(nodes, model));
    let of_point = |point: Point| {
        let of_all = [b_matrices(model.analysis, &point, x), mode_matrices(kind, &point, x)].concat();
        let b = DMatrix::from_fn(6, dim * of_all.len(), |v, i| of_all[i / dim][(v, i % dim)]);
        volume(model, &point, x) * b.transpose() * d * &b
    };
    let k = points(kind, x).into_iter().map(of_point).reduce(|sum, more| sum + more).unwrap();
    let n = dim * nodes.len();
    let block =
        |rows: [usize; 2], columns: [usize; 2]| k.view((rows[0], columns[0]), (rows[1], columns[1])).into_owned();
    let (own, modes) = ([0, n], [n, k.nrows() - n]);
    match modes[1] {
        0 => k,
        _ => block(own, own) - block(own, modes) * block(modes, modes).try_inverse().unwrap() * block(modes, own),
    }
}

/// `B` of each incompatible mode `1 - xi_m^2` at a point of weight 1, none of elements without modes: with the
/// gradient of `xi_m` at the centre, over the volume here and as much as there.
fn mode_matrices(kind: ElementKind, point: &Point, x: &[[f64; 3]]) -> Vec<SMatrix<f64, 6, 3>> {
    if !kind.has_modes() {
        return vec![];
    }
    let reference = Reference::of(kind);
    let centre = reference.centroid.of(x);
    let of_mode = |m: usize| {
        let weighted = |values: &mut dyn Iterator<Item = f64>| -> f64 {
            values.zip(&reference.nodes).map(|(value, xi)| value * xi[m]).sum()
        };
        let xi = weighted(&mut point.shape.iter().copied());
        // The centre stands for the whole cell, 8 points of weight 1.
        let scale = -2.0 * xi * centre.weight / 8.0 / point.weight;
        b_matrix([0, 1, 2].map(|i| scale * weighted(&mut centre.gradients.iter().map(|g| g[i]))))
    };
    (0..3).map(of_mode).collect()
}

/// The points of a cell's rule and the strains there of displacements `u [n_nodes][dim]`, flat. Modes are such that the
/// stress, beside these thermal strains, does no work in them.
pub fn strains(
    model: &Model,
    (kind, nodes, x, material): (ElementKind, &[u32], &[[f64; 3]], usize),
    u: &[f64],
    thermal: impl Fn(&Point) -> SVector<f64, 6>,
) -> Vec<(Point, SVector<f64, 6>)> {
    let d = elasticity(model.analysis, &model.materials[material], middle(nodes, model));
    let points = at_points(kind, x, kind.info().shape.quadrature);
    let mut strains: Vec<_> =
        points.into_iter().map(|point| (strain(model.analysis, &point, nodes, x, u), point)).collect();
    if kind.has_modes() {
        let (mut k, mut f) = (SMatrix::<f64, 9, 9>::zeros(), SVector::<f64, 9>::zeros());
        let modes = |point: &Point| {
            let of_modes = mode_matrices(kind, point, x);
            SMatrix::<f64, 6, 9>::from_fn(|v, i| of_modes[i / 3][(v, i % 3)])
        };
        for (eps, point) in &strains {
            let g = modes(point);
            k += point.weight * g.transpose() * d * g;
            f += point.weight * g.transpose() * d * (eps - thermal(point));
        }
        let amplitudes = k.try_inverse().unwrap() * f;
        strains.iter_mut().for_each(|(eps, point)| *eps -= modes(point) * amplitudes);
    }
    strains.into_iter().map(|(eps, point)| (point, eps)).collect()
}

/// The conductivity as a tensor.
pub fn conductivity(material: &Material, place: [f64; 3]) -> SMatrix<f64, 3, 3> {
    let r = material.axes.at(place);
    SMatrix::from_fn(|i, j| (0..3).map(|a| r[(a, i)] * material.conductivity[a] * r[(a, j)]).sum())
}

/// `K_ab = int grad N_a . C grad N_b dV`.
fn conduction(model: &Model) -> DMatrix<f64> {
    let n = model.mesh.coords.len();
    let mut k = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        for point in points(kind, x) {
            let c = volume(model, &point, x) * conductivity(&model.materials[material], middle(nodes, model));
            for (a, ga) in nodes.iter().zip(&point.gradients) {
                for (b, gb) in nodes.iter().zip(&point.gradients) {
                    k[(*a as usize, *b as usize)] += SVector::from(*ga).dot(&(c * SVector::from(*gb)));
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
                    f[dim * *node as usize + i] += volume(model, &point, x) * shape * force[material][i];
                }
            }
        }
    });
    f
}

/// `int N_a w (1, x) dV` of each node, w by material.
pub fn moments(model: &Model, weights: &[f64]) -> Vec<[f64; 4]> {
    let mut moments = vec![[0.0; 4]; model.mesh.coords.len()];
    for_each_cell(model, |kind, nodes, x, material, _| {
        for point in points(kind, x) {
            let ([a, b, c], w) = (place(&point, x), weights[material] * volume(model, &point, x));
            for (node, shape) in nodes.iter().zip(&point.shape) {
                let at = &mut moments[*node as usize];
                at.iter_mut().zip([1.0, a, b, c]).for_each(|(sum, x)| *sum += w * shape * x);
            }
        }
    });
    moments
}

/// The consistent mass matrix in the mesh's numbering, element by element from some points of a cell with nodes at `x`.
pub fn mass(model: &Model, points: impl Fn(ElementKind, &[[f64; 3]]) -> Vec<Point>) -> DMatrix<f64> {
    let dim = model.analysis.components();
    let n = dim * model.mesh.coords.len();
    let mut m = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, material, _| {
        let density = model.materials[material].density.unwrap_or(0.0);
        for point in points(kind, x) {
            let mass = density * volume(model, &point, x);
            for (a, of_a) in nodes.iter().zip(&point.shape) {
                for (b, of_b) in nodes.iter().zip(&point.shape) {
                    (0..dim).for_each(|i| m[(dim * *a as usize + i, dim * *b as usize + i)] += mass * of_a * of_b);
                }
            }
        }
    });
    m
}

/// A stress that differs in every component and at every point.
pub fn made_up_stress(block: usize, cell: usize, point: usize) -> [f64; 6] {
    std::array::from_fn(|i| ((1 + block + 7 * cell + 31 * point) as f64 * (0.3 + i as f64)).sin())
}

/// The geometric stiffness under those stresses: `int grad N_a . sigma grad N_b dV` on the diagonal of each block, and along the
/// radius of a body of revolution what the hoop stress does.
pub fn geometric(model: &Model) -> DMatrix<f64> {
    let dim = model.analysis.components();
    let n = dim * model.mesh.coords.len();
    let mut g = DMatrix::zeros(n, n);
    for_each_cell(model, |kind, nodes, x, _, (block, cell)| {
        for (q, point) in at_points(kind, x, kind.info().shape.quadrature).iter().enumerate() {
            let ([xx, yy, zz, xy, yz, xz], volume) = (made_up_stress(block, cell, q), volume(model, point, x));
            let sigma = SMatrix::<f64, 3, 3>::from([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
            let gradient = |b: usize| {
                SVector::<f64, 3>::from_fn(|i, _| if i < kind.info().dim { point.gradients[b][i] } else { 0.0 })
            };
            let hoop = if model.analysis.is_revolved() { zz / place(point, x)[0].powi(2) } else { 0.0 };
            for (a, of_a) in nodes.iter().enumerate() {
                for (b, of_b) in nodes.iter().enumerate() {
                    let value = volume * gradient(a).dot(&(sigma * gradient(b)));
                    for i in 0..dim {
                        let around = if i == 0 { volume * hoop * point.shape[a] * point.shape[b] } else { 0.0 };
                        g[(dim * *of_a as usize + i, dim * *of_b as usize + i)] += value + around;
                    }
                }
            }
        }
    });
    g
}

/// The points of the library's own rule for it.
pub fn mass_points(kind: ElementKind, x: &[[f64; 3]]) -> Vec<Point> {
    let nodes = kind.info().shape.nodes;
    let rule: Vec<_> = kind.table().mass.iter().map(|at| (at.place(|b| nodes[b]), at.weight)).collect();
    at_points(kind, x, &rule)
}

/// Enough points for what is no polynomial.
pub fn fine_points(kind: ElementKind, x: &[[f64; 3]]) -> Vec<Point> {
    Reference::of(kind).fine.iter().map(|at| at.of(x)).collect()
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

/// That of a model under its nodal forces and its weight.
pub fn partitioned(model: &Model) -> Partitioned {
    let prescribed = prescribed(model);
    let gravity = model.gravity.unwrap_or_default();
    let of_material = |material: &Material| gravity.map(|g| material.density.unwrap_or(0.0) * g);
    let body = body_force(model, &model.materials.iter().map(of_material).collect::<Vec<_>>());
    let loads = DVector::from_vec(flat(model.analysis.components(), &model.nodal_forces)) + DVector::from_vec(body);
    let k = stiffness(model);
    let u = DVector::from_iterator(k.nrows(), prescribed.iter().map(|value| value.unwrap_or(0.0)));
    let free: Vec<usize> = (0..k.nrows()).filter(|i| prescribed[*i].is_none()).collect();
    let f = (loads - &k * &u).select_rows(&free);
    Partitioned { k: k.select_columns(&free).select_rows(&free), f, free, u }
}

/// The strain at a point of a cell with nodes at `x`, of displacements `u [n_nodes][dim]`, flat.
pub fn strain(analysis: Analysis, point: &Point, nodes: &[u32], x: &[[f64; 3]], u: &[f64]) -> SVector<f64, 6> {
    let dim = analysis.components();
    let terms = nodes.iter().zip(b_matrices(analysis, point, x)).map(|(node, b)| {
        let own = |i: usize, _| if i < dim { u[dim * *node as usize + i] } else { 0.0 };
        b * SVector::from_fn(own)
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
