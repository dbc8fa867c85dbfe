//! The block rows that a thread block's rows name, numbered from 0 in ascending order: its neighbours. The direction
//! there stays in shared memory from one iteration to the next.
//!
//! Each block row of the system is a bit, set by the rows that name it; the number of a neighbour is how many bits are
//! set before its own. So the numbers are the same in every run, and neighbouring lanes mostly read what lies side by
//! side.

use super::Part;
use super::room::{Room, share};
use crate::real::{Real, fma};
use crate::reduce::{BLOCK, FULL_WARP};
use cuda_std::prelude::*;

/// Entries of the direction that a thread waits for at once: 341 neighbours of 3 entries are all on their way at the
/// same time.
const AT_ONCE: usize = 4;

/// A bit for each block row, in shared memory.
#[derive(Clone, Copy)]
struct Marks {
    n_words: usize,
    /// `[n_words]`
    words: *mut u32,
    /// How many bits are set in all words before, `[n_words]`.
    before: *mut u32,
}

impl Marks {
    /// Bytes of the marks of so many block rows.
    const fn bytes(n_rows: usize) -> usize {
        2 * n_rows.div_ceil(32) * size_of::<u32>()
    }

    /// Marks these columns of a part's slices. None if there is no room.
    #[inline(always)]
    unsafe fn new(part: Part, columns: View<u32>, mut room: Room) -> Option<Self> {
        let n_words = part.n_rows.div_ceil(32);
        let words = room.take::<u32>(2 * n_words)?;
        share(n_words, |i| *words.add(i) = 0);
        thread::sync_threads();
        share(part.n_entries(), |i| {
            let row = columns.stream(part.first_entry() + i);
            atomic::or_shared(words.add(row as usize / 32), 1 << (row % 32));
        });
        thread::sync_threads();
        Some(Marks { n_words, words, before: words.add(n_words) })
    }

    /// Counts the bits before each word, by one warp; all of them.
    #[inline(always)]
    unsafe fn count(self) -> usize {
        let total = shared_array![u32; 1];
        let lane = thread::thread_idx_x() as usize;
        if lane < 32 {
            let length = self.n_words.div_ceil(32);
            let [first, end] = [lane * length, (lane + 1) * length].map(|i| usize::min(i, self.n_words));
            let mut own = 0;
            for i in first..end {
                own += (*self.words.add(i)).count_ones();
            }
            let mut sum = own;
            let mut delta = 1;
            while delta < 32 {
                let (below, is_there) = warp::warp_shuffle_up(FULL_WARP, sum, delta, 32);
                sum += if is_there { below } else { 0 };
                delta *= 2;
            }
            let mut before = sum - own;
            for i in first..end {
                *self.before.add(i) = before;
                before += (*self.words.add(i)).count_ones();
            }
            if lane == 31 {
                *total = sum;
            }
        }
        thread::sync_threads();
        *total as usize
    }

    /// The number of a block row that is marked.
    #[inline(always)]
    unsafe fn number(self, row: u32) -> u32 {
        let i = row as usize / 32;
        let below = *self.words.add(i) & ((1 << (row % 32)) - 1);
        *self.before.add(i) + below.count_ones()
    }

    /// Writes the marked block rows of word i, at their numbers.
    #[inline(always)]
    unsafe fn write_rows(self, i: usize, rows: *mut u32) {
        let (mut bits, mut number) = (*self.words.add(i), *self.before.add(i) as usize);
        while bits != 0 {
            *rows.add(number) = 32 * i as u32 + bits.trailing_zeros();
            bits &= bits - 1;
            number += 1;
        }
    }
}

/// A block's neighbours, in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<const D: usize, T> {
    /// How many there are.
    n: u32,
    /// Their block rows, `[n]`.
    rows: *mut u32,
    /// The numbers of what the columns of the block's slices name, `[n_columns][SLICE]`.
    columns: *mut u16,
    /// The direction there, `[n][D]`.
    direction: *mut T,
}

impl<const D: usize, T: Real> Neighbours<D, T> {
    /// Finds them, and the direction there. None if there is no room.
    ///
    /// Memory moved: the part's column indices twice, and p at its neighbours.
    #[inline(always)]
    pub(super) unsafe fn new(part: Part, columns: View<u32>, p: ViewMut<T>, room: &mut Room) -> Option<Self> {
        let marks = Marks::new(part, columns, *room)?;
        let n = marks.count();
        let mut left = *room;
        // The direction takes the place of the marks when they are no longer needed.
        let bytes = usize::max(D * n * size_of::<T>(), Marks::bytes(part.n_rows));
        let direction = left.take::<u8>(bytes)?.cast::<T>();
        // Room for numbers of 16 bits at most: each takes 8 bytes and there are fewer than 2^18 in shared memory.
        let found = Neighbours { n: n as u32, rows: left.take(n)?, columns: left.take(part.n_entries())?, direction };
        *room = left;
        share(marks.n_words, |i| marks.write_rows(i, found.rows));
        share(part.n_entries(), |i| {
            *found.columns.add(i) = marks.number(columns.stream(part.first_entry() + i)) as u16;
        });
        thread::sync_threads();
        share(D * n, |i| *found.direction.add(i) = p.at(found.place(i as u32)));
        Some(found)
    }

    /// Where the entry at `i` of the direction is in vectors.
    #[inline(always)]
    unsafe fn place(self, i: u32) -> usize {
        let size = D as u32;
        (size * *self.rows.add((i / size) as usize) + i % size) as usize
    }

    /// Computes: `p = z + beta p` at the neighbours.
    #[inline(always)]
    pub(super) unsafe fn turn(self, beta: T, z: ViewMut<T>) {
        let n = D as u32 * self.n;
        let mut first = thread::thread_idx_x();
        while first < n {
            let places: [u32; AT_ONCE] = core::array::from_fn(|k| first + (k * BLOCK) as u32);
            let z = places.map(|i| z.at(self.place(u32::min(i, n - 1))));
            for k in 0..AT_ONCE {
                if places[k] < n {
                    let p = self.direction.add(places[k] as usize);
                    *p = fma(beta, *p, z[k]);
                }
            }
            first += (AT_ONCE * BLOCK) as u32;
        }
        thread::sync_threads();
    }

    /// The direction where an entry of the part's columns points.
    #[inline(always)]
    pub(super) unsafe fn direction(self, entry: usize) -> [T; D] {
        let p = self.direction.add(D * *self.columns.add(entry) as usize);
        core::array::from_fn(|j| *p.add(j))
    }
}
