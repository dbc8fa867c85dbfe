//! `setup`: running sums, the order of keys, and single reads.

use super::{SIZES, more_than_a_grid};
use crate::common::Random;
use kernels_rs::setup::scan::TILE;
use kernels_rs::setup::sort::KEYS_PER_WARP;
use warpfem::linalg::Space;

/// `n` whole numbers below `most`.
fn numbers(n: usize, most: u64, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    (0..n).map(|_| ((random.next() + 1.0) * 0.5 * most as f64) as u64).collect()
}

pub fn read_at(space: &Space) -> Vec<u64> {
    let values = numbers(1009, 1 << 50, 1);
    let buffer = space.upload(&values).unwrap();
    let found: Vec<u64> = [0, 1, 31, 500, 1008].map(|i| space.read_at(&buffer, i).unwrap()).to_vec();
    assert_eq!(found, [0, 1, 31, 500, 1008].map(|i| values[i]));
    found
}

pub fn exclusive_sum(space: &Space) -> Vec<u64> {
    // One less than a tile fills one with the total; the last takes the block that scans the tiles' sums round twice.
    let tiles = [TILE - 1, TILE, TILE + 1, 3 * TILE, 257 * TILE + 5];
    let mut found = Vec::new();
    for n in SIZES.into_iter().chain(tiles) {
        let counts: Vec<u32> = numbers(n, u32::MAX.into(), 2).into_iter().map(|count| count as u32).collect();
        let sums = space.download(&space.exclusive_sum(&space.upload(&counts).unwrap()).unwrap()).unwrap();
        assert_eq!(sums.len(), n + 1);
        let mut total = 0;
        for (i, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, total, "before count {i} of {n}");
            total += counts.get(i).map_or(0, |count| u64::from(*count));
        }
        found.extend([sums[n / 2], sums[n]]);
    }
    found
}

pub fn sort_order(space: &Space) -> Vec<u64> {
    let warps = [KEYS_PER_WARP - 1, KEYS_PER_WARP, KEYS_PER_WARP + 1, more_than_a_grid(space)];
    let mut found = Vec::new();
    for n in SIZES.into_iter().chain(warps) {
        // Nothing to sort by; many equal keys; whole digits and parts of them; every bit.
        let bits: &[u32] = if n > 2000 { &[8, 17, 64] } else { &[0, 3, 8, 17, 63, 64] };
        for &bits in bits {
            let spread = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let keys: Vec<u64> = numbers(n, 1 << 53, 3).into_iter().map(|key| (key << 11 | key) & spread).collect();
            let order = space.sort_order(&space.upload(&keys).unwrap(), bits).unwrap();
            let order = space.download(&order).unwrap();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|i| keys[*i as usize]);
            assert!(order == expected, "{n} keys of {bits} bits");
            found.extend(order.iter().step_by(97).map(|i| u64::from(*i)));
        }
    }
    found
}
