//! Loads as consistent nodal forces, `f_a = int N_a t dA`; fluxes into a body likewise, as the first component.

mod pressure;
mod push;
mod surface;
mod volume;

#[cfg(test)]
mod repeated_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

use toml::Spanned;
use warpfem_text::{engineering as number, vector};

pub use self::surface::{FaceIntegral, facet_mass};
use super::case::Vector;
use super::case::tables::{
    ForceTable, LoadTable, NodalForceTable, PointForceTable, PushTable, SourceTable, SurfaceTable, TractionTable,
};
use super::case::{Couple, Names};
use super::constraints::patch::Patch;
use super::names::{Words, words};
use super::problems::Problems;
use super::select::Selector;
use super::{AppliedLoad, Checked, Constraints, Support};
use crate::mesh::Cells;
use crate::mesh::faces::Face;
use crate::mesh::vector::{norm, sub};
use crate::parallel::{self, PART};

/// A force on a node; a node may come several times.
pub type NodalForce = (u32, [f64; 3]);

/// A load that goes into the supports by more than this part of itself is worth a warning.
const INTO_SUPPORTS: f64 = 0.5;
/// A point force further from its node than this fraction of the mesh's diagonal is worth a warning.
const FAR: f64 = 0.01;
/// One as far as this outside the mesh's box is nowhere near the body.
const NOWHERE: f64 = 0.1;

/// All loads of a case but gravity and rotation.
#[derive(Debug, Default)]
pub struct Loads {
    /// Their sum, `[n_nodes][3]`; fluxes come first, then zeros.
    pub nodal_forces: Vec<[f64; 3]>,
    /// The total of each.
    pub applied: Vec<AppliedLoad>,
    /// What load cases call each, if they call it something.
    pub names: Vec<Option<String>>,
    /// The nodal forces of each; none where there are no load cases and no time.
    pub forces: Vec<Vec<NodalForce>>,
    /// What is odd about them.
    pub warnings: Vec<String>,
}

/// Turns the load tables into nodal forces, all but those that are wrong.
pub fn resolve(
    selector: &Selector<'_>,
    supports: &[Support],
    constraints: &Constraints,
    problems: &mut Problems,
) -> Loads {
    let mut sum = Accumulator::new(selector, supports);
    let tables = &selector.case.tables;
    let over_surfaces = (tables.pressure.iter().map(Spanned::get_ref))
        .map(|table| ("pressure", &table.on, &table.name, pressure::forces(selector, table)))
        .chain(tables.traction.iter().map(|table| ("traction", &table.on, &table.name, traction(selector, table))))
        .chain(tables.force.iter().map(|table| ("force", &table.on, &table.name, force(selector, table))))
        .chain(
            (tables.load.iter())
                .map(|table| ("load", &table.get_ref().on, &table.get_ref().name, couple(selector, table))),
        )
        .chain(tables.flux.iter().map(|table| ("flux", &table.on, &table.name, flux(selector, table))));
    for (kind, on, called, forces) in over_surfaces {
        let Some(forces) = problems.take(forces) else { continue };
        let name = format!("{kind} on {}", on.get_ref().joined());
        sum.loads.warnings.extend(whole_surface(selector, &name, on));
        sum.called(called).add(name, &forces);
    }
    for table in &tables.source {
        let Some(forces) = problems.take(source(selector, table)) else { continue };
        let on = table.on.as_ref().map_or_else(String::new, |on| format!(" on {}", on.get_ref().joined()));
        sum.called = Some(table.name.as_ref().map_or("source".into(), |name| name.get_ref().clone()));
        sum.add(format!("source{on}"), &forces);
    }
    for (i, table) in tables.point_force.iter().enumerate() {
        if let Some(forces) = problems.take(point_force(selector, table, &mut sum.loads.warnings)) {
            let name = match &table.get_ref().on {
                Some(on) => format!("point_force on {}", on.get_ref().joined()),
                None => format!("point_force[{}]", i + 1),
            };
            sum.called(&table.get_ref().name).add(name, &forces);
        }
    }
    for table in &tables.nodal_force {
        if let Some(forces) = problems.take(nodal(selector, table)) {
            sum.called(&table.name).add(table.label.clone(), &forces);
        }
    }
    for remote in &constraints.remotes {
        let [force, moment] = remote.load;
        // A remote point turns with its nodes, or it is refused.
        if remote.load != [[0.0; 3]; 2]
            && let Some(forces) = remote.patch.spread(force, moment, remote.at)
        {
            sum.called(&remote.load_name).add(format!("remote {}", remote.name), &forces);
        }
    }
    for bolt in constraints.bolts.iter().filter(|bolt| !bolt.preload.is_empty()) {
        sum.called(&bolt.load_name).add(bolt.load(), &bolt.preload);
    }
    for (i, table) in tables.push.iter().enumerate() {
        if problems.take(selector.case.check_push(table)).is_none() {
            continue;
        }
        let name = format!("push[{}]", i + 1);
        let forces = push_force(selector, table, &name, &mut sum.loads.warnings);
        sum.called(&table.name).add(name, &forces);
    }
    sum.loads
}

