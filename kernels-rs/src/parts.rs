//! Sums and largest values over the connected parts of a body, for the error estimate of each part.
//!
//! The rows (nodes) of a part are listed in chunks of [`CHUNK`]; a chunk belongs to one part. A kernel leaves one
//! result per chunk, and the host adds these up in order: the same bits whatever the device's threads do.

use crate::element::in_steps;
use crate::real::{Real, fma};
use cuda_std::prelude::*;

/// Rows of a chunk.
pub const CHUNK: usize = 32;
/// Fills up the last chunk of a part.
pub const NO_ROW: u32 = u32::MAX;
/// Rigid motions of a body in space; a plane body has 3, a potential 1.
pub const N_MOTIONS: usize = 6;

/// The rows of parts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PartRows {
    /// Rows, [`NO_ROW`] where there is none, `[n_chunks][CHUNK]`.
    pub rows: View<u32>,
    /// The part of each chunk, `[n_chunks]`.
    pub part: View<u32>,
    /// Components of a row: 1, 2 or 3.
    pub size: usize,
}

impl PartRows {
    /// Row `k` of a chunk, if there is one.
    #[inline(always)]
    unsafe fn row(self, chunk: usize, k: usize) -> Option<usize> {
        let row = self.rows.at(chunk * CHUNK + k);
        if row == NO_ROW { None } else { Some(row as usize) }
    }
}

/// Where the rotations of each part turn, and how long it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frames {
    /// Coordinates of the rows, `[n_rows]`.
    pub coords: View<[f64; 3]>,
    /// Centre, and 1 / length, `[n_parts]`.
    pub frames: View<[f64; 4]>,
}

impl Frames {
    /// Coordinates of a row about the centre of its part, in units of the part's length.
    #[inline(always)]
    unsafe fn about_centre(self, row: usize, part: usize) -> [f64; 3] {
        let (x, frame) = (self.coords.at(row), self.frames.at(part));
        core::array::from_fn(|i| (x[i] - frame[i]) * frame[3])
    }
}

/// Component `i` of rigid motion `motion` at a place `y`: first the translations, then the rotations in the planes xy,
/// yz and zx. `size` is the number of components.
#[inline(always)]
pub fn rigid_motion(size: usize, motion: usize, i: usize, y: [f64; 3]) -> f64 {
    if motion < size {
        return f64::from(u8::from(motion == i));
    }
    let a = motion - size;
    let b = if a == 2 { 0 } else { a + 1 };
    if i == a {
        -y[b]
    } else if i == b {
        y[a]
    } else {
        0.0
    }
}

/// Computes: `x . y` over each chunk, in f64.
///
/// Parameters: `x, y [n_rows][size]`, `sums [n_chunks]`. Thread mapping: an item per chunk.
/// Memory moved: two words per entry, 4 bytes per row.
#[kernel(items, T = [f32, f64])]
pub unsafe fn part_dot<T: Real>(chunk: usize, list: PartRows, x: View<T>, y: View<T>, sums: ViewMut<f64>) {
    let mut sum = 0.0;
    // Unrolled it would be 80 kB of text.
    in_steps!(false, k in 0..CHUNK, {
        if let Some(row) = list.row(chunk, k) {
            for i in list.size * row..list.size * (row + 1) {
                sum = fma(x.at(i).to_f64(), y.at(i).to_f64(), sum);
            }
        }
    });
    sums.set(chunk, sum);
}

/// Computes: `v . R` over each chunk, R the rigid motions of its part.
///
/// Parameters: `v [n_rows][size]`, `sums [n_chunks]`. Thread mapping: an item per chunk.
/// Memory moved: a word per entry, 28 bytes per row.
#[kernel(items, T = [f32, f64])]
pub unsafe fn part_moments<T: Real>(
    chunk: usize,
    list: PartRows,
    frames: Frames,
    v: View<T>,
    sums: ViewMut<[f64; N_MOTIONS]>,
) {
    let part = list.part.at(chunk) as usize;
    let mut sum = [0.0; N_MOTIONS];
    for k in 0..CHUNK {
        let Some(row) = list.row(chunk, k) else { continue };
        let y = frames.about_centre(row, part);
        for i in 0..list.size {
            let value = v.at(list.size * row + i).to_f64();
            for motion in 0..list.size * (list.size + 1) / 2 {
                sum[motion] = fma(value, rigid_motion(list.size, motion, i, y), sum[motion]);
            }
        }
    }
    sums.set(chunk, sum);
}

/// Computes: rigid motion `motion` of some parts, 0 in supported components; rows of other parts stay as they are.
///
/// Parameters: `chosen [n_parts]`, 1 for these parts; `fixed [n_rows]`, a bit per supported component;
/// `v [n_rows][size]`. Thread mapping: an item per chunk. Memory moved: a word per entry, 29 bytes per row.
#[kernel(items, T = [f32, f64])]
pub unsafe fn part_motion<T: Real>(
    chunk: usize,
    list: PartRows,
    frames: Frames,
    motion: usize,
    chosen: View<u8>,
    fixed: View<u8>,
    v: ViewMut<T>,
) {
    let part = list.part.at(chunk) as usize;
    if chosen.at(part) == 0 {
        return;
    }
    for k in 0..CHUNK {
        let Some(row) = list.row(chunk, k) else { continue };
        let (y, mask) = (frames.about_centre(row, part), fixed.at(row));
        for i in 0..list.size {
            let value = if mask >> i & 1 == 1 { 0.0 } else { rigid_motion(list.size, motion, i, y) };
            v.set(list.size * row + i, T::from_f64(value));
        }
    }
}

/// Computes: over each chunk the largest change of a row and the largest deformation, squared:
/// `max |v - before|^2` and `max |w - R motion|^2`, R the rigid motions of its part.
///
/// Parameters: `motions [n_parts]`; `v, before, w [n_rows][size]`; `largest [n_chunks]`. Thread mapping: an item per
/// chunk. Memory moved: three words per entry, 28 bytes per row.
#[kernel(items, T = [f32, f64])]
pub unsafe fn part_largest<T: Real>(
    chunk: usize,
    list: PartRows,
    frames: Frames,
    motions: View<[f64; N_MOTIONS]>,
    v: View<T>,
    before: View<T>,
    w: View<T>,
    largest: ViewMut<[f64; 2]>,
) {
    let part = list.part.at(chunk) as usize;
    let motion = motions.at(part);
    let mut most = [0.0; 2];
    for k in 0..CHUNK {
        let Some(row) = list.row(chunk, k) else { continue };
        let y = frames.about_centre(row, part);
        let mut squares = [0.0; 2];
        for i in 0..list.size {
            let entry = list.size * row + i;
            let change = v.at(entry).to_f64() - before.at(entry).to_f64();
            let mut deformation = w.at(entry).to_f64();
            for m in 0..list.size * (list.size + 1) / 2 {
                deformation = fma(-motion[m], rigid_motion(list.size, m, i, y), deformation);
            }
            squares[0] = fma(change, change, squares[0]);
            squares[1] = fma(deformation, deformation, squares[1]);
        }
        for m in 0..2 {
            most[m] = f64::max(most[m], squares[m]);
        }
    }
    largest.set(chunk, most);
}
