//! What is drawn: the skin of the mesh before and after deformation, its edges, a value at every node of it.

use rayon::prelude::*;

use super::creases::{self, Crease};
use crate::element::ElementKind;
use crate::mesh::Mesh;
use crate::mesh::vector::{cross, dot, sub, unit};
use crate::output::field::{PointField, displacement, sizes};
use crate::output::largest;
use crate::parallel;
use crate::result::{At, Quantity, Step, When};

/// Not a node: the fourth of a triangle.
pub(in crate::output) const NONE: u32 = u32::MAX;
/// Two faces that meet at a sharper angle than 40 degrees meet in a feature edge; this is its cosine. From 30 degrees
/// on the facets of a coarsely meshed rounding drew jagged lines.
const FEATURE_COSINE: f64 = 0.766;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Edge {
    /// Between two faces that lie nearly in one plane.
    Smooth,
    /// At a corner of the part, or at the rim of an open surface.
    Feature,
    /// Within a face of the mesh that is drawn in parts; never drawn itself.
    Inner,
}

/// The skin, and the nodes of the largest values even where they are inside, numbered from 0 in the order of the mesh.
pub(in crate::output) struct Scene {
    /// The node of the mesh that each is, ascending, `[n_skin_nodes]`.
    pub nodes: Vec<u32>,
    /// Coordinates before deformation, `[n_skin_nodes][3]`.
    pub rest: Vec<[f64; 3]>,
    /// Displacement, `[n_skin_nodes][3]`; zero where it is not finite, or if there is none.
    pub displacement: Vec<[f64; 3]>,
    /// What can be shown, the usual first: its name, what it measures, and its values, `[n_skin_nodes]`, zero where they are
    /// not finite.
    pub scalars: Vec<(String, Quantity, Vec<f64>)>,
    /// The nodes of the largest values, of the largest gradient or displacement.
    pub peaks: Vec<u32>,
    /// Faces, `[n_faces][4]`; the fourth node of a triangle is [`NONE`]. A quadratic face comes in [parts](flat_parts).
    pub faces: Vec<[u32; 4]>,
    /// The kind of the edge from each node of a face to its next, `[n_faces][4]`.
    pub edges: Vec<[Edge; 4]>,
    /// The feature edges, once each.
    pub outline: Vec<[u32; 2]>,
}

/// The nodes of a face, three or four.
pub(in crate::output) fn corners(face: &[u32; 4]) -> &[u32] {
    if face[3] == NONE { &face[..3] } else { face }
}

impl Scene {
    /// The skin, and the nodes `more` wherever they are.
    pub(super) fn new(mesh: &Mesh, step: &Step, more: &[usize]) -> Scene {
        let (mut faces, middle) = skin(mesh);
        let mut number = vec![NONE; mesh.coords.len()];
        let displacement = displacement(step);
        let lengths = displacement.map(|all| largest(all.iter().map(|&u| dot(u, u))));
        let of_sizes = || largest(sizes(step).iter().copied());
        let usual = PointField::usual(step).values(step);
        let peaks = [largest(usual.into_iter()), lengths.unwrap_or_else(of_sizes)];
        let peaks: Vec<usize> = peaks.into_iter().flatten().map(|(node, _)| node).collect();
        more.iter().for_each(|&node| number[node] = 0);
        faces.iter().flat_map(corners).for_each(|&node| number[node as usize] = 0);
        peaks.iter().for_each(|&node| number[node] = 0);
        let nodes: Vec<usize> = (0..number.len()).filter(|&node| number[node] == 0).collect();
        nodes.iter().enumerate().for_each(|(i, &node)| number[node] = i as u32);
        faces.iter_mut().flatten().filter(|node| **node != NONE).for_each(|node| *node = number[*node as usize]);

        let rest: Vec<_> = nodes.iter().map(|&node| mesh.coords[node]).collect();
        let middle: Vec<bool> = nodes.iter().map(|&node| middle[node]).collect();
        let (edges, outline) = classify_edges(&rest, &faces, &middle);
        let finite = |u: [f64; 3]| if u.iter().all(|c| c.is_finite()) { u } else { [0.0; 3] };
        let moved = |node: &usize| displacement.map_or([0.0; 3], |u| finite(u[*node]));
        Scene {
            displacement: nodes.iter().map(moved).collect(),
            scalars: scalars(step, &nodes),
            peaks: peaks.into_iter().map(|node| number[node]).collect(),
            nodes: nodes.into_iter().map(|node| node as u32).collect(),
            rest,
            faces,
            edges,
            outline,
        }
    }

