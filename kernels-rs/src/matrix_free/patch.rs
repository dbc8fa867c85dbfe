//! The patches of a mesh, the memory of one, and who computes it: a block of threads, or a thread of a CPU.

use crate::real::Real;
use crate::reduce::warp_sum;
use cuda_std::prelude::*;
use cuda_std::shared::Shared;

/// The patches of the cells of one element type. All lists are patch after patch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Patches<T> {
    /// Cells of a patch; the last may have fewer.
    pub size: usize,
    /// Cells that lists of cells and slots have room for.
    pub pitch: usize,
    /// Entries of a patch in `local` and `slots`, a multiple of [`LINE`].
    pub stride: usize,
    /// The cells, `[n_cells]`.
    pub cells: View<u32>,
    /// Their materials, `[n_patches][pitch]`.
    pub materials: View<u32>,
    /// Where the lists of each patch begin and how long they are, see [`Start`]: `[n_patches]`.
    pub starts: View<Start>,
    /// The nodes of a patch: those of no other first, then the shared ones, and of these the held ones together. Of each, nodes
    /// with coordinates come first. See [`HELD`](super::shared::HELD).
    pub nodes: View<u32>,
    /// Where the sums of the shared nodes go, in the array of sums.
    pub places: View<u32>,
    /// Coordinates relative to the patch's first node, of all its nodes or of the corners alone, for formulas. Each list is
    /// filled up to a multiple of [`COORDS`].
    pub coords: View<T>,
    /// The place in the patch's list of each node of each cell, `[n_patches][stride]`: entry `b pitch + c` is of node b of
    /// cell c.
    pub local: View<u16>,
    /// Where the slots of each node of a patch start, and where the last end: `[nodes of the patch + 1]`, each list filled up to
    /// a multiple of [`LINE`].
    pub slot_starts: View<u16>,
    /// The slots of each node, `[n_patches][stride]`; slots are numbered as the entries of `local`.
    pub slots: View<u16>,
}

/// Where the lists of a patch begin: its first node, its first shared node among all, its first starts of slots in [`LINE`]s
/// and coordinates in [`COORDS`]; and, in halves of 16 bits from the lowest, how many nodes, private nodes, held nodes it has, which
/// is the first of these, and how many nodes with coordinates it has, among the private ones and in all. The last is of no use.
pub type Start = [u32; 8];

/// Entries of lists of 16 bits that are copied at a time.
pub const LINE: usize = 8;
/// Coordinates that their lists are filled up to a multiple of.
pub const COORDS: usize = 4;

/// The least multiple of [`LINE`] that is not below.
const fn in_lines(n: usize) -> usize {
    n.next_multiple_of(LINE)
}

/// A patch.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    /// Its number.
    pub(super) number: usize,
    /// Its first cell and how many it has.
    pub(super) cells: [usize; 2],
    /// Its first node and how many it has.
    pub(super) nodes: [usize; 2],
    /// Nodes that belong to no other.
    pub(super) n_private: usize,
    /// The first node that supports hold and how many they hold.
    pub(super) held: [usize; 2],
    /// Its first shared node among all.
    pub(super) first_shared: usize,
    /// Where its starts of slots begin, in lines.
    pub(super) first_start: usize,
    /// Where its coordinates begin.
    pub(super) first_coord: usize,
    /// Nodes with coordinates, among those that belong to no other and in all.
    pub(super) n_coords: [usize; 2],
}

impl<T: Real> Patches<T> {
    /// A patch.
    #[inline(always)]
    pub(super) unsafe fn patch(self, patch: usize) -> Patch {
        let [node, shared, start, coord, nodes, held, coords, _] = self.starts.at(patch);
        let low = |halves: u32| (halves & 0xffff) as usize;
        let high = |halves: u32| (halves >> 16) as usize;
        let first = patch * self.size;
        let left = self.cells.len() - first;
        Patch {
            number: patch,
            cells: [first, if left < self.size { left } else { self.size }],
            nodes: [node as usize, low(nodes)],
            n_private: high(nodes),
            held: [high(held), low(held)],
            first_shared: shared as usize,
            first_start: start as usize,
            first_coord: COORDS * coord as usize,
            n_coords: [low(coords), high(coords)],
        }
    }

    /// The place of node b of cell c in the patch's list.
    #[inline(always)]
    pub(super) unsafe fn local(self, patch: &Patch, b: usize, c: usize) -> usize {
        self.local.at(patch.number * self.stride + b * self.pitch + c) as usize
    }
}

/// What the memory of a patch has room for.
#[derive(Clone, Copy)]
pub struct Room {
    /// Nodes.
    pub nodes: usize,
    /// Coordinates.
    pub coords: usize,
    /// Components of x and of forces.
    pub size: usize,
    /// Slots.
    pub slots: usize,
    /// Words for anything else.
    pub scratch: usize,
    /// Vectors x.
    pub vectors: usize,
    /// Vectors whose forces are there at once.
    pub at_once: usize,
}

impl Room {
    /// For a vector, without formulas.
    pub const fn of_one(nodes: usize, dim: usize, size: usize, slots: usize) -> Self {
        Room { nodes, coords: dim * nodes, size, slots, scratch: 0, vectors: 1, at_once: 1 }
    }

    /// Whether there is room for the next vectors while those before them are computed with.
    const fn has_next(self) -> bool {
        self.vectors > self.at_once
    }

    /// Bytes of lists.
    const fn of_lists(self) -> usize {
        let of_16 = 2 * (in_lines(self.slots) + in_lines(self.nodes + 1));
        // Where sums go and, for the next vectors, the nodes.
        let of_32 = if self.has_next() { 2 } else { 1 };
        of_16 + of_32 * (4 * self.nodes).next_multiple_of(16)
    }

