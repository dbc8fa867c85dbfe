//! Patches: cells that lie together along a Hilbert curve, whose products a block of threads computes in shared memory. See
//! [`kernels_rs::matrix_free`]; they are made by [`kernels_rs::setup::patches`].

use super::{DeviceBlock, DeviceMesh};
use crate::device::{Buffer, Grid, MAX_SHARED, MOST_SHARED};
use crate::linalg::Space;
use crate::result::{Error, Result};
use cuda_std::prelude::View;
use kernels_rs::element::Element;
use kernels_rs::matrix_free::patch::{COORDS, LINE, Room, Start};
use kernels_rs::matrix_free::shared::{HELD, SharedNodes};
use kernels_rs::matrix_free::{self as device, FixedCell};
use kernels_rs::real::Real;
use kernels_rs::setup::order::Gather;
use kernels_rs::setup::patches::{
    CELL_BITS, CLASSES, CellKeys, ClassNodes, CountEntries, Divided, Entries, FindCurved, GiveSums, ListEntries,
    ListShared, MarkCorners, MarkEntries, Narrow, NodeKeys, NumberHeld, PairKeys, PlaceCoords, PlaceMaterials,
    PlaceNodes, PlaceRows, PlaceSlots, PlaceSums, RANK_BITS, RankKeys, SharedSums,
};

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
        Fixed {
            pitch: C::CELLS,
            threads: C::THREADS,
            corners: C::PLACED < <C::Element as Element>::N,
            scratch: C::SCRATCH,
        }
    }

    fn room(self, nodes: usize, with_coords: usize, n: usize, [vectors, at_once]: [usize; 2]) -> Room {
        let (coords, slots) = (3 * with_coords, n * self.pitch);
        Room { nodes, coords, size: 3, slots, scratch: self.scratch, vectors, at_once }
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

/// The cells of one element type, divided.
struct Division<'a> {
    block: &'a DeviceBlock,
    fixed: Option<Fixed>,
    is_straight: bool,
    size: usize,
    bits: u32,
    cells: Buffer<u32>,
    /// The pairs of cell and node, by patch and node.
    pairs: Buffer<u32>,
    /// The entries, see [`Entries`].
    nodes: Buffer<u32>,
    patches: Buffer<u32>,
    starts: Buffer<u32>,
    firsts: Buffer<u32>,
    /// How many entries each node has, `[n_nodes]`.
    counts: Buffer<u32>,
}

/// What the nodes of a mesh are to its patches, `[n_nodes]`.
struct Nodes {
    /// Their entries in lists of nodes.
    numbers: Buffer<u32>,
    flags: Buffer<u8>,
    /// The place of shared ones among these.
    places: Buffer<u32>,
    /// Sums that lists of patches have been given.
    given: Buffer<u32>,
    /// The shared nodes.
    shared: Buffer<u32>,
    /// Where the sums of these start.
    starts: Buffer<u32>,
    n_free: usize,
    n_partial: usize,
}

/// Bits of numbers below n.
fn bits(n: usize) -> u32 {
    usize::BITS - n.leading_zeros()
}

