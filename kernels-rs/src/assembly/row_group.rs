//! Row-owner assembly by a group of lanes: the lanes that own a node share out the columns of each cell around it, sum the
//! row in shared memory, and write it once. No colours, no atomics; every sum has a fixed order.
//!
//! `K_ab = sum_e lambda M_ab + mu M_ab^T + mu tr(M_ab) I`, `M_ab = sum_q w_q |J_q| g_a g_b^T` (see
//! [`stiffness_block`])
//!
//! A thread that owns a row alone ([`row_owner`](super::row_owner)) adds to the matrix in memory, once for every cell of a
//! pair of nodes: 11 GB read and 7 GB written for 1.1 GB of tet4 stiffness on an H200, whose cache is too small for the rows
//! of all threads. Here the row stays on the chip.

use super::{Destination, MeshView};
use crate::element::*;
use crate::for_each_element;
use crate::material::stiffness_block;
use crate::real::{Real, add_outer};
use cuda_std::prelude::*;

/// Lanes that own a row together.
pub const fn lanes<E: Element>() -> usize {
    if E::N <= 4 { 4 } else { 8 }
}

/// Where a group of lanes keeps what it shares, in words of the matrix's precision.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Columns of a row that have a place; the others are summed in the matrix itself.
    pub columns: usize,
    /// Rows of a block of threads.
    pub rows: usize,
}

impl Room {
    /// Words of `T` of a group: for each quadrature point `J^-T` and `w |J| g_a`, coordinates `[N][4]`, then the blocks
    /// `[columns][DIM][DIM]`. An odd multiple of 16 bytes, so that groups start in different banks.
    #[inline(always)]
    pub const fn group_words<E: Element, T: Real>(self) -> usize {
        let step = 16 / size_of::<T>();
        let words = 4 * (point_fours::<E>() * E::QUADRATURE.len() + E::N) + self.columns * E::DIM * E::DIM;
        (words.div_ceil(step) | 1) * step
    }
}

/// Four words that are read and written together.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four<T>([T; 4]);

/// How many of them hold `J^-T` and `w |J| g_a`.
const fn point_fours<E: Element>() -> usize {
    if E::DIM == 2 { 2 } else { 3 }
}

/// The rows of a block of threads in shared memory.
struct Group<T> {
    geometry: *mut Four<T>,
    coords: *mut Four<T>,
    blocks: *mut T,
}

impl<T: Real> Group<T> {
    /// The memory of group `group` of the block.
    #[inline(always)]
    unsafe fn new<E: Element>(room: Room, group: usize) -> Self {
        let geometry = shared::dynamic_shared_mem::<T>().add(group * room.group_words::<E, T>()).cast::<Four<T>>();
        let coords = geometry.add(point_fours::<E>() * E::QUADRATURE.len());
        Group { geometry, coords, blocks: coords.add(E::N).cast() }
    }
}

/// `J^-T` and `w |J| g_a` of a quadrature point.
struct Geometry<T> {
    inverse: [[T; 3]; 3],
    ga: [T; 3],
}

impl<T: Real> Geometry<T> {
    #[inline(always)]
    unsafe fn store<E: Element>(self, to: *mut Four<T>) {
        let ([r, s, t], g) = (self.inverse, self.ga);
        if E::DIM == 2 {
            *to = Four([r[0], r[1], s[0], s[1]]);
            *to.add(1) = Four([g[0], g[1], T::ZERO, T::ZERO]);
        } else {
            *to = Four([r[0], r[1], r[2], s[0]]);
            *to.add(1) = Four([s[1], s[2], t[0], t[1]]);
            *to.add(2) = Four([t[2], g[0], g[1], g[2]]);
        }
    }

