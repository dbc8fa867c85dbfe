//! Every thread, warp, shared-memory and atomic function against what PTX defines, in several orders.

use cuda_std::emulator::{Dim3, Emulator, Order};
use cuda_std::launch::Kernel;
use cuda_std::prelude::*;

const ORDERS: [Order; 4] = [Order::Forward, Order::Reverse, Order::Shuffled(1), Order::Shuffled(7)];

fn run_in_every_order(grid: impl Into<Dim3>, block: impl Into<Dim3>, kernel: &impl Kernel) {
    let (grid, block) = (grid.into(), block.into());
    for order in ORDERS {
        // SAFETY: the tests pass views of live memory, of the sizes their kernels ask for.
        unsafe { Emulator::new(order).launch(grid, block, 512, kernel) }.unwrap();
    }
}

/// out[i] = indices and sizes of thread i, its lane, whether it is the first
#[kernel]
pub unsafe fn indices(out: ViewMut<[u32; 14]>) {
    use thread::*;
    let threads = block_dim_x() * block_dim_y() * block_dim_z();
    let block = (block_idx_z() * grid_dim_y() + block_idx_y()) * grid_dim_x() + block_idx_x();
    let i = (block * threads + index_in_block()) as usize;
    let all = [
        thread_idx_x(),
        thread_idx_y(),
        thread_idx_z(),
        block_idx_x(),
        block_idx_y(),
        block_idx_z(),
        block_dim_x(),
        block_dim_y(),
        block_dim_z(),
        grid_dim_x(),
        grid_dim_y(),
        grid_dim_z(),
        warp::lane_id(),
        first() as u32,
    ];
    // SAFETY: i is below the number of threads.
    unsafe { out.set(i, all) }
}

#[test]
fn indices_run_x_fastest() {
    let mut out = vec![[0; 14]; 24 * 40];
    let kernel = Indices::new(ViewMut::from_slice(&mut out));
    run_in_every_order((2, 3, 4), (5, 4, 2), &kernel);
    for (i, found) in out.iter().enumerate() {
        let (b, t) = (i as u32 / 40, i as u32 % 40);
        let expected = [t % 5, t / 5 % 4, t / 20, b % 2, b / 2 % 3, b / 6, 5, 4, 2, 2, 3, 4, t % 32, (i == 0) as u32];
        assert_eq!(*found, expected, "thread {i}");
    }
}

/// For each lane and each of xor, down, up, idx: the value received and whether the source was in range.
#[kernel(T = [f32, f64, u32, i32, u64])]
pub unsafe fn shuffles<T: warp::WarpShuffleValue + DeviceCopy>(
    delta: u32,
    width: u32,
    x: View<T>,
    out: ViewMut<T>,
    ok: ViewMut<u32>,
) {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: whole warps, and four items per thread.
    unsafe {
        let v = x.at(t);
        let results = [
            warp::warp_shuffle_xor(u32::MAX, v, delta, width),
            warp::warp_shuffle_down(u32::MAX, v, delta, width),
            warp::warp_shuffle_up(u32::MAX, v, delta, width),
            warp::warp_shuffle_idx(u32::MAX, v, delta, width),
        ];
        for (k, (value, valid)) in results.into_iter().enumerate() {
            out.set(4 * t + k, value);
            ok.set(4 * t + k, valid as u32);
        }
    }
}

/// The source lane by the definition in the PTX ISA (`shfl.sync`), which works on the operand's bit fields.
fn ptx_source(kind: usize, lane: u32, delta: u32, width: u32) -> (u32, bool) {
    let (segment, clamp) = (32 - width, if kind == 2 { 0 } else { 31 });
    let max_lane = (lane & segment) | (clamp & !segment);
    let min_lane = lane & segment;
    let source = match kind {
        0 => lane ^ delta,
        1 => lane + delta,
        2 => lane.wrapping_sub(delta),
        _ => min_lane | (delta & !segment),
    };
    let valid = if kind == 2 { source as i32 >= max_lane as i32 } else { source <= max_lane };
    (if valid { source } else { lane }, valid)
}

