//! Row-owner assembly by a group of lanes: the lanes that own a node share out the columns of each cell around it, sum
//! the row in shared memory, and write it once. No colours, no atomics; every sum has a fixed order.
//!
//! `K_ab = sum_e lambda M_ab + mu M_ab^T + mu tr(M_ab) I`, `M_ab = sum_q w_q |J_q| g_a g_b^T` (see
//! [`stiffness_block`](crate::material::stiffness_block)); in conduction `k tr(M_ab)`; other blocks are in [`crate::form`]
//!
//! A thread that owns a row alone ([`row_owner`](super::row_owner)) adds to the matrix in memory, once for every cell
//! of a pair of nodes: 11 GB read and 7 GB written for 1.1 GB of tet4 stiffness on an H200, whose cache is too small
//! for the rows of all threads. Here the row stays on the chip.

use super::{Destination, MeshView};
use crate::element::*;
use crate::form::{Conduction, Elasticity, Form, General, Scalar, directions, size, unrolls};
use crate::real::{Real, add_outer};
use crate::{for_each_body, for_each_element};
use cuda_std::prelude::*;

/// Lanes that own a row together.
pub const fn lanes<E: Element>() -> usize {
    if E::DIM == 2 || E::N == 4 { 4 } else { 8 }
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
    /// Words of a group: for each quadrature point `J^-T` and `w |J| g_a`, coordinates `[N][3]`, then the blocks
    /// `[columns][size][size]`. Odd, so that groups start in different banks.
    #[inline(always)]
    pub const fn group_words<E: Element, P: Form>(self) -> usize {
        let size = size::<E, P>();
        (point_words::<E>() * E::QUADRATURE.len() + 3 * E::N + self.columns * size * size) | 1
    }
}

/// Words of a quadrature point: `J^-T`, then `w |J| g_a`; of a body of revolution the latter has three components, and
/// `1 / r` follows.
const fn point_words<E: Element>() -> usize {
    E::DIM * (E::DIM + 1) + if E::REVOLVED { 2 } else { 0 }
}

/// The shared memory of a group.
struct Group<T> {
    geometry: *mut T,
    coords: *mut T,
    blocks: *mut T,
}

impl<T: Real> Group<T> {
    /// The memory of group `group` of the block.
    #[inline(always)]
    unsafe fn new<E: Element, P: Form>(room: Room, group: usize) -> Self {
        let geometry = shared::dynamic_shared_mem::<T>().add(group * room.group_words::<E, P>());
        let coords = geometry.add(point_words::<E>() * E::QUADRATURE.len());
        Group { geometry, coords, blocks: coords.add(3 * E::N) }
    }
}

/// The first `dim` components of a vector in shared memory; the others are 0.
#[inline(always)]
unsafe fn read<T: Real>(dim: usize, from: *const T) -> [T; 3] {
    let mut vector = [T::ZERO; 3];
    for i in 0..dim {
        vector[i] = *from.add(i);
    }
    vector
}

