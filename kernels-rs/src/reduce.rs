//! Sums over all threads of a launch, the same bits every time.
//!
//! A block adds its threads' terms by warp shuffles and shared memory and writes one partial sum. The block that takes
//! the last ticket adds the partial sums in index order, so the result does not depend on which block came last, and
//! no second launch is needed.

use cuda_std::prelude::*;

/// Threads per block of every reducing kernel.
pub const BLOCK: usize = 256;
/// Sums that one launch may form.
pub const MAX_SUMS: usize = 2;
/// All lanes of a warp take part.
pub const FULL_WARP: u32 = u32::MAX;
const WARPS: usize = BLOCK / 32;

/// Where a reducing launch keeps its state.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reduction {
    /// Partial sums, `[MAX_SUMS][n_blocks]`.
    pub partials: ViewMut<f64>,
    /// One counter, 0 before and after the launch.
    pub ticket: ViewMut<u32>,
    /// The device-resident scalars, `[n_scalars]`.
    pub scalars: ViewMut<f64>,
    /// Indices of the scalars that receive the sums.
    pub out: [u32; MAX_SUMS],
}

/// Computes: the sum of `terms` over the warp, in lane 0.
#[inline(always)]
pub(crate) unsafe fn warp_sum<const M: usize>(mut terms: [f64; M]) -> [f64; M] {
    let mut delta = 16;
    while delta > 0 {
        for term in &mut terms {
            *term += warp::warp_shuffle_down(FULL_WARP, *term, delta, 32).0;
        }
        delta /= 2;
    }
    terms
}

/// Computes: the sum of `terms` over the block, in thread 0.
///
/// Thread mapping: every thread of a one-dimensional block of [`BLOCK`] threads takes part.
/// Memory: 16 words of shared memory; 2 barriers.
#[inline(always)]
pub(crate) unsafe fn block_sum<const M: usize>(terms: [f64; M]) -> [f64; M] {
    let shared = shared_array![f64; 16];
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    let sums = warp_sum(terms);
    thread::sync_threads();
    if lane == 0 {
        for m in 0..M {
            *shared.add(m * WARPS + warp) = sums[m];
        }
    }
    thread::sync_threads();
    let mut total = [0.0; M];
    if thread == 0 {
        for m in 0..M {
            for w in 0..WARPS {
                total[m] += *shared.add(m * WARPS + w);
            }
        }
    }
    total
}

/// Entries that a thread of [`sum_strided`] waits for at once.
const AT_ONCE: usize = 2;

/// Computes: a thread's part of sums over entries `0..n`: `add` adds entry i to them, of what `load` found there.
///
/// Thread mapping: a grid-stride loop. A thread loads some entries at once, and waits once for all of them: else what
/// `add` computes would hold back the next loads.
#[inline(always)]
pub(crate) fn sum_strided<const M: usize, L: Copy>(
    n: usize,
    load: impl Fn(usize) -> L,
    mut add: impl FnMut(usize, L, &mut [f64; M]),
) -> [f64; M] {
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::index_1d() as usize;
    let mut sums = [0.0; M];
    while i + (AT_ONCE - 1) * stride < n {
        let entries: [L; AT_ONCE] = core::array::from_fn(|k| load(i + k * stride));
        for k in 0..AT_ONCE {
            add(i + k * stride, entries[k], &mut sums);
        }
        i += AT_ONCE * stride;
    }
    while i < n {
        add(i, load(i), &mut sums);
        i += stride;
    }
    sums
}

/// Computes: `scalars[out[m]] = sum over all threads of terms[m]`.
///
/// Thread mapping: every thread of the launch; blocks of [`BLOCK`].
/// Memory moved: 8 M bytes written per block, read once by the last.
///
/// # Safety
/// All threads of the launch call it once; `to.partials` holds `MAX_SUMS` times the number of blocks.
#[inline(always)]
pub unsafe fn sum_over_grid<const M: usize>(terms: [f64; M], to: Reduction) {
    let last = shared_array![u32; 1];
    let blocks = thread::grid_dim_x() as usize;
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
    let sums = block_sum(terms);
    if thread == 0 {
        for m in 0..M {
            to.partials.set(m * blocks + block, sums[m]);
        }
        // The partial sums before the ticket; and after it those of the blocks that took theirs earlier. The barrier
        // passes that on to the other threads.
        thread::device_fence();
        *last = u32::from(atomic::add(to.ticket, 0, 1) as usize + 1 == blocks);
        thread::device_fence();
    }
    thread::sync_threads();
    if *last == 0 {
        return;
    }
    let mut terms = [0.0; M];
    let mut i = thread;
    while i < blocks {
        for m in 0..M {
            terms[m] += to.partials.at(m * blocks + i);
        }
        i += BLOCK;
    }
    let sums = block_sum(terms);
    if thread == 0 {
        for m in 0..M {
            to.scalars.set(to.out[m] as usize, sums[m]);
        }
        to.ticket.set(0, 0);
    }
}
