//! Fewer vertices for a skin that has too many: those in one cube of a grid become one, and triangles that lose a
//! corner go (vertex clustering, Rossignac and Borrel 1993); the largest values stay. Quick, and enough for a view
//! whose pixels are larger than the cubes.

use rayon::prelude::*;

use crate::mesh::extent;
use crate::mesh::vector::{cross, norm, sub};
use crate::output::picture::scene::Scene;
use crate::parallel;

/// Bits of a grid coordinate in a key.
const BITS: u32 = 21;

/// Vertices and what connects them, before packing.
pub(super) struct Surface {
    /// For each vertex the node of the scene that it is.
    pub vertices: Vec<u32>,
    pub triangles: Vec<[u32; 3]>,
    /// Vertex numbers of the part's own edges.
    pub outline: Vec<[u32; 2]>,
    /// Vertex numbers of the elements' edges.
    pub edges: Vec<[u32; 2]>,
}

/// `surface` with at most `most` vertices, each one of those it had.
pub(super) fn thin(scene: &Scene, surface: Surface, most: usize) -> Surface {
    let x = |vertex: u32| scene.rest[surface.vertices[vertex as usize] as usize];
    let area: f64 = surface.triangles.iter().map(|triangle| area(triangle.map(x))).sum();
    // A plane through a grid meets some 1.5 cubes per square of its own size.
    let mut size = (1.5 * area / most as f64).sqrt();
    let (low, _) = extent(&scene.rest);
    loop {
        let kept = clusters(scene, &surface.vertices, low, size);
        let n = kept.iter().enumerate().filter(|(i, kept)| *i == **kept as usize).count();
        if n <= most || !size.is_normal() {
            return reduced(surface, &kept);
        }
        size *= 1.2;
    }
}

/// For each vertex the first one in the same cube of edge `size`.
fn clusters(scene: &Scene, vertices: &[u32], low: [f64; 3], size: f64) -> Vec<u32> {
    let key = |node: u32| {
        let x = scene.rest[node as usize];
        let cell = |i: usize| (((x[i] - low[i]) / size) as u64).min((1 << BITS) - 1);
        cell(0) << (2 * BITS) | cell(1) << BITS | cell(2)
    };
    let mut keyed: Vec<(u64, u32)> = parallel::map_indices(vertices.len(), &|i| (key(vertices[i]), i as u32));
    keyed.par_sort_unstable();
    let mut kept = vec![0; vertices.len()];
    for cube in keyed.chunk_by(|a, b| a.0 == b.0) {
        cube.iter().for_each(|&(_, vertex)| kept[vertex as usize] = cube[0].1);
    }
    for (i, _) in vertices.iter().enumerate().filter(|(_, node)| scene.peaks.contains(node)) {
        kept[i] = i as u32;
    }
    kept
}

/// Only the vertices that stand for themselves, numbered anew.
fn reduced(surface: Surface, kept: &[u32]) -> Surface {
    let mut number = vec![0; kept.len()];
    let mut vertices = Vec::new();
    for (i, &node) in surface.vertices.iter().enumerate().filter(|(i, _)| kept[*i] as usize == *i) {
        number[i] = vertices.len() as u32;
        vertices.push(node);
    }
    let of = |vertex: u32| number[kept[vertex as usize] as usize];
    let lines = |lines: Vec<[u32; 2]>| {
        let moved = lines.into_iter().map(|edge| edge.map(of)).map(|[a, b]| [a.min(b), a.max(b)]);
        let mut lines: Vec<_> = moved.filter(|[a, b]| a != b).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    let triangles = surface.triangles.into_iter().map(|triangle| triangle.map(of));
    let triangles = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    Surface { vertices, triangles, outline: lines(surface.outline), edges: lines(surface.edges) }
}

pub(super) fn area(p: [[f64; 3]; 3]) -> f64 {
    0.5 * norm(cross(sub(p[1], p[0]), sub(p[2], p[0])))
}
