//! Whether multigrid's cycle is in single precision.

use super::facts::DeviceFacts;
use super::shape::{STRETCHED, is_linear, median_stretch, on_surface};
use crate::model::Model;
use crate::result::Plan;
use crate::result::choices::{Operator, Precision, Preconditioner};

impl Plan {
    /// The same with the precision that it is faster in, where nobody asked for one.
    pub(super) fn rounded(mut self, model: &Model, device: &DeviceFacts) -> Plan {
        if is_rounded(model, device, &self) {
            self.precision = Precision::Mixed;
        }
        self
    }
}

/// Unknowns from which on multigrid's cycle is bound by the memory of a GPU.
const MANY: usize = 200_000;
/// Bytes per unknown of a matrix, a copy of it in single precision and a hierarchy, at most: those of hex20.
const WITH_A_COPY: u64 = 5_000;
/// The same without a matrix, of quadratic elements: 385 were measured in double precision, of 199 million unknowns of tet10.
const WITHOUT_MATRIX: u64 = 500;
/// And of linear ones: 1,010 of 10 million unknowns of tet4.
const OF_LINEAR: u64 = 1_200;
/// Ratio of stiffnesses up to which single precision tells materials apart.
const MOST_RATIO: f64 = 1e3;

/// How much more of a compact body's nodes are on the surface than of a cube's. A plate 50 times as wide as thick has 4.5
/// times as many there, a beam 100 times as long as thick 3.
const MORE_SURFACE: f64 = 1.5;

/// Whether multigrid's cycle is in single precision where nobody asked for another: on an H200 that saves a sixth to a
/// fifth of the time of cubes of 0.8 to 3 million unknowns, at as many iterations. A beam 100 times as long as thick takes
/// 62 iterations instead of 10, and one of stretched hexahedra, 80 x 80 x 80, takes 18 instead of 12: so compact bodies
/// of compact elements only.
fn is_rounded(model: &Model, device: &DeviceFacts, plan: &Plan) -> bool {
    let n = model.mesh.coords.len() * model.analysis.components();
    let is_asked = model.solver.precision.is_some() || plan.preconditioner != Some(Preconditioner::Amg);
    let without_matrix = plan.operator == Some(Operator::MatrixFree);
    if without_matrix && !model.form().is_isotropic {
        return false;
    }
    if is_asked || device.on_host || n < MANY || model.mesh.dim() != 3 || model.analysis.physics().is_scalar() {
        return false;
    }
    let per_unknown = match without_matrix {
        true if is_linear(&model.mesh) => OF_LINEAR,
        true => WITHOUT_MATRIX,
        false => WITH_A_COPY,
    };
    let has_room = device.free.is_none_or(|free| free > per_unknown * n as u64);
    let of_a_cube = 6.0 / (model.mesh.coords.len() as f64).cbrt();
    let is_compact = || on_surface(&model.mesh) <= MORE_SURFACE * of_a_cube;
    stiffness_ratio(model) <= MOST_RATIO && has_room && median_stretch(&model.mesh) <= STRETCHED && is_compact()
}

/// How many times the softest material's modulus the hardest one's is.
pub(super) fn stiffness_ratio(model: &Model) -> f64 {
    let young = || model.materials.iter().map(|material| material.law.young());
    young().fold(0.0, f64::max) / young().fold(f64::INFINITY, f64::min)
}
