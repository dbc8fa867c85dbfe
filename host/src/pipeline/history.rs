//! The last temperatures of a march through time, at equal distances in it.

use crate::device::Buffer;
use crate::linalg::{Quotient, Space};
use crate::result::Result;
use std::collections::VecDeque;

/// How many are kept: a polynomial of second order goes through them.
const MOST: usize = 3;

/// The temperatures of up to three steps, the last first.
#[derive(Default)]
pub(super) struct History {
    steps: VecDeque<Buffer<f64>>,
    /// How far they are apart; 0 of one alone.
    distance: f64,
}

impl History {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The last.
    pub(super) fn last(&self) -> &Buffer<f64> {
        &self.steps[0]
    }

    /// Takes those of the next step, as long as [`History::space_by`] had it.
    pub(super) fn push(&mut self, u: Buffer<f64>) {
        self.steps.truncate(MOST - 1);
        self.steps.push_front(u);
    }

    /// Makes them be so far apart, for a step of this length: by the polynomial through them, as far as that goes.
    pub(super) fn space_by(&mut self, space: &Space, distance: f64) -> Result<()> {
        let ratio = distance / self.distance;
        if self.steps.len() > 1 && (ratio - 1.0).abs() > 1e-9 {
            let reach = (self.steps.len() - 1) as f64 * (1.0 + 1e-9);
            let within = (1..self.steps.len()).map(|k| k as f64 * ratio).take_while(|at| *at <= reach);
            let new = within.map(|at| self.at(space, MOST, -at)).collect::<Result<Vec<_>>>()?;
            self.steps.truncate(1);
            self.steps.extend(new);
        }
        self.distance = distance;
        Ok(())
    }

    /// `sum of w_i u_i` into y, which is overwritten.
    pub(super) fn sum(&self, space: &Space, weights: &[f64], y: &mut Buffer<f64>) -> Result<()> {
        space.fill(0.0, y)?;
        let terms = weights.iter().zip(&self.steps).filter(|(weight, _)| **weight != 0.0);
        terms.into_iter().try_for_each(|(weight, u)| space.axpy(Quotient::ONE.times(*weight), u, y))
    }

    /// What the polynomial through the last of them, at most `n`, has one step later.
    pub(super) fn predicted(&self, space: &Space, n: usize) -> Result<Buffer<f64>> {
        self.at(space, n, 1.0)
    }

    /// The same so many distances after the last.
    fn at(&self, space: &Space, n: usize, s: f64) -> Result<Buffer<f64>> {
        let mut u = space.zeros(self.last().len())?;
        self.sum(space, &weights(self.len().min(n), s), &mut u)?;
        Ok(u)
    }
}

/// Lagrange's polynomials through 0, -1, -2, or fewer of them, at s.
fn weights(n: usize, s: f64) -> Vec<f64> {
    match n {
        1 => vec![1.0],
        2 => vec![1.0 + s, -s],
        _ => vec![0.5 * (s + 1.0) * (s + 2.0), -s * (s + 2.0), 0.5 * s * (s + 1.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceName;

    #[test]
    fn parabolas_are_kept_by_any_distance() {
        let space = Space::open(DeviceName::Cpu).unwrap();
        let u = |t: f64| 3.0 - t + 0.5 * t * t;
        let mut history = History::default();
        history.space_by(&space, 0.5).unwrap();
        [1.0, 1.5, 2.0].iter().for_each(|t| history.push(space.upload(&[u(*t)]).unwrap()));
        for (distance, left) in [(0.5, 3), (0.25, 3), (0.4, 2), (0.2, 2)] {
            history.space_by(&space, distance).unwrap();
            assert_eq!(history.len(), left, "{distance}");
            if left == 3 {
                let next = space.download(&history.predicted(&space, 3).unwrap()).unwrap();
                assert!((next[0] - u(2.0 + distance)).abs() < 1e-12, "{distance} {next:?}");
            }
        }
        // Far more than there is to interpolate in: it begins anew.
        history.space_by(&space, 5.0).unwrap();
        assert_eq!(history.len(), 1);
    }
}
