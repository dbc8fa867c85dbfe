//! Parts that touch without being joined: their meshes have nodes at the same places, or their extents meet in a plane.
//!
//! Gmsh meshes volumes that touch each on its own, unless the geometry was fragmented before; forces do not pass from
//! one to the other.

use std::collections::HashMap;

use super::rigid::parts::{Frame, Parts};

/// Nodes coincide within this fraction of the mesh's longest edge.
const SAME: f64 = 1e-6;

/// Pairs of parts that are said something of.
pub(super) const SHOWN: usize = 3;

/// The extents of more parts than this are not compared.
const MOST_PAIRED: usize = 1000;

/// Two parts that touch without being joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmerged {
    /// Their numbers, from 1, ascending.
    pub parts: [usize; 2],
    /// How many nodes of one are where one of the other is; none if only their extents meet.
    pub nodes: usize,
}

/// How to join parts.
const JOIN: &str = "to make them one body, let them share nodes (in Gmsh: BooleanFragments, or Coherence, on the volumes before \
                    meshing)";

impl Unmerged {
    /// What is said of one of them where it is not held.
    pub(super) fn of_part(&self, number: usize) -> String {
        let [a, b] = self.parts;
        let other = if number == a { b } else { a };
        match self.nodes {
            0 => format!("it touches part {other}, but shares no node with it; {JOIN}"),
            1 => format!("1 node coincides with a node of part {other} and is not merged with it; {JOIN}"),
            n => format!("{n} nodes coincide with nodes of part {other} and are not merged with them; {JOIN}"),
        }
    }

    /// What is said where both are held.
    fn warning(&self) -> String {
        let ([a, b], n) = (self.parts, self.nodes);
        let what = match n {
            1 => format!("1 node of part {a} coincides with a node of part {b} and is not merged"),
            _ => format!("{n} nodes of part {a} coincide with nodes of part {b} and are not merged"),
        };
        format!("{what}: no force passes between them; {JOIN}")
    }
}

/// What is said of parts with nodes at the same places that are all held: of the first of them, and how many more there
/// are.
pub(super) fn warnings(touching: &[Unmerged]) -> Vec<String> {
    let coincident: Vec<&Unmerged> = touching.iter().filter(|touch| touch.nodes > 0).collect();
    let mut said: Vec<String> = coincident.iter().take(SHOWN).map(|touch| touch.warning()).collect();
    if let Some(more @ 1..) = coincident.len().checked_sub(SHOWN) {
        let pairs =
            if more == 1 { "1 more pair of parts has".into() } else { format!("{more} more pairs of parts have") };
        said.push(format!("{pairs} nodes that coincide and are not merged"));
    }
    said
}

/// The parts that touch without being joined, in order of their numbers.
pub(super) fn find(parts: &Parts<'_>) -> Vec<Unmerged> {
    if parts.frames.len() < 2 {
        return Vec::new();
    }
    // A part that is far smaller than the whole has its own measure of what is the same place.
    let smallest = parts.frames.iter().map(|part| 2.0 * part.size()).fold(f64::MAX, f64::min);
    let tolerance = SAME * parts.mesh.longest_side().max(f64::MIN_POSITIVE).min(1e3 * smallest);
    let n = if parts.frames.len() > MOST_PAIRED { 0 } else { parts.frames.len() };
    let widths = |[a, b]: [usize; 2]| overlap(&parts.frames[a], &parts.frames[b], tolerance);
    let mut near: Vec<[usize; 2]> = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).collect();
    near.retain(|&pair| widths(pair).iter().all(|&width| width >= 0.0));
    if n > 0 && near.is_empty() {
        return Vec::new();
    }
    let boxes: Vec<[[f64; 3]; 2]> = near.iter().map(|&pair| common(parts, pair, tolerance)).collect();
    let is_near =
        |x: [f64; 3]| n == 0 || boxes.iter().any(|[low, high]| (0..3).all(|c| (low[c]..=high[c]).contains(&x[c])));
    let counts = coincident(parts, tolerance, is_near);
    near.retain(|&pair| {
        widths(pair)[..parts.mesh.dim()].iter().filter(|&&width| width <= 4.0 * tolerance).count() == 1
    });
    let meeting = near.into_iter().filter(|pair| !counts.contains_key(pair)).map(|pair| (pair, 0));
    let mut touching: Vec<Unmerged> = (counts.iter().map(|(&pair, &nodes)| (pair, nodes)))
        .chain(meeting)
        .map(|(pair, nodes)| Unmerged { parts: pair.map(|part| part + 1), nodes })
        .collect();
    touching.sort_unstable_by_key(|touch| touch.parts);
    touching
}

/// How far two extents, made larger by half a tolerance all round, overlap along each axis; negative where there is a
/// gap.
fn overlap(a: &Frame, b: &Frame, tolerance: f64) -> [f64; 3] {
    [0, 1, 2].map(|c| a.max[c].min(b.max[c]) - a.min[c].max(b.min[c]) + tolerance)
}

/// The box that two parts have in common, made larger by a tolerance.
fn common(parts: &Parts<'_>, [a, b]: [usize; 2], tolerance: f64) -> [[f64; 3]; 2] {
    let (a, b) = (&parts.frames[a], &parts.frames[b]);
    let low = [0, 1, 2].map(|c| a.min[c].max(b.min[c]) - tolerance);
    [low, [0, 1, 2].map(|c| a.max[c].min(b.max[c]) + tolerance)]
}

