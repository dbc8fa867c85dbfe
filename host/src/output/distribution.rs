//! A quantity over nodes and elements: the largest value, where it is, and how the values are distributed.

use serde::Serialize;

use super::largest;
use crate::mesh::{Mesh, middle};
use warpfem_text::{engineering, vector};

/// The largest value of a quantity at the nodes, and where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Peak {
    /// The largest value.
    pub max: f64,
    /// Coordinates of the first node that has it.
    pub max_at: [f64; 3],
    /// Its tag.
    pub max_node: u64,
}

/// Element values that exceed the nodal ones by less than this part are no sign of anything.
const LEAST_EXCESS: f64 = 0.05;

impl Peak {
    /// What the value is, and the largest of the elements at their `centres` beside it.
    pub fn beside(&self, centres: &Distribution) -> String {
        let more = self.excess(centres).map_or(String::new(), |excess| format!(", {:.0} % more", 100.0 * excess));
        format!("nodal average; {} at element centres{more}", engineering(centres.max))
    }

    /// A warning where an element's value is far above all nodal averages.
    pub(super) fn doubt(&self, centres: &Distribution, of: &str) -> Option<String> {
        let percent = 100.0 * self.excess(centres)?;
        Some(format!(
            "mesh too coarse near {}: element {of} exceeds the nodal average by {percent:.0} %. Refine there, or use \
             second-order elements",
            vector(centres.max_at)
        ))
    }

    /// By which part of it the largest element value is above this one, where that is much: the mesh is too coarse.
    pub fn excess(&self, centres: &Distribution) -> Option<f64> {
        let excess = centres.max / self.max - 1.0;
        (excess.is_finite() && excess >= LEAST_EXCESS).then_some(excess)
    }

    /// That of `values`, `[n_nodes]`; NaN if there is none, or if one of them is not finite.
    pub fn of(mesh: &Mesh, values: &[f64]) -> Peak {
        largest_of(values).map_or(Peak { max: f64::NAN, ..Peak::default() }, |(node, max)| Peak::at(mesh, node, max))
    }

    /// That value at this node.
    pub(super) fn at(mesh: &Mesh, node: usize, max: f64) -> Peak {
        Peak { max, max_at: mesh.coords[node], max_node: mesh.node_tags[node] }
    }
}

/// The ends of a quantity at nodes or elements, and where they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Range {
    /// The smallest value.
    pub min: f64,
    /// Coordinates of the first place that has it.
    pub min_at: [f64; 3],
    /// The largest value.
    pub max: f64,
    /// Coordinates of the first place that has it.
    pub max_at: [f64; 3],
}

impl Range {
    /// That of `values` at the places `at` says; NaN if there is none, or if one of them is not finite.
    pub fn of(values: &[f64], at: impl Fn(usize) -> [f64; 3]) -> Range {
        let end = |values: &[f64]| largest_of(values).map_or((f64::NAN, [0.0; 3]), |(i, value)| (value, at(i)));
        let (max, max_at) = end(values);
        let (min, min_at) = end(&values.iter().map(|value| -value).collect::<Vec<_>>());
        Range { min: -min, min_at, max, max_at }
    }
}

/// A quantity over the elements, each counted once whatever its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The smallest value that at least 99 % of the elements do not exceed (nearest rank).
    pub p99: f64,
    /// The mean of the nodes' coordinates of the first element that has the largest value.
    pub max_at: [f64; 3],
    /// Its tag.
    pub max_element: u64,
}

