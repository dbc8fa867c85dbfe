//! The solver's numbering of nodes: keys by which they are sorted, and what moves with them.

use cuda_std::prelude::*;

/// Bits of each coordinate on the Hilbert curve.
const BITS: u32 = 21;
/// Bits of a place on the Hilbert curve.
pub const HILBERT_BITS: u32 = 3 * BITS;

/// The lattice over a mesh's bounding cube whose points the Hilbert curve visits.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Lattice {
    /// The cube's corner.
    pub low: [f64; 3],
    /// Points per length.
    pub scale: f64,
}

impl Lattice {
    /// The lattice of nodes between two corners.
    pub fn new(low: [f64; 3], high: [f64; 3]) -> Self {
        let mut side = 0.0;
        for c in 0..3 {
            side = f64::max(side, high[c] - low[c]);
        }
        let last = ((1_u32 << BITS) - 1) as f64;
        Lattice { low, scale: if side > 0.0 { last / side } else { 0.0 } }
    }

    /// The place of `x` along the curve, below `2^`[`HILBERT_BITS`].
    #[inline(always)]
    pub fn key(&self, x: [f64; 3]) -> u64 {
        let mut point = [0; 3];
        for c in 0..3 {
            point[c] = ((x[c] - self.low[c]) * self.scale) as u32;
        }
        hilbert_key(point)
    }
}

/// The place of a lattice point along the curve of Skilling 2004, "Programming the Hilbert curve".
#[inline(always)]
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
    let mut key = 0;
    for bit in (0..BITS).rev() {
        for i in 0..3 {
            key = key << 1 | ((x[i] ^ flip) >> bit & 1) as u64;
        }
    }
    key
}

/// Computes: each node's place along the Hilbert curve.
///
/// Parameters: `coords, keys [n_nodes]`. Thread mapping: an item per node.
/// Memory moved: 24 B read and 8 B written per node.
#[kernel(items)]
pub unsafe fn hilbert_keys(node: usize, lattice: Lattice, coords: View<[f64; 3]>, keys: ViewMut<u64>) {
    keys.set(node, lattice.key(coords.at(node)));
}

/// Computes: keys that ascend with the window of a place and fall with the degree of the node there.
///
/// Parameters: `window`, places per window; `bits` of the largest degree; `order [n_nodes]`, the node at each place;
/// `degrees [n_nodes]`, by node; `keys [n_nodes]`, by place. Thread mapping: an item per place.
/// Memory moved: 4 B read in order, 4 B gathered and 8 B written per node.
#[kernel(items)]
pub unsafe fn degree_keys(
    place: usize,
    window: usize,
    bits: u32,
    order: View<u32>,
    degrees: View<u32>,
    keys: ViewMut<u64>,
) {
    let fewer = (1 << bits) - 1 - degrees.at(order.at(place) as usize) as u64;
    keys.set(place, ((place / window.max(1)) as u64) << bits | fewer);
}

/// Computes: `out_i = from[index_i]`.
///
/// Parameters: `index, out [n]`; `from`, as long as the indices reach. Thread mapping: an item per entry.
/// Memory moved: 4 B read in order, 4 B gathered and 4 B written per entry.
#[kernel(items)]
pub unsafe fn gather(i: usize, index: View<u32>, from: View<u32>, out: ViewMut<u32>) {
    out.set(i, from.at(index.at(i) as usize));
}

/// Computes: `out_i = from[index_i]`, for points.
///
/// Parameters: `index, out [n]`; `from`, as long as the indices reach. Thread mapping: an item per entry.
/// Memory moved: 4 B read in order, 24 B gathered and 24 B written per entry.
#[kernel(items)]
pub unsafe fn gather_points(i: usize, index: View<u32>, from: View<[f64; 3]>, out: ViewMut<[f64; 3]>) {
    out.set(i, from.at(index.at(i) as usize));
}

/// Computes: the inverse of a permutation, `inverse[order_i] = i`.
///
/// Parameters: `order, inverse [n]`. Thread mapping: an item per entry.
/// Memory moved: 4 B read in order and 4 B scattered per entry.
///
/// # Safety
/// See the crate's section on safety; every entry of `order` occurs once.
#[kernel(items)]
pub unsafe fn invert(i: usize, order: View<u32>, inverse: ViewMut<u32>) {
    inverse.set(order.at(i) as usize, i as u32);
}
