//! How strongly the nodes of a level are coupled: by the Frobenius norms of their blocks (Vanek, Mandel, Brezina 1996, sec. 4).

use crate::real::Real;
use crate::sparse::{Entries, PatternView};
use cuda_std::prelude::*;

/// The strong couplings of a level.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Graph {
    /// The blocks of the matrix.
    pub pattern: PatternView,
    /// The strength of each block, `[n_blocks]`; 0 where it is weak, and of the diagonal.
    pub strengths: View<f32>,
}

/// What is found about a block row.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Couplings {
    /// As [`Graph::strengths`].
    pub strengths: ViewMut<f32>,
    /// A bit for each component that is coupled to any other, `[n_rows]`: supports have none.
    pub free: ViewMut<u8>,
    /// Whether a block beside the diagonal is not zero, `[n_rows]`.
    pub linked: ViewMut<u8>,
}

/// The squared Frobenius norm of block k of a row, and a bit for each of its rows that has an entry beside the matrix's diagonal.
#[inline(always)]
unsafe fn look_at<T: Real>(entries: Entries, values: View<T>, row: usize, k: usize) -> (f64, u8) {
    let (mut square, mut coupled) = (0.0, 0);
    for i in 0..entries.size {
        for j in 0..entries.size {
            let value = values.at(entries.at(row, k, i, j)).to_f64();
            square += value * value;
            if value != 0.0 && (k > 0 || i != j) {
                coupled |= 1 << i;
            }
        }
    }
    (square, coupled)
}

/// Computes: `|A_ii|_F`, the norm of each diagonal block.
///
/// Parameters: `norms [n_rows]`. Thread mapping: an item per block row. Memory moved: the diagonal blocks, 8 B per row.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn diagonal_norms<T: Real>(row: usize, entries: Entries, values: View<T>, norms: ViewMut<f64>) {
    norms.set(row, look_at(entries, values, row, 0).0.sqrt());
}

/// Computes: the strength `|A_ij|_F^2 / (|A_ii|_F |A_jj|_F)` of every block, 0 where it is below `threshold`, unless it is the
/// row's strongest: so every node that is coupled at all has a strong coupling.
///
/// Parameters: `norms [n_rows]`, see [`diagonal_norms`]; `to`. Thread mapping: an item per block row.
/// Memory moved: the matrix once, per block an index, a norm (gathered) and a strength.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn find_strengths<T: Real>(
    row: usize,
    threshold: f64,
    entries: Entries,
    values: View<T>,
    norms: View<f64>,
    to: Couplings,
) {
    let (first, width) = entries.pattern.row(row);
    let (_, mut free) = look_at(entries, values, row, 0);
    let (mut strongest, mut largest) = (0, 0.0);
    to.strengths.set(first, 0.0);
    for k in 1..width {
        let (square, coupled) = look_at(entries, values, row, k);
        let scale = norms.at(row) * norms.at(entries.pattern.columns.at(first + k) as usize);
        let strength = if square > 0.0 && scale > 0.0 { square / scale } else { 0.0 };
        free |= coupled;
        if strength > largest {
            (strongest, largest) = (k, strength);
        }
        to.strengths.set(first + k, if strength < threshold { 0.0 } else { strength as f32 });
    }
    if strongest > 0 {
        to.strengths.set(first + strongest, largest as f32);
    }
    to.free.set(row, free);
    to.linked.set(row, u8::from(strongest > 0));
}
