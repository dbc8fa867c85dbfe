//! The CPU's product of a symmetric matrix in EBW, which reads its lower triangle: for each block below the diagonal
//! `y_i += A_ij x_j` and `y_j += A_ij^T x_i`, half of the bytes. [`Triangle`] says which block columns these are and
//! how rows are cut in parts.
//!
//! Three things make it pay. Times are of cubes, n = 60, on one thread of an EPYC (Zen 4), in a program that does
//! nothing else. Reading 14 of 27 block columns of each slice loses the machine's own prefetcher at every slice, so the
//! product says what it will read ([`AHEAD`]): without that hex8 took 40 ms, not 18. As it waits for memory no longer,
//! arithmetic counts: some lanes at a time, so that what is gathered and summed for them stays in registers; all lanes
//! of a slice took 25 ms, not 18. And a part's sums are kept component by component, not node by node: neighbouring
//! lanes mostly have neighbouring columns, whose sums are then added in one instruction. With that, and no questions
//! asked where all blocks of a block column are below the diagonal, hex8 went from 20 to 16 ms and tet4 from 13 to 11
//! on another day.

use super::format::{Half, PART};
use super::triangle::{Part, Triangle};
use crate::device::widest::{Work, widest};
use crate::parallel;
use cuda_std::Number;
use kernels_rs::cpu::prefetch;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::Ebw;
use std::array;

/// Block columns between the one that is multiplied and the one that is asked for from memory: no more than the
/// narrowest slices have to be read, else the next slice's upper half is asked for. With 12 tet4, whose slices have 8,
/// took twice as long as with 4 or 8; hex8 took as long with 4 as with 8.
const AHEAD: usize = 4;

/// As [`super::Format::half_sums`].
///
/// # Safety
/// As there.
pub unsafe fn sums<const D: usize, const S: usize, V: Stored>(
    a: Ebw<D, S>,
    half: &mut Half<V::Arithmetic>,
    values: &[V],
    x: &[V::Arithmetic],
) -> f64 {
    const { assert!(PART.is_multiple_of(D * S) && S.is_multiple_of(8)) };
    let Half { triangle, ref mut sums, .. } = *half;
    assert!(triangle.height == S && x.len() == D * triangle.n_rows, "the triangle of another matrix");
    assert_eq!(sums.len(), triangle.n_sums(D), "room for another product");
    let bounds = triangle.bounds.iter().map(|slices| D * S * slices);
    let squares: Vec<f64> = parallel::map_parts(sums, bounds, &|i, sums| {
        let part = &triangle.parts[i];
        let [first, halo, n_rows] = [part.slices.start, part.n_halo, part.n_sums()].map(|slices| S * slices);
        // As many lanes as fill a vector of 256 bits. Constant, so that the other is not compiled.
        if const { size_of::<V::Arithmetic>() == size_of::<f64>() } {
            widest(PartProduct::<D, S, 4, V> { a, triangle, part, values, x, first, halo, n_rows, sums })
        } else {
            widest(PartProduct::<D, S, 8, V> { a, triangle, part, values, x, first, halo, n_rows, sums })
        }
    });
    squares.iter().sum()
}

impl<T: Real> Half<'_, T> {
    /// Rows of the product from row `first` on, which begins a slice, once the parts' sums are there.
    pub fn rows(&self, first: usize, y: &mut [T]) {
        match self.size {
            1 => self.rows_of::<1>(first, y),
            2 => self.rows_of::<2>(first, y),
            3 => self.rows_of::<3>(first, y),
            _ => self.rows_of::<6>(first, y),
        }
    }

    fn rows_of<const D: usize>(&self, first: usize, y: &mut [T]) {
        assert_eq!(self.size, D, "rows with as many unknowns");
        let Triangle { height, ref parts, ref bounds, .. } = *self.triangle;
        let of_slice = D * height;
        let slices = first / of_slice..(first + y.len()).div_ceil(of_slice);
        let sums = |part: usize| &self.sums[of_slice * bounds[part]..of_slice * bounds[part + 1]];
        for (slice, y) in slices.clone().zip(y.chunks_mut(of_slice)) {
            let part = parts.partition_point(|part| part.slices.end <= slice);
            let row = height * (parts[part].n_halo + slice - parts[part].slices.start);
            for_rows::<D, _>(y, sums(part), row, |y, sum| *y = sum);
        }
        for (i, part) in parts.iter().enumerate() {
            for (slice, place) in part.halo_among(slices.clone()) {
                let y = y.chunks_mut(of_slice).nth(slice - slices.start).expect("a slice of these rows");
                for_rows::<D, _>(y, sums(i), height * place, |y, sum| *y += sum);
            }
        }
    }
}

