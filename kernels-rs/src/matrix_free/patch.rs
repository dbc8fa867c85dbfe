//! The patches of a mesh, the memory of one, and who computes it: a block of threads, or a thread of a CPU.

use crate::element::Element;
use crate::form::{Form, size};
use crate::real::Real;
use cuda_std::prelude::*;
use cuda_std::shared::Shared;

/// The patches of the cells of one element type. All lists are patch after patch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Patches {
    /// Cells of a patch; the last may have fewer.
    pub size: usize,
    /// Entries of a patch in `local` and `slots`, a multiple of [`LINE`].
    pub stride: usize,
    /// The cells, `[n_cells]`.
    pub cells: View<u32>,
    /// Where the lists of nodes, of shared nodes and of starts begin, `[n_patches + 1]`.
    pub starts: View<[u64; 3]>,
    /// The nodes of a patch: those of no other first, then the shared ones. See [`HELD`](super::shared::HELD) and
    /// [`MIDDLE`](super::shared::MIDDLE).
    pub nodes: View<u32>,
    /// Where the sums of the shared nodes go, in the array of sums.
    pub places: View<u32>,
    /// The place in the patch's list of each node of each cell, `[n_patches][stride]`: entry `b m + c` is of node b of cell c,
    /// of m.
    pub local: View<u16>,
    /// Where the slots of each node of a patch start, and where the last end: `[nodes of the patch + 1]`, each list filled up to
    /// a multiple of [`LINE`].
    pub slot_starts: View<u16>,
    /// The slots of each node, `[n_patches][stride]`; slots are numbered as the entries of `local`.
    pub slots: View<u16>,
}

/// Entries of lists of 16 bits that are copied at a time.
pub const LINE: usize = 8;

/// The least multiple of [`LINE`] that is not below.
const fn in_lines(n: usize) -> usize {
    n.next_multiple_of(LINE)
}

/// A patch.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    /// Its first cell and how many it has.
    pub(super) cells: [usize; 2],
    /// Its first node and how many it has.
    pub(super) nodes: [usize; 2],
    /// Nodes that belong to no other.
    pub(super) n_private: usize,
    /// Its first shared node among all.
    pub(super) first_shared: usize,
    /// Where its starts of slots begin.
    pub(super) first_start: usize,
    /// Where its cells' nodes begin, and its slots, and how many there are.
    pub(super) slots: [usize; 2],
}

impl Patches {
    /// A patch of cells of `n` nodes.
    #[inline(always)]
    pub(super) unsafe fn patch(self, n: usize, patch: usize) -> Patch {
        let ([node, shared, first_start], [node_end, shared_end, _]) =
            (self.starts.at(patch), self.starts.at(patch + 1));
        let (first, n_nodes) = (patch * self.size, (node_end - node) as usize);
        let left = self.cells.len() - first;
        let n_cells = if left < self.size { left } else { self.size };
        Patch {
            cells: [first, n_cells],
            nodes: [node as usize, n_nodes],
            n_private: n_nodes - (shared_end - shared) as usize,
            first_shared: shared as usize,
            first_start: first_start as usize,
            slots: [patch * self.stride, n * n_cells],
        }
    }

    /// The place of node b of cell c in the patch's list.
    #[inline(always)]
    pub(super) unsafe fn local(self, patch: &Patch, b: usize, c: usize) -> usize {
        self.local.at(patch.slots[0] + b * patch.cells[1] + c) as usize
    }
}

/// Bytes of the memory of a patch: coordinates and values of its nodes, a force for each node of each cell, and the lists of
/// slots. It is aligned to 16 bytes.
pub const fn bytes<T>(dim: usize, size: usize, n_nodes: usize, n_slots: usize) -> usize {
    let words = (dim + size) * n_nodes + size * n_slots;
    (words * size_of::<T>()).next_multiple_of(16) + 2 * (in_lines(n_slots) + in_lines(n_nodes + 1))
}

/// The memory of a patch.
#[derive(Clone, Copy)]
pub(super) struct Memory<T> {
    /// `[nodes][DIM]`
    pub(super) coords: Shared<T>,
    /// `[nodes][size]`
    pub(super) values: Shared<T>,
    /// The forces, `[slots][size]`.
    pub(super) forces: Shared<T>,
    /// The nodes' slots, one after the other.
    pub(super) slots: Shared<u16>,
    /// Where each node's start.
    pub(super) starts: Shared<u16>,
}

impl<T: Real> Memory<T> {
    #[inline(always)]
    pub(super) unsafe fn new<E: Element, P: Form>(memory: *mut u8, patch: &Patch) -> Self {
        let ([_, n_nodes], [_, n_slots]) = (patch.nodes, patch.slots);
        let (memory, words) = (Shared::new(memory), (E::DIM + size::<E, P>()) * n_nodes + size::<E, P>() * n_slots);
        let coords = memory.cast::<T>();
        let values = coords.offset(E::DIM * n_nodes);
        let slots = memory.offset((words * size_of::<T>()).next_multiple_of(16)).cast::<u16>();
        let forces = values.offset(size::<E, P>() * n_nodes);
        Memory { coords, values, forces, slots, starts: slots.offset(in_lines(n_slots)) }
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

    /// Calls `work` with the numbers below n, each once in the whole team.
    #[inline(always)]
    unsafe fn share(self, n: usize, mut work: impl FnMut(usize)) {
        let mut i = self.first();
        while i < n {
            work(i);
            i += self.step();
        }
    }

    /// Starts to copy a list, and what it is filled up with.
    #[inline(always)]
    unsafe fn copy_list(self, from: View<u16>, first: usize, n: usize, to: Shared<u16>) {
        let (from, to) = (from.reinterpret::<[u16; LINE]>(), to.cast::<[u16; LINE]>());
        self.share(in_lines(n) / LINE, |line| self.copy(from, first / LINE + line, to.offset(line)));
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
}
