//! Displacement fields inside elements, by the textbook's shape functions: errors against an exact solution, loads that
//! vary in space.

use super::elements::{Point, Reference};
use super::reference;
use nalgebra::SVector;
use warpfem::device::DeviceName;
use warpfem::model::{Analysis, Model};
use warpfem::pipeline::{self, Solution};
use warpfem::solve::Silent;
pub use warpfem::verify::recovery::node_at;

/// Solves on the CPU until the residual is `tolerance` of the load.
pub fn solve(model: &mut Model, tolerance: f64) -> Solution {
    model.solver.tolerance = tolerance;
    converged(model, DeviceName::Cpu)
}

/// Solves, and converges.
pub fn converged(model: &Model, device: DeviceName) -> Solution {
    let solution = pipeline::solve(model, device, &Silent).unwrap_or_else(|error| panic!("{error}"));
    assert!(solution.outcome.converged, "{:?}: {:?}", model.solver, solution.outcome);
    solution
}

/// A displacement and its gradient `h[i][j] = du_i/dx_j`.
pub struct Displacement {
    pub u: [f64; 3],
    pub h: [[f64; 3]; 3],
}

impl Displacement {
    fn strain(&self) -> SVector<f64, 6> {
        let h = &self.h;
        SVector::from([h[0][0], h[1][1], h[2][2], h[0][1] + h[1][0], h[1][2] + h[2][1], h[0][2] + h[2][0]])
    }
}

/// `sum_a N_a v_a`.
fn interpolate<'a>(point: &Point, values: impl Iterator<Item = &'a [f64; 3]>) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (shape, value) in point.shape.iter().zip(values) {
        (0..3).for_each(|i| sum[i] += shape * value[i]);
    }
    sum
}

/// Errors of displacements against an exact solution relative to its own size, in the norms
/// `(int |u|^2 dV)^(1/2)` and `(int eps : D : eps dV)^(1/2)`, of twice the strain energy.
pub fn errors(model: &Model, displacement: &[[f64; 3]], exact: impl Fn([f64; 3]) -> Displacement) -> [f64; 2] {
    let (mut missed, mut whole) = ([0.0; 2], [0.0; 2]);
    reference::for_each_cell(model, |kind, nodes, x, material, _| {
        let d = reference::elasticity(model.analysis, &model.materials[material], [0.0; 3]);
        for point in Reference::of(kind).fine.iter().map(|at| at.of(x)) {
            let exact = exact(interpolate(&point, x.iter()));
            let u = interpolate(&point, nodes.iter().map(|node| &displacement[*node as usize]));
            let eps =
                exact.strain() - reference::strain(Analysis::Elasticity, &point, nodes, x, displacement.as_flattened());
            missed[0] += point.weight * (0..3).map(|i| (exact.u[i] - u[i]).powi(2)).sum::<f64>();
            whole[0] += point.weight * exact.u.iter().map(|u| u * u).sum::<f64>();
            missed[1] += point.weight * eps.dot(&(d * eps));
            whole[1] += point.weight * exact.strain().dot(&(d * exact.strain()));
        }
    });
    [0, 1].map(|i| (missed[i] / whole[i]).sqrt())
}

/// Adds to a model's nodal forces the consistent load of a force per volume, `f_a = int N_a b(x) dV`.
pub fn add_body_force(model: &mut Model, force: impl Fn([f64; 3]) -> [f64; 3]) {
    let mut f = std::mem::take(&mut model.nodal_forces);
    reference::for_each_cell(model, |kind, nodes, x, _, _| {
        for point in Reference::of(kind).fine.iter().map(|at| at.of(x)) {
            let force = force(interpolate(&point, x.iter()));
            for (node, shape) in nodes.iter().zip(&point.shape) {
                let share = model.thickness * point.weight * shape;
                (0..3).for_each(|i| f[*node as usize][i] += share * force[i]);
            }
        }
    });
    model.nodal_forces = f;
}

/// Lame's parameters in the plane or in space.
pub fn lame(model: &Model) -> [f64; 2] {
    let [lambda, mu] = model.materials[0].law.lame().unwrap();
    // No stress across: Timoshenko and Goodier, art. 16.
    [if model.analysis == Analysis::PlaneStress { 2.0 * lambda * mu / (lambda + 2.0 * mu) } else { lambda }, mu]
}

/// `ln(e_k / e_(k+1)) / ln(n_(k+1) / n_k)` of errors on meshes of `n` cells a side.
pub fn rates(errors: &[f64], cells: &[usize]) -> Vec<f64> {
    let rate = |k: usize| (errors[k] / errors[k + 1]).ln() / (cells[k + 1] as f64 / cells[k] as f64).ln();
    (0..errors.len() - 1).map(rate).collect()
}