impl Patches {
    /// Divides a mesh into patches of up to `most` cells, by element type; `held` are the nodes where supports hold anything,
    /// ascending. `fixed` says by what formulas an element type is computed, whose edges are straight or not. Besides, of each
    /// type the coordinates that formulas take, see [`device::Patches::coords`].
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] where numbers of 31 bits for nodes, or of 32 for entries of lists, are not enough.
    pub fn new<T: Real>(
        space: &Space,
        mesh: &DeviceMesh,
        held: &Buffer<u32>,
        most: usize,
        fixed: impl Fn(&DeviceBlock, bool) -> Option<Fixed>,
    ) -> Result<(Self, Vec<Buffer<T>>)> {
        if mesh.n_nodes >= HELD as usize {
            return Err(Error::TooLarge(format!("{} nodes, and patches number them with 31 bits", mesh.n_nodes)));
        }
        let divide = |block| Division::new::<T>(space, (mesh, block), most, &fixed);
        let divisions: Vec<Division> = mesh.blocks.iter().map(divide).collect::<Result<_>>()?;
        let mut nodes = Nodes::new(space, mesh, &divisions, held)?;
        let (mut lists, mut coords) = (Vec::new(), Vec::new());
        for division in divisions {
            let (list, of_nodes) = division.list(space, mesh, &mut nodes)?;
            lists.push(list);
            coords.push(of_nodes);
        }
        let addition = nodes.addition(space, mesh)?;
        let Nodes { shared, starts, n_free, n_partial, .. } = nodes;
        Ok((Patches { lists, n_shared: shared.len(), n_free, n_partial, addition, nodes: shared, starts }, coords))
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
    /// As kernels see them, with coordinates or without.
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
    pub fn common_grid<T>(&self) -> Grid {
        let (blocks, threads) = (self.n_patches, self.size.next_multiple_of(32).clamp(MIN_THREADS, MAX_THREADS));
        let ([dim, size], [nodes, _]) = (self.sizes, self.largest);
        let room = Room::of_one(nodes, dim, size, self.stride);
        Grid { blocks, threads, shared_bytes: room.bytes::<T>() }
    }

    /// A block of threads for each patch, with memory for so many vectors and the forces of so many at once.
    pub fn grid<T>(&self, vectors: [usize; 2]) -> Grid {
        let Some(fixed) = self.fixed else { return self.common_grid::<T>() };
        let ([nodes, with_coords], n) = (self.largest, self.stride / self.pitch);
        let shared_bytes = fixed.room(nodes, with_coords, n, vectors).bytes::<T>();
        Grid { blocks: self.n_patches, threads: fixed.threads, shared_bytes }
    }

    /// Warps of all blocks.
    pub fn n_warps(&self) -> usize {
        let grid = self.grid::<f64>([1, 1]);
        grid.blocks * grid.threads / 32
    }

    fn bytes(&self) -> u64 {
        let of_16 = self.local.bytes() + self.slot_starts.bytes() + self.slots.bytes();
        let of_32 = self.cells.bytes() + self.materials.bytes() + self.nodes.bytes() + self.places.bytes();
        self.starts.bytes() + of_16 + of_32
    }
}

