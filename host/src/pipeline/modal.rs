//! Vibration: the lowest eigenpairs of `K u = lambda M u`, `lambda = (2 pi f)^2`, of a model with supports and couplings.
//!
//! What is iterated with is `K + sigma M`, which has the same modes, and is positive definite where parts or mechanisms are
//! free. Rigid motions of free parts are modes of frequency 0 that need no iteration.

use super::Run;
use super::loaded::Loaded;
use super::modes::{self, Free, Told};
use super::response::{self, Moved, UnderLoads};
use super::system::System;
use crate::assembly::{BodyMass, body_masses, mass_along, mass_matrix};
use crate::device::Buffer;
use crate::eigen::{Eigenpairs, Pencil};
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::model::{By, Model, Rotation};
use crate::precond;
use crate::result::{DirectError, EFFECTIVE_MASS, Ending, Error, MODES, PARTICIPATION, Result};
use crate::solve::energy::parts::about_centre;
use crate::sparse::{Coupled, LinOp, Matrix};
use kernels_rs::blas::quotient;
use nalgebra::{DMatrix, SymmetricEigen};
use std::f64::consts::TAU;
use std::slice;

/// The shift, relative to the [`stiffness_by_mass`]: below the first one of slender bodies, and above what rounding makes of 0.
const SMALLEST_SHIFT: f64 = 4e6 * f64::EPSILON;
/// Parts whose rigid motions are looked for before the iteration; of more it finds them.
const MOST_PARTS: usize = 8;
/// What rounding leaves of the energy of a motion without strain, relative to the same.
const ROUNDING: f64 = 1e4 * f64::EPSILON;
/// How far a body moves.
const MOVED: Scalar = Scalar::new(N_SCALARS - 4);

/// Finds the modes of a model and sends each as a step.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (space, model) = (run.space, run.model);
    let mut system = System::<f64>::assemble(space, model, &run.used.plan, &mut run.phase, &mut run.timings)?;
    if model.prestress && !stiffen(run, &mut system)? {
        return Ok(());
    }
    let body = &system.body;
    let mut mass = mass_matrix(space, model, &body.numbering, &body.mesh, system.matrix())?;
    let bodies = Bodies::new(space, model, body)?;
    let whole_mass = WithBodies { matrix: &mass, bodies: &bodies, factor: 1.0 };
    let motions = whole_motions(space, body, &whole_mass)?;
    let scale = stiffness_by_mass(space, &system, &mass)?;
    let (shift, zero) = (model.shift.max(SMALLEST_SHIFT * scale), ROUNDING * scale);
    let drives = model.response.iter().flat_map(|response| &response.drives);
    let moved =
        drives.map(|drive| moved(space, model, &mut system.body, (&whole_mass, drive.by))).collect::<Result<_>>()?;
    system.support(space, &mut mass)?;
    system.add(space, shift, &mass)?;
    run.timings.boundary += run.phase.next("preconditioner");
    let (mut found, under_loads) = match find(run, &system, (&mass, &bodies), (shift, zero), moved) {
        Err(Error::Direct(DirectError::NotPositive { .. })) if model.prestress => return Err(Error::Unstable),
        Ok((found, _)) if model.prestress && found.ending == Ending::Indefinite => return Err(Error::Unstable),
        found => found?,
    };
    let eigenvalue = |value: f64| if (value - shift).abs() <= zero { 0.0 } else { value - shift };
    let frequency = |value: f64| eigenvalue(value).max(0.0).sqrt() / TAU;
    modes::count(run, &mut system, &mass, &found, frequency)?;
    modes::expand(space, &system.body, &mut found)?;
    run.timings.solve += run.phase.next("stress");
    let System { mut body, operator, f, .. } = system;
    drop((operator, mass, f));
    // Shapes are beside what is prescribed.
    body.supports.motion = Vec::new();
    // What of the motions is in the modes.
    let vectors: Vec<&Buffer<f64>> = found.vectors.iter().collect();
    let shares = space.gram(&motions.iter().collect::<Vec<_>>(), &vectors)?;
    drop(motions);
    modes::send(run, &body, &found, &|number, largest| {
        let frequency = frequency(found.values[number]);
        let scale = largest.signum();
        let participation: Vec<f64> = shares.column(number).iter().map(|share| scale * share).collect();
        let effective = participation.iter().map(|factor| factor * factor).collect();
        let of_mode = vec![eigenvalue(found.values[number]), frequency, found.residuals[number]];
        let tables = vec![(&MODES, of_mode), (&PARTICIPATION, participation), (&EFFECTIVE_MASS, effective)];
        Told { scale, value: frequency, tables }
    })?;
    let Some(under_loads) = under_loads else { return Ok(()) };
    let eigenvalues: Vec<f64> = found.values.iter().map(|value| eigenvalue(*value).max(0.0)).collect();
    response::send(run, &body, (&found, &eigenvalues), &under_loads)
}

