//! Parts that touch without being joined: their meshes have nodes at the same places, or their extents meet in a plane.
//!
//! Gmsh meshes volumes that touch each on its own, unless the geometry was fragmented before; forces do not pass from
//! one to the other.

use std::collections::{BTreeMap, HashMap};

use super::pieces::{Frame, Pieces};

/// Nodes coincide within this fraction of the mesh's longest edge.
const SAME: f64 = 1e-6;

/// Pairs of parts that are said something of.
pub(super) const SHOWN: usize = 3;

/// The extents of more parts than this are not compared.
const MOST_PAIRED: usize = 1000;

/// Two parts that touch without being joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touching {
    /// Their numbers, from 1, ascending.
    pub parts: [usize; 2],
    /// How many nodes of one are where one of the other is; none if only their extents meet.
    pub nodes: usize,
}

/// How to join parts.
const JOIN: &str = "to make them one body, glue them by a [[tie]], or let them share nodes (in Gmsh: BooleanFragments, or \
                    Coherence, on the volumes before meshing)";

impl Touching {
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
pub(super) fn warnings(touching: &[Touching]) -> Vec<String> {
    let coincident: Vec<&Touching> = touching.iter().filter(|touch| touch.nodes > 0).collect();
    let mut said: Vec<String> = coincident.iter().take(SHOWN).map(|touch| touch.warning()).collect();
    if let Some(more @ 1..) = coincident.len().checked_sub(SHOWN) {
        let pairs =
            if more == 1 { "1 more pair of parts has".into() } else { format!("{more} more pairs of parts have") };
        said.push(format!("{pairs} nodes that coincide and are not merged"));
    }
    said
}

/// The parts that touch without being joined, in order of their numbers.
pub(super) fn find(parts: &Pieces<'_>) -> Vec<Touching> {
    if parts.frames.len() < 2 {
        return Vec::new();
    }
    // Nodes are at one place within a tolerance; a part that is far smaller than the whole lowers it.
    let smallest = parts.frames.iter().map(|part| 2.0 * part.size()).fold(f64::MAX, f64::min);
    let tolerance = SAME * parts.mesh.longest_side().max(f64::MIN_POSITIVE).min(1e3 * smallest);
    let n = if parts.frames.len() > MOST_PAIRED { 0 } else { parts.frames.len() };
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
    let common = pairs.map(|pair| (pair, common(pair.map(|part| &parts.frames[part]), tolerance)));
    let near: Vec<_> = common.filter(|(_, common)| common.iter().all(|[low, high]| high - low >= tolerance)).collect();
    if n > 0 && near.is_empty() {
        return Vec::new();
    }
    let is_in = |common: &[[f64; 2]; 3], x: [f64; 3]| (0..3).all(|c| (common[c][0]..=common[c][1]).contains(&x[c]));
    let mut counts = coincident(parts, tolerance, |x| n == 0 || near.iter().any(|(_, common)| is_in(common, x)));
    for (pair, common) in near {
        let is_flat = |[low, high]: &&[f64; 2]| high - low <= 5.0 * tolerance;
        if common[..parts.mesh.dim()].iter().filter(is_flat).count() == 1 {
            counts.entry(pair).or_insert(0);
        }
    }
    counts.into_iter().map(|(pair, nodes)| Touching { parts: pair.map(|part| part + 1), nodes }).collect()
}

/// What two extents, each made larger by a tolerance, have in common along each axis; with a gap between the extents it
/// is shorter than the tolerance.
fn common([a, b]: [&Frame; 2], tolerance: f64) -> [[f64; 2]; 3] {
    [0, 1, 2].map(|c| [a.min[c].max(b.min[c]) - tolerance, a.max[c].min(b.max[c]) + tolerance])
}

/// For each pair of parts how many nodes of the second are where one of the first is, among those that are near some
/// pair.
///
/// By a table of cubes whose edges are eight tolerances: a node is looked for in those that the tolerance around it
/// reaches, two on average.
fn coincident(parts: &Pieces<'_>, tolerance: f64, is_near: impl Fn([f64; 3]) -> bool) -> BTreeMap<[usize; 2], usize> {
    let coords = &parts.mesh.coords;
    let cube = |x: [f64; 3], shift: f64| x.map(|x| ((x + shift) / (8.0 * tolerance)).floor() as i64);
    let mut known: HashMap<[i64; 3], Vec<(usize, [f64; 3])>> = HashMap::new();
    let (mut counts, mut met) = (BTreeMap::new(), Vec::new());
    for (node, &x) in coords.iter().enumerate().filter(|(_, x)| is_near(**x)) {
        let Some(part) = parts.at(node as u32).next() else { continue };
        let (low, high) = (cube(x, -tolerance), cube(x, tolerance));
        let along = |c: usize| low[c]..=high[c];
        let cubes = along(0).flat_map(|i| along(1).flat_map(move |j| along(2).map(move |k| [i, j, k])));
        met.clear();
        for &(other, y) in cubes.filter_map(|cube| known.get(&cube)).flatten() {
            if other != part && !met.contains(&other) && (0..3).all(|c| (x[c] - y[c]).abs() <= tolerance) {
                met.push(other);
                *counts.entry([other.min(part), other.max(part)]).or_insert(0) += 1;
            }
        }
        known.entry(cube(x, 0.0)).or_default().push((part, x));
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
        find(&Pieces::parts(mesh)).into_iter().map(|touch| (touch.parts, touch.nodes)).collect()
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
        let pair = |a: usize, nodes| Touching { parts: [a, a + 1], nodes };
        let pairs: Vec<Touching> = (1..=7).map(|a| pair(a, usize::from(a != 2))).collect();
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
