//! The fields: one function each, of the name that the [list](crate::result::FIELDS) has. A function returns values as
//! in [`Field::values`](crate::result::Field::values), or no list where the model has no such field. Other fields that it
//! is computed from it takes from the [`Context`].

use super::cells::Asked;
use super::tensor::{principal, tresca as tresca_of};
use super::{Context, cells, error, nodal, spring_forces, warmth};
use crate::model::{Material, Model};
use crate::parallel;
use crate::result::Result;
use kernels_rs::form::{General, Scalar};
use kernels_rs::material::von_mises as von_mises_of;
use std::mem::take;

/// Lists of values, flat.
type Lists = Vec<Vec<f64>>;

/// Applies a function to each vector or tensor of some lists.
fn map<const K: usize, const M: usize>(lists: &[Vec<f64>], f: impl Fn([f64; K]) -> [f64; M] + Sync) -> Lists {
    let of_list = |list: &Vec<f64>| parallel::map_items(list.as_chunks().0, &|value| f(*value)).into_flattened();
    lists.iter().map(of_list).collect()
}

fn flat<const K: usize>(lists: Vec<Vec<[f64; K]>>) -> Lists {
    lists.into_iter().map(Vec::into_flattened).collect()
}

/// The displacements.
pub(super) fn displacement(of: &mut Context) -> Result<Lists> {
    Ok(flat(vec![of.numbering.scatter(&of.supports.with_motion(of.u), of.supports.components)]))
}

/// Forces of the supports on the body; 0 in free components.
pub(super) fn reaction_force(of: &mut Context) -> Result<Lists> {
    Ok(flat(vec![of.forces.clone()]))
}

/// Forces on the nodes that stresses and springs balance: those of loads, supports and couplings together.
pub(super) fn nodal_force(of: &mut Context) -> Result<Lists> {
    let mut forces = of.space.take(of.mesh.internal_force(of.space, of.device_u, None)?)?;
    let is_of_modes = of.model.study.is_of_modes();
    if let Some(thermal) = if is_of_modes { None } else { of.mesh.thermal_force(of.space)? } {
        forces.iter_mut().zip(thermal).for_each(|(force, thermal)| *force -= thermal);
    }
    let dim = of.supports.components;
    let driven = of.model.driven_forces(of.model.time_of(of.case)).map(|(node, force)| (node, force.map(|f| -f)));
    of.numbering.add_forces(&mut forces, dim, driven);
    Ok(flat(vec![of.numbering.scatter(&forces, of.supports.components)]))
}

/// Stress at the centres of the elements.
pub(super) fn stress(of: &mut Context) -> Result<Lists> {
    Ok(flat(cells::stresses(of.space, of.mesh, of.device_u, of.model.mesh.cells.len())?))
}

/// Stress at the integration points, those of an element one after the other.
pub(super) fn stress_points(of: &mut Context) -> Result<Lists> {
    let mut lists = vec![Vec::new(); of.model.mesh.cells.len()];
    for block in &of.mesh.blocks {
        let points = block.cells.kind.info().shape.quadrature;
        let found = cells::sampled::<General>(of.space, of.mesh, block, points, of.device_u, Asked::Stress)?;
        lists[block.cells.index] = of.space.take(found.stress)?.into_flattened();
    }
    Ok(lists)
}

/// Its von Mises stress.
pub(super) fn von_mises(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress")?, |stress| [von_mises_of(stress)]))
}

/// Stress at the nodes.
pub(super) fn stress_nodal(of: &mut Context) -> Result<Lists> {
    let mut nodal = nodal::nodal_stress(of.space, of.model, of.numbering, of.mesh, of.device_u)?;
    let values = take(&mut nodal.values);
    of.nodal = Some(nodal);
    Ok(flat(vec![values]))
}

/// Its von Mises stress.
pub(super) fn von_mises_nodal(of: &mut Context) -> Result<Lists> {
    of.field("stress_nodal")?;
    Ok(of.nodal.iter_mut().map(|nodal| take(&mut nodal.sizes)).collect())
}

