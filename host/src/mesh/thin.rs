//! Where a body is only a few elements thick, by counting elements, not lengths.
//!
//! Nodes of the skin are of depth 0, and every other node is one deeper than the shallowest that it shares an element
//! with: across `n` elements depths reach `n / 2`, rounded down. An element is *thin* if no node of depth `d` is near:
//! none can be reached from it by `2 d` steps from element to element, one for each step that a node of the skin is
//! away and as many again for the edges and corners of a body, which unstructured meshes cut off with elements whose
//! nodes are all on the skin.
//!
//! Each step is a sweep over the elements that are not reached yet.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::faces::Face;
use super::{Cells, Mesh, quality};
use crate::parallel::{self, PART};

/// Of a node that no step has reached.
const FAR: u8 = u8::MAX;

/// Twice the volume of a body over its skin: the thickness of a plate, half that of a rod.
pub fn thickness(mesh: &Mesh) -> f64 {
    let volume = |cells: &Cells| quality::measure(mesh, cells, &(0..cells.len() as u32).collect::<Vec<_>>());
    let volume: f64 = mesh.solids().map(|(_, cells)| volume(cells)).sum();
    2.0 * volume / mesh.skin().iter().map(|face| quality::area(mesh, face)).sum::<f64>()
}

/// The thin elements of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Thin {
    /// How many there are.
    pub elements: usize,
    /// The longest side of the box around them.
    pub longest: f64,
    /// Twice their volume over the area that they have of the skin: the thickness of a plate, half that of a rod, a
    /// third of that of a cube.
    pub thickness: f64,
    /// Linear quadrilaterals, hexahedra and wedges from skin to skin where these are fewest: 1, 2 or 3; 4 and more of regions as
    /// thick throughout; 0 without any.
    pub layers: u8,
    /// Their length over the body's thickness there, in the mean of squares; 0 without any.
    pub aspect: f64,
}

impl Thin {
    /// The elements of some blocks of solids where the mesh is less than `2 depth` elements thick.
    pub fn of(mesh: &Mesh, depth: u8, takes: impl Fn(&Cells) -> bool) -> Thin {
        let mut on_skin = vec![false; mesh.coords.len()];
        mesh.skin().iter().flat_map(Face::nodes).for_each(|&node| on_skin[node as usize] = true);
        let (depths, _) = steps(mesh, on_skin.iter().copied(), depth - 1);
        let (away, beyond) = steps(mesh, depths.iter().map(|&depth| depth == FAR), 2 * depth);
        let mut found = Thin { elements: 0, longest: 0.0, thickness: 0.0, layers: 0, aspect: 0.0 };
        let (mut volume, mut area, mut is_thin) = (0.0, 0.0, vec![Vec::new(); mesh.cells.len()]);
        let mut on_thin = vec![false; mesh.coords.len()];
        for ((block, cells), mut members) in mesh.solids().zip(beyond).filter(|((_, cells), _)| takes(cells)) {
            members.retain(|&i| cells.corners(i as usize).iter().all(|&node| away[node as usize] == FAR));
            is_thin[block] = vec![false; cells.len()];
            members.iter().for_each(|&i| is_thin[block][i as usize] = true);
            found.elements += members.len();
            volume += quality::measure(mesh, cells, &members);
            members.iter().flat_map(|&i| cells.cell(i as usize)).for_each(|&node| on_thin[node as usize] = true);
        }
        for face in mesh.skin().iter().filter(|face| is_thin[face.block].get(face.cell as usize) == Some(&true)) {
            area += quality::area(mesh, face);
        }
        let places: Vec<[f64; 3]> =
            mesh.coords.iter().zip(&on_thin).filter(|(_, on_thin)| **on_thin).map(|(x, _)| *x).collect();
        found.longest = super::longest_side(super::extent(&places));
        let deepest = on_thin.iter().zip(&depths).filter(|(on_thin, _)| **on_thin).map(|(_, depth)| *depth).max();
        (found.layers, found.aspect) = bricks(mesh, &is_thin, deepest.unwrap_or(0));
        found.thickness = if area > 0.0 { 2.0 * volume / area } else { 0.0 };
        found
    }
}

