//! Products and diagonals patch by patch: the kernels over blocks of threads, and the same on a CPU.

use super::cell::{Tables, forces, node_blocks};
#[cfg(not(target_arch = "nvptx64"))]
use super::patch::Alone;
use super::patch::{Block, Memory, Patch, Patches, Team, read, write};
use super::shared::{HELD, Held, NUMBER};
use super::{Plane, Ring, Solid};
use crate::assembly::MeshView;
use crate::element::*;
use crate::form::{Elasticity, Flux, Form, General, Scalar, size};
use crate::real::Real;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
use cuda_std::prelude::*;

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

impl<T: Real> Operator<T> {
    /// Brings the coordinates of a patch's nodes and its lists into its memory, and what is free of x there; each member of the
    /// team those of K nodes at a time. Nodes with a bit of `without` get no coordinates. `meanwhile` is done
    /// when the first nodes are asked for.
    #[inline(always)]
    pub(super) unsafe fn load<E: Element, P: Form, const K: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        x: View<T>,
        without: u32,
        mut meanwhile: impl FnMut(),
    ) {
        let ([first, n], step, size) = (patch.nodes, team.step(), size::<E, P>());
        let origin = self.patches.nodes.at(first);
        let mut next = team.first();
        // Once at least: there may be more cells than nodes.
        loop {
            let place = |k: usize| next + k * step;
            let mut entries = [0; K];
            for k in 0..K {
                if place(k) < n {
                    entries[k] = self.patches.nodes.at(first + place(k));
                }
            }
            meanwhile();
            let origin = self.mesh.origin::<E>(self.held.node(origin));
            for k in 0..K {
                if place(k) < n && entries[k] & HELD == 0 && !x.is_empty() {
                    let node = (entries[k] & NUMBER) as usize;
                    for c in 0..size {
                        team.copy(x, size * node + c, memory.values.offset(size * place(k) + c));
                    }
                }
            }
            let mut coords = [[T::ZERO; 3]; K];
            for k in 0..K {
                if place(k) < n && entries[k] & without == 0 {
                    coords[k] = self.mesh.relative(self.held.node(entries[k]), origin);
                }
            }
            for k in 0..K {
                if place(k) < n && entries[k] & without == 0 {
                    write(E::DIM, memory.coords.offset(E::DIM * place(k)), coords[k]);
                }
            }
            next += K * step;
            if next >= n {
                break;
            }
        }
        team.copy_list(self.patches.slots, patch.slots[0], patch.slots[1], memory.slots);
        team.copy_list(self.patches.slot_starts, patch.first_start, n + 1, memory.starts);
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
    }

    /// Sets the forces of a cell to 0.
    #[inline(always)]
    unsafe fn clear<E: Element, P: Form>(self, patch: &Patch, c: usize, memory: Memory<T>) {
        in_steps!(false, b in 0..self.tables.n, {
            write(size::<E, P>(), memory.forces.offset(size::<E, P>() * (b * patch.cells[1] + c)), [T::ZERO; 3]);
        });
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
                true => self.patches.nodes.at(patch.nodes[0] + i) & NUMBER,
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
        self.load::<E, P, 2>(team, &patch, memory, x, 0, || {});
        team.wait();
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
        self.load::<E, P, 1>(team, &patch, memory, View::from_slice(&[]), 0, || {});
        team.wait();
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
/// Parameters: `x [n_nodes][size]`. Thread mapping: a block per patch, with [`bytes`](super::patch::bytes) bytes of dynamic shared memory.
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