/// What there is to say of a surface load on a body: mostly one side of it was meant.
fn whole_surface(selector: &Selector<'_>, load: &str, on: &Spanned<Names>) -> Option<String> {
    let mesh = selector.mesh;
    let names = on.get_ref().with_places(on.span());
    let is_body = |name: &str| mesh.group(name).is_some_and(|group| group.dim == mesh.dim());
    let (body, _) = names.into_iter().find(|(name, _)| is_body(name))?;
    let Words { bodies, sides, skin, .. } = words(mesh.dim());
    Some(format!(
        "{load}: `{body}` is a group of {bodies}, so all of its {skin} is loaded. To load a part of it, name a group of {sides}"
    ))
}

/// Sums loads and sees how much of each the supports take at once.
struct Accumulator {
    loads: Loads,
    held: Vec<[bool; 3]>,
    /// What supports hold.
    what: &'static str,
    /// Whether there are load cases, or loads change in time, which need the forces of each.
    keeps_each: bool,
    /// What load cases call the load that is added next.
    called: Option<String>,
}

impl Accumulator {
    fn new(selector: &Selector<'_>, supports: &[Support]) -> Accumulator {
        let n = selector.mesh.coords.len();
        let mut held = vec![[false; 3]; n];
        // Of a slanted support no component is held alone.
        let along_axes = supports.iter().filter(|support| !support.is_slanted());
        along_axes.flat_map(Support::prescribed).for_each(|(node, c, _)| held[node as usize][c] = true);
        let what = selector.case.analysis().keys().held;
        let tables = &selector.case.tables;
        let keeps_each = !tables.load_case.is_empty() || tables.time.is_some();
        let loads = Loads { nodal_forces: vec![[0.0; 3]; n], ..Loads::default() };
        Accumulator { loads, held, what, keeps_each, called: None }
    }

    /// Load cases call the load that is added next by this name.
    fn called(&mut self, name: &Option<Spanned<String>>) -> &mut Self {
        self.called = name.as_ref().map(|name| name.get_ref().clone());
        self
    }

