//! Where a thread stands in its block and grid, the block's barrier, and memory fences.
//!
//! On the host these functions belong to the thread that the emulator is running; called from anywhere else
//! they panic.

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

/// Waits until every thread of the block that has not returned is here; writes before it are seen by the block after.
///
/// All of those threads must reach the same call. The emulator reports those that do not.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    target::sync_threads();
}

/// Passes numbers from each block of the grid to all, and waits until every block is here: writes before it are seen by the
/// whole grid after, but by plain loads alone ([`ViewMut::at`]): those through the read-only cache may be stale.
///
/// Thread 0 of each block gives the block's numbers; thread t of every block receives those of block t, and zeros if there
/// is none. The grid is of no more blocks than a block has threads.
///
/// A number travels as two words, half of it in each beside the call's number, so that it has come as soon as it is
/// seen: one way through memory, where a counter, and the numbers after it, would take three.
///
/// `mail [2 M][n_blocks]` serves again after a call with other mail: by then everybody has read it. `call` is
/// another number whenever the same mail serves, and not 0 if the mail was all 0 at first.
///
/// # Safety
/// All threads of a one-dimensional grid reach the call, in a cooperative launch: on a device the others wait for ever. The
/// emulator reports it.
#[inline(always)]
#[track_caller]
pub unsafe fn exchange<const M: usize>(mine: [f64; M], mail: ViewMut<u64>, call: u32) -> [f64; M] {
    const HIGH: u64 = !0 << 32;
    let (thread, n_blocks) = (thread_idx_x() as usize, grid_dim_x() as usize);
    target::sync_threads();
    if thread == 0 {
        target::grid_fence();
        for m in 0..M {
            let (bits, place) = (mine[m].to_bits(), 2 * m * n_blocks + block_idx_x() as usize);
            // SAFETY: the caller's promise about the mail.
            unsafe {
                target::post(mail.element(place), bits & HIGH | u64::from(call));
                target::post(mail.element(place + n_blocks), bits << 32 | u64::from(call));
            }
        }
    }
    target::meet();
    let mut numbers = [0.0; M];
    if thread < n_blocks {
        for m in 0..M {
            let place = 2 * m * n_blocks + thread;
            // SAFETY: as above.
            let (high, low) = unsafe { target::receive(mail.element(place), mail.element(place + n_blocks), call) };
            numbers[m] = f64::from_bits(high & HIGH | low >> 32);
        }
        target::grid_fence();
    }
    target::sync_threads();
    numbers
}

/// Orders this thread's writes before the fence ahead of those after it, as seen by the threads of its block.
#[inline(always)]
pub fn block_fence() {
    target::block_fence();
}

/// Orders this thread's writes before the fence ahead of those after it, as seen by the whole device.
#[inline(always)]
pub fn device_fence() {
    target::device_fence();
}

/// Orders this thread's writes before the fence ahead of those after it, as seen by all devices and the host.
#[inline(always)]
pub fn system_fence() {
    target::system_fence();
}
