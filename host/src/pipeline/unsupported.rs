//! A mesh on a device, with its matrix or without one, before supports.

use super::{Phase, Timings};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{Addition, Assembly, DeviceMesh, Numbering, Topology};
use crate::linalg::Space;
use crate::model::Model;
use crate::result::choices::Strategy;
use crate::result::{Plan, Result};
use crate::sparse::{self, Matrix, Tuning};
use kernels_rs::real::Real;

/// A matrix and the strategy that it is assembled by.
pub(super) type Made<T> = (Matrix<T>, Strategy);

/// A mesh and its matrix before supports.
pub(super) fn unsupported<T: Real>(
    space: &Space,
    (model, step): (&Model, usize),
    plan: &Plan,
    (phase, timings): (&mut Phase, &mut Timings),
) -> Result<(Numbering, DeviceMesh, Made<T>)> {
    let format = plan.format.unwrap_or(sparse::AUTO);
    let strategy = plan.assembly.unwrap_or(Strategy::RowOwner);
    let Topology { numbering, pattern, blocks, coords } =
        Topology::new(space, &model.mesh, &model.constraints.pairs(), plan.ordering, DEGREE_WINDOW)?;
    let mut matrix = Matrix::zeros(space, format, model.analysis.components(), &pattern, Tuning::default())?;
    let mut mesh = DeviceMesh::at_step(space, (model, step), blocks, coords)?;
    mesh.addition = Addition::new(space, model, &numbering)?;
    let mut assembly = Assembly::new(space, &mesh, &pattern, strategy)?;
    space.finish()?;
    timings.setup += phase.next("assembly");
    assembly.assemble(space, &mesh, &mut matrix)?;
    Ok((numbering, mesh, (matrix, strategy)))
}

/// A mesh that has no matrix.
pub(super) fn without_matrix(space: &Space, (model, step): (&Model, usize)) -> Result<(Numbering, DeviceMesh)> {
    let Topology { numbering, blocks, coords, .. } = Topology::without_matrix(space, &model.mesh)?;
    let mut mesh = DeviceMesh::at_step(space, (model, step), blocks, coords)?;
    mesh.addition = Addition::new(space, model, &numbering)?;
    Ok((numbering, mesh))
}
