//! A matrix in some storage format: what is known of it whatever the format.

use super::products::{Arrays, CgState, Epilogue, Products};
use super::{Built, Format, Pattern, Places, Plan, Tuning};
use crate::device::Buffer;
use crate::linalg::{Quotient, Scalar, Space};
use crate::result::choices;
use crate::result::{Error, Result};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::for_each_format;
use kernels_rs::precond::ScaleTo;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::entries::{MadeUpValues, ReadBlocks, RowSums, WriteBlocks};
use kernels_rs::sparse::{Entries, Layout};
use kernels_rs::vectors::WIDTH;
use std::rc::Rc;

/// What a matrix stores for its products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Stored values, padding included.
    pub values: u64,
    /// Bytes of the index arrays that a product reads.
    pub index_bytes: u64,
}

impl Footprint {
    /// Bytes of all of it, with values of so many.
    pub fn bytes(self, of_value: usize) -> u64 {
        self.values * of_value as u64 + self.index_bytes
    }
}

/// A square matrix that can be applied to vectors, however it is stored.
pub trait LinOp<T: Real> {
    /// Number of rows.
    fn n(&self) -> usize;
    /// `y = A x`.
    fn apply(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()>;
    /// The same, and what follows.
    ///
    /// # Safety
    /// What [`Epilogue::Step`] says.
    unsafe fn apply_then(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>, epilogue: Epilogue<T>) -> Result<()> {
        self.apply(space, x, y)?;
        // SAFETY: the caller's promise.
        unsafe { epilogue.after(space, x, y) }
    }
    /// `y = A x` and `out = x . y`.
    fn apply_dot(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>, out: Scalar) -> Result<()> {
        // SAFETY: this is no step.
        unsafe { self.apply_then(space, x, y, Epilogue::Dot(out)) }
    }
    /// `y = A x` of several vectors.
    fn apply_all(&self, space: &Space, x: &[Buffer<T>], y: &mut [Buffer<T>]) -> Result<()> {
        x.iter().zip(y).try_for_each(|(x, y)| self.apply(space, x, y))
    }
    /// The same, and what follows each.
    ///
    /// # Safety
    /// What [`Epilogue::Step`] says; steps differ in `r` and `previous` alone.
    unsafe fn apply_all_then(
        &self,
        space: &Space,
        x: &[Buffer<T>],
        y: &mut [Buffer<T>],
        epilogues: &[Epilogue<T>],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if let ([x], [y], [epilogue]) = (x, &mut *y, epilogues) {
                return self.apply_then(space, x, y, *epilogue);
            }
            self.apply_all(space, x, y)?;
            x.iter().zip(y).zip(epilogues).try_for_each(|((x, y), epilogue)| epilogue.after(space, x, y))
        }
    }
    /// Of each block row the largest sum of magnitudes in a row, or what is not below it: the largest is the row sum
    /// norm of the matrix.
    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>>;
    /// Iterations of conjugate gradients in one go: see [`CgState`]. False, and nothing done, by default.
    fn fused_cg(&self, _space: &Space, _state: CgState<T>) -> Result<bool> {
        Ok(false)
    }
}

/// A matrix of blocks on a device.
pub struct Matrix<V: Stored> {
    pattern: Rc<Pattern>,
    size: usize,
    format: choices::Format,
    tuning: Tuning,
    values: Buffer<V>,
    index_bytes: u64,
    places: Places,
    symmetric: bool,
    products: Box<dyn Products<V>>,
}

impl<V: Stored> Matrix<V> {
    /// A matrix of zeros in this format, with blocks of `size x size` where the pattern has one.
    ///
    /// # Errors
    ///
    /// [`Error::NotAvailable`] for a size of blocks that the format has not.
    pub fn zeros(
        space: &Space,
        format: choices::Format,
        size: usize,
        pattern: &Rc<Pattern>,
        tuning: Tuning,
    ) -> Result<Self> {
        let plan = Plan { space, pattern, size, tuning, value_bytes: size_of::<V>() };
        if u32::try_from(plan.n_scalar_rows()).is_err() {
            return Err(Error::TooLarge(format!("{} unknowns, and columns have 32 bits", plan.n_scalar_rows())));
        }
        macro_rules! find {
            ($($file:ident { $($Format:ident = $word:literal: $($F:ident),+;)+ })+) => {
                match format { $($(choices::Format::$Format => {
                    $(if kernels_rs::sparse::$F::BLOCK.is_none_or(|block| block == size) {
                        return Self::stored::<kernels_rs::sparse::$F>(&plan, format);
                    })+
                })+)+ }
            };
        }
        for_each_format!(find);
        let (name, available) = (format.name().into(), choices::Format::names());
        Err(Error::NotAvailable { what: "format", name, available })
    }

