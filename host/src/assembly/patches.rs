//! Patches: cells that lie together along a Hilbert curve, whose products a block of threads computes in shared memory. See
//! [`kernels_rs::matrix_free`].

use super::{Addition, DeviceBlock, DeviceMesh};
use crate::device::{Buffer, Grid, MAX_SHARED, running_sums};
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::{middle, ordering};
use crate::result::{Error, Result};
use kernels_rs::matrix_free::patch::{LINE, bytes};
use kernels_rs::matrix_free::shared::{HELD, MIDDLE, SharedNodes};
use kernels_rs::matrix_free::{self as device};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Cells of a patch, the most first: as many as fit in a block's shared memory.
const SIZES: [usize; 9] = [256, 192, 128, 96, 64, 48, 32, 16, 8];
/// Threads of a block at least: those without a cell load and sum up.
const MIN_THREADS: usize = 64;

/// The patches of a mesh on a device.
pub struct Patches {
    /// One entry per element type.
    pub lists: Vec<PatchList>,
    nodes: Buffer<u32>,
    starts: Buffer<u32>,
    /// How many nodes patches share, are held, or belong to no patch.
    pub n_shared: usize,
    /// How many sums these have.
    pub n_partial: usize,
    /// What is added to the cells' stiffness.
    pub addition: Option<AdditionPlaces>,
}

/// Where an addition to K takes part.
pub struct AdditionPlaces {
    /// Its columns, by their entries in lists of nodes.
    pub columns: Buffer<u32>,
    /// The place of each of its rows among the sums of shared nodes.
    pub places: Buffer<u32>,
}

/// The patches of the cells of one element type: see [`device::Patches`].
pub struct PatchList {
    size: usize,
    stride: usize,
    /// How many there are.
    pub n_patches: usize,
    /// Coordinates and components of a node, and most nodes and slots of a patch.
    largest: [usize; 4],
    /// Whether the nodes between corners are in the middle, to rounding.
    pub is_straight: bool,
    cells: Buffer<u32>,
    starts: Buffer<[u64; 3]>,
    nodes: Buffer<u32>,
    places: Buffer<u32>,
    local: Buffer<u16>,
    slot_starts: Buffer<u16>,
    slots: Buffer<u16>,
}

/// Cells of one element type, divided.
struct Division {
    /// Nodes of a cell.
    n: usize,
    /// Nodes of each cell, `[n_cells][n]`.
    cell_nodes: Vec<u32>,
    size: usize,
    /// The cells, patch after patch.
    cells: Vec<u32>,
    /// The nodes of each patch, ascending.
    nodes: Vec<Vec<u32>>,
    is_straight: bool,
    /// The nodes that are corners of some cell, `[n_nodes]`.
    is_corner: Vec<bool>,
}

/// The lists of one patch.
struct Lists {
    nodes: Vec<u32>,
    n_shared: usize,
    local: Vec<u16>,
    slot_starts: Vec<u16>,
    slots: Vec<u16>,
}

/// What the nodes of a mesh are to its patches.
struct Nodes {
    /// Whether there is more to a node's sum than one patch, `[n_nodes]`.
    is_shared: Vec<bool>,
    /// The shared nodes, ascending.
    shared: Vec<u32>,
    /// Where their sums start.
    starts: Vec<u32>,
    /// Of each shared node its place among these.
    place: Vec<u32>,
}

impl Patches {
    /// Divides a mesh into patches of up to `most` cells, by element type; `held` are the nodes where supports hold anything,
    /// ascending.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] where numbers of 30 bits for nodes, or of 32 for sums, are not enough.
    pub fn new(space: &Space, mesh: &DeviceMesh, held: &[u32], most: impl Fn(&DeviceBlock) -> usize) -> Result<Self> {
        if mesh.n_nodes >= MIDDLE as usize {
            return Err(Error::TooLarge(format!("{} nodes, and patches number them with 30 bits", mesh.n_nodes)));
        }
        let coords = space.download(mesh.coords())?;
        let divide = |block: &DeviceBlock| {
            let (cell_nodes, info) = (space.download(&block.cells.nodes)?, block.cells.kind.info());
            let (dim, size) = (info.dim, mesh.components());
            let fits = |nodes: usize, slots: usize| bytes::<f64>(dim, size, nodes, slots) <= MAX_SHARED;
            Ok(Division::new((block.cells.kind, most(block)), cell_nodes, &coords, fits))
        };
        let divisions: Vec<Division> = mesh.blocks.iter().map(divide).collect::<Result<_>>()?;
        let added = mesh.addition.as_ref().map_or(Ok(Vec::new()), |addition| addition.rows(space))?;
        let nodes = Nodes::new(mesh.n_nodes, &divisions, held, &added)?;
        let mut entries: Vec<u32> = (0..mesh.n_nodes as u32).collect();
        held.iter().zip(0..).for_each(|(row, h)| entries[*row as usize] = HELD | h);
        let mut next = nodes.starts.clone();
        let sizes = mesh.blocks.iter().map(|block| (block.cells.kind.info().dim, mesh.components()));
        let lists = divisions.iter().zip(sizes);
        let lists =
            lists.map(|(of, sizes)| of.upload(space, sizes, &nodes, &entries, &mut next)).collect::<Result<_>>()?;
        let place = |addition: &Addition| -> Result<AdditionPlaces> {
            let columns = addition.columns(space)?.into_iter().map(|column| entries[column as usize]);
            let places = added.iter().map(|row| next[nodes.place[*row as usize] as usize]);
            let (columns, places) = (space.upload_vec(columns.collect())?, space.upload_vec(places.collect())?);
            Ok(AdditionPlaces { columns, places })
        };
        let addition = mesh.addition.as_ref().map(place).transpose()?;
        let shared: Vec<u32> = nodes.shared.iter().map(|node| entries[*node as usize]).collect();
        Ok(Patches {
            lists,
            n_shared: shared.len(),
            n_partial: nodes.starts[shared.len()] as usize,
            addition,
            nodes: space.upload_vec(shared)?,
            starts: space.upload_vec(nodes.starts)?,
        })
    }

