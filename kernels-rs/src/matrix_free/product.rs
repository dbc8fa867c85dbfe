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
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
use cuda_std::prelude::*;

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

impl<T: Real> Operator<T> {
    /// Brings what is free of x at a patch's nodes into its memory, and the lists of slots and of where sums go; each member of
    /// the team starts with K nodes at a time. `meanwhile` is done when the first nodes are asked for.
    #[inline(always)]
    pub(super) unsafe fn load<const WITH_X: bool, const K: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        size: usize,
        x: View<T>,
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
                    if i < patch.n_private {
                        memory.to.offset(i).put(entry);
                    } else {
                        team.copy(self.patches.places, patch.first_shared + i - patch.n_private, memory.to.offset(i));
                    }
                }
                // Below in one comparison: the number wraps.
                if WITH_X && i < n && i.wrapping_sub(patch.held[0]) >= patch.held[1] {
                    for c in 0..size {
                        team.copy(x, size * entry as usize + c, memory.values.offset(size * i + c));
                    }
                }
            }
            next += K * step;
            of_next = entries(next);
        }
        if WITH_X {
            team.share(patch.held[1], |i| {
                let i = patch.held[0] + i;
                let taken = self.held.taken(self.patches.nodes.at(first + i), size, x);
                write(size, memory.values.offset(size * i), taken);
            });
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

    /// The sums of the nodes' forces, to where they belong.
    #[inline(always)]
    pub(super) unsafe fn sum(self, team: impl Team, patch: &Patch, memory: Memory<T>, size: usize, to: Sums<T>) {
        team.wait();
        let mut dot = 0.0;
        team.share(size * patch.nodes[1], |k| {
            // Division of 32 bits is the faster.
            let i = (k as u32 / size as u32) as usize;
            let c = k - size * i;
            let place = memory.to.offset(i).get() as usize;
            let (mut slot, end) = (memory.starts.offset(i).get() as u32, memory.starts.offset(i + 1).get() as u32);
            let forces = memory.forces.offset(c);
            let force = |slot: u32| forces.offset(size * memory.slots.offset(slot as usize).get() as usize).get();
            let mut sum = T::ZERO;
            while slot + 4 <= end {
                let next = [force(slot), force(slot + 1), force(slot + 2), force(slot + 3)];
                sum += (next[0] + next[1]) + (next[2] + next[3]);
                slot += 4;
            }
            if slot < end {
                // One to three are left, which are asked for at the same time.
                let at = |k: u32| if slot + k < end { slot + k } else { slot };
                let next = [force(slot), force(at(1)), force(at(2))];
                sum += next[0];
                if slot + 1 < end {
                    sum += next[1];
                }
                if slot + 2 < end {
                    sum += next[2];
                }
            }
            dot = fma(sum.to_f64(), memory.values.offset(k).get().to_f64(), dot);
            let to = if i < patch.n_private { to.y } else { to.partial };
            to.set(size * place + c, sum);
        });
        if !to.dots.is_empty() {
            team.add_up(dot, to.dots, to.first_dot, patch.number);
        }
    }

    /// The memory of a patch.
    #[inline(always)]
    unsafe fn memory<E: Element>(self, memory: *mut u8, patch: &Patch, size: usize) -> Memory<T> {
        let [_, nodes] = patch.nodes;
        Memory::new(memory, Room { nodes, coords: E::DIM * nodes, size, slots: self.patches.stride, scratch: 0 })
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
        self.load::<true, 2>(team, &patch, memory, size, x, || {});
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
        self.sum(team, &patch, memory, size, to);
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
        self.load::<false, 1>(team, &patch, memory, size, View::from_slice(&[]), || {});
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
        self.sum(team, &patch, memory, size, to);
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
