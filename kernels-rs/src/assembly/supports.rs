//! Supports by elimination that keeps the matrix symmetric.
//!
//! Rows and columns of prescribed components are zeroed but for the diagonal, so that they become `K_ii v_i = 0`: the
//! solver finds `v`, which is the displacement less what is prescribed. The right-hand side is `f - K u` of the prescribed
//! u, from the elements' internal forces; DSM's code (table II) leaves it at f, which is right for `u = 0` alone.

use crate::half::F16;
use crate::real::{Arithmetic, Real, Stored};
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// Whether component `i` is prescribed in a node's mask of three bits.
#[inline(always)]
fn is_fixed(mask: u8, i: usize) -> bool {
    mask >> i & 1 == 1
}

/// Computes: applies the supports to block row `row` of K.
///
/// Parameters: `fixed [n_rows]`, a bit per component. Thread mapping: an item per block row.
/// Memory moved: per block one index and one mask; values are touched only in rows and columns of supported nodes.
#[kernel(items, T = [f32, f64], D = [1, 2, 3])]
pub unsafe fn eliminate<T: Real, const D: usize>(row: usize, entries: Entries, fixed: View<u8>, values: ViewMut<T>) {
    let own = fixed.at(row);
    let (first, width) = entries.pattern.row(row);
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize;
        let other = fixed.at(column);
        if own | other == 0 {
            continue;
        }
        for i in 0..D {
            for j in 0..D {
                let is_diagonal = k == 0 && i == j;
                if (is_fixed(own, i) || is_fixed(other, j)) && !is_diagonal {
                    values.set(entries.at(row, k, i, j), T::ZERO);
                }
            }
        }
    }
}

/// Computes: the displacement `w = v + prescribed`, in double.
///
/// Parameters: `v, w [n]`; `prescribed [n]`, or nothing. Thread mapping: an item per entry. Memory moved: three words per
/// entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn total_displacement<T: Real>(i: usize, v: View<T>, prescribed: View<f64>, w: ViewMut<f64>) {
    let moved = if prescribed.is_empty() { 0.0 } else { prescribed.at(i) };
    w.set(i, v.at(i).to_f64() + moved);
}

/// Computes: what internal forces leave of the loads, `r = loads - forces`, and 0 where a component is prescribed.
///
/// Parameters: `size`, components of a row; `fixed [n_rows]`, a bit per component; `loads, forces, r [n_rows][size]`.
/// Thread mapping: an item per row. Memory moved: a byte and three words per component.
#[kernel(items, T = [f32, f64])]
pub unsafe fn unbalanced<T: Real>(
    row: usize,
    size: usize,
    fixed: View<u8>,
    loads: View<f64>,
    forces: View<f64>,
    r: ViewMut<T>,
) {
    let own = fixed.at(row);
    for i in 0..size {
        let k = size * row + i;
        r.set(k, if is_fixed(own, i) { T::ZERO } else { T::from_f64(loads.at(k) - forces.at(k)) });
    }
}

/// Computes: `inverse_i = 1 / K_ii`, the Jacobi preconditioner; 0 for an empty row.
///
/// Parameters: `inverse [n_rows][size]`. Thread mapping: an item per block row. Memory moved: two words per row.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn inverse_diagonal<V: Stored>(
    row: usize,
    entries: Entries,
    values: View<V>,
    inverse: ViewMut<Arithmetic<V>>,
) {
    for i in 0..entries.size {
        let (diagonal, zero) = (values.at(entries.at(row, 0, i, i)).value(), V::Arithmetic::ZERO);
        inverse.set(entries.size * row + i, if diagonal == zero { zero } else { V::Arithmetic::ONE / diagonal });
    }
}
