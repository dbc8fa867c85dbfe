//! `[[tie]]`: nodes of one surface that move as the faces of another.
//!
//! Each slave node is projected onto the nearest master face, and moves as that point does, `u_s = sum_b N_b u_b`; with
//! `kind = "sliding"` along the normal alone. Where both sides are linear, the [weights](mortar::weights) are others, that
//! pass constant stress on exactly.

use std::collections::{HashMap, HashSet};

use toml::Spanned;
use warpfem_text::{counted, number};

use super::mortar::Shared;
use super::projection::{self, Projection, Surface};
use super::{Constraints, Dof, Entry, Equation, kind_of, mortar};
use crate::element::shape::At;
use crate::mesh::faces::Face;
use crate::mesh::vector::norm;
use crate::model::case::tables::TieTable;
use crate::model::select::Selector;
use crate::model::{CaseError, Checked};
use crate::parallel;

/// Nodes within this part of the mean edge of the masters are tied, if the case does not say.
const TOLERANCE: f64 = 0.1;
/// Slaves whose faces are so many times as large as those of the masters are the wrong side.
const COARSER: f64 = 1.5;
/// The kinds of ties.
const KINDS: [&str; 2] = ["bonded", "sliding"];

/// Takes a tie of a case.
pub fn add(
    selector: &Selector<'_>,
    table: &Spanned<TieTable>,
    constraints: &mut Constraints,
    warnings: &mut Vec<String>,
) -> Checked {
    let (case, mesh, tie) = (selector.case, selector.mesh, table.get_ref());
    let is_sliding = is_sliding(selector, tie)?;
    let (nodes, faces) = (selector.nodes(&tie.slave)?, selector.faces(&tie.master)?);
    let on_master: HashSet<u32> = faces.iter().flat_map(|face| face.nodes()).copied().collect();
    let slaves: Vec<u32> = nodes.iter().copied().filter(|node| !on_master.contains(node)).collect();
    if slaves.is_empty() {
        let [slave, master] = [&tie.slave, &tie.master].map(|side| side.get_ref().joined());
        let message = format!("every node of `{slave}` is on a face of `{master}` already");
        let help = "slave and master are two surfaces whose meshes share no nodes";
        return Err(case.error_at(tie.slave.span(), message, help));
    }
    let surface = Surface::new(mesh, faces);
    let mut feet: Vec<Projection> = parallel::map_items(&slaves, &|node| surface.nearest(mesh.coords[*node as usize]));
    let tolerance = tolerance(selector, tie, &surface)?;
    let of_nodes: HashMap<u32, &Projection> = slaves.iter().copied().zip(&feet).collect();
    let own = selector.faces(&tie.slave).unwrap_or_default();
    let mut weights = mortar::weights(mesh, &own, &surface, &of_nodes, tolerance);
    for (slave, foot) in slaves.iter().zip(&mut feet) {
        if let Some(own) = weights.remove(slave) {
            foot.weights = own;
        }
    }
    let name = constraints.unused(tie.slave.get_ref().or_own(tie.name.as_ref()));
    let place = table.span();
    let entry = constraints.enter(Entry { name: name.clone(), kind: "tie", place: place.clone() });
    let (mut n_tied, mut widest) = (0, 0.0_f64);
    for (slave, foot) in slaves.iter().zip(&feet).filter(|(_, foot)| foot.gap <= tolerance) {
        for equation in equations(*slave, foot, is_sliding, case.analysis().components(), entry) {
            constraints.take(selector, equation, place.clone())?;
        }
        (n_tied, widest) = (n_tied + 1, widest.max(foot.gap));
    }
    if n_tied == 0 {
        let gap = feet.iter().map(|foot| foot.gap).fold(f64::INFINITY, f64::min);
        return Err(too_far(selector, table, tolerance, gap));
    }
    let gap = projection::gap_in_words(widest, surface.size());
    constraints.notes.push(("tie", format!("{name}: {} tied, {gap}", counted(n_tied, "node"))));
    let left = slaves.len() - n_tied;
    if left > 0 {
        warnings.push(format!(
            "tie `{name}`: {left} of {} slave nodes are farther than {} from the master and not tied; `tolerance` says how far",
            slaves.len(),
            number(tolerance, 3)
        ));
    }
    warnings.extend(wrong_way(selector, tie, &surface, &name));
    Ok(())
}

