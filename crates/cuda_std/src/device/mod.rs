//! The API over PTX: special registers, barriers, shuffles and fences here, loads, atomics and shared memory beside it.

mod atomic;
mod float;
mod llvm;
mod load;
mod shared;

use crate::shuffle::Shuffle;
use core::arch::{asm, nvptx};

pub use atomic::*;
pub use float::*;
pub use llvm::*;
pub use shared::*;

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

/// Shuffles one 32-bit word, or the two halves of a 64-bit one, and says whether the source lane was in range.
///
/// # Safety
/// Every lane of `mask` executes this call with the same `kind` and `width`; `width` is a power of two up to 32.
#[inline(always)]
pub unsafe fn shuffle(kind: Shuffle, mask: u32, bits: u64, wide: bool, delta: u32, width: u32) -> (u64, bool) {
    let clamp = (32 - width) << 8 | if matches!(kind, Shuffle::Up) { 0 } else { 31 };
    let word = |value: u32| {
        // SAFETY: the caller's promise.
        unsafe {
            match kind {
                Shuffle::Xor => shuffle_xor(mask, value, delta, clamp),
                Shuffle::Down => shuffle_down(mask, value, delta, clamp),
                Shuffle::Up => shuffle_up(mask, value, delta, clamp),
                Shuffle::Idx => shuffle_idx(mask, value, delta, clamp),
            }
        }
    };
    let low = word(bits as u32) as u64;
    let high = if wide { word((bits >> 32) as u32) as u64 } else { 0 };
    (high << 32 | low, kind.source(lane_id(), delta, width).1)
}