    fn add(&mut self, name: String, forces: &[NodalForce]) {
        let (mut total, mut size, mut lost) = ([0.0; 3], 0.0, 0.0);
        for &(node, force) in forces {
            for c in 0..3 {
                self.loads.nodal_forces[node as usize][c] += force[c];
                total[c] += force[c];
                size += force[c].abs();
                lost += if self.held[node as usize][c] { force[c].abs() } else { 0.0 };
            }
        }
        // No flux is what an insulated side is said to have.
        if size == 0.0 && !name.starts_with("flux") {
            self.loads.warnings.push(format!("{name} is zero"));
        }
        if lost > INTO_SUPPORTS * size {
            let (percent, what) = (100.0 * lost / size, self.what);
            let text =
                format!("{name}: {percent:.0} % of it acts on supported {what} and goes straight into the support");
            self.loads.warnings.push(text);
        }
        let mut nodes: Vec<u32> = forces.iter().map(|&(node, _)| node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        self.loads.applied.push(AppliedLoad { name, total, nodes });
        self.loads.names.push(self.called.take());
        if self.keeps_each {
            self.loads.forces.push(forces.to_vec());
        }
    }
}

fn scaled(v: [f64; 3], by: f64) -> [f64; 3] {
    v.map(|c| c * by)
}

/// The area of faces, without the thickness of a plane body.
pub(super) fn area(selector: &Selector<'_>, faces: &[Face]) -> f64 {
    let analysis = selector.case.analysis();
    let areas: Vec<f64> =
        parallel::map_items(faces, &|face| FaceIntegral::of(face, &selector.mesh.coords, analysis).total_area());
    areas.iter().sum()
}

/// Nodal forces of a surface load from what each node's integrals, times the thickness of a plane body, make of it.
fn over_faces(
    selector: &Selector<'_>,
    faces: &[Face],
    force: impl Fn(f64, [f64; 3]) -> [f64; 3] + Sync,
) -> Vec<NodalForce> {
    let (thickness, analysis) = (selector.case.thickness(), selector.case.analysis());
    parallel::flat_map(faces.len(), &|i, forces| {
        let integral = FaceIntegral::of(&faces[i], &selector.mesh.coords, analysis);
        let of_node = |a: usize| force(thickness * integral.area[a], scaled(integral.normal[a], thickness));
        forces.extend(faces[i].nodes().iter().enumerate().map(|(a, &node)| (node, of_node(a))));
    })
}

fn traction(selector: &Selector<'_>, table: &TractionTable) -> Checked<Vec<NodalForce>> {
    selector.case.check_vector("vector", &table.vector)?;
    let vector = table.vector.get_ref().xyz();
    Ok(over_faces(selector, &selector.faces(&table.on)?, |area, _| scaled(vector, area)))
}

fn flux(selector: &Selector<'_>, table: &SurfaceTable) -> Checked<Vec<NodalForce>> {
    let value = *table.value.get_ref();
    Ok(over_faces(selector, &selector.faces(&table.on)?, |area, _| [value * area, 0.0, 0.0]))
}

/// What bodies produce, `int N_a s dV`.
fn source(selector: &Selector<'_>, table: &SourceTable) -> Checked<Vec<NodalForce>> {
    let (mesh, analysis, value) = (selector.mesh, selector.case.analysis(), *table.value.get_ref());
    let scale = value * selector.case.thickness();
    let of_cells = |block: usize, members: &[u32]| -> Vec<NodalForce> {
        let cells = &mesh.cells[block];
        parallel::flat_map(members.len(), &|i, forces| {
            let cell = cells.cell(members[i] as usize);
            let shares = volume::shares(cells.kind, cell, &mesh.coords, analysis);
            forces.extend(cell.iter().zip(shares).map(|(&node, share)| (node, [scale * share, 0.0, 0.0])));
        })
    };
    let Some(on) = &table.on else {
        let all = |(block, cells): (usize, &Cells)| of_cells(block, &(0..cells.len() as u32).collect::<Vec<_>>());
        return Ok(mesh.solids().flat_map(all).collect());
    };
    let mut forces = Vec::new();
    for (name, place) in on.get_ref().with_places(on.span()) {
        let group = mesh.body(name).or_else(|| mesh.group(name)).filter(|group| group.dim == mesh.dim());
        let Some(group) = group else {
            let bodies = words(mesh.dim()).bodies;
            let message = format!("`{name}` is no group of {bodies}, and a source is inside a body");
            let help = "a flow through a side is [[flux]]; without `on` the source is everywhere";
            return Err(selector.case.error_at(place, message, help));
        };
        forces.extend(group.members.iter().flat_map(|(block, members)| of_cells(*block, members)));
    }
    Ok(forces)
}

fn force(selector: &Selector<'_>, table: &ForceTable) -> Checked<Vec<NodalForce>> {
    selector.case.check_vector("total", &table.total)?;
    if let Some(points) = selector.points(&table.on)? {
        let share = scaled(table.total.get_ref().xyz(), 1.0 / points.len() as f64);
        return Ok(points.into_iter().map(|node| (node, share)).collect());
    }
    let faces = selector.faces(&table.on)?;
    let per_area = scaled(table.total.get_ref().xyz(), 1.0 / (selector.case.thickness() * area(selector, &faces)));
    Ok(over_faces(selector, &faces, |area, _| scaled(per_area, area)))
}

fn couple(selector: &Selector<'_>, table: &Spanned<LoadTable>) -> Checked<Vec<NodalForce>> {
    let Couple { force, moment, at } = selector.case.couple(table)?;
    let on = &table.get_ref().on;
    let patch = Patch::on(selector, on)?;
    let mut at = at.unwrap_or(patch.centre);
    if selector.mesh.dim() == 2 {
        at[2] = patch.centre[2];
    }
    patch.spread(force, moment, at).ok_or_else(|| {
        let message = format!("`{}` cannot take a moment: its points lie in a line", on.get_ref().joined());
        selector.case.error_at(on.span(), message, "name a group of surfaces, or of three points that span a plane")
    })
}

fn nodal(selector: &Selector<'_>, table: &NodalForceTable) -> Checked<Vec<NodalForce>> {
    let force = |(tag, force): &(u64, [f64; 3])| match selector.node(*tag) {
        Some(node) if selector.in_solid[node as usize] => Ok((node, *force)),
        _ => Err(selector.unknown_node(*tag, table.place.clone())),
    };
    table.forces.iter().map(force).collect()
}

fn point_force(
    selector: &Selector<'_>,
    table: &Spanned<PointForceTable>,
    warnings: &mut Vec<String>,
) -> Checked<Vec<NodalForce>> {
    selector.case.check_point_force(table)?;
    let (place, table) = (table.span(), table.get_ref());
    let vector = table.vector.get_ref().xyz();
    if let Some(on) = &table.on {
        let points = selector.points(on)?.ok_or_else(|| selector.no_points(on))?;
        if points.len() > 1 {
            warnings.push(format!(
                "point_force on {}: each of its {} nodes carries the whole force. [[force]] shares a total among them",
                on.get_ref().joined(),
                points.len()
            ));
        }
        return Ok(points.into_iter().map(|node| (node, vector)).collect());
    }
    // Where `at` has two components, the plane of the mesh is meant.
    let plane_z = selector.mesh.coords.first().map_or(0.0, |x| x[2]);
    let node = match (&table.at, &table.node) {
        (Some(at), _) => nearest_node(selector, at, plane_z, warnings)?,
        (_, Some(tag)) => {
            let tags = Spanned::new(tag.span(), vec![tag.clone()]);
            selector.tagged(&tags)?.first().copied()
        }
        _ => None,
    };
    match node {
        Some(node) => Ok(vec![(node, vector)]),
        None => Err(selector.case.error_at(
            place,
            "there is no node to take this force",
            "at = [x, y, z] takes the nearest node",
        )),
    }
}

/// The solids' node nearest to a point; the first of several.
///
/// # Errors
///
/// A point that is nowhere near the body.
fn nearest_node(
    selector: &Selector<'_>,
    point: &Spanned<Vector>,
    plane_z: f64,
    warnings: &mut Vec<String>,
) -> Checked<Option<u32>> {
    let at = point.get_ref().with_z(plane_z);
    let coords = &selector.mesh.coords;
    let distance = |node: usize| norm(sub(coords[node], at));
    let nearest_of = |nodes: Range<usize>| {
        let candidates = nodes.filter(|&node| selector.in_solid[node]).map(|node| (distance(node), node));
        candidates.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let nearest = parallel::map_ranges(coords.len(), PART, &nearest_of).into_iter().flatten();
    let Some((distance, node)) = nearest.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(None) };
    let ((low, high), tag) = (selector.mesh.extent(), selector.mesh.node_tags[node]);
    let diagonal = norm(sub(high, low));
    let outside = norm([0, 1, 2].map(|c| at[c] - at[c].clamp(low[c], high[c])));
    if outside > NOWHERE * diagonal {
        let (low, high, distance) = (vector(low), vector(high), number(distance));
        let message = format!(
            "this point is far from the body: the nearest node, {tag} at {}, is {distance} away",
            vector(coords[node])
        );
        let help = format!("the mesh reaches from {low} to {high}; is the point in the same unit?");
        return Err(selector.case.error_at(point.span(), message, help));
    }
    if distance > FAR * diagonal {
        warnings.push(format!(
            "point_force at {}: the nearest node, {tag} at {}, takes it, {} away",
            vector(at),
            vector(coords[node]),
            number(distance)
        ));
    }
    Ok(Some(node as u32))
}

fn push_force(selector: &Selector<'_>, table: &PushTable, name: &str, warnings: &mut Vec<String>) -> Vec<NodalForce> {
    let (direction, total) = (table.direction.get_ref().xyz(), *table.total.get_ref());
    let (forces, n_alone) = push::push(selector.mesh, &selector.in_solid, direction, total, selector.case.analysis());
    if let Some(n) = n_alone {
        let face = words(selector.mesh.dim()).face;
        let nodes = if n == 1 { "the single node".to_string() } else { format!("the {n} nodes") };
        warnings.push(format!(
            "{name}: no {face} lies furthest along {direction:?}; {nodes} there share the force equally"
        ));
    }
    forces
}
