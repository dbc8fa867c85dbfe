//! Where a thread stands in its block and grid, the block's barrier, and memory fences.
//!
//! On the host these functions belong to the thread that the emulator is running; called from anywhere else they panic.

pub use crate::target::{block_fence, device_fence, sync_threads, system_fence};
use crate::{ViewMut, target};

macro_rules! index_functions {
    ($($name:ident $axis:literal $what:literal: $source:ident;)*) => {$(
        #[doc = $what]
        #[inline(always)]
        #[track_caller]
        pub fn $name() -> u32 {
            target::$source()[$axis]
        }
    )*};
}

index_functions! {
    thread_idx_x 0 "Index of the thread in its block along x.": thread_idx;
    thread_idx_y 1 "Index of the thread in its block along y.": thread_idx;
    thread_idx_z 2 "Index of the thread in its block along z.": thread_idx;
    block_idx_x 0 "Index of the block in its grid along x.": block_idx;
    block_idx_y 1 "Index of the block in its grid along y.": block_idx;
    block_idx_z 2 "Index of the block in its grid along z.": block_idx;
    block_dim_x 0 "Threads of a block along x.": block_dim;
    block_dim_y 1 "Threads of a block along y.": block_dim;
    block_dim_z 2 "Threads of a block along z.": block_dim;
    grid_dim_x 0 "Blocks of the grid along x.": grid_dim;
    grid_dim_y 1 "Blocks of the grid along y.": grid_dim;
    grid_dim_z 2 "Blocks of the grid along z.": grid_dim;
}

/// Index of the thread in a one-dimensional grid of one-dimensional blocks.
#[inline(always)]
#[track_caller]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// Index of the thread in its block, x fastest: the order in which threads are grouped into warps.
#[inline(always)]
#[track_caller]
pub fn index_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// True on the first thread of the grid.
#[inline(always)]
#[track_caller]
pub fn first() -> bool {
    let zero = [0; 3];
    target::block_idx() == zero && target::thread_idx() == zero
}

/// Lanes of a warp: 32 on every device so far.
#[inline(always)]
pub const fn warp_size() -> u32 {
    32
}

/// Waits until every thread of the grid is here; writes before it are seen by the whole grid after, but by plain loads
/// alone ([`ViewMut::at`]): those through the read-only cache may be stale.
///
/// `barrier` is one word, 0 before the first launch that uses it and left as the next one needs it. The emulator needs
/// none, and reports blocks that do not arrive.
///
/// # Safety
/// All threads of the grid reach the call, in a cooperative launch: on a device the others wait for ever.
#[inline(always)]
#[track_caller]
pub unsafe fn sync_grid(barrier: ViewMut<u32>) {
    // SAFETY: the caller's promise.
    unsafe { target::sync_grid(barrier.element(0)) }
}
