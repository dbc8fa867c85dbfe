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

/// A row for each tie, of the forces on its slave nodes.
fn of_ties(of: &Context, row: impl Fn(&[(u32, [f64; 3])]) -> Vec<f64>) -> Result<Rows> {
    let ties = of.model.constraints.ties();
    Ok(ties.map(|(tie, name)| (name.to_owned(), row(&of.model.constraints.forces(tie, &of.multipliers)))).collect())
}

/// For each tie the force on its slave side.
pub(super) fn tie_forces(of: &mut Context) -> Result<Rows> {
    of_ties(of, |forces| forces.iter().map(|(_, force)| *force).fold([0.0; 3], add).to_vec())
}

/// For each tie the moment of the same forces about the mean of its slave nodes.
pub(super) fn tie_moments(of: &mut Context) -> Result<Rows> {
    of_ties(of, |forces| {
        let mut nodes: Vec<u32> = forces.iter().map(|(node, _)| *node).collect();
        nodes.dedup();
        let centre = of.model.mesh.middle(&nodes);
        let moment = |(node, force): &(u32, [f64; 3])| cross(sub(of.model.mesh.coords[*node as usize], centre), *force);
        forces.iter().map(moment).fold([0.0; 3], add).to_vec()
    })
}

/// For each tie the flow into its slave side.
pub(super) fn tie_flows(of: &mut Context) -> Result<Rows> {
    of_ties(of, |forces| vec![forces.iter().map(|(_, flow)| flow[0]).sum()])
}

/// For each support the flow into the body.
pub(super) fn flows(of: &mut Context) -> Result<Rows> {
    of_supports(of, |support| vec![reaction(of, support)[0]])
}
