//! What a storage format says of itself: how it is built, and how the CPU multiplies by it.

use super::{Pattern, Triangle};
use crate::device::{self, Buffer};
use crate::linalg::Space;
use crate::parallel;
use crate::result::Result;
use cuda_std::launch::{Kernel, Params};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::cg_persistent::{CgRun, CgVectors};
use kernels_rs::precond::Step;
use kernels_rs::real::{Real, Stored};
use kernels_rs::reduce::Reduction;
use kernels_rs::sparse::Layout;
use kernels_rs::sparse::several::Steps;
use kernels_rs::vectors::{Vectors, VectorsMut, WIDTH};
use std::rc::Rc;

/// Items a task of the CPU takes at least.
const MIN_ITEMS: usize = 512;
/// Rows of a part of a product on the CPU: 12 KiB of f64, which the nearest cache holds, and whole slices of any
/// height.
pub const PART: usize = 1536;

/// What can be chosen within a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Rows per slice of `sell`, a power of two.
    pub slice_height: usize,
    /// Rows per window within which `sell` sorts by length.
    pub sorting_window: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { slice_height: 32, sorting_window: 1024 }
    }
}

/// What a format is built from.
pub struct Plan<'a> {
    /// Where.
    pub space: &'a Space,
    /// Which blocks.
    pub pattern: &'a Rc<Pattern>,
    /// Their size.
    pub size: usize,
    /// What was chosen.
    pub tuning: Tuning,
    /// Bytes of a value.
    pub value_bytes: usize,
}

impl Plan<'_> {
    /// Rows of scalars.
    pub fn n_scalar_rows(&self) -> usize {
        self.pattern.n_rows * self.size
    }

    /// Refuses arrays of `n` entries of `bytes` each, together, that the device has no room for, before they are tried:
    /// padding may want far more than the mesh suggests.
    pub fn check_memory(&self, n: u64, bytes: usize) -> Result<()> {
        device::check_memory(self.space, n.saturating_mul(bytes as u64), "")
    }
}

/// Where a format keeps the entries of a matrix: see [`kernels_rs::sparse::Entries`].
pub struct Places {
    /// Place of each row's first entry.
    pub start: Rc<Buffer<u64>>,
    /// Distance between the blocks of a row.
    pub block: usize,
    /// Distance between the columns of a block.
    pub column: usize,
    /// Whether blocks are placed by their column.
    pub by_column: bool,
}

/// A format's index arrays on a device, and what is to be known of them.
pub struct Built<F: Format> {
    /// The index arrays.
    pub arrays: F::Arrays,
    /// Bytes of those that a product reads.
    pub index_bytes: u64,
    /// Stored values, padding included.
    pub n_values: u64,
    /// Where the entries are.
    pub places: Places,
}

/// What the CPU's product of half of a symmetric matrix takes besides the matrix.
pub struct Half<'a, T> {
    /// Which half.
    pub triangle: &'a Triangle,
    /// Unknowns of a row of blocks: 1, 2, 3 or 6.
    pub size: usize,
    /// Room for [`Triangle::n_sums`].
    pub sums: &'a mut [T],
}

/// A storage format. Item kernels build it, so that it is the same on every device.
pub trait Format: Layout {
    /// Its index arrays on a device.
    type Arrays;

    /// Lays out a matrix.
    fn build(plan: &Plan) -> Result<Built<Self>>;

    /// How kernels see the arrays.
    fn view(arrays: &Self::Arrays) -> Self;

    /// What a product of a symmetric matrix can do with on the CPU, if the format has such a product,
    /// [`Format::half_sums`].
    ///
    /// # Safety
    /// The arrays are in the host's memory.
    unsafe fn triangle(_arrays: &Self::Arrays) -> Option<Triangle> {
        None
    }

