//! `[[mass]]`: point masses, spread over groups or at a point.
//!
//! Each node of a group has its share. A mass with `inertia`, or at a remote point, is a body at one place: what moves it,
//! a force and a moment, is spread over its nodes as that of a remote point is.

use std::collections::BTreeMap;

use toml::Spanned;

use super::case::Names;
use super::case::tables::MassTable;
use super::constraints::patch::Patch;
use super::constraints::remote::Remote;
use super::loads::{FaceIntegral, NodalForce, area};
use super::problems::Problems;
use super::select::Selector;
use super::{CaseLoads, Checked, Model};
use crate::mesh::vector::cross;

/// One `[[mass]]`.
#[derive(Debug, Clone)]
pub struct PointMass {
    /// Its name, or its groups'.
    pub name: String,
    /// In all.
    pub mass: f64,
    /// Nodes with their shares, `int N_a dA` of the area's, nodes ascending; of a body none.
    pub shares: Vec<(u32, f64)>,
    /// Or the body that it is.
    pub body: Option<Body>,
}

/// A mass at a place.
#[derive(Debug, Clone)]
pub struct Body {
    /// Its centre.
    pub at: [f64; 3],
    /// Its moments of inertia about axes through the centre along x, y, z.
    pub inertia: [f64; 3],
    /// The nodes that carry it.
    pub patch: Patch,
}

impl PointMass {
    /// Its nodes, ascending.
    pub fn nodes(&self) -> Vec<u32> {
        let of_body = self.body.iter().flat_map(|body| body.patch.nodes.iter().copied());
        self.shares.iter().map(|share| share.0).chain(of_body).collect()
    }
}

impl Body {
    /// What it does to its nodes by a force and a moment at its place; it has been seen that they take both.
    fn spread(&self, force: [f64; 3], moment: [f64; 3]) -> Vec<NodalForce> {
        self.patch.spread(force, moment, self.at).unwrap_or_default()
    }
}

/// The point masses in the case file's order, without those that are wrong.
pub fn resolve(selector: &Selector<'_>, remotes: &[Remote], problems: &mut Problems) -> Vec<PointMass> {
    let tables = &selector.case.tables.mass;
    tables.iter().filter_map(|table| problems.take(one(selector, table.get_ref(), remotes))).collect()
}

fn one(selector: &Selector<'_>, table: &MassTable, remotes: &[Remote]) -> Checked<PointMass> {
    let (case, mesh, on) = (selector.case, selector.mesh, &table.on);
    case.check_positive("mass", &table.mass)?;
    let (name, mass) = (on.get_ref().or_own(table.name.as_ref()), *table.mass.get_ref());
    let inertia = table.inertia.as_ref().map_or(Ok([0.0; 3]), |inertia| case.inertia(inertia))?;
    let called = on.get_ref().joined();
    let remote = remotes.iter().find(|remote| remote.name == called && mesh.group(&called).is_none());
    if remote.is_none() && table.inertia.is_none() {
        return Ok(PointMass { name, mass, shares: shares(selector, on, mass)?, body: None });
    }
    let patch = remote.map_or_else(|| Patch::on(selector, on), |remote| Ok(remote.patch.clone()))?;
    let body = Body { at: remote.map_or(patch.centre, |remote| remote.at), inertia, patch };
    if body.patch.mean(body.at).is_none() {
        let message = format!("`{called}` cannot turn a body: its points lie in a line");
        let help = "leave `inertia` out, or name a group of surfaces, or of three points that span a plane";
        return Err(case.error_at(on.span(), message, help));
    }
    Ok(PointMass { name, mass, shares: Vec::new(), body: Some(body) })
}

impl Model {
    /// The masses that are bodies.
    pub fn bodies(&self) -> impl Iterator<Item = (f64, &Body)> + Clone {
        self.masses.iter().filter_map(|mass| Some((mass.mass, mass.body.as_ref()?)))
    }

    /// What gravity and rotation do to the nodes of bodies.
    pub fn forces_of_bodies(&self, loads: &CaseLoads<'_>) -> Vec<NodalForce> {
        let of_body = |(mass, body): (f64, &Body)| {
            let [x, y, z] = body.at.map(|x| mass * x);
            // Euler's equations: a body that is no ball wants to turn its long axis across that of the rotation.
            let moment = loads.rotation.map_or([0.0; 3], |rotation| {
                let spin = rotation.axis.map(|c| rotation.speed * c);
                let momentum = [0, 1, 2].map(|c| body.inertia[c] * spin[c]);
                cross(momentum, spin)
            });
            body.spread(loads.volume_force([mass, x, y, z]), moment)
        };
        self.bodies().flat_map(of_body).collect()
    }

    /// What bodies do to their nodes where all moves with this acceleration of `centre` and angular acceleration.
    pub fn inertia_of_bodies(&self, centre: [f64; 3], [along, turn]: [[f64; 3]; 2]) -> Vec<NodalForce> {
        let of_body = |(mass, body): (f64, &Body)| {
            let swept = cross(turn, [0, 1, 2].map(|c| body.at[c] - centre[c]));
            let force = [0, 1, 2].map(|c| -mass * (along[c] + swept[c]));
            body.spread(force, [0, 1, 2].map(|c| -body.inertia[c] * turn[c]))
        };
        self.bodies().flat_map(of_body).collect()
    }
}

/// What each node has of a total that is spread over groups: by area, or equally over points.
fn shares(selector: &Selector<'_>, on: &Spanned<Names>, total: f64) -> Checked<Vec<(u32, f64)>> {
    if let Some(points) = selector.points(on)? {
        let share = total / points.len() as f64;
        return Ok(points.into_iter().map(|node| (node, share)).collect());
    }
    let faces = selector.faces(on)?;
    let (coords, analysis) = (&selector.mesh.coords, selector.case.analysis());
    let per_area = total / area(selector, &faces);
    let mut sums = BTreeMap::new();
    for face in &faces {
        let integral = FaceIntegral::of(face, coords, analysis);
        face.nodes()
            .iter()
            .zip(integral.area)
            .for_each(|(node, area)| *sums.entry(*node).or_insert(0.0) += per_area * area);
    }
    Ok(sums.into_iter().collect())
}
