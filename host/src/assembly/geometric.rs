//! The geometric stiffness: the host's side of [`kernels_rs::assembly::geometric`].

use super::rule::DeviceRule;
use super::{DeviceBlock, DeviceMesh};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::assembly::Destination;
use kernels_rs::assembly::geometric::{Geometric, PullsAtPoints};
use kernels_rs::element::Point;

/// The stresses at points of the cells of a block, `[n_cells][n_points]`.
pub type StressAt<'a> = dyn Fn(&DeviceBlock, &[Point]) -> Result<Buffer<[f64; 6]>> + 'a;

/// The geometric stiffness of a body, times a factor, in the blocks of its stiffness matrix `like`, before supports and
/// couplings.
pub fn geometric_stiffness(
    space: &Space,
    mesh: &DeviceMesh,
    factor: f64,
    like: &Matrix<f64>,
    stress: &StressAt,
) -> Result<Matrix<f64>> {
    let shape = (like.pattern().n_rows, like.block_size());
    assert_eq!(shape, (mesh.n_nodes, mesh.components()), "the matrix of another mesh");
    let mut matrix = like.zeros_like(space)?;
    for block in &mesh.blocks {
        let kind = block.cells.kind;
        let points = kind.info().shape.quadrature;
        let stress = stress(block, points)?;
        let tables = DeviceRule::new(space, kind, &kind.table().quadrature)?;
        let n = block.cells.n_cells * points.len();
        let mut pulls = space.zeros(n)?;
        let (rule, view, slots) = (tables.view(mesh.form), mesh.view(block), block.cells.slots.view());
        let to = Destination { slots, entries: matrix.entries(), values: matrix.values_mut() };
        // SAFETY: views of this mesh, of tables of its elements, of stresses at its points, and of a matrix of its pattern; all
        // live until `finish`. A row is written by its owner alone.
        unsafe {
            let (stress, to_points) = (stress.view(), pulls.view_mut());
            space.run(n, PullsAtPoints { rule, mesh: view, factor, stress, pulls: to_points })?;
            space.run(mesh.n_nodes, Geometric { rule, mesh: view, pulls: pulls.view(), to })?;
        }
        space.finish()?;
    }
    matrix.promise_symmetric();
    Ok(matrix)
}