/// [`Thin::layers`] and [`Thin::aspect`] of the bricks among some elements, whose nodes are so deep at most.
///
/// Bricks with opposite sides on the skin are one layer. Where there are none, those with a side on the skin are of
/// two layers, or of three if others lie between them, or of more if nodes are deeper than one step.
fn bricks(mesh: &Mesh, takes: &[Vec<bool>], deepest: u8) -> (u8, f64) {
    let is_brick = |block: usize| {
        let info = mesh.cells[block].kind.info();
        info.domain.is_layered() && !info.is_quadratic()
    };
    let is_taken = |face: &&Face| is_brick(face.block) && takes[face.block].get(face.cell as usize) == Some(&true);
    let mut sides: Vec<&Face> = mesh.skin().iter().filter(is_taken).collect();
    sides.sort_by_key(|side| (side.block, side.cell));
    let cells: Vec<&[&Face]> = sides.chunk_by(|a, b| (a.block, a.cell) == (b.block, b.cell)).collect();
    let spanning: Vec<_> = cells.iter().filter(|sides| spans(sides)).copied().collect();
    let taken =
        |(block, takes): (usize, &Vec<bool>)| takes.iter().filter(|&&is_taken| is_taken && is_brick(block)).count();
    let inside = takes.iter().enumerate().map(taken).sum::<usize>() - cells.len();
    let (layers, of) = match (spanning.is_empty(), inside) {
        (false, _) => (1, spanning),
        (true, 0) => (2, cells),
        (true, _) if deepest > 1 => (2 * deepest, cells),
        (true, _) => (3, cells),
    };
    let squares: Vec<f64> = of.iter().filter_map(|sides| Some(length_over_thickness(mesh, sides)?.powi(2))).collect();
    match squares.len() {
        0 => (0, 0.0),
        n => (layers, (squares.iter().sum::<f64>() / n as f64).sqrt() / f64::from(layers)),
    }
}

/// Whether two of a brick's sides are opposite.
fn spans(sides: &[&Face]) -> bool {
    sides.iter().any(|f| sides.iter().any(|g| is_opposite(f, g)))
}

fn is_opposite(f: &Face, g: &Face) -> bool {
    f.nodes().iter().all(|node| !g.nodes().contains(node))
}

/// The longest edge along the body of a brick with these sides on the skin over the shortest across it; of a brick with
/// skin all around, over all its edges. An edge across leads from a side to the opposite one, on the skin too where the
/// brick [spans] the body.
fn length_over_thickness(mesh: &Mesh, sides: &[&Face]) -> Option<f64> {
    let first = sides.first()?;
    let block = &mesh.cells[first.block];
    let cell = block.cell(first.cell as usize);
    let is_spanning = spans(sides);
    let leaves = |f: &&&Face, a: u32, b: u32| {
        let has_opposite = || sides.iter().any(|g| is_opposite(f, g));
        f.nodes().contains(&a) != f.nodes().contains(&b) && (!is_spanning || has_opposite())
    };
    let (mut across, mut along, mut longest) = (f64::INFINITY, 0.0f64, 0.0f64);
    for edge in block.kind.edges() {
        let [a, b] = [cell[edge[0]], cell[edge[1]]];
        let [x, y] = [a, b].map(|node| mesh.coords[node as usize]);
        let length = (0..3).map(|c| (x[c] - y[c]).powi(2)).sum::<f64>().sqrt();
        longest = longest.max(length);
        match sides.iter().any(|f| leaves(&f, a, b)) {
            true => across = across.min(length),
            false => along = along.max(length),
        }
    }
    let length = if along > 0.0 { Some(along) } else { is_spanning.then_some(longest) };
    length.filter(|_| across.is_finite()).map(|length| length / across)
}

/// How many steps from element to element each node is away from those that steps begin at, [`FAR`] after more than
/// `most`; and by blocks of solids the elements, ascending, that may have a node that far.
fn steps(mesh: &Mesh, begin: impl Iterator<Item = bool>, most: u8) -> (Vec<u8>, Vec<Vec<u32>>) {
    let away: Vec<AtomicU8> = begin.map(|is_begin| AtomicU8::new(if is_begin { 0 } else { FAR })).collect();
    let part = |range: Range<usize>| (range.start as u32..range.end as u32).collect::<Vec<u32>>();
    let mut left: Vec<(&Cells, Vec<Vec<u32>>)> =
        mesh.solids().map(|(_, cells)| (cells, parallel::map_ranges(cells.len(), PART, &part))).collect();
    for step in 1..=most {
        // An element all of whose corners are reached has nothing to do in later steps. Nodes between them may be inside
        // where the corners are all on the skin.
        for (cells, parts) in &mut left {
            let sweep = |part: &mut Vec<u32>| part.retain(|&i| !reach(cells.corners(i as usize), &away, step));
            parallel::map_chunks(parts, 1, &|_, parts| parts.iter_mut().for_each(sweep));
        }
    }
    let far = left.into_iter().map(|(_, parts)| parts.concat()).collect();
    (away.into_iter().map(AtomicU8::into_inner).collect(), far)
}

