//! Patches: cells that lie together along a Hilbert curve, whose products a block of threads computes in shared memory. See
//! [`kernels_rs::matrix_free`].

use super::{Addition, DeviceBlock, DeviceMesh};
use crate::device::{Buffer, Grid, MAX_SHARED, MOST_SHARED, running_sums};
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::{Mesh, middle, ordering};
use crate::result::{Error, Result};
use cuda_std::prelude::View;
use kernels_rs::matrix_free::patch::{COORDS, LINE, Room, Start};
use kernels_rs::matrix_free::shared::{HELD, SharedNodes};
use kernels_rs::matrix_free::{self as device, FixedCell, LinearTet4, SerendipityHex20, StraightTet10, TrilinearHex8};
use kernels_rs::real::Real;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Cells of a patch, the most first: as many as fit in a block's shared memory.
const SIZES: [usize; 10] = [512, 256, 192, 128, 96, 64, 40, 32, 16, 8];
/// Threads of a block at least: those without a cell load and sum up.
const MIN_THREADS: usize = 64;
/// At most.
const MAX_THREADS: usize = 256;
/// Cells of a patch at most where there are no formulas.
const MOST_OF_COMMON: usize = 256;

/// How the lists of patches are laid out for formulas: see [`FixedCell`].
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    pitch: usize,
    threads: usize,
    corners: bool,
    scratch: usize,
}

impl Fixed {
    /// For the formulas of an element.
    pub fn of<C: FixedCell>() -> Self {
        Fixed { pitch: C::CELLS, threads: C::THREADS, corners: C::CORNERS, scratch: C::SCRATCH }
    }
}

/// The patches of a mesh on a device.
pub struct Patches {
    /// One entry per element type.
    pub lists: Vec<PatchList>,
    nodes: Buffer<u32>,
    starts: Buffer<u32>,
    /// How many nodes patches share, are held, or belong to no patch.
    pub n_shared: usize,
    /// How many of these are not held; the others come last.
    pub n_free: usize,
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
    pitch: usize,
    stride: usize,
    /// How many there are.
    pub n_patches: usize,
    /// Coordinates and components of a node.
    sizes: [usize; 2],
    /// Most nodes of a patch, and nodes with coordinates.
    largest: [usize; 2],
    /// Whether the nodes between corners are in the middle, to rounding.
    pub is_straight: bool,
    fixed: Option<Fixed>,
    cells: Buffer<u32>,
    materials: Buffer<u32>,
    starts: Buffer<Start>,
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
    fixed: Option<Fixed>,
    /// The nodes whose coordinates are asked for, `[n_nodes]`.
    has_coords: Vec<bool>,
}

/// The lists of one patch.
struct Lists {
    nodes: Vec<u32>,
    n_shared: usize,
    /// The first held node and how many there are.
    held: [usize; 2],
    /// Nodes with coordinates, among those of this patch alone and in all.
    n_coords: [usize; 2],
    local: Vec<u16>,
    slot_starts: Vec<u16>,
    slots: Vec<u16>,
}

/// What the nodes of a mesh are to its patches.
struct Nodes {
    /// Whether there is more to a node's sum than one patch, `[n_nodes]`.
    is_shared: Vec<bool>,
    /// The shared nodes that are not held, ascending, then the held ones.
    shared: Vec<u32>,
    /// Where their sums start.
    starts: Vec<u32>,
    /// Of each shared node its place among these.
    place: Vec<u32>,
}

/// Cells of the patches of a kind, where memory and supports leave them as they are.
fn usual_size(kind: ElementKind) -> usize {
    match kind {
        ElementKind::Tet4 => LinearTet4::CELLS,
        ElementKind::Tet10 => StraightTet10::CELLS,
        ElementKind::Hex8 => TrilinearHex8::CELLS,
        ElementKind::Hex20 => SerendipityHex20::CELLS,
        _ => 64,
    }
}

