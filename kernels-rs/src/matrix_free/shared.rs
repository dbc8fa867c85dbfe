//! The second half of products without a matrix: the sums of nodes that patches share, and supports.
//!
//! With n the orthonormal directions held at a node and `Q = I - sum n n^T`, K after supports is
//! `Q K Q + sum n (n . K_aa n) n^T`, as [`crate::assembly::slanted`] makes it; where n are components, rows and columns are
//! zero but for the diagonal.

use crate::assembly::addition::Addition;
use crate::form::upper;
use crate::real::{Real, fma};
use crate::setup::lists::range;
use core::ops::Range;
use cuda_std::prelude::*;

/// Entries of lists of nodes with this bit are places among the held nodes, without it numbers of nodes.
pub const HELD: u32 = 1 << 31;
/// Entries of a patch's list with this bit are of nodes between corners.
pub const MIDDLE: u32 = 1 << 30;
/// The number in an entry.
pub const NUMBER: u32 = MIDDLE - 1;

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
    /// The nodes, ascending; those with the bit [`HELD`] are places among the held ones, `[n]`.
    pub nodes: View<u32>,
    /// Where the sums of each start, `[n + 1]`.
    pub starts: View<u32>,
}

/// Computes: y of the nodes that patches share, from the patches' sums.
///
/// Parameters: `partial [.][size]`; `x, y [n_nodes][size]`. Thread mapping: an item per node and component. Memory moved:
/// 8 B per node, a word per component of each sum and of y; of held nodes all components, 12 words, and x.
#[kernel(items, T = [f32, f64])]
pub unsafe fn sum_shared<T: Real>(
    item: usize,
    size: usize,
    shared: SharedNodes,
    held: Held<T>,
    partial: View<T>,
    x: View<T>,
    y: ViewMut<T>,
) {
    // Division of 32 bits is the faster.
    let k = (item as u32 / size as u32) as usize;
    let c = item - size * k;
    let (entry, start, end) = (shared.nodes.at(k), shared.starts.at(k) as usize, shared.starts.at(k + 1) as usize);
    let component = |c: usize| {
        let mut sum = T::ZERO;
        for place in start..end {
            sum += partial.at(size * place + c);
        }
        sum
    };
    let node = held.node(entry);
    if !held.holds(entry) {
        y.set(size * node + c, component(c));
        return;
    }
    let mut force = [T::ZERO; 3];
    for i in 0..3 {
        if i < size {
            force[i] = component(i);
        }
    }
    let h = (entry & NUMBER) as usize;
    let (free, kept) = (times(held.free.at(h), force), times(held.part.at(h), at(x, size, node)));
    for i in 0..3 {
        if i == c {
            y.set(size * node + i, free[i] + kept[i]);
        }
    }
}

/// Computes: what an addition to K, as of springs, gives to the sums of its rows.
///
/// Parameters: `addition`, its columns as [`SharedNodes::nodes`]; `places`, of each of its rows the place among the sums;
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
