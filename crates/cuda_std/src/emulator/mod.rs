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

/// An emulated device: how launches run on it.
#[derive(Clone, Copy, Debug)]
pub struct Emulator {
    /// The order of the threads of a block.
    pub lane_order: Order,
    /// The order of the blocks of a grid. On several host threads it holds only roughly.
    pub block_order: Order,
    /// Whether shared memory starts as 0xFF bytes or as zeros.
    pub poison: bool,
    /// The most host threads to use; one makes every launch deterministic, atomics included.
    pub max_threads: usize,
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new(Order::Forward)
    }
}

impl Emulator {
    /// Lanes and blocks in an order, shared memory poisoned, on as many host threads as rayon has.
    pub const fn new(order: Order) -> Self {
        Self { lane_order: order, block_order: order, poison: true, max_threads: usize::MAX }
    }
}
