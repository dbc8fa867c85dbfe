//! Temperatures less the reference, where strains are asked for.

use crate::mesh::Cells;
use crate::model::Model;

/// At the centre of a cell in a step; 0 without temperatures.
pub(super) fn at_centre(model: &Model, step: usize, block: usize, cells: &Cells, cell: usize) -> f64 {
    model.temperature.as_ref().map_or(0.0, |temperature| temperature.at_centre(step, block, cells, cell))
}

/// At the nodes in a step, the mean of the cells of the material that is shown there; nothing without temperatures.
pub(super) fn at_nodes(model: &Model, step: usize, shown: &[Option<usize>]) -> Vec<f64> {
    let Some(temperature) = &model.temperature else { return Vec::new() };
    let (mut sums, mut counts) = (vec![0.0; shown.len()], vec![0.0; shown.len()]);
    for (block, cells) in model.mesh.solids() {
        for (cell, &material) in model.cell_material[block].iter().enumerate() {
            for &node in cells.cell(cell).iter().filter(|node| shown[**node as usize] == Some(material as usize)) {
                sums[node as usize] += temperature.in_cell(step, block, cell, node);
                counts[node as usize] += 1.0;
            }
        }
    }
    sums.iter().zip(counts).map(|(sum, count)| sum / f64::max(count, 1.0)).collect()
}
