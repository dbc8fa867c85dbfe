//! The GPU backend: launches kernels through a [`Launcher`], on an NVIDIA GPU or on the SIMT emulator. Both see the
//! same launches with the same parameters.

mod buffer;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
mod cudss;
#[cfg(feature = "cuda")]
mod driver;
mod emulated;
#[cfg(feature = "cuda")]
mod graph;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod ptx;
mod sort;

pub use buffer::{DeviceBuffer, DeviceMemory};
#[cfg(feature = "cuda")]
pub use cuda::{Cuda, DeviceInfo, devices, factors, unavailable, usable};
pub use emulated::Emulated;

use super::{
    Backend, Blocks, Buffer, CgState, Factorised, Factors, Grid, LowerTriangle, N_SCALARS, Plain, Quotient, Scalar,
    SparseFactor, check_finite, host_memory, new_bank,
};
use crate::result::{Error, Result};
use crate::sparse::{Format, Laid};
use cuda_std::GpuFloat;
use cuda_std::launch::{ItemKernel, Items, Kernel};
use cuda_std::prelude::View;
use kernels_rs::blas::Dot;
use kernels_rs::cg::{CgResidual, CgResidualNorm};
use kernels_rs::cg_persistent::{CgRun, CgVectors, HISTORY, N_SUMS, RECORD, SLICE, max_slices};
use kernels_rs::femses::{Elements, FemsesGather};
use kernels_rs::precond::{CgResidualBlocks, PolynomialStep, Step};
use kernels_rs::real::{Real, Stored};
use kernels_rs::reduce::{BLOCK, MAX_SUMS, Reduction};
use kernels_rs::sparse::Spmv;
use std::cell::RefCell;

/// Memory and launches of one device. It knows bytes, not types: what is generic over backends is compiled once for all
/// devices.
pub trait Launcher {
    /// What people call this device.
    fn name(&self) -> String;
    /// Bytes of memory that can be had; `None` where there is no saying.
    fn free_memory(&self) -> Option<u64>;
    /// Copies bytes to the device.
    fn upload(&self, data: &[u8]) -> Result<DeviceMemory>;
    /// Memory with all bits 0.
    fn zeros(&self, bytes: usize) -> Result<DeviceMemory>;
    /// Copies the bytes from `first` on back; waits.
    fn download(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()>;
    /// `to = from`, of the same length.
    fn copy(&self, from: &DeviceMemory, to: &mut DeviceMemory) -> Result<()>;
    /// Starts a kernel on a one-dimensional grid.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch(&self, grid: Grid, kernel: &dyn Kernel) -> Result<()>;
    /// Starts a kernel whose blocks wait for one another: all of them run at the same time. False, with nothing
    /// started, where the device cannot do that.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch_cooperative(&self, grid: Grid, kernel: &dyn Kernel) -> Result<bool>;
    /// As many blocks of this many threads of a kernel as can run at the same time, with the dynamic shared memory that
    /// each can have without there being fewer.
    fn resident_grid(&self, threads: usize, kernel: &dyn Kernel) -> Result<Grid>;
    /// Notes the launches and copies that `work` makes instead of making them; `None` where that gains nothing. The
    /// arrays that it uses live as long as the recording is replayed.
    fn record(&self, _work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        Ok(None)
    }
    /// See [`Backend::factors`].
    fn factors(&self) -> Factors {
        Factors::None
    }
    /// See [`Backend::lacks_factors`].
    fn lacks_factors(&self) -> Option<String> {
        Some(format!("{} has no library of them", self.name()))
    }
    /// See [`Backend::factorise`].
    fn factorise(&self, _lower: LowerBytes, _smallest: f64) -> Result<Factorised<DeviceMemory>> {
        Err(Error::Device(self.lacks_factors().unwrap_or_default()))
    }
    /// Waits until every launch is done.
    fn finish(&self) -> Result<()>;
    /// Blocks that fill the device; the grid of grid-stride loops.
    fn full_grid(&self) -> usize;
}

/// Launches to be made again.
pub trait Recording {
    /// Makes the launches that were noted.
    ///
    /// # Safety
    /// The arrays that they use live still, and nobody has borrowed those that they write.
    unsafe fn replay(&self) -> Result<()>;
}

/// A [`LowerTriangle`] whose values are bytes.
#[derive(Debug, Clone, Copy)]
pub struct LowerBytes<'a> {
    /// Where each row starts, `[n + 1]`.
    pub row_start: &'a [usize],
    /// Of each entry.
    pub columns: &'a [usize],
    /// The entries, f32 or f64.
    pub values: &'a [u8],
    /// Bytes of each: 4 or 8.
    pub value_bytes: usize,
}

