//! The tables: one function each, of the name that the [list](crate::result::TABLES) has. A function returns the rows, a
//! name and the numbers of the columns each.

use super::reactions::Shares;
use super::{Context, cells, spring_forces};
use crate::element::vector::{add, cross, norm, sub};
use crate::model::Constraints;
use crate::model::constraints::remote::Remote;
use crate::result::Result;

/// Forces that add up to less than this part of their sizes balance each other.
const BALANCED: f64 = 1e-9;

/// Rows of a table.
type Rows = Vec<(String, Vec<f64>)>;

/// The strain energy of the whole body.
pub(super) fn strain_energy(of: &mut Context) -> Result<Rows> {
    Ok(vec![("body".into(), vec![cells::strain_energy(of.space, of.mesh, of.device_u)?])])
}

/// A row for each support and then for each spring, from its nodes and the forces on them.
fn of_supports(of: &Context, row: impl Fn(&[u32], &[(u32, [f64; 3])]) -> Vec<f64>) -> Rows {
    let shares = Shares::new(of.model);
    let supports = of.model.supports.iter().enumerate().map(|(number, support)| {
        let force = |node: &u32| {
            let all = of.forces[*node as usize];
            let held = || [0, 1, 2].map(|i| if support.displacement[i].is_some() { all[i] } else { 0.0 });
            (*node, shares.of(number, *node, all).unwrap_or_else(held))
        };
        let forces: Vec<(u32, [f64; 3])> = support.nodes.iter().map(force).collect();
        (support.name.clone(), row(&support.nodes, &forces))
    });
    let springs = of.model.springs.iter().enumerate().filter(|(_, spring)| spring.kind() != "tie");
    let springs = springs.map(|(number, spring)| {
        let factor = of.model.spring_factor(number, of.model.time_of(of.case));
        let forces: Vec<_> = spring_forces(spring, of.numbering, of.u, of.supports.components, factor).collect();
        (spring.name.clone(), row(&spring.holds.nodes, &forces))
    });
    supports.chain(springs).collect()
}

/// The sum of forces on nodes.
fn total(_: &[u32], forces: &[(u32, [f64; 3])]) -> Vec<f64> {
    [0, 1, 2].map(|i| forces.iter().map(|(_, force)| force[i]).sum()).to_vec()
}

/// For each support and spring the force on the body, in the directions that it holds.
pub(super) fn reactions(of: &mut Context) -> Result<Rows> {
    Ok(of_supports(of, total))
}

/// For each of them the moment of the same forces about the mean of its nodes.
pub(super) fn reaction_moments(of: &mut Context) -> Result<Rows> {
    let mesh = &of.model.mesh;
    Ok(of_supports(of, |nodes, forces| {
        let centre = mesh.middle(nodes);
        let moment = |(node, force): &(u32, [f64; 3])| cross(sub(mesh.coords[*node as usize], centre), *force);
        forces.iter().map(moment).fold([0.0; 3], add).to_vec()
    }))
}

/// How a free body accelerates: of its centre of mass, and angular.
pub(super) fn inertia_relief(of: &mut Context) -> Result<Rows> {
    Ok(of.acceleration.iter().map(|both| ("body".into(), both.as_flattened().to_vec())).collect())
}

/// A row for each tie, side of a sector and bolt, of the forces on its slave nodes: of a bolt those above its section.
fn of_joints(of: &Context, row: impl Fn(&[(u32, [f64; 3])]) -> Vec<f64>) -> Result<Rows> {
    let Constraints { bolts, .. } = &of.model.constraints;
    let of_joint = |(entry, name): (u32, &str)| {
        let Some(bolt) = bolts.iter().find(|bolt| bolt.entry == entry) else {
            return (name.to_owned(), row(&of.model.constraints.forces(entry, &of.multipliers)));
        };
        let factor = of.model.factor(of.case, &bolt.load());
        let preload = bolt.preload.iter().map(|(node, force)| (*node, force.map(|f| factor * f)));
        let all = of.model.constraints.all_forces(&of.multipliers, |of| of == entry).chain(preload);
        let mut above: Vec<(u32, [f64; 3])> = all.filter(|(node, _)| bolt.is_above(*node)).collect();
        above.sort_by_key(|(node, _)| *node);
        (name.to_owned(), row(&above))
    };
    Ok(of.model.constraints.joints().map(of_joint).collect())
}

/// For each joint the force on its slave side.
pub(super) fn tie_forces(of: &mut Context) -> Result<Rows> {
    of_joints(of, |forces| forces.iter().map(|(_, force)| *force).fold([0.0; 3], add).to_vec())
}

/// For each joint the moment of the same forces about the mean of its slave nodes.
pub(super) fn tie_moments(of: &mut Context) -> Result<Rows> {
    of_joints(of, |forces| {
        let mut nodes: Vec<u32> = forces.iter().map(|(node, _)| *node).collect();
        nodes.dedup();
        let centre = of.model.mesh.middle(&nodes);
        let moment = |(node, force): &(u32, [f64; 3])| cross(sub(of.model.mesh.coords[*node as usize], centre), *force);
        forces.iter().map(moment).fold([0.0; 3], add).to_vec()
    })
}

