//! Where a symmetric matrix in slices has its lower triangle, and how a product cuts its rows in parts.
//!
//! A block row begins with its diagonal block, and the others ascend, so those below the diagonal come next, in every
//! row of a slice. A slice's first block columns hold its lower triangle, and the rest, nearly half of its values,
//! need not be read. A product adds each block to its row, and transposed to its column's row, which may belong to
//! another thread. Therefore rows are cut in parts, which do not depend on the number of threads. Each part has its
//! rows to itself; and for the slices before it that its columns name, its halo, sums of its own, which are added to
//! the rows in the order of parts.

use crate::device::running_sums;
use crate::parallel;
use kernels_rs::sparse::sliced::Sliced;
use std::ops::Range;

/// Parts at most: enough for the threads that the memory can feed.
const MOST_PARTS: usize = 32;
/// Parts at least, if there are [`MANY_SLICES`]: fewer would leave threads without work.
const FEWEST_PARTS: usize = 8;
/// Slices that are worth more than one thread.
const MANY_SLICES: usize = 64;
/// Columns' indices are looked at by tasks of so many slices.
const TASK: usize = 256;

/// The lower triangle of a matrix in slices, in parts.
pub struct Triangle {
    /// Rows of a slice.
    pub height: usize,
    /// Block rows of the matrix.
    pub n_rows: usize,
    /// For each slice the block columns that hold its diagonal and all that is below, `[n_slices]`.
    pub widths: Vec<u32>,
    /// How many of them, from the second on, have nothing but blocks below the diagonal, `[n_slices]`: none of a slice
    /// with fewer rows than others.
    pub n_below: Vec<u32>,
    /// The parts, in the order of rows.
    pub parts: Vec<Part>,
    /// Where each part's sums begin among all, in slices; and where they end, `[n_parts + 1]`.
    pub bounds: Vec<usize>,
}

/// Neighbouring slices that a product takes together.
pub struct Part {
    /// Which.
    pub slices: Range<usize>,
    /// The first slice that its columns name.
    pub reach: usize,
    /// Where the halo has each slice from `reach` to its own first one; [`Part::NONE`] if no column names it.
    pub places: Vec<u32>,
    /// Slices of the halo.
    pub n_halo: usize,
}

impl Triangle {
    /// The triangle of a matrix of `n_rows` block rows in slices of `height`; `None` if halos were more than half of
    /// the matrix's rows, as where the order of rows has nothing to do with which are neighbours.
    ///
    /// # Safety
    /// The arrays of `sliced` live, in the host's memory, and are those of such a matrix.
    pub unsafe fn new(sliced: Sliced, height: usize, n_rows: usize) -> Option<Self> {
        let Sliced { slice_start, columns } = sliced;
        // SAFETY: the caller's promise.
        let (slice_start, columns) =
            unsafe { (slice_start.slice(0..slice_start.len()), columns.slice(0..columns.len())) };
        let columns = Columns { slice_start, columns, height, n_rows };
        let n_slices = n_rows.div_ceil(height);
        let of_slices = |slices: Range<usize>| slices.map(|slice| columns.width(slice)).collect::<Vec<u32>>();
        let widths = parallel::map_ranges(n_slices, TASK, &of_slices).concat();
        let fewest = if n_slices > MANY_SLICES { FEWEST_PARTS } else { 1 };
        let numbers = std::iter::successors(Some(MOST_PARTS), |n| (*n > fewest).then_some(n / 2));
        let parts = numbers.map(|n| columns.parts(&widths, n)).find(|parts| 2 * n_halo(parts) <= n_slices)?;
        let of_slices = |slices: Range<usize>| slices.map(|slice| columns.n_below(slice)).collect::<Vec<u32>>();
        let n_below = parallel::map_ranges(n_slices, TASK, &of_slices).concat();
        let bounds = running_sums(parts.iter().map(Part::n_sums));
        Some(Triangle { height, n_rows, widths, n_below, parts, bounds })
    }