/// A factor that solves for arrays.
struct FactorOfArrays(Box<dyn SparseFactor<DeviceMemory>>);

impl<F: Real> SparseFactor<DeviceBuffer<F>> for FactorOfArrays {
    fn solve(&self, r: &DeviceBuffer<F>, x: &mut DeviceBuffer<F>) -> Result<()> {
        self.0.solve(r.memory(), x.memory_mut())
    }

    fn nonzeros(&self) -> u64 {
        self.0.nonzeros()
    }
}

/// Partial sums kept for the largest reducing launch so far.
struct Reducer {
    partials: DeviceBuffer<f64>,
    ticket: DeviceBuffer<u32>,
    scalars: DeviceBuffer<f64>,
    /// The word of the grid's barrier.
    barrier: DeviceBuffer<u32>,
}

/// A backend over a [`Launcher`].
///
/// The arrays are dropped before the launcher, which owns the device's context.
pub struct GpuBackend {
    reducer: RefCell<Reducer>,
    launcher: Box<dyn Launcher>,
}

/// As [`Backend::upload`].
fn upload<T: Plain>(launcher: &dyn Launcher, data: &[T]) -> Result<DeviceBuffer<T>> {
    launcher.upload(bytemuck::cast_slice(data)).map(DeviceBuffer::new)
}

/// As [`Backend::zeros`].
fn zeros<T: Plain>(launcher: &dyn Launcher, n: usize) -> Result<DeviceBuffer<T>> {
    launcher.zeros(n * size_of::<T>()).map(DeviceBuffer::new)
}

impl GpuBackend {
    /// A backend on this device.
    pub fn new(launcher: impl Launcher + 'static) -> Result<Self> {
        let reducer = Reducer {
            partials: zeros(&launcher, N_SUMS * launcher.full_grid())?,
            ticket: zeros(&launcher, 1)?,
            scalars: upload(&launcher, &new_bank())?,
            barrier: zeros(&launcher, 1)?,
        };
        Ok(GpuBackend { launcher: Box::new(launcher), reducer: RefCell::new(reducer) })
    }

    /// Where a reducing launch of `blocks` blocks puts its sums.
    fn reduction<const M: usize>(&self, blocks: usize, out: [Scalar; M]) -> Result<Reduction> {
        let mut reducer = self.reducer.borrow_mut();
        if reducer.partials.len() < MAX_SUMS * blocks {
            self.launcher.finish()?;
            reducer.partials = self.zeros(MAX_SUMS * blocks)?;
        }
        let mut indices = [0; MAX_SUMS];
        indices.iter_mut().zip(out).for_each(|(index, scalar)| *index = scalar.0);
        Ok(Reduction {
            partials: reducer.partials.view_mut(),
            ticket: reducer.ticket.view_mut(),
            scalars: reducer.scalars.view_mut(),
            out: indices,
        })
    }

    /// Starts a kernel that sums over its grid.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch_sum(&self, blocks: usize, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller keeps the kernel's contract.
        let launched = unsafe { self.launcher.launch(Grid::new(blocks, BLOCK), kernel) };
        if launched.is_err() {
            // Blocks that ran have taken tickets, and nobody was last.
            self.reducer.borrow_mut().ticket = self.zeros(1)?;
        }
        launched
    }

    /// Blocks of a grid-stride loop over `n` entries.
    fn stride_grid(&self, n: usize) -> usize {
        n.div_ceil(BLOCK).clamp(1, self.launcher.full_grid())
    }
}

