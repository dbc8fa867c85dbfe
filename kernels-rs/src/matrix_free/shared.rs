//! The second half of products without a matrix: the sums of nodes that patches share, and supports.
//!
//! With n the orthonormal directions held at a node and `Q = I - sum n n^T`, K after supports is
//! `Q K Q + sum n (n . K_aa n) n^T`, as [`crate::assembly::slanted`] makes it; where n are components, rows and columns are
//! zero but for the diagonal.

use crate::assembly::addition::Addition;
use crate::form::upper;
use crate::real::{Real, dot3, fma};
use crate::reduce::{Reduction, sum_over_grid};
use crate::setup::lists::range;
use crate::vectors::{Vectors, VectorsMut};
use core::ops::Range;
use cuda_std::prelude::*;

/// Entries of lists of nodes with this bit are places among the held nodes, without it numbers of nodes.
pub const HELD: u32 = 1 << 31;
/// The number in an entry.
pub const NUMBER: u32 = HELD - 1;

/// What supports hold, of the nodes where they hold anything.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Held<T> {
    /// The nodes, `[n_held]`.
    pub rows: View<u32>,
    /// Q of each, its upper triangle row by row; empty for K before supports.
    pub free: View<[T; 6]>,
    /// The held part of its diagonal block, likewise.
    pub part: View<[T; 6]>,
}

/// `A x` of a symmetric A.
#[inline(always)]
fn times<T: Real>(a: [T; 6], x: [T; 3]) -> [T; 3] {
    let row = |i: usize| fma(a[upper(3, i, 2)], x[2], fma(a[upper(3, i, 1)], x[1], a[upper(3, i, 0)] * x[0]));
    core::array::from_fn(row)
}

/// The components of a node; those past `size` are 0.
#[inline(always)]
unsafe fn at<T: Real>(x: View<T>, size: usize, node: usize) -> [T; 3] {
    let mut vector = [T::ZERO; 3];
    for i in 0..3 {
        if i < size {
            vector[i] = x.at(size * node + i);
        }
    }
    vector
}

impl<T: Real> Held<T> {
    /// The number of a node in a list.
    #[inline(always)]
    pub unsafe fn node(self, entry: u32) -> usize {
        let number = (entry & NUMBER) as usize;
        if entry & HELD == 0 { number } else { self.rows.at(number) as usize }
    }

    /// Whether a node in a list is held.
    #[inline(always)]
    fn holds(self, entry: u32) -> bool {
        entry & HELD != 0 && !self.free.is_empty()
    }

    /// What is free of x at a node in a list.
    #[inline(always)]
    pub unsafe fn taken(self, entry: u32, size: usize, x: View<T>) -> [T; 3] {
        let value = at(x, size, self.node(entry));
        if self.holds(entry) { times(self.free.at((entry & NUMBER) as usize), value) } else { value }
    }
}

/// Nodes that patches share, that are held, or that belong to none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SharedNodes {
    /// The nodes that are not held, ascending, then the held ones, `[n]`.
    pub nodes: View<u32>,
    /// Where the sums of each start, `[n + 1]`.
    pub starts: View<u32>,
}

impl SharedNodes {
    /// The sum of a component of node k.
    #[inline(always)]
    unsafe fn sum<T: Real>(self, size: usize, k: usize, c: usize, partial: View<T>) -> T {
        let (start, end) = (self.starts.at(k), self.starts.at(k + 1));
        let at = |place: u32| partial.at(size * place as usize + c);
        // The first four are asked for at the same time.
        let of_first = |k: u32| if start + k < end { at(start + k) } else { T::ZERO };
        let first = [of_first(0), of_first(1), of_first(2), of_first(3)];
        let mut sum = (first[0] + first[1]) + (first[2] + first[3]);
        for place in start + 4..end {
            sum += at(place);
        }
        sum
    }
}

/// A node and a component from a number: the division is of 32 bits, which is the faster, by a constant more so.
#[inline(always)]
fn component(item: usize, size: usize) -> (usize, usize) {
    let node = if size == 3 { item as u32 / 3 } else { item as u32 / size as u32 } as usize;
    (node, item - size * node)
}

/// What sums of nodes are computed from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeSums<T> {
    /// Components of a node.
    pub size: usize,
    /// The nodes.
    pub shared: SharedNodes,
    /// How many of them are not held.
    pub n_free: usize,
    /// The others.
    pub held: Held<T>,
}

impl<T: Real> NodeSums<T> {
    /// How many items there are: one per component of a node that is not held, then one per held node.
    pub const fn items(&self) -> usize {
        self.size * self.n_free + self.held.rows.len()
    }

    /// y of an item from the patches' sums of a vector.
    #[inline(always)]
    unsafe fn sum(self, item: usize, partial: View<T>, x: View<T>, y: ViewMut<T>) {
        let size = self.size;
        if item < size * self.n_free {
            let (k, c) = component(item, size);
            y.set(size * self.shared.nodes.at(k) as usize + c, self.shared.sum(size, k, c, partial));
            return;
        }
        let h = item - size * self.n_free;
        let (node, mut force) = (self.held.rows.at(h) as usize, [T::ZERO; 3]);
        for i in 0..3 {
            if i < size {
                force[i] = self.shared.sum(size, self.n_free + h, i, partial);
            }
        }
        let (free, kept) = (times(self.held.free.at(h), force), times(self.held.part.at(h), at(x, size, node)));
        for i in 0..3 {
            if i < size {
                y.set(size * node + i, free[i] + kept[i]);
            }
        }
    }
}

