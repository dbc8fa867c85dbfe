//! The largest stress away from where it may grow with every refinement of the mesh: supports, loads on points and lines, the
//! rims of ties, and sharp inner corners; and the places of these where it does grow.
//!
//! A node counts as away if it is more than `LAYERS` elements, and farther than `REACH` of the mesh's diagonal, from
//! all of these: a finer mesh does not move it towards them. A support that holds one
//! component of a whole side, as symmetry does, is none of them; nor is an inner corner of at most 210 degrees.

use super::distribution::Peak;
use crate::mesh::faces::Face;
use crate::mesh::vector::{add, cross, dot, norm, sub};
use crate::mesh::{Cells, Mesh};
use crate::model::{AppliedLoad, Support};
use crate::parallel::{self, PART};
use rayon::prelude::*;
use serde::Serialize;
use warpfem_text::vector;

/// Nodes within so many elements are near.
const LAYERS: usize = 3;
/// So are those within this part of the mesh's diagonal.
const REACH: f64 = 0.02;
/// Stresses at a sharp corner, a clamped edge or a load on a point grow with an exponent of 0.29 and more; those of a
/// beam towards its clamp with a tenth of that.
const GROWTH: f64 = 0.25;
const NONE: u32 = u32::MAX;
/// Cosine of the angle between the normals at a sharp inner corner.
const SHARP: f64 = 0.866;

/// A place where the stress grows with every refinement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spot {
    /// The largest stress there.
    #[serde(flatten)]
    pub peak: Peak,
    /// What makes it grow: ``support `foot` ``.
    pub near: String,
}

/// A warning of such places; `what` grows there.
pub fn endless(spots: &[Spot], what: &str) -> Option<String> {
    let places = spots.iter().take(3).map(|Spot { peak, near }| format!("{} ({near})", vector(peak.max_at)));
    let places = places.collect::<Vec<_>>().join(", ");
    (!places.is_empty()).then(|| {
        format!(
            "the {what} grows with every refinement at {places}: it is infinite there, and no result. Model the fillet or what \
             holds the part, or judge by what is away from there"
        )
    })
}

/// The nodes that are near.
pub struct Near {
    /// For each node the nearest support, load or corner's, or `NONE` if it is away.
    nearest: Vec<u32>,
    /// What these nodes are of.
    features: Vec<(String, Vec<u32>)>,
}

impl Near {
    /// Whether a node is near.
    pub fn holds(&self, node: usize) -> bool {
        self.nearest[node] != NONE
    }

    /// Whether a node is of a support, load, corner or tie itself.
    pub fn is_at(&self, node: u32) -> bool {
        self.nearest[node as usize] == node
    }

    /// The largest of `values`, `[n_nodes]`, at the other nodes, and the node; `None` if all are near.
    pub fn largest_away(&self, mesh: &Mesh, values: &[f64]) -> Option<(usize, Peak)> {
        let away =
            values.iter().zip(&self.nearest).map(|(&value, &at)| if at == NONE { value } else { f64::NEG_INFINITY });
        let (node, max) = super::largest(away)?;
        Some((node, Peak::at(mesh, node, max)))
    }

    /// Whether the largest of `values` [away](Near::largest_away) grows towards a place that is near: `r^-a`, of the
    /// distance r to it, with `a` of `GROWTH` and more from the peak to a node of the same element.
    pub fn rises(&self, mesh: &Mesh, peak: usize, values: &[f64]) -> bool {
        let max = values[peak];
        let x = |node: u32| mesh.coords[node as usize];
        let grows = |&node: &u32| {
            let to = self.nearest[node as usize];
            values[node as usize] > max && to != NONE && {
                let distances = [x(peak as u32), x(node)].map(|from| norm(sub(from, x(to))));
                let nearer = (distances[0] / distances[1]).ln();
                nearer > 0.0 && (values[node as usize] / max).ln() >= GROWTH * nearer
            }
        };
        mesh.solids().any(|(_, cells)| {
            let rises = |i: usize| cells.cell(i).contains(&(peak as u32)) && cells.cell(i).iter().any(grows);
            parallel::map_ranges(cells.len(), PART, &|mut part| part.any(rises)).contains(&true)
        })
    }
}

