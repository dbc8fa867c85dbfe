//! The stiffness of linear elements between the vertices of quadratic ones.
//!
//! With P the mean of an edge's ends in its middle, it is `P^T K P` where edges are straight: the functions that are linear
//! on a cell are among the quadratic ones. So the next level of a multigrid hierarchy is there without K; it has an eighth of
//! its size.

use super::addition::RowBlock;
use super::numeric::DeviceMesh;
use super::{Addition, Assembly, Numbering, Slanted, Supports, Topology};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::mesh::{Cells, Mesh};
use crate::model::Model;
use crate::result::Result;
use crate::result::choices::{Ordering, Strategy};
use crate::sparse::{AUTO, Matrix, Tuning};
use kernels_rs::amg::NONE;
use kernels_rs::assembly::slanted::SLANTED;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The level of the vertices of a mesh.
pub struct VertexLevel {
    /// Its matrix, after supports; vertices in the order that the solver's numbering has them.
    pub matrix: Rc<Matrix<f64>>,
    /// A bit for each component of a node of the mesh that no support holds, `[n_nodes]`.
    pub free: Buffer<u8>,
}

/// Which nodes are vertices.
struct Vertices {
    /// Of each node in the middle of an edge its ends, of vertices themselves twice, `[n_nodes]`.
    ends: Vec<[u32; 2]>,
    /// The vertices, ascending.
    rows: Vec<u32>,
    /// The number of each among these, `[n_nodes]`.
    number: Vec<u32>,
}

impl VertexLevel {
    /// Of a mesh with nodes in the middle of edges and its supports; none without such nodes.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::OutOfMemory`], [`crate::result::Error::TooLarge`]
    pub fn new(
        space: &Space,
        model: &Model,
        numbering: &Numbering,
        mesh: &DeviceMesh,
        supports: &Supports,
    ) -> Result<Option<Self>> {
        let Some(ends) = mesh.ends() else { return Ok(None) };
        let vertices = Vertices::new(space.download(ends)?);
        let linear = vertices.mesh(model, numbering, &space.download(mesh.coords())?);
        let Topology { pattern, blocks, coords, .. } = Topology::new(space, &linear, Ordering::Mesh, 1)?;
        let strategy = Strategy::auto(space.on_host(), mesh.form, linear.solids().map(|(_, cells)| cells.kind));
        let mut linear = DeviceMesh::new(space, model, blocks, coords)?;
        linear.addition = vertices.addition(space, model, numbering)?;
        let mut matrix = Matrix::zeros(space, AUTO, mesh.components(), &pattern, Tuning::default())?;
        Assembly::new(space, &linear, &pattern, strategy)?.assemble(space, &linear, &mut matrix)?;
        let mut nothing = space.zeros(mesh.components() * vertices.rows.len())?;
        vertices.supports(supports).eliminate(space, &mut matrix, &mut nothing)?;
        let all = (1 << supports.components) - 1;
        let free = |fixed: &u8| if *fixed == SLANTED { all } else { all & !fixed };
        Ok(Some(VertexLevel {
            matrix: Rc::new(matrix),
            free: space.upload_vec(supports.fixed.iter().map(free).collect())?,
        }))
    }
}

impl Vertices {
    fn new(mut ends: Vec<[u32; 2]>) -> Self {
        // Nodes of no cell are vertices.
        ends.iter_mut().zip(0..).filter(|(ends, _)| ends[0] == NONE).for_each(|(ends, node)| *ends = [node; 2]);
        let is_vertex = |node: &u32| ends[*node as usize][0] == *node;
        let rows: Vec<u32> = (0..ends.len() as u32).filter(is_vertex).collect();
        let mut number = vec![NONE; ends.len()];
        rows.iter().zip(0..).for_each(|(row, vertex)| number[*row as usize] = vertex);
        Vertices { ends, rows, number }
    }

    /// The mesh of linear elements, with as many blocks of cells as the model's.
    fn mesh(&self, model: &Model, numbering: &Numbering, coords: &[[f64; 3]]) -> Mesh {
        let linear = |cells: &Cells| {
            let info = cells.kind.info();
            let corners = cells.nodes.chunks_exact(info.n_nodes).flat_map(|cell| &cell[..info.n_corners]);
            let nodes = corners.map(|node| self.number[numbering.to_solver[*node as usize] as usize]).collect();
            Cells { kind: cells.kind.linear(), nodes, tags: cells.tags.clone() }
        };
        let is_solid = |index: usize| model.mesh.solids().any(|(solid, _)| solid == index);
        let cells = model.mesh.cells.iter().enumerate().map(|(index, cells)| match is_solid(index) {
            true => linear(cells),
            false => Cells { kind: cells.kind, nodes: Vec::new(), tags: Vec::new() },
        });
        Mesh {
            coords: self.rows.iter().map(|row| coords[*row as usize]).collect(),
            node_tags: self.rows.iter().map(|row| u64::from(*row)).collect(),
            cells: cells.collect(),
            ..Mesh::default()
        }
    }

    /// `P^T A P` of the springs A.
    fn addition(&self, space: &Space, model: &Model, numbering: &Numbering) -> Result<Option<Addition>> {
        let mut sums = BTreeMap::new();
        let parents = |node: u32| self.ends[numbering.to_solver[node as usize] as usize];
        for (a, b, block) in model.springs.iter().flat_map(|spring| &spring.blocks) {
            for (i, j) in parents(*a).into_iter().flat_map(|i| parents(*b).map(|j| (i, j))) {
                let (row, column) = (self.number[i as usize], self.number[j as usize]);
                Addition::add(&mut sums, row, (column, block.map(|row| row.map(|value| 0.25 * value))) as RowBlock);
            }
        }
        Addition::of_sums(space, sums)
    }

    fn supports(&self, of: &Supports) -> Supports {
        let is_vertex = |(row, _): &(&u32, _)| self.number[**row as usize] != NONE;
        let slanted = of.slanted.rows.iter().zip(&of.slanted.directions).filter(is_vertex);
        let (rows, directions) = slanted.map(|(row, held)| (self.number[*row as usize], *held)).unzip();
        Supports {
            fixed: self.rows.iter().map(|row| of.fixed[*row as usize]).collect(),
            slanted: Slanted { rows, directions },
            prescribed: vec![0.0; of.components * self.rows.len()],
            motion: Vec::new(),
            components: of.components,
        }
    }
}