    /// The values of what is usually shown, `[n_skin_nodes]`.
    pub(super) fn values(&self) -> &[f64] {
        self.scalars.first().map_or(&[], |scalar| &scalar.2)
    }

    /// Whether a node is of a face.
    pub(super) fn is_on_skin(&self, node: u32) -> bool {
        self.faces.iter().any(|face| corners(face).contains(&node))
    }

    /// The coordinates with `scale` times the displacement.
    pub(super) fn deformed(&self, scale: f64) -> Vec<[f64; 3]> {
        let move_by = |(x, u): (&[f64; 3], &[f64; 3])| std::array::from_fn(|i| x[i] + scale * u[i]);
        self.rest.iter().zip(&self.displacement).map(move_by).collect()
    }
}

/// The scalars at some nodes: what the physics shows, then what was asked for.
fn scalars(step: &Step, nodes: &[usize]) -> Vec<(String, Quantity, Vec<f64>)> {
    let words = step.physics.words();
    let of_mode = step.is_mode().then_some(words.unknown);
    let shown = of_mode.iter().chain(words.solid).filter_map(|name| step.field(name));
    let asked = step.fields.iter().filter(|field| field.info.at == At::Node && field.info.when == When::Asked);
    let mut scalars = Vec::new();
    for info in shown.chain(asked).map(|field| field.info) {
        // Of a vector the magnitude is enough.
        let n = if info.is_vector() { 1 } else { usize::MAX };
        for scalar in PointField::of(info).take(n) {
            let values = scalar.values(step);
            let at_node = |&node: &usize| if values[node].is_finite() { values[node] } else { 0.0 };
            let name = if info.name == words.nodal { words.intensity[0].into() } else { scalar.title() };
            scalars.push((name, info.unit, nodes.iter().map(at_node).collect()));
        }
    }
    scalars
}

/// The faces of the solids that no two of them share, or the cells of a flat mesh, in flat parts; and whether each node
/// of the mesh is in the middle of an edge of one.
fn skin(mesh: &Mesh) -> (Vec<[u32; 4]>, Vec<bool>) {
    let (mut parts, mut middle) = (Vec::new(), vec![false; mesh.coords.len()]);
    let mut add = |kind: ElementKind, nodes: &[u32]| {
        nodes[kind.info().n_corners..].iter().for_each(|&node| middle[node as usize] = true);
        flat_parts(kind, nodes, &mut parts);
    };
    if mesh.dim() == 2 {
        mesh.solids().for_each(|(_, cells)| (0..cells.len()).for_each(|i| add(cells.kind, cells.cell(i))));
    } else {
        mesh.skin().iter().for_each(|face| add(face.kind, face.nodes()));
    }
    (parts, middle)
}

/// Appends the triangles and quadrilaterals a face is drawn as: itself, or the corners of a quadratic one, each cut off
/// between the middles of its edges, and what is left of it.
fn flat_parts(kind: ElementKind, nodes: &[u32], parts: &mut Vec<[u32; 4]>) {
    let four = |nodes: &[u32]| std::array::from_fn(|i| nodes.get(i).copied().unwrap_or(NONE));
    let (corners, middles) = nodes.split_at(kind.info().n_corners);
    if middles.is_empty() {
        parts.push(four(corners));
        return;
    }
    // The faces of plane elements are their edges, one after the other: middle k follows corner k.
    let n = corners.len();
    parts.extend((0..n).map(|k| four(&[corners[k], middles[k], middles[(k + n - 1) % n]])));
    parts.push(four(middles));
}