/// Yield strength over von Mises stress at the nodes, if a material in use has a yield strength.
pub(super) fn safety_factor(of: &mut Context) -> Result<Lists> {
    of.field("stress_nodal")?;
    let strengths: Vec<Option<f64>> = of.model.materials.iter().map(|material| material.yield_strength).collect();
    let factors = of.nodal.iter().map(|nodal| nodal.safety(of.numbering, &strengths));
    Ok(factors.filter(|factors| !factors.is_empty()).collect())
}

/// The potential.
pub(super) fn potential(of: &mut Context) -> Result<Lists> {
    Ok(vec![of.numbering.to_mesh_order(&of.supports.with_motion(of.u))])
}

/// Its gradient at the centres of the elements.
pub(super) fn gradient(of: &mut Context) -> Result<Lists> {
    Ok(flat(cells::gradients(of.space, of.mesh, of.device_u, of.model.mesh.cells.len(), Asked::Strain)?))
}

/// Its gradient at the nodes.
pub(super) fn gradient_nodal(of: &mut Context) -> Result<Lists> {
    Ok(flat(vec![nodal::nodal_gradient(of.space, of.model, of.numbering, of.mesh, of.device_u, Asked::Strain)?.values]))
}

/// The temperature.
pub(super) fn temperature(of: &mut Context) -> Result<Lists> {
    potential(of)
}

/// The heat flux at the centres of the elements, the conductivity times the gradient, downhill.
pub(super) fn heat_flux(of: &mut Context) -> Result<Lists> {
    let n_blocks = of.model.mesh.cells.len();
    let uphill = flat(cells::gradients(of.space, of.mesh, of.device_u, n_blocks, Asked::Stress)?);
    Ok(map(&uphill, |flux: [f64; 3]| flux.map(|c| 0.0 - c)))
}

/// The heat flux at the nodes.
pub(super) fn heat_flux_nodal(of: &mut Context) -> Result<Lists> {
    let uphill = nodal::nodal_gradient(of.space, of.model, of.numbering, of.mesh, of.device_u, Asked::Stress)?.values;
    Ok(map(&flat(vec![uphill]), |flux: [f64; 3]| flux.map(|c| 0.0 - c)))
}

/// The heat flux at the integration points, those of an element one after the other.
pub(super) fn heat_flux_points(of: &mut Context) -> Result<Lists> {
    let mut lists = vec![Vec::new(); of.model.mesh.cells.len()];
    for block in &of.mesh.blocks {
        let points = block.cells.kind.info().shape.quadrature;
        let uphill = cells::sampled::<Scalar>(of.space, of.mesh, block, points, of.device_u, Asked::Stress)?.stress;
        lists[block.cells.index] = of.space.take(uphill)?.into_flattened().into_iter().map(|c| 0.0 - c).collect();
    }
    Ok(lists)
}

/// The heat that conduction takes from each node: what supports, loads and convection bring there, less what is stored.
pub(super) fn nodal_flow(of: &mut Context) -> Result<Lists> {
    let mut flows = of.space.take(of.mesh.internal_force(of.space, of.device_u, None)?)?;
    for spring in &of.model.springs {
        // What it takes is among them.
        of.numbering.add_forces(&mut flows, 1, spring_forces(spring, of.numbering, of.u, 1, 0.0));
    }
    Ok(vec![of.numbering.to_mesh_order(&flows)])
}

/// The number of the material of each element.
pub(super) fn material(of: &mut Context) -> Result<Lists> {
    let of_block = |block: &Vec<u32>| block.iter().map(|&material| f64::from(material)).collect();
    Ok(of.model.cell_material.iter().map(of_block).collect())
}

/// The estimated error of each element: the root of its part of the energy.
pub(super) fn error(of: &mut Context) -> Result<Lists> {
    let (of_cells, whole) = error::estimate(of)?;
    of.mesh_error = Some(whole);
    Ok(of_cells)
}

