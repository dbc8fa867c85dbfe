//! Meshes: nodes, cells of every dimension, named groups.

pub mod adjacency;
pub mod annulus;
mod arrays;
pub mod bodies;
mod cached;
mod check;
pub mod coloring;
pub mod cut;
mod error;
pub mod faces;
pub mod generate;
mod gmsh;
mod groups;
mod hanging;
mod jacobian;
pub mod ordering;
pub mod pairs;
pub mod partition;
pub mod parts;
pub mod quadratic;
pub mod quality;
mod raw;
pub mod rectangle;
pub mod skin;
#[cfg(test)]
mod testing;
pub mod thin;
pub mod write;

pub use arrays::{Block, Members};
pub use cached::Cached;
pub use error::{MeshError, Place};
pub use gmsh::foreign::not_a_case;
pub(crate) use raw::Raw;

use crate::element::ElementKind;
pub use crate::element::middle;
pub(crate) use crate::element::vector;
use crate::parallel::{self, PART};

/// How far from a plane nodes may lie, as a fraction of the longest extent: what programs for geometry leave of noise.
const FLAT: f64 = 1e-6;

/// Extents of meshes whose volumes, and the squares of these, double precision holds.
pub(crate) const LENGTHS: std::ops::RangeInclusive<f64> = 1e-15..=1e15;

/// Cells of one kind, in the order of the file.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cells {
    /// The element type they share.
    pub kind: ElementKind,
    /// Node indices (positions in [`Mesh::coords`]), `[n_cells][n_nodes]`, flat.
    pub nodes: Vec<u32>,
    /// The file's element tags, `[n_cells]`; what messages and the CSV call an element.
    pub tags: Vec<u64>,
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// The node indices of cell `i`.
    pub fn cell(&self, i: usize) -> &[u32] {
        let n = self.kind.info().n_nodes;
        &self.nodes[i * n..(i + 1) * n]
    }

    /// The corners of cell `i`.
    pub fn corners(&self, i: usize) -> &[u32] {
        &self.cell(i)[..self.kind.info().n_corners]
    }
}

/// A named set of cells of one dimension (Gmsh: a physical group).
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name; `group<tag>` where the file gives none.
    pub name: String,
    /// Dimension of its cells.
    pub dim: usize,
    /// Its cells: (position in [`Mesh::cells`], cell indices in that block, ascending).
    pub members: Vec<(usize, Vec<u32>)>,
}

impl Group {
    fn add(&mut self, members: &[(usize, Vec<u32>)]) {
        for (block, cells) in members {
            match self.members.iter_mut().find(|(own, _)| own == block) {
                Some((_, own)) => {
                    own.extend(cells);
                    own.sort_unstable();
                    own.dedup();
                }
                None => self.members.push((*block, cells.clone())),
            }
        }
        self.members.sort_unstable_by_key(|(block, _)| *block);
    }
}

/// A mesh as the file gives it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mesh {
    /// Node coordinates, `[n_nodes][3]`, in the file's order.
    pub coords: Vec<[f64; 3]>,
    /// The file's node tags, `[n_nodes]`.
    pub node_tags: Vec<u64>,
    /// Cells of every dimension, one block per kind.
    pub cells: Vec<Cells>,
    /// Named groups.
    #[serde(skip)]
    pub groups: Vec<Group>,
    /// Things worth saying that did not stop the reading (elements in reverse order, orphan nodes).
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// For [`Mesh::skin`].
    #[serde(skip)]
    pub skin: Cached<Vec<faces::Face>>,
    /// For [`Mesh::parts`].
    #[serde(skip)]
    pub parts: Cached<(Vec<u32>, usize)>,
    /// For [`Mesh::quality`].
    #[serde(skip)]
    pub quality: Cached<Option<quality::Quality>>,
}

impl Mesh {
    /// The highest dimension of any cell; 0 if there are none.
    pub fn dim(&self) -> usize {
        let occupied = self.cells.iter().filter(|block| !block.is_empty());
        occupied.map(|block| block.kind.info().dim).max().unwrap_or(0)
    }

    /// The blocks of cells of dimension [`Mesh::dim`], with their positions in [`Mesh::cells`].
    pub fn solids(&self) -> impl Iterator<Item = (usize, &Cells)> + Clone {
        let dim = self.dim();
        self.cells.iter().enumerate().filter(move |(_, block)| block.kind.info().dim == dim)
    }

    /// The number of cells of these.
    pub fn n_solids(&self) -> usize {
        self.solids().map(|(_, cells)| cells.len()).sum()
    }

    /// Takes the elements with the nodes of a kind as of this kind; whether there are any.
    pub fn set_kind(&mut self, kind: ElementKind) -> bool {
        let fitting = self.cells.iter_mut().filter(|cells| cells.kind.of_kernels() == kind.of_kernels());
        fitting.map(|cells| cells.kind = kind).count() > 0
    }

    /// Whether all nodes lie in a plane of constant z, but for noise.
    pub fn is_flat(&self) -> bool {
        is_flat(&self.coords)
    }

    /// The group with this name. Of several, which Gmsh allows in different dimensions, what can be held and loaded:
    /// the sides of the body, or else what has the next lower dimension, the body itself last.
    pub fn group(&self, name: &str) -> Option<&Group> {
        let (named, dim) = (self.groups.iter().filter(|group| group.name == name), self.dim());
        named.min_by_key(|group| if group.dim < dim { dim - group.dim } else { usize::MAX })
    }

    /// The group of bodies with this name.
    pub fn body(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name && group.dim == self.dim())
    }

    /// The mean of some nodes.
    pub fn middle(&self, nodes: &[u32]) -> [f64; 3] {
        middle(nodes.iter().map(|&node| self.coords[node as usize]))
    }

    /// The smallest and the largest coordinates; (0, 0) without nodes.
    pub fn extent(&self) -> ([f64; 3], [f64; 3]) {
        extent(&self.coords)
    }

    /// The longest edge of the box that all nodes are in.
    pub fn longest_side(&self) -> f64 {
        longest_side(extent(&self.coords))
    }
}

fn longest_side((low, high): ([f64; 3], [f64; 3])) -> f64 {
    (0..3).map(|c| high[c] - low[c]).fold(0.0, f64::max)
}

/// The least and the greatest coordinates of some points; zeros without any.
pub(crate) fn extent(coords: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    let parts = parallel::map_ranges(coords.len(), PART, &|part| extent_of(coords[part].iter().copied()));
    extent_of(parts.into_iter().flat_map(|(low, high)| [low, high]))
}

/// The same of points one after the other.
fn extent_of(mut points: impl Iterator<Item = [f64; 3]>) -> ([f64; 3], [f64; 3]) {
    let Some(first) = points.next() else { return ([0.0; 3], [0.0; 3]) };
    points.fold((first, first), |(low, high), x| {
        ([0, 1, 2].map(|c| low[c].min(x[c])), [0, 1, 2].map(|c| high[c].max(x[c])))
    })
}

/// Whether points lie in a plane of constant z, but for noise.
fn is_flat(coords: &[[f64; 3]]) -> bool {
    let (low, high) = extent(coords);
    high[2] - low[2] <= FLAT * longest_side((low, high))
}
