//! Springs: to the ground, spread over groups; in decks also between nodes. Of heat they are convection, whose ground is the
//! ambient, and ties with a conductance.
//!
//! The matrix of a spring between nodes, which resists a sum of unknowns `b . u`, is `k b b^T`. That of a spring to the ground is `S_ab = int N_a N_b C dA`, with C its stiffness per area, `n n^T k` along the normal. It is
//! consistent, so that foundations under quadratic elements converge as the elements do: lumped on their nodes, areas
//! of corners are 0 or negative. Nodes of one face share elements, so K's pattern has all its blocks. On points it is
//! shared equally.

use std::collections::BTreeMap;

use toml::Spanned;

use super::case::tables::ConvectionTable;
use super::case::{Case, Names, Rate};
use super::constraints::{self, Dof};
use super::directions::normals;
use super::loads::{FaceIntegral, area, facet_mass};
use super::problems::Problems;
use super::select::Selector;
use super::supports::unique;
use super::{Checked, Directions, Material, NodalForce, Support};
use crate::mesh::Mesh;
use crate::mesh::faces::Face;
use crate::mesh::vector::dot;
use crate::parallel;

/// A 3 by 3 block.
pub type Block = [[f64; 3]; 3];

/// A driven spring so many times as stiff as the body takes most of the energy, which errors are measured by.
const STIFF: f64 = 1e3;

/// A sum of unknowns with factors.
type Sum = Vec<(Dof, f64)>;

/// One `[[spring]]`: `S u` is what it takes off the forces on the body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spring {
    /// Its name, or its groups'; `pad[2]` for the second `pad`.
    pub name: String,
    /// The blocks of S by row and column, ascending.
    pub blocks: Vec<(u32, u32, Block)>,
    /// Its nodes, and the directions that it resists.
    pub holds: Support,
    /// Its stiffness in words: key and numbers.
    pub rate: (&'static str, Vec<f64>),
    /// The forces on its nodes where u is 0: of an end that is driven, or of an ambient.
    pub driven: Vec<NodalForce>,
}

impl Spring {
    /// The table that it is of.
    pub fn kind(&self) -> &'static str {
        match self.rate.0 {
            "coefficient" => "convection",
            "conductance" => "tie",
            _ => "spring",
        }
    }

    /// Whether its stiffness is one per area.
    pub fn is_per_area(&self) -> bool {
        matches!(self.rate.0, "foundation" | "coefficient" | "conductance")
    }
}

/// How many springs there are if none is wrong.
pub fn expected(case: &Case) -> usize {
    let tables = &case.tables;
    let joints = tables.tie.iter().filter(|tie| tie.get_ref().conductance.is_some()).count();
    tables.spring.len() + tables.bond.len() + tables.convection.len() + joints
}

