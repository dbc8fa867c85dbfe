//! Whether an iterate is good enough.

use super::{EnergyNorm, Equations, Groups};
use crate::device::Buffer;
use crate::linalg::{Quotient, Space};
use crate::result::Result;
use kernels_rs::real::Real;

/// How much larger than the tolerance the estimate of a part may be relative to the strain energy of one of its
/// materials: von Mises stresses are then right to 1e-4 of their largest in each material, at the default tolerance.
const OF_MATERIAL: f64 = 40.0;
/// How much displacements may have changed, in tolerances of the part's deformation, since the estimate was
/// [`EARLIER`] times as large; as many times more since it was larger than that, up to [`MOST_GAIN`].
const OF_DISPLACEMENT: f64 = 20.0;
/// See there.
pub const EARLIER: f64 = 10.0;
const MOST_GAIN: f64 = 100.0;

/// What was found of an iterate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The estimated relative error in the energy norm of each part.
    pub parts: Vec<f64>,
    /// The largest of these.
    pub estimate: f64,
    /// The largest error of a part relative to the energy of one of its materials; 0 where the estimate is too large
    /// for it to matter.
    pub of_materials: f64,
    /// The largest change of a displacement since the estimate was [`EARLIER`] times as large, relative to the
    /// deformation of its part.
    pub change: f64,
}

impl Verdict {
    fn of(parts: Vec<f64>) -> Self {
        Verdict { estimate: largest(&parts), parts, ..Verdict::default() }
    }

    /// The error that every quantity is within, as far as this is known.
    pub fn worst(&self) -> f64 {
        self.estimate.max(self.of_materials).max(self.change)
    }

    /// By how much the errors are too large: 1 or less is good enough.
    pub fn excess(&self, tolerance: f64) -> f64 {
        self.excess_of_energy(tolerance).max(self.change / (OF_DISPLACEMENT * tolerance))
    }

    /// The same without the displacements.
    pub fn excess_of_energy(&self, tolerance: f64) -> f64 {
        (self.estimate / tolerance).max(self.of_materials / (OF_MATERIAL * tolerance))
    }
}

/// The digits that a relative error leaves.
pub fn digits(error: f64) -> u32 {
    if error > 0.0 { (-error.log10() + 0.01).floor().clamp(0.0, 15.0) as u32 } else { 15 }
}

/// An iterate and what is known of it.
pub struct Iterate<'a, T: Real> {
    /// The solution, 0 where it is prescribed.
    pub v: &'a Buffer<T>,
    /// Its true residual.
    pub r: &'a Buffer<T>,
    /// `r . M^-1 r` of each part.
    pub rz: &'a [f64],
    /// The smallest eigenvalue of `M^-1 K`.
    pub theta: f64,
    /// Whether theta is known to be that: of a factor, or of multigrid, which finds it soon.
    pub certain: bool,
}

/// Judges the iterates of a solution.
pub struct Judge<'a, T: Real> {
    energy: &'a EnergyNorm<'a, T>,
    /// An earlier iterate, to see what has changed since.
    pub before: Buffer<T>,
    /// How many times as large the estimate was there.
    pub gain: f64,
}

impl<'a, T: Real> Judge<'a, T> {
    /// Begins with an iterate.
    pub fn new(space: &Space, energy: &'a EnergyNorm<'a, T>, v: &Buffer<T>) -> Result<Self> {
        let mut before = space.zeros(v.len())?;
        space.copy(v, &mut before)?;
        Ok(Judge { energy, before, gain: EARLIER })
    }

    /// Keeps an iterate to compare later ones with.
    pub fn keep(&mut self, space: &Space, v: &Buffer<T>) -> Result<()> {
        space.copy(v, &mut self.before)
    }

