//! `[[remote]]`: a point that moves with some nodes.
//!
//! A distributing one has their [mean motion](Patch::mean) and leaves them soft; to a rigid one they are bound, `u = u_r +
//! theta x (x - x_r)`. What it fixes or prescribes are equations for its motion, its force and moment are spread over the nodes.
//! It has no unknowns of its own: the motion of a rigid one is that of the components of a few of its nodes, those that
//! determine it best.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, DVector, RowDVector};
use toml::Spanned;
use warpfem_text::{counted, vector};

use super::patch::Patch;
use super::{Constraints, Dof, Entry, Equation, kind_of};
use crate::mesh::faces::Face;
use crate::mesh::vector::{add, axis, cross, norm, sub};
use crate::model::case::tables::RemoteTable;
use crate::model::problems::Problems;
use crate::model::select::Selector;
use crate::model::{Checked, Physics};

/// The kinds of remote points.
const KINDS: [&str; 2] = ["distributing", "rigid"];
/// Nodes whose components determine a motion this badly do not.
const DETERMINED: f64 = 1e-8;

/// A remote point.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its name in messages and results.
    pub name: String,
    /// Where it is.
    pub at: [f64; 3],
    /// What it moves with.
    pub patch: Patch,
    /// The force and the moment that act on it.
    pub load: [[f64; 3]; 2],
    /// What load cases call it.
    pub load_name: Option<Spanned<String>>,
    /// The number of its entry.
    pub entry: u32,
}

/// Takes all remote points of a case that are sound.
pub fn add_all(selector: &Selector<'_>, constraints: &mut Constraints, problems: &mut Problems) {
    for table in &selector.case.tables.remote {
        if let Some(remote) = problems.take(add_one(selector, table, constraints)) {
            constraints.remotes.push(remote);
        }
    }
}

fn add_one(selector: &Selector<'_>, table: &Spanned<RemoteTable>, constraints: &mut Constraints) -> Checked<Remote> {
    let (case, mesh, given) = (selector.case, selector.mesh, table.get_ref());
    if case.analysis().physics() != Physics::Elasticity || case.analysis().is_revolved() {
        let message = format!("a {} problem has no remote points", case.analysis().name());
        return Err(case.error_at(table.span(), message, "use [[support]] and loads on groups"));
    }
    let is_plane = mesh.dim() == 2;
    let kind = match &given.kind {
        None => 0,
        Some(kind) => kind_of(case, "remote", kind, &KINDS)?,
    };
    let patch = Patch::on(selector, &given.on)?;
    let mut at = patch.centre;
    if let Some(point) = &given.at {
        case.check_point("at", point)?;
        at = point.get_ref().with_z(at[2]);
    }
    let load = case.remote_load(table)?;
    let prescribed = case.remote_motion(table)?;
    let in_a_line = || {
        let message = format!(
            "the nodes of `{}` lie in a line, so they cannot turn about it with a remote point",
            given.on.get_ref().joined()
        );
        case.error_at(given.on.span(), message, "name a group of surfaces, or of three points that span a plane")
    };
    let mean = patch.mean(at).ok_or_else(in_a_line)?;
    let name = constraints.unused(given.on.get_ref().or_own(given.name.as_ref()));
    let entry = constraints.enter(Entry { name: name.clone(), kind: "remote", place: table.span() });
    let [pull, turn] = load.map(|of| if of == [0.0; 3] { None } else { Some(vector(of)) });
    let loads =
        [("force", pull), ("moment", turn)].into_iter().filter_map(|(word, of)| Some(format!(", {word} {}", of?)));
    let (nodes, loads) = (counted(patch.nodes.len(), "node"), loads.collect::<String>());
    constraints.notes.push(("remote", format!("{name}: {}, {nodes}, at {}{loads}", KINDS[kind], vector(at))));
    let mut equations = Vec::new();
    let mut rows = mean;
    if KINDS[kind] == "rigid" {
        let frame = Frame { centre: patch.centre, size: size(&patch, &mesh.coords), is_plane };
        let corners = match selector.points(&given.on)? {
            Some(points) => points,
            None => {
                let of_face = |face: &Face| face.nodes()[..face.kind.info().n_corners].to_vec();
                let corners: BTreeSet<u32> = selector.faces(&given.on)?.iter().flat_map(of_face).collect();
                corners.into_iter().collect()
            }
        };
        let is_free = |dof: &Dof| constraints.is_free(dof);
        let body = Rigid::new(&patch, &corners, frame, &mesh.coords, is_free).ok_or_else(in_a_line)?;
        equations.extend(body.equations(&patch, &mesh.coords, entry));
        rows = body.motion(at);
    }
    for (terms, value) in rows.into_iter().zip(prescribed) {
        equations.extend(value.map(|value| Equation { terms, value, slaves: Vec::new(), entry }));
    }
    for equation in equations {
        // Those of a motion that does not occur, as across the plane, are empty.
        constraints.take(selector, equation, table.span())?;
    }
    Ok(Remote { name, at, patch, load, load_name: given.name.clone(), entry })
}

/// How far the nodes are from the centre.
fn size(patch: &Patch, coords: &[[f64; 3]]) -> f64 {
    patch.nodes.iter().map(|node| norm(sub(coords[*node as usize], patch.centre))).fold(0.0, f64::max)
}