    fn stored<F: Format>(plan: &Plan, format: choices::Format) -> Result<Self> {
        let Built { arrays, index_bytes, n_values, places } = F::build(plan)?;
        plan.check_memory(n_values, size_of::<V>())?;
        let n_items = plan.n_scalar_rows() / F::ROWS;
        Ok(Matrix {
            pattern: plan.pattern.clone(),
            size: plan.size,
            format,
            tuning: plan.tuning,
            values: plan.space.zeros(n_values as usize)?,
            index_bytes,
            places,
            symmetric: false,
            products: Box::new(Arrays::<F>::new(arrays, n_items)),
        })
    }

    /// A matrix of zeros with the same blocks in the same format. It has index arrays of its own.
    pub fn zeros_like<W: Stored>(&self, space: &Space) -> Result<Matrix<W>> {
        Matrix::zeros(space, self.format, self.size, &self.pattern, self.tuning)
    }

    /// The name of its format.
    pub fn format(&self) -> &'static str {
        self.format.name()
    }

    /// Which blocks it has.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// [`Matrix::pattern`], to be shared with another matrix.
    pub fn shared_pattern(&self) -> &Rc<Pattern> {
        &self.pattern
    }

    /// Rows of a block.
    pub fn block_size(&self) -> usize {
        self.size
    }

    /// What it stores for its products.
    pub fn footprint(&self) -> Footprint {
        Footprint { values: self.values.len() as u64, index_bytes: self.index_bytes }
    }

    /// Where kernels find its entries.
    pub fn entries(&self) -> Entries {
        Entries {
            pattern: self.pattern.view(),
            start: self.places.start.view(),
            size: self.size,
            block: self.places.block,
            column: self.places.column,
            by_column: u32::from(self.places.by_column),
        }
    }

    /// Its values, where [`Matrix::entries`] says.
    pub fn values(&self) -> View<V> {
        self.values.view()
    }

    /// Adds so many times another matrix of the same blocks.
    pub fn add(&mut self, space: &Space, factor: f64, other: &Matrix<V>) -> Result<()>
    where
        V: Real,
    {
        assert_eq!(self.values.len(), other.values.len(), "a matrix of other blocks");
        space.axpy(Quotient::ONE.times(factor), &other.values, &mut self.values)
    }

    /// Its values, to be written; it is no longer known to be symmetric.
    pub fn values_mut(&mut self) -> ViewMut<V> {
        self.symmetric = false;
        self.values.view_mut()
    }

    /// Whether it is known to be symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Promises that it is symmetric, to rounding, as its values are: the CPU's products may then read either of two
    /// entries for both.
    pub fn promise_symmetric(&mut self) {
        self.symmetric = true;
    }

    /// Its blocks, each row by row, in the order of the pattern: `[n_blocks][size][size]`.
    pub fn blocks(&self, space: &Space) -> Result<Vec<V>> {
        let (all, mut blocks) = (space.upload(&[])?, space.zeros(self.n_block_values())?);
        let (rows, starts) = (all.view(), self.pattern.row_start.view());
        let (entries, values) = (self.entries(), self.values.view());
        let kernel = ReadBlocks { rows, starts, entries, values, blocks: blocks.view_mut() };
        // SAFETY: the entries are those of these values, and there is a place for each.
        unsafe { space.run(self.pattern.n_rows, kernel) }?;
        space.take(blocks)
    }

    /// Sets its blocks: `[n_blocks][size][size]`.
    pub fn set_blocks(&mut self, space: &Space, blocks: &[V]) -> Result<()> {
        assert_eq!(blocks.len(), self.n_block_values(), "the blocks of another matrix");
        let (entries, blocks) = (self.entries(), space.upload(blocks)?);
        let kernel = WriteBlocks { entries, blocks: blocks.view(), values: self.values_mut() };
        // SAFETY: as above; each entry belongs to one row.
        unsafe { space.run(self.pattern.n_rows, kernel) }?;
        space.finish()
    }

    /// Values of all blocks of the pattern, without padding.
    fn n_block_values(&self) -> usize {
        self.pattern.n_blocks() * self.size * self.size
    }

    /// Panics unless `y = A x` is defined for vectors of these lengths.
    fn check_shapes(&self, x: usize, y: usize) {
        let n = self.size * self.pattern.n_rows;
        assert!([x, y] == [n; 2], "a matrix of {n} rows, x of {x}, y of {y}");
    }
}