/// Gives `put` the entries of some rows of y with a part's sums for them, which begin with those of `row`.
#[inline(always)]
fn for_rows<const D: usize, T: Number>(y: &mut [T], sums: &[T], row: usize, put: impl Fn(&mut T, T)) {
    let sums: [&[T]; D] = array::from_fn(|i| &sums[sums.len() / D * i + row..][..y.len() / D]);
    for (lane, y) in y.chunks_exact_mut(D).enumerate() {
        y.iter_mut().zip(sums).for_each(|(y, sums)| put(y, sums[lane]));
    }
}

/// `x . y` of a slice's rows, in f64.
#[inline(always)]
fn inner<const D: usize, const S: usize, T: Real>(x: &[[T; S]; D], y: &[[T; S]; D]) -> f64 {
    // As many sums as keep adders busy.
    let mut sums = [0.0; 8];
    for i in 0..D {
        for lane in 0..S {
            sums[lane % 8] += x[i][lane].to_f64() * y[i][lane].to_f64();
        }
    }
    sums.iter().sum()
}

#[inline(always)]
fn add_products<const L: usize, T: Number>(sums: &mut [T; L], a: &[T; L], b: &[T; L]) {
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
    /// Its first row, the rows of its halo, and of both.
    first: usize,
    halo: usize,
    n_rows: usize,
    /// Sums for them, `[D][n_rows]`: those of neighbouring rows are neighbours, as lanes are.
    sums: &'a mut [V::Arithmetic],
}

struct SliceRows<V: Stored, const D: usize, const S: usize> {
    /// The first.
    first: usize,
    /// Each lane's row, 0 past the last row: a column below is left of the diagonal.
    rows: [u32; S],
    /// x of each row.
    x: [[V::Arithmetic; S]; D],
    /// Sums of what is in the rows.
    sums: [[V::Arithmetic; S]; D],
    /// What some blocks have for the rows of their columns.
    back: [[V::Arithmetic; S]; D],
}

impl<const D: usize, const S: usize, const L: usize, V: Stored> Work for PartProduct<'_, D, S, L, V> {
    /// This part's of `x . A x`.
    type Output = f64;

    #[inline(always)]
    fn run(mut self) -> f64 {
        self.sums.chunks_mut(self.n_rows).for_each(|sums| sums[..self.halo].fill(V::Arithmetic::ZERO));
        let mut square = 0.0;
        for slice in self.part.slices.clone() {
            square += self.multiply(slice);
        }
        square
    }
}

