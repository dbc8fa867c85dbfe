//! Values of a solution at a place.

use crate::model::Model;

/// The node nearest to a place; 0 without nodes.
pub fn node_at(model: &Model, place: [f64; 3]) -> usize {
    let distance = |x: &[f64; 3]| (0..3).map(|i| (x[i] - place[i]).powi(2)).sum::<f64>();
    let nodes = model.mesh.coords.iter().map(distance).enumerate();
    nodes.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |nearest| nearest.0)
}

/// The mean displacement of the nodes of a plane x = constant.
pub fn mean_at_x(model: &Model, displacement: &[[f64; 3]], x: f64) -> [f64; 3] {
    let on_plane = model.mesh.coords.iter().zip(displacement).filter(|(node, _)| node[0] == x);
    let (n, sum) = on_plane.fold((0.0, [0.0; 3]), |(n, sum), (_, u)| (n + 1.0, [0, 1, 2].map(|i| sum[i] + u[i])));
    sum.map(|sum: f64| sum / n)
}