/// The springs in the case file's order, without those that are wrong, and the sums that those between nodes resist. None has a
/// support's name.
pub fn resolve(
    selector: &Selector<'_>,
    materials: &[Material],
    supports: &[Support],
    problems: &mut Problems,
) -> (Vec<Spring>, Vec<Sum>) {
    let (mut springs, mut bonds): (Vec<Spring>, Vec<Sum>) = (Vec::new(), Vec::new());
    let unused = |name: String, springs: &[Spring]| {
        let is_of_support = |name: &str| supports.iter().any(|support| support.name == name);
        unique(name, |name| is_of_support(name) || springs.iter().any(|spring| spring.name == name))
    };
    for table in &selector.case.tables.spring {
        let Some(rate) = problems.take(selector.case.rate(table)) else { continue };
        let (name, on) = (&table.get_ref().name, &table.get_ref().on);
        let name = unused(on.get_ref().or_own(name.as_ref()), &springs);
        springs.extend(problems.take(spring(selector, name, on, rate)));
    }
    for table in &selector.case.tables.convection {
        let name = unused(table.on.get_ref().or_own(table.name.as_ref()), &springs);
        springs.extend(problems.take(convection(selector, name, table)));
    }
    for table in &selector.case.tables.tie {
        let Some(conductance) = &table.get_ref().conductance else { continue };
        let name = unused(table.get_ref().slave.get_ref().or_own(table.get_ref().name.as_ref()), &springs);
        let Some(sums) = problems.take(constraints::tie::gaps(selector, table)) else { continue };
        let rate = *conductance.get_ref() * selector.case.thickness();
        let joint = bond(name, rate, &sums.iter().map(|sum| (sum.clone(), 0.0)).collect::<Vec<_>>());
        let holds = problems.take(selector.nodes(&table.get_ref().slave)).map(|nodes| Support { nodes, ..joint.holds });
        let rate = ("conductance", vec![*conductance.get_ref()]);
        springs.extend(holds.map(|holds| Spring { holds, rate, ..joint }));
        bonds.extend(sums);
    }
    for table in &selector.case.tables.bond {
        let term = |((tag, component), factor): &((u64, u8), f64)| {
            Some((Dof { node: selector.node(*tag)?, component: *component }, *factor))
        };
        let sums = table.sums.iter().map(|(sum, value)| (sum.iter().filter_map(term).collect(), *value));
        let sums: Vec<(Sum, f64)> = sums.collect();
        if sums.iter().any(|(_, value)| *value != 0.0) && table.rate > STIFF * stiffness(selector.mesh, materials) {
            let message = "a spring that is driven is far stiffer than the body: its nodes go where its end goes";
            let help = "*BOUNDARY or *EQUATION prescribes that; or give a lower rate";
            problems.add(selector.case.error_at(table.place.clone(), message, help));
            continue;
        }
        springs.push(bond(unused(table.name.clone(), &springs), table.rate, &sums));
        bonds.extend(sums.into_iter().map(|(sum, _)| sum));
    }
    (springs, bonds)
}

/// About how stiff a body is: the largest modulus times its length.
fn stiffness(mesh: &Mesh, materials: &[Material]) -> f64 {
    let of = |material: &Material| (0..3).map(|i| material.law.stiffness()[(i, i)]).fold(0.0, f64::max);
    mesh.longest_side() * materials.iter().map(of).fold(0.0, f64::max)
}

/// Springs of one rate: what all resist.
fn bond(name: String, rate: f64, sums: &[(Sum, f64)]) -> Spring {
    let (mut blocks, mut driven) = (BTreeMap::new(), BTreeMap::<u32, [f64; 3]>::new());
    for (dof, force) in sums.iter().flat_map(|(sum, value)| sum.iter().map(move |(dof, a)| (dof, -rate * a * value))) {
        driven.entry(dof.node).or_default()[usize::from(dof.component)] += force;
    }
    driven.retain(|_, force| *force != [0.0; 3]);
    let sums = sums.iter().map(|(sum, _)| sum);
    for (of_row, of_column) in sums.flat_map(|sum| sum.iter().flat_map(|a| sum.iter().map(move |b| (a, b)))) {
        let ((row, a), (column, b)) = (of_row, of_column);
        let block: &mut Block = blocks.entry((row.node, column.node)).or_default();
        block[usize::from(row.component)][usize::from(column.component)] += rate * a * b;
    }
    let blocks: Vec<_> = blocks.into_iter().map(|((row, column), block)| (row, column, block)).collect();
    let mut nodes: Vec<u32> = blocks.iter().map(|(node, ..)| *node).collect();
    nodes.dedup();
    // They hold no node to the ground: see `Constraints::bonds`.
    let holds = Support { name: name.clone(), nodes, displacement: [None; 3], directions: Directions::Global };
    Spring { name, blocks, holds, rate: ("rate", vec![rate]), driven: driven.into_iter().collect() }
}

