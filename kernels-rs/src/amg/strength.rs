//! How strongly the nodes of a level are coupled: by the Frobenius norms of their blocks (Vanek, Mandel, Brezina 1996,
//! sec. 4), and by their distances. Stretched hexahedra couple nodes along their long edges as strongly as along the
//! short ones by these norms, and yet smoothing does little along the long ones.

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

/// The squared Frobenius norm of block k of a row, and a bit for each of its rows that has an entry beside the matrix's
/// diagonal.
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

/// The square of the distance of two points.
#[inline(always)]
pub(super) unsafe fn square_distance(coords: View<[f64; 3]>, a: usize, b: usize) -> f64 {
    let (a, b) = (coords.at(a), coords.at(b));
    let mut square = 0.0;
    for c in 0..3 {
        square += (a[c] - b[c]) * (a[c] - b[c]);
    }
    square
}

/// Computes: `|A_ii|_F`, the norm of each diagonal block, and the square of the distance to the nearest node that
/// shares an element.
///
/// Parameters: `coords, norms, nearest [n_rows]`; nodes at no distance do not count. Thread mapping: an item per block
/// row; rows without blocks are left as they are. Memory moved: the diagonal blocks, 40 B per row, per block an index and a point (gathered).
#[kernel(items, T = [f32, f64])]
pub unsafe fn measure_rows<T: Real>(
    row: usize,
    entries: Entries,
    values: View<T>,
    coords: View<[f64; 3]>,
    norms: ViewMut<f64>,
    nearest: ViewMut<f64>,
) {
    let (first, width) = entries.pattern.row(row);
    if width == 0 {
        return;
    }
    norms.set(row, look_at(entries, values, row, 0).0.sqrt());
    let mut least = f64::INFINITY;
    for block in first + 1..first + width {
        let square = square_distance(coords, row, entries.pattern.columns.at(block) as usize);
        if square > 0.0 && square < least {
            least = square;
        }
    }
    nearest.set(row, least);
}

/// What couplings are judged by.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Measures {
    /// Coordinates of the nodes, `[n_rows]`.
    pub coords: View<[f64; 3]>,
    /// The norms of the diagonal blocks, `[n_rows]`.
    pub norms: View<f64>,
    /// The squares of the distances to the nearest nodes, `[n_rows]`.
    pub nearest: View<f64>,
    /// A coupling is weak if its strength is below this.
    pub threshold: f64,
    /// Or if it is this many times as long as the nearest ones of its nodes.
    pub reach: f64,
}

impl Measures {
    /// Whether two nodes are far from one another, for their surroundings.
    #[inline(always)]
    unsafe fn is_long(self, a: usize, b: usize) -> bool {
        let square = square_distance(self.coords, a, b);
        square * square > self.reach * self.reach * self.reach * self.reach * self.nearest.at(a) * self.nearest.at(b)
    }
}

/// Computes: the strength `|A_ij|_F^2 / (|A_ii|_F |A_jj|_F)` of every block, 0 where it is weak, unless it is the row's
/// strongest among those that are not long, or among all where all are long: so every node that is coupled at all has
/// a strong coupling. By norms alone the strongest one of a stretched hexahedron is along its long edges, and aggregates
/// would grow from one layer of nodes into the next.
///
/// Parameters: `by`; `to`, with the strengths of these rows' blocks. Thread mapping: an item per block row; rows without
/// blocks are left as they are.
/// Memory moved: the matrix once, per block an index, 40 B of measures (gathered) and a strength.
#[kernel(items, T = [f32, f64])]
pub unsafe fn find_strengths<T: Real>(row: usize, entries: Entries, values: View<T>, by: Measures, to: Couplings) {
    let (first, width) = entries.pattern.row(row);
    if width == 0 {
        return;
    }
    let (_, mut free) = look_at(entries, values, row, 0);
    let (mut strongest, mut largest, mut is_strongest_long) = (0, 0.0, true);
    to.strengths.set(first, 0.0);
    for k in 1..width {
        let (square, coupled) = look_at(entries, values, row, k);
        let other = entries.pattern.columns.at(first + k) as usize;
        let scale = by.norms.at(row) * by.norms.at(other);
        let strength = if square > 0.0 && scale > 0.0 { square / scale } else { 0.0 };
        free |= coupled;
        let is_long = by.is_long(row, other);
        if strength > 0.0 && (!is_long, strength) > (!is_strongest_long, largest) {
            (strongest, largest, is_strongest_long) = (k, strength, is_long);
        }
        let is_weak = is_long || strength < by.threshold;
        to.strengths.set(first + k, if is_weak { 0.0 } else { strength as f32 });
    }
    if strongest > 0 {
        to.strengths.set(first + strongest, largest as f32);
    }
    to.free.set(row, free);
    to.linked.set(row, u8::from(strongest > 0));
}
