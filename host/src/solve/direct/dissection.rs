//! Nested dissection by coordinates: an order of elimination that keeps the factors of a mesh's matrix small (George
//! 1973, SIAM J. Numer. Anal. 10:345; Miller, Teng, Thurston and Vavasis 1997, J. ACM 44:1, for the geometry).
//!
//! A plane across the longest extent halves a set of nodes. Those of one half that have neighbours in the other
//! separate the rest: eliminated last, they keep what either half fills in to itself. Of n nodes of a mesh in space,
//! `O(n^(4/3))` entries are filled so, in the plane `O(n log n)`; node by node as a box is numbered, `O(n^(5/3))` and
//! `O(n^(3/2))`.

use crate::parallel;
use crate::sparse::Sparsity;
use std::cmp::Ordering::{Equal, Less};
use std::ops::Range;

/// Sets of at most so many nodes are not divided further.
const LEAF: usize = 12;

/// A half has at least this share of the nodes, or nodes at the cut are shared out one by one.
const SMALLEST_SHARE: usize = 8;

/// An order of elimination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dissection {
    /// `order[place] = node`, `[n_nodes]`.
    pub order: Vec<u32>,
    /// Every division, by places in `order`.
    pub divisions: Vec<Division>,
}

/// Two sets of nodes without a common entry in the matrix, and what separates them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// The first set's places.
    pub low: Range<usize>,
    /// The second's.
    pub high: Range<usize>,
    /// The separator's, after both.
    pub separator: Range<usize>,
}

impl Dissection {
    /// Of a symmetric sparsity of nodes at these coordinates, `[n_nodes]`.
    ///
    /// # Panics
    ///
    /// Panics if there are not as many coordinates as rows.
    pub fn new(sparsity: &Sparsity, coords: &[[f64; 3]]) -> Self {
        assert_eq!(sparsity.n_rows(), coords.len(), "a point for every node");
        let mut order: Vec<u32> = (0..coords.len() as u32).collect();
        let surroundings = parallel::map_indices(coords.len(), &|node| surroundings(sparsity, coords, node));
        let mut dissecting = Dissecting { sparsity, coords, surroundings, set_of: vec![0; coords.len()], n_sets: 0 };
        let mut divisions = Vec::new();
        // Of places still to be divided.
        let mut left: Vec<Range<usize>> = std::iter::once(0..order.len()).collect();
        while let Some(places) = left.pop() {
            if places.len() > LEAF {
                let division = dissecting.divide(&mut order[places.clone()], places.start);
                left.extend([division.low.clone(), division.high.clone()]);
                divisions.push(division);
            }
        }
        Dissection { order, divisions }
    }

    /// The order of unknowns, `size` for each node: `(order, inverse)`, `[n_nodes * size]` each.
    pub fn of_unknowns(&self, size: usize) -> (Vec<usize>, Vec<usize>) {
        let order: Vec<usize> =
            self.order.iter().flat_map(|node| (0..size).map(move |i| *node as usize * size + i)).collect();
        let mut inverse = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, unknown)| inverse[*unknown] = place);
        (order, inverse)
    }
}

/// The smallest and the largest coordinates of a node and its neighbours; without bounds if one is not a number.
fn surroundings(sparsity: &Sparsity, coords: &[[f64; 3]], node: usize) -> [[f64; 3]; 2] {
    let near = sparsity.row(node).iter().map(|other| &coords[*other as usize]);
    near.fold([coords[node]; 2], |[low, high], x| {
        let bound = |c: usize, of: fn(f64, f64) -> f64, at: f64, none: f64| {
            if x[c].is_nan() || at.is_nan() { none } else { of(at, x[c]) }
        };
        [
            [0, 1, 2].map(|c| bound(c, f64::min, low[c], f64::NEG_INFINITY)),
            [0, 1, 2].map(|c| bound(c, f64::max, high[c], f64::INFINITY)),
        ]
    })
}

/// Two halves of a set of nodes: the first so many, and the plane between them.
struct Halves {
    n_low: usize,
    axis: usize,
    cut: f64,
}

struct Dissecting<'a> {
    sparsity: &'a Sparsity,
    coords: &'a [[f64; 3]],
    surroundings: Vec<[[f64; 3]; 2]>,
    /// The set each node was last put into.
    set_of: Vec<u32>,
    n_sets: u32,
}

