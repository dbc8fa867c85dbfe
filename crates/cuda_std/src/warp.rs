//! Operations among the 32 lanes of a warp.
//!
//! Every operation names the lanes that take part in `mask`, and every one of those lanes must execute it. The emulator
//! reports a mask that names lanes which have returned, and lanes that wait for others which never come.

use crate::shuffle::Shuffle;
use crate::target;

pub use crate::target::{activemask, lane_id, sync_warp, warp_vote_all, warp_vote_any, warp_vote_ballot};

macro_rules! shuffles {
    ($($name:ident $kind:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// The warp is cut into segments of `width` lanes (1, 2, 4, 8, 16 or 32). Returns the value, and whether the
        /// source lane was inside the segment; where it was not, the value is the lane's own.
        ///
        /// # Safety
        /// Every lane of `mask` executes this call with the same mask and width, and `mask` names the lanes read.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
            // SAFETY: the caller's promise.
            let (bits, valid) = unsafe {
                target::shuffle(Shuffle::$kind, mask, value.to_bits64(), size_of::<T>() == 8, delta, width)
            };
            (T::from_bits64(bits), valid)
        }
    )*};
}

shuffles! {
    warp_shuffle_xor Xor "The value of the lane whose index is this lane's xor `delta`.";
    warp_shuffle_down Down "The value of the lane `delta` above.";
    warp_shuffle_up Up "The value of the lane `delta` below.";
    warp_shuffle_idx Idx "The value of lane `delta` of the segment.";
}

/// A value of 32 or 64 bits that lanes can exchange.
pub trait WarpShuffleValue: Copy {
    #[doc(hidden)]
    fn to_bits64(self) -> u64;
    #[doc(hidden)]
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! shuffle_values {
    ($($type:ty, $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            #[inline(always)]
            fn to_bits64(self) -> u64 {
                let $value = self;
                $to
            }
            #[inline(always)]
            fn from_bits64($bits: u64) -> Self {
                $from
            }
        }
    )*};
}

shuffle_values! {
    u32, v => v as u64, b => b as u32;
    i32, v => v as u32 as u64, b => b as u32 as i32;
    f32, v => v.to_bits() as u64, b => f32::from_bits(b as u32);
    u64, v => v, b => b;
    f64, v => v.to_bits(), b => f64::from_bits(b);
}