/// The heat that the body takes up per time.
pub(super) fn heat_stored(of: &mut Context) -> Result<Rows> {
    Ok(of.stored.iter().map(|stored| ("body".into(), vec![*stored])).collect())
}

/// For each joint the flow into its slave side; those with a conductance come last.
pub(super) fn tie_flows(of: &mut Context) -> Result<Rows> {
    let mut rows = of_joints(of, |forces| vec![forces.iter().map(|(_, flow)| flow[0]).sum()])?;
    for joint in of.model.springs.iter().filter(|spring| spring.kind() == "tie") {
        let forces = spring_forces(joint, of.numbering, of.u, of.supports.components, 1.0);
        let into_slave = forces.filter(|(node, _)| joint.holds.nodes.binary_search(node).is_ok());
        rows.push((joint.name.clone(), vec![into_slave.map(|(_, flow)| flow[0]).sum()]));
    }
    Ok(rows)
}

/// For each sector, and for all equations together, the sum of their forces on the body: 0 where they only join nodes, and
/// then left out.
pub(super) fn coupling_forces(of: &mut Context) -> Result<Rows> {
    let Constraints { entries, .. } = &of.model.constraints;
    let sum = |is_asked: &dyn Fn(usize) -> bool| {
        let (mut sum, mut size) = ([0.0; 3], 0.0);
        for (_, force) in of.model.constraints.all_forces(&of.multipliers, |entry| is_asked(entry as usize)) {
            (sum, size) = (add(sum, force), size + norm(force));
        }
        (norm(sum) > BALANCED * size).then(|| sum.to_vec())
    };
    let sectors = entries.iter().enumerate().filter(|(_, entry)| entry.kind == "cyclic");
    let sectors = sectors.filter_map(|(number, entry)| Some((entry.name.clone(), sum(&|of| of == number)?)));
    let equations = sum(&|of| entries[of].kind == "equation").map(|sum| ("equations".into(), sum));
    Ok(sectors.chain(equations).collect())
}

/// For each equation its force on the body per unit of its factors.
pub(super) fn equation_multipliers(of: &mut Context) -> Result<Rows> {
    let multipliers = of.model.constraints.multipliers("equation", &of.multipliers);
    Ok(multipliers.map(|(name, multiplier)| (name.into(), vec![multiplier])).collect())
}

/// For each bolt how much shorter its shank is.
pub(super) fn bolt_shortenings(of: &mut Context) -> Result<Rows> {
    let bolts = &of.model.constraints.bolts;
    if !bolts.is_empty() {
        of.field("displacement")?;
    }
    let u = of.step.vectors("displacement");
    Ok(bolts.iter().map(|bolt| (bolt.name.clone(), vec![bolt.shortening(u)])).collect())
}

/// For each support the flow into the body.
pub(super) fn flows(of: &mut Context) -> Result<Rows> {
    Ok(of_supports(of, |nodes, forces| total(nodes, forces)[..1].to_vec()))
}

/// A row for each remote point.
fn of_remotes(of: &Context, row: impl Fn(&Remote) -> [f64; 3]) -> Result<Rows> {
    Ok(of.model.constraints.remotes.iter().map(|remote| (remote.name.clone(), row(remote).to_vec())).collect())
}

/// The motion of each remote point: displacement, then rotation.
fn motions(of: &mut Context, part: std::ops::Range<usize>) -> Result<Rows> {
    if !of.model.constraints.remotes.is_empty() {
        of.field("displacement")?;
    }
    let u = of.step.vectors("displacement");
    of_remotes(of, |remote| {
        let motion = remote.patch.motion(u, remote.at).unwrap_or_default();
        [0, 1, 2].map(|i| motion[part.start + i])
    })
}

/// For each remote point its displacement.
pub(super) fn remote_displacements(of: &mut Context) -> Result<Rows> {
    motions(of, 0..3)
}

/// For each remote point its rotation, in radians.
pub(super) fn remote_rotations(of: &mut Context) -> Result<Rows> {
    motions(of, 3..6)
}

/// For each remote point the force of what holds it on the body.
pub(super) fn remote_forces(of: &mut Context) -> Result<Rows> {
    of_remotes(of, |remote| of.model.constraints.reaction(remote, &of.model.mesh.coords, &of.multipliers)[0])
}

/// For each remote point the moment of what holds it on the body, about the point.
pub(super) fn remote_moments(of: &mut Context) -> Result<Rows> {
    of_remotes(of, |remote| of.model.constraints.reaction(remote, &of.model.mesh.coords, &of.multipliers)[1])
}

/// The estimated error in the energy norm, where the field `error` is there.
pub(super) fn mesh_error(of: &mut Context) -> Result<Rows> {
    Ok(of.mesh_error.iter().map(|error| ("body".into(), vec![*error])).collect())
}
