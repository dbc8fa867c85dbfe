//! Where vectors live and work is done: a dozen primitives, one native CPU backend, one for GPUs and the emulator.
//!
//! Coefficients are *device-resident scalars*: a dot product leaves its result where the next step reads it, and
//! [`Backend::read`] is the only call that waits.

pub mod bandwidth;
pub mod cpu;
pub mod device;
pub mod gpu;
mod host_buffer;
pub mod host_memory;
pub mod widest;

pub use cpu::CpuBackend;
pub use device::Device;
pub use gpu::{Emulated, GpuBackend};
pub use host_buffer::HostBuffer;

use crate::result::{Error, Result};
use crate::sparse::{Format, Laid};
use cuda_std::launch::{ItemKernel, Kernel};
use cuda_std::prelude::{DeviceCopy, View, ViewMut};
use kernels_rs::blas::{Axpby, Axpy, Fill, Mul, Ratio, Xpby};
use kernels_rs::cg::CgUpdate;
use kernels_rs::femses::Elements;
use kernels_rs::precond::{BlockMul, Step};
use kernels_rs::real::{Real, Stored};
use rayon::prelude::*;
use std::ops::AddAssign;

/// A plain value that can be copied to a device bit by bit.
pub trait Plain: DeviceCopy + bytemuck::Pod + Send + Sync {}
impl<T: DeviceCopy + bytemuck::Pod + Send + Sync> Plain for T {}

/// An array on a device.
pub trait Buffer<T: Plain> {
    /// Number of entries.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How kernels read it. The view is valid while the buffer lives.
    fn view(&self) -> View<T>;
    /// How kernels write it. The view is valid while the buffer lives.
    fn view_mut(&mut self) -> ViewMut<T>;
}

/// A backend's array type.
pub type Vector<B, T> = <B as Backend>::Buffer<T>;

/// A device-resident scalar, by its place in the backend's bank of [`N_SCALARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar(u32);

impl Scalar {
    /// The constant 1, in the last place.
    pub const ONE: Scalar = Scalar(N_SCALARS as u32 - 1);

    /// The scalar at a place before the last.
    pub const fn new(place: usize) -> Self {
        assert!(place < N_SCALARS - 1, "no such scalar");
        Scalar(place as u32)
    }
}

/// Device-resident scalars per backend.
pub const N_SCALARS: usize = 128;

/// The bank of a new backend.
fn new_bank() -> Vec<f64> {
    let mut bank = vec![0.0; N_SCALARS];
    bank[N_SCALARS - 1] = 1.0;
    bank
}

/// A coefficient `factor num / den` of device-resident scalars; 0 where either is 0.
#[derive(Debug, Clone, Copy)]
pub struct Quotient {
    /// Numerator.
    pub num: Scalar,
    /// Denominator.
    pub den: Scalar,
    /// What the quotient is multiplied by.
    pub factor: f64,
}

impl Quotient {
    /// 1.
    pub const ONE: Quotient = Quotient::new(Scalar::ONE, Scalar::ONE);
    /// -1.
    pub const MINUS_ONE: Quotient = Quotient::ONE.minus();

    /// `num / den`.
    pub const fn new(num: Scalar, den: Scalar) -> Self {
        Quotient { num, den, factor: 1.0 }
    }

    /// The same with the other sign.
    pub const fn minus(self) -> Self {
        self.times(-1.0)
    }

    /// That many times as much.
    pub const fn times(self, factor: f64) -> Self {
        Quotient { factor: factor * self.factor, ..self }
    }
}

/// The threads of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks of threads.
    pub blocks: usize,
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of dynamic shared memory of a block, up to [`MAX_SHARED`].
    pub shared_bytes: usize,
}

impl Grid {
    /// This many blocks of threads without dynamic shared memory.
    pub fn new(blocks: usize, threads: usize) -> Self {
        Grid { blocks, threads, shared_bytes: 0 }
    }
}

/// Bytes of shared memory that a block of every device can have.
pub const MAX_SHARED: usize = 48 << 10;