fn check_shuffles<T>(make: impl Fn(u32) -> T)
where
    T: warp::WarpShuffleValue + DeviceCopy + Default + PartialEq + std::fmt::Debug,
{
    let x: Vec<T> = (0..64).map(make).collect();
    for (delta, width) in [(1, 32), (16, 32), (3, 8), (5, 16), (1, 2), (0, 1), (31, 32)] {
        let (mut out, mut ok) = (vec![T::default(); 256], vec![0; 256]);
        let kernel = Shuffles {
            delta,
            width,
            x: View::from_slice(&x),
            out: ViewMut::from_slice(&mut out),
            ok: ViewMut::from_slice(&mut ok),
        };
        run_in_every_order(1, 64, &kernel);
        for (i, (found, &valid)) in out.iter().zip(&ok).enumerate() {
            let (t, kind) = (i as u32 / 4, i % 4);
            let (source, expected) = ptx_source(kind, t % 32, delta, width);
            let value = x[(t / 32 * 32 + source) as usize];
            assert_eq!(
                (*found, valid),
                (value, expected as u32),
                "lane {t}, kind {kind}, delta {delta}, width {width}"
            );
        }
    }
}

#[test]
fn shuffles_follow_the_ptx_definition() {
    check_shuffles(|k| 0.1 * k as f32);
    check_shuffles(|k| -0.1 * k as f64);
    check_shuffles(|k| k * 0x0101_0101);
    check_shuffles(|k| -(k as i32));
    check_shuffles(|k| k as u64 * 0x0123_4567_89AB_CDEF);
}

/// Votes within each half of the warp.
#[kernel]
pub unsafe fn votes(out: ViewMut<[u32; 4]>) {
    let t = thread::thread_idx_x();
    let half = if t % 32 < 16 { 0x0000_FFFF } else { 0xFFFF_0000 };
    // SAFETY: each lane names its own half, and all of it takes part.
    unsafe {
        let all = warp::warp_vote_all(half, t < 48);
        let any = warp::warp_vote_any(half, t == 20);
        let ballot = warp::warp_vote_ballot(half, t.is_multiple_of(3));
        warp::sync_warp(half);
        out.set(t as usize, [all as u32, any as u32, ballot, warp::activemask()]);
    }
}

#[test]
fn votes_count_the_lanes_of_the_mask() {
    let mut out = vec![[0; 4]; 64];
    run_in_every_order(1, 64, &Votes::new(ViewMut::from_slice(&mut out)));
    for (t, [all, any, ballot, active]) in out.into_iter().enumerate() {
        let lanes = t / 16 * 16..t / 16 * 16 + 16;
        let expected: u32 = lanes.filter(|k| k % 3 == 0).map(|k| 1 << (k % 32)).sum();
        assert_eq!((all == 1, any == 1, ballot), (t < 48, t / 16 == 1, expected), "thread {t}");
        assert_eq!(active >> (t % 32) & 1, 1);
    }
}

/// out[block] = the sum of its threads' squares, through dynamic shared memory
#[kernel]
pub unsafe fn tree_sum(out: ViewMut<f64>) {
    let s = shared::dynamic_shared_mem::<f64>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: t is below 64; each thread writes its own item between barriers.
    unsafe {
        s.add(t).write((thread::index_1d() as f64).powi(2));
        let mut half = 32;
        while half > 0 {
            thread::sync_threads();
            if t < half {
                *s.add(t) += s.add(t + half).read();
            }
            half /= 2;
        }
        if t == 0 {
            out.set(thread::block_idx_x() as usize, s.read());
        }
    }
}

#[test]
fn dynamic_memory_and_barriers() {
    let mut out = vec![0.0; 300];
    let kernel = TreeSum::new(ViewMut::from_slice(&mut out));
    run_in_every_order(300, 64, &kernel);
    for (block, sum) in out.into_iter().enumerate() {
        let expected: f64 = (64 * block..64 * block + 64).map(|i| (i as f64).powi(2)).sum();
        assert_eq!(sum, expected, "block {block}");
    }
}

