//! What the emulator reports: each kind of fault, with the block, the thread and the line that it names.

use cuda_std::emulator::{Emulator, EmulatorError, Fault, Order};
use cuda_std::launch::Kernel;
use cuda_std::prelude::*;

fn run(grid: u32, block: u32, kernel: &impl Kernel) -> Result<(), EmulatorError> {
    // SAFETY: the kernels of this file take views of live memory, and are wrong only in ways that the emulator catches.
    unsafe { Emulator::default().launch(grid, block, 64, kernel) }
}

fn fault_of(grid: u32, block: u32, kernel: &impl Kernel) -> EmulatorError {
    let error = run(grid, block, kernel).expect_err("the fault goes unseen");
    let here = error.place.as_ref().is_none_or(|place| place.file.ends_with("faults.rs") && place.line > 1);
    assert!(here, "{error}");
    error
}

/// y[i + shift] = i
#[kernel(items)]
pub unsafe fn shifted(i: usize, shift: usize, y: ViewMut<u32>) {
    // SAFETY: checked by the emulator.
    unsafe { y.set(i + shift, i as u32) }
}

#[test]
fn index_error_names_index_length_and_thread() {
    let mut y = vec![0; 100];
    let kernel = Shifted { shift: 1, y: ViewMut::from_slice(&mut y) };
    let error = fault_of(4, 32, &Items { n: 100, kernel });
    assert_eq!(error.fault, Fault::Panic("index 100 is out of bounds of a view of length 100".to_owned()));
    assert_eq!((error.kernel, error.block, error.thread), ("shifted", [3, 0, 0], [3, 0, 0]));
    let text = error.to_string();
    assert!(text.starts_with("kernel shifted, block [3, 0, 0], thread [3, 0, 0], "), "{text}");
    assert!(text.contains("faults.rs:"), "{text}");
}

/// Threads of odd index wait at another barrier than the rest.
#[kernel]
pub unsafe fn divergent() {
    if thread::thread_idx_x() % 2 == 1 {
        thread::sync_threads();
        return;
    }
    thread::sync_threads();
}

#[test]
fn barriers_at_different_lines_are_reported() {
    let error = fault_of(3, 64, &Divergent::new());
    let Fault::DivergentBarrier { thread, place } = &error.fault else { panic!("{error}") };
    assert_eq!((error.thread, *thread), ([0, 0, 0], [1, 0, 0]));
    assert_eq!(error.place.as_ref().map(|own| own.line), Some(place.line + 3));
}

/// The first thread waits for its warp, which waits at a barrier.
#[kernel]
pub unsafe fn crossed() {
    if thread::thread_idx_x() == 0 {
        // SAFETY: the fault of this kernel.
        unsafe { warp::sync_warp(u32::MAX) }
    }
    thread::sync_threads();
}

#[test]
fn barrier_against_warp_operation_is_a_deadlock() {
    let error = fault_of(1, 32, &Crossed::new());
    assert!(matches!(error.fault, Fault::Deadlock { .. }), "{error}");
}

/// Every thread but the first `n` returns before the barrier, which then waits for the others only.
#[kernel]
pub unsafe fn early_return(n: u32, y: ViewMut<u32>) {
    let s = shared_array![u32; 64];
    let t = thread::thread_idx_x();
    if t >= n {
        return;
    }
    // SAFETY: t is below the 64 items.
    unsafe {
        s.add(t as usize).write(t);
        thread::sync_threads();
        y.set(t as usize, s.add((n - 1 - t) as usize).read());
    }
}

#[test]
fn barrier_waits_for_live_threads_only() {
    let mut y = vec![9; 64];
    run(1, 64, &EarlyReturn::new(40, ViewMut::from_slice(&mut y))).unwrap();
    assert!((0..40).all(|t| y[t] == 39 - t as u32) && y[40..].iter().all(|&v| v == 9));
}

/// Half of the warp returns, and the rest shuffles with the mask of all.
#[kernel]
pub unsafe fn exited_lanes(y: ViewMut<f64>) {
    let t = thread::thread_idx_x();
    if t < 16 {
        // SAFETY: the fault of this kernel.
        unsafe { y.set(t as usize, warp::warp_shuffle_down(u32::MAX, 1.0, 1, 32).0) };
    }
}

#[test]
fn masks_that_name_returned_lanes_are_reported() {
    let mut y = vec![0.0; 16];
    let error = fault_of(1, 32, &ExitedLanes::new(ViewMut::from_slice(&mut y)));
    assert_eq!(error.fault, Fault::ExitedLanes { mask: u32::MAX, gone: 0xFFFF_0000 });
    let partial = fault_of(1, 16, &ExitedLanes::new(ViewMut::from_slice(&mut y)));
    assert_eq!(partial.fault, Fault::ExitedLanes { mask: u32::MAX, gone: 0xFFFF_0000 });
}

/// Lane 5 names only lane 0.
#[kernel]
pub unsafe fn wrong_mask() {
    // SAFETY: the fault of this kernel.
    unsafe { warp::sync_warp(if thread::thread_idx_x() == 5 { 1 } else { !(1 << 5) }) }
}

#[test]
fn a_mask_without_the_calling_lane_is_reported() {
    let error = fault_of(1, 32, &WrongMask::new());
    assert!(matches!(&error.fault, Fault::Panic(message) if message.contains("does not name lane 5")), "{error}");
}

/// A value that counts how many of it are dropped.
struct Counted(ViewMut<u32>);

impl Drop for Counted {
    fn drop(&mut self) {
        // SAFETY: the view has one item.
        unsafe { atomic::add(self.0, 0, 1) };
    }
}