/// The kind of every edge of every face, and the feature edges; between two `middle` nodes an edge is an inner one.
fn classify_edges(rest: &[[f64; 3]], faces: &[[u32; 4]], middle: &[bool]) -> (Vec<[Edge; 4]>, Vec<[u32; 2]>) {
    let normals: Vec<_> = parallel::map_items(faces, &|face| normal(rest, face));
    // (nodes in order, face, position in it): sorting brings the faces at an edge together.
    let mut all: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(faces.len() * 4);
    for (i, face) in faces.iter().enumerate() {
        let nodes = corners(face);
        for (k, &a) in nodes.iter().enumerate() {
            let b = nodes[(k + 1) % nodes.len()];
            all.push((a.min(b), a.max(b), i as u32, k as u32));
        }
    }
    all.par_sort_unstable();
    let mut kinds = vec![[Edge::Smooth; 4]; faces.len()];
    let (mut creases, mut groups) = (Vec::new(), Vec::new());
    for group in all.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        if middle[group[0].0 as usize] && middle[group[0].1 as usize] {
            group.iter().for_each(|&(_, _, face, k)| kinds[face as usize][k as usize] = Edge::Inner);
            continue;
        }
        // Either orientation: the cells of a flat mesh need not agree on one. A rim is as sharp as can be.
        let cosine = match group {
            [a, b] => dot(normals[a.2 as usize], normals[b.2 as usize]).abs(),
            _ => 0.0,
        };
        if cosine <= FEATURE_COSINE {
            creases.push(Crease { ends: [group[0].0, group[0].1], cosine });
            groups.push(group);
        }
    }
    let kept = creases::kept(&creases, rest.len());
    for (group, _) in groups.iter().zip(&kept).filter(|(_, kept)| **kept) {
        group.iter().for_each(|&(_, _, face, k)| kinds[face as usize][k as usize] = Edge::Feature);
    }
    let outline = creases.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(crease, _)| crease.ends).collect();
    (kinds, outline)
}