impl<const D: usize, const S: usize, const L: usize, V: Stored> PartProduct<'_, D, S, L, V> {
    /// A slice's part in the product, and in `x . A x`, where what is below the diagonal has the same as what is above.
    #[inline(always)]
    fn multiply(&mut self, slice: usize) -> f64 {
        // SAFETY: `slice` is a slice of the matrix, and host views check their bounds.
        let std::ops::Range { start, end: next } = unsafe { self.a.sliced.slice(slice) };
        let end = start + self.triangle.widths[slice] as usize;
        let first = S * slice;
        let n = S.min(self.triangle.n_rows - first);
        let zeros = [[V::Arithmetic::ZERO; S]; D];
        let mut own = SliceRows { first, rows: [0; S], x: zeros, sums: zeros, back: zeros };
        for (lane, x) in self.x[D * first..D * (first + n)].chunks_exact(D).enumerate() {
            own.rows[lane] = (first + lane) as u32;
            own.x.iter_mut().zip(x).for_each(|(own, x)| own[lane] = *x);
        }
        let (n_rows, row) = (self.n_rows, self.row(first));
        for i in 0..D {
            self.sums[n_rows * i + row..][..S].fill(V::Arithmetic::ZERO);
        }
        let last_below = start + self.triangle.n_below[slice] as usize;
        let all_columns = self.a.sliced.columns;
        // SAFETY: all of them, which live.
        let all_columns = unsafe { all_columns.slice(0..all_columns.len()) };
        let mut of_diagonal = 0.0;
        for k in start..end {
            let ahead = if k + AHEAD < end { k + AHEAD } else { k + AHEAD - end + next };
            prefetch(all_columns, S * ahead, S);
            let columns = &all_columns[S * k..S * (k + 1)];
            if k == start {
                self.multiply_diagonal(k, ahead, &mut own);
                of_diagonal = inner(&own.x, &own.sums);
            } else if k <= last_below {
                self.multiply_column::<true>(k, ahead, columns, &mut own);
            } else {
                self.multiply_column::<false>(k, ahead, columns, &mut own);
            }
        }
        for i in 0..D {
            let sums = &mut self.sums[n_rows * i + row..][..S];
            sums.iter_mut().zip(&own.sums[i]).for_each(|(sum, own)| *sum += *own);
        }
        2.0 * inner(&own.x, &own.sums) - of_diagonal
    }

    /// The products of the diagonal blocks, which are the slice's first.
    #[inline(always)]
    fn multiply_diagonal(&self, k: usize, ahead: usize, own: &mut SliceRows<V, D, S>) {
        for lanes in (0..S).step_by(L) {
            prefetch(self.values, D * D * (S * ahead + lanes), D * D * L);
            let x = array::from_fn(|j| array::from_fn(|l| own.x[j][lanes + l]));
            self.multiply_blocks(x, k, lanes, own);
        }
    }

    /// The row's place in the part's sums.
    #[inline(always)]
    fn row(&self, row: usize) -> usize {
        match row.checked_sub(self.first) {
            Some(row) => self.halo + row,
            None => S * self.part.places[row / S - self.part.reach] as usize + row % S,
        }
    }

    /// The products of a block column. `BELOW`: all blocks are below the diagonal.
    #[inline(always)]
    fn multiply_column<const BELOW: bool>(
        &mut self,
        k: usize,
        ahead: usize,
        columns: &[u32],
        own: &mut SliceRows<V, D, S>,
    ) {
        for (i, columns) in columns.as_chunks::<L>().0.iter().enumerate() {
            let lanes = L * i;
            prefetch(self.values, D * D * (S * ahead + lanes), D * D * L);
            if BELOW || (0..L).all(|l| columns[l] < own.rows[lanes + l]) {
                self.multiply_blocks(self.gathered(*columns), k, lanes, own);
            } else {
                self.multiply_blocks(self.gather_some(*columns, own.first + lanes), k, lanes, own);
            }
        }
        for (i, columns) in columns.as_chunks::<L>().0.iter().enumerate() {
            self.add_transposed::<BELOW>(L * i, *columns, own);
        }
    }

    /// The products of blocks `k` of L lanes: A x is added to `own.sums`, and A^T x is left in `own.back`, not in
    /// registers: the compiler would compute it lane by lane, as it is added.
    #[inline(always)]
    fn multiply_blocks(&self, x: [[V::Arithmetic; L]; D], k: usize, lanes: usize, own: &mut SliceRows<V, D, S>) {
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

    /// Adds what [`PartProduct::multiply_blocks`] has left of L lanes, as far as they are below the diagonal, to the
    /// sums of their columns' rows.
    #[inline(always)]
    fn add_transposed<const BELOW: bool>(&mut self, lanes: usize, columns: [u32; L], own: &SliceRows<V, D, S>) {
        let n_rows = self.n_rows;
        if BELOW && columns == array::from_fn(|l| columns[0].wrapping_add(l as u32)) {
            // Neighbours, and so are their places, as all slices that columns name have one.
            let row = self.row(columns[0] as usize);
            for j in 0..D {
                let back = &own.back[j][lanes..lanes + L];
                // SAFETY: L rows from this one on are columns of the part's rows, and the triangle has a place for
                // each.
                let sums = unsafe { self.sums.get_unchecked_mut(n_rows * j + row..n_rows * j + row + L) };
                // All of them, before one is stored: a vector. `array::from_fn` is called for 8 lanes here, not inlined,
                // which took 42 % of the product's time.
                let mut new = [V::Arithmetic::ZERO; L];
                for l in 0..L {
                    new[l] = sums[l] + back[l];
                }
                sums.copy_from_slice(&new);
            }
        } else {
            for l in (0..L).filter(|l| BELOW || columns[*l] < own.rows[lanes + l]) {
                let row = self.row(columns[l] as usize);
                (0..D).for_each(|j| self.sums[n_rows * j + row] += own.back[j][lanes + l]);
            }
        }
    }

    #[inline(always)]
    fn gathered(&self, columns: [u32; L]) -> [[V::Arithmetic; L]; D] {
        // SAFETY: columns before a row of the matrix, which the vector has.
        let x = |l: usize, j| unsafe { *self.x.get_unchecked(D * columns[l] as usize + j) };
        array::from_fn(|j| array::from_fn(|l| x(l, j)))
    }

    /// x of L columns, and 0 of those above the diagonal. Apart, so that the compiler keeps the usual case in vectors.
    #[inline(never)]
    fn gather_some(&self, columns: [u32; L], first: usize) -> [[V::Arithmetic; L]; D] {
        let mut x = [[V::Arithmetic::ZERO; L]; D];
        for (l, column) in columns.into_iter().enumerate().filter(|(l, column)| *column as usize <= first + l) {
            let column = column as usize;
            x.iter_mut().zip(&self.x[D * column..D * (column + 1)]).for_each(|(x, value)| x[l] = *value);
        }
        x
    }
}
