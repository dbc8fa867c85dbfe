//! The tables: one function each, of the name that the [list](crate::result::TABLES) has. A function returns the rows, a
//! name and the numbers of the columns each.

use super::Context;
use crate::element::vector::{add, cross, sub};
use crate::model::Support;
use crate::result::Result;

/// Rows of a table.
type Rows = Vec<(String, Vec<f64>)>;

/// The strain energy of the whole body.
pub(super) fn strain_energy(of: &mut Context) -> Result<Rows> {
    of.field("stress")?;
    let blocks = of.energies.iter().map(|block| block.iter().sum::<f64>());
    Ok(vec![("body".into(), vec![blocks.sum()])])
}

/// A row for each support.
fn of_supports(of: &Context, row: impl Fn(&Support) -> Vec<f64>) -> Result<Rows> {
    Ok(of.model.supports.iter().map(|support| (support.name.clone(), row(support))).collect())
}

/// The sum of the forces on a support's nodes, in the components that it prescribes.
fn reaction(of: &Context, support: &Support) -> [f64; 3] {
    [0, 1, 2].map(|i| match support.displacement[i] {
        Some(_) => support.nodes.iter().map(|node| of.forces[*node as usize][i]).sum(),
        None => 0.0,
    })
}

/// For each support the force on the body.
pub(super) fn reactions(of: &mut Context) -> Result<Rows> {
    of_supports(of, |support| reaction(of, support).to_vec())
}

/// For each support the moment of the same forces about the mean of its nodes.
pub(super) fn reaction_moments(of: &mut Context) -> Result<Rows> {
    let x = |node: &u32| of.model.mesh.coords[*node as usize];
    of_supports(of, |support| {
        let centre = of.model.mesh.middle(&support.nodes);
        let moment = |node: &u32| {
            let force = of.forces[*node as usize];
            let held = [0, 1, 2].map(|i| if support.displacement[i].is_some() { force[i] } else { 0.0 });
            cross(sub(x(node), centre), held)
        };
        support.nodes.iter().map(moment).fold([0.0; 3], add).to_vec()
    })
}

/// How a free body accelerates: of its centre of mass, and angular.
pub(super) fn inertia_relief(of: &mut Context) -> Result<Rows> {
    Ok(of.acceleration.iter().map(|both| ("body".into(), both.as_flattened().to_vec())).collect())
}

/// For each support the flow into the body.
pub(super) fn flows(of: &mut Context) -> Result<Rows> {
    of_supports(of, |support| vec![reaction(of, support)[0]])
}