impl Dissecting<'_> {
    /// Reorders nodes, ascending and of which there are two or more, into two sets and their separator, each ascending;
    /// they start at place `first`.
    fn divide(&mut self, nodes: &mut [u32], first: usize) -> Division {
        let Halves { n_low, axis, cut } = self.halve(nodes);
        let (low, high) = nodes.split_at(n_low);
        let sets = [self.mark(low), self.mark(high)];
        // A neighbour in the other half is on the other side of the cut.
        let reaches_up = |node: &u32| self.surroundings[*node as usize][1][axis] >= cut || cut.is_nan();
        let reaches_down = |node: &u32| self.surroundings[*node as usize][0][axis] <= cut || cut.is_nan();
        let at_cut = [self.touching(low, sets[1], reaches_up), self.touching(high, sets[0], reaches_down)];
        // Either boundary separates what remains.
        let [in_low, in_high] = at_cut;
        let (separator, others, is_low) =
            if in_low.len() <= in_high.len() { (in_low, sets[0], true) } else { (in_high, sets[1], false) };
        let n_separator = separator.len();
        let set = self.mark(&separator);
        // A stable order: the separator goes behind.
        let rest: Vec<u32> = nodes.iter().copied().filter(|node| self.set_of[*node as usize] != set).collect();
        let n_own = rest.iter().filter(|node| self.set_of[**node as usize] == others).count();
        let n_low = if is_low { n_own } else { rest.len() - n_own };
        nodes[..rest.len()].copy_from_slice(&rest);
        nodes[rest.len()..].copy_from_slice(&separator);
        let (middle, end) = (first + n_low, first + rest.len());
        Division { low: first..middle, high: middle..end, separator: end..end + n_separator }
    }

    /// Puts the nodes below the middle of the longest extent first; within each half they stay in their order.
    fn halve(&self, nodes: &mut [u32]) -> Halves {
        let axis = self.longest_axis(nodes);
        let at = |node: &u32| self.coords[*node as usize][axis];
        let middle = nodes.len() / 2;
        let mut places: Vec<f64> = nodes.iter().map(at).collect();
        let cut = *places.select_nth_unstable_by(middle, f64::total_cmp).1;
        // In a mesh of layers the cut goes between two of them: above or below that of the middle.
        let count = |side| nodes.iter().filter(|node| at(node).total_cmp(&cut) == side).count();
        let (below, at_cut) = (count(Less), count(Equal));
        let whole = |n: usize| n.min(nodes.len() - n) * SMALLEST_SHARE >= nodes.len();
        let candidates = [below, below + at_cut];
        let n_low = candidates.into_iter().filter(|n| whole(*n)).min_by_key(|n| n.abs_diff(middle)).unwrap_or(middle);
        // Those at the cut that go to the first half, in their order.
        let mut left = n_low - below;
        let is_low = |node: &u32| match at(node).total_cmp(&cut) {
            Equal if left > 0 => {
                left -= 1;
                true
            }
            side => side == Less,
        };
        let (low, high): (Vec<u32>, Vec<u32>) = nodes.iter().copied().partition(is_low);
        nodes[..n_low].copy_from_slice(&low);
        nodes[n_low..].copy_from_slice(&high);
        Halves { n_low, axis, cut }
    }

    fn longest_axis(&self, nodes: &[u32]) -> usize {
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        for node in nodes {
            for (bound, x) in bounds.iter_mut().zip(self.coords[*node as usize]) {
                *bound = [bound[0].min(x), bound[1].max(x)];
            }
        }
        let extent = |axis: &usize| bounds[*axis][1] - bounds[*axis][0];
        (0..3).max_by(|a, b| extent(a).total_cmp(&extent(b))).unwrap_or(0)
    }

    fn mark(&mut self, nodes: &[u32]) -> u32 {
        self.n_sets += 1;
        nodes.iter().for_each(|node| self.set_of[*node as usize] = self.n_sets);
        self.n_sets
    }

    /// Those of the nodes that have a neighbour in a set, which only those may have that are `near`.
    fn touching(&self, nodes: &[u32], set: u32, near: impl Fn(&u32) -> bool) -> Vec<u32> {
        let touches = |node: &u32| {
            let row = self.sparsity.row(*node as usize);
            row.iter().any(|neighbour| self.set_of[*neighbour as usize] == set)
        };
        nodes.iter().copied().filter(|node| near(node) && touches(node)).collect()
    }
}
