//! The error of an iterate in the energy norm, estimated part by part: when an answer is good enough.
//!
//! With `r = f - K u` the true residual and M the preconditioner, the error e of an iterate obeys
//!
//! ```text
//! ||e||_K^2 = r . K^-1 r <= r . M^-1 r / lambda_min(M^-1 K)
//! ```
//!
//! The smallest eigenvalue comes from the iteration itself ([`Lanczos`](super::lanczos::Lanczos)). The error is relative
//! to the strain energy `w . K w` of the part's total displacement w, the prescribed one included, with its rigid motion
//! taken off beforehand: a support that moves strains nothing. Thermal strain is a load here: the energy is that of the
//! whole strain, also where it makes no stress, and the error that of the stress beside `E alpha dT`. docs/solver.md
//! explains the criterion and its limits.

mod groups;
mod judge;
pub mod parts;

pub use groups::{Groups, Layout};
pub use judge::{EARLIER, Iterate, Judge, Verdict, digits};
pub use parts::{Members, PartLists};

use crate::device::Buffer;

use crate::linalg::{Quotient, Space};
use crate::result::{Error, Result};
use crate::sparse::{Coupling, LinOp};
use kernels_rs::blas::Largest;
use kernels_rs::real::Real;
use std::cell::OnceCell;

/// What the estimate asks of the body that the equations belong to.
pub trait Body<T: Real> {
    /// `w . K w` of each of the [`Groups`], from the strains; w is v, with what is prescribed added if `total`.
    fn strain_energies(&self, v: &Buffer<T>, total: bool) -> Result<Vec<f64>>;

    /// `r = f - K v`, summed up element by element from the stresses.
    ///
    /// The forces of an element add up to nothing to their own last digit, where entries of K keep those of a stiff body
    /// that moves, or of a slender one that bends, from adding up by their rounding errors.
    fn residual(&self, v: &Buffer<T>, r: &mut Buffer<T>) -> Result<()>;
}

/// The energy norm of a body, part by part.
pub struct EnergyNorm<'a, T: Real> {
    /// The rows of each connected part.
    pub parts: &'a PartLists,
    /// Coordinates of the rows, on the device and on the host.
    pub coords: (&'a Buffer<[f64; 3]>, &'a [[f64; 3]]),
    /// Whether there is anything to solve in each part.
    pub active: &'a [bool],
    /// `w_D . K w_D` of each part, w_D what is prescribed.
    pub offset: &'a [f64],
    /// `2 f - b`, f the loads and b the right-hand side; none where these are the same.
    pub weights: Option<Buffer<T>>,
    /// w_D; none where it is zero.
    pub prescribed: Option<Buffer<T>>,
    /// The couplings, by which slaves follow their masters.
    pub coupling: Option<&'a Coupling<T>>,
    /// Its materials.
    pub groups: Groups<'a>,
    /// The body.
    pub body: &'a dyn Body<T>,
}

impl<T: Real> EnergyNorm<'_, T> {
    /// `w . K w` of each part at v with the residual r: `w_D . K w_D + v . (2 f - b) - v . r`.
    fn energies(&self, space: &Space, b: &Buffer<T>, v: &Buffer<T>, r: &Buffer<T>) -> Result<Vec<f64>> {
        let loads = self.parts.dot(space, v, self.weights.as_ref().unwrap_or(b))?;
        let residual = self.parts.dot(space, v, r)?;
        Ok((0..loads.len()).map(|part| self.offset[part] + loads[part] - residual[part]).collect())
    }

    /// `w = T v + w_D`.
    fn total(&self, space: &Space, v: &Buffer<T>, w: &mut Buffer<T>) -> Result<()> {
        space.copy(v, w)?;
        self.coupling.map_or(Ok(()), |coupling| coupling.expand(space, w))?;
        match &self.prescribed {
            Some(prescribed) => space.axpy(Quotient::ONE, prescribed, w),
            None => Ok(()),
        }
    }

    /// Of parts where nothing is to be solved 0, of the others the root of `error / energy`.
    fn relative(&self, error: &[f64], energy: &[f64]) -> Vec<f64> {
        let of = |part: usize| match (self.active[part], error[part] > 0.0, energy[part] > 0.0) {
            (false, ..) | (_, false, _) => 0.0,
            (_, _, false) => f64::INFINITY,
            _ => (error[part] / energy[part]).sqrt(),
        };
        (0..error.len()).map(of).collect()
    }
}

fn is_single<T: Real>() -> bool {
    T::EPSILON.to_f64() > f64::EPSILON
}

/// What a number that is rounded is off by, in the mean: elements that are alike are rounded alike.
const ROUNDED: f64 = 0.25 * f64::EPSILON;
/// What rounding may be worth of a tolerance.
const NEGLIGIBLE: f64 = 0.05;

/// Sums of rows that are looked at together for the largest.
const AT_ONCE: usize = 1 << 14;

