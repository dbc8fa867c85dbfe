//! Values of a solution at a place.

use crate::element::ElementKind;
use crate::model::{Analysis, Material, Model};
use nalgebra::Matrix3;

/// The node nearest to a place; 0 without nodes.
pub fn node_at(model: &Model, place: [f64; 3]) -> usize {
    let distance = |x: &[f64; 3]| (0..3).map(|i| (x[i] - place[i]).powi(2)).sum::<f64>();
    let nodes = model.mesh.coords.iter().map(distance).enumerate();
    nodes.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |nearest| nearest.0)
}

/// The mean displacement of the nodes of a plane x = constant.
pub fn mean_at_x(model: &Model, displacement: &[[f64; 3]], x: f64) -> [f64; 3] {
    let on_plane = model.mesh.coords.iter().zip(displacement).filter(|(node, _)| node[0] == x);
    let (n, sum) = on_plane.fold((0.0, [0.0; 3]), |(n, sum), (_, u)| (n + 1.0, [0, 1, 2].map(|i| sum[i] + u[i])));
    sum.map(|sum: f64| sum / n)
}

/// The stress at a node, xx, yy, zz, xy, yz, xz: the mean over the cells around it of `D B u`, taken where it is most accurate
/// (Barlow 1976) and extended from there to the node. These points are the centroid of linear elements; of quadratic ones
/// as many points as there are corners, on the lines from the centroid to them, and the extension is that of the linear element.
pub fn stress_at(model: &Model, displacement: &[[f64; 3]], node: usize) -> [f64; 6] {
    let (mut sum, mut n_cells) = ([0.0; 6], 0.0);
    for (block, cells) in model.mesh.solids() {
        for cell in 0..cells.len() {
            let nodes = cells.cell(cell);
            let Some(local) = nodes.iter().position(|other| *other as usize == node) else { continue };
            let material = &model.materials[model.cell_material[block][cell] as usize];
            for (xi, share) in sampled(cells.kind, cells.kind.info().shape.nodes[local]) {
                let h = gradient(model, cells.kind, nodes, displacement, xi);
                let stress = stress(model.analysis, material, h);
                (0..6).for_each(|i| sum[i] += share * stress[i]);
            }
            n_cells += 1.0;
        }
    }
    sum.map(|sum| sum / n_cells)
}

/// The sampling points of an element, and the part that each has in the value at `xi`.
fn sampled(kind: ElementKind, xi: [f64; 3]) -> Vec<([f64; 3], f64)> {
    let (info, linear) = (kind.info(), &kind.linear().info().shape);
    let n = linear.nodes.len() as f64;
    let middle = [0, 1, 2].map(|i| linear.nodes.iter().map(|corner| corner[i]).sum::<f64>() / n);
    if !info.is_quadratic() {
        return vec![(middle, 1.0)];
    }
    // The rules of degree 3 on squares and cubes and of degree 2 on simplices, by how far they are on the way to the corners.
    let way = if info.is_simplex() { 1.0 / (info.dim as f64 + 2.0).sqrt() } else { 1.0 / 3.0_f64.sqrt() };
    let scaled = |x: [f64; 3], by: f64| [0, 1, 2].map(|i| middle[i] + by * (x[i] - middle[i]));
    let from = scaled(xi, 1.0 / way);
    linear.nodes.iter().enumerate().map(|(b, corner)| (scaled(*corner, way), (linear.value)(b, from))).collect()
}

/// `h_ij = du_i/dx_j = sum_b u_i dN_b/dxi_k dxi_k/dx_j` in a cell at `xi`.
fn gradient(model: &Model, kind: ElementKind, nodes: &[u32], u: &[[f64; 3]], xi: [f64; 3]) -> Matrix3<f64> {
    let slope = kind.info().shape.gradient;
    let by_xi = |values: &[[f64; 3]]| {
        let term = |(b, node): (usize, &u32)| (values[*node as usize], slope(b, xi));
        let terms = nodes.iter().enumerate().map(term);
        terms.fold(Matrix3::zeros(), |sum, (v, slope)| sum + Matrix3::from_fn(|i, k| v[i] * slope[k]))
    };
    let mut jacobian = by_xi(&model.mesh.coords);
    if kind.info().dim == 2 {
        jacobian[(2, 2)] = 1.0;
    }
    by_xi(u) * jacobian.try_inverse().unwrap_or_else(|| Matrix3::from_element(f64::NAN))
}

/// `lambda tr(eps) + 2 mu eps`; in plane stress with the lambda that leaves none across (Timoshenko and Goodier, art. 16).
fn stress(analysis: Analysis, material: &Material, h: Matrix3<f64>) -> [f64; 6] {
    let (mu, is_thin) = (material.mu(), analysis == Analysis::PlaneStress);
    let lambda = material.lambda();
    let lambda = if is_thin { 2.0 * lambda * mu / (lambda + 2.0 * mu) } else { lambda };
    let normal = |i: usize| lambda * h.trace() + 2.0 * mu * h[(i, i)];
    let shear = |i: usize, j: usize| mu * (h[(i, j)] + h[(j, i)]);
    [normal(0), normal(1), if is_thin { 0.0 } else { normal(2) }, shear(0, 1), shear(1, 2), shear(0, 2)]
}
