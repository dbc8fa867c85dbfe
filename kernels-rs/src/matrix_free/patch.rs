//! Products and diagonals patch by patch: the kernels over blocks of threads, and the same on a CPU.

use super::cell::{Tables, forces, node_blocks};
use super::shared::{HELD, Held};
use super::{Plane, Ring, Solid};
use crate::assembly::MeshView;
use crate::element::*;
use crate::form::{Elasticity, Flux, Form, General, Scalar, size};
use crate::real::Real;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
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
    /// The nodes of a patch: those of no other first, then the shared ones; a number with the bit [`HELD`] is a place among
    /// the held nodes.
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
    (n + LINE - 1) / LINE * LINE
}

/// A patch.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    /// Its first cell and how many it has.
    pub(super) cells: [usize; 2],
    /// Its first node and how many it has.
    nodes: [usize; 2],
    /// Nodes that belong to no other.
    n_private: usize,
    /// Its first shared node among all.
    first_shared: usize,
    /// Where its starts of slots begin.
    first_start: usize,
    /// Where its cells' nodes begin, and its slots, and how many there are.
    slots: [usize; 2],
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

/// What products are computed from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operator<T> {
    /// The patches of one element type.
    pub patches: Patches,
    /// Its rule.
    pub tables: Tables<T>,
    /// Coordinates and materials.
    pub mesh: MeshView,
    /// The supports.
    pub held: Held<T>,
}

/// Where the sums of patches go.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sums<T> {
    /// The sums of nodes of one patch alone, `[n_nodes][size]`.
    pub y: ViewMut<T>,
    /// Those of shared nodes, node by node: `[.][size]`.
    pub partial: ViewMut<T>,
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
    slots: Shared<u16>,
    /// Where each node's start.
    starts: Shared<u16>,
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

