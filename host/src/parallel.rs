//! Loops over the threads of the current rayon pool, and the parts of arrays that they fill.
//!
//! They take what is to be done behind `&dyn`: a call for each part of the loop, and rayon's own code is compiled once
//! rather than once for every kernel, format and precision.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Items of a part where each takes little time. Sums over such parts, added in order, have the same bits on any number
/// of threads.
pub const PART: usize = 4096;
/// Parts per thread of a loop over items: enough for threads that are done to help the others.
const PARTS_PER_THREAD: usize = 32;

fn part_len(n: usize) -> usize {
    n.div_ceil(PARTS_PER_THREAD * rayon::current_num_threads())
}

/// Calls `work` with parts of `0..n`, of at least `min_len` items where there are so many.
pub fn for_ranges(n: usize, min_len: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let len = part_len(n).max(min_len);
    if n <= len {
        return work(0..n);
    }
    (0..n.div_ceil(len)).into_par_iter().for_each(|part| work(part * len..n.min((part + 1) * len)));
}

/// Calls `work` with each of `0..n`; what it returns, in order.
pub fn map_indices<R: Send>(n: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let mut results: Vec<R> = Vec::with_capacity(n);
    // Threads may not share a plain pointer.
    let start = AtomicPtr::new(results.as_mut_ptr());
    for_ranges(n, 1, &|items| {
        for i in items {
            // SAFETY: below the capacity; each item is in one range.
            unsafe { start.load(Relaxed).add(i).write(work(i)) };
        }
    });
    // SAFETY: the ranges cover all items. After a panic it does not come to this.
    unsafe { results.set_len(n) };
    results
}

/// Calls `work` with each item of an array; what it returns, in order.
pub fn map_items<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    map_indices(items.len(), &|i| work(&items[i]))
}

/// Calls `work` with each of `0..n`; what it appends, in order.
pub fn flat_map<R: Send>(n: usize, work: &(dyn Fn(usize, &mut Vec<R>) + Sync)) -> Vec<R> {
    let parts = map_ranges(n, part_len(n).max(1), &|items| {
        let mut found = Vec::new();
        items.for_each(|i| work(i, &mut found));
        found
    });
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|mut found| all.append(&mut found));
    all
}

/// Calls `work` with each part of `len` items of `0..n`; what it returns, in the order of the parts.
pub fn map_ranges<R: Send>(n: usize, len: usize, work: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    map_indices(n.div_ceil(len), &|part| work(part * len..n.min((part + 1) * len)))
}

/// Calls `work` with each of some tasks; what it returns, in their order.
pub fn map<T: Send, R: Send>(tasks: impl IntoIterator<Item = T>, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    let tasks: Vec<Mutex<Option<T>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    map_indices(tasks.len(), &|i| {
        let taken = tasks[i].lock().ok().and_then(|mut task| task.take());
        let Some(task) = taken else { unreachable!("each task is taken once") };
        work(task)
    })
}

/// Calls `work` with each part of `len` entries of an array, and with the place of its first entry. What it returns, in
/// the order of the parts.
pub fn map_chunks<T: Send, R: Send>(
    array: &mut [T],
    len: usize,
    work: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    map(array.chunks_mut(len).enumerate(), &|(part, entries)| work(part * len, entries))
}

/// Calls `work` with the number and the entries of each part of an array between consecutive `bounds`, which ascend from 0
/// to its length. What it returns, in the order of the parts.
pub fn map_parts<T: Send, R: Send>(
    array: &mut [T],
    bounds: impl IntoIterator<Item = usize>,
    work: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    let (mut rest, mut start) = (array, 0);
    let parts = bounds.into_iter().skip(1).map(|bound| {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(bound - start);
        (rest, start) = (tail, bound);
        head
    });
    map(parts.enumerate(), &|(part, entries)| work(part, entries))
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
    fn items_and_tasks_are_answered_in_order() {
        let items: Vec<String> = (0..1001).map(|i| i.to_string()).collect();
        assert_eq!(map_indices(1001, &|i| i.to_string()), items);
        assert_eq!(map_items(&items, &|item| item.clone() + "!")[1000], "1000!");
        assert_eq!(map(items.clone(), &|item| item), items);
        assert_eq!(flat_map(1001, &|i, found| found.extend((0..i % 3).map(|_| i)))[..4], [1, 2, 2, 4]);
        assert!(flat_map(0, &|_, found: &mut Vec<()>| found.push(())).is_empty());
    }

    #[test]
    fn parts_between_bounds_cover_the_array() {
        let mut array = [1, 2, 3, 4, 5];
        let parts = map_parts(&mut array, [0, 2, 2, 5], &|part, entries| (part, entries.to_vec()));
        assert_eq!(parts, [(0, vec![1, 2]), (1, vec![]), (2, vec![3, 4, 5])]);
    }
}