impl Near {
    /// Of each support, load, tie and of all corners the place of its largest of `values`, if that is more than `away` and
    /// grows there; the largest first.
    pub fn singular(&self, mesh: &Mesh, values: &[f64], away: f64) -> Vec<Spot> {
        let largest = |nodes: &[u32]| {
            let (at, value) = super::largest(nodes.iter().map(|node| values[*node as usize]))?;
            Some((nodes[at] as usize, value))
        };
        let of_feature = |(near, nodes): &(String, Vec<u32>)| {
            let (node, value) = largest(nodes).filter(|(_, value)| *value > away)?;
            let spot = Spot { peak: Peak::at(mesh, node, value), near: near.clone() };
            self.grows(mesh, node, values).then_some(spot)
        };
        let mut spots: Vec<Spot> = self.features.iter().filter_map(of_feature).collect();
        spots.sort_by(|a, b| b.peak.max.total_cmp(&a.peak.max));
        spots.dedup_by_key(|spot| spot.peak.max_node);
        spots
    }

    /// Whether values near a node fall as `r^-a` of the distance r to what it is of, with `a` of `GROWTH` and more: between the
    /// first two layers of elements, and there as fast as further away. Smooth values, as those of a beam towards its clamp,
    /// grow less and less.
    fn grows(&self, mesh: &Mesh, node: usize, values: &[f64]) -> bool {
        let from_node = |other: usize| norm(sub(mesh.coords[other], mesh.coords[node]));
        let off = |other: usize| match self.nearest[other] {
            NONE => from_node(other),
            to => norm(sub(mesh.coords[other], mesh.coords[to as usize])),
        };
        let around = mesh.solids().flat_map(|(_, cells)| (0..cells.len()).map(|i| cells.cell(i)));
        let touching = around.filter(|cell| cell.contains(&(node as u32)));
        let layer = touching.flatten().map(|other| off(*other as usize)).fold(0.0, f64::max);
        let close: Vec<usize> = (0..values.len()).filter(|other| from_node(*other) <= 4.0 * layer).collect();
        let largest = |[low, high]: [f64; 2]| {
            let layers = close.iter().copied().filter(|other| (low * layer..=high * layer).contains(&off(*other)));
            layers.max_by(|a, b| values[*a].total_cmp(&values[*b]))
        };
        let exponent = |near: usize, far: usize| (values[near] / values[far]).ln() / (off(far) / off(near)).ln();
        match [[0.4, 1.25], [1.4, 2.25], [2.4, 3.5]].map(largest) {
            [Some(first), Some(second), third] => {
                let growth = exponent(first, second);
                growth >= GROWTH && third.is_none_or(|third| growth >= 0.8 * exponent(second, third))
            }
            _ => false,
        }
    }
}

/// Which nodes are near; ties are names and slave nodes.
pub fn near(mesh: &Mesh, supports: &[Support], loads: &[AppliedLoad], ties: &[(String, Vec<u32>)]) -> Near {
    let skin = mesh.skin();
    let marked = |nodes: &[u32]| {
        let mut marked = vec![false; mesh.coords.len()];
        nodes.iter().for_each(|&node| marked[node as usize] = true);
        marked
    };
    let has_a_face = |on: &[bool]| skin.iter().any(|face| face.nodes().iter().all(|&node| on[node as usize]));
    let mut features = vec![("a sharp inner corner".to_owned(), inner_corners(mesh, skin).concat())];
    for support in supports {
        let (name, on) = (format!("support `{}`", support.name), marked(&support.nodes));
        if support.displacement.iter().flatten().count() != 1 || !has_a_face(&on) {
            features.push((name, support.nodes.clone()));
            continue;
        }
        // Where symmetry ends within a flat side, the stress is as at any support's edge.
        let held = support.displacement.iter().position(Option::is_some).unwrap_or(0);
        let goes_on = |face: &&Face| {
            let n_held = face.nodes().iter().filter(|&&node| on[node as usize]).count();
            let normal = plane(mesh, face).1;
            n_held > 0 && n_held < face.nodes().len() && normal[held].abs() > SHARP * norm(normal)
        };
        let ends = skin.iter().filter(goes_on).flat_map(|face| face.nodes());
        features.push((name, ends.filter(|&&node| on[node as usize]).copied().collect()));
    }
    let of_no_face = loads.iter().filter(|load| !has_a_face(&marked(&load.nodes)));
    features.extend(of_no_face.map(|load| (format!("load `{}`", load.name), load.nodes.clone())));
    features.extend(ties.iter().map(|(name, nodes)| (name.clone(), rim(skin, &marked(nodes)))));
    let nearest = spread(mesh, &marked(&features.iter().flat_map(|(_, nodes)| nodes).copied().collect::<Vec<_>>()));
    Near { nearest, features }
}