/// The mean of that over the elements round each node.
pub(super) fn error_nodal(of: &mut Context) -> Result<Lists> {
    let mesh = &of.model.mesh;
    let (mut sums, mut counts) = (vec![0.0; mesh.coords.len()], vec![0.0; mesh.coords.len()]);
    let errors = of.field("error")?;
    for (block, cells) in mesh.solids() {
        for (i, error) in errors[block].iter().enumerate() {
            for node in cells.cell(i) {
                sums[*node as usize] += error;
                counts[*node as usize] += 1.0;
            }
        }
    }
    Ok(vec![sums.iter().zip(counts).map(|(sum, n)| sum / f64::max(n, 1.0)).collect()])
}

/// The strains of stresses `[n][6]`, flat, each in its material, at its place and so much warmer than the reference.
fn strains(model: &Model, stress: &[f64], at: impl Fn(usize) -> Option<(usize, [f64; 3], f64)>) -> Vec<f64> {
    let of_material: Vec<_> = model.materials.iter().map(Material::strain).collect();
    let reference = model.temperature.as_ref().map_or(0.0, |of| of.reference);
    let strain = |(i, stress): (usize, &[f64; 6])| match at(i) {
        Some((material, place, degrees)) if !model.materials[material].by_temperature.is_empty() => {
            let material = model.materials[material].at(reference + degrees);
            let (elastic, per_degree) = (material.strain()(*stress, place), material.expansion_at(place));
            std::array::from_fn(|i| elastic[i] + degrees * per_degree[i])
        }
        Some((material, place, degrees)) => {
            let elastic = of_material[material](*stress, place);
            if degrees == 0.0 {
                return elastic;
            }
            let per_degree = model.materials[material].expansion_at(place);
            std::array::from_fn(|i| elastic[i] + degrees * per_degree[i])
        }
        None => [0.0; 6],
    };
    stress.as_chunks().0.iter().enumerate().flat_map(strain).collect()
}

/// Strain at the centres of the elements.
pub(super) fn strain(of: &mut Context) -> Result<Lists> {
    let (model, step) = (of.model, of.case);
    let blocks = of.field("stress")?.iter().enumerate();
    let of_block = |(block, stress): (usize, &Vec<f64>)| {
        let (cells, materials) = (&model.mesh.cells[block], &model.cell_material[block]);
        let degrees = |cell: usize| warmth::at_centre(model, step, block, cells, cell);
        let at = |cell: usize| (materials[cell] as usize, model.mesh.middle(cells.cell(cell)), degrees(cell));
        strains(model, stress, |cell| Some(at(cell)))
    };
    Ok(blocks.map(of_block).collect())
}

/// Strain at the nodes, of the material whose stress is shown.
pub(super) fn strain_nodal(of: &mut Context) -> Result<Lists> {
    of.field("stress_nodal")?;
    let materials = of.nodal.as_ref().map_or(vec![], |nodal| nodal.materials(of.numbering));
    let model = of.model;
    let degrees = warmth::at_nodes(model, of.case, &materials);
    let of_node =
        |node: usize| Some((materials[node]?, model.mesh.coords[node], degrees.get(node).copied().unwrap_or(0.0)));
    Ok(of.field("stress_nodal")?.iter().map(|stress| strains(model, stress, of_node)).collect())
}

/// The largest difference of two principal stresses.
pub(super) fn tresca(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress")?, |stress| [tresca_of(stress)]))
}

/// The same at the nodes.
pub(super) fn tresca_nodal(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress_nodal")?, |stress| [tresca_of(stress)]))
}

/// Principal stresses, the largest first.
pub(super) fn principal_stress(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress")?, |stress| principal(stress).0))
}

/// The same at the nodes.
pub(super) fn principal_stress_nodal(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress_nodal")?, |stress| principal(stress).0))
}

/// Unit vectors along the principal stresses, in their order.
pub(super) fn principal_directions(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress")?, directions))
}

/// The same at the nodes.
pub(super) fn principal_directions_nodal(of: &mut Context) -> Result<Lists> {
    Ok(map(of.field("stress_nodal")?, directions))
}

fn directions(stress: [f64; 6]) -> [f64; 9] {
    let [a, b, c] = principal(stress).1;
    [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]
}