/// `int h N_a (T_ambient - sum_b N_b T_b) dA` is what flows into a node.
fn convection(selector: &Selector<'_>, name: String, table: &ConvectionTable) -> Checked<Spring> {
    let (coefficient, ambient) = (*table.coefficient.get_ref(), *table.ambient.get_ref());
    let faces = selector.outer_faces(&table.on)?;
    let blocks = over_faces(selector, &faces, Rate::PerArea([coefficient, 0.0, 0.0]));
    let scale = coefficient * ambient * selector.case.thickness();
    let driven = parallel::flat_map(faces.len(), &|i, driven| {
        let areas = FaceIntegral::of(&faces[i], &selector.mesh.coords, selector.case.analysis()).area;
        driven.extend(faces[i].nodes().iter().zip(areas).map(|(&node, area)| (node, [scale * area, 0.0, 0.0])));
    });
    let mut nodes: Vec<u32> = blocks.iter().map(|(node, ..)| *node).collect();
    nodes.dedup();
    let displacement = [Some(0.0), None, None];
    let holds = Support { name: name.clone(), nodes, displacement, directions: Directions::Global };
    Ok(Spring { name, blocks, holds, rate: ("coefficient", vec![coefficient]), driven })
}

fn spring(selector: &Selector<'_>, name: String, on: &Spanned<Names>, rate: Rate) -> Checked<Spring> {
    let n = selector.case.analysis().components();
    let (rates, in_words) = match rate {
        Rate::Total(rates) => (rates, ("stiffness", rates[..n].to_vec())),
        Rate::PerArea(rates) => (rates, ("foundation", rates[..n].to_vec())),
        Rate::Normal(rate) => ([rate, 0.0, 0.0], ("foundation", vec![rate])),
    };
    let displacement = rates.map(|rate| (rate > 0.0).then_some(0.0));
    let (mut nodes, mut directions) = (Vec::new(), Directions::Global);
    let blocks = match (rate, selector.points(on)?) {
        (Rate::Total(total), Some(points)) => {
            let share = diagonal(total.map(|rate| rate / points.len() as f64));
            nodes = points;
            nodes.iter().map(|node| (*node, *node, share)).collect()
        }
        (Rate::Total(_), None) => over_faces(selector, &selector.faces(on)?, rate),
        (Rate::PerArea(_), _) => over_faces(selector, &selector.outer_faces(on)?, rate),
        (Rate::Normal(_), _) => {
            let faces = selector.outer_faces(on)?;
            directions = Directions::Normals(normals(&faces, &selector.mesh.coords));
            over_faces(selector, &faces, rate)
        }
    };
    if nodes.is_empty() {
        nodes = blocks.iter().map(|(node, ..)| *node).collect();
        nodes.dedup();
    }
    let holds = Support { name: name.clone(), nodes, displacement, directions };
    Ok(Spring { name, blocks, holds, rate: in_words, driven: Vec::new() })
}

/// The blocks of a spring over faces, by row and column.
fn over_faces(selector: &Selector<'_>, faces: &[Face], rate: Rate) -> Vec<(u32, u32, Block)> {
    let (coords, analysis) = (&selector.mesh.coords, selector.case.analysis());
    let scale = if matches!(rate, Rate::Total(_)) { 1.0 / area(selector, faces) } else { selector.case.thickness() };
    let per_area = |n: [f64; 3]| match rate {
        Rate::Normal(k) => n.map(|a| n.map(|b| scale * k * a * b / dot(n, n))),
        Rate::Total(rates) | Rate::PerArea(rates) => diagonal(rates.map(|rate| scale * rate)),
    };
    let parts: Vec<Vec<(u32, u32, Block)>> =
        parallel::map_items(faces, &|face| facet_mass(face, coords, analysis, per_area));
    let mut sums = BTreeMap::new();
    for (a, b, block) in parts.into_iter().flatten() {
        let sum = sums.entry((a, b)).or_insert([[0.0; 3]; 3]);
        (0..9).for_each(|k| sum[k / 3][k % 3] += block[k / 3][k % 3]);
    }
    sums.into_iter().map(|((a, b), block)| (a, b, block)).collect()
}

fn diagonal(rates: [f64; 3]) -> Block {
    let mut block = [[0.0; 3]; 3];
    (0..3).for_each(|c| block[c][c] = rates[c]);
    block
}