/// Reads shared memory that nobody wrote, then writes it.
#[kernel]
pub unsafe fn unwritten(out: ViewMut<[f64; 2]>) {
    let (fixed, dynamic) = (shared_array![f64; 4], shared::dynamic_shared_mem::<f64>());
    // SAFETY: the arrays have room; that they are not written is the point.
    unsafe {
        out.set(thread::block_idx_x() as usize, [fixed.add(3).read(), dynamic.add(3).read()]);
        fixed.add(3).write(1.0);
        dynamic.add(3).write(1.0);
    }
}

#[test]
fn shared_memory_is_poisoned_in_every_block() {
    let mut out = vec![[0.0; 2]; 50];
    let kernel = Unwritten::new(ViewMut::from_slice(&mut out));
    run_in_every_order(50, 1, &kernel);
    assert!(out.iter().flatten().all(|v| v.to_bits() == u64::MAX));
    // SAFETY: out is live and has an item per block.
    unsafe {
        Emulator { poison: false, ..Emulator::default() }.launch(
            50,
            1,
            64,
            &Unwritten::new(ViewMut::from_slice(&mut out)),
        )
    }
    .unwrap();
    assert!(out.iter().flatten().all(|&v| v == 0.0));
}

/// Adds, minima and maxima from all threads.
#[kernel]
pub unsafe fn atomics(f: ViewMut<f32>, d: ViewMut<f64>, u: ViewMut<u32>, seen: ViewMut<u32>) {
    let i = thread::index_1d();
    // SAFETY: each index is below the lengths; `old` is another one for each thread.
    unsafe {
        atomic::accumulate(f, 1, 1.0);
        atomic::accumulate(d, 1, i as f64);
        atomic::add(d, 0, 1.0);
        let old = atomic::add(u, 0, 1);
        atomic::min(u, 1, i);
        atomic::max(u, 2, i);
        seen.set(old as usize, 1);
    }
}

#[test]
fn atomics_lose_no_update() {
    let n = 20_000;
    for order in ORDERS {
        let (mut f, mut d, mut u, mut seen) = (vec![0.0; 2], vec![0.0; 2], vec![0, u32::MAX, 0], vec![0; n]);
        let kernel = Atomics {
            f: ViewMut::from_slice(&mut f),
            d: ViewMut::from_slice(&mut d),
            u: ViewMut::from_slice(&mut u),
            seen: ViewMut::from_slice(&mut seen),
        };
        // SAFETY: the vectors are live and have the sizes the kernel asks for.
        unsafe { Emulator::new(order).launch(n as u32 / 100, 100, 0, &kernel) }.unwrap();
        assert_eq!((f[1], d), (n as f32, vec![n as f64, (n * (n - 1) / 2) as f64]));
        assert_eq!(u, [n as u32, 0, n as u32 - 1]);
        assert!(seen.iter().all(|&v| v == 1));
    }
}

/// out[block] = sums over the block by atomics in shared memory: of 1, and of the thread's number.
#[kernel(T = [f32, f64, u32])]
pub unsafe fn shared_sums<T: atomic::AtomicAdd + From<u16>>(out: ViewMut<T>) {
    let (sums, t) = (shared_array![T; 2], thread::thread_idx_x() as u16);
    // SAFETY: the array has two items; barriers part the writes from the sums and the sums from the reads.
    unsafe {
        if t < 2 {
            sums.add(t as usize).write(T::from(0));
        }
        thread::sync_threads();
        atomic::accumulate_shared(sums, T::from(1));
        atomic::accumulate_shared(sums.add(1), T::from(t));
        thread::sync_threads();
        if t < 2 {
            out.set(2 * thread::block_idx_x() as usize + t as usize, sums.add(t as usize).read());
        }
    }
}

