//! Whether products with K are computed from its entries or without them.

use super::facts::DeviceFacts;
use super::shape::{is_quadratic, stacked};
use crate::assembly::matrix_free;
use crate::element::ElementKind;
use crate::model::{Model, Physics};
use crate::precond;
use crate::result::choices::{Method, Operator, Precision, Preconditioner};
use crate::result::{Error, Plan, Reason, Result};

/// Unknowns from which on products without a matrix are faster with multigrid: on a CPU and on a GPU.
const MANY: [usize; 2] = [50_000, 100_000];
/// Where more of the nodes than this are in stacks, multigrid smooths by these, which it finds in the matrix.
const FEW_STACKED: f64 = 0.1;

impl Plan {
    /// Takes products without a matrix where they are asked for, or where they are known to be faster.
    pub(super) fn choose_operator(&mut self, model: &Model, device: &DeviceFacts) {
        let chosen = match model.solver.operator {
            Some(asked) => asked == Operator::MatrixFree,
            None => self.is_faster_without_matrix(model, device),
        };
        if chosen {
            (self.operator, self.format, self.assembly) = (Some(Operator::MatrixFree), None, None);
            if model.solver.operator.is_none() {
                self.reasons.push(Reason::NoMatrix);
            }
        }
    }

    /// Bodies of quadratic elements that are not flat, with multigrid: their matrix has 700 to 1,500 bytes per unknown.
    fn is_faster_without_matrix(&self, model: &Model, device: &DeviceFacts) -> bool {
        let solver = &model.solver;
        let unknowns = model.mesh.coords.len() * model.analysis.components();
        let is_asked = solver.format.is_some() || solver.assembly.is_some();
        let is_isotropic = model.form().is_isotropic && model.analysis.physics() == Physics::Elasticity;
        !is_asked
            && is_isotropic
            && model.mesh.dim() == 3
            && self.preconditioner == Some(Preconditioner::Amg)
            && self.precision != Precision::MixedHalf
            && unknowns >= MANY[usize::from(!device.on_host)]
            && check(model, self).is_ok()
            && stacked(&model.mesh) < FEW_STACKED
    }
}

/// Whether a plan can be carried out without a matrix.
///
/// # Errors
///
/// [`Error::Unsuited`] for what needs the entries of K.
pub(super) fn check(model: &Model, plan: &Plan) -> Result<()> {
    let (solver, by) = (&model.solver, plan.preconditioner.unwrap_or(precond::AUTO));
    let kinds: Vec<ElementKind> = model.mesh.solids().map(|(_, cells)| cells.kind).collect();
    let in_single = matches!(plan.precision, Precision::Single | Precision::Mixed);
    let why = match () {
        () if plan.method != Method::Cg => format!("has no entries for method {}", plan.method),
        () if solver.format.is_some() || solver.assembly.is_some() => "has no format and no assembly".into(),
        () if precond::needs_entries(by) => format!("has no entries for preconditioner {by}"),
        () if plan.precision == Precision::MixedHalf
            || plan.precision == Precision::Mixed && !precond::reads_matrix(by) =>
        {
            format!("does not run in precision {} with preconditioner {by}", plan.precision)
        }
        () if by == Preconditioner::Amg && !is_quadratic(&model.mesh) => {
            "has multigrid for meshes of quadratic elements alone".into()
        }
        () if by == Preconditioner::Amg && !model.constraints.is_empty() => "has no multigrid with couplings".into(),
        () => match matrix_free::lacks(model.form(), &kinds, in_single) {
            Some(lack) => lack,
            None => return Ok(()),
        },
    };
    let available = vec![Operator::Assembled.name()];
    Err(Error::Unsuited { what: "operator", name: Operator::MatrixFree.name(), why, available })
}
