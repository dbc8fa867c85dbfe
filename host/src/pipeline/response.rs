//! The motion under the loads, by superposition of the modes found: see [`Response`](crate::model::Response).
//!
//! What modes beyond them would add is nearly what they do at rest: the displacements under the loads without their share in the
//! modes found (Cornwell, Craig, Johnson 1983, "mode acceleration").

use super::loaded::Loaded;
use super::modes;
use super::system::System;
use super::{Run, stopping};
use crate::device::Buffer;
use crate::eigen::{Eigenpairs, Pencil};
use crate::linalg::{Quotient, Space};
use crate::model::{By, Factors, LoadedMode, Probe};
use crate::result::{Curve, Error, Moment, Quantity, Result, Series, Step};
use crate::solve::{CgOptions, Equations, cg};
use crate::sparse::LinOp;
use nalgebra::{Complex, DMatrix, Vector3};
use std::cell::RefCell;
use std::slice;

/// What a curve has at each frequency: the largest displacement of a swing, then those along x, y, z and their phases, negative
/// where they lag.
const COLUMNS: &[(&str, Quantity)] = &[
    ("amplitude", Quantity::Length),
    ("x", Quantity::Length),
    ("y", Quantity::Length),
    ("z", Quantity::Length),
    ("phase x [deg]", Quantity::Unlabelled),
    ("phase y [deg]", Quantity::Unlabelled),
    ("phase z [deg]", Quantity::Unlabelled),
];

/// What is smaller beside the largest displacement is rounding.
const ROUNDING: f64 = 1e-9;
/// Loads are no more than rounding where modes leave less than this part of them.
const LEFT: f64 = 1e-10;

/// K, of `K + sigma M` and M.
struct Unshifted<'a> {
    pencil: &'a Pencil<'a>,
    shift: f64,
    scratch: RefCell<Buffer<f64>>,
}

impl<'a> Unshifted<'a> {
    fn new(space: &Space, pencil: &'a Pencil<'a>, shift: f64) -> Result<Self> {
        Ok(Unshifted { pencil, shift, scratch: RefCell::new(space.zeros(pencil.a.n())?) })
    }
}

impl LinOp<f64> for Unshifted<'_> {
    fn n(&self) -> usize {
        self.pencil.a.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        let moved = &mut *self.scratch.borrow_mut();
        self.pencil.m.apply(space, x, moved)?;
        self.pencil.a.apply(space, x, y)?;
        space.axpy(Quotient::MINUS_ONE.times(self.shift), moved, y)
    }

    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        self.pencil.a.row_sums(space)
    }
}

/// What drives do to a body whose modes are known.
pub(super) struct UnderLoads {
    /// `phi . f` of each drive and mode.
    forces: Vec<Vec<f64>>,
    /// Shapes, with the number of their drive: 0 for what f does at rest, to all other modes, 1 for u_s.
    shapes: Vec<([usize; 2], Buffer<f64>)>,
}

/// What prescribed displacements do at rest.
pub(super) struct Moved {
    /// `f - K w_D` without loads: 0 where it is held.
    pub forces: Vec<f64>,
    /// The prescribed displacements with the motions of whole parts that fit them, and M times these.
    pub shape: Vec<f64>,
    pub inertia: Buffer<f64>,
}

