//! Products and diagonals patch by patch: the kernels over blocks of threads, and the same on a CPU.

use super::cell::{Tables, forces, node_blocks};
#[cfg(not(target_arch = "nvptx64"))]
use super::patch::Alone;
use super::patch::{Block, LINE, Memory, Patch, Patches, Room, Team, read, write};
use super::shared::Held;
use super::{Plane, Ring, Solid};
use crate::assembly::MeshView;
use crate::element::*;
use crate::form::{Elasticity, Flux, Form, General, Scalar, size};
use crate::real::{Real, fma};
use crate::vectors::VectorsMut;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
use cuda_std::prelude::*;
use cuda_std::shared::Shared;

/// What products are computed from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operator<T> {
    /// The patches of one element type.
    pub patches: Patches<T>,
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
    /// Each warp's part of `x . y`; empty where that is not asked for.
    pub dots: ViewMut<f64>,
    /// The place of the first patch's there.
    pub first_dot: usize,
}

/// Where those of several vectors go; empty ones stand for none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllSums<T: DeviceCopy, const N: usize> {
    /// [`Sums::y`] of each.
    pub y: VectorsMut<T, N>,
    /// [`Sums::partial`] of each.
    pub partial: VectorsMut<T, N>,
    /// [`Sums::dots`] of each.
    pub dots: VectorsMut<f64, N>,
    /// [`Sums::first_dot`].
    pub first_dot: usize,
}

impl<T: DeviceCopy, const N: usize> AllSums<T, N> {
    /// Those of vector m.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn of(self, m: usize) -> Sums<T> {
        Sums { y: self.y.0[m], partial: self.partial.0[m], dots: self.dots.0[m], first_dot: self.first_dot }
    }

    /// Those of a part of W vectors.
    #[inline(always)]
    pub(super) fn part<const W: usize>(self, part: usize) -> [Sums<T>; W] {
        let (y, partial, dots) = (self.y.part::<W>(part), self.partial.part::<W>(part), self.dots.part::<W>(part));
        core::array::from_fn(|m| Sums { y: y[m], partial: partial[m], dots: dots[m], first_dot: self.first_dot })
    }
}

impl<T: DeviceCopy> Sums<T> {
    /// The same as of several.
    #[inline(always)]
    pub fn of_one(self) -> AllSums<T, 1> {
        let (y, partial, dots) = (VectorsMut([self.y]), VectorsMut([self.partial]), VectorsMut([self.dots]));
        AllSums { y, partial, dots, first_dot: self.first_dot }
    }
}

