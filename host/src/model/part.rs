//! The part of a model that a rank has: mesh, materials, springs and couplings, without supports and loads.

use super::{Model, Spring, Study};
use crate::mesh::partition::Piece;
use crate::parallel;
use std::sync::Arc;

impl Model {
    /// The model of a piece of the mesh, whose blocks of cells are the piece's, with the couplings of nodes that are its own.
    pub fn part(&self, piece: &Piece, is_own: impl Fn(u32) -> bool) -> Model {
        let of_cells = |values: &[Vec<u32>]| -> Vec<Vec<u32>> {
            piece.cells.iter().map(|(block, cells)| picked(&values[*block], cells)).collect()
        };
        let factors = |(block, cells): &(usize, Vec<u32>)| picked(&self.cell_factors[*block], cells);
        let place = |node: u32| piece.place(node).map(|place| place as u32);
        let springs = self.springs.iter().map(|spring| {
            let blocks = spring.blocks.iter().filter_map(|(a, b, block)| Some((place(*a)?, place(*b)?, *block)));
            Spring { blocks: blocks.collect(), driven: Vec::new(), ..spring.clone() }
        });
        Model {
            name: self.name.clone(),
            case_text: self.case_text.clone(),
            mesh: Arc::new(piece.mesh(&self.mesh)),
            analysis: self.analysis,
            study: Study::Static,
            modes: 0,
            shift: 0.0,
            prestress: false,
            response: None,
            time: None,
            units: self.units,
            thickness: self.thickness,
            materials: self.materials.clone(),
            cell_material: of_cells(&self.cell_material),
            cell_factors: if self.cell_factors.is_empty() { vec![] } else { piece.cells.iter().map(factors).collect() },
            supports: Vec::new(),
            springs: springs.collect(),
            masses: Vec::new(),
            constraints: self.constraints.among(|node| place(node).filter(|_| is_own(node))),
            gravity: None,
            rotation: None,
            temperature: None,
            pins: Vec::new(),
            nodal_forces: Vec::new(),
            applied: Vec::new(),
            load_cases: Vec::new(),
            load_forces: Vec::new(),
            others: Vec::new(),
            solver: self.solver.clone(),
            fields: Vec::new(),
            deck: None,
            frd: None,
            probes: Vec::new(),
            warnings: Vec::new(),
            is_too_stiff: false,
        }
    }
}

fn picked<T: Copy + Sync + Send>(values: &[T], cells: &[u32]) -> Vec<T> {
    parallel::map_items(cells, &|cell| values[*cell as usize])
}
