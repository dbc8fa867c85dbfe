//! A matrix in some storage format: what is known of it whatever the format.

use super::{Built, Format, Laid, Pattern, Places, Plan, Triangle, Tuning};
use crate::backend::{Backend, Buffer, CgState, Scalar, Vector};
use crate::result::choices;
use crate::result::{Error, Result};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::for_each_format;
use kernels_rs::precond::{ScaleTo, Step};
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::Entries;
use kernels_rs::sparse::entries::{MadeUpValues, ReadBlocks, RowSums, WriteBlocks};
use std::cell::OnceCell;
use std::rc::Rc;

/// What a matrix stores for its products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Stored values, padding included.
    pub values: u64,
    /// Bytes of the index arrays that a product reads.
    pub index_bytes: u64,
}

/// A square matrix that can be applied to vectors of a backend, whatever its storage.
pub trait Operator<B: Backend, T: Real> {
    /// Number of rows.
    fn n(&self) -> usize;
    /// `y = A x`.
    fn apply(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>) -> Result<()>;
    /// `y = A x` and `out = x . y`.
    fn apply_dot(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>, out: Scalar) -> Result<()>;
    /// A step of a polynomial preconditioner from z, which leaves its result in `step.previous`. `scratch` has the rows
    /// of the matrix.
    ///
    /// # Safety
    /// The vectors of `step` live, have the rows of the matrix, and are not z or `scratch`; nobody else has `previous`.
    unsafe fn apply_step(&self, backend: &B, step: Step<T>, z: &Vector<B, T>, scratch: &mut Vector<B, T>)
    -> Result<()>;
    /// Of each block row the largest sum of magnitudes in a row, or what is not below it: the largest is the row sum
    /// norm of the matrix.
    fn row_sums(&self, backend: &B) -> Result<Vector<B, f64>>;
    /// Iterations of conjugate gradients in one go: see [`Backend::cg_persistent`].
    fn iterate(&self, backend: &B, state: CgState<B, T>) -> Result<bool>;
}

/// The products of a format, once its type is forgotten.
trait Products<B: Backend, V: Stored> {
    /// Whether the matrix is known to be symmetric.
    fn is_symmetric(&self) -> bool;
    /// Says whether it is.
    fn set_symmetric(&mut self, symmetric: bool);
    /// # Safety
    /// The values are those of this matrix, and x and y have its rows.
    unsafe fn spmv(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        x: &Vector<B, V::Arithmetic>,
        y: &mut Vector<B, V::Arithmetic>,
    ) -> Result<()>;
    /// # Safety
    /// As `spmv`.
    unsafe fn spmv_dot(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        x: &Vector<B, V::Arithmetic>,
        y: &mut Vector<B, V::Arithmetic>,
        out: Scalar,
    ) -> Result<()>;
    /// # Safety
    /// As `spmv`, and as [`Operator::apply_step`].
    unsafe fn spmv_step(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        step: Step<V::Arithmetic>,
        z: &Vector<B, V::Arithmetic>,
        scratch: &mut Vector<B, V::Arithmetic>,
    ) -> Result<()>;
    /// # Safety
    /// As `spmv` for the vectors of `state`.
    unsafe fn cg_persistent(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        state: CgState<B, V::Arithmetic>,
    ) -> Result<bool>;
}

/// A format's index arrays.
struct Arrays<B: Backend, F: Format> {
    arrays: F::Arrays<B>,
    n_items: usize,
    symmetric: bool,
    /// What products can do with if it is symmetric, found when the first one asks.
    triangle: OnceCell<Option<Triangle>>,
}

impl<B: Backend, F: Format> Arrays<B, F> {
    fn laid(&self) -> Laid<'_, F> {
        let triangle = || self.triangle.get_or_init(|| F::triangle(&self.arrays, self.n_items)).as_ref();
        let triangle = if self.symmetric { triangle() } else { None };
        Laid { layout: F::view(&self.arrays), n_items: self.n_items, triangle }
    }
}

impl<B: Backend, F: Format, V: Stored> Products<B, V> for Arrays<B, F> {
    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn set_symmetric(&mut self, symmetric: bool) {
        self.symmetric = symmetric;
    }

    unsafe fn spmv(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        x: &Vector<B, V::Arithmetic>,
        y: &mut Vector<B, V::Arithmetic>,
    ) -> Result<()> {
        // SAFETY: the arrays live, and the caller gives the values and vectors that go with them; whoever wrote the
        // values has said whether they are symmetric.
        unsafe { backend.spmv(self.laid(), values, x, y) }
    }

