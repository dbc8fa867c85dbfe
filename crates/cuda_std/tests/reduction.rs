//! A block reduction and the pattern in which the last block to finish sums the blocks' results.

use cuda_std::emulator::{Emulator, Order};
use cuda_std::prelude::*;

const ORDERS: [Order; 4] = [Order::Forward, Order::Reverse, Order::Shuffled(1), Order::Shuffled(2)];

/// Sums a value over the block; the first warp's lanes get the result.
///
/// # Safety
/// All threads of the block call it.
unsafe fn block_sum<T: GpuFloat>(value: T) -> T {
    let partial = shared_array![T; 32];
    let (t, n) = (thread::index_in_block(), thread::block_dim_x());
    // SAFETY: whole warps take part; partial has room for 32 warps, and each waits until all are written.
    unsafe {
        let sum = warp_sum(value);
        if t % 32 == 0 {
            partial.add(t as usize / 32).write(sum);
        }
        thread::sync_threads();
        let lane = t % 32;
        warp_sum(if lane < n / 32 { partial.add(lane as usize).read() } else { T::ZERO })
    }
}

/// # Safety
/// All lanes of the warp call it.
unsafe fn warp_sum<T: GpuFloat>(mut value: T) -> T {
    for delta in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes are here.
        value += unsafe { warp::warp_shuffle_down(u32::MAX, value, delta, 32) }.0;
    }
    value
}

/// out[0] = x . y, summed by the last block.
#[kernel(T = [f32, f64])]
pub unsafe fn dot<T: GpuFloat>(
    n: usize,
    x: View<T>,
    y: View<T>,
    partial: ViewMut<T>,
    ticket: ViewMut<u32>,
    out: ViewMut<T>,
) {
    let last = shared_array![u32; 1];
    let (t, block, blocks) = (thread::thread_idx_x(), thread::block_idx_x() as usize, thread::grid_dim_x());
    let stride = (blocks * thread::block_dim_x()) as usize;
    let mut sum = T::ZERO;
    let mut i = thread::index_1d() as usize;
    // SAFETY: indices are below n or the number of blocks.
    unsafe {
        while i < n {
            sum = x.at(i).mul_add(y.at(i), sum);
            i += stride;
        }
        let sum = block_sum(sum);
        if t == 0 {
            partial.set(block, sum);
            thread::device_fence();
            last.write(atomic::add(ticket, 0, 1));
        }
        thread::sync_threads();
        if last.read() == blocks - 1 {
            thread::device_fence();
            let mine = if t < blocks { partial.at(t as usize) } else { T::ZERO };
            let total = block_sum(mine);
            if t == 0 {
                out.set(0, total);
            }
        }
    }
}

fn dot_on<T: GpuFloat>(emulator: Emulator, x: &[T], y: &[T]) -> T {
    let (mut partial, mut ticket, mut out) = (vec![T::ZERO; 7], vec![0], vec![T::ZERO]);
    let kernel = Dot {
        n: x.len(),
        x: View::from_slice(x),
        y: View::from_slice(y),
        partial: ViewMut::from_slice(&mut partial),
        ticket: ViewMut::from_slice(&mut ticket),
        out: ViewMut::from_slice(&mut out),
    };
    // SAFETY: the vectors outlive the launch and have the sizes the kernel asks for.
    unsafe { emulator.launch(7, 128, 0, &kernel) }.unwrap();
    out[0]
}

#[test]
fn dot_is_exact_in_every_order() {
    for n in [0, 1, 31, 33, 1009, 5000] {
        let x: Vec<f64> = (0..n).map(|i| (i % 17) as f64).collect();
        let y: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 2.0).collect();
        let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        for order in ORDERS {
            assert_eq!(dot_on(Emulator::new(order), &x, &y), expected, "n = {n}, {order:?}");
        }
        let single = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<_>>();
        assert_eq!(dot_on(Emulator::default(), &single(&x), &single(&y)), expected as f32);
    }
}

/// Rotates `y [blocks * threads]` by a whole block `rounds` times: every block reads what another wrote.
#[kernel]
pub unsafe fn rotate(rounds: usize, y: ViewMut<u32>, barrier: ViewMut<u32>) {
    let n = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let i = thread::index_1d() as usize;
    for round in 0..rounds {
        let (from, to) = (round % 2 * n, (round + 1) % 2 * n);
        // SAFETY: both halves hold n items; the barrier orders the writes of a round before the reads of the next.
        unsafe {
            y.set(to + i, y.at(from + (i + thread::block_dim_x() as usize) % n));
            thread::sync_grid(barrier);
        }
    }
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_one_another() {
    for order in [Order::Forward, Order::Reverse, Order::Shuffled(3)] {
        for rounds in [0, 1, 2, 7] {
            let n = 5 * 64;
            let mut y: Vec<u32> = (0..2 * n as u32).collect();
            let mut barrier = [0];
            let (y_view, barrier) = (ViewMut::from_slice(&mut y), ViewMut::from_slice(&mut barrier));
            let kernel = Rotate { rounds, y: y_view, barrier };
            // SAFETY: y and the barrier outlive the launch.
            unsafe { Emulator::new(order).launch_cooperative(5, 64, 0, &kernel) }.unwrap();
            let rotated = &y[rounds % 2 * n..][..n];
            assert!(
                rotated.iter().enumerate().all(|(i, v)| *v as usize == (i + 64 * rounds) % n),
                "{order:?} {rounds}"
            );
        }
    }
}
