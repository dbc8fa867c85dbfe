//! `[[cyclic]]`: a sector of a body that repeats round an axis, under loads that repeat with it.
//!
//! With R the rotation by the sector's angle, a node x of `to` moves as R^-1 x does, which lies in a face of `from`:
//! `u(x) = R sum_b N_b u_b`. On the axis that leaves `(I - R) u = 0`, no motion but along it.

use std::collections::HashSet;
use std::f64::consts::TAU;

use nalgebra::{Rotation3, Unit, Vector3};
use toml::Spanned;
use warpfem_text::{counted, number};

use super::patch::Patch;
use super::projection::{Projection, Surface, gap_in_words};
use super::{Constraints, Dof, Entry, Equation};
use crate::mesh::faces::Face;
use crate::mesh::vector::{add, sub};
use crate::model::case::tables::CyclicTable;
use crate::model::select::Selector;
use crate::model::{Checked, Place};
use crate::parallel;

/// Sides whose angle differs by more than this part from that of a whole number of sectors are refused.
const WHOLE: f64 = 0.01;
/// A node of `to`, turned back, may be so many mean edges away from `from`.
const TOLERANCE: f64 = 0.1;
/// A direction this far off the axis is not along it.
const ALONG: f64 = 1e-9;

/// Takes a cyclic symmetry of a case.
pub fn add_one(selector: &Selector<'_>, table: &Spanned<CyclicTable>, constraints: &mut Constraints) -> Checked {
    let (case, mesh, given) = (selector.case, selector.mesh, table.get_ref());
    if case.analysis().is_revolved() {
        let message = "a body of revolution is the same all round already";
        return Err(case.error_at(table.span(), message, "leave [[cyclic]] out"));
    }
    let [axis, at] = case.axis_of_sectors(Some(mesh.dim()), table)?;
    check_loads(selector, table.span(), axis, at)?;
    let (from, to) = (selector.faces(&given.from)?, selector.nodes(&given.to)?);
    let turn = sector(selector, given, &from, axis, at)?;
    let n_sectors = (TAU / turn.angle()).round();
    let turned_back = |node: u32| -> [f64; 3] {
        let arm = Vector3::from(sub(mesh.coords[node as usize], at));
        add((turn.inverse() * arm).into(), at)
    };
    let on_from: HashSet<u32> = from.iter().flat_map(|face| face.nodes()).copied().collect();
    let surface = Surface::new(mesh, from);
    let feet: Vec<Projection> = parallel::map_items(&to, &|&node| surface.nearest(turned_back(node)));
    let name = constraints.unused(given.to.get_ref().or_own(given.name.as_ref()));
    let entry = constraints.enter(Entry { name: name.clone(), kind: "cyclic", place: table.span() });
    let widest = feet.iter().zip(&to).max_by(|a, b| a.0.gap.total_cmp(&b.0.gap));
    if let Some((foot, node)) = widest.filter(|(foot, _)| foot.gap > TOLERANCE * surface.size()) {
        let [from, to] = [&given.from, &given.to].map(|side| side.get_ref().joined());
        let message = format!(
            "node {} of `{to}`, turned back by {} degrees, is {} away from `{from}`",
            mesh.node_tags[*node as usize],
            number(turn.angle().to_degrees(), 4),
            number(foot.gap, 3)
        );
        let help = "`from` turned about the axis must be `to`: check the groups, `axis` and `at`";
        return Err(case.error_at(table.span(), message, help));
    }
    let components = case.analysis().components();
    for (&slave, foot) in to.iter().zip(&feet) {
        for c in 0..components {
            // A node of the axis is its own master.
            let is_own = on_from.contains(&slave);
            let masters = if is_own { vec![(slave, 1.0)] } else { foot.weights.clone() };
            let factor = |d: usize| if components == 1 { 1.0 } else { turn[(c, d)] };
            let of_master = |(node, weight): (u32, f64)| {
                (0..components).map(move |d| (Dof { node, component: d as u8 }, -weight * factor(d)))
            };
            let own = Dof { node: slave, component: c as u8 };
            let terms = std::iter::once((own, 1.0)).chain(masters.into_iter().flat_map(of_master)).collect();
            let slaves = if is_own { Vec::new() } else { vec![own] };
            constraints.take(selector, Equation { terms, value: 0.0, slaves, entry }, table.span())?;
        }
    }
    let gap = gap_in_words(widest.map_or(0.0, |(foot, _)| foot.gap), surface.size());
    let note = format!("{name}: 1/{n_sectors} of a turn, {}, {gap}", counted(to.len(), "node"));
    constraints.notes.push(("cyclic", note));
    Ok(())
}

/// The rotation from one side to the other, by a whole part of a turn.
fn sector(
    selector: &Selector<'_>,
    given: &CyclicTable,
    from: &[Face],
    axis: [f64; 3],
    at: [f64; 3],
) -> Checked<Rotation3<f64>> {
    let (case, mesh, along) = (selector.case, selector.mesh, Vector3::from(axis));
    let arm = |side: &[Face]| {
        let centre = Vector3::from(sub(Patch::of_faces(side, &mesh.coords, mesh.dim() == 2).centre, at));
        centre - along * along.dot(&centre)
    };
    let (from, to) = (arm(from), arm(&selector.faces(&given.to)?));
    let angle = along.dot(&from.cross(&to)).atan2(from.dot(&to));
    let n = (TAU / angle.abs()).round();
    if !n.is_finite() || n < 2.0 || (TAU / angle.abs() - n).abs() > WHOLE * n {
        let message = format!("the two sides are {} degrees apart", number(angle.to_degrees(), 4));
        let help = "a sector is a whole part of a turn, such as 60 degrees: check the groups, `axis` and `at`";
        return Err(case.error_at(given.to.span(), message, help));
    }
    let n = given.sectors.unwrap_or(n);
    if (TAU / angle.abs() - n).abs() > 0.5 {
        let message = format!("N is {n}, and the two sides are {} degrees apart", number(angle.to_degrees(), 4));
        return Err(case.error_at(given.to.span(), message, "check N, the two surfaces of the *TIE, and the axis"));
    }
    Ok(Rotation3::from_axis_angle(&Unit::new_unchecked(along), angle.signum() * TAU / n))
}

/// Refuses loads on the whole body that are not the same in all sectors.
fn check_loads(selector: &Selector<'_>, table: Place, axis: [f64; 3], at: [f64; 3]) -> Checked {
    let (case, tables) = (selector.case, &selector.case.tables);
    let axis = Vector3::from(axis);
    let is_off = |v: [f64; 3]| axis.cross(&Vector3::from(v)).norm() > ALONG * Vector3::from(v).norm();
    if let Some(gravity) = tables.gravity.as_ref().map(|table| &table.get_ref().acceleration)
        && is_off(gravity.get_ref().xyz())
    {
        let message = "gravity across the axis of [[cyclic]] is not the same in all sectors";
        return Err(case.error_at(gravity.span(), message, "solve the whole body, without [[cyclic]]"));
    }
    if let Some(rotation) = &tables.rotation
        && let Ok(of) = case.rotation(rotation)
        && (is_off(of.axis) || axis.cross(&Vector3::from(sub(of.at, at))).norm() > ALONG * selector.mesh.longest_side())
    {
        let message = "the body spins about another axis than that of [[cyclic]]";
        return Err(case.error_at(rotation.span(), message, "give both the same `axis` and `at`"));
    }
    if tables.inertia_relief.is_some() {
        let message = "a sector is no body of its own, which [inertia_relief] needs";
        return Err(case.error_at(table, message, "leave one of them out"));
    }
    Ok(())
}