/// The ends of the edges at which the sides whose nodes are all marked end; in the plane these nodes.
fn rim(skin: &[Face], on: &[bool]) -> Vec<u32> {
    let sides = skin.iter().filter(|face| face.nodes().iter().all(|&node| on[node as usize]));
    let mut seams: Vec<[u32; 2]> = sides.flat_map(seams).collect();
    seams.sort_unstable();
    seams.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).flat_map(|same| same[0]).collect()
}

/// The ends of the edges of a side; in the plane its ends, twice each.
fn seams(face: &Face) -> impl Iterator<Item = [u32; 2]> {
    let info = face.kind.info();
    let corners = &face.nodes()[..info.n_corners];
    (0..corners.len()).map(move |k| {
        let (a, b) = (corners[k], if info.dim == 1 { corners[k] } else { corners[(k + 1) % corners.len()] });
        [a.min(b), a.max(b)]
    })
}

/// For each node that is near those marked the nearest of them, by layers of solids: that of those which its neighbours
/// know.
fn spread(mesh: &Mesh, marked: &[bool]) -> Vec<u32> {
    let (low, high) = mesh.extent();
    let reach = REACH * norm(sub(high, low));
    let mut from: Vec<u32> = (0..).zip(marked).map(|(node, &marked)| if marked { node } else { NONE }).collect();
    for layer in 1.. {
        let touched = |cells: &Cells| {
            let is_new = |cell: &[u32]| {
                let n = cell.iter().filter(|&&node| from[node as usize] != NONE).count();
                n > 0 && n < cell.len()
            };
            parallel::flat_map(cells.len(), &|i, found| found.extend(is_new(cells.cell(i)).then_some(i)))
        };
        let found: Vec<_> = mesh.solids().map(|(_, cells)| (cells, touched(cells))).collect();
        let distance = |a: u32, b: u32| norm(sub(mesh.coords[a as usize], mesh.coords[b as usize]));
        let mut new: Vec<(u32, u32)> = Vec::new();
        for (cells, found) in &found {
            for cell in found.iter().map(|&i| cells.cell(i)) {
                let known = cell.iter().map(|&node| from[node as usize]).filter(|&to| to != NONE);
                let nearest = |node| known.clone().min_by(|&a, &b| distance(a, node).total_cmp(&distance(b, node)));
                let unknown = cell.iter().copied().filter(|&node| from[node as usize] == NONE);
                new.extend(unknown.filter_map(|node| Some((node, nearest(node)?))));
            }
        }
        new.retain(|&(node, to)| layer <= LAYERS || distance(node, to) <= reach);
        if new.is_empty() {
            break;
        }
        for (node, to) in new {
            let known = from[node as usize];
            if known == NONE || distance(node, to) < distance(node, known) {
                from[node as usize] = to;
            }
        }
    }
    from
}

/// The ends of the edges, or in the plane the nodes, at which two sides meet in a sharp inner corner.
fn inner_corners(mesh: &Mesh, skin: &[Face]) -> Vec<[u32; 2]> {
    let of_face = |(i, face)| seams(face).map(move |seam| (seam, i));
    let mut seams: Vec<([u32; 2], u32)> = (0..).zip(skin).flat_map(of_face).collect();
    seams.par_sort_unstable();
    let sharp = |sides: &[([u32; 2], u32)]| match sides {
        [p, q] => is_inner(mesh, [&skin[p.1 as usize], &skin[q.1 as usize]], p.0),
        _ => false,
    };
    seams.chunk_by(|p, q| p.0 == q.0).filter(|sides| sharp(sides)).map(|sides| sides[0].0).collect()
}

/// Whether two sides turn towards each other by more than 30 degrees where they meet, at the nodes `seam`.
fn is_inner(mesh: &Mesh, sides: [&Face; 2], seam: [u32; 2]) -> bool {
    let [n, m] = sides.map(|face| normal_at(mesh, face, seam));
    let turns = dot(n, m) < SHARP * (dot(n, n) * dot(m, m)).sqrt();
    turns && {
        let [(p, flat), (q, _)] = sides.map(|face| plane(mesh, face));
        dot(sub(q, p), flat) > 0.0
    }
}

/// The mean outward normal of a side at two of its nodes: a curved side's is not that of the plane through its corners.
fn normal_at(mesh: &Mesh, face: &Face, seam: [u32; 2]) -> [f64; 3] {
    let at = face.nodes().iter().zip(&face.kind.table().nodes).filter(|(node, _)| seam.contains(node));
    at.map(|(_, at)| face.area_vector(at, &mesh.coords)).fold([0.0; 3], add)
}

