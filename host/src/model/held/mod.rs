//! Whether supports hold a body: a graph of pieces that move as rigid bodies, and one test of their free motions.
//!
//! - A **body** is a solid whose elements are joined by faces. A **joint** is a mesh node that two bodies share. A
//!   **part** is all bodies that joints connect. A **piece** is a part or a body, whichever is tested (`pieces`).
//! - A piece moves by `t + w x r`, with a shift t, a turn w and `r = (x - centre) / size`. A supported component `c` at x
//!   is one equation for that, `row . (t, w) = 0`, and so is each component of a joint, for two bodies (`joints`).
//! - The motions that satisfy all equations are free (`rank`). First each part is tested as one rigid body. Parts that
//!   pass are tested again, body by body.
//!
//! A potential has one motion, a constant, which passes through every joint.
//!
//! All messages follow from that: which motions are left (`motion`) of which piece (`loose`), and which parts only seem
//! joined (`touching`). A part that is held, but by next to nothing, is warned of (`weak`).

mod coupled;
mod joints;
mod loose;
mod motion;
mod pieces;
mod rank;
mod touching;
mod weak;

#[cfg(test)]
mod joint_tests;
#[cfg(test)]
mod tests;

use nalgebra::{Matrix6, Vector6};

pub use loose::{Joint, LoosePart};
pub use motion::Motion;
pub use touching::Touching;

use super::names::planes;
use super::{Analysis, Constraints, ModelError, Support};
use crate::mesh::Mesh;
use crate::mesh::bodies::parts_are_firm;
use joints::{Linkage, meetings};
use pieces::Pieces;
use rank::{null_space, stops};

/// A piece and the motions that are left to it, orthonormal.
type Free = (usize, Vec<Vector6<f64>>);

/// Checks that the supports hold every connected part of the solids, loaded or not, and every body of it; of a potential
/// that each part has a fixed value; by themselves or by constraints with others. Returns warnings of parts that are barely
/// held, of those that coincide with others without being joined to them, and of those with too many bodies to check in
/// full.
///
/// # Errors
///
/// [`ModelError::FreeMotion`] with every part, and every body of the other parts, that is not held;
/// [`ModelError::Floating`] of a potential.
pub fn check(
    analysis: Analysis,
    mesh: &Mesh,
    supports: &[&Support],
    constraints: &Constraints,
) -> Result<Vec<String>, ModelError> {
    let (parts, is_potential) = (Pieces::parts(mesh), analysis.physics().is_scalar());
    let n_parts = parts.frames.len();
    let grams = parts.grams(analysis, supports);
    let spaces: Vec<Vec<Vector6<f64>>> = match constraints.joins() {
        false => grams.iter().map(null_space).collect(),
        true => coupled::spaces(&parts, &grams, constraints),
    };
    let (free, held): (Vec<Free>, Vec<Free>) = spaces.into_iter().enumerate().partition(|(_, space)| !space.is_empty());
    let of_space = |(part, space): &Free| {
        LoosePart::new(part + 1, &parts, *part, if is_potential { &[] } else { space.as_slice() })
    };
    let mut loose: Vec<LoosePart> = free.iter().map(of_space).collect();
    find_remedies(&parts, &free, &mut loose, |part, added, group| {
        let with_group = [supports, &[group]].concat();
        is_potential || weak::warning(&parts, part, &(grams[part] + added), &with_group).is_none()
    });
    let groups = coupled::groups(&parts, constraints);
    let touching = apart(&parts, &groups);
    for part in &mut loose {
        part.touches = touching.iter().filter(|touch| touch.parts.contains(&part.number)).cloned().collect();
    }
    let mut warnings = Vec::new();
    if !is_potential {
        let mut known = grams.clone();
        coupled::add(&parts, &mut known, constraints);
        // What holds a part that is coupled to others is not its supports alone.
        let is_alone = |part: &usize| groups.iter().filter(|group| **group == groups[*part]).count() == 1;
        let alone = held.iter().map(|(part, _)| *part).filter(is_alone);
        warnings.extend(alone.filter_map(|part| weak::warning(&parts, part, &known[part], supports)));
        let (hanging, unsure) = check_joints(analysis, &parts, (supports, constraints), &loose);
        loose.extend(hanging);
        loose.sort_by_key(|part| part.number);
        warnings.extend(unsure);
    }
    warnings.extend(touching::warnings(&touching));
    match (loose.is_empty(), is_potential) {
        (true, _) => Ok(warnings),
        (_, true) => Err(ModelError::Floating { parts: loose, n_parts }),
        (_, false) => Err(ModelError::FreeMotion { parts: loose, n_parts }),
    }
}

