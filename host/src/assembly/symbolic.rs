//! The symbolic phase: sparsity from the mesh, and for every block of a cell's stiffness where in its row it goes
//! (WARP's CSR index). With that the numeric phase searches nothing.

use super::numbering::Numbering;
use crate::device::running_sums;
use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh, adjacency::NodeCells};
use crate::parallel;
use crate::result::choices::Ordering;
use crate::result::{Error, Result};
use crate::sparse::Sparsity;

const ROWS: usize = 2048;

/// The cells of one type in the solver's numbering.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its position in `mesh.cells`.
    pub index: usize,
    /// Element type.
    pub kind: ElementKind,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: Vec<u32>,
    /// Cells around each node.
    pub around: NodeCells,
    /// The place in the row of each cell's node a of its node b, `[n_cells][N][N]`.
    pub slots: Vec<u16>,
}

/// What a mesh's topology says about its matrix.
#[derive(Debug, Clone)]
pub struct Symbolic {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// Which blocks are not zero.
    pub sparsity: Sparsity,
    /// The cells, one entry per element type.
    pub blocks: Vec<Block>,
}

/// Cells of one type, their position in `mesh.cells`, and which are around each node, in the mesh's numbering.
struct Around<'a> {
    index: usize,
    cells: &'a Cells,
    at: NodeCells,
}

/// Bounds of runs of [`ROWS`] rows in an array with `start(row)` entries before each row.
fn run_bounds(n_rows: usize, start: impl Fn(usize) -> u64) -> impl Iterator<Item = usize> {
    (0..=n_rows.div_ceil(ROWS)).map(move |run| start((run * ROWS).min(n_rows)) as usize)
}

impl Symbolic {
    /// Analyses a mesh; the nodes of each of some pairs are neighbours, too.
    pub fn new(mesh: &Mesh, pairs: &[[u32; 2]], order: Ordering, window: usize) -> Result<Self> {
        let n = mesh.coords.len();
        let neighbours = neighbours(mesh, pairs);
        let degree = |node: u32| neighbours.row(node as usize).len() as u32;
        let numbering = Numbering::new(order.order(mesh, &neighbours), window, degree);
        let sparsity = renumber(&neighbours, &numbering);
        if let Some(row) = (0..n).find(|row| sparsity.row(*row).len() > usize::from(u16::MAX)) {
            let tag = mesh.node_tags[numbering.to_mesh[row] as usize];
            return Err(Error::TooLarge(format!("node {tag} has more than {} neighbours", u16::MAX)));
        }
        let blocks = parallel::map(around(mesh), &|around| Block::new(around, &numbering, &sparsity));
        Ok(Symbolic { numbering, sparsity, blocks })
    }
}

/// Where lists of these lengths start when they lie end to end, and where the last ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    running_sums(lengths.map(|length| length as u64))
}

/// How many other nodes the nodes of a mesh share elements with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    /// The fewest.
    pub min: usize,
    /// The most.
    pub max: usize,
    /// The mean.
    pub mean: f64,
}

/// The [`Degrees`] of a mesh; zeros if it has no nodes.
pub fn degrees(mesh: &Mesh) -> Degrees {
    let n = mesh.coords.len();
    let sparsity = neighbours(mesh, &[]);
    let others = |node: usize| sparsity.row(node).len() - 1;
    Degrees {
        min: (0..n).map(others).min().unwrap_or(0),
        max: (0..n).map(others).max().unwrap_or(0),
        mean: (0..n).map(others).sum::<usize>() as f64 / n.max(1) as f64,
    }
}

/// The cells around the nodes, one entry per element type.
fn around(mesh: &Mesh) -> Vec<Around<'_>> {
    let n = mesh.coords.len();
    mesh.solids().map(|(index, cells)| Around { index, cells, at: NodeCells::of(cells, n) }).collect()
}