impl Backend for GpuBackend {
    type Buffer<T: Plain> = DeviceBuffer<T>;
    type Recording = Box<dyn Recording>;

    fn name(&self) -> String {
        self.launcher.name()
    }

    fn free_memory(&self) -> Option<u64> {
        self.launcher.free_memory()
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<DeviceBuffer<T>> {
        upload(&*self.launcher, data)
    }

    fn zeros<T: Plain>(&self, n: usize) -> Result<DeviceBuffer<T>> {
        zeros(&*self.launcher, n)
    }

    fn download<T: Plain>(&self, buffer: &DeviceBuffer<T>) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); buffer.len()];
        host_memory::in_huge_pages(&mut data);
        self.launcher.download(buffer.memory(), 0, bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    fn read_at<T: Plain>(&self, buffer: &DeviceBuffer<T>, i: usize) -> Result<T> {
        let mut entry = [T::zeroed()];
        self.launcher.download(buffer.memory(), i * size_of::<T>(), bytemuck::cast_slice_mut(&mut entry))?;
        Ok(entry[0])
    }

    fn copy<T: Plain>(&self, from: &DeviceBuffer<T>, to: &mut DeviceBuffer<T>) -> Result<()> {
        self.launcher.copy(from.memory(), to.memory_mut())
    }

    unsafe fn run<K: ItemKernel>(&self, n: usize, kernel: K) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        if u32::try_from(n).is_err() {
            return Err(Error::TooLarge(format!("{n} items in one launch, and threads are numbered with 32 bits")));
        }
        // SAFETY: the caller keeps the kernel's contract; threads past n do nothing.
        unsafe { self.launcher.launch(Grid::new(n.div_ceil(BLOCK), BLOCK), &Items { n, kernel }) }
    }

    unsafe fn launch<K: Kernel>(&self, grid: Grid, kernel: K) -> Result<()> {
        if grid.blocks == 0 {
            return Ok(());
        }
        // SAFETY: the caller keeps the kernel's contract.
        unsafe { self.launcher.launch(grid, &kernel) }
    }

    fn factors(&self) -> Factors {
        self.launcher.factors()
    }

    fn lacks_factors(&self) -> Option<String> {
        self.launcher.lacks_factors()
    }

    fn factorise<F: Real>(&self, lower: &LowerTriangle<F>, smallest: f64) -> Result<Factorised<DeviceBuffer<F>>> {
        let LowerTriangle { row_start, columns, values } = lower;
        let (values, value_bytes) = (bytemuck::cast_slice(values), size_of::<F>());
        Ok(match self.launcher.factorise(LowerBytes { row_start, columns, values, value_bytes }, smallest)? {
            Factorised::Done(factor) => Factorised::Done(Box::new(FactorOfArrays(factor))),
            Factorised::NotPositive { row, pivot } => Factorised::NotPositive { row, pivot },
        })
    }

    fn finish(&self) -> Result<()> {
        self.launcher.finish()
    }

    fn record(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        self.launcher.record(work)
    }

    unsafe fn replay(&self, recording: &Box<dyn Recording>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { recording.replay() }
    }

    fn exclusive_sum(&self, counts: &DeviceBuffer<u32>) -> Result<DeviceBuffer<u64>> {
        sort::exclusive_sum(self, counts)
    }

    fn sort_order(&self, keys: &DeviceBuffer<u64>, bits: u32) -> Result<DeviceBuffer<u32>> {
        sort::sort_order(self, keys, bits)
    }

    fn scalars(&self) -> View<f64> {
        self.reducer.borrow().scalars.view()
    }

    fn read<const N: usize>(&self, scalars: [Scalar; N]) -> Result<[f64; N]> {
        let mut bank = [0.0; N_SCALARS];
        self.launcher.download(self.reducer.borrow().scalars.memory(), 0, bytemuck::cast_slice_mut(&mut bank))?;
        let values = scalars.map(|scalar| bank[scalar.0 as usize]);
        check_finite(&values)?;
        Ok(values)
    }

    fn dot<T: Real>(&self, x: &DeviceBuffer<T>, y: &DeviceBuffer<T>, out: Scalar) -> Result<()> {
        assert_eq!(x.len(), y.len(), "product of vectors of different lengths");
        let blocks = self.stride_grid(x.len());
        let kernel = Dot { n: x.len(), x: x.view(), y: y.view(), to: self.reduction(blocks, [out])? };
        // SAFETY: x and y live and have n entries; the reduction holds a partial sum per block.
        unsafe { self.launch_sum(blocks, &kernel) }
    }

    unsafe fn spmv<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &DeviceBuffer<V>,
        x: &DeviceBuffer<V::Arithmetic>,
        y: &mut DeviceBuffer<V::Arithmetic>,
    ) -> Result<()> {
        let Laid { layout: a, n_items, .. } = a;
        if n_items == 0 {
            return Ok(());
        }
        let kernel = Spmv { n_items, a, values: values.view(), x: x.view(), y: y.view_mut() };
        // SAFETY: the caller's promise; y is borrowed uniquely.
        unsafe { self.launcher.launch(Grid::new((n_items * F::LANES).div_ceil(BLOCK), BLOCK), &kernel) }
    }

    unsafe fn spmv_dot<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &DeviceBuffer<V>,
        x: &DeviceBuffer<V::Arithmetic>,
        y: &mut DeviceBuffer<V::Arithmetic>,
        out: Scalar,
    ) -> Result<()> {
        let blocks = a.n_items.div_ceil(BLOCK).max(1);
        let to = self.reduction(blocks, [out])?;
        if let Some(kernel) = a.layout.spmv_dot(a.n_items, values.view(), x.view(), y.view_mut(), to) {
            // SAFETY: as `spmv`, and the reduction holds a partial sum per block.
            return unsafe { self.launch_sum(blocks, &kernel) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.spmv(a, values, x, y) }?;
        self.dot(x, y, out)
    }

    unsafe fn spmv_step<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &DeviceBuffer<V>,
        step: Step<V::Arithmetic>,
        z: &DeviceBuffer<V::Arithmetic>,
        scratch: &mut DeviceBuffer<V::Arithmetic>,
    ) -> Result<()> {
        if let Some(kernel) = a.layout.spmv_step(a.n_items, values.view(), z.view(), step) {
            let grid = Grid::new(a.n_items.div_ceil(BLOCK), BLOCK);
            // SAFETY: the caller's promise.
            return if grid.blocks == 0 { Ok(()) } else { unsafe { self.launcher.launch(grid, &kernel) } };
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.spmv(a, values, z, scratch)?;
            self.run(z.len(), PolynomialStep { step, z: z.view(), product: scratch.view() })
        }
    }

    unsafe fn femses_gather<const N: usize, T: Real>(
        &self,
        elements: Elements<T>,
        u: &DeviceBuffer<T>,
        step: Step<T>,
        out: Scalar,
    ) -> Result<()> {
        let blocks = self.stride_grid(u.len());
        let to = self.reduction(blocks, [out])?;
        let kernel = FemsesGather::<N, T>::new(u.len(), elements, u.view(), step, to);
        // SAFETY: the caller's promise; the reduction holds a partial sum per block.
        unsafe { self.launch_sum(blocks, &kernel) }
    }

    unsafe fn cg_persistent<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &DeviceBuffer<V>,
        state: CgState<Self, V::Arithmetic>,
    ) -> Result<bool> {
        let (a, n_rows) = (a.layout, a.n_items);
        let CgState { inverse, u, r, z, p, history, steps, enough, rho } = state;
        let n = inverse.len();
        let Some(values) = V::numbers(values.view()) else { return Ok(false) };
        assert!([u, &*r, z, p].map(|v| v.len()) == [n; 4], "vectors of different lengths");
        assert!(HISTORY + RECORD * steps <= history.len(), "no room for the history of {steps} iterations");
        let v =
            CgVectors { inverse: inverse.view(), u: u.view_mut(), r: r.view_mut(), z: z.view_mut(), p: p.view_mut() };
        let mut reducer = self.reducer.borrow_mut();
        let mut run = CgRun {
            steps,
            enough,
            shared_bytes: 0,
            barrier: reducer.barrier.view_mut(),
            partials: reducer.partials.view_mut(),
            history: history.view_mut(),
            scalars: reducer.scalars.view_mut(),
            rho: rho.0,
        };
        let Some(kernel) = a.cg_persistent(n_rows, values, v, run) else { return Ok(false) };
        let n_slices = n_rows.div_ceil(SLICE).max(1);
        let resident = self.launcher.resident_grid(BLOCK, &kernel)?;
        let blocks = resident.blocks.min(n_slices);
        if blocks == 0 || n_slices.div_ceil(blocks) > max_slices(F::ROWS) {
            return Ok(false);
        }
        run.shared_bytes = resident.shared_bytes;
        self.fill(V::Arithmetic::ZERO, z)?;
        let Some(kernel) = a.cg_persistent(n_rows, values, v, run) else { return Ok(false) };
        // SAFETY: the caller's promise; all vectors have n entries and are borrowed uniquely where they are written.
        unsafe { self.launcher.launch_cooperative(Grid { blocks, ..resident }, &kernel) }
    }

    fn cg_residual<T: Real>(
        &self,
        alpha: Quotient,
        q: &DeviceBuffer<T>,
        inverse: &DeviceBuffer<f32>,
        z: &mut DeviceBuffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        assert!(q.len() == z.len() && inverse.len() == z.len(), "vectors of different lengths");
        let blocks = self.stride_grid(z.len());
        let kernel = CgResidual {
            n: z.len(),
            alpha: self.ratio(alpha),
            q: q.view(),
            inverse: inverse.view(),
            z: z.view_mut(),
            to: self.reduction(blocks, out)?,
        };
        // SAFETY: all live and have n entries; z is borrowed uniquely; a partial sum per block.
        unsafe { self.launch_sum(blocks, &kernel) }
    }

    fn cg_residual_norm<T: Real>(
        &self,
        alpha: Quotient,
        q: &DeviceBuffer<T>,
        r: &mut DeviceBuffer<T>,
        out: Scalar,
    ) -> Result<()> {
        assert_eq!(q.len(), r.len(), "vectors of different lengths");
        let (n, blocks) = (r.len(), self.stride_grid(r.len()));
        let (alpha, to) = (self.ratio(alpha), self.reduction(blocks, [out])?);
        // SAFETY: both live and have n entries; r is borrowed uniquely; a partial sum per block.
        unsafe { self.launch_sum(blocks, &CgResidualNorm { n, alpha, q: q.view(), r: r.view_mut(), to }) }
    }

    fn cg_residual_blocks<T: Real>(
        &self,
        alpha: Quotient,
        q: &DeviceBuffer<T>,
        blocks: &Blocks<DeviceBuffer<T>>,
        r: &mut DeviceBuffer<T>,
        z: &mut DeviceBuffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        let Blocks { size, n_rows, ref values } = *blocks;
        assert!([q.len(), r.len(), z.len()] == [size * n_rows; 3], "vectors of different lengths");
        let grid = self.stride_grid(n_rows);
        let (alpha, to) = (self.ratio(alpha), self.reduction(grid, out)?);
        let (q, blocks, r, z) = (q.view(), values.view(), r.view_mut(), z.view_mut());
        // SAFETY: all live and have the rows of the blocks; r and z are borrowed uniquely; a partial sum per block.
        unsafe {
            match size {
                1 => self.launch_sum(grid, &CgResidualBlocks::<T, 1> { n_rows, alpha, q, blocks, r, z, to }),
                2 => self.launch_sum(grid, &CgResidualBlocks::<T, 2> { n_rows, alpha, q, blocks, r, z, to }),
                _ => self.launch_sum(grid, &CgResidualBlocks::<T, 3> { n_rows, alpha, q, blocks, r, z, to }),
            }
        }
    }
}
