//! Estimated errors of eigenvalues, and when there is nothing more to gain.

use kernels_rs::blas::quotient;

/// The gap to the eigenvalues beyond the block is taken to be this much at least: how large it is in a cluster cannot be
/// known.
const SMALLEST_GAP: f64 = 0.01;
/// What an eigenvalue is without the shift is taken to be this part of it at least: that of a mechanism is 0.
const SMALLEST_REST: f64 = 1e-3;
/// An mu below this share of the largest is 0 but for rounding: the vector has no mass.
pub const MASSLESS: f64 = 1e-14;
/// Iterations without progress after which there will be none.
const PATIENCE: usize = 20;
/// A residual has fallen if it is below this share of the last one.
const FALLEN: f64 = 0.9;
/// Eigenvalues have fallen if together they did by this share of the tolerance.
const GAIN: f64 = 0.01;
/// Less than this is rounding.
const SMALLEST_GAIN: f64 = 1e-13;

/// What a residual is measured by.
#[derive(Clone, Copy)]
pub struct Scale {
    /// `||M x||`, by which residuals are divided: a preconditioner may be in single precision.
    pub mass: f64,
    /// `||M x||_T` over that.
    pub norm: f64,
    /// The mu of x.
    pub mu: f64,
}

impl Scale {
    /// The relative residual, from the square of a norm: `||M x||_T` grows at least with the root of mu.
    pub fn relative(&self, square: f64, mu: f64) -> f64 {
        let growth = if self.mu > 0.0 { (mu / self.mu).sqrt().max(1.0) } else { 1.0 };
        quotient(square.abs().sqrt(), growth * self.norm)
    }
}

/// The estimated error of the eigenvalue `1 / mu[j]`, relative to it less the shift, from its relative residual; 0 without mass.
pub fn error(mu: &[f64], j: usize, eta: f64, shift: f64) -> f64 {
    let largest = mu[0].abs().max(mu[mu.len() - 1].abs());
    if mu[j].abs() <= MASSLESS * largest {
        return 0.0;
    }
    let gap = 1.0 - mu[mu.len() - 1] / mu[j];
    eta.min(eta * eta / gap.max(SMALLEST_GAP)) / (1.0 - shift * mu[j]).max(SMALLEST_REST)
}

/// The best so far, and when it was.
pub struct Stagnation {
    tolerance: f64,
    error: f64,
    mu: Vec<f64>,
    iteration: usize,
}

impl Stagnation {
    /// Before the first iteration.
    pub fn new(tolerance: f64) -> Self {
        Stagnation { tolerance, error: f64::INFINITY, mu: Vec::new(), iteration: 0 }
    }

    /// Whether neither the largest error nor any of the wanted eigenvalues has fallen for long.
    pub fn is_reached(&mut self, iteration: usize, error: f64, mu: &[f64]) -> bool {
        let gains = mu.iter().zip(&self.mu).map(|(mu, before)| 1.0 - before / mu).filter(|gain| *gain > 0.0);
        let has_gained = self.mu.len() != mu.len() || gains.sum::<f64>() > (GAIN * self.tolerance).max(SMALLEST_GAIN);
        if error < FALLEN * FALLEN * self.error || has_gained {
            (self.error, self.mu, self.iteration) = (error.min(self.error), mu.to_vec(), iteration);
        }
        iteration >= self.iteration + PATIENCE
    }
}
