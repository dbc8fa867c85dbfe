//! A level of multigrid before its next one is made.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::{Matrix, Pattern, Slabs};
use cuda_std::prelude::View;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::entries::ReadBlocks;
use kernels_rs::sparse::{Entries, PatternView};
use std::ops::Range;

/// The matrix that a level is made from.
pub struct Fine<'a, R: Real> {
    /// Which blocks.
    pub pattern: &'a Pattern,
    /// Rows of a block.
    pub size: usize,
    pub(super) source: Source<'a, R>,
    /// The inverse of its diagonal.
    pub inverse: Buffer<R>,
    /// The inverse of D, where that is not its diagonal but blocks: see [`stacks`](super::stacks).
    pub blocks: Option<Matrix<f64>>,
}

/// Where its values are.
pub(super) enum Source<'a, R: Real> {
    Whole(Entries, View<R>),
    Slabs(&'a dyn Slabs<R>),
}

/// Some rows of it.
pub struct Slab<R: Real> {
    /// Where their entries are; other rows have no blocks here.
    pub entries: Entries,
    /// Their values.
    pub values: View<R>,
    /// Which.
    pub rows: Range<usize>,
}

impl<'a, R: Real> Fine<'a, R> {
    /// This matrix, unless its values are not numbers of the precision that it is multiplied in.
    pub fn new<V: Stored<Arithmetic = R>>(space: &Space, matrix: &'a Matrix<V>) -> Result<Option<Self>> {
        let Some(values) = V::numbers(matrix.values()) else { return Ok(None) };
        let (inverse, source) = (inverse_diagonal(space, matrix)?, Source::Whole(matrix.entries(), values));
        Ok(Some(Fine { pattern: matrix.pattern(), size: matrix.block_size(), source, inverse, blocks: None }))
    }

    /// A matrix that is there in slabs alone, whose diagonal has this inverse.
    pub fn in_slabs(slabs: &'a dyn Slabs<R>, inverse: Buffer<R>) -> Self {
        let (pattern, size) = (&**slabs.pattern(), slabs.block_size());
        Fine { pattern, size, source: Source::Slabs(slabs), inverse, blocks: None }
    }

    /// Its entries and values, if they are there.
    pub fn whole(&self) -> Option<(Entries, View<R>)> {
        match self.source {
            Source::Whole(entries, values) => Some((entries, values)),
            Source::Slabs(_) => None,
        }
    }

    /// Does something with all of its rows, some after the others.
    pub fn for_each_slab(&self, space: &Space, work: &mut dyn FnMut(Slab<R>) -> Result<()>) -> Result<()> {
        match self.source {
            Source::Whole(entries, values) => work(Slab { entries, values, rows: 0..self.pattern.n_rows }),
            Source::Slabs(slabs) => slabs
                .for_each(space, &mut |slab, rows| work(Slab { entries: slab.entries(), values: slab.values(), rows })),
        }
    }

    /// The blocks of some rows, one after the other, each `[size][size]`; there are so many before each row.
    ///
    /// # Panics
    ///
    /// For a matrix in slabs.
    pub fn blocks_of(&self, space: &Space, (rows, starts): (&[u32], &[u64])) -> Result<Vec<f64>> {
        let Some((entries, values)) = self.whole() else { panic!("rows of a matrix in slabs") };
        let n = starts.last().map_or(0, |n| *n as usize);
        let mut blocks = space.zeros(n * self.size * self.size)?;
        if !rows.is_empty() {
            let (rows, starts) = (space.upload(rows)?, space.upload(starts)?);
            let (n, of_rows, starts, blocks) = (rows.len(), rows.view(), starts.view(), blocks.view_mut());
            // SAFETY: the matrix lives, and there is a place for each block; what is freed is freed in its order.
            unsafe { space.run(n, ReadBlocks { rows: of_rows, starts, entries, values, blocks }) }?;
        }
        Ok(space.take(blocks)?.into_iter().map(R::to_f64).collect())
    }

    /// How many block rows it has, and which blocks.
    pub fn rows(&self) -> (usize, PatternView) {
        (self.pattern.n_rows, self.pattern.view())
    }
}
