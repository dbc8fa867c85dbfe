//! Temperatures less the reference, where strains are asked for.

use crate::mesh::Cells;
use crate::model::Model;

/// At the centre of a cell; 0 without temperatures.
pub(super) fn at_centre(model: &Model, block: usize, cells: &Cells, cell: usize) -> f64 {
    let Some(temperature) = &model.temperature else { return 0.0 };
    let (shape, centre) = (&cells.kind.info().shape, cells.kind.info().domain.centroid());
    let nodes = cells.cell(cell).iter().enumerate();
    nodes.map(|(b, &node)| (shape.value)(b, centre) * temperature.in_cell(block, cell, node)).sum()
}

/// At the nodes, the mean of the cells of the material that is shown there; nothing without temperatures.
pub(super) fn at_nodes(model: &Model, shown: &[Option<usize>]) -> Vec<f64> {
    let Some(temperature) = &model.temperature else { return Vec::new() };
    let (mut sums, mut counts) = (vec![0.0; shown.len()], vec![0.0; shown.len()]);
    for (block, cells) in model.mesh.solids() {
        for (cell, &material) in model.cell_material[block].iter().enumerate() {
            for &node in cells.cell(cell).iter().filter(|node| shown[**node as usize] == Some(material as usize)) {
                sums[node as usize] += temperature.in_cell(block, cell, node);
                counts[node as usize] += 1.0;
            }
        }
    }
    sums.iter().zip(counts).map(|(sum, count)| sum / f64::max(count, 1.0)).collect()
}