/// Refuses what a device has no room for beside what is there, before it is tried: a host would try. `purpose` says
/// what it is for, and what does without.
///
/// # Errors
///
/// [`Error::OutOfMemory`]
pub fn check_room<B: Backend>(backend: &B, needed: u64, purpose: &str) -> Result<()> {
    match backend.free_memory() {
        Some(available) if needed > available => {
            let device = backend.name() + purpose;
            Err(Error::OutOfMemory { device, needed: Some(needed), available: Some(available) })
        }
        _ => Ok(()),
    }
}

/// The lower triangle of a symmetric matrix of scalars, row by row; or its upper triangle, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct LowerTriangle<F> {
    /// Where each row starts, `[n + 1]`.
    pub row_start: Vec<usize>,
    /// Of each entry, ascending in each row, the diagonal last.
    pub columns: Vec<usize>,
    /// The entries.
    pub values: Vec<F>,
}

/// A sparse factor of a matrix on a device, by [`Backend::factorise`]; `V` is a vector there.
pub trait SparseFactor<V> {
    /// `x = A^-1 r`; waits.
    fn solve(&self, r: &V, x: &mut V) -> Result<()>;
    /// Entries of the factor.
    fn nonzeros(&self) -> u64;
}

/// What came of [`Backend::factorise`].
pub enum Factorised<V> {
    /// The factor.
    Done(Box<dyn SparseFactor<V>>),
    /// The pivot of this row is too small, or of a value that nobody knows.
    NotPositive {
        /// The row.
        row: usize,
        /// The pivot.
        pivot: Option<f64>,
    },
}

/// The direct solver that a device has for what was not asked to be solved directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factors {
    /// None that is worth its time.
    None,
    /// Dense factors, for small systems.
    Dense,
    /// Sparse factors.
    Sparse,
}