/// Of a joint that resists a flow: at points of the slave's faces the difference of both sides, times the root of the area that the
/// point stands for, so that the sum of its squares is `int (u_s - u_m)^2 dA`. The points are those of what a face shares with each
/// master, where masters cover it: a rule for the face alone would be 0.1 % off, as it does not see the edges between these.
pub fn gaps(selector: &Selector<'_>, table: &Spanned<TieTable>) -> Checked<Vec<Vec<(Dof, f64)>>> {
    let (case, mesh, tie) = (selector.case, selector.mesh, table.get_ref());
    let (own, masters) = (selector.faces(&tie.slave)?, selector.faces(&tie.master)?);
    let surface = Surface::new(mesh, masters);
    let tolerance = tolerance(selector, tie, &surface)?;
    let of_face = |face: &Face| -> Vec<(f64, Vec<(Dof, f64)>)> {
        let x = |b: usize| mesh.coords[face.nodes()[b] as usize];
        let point = |at: &At| {
            let (place, size) = (at.place(x), norm(face.area_vector(at, &mesh.coords)));
            let foot = surface.nearest(place);
            let root = (case.analysis().around(place) * at.weight * size).sqrt();
            let own = face.nodes().iter().zip(&at.n).map(|(&node, n)| (node, root * n));
            let other = foot.weights.iter().map(|(node, weight)| (*node, -root * weight));
            let terms = own.chain(other).map(|(node, factor)| (Dof { node, component: 0 }, factor));
            (foot.gap, terms.collect())
        };
        let (points, is_covered) = mortar::shared(mesh, face, &surface, tolerance);
        if !is_covered {
            return face.kind.table().mass.iter().map(point).collect();
        }
        let term = |factor: f64| move |(node, n): (u32, f64)| (Dof { node, component: 0 }, factor * n);
        let point = |Shared { weight, own, other }: Shared| {
            let own: Vec<(u32, f64)> = face.nodes().iter().copied().zip(own).collect();
            let at = |c: usize| own.iter().map(|(node, n)| n * mesh.coords[*node as usize][c]).sum();
            let root = (case.analysis().around([at(0), at(1), at(2)]) * weight).sqrt();
            (0.0, own.into_iter().map(term(root)).chain(other.into_iter().map(term(-root))).collect())
        };
        points.into_iter().map(point).collect()
    };
    let all: Vec<(f64, Vec<(Dof, f64)>)> = parallel::map_items(&own, &of_face).into_iter().flatten().collect();
    let nearest = all.iter().map(|(gap, _)| *gap).fold(f64::INFINITY, f64::min);
    match nearest <= tolerance {
        true => Ok(all.into_iter().filter(|(gap, _)| *gap <= tolerance).map(|(_, terms)| terms).collect()),
        false => Err(too_far(selector, table, tolerance, nearest)),
    }
}

/// How far slaves may be from the masters.
fn tolerance(selector: &Selector<'_>, tie: &TieTable, surface: &Surface<'_>) -> Checked<f64> {
    match &tie.tolerance {
        None => Ok(TOLERANCE * surface.size()),
        Some(given) if *given.get_ref() > 0.0 && given.get_ref().is_finite() => Ok(*given.get_ref()),
        Some(given) => {
            let help = "the largest distance of a slave node from the master's faces";
            Err(selector.case.error_at(given.span(), "`tolerance` must be greater than 0, and finite", help))
        }
    }
}

fn too_far(selector: &Selector<'_>, table: &Spanned<TieTable>, tolerance: f64, gap: f64) -> Box<CaseError> {
    let tie = table.get_ref();
    let message = format!(
        "no node of `{}` is within {} of `{}`: the nearest is {} away",
        tie.slave.get_ref().joined(),
        number(tolerance, 3),
        tie.master.get_ref().joined(),
        number(gap, 3)
    );
    selector.case.error_at(table.span(), message, format!("tolerance = {} ties it", number(1.01 * gap, 3)))
}

/// The equations of a slave node.
fn equations(slave: u32, foot: &Projection, is_sliding: bool, components: usize, entry: u32) -> Vec<Equation> {
    let dof = |node: u32, c: usize| Dof { node, component: c as u8 };
    let all = || std::iter::once((slave, 1.0)).chain(foot.weights.iter().map(|(node, weight)| (*node, -weight)));
    let along = |c: usize, factor: f64| all().map(move |(node, weight)| (dof(node, c), factor * weight));
    if is_sliding {
        let axes = (0..components).filter(|c| foot.normal[*c].abs() > 1e-12);
        let terms = axes.clone().flat_map(|c| along(c, foot.normal[c])).collect();
        return vec![Equation { terms, value: 0.0, slaves: axes.map(|c| dof(slave, c)).collect(), entry }];
    }
    let of = |c: usize| Equation { terms: along(c, 1.0).collect(), value: 0.0, slaves: vec![dof(slave, c)], entry };
    (0..components).map(of).collect()
}

fn is_sliding(selector: &Selector<'_>, tie: &TieTable) -> Checked<bool> {
    let Some(kind) = &tie.kind else { return Ok(false) };
    let case = selector.case;
    let is_sliding = kind_of(case, "tie", kind, &KINDS)? == 1;
    if is_sliding && case.analysis().components() == 1 {
        let message = "a potential has no direction to slide in";
        return Err(case.error_at(kind.span(), message, "leave `kind` out"));
    }
    Ok(is_sliding)
}

/// What there is to say of slaves that are coarser than their masters.
fn wrong_way(selector: &Selector<'_>, tie: &TieTable, surface: &Surface<'_>, name: &str) -> Option<String> {
    let faces = selector.faces(&tie.slave).ok().filter(|faces| !faces.is_empty())?;
    let (slave, master) = (projection::size(&faces, selector.mesh), surface.size());
    (slave > COARSER * master).then(|| {
        let [of_slave, of_master] = [&tie.slave, &tie.master].map(|side| side.get_ref().joined());
        format!(
            "tie `{name}`: the slave `{of_slave}` is coarser than the master `{of_master}` (edges of {} and {}): make \
             `{of_master}` the slave, or it opens between the nodes of `{of_slave}`",
            number(slave, 2),
            number(master, 2)
        )
    })
}