#[test]
fn atomics_in_shared_memory_lose_no_update() {
    fn check<T: atomic::AtomicAdd + From<u16> + PartialEq + std::fmt::Debug>() {
        let mut out = vec![T::from(0); 6];
        let kernel = SharedSums { out: ViewMut::from_slice(&mut out) };
        run_in_every_order(3, 100, &kernel);
        assert_eq!(out, [100, 4950].map(T::from).repeat(3));
    }
    check::<f32>();
    check::<f64>();
    check::<u32>();
}

/// out[block] = a bit for each thread of a block of 96, set by its lane's number in shared memory.
#[kernel]
pub unsafe fn shared_bits(out: ViewMut<u32>) {
    let (words, t) = (shared_array![u32; 3], thread::thread_idx_x() as usize);
    // SAFETY: the array has a word per warp; barriers part the writes from the bits and the bits from the reads.
    unsafe {
        if t < 3 {
            words.add(t).write(0);
        }
        thread::sync_threads();
        // All but the first thread; twice is as good as once.
        if t > 0 {
            atomic::or_shared(words.add(t / 32), 1 << (t % 32));
            atomic::or_shared(words.add(t / 32), 1 << (t % 32));
        }
        thread::sync_threads();
        if t < 3 {
            out.set(3 * thread::block_idx_x() as usize + t, words.add(t).read());
        }
    }
}

#[test]
fn bits_in_shared_memory_are_set_once() {
    let mut out = vec![0; 6];
    let kernel = SharedBits::new(ViewMut::from_slice(&mut out));
    run_in_every_order(2, 96, &kernel);
    assert_eq!(out, [u32::MAX - 1, u32::MAX, u32::MAX].repeat(2));
}

/// Which thread came first, a result that depends on the order.
#[kernel]
pub unsafe fn arrival(ticket: ViewMut<u32>, out: ViewMut<u32>) {
    // SAFETY: indices are below the lengths.
    unsafe { out.set(thread::index_1d() as usize, atomic::add(ticket, 0, 1)) }
}