    /// Sums that a product forms, with `size` unknowns per row: those of the parts' rows, and of their halos.
    pub fn n_sums(&self, size: usize) -> usize {
        size * self.height * self.bounds[self.parts.len()]
    }
}

fn n_halo(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.n_halo).sum()
}

impl Part {
    /// In [`Part::places`]: not in the halo.
    pub const NONE: u32 = u32::MAX;

    /// Slices that a product forms sums for: those of its halo, and after them its own.
    pub fn n_sums(&self) -> usize {
        self.slices.len() + self.n_halo
    }

    /// The halo's slices among these, and their places, both in order.
    pub fn halo_among(&self, slices: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let slices = slices.start.max(self.reach)..slices.end.min(self.slices.start);
        slices
            .map(|slice| (slice, self.places[slice - self.reach]))
            .filter_map(|(slice, place)| (place != Part::NONE).then_some((slice, place as usize)))
    }
}

struct Columns<'a> {
    slice_start: &'a [u64],
    columns: &'a [u32],
    height: usize,
    n_rows: usize,
}

impl<'a> Columns<'a> {
    /// The rows of a slice, and its columns, `[width][height]`, of which as many are of rows.
    fn slice(&self, slice: usize) -> (Range<usize>, impl DoubleEndedIterator<Item = &'a [u32]> + ExactSizeIterator) {
        let rows = slice * self.height..self.n_rows.min((slice + 1) * self.height);
        let (n, range) = (rows.len(), self.slice_start[slice] as usize..self.slice_start[slice + 1] as usize);
        let columns = &self.columns[range.start * self.height..range.end * self.height];
        (rows, columns.chunks_exact(self.height).map(move |columns| &columns[..n]))
    }

    /// Block columns of a slice up to the last one with a block below the diagonal; the first one at least, as it has
    /// the diagonal.
    fn width(&self, slice: usize) -> u32 {
        let (rows, mut columns) = self.slice(slice);
        let least = columns.len().min(1);
        let last =
            columns.rposition(|columns| columns.iter().zip(rows.clone()).any(|(column, row)| (*column as usize) < row));
        last.map_or(least, |last| last + 1) as u32
    }

    /// As [`Triangle::n_below`] has it.
    fn n_below(&self, slice: usize) -> u32 {
        let (rows, columns) = self.slice(slice);
        let is_below = |columns: &&[u32]| {
            rows.len() == self.height && columns.iter().zip(rows.clone()).all(|(column, row)| (*column as usize) < row)
        };
        columns.skip(1).take_while(is_below).count() as u32
    }

    /// `n` parts of about equally many blocks.
    fn parts(&self, widths: &[u32], n: usize) -> Vec<Part> {
        let sums = running_sums(widths.iter().copied().map(u64::from));
        let (ends, total) = (&sums[1..], sums[widths.len()]);
        let bound = |part: usize| match part {
            0 => 0,
            _ => ends.partition_point(|end| end * (n as u64) <= total * part as u64),
        };
        let parts = parallel::map_ranges(n, 1, &|part| self.part(widths, bound(part.start)..bound(part.end)));
        parts.into_iter().filter(|part| !part.slices.is_empty()).collect()
    }

    fn part(&self, widths: &[u32], slices: Range<usize>) -> Part {
        let first = slices.start * self.height;
        let mut named = vec![false; slices.start];
        for slice in slices.clone() {
            let columns = self.slice(slice).1.take(widths[slice] as usize).flatten();
            columns
                .map(|column| *column as usize)
                .filter(|column| *column < first)
                .for_each(|column| named[column / self.height] = true);
        }
        let reach = named.iter().position(|named| *named).unwrap_or(slices.start);
        let mut n_halo = 0;
        let place = |named: &bool| {
            n_halo += usize::from(*named);
            if *named { n_halo as u32 - 1 } else { Part::NONE }
        };
        let places = named[reach..].iter().map(place).collect();
        Part { slices, reach, places, n_halo }
    }
}