    unsafe fn spmv_dot(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        x: &Vector<B, V::Arithmetic>,
        y: &mut Vector<B, V::Arithmetic>,
        out: Scalar,
    ) -> Result<()> {
        // SAFETY: as above.
        unsafe { backend.spmv_dot(self.laid(), values, x, y, out) }
    }

    unsafe fn spmv_step(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        step: Step<V::Arithmetic>,
        z: &Vector<B, V::Arithmetic>,
        scratch: &mut Vector<B, V::Arithmetic>,
    ) -> Result<()> {
        // SAFETY: as above, and the step's vectors are the caller's promise.
        unsafe { backend.spmv_step(self.laid(), values, step, z, scratch) }
    }

    unsafe fn cg_persistent(
        &self,
        backend: &B,
        values: &Vector<B, V>,
        state: CgState<B, V::Arithmetic>,
    ) -> Result<bool> {
        // SAFETY: as above.
        unsafe { backend.cg_persistent(self.laid(), values, state) }
    }
}

/// A matrix of blocks on a backend.
pub struct Matrix<B: Backend, V: Stored> {
    pattern: Rc<Pattern<B>>,
    size: usize,
    format: &'static str,
    tuning: Tuning,
    values: Vector<B, V>,
    index_bytes: u64,
    places: Places<B>,
    products: Box<dyn Products<B, V>>,
}

impl<B: Backend, V: Stored> Matrix<B, V> {
    /// A matrix of zeros in this format, with blocks of `size x size` where the pattern has one.
    ///
    /// # Errors
    ///
    /// [`Error::NotAvailable`] for a size of blocks that the format has not, [`Error::OutOfMemory`], [`Error::TooLarge`].
    pub fn zeros(
        backend: &B,
        format: choices::Format,
        size: usize,
        pattern: &Rc<Pattern<B>>,
        tuning: Tuning,
    ) -> Result<Self> {
        Self::named(backend, format.name(), size, pattern, tuning)
    }

    /// As [`Matrix::zeros`] in the format of this name.
    fn named(backend: &B, format: &str, size: usize, pattern: &Rc<Pattern<B>>, tuning: Tuning) -> Result<Self> {
        let plan = Plan { backend, pattern, size, tuning, value_bytes: size_of::<V>() };
        if u32::try_from(plan.n_scalar_rows()).is_err() {
            return Err(Error::TooLarge(format!("{} unknowns, and columns have 32 bits", plan.n_scalar_rows())));
        }
        macro_rules! find {
            ($($F:ident),+) => { $(if is_in::<kernels_rs::sparse::$F>(format, size) {
                return Self::stored::<kernels_rs::sparse::$F>(&plan);
            })+ };
        }
        for_each_format!(find);
        Err(Error::NotAvailable { what: "format", name: format.into(), available: choices::Format::names() })
    }

    /// A matrix of zeros in a format that need not be in the list.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::TooLarge`], and what the format refuses.
    pub fn stored<F: Format>(plan: &Plan<B>) -> Result<Self> {
        let Built { arrays, index_bytes, n_values, places } = F::build::<B>(plan)?;
        plan.check_room(n_values, size_of::<V>())?;
        let n_items = plan.n_scalar_rows() / F::ROWS;
        Ok(Matrix {
            pattern: plan.pattern.clone(),
            size: plan.size,
            format: F::NAME,
            tuning: plan.tuning,
            values: plan.backend.zeros(n_values as usize)?,
            index_bytes,
            places,
            products: Box::new(Arrays::<B, F> { arrays, n_items, symmetric: false, triangle: OnceCell::new() }),
        })
    }

    /// The name of its format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// Which blocks it has.
    pub fn pattern(&self) -> &Pattern<B> {
        &self.pattern
    }

    /// [`Matrix::pattern`], to be shared with another matrix.
    pub fn shared_pattern(&self) -> &Rc<Pattern<B>> {
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

    /// Its values, to be written; it is no longer known to be symmetric.
    pub fn values_mut(&mut self) -> ViewMut<V> {
        self.products.set_symmetric(false);
        self.values.view_mut()
    }

    /// Whether it is known to be symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.products.is_symmetric()
    }

    /// Promises that it is symmetric, to rounding, as its values are: the CPU's products may then read either of two
    /// entries for both.
    pub fn promise_symmetric(&mut self) {
        self.products.set_symmetric(true);
    }

    /// Its blocks, each row by row, in the order of the pattern: `[n_blocks][size][size]`.
    pub fn blocks(&self, backend: &B) -> Result<Vec<V>> {
        let mut blocks = backend.zeros(self.n_block_values())?;
        let kernel = ReadBlocks { entries: self.entries(), values: self.values.view(), blocks: blocks.view_mut() };
        // SAFETY: the entries are those of these values, and there is a place for each.
        unsafe { backend.run(self.pattern.n_rows, kernel) }?;
        backend.take(blocks)
    }