/// Memory and arithmetic of one device. Calls may return before their work is done; [`Backend::read`],
/// [`Backend::download`] and [`Backend::finish`] wait.
pub trait Backend: Sized + 'static {
    /// An array of `T`.
    type Buffer<T: Plain>: Buffer<T>;
    /// What [`Backend::record`] notes.
    type Recording;
    /// Whether its memory is the host's and the host's own routines do its work.
    const ON_HOST: bool = false;

    /// What people call this device.
    fn name(&self) -> String;
    /// Bytes of memory that can be had; `None` where there is no saying.
    fn free_memory(&self) -> Option<u64>;
    /// Copies an array to the device.
    fn upload<T: Plain>(&self, data: &[T]) -> Result<Self::Buffer<T>>;
    /// As [`Backend::upload`], of an array that is needed no longer.
    fn upload_vec<T: Plain>(&self, data: Vec<T>) -> Result<Self::Buffer<T>> {
        self.upload(&data)
    }
    /// An array of zeros.
    fn zeros<T: Plain>(&self, n: usize) -> Result<Self::Buffer<T>>;
    /// Copies an array back; waits.
    fn download<T: Plain>(&self, buffer: &Self::Buffer<T>) -> Result<Vec<T>>;
    /// As [`Backend::download`], of an array that is needed no longer.
    fn take<T: Plain>(&self, buffer: Self::Buffer<T>) -> Result<Vec<T>> {
        self.download(&buffer)
    }
    /// Copies entry `i` of an array back; waits.
    fn read_at<T: Plain>(&self, buffer: &Self::Buffer<T>, i: usize) -> Result<T> {
        Ok(self.download(buffer)?[i])
    }
    /// `to = from`, of the same length.
    fn copy<T: Plain>(&self, from: &Self::Buffer<T>, to: &mut Self::Buffer<T>) -> Result<()>;
    /// Runs a kernel over items `0..n`.
    ///
    /// # Safety
    /// The kernel's own contract: its views live, have the shapes it documents, and do not overlap.
    unsafe fn run<K: ItemKernel>(&self, n: usize, kernel: K) -> Result<()>;
    /// Starts a kernel whose threads work together, on a one-dimensional grid with dynamic shared memory; an error on
    /// the CPU, whose items are not threads.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch<K: Kernel>(&self, grid: Grid, kernel: K) -> Result<()>;
    /// Waits until everything asked for is done.
    fn finish(&self) -> Result<()>;

    /// Notes what `work` asks of the device instead of doing it, to be done by [`Backend::replay`] as often as one
    /// likes; `None` where that is no faster than asking again. `work` has been done once before, and neither makes nor
    /// reads arrays.
    fn record(&self, _work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Self::Recording>> {
        Ok(None)
    }
    /// Does what was noted, on the same arrays.
    ///
    /// # Safety
    /// The arrays that the noted work uses live still, and nobody has borrowed those that it writes.
    unsafe fn replay(&self, recording: &Self::Recording) -> Result<()>;

    /// What it factorises with; to ask may load a library.
    fn factors(&self) -> Factors {
        match cfg!(feature = "direct") {
            true => Factors::Sparse,
            false => Factors::None,
        }
    }
    /// Why it has no sparse Cholesky method of its own, if it has none.
    fn lacks_factors(&self) -> Option<String> {
        Some(format!("{} has no library of them", self.name()))
    }
    /// Factorises a symmetric positive definite matrix with a diagonal of 1 by the device's own sparse Cholesky method;
    /// pivots below `smallest` are none. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], before the factor is computed where that can be told; where it cannot, the library may
    /// leave the device unusable. [`Error::Device`] where there is no such method.
    fn factorise<F: Real>(&self, _lower: &LowerTriangle<F>, _smallest: f64) -> Result<Factorised<Self::Buffer<F>>> {
        Err(Error::Device(self.lacks_factors().unwrap_or_default()))
    }

    /// Sums of all counts before each, `[n + 1]`: the last entry is the total.
    fn exclusive_sum(&self, counts: &Self::Buffer<u32>) -> Result<Self::Buffer<u64>> {
        self.upload_vec(running_sums(self.download(counts)?.into_iter().map(u64::from)))
    }
    /// The order in which keys ascend, `order[new] = old`; equal keys keep theirs. Keys are below `2^bits`.
    fn sort_order(&self, keys: &Self::Buffer<u64>, bits: u32) -> Result<Self::Buffer<u32>> {
        self.upload_vec(order_of(&self.download(keys)?, bits))
    }

    /// The bank of device-resident scalars, `[N_SCALARS]`.
    fn scalars(&self) -> View<f64>;
    /// Device-resident scalars as the host sees them; waits. NaN and infinity are errors.
    fn read<const N: usize>(&self, scalars: [Scalar; N]) -> Result<[f64; N]>;

    /// `out = x . y`, summed in f64, the same bits every time.
    fn dot<T: Real>(&self, x: &Self::Buffer<T>, y: &Self::Buffer<T>, out: Scalar) -> Result<()>;
    /// `y = A x`.
    ///
    /// # Safety
    /// `a` views the live index arrays of a matrix that has these values, and is symmetric if `a` has a triangle; x and
    /// y have its rows.
    unsafe fn spmv<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &Self::Buffer<V>,
        x: &Self::Buffer<V::Arithmetic>,
        y: &mut Self::Buffer<V::Arithmetic>,
    ) -> Result<()>;

    /// `y = A x` and `out = x . y`.
    ///
    /// # Safety
    /// As [`Backend::spmv`].
    unsafe fn spmv_dot<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &Self::Buffer<V>,
        x: &Self::Buffer<V::Arithmetic>,
        y: &mut Self::Buffer<V::Arithmetic>,
        out: Scalar,
    ) -> Result<()>;

    /// A step of a polynomial preconditioner from z; its result replaces `step.previous`.
    ///
    /// # Safety
    /// As [`Backend::spmv`] for z and `scratch`. The vectors of `step` live, have the rows of z, and are neither z nor
    /// `scratch`; nobody else has `previous`.
    unsafe fn spmv_step<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &Self::Buffer<V>,
        step: Step<V::Arithmetic>,
        z: &Self::Buffer<V::Arithmetic>,
        scratch: &mut Self::Buffer<V::Arithmetic>,
    ) -> Result<()>;

    /// A step of FEMSES from u over cells of N nodes; its result replaces `step.previous`. `out` is the square of the
    /// norm of the residual before it.
    ///
    /// # Safety
    /// The views live and have the shapes of [`kernels_rs::femses::femses_gather`]; nobody else has `step.previous`.
    unsafe fn femses_gather<const N: usize, T: Real>(
        &self,
        elements: Elements<T>,
        u: &Self::Buffer<T>,
        step: Step<T>,
        out: Scalar,
    ) -> Result<()>;

    /// Iterations of conjugate gradients in one go, as [`kernels_rs::cg_persistent`] says; false if this device or
    /// format has no such thing, or the device no room for that many unknowns: then `z` alone may have changed.
    ///
    /// # Safety
    /// As [`Backend::spmv`] for the vectors of `state`.
    unsafe fn cg_persistent<F: Format, V: Stored>(
        &self,
        _a: Laid<F>,
        _values: &Self::Buffer<V>,
        _state: CgState<Self, V::Arithmetic>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// A quotient as kernels take it.
    fn ratio(&self, quotient: Quotient) -> Ratio {
        Ratio { scalars: self.scalars(), num: quotient.num.0, den: quotient.den.0, factor: quotient.factor }
    }

    /// `x_i = value`.
    fn fill<T: Real>(&self, value: T, x: &mut Self::Buffer<T>) -> Result<()> {
        // SAFETY: x lives and holds x.len() entries.
        unsafe { self.run(x.len(), Fill { value, x: x.view_mut() }) }
    }

    /// `y_i = a_i x_i`, a in single precision: what a diagonal preconditioner does.
    fn mul<T: Real>(&self, a: &Self::Buffer<f32>, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<()> {
        assert!(a.len() == x.len() && x.len() == y.len(), "vectors of different lengths");
        // SAFETY: all three live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), Mul { a: a.view(), x: x.view(), y: y.view_mut() }) }
    }

    /// `y += a x`.
    fn axpy<T: Real>(&self, a: Quotient, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        let kernel = Axpy { ratio: self.ratio(a), x: x.view(), y: y.view_mut() };
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), kernel) }
    }

    /// `y = x + b y`.
    fn xpby<T: Real>(&self, x: &Self::Buffer<T>, b: Quotient, y: &mut Self::Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), Xpby { ratio: self.ratio(b), x: x.view(), y: y.view_mut() }) }
    }

    /// `y = a x + b y`.
    fn axpby<T: Real>(&self, [a, b]: [Quotient; 2], x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        let kernel = Axpby { a: self.ratio(a), b: self.ratio(b), x: x.view(), y: y.view_mut() };
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), kernel) }
    }

    /// For a diagonal preconditioner and `z = inverse r`: `z -= alpha inverse q`, `out = [r . z, r . r]`.
    fn cg_residual<T: Real>(
        &self,
        alpha: Quotient,
        q: &Self::Buffer<T>,
        inverse: &Self::Buffer<f32>,
        z: &mut Self::Buffer<T>,
        out: [Scalar; 2],
    ) -> Result<()>;

    /// For any preconditioner, `r -= alpha q`, `out = r . r`.
    fn cg_residual_norm<T: Real>(
        &self,
        alpha: Quotient,
        q: &Self::Buffer<T>,
        r: &mut Self::Buffer<T>,
        out: Scalar,
    ) -> Result<()> {
        self.axpy(alpha.minus(), q, r)?;
        self.dot(r, r, out)
    }

    /// For a preconditioner of symmetric diagonal blocks, `r -= alpha q`, `z = blocks r`, `out = [r . z, r . r]`.
    fn cg_residual_blocks<T: Real>(
        &self,
        alpha: Quotient,
        q: &Self::Buffer<T>,
        blocks: &Blocks<Self::Buffer<T>>,
        r: &mut Self::Buffer<T>,
        z: &mut Self::Buffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        self.axpy(alpha.minus(), q, r)?;
        self.block_mul(blocks, r, z)?;
        self.dot(r, z, out[0])?;
        self.dot(r, r, out[1])
    }

    /// `z = blocks r`.
    fn block_mul<T: Real>(
        &self,
        blocks: &Blocks<Self::Buffer<T>>,
        r: &Self::Buffer<T>,
        z: &mut Self::Buffer<T>,
    ) -> Result<()> {
        let Blocks { size, n_rows, ref values } = *blocks;
        assert!([r.len(), z.len()] == [size * n_rows; 2], "vectors of different lengths");
        let (blocks, r, z) = (values.view(), r.view(), z.view_mut());
        // SAFETY: all live and have the rows of the blocks; z is borrowed uniquely.
        unsafe {
            match size {
                1 => self.run(n_rows, BlockMul::<T, 1> { n_rows, blocks, r, z }),
                2 => self.run(n_rows, BlockMul::<T, 2> { n_rows, blocks, r, z }),
                _ => self.run(n_rows, BlockMul::<T, 3> { n_rows, blocks, r, z }),
            }
        }
    }

    /// `u += alpha p`, then `p = z + beta p`.
    fn cg_update<T: Real>(
        &self,
        [alpha, beta]: [Quotient; 2],
        z: &Self::Buffer<T>,
        u: &mut Self::Buffer<T>,
        p: &mut Self::Buffer<T>,
    ) -> Result<()> {
        let n = p.len();
        assert!([z.len(), u.len()] == [n; 2], "vectors of different lengths");
        let (alpha, beta) = (self.ratio(alpha), self.ratio(beta));
        let kernel = CgUpdate { alpha, beta, z: z.view(), u: u.view_mut(), p: p.view_mut() };
        // SAFETY: all live and have the same length; u and p are borrowed uniquely.
        unsafe { self.run(n, kernel) }
    }
}

