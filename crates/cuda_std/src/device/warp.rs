//! Warp operations, by LLVM's convergent intrinsics.

use crate::warp::Shuffle;

mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
        pub safe fn lane_id() -> u32;
        #[link_name = "llvm.nvvm.activemask"]
        pub safe fn active_mask() -> u32;
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub fn sync_warp(mask: u32);
        #[link_name = "llvm.nvvm.vote.all.sync"]
        pub fn vote_all(mask: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.vote.any.sync"]
        pub fn vote_any(mask: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub fn vote_ballot(mask: u32, predicate: bool) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
        pub fn shuffle_xor(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
        pub fn shuffle_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
        pub fn shuffle_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub fn shuffle_idx(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    }
}

#[inline(always)]
pub fn lane_id() -> u32 {
    llvm::lane_id()
}

#[inline(always)]
pub fn active_mask() -> u32 {
    llvm::active_mask()
}

/// # Safety
/// Every lane of `mask` executes this call.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { llvm::sync_warp(mask) }
}

macro_rules! votes {
    ($($name:ident $result:ty;)*) => {$(
        /// # Safety
        /// Every lane of `mask` executes this call.
        #[inline(always)]
        pub unsafe fn $name(mask: u32, predicate: bool) -> $result {
            // SAFETY: the caller's promise.
            unsafe { llvm::$name(mask, predicate) }
        }
    )*};
}

votes! {
    vote_all bool;
    vote_any bool;
    vote_ballot u32;
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
                Shuffle::Xor => llvm::shuffle_xor(mask, value, delta, clamp),
                Shuffle::Down => llvm::shuffle_down(mask, value, delta, clamp),
                Shuffle::Up => llvm::shuffle_up(mask, value, delta, clamp),
                Shuffle::Idx => llvm::shuffle_idx(mask, value, delta, clamp),
            }
        }
    };
    let low = word(bits as u32) as u64;
    let high = if wide { word((bits >> 32) as u32) as u64 } else { 0 };
    (high << 32 | low, kind.source(lane_id(), delta, width).1)
}