    #[inline(always)]
    unsafe fn load<E: Element>(from: *const Four<T>) -> Self {
        let (Four(a), Four(b), o) = (*from, *from.add(1), T::ZERO);
        if E::DIM == 2 {
            return Geometry { inverse: [[a[0], a[1], o], [a[2], a[3], o], [o; 3]], ga: [b[0], b[1], o] };
        }
        let Four(c) = *from.add(2);
        Geometry { inverse: [[a[0], a[1], a[2]], [a[3], b[0], b[1]], [b[2], b[3], c[0]]], ga: [c[1], c[2], c[3]] }
    }
}

/// A lane of the group that owns a row.
#[derive(Clone, Copy)]
struct Lane {
    row: usize,
    lane: usize,
    /// The lanes of its group, a bit each.
    peers: u32,
}

/// Brings the coordinates of a cell's nodes into shared memory, relative to its first; returns the local number of the row's
/// node.
#[inline(always)]
unsafe fn gather<E: Element, T: Real>(mesh: MeshView, cell: usize, own: Lane, coords: *mut Four<T>) -> usize {
    let lanes = lanes::<E>();
    let origin = mesh.coords.at(mesh.nodes.at(cell * E::N) as usize);
    let mut a = 0;
    for first in (0..E::N).step_by(lanes) {
        let b = first + own.lane;
        let node = if b < E::N { mesh.nodes.at(cell * E::N + b) as usize } else { usize::MAX };
        let owned = warp::warp_vote_ballot(own.peers, node == own.row) & own.peers;
        if owned != 0 {
            a = first + (owned >> own.peers.trailing_zeros()).trailing_zeros() as usize;
        }
        if b < E::N {
            let x = mesh.coords.at(node);
            let [x, y, z] = core::array::from_fn(|i| T::from_f64(x[i] - origin[i]));
            *coords.add(b) = Four([x, y, z, T::ZERO]);
        }
    }
    warp::sync_warp(own.peers);
    a
}

/// Computes for the group's quadrature points `J^-T` and `w |J| g_a`.
#[inline(always)]
unsafe fn share_geometry<E: Element, T: Real>(own: Lane, a: usize, group: &Group<T>) {
    let mut q = own.lane;
    while q < E::QUADRATURE.len() {
        let (xi, weight) = E::QUADRATURE[q];
        let xi = xi.map(T::from_f64);
        let mut jac = [[T::ZERO; 3]; 3];
        for b in 0..E::N {
            let Four([x, y, z, _]) = *group.coords.add(b);
            add_outer(E::DIM, &mut jac, [x, y, z], E::shape_gradient(b, xi));
        }
        let (inverse, det_j) = invert(E::DIM, jac);
        let w = T::from_f64(weight) * det_j;
        let ga = transform(E::DIM, inverse, E::shape_gradient(a, xi)).map(|g| w * g);
        Geometry { inverse, ga }.store::<E>(group.geometry.add(point_fours::<E>() * q));
        q += lanes::<E>();
    }
    warp::sync_warp(own.peers);
}

/// `int g_a g_b^T dV`.
#[inline(always)]
unsafe fn gradient_product<E: Element, T: Real>(b: usize, geometry: *const Four<T>) -> [[T; 3]; 3] {
    let mut product = [[T::ZERO; 3]; 3];
    for q in 0..E::QUADRATURE.len() {
        let Geometry { inverse, ga } = Geometry::load::<E>(geometry.add(point_fours::<E>() * q));
        let xi = E::QUADRATURE[q].0.map(T::from_f64);
        let gb = transform(E::DIM, inverse, E::shape_gradient(b, xi));
        add_outer(E::DIM, &mut product, ga, gb);
    }
    product
}