/// In what motions are measured: displacement of the centre, and rotation about it times a length.
#[derive(Debug, Clone, Copy)]
struct Frame {
    centre: [f64; 3],
    size: f64,
    is_plane: bool,
}

impl Frame {
    /// The motions: displacements, then rotations.
    fn motions(&self) -> &'static [usize] {
        if self.is_plane { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] }
    }

    /// What component `c` of the displacement at `x` has of each motion.
    fn row(&self, x: [f64; 3], c: usize) -> RowDVector<f64> {
        let arm = sub(x, self.centre).map(|r| r / self.size);
        let of = |&motion: &usize| match motion {
            0..3 => f64::from(u8::from(motion == c)),
            _ => cross(axis(motion - 3), arm)[c],
        };
        RowDVector::from_iterator(self.motions().len(), self.motions().iter().map(of))
    }
}

/// A rigid motion by the components that determine it.
struct Rigid {
    frame: Frame,
    masters: Vec<Dof>,
    /// Motions from masters.
    inverse: DMatrix<f64>,
}

impl Rigid {
    /// Chooses the masters: one by one that which the others determine least, among free ones at corners if there are
    /// enough: multigrid has the middles of edges follow their ends, which follow the masters.
    fn new(
        patch: &Patch,
        corners: &[u32],
        frame: Frame,
        coords: &[[f64; 3]],
        is_free: impl Fn(&Dof) -> bool,
    ) -> Option<Self> {
        let n = frame.motions().len();
        let all: Vec<Dof> = dofs(&patch.nodes, frame.is_plane).collect();
        let best: Vec<Dof> = dofs(corners, frame.is_plane).filter(&is_free).collect();
        let free: Vec<Dof> = all.iter().copied().filter(&is_free).collect();
        let rows = |dofs: &[Dof]| -> Vec<RowDVector<f64>> {
            dofs.iter().map(|dof| frame.row(coords[dof.node as usize], dof.component.into())).collect()
        };
        let choice = |from: &[Dof]| Some(independent(rows(from), n)?.iter().map(|&i| from[i]).collect::<Vec<_>>());
        let masters = [best, free, all].iter().find_map(|from| choice(from))?;
        let inverse = DMatrix::from_rows(&rows(&masters)).try_inverse()?;
        Some(Rigid { frame, masters, inverse })
    }

    /// A sum of the masters.
    fn sum(&self, row: &RowDVector<f64>) -> Vec<(Dof, f64)> {
        let factors = row * &self.inverse;
        self.masters.iter().copied().zip(factors.iter().copied()).filter(|(_, factor)| factor.abs() > 1e-14).collect()
    }

    /// That all other components follow them.
    fn equations(&self, patch: &Patch, coords: &[[f64; 3]], entry: u32) -> Vec<Equation> {
        let others = dofs(&patch.nodes, self.frame.is_plane).filter(|dof| !self.masters.contains(dof));
        let equation = |slave: Dof| {
            let row = self.frame.row(coords[slave.node as usize], slave.component.into());
            let masters = self.sum(&row).into_iter().map(|(dof, factor)| (dof, -factor));
            Equation {
                terms: [(slave, 1.0)].into_iter().chain(masters).collect(),
                value: 0.0,
                slaves: vec![slave],
                entry,
            }
        };
        others.map(equation).collect()
    }

    /// The motion at a point: displacements, then rotations; nothing of those that a plane body does not have.
    fn motion(&self, at: [f64; 3]) -> [Vec<(Dof, f64)>; 6] {
        std::array::from_fn(|motion| match self.frame.motions().iter().position(|known| *known == motion) {
            None => Vec::new(),
            Some(_) if motion < 3 => self.sum(&self.frame.row(at, motion)),
            Some(k) => {
                let mut row = RowDVector::zeros(self.frame.motions().len());
                row[k] = 1.0 / self.frame.size;
                self.sum(&row)
            }
        })
    }
}

fn dofs(nodes: &[u32], is_plane: bool) -> impl Iterator<Item = Dof> {
    let components = if is_plane { 0..2 } else { 0..3 };
    nodes.iter().flat_map(move |&node| components.clone().map(move |component| Dof { node, component }))
}

/// The places of `n` rows that are farthest from depending on each other, by Gram and Schmidt's process with pivoting.
fn independent(mut rows: Vec<RowDVector<f64>>, n: usize) -> Option<Vec<usize>> {
    let mut chosen = Vec::with_capacity(n);
    for _ in 0..n {
        let longest = (0..rows.len())
            .max_by(|&a, &b| rows[a].norm_squared().total_cmp(&rows[b].norm_squared()).then(b.cmp(&a)))?;
        let direction: DVector<f64> = rows[longest].transpose();
        let length = direction.norm();
        if length < DETERMINED {
            return None;
        }
        let direction = direction / length;
        rows.iter_mut().for_each(|row| *row -= (&*row * &direction)[0] * direction.transpose());
        chosen.push(longest);
    }
    Some(chosen)
}

impl Constraints {
    /// The force and the moment that what holds a remote point does to the body: about the point.
    pub fn reaction(&self, remote: &Remote, coords: &[[f64; 3]], multipliers: &[f64]) -> [[f64; 3]; 2] {
        let mut sums = [[0.0; 3]; 2];
        for (node, force) in self.all_forces(multipliers, |entry| entry == remote.entry) {
            let arm = sub(coords[node as usize], remote.at);
            sums = [add(sums[0], force), add(sums[1], cross(arm, force))];
        }
        sums
    }
}
