//! Supports: which nodes are held, and at what.

use toml::Spanned;

use super::case::tables::SupportTable;
use super::problems::Problems;
use super::select::Selector;
use super::{CaseError, Checked, Place, Support};

/// What groups are of, by dimension.
const KINDS: [&str; 4] = ["points", "curves", "surfaces", "volumes"];

/// The supports in the case file's order, without those that are wrong; no two of them may disagree about a node.
pub fn resolve(selector: &Selector<'_>, problems: &mut Problems) -> Vec<Support> {
    let tables = &selector.case.tables.support;
    let mut supports: Vec<Support> = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let name = unique_name(&supports, table.get_ref(), i + 1);
        let nodes = problems.take(nodes(selector, table.get_ref(), table.span()));
        let displacement = problems.take(selector.case.prescribed(table));
        if let (Some(nodes), Some(displacement)) = (nodes, displacement) {
            supports.push(Support { name, nodes, displacement });
        }
    }
    // The message looks a support's line up by its position.
    if supports.len() == tables.len() {
        problems.take(check_agreement(selector, &supports));
    }
    supports
}

/// What there is to say of supports on a name that groups of several dimensions have: which of them is held.
pub fn ambiguous(selector: &Selector<'_>) -> Vec<String> {
    let mesh = selector.mesh;
    let tables = selector.case.tables.support.iter().filter_map(|table| table.get_ref().on.as_ref());
    let mut names: Vec<&str> =
        tables.flat_map(|on| on.get_ref().with_places(on.span())).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let said = |name: &str| {
        let kinds = |held: bool| {
            let taken = mesh.group(name).map(|group| group.dim);
            let groups = mesh.groups.iter().filter(|group| group.name == name && (Some(group.dim) == taken) == held);
            groups.map(|group| KINDS[group.dim.min(3)]).collect::<Vec<_>>().join(" and of ")
        };
        let (held, others) = (kinds(true), kinds(false));
        (!others.is_empty()).then(|| {
            format!("support on `{name}`: there is a group of {held} and one of {others} of this name; that of {held} is held")
        })
    };
    names.into_iter().filter_map(said).collect()
}

/// The group's name, or `support[1]` by position; `end[2]` for the second support on `end`.
fn unique_name(before: &[Support], table: &SupportTable, number: usize) -> String {
    let Some(on) = &table.on else { return format!("support[{number}]") };
    let name = on.get_ref().joined();
    let mut candidate = name.clone();
    let mut count = 1;
    while before.iter().any(|support| support.name == candidate) {
        count += 1;
        candidate = format!("{name}[{count}]");
    }
    candidate
}

fn nodes(selector: &Selector<'_>, table: &SupportTable, place: Place) -> Checked<Vec<u32>> {
    match (&table.on, &table.nodes, &table.in_box) {
        (Some(on), _, _) => selector.nodes(on),
        (_, Some(tags), _) => selector.tagged(tags),
        (_, _, Some(in_box)) => selector.in_box(in_box),
        _ => Err(selector.case.error_at(place, "a support needs one of `on`, `nodes`, `box`", "on = \"group\"")),
    }
}

/// The part of a `[[support]]` that says where it is.
fn where_place(table: &Spanned<SupportTable>) -> Place {
    let t = table.get_ref();
    let on = t.on.as_ref().map(Spanned::span);
    let on = on.or(t.nodes.as_ref().map(Spanned::span)).or(t.in_box.as_ref().map(Spanned::span));
    on.unwrap_or(table.span())
}

/// Refuses two supports that prescribe different values for one component of one node.
fn check_agreement(selector: &Selector<'_>, supports: &[Support]) -> Checked {
    let mut owner = vec![[u32::MAX; 3]; selector.mesh.coords.len()];
    for (i, support) in supports.iter().enumerate() {
        for (node, c, value) in support.prescribed() {
            let slot = &mut owner[node as usize][c];
            if supports.get(*slot as usize).is_some_and(|first| first.displacement[c] != Some(value)) {
                return Err(disagreement(selector, supports, [*slot as usize, i], node, c));
            }
            *slot = i as u32;
        }
    }
    Ok(())
}

fn disagreement(
    selector: &Selector<'_>,
    supports: &[Support],
    [first, second]: [usize; 2],
    node: u32,
    c: usize,
) -> Box<CaseError> {
    let tables = &selector.case.tables.support;
    let line = selector.case.source.line_of(&where_place(&tables[first]));
    let value = |i: usize| supports[i].displacement[c].unwrap_or(0.0);
    let (what, components) = selector.case.analysis().keys().prescribed;
    let of = components[c];
    let message = format!(
        "supports `{}` ({line}) and `{}` prescribe different {what}{of} of node {}: {} and {}",
        supports[first].name,
        supports[second].name,
        selector.mesh.node_tags[node as usize],
        value(first),
        value(second)
    );
    let help = match supports[first].name == supports[second].name {
        true => "delete one of the two supports",
        false => "take the shared nodes out of one of the groups",
    };
    selector.case.error_at(where_place(&tables[second]), message, help)
}