/// Writes the first `dim` components of a vector.
#[inline(always)]
unsafe fn write<T: Real>(dim: usize, to: *mut T, vector: [T; 3]) {
    for i in 0..dim {
        *to.add(i) = vector[i];
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

/// Brings the coordinates of a cell's nodes into shared memory, relative to its first; returns the local number of the
/// row's node.
#[inline(always)]
unsafe fn gather<E: Element, T: Real>(mesh: MeshView, cell: usize, own: Lane, coords: *mut T) -> usize {
    let lanes = lanes::<E>();
    let origin = mesh.origin::<E>(mesh.nodes.at(cell * E::N) as usize);
    let mut a = 0;
    for first in (0..E::N).step_by(lanes) {
        let b = first + own.lane;
        let node = if b < E::N { mesh.nodes.at(cell * E::N + b) as usize } else { usize::MAX };
        let owned = warp::warp_vote_ballot(own.peers, node == own.row) & own.peers;
        if owned != 0 {
            a = first + (owned >> own.peers.trailing_zeros()).trailing_zeros() as usize;
        }
        if b < E::N {
            write(E::DIM, coords.add(3 * b), mesh.relative(node, origin));
        }
    }
    warp::sync_warp(own.peers);
    a
}

/// Computes for the group's quadrature points `J^-T` and `w |J| g_a`.
#[inline(always)]
unsafe fn share_geometry<E: Element, P: Form, T: Real>(own: Lane, rule: &[Point], a: usize, group: &Group<T>) {
    let mut q = own.lane;
    while q < rule.len() {
        let (xi, weight) = rule[q];
        let xi = xi.map(T::from_f64);
        let mut jac = [[T::ZERO; 3]; 3];
        in_steps!(unrolls::<E, P>(), b in 0..E::N, {
            add_outer(E::DIM, &mut jac, read(E::DIM, group.coords.add(3 * b)), E::shape_gradient(b, xi));
        });
        let at = Mapping::of_jacobian::<E>(jac, radius::<E, T>(|b| *group.coords.add(3 * b), xi));
        let w = T::from_f64(weight) * at.det_j;
        let ga = at.gradient::<E>(a, xi).map(|g| w * g);
        let to = group.geometry.add(point_words::<E>() * q);
        for i in 0..E::DIM {
            write(E::DIM, to.add(E::DIM * i), at.inverse[i]);
        }
        write(directions::<E>(), to.add(E::DIM * E::DIM), ga);
        if E::REVOLVED {
            *to.add(E::DIM * E::DIM + 3) = at.per_radius;
        }
        q += lanes::<E>();
    }
    warp::sync_warp(own.peers);
}

/// Columns that a lane sums at the same time, so that it reads a point's geometry once for both.
const fn columns<E: Element>() -> usize {
    if E::N == 2 * lanes::<E>() { 2 } else { 1 }
}

/// Whether the loop over the points is unrolled: compilers do that with so many.
const fn unrolls_points<E: Element, P: Form>() -> bool {
    unrolls::<E, P>() && E::QUADRATURE.len() <= 9
}

/// The integrals by a rule that blocks are made of, for the first [`columns`] of the nodes `b`.
#[inline(always)]
unsafe fn gradient_products<E: Element, P: Form, T: Real>(
    rule: &[Point],
    b: [usize; 2],
    geometry: *const T,
) -> [P::Product<T>; 2] {
    let mut products = [P::zero(); 2];
    if const { unrolls_points::<E, P>() } && rule.len() == E::QUADRATURE.len() {
        // The points are known to the compiler.
        for q in 0..E::QUADRATURE.len() {
            add_point::<E, P, T>(&mut products, E::QUADRATURE[q], b, geometry.add(point_words::<E>() * q));
        }
    } else {
        in_steps!(unrolls::<E, P>() && !unrolls_points::<E, P>(), q in 0..rule.len(), {
            add_point::<E, P, T>(&mut products, rule[q], b, geometry.add(point_words::<E>() * q));
        });
    }
    products
}

/// Adds a point whose geometry is in shared memory to the integrals.
#[inline(always)]
unsafe fn add_point<E: Element, P: Form, T: Real>(
    products: &mut [P::Product<T>; 2],
    (xi, _): Point,
    b: [usize; 2],
    from: *const T,
) {
    let mut inverse = [[T::ZERO; 3]; 3];
    for i in 0..E::DIM {
        inverse[i] = read(E::DIM, from.add(E::DIM * i));
    }
    let ga = read(directions::<E>(), from.add(E::DIM * E::DIM));
    let per_radius = if E::REVOLVED { *from.add(E::DIM * E::DIM + 3) } else { T::ZERO };
    let xi = xi.map(T::from_f64);
    for c in 0..columns::<E>() {
        P::add::<E, T>(&mut products[c], ga, gradient::<E, T>(inverse, per_radius, b[c], xi));
    }
}

/// Adds the block of a node b to the row, where it has a place in shared memory; else in the matrix.
#[inline(always)]
unsafe fn add_block<E: Element, P: Form, T: Real>(
    own: Lane,
    room: Room,
    slot: usize,
    block: [[T; 3]; 3],
    group: &Group<T>,
    to: Destination<T>,
) {
    let size = size::<E, P>();
    if slot < room.columns {
        let first = group.blocks.add(slot * size * size);
        for i in 0..size {
            for j in 0..size {
                *first.add(i * size + j) += block[i][j];
            }
        }
    } else {
        let start = to.entries.row(own.row, size).block(slot);
        for i in 0..size {
            for j in 0..size {
                to.values.add(start[i] + j * to.entries.column, block[i][j]);
            }
        }
    }
}

/// Computes: block rows of K, the stiffness of the cells around each node; sets them, or adds to them what another
/// element type gives. Rows without blocks are left out.
///
/// Parameters: `n_rows`; `room`, what fits in the dynamic shared memory: `room.rows` groups of [`Room::group_words`]
/// words; `adds`, 0 to set; `to`, the matrix. Thread mapping: [`lanes`] lanes per node, `room.rows` nodes per block of
/// threads. Memory moved: every value of the matrix is written once (read too, if it adds), those of columns without a
/// place once for every cell; per pair of node and cell N slots (2 B), N nodes and N coordinates (through the cache).
/// Operations per pair: 9 N for the Jacobian and 30 for its inverse at each point, 18 N for the columns.
#[kernel(E = for_each_element!, P = [Elasticity, Conduction], T = [f32, f64])]
pub unsafe fn stiffness_rows<E: Element, P: Form, T: Real>(
    n_rows: usize,
    room: Room,
    adds: u32,
    mesh: MeshView,
    to: Destination<T>,
) {
    let (lanes, thread, size) = (lanes::<E>(), thread::thread_idx_x() as usize, size::<E, P>() * size::<E, P>());
    let first_row = thread::block_idx_x() as usize * room.rows;
    let (group, lane) = (thread / lanes, thread % lanes);
    let row = first_row + group;
    let peers = ((1 << lanes) - 1) << (thread % 32 / lanes * lanes);
    let own = Lane { row, lane, peers };
    let (memory, rule) = (Group::<T>::new::<E, P>(room, group), mesh.rule::<E>());
    let width = if row < n_rows { to.entries.pattern.row(row).1 } else { 0 };
    if width > 0 {
        let mut i = lane;
        while i < size * if width < room.columns { width } else { room.columns } {
            *memory.blocks.add(i) = T::ZERO;
            i += lanes;
        }
        if adds == 0 {
            clear_rest::<E, P, T>(own, room, width, to);
        }
        for pair in mesh.pairs(row) {
            let cell = mesh.cells.at(pair) as usize;
            let a = gather::<E, T>(mesh, cell, own, memory.coords);
            share_geometry::<E, P, T>(own, rule, a, &memory);
            let constants = mesh.cell_stiffness::<P, T>(cell);
            for first in (lane..E::N).step_by(columns::<E>() * lanes) {
                // Past the last node a lane sums what it does not add.
                let second = if first + lanes < E::N { first + lanes } else { first };
                let products = gradient_products::<E, P, T>(rule, [first, second], memory.geometry);
                for c in 0..columns::<E>() {
                    let b = first + c * lanes;
                    if b < E::N {
                        let slot = to.slots.at((cell * E::N + a) * E::N + b) as usize;
                        let block = P::block::<E, T>(products[c], constants);
                        add_block::<E, P, T>(own, room, slot, block, &memory, to);
                    }
                }
            }
        }
    }
    thread::sync_threads();
    write_rows::<E, P, T>(n_rows, room, adds, to);
}

/// Computes: as [`stiffness_rows`], from all constants of a material, and of bodies of revolution.
///
/// Parameters, thread mapping, memory moved: as there, and 21 constants or 6 per cell. Operations: 81 per block for 30.
#[kernel(E = for_each_body!, P = [General, Scalar], T = [f64])]
pub unsafe fn general_rows<E: Element, P: Form, T: Real>(
    n_rows: usize,
    room: Room,
    adds: u32,
    mesh: MeshView,
    to: Destination<T>,
) {
    stiffness_rows::<E, P, T>(n_rows, room, adds, mesh, to);
}

/// Sets the blocks of a row that have no place in shared memory to zero.
#[inline(always)]
unsafe fn clear_rest<E: Element, P: Form, T: Real>(own: Lane, room: Room, width: usize, to: Destination<T>) {
    let mut k = room.columns + own.lane;
    while k < width {
        let start = to.entries.row(own.row, size::<E, P>()).block(k);
        for i in 0..size::<E, P>() {
            for j in 0..size::<E, P>() {
                to.values.set(start[i] + j * to.entries.column, T::ZERO);
            }
        }
        k += lanes::<E>();
    }
}

/// Writes the rows of a block of threads from shared memory, neighbouring lanes neighbouring rows.
#[inline(always)]
unsafe fn write_rows<E: Element, P: Form, T: Real>(n_rows: usize, room: Room, adds: u32, to: Destination<T>) {
    let Destination { entries, values, .. } = to;
    let (thread, size) = (thread::thread_idx_x() as usize, size::<E, P>());
    let group = thread % room.rows;
    let row = thread::block_idx_x() as usize * room.rows + group;
    if row >= n_rows {
        return;
    }
    let width = entries.pattern.row(row).1;
    let places = entries.row(row, size);
    let blocks = Group::<T>::new::<E, P>(room, group).blocks;
    let mut k = thread / room.rows;
    while k < if width < room.columns { width } else { room.columns } {
        let start = places.block(k);
        for i in 0..size {
            for j in 0..size {
                let (place, value) = (start[i] + j * entries.column, *blocks.add(k * size * size + i * size + j));
                values.set(place, if adds == 0 { value } else { values.at(place) + value });
            }
        }
        k += lanes::<E>();
    }
}
