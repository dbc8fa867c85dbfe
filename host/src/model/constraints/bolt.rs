//! `[[bolt]]`: a shank that is cut through and pulled together.
//!
//! The nodes of the section are doubled, and the upper ones follow the lower ones but for one motion that all have, along the
//! normal: `u+ = u- - s n`. The shortening s is free and the preload F works on it, as the traction F / A on both sides; or
//! s is given. It needs no unknown of its own: `s = -n (u+ - u-)` at the first pair.

use toml::Spanned;
use warpfem_text::{counted, number};

use super::patch::Patch;
use super::{Constraints, Dof, Entry, Equation};
use crate::mesh::Mesh;
use crate::mesh::cut::{Cut, CutError};
use crate::mesh::vector::{axis, cross, dot, sub, unit};
use crate::model::case::Case;
use crate::model::case::tables::BoltTable;
use crate::model::loads::NodalForce;
use crate::model::problems::Problems;
use crate::model::select::Selector;
use crate::model::{Checked, Physics};

/// A bolt.
#[derive(Debug, Clone)]
pub struct Bolt {
    /// Its name in messages and results.
    pub name: String,
    /// Its preload as nodal forces, which balance each other.
    pub preload: Vec<NodalForce>,
    /// What load cases call it.
    pub load_name: Option<Spanned<String>>,
    /// The number of its entry.
    pub entry: u32,
    /// The first pair of nodes, and the normal.
    first: (u32, u32),
    normal: [f64; 3],
    /// The nodes above the section, ascending.
    above: Vec<u32>,
}

impl Bolt {
    /// What its preload is called.
    pub fn load(&self) -> String {
        format!("bolt {}", self.name)
    }

    /// The unknowns above and below at the first pair: the section opens by their difference.
    pub fn opening(&self, components: usize) -> impl Iterator<Item = [Dof; 2]> + '_ {
        let (below, above) = self.first;
        (0..components as u8).map(move |component| [above, below].map(|node| Dof { node, component }))
    }

    /// Whether a node is above the section.
    pub fn is_above(&self, node: u32) -> bool {
        self.above.binary_search(&node).is_ok()
    }

    /// How much shorter the shank is, from displacements.
    pub fn shortening(&self, u: &[[f64; 3]]) -> f64 {
        let (below, above) = self.first;
        -dot(sub(u[above as usize], u[below as usize]), self.normal)
    }
}

/// Cuts the sections of all bolts of a case; nothing of those that are wrong.
pub fn cut_all(case: &Case, mesh: &mut Mesh, problems: &mut Problems) -> Vec<Option<Cut>> {
    case.tables.bolt.iter().map(|table| problems.take(cut(case, table, mesh))).collect()
}

fn cut(case: &Case, table: &Spanned<BoltTable>, mesh: &mut Mesh) -> Checked<Cut> {
    let on = &table.get_ref().on;
    if case.analysis().physics() != Physics::Elasticity || case.analysis().is_revolved() {
        let message = format!("a {} problem has no bolts", case.analysis().name());
        return Err(case.error_at(table.span(), message, "leave [[bolt]] out"));
    }
    let faces = Selector::new(case, mesh).faces(on)?;
    let n_faces = faces.len();
    mesh.cut(faces).map_err(|error| {
        let name = on.get_ref().joined();
        let (message, help) = match error {
            CutError::OnTheSurface(n) => (
                format!("{n} of the {n_faces} faces of `{name}` lie on the body's surface"),
                "a bolt is cut inside: name a group of faces across its shank, with elements on both sides",
            ),
            CutError::NotFlat => (format!("`{name}` is not flat"), "cut the shank by a plane"),
            CutError::InPieces(n) => {
                (format!("`{name}` is in {n} pieces"), "each shank has a group and a [[bolt]] of its own")
            }
            CutError::EndsInside(node) => (
                format!("`{name}` ends inside the body, at node {}", mesh.node_tags[node as usize]),
                "the section goes all through the shank, and the shank shares no nodes with other parts there",
            ),
        };
        case.error_at(on.span(), message, help)
    })
}