    /// The launch of `y = A x` with `x . y`, a thread per item, if that is faster than one after the other.
    fn spmv_dot<V: Stored>(
        self,
        _n_items: usize,
        _values: View<V>,
        _x: View<V::Arithmetic>,
        _y: ViewMut<V::Arithmetic>,
        _to: Reduction,
    ) -> Option<impl Kernel> {
        None::<Never>
    }

    /// The launch of a step of a polynomial preconditioner, a thread per item, if that is faster than a product and the
    /// step one after the other.
    fn spmv_step<V: Stored>(
        self,
        _n_items: usize,
        _values: View<V>,
        _z: View<V::Arithmetic>,
        _step: Step<V::Arithmetic>,
    ) -> Option<impl Kernel> {
        None::<Never>
    }

    /// The launch of products with several vectors in one pass over the matrix, a thread per block row and W
    /// of the vectors, if the format has such a thing.
    fn products<const W: usize, T: Real>(
        self,
        _n_rows: usize,
        _values: View<T>,
        _x: Vectors<T, WIDTH>,
        _y: VectorsMut<T, WIDTH>,
    ) -> Option<impl Kernel> {
        None::<Never>
    }

    /// The same, with a step of a polynomial preconditioner for each vector.
    fn steps<const W: usize, T: Real>(
        self,
        _n_rows: usize,
        _values: View<T>,
        _z: Vectors<T, WIDTH>,
        _steps: Steps<T>,
    ) -> Option<impl Kernel> {
        None::<Never>
    }

    /// The launch of many iterations of conjugate gradients, if the format has one.
    fn cg_persistent<T: Real>(
        self,
        _n_items: usize,
        _values: View<T>,
        _vectors: CgVectors<T>,
        _run: CgRun,
    ) -> Option<impl Kernel> {
        None::<Never>
    }

    /// `y = A x` on the CPU.
    ///
    /// # Safety
    /// `self` views the arrays, which live, of a matrix with these values and `n_items` items, and x and y have its
    /// rows.
    unsafe fn multiply<V: Stored>(self, n_items: usize, values: &[V], x: &[V::Arithmetic], y: &mut [V::Arithmetic]) {
        let (values, x, y) = (View::from_slice(values), View::from_slice(x), ViewMut::from_slice(y));
        parallel::for_ranges(n_items, MIN_ITEMS, &|items| {
            for item in items {
                // SAFETY: an item of the matrix, and host views check their bounds; each row belongs to one item.
                unsafe {
                    let (row, product) = (self.row(item), self.product(item, values, x));
                    for (i, product) in product.into_iter().take(Self::ROWS).enumerate() {
                        y.set(row + i, product);
                    }
                }
            }
        });
    }

    /// The sums of a product by half of a symmetric matrix, in a format that has a [`Format::triangle`], which
    /// [`Half::rows`] makes `A x` of; and `x . A x`.
    ///
    /// # Safety
    /// As [`Format::multiply`]; the matrix is symmetric, and the triangle that of these arrays.
    unsafe fn half_sums<V: Stored>(self, _half: &mut Half<V::Arithmetic>, _values: &[V], _x: &[V::Arithmetic]) -> f64 {
        unreachable!("a format with a triangle multiplies by half")
    }

    /// As [`Format::multiply`], and `then(i, part)` of every [`PART`] rows of y from row `i` on, while they are in
    /// cache if the format can; what it returns, in the order of rows.
    ///
    /// # Safety
    /// As [`Format::multiply`].
    unsafe fn multiply_then<V: Stored, R: Send>(
        self,
        n_items: usize,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
    ) -> Vec<R> {
        // SAFETY: the caller's promise.
        unsafe { self.multiply(n_items, values, x, y) };
        parallel::map_chunks(y, PART, &|first, y| then(first, y))
    }
}

/// The launch that there is not.
pub enum Never {}

impl Kernel for Never {
    fn name(&self) -> &'static str {
        match *self {}
    }

    fn params(&self) -> Params {
        match *self {}
    }

    unsafe fn run_thread(&self) {
        match *self {}
    }
}
