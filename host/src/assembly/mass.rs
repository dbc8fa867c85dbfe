//! The consistent mass matrix: the host's side of [`kernels_rs::assembly::mass`], and masses at points.

use super::addition::Sums;
use super::rule::DeviceRule;
use super::{Addition, DeviceMesh, Numbering};
use crate::linalg::Space;
use crate::model::{Material, Model};
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::assembly::Destination;
use kernels_rs::assembly::mass::{Mass, MassAtPoints};

/// The consistent mass matrix of a model in the blocks of its stiffness matrix `like`, before supports and couplings. It has
/// the masses on groups, whose shares are on the diagonal, and not those of [`body_masses`]. Materials without density have
/// no mass.
pub fn mass_matrix(
    space: &Space,
    model: &Model,
    numbering: &Numbering,
    mesh: &DeviceMesh,
    like: &Matrix<f64>,
) -> Result<Matrix<f64>> {
    mass_along(space, model, (numbering, mesh), like, IDENTITY)
}

/// The heat capacities of a model likewise: `C_ab = int c rho N_a N_b dV`.
pub fn capacity_matrix(space: &Space, model: &Model, mesh: &DeviceMesh, like: &Matrix<f64>) -> Result<Matrix<f64>> {
    let capacity = |material: &Material| material.density.zip(material.specific_heat).map_or(0.0, |(rho, c)| rho * c);
    of_densities(space, mesh, like, &model.materials.iter().map(capacity).collect::<Vec<_>>(), IDENTITY)
}

const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// The same with its blocks, which are multiples of the identity, times a symmetric matrix.
pub fn mass_along(
    space: &Space,
    model: &Model,
    (numbering, mesh): (&Numbering, &DeviceMesh),
    like: &Matrix<f64>,
    along: [[f64; 3]; 3],
) -> Result<Matrix<f64>> {
    let densities: Vec<f64> = model.materials.iter().map(|material| material.density.unwrap_or(0.0)).collect();
    let mut matrix = of_densities(space, mesh, like, &densities, along)?;
    let mut shares = Sums::new();
    for &(node, share) in model.masses.iter().flat_map(|mass| &mass.shares) {
        let row = numbering.to_solver[node as usize];
        Addition::add(&mut shares, row, (row, along.map(|row| row.map(|c| share * c))));
    }
    if let Some(shares) = Addition::of_sums(space, shares)? {
        shares.add_to(space, &mut matrix)?;
    }
    matrix.promise_symmetric();
    Ok(matrix)
}

/// That of the cells alone, with the density of each material.
fn of_densities(
    space: &Space,
    mesh: &DeviceMesh,
    like: &Matrix<f64>,
    densities: &[f64],
    along: [[f64; 3]; 3],
) -> Result<Matrix<f64>> {
    let shape = (like.pattern().n_rows, like.block_size());
    assert_eq!(shape, (mesh.n_nodes, mesh.components()), "the matrix of another mesh");
    let mut matrix = like.zeros_like(space)?;
    let density = space.upload(densities)?;
    for block in &mesh.blocks {
        let points = &block.cells.kind.table().mass;
        let tables = DeviceRule::new(space, block.cells.kind, points)?;
        let n = block.cells.n_cells * points.len();
        let mut masses = space.zeros(n)?;
        let (rule, view) = (tables.view(mesh.form), mesh.view(block));
        let (density, slots) = (density.view(), block.cells.slots.view());
        let to = Destination { slots, entries: matrix.entries(), values: matrix.values_mut() };
        // SAFETY: views of this mesh, of tables of its elements, and of a matrix of its pattern; all live until `finish`. A
        // row is written by its owner alone.
        unsafe {
            space.run(n, MassAtPoints { rule, mesh: view, density, masses: masses.view_mut() })?;
            space.run(mesh.n_nodes, Mass { rule, mesh: view, masses: masses.view(), along, to })?;
        }
        space.finish()?;
    }
    matrix.promise_symmetric();
    Ok(matrix)
}

/// A part `m r r^T` of the mass matrix.
#[derive(Debug, Clone)]
pub struct BodyMass {
    /// A mass, or a moment of inertia.
    pub mass: f64,
    /// r: unknowns, as the solver numbers them, with their factors. `r . u` is a displacement or a rotation of the body.
    pub row: Vec<(u32, f64)>,
}

/// The mass matrix of the masses that are bodies: a part for each motion of each. A body has no unknowns. It moves by the mean
/// motion of the nodes that carry it, which couples all of these, so that K's pattern has no blocks for it.
pub fn body_masses(model: &Model, numbering: &Numbering) -> Vec<BodyMass> {
    let (size, free) = (model.analysis.components(), model.analysis.free_motions());
    let mut parts = Vec::new();
    for (mass, body) in model.bodies() {
        let masses = [[mass; 3], body.inertia].concat();
        // A body whose nodes lie in a line has been refused.
        for ((row, mass), free) in body.patch.mean(body.at).into_iter().flatten().zip(masses).zip(free) {
            let unknown = |node: u32| size as u32 * numbering.to_solver[node as usize];
            let row = row.iter().map(|(dof, factor)| (unknown(dof.node) + u32::from(dof.component), *factor)).collect();
            if mass * free > 0.0 {
                parts.push(BodyMass { mass, row });
            }
        }
    }
    parts
}
