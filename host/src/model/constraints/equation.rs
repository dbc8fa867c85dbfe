//! `[[equation]]`: a linear equation of components at nodes.

use toml::Spanned;
use warpfem_text::counted;

use super::{Constraints, Dof, Entry, Equation};
use crate::model::case::tables::{EquationTable, TermTable};
use crate::model::problems::Problems;
use crate::model::select::Selector;
use crate::model::{Checked, Physics};

/// Takes every equation of a case that is sound.
pub fn add_all(selector: &Selector<'_>, constraints: &mut Constraints, problems: &mut Problems) {
    let tables = &selector.case.tables.equation;
    if tables.is_empty() {
        return;
    }
    constraints.notes.push(("equation", counted(tables.len(), "equation")));
    for (i, table) in tables.iter().enumerate() {
        let place = table.span();
        let entry = Entry { name: format!("equation[{}]", i + 1), kind: "equation", place: place.clone() };
        let entry = constraints.enter(entry);
        let Some(equation) = problems.take(read(selector, table.get_ref(), entry)) else { continue };
        if let Err(conflict) = constraints.add(equation) {
            let (message, help) = constraints.explain(selector.case, selector.mesh, &conflict);
            problems.add(selector.case.error_at(place, message, help));
        }
    }
}

fn read(selector: &Selector<'_>, table: &EquationTable, entry: u32) -> Checked<Equation> {
    let case = selector.case;
    let value = table.value.as_ref().map_or(0.0, |value| *value.get_ref());
    if let Some(given) = table.value.as_ref().filter(|value| !value.get_ref().is_finite()) {
        return Err(case.error_at(given.span(), "`value` must be finite", "write a number, such as 1e-3"));
    }
    if table.terms.get_ref().is_empty() {
        let help = "terms = [{ node = 7, dof = \"x\", factor = 1.0 }, { node = 9, dof = \"x\", factor = -1.0 }]";
        return Err(case.error_at(table.terms.span(), "an equation needs `terms`", help));
    }
    let terms = table.terms.get_ref().iter().map(|term| read_term(selector, term));
    Ok(Equation { terms: terms.collect::<Checked<_>>()?, value, slaves: Vec::new(), entry })
}

fn read_term(selector: &Selector<'_>, term: &Spanned<TermTable>) -> Checked<(Dof, f64)> {
    let (case, TermTable { node, dof, factor }) = (selector.case, term.get_ref());
    let tag = *node.get_ref();
    let Some(index) = selector.node(tag) else { return Err(selector.unknown_node(tag, node.span())) };
    if !selector.in_solid[index as usize] {
        let message = format!("node {tag} belongs to no element of the body");
        return Err(case.error_at(node.span(), message, "name a node of the body: it has no unknowns otherwise"));
    }
    let known: &[&str] = match case.analysis().physics() {
        Physics::Potential | Physics::Heat => &["value"],
        Physics::Elasticity => &["x", "y", "z"][..selector.mesh.dim()],
    };
    let Some(component) = known.iter().position(|name| name == dof.get_ref()) else {
        let message = format!("there is no dof `{}`", dof.get_ref());
        return Err(case.error_at(dof.span(), message, format!("there are: {}", known.join(", "))));
    };
    if !factor.get_ref().is_finite() {
        return Err(case.error_at(factor.span(), "`factor` must be finite", "write a number, such as -1.0"));
    }
    Ok((Dof { node: index, component: component as u8 }, *factor.get_ref()))
}