/// For each pair of parts how many nodes of the second are where one of the first is, among those that are near some
/// pair.
///
/// By a table of cubes whose edges are eight tolerances: a node is looked for in those that the tolerance around it
/// reaches, two on average.
fn coincident(parts: &Parts<'_>, tolerance: f64, is_near: impl Fn([f64; 3]) -> bool) -> HashMap<[usize; 2], usize> {
    let coords = &parts.mesh.coords;
    let cube = |x: [f64; 3], shift: f64| x.map(|x| ((x + shift) / (8.0 * tolerance)).floor() as i64);
    // The last node of each cube, and the one before it of each node.
    let mut last: HashMap<[i64; 3], u32> = HashMap::new();
    let mut before = vec![u32::MAX; coords.len()];
    let (mut counts, mut met) = (HashMap::new(), Vec::new());
    for (node, &x) in coords.iter().enumerate() {
        let part = parts.labels[node];
        if part == u32::MAX || !is_near(x) {
            continue;
        }
        let (low, high) = (cube(x, -tolerance), cube(x, tolerance));
        let along = |c: usize| low[c]..=high[c];
        let cubes = along(0).flat_map(|i| along(1).flat_map(move |j| along(2).map(move |k| [i, j, k])));
        met.clear();
        for head in cubes.filter_map(|cube| last.get(&cube)) {
            let others =
                std::iter::successors(Some(*head), |&other| Some(before[other as usize]).filter(|&b| b != u32::MAX));
            for other in others {
                let (y, label) = (coords[other as usize], parts.labels[other as usize]);
                if label != part && !met.contains(&label) && (0..3).all(|c| (x[c] - y[c]).abs() <= tolerance) {
                    met.push(label);
                    *counts.entry([label.min(part) as usize, label.max(part) as usize]).or_insert(0) += 1;
                }
            }
        }
        before[node] = last.insert(cube(x, 0.0), node as u32).unwrap_or(u32::MAX);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Tet4, Tri3};
    use crate::mesh::Mesh;
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;
    use crate::model::testing::beside;

    fn found(mesh: &Mesh) -> Vec<([usize; 2], usize)> {
        find(&Parts::of(mesh)).into_iter().map(|touch| (touch.parts, touch.nodes)).collect()
    }

    #[test]
    fn nodes_at_one_place_are_counted_by_pairs_of_parts() {
        let one = generate_box(Tet4, [1.0; 3], [3, 2, 2]).unwrap();
        assert_eq!(found(&one), []);
        let two = beside(one.clone(), &one, [1.0, 0.0, 0.0]);
        assert_eq!(found(&two), [([1, 2], 9)]);
        // A third box on both: four edges of nodes along the joint are three parts' each.
        let lid = generate_box(Tet4, [2.0, 1.0, 1.0], [6, 2, 2]).unwrap();
        let three = beside(two.clone(), &lid, [0.0, 0.0, 1.0]);
        assert_eq!(found(&three), [([1, 2], 9), ([1, 3], 12), ([2, 3], 12)]);
        // Rounding of a file's coordinates does not hide them, at whatever distance from the origin; a gap does.
        for (gap, n) in [(1e-6, 1), (-1e-6, 1), (1e-5, 0)] {
            let mut moved = beside(one.clone(), &one, [1.0 + gap, 0.4 * gap, 0.0]);
            moved.coords.iter_mut().for_each(|x| *x = x.map(|v| 1e-3 * v + 5.0));
            assert_eq!(found(&moved), vec![([1, 2], 9); n], "{gap}");
        }
    }

    #[test]
    fn many_pairs_are_counted_after_the_first() {
        let pair = |a: usize, nodes| Unmerged { parts: [a, a + 1], nodes };
        let pairs: Vec<Unmerged> = (1..=7).map(|a| pair(a, usize::from(a != 2))).collect();
        let said = warnings(&pairs);
        assert_eq!((said.len(), warnings(&pairs[..4]).len(), warnings(&[]).len()), (SHOWN + 1, 3, 0));
        assert!(said[2].starts_with("1 node of part 4 "), "{said:?}");
        assert_eq!(said[3], "3 more pairs of parts have nodes that coincide and are not merged");
        assert!(warnings(&pairs[..5]).last().unwrap().starts_with("1 more pair of parts has nodes"));
    }

    #[test]
    fn sides_with_other_nodes_touch_where_extents_meet_in_a_plane() {
        let (fine, coarse) =
            (generate_box(Hex8, [1.0; 3], [3; 3]).unwrap(), generate_box(Hex8, [0.5, 0.55, 0.55], [2; 3]).unwrap());
        let place = |shift| found(&beside(fine.clone(), &coarse, shift));
        assert_eq!(place([1.0, 0.2, 0.21]), [([1, 2], 0)]);
        // Across an edge, inside, and away from it they do not.
        for shift in [[1.0, 1.0, 0.21], [0.2, 0.2, 0.21], [1.1, 0.2, 0.2]] {
            assert_eq!(place(shift), [], "{shift:?}");
        }
        let plate = generate_rectangle(Tri3, [1.0; 2], [3, 3]).unwrap();
        assert_eq!(found(&beside(plate.clone(), &plate, [1.0, 0.1, 0.0])), [([1, 2], 0)]);
        assert_eq!(found(&beside(plate.clone(), &plate, [1.0, 0.0, 0.0])), [([1, 2], 4)]);
    }
}
