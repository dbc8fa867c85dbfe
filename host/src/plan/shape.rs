//! What the shape of a body says of how it is best solved: is it compact or thin, are its elements stretched?

use crate::mesh::{Cells, Mesh, quality};
use crate::model::Model;
use crate::precond::amg::stacks::{LINEAR, QUADRATIC};

/// Elements more stretched than this take multigrid long.
pub const STRETCHED: f64 = 5.0;
/// Cells that volumes are looked at of.
const SAMPLED_CELLS: usize = 10_000;

/// Up to `most` of the numbers below n, spread by the golden ratio: equal steps may keep to one side of a grid.
pub(super) fn spread(n: usize, most: usize) -> impl Iterator<Item = usize> {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let place = move |k: usize| if n <= most { k } else { ((k as f64 * GOLDEN).fract() * n as f64) as usize };
    (0..n.min(most)).map(place)
}

/// The square of a distance.
pub(super) fn square(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum()
}

/// The volume of all cells, by that of some.
pub(super) fn volume(model: &Model) -> f64 {
    let of_cells = |cells: &Cells| {
        let some: Vec<u32> = spread(cells.len(), SAMPLED_CELLS).map(|i| i as u32).collect();
        quality::measure(&model.mesh, cells, &some) * cells.len() as f64 / some.len().max(1) as f64
    };
    model.mesh.solids().map(|(_, cells)| of_cells(cells)).sum()
}

/// Whether all elements are of second order.
pub fn is_quadratic(mesh: &Mesh) -> bool {
    mesh.solids().all(|(_, cells)| cells.kind.info().is_quadratic())
}

/// Whether none is.
pub fn is_linear(mesh: &Mesh) -> bool {
    mesh.solids().all(|(_, cells)| !cells.kind.info().is_quadratic())
}

/// The share of the elements that have all their corners on the skin: those of a body one element across, and a few in
/// corners and along edges of others.
pub fn one_across(mesh: &Mesh) -> f64 {
    let is_on = skin_nodes(mesh);
    let (mut found, mut all) = (0, 0);
    for (_, cells) in mesh.solids() {
        let n = cells.kind.info().n_corners;
        found += (0..cells.len()).filter(|i| cells.cell(*i)[..n].iter().all(|node| is_on[*node as usize])).count();
        all += cells.len();
    }
    found as f64 / all.max(1) as f64
}

/// Whether each node is on the skin.
fn skin_nodes(mesh: &Mesh) -> Vec<bool> {
    let mut is_on = vec![false; mesh.coords.len()];
    mesh.skin().iter().flat_map(|face| face.nodes()).for_each(|node| is_on[*node as usize] = true);
    is_on
}

/// The largest Poisson's ratio of a model.
pub fn largest_poisson(model: &Model) -> f64 {
    model.materials.iter().map(|material| material.law.poisson()).fold(0.0, f64::max)
}

/// The longest edge over the shortest one, the median of some elements.
pub fn median_stretch(mesh: &Mesh) -> f64 {
    median_ratio(mesh, |edges| edges[0])
}

/// The longest edge over the middle one, the median of some elements: large where they are tall, and not where they are
/// flat.
pub fn median_height(mesh: &Mesh) -> f64 {
    median_ratio(mesh, |edges| edges[edges.len() / 2])
}

/// The longest edge over another of the ascending ones, the median of some elements.
fn median_ratio(mesh: &Mesh, other: fn(&[f64]) -> f64) -> f64 {
    let mut all = Vec::new();
    for (_, cells) in mesh.solids() {
        let edges = cells.kind.edges();
        for i in spread(cells.len(), SAMPLED_CELLS) {
            let x = |k: usize| mesh.coords[cells.cell(i)[k] as usize];
            let mut squares: Vec<f64> = edges.iter().map(|edge| square(&x(edge[0]), &x(edge[1]))).collect();
            squares.sort_unstable_by(f64::total_cmp);
            all.push((squares[squares.len() - 1] / other(&squares)).sqrt());
        }
    }
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(1.0)
}

/// The share of nodes of cells that are far closer to another than to the farthest of their cell, by that of some
/// cells: what multigrid takes for [stacks](crate::precond::amg::stacks).
pub fn stacked(mesh: &Mesh) -> f64 {
    let (mut found, mut all) = (0, 0);
    for (_, cells) in mesh.solids() {
        let flat = if cells.kind.info().is_quadratic() { QUADRATIC } else { LINEAR };
        for i in spread(cells.len(), SAMPLED_CELLS) {
            let x: Vec<[f64; 3]> = cells.cell(i).iter().map(|node| mesh.coords[*node as usize]).collect();
            let longest: Vec<f64> = x.iter().map(|a| x.iter().map(|b| square(a, b)).fold(0.0, f64::max)).collect();
            let is_stacked = |a: usize, b: usize| flat.powi(2) * square(&x[a], &x[b]) < longest[a].min(longest[b]);
            found += (0..x.len()).filter(|&a| (0..x.len()).any(|b| a != b && is_stacked(a, b))).count();
            all += x.len();
        }
    }
    found as f64 / all.max(1) as f64
}

/// The share of the nodes of a mesh that are on its skin.
pub fn on_surface(mesh: &Mesh) -> f64 {
    let is_on = skin_nodes(mesh);
    is_on.iter().filter(|is_on| **is_on).count() as f64 / is_on.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::clamped_box;
    use super::*;

    #[test]
    fn tall_cells_are_told_from_flat_ones() {
        let plate = |cells| clamped_box("hex20", [8, 8, 2], [cells, cells, 1]).mesh;
        assert_eq!([median_stretch(&plate(1)), median_height(&plate(1))].map(f64::round), [4.0, 1.0]);
        assert_eq!([median_stretch(&plate(16)), median_height(&plate(16))].map(f64::round), [4.0, 4.0]);
    }
}
