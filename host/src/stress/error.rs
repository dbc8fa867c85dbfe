//! The error that the mesh makes, estimated: the energy of the difference between the stress of the elements and the
//! [recovered](super::recovery) one, `||e||^2 = int (s* - s_h) : D^-1 (s* - s_h) dV` (Zienkiewicz and Zhu, "A simple error
//! estimator and adaptive procedure for practical engineering analysis", IJNME 24, 1987); of a potential likewise, of its
//! flux.

use super::recovery::{self, Recovered, Samples, weighted};
use super::{Asked, Context, sampled};
use crate::assembly::DeviceBlock;
use crate::device::Plain;
use crate::element::ElementKind;
use crate::element::shape::determinant;
use crate::mesh::vector::dot;
use crate::model::{Material, Model};
use crate::parallel;
use crate::result::{Physics, Result};
use kernels_rs::element::Point;
use kernels_rs::form::{General, Scalar};

/// The energy of a stress in a material at a place, twice.
type Energy<'a, const K: usize> = &'a (dyn Fn(usize, [f64; 3], [f64; K]) -> f64 + Sync);

/// For each element `||e||` in it relative to `||u||` of the whole, where `||u||^2 = ||u_h||^2 + ||e||^2`, by block of the
/// mesh; and that of the whole, the root of the sum of their squares. 0 of a body without stress.
pub(super) fn estimate(of: &Context) -> Result<(Vec<Vec<f64>>, f64)> {
    let (space, mesh, u) = (of.space, of.mesh, of.device_u);
    let model = of.model;
    match model.analysis.physics() {
        Physics::Elasticity => {
            let strains: Vec<_> = model.materials.iter().map(Material::strain).collect();
            let energy = |material: usize, place, s: [f64; 6]| {
                let strain = strains[material](s, place);
                (0..6).map(|i| s[i] * strain[i]).sum()
            };
            let sample = |block: &DeviceBlock, points: &[Point]| {
                space.take(sampled::<General>(space, mesh, block, points, u, Asked::Stress)?.stress)
            };
            of_samples(of, sample, &energy)
        }
        Physics::Potential | Physics::Heat => {
            let energy = |material: usize, place, g: [f64; 3]| {
                let Material { axes, conductivity, .. } = &model.materials[material];
                dot(g, (axes.tensor(*conductivity, place) * nalgebra::Vector3::from(g)).into())
            };
            let sample = |block: &DeviceBlock, points: &[Point]| {
                space.take(sampled::<Scalar>(space, mesh, block, points, u, Asked::Strain)?.strain)
            };
            of_samples(of, sample, &energy)
        }
    }
}

/// The same from what `sample` finds at points of each element of a block.
fn of_samples<const K: usize>(
    of: &Context,
    sample: impl Fn(&DeviceBlock, &[Point]) -> Result<Vec<[f64; K]>>,
    energy: Energy<K>,
) -> Result<(Vec<Vec<f64>>, f64)>
where
    [f64; K]: Plain,
{
    let (model, blocks) = (of.model, &of.mesh.blocks);
    let kind = |block: &DeviceBlock| model.mesh.cells[block.cells.index].kind;
    let samples =
        blocks.iter().map(|block| Ok(Samples::new(&model.mesh, block, sample(block, &recovery::points(kind(block)))?)));
    let mut samples: Vec<Samples<K>> = samples.collect::<Result<_>>()?;
    samples.sort_by_key(|of| of.block);
    let recovered = Recovered::new(&model.mesh, &model.cell_material, &samples);
    drop(samples);
    let (mut errors, mut whole) = (vec![Vec::new(); model.mesh.cells.len()], [0.0; 2]);
    for block in blocks {
        let found = sample(block, &rule(kind(block)))?;
        let energies = energies(model, block.cells.index, &recovered, &found, energy);
        energies.iter().for_each(|of| (0..2).for_each(|i| whole[i] += of[i]));
        errors[block.cells.index] = energies.iter().map(|[error, _]| *error).collect();
    }
    let all = whole[0] + whole[1];
    let relative = |error: &f64| if all > 0.0 { (error / all).sqrt() } else { 0.0 };
    errors.iter_mut().flatten().for_each(|error| *error = relative(error));
    Ok((errors, relative(&whole[0])))
}

/// Points that integrate the square of an error: those of reduced integration would miss it.
fn rule(kind: ElementKind) -> Vec<Point> {
    let nodes = kind.info().shape.nodes;
    kind.table().mass.iter().map(|at| (at.place(|b| nodes[b]), at.weight)).collect()
}

/// Of each element of a block the energies of the error and of the stress, twice each.
fn energies<const K: usize>(
    model: &Model,
    block: usize,
    recovered: &Recovered<K>,
    found: &[[f64; K]],
    energy: Energy<K>,
) -> Vec<[f64; 2]> {
    let (mesh, cells) = (&model.mesh, &model.mesh.cells[block]);
    let (dim, rule) = (cells.kind.info().dim, &cells.kind.table().mass);
    let is_revolved = model.analysis.is_revolved();
    let of_cell = |i: usize| {
        let (nodes, material) = (cells.cell(i), model.cell_material[block][i] as usize);
        let x = |b: usize| mesh.coords[nodes[b] as usize];
        let values = recovered.at_nodes(mesh, (block, cells), i);
        let mut sums = [0.0; 2];
        for (at, own) in rule.iter().zip(&found[i * rule.len()..]) {
            let place = at.place(x);
            let radius = if is_revolved { place[0] } else { 1.0 };
            let volume = at.weight * radius * determinant(dim, at.tangents(x));
            let smooth = weighted(&at.n, |b| values[b]);
            sums[0] += volume * energy(material, place, std::array::from_fn(|k| smooth[k] - own[k]));
            sums[1] += volume * energy(material, place, *own);
        }
        sums
    };
    parallel::map_indices(cells.len(), &of_cell)
}
