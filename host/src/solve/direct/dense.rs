//! Dense Cholesky factors on a GPU: see [`kernels_rs::cholesky`].
//!
//! `n^2` values and `n^3 / 3` operations: for small systems. What has no room is refused before anything is computed.

use super::{Factor, Precision, check_memory, not_positive, smallest_pivot};
use crate::device::{Buffer, Grid};
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::cholesky::matrix::{DenseLower, ScaleIn, ScaleOut};
use kernels_rs::cholesky::substitution::{CholeskyBackward, CholeskyForward};
use kernels_rs::cholesky::update::{CholeskyPanel, CholeskyUpdate, update_blocks};
use kernels_rs::cholesky::{CholeskyTile, Square, THREADS, TILE};
use kernels_rs::real::Real;
use std::cell::RefCell;

/// A symmetric matrix on a device and, once it is factorised, its factor in its place.
pub struct DenseCholesky<F: Real> {
    n_tiles: usize,
    values: Buffer<F>,
    /// Those of the tiles on the factor's diagonal, `[n_tiles][TILE][TILE]`, column by column.
    inverses: Buffer<F>,
    /// What is left of a right-hand side, and a solution, `[n_tiles][TILE]` each.
    vectors: RefCell<[Buffer<F>; 2]>,
}

impl<F: Precision> DenseCholesky<F> {
    /// A matrix of zeros, of at least `n` rows.
    pub fn zeros(space: &Space, n: usize) -> Result<Self> {
        let n_tiles = n.div_ceil(TILE);
        let (rows, tile) = (n_tiles * TILE, TILE * TILE);
        let values = (rows as u64).saturating_mul(rows as u64 + TILE as u64 + 2);
        check_memory(space, values.saturating_mul(size_of::<F>() as u64))?;
        Ok(DenseCholesky {
            n_tiles,
            values: space.zeros(rows * rows)?,
            inverses: space.zeros(n_tiles * tile)?,
            vectors: RefCell::new([space.zeros(rows)?, space.zeros(rows)?]),
        })
    }

    /// The matrix as kernels see it: whole tiles, see [`Square`].
    pub fn square(&mut self) -> Square<F> {
        Square { n: self.n_tiles * TILE, values: self.values.view_mut() }
    }

    /// Sets it, `[n][n]` of whole tiles, column by column; what is above the diagonal does not count.
    pub fn set(&mut self, space: &Space, values: &[F]) -> Result<()> {
        assert_eq!(values.len(), self.values.len(), "a matrix of another size");
        self.values = space.upload(values)?;
        Ok(())
    }

    /// Factorises it; the row and the value of the first pivot that is not above `smallest`, if there is one.
    pub fn factorise(&mut self, space: &Space, smallest: F) -> Result<Option<(usize, f64)>> {
        let mut failure = space.upload(&[-1.0, 0.0])?;
        let a = self.square();
        let grid = |blocks| Grid::new(blocks, THREADS);
        for step in 0..self.n_tiles {
            let behind = self.n_tiles - 1 - step;
            let inverses = self.inverses.view_mut();
            let tile = CholeskyTile { step, smallest, a, inverses, failure: failure.view_mut() };
            // SAFETY: whole tiles, an inverse for each on the diagonal, and two words of failure, which live until the
            // download below; launches follow one another, and the blocks of each write tiles of their own.
            unsafe {
                space.launch(grid(1), tile)?;
                space.launch(grid(behind), CholeskyPanel { step, a, inverses: self.inverses.view() })?;
                space.launch(grid(update_blocks(behind)), CholeskyUpdate { step, a })?;
            }
        }
        let failure = space.download(&failure)?;
        Ok((failure[0] >= 0.0).then(|| (failure[0] as usize, failure[1])))
    }

    /// `x = A^-1 r` with the factor; `bring` writes r, and `take` reads x, of whole tiles.
    fn substitute(
        &self,
        space: &Space,
        bring: impl FnOnce(&mut Buffer<F>) -> Result<()>,
        take: impl FnOnce(&Buffer<F>) -> Result<()>,
    ) -> Result<()> {
        let [r, y] = &mut *self.vectors.borrow_mut();
        bring(r)?;
        // SAFETY: the substitutions only read the factor.
        let values = unsafe { cuda_std::ViewMut::new(self.values.view().as_ptr().cast_mut(), self.values.len()) };
        let (a, inverses) = (Square { n: self.n_tiles * TILE, values }, self.inverses.view());
        for step in 0..self.n_tiles {
            let kernel = CholeskyForward { step, a, inverses, r: r.view_mut(), y: y.view_mut() };
            // SAFETY: a factor of whole tiles, and vectors of its rows; blocks write tiles of their own.
            unsafe { space.launch(Grid::new(self.n_tiles - step, THREADS), kernel) }?;
        }
        for step in (0..self.n_tiles).rev() {
            let kernel = CholeskyBackward { step, a, inverses, y: y.view_mut(), x: r.view_mut() };
            // SAFETY: as above.
            unsafe { space.launch(Grid::new(step + 1, THREADS), kernel) }?;
        }
        take(r)
    }
}

/// `L` of `D^-1/2 K D^-1/2`, dense.
pub struct DenseFactor<T: Real, F: Precision> {
    cholesky: DenseCholesky<F>,
    /// `D^-1`, `[n]`.
    inverse: Buffer<T>,
}

impl<T: Real, F: Precision> DenseFactor<T, F> {
    /// Factorises a matrix in any format, whose block rows are nodes at these coordinates, `[n_rows]`.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::OutOfMemory`] before anything is computed; [`super::DirectError::NotPositive`].
    pub fn build(space: &Space, matrix: &Matrix<T>, coords: &[[f64; 3]]) -> Result<Self> {
        let (size, n_rows) = (matrix.block_size(), matrix.pattern().n_rows);
        let mut cholesky = DenseCholesky::<F>::zeros(space, size * n_rows)?;
        let inverse = inverse_diagonal(space, matrix)?;
        let to = cholesky.square();
        let kernel =
            DenseLower { n_rows, entries: matrix.entries(), values: matrix.values(), inverse: inverse.view(), to };
        // SAFETY: the matrix lives, `inverse` has its rows, `to` at least those, and an entry belongs to one row.
        unsafe { space.run(n_rows + to.n - size * n_rows, kernel) }?;
        match cholesky.factorise(space, F::from_f64(smallest_pivot::<F>()))? {
            Some((row, pivot)) => Err(not_positive::<F>(Some(pivot), row, size, coords)),
            None => Ok(DenseFactor { cholesky, inverse }),
        }
    }
}

impl<T: Real, F: Precision> Factor<T> for DenseFactor<T, F> {
    fn solve(&self, space: &Space, r: &Buffer<T>, d: &mut Buffer<T>) -> Result<()> {
        assert!([r.len(), d.len()] == [self.inverse.len(); 2], "vectors of another matrix");
        let inverse = self.inverse.view();
        self.cholesky.substitute(
            space,
            |scaled| {
                let kernel = ScaleIn { inverse, r: r.view(), scaled: scaled.view_mut() };
                // SAFETY: both live; entries past the last of r are set to 0.
                unsafe { space.run(scaled.len(), kernel) }
            },
            // SAFETY: as above; x has the entries of d and more.
            |x| unsafe { space.run(d.len(), ScaleOut { inverse, x: x.view(), d: d.view_mut() }) },
        )
    }

    fn nonzeros(&self) -> u64 {
        let n = self.inverse.len() as u64;
        n * (n + 1) / 2
    }
}
