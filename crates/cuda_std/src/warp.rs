//! Operations among the 32 lanes of a warp.
//!
//! Every operation names the lanes that take part in `mask`, and every one of those lanes must execute it. The emulator
//! reports a mask that names lanes which have returned, and lanes that wait for others which never come.

use crate::target;

/// Index of the thread in its warp.
#[inline(always)]
#[track_caller]
pub fn lane_id() -> u32 {
    target::lane_id()
}

/// The lanes of this warp that are executing this call together; on the emulator, those that have not returned.
///
/// Which lanes are together is up to the hardware, so use it for nothing that changes a result.
#[inline(always)]
#[track_caller]
pub fn activemask() -> u32 {
    target::active_mask()
}

/// Waits for the lanes of `mask`; memory written before it is seen by those lanes after.
///
/// # Safety
/// Every lane of `mask` executes this call with the same mask.
#[inline(always)]
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { target::sync_warp(mask) }
}

/// True on each lane if `predicate` holds on all lanes of `mask`.
///
/// # Safety
/// Every lane of `mask` executes this call with the same mask.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { target::vote_all(mask, predicate) }
}

/// True on each lane if `predicate` holds on any lane of `mask`.
///
/// # Safety
/// Every lane of `mask` executes this call with the same mask.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { target::vote_any(mask, predicate) }
}

/// One bit per lane of `mask`, set where `predicate` holds.
///
/// # Safety
/// Every lane of `mask` executes this call with the same mask.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { target::vote_ballot(mask, predicate) }
}

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
                target::shuffle(Shuffle::$kind, mask, value.to_bits64(), T::WIDE, delta, width)
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

/// How a shuffle picks its source lane.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// This lane's index xor delta.
    Xor,
    /// This lane's index plus delta.
    Down,
    /// This lane's index minus delta.
    Up,
    /// Delta itself.
    Idx,
}

impl Shuffle {
    /// The source lane, and whether it is in range; out of range the source is the lane itself.
    /// PTX ISA, `shfl.sync`: a segment never reads above its own last lane, but `xor` may read below it.
    #[inline(always)]
    pub fn source(self, lane: u32, delta: u32, width: u32) -> (u32, bool) {
        let first = lane & !(width - 1);
        let last = first + width - 1;
        let delta = delta & 31;
        let (source, valid) = match self {
            Shuffle::Xor => (lane ^ delta, lane ^ delta <= last),
            Shuffle::Down => (lane + delta, lane + delta <= last),
            Shuffle::Up => (lane.wrapping_sub(delta), lane >= first + delta),
            Shuffle::Idx => (first | delta & (width - 1), true),
        };
        (if valid { source } else { lane }, valid)
    }
}

/// A value of 32 or 64 bits that lanes can exchange.
pub trait WarpShuffleValue: Copy {
    /// Whether all 64 bits count.
    #[doc(hidden)]
    const WIDE: bool;
    #[doc(hidden)]
    fn to_bits64(self) -> u64;
    #[doc(hidden)]
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! shuffle_values {
    ($($type:ty, $wide:literal, $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            const WIDE: bool = $wide;
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
    u32, false, v => v as u64, b => b as u32;
    i32, false, v => v as u32 as u64, b => b as u32 as i32;
    f32, false, v => v.to_bits() as u64, b => f32::from_bits(b as u32);
    u64, true, v => v, b => b;
    f64, true, v => v.to_bits(), b => f64::from_bits(b);
}
