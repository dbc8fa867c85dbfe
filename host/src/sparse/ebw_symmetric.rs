//! The CPU's product of a symmetric matrix in EBW, which reads its lower triangle: for each block below the diagonal
//! `y_i += A_ij x_j` and `y_j += A_ij^T x_i`, half of the bytes. [`Triangle`] says which block columns these are and
//! how rows are cut in parts.
//!
//! Two things make it pay, both measured on a cube of hex8, n = 60, on one thread of an EPYC (Zen 4), in a program that
//! does nothing else. Reading 14 of 27 block columns of each slice loses the machine's own prefetcher at every slice, so
//! the product says what it will read ([`AHEAD`]). And as it waits for memory no longer, arithmetic counts: some lanes at
//! a time, so that what is gathered and summed for them stays in registers. All lanes of a slice took 25 ms, not 18.

use super::format::{Half, PART};
use super::triangle::{Part, Triangle};
use crate::backend::running_sums;
use crate::backend::widest::{Work, prefetch, widest};
use crate::parallel::{self, split_at_bounds};
use cuda_std::GpuFloat;
use kernels_rs::real::Stored;
use kernels_rs::sparse::Ebw;
use std::array;

/// Block columns between the one that is multiplied and the one that is asked for from memory. 4 and 8 took 18 ms, and
/// asking for none 40.
const AHEAD: usize = 8;

/// As [`super::Format::multiply_then`] by half of the matrix.
///
/// # Safety
/// As there.
pub unsafe fn multiply<const D: usize, const S: usize, V: Stored, R: Send>(
    a: Ebw<D, S>,
    half: Half<V::Arithmetic>,
    values: &[V],
    x: &[V::Arithmetic],
    y: &mut [V::Arithmetic],
    then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
) -> Vec<R> {
    const { assert!(PART.is_multiple_of(D * S)) };
    let Half { triangle, halo } = half;
    let n = D * triangle.n_rows;
    assert!(triangle.height == S && [x.len(), y.len()] == [n; 2], "the triangle of another matrix");
    let parts = &triangle.parts;
    let halo_ends: Vec<usize> = running_sums(parts.iter().map(|part| D * S * part.n_halo));
    let rows = running_sums(parts.iter().map(|part| D * S * part.slices.len())).into_iter().map(|row| row.min(n));
    let (rows, halos) = (split_at_bounds(y, rows), split_at_bounds(halo, halo_ends.iter().copied()));
    let tasks = parts.iter().zip(rows).zip(halos).collect();
    parallel::for_each(tasks, &|((part, y), halo)| {
        // As many lanes as fill a vector of 256 bits.
        if size_of::<V::Arithmetic>() == size_of::<f64>() {
            widest(PartProduct::<D, S, 4, V> { a, triangle, part, values, x, y, halo });
        } else {
            widest(PartProduct::<D, S, 8, V> { a, triangle, part, values, x, y, halo });
        }
    });
    parallel::map_chunks(y, PART, &|first, y| {
        let slices = first / (D * S)..(first + y.len()).div_ceil(D * S);
        for (part, start) in parts.iter().zip(&halo_ends) {
            for (slice, place) in part.halo_among(slices.clone()) {
                let (rows, sums) = (&mut y[D * S * (slice - slices.start)..], &halo[start + D * S * place..]);
                rows.iter_mut().zip(&sums[..D * S]).for_each(|(y, sum)| *y += *sum);
            }
        }
        then(first, y)
    })
}

/// `sums_l += a_l b_l`.
#[inline(always)]
fn add_products<const L: usize, T: GpuFloat>(sums: &mut [T; L], a: &[T; L], b: &[T; L]) {
    for l in 0..L {
        sums[l] += a[l] * b[l];
    }
}

/// The product of a part, L lanes after the other.
struct PartProduct<'a, const D: usize, const S: usize, const L: usize, V: Stored> {
    a: Ebw<D, S>,
    triangle: &'a Triangle,
    part: &'a Part,
    values: &'a [V],
    x: &'a [V::Arithmetic],
    /// The part's rows.
    y: &'a mut [V::Arithmetic],
    /// Its sums for rows before.
    halo: &'a mut [V::Arithmetic],
}

/// A slice's rows.
struct SliceRows<T, const D: usize, const S: usize> {
    /// The first.
    first: usize,
    /// Each lane's row, 0 past the last row: a column below is left of the diagonal.
    rows: [u32; S],
    /// x of each row.
    x: [[T; S]; D],
    /// Sums of what is in the rows.
    sums: [[T; S]; D],
    /// What some blocks have for the rows of their columns.
    back: [[T; S]; D],
}

impl<const D: usize, const S: usize, const L: usize, V: Stored> Work for PartProduct<'_, D, S, L, V> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        self.halo.fill(V::Arithmetic::ZERO);
        for slice in self.part.slices.clone() {
            self.multiply(slice);
        }
    }
}

