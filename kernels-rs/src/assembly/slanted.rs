//! Supports in directions that are not those of the components, by projection.
//!
//! With n the orthonormal directions held at a node and `Q = I - sum n n^T`, the blocks of K become `Q_a K_ab Q_b`, and
//! on the diagonal `+ sum n (n . K_aa n) n^T`; the right-hand side is `Q (f - K u)` for the prescribed u. Vectors keep
//! the mesh's components. Where n are components this is [`super::supports::eliminate`].

use crate::real::{Real, fma};
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// The bit of a node's mask that says that its directions are in a table; then it has no other.
pub const SLANTED: u8 = 1 << 3;

/// What is held at a node that is not held in all: one direction or two; the second is 0 if there is none.
pub type Directions = [[f64; 3]; 2];

/// Takes what is along the directions off a vector; components past those of the node are 0.
#[inline(always)]
pub fn take_off(directions: Directions, x: [f64; 3]) -> [f64; 3] {
    let mut free = x;
    for n in directions {
        let along = x[0] * n[0] + x[1] * n[1] + x[2] * n[2];
        for c in 0..3 {
            free[c] = fma(-along, n[c], free[c]);
        }
    }
    free
}

/// What supports hold, of all nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Held {
    /// A bit per component, or [`SLANTED`], `[n_rows]`.
    pub fixed: View<u8>,
    /// Of each slanted node its place in the table, `[n_rows]`.
    pub place: View<u32>,
    /// The table.
    pub directions: View<Directions>,
}

impl Held {
    /// Q of a node; exactly symmetric.
    #[inline(always)]
    unsafe fn projector<const D: usize>(self, row: usize) -> [[f64; D]; D] {
        let mask = self.fixed.at(row);
        let mut q = [[0.0; D]; D];
        for i in 0..D {
            q[i][i] = if mask >> i & 1 == 1 { 0.0 } else { 1.0 };
        }
        if mask == SLANTED {
            for n in self.directions.at(self.place.at(row) as usize) {
                for i in 0..D {
                    for j in 0..D {
                        q[i][j] -= n[i] * n[j];
                    }
                }
            }
        }
        q
    }

    /// The held part of a diagonal block, `sum n (n . K n) n^T`.
    #[inline(always)]
    unsafe fn held_part<const D: usize>(self, row: usize, block: [[f64; D]; D]) -> [[f64; D]; D] {
        let mask = self.fixed.at(row);
        let mut part = [[0.0; D]; D];
        for i in 0..D {
            part[i][i] = if mask >> i & 1 == 1 { block[i][i] } else { 0.0 };
        }
        if mask == SLANTED {
            for n in self.directions.at(self.place.at(row) as usize) {
                let mut stiffness = 0.0;
                for i in 0..D {
                    for j in 0..D {
                        stiffness = fma(n[i] * n[j], block[i][j], stiffness);
                    }
                }
                for i in 0..D {
                    for j in 0..D {
                        part[i][j] = fma(n[i] * n[j], stiffness, part[i][j]);
                    }
                }
            }
        }
        part
    }
}

/// `A B` of small matrices, the terms of an entry in order.
#[inline(always)]
fn times<const D: usize>(a: [[f64; D]; D], b: [[f64; D]; D]) -> [[f64; D]; D] {
    let mut c = [[0.0; D]; D];
    for i in 0..D {
        for j in 0..D {
            for k in 0..D {
                c[i][j] = fma(a[i][k], b[k][j], c[i][j]);
            }
        }
    }
    c
}

/// Computes: applies the supports to block row `row` of K.
///
/// `Q_a K Q_b` is the mean of `(Q_a K) Q_b` and `Q_a (K Q_b)`: these are each other's in the transposed block, so K stays
/// symmetric to the last bit.
///
/// Thread mapping: an item per block row. Memory moved: as [`super::supports::eliminate`], and 52 B per slanted neighbour.
/// Operations: `16 D^3` per block of supported nodes.
#[kernel(items, T = [f32, f64], D = [2, 3])]
pub unsafe fn eliminate_slanted<T: Real, const D: usize>(row: usize, entries: Entries, held: Held, values: ViewMut<T>) {
    let own = held.fixed.at(row);
    let q = held.projector::<D>(row);
    let (first, width) = entries.pattern.row(row);
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize;
        let other = held.fixed.at(column);
        if own | other == 0 {
            continue;
        }
        let mut block = [[0.0; D]; D];
        for i in 0..D {
            for j in 0..D {
                block[i][j] = values.at(entries.at(row, k, i, j)).to_f64();
            }
        }
        let p = held.projector::<D>(column);
        let (left, right) = (times(times(q, block), p), times(q, times(block, p)));
        let part = if k == 0 { held.held_part(row, block) } else { [[0.0; D]; D] };
        for i in 0..D {
            for j in 0..D {
                let value = 0.5 * (left[i][j] + right[i][j]) + part[i][j];
                values.set(entries.at(row, k, i, j), T::from_f64(value));
            }
        }
    }
}

/// Computes: takes what slanted supports hold off a vector, `x <- Q x` at their nodes.
///
/// Parameters: `rows, directions [n_slanted]`; `x [n_rows][size]`. Thread mapping: an item per slanted node. Memory
/// moved: 52 B and two words per component of each.
#[kernel(items, T = [f32, f64])]
pub unsafe fn project_free<T: Real>(
    item: usize,
    size: usize,
    rows: View<u32>,
    directions: View<Directions>,
    x: ViewMut<T>,
) {
    let row = rows.at(item) as usize;
    let mut value = [0.0; 3];
    for i in 0..size {
        value[i] = x.at(size * row + i).to_f64();
    }
    let free = take_off(directions.at(item), value);
    for i in 0..size {
        x.set(size * row + i, T::from_f64(free[i]));
    }
}