impl<T: Real> Operator<T> {
    /// Starts to bring what is free of some vectors at node i of a patch, of this entry, into its memory; of held nodes nothing.
    #[inline(always)]
    unsafe fn copy_values<const W: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        values: Shared<T>,
        size: usize,
        x: [View<T>; W],
        (i, entry): (usize, u32),
    ) {
        // Below in one comparison: the number wraps.
        if W > 0 && i < patch.nodes[1] && i.wrapping_sub(patch.held[0]) >= patch.held[1] {
            for m in 0..W {
                for c in 0..size {
                    let to = values.offset(size * (m * patch.nodes[1] + i) + c);
                    team.copy(x[m], size * entry as usize + c, to);
                }
            }
        }
    }

    /// Brings what is free of some vectors at the held nodes of a patch into its memory.
    #[inline(always)]
    unsafe fn take_held<const W: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        values: Shared<T>,
        size: usize,
        x: [View<T>; W],
    ) {
        team.share(patch.held[1], |i| {
            let i = patch.held[0] + i;
            let entry = self.patches.nodes.at(patch.nodes[0] + i);
            for m in 0..W {
                let to = values.offset(size * (m * patch.nodes[1] + i));
                write(size, to, self.held.taken(entry, size, x[m]));
            }
        });
    }

    /// Brings what is free of the next vectors into the memory of a patch, whose entries of nodes are there.
    #[inline(always)]
    pub(super) unsafe fn load_next<const W: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        values: Shared<T>,
        x: [View<T>; W],
    ) {
        // Each member has the nodes whose entries it has brought.
        team.share(patch.nodes[1], |i| {
            self.copy_values(team, patch, values, 3, x, (i, memory.entries.offset(i).get()));
        });
        self.take_held(team, patch, values, 3, x);
    }

    /// Brings what is free of W vectors at a patch's nodes into its memory, and the lists of slots and of where sums go,
    /// where next vectors have room those of nodes, too. Each member of the team starts with K nodes at a time. `meanwhile` is done when the first nodes
    /// are asked for.
    #[inline(always)]
    pub(super) unsafe fn load<const W: usize, const K: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        size: usize,
        x: [View<T>; W],
        mut meanwhile: impl FnMut(),
    ) {
        let ([first, n], step) = (patch.nodes, team.step());
        let entries = |next: usize| {
            let mut entries = [0; K];
            for k in 0..K {
                if next + k * step < n {
                    entries[k] = self.patches.nodes.at(first + next + k * step);
                }
            }
            entries
        };
        let mut next = team.first();
        let mut of_next = entries(next);
        team.copy_lines(
            self.patches.slots,
            patch.number * (self.patches.stride / LINE),
            self.patches.stride / LINE,
            memory.slots,
        );
        team.copy_lines(self.patches.slot_starts, patch.first_start, n / LINE + 1, memory.starts);
        meanwhile();
        while next < n {
            for k in 0..K {
                let (i, entry) = (next + k * step, of_next[k]);
                if i < n {
                    if memory.has_next {
                        memory.entries.offset(i).put(entry);
                    }
                    if i < patch.n_private {
                        memory.to.offset(i).put(entry);
                    } else {
                        team.copy(self.patches.places, patch.first_shared + i - patch.n_private, memory.to.offset(i));
                    }
                }
                self.copy_values(team, patch, memory.values, size, x, (i, entry));
            }
            next += K * step;
            of_next = entries(next);
        }
        if W > 0 {
            self.take_held(team, patch, memory.values, size, x);
        }
    }

    /// Brings the coordinates of a patch's nodes into its memory.
    #[inline(always)]
    unsafe fn load_coords<E: Element>(self, team: impl Team, patch: &Patch, memory: Memory<T>) {
        let node = |i: usize| self.held.node(self.patches.nodes.at(patch.nodes[0] + i));
        let origin = self.mesh.origin::<E>(node(0));
        team.share(patch.nodes[1], |i| {
            write(E::DIM, memory.coords.offset(E::DIM * i), self.mesh.relative(node(i), origin));
        });
    }

    /// Sets the forces of a cell to 0.
    #[inline(always)]
    unsafe fn clear<E: Element, P: Form>(self, c: usize, memory: Memory<T>) {
        in_steps!(false, b in 0..self.tables.n, {
            write(size::<E, P>(), memory.forces.offset(size::<E, P>() * (b * self.patches.pitch + c)), [T::ZERO; 3]);
        });
    }

    /// The sums of the nodes' forces, of each vector to where they belong.
    #[inline(always)]
    pub(super) unsafe fn sum<const W: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        size: usize,
        to: [Sums<T>; W],
    ) {
        team.wait();
        let (mut dots, n_values, n_forces) = ([0.0; W], size * patch.nodes[1], size * self.patches.stride);
        team.share(n_values, |k| {
            // Division of 32 bits is the faster.
            let i = (k as u32 / size as u32) as usize;
            let c = k - size * i;
            let place = memory.to.offset(i).get() as usize;
            let (mut slot, end) = (memory.starts.offset(i).get() as u32, memory.starts.offset(i + 1).get() as u32);
            let place_of = |slot: u32| size * memory.slots.offset(slot as usize).get() as usize + c;
            let mut sums = [T::ZERO; W];
            while slot + 4 <= end {
                let places = [place_of(slot), place_of(slot + 1), place_of(slot + 2), place_of(slot + 3)];
                for m in 0..W {
                    let next = places.map(|place| memory.forces.offset(m * n_forces + place).get());
                    sums[m] += (next[0] + next[1]) + (next[2] + next[3]);
                }
                slot += 4;
            }
            if slot < end {
                // One to three are left, which are asked for at the same time.
                let at = |k: u32| if slot + k < end { slot + k } else { slot };
                let places = [place_of(slot), place_of(at(1)), place_of(at(2))];
                for m in 0..W {
                    let next = places.map(|place| memory.forces.offset(m * n_forces + place).get());
                    sums[m] += next[0];
                    if slot + 1 < end {
                        sums[m] += next[1];
                    }
                    if slot + 2 < end {
                        sums[m] += next[2];
                    }
                }
            }
            for m in 0..W {
                let value = memory.values.offset(m * n_values + k).get();
                dots[m] = fma(sums[m].to_f64(), value.to_f64(), dots[m]);
                let to = if i < patch.n_private { to[m].y } else { to[m].partial };
                // Of several vectors some may be none.
                if W == 1 || !to.is_empty() {
                    to.set(size * place + c, sums[m]);
                }
            }
        });
        for m in 0..W {
            if !to[m].dots.is_empty() {
                team.add_up(dots[m], to[m].dots, to[m].first_dot, patch.number);
            }
        }
    }

    /// The memory of a patch.
    #[inline(always)]
    unsafe fn memory<E: Element>(self, memory: *mut u8, patch: &Patch, size: usize) -> Memory<T> {
        let [_, nodes] = patch.nodes;
        Memory::new(memory, Room::of_one(nodes, E::DIM, size, self.patches.stride))
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
        let patch = self.patches.patch(patch);
        let memory = self.memory::<E>(memory, &patch, size);
        self.load::<1, 2>(team, &patch, memory, size, [x], || {});
        self.load_coords::<E>(team, &patch, memory);
        team.wait();
        let ([first, n_cells], pitch) = (patch.cells, self.patches.pitch);
        team.share(n_cells, |c| {
            let constants = self.mesh.cell_stiffness::<P, T>(self.patches.cells.at(first + c) as usize);
            self.clear::<E, P>(c, memory);
            forces::<E, P, T>(
                self.tables,
                constants,
                |b| read(E::DIM, memory.coords.offset(E::DIM * self.patches.local(&patch, b, c))),
                |b| read(size, memory.values.offset(size * self.patches.local(&patch, b, c))),
                |b, force| {
                    let to = memory.forces.offset(size * (b * pitch + c));
                    let sum = read(size, to);
                    write(size, to, core::array::from_fn(|i| sum[i] + force[i]));
                },
            );
        });
        self.sum(team, &patch, memory, size, [to]);
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
        let patch = self.patches.patch(patch);
        let memory = self.memory::<E>(memory, &patch, size);
        self.load::<0, 1>(team, &patch, memory, size, [], || {});
        self.load_coords::<E>(team, &patch, memory);
        team.wait();
        let ([first, n_cells], pitch) = (patch.cells, self.patches.pitch);
        team.share(n_cells, |c| {
            let constants = self.mesh.cell_stiffness::<P, T>(self.patches.cells.at(first + c) as usize);
            let slot = |b: usize, i: usize| memory.forces.offset(size * (b * pitch + c) + i);
            self.clear::<E, P>(c, memory);
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
                in_steps!(false, b in 0..self.tables.n, {
                    for i in 0..size {
                        let root = slot(b, i).get().sqrt();
                        slot(b, i).put(root);
                        sum += root;
                    }
                });
                in_steps!(false, b in 0..self.tables.n, {
                    for i in 0..size {
                        slot(b, i).put(sum * slot(b, i).get());
                    }
                });
            }
        });
        self.sum(team, &patch, memory, size, [to]);
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
/// Parameters: `x [n_nodes][size]`. Thread mapping: a block per patch, with [`Room::bytes`] of dynamic shared memory.
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

/// Computes: as [`patch_blocks`], of isotropic elasticity.
///
/// Thread mapping, memory moved: as there.
#[kernel(E = [Solid, Plane], P = [Elasticity])]
pub unsafe fn isotropic_patch_blocks<E: Element, P: Form>(operator: Operator<f64>, part: u32, to: Sums<f64>) {
    patch_blocks::<E, P>(operator, part, to);
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