    /// Examines an iterate. Materials and displacements are looked at if the energy's error is within the tolerance.
    /// `scratch` is overwritten.
    pub fn examine(
        &self,
        space: &Space,
        equations: &Equations<T>,
        iterate: &Iterate<T>,
        tolerance: f64,
        scratch: &mut Buffer<T>,
    ) -> Result<Verdict> {
        let (EnergyNorm { parts, groups, coords, .. }, &Iterate { v, r, rz, theta, certain }) = (self.energy, iterate);
        let energies = self.energy.energies(space, equations.f, v, r)?;
        let errors: Vec<f64> = rz.iter().map(|rz| rz / theta).collect();
        let mut verdict = Verdict::of(self.energy.relative(&errors, &energies));
        if verdict.estimate > tolerance {
            return Ok(verdict);
        }
        if groups.are_several() || !certain {
            let size = v.len() / coords.1.len();
            let bounds = groups.bounds(space, equations.operator, size, r, parts.n_parts())?;
            let bounds = self.energy.relative(&bounds, &energies);
            verdict =
                Verdict::of(verdict.parts.iter().zip(bounds).map(|(estimate, bound)| estimate.max(bound)).collect());
        }
        if groups.are_several() {
            let error = |part: usize| verdict.parts[part].powi(2) * energies[part];
            verdict.of_materials = self.of_materials(space, groups, v, |_, part| error(part), scratch)?;
        }
        if verdict.excess_of_energy(tolerance) <= 1.0 {
            let gain = self.gain.clamp(EARLIER, MOST_GAIN) / EARLIER;
            verdict.change = self.change(space, v, scratch)? / gain;
        }
        Ok(verdict)
    }

    /// What the iterations since the iterate kept have changed: at the floor of rounding that is the error.
    pub fn changes(
        &self,
        space: &Space,
        equations: &Equations<T>,
        v: &Buffer<T>,
        r: &Buffer<T>,
        [delta, scratch]: [&mut Buffer<T>; 2],
    ) -> Result<Verdict> {
        let energies = self.energy.energies(space, equations.f, v, r)?;
        space.copy(v, delta)?;
        space.axpy(Quotient::MINUS_ONE, &self.before, delta)?;
        equations.operator.apply(space, delta, scratch)?;
        let EnergyNorm { parts, groups, .. } = self.energy;
        let changed = parts.dot(space, delta, scratch)?;
        let mut verdict = Verdict::of(self.energy.relative(&changed, &energies));
        if groups.are_several() {
            let changed = self.energy.body.strain_energies(delta, false)?;
            verdict.of_materials = self.of_materials(space, groups, v, |group, _| changed[group], scratch)?;
        }
        verdict.change = self.change(space, v, scratch)?;
        Ok(verdict)
    }

    /// The largest relative error of a group, from the square of its absolute error; groups that are not strained are
    /// left out.
    fn of_materials(
        &self,
        space: &Space,
        groups: &Groups,
        v: &Buffer<T>,
        error: impl Fn(usize, usize) -> f64,
        scratch: &mut Buffer<T>,
    ) -> Result<f64> {
        self.energy.total(space, v, scratch)?;
        let (total, noise) = (self.energy.body.strain_energies(v, true)?, groups.noise(space, scratch)?);
        let active = |group: &usize| self.energy.active[groups.part()[*group] as usize];
        let strained = (0..total.len()).filter(active).filter(|group| total[*group] > noise[*group]);
        let square = |group: usize| error(group, groups.part()[group] as usize) / total[group];
        Ok(strained.map(square).fold(0.0, f64::max).sqrt())
    }

    /// The largest change of a displacement since the iterate kept, relative to its part's deformation.
    fn change(&self, space: &Space, v: &Buffer<T>, scratch: &mut Buffer<T>) -> Result<f64> {
        let EnergyNorm { parts, coords, active, .. } = self.energy;
        self.energy.total(space, v, scratch)?;
        let changes = parts.largest_change(space, v, &self.before, scratch, *coords)?;
        Ok(changes
            .iter()
            .zip(active.iter())
            .filter(|(_, active)| **active)
            .map(|(change, _)| *change)
            .fold(0.0, f64::max))
    }
}

/// The largest of some numbers that are not negative.
fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