/// Takes the bolts whose sections have been cut.
pub fn add_all(selector: &Selector<'_>, cuts: &[Option<Cut>], constraints: &mut Constraints, problems: &mut Problems) {
    for (table, cut) in selector.case.tables.bolt.iter().zip(cuts) {
        let bolt = cut.as_ref().and_then(|cut| problems.take(add_one(selector, table, cut, constraints)));
        constraints.bolts.extend(bolt);
    }
}

fn add_one(
    selector: &Selector<'_>,
    table: &Spanned<BoltTable>,
    cut: &Cut,
    constraints: &mut Constraints,
) -> Checked<Bolt> {
    let (case, mesh, given) = (selector.case, selector.mesh, table.get_ref());
    let [preload, shortening] = case.bolt(table)?;
    let name = constraints.unused(given.on.get_ref().or_own(given.name.as_ref()));
    let entry = constraints.enter(Entry { name: name.clone(), kind: "bolt", place: table.span() });
    let (is_plane, n) = (mesh.dim() == 2, cut.normal);
    // At a corner: multigrid has middles of edges follow their ends, which follow the first pair.
    let corner = cut.pairs.binary_search_by_key(&cut.faces[0].nodes()[0], |pair| pair.0).unwrap_or(0);
    let first = cut.pairs[corner];
    let components = case.analysis().components();
    // `factor . (u+ - u-)` at a pair.
    let jump = |(below, above): (u32, u32), factors: [f64; 3]| {
        let along = (0u8..).zip(factors).take(components).filter(|(_, factor)| *factor != 0.0);
        along.flat_map(move |(component, factor)| {
            [(Dof { node: above, component }, factor), (Dof { node: below, component }, -factor)]
        })
    };
    let of_node = |node: u32| (0..components as u8).map(|component| Dof { node, component }).collect::<Vec<_>>();
    let mut equations = Vec::new();
    for across in across(n, is_plane) {
        equations.push(Equation { terms: jump(first, across).collect(), value: 0.0, slaves: of_node(first.1), entry });
    }
    for &pair in cut.pairs.iter().filter(|pair| **pair != first) {
        for (c, slave) in of_node(pair.1).into_iter().enumerate() {
            let terms = jump(pair, axis(c)).chain(jump(first, n.map(|of| -n[c] * of))).collect();
            equations.push(Equation { terms, value: 0.0, slaves: vec![slave], entry });
        }
    }
    if let Some(shortening) = shortening {
        equations.push(Equation { terms: jump(first, n).collect(), value: -shortening, slaves: Vec::new(), entry });
    }
    equations.into_iter().try_for_each(|equation| constraints.take(selector, equation, table.span()))?;
    let patch = Patch::of_faces(&cut.faces, &mesh.coords, is_plane);
    let pull = preload.map(|force| n.map(|c| -force * c));
    let forces = pull.and_then(|pull| patch.spread(pull, [0.0; 3], patch.centre)).unwrap_or_default();
    let both = forces.into_iter().flat_map(|(node, force)| {
        let above = cut.pairs.binary_search_by_key(&node, |pair| pair.0).map_or(node, |k| cut.pairs[k].1);
        [(above, force), (node, force.map(|f| -f))]
    });
    let how = match (preload, shortening) {
        (Some(force), _) => format!("preload {}", number(force, 4)),
        (_, shortening) => format!("shortened by {}", number(shortening.unwrap_or_default(), 4)),
    };
    let note = format!("{name}: {how}, {} doubled", counted(cut.pairs.len(), "node"));
    constraints.notes.push(("bolt", note));
    let (preload, above) = (both.collect(), cut.pairs.iter().map(|pair| pair.1).collect());
    Ok(Bolt { name, preload, load_name: given.name.clone(), entry, first, normal: n, above })
}

/// Unit vectors across a normal, at right angles.
fn across(n: [f64; 3], is_plane: bool) -> Vec<[f64; 3]> {
    if is_plane {
        return vec![[-n[1], n[0], 0.0]];
    }
    let least = (0..3).fold(0, |least, c| if n[c].abs() < n[least].abs() { c } else { least });
    let first = unit(cross(n, axis(least)));
    vec![first, cross(n, first)]
}
