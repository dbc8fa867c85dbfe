//! The check of a potential's supports: every connected part needs a node whose value is fixed.
//!
//! Without one the matrix of that part is singular, `K 1 = 0`: its potential is known up to a constant if what flows in
//! also flows out, and there is none if it does not. This is to potentials what [`rigid`](super::rigid) motions are to
//! elasticity.

use super::error::FloatingPart;
use super::names::planes;
use super::rigid::parts::{Frame, Parts};
use super::unmerged;
use super::{ModelError, Support};
use crate::mesh::Mesh;

/// Checks that every connected part has a node with a fixed value. Returns warnings of parts that coincide with others
/// without being joined to them.
///
/// # Errors
///
/// [`ModelError::Floating`] with every part that has none.
pub fn check(mesh: &Mesh, supports: &[Support]) -> Result<Vec<String>, ModelError> {
    let all = Parts::of(mesh);
    let touching = unmerged::find(&all);
    let Parts { labels, frames, .. } = all;
    let part_of = |node: &u32| labels[*node as usize] as usize;
    let mut fixed = vec![false; frames.len()];
    for node in supports.iter().flat_map(|support| &support.nodes) {
        if let Some(fixed) = fixed.get_mut(part_of(node)) {
            *fixed = true;
        }
    }
    let floating = frames.iter().enumerate().filter(|(part, _)| !fixed[*part]);
    let parts: Vec<FloatingPart> = floating
        .map(|(part, &Frame { n_nodes, min, max })| {
            let remedies = remedies(mesh, |node| part_of(node) == part);
            let touches = touching.iter().filter(|touch| touch.parts.contains(&(part + 1))).cloned().collect();
            FloatingPart { number: part + 1, dim: mesh.dim(), n_nodes, min, max, remedies, touches }
        })
        .collect();
    match parts.is_empty() {
        true => Ok(unmerged::warnings(&touching)),
        false => Err(ModelError::Floating { parts, n_parts: frames.len() }),
    }
}

/// The groups of sides that touch a part, or the extreme planes if none does.
fn remedies(mesh: &Mesh, is_inside: impl Fn(&u32) -> bool) -> Vec<String> {
    let touches = |name: &&str| mesh.nodes_on(name).is_some_and(|nodes| nodes.iter().any(&is_inside));
    let sides = mesh.groups.iter().filter(|group| group.dim < mesh.dim()).map(|group| group.name.as_str());
    let names: Vec<String> = sides.filter(touches).map(str::to_string).collect();
    match names.is_empty() {
        true => planes(mesh.dim()).iter().copied().filter(|name| touches(name)).map(str::to_string).collect(),
        false => names,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::Quad4;
    use crate::mesh::rectangle::generate_rectangle;
    use crate::model::testing::beside;

    fn fixed(nodes: &[u32]) -> Support {
        Support { name: "fixed".into(), nodes: nodes.to_vec(), displacement: [Some(1.0), None, None] }
    }

    #[test]
    fn a_single_node_is_enough_for_a_part_and_every_part_needs_one() {
        let one = generate_rectangle(Quad4, [1.0; 2], [2, 2]).unwrap();
        assert!(check(&one, &[fixed(&[4])]).is_ok());
        let mut two = beside(one.clone(), &one, [3.0, 0.0, 0.0]);
        // A node of no element is no part.
        two.coords.push([9.0; 3]);
        two.node_tags.push(99);
        assert!(check(&two, &[fixed(&[0]), fixed(&[9 + 3])]).is_ok());
        let Err(ModelError::Floating { parts, n_parts }) = check(&two, &[fixed(&[0])]) else {
            panic!("the second part floats")
        };
        assert_eq!((n_parts, parts.len(), parts[0].number, parts[0].n_nodes), (2, 1, 2, 9));
        assert_eq!((parts[0].min, parts[0].max), ([3.0, 0.0, 0.0], [4.0, 1.0, 0.0]));
        assert_eq!(parts[0].remedies, ["xmin", "xmax", "ymin", "ymax"]);
        let text = parts[0].to_string();
        assert!(text.starts_with("part 2 (9 nodes, from (3, 0) to (4, 1)) has no fixed value"), "{text}");
    }

    #[test]
    fn parts_without_groups_are_offered_the_extreme_planes_that_touch_them() {
        let mut one = generate_rectangle(Quad4, [1.0; 2], [2, 2]).unwrap();
        one.groups.clear();
        let two = beside(one.clone(), &one, [3.0, 0.5, 0.0]);
        let Err(ModelError::Floating { parts, .. }) = check(&two, &[]) else { panic!("both float") };
        assert_eq!(parts[0].remedies, ["xmin", "ymin"]);
        assert_eq!(parts[1].remedies, ["xmax", "ymax"]);
    }
}