    /// Bytes of a patch's memory, aligned to 16 bytes: the lists of slots, where sums go, coordinates and values of nodes, and a
    /// force for each node of each cell.
    pub const fn bytes<T>(self) -> usize {
        let of_vectors = self.size * (self.vectors * self.nodes + self.at_once * self.slots);
        let words = self.coords.next_multiple_of(COORDS) + of_vectors + self.scratch;
        self.of_lists() + words * size_of::<T>()
    }
}

/// The memory of a patch.
#[derive(Clone, Copy)]
pub(super) struct Memory<T> {
    /// The nodes' slots, one after the other.
    pub(super) slots: Shared<u16>,
    /// Where each node's start.
    pub(super) starts: Shared<u16>,
    /// Where its sum goes.
    pub(super) to: Shared<u32>,
    /// Whether there is room for the next vectors.
    pub(super) has_next: bool,
    /// The entries of nodes, if so.
    pub(super) entries: Shared<u32>,
    /// `[nodes][DIM]`
    pub(super) coords: Shared<T>,
    /// `[vectors][nodes][size]`
    pub(super) values: Shared<T>,
    /// The forces, `[at_once][slots][size]`.
    pub(super) forces: Shared<T>,
    /// What is behind them.
    pub(super) scratch: Shared<T>,
}

impl<T: Real> Memory<T> {
    #[inline(always)]
    pub(super) unsafe fn new(memory: *mut u8, room: Room) -> Self {
        let memory = Shared::new(memory);
        let slots = memory.cast::<u16>();
        let starts = slots.offset(in_lines(room.slots));
        let coords = memory.offset(room.of_lists()).cast::<T>();
        let values = coords.offset(room.coords.next_multiple_of(COORDS));
        let forces = values.offset(room.vectors * room.size * room.nodes);
        let scratch = forces.offset(room.at_once * room.size * room.slots);
        let to = starts.offset(in_lines(room.nodes + 1)).cast::<u32>();
        let entries = to.offset(room.nodes.next_multiple_of(4));
        let has_next = room.has_next();
        Memory { slots, starts, to, has_next, entries, coords, values, forces, scratch }
    }
}

/// The first `n` components of a vector; the others are 0.
#[inline(always)]
pub(super) unsafe fn read<T: Real>(n: usize, from: Shared<T>) -> [T; 3] {
    if n == 3 {
        return from.get3();
    }
    let mut vector = [T::ZERO; 3];
    for i in 0..n {
        vector[i] = from.offset(i).get();
    }
    vector
}

/// Writes the first `n` components of a vector.
#[inline(always)]
pub(super) unsafe fn write<T: Real>(n: usize, to: Shared<T>, vector: [T; 3]) {
    if n == 3 {
        return to.put3(vector);
    }
    for i in 0..n {
        to.offset(i).put(vector[i]);
    }
}

/// Who computes a patch.
pub(super) trait Team: Copy {
    /// The number of this member.
    fn first(self) -> usize;
    /// How many there are.
    fn step(self) -> usize;
    /// Starts to copy an item into the memory of the patch.
    unsafe fn copy<X: DeviceCopy>(self, from: View<X>, i: usize, to: Shared<X>);
    /// Waits for the whole team, and for what it copies.
    unsafe fn wait(self);
    /// Writes sums of the team's terms, one of each warp: those of the first patch start at `first`.
    unsafe fn add_up(self, term: f64, to: ViewMut<f64>, first: usize, patch: usize);

    /// Calls `work` with the numbers below n, each once in the whole team.
    #[inline(always)]
    unsafe fn share(self, n: usize, mut work: impl FnMut(usize)) {
        let mut i = self.first();
        while i < n {
            work(i);
            i += self.step();
        }
    }

    /// Starts to copy 16 bytes at a time.
    #[inline(always)]
    unsafe fn copy_lines<X: DeviceCopy>(self, from: View<X>, first: usize, n: usize, to: Shared<X>) {
        let (from, to) = (from.reinterpret::<[u32; 4]>(), to.cast::<[u32; 4]>());
        self.share(n, |line| self.copy(from, first + line, to.offset(line)));
    }
}

/// A block of threads.
#[derive(Clone, Copy)]
pub(super) struct Block;

impl Team for Block {
    #[inline(always)]
    fn first(self) -> usize {
        thread::thread_idx_x() as usize
    }

    #[inline(always)]
    fn step(self) -> usize {
        thread::block_dim_x() as usize
    }

    #[inline(always)]
    unsafe fn copy<X: DeviceCopy>(self, from: View<X>, i: usize, to: Shared<X>) {
        shared::copy_async(from, i, to);
    }

    #[inline(always)]
    unsafe fn wait(self) {
        shared::wait_copies();
        thread::sync_threads();
    }

    #[inline(always)]
    unsafe fn add_up(self, term: f64, to: ViewMut<f64>, first: usize, patch: usize) {
        let (thread, [sum]) = (self.first(), warp_sum([term]));
        if thread % 32 == 0 {
            to.set(first + patch * (self.step() / 32) + thread / 32, sum);
        }
    }
}

/// A thread of a CPU.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub(super) struct Alone;

#[cfg(not(target_arch = "nvptx64"))]
impl Team for Alone {
    #[inline(always)]
    fn first(self) -> usize {
        0
    }

    #[inline(always)]
    fn step(self) -> usize {
        1
    }

    #[inline(always)]
    unsafe fn copy<X: DeviceCopy>(self, from: View<X>, i: usize, to: Shared<X>) {
        to.put(from.at(i));
    }

    #[inline(always)]
    unsafe fn wait(self) {}

    #[inline(always)]
    unsafe fn add_up(self, term: f64, to: ViewMut<f64>, first: usize, patch: usize) {
        to.set(first + patch, term);
    }
}