#[test]
fn orders_differ_where_the_kernel_lets_them() {
    let arrivals = |order| {
        let (mut ticket, mut out) = (vec![0], vec![0; 64]);
        let kernel = Arrival::new(ViewMut::from_slice(&mut ticket), ViewMut::from_slice(&mut out));
        // SAFETY: the vectors are live and have the sizes the kernel asks for.
        unsafe { Emulator { max_threads: 1, ..Emulator::new(order) }.launch(2, 32, 0, &kernel) }.unwrap();
        out
    };
    let forward = arrivals(Order::Forward);
    assert!(forward.iter().copied().eq(0..64));
    assert!(arrivals(Order::Reverse).into_iter().eq((0..64).rev()));
    assert!(arrivals(Order::Shuffled(1)) != forward && arrivals(Order::Shuffled(1)) == arrivals(Order::Shuffled(1)));
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
    for order in ORDERS {
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

/// y[i] = 2 x[i] for every scalar type, through each way to load.
#[kernel(items, T = [u8, u16, u32, u64, i32, usize, f32, f64])]
pub unsafe fn double<T: DeviceCopy + std::ops::Add<Output = T>>(
    i: usize,
    x: View<[T; 2]>,
    y: ViewMut<[T; 2]>,
    z: ViewMut<T>,
) {
    // SAFETY: i is below the lengths.
    unsafe {
        let ([a, b], [c, d]) = (x.at(i), x.stream(i));
        y.set(i, [a + c, b + d]);
        z.add(i, y.at(i)[1]);
    }
}

/// Copies x to shared memory, reads it before and after waiting, and then what the neighbour has copied.
#[kernel(T = [f32, f64])]
pub unsafe fn copies<T: GpuFloat>(x: View<T>, out: ViewMut<[T; 3]>) {
    let (t, n) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    // SAFETY: there is a place and an item for each thread; places are read before a copy is done to see just that.
    unsafe {
        let place = shared::Shared::new(shared::dynamic_shared_mem::<T>());
        shared::copy_async(x, t, place.offset(t));
        let before = place.offset(t).get();
        shared::wait_copies();
        let own = place.offset(t).get();
        thread::sync_threads();
        out.set(t, [before, own, place.offset((t + 1) % n).get()]);
    }
}

#[test]
fn copies_are_there_after_the_wait_and_not_before() {
    fn check<T: GpuFloat>() {
        let x: Vec<T> = (0..64).map(|i| T::from_f64(f64::from(i))).collect();
        let mut out = vec![[T::ZERO; 3]; 64];
        let kernel = Copies { x: View::from_slice(&x), out: ViewMut::from_slice(&mut out) };
        run_in_every_order(1, 64, &kernel);
        for (t, [before, own, next]) in out.into_iter().enumerate() {
            assert!(before.is_nan(), "the copy was done before the wait");
            assert_eq!([own, next], [x[t], x[(t + 1) % 64]]);
        }
    }
    check::<f32>();
    check::<f64>();
}

/// Writes three values and one, and reads them by one and by three.
#[kernel(T = [f32, f64])]
pub unsafe fn places<T: GpuFloat>(out: ViewMut<[T; 3]>) {
    // SAFETY: there is room for four values.
    unsafe {
        let first = shared::Shared::new(shared_array![T; 4]);
        first.put3([T::from_f64(1.0), T::from_f64(2.0), T::from_f64(3.0)]);
        first.offset(3).put(T::from_f64(4.0));
        out.set(0, [first.get(), first.offset(1).get(), first.cast::<T>().offset(2).get()]);
        out.set(1, first.offset(1).get3());
    }
}

#[test]
fn places_hold_what_is_put_there() {
    fn check<T: GpuFloat>() {
        let mut out = vec![[T::ZERO; 3]; 2];
        run_in_every_order(1, 1, &Places { out: ViewMut::from_slice(&mut out) });
        assert_eq!(out, [[1.0, 2.0, 3.0].map(T::from_f64), [2.0, 3.0, 4.0].map(T::from_f64)]);
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn every_scalar_type_loads_and_stores() {
    fn check<T: DeviceCopy + std::ops::Add<Output = T> + PartialEq + From<u8>>() {
        let of = |v: u8| T::from(v);
        let x: Vec<[T; 2]> = (0..40).map(|i| [of(i), of(i + 1)]).collect();
        let (mut y, mut z) = (vec![[of(0); 2]; 40], vec![of(1); 40]);
        let kernel = Double { x: View::from_slice(&x), y: ViewMut::from_slice(&mut y), z: ViewMut::from_slice(&mut z) };
        // SAFETY: the vectors are live and have 40 items.
        unsafe { Emulator::default().launch(2, 32, 0, &Items { n: 40, kernel }) }.unwrap();
        assert!((0..40).all(|i| y[i as usize] == [of(2 * i), of(2 * i + 2)] && z[i as usize] == of(2 * i + 3)));
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<i32>();
    check::<usize>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn arithmetic_is_the_hosts() {
    fn check<T: GpuFloat>() {
        let of = T::from_f64;
        assert_eq!(of(3.0).mul_add(of(4.0), of(5.0)), of(17.0));
        assert_eq!(
            (of(9.0).sqrt(), of(-2.5).abs(), of(-2.5).floor(), of(-2.5).ceil()),
            (of(3.0), of(2.5), of(-3.0), of(-2.0))
        );
        assert_eq!((of(1.0).max(of(2.0)), of(1.0).min(of(2.0)), of(4.0).recip()), (of(2.0), of(1.0), of(0.25)));
        assert_eq!((of(-3.0).signum(), T::ONE + T::ZERO), (of(-1.0), of(1.0)));
        assert!((of(0.0) / of(0.0)).is_nan() && !of(1.0).recip().is_nan() && !(of(1.0) / of(0.0)).is_finite());
        assert!(T::ONE + T::EPSILON > T::ONE && T::ONE + T::EPSILON * of(0.5) == T::ONE && of(1.5).to_f64() == 1.5);
    }
    check::<f32>();
    check::<f64>();
}
