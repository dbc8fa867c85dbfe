//! Stacks: nodes one above the other across flat elements. Their couplings are so strong that a smoother has to solve
//! for all of a stack at once: D is then block diagonal, a dense block for each stack.
//!
//! Two nodes are one above the other if their distance is a small part of the longest coupling of both.

use super::NONE;
use super::pattern::Lists;
use super::strength::square_distance;
use crate::precond::{Step, step_entry};
use crate::real::{Real, fma};
use crate::sparse::{Entries, PatternView};
use core::ops::Range;
use cuda_std::prelude::*;

/// Nodes of a stack at most: those of stretched elements, which are flat in two directions, would be whole planes.
pub const MOST_NODES: usize = 8;

/// Computes: the square of the longest coupling of each node.
///
/// Parameters: `pattern`, the couplings; `coords, longest [n]`. Thread mapping: an item per node.
/// Memory moved: 32 B per node, per coupling an index and a point (gathered).
#[kernel(items)]
pub unsafe fn measure_longest(row: usize, pattern: PatternView, coords: View<[f64; 3]>, longest: ViewMut<f64>) {
    let mut most: f64 = 0.0;
    for block in pattern.blocks(row) {
        most = most.max(square_distance(coords, row, pattern.columns.at(block) as usize));
    }
    longest.set(row, most);
}

/// Computes: the strengths of couplings within stacks, the shorter the stronger; 0 for others.
///
/// Parameters: `pattern`, whose blocks have `strengths`; `coords, longest [n]`; `flat`, how many times as long the
/// longest coupling is; `linked, marks [n]`, 1 for a node that has any. Thread mapping: an item per node. Memory moved: as [`measure_longest`], and 4 B per coupling.
#[kernel(items)]
pub unsafe fn find_stacked(
    row: usize,
    pattern: PatternView,
    coords: View<[f64; 3]>,
    longest: View<f64>,
    flat: f64,
    strengths: ViewMut<f32>,
    linked: ViewMut<u8>,
    marks: ViewMut<u32>,
) {
    let mut any = false;
    for block in pattern.blocks(row) {
        let other = pattern.columns.at(block) as usize;
        let square = square_distance(coords, row, other);
        let least = longest.at(row).min(longest.at(other));
        let is_stacked = other != row && flat * flat * square < least;
        any |= is_stacked;
        strengths.set(block, if is_stacked { (least / square.max(1e-6 * least)) as f32 } else { 0.0 });
    }
    linked.set(row, u8::from(any));
    marks.set(row, u32::from(any));
}

/// Which stack each node is in, and the nodes of each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stacks {
    /// Of each node, or [`NONE`], `[n]`.
    pub of_nodes: View<u32>,
    /// Their nodes, ascending.
    pub members: Lists,
}

impl Stacks {
    /// The places of the nodes of a node's stack; none if it is in none, or in one that is too large.
    #[inline(always)]
    unsafe fn around(self, node: usize) -> (usize, usize) {
        let stack = self.of_nodes.at(node);
        if stack == NONE {
            return (0, 0);
        }
        let Range { start, end } = self.members.range(stack as usize);
        if end - start > MOST_NODES { (0, 0) } else { (start, end) }
    }
}

/// Computes: how many blocks each row of D has.
///
/// Parameters: `of`; `counts [n]`. Thread mapping: an item per node. Memory moved: 24 B per node.
#[kernel(items)]
pub unsafe fn count_stacked(node: usize, of: Stacks, counts: ViewMut<u32>) {
    let (start, end) = of.around(node);
    counts.set(node, (end - start).max(1) as u32);
}

/// Computes: which blocks D has: each node of a stack is coupled to all of its nodes.
///
/// Parameters: `of`; `row_start [n + 1]`; `columns [row_start[n]]`, the diagonal first, the others ascending. Thread
/// mapping: an item per node. Memory moved: 28 B per node, 8 B per block.
#[kernel(items)]
pub unsafe fn list_stacked(node: usize, of: Stacks, row_start: View<u64>, columns: ViewMut<u32>) {
    let mut place = row_start.at(node) as usize;
    columns.set(place, node as u32);
    let (start, end) = of.around(node);
    for member in start..end {
        let other = of.members.rows.at(member);
        if other as usize != node {
            place += 1;
            columns.set(place, other);
        }
    }
}

