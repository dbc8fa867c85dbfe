//! Supports: which nodes are held, and at what.

use std::collections::HashMap;

use toml::Spanned;
use warpfem_text::{engineering as number, vector};

use super::case::Named;
use super::case::tables::SupportTable;
use super::directions::normals;
use super::problems::Problems;
use super::select::Selector;
use super::{Axes, CaseError, Checked, Directions, HeldSpace, Place, Support};
use crate::mesh::vector::{cross, norm, sub};

/// What groups are of, by dimension.
const KINDS: [&str; 4] = ["points", "curves", "surfaces", "volumes"];

/// The supports in the case file's order, without those that are wrong; no two of them may disagree about a node.
pub fn resolve(selector: &Selector<'_>, problems: &mut Problems) -> Vec<Support> {
    let tables = &selector.case.tables.support;
    let mut supports: Vec<Support> = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let name = name(table.get_ref(), i + 1);
        let name = unique(name, |name| supports.iter().any(|support| support.name == name));
        let nodes = problems.take(nodes(selector, table.get_ref(), table.span()));
        let displacement = problems.take(selector.case.prescribed(table));
        let (Some(nodes), Some(displacement)) = (nodes, displacement) else { continue };
        let directions = directions(selector, table.get_ref())
            .and_then(|directions| check_off_axis(selector, table, (&nodes, displacement), directions));
        if let Some(directions) = problems.take(directions) {
            let nodes = match &directions {
                Directions::Normals(normals) => nodes_of(normals),
                _ => nodes,
            };
            supports.push(Support { name, nodes, displacement, directions });
        }
    }
    // The message looks a support's line up by its position.
    if supports.len() == tables.len() {
        problems.take(check_agreement(selector, &supports));
        problems.take(check_slanted(selector, &supports));
    }
    supports
}

/// What a support's components are along; axes that turn out to be those of the mesh are these.
fn directions(selector: &Selector<'_>, table: &SupportTable) -> Checked<Directions> {
    match (selector.case.directions(table)?, &table.on) {
        (Named::Axes(Axes::Global), _) => Ok(Directions::Global),
        (Named::Axes(Axes::Fixed(rows)), _) if rows.is_identity(0.0) => Ok(Directions::Global),
        (Named::Axes(axes), _) => Ok(Directions::Axes(axes)),
        (Named::Normal, Some(on)) => {
            Ok(Directions::Normals(normals(&selector.outer_faces(on)?, &selector.mesh.coords)))
        }
        (Named::Normal, None) => Ok(Directions::Global),
    }
}

/// Refuses nodes on the axis of a cylinder, which have no radial direction, unless they are held in all.
fn check_off_axis(
    selector: &Selector<'_>,
    table: &Spanned<SupportTable>,
    (nodes, displacement): (&[u32], [Option<f64>; 3]),
    directions: Directions,
) -> Checked<Directions> {
    let Directions::Axes(Axes::Cylinder { at, along }) = directions else { return Ok(directions) };
    let limit = super::ON_AXIS * selector.mesh.longest_side();
    let is_on_axis = |node: &&u32| norm(cross(sub(selector.mesh.coords[**node as usize], at), along)) <= limit;
    if matches!(displacement, [None, None, _] | [Some(0.0), Some(0.0), _]) {
        return Ok(directions);
    }
    match nodes.iter().find(is_on_axis) {
        None => Ok(directions),
        Some(node) => {
            let tag = selector.mesh.node_tags[*node as usize];
            let message = format!("node {tag} lies on the axis of these `axes`, where r and t have no direction");
            Err(selector.case.error_at(where_place(table), message, "fix r and t there, or take it out of the group"))
        }
    }
}

/// The nodes that have a normal, each once.
fn nodes_of(normals: &[(u32, [f64; 3])]) -> Vec<u32> {
    let mut nodes: Vec<u32> = normals.iter().map(|(node, _)| *node).collect();
    nodes.dedup();
    nodes
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

/// The support's name, or its group's, or `support[1]` by position.
fn name(table: &SupportTable, number: usize) -> String {
    match (&table.name, &table.on) {
        (Some(name), _) => name.get_ref().clone(),
        (_, Some(on)) => on.get_ref().joined(),
        _ => format!("support[{number}]"),
    }
}

/// A name that is not taken: `end[2]` for the second `end`.
pub(super) fn unique(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let mut candidate = name.clone();
    let mut count = 1;
    while is_taken(&candidate) {
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
    for (i, support) in supports.iter().enumerate().filter(|(_, support)| !support.is_slanted()) {
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

/// The same of nodes that a support in other axes than the mesh's holds, where all directions count.
fn check_slanted(selector: &Selector<'_>, supports: &[Support]) -> Checked {
    let coords = &selector.mesh.coords;
    let slanted = supports.iter().filter(|support| support.is_slanted());
    let mut spaces: HashMap<u32, HeldSpace> =
        slanted.flat_map(|support| &support.nodes).map(|node| (*node, HeldSpace::default())).collect();
    if spaces.is_empty() {
        return Ok(());
    }
    for (i, support) in supports.iter().enumerate() {
        for (node, direction, value) in support.held(coords) {
            let Some(space) = spaces.get_mut(&node) else { continue };
            if !space.add(direction, value) {
                return Err(contradiction(selector, supports, i, (node, direction, value)));
            }
        }
    }
    Ok(())
}

/// The error of a support that contradicts those before it at a node.
fn contradiction(
    selector: &Selector<'_>,
    supports: &[Support],
    second: usize,
    (node, direction, value): (u32, [f64; 3], f64),
) -> Box<CaseError> {
    let tables = &selector.case.tables.support;
    let alone = |support: &Support| {
        let mut space = HeldSpace::default();
        let is_here = |(at, direction, value): (u32, [f64; 3], f64)| at != node || space.add(direction, value);
        support.held(&selector.mesh.coords).all(is_here)
            && !space.directions().is_empty()
            && !space.add(direction, value)
    };
    let holds = |support: &Support| support.nodes.binary_search(&node).is_ok();
    let first = supports[..=second].iter().position(alone);
    let first = first.or_else(|| supports[..second].iter().position(holds)).unwrap_or(second);
    let message = format!(
        "supports `{}` ({}) and `{}` prescribe displacements of node {} that exclude each other: along {} not {}",
        supports[first].name,
        selector.case.source.line_of(&where_place(&tables[first])),
        supports[second].name,
        selector.mesh.node_tags[node as usize],
        vector(direction),
        number(value),
    );
    let help = "take the shared nodes out of one of the groups, or let both prescribe the same";
    selector.case.error_at(where_place(&tables[second]), message, help)
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