/// Adds to K what the stress under the loads does, and the loss of stiffness of a body that spins, whose masses are drawn outwards
/// as they move outwards; false if that was cancelled.
fn stiffen(run: &mut Run, system: &mut System<f64>) -> Result<bool> {
    let (space, model) = (run.space, run.model);
    let preconditioner = modes::preconditioner(run, system)?;
    let (u, outcome) = modes::displacements(run, system, &preconditioner)?;
    if !outcome.converged {
        return if outcome.ending == Ending::Cancelled { Ok(false) } else { Err(Error::Preload) };
    }
    system.add(space, 1.0, &modes::geometric(space, system, 1.0, &u)?)?;
    if let Some(Rotation { axis, speed, .. }) = model.rotation {
        let across = |i: usize, j: usize| f64::from(u8::from(i == j)) - axis[i] * axis[j];
        let across = [0, 1, 2].map(|i| [0, 1, 2].map(|j| across(i, j)));
        let body = &system.body;
        let mut mass = mass_along(space, model, (&body.numbering, &body.mesh), system.matrix(), across)?;
        system.support(space, &mut mass)?;
        system.add(space, -speed * speed, &mass)?;
    }
    Ok(true)
}

/// The mean stiffness by the mean mass, from the diagonals of K and M: about the largest eigenvalue. That of a node without mass
/// would be none.
fn stiffness_by_mass(space: &Space, system: &System<f64>, mass: &Matrix<f64>) -> Result<f64> {
    let flexibility = space.take(precond::inverse_diagonal(space, system.matrix())?)?;
    let lightness = space.take(precond::inverse_diagonal(space, mass)?)?;
    let both = flexibility.iter().zip(&lightness).filter(|(k, m)| **k > 0.0 && **m > 0.0);
    let [stiffness, mass] =
        both.fold([0.0; 2], |[k, m], (flexibility, lightness)| [k + flexibility.recip(), m + lightness.recip()]);
    Ok(quotient(stiffness, mass))
}

/// Masses that are bodies on a device: parts `m r r^T` of M.
struct Bodies(Vec<(f64, Buffer<f64>)>);

impl Bodies {
    fn new(space: &Space, model: &Model, body: &Loaded) -> Result<Self> {
        let part = |part: BodyMass| {
            let mut r = vec![0.0; body.supports.prescribed.len()];
            part.row.iter().for_each(|(unknown, factor)| r[*unknown as usize] += factor);
            Ok((part.mass, space.upload_vec(r)?))
        };
        Ok(Bodies(body_masses(model, &body.numbering).into_iter().map(part).collect::<Result<_>>()?))
    }
}

/// A matrix, with so many times the masses that are bodies.
struct WithBodies<'a> {
    matrix: &'a Matrix<f64>,
    bodies: &'a Bodies,
    factor: f64,
}