/// Computes: the blocks of D, taken from a matrix. With couplings around it the diagonal is that of `T^T K T`, the other
/// entries are those of K, and unknowns without a diagonal, such as slaves, are not in D.
///
/// Parameters: `from, values`, the matrix, whose rows have their diagonal first; `inverse [n]`, that of the diagonal with
/// couplings, or nothing; `to, blocks`, D, 0 before. Thread mapping: an item per block row. Memory moved: D's values read and
/// written, the row's indices.
#[kernel(items, T = [f32, f64])]
pub unsafe fn gather_stacked<T: Real>(
    row: usize,
    from: Entries,
    values: View<T>,
    inverse: View<T>,
    to: Entries,
    blocks: ViewMut<f64>,
) {
    let (first, width) = to.pattern.row(row);
    let (start, n) = from.pattern.row(row);
    for k in 0..width {
        let column = to.pattern.columns.at(first + k);
        for other in 0..n {
            if from.pattern.columns.at(start + other) == column {
                for i in 0..to.size {
                    for j in 0..to.size {
                        let mut value = values.at(from.at(row, other, i, j)).to_f64();
                        if !inverse.is_empty() {
                            let [own, of] = [row * to.size + i, column as usize * to.size + j];
                            let [own, of] = [inverse.at(own).to_f64(), inverse.at(of).to_f64()];
                            if own == 0.0 || of == 0.0 {
                                value = 0.0;
                            } else if k == 0 && i == j {
                                value = 1.0 / own;
                            }
                        }
                        blocks.set(to.at(row, k, i, j), value);
                    }
                }
            }
        }
    }
}

/// The dense block of a stack, as it is among the entries of D.
#[derive(Clone, Copy)]
struct Dense {
    entries: Entries,
    /// The place of the stack's columns in the row of its first node, ascending.
    first: usize,
}

impl Dense {
    /// The place of entry (i, j).
    #[inline(always)]
    unsafe fn at(self, i: usize, j: usize) -> usize {
        let size = self.entries.size;
        let (a, b) = (i / size, j / size);
        let row = self.entries.pattern.columns.at(self.first + a) as usize;
        // The diagonal comes first.
        let k = if b == a {
            0
        } else if b < a {
            b + 1
        } else {
            b
        };
        self.entries.at(row, k, i % size, j % size)
    }
}

/// Computes: the inverse of D in its place, stack by stack, by Gauss and Jordan without pivoting, as it is positive
/// definite; a row without a diagonal has none in the inverse.
///
/// Parameters: `entries, blocks`, D. Thread mapping: an item per node, of which the first of each stack does the work.
/// Memory moved: for m unknowns of a stack 3 m^3 words, through the cache.
#[kernel(items)]
pub unsafe fn invert_stacked(node: usize, entries: Entries, blocks: ViewMut<f64>) {
    let (first, width) = entries.pattern.row(node);
    if width > 1 && (entries.pattern.columns.at(first + 1) as usize) < node {
        return;
    }
    let (dense, n) = (Dense { entries, first }, width * entries.size);
    for k in 0..n {
        let diagonal = blocks.at(dense.at(k, k));
        let pivot = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        blocks.set(dense.at(k, k), 1.0);
        for j in 0..n {
            let place = dense.at(k, j);
            blocks.set(place, pivot * blocks.at(place));
        }
        for i in 0..n {
            if i != k {
                let factor = blocks.at(dense.at(i, k));
                blocks.set(dense.at(i, k), 0.0);
                for j in 0..n {
                    let place = dense.at(i, j);
                    blocks.set(place, fma(-factor, blocks.at(dense.at(k, j)), blocks.at(place)));
                }
            }
        }
    }
}

/// Entry `item` of `D^-1 (r - q)`, or of `D^-1 r` where there is no q.
#[inline(always)]
unsafe fn solved<T: Real>(item: usize, entries: Entries, values: View<T>, r: View<T>, q: View<T>) -> T {
    let (row, i) = (item / entries.size, item % entries.size);
    let (first, width) = entries.pattern.row(row);
    let mut sum = T::ZERO;
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize * entries.size;
        for j in 0..entries.size {
            let residual = if q.is_empty() { r.at(column + j) } else { r.at(column + j) - q.at(column + j) };
            sum = fma(values.at(entries.at(row, k, i, j)), residual, sum);
        }
    }
    sum
}

/// Computes: `z = factor D^-1 r`.
///
/// Parameters: `entries, values`, `D^-1`; `r, z [n]`. Thread mapping: an item per entry. Memory moved: `D^-1` once, two
/// words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn stacked_start<T: Real>(
    item: usize,
    factor: T,
    entries: Entries,
    values: View<T>,
    r: View<T>,
    z: ViewMut<T>,
) {
    z.set(item, factor * solved(item, entries, values, r, View::from_slice(&[])));
}

/// Computes: a step of a polynomial of `D^-1 A`.
///
/// Parameters: `step`, whose `inverse` is not read; `entries, values`, `D^-1`; `z, product [n]`, z and A z. Thread
/// mapping: an item per entry. Memory moved: `D^-1` once, five words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn stacked_step<T: Real>(
    item: usize,
    step: Step<T>,
    entries: Entries,
    values: View<T>,
    z: View<T>,
    product: View<T>,
) {
    let correction = solved(item, entries, values, step.r, product);
    let old = || step.previous.at(item);
    step.previous.set(item, step_entry(step.factors, T::ONE, correction, z.at(item), old));
}