/// What [`Backend::cg_persistent`] iterates on, and how far.
pub struct CgState<'a, B: Backend, T: Real> {
    /// The inverse of the diagonal.
    pub inverse: &'a Vector<B, f32>,
    /// The solution.
    pub u: &'a mut Vector<B, T>,
    /// The residual.
    pub r: &'a mut Vector<B, T>,
    /// Scratch.
    pub z: &'a mut Vector<B, T>,
    /// The direction.
    pub p: &'a mut Vector<B, T>,
    /// How it went: see [`kernels_rs::cg_persistent::CgRun::history`].
    pub history: &'a mut Vector<B, f64>,
    /// Iterations at most.
    pub steps: usize,
    /// Where `r . r` is not above the first or `r . z` not above the second, the iteration ends.
    pub enough: [f64; 2],
    /// `r . z`.
    pub rho: Scalar,
}

/// A symmetric block for each block row, of which the lower triangles are kept.
#[derive(Debug)]
pub struct Blocks<V> {
    /// Rows of a block: 1, 2 or 3.
    pub size: usize,
    /// How many there are.
    pub n_rows: usize,
    /// `[size (size + 1) / 2][n_rows]`.
    pub values: V,
}

/// 0, and the sums of all numbers up to each.
pub(crate) fn running_sums<T: Copy + Default + AddAssign>(numbers: impl Iterator<Item = T>) -> Vec<T> {
    let mut total = T::default();
    let ends = numbers.map(|number| {
        total += number;
        total
    });
    std::iter::once(T::default()).chain(ends).collect()
}

/// What [`Backend::sort_order`] says, on the host.
fn order_of(keys: &[u64], bits: u32) -> Vec<u32> {
    debug_assert!(bits <= u64::BITS, "keys have 64 bits");
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.par_sort_by_key(|i| keys[*i as usize]);
    order
}

/// What [`Backend::read`] does with what it read.
pub(crate) fn check_finite(values: &[f64]) -> Result<()> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Error::Breakdown) }
}
