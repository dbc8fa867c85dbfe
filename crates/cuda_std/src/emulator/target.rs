//! The device API on behalf of the emulated thread that runs on this host thread.

use super::block::Block;
pub use super::host::*;
use super::warp::{Arrival, Operation};
use crate::DeviceCopy;
use crate::place::{Place, SharedValue};
use crate::shuffle::Shuffle;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

thread_local! {
    static CURRENT: Cell<*const Block> = const { Cell::new(ptr::null()) };
}

/// Makes a block the current one of this host thread; null for none.
pub fn set_current(block: *const Block) {
    CURRENT.set(block);
}

/// Whether this host thread is running an emulated block.
pub fn is_running() -> bool {
    !CURRENT.get().is_null()
}

/// The current block. Its worker keeps it alive until the kernel's last thread has ended, so no kernel can outlive it.
#[inline(always)]
#[track_caller]
fn current() -> &'static Block {
    // SAFETY: null, or the block that the worker on this host thread is running and borrows only shared.
    match unsafe { CURRENT.get().as_ref() } {
        Some(block) => block,
        None => outside(),
    }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!("a thread, warp or shared-memory function of cuda_std was called outside a kernel launched on the emulator")
}

macro_rules! indices {
    ($($name:ident)*) => {$(
        #[inline(always)]
        #[track_caller]
        pub fn $name() -> [u32; 3] {
            current().$name()
        }
    )*};
}

indices!(thread_idx block_idx block_dim grid_dim);

/// Waits until every thread of the block that has not returned is here; writes before it are seen by the block after.
///
/// All of those threads must reach the same call. The emulator reports those that do not.
#[track_caller]
pub fn sync_threads() {
    current().sync_threads(Location::caller());
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn sync_grid(_: *mut u32) {
    current().sync_grid(Location::caller());
}

/// Index of the thread in its warp.
#[track_caller]
pub fn lane_id() -> u32 {
    current().thread() % 32
}

/// The lanes of this warp that are executing this call together; on the emulator, those that have not returned.
///
/// Which lanes are together is up to the hardware, so use it for nothing that changes a result.
#[track_caller]
pub fn activemask() -> u32 {
    current().live_lanes()
}

/// Waits for the lanes of `mask`; memory written before it is seen by those lanes after.
///
/// # Safety
/// Every lane of `mask` executes this call with the same mask.
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    operate(mask, Operation::Sync, 0, 0);
}

/// One bit per lane of `mask`, set where `predicate` holds.
///
/// # Safety
/// As for [`sync_warp`].
#[track_caller]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    operate(mask, Operation::Ballot, predicate as u64, 0) as u32
}

/// True on each lane if `predicate` holds on all lanes of `mask`.
///
/// # Safety
/// As for [`sync_warp`].
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    operate(mask, Operation::Ballot, predicate as u64, 0) as u32 == mask
}

/// True on each lane if `predicate` holds on any lane of `mask`.
///
/// # Safety
/// As for [`sync_warp`].
#[track_caller]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    operate(mask, Operation::Ballot, predicate as u64, 0) != 0
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn shuffle(kind: Shuffle, mask: u32, bits: u64, _wide: bool, delta: u32, width: u32) -> (u64, bool) {
    assert!(width.is_power_of_two() && width <= 32, "a shuffle's width is 1, 2, 4, 8, 16 or 32, not {width}");
    let (source, valid) = kind.source(current().thread() % 32, delta, width);
    (operate(mask, Operation::Shuffle(kind, width), bits, source), valid)
}

#[track_caller]
fn operate(mask: u32, operation: Operation, value: u64, source: u32) -> u64 {
    let block = current();
    let lane = block.thread() % 32;
    assert!(
        mask >> lane & 1 == 1,
        "the mask {mask:#010x} of a warp operation does not name lane {lane}, which calls it"
    );
    block.warp_operation(&Arrival { lane, mask, operation, location: Location::caller(), value, source })
}

#[track_caller]
pub fn dynamic_shared() -> *mut u8 {
    current().shared().dynamic()
}

/// The static shared array of the call site `SITE`, for values of type `T`.
#[track_caller]
pub fn static_shared<T, const SITE: u64>() -> *mut T {
    current().shared().array(SITE)
}

/// # Safety
/// None on the host.
#[inline(always)]
pub unsafe fn place(p: *mut u8) -> Place {
    p
}

/// The place so many bytes further on.
#[inline(always)]
pub fn advance(place: Place, bytes: usize) -> Place {
    place.wrapping_add(bytes)
}

impl<T: DeviceCopy> SharedValue for T {
    #[inline(always)]
    unsafe fn get_shared(place: Place) -> Self {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<T>().read() }
    }

    #[inline(always)]
    unsafe fn put_shared(place: Place, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<T>().write(value) }
    }

    #[inline(always)]
    unsafe fn get3_shared(place: Place) -> [Self; 3] {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<[T; 3]>().read() }
    }

    #[inline(always)]
    unsafe fn put3_shared(place: Place, values: [Self; 3]) {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<[T; 3]>().write(values) }
    }
}

/// See [`crate::shared::copy_async`]: the place is poisoned until the thread waits.
///
/// # Safety
/// As there.
#[track_caller]
pub unsafe fn copy_async(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.write_bytes(0xFF, bytes) };
    current().start_copy(to, from, bytes);
}

/// See [`crate::shared::wait_copies`].
#[track_caller]
pub fn wait_copies() {
    current().finish_copies();
}
