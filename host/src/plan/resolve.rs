//! The plan of a model, if all that is asked for goes together.

use super::decide::decide;
use super::facts::DeviceFacts;
use super::operator;
use crate::model::{Model, Study};
use crate::precond;
use crate::result::choices::{Acceleration, Method, Operator, PLAIN_PRECISIONS, Precision};
use crate::result::{Error, Plan, Reason, Result};
use crate::solve::direct;

/// The plan of a model for a device: every `auto` decided, and all choices go together.
///
/// # Errors
///
/// [`Error::NotAvailable`] for choices that do not go together, [`Error::Direct`].
pub fn resolve(model: &Model, facts: &DeviceFacts) -> Result<Plan> {
    let solver = &model.solver;
    if model.study != Study::Static {
        check_matrix(model)?;
    }
    let is_long = check_couplings(model)?;
    if solver.method == Some(Method::Femses) {
        check_femses(model)?;
        return Ok(decide(model, facts));
    }
    if solver.acceleration != Acceleration::None {
        return refuse("acceleration without method `femses`", solver.acceleration.name(), vec!["none"]);
    }
    let is_single = solver.precision == Some(Precision::Single);
    if is_single && !model.form().is_isotropic {
        let what = "precision of what is not isotropic, or a body of revolution,";
        return refuse(what, Precision::Single.name(), vec!["double", "mixed"]);
    }
    let mut plan = decide(model, facts);
    if is_long && plan.method == Method::Direct {
        plan = super::without_factor(model, facts, Reason::FactorFailed);
    }
    if solver.operator == Some(Operator::MatrixFree) {
        operator::check(model, &plan)?;
    }
    let is_half = solver.precision == Some(Precision::MixedHalf);
    if plan.method == Method::Direct {
        if is_half {
            let available = vec!["double", "single", "mixed"];
            return refuse("precision with method `direct`", Precision::MixedHalf.name(), available);
        }
        direct::check_built(facts.on_host, model.mesh.coords.len() * model.analysis.components())?;
    }
    if let Some(by) = plan.preconditioner.filter(|by| is_half && !precond::reads_matrix(*by)) {
        return refuse("preconditioner with precision `mixed_half`", by.name(), precond::reading_matrix());
    }
    Ok(plan)
}

/// Refuses a choice that does not go with others.
fn refuse<R>(what: &'static str, name: &str, available: Vec<&'static str>) -> Result<R> {
    Err(Error::NotAvailable { what, name: name.into(), available })
}

/// Unknowns that a coupling may join where `T^T K T` is formed: the factor would be as dense as that row.
const MOST_FACTORISED: usize = 4_000;

/// Refuses methods that do not go with the couplings of a model; whether these rule the direct solver out.
fn check_couplings(model: &Model) -> Result<bool> {
    let Some((length, entry)) = model.constraints.longest() else { return Ok(false) };
    let refuse = |method: Method, why: String| {
        Err(Error::Unsuited { what: "method", name: method.name(), why, available: vec!["cg"] })
    };
    match model.solver.method {
        Some(Method::Femses) => {
            refuse(Method::Femses, format!("has no [[{}]], which acts around a matrix", entry.kind))
        }
        Some(Method::Direct) if length > MOST_FACTORISED => refuse(
            Method::Direct,
            format!(
                "would make a row of {length} unknowns of [[{}]] `{}`, and takes {MOST_FACTORISED}",
                entry.kind, entry.name
            ),
        ),
        _ => Ok(length > MOST_FACTORISED),
    }
}

/// Refuses what studies of two matrices do not do.
fn check_matrix(model: &Model) -> Result<()> {
    let solver = &model.solver;
    let refuse = |what, name, only| {
        let by = if model.study.is_of_modes() { ", which LOBPCG solves" } else { "" };
        let why = format!("does not go with study `{}`{by}", model.study.name());
        Err(Error::Unsuited { what, name, why, available: vec!["auto", only] })
    };
    if solver.check_count && model.bodies().next().is_some() {
        let why = "counts no modes of a [[mass]] that is a body".into();
        return Err(Error::Unsuited { what: "option", name: "check_count", why, available: vec!["false"] });
    }
    match (solver.method, solver.precision, solver.operator) {
        (Some(method @ Method::Femses), ..) => refuse("method", method.name(), Method::Cg.name()),
        (_, Some(precision @ (Precision::Single | Precision::MixedHalf)), _) => {
            refuse("precision", precision.name(), Precision::Double.name())
        }
        (.., Some(operator @ Operator::MatrixFree)) => refuse("operator", operator.name(), Operator::Assembled.name()),
        _ => Ok(()),
    }
}

/// Refuses what belongs to a matrix, which FEMSES has none of.
fn check_femses(model: &Model) -> Result<()> {
    let solver = &model.solver;
    if !model.analysis.physics().is_scalar() {
        return refuse("method of elasticity", Method::Femses.name(), vec!["cg", "direct"]);
    }
    if !model.form().is_isotropic {
        let what = "method of what is not isotropic, or a body of revolution,";
        return refuse(what, Method::Femses.name(), vec!["cg", "direct"]);
    }
    if let Some((_, cells)) = model.mesh.solids().find(|(_, cells)| !cells.kind.is_of_papers()) {
        let why = format!("has no kernels for {}", cells.kind.info().name);
        let (name, available) = (Method::Femses.name(), vec!["cg", "direct"]);
        return Err(Error::Unsuited { what: "method", name, why, available });
    }
    if let Some(precision) = solver.precision.filter(|precision| !PLAIN_PRECISIONS.contains(precision)) {
        let available = PLAIN_PRECISIONS.map(Precision::name).to_vec();
        return refuse("precision with method `femses`", precision.name(), available);
    }
    if let Some(format) = solver.format {
        return refuse("format with method `femses`, which has no matrix,", format.name(), vec!["auto"]);
    }
    if let Some(operator) = solver.operator {
        return refuse("operator with method `femses`, which has those of elements,", operator.name(), vec!["auto"]);
    }
    if let Some(assembly) = solver.assembly {
        return refuse("assembly with method `femses`, which has none,", assembly.name(), vec!["auto"]);
    }
    match solver.preconditioner {
        Some(one) => refuse("preconditioner with method `femses`", one.name(), vec!["auto"]),
        None => Ok(()),
    }
}
