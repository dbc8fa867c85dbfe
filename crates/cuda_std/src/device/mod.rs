//! The API over PTX: special registers and fences here, loads, atomics, warp operations and shared memory beside it.
//!
//! Barriers, shuffles and votes go through LLVM's intrinsics, which are marked convergent, so that no pass moves or
//! duplicates them across branches; inline assembly carries no such mark.

mod atomic;
mod load;
mod math;
mod shared;
mod warp;

use core::arch::asm;
use core::arch::nvptx;

pub use atomic::{
    accumulate_f32, accumulate_f64, accumulate_shared_f32, accumulate_shared_f64, accumulate_shared_u32,
    accumulate_u32, add_f32, add_f64, add_u32, max_u32, min_u32,
};
pub use load::{
    get_8, get_16, get_32, get_64, load_8, load_16, load_32, load_64, put_8, put_16, put_32, put_64, stream_8,
    stream_16, stream_32, stream_64,
};
pub use math::{ceil_f32, ceil_f64, floor_f32, floor_f64, fma_f32, fma_f64, sqrt_f32, sqrt_f64};
pub use shared::{dynamic_shared, static_shared};
pub use warp::{active_mask, lane_id, shuffle, sync_warp, vote_all, vote_any, vote_ballot};

macro_rules! indices {
    ($($name:ident: $x:ident $y:ident $z:ident;)*) => {$(
        #[inline(always)]
        pub fn $name() -> [u32; 3] {
            // SAFETY: reading a special register has no precondition.
            unsafe { [nvptx::$x() as u32, nvptx::$y() as u32, nvptx::$z() as u32] }
        }
    )*};
}

indices! {
    thread_idx: _thread_idx_x _thread_idx_y _thread_idx_z;
    block_idx: _block_idx_x _block_idx_y _block_idx_z;
    block_dim: _block_dim_x _block_dim_y _block_dim_z;
    grid_dim: _grid_dim_x _grid_dim_y _grid_dim_z;
}

#[inline(always)]
pub fn sync_threads() {
    // SAFETY: that the whole block arrives is the caller's promise, as in CUDA C.
    unsafe { nvptx::_syncthreads() }
}

/// The grid's barrier: one thread of each block adds to a counter and waits for its topmost bit to turn. The first
/// block adds what the others lack to half the range, so that the bit turns when all have arrived, and the counter need
/// not be reset.
///
/// # Safety
/// `p` points to a word in global memory that nothing else touches; all threads of a grid that runs at once call it.
#[inline(always)]
pub unsafe fn sync_grid(p: *mut u32) {
    const TURN: u32 = 1 << 31;
    sync_threads();
    if thread_idx() == [0; 3] {
        let blocks = grid_dim().iter().product::<u32>();
        let step = if block_idx() == [0; 3] { TURN - (blocks - 1) } else { 1 };
        // SAFETY: the caller's promise about p. The barriers of the block pass on what release and acquire order.
        unsafe {
            let before: u32;
            asm!("atom.add.release.gpu.global.u32 {r}, [{p}], {v};", r = out(reg32) before, p = in(reg64) p,
                v = in(reg32) step, options(nostack, preserves_flags));
            loop {
                let now: u32;
                asm!("ld.acquire.gpu.global.u32 {r}, [{p}];", r = out(reg32) now, p = in(reg64) p,
                    options(nostack, preserves_flags));
                if (now ^ before) & TURN != 0 {
                    break;
                }
            }
        }
    }
    sync_threads();
}

macro_rules! fences {
    ($($name:ident $text:literal)*) => {$(
        #[inline(always)]
        pub fn $name() {
            // SAFETY: a fence has no precondition.
            unsafe { asm!($text, options(nostack, preserves_flags)) }
        }
    )*};
}

fences! {
    block_fence "membar.cta;"
    device_fence "membar.gl;"
    system_fence "membar.sys;"
}