/// Solves for it: K is that of the pencil less the shift times M, and `moved` is of each drive.
pub(super) fn under_loads(
    run: &Run,
    system: &System<f64>,
    (pencil, shift): (&Pencil, f64),
    moved: Vec<Option<Moved>>,
) -> Result<UnderLoads> {
    let (space, n) = (run.space, pencil.a.n());
    let stiffness = Unshifted::new(space, pencil, shift)?;
    let modes: Vec<&Buffer<f64>> = pencil.deflated.iter().collect();
    let mut moved_modes = space.vectors(n, modes.len())?;
    pencil.m.apply_all(space, pencil.deflated, &mut moved_modes)?;
    let moved_modes: Vec<&Buffer<f64>> = moved_modes.iter().collect();
    let (mut of_modes, mut shapes) = (Vec::new(), Vec::new());
    // The share of forces in the modes, and the displacements under them without theirs.
    let mut take = |number: usize, f: &Buffer<f64>| {
        let [mut left, mut u] = [space.zeros(n)?, space.zeros(n)?];
        space.copy(f, &mut left)?;
        let forces = space.gram(&modes, &[f])?;
        space.combine(&moved_modes, &-&forces, 1.0, slice::from_mut(&mut left))?;
        let [all, rest] = [f, &left].map(|f| space.gram(&[f], &[f]).map(|squares| squares.sum().sqrt()));
        if rest? > LEFT * all? {
            solve(run, pencil, &stiffness, &left, &mut u)?;
            let shares = space.gram(&moved_modes, &[&u])?;
            space.combine(&modes, &-shares, 1.0, slice::from_mut(&mut u))?;
            system.body.expand(space, &mut u)?;
            shapes.push(([number, 0], u));
        }
        of_modes.push(forces.iter().copied().collect());
        Ok::<_, Error>(())
    };
    let (mut at_rest, prescribed) = (Vec::new(), space.upload_vec(system.body.forces_of_prescribed(space)?)?);
    let drives = run.model.response.iter().flat_map(|response| &response.drives);
    for (number, (drive, moved)) in drives.zip(moved).enumerate() {
        let f = match (drive.by, moved) {
            (By::Loads(case), _) => {
                let (_, mut f) = system.case(space, run.model, run.model.own_steps() + case)?;
                space.axpy(Quotient::MINUS_ONE, &prescribed, &mut f)?;
                f
            }
            (By::Supports { .. }, None) => space.zeros(n)?,
            (By::Supports { .. }, Some(Moved { forces, shape, inertia: mut f })) => {
                // u_s, what is prescribed left out; then with it.
                let [mut u, mut more] = [space.zeros(n)?, space.zeros(n)?];
                solve(run, pencil, &stiffness, &space.upload_vec(forces)?, &mut u)?;
                pencil.m.apply(space, &u, &mut more)?;
                space.axpy(Quotient::ONE, &more, &mut f)?;
                system.body.expand(space, &mut u)?;
                space.axpy(Quotient::ONE, &space.upload_vec(shape)?, &mut u)?;
                at_rest.push(([number, 1], u));
                f
            }
        };
        take(number, &f)?;
    }
    space.finish()?;
    shapes.append(&mut at_rest);
    Ok(UnderLoads { forces: of_modes, shapes })
}

fn solve(run: &Run, pencil: &Pencil, stiffness: &dyn LinOp<f64>, f: &Buffer<f64>, u: &mut Buffer<f64>) -> Result<()> {
    let CgOptions { tolerance, max_iterations, .. } = stopping(&run.model.solver);
    let options = CgOptions::new(tolerance, max_iterations);
    cg(run.space, &Equations::new(stiffness, f), pencil.preconditioner, u, options, run.monitor)?;
    Ok(())
}

/// Sends the curves of the probes, then the steps with fields.
pub(super) fn send(
    run: &mut Run,
    body: &Loaded,
    (found, eigenvalues): (&Eigenpairs, &[f64]),
    UnderLoads { forces, shapes: of_drives }: &UnderLoads,
) -> Result<()> {
    let Some(response) = &run.model.response else { return Ok(()) };
    let loaded = |(mode, eigenvalue): (usize, &f64)| LoadedMode {
        eigenvalue: *eigenvalue,
        forces: forces.iter().map(|of_modes| of_modes[mode]).collect(),
    };
    let modes: Vec<LoadedMode> = eigenvalues.iter().enumerate().map(loaded).collect();
    let (drives, of_drives): (Vec<[usize; 2]>, Vec<&Buffer<f64>>) = of_drives.iter().map(|(of, u)| (*of, u)).unzip();
    let shapes = Shapes { all: found.vectors.iter().chain(of_drives).collect(), drives };
    let shown = response.shown(eigenvalues);
    let mut number = run.model.modes;
    for (at, factors) in shown.iter().zip(response.factors(&shown, &modes)) {
        for moment in response.moments() {
            let u = shapes.combined(run.space, &factors, *moment)?;
            let outcome = modes::outcome(run, found, found.vectors.len() - 1);
            let step = modes::step(run, body, &u, outcome, (number, *at))?;
            modes::take(run, Step { moment: Some(*moment), ..step })?;
            number += 1;
        }
    }
    let probed = response.probed(eigenvalues);
    if probed.is_empty() || run.model.probes.is_empty() {
        return Ok(());
    }
    let curves = curves(run, body, &shapes, &response.factors(&probed, &modes))?;
    let over = ("frequency", Quantity::Frequency);
    run.sink.take_series(Series { name: "response", over, at: probed, columns: COLUMNS, curves })
}