    /// The nodes that patches share, are held, or belong to none.
    pub fn shared(&self) -> SharedNodes {
        SharedNodes { nodes: self.nodes.view(), starts: self.starts.view() }
    }

    /// Bytes of all lists.
    pub fn bytes(&self) -> u64 {
        self.nodes.bytes() + self.starts.bytes() + self.lists.iter().map(PatchList::bytes).sum::<u64>()
    }
}

impl PatchList {
    /// As kernels see them.
    pub fn view(&self) -> device::Patches {
        device::Patches {
            size: self.size,
            stride: self.stride,
            cells: self.cells.view(),
            starts: self.starts.view(),
            nodes: self.nodes.view(),
            places: self.places.view(),
            local: self.local.view(),
            slot_starts: self.slot_starts.view(),
            slots: self.slots.view(),
        }
    }

    /// A block of threads for each patch.
    pub fn grid<T>(&self) -> Grid {
        let (blocks, threads) = (self.n_patches, self.size.next_multiple_of(32).max(MIN_THREADS));
        Grid { blocks, threads, shared_bytes: self.memory::<T>() }
    }

    /// Bytes of memory that every patch can do with.
    pub fn memory<T>(&self) -> usize {
        let [dim, size, n_nodes, n_slots] = self.largest;
        bytes::<T>(dim, size, n_nodes, n_slots)
    }

    fn bytes(&self) -> u64 {
        let of_16 = self.local.bytes() + self.slot_starts.bytes() + self.slots.bytes();
        self.cells.bytes() + self.starts.bytes() + self.nodes.bytes() + self.places.bytes() + of_16
    }
}

impl Nodes {
    /// `held` and `added` are the nodes that supports hold, and those to whose rows something is added.
    fn new(n: usize, divisions: &[Division], held: &[u32], added: &[u32]) -> Result<Self> {
        let mut counts = vec![0_u32; n];
        for node in divisions.iter().flat_map(|of| of.nodes.iter().flatten()).chain(added) {
            counts[*node as usize] += 1;
        }
        let mut is_shared: Vec<bool> = counts.iter().map(|count| *count != 1).collect();
        held.iter().chain(added).for_each(|row| is_shared[*row as usize] = true);
        let shared: Vec<u32> = (0..n as u32).filter(|node| is_shared[*node as usize]).collect();
        let mut place = vec![0; n];
        shared.iter().zip(0..).for_each(|(node, at)| place[*node as usize] = at);
        let sums = running_sums(shared.iter().map(|node| u64::from(counts[*node as usize])));
        let starts = sums.into_iter().map(u32::try_from).collect::<Result<Vec<u32>, _>>();
        let starts = starts.map_err(|_| Error::TooLarge("patches share more than 2^32 nodes".into()))?;
        Ok(Nodes { is_shared, shared, starts, place })
    }
}

/// Whether the nodes between corners are in the middle, to rounding of their coordinates.
fn is_straight(kind: ElementKind, cell: &[u32], coords: &[[f64; 3]]) -> bool {
    let place = |k: usize| coords[cell[k] as usize];
    kind.edges().iter().filter(|edge| edge.len() > 2).all(|edge| {
        let [a, b, between] = [edge[0], edge[1], edge[2]].map(place);
        (0..3).all(|c| (0.5 * (a[c] + b[c]) - between[c]).abs() <= 4.0 * f64::EPSILON * a[c].abs().max(b[c].abs()))
    })
}

