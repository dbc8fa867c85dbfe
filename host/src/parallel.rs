//! Loops over the threads of the current rayon pool, and the parts of arrays that they fill.
//!
//! They take what is to be done behind `&dyn`: a call for each part of the loop, and rayon's own code is compiled once
//! rather than once for every kernel, format and precision.

use rayon::prelude::*;
use std::ops::Range;

/// Parts per thread of a loop over items: enough for threads that are done to help the others.
const PARTS_PER_THREAD: usize = 32;

/// Calls `work` with parts of `0..n`, of at least `min_len` items where there are so many.
pub fn for_ranges(n: usize, min_len: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let len = n.div_ceil(PARTS_PER_THREAD * rayon::current_num_threads()).max(min_len);
    if n <= len {
        return work(0..n);
    }
    (0..n.div_ceil(len)).into_par_iter().for_each(|part| work(part * len..n.min((part + 1) * len)));
}

/// Calls `work` with each part of `len` items of `0..n`; what it returns, in the order of the parts.
pub fn map_ranges<R: Send>(n: usize, len: usize, work: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    (0..n.div_ceil(len)).into_par_iter().map(|part| work(part * len..n.min((part + 1) * len))).collect()
}

/// Calls `work` with each part of `len` entries of an array, and with the place of its first entry. What it returns, in
/// the order of the parts.
pub fn map_chunks<T: Send, R: Send>(
    array: &mut [T],
    len: usize,
    work: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    array.par_chunks_mut(len).enumerate().map(|(part, entries)| work(part * len, entries)).collect()
}

/// Calls `work` with each part of `len` entries of two arrays of the same length, and with the place of its first entry.
pub fn for_chunks<T: Send>(arrays: [&mut [T]; 2], len: usize, work: &(dyn Fn(usize, [&mut [T]; 2]) + Sync)) {
    let [a, b] = arrays.map(|array| array.par_chunks_mut(len));
    a.zip(b).enumerate().for_each(|(part, (a, b))| work(part * len, [a, b]));
}

/// Calls `work` with each of some tasks; what it returns, in their order.
pub fn map<T: Send, R: Send>(tasks: Vec<T>, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    tasks.into_par_iter().map(work).collect()
}

/// The parts of `array` between consecutive `bounds`, which ascend from 0 to its length.
pub fn split_at_bounds<T>(array: &mut [T], bounds: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = array;
    let mut parts = Vec::new();
    let mut start = 0;
    for bound in bounds.into_iter().skip(1) {
        let (head, tail) = rest.split_at_mut(bound - start);
        parts.push(head);
        rest = tail;
        start = bound;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn ranges_cover_every_item_once() {
        for (n, min_len) in [(0, 1), (1, 512), (511, 512), (513, 512), (100_003, 7), (1000, 1)] {
            let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            for_ranges(n, min_len, &|range| {
                assert!(range.len() >= min_len.min(n) || range.end == n, "{range:?} of {n}");
                range.for_each(|i| {
                    counts[i].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{n} by {min_len}");
        }
    }

    #[test]
    fn parts_of_a_range_are_told_in_order() {
        let parts = map_ranges(1001, 100, &|range| (range.start, range.end));
        assert_eq!(parts.len(), 11);
        assert!(parts.windows(2).all(|pair| pair[0].1 == pair[1].0), "{parts:?}");
        assert_eq!((parts[0], parts[10]), ((0, 100), (1000, 1001)));
        assert!(map_ranges(0, 100, &|range| range.len()).is_empty());
    }

    #[test]
    fn chunks_know_their_places() {
        let mut array: Vec<usize> = (0..1001).collect();
        let sums = map_chunks(&mut array, 100, &|first, part| {
            part.iter_mut().enumerate().for_each(|(i, entry)| *entry -= first + i);
            part.len()
        });
        assert!(array.iter().all(|entry| *entry == 0));
        assert_eq!(sums, [[100; 10].as_slice(), &[1]].concat());
    }

    #[test]
    fn parts_between_bounds_cover_the_array() {
        let mut array = [1, 2, 3, 4, 5];
        let parts = split_at_bounds(&mut array, [0, 2, 2, 5]);
        assert_eq!(parts, [&mut [1, 2][..], &mut [], &mut [3, 4, 5]]);
    }
}