impl<T: Real> Operator<T> {
    /// Brings the coordinates of a patch's nodes and its lists into its memory, and what is free of x there; each member of the
    /// team those of K nodes at a time.
    #[inline(always)]
    pub(super) unsafe fn load<E: Element, P: Form, const K: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        x: View<T>,
    ) {
        let ([first, n], step, size) = (patch.nodes, team.step(), size::<E, P>());
        let origin = self.mesh.origin::<E>(self.held.node(self.patches.nodes.at(first)));
        team.copy_list(self.patches.slots, patch.slots[0], patch.slots[1], memory.slots);
        team.copy_list(self.patches.slot_starts, patch.first_start, n + 1, memory.starts);
        let mut next = team.first();
        while next < n {
            let place = |k: usize| if next + k * step < n { next + k * step } else { next };
            let entries: [u32; K] = core::array::from_fn(|k| self.patches.nodes.at(first + place(k)));
            for k in 0..K {
                if entries[k] & HELD == 0 && next + k * step < n && !x.is_empty() {
                    for c in 0..size {
                        team.copy(x, size * entries[k] as usize + c, memory.values.offset(size * place(k) + c));
                    }
                }
            }
            let coords = entries.map(|entry| self.mesh.relative::<T>(self.held.node(entry), origin));
            for k in 0..K {
                write(E::DIM, memory.coords.offset(E::DIM * place(k)), coords[k]);
            }
            next += K * step;
        }
        if !x.is_empty() && !self.held.rows.is_empty() {
            // Held nodes are among the shared ones.
            team.share(n - patch.n_private, |i| {
                let i = patch.n_private + i;
                let entry = self.patches.nodes.at(first + i);
                if entry & HELD != 0 {
                    write(size, memory.values.offset(size * i), self.held.taken(entry, size, x));
                }
            });
        }
        team.wait();
    }

    /// Sets the forces of a cell to 0.
    #[inline(always)]
    unsafe fn clear<E: Element, P: Form>(self, patch: &Patch, c: usize, memory: Memory<T>) {
        for b in 0..self.tables.n {
            write(size::<E, P>(), memory.forces.offset(size::<E, P>() * (b * patch.cells[1] + c)), [T::ZERO; 3]);
        }
    }

    /// The sums of the nodes' forces, to where they belong.
    #[inline(always)]
    pub(super) unsafe fn sum<E: Element, P: Form>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        to: Sums<T>,
    ) {
        let size = size::<E, P>();
        team.wait();
        team.share(size * patch.nodes[1], |k| {
            // Division of 32 bits is the faster.
            let i = (k as u32 / size as u32) as usize;
            let (c, is_private) = (k - size * i, i < patch.n_private);
            let place = match is_private {
                true => self.patches.nodes.at(patch.nodes[0] + i),
                false => self.patches.places.at(patch.first_shared + i - patch.n_private),
            };
            let (start, end) = (memory.starts.offset(i).get(), memory.starts.offset(i + 1).get());
            let forces = memory.forces.offset(c);
            let force = |slot: u16| forces.offset(size * memory.slots.offset(slot as usize).get() as usize).get();
            let (mut sum, mut slot) = (T::ZERO, start);
            while slot + 4 <= end {
                let next = [force(slot), force(slot + 1), force(slot + 2), force(slot + 3)];
                sum = sum + next[0] + next[1] + next[2] + next[3];
                slot += 4;
            }
            while slot < end {
                sum += force(slot);
                slot += 1;
            }
            let to = if is_private { to.y } else { to.partial };
            to.set(size * place as usize + c, sum);
        });
    }

    /// A patch's share of `K x`.
    #[inline(always)]
    unsafe fn product<E: Element, P: Flux>(
        self,
        team: impl Team,
        patch: usize,
        memory: *mut u8,
        x: View<T>,
        to: Sums<T>,
    ) {
        let size = size::<E, P>();
        let patch = self.patches.patch(self.tables.n, patch);
        let memory = Memory::new::<E, P>(memory, &patch);
        self.load::<E, P, 2>(team, &patch, memory, x);
        let [first, n_cells] = patch.cells;
        team.share(n_cells, |c| {
            let constants = self.mesh.cell_stiffness::<P, T>(self.patches.cells.at(first + c) as usize);
            self.clear::<E, P>(&patch, c, memory);
            forces::<E, P, T>(
                self.tables,
                constants,
                |b| read(E::DIM, memory.coords.offset(E::DIM * self.patches.local(&patch, b, c))),
                |b| read(size, memory.values.offset(size * self.patches.local(&patch, b, c))),
                |b, force| {
                    let to = memory.forces.offset(size * (b * n_cells + c));
                    let sum = read(size, to);
                    write(size, to, core::array::from_fn(|i| sum[i] + force[i]));
                },
            );
        });
        self.sum::<E, P>(team, &patch, memory, to);
    }

    /// A patch's share of what [`patch_blocks`] computes.
    #[inline(always)]
    unsafe fn blocks<E: Element, P: Form>(
        self,
        team: impl Team,
        patch: usize,
        memory: *mut u8,
        part: u32,
        to: Sums<T>,
    ) {
        let size = size::<E, P>();
        let patch = self.patches.patch(self.tables.n, patch);
        let memory = Memory::new::<E, P>(memory, &patch);
        self.load::<E, P, 1>(team, &patch, memory, View::from_slice(&[]));
        let [first, n_cells] = patch.cells;
        team.share(n_cells, |c| {
            let constants = self.mesh.cell_stiffness::<P, T>(self.patches.cells.at(first + c) as usize);
            let slot = |b: usize, i: usize| memory.forces.offset(size * (b * n_cells + c) + i);
            self.clear::<E, P>(&patch, c, memory);
            node_blocks::<E, P, T>(
                self.tables,
                constants,
                |b| read(E::DIM, memory.coords.offset(E::DIM * self.patches.local(&patch, b, c))),
                |b, k| {
                    let entries =
                        if part == ACROSS { [k[0][1], k[1][2], k[0][2]] } else { [k[0][0], k[1][1], k[2][2]] };
                    for i in 0..size {
                        slot(b, i).put(slot(b, i).get() + entries[i]);
                    }
                },
            );
            if part == ROW_SUMS {
                let mut sum = T::ZERO;
                for b in 0..self.tables.n {
                    for i in 0..size {
                        let root = slot(b, i).get().sqrt();
                        slot(b, i).put(root);
                        sum += root;
                    }
                }
                for b in 0..self.tables.n {
                    for i in 0..size {
                        slot(b, i).put(sum * slot(b, i).get());
                    }
                }
            }
        });
        self.sum::<E, P>(team, &patch, memory, to);
    }
}