/// The middle of a side's corners, and its outward normal.
fn plane(mesh: &Mesh, face: &Face) -> ([f64; 3], [f64; 3]) {
    let corners = &face.nodes()[..face.kind.info().n_corners];
    let x = |k: usize| mesh.coords[corners[k] as usize];
    let middle = crate::element::middle((0..corners.len()).map(x));
    let normal = match corners.len() {
        2 => {
            let along = sub(x(1), x(0));
            [along[1], -along[0], 0.0]
        }
        3 => cross(sub(x(1), x(0)), sub(x(2), x(0))),
        _ => cross(sub(x(2), x(0)), sub(x(3), x(1))),
    };
    (middle, normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Hex20, Quad4, Tet4, Tet10};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    /// A bar of ten cells along x.
    fn bar() -> Mesh {
        generate_box(Hex8, [10.0, 1.0, 1.0], [10, 1, 1]).unwrap()
    }

    fn at(mesh: &Mesh, x: f64) -> Vec<u32> {
        (0..mesh.coords.len() as u32).filter(|&node| mesh.coords[node as usize][0] == x).collect()
    }

    fn held(nodes: Vec<u32>, displacement: [Option<f64>; 3]) -> Support {
        Support { name: "wall".into(), nodes, displacement, ..Support::default() }
    }

    #[test]
    fn the_largest_away_from_a_clamp_is_four_cells_away() {
        let mesh = bar();
        let values: Vec<f64> = mesh.coords.iter().map(|x| 10.0 - x[0]).collect();
        let found = |supports: &[Support], loads: &[AppliedLoad]| {
            near(&mesh, supports, loads, &[]).largest_away(&mesh, &values).map(|(_, peak)| (peak.max, peak.max_at[0]))
        };
        assert_eq!(found(&[], &[]), Some((10.0, 0.0)));
        assert_eq!(found(&[held(at(&mesh, 0.0), [Some(0.0); 3])], &[]), Some((6.0, 4.0)));
        let roller = [Some(0.0), None, None];
        assert_eq!(found(&[held(at(&mesh, 0.0), roller)], &[]), Some((10.0, 0.0)), "symmetry");
        assert_eq!(found(&[held(at(&mesh, 0.0)[..2].to_vec(), roller)], &[]), Some((6.0, 4.0)), "a line");
        let load = |nodes| AppliedLoad { name: "force".into(), total: [1.0; 3], nodes };
        assert_eq!(found(&[], &[load(at(&mesh, 0.0))]), Some((10.0, 0.0)), "a face");
        assert_eq!(found(&[], &[load(at(&mesh, 0.0)[..1].to_vec())]), Some((6.0, 4.0)), "a point");
        let all = held((0..mesh.coords.len() as u32).collect(), [Some(0.0); 3]);
        assert_eq!(found(&[all], &[]), None);
    }

    #[test]
    fn a_sliding_support_that_ends_within_a_side_is_near_there() {
        let mesh = bar();
        let below = |end: f64| {
            let is_below = |&node: &u32| mesh.coords[node as usize][1] == 0.0 && mesh.coords[node as usize][0] <= end;
            let nodes = (0..mesh.coords.len() as u32).filter(is_below).collect();
            near(&mesh, &[held(nodes, [None, Some(0.0), None])], &[], &[])
        };
        let is_near = |near: &Near, x: f64| at(&mesh, x).iter().all(|&node| near.holds(node as usize));
        let (half, whole) = (below(5.0), below(10.0));
        assert!([2.0, 5.0, 8.0].iter().all(|&x| is_near(&half, x)) && !is_near(&half, 0.0));
        assert!(!(0..mesh.coords.len()).any(|node| whole.holds(node)));
    }

    #[test]
    fn a_peak_at_the_border_of_what_is_near_rises() {
        let mesh = bar();
        let near = near(&mesh, &[held(at(&mesh, 0.0), [Some(0.0); 3])], &[], &[]);
        let rises = |value: fn(f64) -> f64| {
            let values: Vec<f64> = mesh.coords.iter().map(|x| value(x[0])).collect();
            near.rises(&mesh, near.largest_away(&mesh, &values).unwrap().0, &values)
        };
        assert!(rises(|x| x.powf(-0.29)) && rises(|x| 1.0 / x));
        assert!(!rises(|x| 10.0 - (x - 7.0).abs()), "a peak");
        assert!(!rises(|x| 60.0 - x), "the moment of a beam");
    }

    #[test]
    fn a_power_of_the_distance_is_singular_and_a_beam_is_not() {
        let mesh = bar();
        let clamp = [held(at(&mesh, 0.0), [Some(0.0); 3])];
        let spots = |value: fn(f64) -> f64, away: f64| {
            let values: Vec<f64> = mesh.coords.iter().map(|x| value(x[0])).collect();
            near(&mesh, &clamp, &[], &[]).singular(&mesh, &values, away)
        };
        let found = spots(|x| x.max(0.3).powf(-0.3), 1.0);
        assert_eq!((found.len(), found[0].near.as_str(), found[0].peak.max_at[0]), (1, "support `wall`", 0.0));
        assert!(spots(|x| x.max(0.3).powf(-0.3), 2.0).is_empty(), "there is more elsewhere");
        for smooth in [|x| 10.0 - x, |x| 1.0 / (1.0 + x * x), |x| x, |_| 1.0] {
            assert!(spots(smooth, 0.0).is_empty(), "{}", smooth(3.0));
        }
    }

    #[test]
    fn a_tie_is_near_at_its_rim() {
        let mesh = generate_box(Hex8, [10.0, 10.0, 1.0], [10, 10, 1]).unwrap();
        let below = |node: &u32| mesh.coords[*node as usize][2] == 0.0;
        let slaves: Vec<u32> = (0..mesh.coords.len() as u32).filter(below).collect();
        let near = near(&mesh, &[], &[], &[("tie `foot`".into(), slaves)]);
        let x = |node: &u32| mesh.coords[*node as usize];
        assert_eq!(near.features[1].1.len(), 80, "each node of the rim as the end of two edges");
        assert!(near.features[1].1.iter().all(|node| x(node)[..2].iter().any(|c| *c == 0.0 || *c == 10.0)));
        let middle = |node: &u32| x(node)[0] == 5.0 && x(node)[1] == 5.0;
        assert!((0..mesh.coords.len() as u32).filter(middle).all(|node| !near.holds(node as usize)));
    }

    #[test]
    fn a_finer_mesh_comes_no_nearer_than_a_part_of_the_diagonal() {
        let mesh = generate_box(Hex8, [10.0, 1.0, 1.0], [200, 1, 1]).unwrap();
        let values: Vec<f64> = mesh.coords.iter().map(|x| 10.0 - x[0]).collect();
        let clamp = [held(at(&mesh, 0.0), [Some(0.0); 3])];
        let (_, peak) = near(&mesh, &clamp, &[], &[]).largest_away(&mesh, &values).unwrap();
        let reach = REACH * 102f64.sqrt();
        assert!(peak.max_at[0] > reach && peak.max_at[0] <= reach + 0.05 + 1e-12, "{peak:?} {reach}");
    }

    /// A part of a ring, one cell for each 40 degrees: seen from inside its flat facets meet at an angle of 40.
    #[test]
    fn a_round_side_of_curved_elements_is_no_corner() {
        let bend = |[x, y, z]: [f64; 3]| {
            let (sin, cos) = x.to_radians().sin_cos();
            [(2.0 + z) * sin, y, (2.0 + z) * cos]
        };
        for (curved, straight) in [(Hex20, Hex8), (Tet10, Tet4)] {
            let found = [curved, straight].map(|kind| {
                let mut mesh = generate_box(kind, [120.0, 1.0, 1.0], [3, 1, 1]).unwrap();
                mesh.coords.iter_mut().for_each(|x| *x = bend(*x));
                inner_corners(&mesh, mesh.skin()).len()
            });
            assert_eq!(found, [0, 2], "{curved:?}");
        }
    }

    #[test]
    fn an_inner_corner_is_found_in_space_and_in_the_plane() {
        let block = generate_box(Hex8, [4.0, 1.0, 4.0], [4, 1, 4]).unwrap();
        let plate = generate_rectangle(Quad4, [4.0, 4.0], [4, 4]).unwrap();
        for (whole, kind, across) in [(block, Hex8, [0, 2]), (plate, Quad4, [0, 1])] {
            assert!(inner_corners(&whole, whole.skin()).is_empty(), "{kind:?}");
            let mut mesh = whole.clone();
            let cells = mesh.cells.iter_mut().find(|cells| cells.kind == kind).unwrap();
            // Without a quarter of it.
            let is_low = |node: &u32| across.iter().any(|&c| whole.coords[*node as usize][c] < 2.0);
            let n = kind.info().n_nodes;
            cells.nodes = cells.nodes.chunks(n).filter(|cell| cell.iter().any(is_low)).flatten().copied().collect();
            cells.tags.truncate(cells.nodes.len() / n);
            let found = inner_corners(&mesh, mesh.skin());
            assert_eq!(found.len(), 1, "one edge or node: {found:?}");
            assert!(found[0].iter().all(|&node| across.iter().all(|&c| mesh.coords[node as usize][c] == 2.0)));
        }
    }
}