impl Division {
    /// Divides cells of a kind into patches of up to `most`, as large as `fits(nodes, slots)` allows.
    fn new(
        (kind, most): (ElementKind, usize),
        cell_nodes: Vec<u32>,
        coords: &[[f64; 3]],
        fits: impl Fn(usize, usize) -> bool + Sync,
    ) -> Self {
        let n = kind.info().n_nodes;
        let centre = |cell: &[u32]| middle(cell.iter().map(|node| coords[*node as usize]));
        let centres: Vec<[f64; 3]> = cell_nodes.par_chunks_exact(n).map(centre).collect();
        let cells = ordering::hilbert(&centres);
        let distinct = |patch: &[u32]| {
            let nodes = patch.iter().flat_map(|cell| &cell_nodes[n * *cell as usize..][..n]);
            let mut nodes: Vec<u32> = nodes.copied().collect();
            nodes.sort_unstable();
            nodes.dedup();
            fits(nodes.len(), n * patch.len()).then_some(nodes)
        };
        let divided = |size: usize| Some((size, cells.par_chunks(size).map(distinct).collect::<Option<_>>()?));
        let mut sizes = SIZES.iter().map(|size| most.clamp(1, *size));
        let (size, nodes) = sizes.find_map(divided).unwrap_or_else(|| unreachable!("eight cells of any type fit"));
        let is_straight = cell_nodes.par_chunks_exact(n).all(|cell| is_straight(kind, cell, coords));
        let mut is_corner = vec![false; coords.len()];
        let corners = cell_nodes.chunks_exact(n).flat_map(|cell| &cell[..kind.info().n_corners]);
        corners.for_each(|node| is_corner[*node as usize] = true);
        Division { n, cell_nodes, size, cells, nodes, is_straight, is_corner }
    }

    /// Entries of a patch in lists of slots.
    fn stride(&self) -> usize {
        (self.n * self.size).next_multiple_of(LINE)
    }

    /// The lists of a patch.
    fn lists(&self, cells: &[u32], nodes: &[u32], is_shared: &[bool]) -> Lists {
        let (n, m) = (self.n, cells.len());
        let place = |node: u32| nodes.partition_point(|other| *other < node);
        let at = |b: usize, c: usize| place(self.cell_nodes[n * cells[c] as usize + b]);
        let slots = || (0..n).flat_map(|b| (0..m).map(move |c| (b, c)));
        let places: Vec<usize> = slots().map(|(b, c)| at(b, c)).collect();
        let mut counts = vec![0_usize; nodes.len()];
        places.iter().for_each(|place| counts[*place] += 1);
        // Neighbouring threads sum up as many slots.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_unstable_by_key(|&i| (is_shared[nodes[i] as usize], Reverse(counts[i]), i));
        let mut rank = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(rank_of, i)| rank[*i] = rank_of);
        let starts: Vec<usize> = running_sums(order.iter().map(|i| counts[*i]));
        let (mut next, mut filled) = (starts.clone(), vec![0; self.stride()]);
        for (slot, place) in places.iter().enumerate() {
            let to = &mut next[rank[*place]];
            filled[*to] = slot as u16;
            *to += 1;
        }
        let (mut local, mut slot_starts): (Vec<u16>, Vec<u16>) = (
            places.iter().map(|place| rank[*place] as u16).collect(),
            starts.iter().map(|start| *start as u16).collect(),
        );
        local.resize(self.stride(), 0);
        slot_starts.resize(starts.len().next_multiple_of(LINE), 0);
        Lists {
            n_shared: nodes.iter().filter(|node| is_shared[**node as usize]).count(),
            nodes: order.iter().map(|i| nodes[*i]).collect(),
            local,
            slot_starts,
            slots: filled,
        }
    }

    /// The lists of all patches on a device; `next` are the places of the next sums of shared nodes.
    fn upload(
        &self,
        space: &Space,
        (dim, size): (usize, usize),
        nodes: &Nodes,
        entries: &[u32],
        next: &mut [u32],
    ) -> Result<PatchList> {
        let patches = self.cells.par_chunks(self.size).zip(&self.nodes);
        let lists: Vec<Lists> = patches.map(|(cells, of)| self.lists(cells, of, &nodes.is_shared)).collect();
        let (mut places, mut starts, mut largest) = (Vec::new(), vec![[0; 3]], [dim, size, 0, self.n * self.size]);
        let mut total = [0; 3];
        for patch in &lists {
            let n = patch.nodes.len();
            for node in &patch.nodes[n - patch.n_shared..] {
                let next = &mut next[nodes.place[*node as usize] as usize];
                places.push(*next);
                *next += 1;
            }
            let lengths = [n, patch.n_shared, patch.slot_starts.len()];
            total = [0, 1, 2].map(|i| total[i] + lengths[i] as u64);
            starts.push(total);
            largest[2] = largest[2].max(n);
        }
        let all = |of: fn(&Lists) -> &Vec<u16>| space.upload_vec(lists.iter().flat_map(of).copied().collect());
        let entry = |node: &u32| {
            let middle = if self.is_corner[*node as usize] { 0 } else { MIDDLE };
            entries[*node as usize] | middle
        };
        let of_nodes = lists.iter().flat_map(|patch| &patch.nodes).map(entry);
        Ok(PatchList {
            size: self.size,
            stride: self.stride(),
            n_patches: lists.len(),
            largest,
            is_straight: self.is_straight,
            cells: space.upload(&self.cells)?,
            starts: space.upload_vec(starts)?,
            nodes: space.upload_vec(of_nodes.collect())?,
            places: space.upload_vec(places)?,
            local: all(|patch| &patch.local)?,
            slot_starts: all(|patch| &patch.slot_starts)?,
            slots: all(|patch| &patch.slots)?,
        })
    }
}
