//! The stiffness of linear elements between the vertices of quadratic ones.
//!
//! With P the mean of an edge's ends in its middle, it is `P^T K P` where edges are straight: the functions that are linear
//! on a cell are among the quadratic ones. So the next level of a multigrid hierarchy is there without K; it has an eighth of
//! its size.

use super::addition::Sums;
use super::topology::{TypeCells, gather_points};
use super::{Addition, Assembly, DeviceBlock, DeviceMesh, Numbering, Slanted, Supports, Topology};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::result::Result;
use crate::result::choices::Strategy;
use crate::sparse::{AUTO, Matrix, Tuning};
use kernels_rs::amg::NONE;
use kernels_rs::amg::vertices::{ListCorners, ListVertices, MarkVertices};
use kernels_rs::assembly::slanted::SLANTED;
use std::rc::Rc;

/// The level of the vertices of a mesh.
pub struct VertexLevel {
    /// Its matrix, after supports; vertices in the order that the solver's numbering has them.
    pub matrix: Rc<Matrix<f64>>,
    /// A bit for each component of a node of the mesh that no support holds, `[n_nodes]`.
    pub free: Buffer<u8>,
}

/// The vertices of a mesh.
struct Vertices {
    /// How many there are before each node, `[n_nodes + 1]`.
    before: Buffer<u64>,
    /// The nodes that they are, ascending.
    rows: Vec<u32>,
    coords: Buffer<[f64; 3]>,
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
        let all = (1 << supports.components) - 1;
        let free = |fixed: &u8| if *fixed == SLANTED { all } else { all & !fixed };
        let free = space.upload_vec(supports.fixed.iter().map(free).collect())?;
        let vertices = Vertices::new(space, mesh, ends)?;
        let cells = mesh.blocks.iter().map(|block| vertices.cells(space, block)).collect::<Result<_>>()?;
        let (rows, sums) = (&vertices.rows, vertices.addition(space, model, numbering, ends)?);
        let supports = of_vertices(supports, rows);
        // What springs join is of no element.
        let joined = sums.keys().filter(|[row, column]| row < column && !model.constraints.bonds.is_empty());
        let pairs: Vec<[u32; 2]> = joined.copied().collect();
        let Topology { pattern, blocks, coords, .. } = Topology::of_cells(space, cells, &pairs, vertices.coords)?;
        let strategy = Strategy::auto(space.on_host(), mesh.form, blocks.iter().map(|block| block.kind));
        let mut linear = DeviceMesh::new(space, model, blocks, coords)?;
        linear.addition = Addition::of_sums(space, sums)?;
        let mut matrix = Matrix::zeros(space, AUTO, mesh.components(), &pattern, Tuning::default())?;
        Assembly::new(space, &linear, &pattern, strategy)?.assemble(space, &linear, &mut matrix)?;
        supports.eliminate(space, &mut matrix)?;
        Ok(Some(VertexLevel { matrix: Rc::new(matrix), free }))
    }
}

impl Vertices {
    fn new(space: &Space, mesh: &DeviceMesh, ends: &Buffer<[u32; 2]>) -> Result<Self> {
        let n = mesh.n_nodes;
        let (mut marks, mut counts) = (space.zeros(n)?, space.zeros(n)?);
        let kernel = MarkVertices { ends: ends.view(), marks: marks.view_mut(), counts: counts.view_mut() };
        // SAFETY: here and below lists of this mesh's nodes, which live until a sum or `finish`, as below.
        unsafe { space.run(n, kernel) }?;
        let before = space.exclusive_sum(&marks)?;
        let mut rows = space.zeros(space.read_at(&before, n)? as usize)?;
        // SAFETY: as above.
        unsafe { space.run(n, ListVertices { before: before.view(), rows: rows.view_mut() }) }?;
        let coords = gather_points(space, &rows, mesh.coords())?;
        Ok(Vertices { before, rows: space.take(rows)?, coords })
    }

    /// The linear elements of a block of cells.
    fn cells(&self, space: &Space, block: &DeviceBlock) -> Result<TypeCells> {
        let (kind, info) = (block.cells.kind, block.cells.kind.info());
        let mut corners = space.zeros(block.cells.n_cells * info.n_corners)?;
        let kernel = ListCorners {
            n: info.n_nodes,
            n_corners: info.n_corners,
            nodes: block.cells.nodes.view(),
            before: self.before.view(),
            corners: corners.view_mut(),
        };
        // SAFETY: the cells of this mesh, whose corners are vertices; all live until `finish`.
        unsafe { space.run(corners.len(), kernel) }?;
        space.finish()?;
        Ok((block.cells.index, kind.linear(), corners))
    }

    /// `P^T A P` of the springs A.
    fn addition(&self, space: &Space, model: &Model, numbering: &Numbering, ends: &Buffer<[u32; 2]>) -> Result<Sums> {
        if model.springs.is_empty() {
            return Ok(Sums::new());
        }
        let (ends, before) = (space.download(ends)?, space.download(&self.before)?);
        let parents = |node: u32| {
            let row = numbering.to_solver[node as usize];
            let of = ends[row as usize];
            let of = if of[0] == NONE { [row; 2] } else { of };
            of.map(|end| before[end as usize] as u32)
        };
        let mut sums = Sums::new();
        for (a, b, block) in model.springs.iter().flat_map(|spring| &spring.blocks) {
            for (row, column) in parents(*a).into_iter().flat_map(|i| parents(*b).map(|j| (i, j))) {
                Addition::add(&mut sums, row, (column, block.map(|row| row.map(|value| 0.25 * value))));
            }
        }
        Ok(sums)
    }
}

/// The supports of some nodes, ascending.
fn of_vertices(of: &Supports, rows: &[u32]) -> Supports {
    let number = |row: &u32| rows.binary_search(row).ok().map(|number| number as u32);
    let slanted = of.slanted.rows.iter().zip(&of.slanted.directions);
    let slanted = slanted.filter_map(|(row, held)| Some((number(row)?, *held)));
    let (rows_of_slanted, directions) = slanted.unzip();
    Supports {
        fixed: rows.iter().map(|row| of.fixed[*row as usize]).collect(),
        slanted: Slanted { rows: rows_of_slanted, directions },
        prescribed: vec![0.0; of.components * rows.len()],
        motion: Vec::new(),
        components: of.components,
    }
}