/// Computes: y of the nodes that patches share and of the held ones, from the patches' sums, of each y that is there.
///
/// Parameters: `partial [N][.][size]`; `x, y [N][n_nodes][size]`. Thread mapping: [`NodeSums::items`] of a vector after those of the
/// other. Memory moved: 8 B per node, a word per component of each sum and of y; of a held node 12 B and 12 words, and x. The few held
/// ones would take registers that the others' loads need.
#[kernel(items, launch_bounds(256, 8), N = [1, 4], T = [f32, f64])]
pub unsafe fn sum_nodes<const N: usize, T: Real>(
    item: usize,
    of: NodeSums<T>,
    partial: Vectors<T, N>,
    x: Vectors<T, N>,
    y: VectorsMut<T, N>,
) {
    let m = if N == 1 { 0 } else { item as u32 / of.items() as u32 } as usize;
    let ([partial], [x], [y]) = (partial.part(m), x.part(m), y.part(m));
    if N == 1 || !y.is_empty() {
        of.sum(item - m * of.items(), partial, x, y);
    }
}

/// Computes: `x . y` from the patches' parts, one of each warp, which are without what is held of the diagonal.
///
/// Parameters: `dots [n_warps]`, `x [n_nodes][size]`. Thread mapping: a grid-stride loop over parts and held nodes. Memory
/// moved: 8 B per part; 4 B, 6 words and x per held node.
#[kernel(T = [f32, f64])]
pub unsafe fn sum_dots<T: Real>(size: usize, held: Held<T>, x: View<T>, dots: View<f64>, to: Reduction) {
    let (n, step) = (dots.len() + held.rows.len(), (thread::grid_dim_x() * thread::block_dim_x()) as usize);
    let (mut dot, mut i) = (0.0, thread::index_1d() as usize);
    while i < n {
        if i < dots.len() {
            dot += dots.at(i);
        } else {
            let h = i - dots.len();
            let of_x = at(x, size, held.rows.at(h) as usize);
            dot += dot3(of_x, times(held.part.at(h), of_x)).to_f64();
        }
        i += step;
    }
    sum_over_grid([dot], to);
}

/// Computes: what an addition to K, as of springs, gives to the sums of its rows.
///
/// Parameters: `addition`, its columns as entries of patches' lists of nodes; `places`, of each of its rows the place among the sums;
/// `partial [.][size]`; `x [n_nodes][size]`. Thread mapping: an item per row of the addition. Memory moved: 76 B and a gathered
/// point per block, 12 B and a word per component of each row.
#[kernel(items, T = [f32, f64])]
pub unsafe fn sum_addition<T: Real>(
    item: usize,
    size: usize,
    addition: Addition,
    places: View<u32>,
    held: Held<T>,
    x: View<T>,
    partial: ViewMut<T>,
) {
    let mut sum = [0.0; 3];
    let Range { start, end } = range(addition.starts, item);
    for block in start..end {
        let (x, added) = (held.taken(addition.columns.at(block), size, x), addition.blocks.at(block));
        for i in 0..3 {
            for j in 0..3 {
                sum[i] = fma(added[i][j], x[j].to_f64(), sum[i]);
            }
        }
    }
    for i in 0..3 {
        if i < size {
            partial.set(size * places.at(item) as usize + i, T::from_f64(sum[i]));
        }
    }
}

/// Computes: Q of a held node and the held part of its diagonal block, and puts the diagonal of K after supports in the
/// place of that before.
///
/// Parameters: `rows, directions, free, part [n_held]`, the directions of length 1 and orthogonal, or 0; the blocks before
/// supports by `diagonal` and `across [n_nodes][size]`. Thread mapping: an item per held node. Memory moved: 76 B, 12 words,
/// and 6 or 9 numbers of the block.
#[kernel(items, T = [f32, f64])]
pub unsafe fn hold_nodes<T: Real>(
    h: usize,
    size: usize,
    rows: View<u32>,
    directions: View<[[f64; 3]; 3]>,
    diagonal: ViewMut<f64>,
    across: View<f64>,
    free: ViewMut<[T; 6]>,
    part: ViewMut<[T; 6]>,
) {
    let node = rows.at(h) as usize;
    let (mut block, mut q, mut own) = ([0.0; 6], [0.0; 6], [0.0; 6]);
    for i in 0..size {
        block[upper(3, i, i)] = diagonal.at(size * node + i);
        q[upper(3, i, i)] = 1.0;
    }
    for (k, [i, j]) in [[0, 1], [1, 2], [0, 2]].into_iter().enumerate() {
        if j < size {
            block[upper(3, i, j)] = across.at(size * node + k);
        }
    }
    for n in directions.at(h) {
        let kn = times(block, n);
        let stiffness = fma(n[2], kn[2], fma(n[1], kn[1], n[0] * kn[0]));
        for i in 0..3 {
            for j in i..3 {
                q[upper(3, i, j)] -= n[i] * n[j];
                own[upper(3, i, j)] = fma(stiffness * n[i], n[j], own[upper(3, i, j)]);
            }
        }
    }
    for i in 0..size {
        let column = core::array::from_fn(|j| q[upper(3, i, j)]);
        let kq = times(block, column);
        let mut sum = own[upper(3, i, i)];
        for j in 0..3 {
            sum = fma(column[j], kq[j], sum);
        }
        diagonal.set(size * node + i, sum);
    }
    free.set(h, q.map(T::from_f64));
    part.set(h, own.map(T::from_f64));
}
