//! Memory and launches of one device: the processor, an NVIDIA GPU, or the emulated one. What an algorithm is made of
//! is in other rooms: here are arrays, kernels and waits.

pub mod bandwidth;
mod buffer;
pub mod gpu;
pub mod host_memory;
mod name;
pub mod widest;

pub use buffer::{Buffer, Plain};
pub use gpu::{Emulated, Launcher, Link, Piece, Recording};
pub use name::{DeviceName, factors};

use crate::parallel;
use crate::result::{Error, Result};
use cuda_std::prelude::{ItemKernel, Items, Kernel};
use gpu::{DeviceMemory, LowerBytes, sort};
use kernels_rs::real::Real;
use kernels_rs::reduce::BLOCK;
use rayon::prelude::*;
use std::ops::AddAssign;

/// Items a task of the CPU takes at least.
const MIN_ITEMS: usize = 512;

/// The threads of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks of threads.
    pub blocks: usize,
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of dynamic shared memory of a block, up to [`MOST_SHARED`].
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
/// Bytes that it can have where a launch asks the device for it.
pub const MOST_SHARED: usize = 99 << 10;

/// Entries of a part of a copy on the CPU.
const CHUNK: usize = 8192;

/// Refuses what a device has no room for beside what is there, before it is tried: a host would try. `purpose` says
/// what it is for, and what does without.
pub fn check_memory(device: &Device, needed: u64, purpose: &str) -> Result<()> {
    match device.free_memory() {
        Some(available) if needed > available => {
            let device = device.name() + purpose;
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

/// A sparse factor of a matrix on a device, by [`Device::factorise`].
pub trait SparseFactor {
    /// `x = A^-1 r`, of the precision of the factor; waits.
    fn solve(&self, r: &DeviceMemory, x: &mut DeviceMemory) -> Result<()>;
    /// Entries of the factor.
    fn nonzeros(&self) -> u64;
}

/// What came of [`Device::factorise`].
pub enum Factorised {
    /// The factor.
    Done(Box<dyn SparseFactor>),
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

/// A device. Calls may return before their work is done; [`Device::download`] and [`Device::finish`] wait.
pub enum Device {
    /// The processor: the threads of the current rayon pool.
    Cpu,
    /// A GPU, or the emulated one.
    Gpu(Box<dyn Launcher>),
}

impl Device {
    /// Whether its memory is the host's and the host's own routines do its work.
    pub fn on_host(&self) -> bool {
        matches!(self, Device::Cpu)
    }

    /// What people call this device.
    pub fn name(&self) -> String {
        match self {
            Device::Cpu => {
                let n = rayon::current_num_threads();
                format!("cpu ({n} thread{})", if n == 1 { "" } else { "s" })
            }
            Device::Gpu(launcher) => launcher.name(),
        }
    }

    /// Bytes of memory that can be had; `None` where there is no saying.
    pub fn free_memory(&self) -> Option<u64> {
        match self {
            Device::Cpu => host_memory::available(),
            Device::Gpu(launcher) => launcher.free_memory(),
        }
    }

    /// Copies an array to the device.
    pub fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<T>> {
        match self {
            Device::Cpu => Ok(Buffer::Host(data.to_vec())),
            Device::Gpu(launcher) => launcher.upload(bytemuck::cast_slice(data)).map(Buffer::on_gpu),
        }
    }

    /// As [`Device::upload`], of an array that is needed no longer.
    pub fn upload_vec<T: Plain>(&self, data: Vec<T>) -> Result<Buffer<T>> {
        match self {
            Device::Cpu => Ok(Buffer::Host(data)),
            Device::Gpu(_) => self.upload(&data),
        }
    }

    /// An array of zeros.
    pub fn zeros<T: Plain>(&self, n: usize) -> Result<Buffer<T>> {
        match self {
            Device::Cpu => Ok(Buffer::Host(vec![T::zeroed(); n])),
            Device::Gpu(launcher) => launcher.zeros(n * size_of::<T>()).map(Buffer::on_gpu),
        }
    }

    /// Copies an array back; waits.
    pub fn download<T: Plain>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        if let Buffer::Host(data) = buffer {
            return Ok(data.clone());
        }
        let mut data = vec![T::zeroed(); buffer.len()];
        self.download_into(buffer, &mut data)?;
        Ok(data)
    }

    /// As [`Device::download`], into an array of the same length.
    pub fn download_into<T: Plain>(&self, buffer: &Buffer<T>, data: &mut [T]) -> Result<()> {
        match self {
            Device::Cpu => {
                data.copy_from_slice(buffer.host());
                Ok(())
            }
            Device::Gpu(launcher) => launcher.download(buffer.memory(), 0, bytemuck::cast_slice_mut(data)),
        }
    }

    /// As [`Device::download`], of an array that is needed no longer.
    pub fn take<T: Plain>(&self, buffer: Buffer<T>) -> Result<Vec<T>> {
        match buffer {
            Buffer::Host(data) => Ok(data),
            buffer => self.download(&buffer),
        }
    }

    /// Copies entry `i` of an array back; waits.
    pub fn read_at<T: Plain>(&self, buffer: &Buffer<T>, i: usize) -> Result<T> {
        match self {
            Device::Cpu => Ok(buffer.host()[i]),
            Device::Gpu(launcher) => {
                let mut entry = [T::zeroed()];
                launcher.download(buffer.memory(), i * size_of::<T>(), bytemuck::cast_slice_mut(&mut entry))?;
                Ok(entry[0])
            }
        }
    }

    /// `to = from`, of the same length.
    pub fn copy<T: Plain>(&self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<()> {
        assert_eq!(from.len(), to.len(), "copy between arrays of different lengths");
        match self {
            Device::Cpu => {
                let chunks = to.host_mut().chunks_mut(CHUNK).zip(from.host().chunks(CHUNK));
                parallel::map(chunks, &|(to, from)| to.copy_from_slice(from));
                Ok(())
            }
            Device::Gpu(launcher) => launcher.copy(from.memory(), to.memory_mut()),
        }
    }

    /// Runs a kernel over items `0..n`.
    ///
    /// # Safety
    /// The kernel's own contract: its views live, have the shapes it documents, and do not overlap.
    pub unsafe fn run<K: ItemKernel>(&self, n: usize, kernel: K) -> Result<()> {
        match self {
            Device::Cpu => {
                parallel::for_ranges(n, MIN_ITEMS, &|items| {
                    // SAFETY: the caller keeps the kernel's contract; items write to different places by the same
                    // contract.
                    unsafe { kernel.on_cpu(items) };
                });
                Ok(())
            }
            Device::Gpu(_) if u32::try_from(n).is_err() => {
                Err(Error::TooLarge(format!("{n} items in one launch, and threads are numbered with 32 bits")))
            }
            // SAFETY: the caller keeps the kernel's contract; threads past n do nothing.
            Device::Gpu(_) => unsafe { self.launch(Grid::new(n.div_ceil(BLOCK), BLOCK), Items { n, kernel }) },
        }
    }

    /// Starts a kernel whose threads work together, on a one-dimensional grid with dynamic shared memory; an error on
    /// the CPU, whose items are not threads.
    ///
    /// # Safety
    /// The kernel's own contract.
    pub unsafe fn launch<K: Kernel>(&self, grid: Grid, kernel: K) -> Result<()> {
        match self {
            Device::Cpu => {
                Err(Error::Device(format!("kernel `{}` needs warps: run it on a GPU or the emulator", kernel.name())))
            }
            Device::Gpu(_) if grid.blocks == 0 => Ok(()),
            // SAFETY: the caller keeps the kernel's contract.
            Device::Gpu(launcher) => unsafe { launcher.launch(grid, &kernel) },
        }
    }

    /// Waits until everything asked for is done.
    pub fn finish(&self) -> Result<()> {
        match self {
            Device::Cpu => Ok(()),
            Device::Gpu(launcher) => launcher.finish(),
        }
    }

    /// Notes what `work` asks of the device instead of doing it, to be done by [`Recording::replay`] as often as one
    /// likes; `None` where that is no faster than asking again. `work` has been done once before, and neither makes nor
    /// reads arrays.
    pub fn record(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        match self {
            Device::Cpu => Ok(None),
            Device::Gpu(launcher) => launcher.record(work),
        }
    }

    /// What tells this device from all others, if it can be linked with others; empty if not.
    pub fn identity(&self) -> String {
        match self {
            Device::Cpu => String::new(),
            Device::Gpu(launcher) => launcher.identity().unwrap_or_default(),
        }
    }

    /// The name of a new link between devices, which all of them are told; empty if there is none.
    pub fn new_link(&self) -> Vec<u8> {
        match self {
            Device::Cpu => Vec::new(),
            Device::Gpu(launcher) => launcher.new_link().unwrap_or_default(),
        }
    }

    /// Links this device with others by the name of the link, as number `rank` of `size`; all of them do so at once.
    ///
    /// # Errors
    ///
    /// [`Error::Device`]
    pub fn link(&self, name: &[u8], [rank, size]: [usize; 2]) -> Result<Box<dyn Link>> {
        match self {
            Device::Cpu => Err(Error::Device("CPUs have no link".into())),
            Device::Gpu(launcher) => launcher.link(name, rank, size),
        }
    }

    /// What it factorises with; to ask may load a library.
    pub fn factors(&self) -> Factors {
        match self {
            Device::Cpu if cfg!(feature = "direct") => Factors::Sparse,
            Device::Cpu => Factors::None,
            Device::Gpu(launcher) => launcher.factors(),
        }
    }

    /// Why it has no sparse factors of its own, if it has none.
    pub fn lacks_factors(&self) -> Option<String> {
        match self {
            Device::Cpu => Some(format!("{} has no library of them", self.name())),
            Device::Gpu(launcher) => launcher.lacks_factors(),
        }
    }

    /// Factorises a symmetric positive definite matrix with a diagonal of 1 by the device's own library; pivots below
    /// `smallest` are none. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], before the factor is computed where that can be told; where it cannot, the library may
    /// leave the device unusable. [`Error::Device`] where there is no such library.
    pub fn factorise<F: Real>(&self, lower: &LowerTriangle<F>, smallest: f64) -> Result<Factorised> {
        let Device::Gpu(launcher) = self else {
            return Err(Error::Device(self.lacks_factors().unwrap_or_default()));
        };
        let LowerTriangle { row_start, columns, values } = lower;
        let (values, value_bytes) = (bytemuck::cast_slice(values), size_of::<F>());
        launcher.factorise(LowerBytes { row_start, columns, values, value_bytes }, smallest)
    }

    /// Sums of all counts before each, `[n + 1]`: the last entry is the total.
    pub fn exclusive_sum(&self, counts: &Buffer<u32>) -> Result<Buffer<u64>> {
        match self {
            Device::Cpu => Ok(Buffer::Host(running_sums(counts.host().iter().copied().map(u64::from)))),
            Device::Gpu(_) => sort::exclusive_sum(self, counts),
        }
    }

    /// The order in which keys ascend, `order[new] = old`; equal keys keep theirs. Keys are below `2^bits`.
    pub fn sort_order(&self, keys: &Buffer<u64>, bits: u32) -> Result<Buffer<u32>> {
        debug_assert!(bits <= u64::BITS, "keys have 64 bits");
        match self {
            Device::Cpu => {
                let mut order: Vec<u32> = (0..keys.len() as u32).collect();
                let keys = keys.host();
                order.par_sort_by_key(|i| keys[*i as usize]);
                Ok(Buffer::Host(order))
            }
            Device::Gpu(_) => sort::sort_order(self, keys, bits),
        }
    }
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
