//! The device API on behalf of the emulated thread that runs on this host thread.

use super::block::Block;
pub use super::host::*;
use super::warp::{Arrival, Operation};
use crate::warp::Shuffle;
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
#[inline(never)]
#[track_caller]
fn outside() -> ! {
    panic!("a thread, warp or shared-memory function of cuda_std was called outside a kernel launched on the emulator")
}

#[inline(always)]
#[track_caller]
pub fn thread_idx() -> [u32; 3] {
    current().thread_idx()
}

#[inline(always)]
#[track_caller]
pub fn block_idx() -> [u32; 3] {
    current().block_idx()
}

#[inline(always)]
#[track_caller]
pub fn block_dim() -> [u32; 3] {
    current().block_dim()
}

#[inline(always)]
#[track_caller]
pub fn grid_dim() -> [u32; 3] {
    current().grid_dim()
}

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

#[track_caller]
pub fn lane_id() -> u32 {
    current().thread() % 32
}

#[track_caller]
pub fn active_mask() -> u32 {
    current().live_lanes()
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    operate(mask, Operation::Sync, 0, 0);
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn vote_ballot(mask: u32, predicate: bool) -> u32 {
    operate(mask, Operation::Ballot, predicate as u64, 0) as u32
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn vote_all(mask: u32, predicate: bool) -> bool {
    operate(mask, Operation::Ballot, predicate as u64, 0) as u32 == mask
}

/// # Safety
/// None on the host.
#[track_caller]
pub unsafe fn vote_any(mask: u32, predicate: bool) -> bool {
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

#[track_caller]
pub fn static_shared<T, const SITE: u64>() -> *mut T {
    current().shared().array(SITE)
}
