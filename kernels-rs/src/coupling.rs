//! Couplings of unknowns, `u = T u_m + g`, around a matrix: T is the identity but for the rows of slaves, each a sum of
//! masters. The product with `T^T K T` is `T^T (K (T x))`, so the matrix stays as it is.

use crate::half::F16;
use crate::real::{Real, Stored, fma};
use crate::reduce::{BLOCK, block_sum};
use crate::setup::lists::{bisect, range};
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// No row.
pub const NONE: u32 = u32::MAX;

/// Some rows of a sparse matrix, in compressed form.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SparseRows<T: DeviceCopy> {
    /// Entries before each row, `[n_rows + 1]`.
    pub starts: View<u64>,
    /// `[n_entries]`; ascending in each row.
    pub columns: View<u32>,
    /// `[n_entries]`
    pub factors: View<T>,
}

/// Computes: `y_t = sum_k factor_k x_k` over the entries of a row, t its target; `y_t += ..` if `adds`. A row without
/// entries sets 0.
///
/// Parameters: `targets [n_rows]`, all different; x and y may be one vector if no target is a column. Thread mapping: an
/// item per row. Memory moved: per entry an index, a factor and a word of x, per row a word of y and 12 B.
#[kernel(items, T = [f32, f64])]
pub unsafe fn gather_rows<T: Real>(
    item: usize,
    rows: SparseRows<T>,
    targets: View<u32>,
    adds: u32,
    x: View<T>,
    y: ViewMut<T>,
) {
    let target = targets.at(item) as usize;
    let mut sum = if adds == 1 { y.at(target) } else { T::ZERO };
    for k in range(rows.starts, item) {
        sum = fma(rows.factors.at(k), x.at(rows.columns.at(k) as usize), sum);
    }
    y.set(target, sum);
}

/// Computes: as [`gather_rows`], of long rows. The longest are cut into chunks, whose sums another launch adds up: the
/// order of additions is fixed.
///
/// Parameters: as there. Thread mapping: a block of [`BLOCK`] threads per row. Memory moved: as there.
#[kernel(launch_bounds(256, 4), T = [f32, f64])]
pub unsafe fn gather_long_rows<T: Real>(rows: SparseRows<T>, targets: View<u32>, adds: u32, x: View<T>, y: ViewMut<T>) {
    let (row, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    let places = range(rows.starts, row);
    let (mut place, mut sum) = (places.start + thread, 0.0);
    while place < places.end {
        let value = x.at(rows.columns.at(place) as usize);
        sum = fma(rows.factors.at(place).to_f64(), value.to_f64(), sum);
        place += BLOCK;
    }
    let [sum] = block_sum([sum]);
    if thread == 0 {
        let target = targets.at(row) as usize;
        let before = if adds == 1 { y.at(target).to_f64() } else { 0.0 };
        y.set(target, T::from_f64(before + sum));
    }
}

/// Computes: `y_t = x_s` for places s of one vector and t of another; without a list they are 0, 1, 2 ...
///
/// Parameters: `sources, targets [n]` or nothing, targets all different. Thread mapping: an item per entry. Memory moved: two
/// words and an index or two per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn move_entries<T: Real>(item: usize, sources: View<u32>, targets: View<u32>, x: View<T>, y: ViewMut<T>) {
    let place = |list: View<u32>| if list.is_empty() { item } else { list.at(item) as usize };
    y.set(place(targets), x.at(place(sources)));
}

/// Computes: the place of each index in a list, or [`NONE`] of those that are not in it.
///
/// Parameters: `list`, ascending; `places [n]`. Thread mapping: an item per index. Memory moved: 4 B per index, the list
/// through the cache.
#[kernel(items)]
pub unsafe fn find_places(index: usize, list: View<u32>, places: ViewMut<u32>) {
    let place = bisect(0, list.len(), |place| (list.at(place) as usize) < index);
    let found = place < list.len() && list.at(place) as usize == index;
    places.set(index, if found { place as u32 } else { NONE });
}

/// Computes: what an entry `T_sm` adds to the diagonal of `T^T K T` in row m,
/// `T_sm (2 K_sm + sum_j K_sj T_jm)`, j the slaves.
///
/// Parameters: `slaves [n_entries]`, the slave of each entry; `row_of [n]`, the row of T of each unknown, [`NONE`] for
/// those that are no slaves; `terms [n_entries]`. Thread mapping: an item per entry of T. Memory moved: the row of K of
/// each entry's slave.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn coupled_diagonal<V: Stored>(
    item: usize,
    entries: Entries,
    values: View<V>,
    rows: SparseRows<f64>,
    slaves: View<u32>,
    row_of: View<u32>,
    terms: ViewMut<f64>,
) {
    let (slave, master, size) = (slaves.at(item) as usize, rows.columns.at(item), entries.size);
    let (row, i) = (slave / size, slave % size);
    let (first, width) = entries.pattern.row(row);
    let mut sum = 0.0;
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize;
        for j in 0..size {
            let unknown = column * size + j;
            let of = row_of.at(unknown);
            let weight = match of {
                NONE if unknown == master as usize => 2.0,
                NONE => 0.0,
                of => factor_at(rows, of as usize, master),
            };
            if weight != 0.0 {
                sum += weight * values.at(entries.at(row, k, i, j)).value().to_f64();
            }
        }
    }
    terms.set(item, rows.factors.at(item) * sum);
}

/// The factor of a column in a row; 0 if it is not there.
#[inline(always)]
unsafe fn factor_at(rows: SparseRows<f64>, row: usize, column: u32) -> f64 {
    let places = range(rows.starts, row);
    let place = bisect(places.start, places.end, |place| rows.columns.at(place) < column);
    if place < places.end && rows.columns.at(place) == column { rows.factors.at(place) } else { 0.0 }
}
