//! A launch: checked, then its blocks handed out to workers.

use super::Emulator;
use super::block::{Launch, MAX_THREADS};
use super::dim::Dim3;
use super::error::{EmulatorError, Fault};
use super::order::Permutation;
use super::panics;
use super::target;
use super::worker::{Worker, max_workers, run_together, with_worker, with_workers};
use crate::launch::Kernel;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most dynamic shared memory of a block on current devices (sm_90: 227 KiB).
const MAX_DYNAMIC: usize = 227 << 10;

/// Below this many threads of work, another host thread costs more than it saves.
const THREADS_PER_WORKER: u64 = 4096;

/// A launch in progress.
struct Run<'a> {
    launch: Launch<'a>,
    order: Permutation,
    n_blocks: u64,
    chunk: u64,
    next: AtomicU64,
    stop: AtomicBool,
    error: Mutex<Option<(u64, EmulatorError)>>,
    dynamic_bytes: usize,
    poison: bool,
}

impl Emulator {
    /// Runs a kernel over `grid` blocks of `block` threads with `dynamic_bytes` of shared memory each, and waits.
    ///
    /// After an error the memory that the kernel writes holds whatever was written until then.
    ///
    /// # Errors
    /// The first fault found, as listed in the [module's description](super); or a launch no device would take: no
    /// threads, more than 1024 per block, more than 227 KiB of dynamic shared memory.
    ///
    /// # Safety
    /// The views and pointers among the kernel's parameters are live and meet the kernel's own conditions.
    pub unsafe fn launch(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        dynamic_bytes: usize,
        kernel: &dyn Kernel,
    ) -> Result<(), EmulatorError> {
        let (grid, block) = (grid.into(), block.into());
        check(kernel, grid, block, dynamic_bytes)?;
        let (n_blocks, n_threads) = (grid.count(), block.count());
        let threads = rayon::current_num_threads().min(self.max_threads).min(max_workers(n_threads as usize));
        let workers = (threads as u64).min(n_blocks).min(n_blocks * n_threads / THREADS_PER_WORKER).max(1);
        let run = Run {
            launch: self.begin(grid, block, kernel, false),
            order: self.block_order.permutation(n_blocks),
            n_blocks,
            chunk: (n_blocks / (workers * 64)).max(1),
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            error: Mutex::new(None),
            dynamic_bytes,
            poison: self.poison,
        };
        let work = || with_worker(|worker| run.work(worker));
        if workers == 1 {
            work();
        } else {
            rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
        }
        let error = run.error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        error.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// As [`Emulator::launch`], with all blocks at the same time: they may wait for one another
    /// ([`sync_grid`](crate::thread::sync_grid)).
    ///
    /// # Errors
    /// As for [`Emulator::launch`]; or more than 16384 threads in all.
    ///
    /// # Safety
    /// As for [`Emulator::launch`].
    pub unsafe fn launch_cooperative(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        dynamic_bytes: usize,
        kernel: &dyn Kernel,
    ) -> Result<(), EmulatorError> {
        let (grid, block) = (grid.into(), block.into());
        check(kernel, grid, block, dynamic_bytes)?;
        let (n_blocks, n_threads) = (grid.count(), block.count());
        if n_blocks > max_workers(n_threads as usize) as u64 {
            let reason = format!("{n_blocks} blocks of {n_threads} threads cannot run at the same time here");
            return Err(refused(kernel, reason));
        }
        let launch = self.begin(grid, block, kernel, true);
        let order = self.block_order.permutation(n_blocks);
        let indices: Vec<[u32; 3]> = (0..n_blocks).map(|position| grid.point(order.at(position))).collect();
        with_workers(indices.len(), |workers| {
            workers.iter().for_each(|worker| worker.begin_launch(dynamic_bytes, self.poison));
            run_together(workers, &launch, &indices)
        })
    }

    /// A launch in the emulator's order of lanes.
    fn begin<'a>(&self, grid: Dim3, block: Dim3, kernel: &'a dyn Kernel, together: bool) -> Launch<'a> {
        panics::install_hook(target::is_running);
        let n_threads = block.count();
        let points = (0..n_threads).map(|k| block.point(k)).collect();
        let lanes = self.lane_order.list(n_threads as u32);
        Launch { kernel, grid, block, points, lanes, together }
    }
}

impl Run<'_> {
    /// Takes blocks until none is left or one has failed.
    fn work(&self, worker: &mut Worker) {
        worker.begin_launch(self.dynamic_bytes, self.poison);
        loop {
            let first = self.next.fetch_add(self.chunk, Ordering::Relaxed);
            if first >= self.n_blocks {
                return;
            }
            for position in first..(first + self.chunk).min(self.n_blocks) {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let index = self.launch.grid.point(self.order.at(position));
                if let Err(error) = worker.run_block(&self.launch, index) {
                    self.fail(position, error);
                }
            }
        }
    }

    /// Keeps the error of the block that comes first in the order of blocks.
    fn fail(&self, position: u64, error: EmulatorError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if first.as_ref().is_none_or(|(other, _)| position < *other) {
            *first = Some((position, error));
        }
    }
}

fn check(kernel: &dyn Kernel, grid: Dim3, block: Dim3, dynamic_bytes: usize) -> Result<(), EmulatorError> {
    let reason = if target::is_running() {
        "a kernel cannot launch another".to_owned()
    } else if grid.count() == 0 || block.count() == 0 {
        format!("a grid of {:?} blocks of {:?} threads is empty", grid.array(), block.array())
    } else if block.count() > MAX_THREADS as u64 || block.z > 64 {
        format!("a block of {:?} threads is too large: at most 1024, and 64 along z", block.array())
    } else if grid.x > i32::MAX as u32 || grid.y > 65535 || grid.z > 65535 {
        format!("a grid of {:?} blocks is too large: at most [2147483647, 65535, 65535]", grid.array())
    } else if dynamic_bytes > MAX_DYNAMIC {
        format!("{dynamic_bytes} bytes of dynamic shared memory are too many: at most {MAX_DYNAMIC}")
    } else {
        return Ok(());
    };
    Err(refused(kernel, reason))
}

/// The error of a launch that no device would take.
fn refused(kernel: &dyn Kernel, reason: String) -> EmulatorError {
    let fault = Fault::Launch(reason);
    EmulatorError { kernel: kernel.name(), block: [0; 3], thread: [0; 3], place: None, fault }
}