/// The nodes of a mesh in an order in which those of a patch lie together, as its block of threads reads and writes them:
/// `order[new] = old`, `[n_nodes]`.
pub fn node_order(mesh: &Mesh) -> Vec<u32> {
    let n_nodes = mesh.coords.len();
    // The first patch of each node and the last, and how many cells it has in the first, corners before others.
    let (mut first, mut last, mut count) = (vec![u32::MAX; n_nodes], vec![0; n_nodes], vec![0_u32; n_nodes]);
    let mut patch = 0;
    for (_, cells) in mesh.solids() {
        let centre = |cell: &[u32]| middle(cell.iter().map(|node| mesh.coords[*node as usize]));
        let (n, n_corners) = (cells.kind.info().n_nodes, cells.kind.info().n_corners);
        let centres: Vec<[f64; 3]> = cells.nodes.par_chunks_exact(n).map(centre).collect();
        for of_patch in ordering::hilbert(&centres).chunks(usual_size(cells.kind)) {
            for (b, node) in of_patch.iter().flat_map(|cell| cells.cell(*cell as usize).iter().enumerate()) {
                let node = *node as usize;
                (first[node], last[node]) = (first[node].min(patch), patch);
                if first[node] == patch {
                    count[node] += if b < n_corners { 1 << 16 } else { 1 };
                }
            }
            patch += 1;
        }
    }
    let mut order: Vec<u32> = (0..n_nodes as u32).collect();
    let key = |node: usize| (first[node], first[node] != last[node], Reverse(count[node]));
    order.par_sort_by_key(|node| key(*node as usize));
    order
}