/// Warnings of parts that coincide with others without being joined to them: all that there is to say of a body that may
/// move.
pub fn coinciding(mesh: &Mesh, constraints: &Constraints) -> Vec<String> {
    let parts = Pieces::parts(mesh);
    touching::warnings(&apart(&parts, &coupled::groups(&parts, constraints)))
}

/// The parts that touch others, and are not in one group with them.
fn apart(parts: &Pieces<'_>, groups: &[u32]) -> Vec<Touching> {
    let mut touching = touching::find(parts);
    touching.retain(|Touching { parts: [a, b], .. }| groups[a - 1] != groups[b - 1]);
    touching
}

/// A support that holds some nodes in full.
fn fixed(nodes: Vec<u32>) -> Support {
    Support { name: String::new(), nodes, displacement: [Some(0.0); 3], ..Support::default() }
}

/// Checks the bodies of the parts that are held as a whole, that is all but those `loose` already: the bodies that are
/// not, and warnings of what could not be checked in full.
fn check_joints(
    analysis: Analysis,
    parts: &Pieces<'_>,
    (supports, constraints): (&[&Support], &Constraints),
    loose: &[LoosePart],
) -> (Vec<LoosePart>, Vec<String>) {
    let (mut hanging, mut free, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    if parts_are_firm(parts.mesh) {
        return (hanging, warnings);
    }
    let bodies = Pieces::bodies(parts.mesh);
    let mut grams = bodies.grams(analysis, supports);
    coupled::add(&bodies, &mut grams, constraints);
    for meetings in meetings(parts, &bodies).chunk_by(|a, b| a.part == b.part) {
        let part = Linkage::new(&bodies, meetings, &grams);
        if loose.iter().any(|known| known.number == part.number()) {
            continue;
        }
        let found = part.free().unwrap_or_else(|| {
            let found = part.free_between_fixed();
            warnings.extend(found.is_empty().then(|| part.unsure()));
            found
        });
        hanging.extend(found.iter().map(|free| part.describe(free)));
        free.extend(found);
    }
    find_remedies(&bodies, &free, &mut hanging, |_, _, _| true);
    (hanging, warnings)
}

/// Names for each loose piece the groups that would hold it, or the extreme planes where no group would. All components
/// fixed there stop what is free, but `is_sound`, of the piece, the Gram matrix added to it and that support, may reject a group.
fn find_remedies(
    pieces: &Pieces<'_>,
    free: &[Free],
    loose: &mut [LoosePart],
    is_sound: impl Fn(usize, &Matrix6<f64>, &Support) -> bool,
) {
    let mesh = pieces.mesh;
    let offer = |name: &str, takes: &[bool], loose: &mut [LoosePart]| {
        let Some(group) = mesh.nodes_on(name).map(fixed) else { return };
        let mut added = vec![Matrix6::zeros(); pieces.frames.len()];
        pieces.add(&mut added, &group);
        for (((piece, space), part), takes) in free.iter().zip(loose).zip(takes) {
            let is_new = *takes && !part.remedies.iter().any(|known| known == name);
            if is_new && stops(&added[*piece], space) && is_sound(*piece, &added[*piece], &group) {
                part.remedies.push(name.to_string());
            }
        }
    };
    if loose.is_empty() {
        return;
    }
    for group in mesh.groups.iter().filter(|group| group.dim < mesh.dim()) {
        offer(&group.name, &vec![true; loose.len()], loose);
    }
    let helpless: Vec<bool> = loose.iter().map(|part| part.remedies.is_empty()).collect();
    planes(mesh.dim()).iter().filter(|_| helpless.contains(&true)).for_each(|name| offer(name, &helpless, loose));
}