/// Computes: block rows of K, the stiffness of the cells around each node; sets them, or adds to them what another element
/// type gives.
///
/// Parameters: `n_rows`; `room`, what fits in the dynamic shared memory: `room.rows` groups of [`Room::group_words`] words;
/// `adds`, 0 to set; `to`, the matrix.
/// Thread mapping: [`lanes`] lanes per node, `room.rows` nodes per block of threads.
/// Memory moved: every value of the matrix is written once; per pair of node and cell N slots (2 B), N nodes and N
/// coordinates (through the cache). Operations per pair: 9 N for the Jacobian and 30 for its inverse at each point, 18 N for
/// the columns.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(E = for_each_element!, T = [f32, f64])]
pub unsafe fn stiffness_rows<E: Element, T: Real>(
    n_rows: usize,
    room: Room,
    adds: u32,
    mesh: MeshView,
    to: Destination<T>,
) {
    let (lanes, thread, size) = (lanes::<E>(), thread::thread_idx_x() as usize, E::DIM * E::DIM);
    let first_row = thread::block_idx_x() as usize * room.rows;
    let (group, lane) = (thread / lanes, thread % lanes);
    let row = first_row + group;
    let peers = ((1 << lanes) - 1) << (thread % 32 / lanes * lanes);
    let own = Lane { row, lane, peers };
    let memory = Group::<T>::new::<E>(room, group);
    if row < n_rows {
        let width = to.entries.pattern.row(row).1;
        let mut i = lane;
        while i < size * if width < room.columns { width } else { room.columns } {
            *memory.blocks.add(i) = T::ZERO;
            i += lanes;
        }
        if adds == 0 {
            clear_rest::<E, T>(own, room, width, to);
        }
        for pair in mesh.around.at(row) as usize..mesh.around.at(row + 1) as usize {
            let cell = mesh.cells.at(pair) as usize;
            let a = gather::<E, T>(mesh, cell, own, memory.coords);
            share_geometry::<E, T>(own, a, &memory);
            let lame = mesh.cell_stiffness::<T>(cell);
            let mut b = lane;
            while b < E::N {
                let block = stiffness_block(E::DIM, gradient_product::<E, T>(b, memory.geometry), lame);
                let slot = to.slots.at((cell * E::N + a) * E::N + b) as usize;
                if slot < room.columns {
                    for i in 0..E::DIM {
                        for j in 0..E::DIM {
                            *memory.blocks.add(slot * size + i * E::DIM + j) += block[i][j];
                        }
                    }
                } else {
                    let start = to.entries.row(row, E::DIM).block(slot);
                    for i in 0..E::DIM {
                        for j in 0..E::DIM {
                            to.values.add(start[i] + j * to.entries.column, block[i][j]);
                        }
                    }
                }
                b += lanes;
            }
        }
    }
    thread::sync_threads();
    write_rows::<E, T>(n_rows, room, adds, to);
}

/// Sets the blocks of a row that have no place in shared memory to zero.
#[inline(always)]
unsafe fn clear_rest<E: Element, T: Real>(own: Lane, room: Room, width: usize, to: Destination<T>) {
    let mut k = room.columns + own.lane;
    while k < width {
        let start = to.entries.row(own.row, E::DIM).block(k);
        for i in 0..E::DIM {
            for j in 0..E::DIM {
                to.values.set(start[i] + j * to.entries.column, T::ZERO);
            }
        }
        k += lanes::<E>();
    }
}

/// Writes the rows of a block of threads from shared memory, neighbouring lanes neighbouring rows.
#[inline(always)]
unsafe fn write_rows<E: Element, T: Real>(n_rows: usize, room: Room, adds: u32, to: Destination<T>) {
    let Destination { entries, values, .. } = to;
    let (thread, size) = (thread::thread_idx_x() as usize, E::DIM * E::DIM);
    let group = thread % room.rows;
    let row = thread::block_idx_x() as usize * room.rows + group;
    if row >= n_rows {
        return;
    }
    let width = entries.pattern.row(row).1;
    let places = entries.row(row, E::DIM);
    let blocks = Group::<T>::new::<E>(room, group).blocks;
    let mut k = thread / room.rows;
    while k < if width < room.columns { width } else { room.columns } {
        let start = places.block(k);
        for i in 0..E::DIM {
            for j in 0..E::DIM {
                let (place, value) = (start[i] + j * entries.column, *blocks.add(k * size + i * E::DIM + j));
                values.set(place, if adds == 0 { value } else { values.at(place) + value });
            }
        }
        k += lanes::<E>();
    }
}