/// The neighbours of every node, itself included, ascending, in the mesh's numbering; the nodes of each of some pairs are, too.
pub fn neighbours(mesh: &Mesh, pairs: &[[u32; 2]]) -> Sparsity {
    let (n, mut around) = (mesh.coords.len(), around(mesh));
    let joined = Cells { kind: ElementKind::Line2, nodes: pairs.concat(), tags: Vec::new() };
    if !pairs.is_empty() {
        around.push(Around { index: 0, cells: &joined, at: NodeCells::of(&joined, n) });
    }
    let runs: Vec<(Vec<u32>, Vec<u32>)> = parallel::map_ranges(n, ROWS, &|nodes| {
        let (mut lengths, mut columns, mut row) = (Vec::with_capacity(ROWS), Vec::new(), Vec::new());
        for node in nodes {
            row.clear();
            row.push(node as u32);
            for block in &around {
                for cell in block.at.at(node) {
                    row.extend_from_slice(block.cells.cell(*cell as usize));
                }
            }
            row.sort_unstable();
            row.dedup();
            lengths.push(row.len() as u32);
            columns.extend_from_slice(&row);
        }
        (lengths, columns)
    });
    let row_start = starts(runs.iter().flat_map(|(lengths, _)| lengths.iter().map(|length| *length as usize)));
    let mut columns = vec![0; row_start[n] as usize];
    parallel::map_parts(&mut columns, run_bounds(n, |row| row_start[row]), &|run, part| {
        part.copy_from_slice(&runs[run].1);
    });
    Sparsity { row_start, columns }
}

/// The same sparsity in the solver's numbering, each row with the diagonal first and the others ascending.
fn renumber(neighbours: &Sparsity, numbering: &Numbering) -> Sparsity {
    let n = numbering.len();
    let row_start = starts(numbering.to_mesh.iter().map(|node| neighbours.row(*node as usize).len()));
    let mut columns = vec![0; row_start[n] as usize];
    parallel::map_parts(&mut columns, run_bounds(n, |row| row_start[row]), &|run, part| {
        let mut rest = part;
        for row in run * ROWS..n.min((run + 1) * ROWS) {
            let from = neighbours.row(numbering.to_mesh[row] as usize);
            let (to, tail) = rest.split_at_mut(from.len());
            to.iter_mut().zip(from).for_each(|(to, node)| *to = numbering.to_solver[*node as usize]);
            to.sort_unstable_by_key(|column| (*column != row as u32, *column));
            rest = tail;
        }
    });
    Sparsity { row_start, columns }
}

impl Block {
    fn new(mesh: Around, numbering: &Numbering, sparsity: &Sparsity) -> Block {
        let Around { index, cells: &Cells { kind, ref nodes, .. }, at } = mesh;
        let (n, size) = (numbering.len(), kind.info().n_nodes);
        let nodes: Vec<u32> = parallel::map_items(nodes, &|node| numbering.to_solver[*node as usize]);
        let offsets = starts(numbering.to_mesh.iter().map(|node| at.at(*node as usize).len()));
        let mut cells = vec![0; offsets[n] as usize];
        parallel::map_parts(&mut cells, run_bounds(n, |row| offsets[row]), &|run, mut to| {
            for row in run * ROWS..n.min((run + 1) * ROWS) {
                let from = at.at(numbering.to_mesh[row] as usize);
                let (head, tail) = to.split_at_mut(from.len());
                head.copy_from_slice(from);
                to = tail;
            }
        });
        let mut slots = vec![0; nodes.len() * size];
        parallel::map_chunks(&mut slots, ROWS * size * size, &|first, slots| {
            for (slots, nodes) in slots.chunks_exact_mut(size * size).zip(nodes[first / size..].chunks_exact(size)) {
                for (slots, row) in slots.chunks_exact_mut(size).zip(nodes) {
                    let columns = sparsity.row(*row as usize);
                    slots.iter_mut().zip(nodes).for_each(|(slot, node)| *slot = place(columns, *node));
                }
            }
        });
        Block { index, kind, nodes, around: NodeCells { offsets, cells }, slots }
    }
}

/// Where `node` is in a row whose first column is the diagonal and whose others ascend.
fn place(columns: &[u32], node: u32) -> u16 {
    if columns[0] == node {
        return 0;
    }
    1 + columns[1..].partition_point(|column| *column < node) as u16
}