impl LinOp<f64> for WithBodies<'_> {
    fn n(&self) -> usize {
        self.matrix.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        self.apply_all(space, slice::from_ref(x), slice::from_mut(y))
    }

    fn apply_all(&self, space: &Space, x: &[Buffer<f64>], y: &mut [Buffer<f64>]) -> Result<()> {
        self.matrix.apply_all(space, x, y)?;
        for (x, y) in x.iter().zip(y) {
            for (mass, r) in &self.bodies.0 {
                space.dot(r, x, MOVED)?;
                space.axpy(Quotient::new(MOVED, Scalar::ONE).times(self.factor * mass), r, y)?;
            }
        }
        Ok(())
    }

    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        self.matrix.row_sums(space)
    }
}

/// `M r` of the rigid motions r of the whole body: translations, then rotations about axes through the origin. In the plane
/// the third is the rotation.
fn whole_motions(space: &Space, body: &Loaded, mass: &dyn LinOp<f64>) -> Result<Vec<Buffer<f64>>> {
    let all: Vec<u32> = (0..body.coords.len() as u32).collect();
    let mut motions = body.motions(&all, [0.0, 0.0, 0.0, 1.0]);
    match body.supports.components {
        2 => motions.swap(2, 5),
        // Rotations come about z, x, y.
        _ => motions[3..].rotate_left(1),
    }
    let force = |motion| {
        let mut force = space.zeros(mass.n())?;
        mass.apply(space, &space.upload_vec(motion)?, &mut force)?;
        Ok(force)
    };
    motions.into_iter().map(force).collect()
}

/// What a drive's prescribed displacements do at rest, if any is not 0.
fn moved(space: &Space, model: &Model, body: &mut Loaded, (mass, by): (&dyn LinOp<f64>, By)) -> Result<Option<Moved>> {
    let By::Supports { component, .. } = by else { return Ok(None) };
    let all = component.map(|component| body.keep_component(model, component));
    let shape = body.supports.with_motion(&body.supports.prescribed);
    let moved = match shape.iter().all(|value| *value == 0.0) {
        true => None,
        false => {
            let mut inertia = space.zeros(mass.n())?;
            mass.apply(space, &space.upload(&shape)?, &mut inertia)?;
            let mut inertia = space.download(&inertia)?;
            body.free(&mut inertia);
            Some(Moved { forces: body.forces_of_prescribed(space)?, shape, inertia: space.upload_vec(inertia)? })
        }
    };
    if let Some(all) = all {
        body.supports = all;
    }
    Ok(moved)
}

impl Loaded {
    /// The six rigid motions of some rows about a frame, each `[n_nodes][components]`, flat; 0 elsewhere.
    fn motions(&self, rows: &[u32], frame: [f64; 4]) -> [Vec<f64>; 6] {
        let size = self.supports.components;
        let mut motions: [Vec<f64>; 6] = std::array::from_fn(|_| vec![0.0; size * self.coords.len()]);
        for row in rows.iter().map(|row| *row as usize) {
            let y = about_centre(self.coords[row], frame);
            for i in 0..size {
                let moved = self.parts.lists.row(i, y);
                motions.iter_mut().zip(&moved).for_each(|(motion, moved)| motion[size * row + i] = *moved);
            }
        }
        motions
    }
}

