//! Whether products with K are computed from its entries or without them.

use super::facts::DeviceFacts;
use super::memory::{self, Memory};
use super::shape::{is_linear, is_quadratic, stacked};
use crate::assembly::matrix_free;
use crate::element::ElementKind;
use crate::model::{Model, SolverOptions};
use crate::precond;
use crate::result::choices::{Method, Operator, Precision, Preconditioner};
use crate::result::{Error, Plan, Reason, Result};

/// Unknowns from which on products without a matrix are taken with multigrid: on a CPU and on a GPU.
const FROM_UNKNOWNS: [usize; 2] = [50_000, 100_000];
/// Where more of the nodes than this are in stacks, multigrid smooths by these, which it finds in the matrix.
const MOST_STACKED: f64 = 0.1;
/// What is known to be faster on an H200 (docs/benchmarks/matrix_free); a CPU takes half to
/// two thirds of the time, in 30 to 40 % of the memory.
const MEASURED: [ElementKind; 2] = [ElementKind::Tet10, ElementKind::Hex20];

impl Plan {
    /// The same with products without a matrix where they are asked for or known to be faster, or where memory is too small for
    /// the matrix; then with another preconditioner where multigrid has no room either way.
    pub(super) fn with_operator(mut self, model: &Model, device: &DeviceFacts) -> Plan {
        let why = match model.solver.operator {
            Some(Operator::Assembled) => return self,
            Some(Operator::MatrixFree) => None,
            None if self.is_faster_without_matrix(model, device) => Some(Reason::NoMatrix),
            None if self.fits_only_without_matrix(model, device) => Some(Reason::MatrixTooLarge),
            None if self.preconditioner == Some(Preconditioner::Amg) && model.solver.preconditioner.is_none() => {
                let mut other = self.clone();
                other.without_multigrid(model.solver.order);
                let fits = other.fits_only_without_matrix(model, device);
                return if fits { other.with_operator(model, device) } else { self };
            }
            None => return self,
        };
        self.reasons.extend(why);
        Plan { operator: Some(Operator::MatrixFree), format: None, assembly: None, ..self }
    }

    /// Bodies of quadratic elements with multigrid: their matrix has 700 to 1,500 bytes per unknown.
    fn is_faster_without_matrix(&self, model: &Model, device: &DeviceFacts) -> bool {
        let unknowns = model.mesh.coords.len() * model.analysis.components();
        !is_of_matrix(&model.solver)
            && model.form().is_isotropic_elasticity()
            && model.mesh.solids().all(|(_, cells)| MEASURED.contains(&cells.kind))
            && self.preconditioner == Some(Preconditioner::Amg)
            && unknowns >= FROM_UNKNOWNS[usize::from(!device.on_host)]
            && check(model, self).is_ok()
    }

    /// Bodies whose matrix takes more memory than there is.
    fn fits_only_without_matrix(&self, model: &Model, device: &DeviceFacts) -> bool {
        let (Some(by), Some(free), Ok(())) = (self.preconditioner, device.free, check(model, self)) else {
            return false;
        };
        let has_room = |memory: &Memory| free >= if device.on_host { memory.on_host() } else { memory.on_device() };
        let with = Memory::of(model, by, self.precision, memory::blocks(model));
        !has_room(&with) && has_room(&with.without_matrix(model, by, self.precision))
    }
}

/// Whether something is asked for that a matrix has.
fn is_of_matrix(solver: &SolverOptions) -> bool {
    solver.format.is_some() || solver.assembly.is_some() || solver.ordering.is_some()
}

/// Whether multigrid can do without a matrix: it begins with the vertices of quadratic elements, or makes the matrix of
/// linear ones in slabs, and knows neither couplings nor stacks.
pub(super) fn has_multigrid(model: &Model) -> bool {
    (is_quadratic(&model.mesh) || is_linear(&model.mesh))
        && model.constraints.is_empty()
        && stacked(&model.mesh) < MOST_STACKED
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
        () if plan.method != Method::Cg => format!("has no matrix for method {}", plan.method),
        () if is_of_matrix(solver) => "has no format, no ordering and no assembly strategy".into(),
        () if precond::needs_entries(by) => format!("has no matrix for preconditioner {by}"),
        () if plan.precision == Precision::MixedHalf
            || plan.precision == Precision::Mixed && !precond::reads_matrix(by) =>
        {
            format!("does not run in precision {} with preconditioner {by}", plan.precision)
        }
        () if precond::reads_matrix(by) && !model.constraints.is_empty() => {
            format!("has no preconditioner {by} with couplings")
        }
        () if by == Preconditioner::Amg && !has_multigrid(model) => {
            let flat = stacked(&model.mesh) >= MOST_STACKED;
            let of = if flat { "flat elements" } else { "linear and quadratic elements in one mesh" };
            format!("has no multigrid for {of}: take preconditioner jacobi")
        }
        () => match matrix_free::lacks(model.form(), &kinds, in_single) {
            Some(lack) => lack,
            None => return Ok(()),
        },
    };
    let available = vec![Operator::Assembled.name()];
    Err(Error::Unsuited { what: "operator", name: Operator::MatrixFree.name(), why, available })
}
