//! A symmetric matrix of known values, so that any format's product can be checked and other programs can be measured
//! on the same one.

use rayon::prelude::*;
use warpfem::sparse::Sparsity;

/// Entry (i, j) of the block of a row and a column, between -1 and 1: a hash of where it is, the same where the two are
/// exchanged. It has 20 bits, so single precision holds the same matrix.
pub fn value(block_size: usize, [row, column]: [usize; 2], [i, j]: [usize; 2]) -> f64 {
    let [a, b] = [row * block_size + i, column * block_size + j].map(|at| at as u64);
    // The finalizer of splitmix64.
    let mut hash = (a.max(b) << 32 | a.min(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    (hash >> 44) as f64 / f64::from(1 << 19) - 1.0
}

/// The product of the matrix on a sparsity with `x`, in double precision.
pub fn product(block_size: usize, sparsity: &Sparsity, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; block_size * sparsity.n_rows()];
    y.par_chunks_mut(block_size).with_min_len(256).enumerate().for_each(|(row, y)| {
        for column in sparsity.row(row) {
            let column = *column as usize;
            for (i, y) in y.iter_mut().enumerate() {
                for (j, x) in x[block_size * column..][..block_size].iter().enumerate() {
                    *y += value(block_size, [row, column], [i, j]) * x;
                }
            }
        }
    });
    y
}

/// The norm of the difference of two vectors over that of the second.
pub fn difference(y: &[f64], expected: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let off = norm(&mut y.iter().zip(expected).map(|(y, e)| y - e));
    off / norm(&mut expected.iter().copied()).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_symmetric_and_spread_between_minus_1_and_1() {
        let all = || (0..40).flat_map(|row| (0..40).map(move |column| [row, column]));
        let mut sum = 0.0;
        for [row, column] in all() {
            let there = value(2, [row, column], [0, 1]);
            assert_eq!(there, value(2, [column, row], [1, 0]));
            assert!((-1.0..1.0).contains(&there) && f64::from(there as f32) == there);
            sum += there;
        }
        assert!(sum.abs() < 80.0, "{sum}");
    }

    #[test]
    fn the_product_is_that_of_the_blocks() {
        let sparsity = Sparsity { row_start: vec![0, 2, 3], columns: vec![0, 1, 1] };
        let a = |row, column, i, j| value(2, [row, column], [i, j]);
        let x = [1.0, -2.0, 0.5, 3.0];
        let first = |i| a(0, 0, i, 0) - 2.0 * a(0, 0, i, 1) + 0.5 * a(0, 1, i, 0) + 3.0 * a(0, 1, i, 1);
        let second = |i| 0.5 * a(1, 1, i, 0) + 3.0 * a(1, 1, i, 1);
        let expected = [first(0), first(1), second(0), second(1)];
        let y = product(2, &sparsity, &x);
        assert!(difference(&y, &expected) < 1e-15, "{y:?} {expected:?}");
        assert_eq!(difference(&[3.0, 4.0], &[3.0, 0.0]), 4.0 / 3.0);
    }
}
