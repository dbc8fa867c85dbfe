//! Whether products with K are computed from its entries or without them.

use super::facts::DeviceFacts;
use super::shape::{STRETCHED, is_quadratic, median_stretch, one_across};
use crate::assembly::matrix_free;
use crate::model::{Model, Physics};
use crate::precond;
use crate::result::choices::{Method, Operator, Precision, Preconditioner};
use crate::result::{Error, Plan, Reason, Result};

/// Unknowns from which on products without a matrix are faster with multigrid: on a CPU and on a GPU.
const MANY: [usize; 2] = [50_000, 100_000];
/// Where more of the elements than this are one across, multigrid smooths by stacks of nodes, which it finds in the matrix.
const THIN_SHARE: f64 = 0.05;

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

    /// Compact bodies of quadratic elements, with multigrid: their matrix has 700 to 1,500 bytes per unknown.
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
            && one_across(&model.mesh) < THIN_SHARE
            && median_stretch(&model.mesh) <= STRETCHED
    }
}

/// Whether a plan can be carried out without a matrix.
///
/// # Errors
///
/// [`Error::NotAvailable`] for what needs the entries of K.
pub(super) fn check(model: &Model, plan: &Plan) -> Result<()> {
    let refuse = |what, available| {
        Err(Error::NotAvailable { what, name: Operator::MatrixFree.name().into(), available })
    };
    let assembled = || vec![Operator::Assembled.name()];
    let solver = &model.solver;
    if plan.method != Method::Cg {
        return refuse("operator with a method other than `cg`,", assembled());
    }
    if solver.format.is_some() || solver.assembly.is_some() {
        return refuse("operator with a format or an assembly of the matrix,", assembled());
    }
    let by = plan.preconditioner.unwrap_or(precond::AUTO);
    if precond::needs_entries(by) {
        return refuse("operator with a preconditioner of the matrix's entries,", assembled());
    }
    let reads = precond::reads_matrix(by);
    if plan.precision == Precision::MixedHalf || plan.precision == Precision::Mixed && !reads {
        return refuse("operator with this precision and preconditioner,", assembled());
    }
    if by == Preconditioner::Amg && !(is_quadratic(&model.mesh) && model.constraints.is_empty()) {
        return refuse("operator with multigrid of linear elements, or with couplings,", assembled());
    }
    let kinds: Vec<_> = model.mesh.solids().map(|(_, cells)| cells.kind).collect();
    let in_single = matches!(plan.precision, Precision::Single | Precision::Mixed);
    matrix_free::check(model.form(), &kinds, in_single)
}
