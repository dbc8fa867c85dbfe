//! The vertices of quadratic elements as the next level: P makes the middle of an edge the mean of its ends.
//!
//! On the dense graph of these elements an aggregate has dozens of nodes, whose smoothed modes say too little of what
//! the smoother leaves. The vertices alone have the graph and the unknowns of linear elements, which aggregation is
//! made for, and the modes of the mesh. Nothing is smoothed: the means are a smooth interpolation already.

use super::blocks::{BlockRows, Columns, Shape};
use super::setup::{Coarsening, WORTHWHILE};
use super::tentative::Modes;
use super::{CoarseMatrix, NextLevel};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::{Context, VertexLevel};
use crate::result::{Error, Result};
use kernels_rs::amg::vertices::{FillInterpolation, GatherVertices, ListEnds, MarkVertices};
use std::rc::Rc;

/// The level of the vertices of nodes at `coords` with `size` components, of which those in the middle of an edge have
/// `ends`; `free` has a bit for each component that is not supported. None where more than [`WORTHWHILE`] of the nodes
/// are vertices.
pub fn vertices(
    space: &Space,
    size: usize,
    ends: &Buffer<[u32; 2]>,
    coords: &Buffer<[f64; 3]>,
    free: &Buffer<u8>,
) -> Result<Option<Coarsening>> {
    let n = ends.len();
    assert!([coords.len(), free.len()] == [n; 2], "the nodes of another mesh");
    let (mut marks, mut counts) = (space.zeros(n)?, space.zeros(n)?);
    let kernel = MarkVertices { ends: ends.view(), marks: marks.view_mut(), counts: counts.view_mut() };
    // SAFETY: all live until `exclusive_sum` and have an entry per node.
    unsafe { space.run(n, kernel) }?;
    let before = space.exclusive_sum(&marks)?;
    let number = space.read_at(&before, n)? as usize;
    if number as f64 > WORTHWHILE * n as f64 {
        return Ok(None);
    }
    let mut shape = Shape::with_lengths(space, &counts, number)?;
    let (mut coarse_coords, mut coarse_free) = (space.zeros(number)?, space.zeros(number)?);
    let list = ListEnds {
        ends: ends.view(),
        before: before.view(),
        row_start: shape.pattern.row_start.view(),
        columns: shape.pattern.columns.view_mut(),
        rows: shape.rows.view_mut(),
    };
    let gather = GatherVertices {
        before: before.view(),
        coords: coords.view(),
        free: free.view(),
        coarse_coords: coarse_coords.view_mut(),
        coarse_free: coarse_free.view_mut(),
    };
    // SAFETY: as above, until `finish`; a place for every block and every vertex.
    unsafe {
        space.run(n, list)?;
        space.run(n, gather)?;
    }
    space.finish()?;
    let mut prolongator = BlockRows::zeros(space, &Rc::new(shape), [size; 2])?;
    let (of, values) = (prolongator.view(), prolongator.values.view_mut());
    let kernel = FillInterpolation { free: free.view(), coarse_free: coarse_free.view(), prolongator: of, values };
    // SAFETY: as above; the values of a row of blocks are written by its item.
    unsafe { space.run(n, kernel) }?;
    space.finish()?;
    let modes = Rc::new(Modes::rigid(space, size, &coarse_coords, &coarse_free)?);
    let (tentative, coords) = (Rc::new(prolongator), Rc::new(coarse_coords));
    Ok(Some(Coarsening { tentative, is_smoothed: false, modes, coords, sums: None }))
}

/// The way to the level of the vertices where its matrix is known, and the finest level's is not.
///
/// # Errors
///
/// [`Error::NotAvailable`] where the context has no such level.
pub(super) fn known(space: &Space, context: &Context) -> Result<Option<NextLevel>> {
    let (Some(VertexLevel { matrix, free }), Some(ends), Some(coords)) =
        (context.vertices, context.ends, context.coords)
    else {
        let (what, name) = ("operator without a matrix", "of linear elements".into());
        return Err(Error::NotAvailable { what, name, available: vec!["of quadratic elements"] });
    };
    let Some(Coarsening { tentative, modes, coords, .. }) = vertices(space, matrix.block_size(), ends, coords, free)?
    else {
        return Ok(None);
    };
    let columns = Rc::new(Columns::new(space, &tentative.shape)?);
    let below = CoarseMatrix { matrix: matrix.clone(), modes, coords, is_of_vertices: true };
    Ok(Some(NextLevel { prolongator: tentative, columns, below }))
}