/// The unit normal of a face (of a quadrilateral: the mean one); zero if it has no area.
pub(super) fn normal(x: &[[f64; 3]], face: &[u32; 4]) -> [f64; 3] {
    let p = |k: usize| x[face[k] as usize];
    // The diagonals of a quadrilateral, two sides of a triangle.
    let (a, b) = if face[3] == NONE { (sub(p(1), p(0)), sub(p(2), p(0))) } else { (sub(p(2), p(0)), sub(p(3), p(1))) };
    unit(cross(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex20, Quad8, Tet10, Tri6};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;
    use crate::output::tests::{elastic, hex_pair, values, zero};

    #[test]
    fn two_cubes_have_ten_faces_and_the_outline_of_a_box() {
        let (mesh, results) = (hex_pair(), elastic());
        let scene = Scene::new(&mesh, &results, &[]);
        assert_eq!((scene.rest.len(), scene.faces.len()), (12, 10));
        // A box has 12 edges; the four along x are of two cells.
        assert_eq!(scene.outline.len(), 16);
        let smooth = scene.edges.iter().flatten().filter(|edge| **edge == Edge::Smooth).count();
        assert_eq!(smooth, 8);
    }

    #[test]
    fn quadratic_faces_come_in_parts_without_edges_between_them() {
        for (kind, parts, edges) in [(Hex20, 6 * 5, 24), (Tet10, 12 * 4, 24 + 12)] {
            let mesh = generate_box(kind, [1.0; 3], [1; 3]).unwrap();
            let scene = Scene::new(&mesh, &zero(&mesh), &[]);
            assert_eq!((scene.faces.len(), scene.outline.len()), (parts, 24), "{kind:?}");
            // Every drawn edge borders two parts.
            let drawn = |edge: Edge| {
                let slots = scene.faces.iter().zip(&scene.edges).flat_map(|(face, e)| &e[..corners(face).len()]);
                slots.filter(|&&e| e == edge).count()
            };
            assert_eq!(drawn(Edge::Feature) + drawn(Edge::Smooth), 2 * edges, "{kind:?}");
            let area: f64 = scene.faces.iter().map(|face| area(&scene.rest, face)).sum();
            assert!((area - 6.0).abs() < 1e-12, "{kind:?} {area}");
        }
        for (kind, parts) in [(Quad8, 5), (Tri6, 8)] {
            let mesh = generate_rectangle(kind, [1.0; 2], [1; 2]).unwrap();
            let scene = Scene::new(&mesh, &zero(&mesh), &[]);
            assert_eq!((scene.faces.len(), scene.outline.len()), (parts, 8), "{kind:?}");
            let area: f64 = scene.faces.iter().map(|face| area(&scene.rest, face)).sum();
            assert!((area - 1.0).abs() < 1e-12, "{kind:?} {area}");
        }
    }

    fn area(x: &[[f64; 3]], face: &[u32; 4]) -> f64 {
        let nodes = corners(face);
        let p = |k: usize| x[nodes[k] as usize];
        let (a, b) = match nodes.len() {
            3 => (sub(p(1), p(0)), sub(p(2), p(0))),
            _ => (sub(p(2), p(0)), sub(p(3), p(1))),
        };
        let n = cross(a, b);
        0.5 * dot(n, n).sqrt()
    }

    #[test]
    fn values_are_those_of_the_nodes() {
        let mut results = elastic();
        let shown = |results: &Step| Scene::new(&hex_pair(), results, &[]).values().to_vec();
        let sizes = results.nodes("von_mises_nodal").to_vec();
        assert_eq!(shown(&results), sizes);
        values(&mut results, "von_mises_nodal")[3] = f64::NAN;
        assert_eq!(shown(&results)[2..5], [sizes[2], 0.0, sizes[4]]);
    }

    #[test]
    fn the_largest_value_is_there_even_if_it_is_inside() {
        let mesh = generate_box(ElementKind::Hex8, [2.0; 3], [2; 3]).unwrap();
        let mut results = zero(&mesh);
        let scene = Scene::new(&mesh, &results, &[]);
        assert_eq!(scene.rest.len(), 26);
        let inside = mesh.coords.iter().position(|x| *x == [1.0; 3]).unwrap();
        values(&mut results, "von_mises_nodal")[inside] = 7.0;
        values(&mut results, "displacement")[3 * inside + 1] = 3.0;
        let scene = Scene::new(&mesh, &results, &[]);
        assert_eq!((scene.rest.len(), scene.faces.len()), (27, 24));
        let node = scene.peaks[0];
        assert_eq!(scene.peaks, [node; 2]);
        assert_eq!((scene.rest[node as usize], scene.values()[node as usize]), ([1.0; 3], 7.0));
        assert!(!scene.is_on_skin(node) && scene.is_on_skin(0));
    }

    #[test]
    fn flat_cells_are_their_own_skin() {
        let mut mesh = hex_pair();
        mesh.cells.pop();
        let mut results = elastic();
        *values(&mut results, "von_mises_nodal") = (0..12).map(|i| f64::from(12 - i)).collect();
        values(&mut results, "displacement").fill(0.0);
        let scene = Scene::new(&mesh, &results, &[]);
        assert_eq!(scene.faces, [[0, 3, 2, 1]]);
        assert_eq!(scene.outline.len(), 4);
        assert_eq!(scene.values(), [12.0, 11.0, 10.0, 9.0]);
    }

    #[test]
    fn displacements_that_are_not_finite_are_left_out() {
        let mut results = elastic();
        values(&mut results, "displacement")[9..12].copy_from_slice(&[f64::NAN, 0.0, f64::INFINITY]);
        let scene = Scene::new(&hex_pair(), &results, &[]);
        assert_eq!(scene.deformed(2.0)[3], scene.rest[3]);
        assert_eq!(scene.deformed(2.0)[0], [200.0, 200.2, 200.4]);
    }
}