/// Part of [`patch_blocks`]: the diagonal.
pub const DIAGONAL: u32 = 0;
/// The entries (0, 1), (1, 2) and (0, 2) of the diagonal blocks, as far as they have them; only the first `size` are there.
pub const ACROSS: u32 = 1;
/// Bounds of the sums of magnitudes in each row, from `|K_ij| <= sqrt(K_ii K_jj)` in each cell.
pub const ROW_SUMS: u32 = 2;

/// Computes: each patch's share of `y = K x`, of isotropic elasticity; see the [module](super).
///
/// Parameters: `x [n_nodes][size]`. Thread mapping: a block per patch, with [`bytes`] bytes of dynamic shared memory.
/// Memory moved per cell: 4 N B of connectivity and slots, 12 B of material; per node of a patch a number, coordinates
/// (24 B) and x (through the cache), 2 B of starts; a word per component of y, or twice where patches share the node.
/// Operations: those of [`forces`] per point. In shared memory a point reads 6 words per node of a cell, and reads and writes 3.
#[kernel(E = [Solid, Plane], P = [Elasticity], T = [f32, f64])]
pub unsafe fn patch_product<E: Element, P: Flux, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    let patch = thread::block_idx_x() as usize;
    operator.product::<E, P>(Block, patch, shared::dynamic_shared_mem::<u8>(), x, to);
}

/// Computes: as [`patch_product`], from all constants of a material, and of bodies of revolution.
///
/// Parameters, thread mapping, memory moved: as there, and 21 constants or 6 per cell.
#[kernel(E = [Solid, Plane, Ring], P = [General, Scalar], T = [f64])]
pub unsafe fn general_patch_product<E: Element, P: Flux, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    patch_product::<E, P, T>(operator, x, to);
}

/// Computes: each patch's share of one part of the diagonal blocks of K, before supports: [`DIAGONAL`], [`ACROSS`], or
/// [`ROW_SUMS`]. It runs once in a solution.
///
/// Thread mapping, memory moved: as [`patch_product`], without x.
#[kernel(E = [Solid, Plane, Ring], P = [General, Scalar])]
pub unsafe fn patch_blocks<E: Element, P: Form>(operator: Operator<f64>, part: u32, to: Sums<f64>) {
    let patch = thread::block_idx_x() as usize;
    operator.blocks::<E, P>(Block, patch, shared::dynamic_shared_mem::<u8>(), part, to);
}

/// [`patch_product`] of some patches on a thread of a CPU; `memory` is as much as the largest needs.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe fn products<E: Element, P: Flux, T: Real>(
    patches: Range<usize>,
    memory: &mut [u128],
    operator: Operator<T>,
    x: View<T>,
    to: Sums<T>,
) {
    for patch in patches {
        operator.product::<E, P>(Alone, patch, memory.as_mut_ptr().cast(), x, to);
    }
}

/// [`patch_blocks`] of some patches on a thread of a CPU.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe fn blocks<E: Element, P: Form>(
    patches: Range<usize>,
    memory: &mut [u128],
    operator: Operator<f64>,
    part: u32,
    to: Sums<f64>,
) {
    for patch in patches {
        operator.blocks::<E, P>(Alone, patch, memory.as_mut_ptr().cast(), part, to);
    }
}