    /// Sets its blocks: `[n_blocks][size][size]`.
    pub fn set_blocks(&mut self, backend: &B, blocks: &[V]) -> Result<()> {
        assert_eq!(blocks.len(), self.n_block_values(), "the blocks of another matrix");
        let (entries, blocks) = (self.entries(), backend.upload(blocks)?);
        let kernel = WriteBlocks { entries, blocks: blocks.view(), values: self.values_mut() };
        // SAFETY: as above; each entry belongs to one row.
        unsafe { backend.run(self.pattern.n_rows, kernel) }?;
        backend.finish()
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

impl<B: Backend, T: Real> Matrix<B, T> {
    /// Sets every value to zero, to assemble anew.
    pub fn clear(&mut self, backend: &B) -> Result<()> {
        backend.fill(T::ZERO, &mut self.values)
    }

    /// Fills it with made-up values, the same in every format.
    pub fn make_up(&mut self, backend: &B) -> Result<()> {
        let (entries, n_rows) = (self.entries(), self.pattern.n_rows);
        // SAFETY: the entries are those of these values; each belongs to one row.
        unsafe { backend.run(n_rows, MadeUpValues { entries, values: self.values_mut() }) }
    }
}

impl<B: Backend> Matrix<B, f64> {
    /// `D^-1/2 A D^-1/2` in fewer bits and the same format, from the inverse of D. It has index arrays of its own.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is no room for it beside this one.
    pub fn scaled_to<V: Stored<Arithmetic = f32>>(
        &self,
        backend: &B,
        inverse: &Vector<B, f64>,
    ) -> Result<Matrix<B, V>> {
        assert_eq!(inverse.len(), self.n(), "a diagonal of another length");
        let mut scaled = Matrix::<B, V>::named(backend, self.format, self.size, &self.pattern, self.tuning)?;
        let kernel = ScaleTo {
            from: self.entries(),
            values: self.values(),
            inverse: inverse.view(),
            to: scaled.entries(),
            scaled: scaled.values_mut(),
        };
        // SAFETY: both matrices live, have this pattern and size, and an entry belongs to one row.
        unsafe { backend.run(self.pattern.n_rows, kernel) }?;
        if self.is_symmetric() {
            scaled.promise_symmetric();
        }
        Ok(scaled)
    }
}

/// Whether this is the format of a name for a block size.
fn is_in<F: Format>(name: &str, size: usize) -> bool {
    F::NAME == name && F::BLOCK.is_none_or(|block| block == size)
}

impl<B: Backend, V: Stored> Operator<B, V::Arithmetic> for Matrix<B, V> {
    fn n(&self) -> usize {
        self.size * self.pattern.n_rows
    }

    fn apply(&self, backend: &B, x: &Vector<B, V::Arithmetic>, y: &mut Vector<B, V::Arithmetic>) -> Result<()> {
        self.check_shapes(x.len(), y.len());
        // SAFETY: the values were made for these arrays, and x and y have the matrix's rows.
        unsafe { self.products.spmv(backend, &self.values, x, y) }
    }

    fn apply_dot(
        &self,
        backend: &B,
        x: &Vector<B, V::Arithmetic>,
        y: &mut Vector<B, V::Arithmetic>,
        out: Scalar,
    ) -> Result<()> {
        self.check_shapes(x.len(), y.len());
        // SAFETY: as above.
        unsafe { self.products.spmv_dot(backend, &self.values, x, y, out) }
    }

    unsafe fn apply_step(
        &self,
        backend: &B,
        step: Step<V::Arithmetic>,
        z: &Vector<B, V::Arithmetic>,
        scratch: &mut Vector<B, V::Arithmetic>,
    ) -> Result<()> {
        self.check_shapes(z.len(), scratch.len());
        // SAFETY: as above, and the caller's promise.
        unsafe { self.products.spmv_step(backend, &self.values, step, z, scratch) }
    }

    fn row_sums(&self, backend: &B) -> Result<Vector<B, f64>> {
        let (entries, n_rows) = (self.entries(), self.pattern.n_rows);
        let mut sums = backend.zeros(n_rows)?;
        // SAFETY: the entries are those of these values, and there is a sum for each row.
        unsafe { backend.run(n_rows, RowSums { entries, values: self.values.view(), sums: sums.view_mut() }) }?;
        Ok(sums)
    }

    fn iterate(&self, backend: &B, state: CgState<B, V::Arithmetic>) -> Result<bool> {
        self.check_shapes(state.u.len(), state.inverse.len());
        // SAFETY: as above; the backend sees to it that all vectors of the state are of one length.
        unsafe { self.products.cg_persistent(backend, &self.values, state) }
    }
}