/// Those of modes, then of drives.
struct Shapes<'a> {
    all: Vec<&'a Buffer<f64>>,
    /// As in [`UnderLoads::shapes`].
    drives: Vec<[usize; 2]>,
}

impl Shapes<'_> {
    fn factors<'a>(&'a self, Factors { modes, drives }: &'a Factors) -> impl Iterator<Item = Complex<f64>> + 'a {
        modes.iter().copied().chain(self.drives.iter().map(|[drive, which]| drives[*drive][*which].into()))
    }

    /// The displacements of a moment.
    fn combined(&self, space: &Space, factors: &Factors, moment: Moment) -> Result<Vec<f64>> {
        let of = |factor: Complex<f64>| if moment == Moment::Imaginary { factor.im } else { factor.re };
        let factors = DMatrix::from_iterator(self.all.len(), 1, self.factors(factors).map(of));
        let mut u = space.zeros(self.all[0].len())?;
        space.combine(&self.all, &factors, 0.0, slice::from_mut(&mut u))?;
        space.download(&u)
    }
}

/// What the probes do at each frequency.
fn curves(run: &Run, body: &Loaded, shapes: &Shapes, factors: &[Factors]) -> Result<Vec<Curve>> {
    let size = body.supports.components;
    let mut of_probes: Vec<Vec<Vector3<f64>>> = vec![vec![]; run.model.probes.len()];
    for shape in &shapes.all {
        let u = run.space.download(shape)?;
        for (probe, of_probe) in run.model.probes.iter().zip(&mut of_probes) {
            let row = |node: u32| size * body.numbering.to_solver[node as usize] as usize;
            let at = |c: usize| probe.shares.iter().map(|(node, share)| share * u[row(*node) + c]).sum::<f64>();
            of_probe.push(Vector3::from_fn(|c, _| if c < size { at(c) } else { 0.0 }));
        }
    }
    let row = |factors: &Factors, of_probe: &[Vector3<f64>]| {
        let terms = shapes.factors(factors).zip(of_probe);
        let u = terms.fold(Vector3::zeros(), |sum: Vector3<Complex<f64>>, (a, shape)| sum + shape.map(|c| a * c));
        // What is rounding beside the rest has no phase.
        let most = largest(&u);
        let u = u.map(|c| if c.norm() > ROUNDING * most { c } else { Complex::ZERO });
        let phases = u.iter().map(|c| c.arg().to_degrees());
        [most].into_iter().chain(u.iter().map(|c| c.norm())).chain(phases).collect()
    };
    let curve = |(probe, of_probe): (&Probe, &Vec<Vector3<f64>>)| Curve {
        name: probe.name.clone(),
        rows: factors.iter().map(|factors| row(factors, of_probe)).collect(),
    };
    Ok(run.model.probes.iter().zip(&of_probes).map(curve).collect())
}
/// How far a point is from its place at most: its path is an ellipse.
fn largest(u: &Vector3<Complex<f64>>) -> f64 {
    let (a, b) = (u.map(|c| c.re), u.map(|c| c.im));
    let (sum, difference) = (a.norm_squared() + b.norm_squared(), a.norm_squared() - b.norm_squared());
    (0.5 * (sum + difference.hypot(2.0 * a.dot(&b)))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn the_largest_displacement_is_that_of_the_ellipse() {
        let u = Vector3::new(Complex::new(1.0, 0.5), Complex::new(-0.3, 2.0), Complex::new(0.1, -0.7));
        let at = |angle: f64| u.map(|c| (c * Complex::from_polar(1.0, angle)).re).norm();
        let searched = (0..10_000).map(|i| at(TAU * f64::from(i) / 10_000.0)).fold(0.0, f64::max);
        assert!((largest(&u) - searched).abs() < 1e-6, "{} {searched}", largest(&u));
    }
}