impl<const D: usize, const S: usize, const L: usize, V: Stored> PartProduct<'_, D, S, L, V> {
    /// A slice's part in the product.
    #[inline(always)]
    fn multiply(&mut self, slice: usize) {
        // SAFETY: `slice` is a slice of the matrix, and host views check their bounds.
        let (start, next) = unsafe { self.a.sliced.slice(slice) };
        let end = start + self.triangle.widths[slice] as usize;
        let first = S * slice;
        let n = S.min(self.triangle.n_rows - first);
        let zeros = [[V::Arithmetic::ZERO; S]; D];
        let mut own = SliceRows { first, rows: [0; S], x: zeros, sums: zeros, back: zeros };
        for (lane, x) in self.x[D * first..D * (first + n)].chunks_exact(D).enumerate() {
            own.rows[lane] = (first + lane) as u32;
            own.x.iter_mut().zip(x).for_each(|(own, x)| own[lane] = *x);
        }
        let y = D * (first - S * self.part.slices.start);
        self.y[y..y + D * n].fill(V::Arithmetic::ZERO);
        for k in start..end {
            let ahead = if k + AHEAD < end { k + AHEAD } else { k + AHEAD - end + next };
            // SAFETY: the columns of blocks k of the slice, and host views check their bounds.
            let columns: [u32; S] = array::from_fn(|lane| unsafe { self.a.sliced.columns.at(S * k + lane) });
            for lanes in (0..S).step_by(L) {
                prefetch(self.values, (D * D * (S * ahead + lanes))..(D * D * (S * ahead + lanes + L)));
                self.multiply_blocks(k, lanes, &columns, &mut own);
            }
            for lanes in (0..S).step_by(L) {
                self.add_transposed(lanes, &columns, &own);
            }
        }
        for (lane, y) in self.y[y..y + D * n].chunks_exact_mut(D).enumerate() {
            y.iter_mut().zip(&own.sums).for_each(|(y, sums)| *y += sums[lane]);
        }
    }

    /// The products of blocks `k` of L lanes: A x is added to `own.sums`, and A^T x is left in `own.back`, not in
    /// registers: the compiler would compute it lane by lane, as it is added.
    #[inline(always)]
    fn multiply_blocks(&self, k: usize, lanes: usize, columns: &[u32; S], own: &mut SliceRows<V::Arithmetic, D, S>) {
        let columns: [u32; L] = array::from_fn(|l| columns[lanes + l]);
        let below = (0..L).all(|l| columns[l] < own.rows[lanes + l]);
        let x = self.gathered(columns, below, own.first + lanes);
        let own_x: [[_; L]; D] = array::from_fn(|i| array::from_fn(|l| own.x[i][lanes + l]));
        let mut sums: [[_; L]; D] = array::from_fn(|i| array::from_fn(|l| own.sums[i][lanes + l]));
        let mut back = [[V::Arithmetic::ZERO; L]; D];
        let block = &self.values[D * D * S * k..D * D * S * (k + 1)];
        for j in 0..D {
            for i in 0..D {
                let values = block[S * (D * j + i) + lanes..].first_chunk::<L>().expect("a run of S values");
                let values = values.map(V::value);
                add_products(&mut sums[i], &values, &x[j]);
                add_products(&mut back[j], &values, &own_x[i]);
            }
        }
        own.sums.iter_mut().zip(sums).for_each(|(own, sums)| own[lanes..lanes + L].copy_from_slice(&sums));
        own.back.iter_mut().zip(back).for_each(|(own, back)| own[lanes..lanes + L].copy_from_slice(&back));
    }

    /// Adds what [`PartProduct::multiply_blocks`] has left of L lanes to the rows of their columns.
    #[inline(always)]
    fn add_transposed(&mut self, lanes: usize, columns: &[u32; S], own: &SliceRows<V::Arithmetic, D, S>) {
        let first = S * self.part.slices.start;
        let lanes = lanes..lanes + L;
        if lanes.clone().all(|lane| (first as u32..own.rows[lane]).contains(&columns[lane])) {
            for lane in lanes {
                let row = D * (columns[lane] as usize - first);
                for j in 0..D {
                    // SAFETY: the column is at least the part's first row and before one of its rows, so one of them.
                    unsafe { *self.y.get_unchecked_mut(row + j) += own.back[j][lane] };
                }
            }
        } else {
            lanes.filter(|lane| columns[*lane] < own.rows[*lane]).for_each(|lane| {
                self.add(columns[lane] as usize, array::from_fn(|j| own.back[j][lane]));
            });
        }
    }

    /// x of L columns, and 0 of those above the diagonal. `below`: none is on it or above.
    #[inline(always)]
    fn gathered(&self, columns: [u32; L], below: bool, first: usize) -> [[V::Arithmetic; L]; D] {
        let mut x = [[V::Arithmetic::ZERO; L]; D];
        if !below {
            self.gather_some(columns, first, &mut x);
            return x;
        }
        for (j, x) in x.iter_mut().enumerate() {
            for (x, column) in x.iter_mut().zip(columns) {
                // SAFETY: columns before a row of the matrix, which the vector has.
                *x = unsafe { *self.x.get_unchecked(D * column as usize + j) };
            }
        }
        x
    }

    /// x of those of L columns that are not above the diagonal. Apart, so that the compiler keeps the usual case in
    /// vectors.
    #[inline(never)]
    fn gather_some(&self, columns: [u32; L], first: usize, x: &mut [[V::Arithmetic; L]; D]) {
        for (l, column) in columns.into_iter().enumerate().filter(|(l, column)| *column as usize <= first + l) {
            let column = column as usize;
            x.iter_mut().zip(&self.x[D * column..D * (column + 1)]).for_each(|(x, value)| x[l] = *value);
        }
    }

    /// Adds to a row of the part or of its halo.
    #[inline(always)]
    fn add(&mut self, row: usize, sums: [V::Arithmetic; D]) {
        let y = match row.checked_sub(S * self.part.slices.start) {
            Some(row) => &mut self.y[D * row..D * (row + 1)],
            None => {
                let row = S * self.part.places[row / S - self.part.reach] as usize + row % S;
                &mut self.halo[D * row..D * (row + 1)]
            }
        };
        y.iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
    }
}