impl<'a> Division<'a> {
    /// Divides the cells of one type into patches of up to `most`, as large as fit in a block's memory.
    fn new<T: Real>(
        space: &Space,
        (mesh, block): (&DeviceMesh, &'a DeviceBlock),
        most: usize,
        fixed: impl Fn(&DeviceBlock, bool) -> Option<Fixed>,
    ) -> Result<Self> {
        let (kind, n_cells) = (block.cells.kind, block.cells.n_cells);
        let n = kind.info().n_nodes;
        let is_straight = is_straight(space, mesh, block)?;
        let fixed = fixed(block, is_straight);
        let (nodes, coords, mut keys) = (block.cells.nodes.view(), mesh.coords().view(), space.zeros(n_cells)?);
        // SAFETY: the cells of this mesh, which live until `sort_order`, and a key for each.
        unsafe { space.run(n_cells, CellKeys { lattice: mesh.lattice, n, nodes, coords, keys: keys.view_mut() }) }?;
        let cells = space.sort_order(&keys, CELL_BITS)?;
        drop(keys);
        let (dim, components) = (kind.info().dim, mesh.components());
        let slots = |size: usize| n * fixed.map_or(size, |of| of.pitch);
        let fits = |nodes: usize, size: usize| {
            let room = Room::of_one(nodes, dim, components, slots(size));
            match fixed {
                Some(of) => room.bytes::<f64>().max(of.room(nodes, nodes, n, [1, 1]).bytes::<T>()) <= MOST_SHARED,
                None => room.bytes::<f64>() <= MAX_SHARED,
            }
        };
        let most = most.min(fixed.map_or(MOST_OF_COMMON, |of| of.pitch)).max(1);
        let counts = space.zeros(mesh.n_nodes)?;
        let (bits, empty) = (bits(mesh.n_nodes), || space.zeros(0));
        let (pairs, nodes, patches, starts, firsts) = (empty()?, empty()?, empty()?, empty()?, empty()?);
        let mut division =
            Division { block, fixed, is_straight, size: 0, bits, cells, pairs, nodes, patches, starts, firsts, counts };
        // A patch has as many nodes as a cell at least.
        for size in SIZES.iter().map(|size| most.min(*size)).filter(|size| fits(n, *size)) {
            let largest = division.list_entries(space, size)?;
            if fits(largest, size) {
                let (nodes, counts) = (division.nodes.view(), division.counts.view_mut());
                // SAFETY: nodes of this mesh, which has a count for each.
                unsafe { space.run(division.nodes.len(), CountEntries { nodes, counts }) }?;
                return Ok(division);
            }
        }
        unreachable!("eight cells of any type fit")
    }

    /// How kernels see it.
    fn view(&self) -> Divided {
        let (n, nodes, cells) = (self.n(), self.block.cells.nodes.view(), self.cells.view());
        Divided { n, size: self.size, pitch: self.pitch(), bits: self.bits, nodes, cells }
    }

    fn entries(&self) -> Entries {
        let (nodes, patches, starts) = (self.nodes.view(), self.patches.view(), self.starts.view());
        Entries { nodes, patches, starts, firsts: self.firsts.view() }
    }

    /// Nodes of a cell.
    fn n(&self) -> usize {
        self.block.cells.kind.info().n_nodes
    }

    /// Cells that the lists of a patch have room for.
    fn pitch(&self) -> usize {
        self.fixed.map_or(self.size, |of| of.pitch)
    }

    /// Entries of a patch in lists of slots.
    fn stride(&self) -> usize {
        (self.n() * self.pitch()).next_multiple_of(LINE)
    }

    fn n_patches(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Lists the nodes of patches of so many cells; the most that one has.
    fn list_entries(&mut self, space: &Space, size: usize) -> Result<usize> {
        self.size = size;
        let (n_cells, bits) = (self.block.cells.n_cells, self.bits);
        let (n_patches, n_pairs) = (n_cells.div_ceil(size), n_cells * self.n());
        if u32::try_from(n_pairs).is_err() {
            return Err(Error::TooLarge(format!("{n_pairs} nodes of cells, and patches number them with 32 bits")));
        }
        let (mut keys, of) = (space.zeros(n_pairs)?, self.view());
        // SAFETY: the cells of this mesh; all here live until `finish`, with an entry for each pair.
        unsafe { space.run(n_pairs, PairKeys { of, keys: keys.view_mut() }) }?;
        let order = space.sort_order(&keys, bits + self::bits(n_patches))?;
        let mut marks = space.zeros(n_pairs)?;
        let (from, by) = (keys.view(), order.view());
        // SAFETY: as above.
        unsafe { space.run(n_pairs, MarkEntries { keys: from, order: by, marks: marks.view_mut() }) }?;
        let before = space.exclusive_sum(&marks)?;
        let n = space.read_at(&before, n_pairs)? as usize;
        let (mut nodes, mut patches) = (space.zeros(n)?, space.zeros(n)?);
        let (mut starts, mut firsts) = (space.zeros(n + 1)?, space.zeros(n_patches + 1)?);
        let list = ListEntries {
            bits,
            keys: from,
            order: by,
            before: before.view(),
            nodes: nodes.view_mut(),
            patches: patches.view_mut(),
            starts: starts.view_mut(),
            firsts: firsts.view_mut(),
        };
        // SAFETY: as above, with a place for each entry and each patch.
        unsafe { space.run(n_pairs, list) }?;
        let largest = space.download(&firsts)?.windows(2).map(|of| (of[1] - of[0]) as usize).max();
        (self.pairs, self.nodes, self.patches, self.starts, self.firsts) = (order, nodes, patches, starts, firsts);
        Ok(largest.unwrap_or(0))
    }

    /// Whether formulas ask for the coordinates of each node, `[n_nodes]`.
    fn has_coords(&self, space: &Space, n_nodes: usize) -> Result<Buffer<u8>> {
        let Some(fixed) = self.fixed else { return space.zeros(n_nodes) };
        if !fixed.corners {
            return space.upload_vec(vec![1; n_nodes]);
        }
        let (n_corners, nodes, mut marks) =
            (self.block.cells.kind.info().n_corners, self.block.cells.nodes.view(), space.zeros(n_nodes)?);
        let kernel = MarkCorners { n: self.n(), n_corners, nodes, marks: marks.view_mut() };
        // SAFETY: the cells of this mesh, with a mark for each node; all live until `finish`.
        unsafe { space.run(self.block.cells.n_cells, kernel) }?;
        space.finish()?;
        Ok(marks)
    }

    /// The lists of the patches, and the coordinates of their nodes.
    fn list<T: Real>(self, space: &Space, mesh: &DeviceMesh, nodes: &mut Nodes) -> Result<(PatchList, Buffer<T>)> {
        let (entries, n) = (self.entries(), self.nodes.len());
        let has_coords = self.has_coords(space, mesh.n_nodes)?;
        let (mut keys, mut counts) = (space.zeros(n)?, space.zeros(self.n_patches() * CLASSES)?);
        let (flags, of_coords) = (nodes.flags.view(), has_coords.view());
        let (to, of_classes) = (keys.view_mut(), counts.view_mut());
        let kernel = RankKeys { entries, flags, has_coords: of_coords, keys: to, counts: of_classes };
        // SAFETY: entries of nodes and patches of this mesh, with a key for each; all here live until `finish`.
        unsafe { space.run(n, kernel) }?;
        let order = space.sort_order(&keys, RANK_BITS + bits(self.n_patches()))?;
        let (starts, [n_shared, n_lines, n_groups], largest) = starts(&space.download(&counts)?)?;
        let starts = space.upload_vec(starts)?;
        let (mut listed, mut ranks, mut lengths) = (space.zeros(n)?, space.zeros(n)?, space.zeros(n)?);
        let kernel = PlaceNodes {
            entries,
            order: order.view(),
            numbers: nodes.numbers.view(),
            nodes: listed.view_mut(),
            ranks: ranks.view_mut(),
            lengths: lengths.view_mut(),
        };
        // SAFETY: as above.
        unsafe { space.run(n, kernel) }?;
        let before = space.exclusive_sum(&lengths)?;
        let n_slots = self.n_patches() * self.stride();
        let (mut slot_starts, mut slots, mut local) =
            (space.zeros(LINE * n_lines)?, space.zeros(n_slots)?, space.zeros(n_slots)?);
        let kernel = PlaceSlots {
            of: self.view(),
            entries,
            stride: self.stride(),
            patches: starts.view(),
            pairs: self.pairs.view(),
            order: order.view(),
            before: before.view(),
            slot_starts: slot_starts.view_mut(),
            slots: slots.view_mut(),
            local: local.view_mut(),
        };
        // SAFETY: as above; lists begin where `starts` says, and each has its entry or its slot.
        unsafe { space.run(n, kernel) }?;
        let mut coords = space.zeros(if self.fixed.is_some() { COORDS * n_groups } else { 0 })?;
        let kernel = PlaceCoords::<T> {
            entries,
            patches: starts.view(),
            order: order.view(),
            counts: counts.view(),
            has_coords: of_coords,
            coords: mesh.coords().view(),
            relative: coords.view_mut(),
        };
        // SAFETY: as above; without formulas no node has coordinates.
        unsafe { space.run(n, kernel) }?;
        let places = nodes.place_sums(space, &self, &starts, &ranks, n_shared)?;
        space.finish()?;
        let list = PatchList {
            size: self.size,
            pitch: self.pitch(),
            stride: self.stride(),
            n_patches: self.n_patches(),
            sizes: [self.block.cells.kind.info().dim, mesh.components()],
            largest,
            is_straight: self.is_straight,
            fixed: self.fixed,
            materials: self.materials(space)?,
            cells: self.cells,
            starts,
            nodes: listed,
            places,
            local,
            slot_starts,
            slots,
        };
        Ok((list, coords))
    }

    /// The materials of the cells, for formulas.
    fn materials(&self, space: &Space) -> Result<Buffer<u32>> {
        let (size, pitch) = (self.size, self.pitch());
        let mut materials = space.zeros(if self.fixed.is_some() { pitch * self.n_patches() } else { 0 })?;
        if self.fixed.is_some() {
            let (cells, material, materials) = (self.cells.view(), self.block.material.view(), materials.view_mut());
            // SAFETY: as many cells as have a material, and room for each; all live until `finish`.
            unsafe { space.run(self.cells.len(), PlaceMaterials { size, pitch, cells, material, materials }) }?;
            space.finish()?;
        }
        Ok(materials)
    }
}

/// Where the lists of patches begin, from how many nodes of each class they have; how many shared nodes, lines of starts and
/// groups of coordinates there are; and the most nodes of a patch, and nodes with coordinates.
fn starts(counts: &[u32]) -> Result<(Vec<Start>, [usize; 3], [usize; 2])> {
    let halves = |low: u32, high: u32| high << 16 | low;
    let (mut starts, mut largest, mut total) = (Vec::new(), [0; 2], [0_usize; 4]);
    for counts in counts.chunks_exact(CLASSES) {
        let n_of = |classes: &[usize]| classes.iter().map(|class| counts[*class]).sum::<u32>();
        let (n, n_private, with_coords) = (n_of(&[0, 1, 2, 3, 4, 5]), n_of(&[0, 1]), n_of(&[0, 2, 3]));
        let [first, shared, line, group] = total.map(|n| n as u32);
        let held = halves(n_of(&[3, 4]), n_of(&[0, 1, 2]));
        starts.push([first, shared, line, group, halves(n, n_private), held, halves(counts[0], with_coords), 0]);
        let [n, n_private, with_coords] = [n, n_private, with_coords].map(|n| n as usize);
        let lengths = [n, n - n_private, (n + 1).div_ceil(LINE), (3 * with_coords).div_ceil(COORDS)];
        total = [0, 1, 2, 3].map(|i| total[i] + lengths[i]);
        largest = [largest[0].max(n), largest[1].max(with_coords)];
    }
    if total.iter().any(|n| u32::try_from(*n).is_err()) {
        return Err(Error::TooLarge("the patches have more than 2^32 nodes".into()));
    }
    let [_, n_shared, n_lines, n_groups] = total;
    Ok((starts, [n_shared, n_lines, n_groups], largest))
}

/// Whether the nodes between the corners of a block's cells are in the middle, to rounding of their coordinates.
fn is_straight(space: &Space, mesh: &DeviceMesh, block: &DeviceBlock) -> Result<bool> {
    let kind = block.cells.kind;
    let edges = kind.edges().iter().filter_map(|edge| Some([edge[0] as u32, edge[1] as u32, *edge.get(2)? as u32]));
    let edges = space.upload_vec(edges.collect::<Vec<[u32; 3]>>())?;
    let (n, mut curved) = (kind.info().n_nodes, space.zeros(1)?);
    let (nodes, coords) = (block.cells.nodes.view(), mesh.coords().view());
    let kernel = FindCurved { edges: edges.view(), n, nodes, coords, curved: curved.view_mut() };
    // SAFETY: the cells of this mesh, which live until `read_at`.
    unsafe { space.run(block.cells.n_cells, kernel) }?;
    Ok(space.read_at(&curved, 0)? == 0)
}

/// Whether something is added to the row of each node, `[n_nodes]`.
fn added(space: &Space, mesh: &DeviceMesh) -> Result<Buffer<u8>> {
    let Some(addition) = &mesh.addition else { return space.zeros(mesh.n_nodes) };
    let mut added = vec![0; mesh.n_nodes];
    addition.rows(space)?.iter().for_each(|row| added[*row as usize] = 1);
    space.upload_vec(added)
}

impl Nodes {
    /// Of a mesh that is divided so, some of whose nodes supports hold.
    fn new(space: &Space, mesh: &DeviceMesh, divisions: &[Division], held: &Buffer<u32>) -> Result<Self> {
        let n = mesh.n_nodes;
        let mut numbers = space.upload_vec((0..n as u32).collect())?;
        // SAFETY: here and below lists of this mesh's nodes, which live until `finish`.
        unsafe { space.run(held.len(), NumberHeld { rows: held.view(), numbers: numbers.view_mut() }) }?;
        let (added, mut counts) = (added(space, mesh)?, space.zeros(n)?);
        for division in divisions {
            // SAFETY: as above.
            unsafe { space.run(n, GiveSums { more: division.counts.view(), given: counts.view_mut() }) }?;
        }
        let (mut flags, mut marks) = (space.zeros(n)?, space.zeros(n)?);
        let kernel = ClassNodes {
            counts: counts.view(),
            numbers: numbers.view(),
            added: added.view(),
            flags: flags.view_mut(),
            marks: marks.view_mut(),
        };
        // SAFETY: as above.
        unsafe { space.run(n, kernel) }?;
        let before = space.exclusive_sum(&marks)?;
        let n_free = space.read_at(&before, n)? as usize;
        let n_shared = n_free + held.len();
        let (mut places, mut shared, mut lengths) = (space.zeros(n)?, space.zeros(n_shared)?, space.zeros(n_shared)?);
        let kernel = ListShared {
            before: before.view(),
            numbers: numbers.view(),
            flags: flags.view(),
            counts: counts.view(),
            added: added.view(),
            places: places.view_mut(),
            shared: shared.view_mut(),
            lengths: lengths.view_mut(),
        };
        // SAFETY: as above, with a place for each shared node.
        unsafe { space.run(n, kernel) }?;
        let sums = space.exclusive_sum(&lengths)?;
        let n_partial = space.read_at(&sums, n_shared)? as usize;
        if u32::try_from(n_partial).is_err() {
            return Err(Error::TooLarge("patches share more than 2^32 nodes".into()));
        }
        let mut starts = space.zeros(n_shared + 1)?;
        // SAFETY: as above.
        unsafe { space.run(n_shared + 1, Narrow { from: sums.view(), to: starts.view_mut() }) }?;
        space.finish()?;
        Ok(Nodes { numbers, flags, places, given: space.zeros(n)?, shared, starts, n_free, n_partial })
    }

    fn sums(&self) -> SharedSums {
        let (flags, places, starts) = (self.flags.view(), self.places.view(), self.starts.view());
        SharedSums { flags, places, starts, given: self.given.view() }
    }

    /// Where the sums of the shared nodes of patches go; these have been given then.
    fn place_sums(
        &mut self,
        space: &Space,
        of: &Division,
        patches: &Buffer<Start>,
        ranks: &Buffer<u16>,
        n_shared: usize,
    ) -> Result<Buffer<u32>> {
        let (n, n_nodes) = (of.nodes.len(), self.flags.len());
        let (mut keys, mut places) = (space.zeros(n)?, space.zeros(n_shared)?);
        // SAFETY: here and below the entries of this mesh's patches, whose lists live until `finish`.
        unsafe { space.run(n, NodeKeys { nodes: of.nodes.view(), keys: keys.view_mut() }) }?;
        let (by_node, before) = (space.sort_order(&keys, of.bits)?, space.exclusive_sum(&of.counts)?);
        let kernel = PlaceSums {
            entries: of.entries(),
            sums: self.sums(),
            patches: patches.view(),
            by_node: by_node.view(),
            before: before.view(),
            ranks: ranks.view(),
            to: places.view_mut(),
        };
        // SAFETY: as above, with a place for each shared node of each patch.
        unsafe {
            space.run(n, kernel)?;
            space.run(n_nodes, GiveSums { more: of.counts.view(), given: self.given.view_mut() })?;
        }
        space.finish()?;
        Ok(places)
    }

    /// Where an addition to K takes part.
    fn addition(&self, space: &Space, mesh: &DeviceMesh) -> Result<Option<AdditionPlaces>> {
        let Some(addition) = &mesh.addition else { return Ok(None) };
        let (rows, columns) = (space.upload_vec(addition.rows(space)?)?, space.upload_vec(addition.columns(space)?)?);
        let (mut places, mut entries) = (space.zeros(rows.len())?, space.zeros(columns.len())?);
        let gather = Gather { index: columns.view(), from: self.numbers.view(), out: entries.view_mut() };
        // SAFETY: rows and columns of this mesh; all live until `finish`.
        unsafe {
            space.run(rows.len(), PlaceRows { rows: rows.view(), sums: self.sums(), to: places.view_mut() })?;
            space.run(columns.len(), gather)?;
        }
        space.finish()?;
        Ok(Some(AdditionPlaces { columns: entries, places }))
    }
}