/// The eigenpairs of `K + sigma M`, those of rigid motions first; and if loads vibrate, what they do.
fn find(
    run: &mut Run,
    system: &System<f64>,
    (mass, bodies): (&Matrix<f64>, &Bodies),
    (shift, zero): (f64, f64),
    moved: Vec<Option<Moved>>,
) -> Result<(Eigenpairs, Option<UnderLoads>)> {
    let space = run.space;
    let (body, coupling) = (&system.body, system.coupling.as_deref());
    let (stiffness, mass) = (
        WithBodies { matrix: system.matrix(), bodies, factor: shift },
        WithBodies { matrix: mass, bodies, factor: 1.0 },
    );
    let (stiffness, mass) = (Coupled::new(&stiffness, coupling), Coupled::new(&mass, coupling));
    let (a, m) = (Free::new(space, stiffness.operator(), body)?, Free::new(space, mass.operator(), body)?);
    let preconditioner = modes::preconditioner(run, system)?;
    let rigid = rigid_modes(space, body, [&a, &m], shift + zero)?;
    let n = run.cases.own.min(run.model.modes).saturating_sub(rigid.len());
    let mut found =
        modes::search(run, &Pencil { a: &a, m: &m, preconditioner: &*preconditioner, deflated: &rigid }, n, shift)?;
    found.values.splice(0..0, rigid.iter().map(|_| shift));
    found.residuals.splice(0..0, rigid.iter().map(|_| 0.0));
    found.errors.splice(0..0, rigid.iter().map(|_| 0.0));
    found.converged += rigid.len();
    found.vectors.splice(0..0, rigid);
    let is_asked = run.model.response.is_some() && run.cases.own >= run.model.own_steps();
    let under_loads = match is_asked && found.ending != Ending::Cancelled {
        true => {
            let pencil = Pencil { a: &a, m: &m, preconditioner: &*preconditioner, deflated: &found.vectors };
            Some(response::under_loads(run, system, (&pencil, shift), moved)?)
        }
        false => None,
    };
    Ok((found, under_loads))
}

/// The rigid motions of the parts that strain nothing, M-orthonormal: those whose Rayleigh quotients are no larger than this.
fn rigid_modes(space: &Space, body: &Loaded, pencil: [&dyn LinOp<f64>; 2], most: f64) -> Result<Vec<Buffer<f64>>> {
    let (parts, mut modes) = (&body.parts.lists, Vec::new());
    for part in (0..parts.n_parts()).filter(|_| parts.n_parts() <= MOST_PARTS) {
        let mut motions = Vec::new();
        for mut r in body.motions(parts.members().of(part), parts.frames()[part]) {
            body.supports.free_part(&mut r);
            if let Some(couplings) = &body.couplings {
                couplings.rows.slaves.iter().for_each(|slave| r[*slave as usize] = 0.0);
            }
            if r.iter().any(|value| *value != 0.0) {
                motions.push(space.upload_vec(r)?);
            }
        }
        if motions.is_empty() {
            continue;
        }
        let motions: Vec<&Buffer<f64>> = motions.iter().collect();
        let gram = |operator: &dyn LinOp<f64>| {
            let mut products = space.vectors(operator.n(), motions.len())?;
            motions.iter().zip(&mut products).try_for_each(|(r, product)| operator.apply(space, r, product))?;
            space.symmetric_gram(&motions, &products.iter().collect::<Vec<_>>())
        };
        let [stiffness, mass] = pencil.map(gram);
        let Some(combinations) = free_combinations(stiffness?, mass?, most) else { continue };
        let mut free = space.vectors(pencil[0].n(), combinations.ncols())?;
        space.combine(&motions, &combinations, 0.0, &mut free)?;
        modes.append(&mut free);
    }
    Ok(modes)
}

/// The combinations of motions with small Rayleigh quotients, orthonormal with the mass.
fn free_combinations(stiffness: DMatrix<f64>, mass: DMatrix<f64>, most: f64) -> Option<DMatrix<f64>> {
    let of_mass = SymmetricEigen::new(mass);
    let limit = f64::EPSILON.sqrt() * of_mass.eigenvalues.iter().copied().fold(0.0, f64::max);
    let unit = |i: usize| of_mass.eigenvectors.column(i) / of_mass.eigenvalues[i].sqrt();
    let units: Vec<_> = (0..of_mass.eigenvalues.len()).filter(|i| of_mass.eigenvalues[*i] > limit).map(unit).collect();
    if units.is_empty() {
        return None;
    }
    let basis = DMatrix::from_columns(&units);
    let within = SymmetricEigen::new(basis.transpose() * stiffness * &basis);
    let free = (0..units.len()).filter(|i| within.eigenvalues[*i] <= most);
    let free: Vec<_> = free.map(|i| &basis * within.eigenvectors.column(i)).collect();
    (!free.is_empty()).then(|| DMatrix::from_columns(&free))
}