impl<T: Real> Matrix<T> {
    /// Sets every value to zero, to assemble anew.
    pub fn clear(&mut self, space: &Space) -> Result<()> {
        space.fill(T::ZERO, &mut self.values)
    }

    /// Fills it with made-up values, the same in every format.
    pub fn make_up(&mut self, space: &Space) -> Result<()> {
        let (entries, n_rows) = (self.entries(), self.pattern.n_rows);
        // SAFETY: the entries are those of these values; each belongs to one row.
        unsafe { space.run(n_rows, MadeUpValues { entries, values: self.values_mut() }) }
    }
}

impl Matrix<f64> {
    /// `D^-1/2 A D^-1/2` in fewer bits and the same format, from the inverse of D. It has index arrays of its own.
    pub fn scaled_to<V: Stored<Arithmetic = f32>>(&self, space: &Space, inverse: &Buffer<f64>) -> Result<Matrix<V>> {
        assert_eq!(inverse.len(), self.n(), "a diagonal of another length");
        let mut scaled = self.zeros_like::<V>(space)?;
        let kernel = ScaleTo {
            from: self.entries(),
            values: self.values(),
            inverse: inverse.view(),
            to: scaled.entries(),
            scaled: scaled.values_mut(),
        };
        // SAFETY: both matrices live, have this pattern and size, and an entry belongs to one row.
        unsafe { space.run(self.pattern.n_rows, kernel) }?;
        if self.is_symmetric() {
            scaled.promise_symmetric();
        }
        Ok(scaled)
    }
}

impl<V: Stored> LinOp<V::Arithmetic> for Matrix<V> {
    fn n(&self) -> usize {
        self.size * self.pattern.n_rows
    }

    fn apply(&self, space: &Space, x: &Buffer<V::Arithmetic>, y: &mut Buffer<V::Arithmetic>) -> Result<()> {
        // SAFETY: this is no step.
        unsafe { self.apply_then(space, x, y, Epilogue::None) }
    }

    unsafe fn apply_then(
        &self,
        space: &Space,
        x: &Buffer<V::Arithmetic>,
        y: &mut Buffer<V::Arithmetic>,
        epilogue: Epilogue<V::Arithmetic>,
    ) -> Result<()> {
        self.check_shapes(x.len(), y.len());
        // SAFETY: the values were made for these arrays, whoever wrote them has said whether they are symmetric, x and y
        // have the matrix's rows, and the caller's promise.
        unsafe { self.products.multiply(space, self.symmetric, &self.values, x, y, epilogue) }
    }

    fn apply_all(&self, space: &Space, x: &[Buffer<V::Arithmetic>], y: &mut [Buffer<V::Arithmetic>]) -> Result<()> {
        // SAFETY: this is no step.
        unsafe { self.apply_all_then(space, x, y, &vec![Epilogue::None; x.len()]) }
    }

    unsafe fn apply_all_then(
        &self,
        space: &Space,
        x: &[Buffer<V::Arithmetic>],
        y: &mut [Buffer<V::Arithmetic>],
        epilogues: &[Epilogue<V::Arithmetic>],
    ) -> Result<()> {
        assert!(x.len() == y.len() && x.len() == epilogues.len(), "vectors without a product");
        let n_rows = self.pattern.n_rows;
        for ((x, y), epilogues) in x.chunks(WIDTH).zip(y.chunks_mut(WIDTH)).zip(epilogues.chunks(WIDTH)) {
            x.iter().zip(&*y).for_each(|(x, y)| self.check_shapes(x.len(), y.len()));
            // SAFETY: as in `apply_then`.
            unsafe {
                if x.len() > 1 && self.products.multiply_several(space, n_rows, &self.values, x, y, epilogues)? {
                    continue;
                }
                for ((x, y), epilogue) in x.iter().zip(y).zip(epilogues) {
                    self.apply_then(space, x, y, *epilogue)?;
                }
            }
        }
        Ok(())
    }

    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        let (entries, n_rows) = (self.entries(), self.pattern.n_rows);
        let mut sums = space.zeros(n_rows)?;
        // SAFETY: the entries are those of these values, and there is a sum for each row.
        unsafe { space.run(n_rows, RowSums { entries, values: self.values.view(), sums: sums.view_mut() }) }?;
        Ok(sums)
    }

    fn fused_cg(&self, space: &Space, state: CgState<V::Arithmetic>) -> Result<bool> {
        self.check_shapes(state.u.len(), state.inverse.len());
        // SAFETY: as above; it is seen to that all vectors of the state are of one length.
        unsafe { self.products.iterate(space, self.symmetric, &self.values, state) }
    }
}