/// Reaches all of an element's nodes if one of them was reached before this step; says whether that is so.
fn reach(nodes: &[u32], away: &[AtomicU8], step: u8) -> bool {
    let nodes = || nodes.iter().map(|&node| &away[node as usize]);
    // What is reached in this step bears its number, and counts for the next.
    let is_near = nodes().any(|node| node.load(Relaxed) < step);
    if is_near {
        nodes().filter(|node| node.load(Relaxed) == FAR).for_each(|node| node.store(step, Relaxed));
    }
    is_near
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    fn thin(mesh: &Mesh, depth: u8) -> Thin {
        Thin::of(mesh, depth, |_| true)
    }

    fn solid(kind: ElementKind, cells: [usize; 3]) -> Mesh {
        generate_box(kind, cells.map(|n| n as f64), cells).unwrap()
    }

    #[test]
    fn plates_are_thin_up_to_their_number_of_elements() {
        for (n, [below_2, below_4]) in [(1, [true, true]), (2, [false, true]), (3, [false, true]), (4, [false; 2])] {
            for mesh in [
                solid(Tet4, [12, 12, n]),
                solid(Hex8, [12, n, 9]),
                solid(Hex20, [12, n, 9]),
                generate_rectangle(Quad8, [12.0, n as f64], [12, n]).unwrap(),
                generate_rectangle(Tri3, [12.0, n as f64], [12, n]).unwrap(),
            ] {
                let all = mesh.n_solids();
                for (depth, is_thin) in [(1, below_2), (2, below_4)] {
                    assert_eq!(thin(&mesh, depth).elements, if is_thin { all } else { 0 }, "{n} {depth}");
                }
            }
        }
    }

    #[test]
    fn thickness_and_extent_are_of_the_thin_elements() {
        let plate = thin(&generate_box(Hex8, [8.0, 6.0, 0.01], [8, 6, 1]).unwrap(), 1);
        assert!((plate.thickness - 0.01).abs() < 1e-4 && plate.longest == 8.0, "{plate:?}");
        let cube = thin(&solid(Tet4, [3, 3, 3]), 2);
        assert!((cube.thickness - 1.0).abs() < 1e-12 && cube.elements == 162, "{cube:?}");
        let strip = thin(&generate_rectangle(Quad4, [50.0, 1.0], [50, 1]).unwrap(), 1);
        assert!((strip.thickness - 100.0 / 102.0).abs() < 1e-12 && strip.aspect == 1.0, "{strip:?}");
        let rod = thin(&generate_box(Hex8, [9.0, 0.5, 0.5], [3, 1, 1]).unwrap(), 1);
        assert_eq!((rod.aspect, plate.aspect > 90.0, cube.aspect), (6.0, true, 0.0));
        assert_eq!((rod.layers, plate.layers, cube.layers), (1, 1, 0));
    }

    /// Bricks three times as long as thick.
    #[test]
    fn aspect_is_length_over_the_thickness_of_all_layers() {
        for layers in 1..=3 {
            let n = f64::from(layers);
            let cells = [12, usize::from(layers)];
            let plate = thin(&generate_box(Hex8, [36.0, 36.0, n], [12, 12, cells[1]]).unwrap(), 2);
            let rod = thin(&generate_box(Hex8, [36.0, n, n], [12, cells[1], cells[1]]).unwrap(), 2);
            let strip = thin(&generate_rectangle(Quad4, [36.0, n], cells).unwrap(), 2);
            for found in [plate, rod, strip] {
                assert_eq!(found.layers, layers, "{found:?}");
                // At the border of three layers bricks of the middle one have a side on the skin too.
                assert!((0.9..=1.0 + 1e-12).contains(&(found.aspect * n / 3.0)), "{layers} {found:?}");
            }
        }
    }

    /// A block of 6 x 6 x 6 elements with an arm of 10 x 2 x 2.
    #[test]
    fn an_arm_is_thin_beside_a_block() {
        let mut mesh = solid(Hex8, [16, 6, 6]);
        let keep: Vec<usize> = (0..mesh.cells[0].len())
            .filter(|&i| {
                let x = mesh.coords[mesh.cells[0].cell(i)[0] as usize];
                x[0] < 6.0 || x[1..].iter().all(|&x| (2.0..4.0).contains(&x))
            })
            .collect();
        let block = &mut mesh.cells[0];
        block.nodes = keep.iter().flat_map(|&i| block.cell(i).to_vec()).collect();
        block.tags = keep.iter().map(|&i| block.tags[i]).collect();
        mesh.groups.clear();
        mesh.cells.truncate(1);
        assert_eq!(thin(&mesh, 1).elements, 0);
        let arm = thin(&mesh, 2);
        // The first steps of the arm are near the middle of the block.
        assert!((24..=36).contains(&arm.elements), "{arm:?}");
        assert!((6.0..=9.0).contains(&arm.longest) && (0.8..1.0).contains(&arm.thickness), "{arm:?}");
    }
}
