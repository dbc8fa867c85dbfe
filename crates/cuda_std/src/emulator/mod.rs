//! The SIMT emulator: runs a grid of kernel threads on the CPU, exactly as launched, and checks what a GPU does not.
//!
//! Each CUDA thread runs on a stackful coroutine that is switched at barriers and warp operations; blocks are spread
//! over rayon's threads. A thread that never waits costs no switch, so a kernel of independent threads runs at tens of
//! nanoseconds per thread.
//!
//! Reported as an [`EmulatorError`], with the kernel, block, thread and source line: panics, among them every index out
//! of a view's bounds; barriers that not all live threads of a block, or all blocks of a grid, reach; warp operations
//! whose mask names lanes that returned; threads that wait for ever. Shared memory starts as 0xFF bytes in every block,
//! so that a value read before it is written shows as NaN. Results that depend on the order of lanes or blocks show by
//! running in several [`Order`]s.
//!
//! Blocks run to their end one after the other on each host thread. Those of a cooperative launch, which may wait for
//! one another at the grid's barrier, take turns on one host thread, from barrier to barrier.

mod block;
mod carrier;
mod dim;
mod error;
mod host;
mod order;
mod panics;
mod run;
mod shared;
mod sync;
pub(crate) mod target;
mod warp;
mod worker;

pub use dim::Dim3;
pub use error::{EmulatorError, Fault, Place};
pub use order::Order;

use crate::launch::Kernel;

/// An emulated device: how launches run on it.
#[derive(Clone, Copy, Debug)]
pub struct Emulator {
    lane_order: Order,
    block_order: Order,
    poison: bool,
    max_threads: usize,
    stack_bytes: usize,
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Emulator {
    /// Lanes and blocks in order, shared memory poisoned, on as many host threads as rayon has.
    pub const fn new() -> Self {
        Self {
            lane_order: Order::Forward,
            block_order: Order::Forward,
            poison: true,
            max_threads: usize::MAX,
            stack_bytes: 256 << 10,
        }
    }

    /// The order of the threads of a block.
    pub const fn lane_order(self, lane_order: Order) -> Self {
        Self { lane_order, ..self }
    }

    /// The order of the blocks of a grid. On several host threads it holds only roughly.
    pub const fn block_order(self, block_order: Order) -> Self {
        Self { block_order, ..self }
    }

    /// One order for both lanes and blocks.
    pub const fn order(self, order: Order) -> Self {
        self.lane_order(order).block_order(order)
    }

    /// Whether shared memory starts as 0xFF bytes (the default) or as zeros.
    pub const fn poison(self, poison: bool) -> Self {
        Self { poison, ..self }
    }

    /// The most host threads to use; one makes every launch deterministic, atomics included.
    pub const fn max_threads(self, max_threads: usize) -> Self {
        Self { max_threads, ..self }
    }

    /// The stack of an emulated thread in bytes, 256 KiB by default. Only pages that are touched take memory.
    pub const fn stack_bytes(self, stack_bytes: usize) -> Self {
        Self { stack_bytes, ..self }
    }

    /// Runs a kernel over `grid` blocks of `block` threads with `dynamic_shared_bytes` of shared memory each, and
    /// waits.
    ///
    /// After an error the memory that the kernel writes holds whatever was written until then.
    ///
    /// # Errors
    /// The first fault found, as listed in the [module's description](self); or a launch no device would take: no
    /// threads, more than 1024 per block, more than 227 KiB of dynamic shared memory.
    ///
    /// # Safety
    /// The views and pointers among the kernel's parameters are live and meet the kernel's own conditions.
    pub unsafe fn launch(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: usize,
        kernel: &dyn Kernel,
    ) -> Result<(), EmulatorError> {
        run::launch(self, grid.into(), block.into(), dynamic_shared_bytes, kernel)
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
        dynamic_shared_bytes: usize,
        kernel: &dyn Kernel,
    ) -> Result<(), EmulatorError> {
        run::launch_together(self, grid.into(), block.into(), dynamic_shared_bytes, kernel)
    }
}
