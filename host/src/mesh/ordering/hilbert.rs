//! Nodes along a space-filling curve.

use rayon::prelude::*;

/// Bits of each coordinate on the curve; three times as many make the key.
const BITS: u32 = 21;

/// The nodes along a three-dimensional Hilbert curve over their bounding cube: `order[new] = old`.
///
/// Nodes at one place keep their order. The curve is that of Skilling 2004, "Programming the Hilbert curve".
pub fn hilbert(coords: &[[f64; 3]]) -> Vec<u32> {
    let (low, high) = coords.iter().fold(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), |(low, high), x| {
        ([0, 1, 2].map(|c| low[c].min(x[c])), [0, 1, 2].map(|c| high[c].max(x[c])))
    });
    let side = (0..3).map(|c| high[c] - low[c]).fold(0.0, f64::max);
    let last = f64::from((1u32 << BITS) - 1);
    let scale = if side > 0.0 { last / side } else { 0.0 };
    let key = |x: &[f64; 3]| hilbert_key([0, 1, 2].map(|c| ((x[c] - low[c]) * scale) as u32));
    let mut keyed: Vec<(u64, u32)> = coords.par_iter().enumerate().map(|(i, x)| (key(x), i as u32)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// The place of a lattice point along the curve.
fn hilbert_key(mut x: [u32; 3]) -> u64 {
    let top = 1 << (BITS - 1);
    let mut q = top;
    while q > 1 {
        let low = q - 1;
        for i in 0..3 {
            if x[i] & q != 0 {
                x[0] ^= low;
            } else {
                let swap = (x[0] ^ x[i]) & low;
                x[0] ^= swap;
                x[i] ^= swap;
            }
        }
        q >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut flip = 0;
    let mut q = top;
    while q > 1 {
        if x[2] & q != 0 {
            flip ^= q - 1;
        }
        q >>= 1;
    }
    let x = x.map(|c| c ^ flip);
    (0..BITS).rev().fold(0, |key, bit| x.iter().fold(key, |key, c| key << 1 | u64::from(c >> bit & 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice(n: usize) -> Vec<[f64; 3]> {
        (0..n * n * n).map(|i| [i % n, i / n % n, i / n / n].map(|c| c as f64)).collect()
    }

    #[test]
    fn every_step_on_a_full_lattice_goes_to_a_neighbour() {
        let coords = lattice(8);
        let order = hilbert(&coords);
        for pair in order.windows(2) {
            let (a, b) = (coords[pair[0] as usize], coords[pair[1] as usize]);
            assert_eq!((0..3).map(|c| (a[c] - b[c]).abs()).sum::<f64>(), 1.0, "{a:?} {b:?}");
        }
    }

    #[test]
    fn it_is_a_permutation_and_ties_keep_their_order() {
        let mut order = hilbert(&lattice(7));
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..343));
        assert_eq!(hilbert(&[[2.0; 3]; 4]), [0, 1, 2, 3]);
        assert!(hilbert(&[]).is_empty());
    }
}
