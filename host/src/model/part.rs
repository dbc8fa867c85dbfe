//! The part of a model that a rank has: mesh, materials, springs and couplings, without supports and loads. Serde's functions
//! are for those of such parts that go to another process.

use super::springs::Block;
use super::{Analysis, Constraints, Material, Model, SolverOptions, Spring, Study};
use crate::mesh::Mesh;
use crate::mesh::partition::Piece;
use crate::parallel;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// What a part has of its model.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    mesh: Cow<'a, Mesh>,
    analysis: Analysis,
    thickness: f64,
    materials: Cow<'a, [Material]>,
    cell_material: Cow<'a, [Vec<u32>]>,
    cell_factors: Cow<'a, [Vec<f64>]>,
    /// Their blocks.
    springs: Vec<Cow<'a, [(u32, u32, Block)]>>,
    constraints: Cow<'a, Constraints>,
    solver: Cow<'a, SolverOptions>,
}

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
            blocks.collect()
        });
        let body = Body {
            mesh: Cow::Owned(piece.mesh(&self.mesh)),
            analysis: self.analysis,
            thickness: self.thickness,
            materials: Cow::Borrowed(&self.materials),
            cell_material: of_cells(&self.cell_material).into(),
            cell_factors: if self.cell_factors.is_empty() { vec![] } else { piece.cells.iter().map(factors).collect() }
                .into(),
            springs: springs.collect(),
            constraints: Cow::Owned(self.constraints.among(|node| place(node).filter(|_| is_own(node)))),
            solver: Cow::Borrowed(&self.solver),
        };
        body.into()
    }
}

impl<'a> From<&'a Model> for Body<'a> {
    fn from(model: &'a Model) -> Self {
        Body {
            mesh: Cow::Borrowed(&model.mesh),
            analysis: model.analysis,
            thickness: model.thickness,
            materials: Cow::Borrowed(&model.materials),
            cell_material: Cow::Borrowed(&model.cell_material),
            cell_factors: Cow::Borrowed(&model.cell_factors),
            springs: model.springs.iter().map(|spring| Cow::Borrowed(&spring.blocks[..])).collect(),
            constraints: Cow::Borrowed(&model.constraints),
            solver: Cow::Borrowed(&model.solver),
        }
    }
}

impl From<Body<'_>> for Model {
    fn from(body: Body) -> Self {
        let spring = |blocks: Cow<[_]>| Spring { blocks: blocks.into_owned(), ..Spring::default() };
        Model {
            name: String::new(),
            case_text: "".into(),
            mesh: Arc::new(body.mesh.into_owned()),
            analysis: body.analysis,
            study: Study::Static,
            modes: 0,
            shift: 0.0,
            prestress: false,
            response: None,
            time: None,
            units: None,
            thickness: body.thickness,
            materials: body.materials.into_owned(),
            cell_material: body.cell_material.into_owned(),
            cell_factors: body.cell_factors.into_owned(),
            supports: Vec::new(),
            springs: body.springs.into_iter().map(spring).collect(),
            masses: Vec::new(),
            constraints: body.constraints.into_owned(),
            gravity: None,
            rotation: None,
            temperature: None,
            pins: Vec::new(),
            nodal_forces: Vec::new(),
            applied: Vec::new(),
            load_cases: Vec::new(),
            load_forces: Vec::new(),
            others: Vec::new(),
            solver: body.solver.into_owned(),
            fields: Vec::new(),
            deck: None,
            frd: None,
            probes: Vec::new(),
            warnings: Vec::new(),
            is_too_stiff: false,
        }
    }
}

/// Writes what a part has.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(part: &Model, serializer: S) -> Result<S::Ok, S::Error> {
    Body::from(part).serialize(serializer)
}

/// Reads a part.
///
/// # Errors
///
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Model, D::Error> {
    Body::deserialize(deserializer).map(Model::from)
}

fn picked<T: Copy + Sync + Send>(values: &[T], cells: &[u32]) -> Vec<T> {
    parallel::map_items(cells, &|cell| values[*cell as usize])
}