/// A system of equations `K u = b`, and what is known of the body that it belongs to.
pub struct Equations<'a, T: Real> {
    /// K.
    pub operator: &'a dyn LinOp<T>,
    /// b.
    pub f: &'a Buffer<T>,
    /// What errors are measured by; without it, residuals alone.
    pub energy: Option<&'a EnergyNorm<'a, T>>,
    /// The norm of K, once it has been asked for.
    norm: OnceCell<f64>,
}

impl<'a, T: Real> Equations<'a, T> {
    /// Equations of which nothing else is known.
    pub fn new(operator: &'a dyn LinOp<T>, f: &'a Buffer<T>) -> Self {
        Equations { operator, f, energy: None, norm: OnceCell::new() }
    }

    /// The same, with what errors are measured by.
    pub fn measured(self, energy: Option<&'a EnergyNorm<'a, T>>) -> Self {
        Equations { energy, ..self }
    }

    /// An upper bound of `||K||`: the largest sum of magnitudes in a row.
    pub(super) fn norm(&self, space: &Space) -> Result<f64> {
        if let Some(norm) = self.norm.get() {
            return Ok(*norm);
        }
        let sums = self.operator.row_sums(space)?;
        let mut most = space.zeros(sums.len().min(AT_ONCE))?;
        let kernel = Largest { x: sums.view(), most: most.view_mut() };
        // SAFETY: both live until `take`, which waits.
        unsafe { space.run(most.len(), kernel) }?;
        let mut norm = [space.take(most)?.into_iter().fold(0.0, f64::max)];
        space.largest_of_ranks(&mut norm)?;
        let [norm] = norm;
        Ok(*self.norm.get_or_init(|| norm))
    }

    /// Takes what other equations with the same operator have found of it.
    pub(super) fn share(&self, space: &Space, other: &Equations<T>) -> Result<()> {
        let norm = other.norm(space)?;
        self.norm.get_or_init(|| norm);
        Ok(())
    }

    /// The energy norm.
    ///
    /// # Errors
    ///
    /// [`Error::NotAvailable`] where it is not known.
    pub(super) fn energy(&self) -> Result<&'a EnergyNorm<'a, T>> {
        let missing = || {
            let (what, name) = ("measure without an energy norm", "energy".to_owned());
            Error::NotAvailable { what, name, available: vec!["residual"] }
        };
        self.energy.ok_or_else(missing)
    }

    /// Whether residuals are of products with K: where it is in single precision they are summed up element by element.
    pub(super) fn needs_product(&self) -> bool {
        self.energy.is_none() || !is_single::<T>()
    }

    /// `r = b - K u`; `q` is scratch.
    pub(super) fn residual(&self, space: &Space, u: &Buffer<T>, q: &mut Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        self.product(space, u, q)?;
        self.residual_of(space, u, q, r)
    }

    /// `q = K u`, where residuals need it.
    pub(super) fn product(&self, space: &Space, u: &Buffer<T>, q: &mut Buffer<T>) -> Result<()> {
        if self.needs_product() { self.operator.apply(space, u, q) } else { Ok(()) }
    }

    /// The same, where `q` is `K u` if that is needed.
    pub(super) fn residual_of(&self, space: &Space, u: &Buffer<T>, q: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        match self.energy.filter(|_| !self.needs_product()) {
            Some(energy) => energy.body.residual(u, r),
            None => super::less_product(space, self.f, q, r),
        }
    }

    /// The residual by the elements wherever rounding of the matrix may count at this tolerance; `q` is scratch.
    pub(super) fn true_residual(
        &self,
        space: &Space,
        u: &Buffer<T>,
        tolerance: f64,
        q: &mut Buffer<T>,
        r: &mut Buffer<T>,
    ) -> Result<()> {
        self.product(space, u, q)?;
        self.true_residual_of(space, u, tolerance, q, r)
    }

    /// The same, where `q` is `K u` if that is needed.
    pub(super) fn true_residual_of(
        &self,
        space: &Space,
        u: &Buffer<T>,
        tolerance: f64,
        q: &Buffer<T>,
        r: &mut Buffer<T>,
    ) -> Result<()> {
        self.residual_of(space, u, q, r)?;
        match self.energy.filter(|_| !is_single::<T>()) {
            Some(energy) if self.rounding(space, energy, u, r)? > NEGLIGIBLE * tolerance => energy.body.residual(u, r),
            _ => Ok(()),
        }
    }

    /// About how much rounding of K moves u, whose residual is r, relative to the strain energy: the largest over parts.
    /// With `|dK| = c ||K||`, and the loads `dK u` against the body as u is, that is `c ||K|| u . u / u . K u`.
    fn rounding(&self, space: &Space, energy: &EnergyNorm<T>, u: &Buffer<T>, r: &Buffer<T>) -> Result<f64> {
        let scale = ROUNDED * self.norm(space)?;
        let squares = energy.parts.dot(space, u, u)?;
        let energies = energy.energies(space, self.f, u, r)?;
        let of_part = |part: usize| if squares[part] > 0.0 { scale * squares[part] / energies[part] } else { 0.0 };
        Ok((0..squares.len()).map(of_part).map(f64::abs).fold(0.0, f64::max))
    }
}