impl Distribution {
    /// The distribution of all `values`, `[n_blocks][n_cells]`, whatever block they are in. NaN throughout if there is
    /// none, or if one of them is not finite: a result with holes has no honest maximum.
    pub fn of(mesh: &Mesh, values: &[Vec<f64>]) -> Distribution {
        let mut all: Vec<f64> = values.concat();
        let Some((first, _)) = largest_of(&all) else {
            let nan = f64::NAN;
            return Distribution { min: nan, max: nan, mean: nan, p99: nan, max_at: [0.0; 3], max_element: 0 };
        };
        let (max_at, max_element) = place(mesh, values, 1, first);
        let n = all.len();
        // Partial sums keep the rounding error of millions of terms near that of thousands.
        let sum: f64 = all.chunks(4096).map(|chunk| chunk.iter().sum::<f64>()).sum();
        let rank = (99 * n).div_ceil(100) - 1;
        let (below, &mut p99, above) = all.select_nth_unstable_by(rank, f64::total_cmp);
        let min = below.iter().fold(p99, |a, &b| a.min(b));
        let max = above.iter().fold(p99, |a, &b| a.max(b));
        Distribution { min, max, mean: sum / n as f64, p99, max_at, max_element }
    }
}

/// The largest of values that are all finite, and its position.
fn largest_of(values: &[f64]) -> Option<(usize, f64)> {
    largest(values.iter().copied()).filter(|_| values.iter().all(|value| value.is_finite()))
}

/// The middle and the tag of the cell that is the `index`th of all with `values`, `[n_blocks][n_cells][width]`.
pub fn place(mesh: &Mesh, values: &[Vec<f64>], width: usize, mut index: usize) -> ([f64; 3], u64) {
    for (cells, values) in mesh.cells.iter().zip(values) {
        if index < values.len() / width {
            let corners = cells.cell(index).iter().map(|&node| mesh.coords[node as usize]);
            return (middle(corners), cells.tags[index]);
        }
        index -= values.len() / width;
    }
    ([0.0; 3], 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Cells;
    use crate::output::tests::hex_pair;

    #[test]
    fn distribution_counts_elements_of_all_blocks() {
        let mut mesh = hex_pair();
        let hex = mesh.cells.remove(1);
        let copies = |n: usize, tag: u64| Cells {
            kind: hex.kind,
            nodes: hex.nodes.repeat(n / 2),
            tags: (tag..tag + n as u64).collect(),
        };
        mesh.cells = vec![copies(150, 1000), Cells { tags: vec![], nodes: vec![], ..copies(2, 0) }, copies(50, 5000)];
        let values = vec![(51..=200).map(f64::from).collect(), vec![], (1..=50).rev().map(f64::from).collect()];
        // Number 149 is the second of the pair.
        let place = ([1.5, 0.5, 0.5], 1149);
        let expected =
            Distribution { min: 1.0, max: 200.0, mean: 100.5, p99: 198.0, max_at: place.0, max_element: place.1 };
        assert_eq!(Distribution::of(&mesh, &values), expected);
        let values = vec![vec![0.0; 150], vec![], (1..=50).rev().map(f64::from).collect()];
        let found = Distribution::of(&mesh, &values);
        assert_eq!((found.max, found.max_at, found.max_element), (50.0, [0.5; 3], 5000));
    }

    #[test]
    fn distribution_of_nothing_or_of_holes_is_nan() {
        let mesh = hex_pair();
        for values in [vec![], vec![vec![], vec![1.0, f64::NAN]], vec![vec![], vec![f64::INFINITY, 1.0]]] {
            let found = Distribution::of(&mesh, &values);
            assert!(found.min.is_nan() && found.max.is_nan() && found.mean.is_nan() && found.p99.is_nan());
        }
    }

    #[test]
    fn a_peak_is_the_first_node_that_has_it() {
        let mesh = hex_pair();
        let mut values = vec![1.0; 12];
        (values[5], values[7]) = (3.0, 3.0);
        assert_eq!(Peak::of(&mesh, &values), Peak { max: 3.0, max_at: mesh.coords[5], max_node: 6 });
        values[2] = f64::NAN;
        assert!(Peak::of(&mesh, &values).max.is_nan() && Peak::of(&mesh, &[]).max.is_nan());
    }
}
