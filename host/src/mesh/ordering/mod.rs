//! Orders of nodes that keep neighbours close in memory: from where the nodes are ([`hilbert`]), and from who their
//! neighbours are ([`reverse_cuthill_mckee`]).

mod rcm;

pub use rcm::reverse_cuthill_mckee;

use super::extent;
use crate::parallel;
use kernels_rs::setup::order::Lattice;
use rayon::prelude::*;

/// The nodes along a three-dimensional Hilbert curve over their bounding cube: `order[new] = old`.
///
/// Nodes at one place keep their order. The curve is that of Skilling 2004, "Programming the Hilbert curve".
pub fn hilbert(coords: &[[f64; 3]]) -> Vec<u32> {
    let lattice = lattice(coords);
    let mut keyed: Vec<(u64, u32)> = parallel::map_indices(coords.len(), &|i| (lattice.key(coords[i]), i as u32));
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// The lattice of the Hilbert curve over these nodes.
pub fn lattice(coords: &[[f64; 3]]) -> Lattice {
    let (low, high) = extent(coords);
    Lattice::new(low, high)
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