impl Patches {
    /// Divides a mesh into patches of up to `most` cells, by element type; `held` are the nodes where supports hold anything,
    /// ascending. `fixed` says by what formulas an element type is computed, whose edges are straight or not. The
    /// coordinates that these ask for come with the patches: for each element type those of [`device::Patches`].
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] where numbers of 31 bits for nodes, or of 32 for entries of lists, are not enough.
    pub fn new(
        space: &Space,
        mesh: &DeviceMesh,
        held: &[u32],
        most: usize,
        fixed: impl Fn(&DeviceBlock, bool) -> Option<Fixed>,
    ) -> Result<(Self, Vec<Vec<f64>>)> {
        if mesh.n_nodes >= HELD as usize {
            return Err(Error::TooLarge(format!("{} nodes, and patches number them with 31 bits", mesh.n_nodes)));
        }
        let coords = space.download(mesh.coords())?;
        let divide = |block: &DeviceBlock| {
            let (cell_nodes, kind) = (space.download(&block.cells.nodes)?, block.cells.kind);
            let n = kind.info().n_nodes;
            let is_straight = cell_nodes.par_chunks_exact(n).all(|cell| is_straight(kind, cell, &coords));
            let (fixed, dim, size) = (fixed(block, is_straight), kind.info().dim, mesh.components());
            let fits = |nodes: usize, slots: usize| {
                let common = Room { nodes, coords: dim * nodes, size, slots, scratch: 0 }.bytes::<f64>();
                match fixed {
                    Some(of) => common.max(of.room(nodes, nodes, n).bytes::<f64>()) <= MOST_SHARED,
                    None => common <= MAX_SHARED,
                }
            };
            Ok(Division::new((kind, is_straight), (most, fixed), cell_nodes, &coords, fits))
        };
        let divisions: Vec<Division> = mesh.blocks.iter().map(divide).collect::<Result<_>>()?;
        let added = mesh.addition.as_ref().map_or(Ok(Vec::new()), |addition| addition.rows(space))?;
        let nodes = Nodes::new(mesh.n_nodes, &divisions, held, &added)?;
        let mut entries: Vec<u32> = (0..mesh.n_nodes as u32).collect();
        held.iter().zip(0..).for_each(|(row, h)| entries[*row as usize] = HELD | h);
        let mut next = nodes.starts.clone();
        let upload = |(of, block): (&Division, &DeviceBlock)| {
            of.upload(space, (mesh, block), &coords, &nodes, &entries, &mut next)
        };
        let lists: Vec<_> = divisions.iter().zip(&mesh.blocks).map(upload).collect::<Result<_>>()?;
        let (lists, coords) = lists.into_iter().unzip();
        let place = |addition: &Addition| -> Result<AdditionPlaces> {
            let columns = addition.columns(space)?.into_iter().map(|column| entries[column as usize]);
            let places = added.iter().map(|row| next[nodes.place[*row as usize] as usize]);
            let (columns, places) = (space.upload_vec(columns.collect())?, space.upload_vec(places.collect())?);
            Ok(AdditionPlaces { columns, places })
        };
        let addition = mesh.addition.as_ref().map(place).transpose()?;
        let n_shared = nodes.shared.len();
        let patches = Patches {
            lists,
            n_shared,
            n_free: n_shared - held.len(),
            n_partial: nodes.starts[n_shared] as usize,
            addition,
            nodes: space.upload_vec(nodes.shared)?,
            starts: space.upload_vec(nodes.starts)?,
        };
        Ok((patches, coords))
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

impl Fixed {
    fn room(self, nodes: usize, with_coords: usize, n: usize) -> Room {
        Room { nodes, coords: 3 * with_coords, size: 3, slots: n * self.pitch, scratch: self.scratch }
    }
}

impl PatchList {
    /// As kernels see them, with [coordinates](Patches::new) or without.
    pub fn view<T: Real>(&self, coords: View<T>) -> device::Patches<T> {
        device::Patches {
            size: self.size,
            pitch: self.pitch,
            stride: self.stride,
            cells: self.cells.view(),
            materials: self.materials.view(),
            starts: self.starts.view(),
            nodes: self.nodes.view(),
            places: self.places.view(),
            coords,
            local: self.local.view(),
            slot_starts: self.slot_starts.view(),
            slots: self.slots.view(),
        }
    }

    /// A block of threads for each patch, of the kernels for all elements in this precision.
    pub fn common_grid<V>(&self) -> Grid {
        let (blocks, threads) = (self.n_patches, self.size.next_multiple_of(32).clamp(MIN_THREADS, MAX_THREADS));
        let ([dim, size], [nodes, _]) = (self.sizes, self.largest);
        let room = Room { nodes, coords: dim * nodes, size, slots: self.stride, scratch: 0 };
        Grid { blocks, threads, shared_bytes: room.bytes::<V>() }
    }

    /// A block of threads for each patch.
    pub fn grid<T>(&self) -> Grid {
        let Some(fixed) = self.fixed else { return self.common_grid::<T>() };
        let ([nodes, with_coords], n) = (self.largest, self.stride / self.pitch);
        let shared_bytes = fixed.room(nodes, with_coords, n).bytes::<T>();
        Grid { blocks: self.n_patches, threads: fixed.threads, shared_bytes }
    }

    /// Warps of all blocks.
    pub fn n_warps(&self) -> usize {
        let grid = self.grid::<f64>();
        grid.blocks * grid.threads / 32
    }

    fn bytes(&self) -> u64 {
        let of_16 = self.local.bytes() + self.slot_starts.bytes() + self.slots.bytes();
        let of_32 = self.cells.bytes() + self.materials.bytes() + self.nodes.bytes() + self.places.bytes();
        self.starts.bytes() + of_16 + of_32
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
        let mut is_held = vec![false; n];
        held.iter().for_each(|row| is_held[*row as usize] = true);
        let free = (0..n as u32).filter(|node| is_shared[*node as usize] && !is_held[*node as usize]);
        let shared: Vec<u32> = free.chain(held.iter().copied()).collect();
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
        (kind, is_straight): (ElementKind, bool),
        (most, fixed): (usize, Option<Fixed>),
        cell_nodes: Vec<u32>,
        coords: &[[f64; 3]],
        fits: impl Fn(usize, usize) -> bool + Sync,
    ) -> Self {
        let n = kind.info().n_nodes;
        let centre = |cell: &[u32]| middle(cell.iter().map(|node| coords[*node as usize]));
        let centres: Vec<[f64; 3]> = cell_nodes.par_chunks_exact(n).map(centre).collect();
        let cells = ordering::hilbert(&centres);
        let slots = |size: usize| n * fixed.map_or(size, |of| of.pitch);
        let divided = |size: usize| {
            let distinct = |patch: &[u32]| {
                let nodes = patch.iter().flat_map(|cell| &cell_nodes[n * *cell as usize..][..n]);
                let mut nodes: Vec<u32> = nodes.copied().collect();
                nodes.sort_unstable();
                nodes.dedup();
                fits(nodes.len(), slots(size)).then_some(nodes)
            };
            Some((size, cells.par_chunks(size).map(distinct).collect::<Option<_>>()?))
        };
        let most = most.min(fixed.map_or(MOST_OF_COMMON, |of| of.pitch)).max(1);
        let mut sizes = SIZES.iter().map(|size| most.min(*size));
        let (size, nodes) = sizes.find_map(divided).unwrap_or_else(|| unreachable!("eight cells of any type fit"));
        let of_corners = fixed.is_some_and(|of| of.corners);
        let mut has_coords = vec![fixed.is_some() && !of_corners; coords.len()];
        if of_corners {
            let corners = cell_nodes.chunks_exact(n).flat_map(|cell| &cell[..kind.info().n_corners]);
            corners.for_each(|node| has_coords[*node as usize] = true);
        }
        Division { n, cell_nodes, size, cells, nodes, is_straight, fixed, has_coords }
    }

    /// Cells that the lists of a patch have room for.
    fn pitch(&self) -> usize {
        self.fixed.map_or(self.size, |of| of.pitch)
    }

    /// Entries of a patch in lists of slots.
    fn stride(&self) -> usize {
        (self.n * self.pitch()).next_multiple_of(LINE)
    }

    /// The lists of a patch.
    fn lists(&self, cells: &[u32], nodes: &[u32], is_shared: &[bool], entries: &[u32]) -> Lists {
        let (n, m, pitch) = (self.n, cells.len(), self.pitch());
        let place = |node: u32| nodes.partition_point(|other| *other < node);
        let slots = || (0..n).flat_map(|b| (0..m).map(move |c| (b * pitch + c, b, c)));
        let places: Vec<(usize, usize)> =
            slots().map(|(slot, b, c)| (slot, place(self.cell_nodes[n * cells[c] as usize + b]))).collect();
        let mut counts = vec![0_usize; nodes.len()];
        places.iter().for_each(|(_, place)| counts[*place] += 1);
        let has_coords = |node: u32| self.has_coords[node as usize];
        // Nodes with coordinates lie together, and held nodes.
        let class = |node: u32| match (is_shared[node as usize], has_coords(node), entries[node as usize] & HELD != 0) {
            (false, with, _) => u8::from(!with),
            (true, true, is_held) => 2 + u8::from(is_held),
            (true, false, is_held) => 4 + u8::from(!is_held),
        };
        // Neighbouring threads sum up as many slots.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_unstable_by_key(|&i| (class(nodes[i]), Reverse(counts[i]), i));
        let mut rank = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(rank_of, i)| rank[*i] = rank_of);
        let starts: Vec<usize> = running_sums(order.iter().map(|i| counts[*i]));
        let (mut next, mut filled, mut local) = (starts.clone(), vec![0; self.stride()], vec![0; self.stride()]);
        for (slot, place) in &places {
            let to = &mut next[rank[*place]];
            filled[*to] = *slot as u16;
            local[*slot] = rank[*place] as u16;
            *to += 1;
        }
        let mut slot_starts: Vec<u16> = starts.iter().map(|start| *start as u16).collect();
        slot_starts.resize(starts.len().next_multiple_of(LINE), 0);
        let nodes: Vec<u32> = order.iter().map(|i| nodes[*i]).collect();
        let n_of = |is: &dyn Fn(u32) -> bool| nodes.iter().filter(|node| is(**node)).count();
        Lists {
            n_shared: n_of(&|node| is_shared[node as usize]),
            held: [n_of(&|node| class(node) < 3), n_of(&|node| matches!(class(node), 3 | 4))],
            n_coords: [n_of(&|node| class(node) == 0), n_of(&has_coords)],
            nodes,
            local,
            slot_starts,
            slots: filled,
        }
    }

    /// Coordinates of a patch's nodes relative to the first: differences in f64.
    fn coords(&self, patch: &Lists, coords: &[[f64; 3]]) -> Vec<f64> {
        let origin = coords[patch.nodes[0] as usize];
        let nodes = patch.nodes.iter().map(|node| *node as usize).filter(|node| self.has_coords[*node]);
        let mut all: Vec<f64> = nodes.flat_map(|node| (0..3).map(move |c| coords[node][c] - origin[c])).collect();
        all.resize(all.len().next_multiple_of(COORDS), 0.0);
        all
    }

    /// The lists of all patches on a device; `next` are the places of the next sums of shared nodes.
    fn upload(
        &self,
        space: &Space,
        (mesh, block): (&DeviceMesh, &DeviceBlock),
        coords: &[[f64; 3]],
        nodes: &Nodes,
        entries: &[u32],
        next: &mut [u32],
    ) -> Result<(PatchList, Vec<f64>)> {
        let patches = self.cells.par_chunks(self.size).zip(&self.nodes);
        let lists: Vec<Lists> = patches.map(|(cells, of)| self.lists(cells, of, &nodes.is_shared, entries)).collect();
        let coords: Vec<Vec<f64>> = lists.par_iter().map(|patch| self.coords(patch, coords)).collect();
        let (mut places, mut starts, mut largest) = (Vec::new(), Vec::new(), [0; 2]);
        // Nodes, shared nodes, lines of starts and groups of coordinates.
        let mut total = [0_usize; 4];
        let halves = |[low, high]: [usize; 2]| (high << 16 | low) as u32;
        for (patch, coords) in lists.iter().zip(&coords) {
            let n = patch.nodes.len();
            for node in &patch.nodes[n - patch.n_shared..] {
                let next = &mut next[nodes.place[*node as usize] as usize];
                places.push(*next);
                *next += 1;
            }
            let [first, shared, start, coord] = total.map(|n| n as u32);
            let (counts, [held, n_held]) = (halves([n, n - patch.n_shared]), patch.held);
            starts.push([first, shared, start, coord, counts, halves([n_held, held]), halves(patch.n_coords), 0]);
            let lengths = [n, patch.n_shared, patch.slot_starts.len() / LINE, coords.len() / COORDS];
            total = [0, 1, 2, 3].map(|i| total[i] + lengths[i]);
            largest = [largest[0].max(n), largest[1].max(patch.n_coords[1])];
        }
        if total.iter().any(|n| u32::try_from(*n).is_err()) {
            return Err(Error::TooLarge("the patches have more than 2^32 nodes".into()));
        }
        let material = space.download(&block.material)?;
        let of_patch = |cells: &[u32]| {
            let mut of: Vec<u32> = cells.iter().map(|cell| material[*cell as usize]).collect();
            of.resize(self.pitch(), 0);
            of
        };
        let materials =
            if self.fixed.is_some() { self.cells.chunks(self.size).flat_map(of_patch).collect() } else { Vec::new() };
        let all = |of: fn(&Lists) -> &Vec<u16>| space.upload_vec(lists.iter().flat_map(of).copied().collect());
        let of_nodes = lists.iter().flat_map(|patch| &patch.nodes).map(|node| entries[*node as usize]);
        let list = PatchList {
            size: self.size,
            pitch: self.pitch(),
            stride: self.stride(),
            n_patches: lists.len(),
            sizes: [block.cells.kind.info().dim, mesh.components()],
            largest,
            is_straight: self.is_straight,
            fixed: self.fixed,
            cells: space.upload(&self.cells)?,
            materials: space.upload_vec(materials)?,
            starts: space.upload_vec(starts)?,
            nodes: space.upload_vec(of_nodes.collect())?,
            places: space.upload_vec(places)?,
            local: all(|patch| &patch.local)?,
            slot_starts: all(|patch| &patch.slot_starts)?,
            slots: all(|patch| &patch.slots)?,
        };
        Ok((list, coords.concat()))
    }
}