/// One thread panics while the others of its block wait; all hold a value to drop.
#[kernel]
pub unsafe fn panicking(drops: ViewMut<u32>) {
    let _counted = Counted(drops);
    assert!(thread::thread_idx_x() != 70, "thread {} gives up", thread::thread_idx_x());
    thread::sync_threads();
}

#[test]
fn a_panic_unwinds_every_thread_that_started() {
    let mut drops = vec![0];
    let error = fault_of(1, 100, &Panicking::new(ViewMut::from_slice(&mut drops)));
    assert_eq!(error.fault, Fault::Panic("thread 70 gives up".to_owned()));
    assert_eq!((error.thread, drops[0]), ([70, 0, 0], 71));
    let mut drops = vec![0];
    let reverse = Emulator::new(Order::Reverse);
    // SAFETY: the view is live.
    let error = unsafe { reverse.launch(1, 100, 0, &Panicking::new(ViewMut::from_slice(&mut drops))) }.unwrap_err();
    assert_eq!((error.thread, drops[0]), ([70, 0, 0], 30));
}

#[test]
fn the_emulator_works_after_a_fault() {
    for _ in 0..3 {
        fault_of(2, 64, &Divergent::new());
        let mut y = vec![9; 64];
        run(1, 64, &EarlyReturn::new(64, ViewMut::from_slice(&mut y))).unwrap();
        assert!((0..64).all(|t| y[t] == 63 - t as u32));
    }
}

#[test]
fn a_fault_stops_the_rest_of_the_launch() {
    let mut y = vec![u32::MAX; 1 << 16];
    let kernel = Shifted { shift: 1 << 20, y: ViewMut::from_slice(&mut y) };
    let error = fault_of(1 << 11, 32, &Items { n: 1 << 16, kernel });
    assert!(matches!(error.fault, Fault::Panic(_)));
    assert!(y.iter().all(|&v| v == u32::MAX));
}

/// Writes one item more than the shared array has.
#[kernel]
pub unsafe fn overrun(dynamic: u32) {
    let p = if dynamic == 1 { shared::dynamic_shared_mem::<u32>() } else { shared_array![u32; 16] };
    // SAFETY: the fault of this kernel; the emulator keeps room there.
    unsafe { p.add(16).write(1) };
}

#[test]
fn writes_past_shared_memory_are_reported() {
    for dynamic in [0, 1] {
        assert_eq!(fault_of(1, 1, &Overrun::new(dynamic)).fault, Fault::SharedOverrun);
    }
}

#[test]
fn launches_that_no_device_takes_are_refused() {
    let kernel = Divergent::new();
    for (grid, block) in
        [((0, 1, 1), (32, 1, 1)), ((1, 1, 1), (33, 32, 1)), ((1, 1, 1), (1, 1, 65)), ((1, 65536, 1), (1, 1, 1))]
    {
        // SAFETY: nothing runs.
        let error = unsafe { Emulator::default().launch(grid, block, 0, &kernel) }.unwrap_err();
        assert!(matches!(error.fault, Fault::Launch(_)), "{error}");
        assert!(error.to_string().starts_with("kernel divergent cannot be launched: "), "{error}");
    }
    // SAFETY: nothing runs.
    let error = unsafe { Emulator::default().launch(1, 32, 228 << 10, &kernel) }.unwrap_err();
    assert!(matches!(error.fault, Fault::Launch(_)), "{error}");
}

#[test]
#[should_panic(expected = "outside a kernel launched on the emulator")]
fn thread_functions_outside_a_launch_panic() {
    thread::thread_idx_x();
}

/// Waits for the whole grid, but for the threads from `first` on of block `block`, which return.
#[kernel]
pub unsafe fn incomplete_grid(block: u32, first: u32, barrier: ViewMut<u32>) {
    if thread::block_idx_x() == block && thread::thread_idx_x() >= first {
        return;
    }
    // SAFETY: checked by the emulator.
    unsafe { thread::sync_grid(barrier) }
}

fn grid_fault(block: u32, first: u32) -> EmulatorError {
    let mut barrier = [0];
    let kernel = IncompleteGrid { block, first, barrier: ViewMut::from_slice(&mut barrier) };
    // SAFETY: the barrier outlives the launch.
    let result = unsafe { Emulator::default().launch_cooperative(3, 64, 0, &kernel) };
    // A fault leaves nothing behind that would disturb the next launch.
    let whole = IncompleteGrid { block: 3, ..kernel };
    // SAFETY: as above.
    unsafe { Emulator::default().launch_cooperative(3, 64, 0, &whole) }.expect("every thread arrives");
    result.expect_err("the fault goes unseen")
}

#[test]
fn blocks_missing_at_the_barrier_of_the_grid_are_reported() {
    let error = grid_fault(1, 0);
    assert_eq!((&error.fault, error.block), (&Fault::GridBarrier, [0, 0, 0]));
    assert!(error.place.is_some_and(|place| place.file.ends_with("faults.rs")));
}

#[test]
fn threads_missing_at_the_barrier_of_the_grid_are_reported() {
    let error = grid_fault(2, 40);
    assert_eq!((error.fault, error.thread), (Fault::GridBarrier, [0, 0, 0]));
}

#[test]
fn a_barrier_of_the_grid_needs_a_cooperative_launch() {
    let mut barrier = [0];
    let kernel = IncompleteGrid { block: 9, first: 0, barrier: ViewMut::from_slice(&mut barrier) };
    let Fault::Panic(message) = fault_of(2, 32, &kernel).fault else { panic!("another fault") };
    assert!(message.starts_with("the grid's barrier in a launch whose blocks need not run"), "{message}");
}
