//! `[harmonic]`: the steady vibration under loads that are in phase, `f cos(2 pi nu t)`, by superposition of modes.
//!
//! Of mass-normalised modes phi of eigenvalue `w^2`, `W = 2 pi nu` (Clough, Penzien: Dynamics of structures, sec. 12-4):
//!
//! ```text
//! u(t) = Re U e^(i W t),   U = sum phi (phi . f) / (w^2 - W^2 + 2 i zeta w W)
//! ```

use std::f64::consts::{PI, TAU};

use nalgebra::Complex;

/// Points on each side of a natural frequency, the nearest where the amplitude is a tenth smaller than at its peak.
const NEAR: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// What is asked of a vibration under loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Harmonic {
    /// Cycles per time, ascending.
    pub frequencies: Vec<f64>,
    /// Whether these are a range: natural frequencies in it, and some near them, are added.
    pub is_range: bool,
    /// How much the modes are damped.
    pub damping: Damping,
}

/// Damping of modes.
#[derive(Debug, Clone, PartialEq)]
pub enum Damping {
    /// A part of the critical damping: of all modes, or of each, the last for those that follow.
    Ratios(Vec<f64>),
    /// `C = alpha M + beta K`.
    Rayleigh([f64; 2]),
}

impl Damping {
    /// `2 zeta w` of a mode.
    fn rate(&self, mode: usize, eigenvalue: f64) -> f64 {
        match self {
            Damping::Ratios(ratios) => 2.0 * ratios[mode.min(ratios.len() - 1)] * eigenvalue.sqrt(),
            Damping::Rayleigh([alpha, beta]) => alpha + beta * eigenvalue,
        }
    }
}

impl Harmonic {
    /// The frequencies of the answer, for a body of these eigenvalues: without 0 if it is free, as loads at rest would move it
    /// away.
    pub fn points(&self, eigenvalues: &[f64]) -> Vec<f64> {
        let is_free = eigenvalues.contains(&0.0);
        let mut points = self.frequencies.clone();
        points.retain(|point| *point > 0.0 || !is_free);
        let ([first, .., last], true) = (&self.frequencies[..], self.is_range) else { return points };
        for (mode, eigenvalue) in eigenvalues.iter().enumerate().filter(|(_, eigenvalue)| **eigenvalue > 0.0) {
            // Half the width of the peak, where the amplitude is 1 / sqrt 2 of it.
            let (natural, half) = (eigenvalue.sqrt() / TAU, self.damping.rate(mode, *eigenvalue) / (4.0 * PI));
            let near = NEAR.iter().flat_map(|width| [natural - width * half, natural + width * half]);
            points.extend(near.chain([natural]).filter(|point| first < point && point < last));
        }
        points.sort_by(f64::total_cmp);
        points.dedup();
        points
    }

    /// By what each mode is multiplied at a frequency, from its eigenvalue and `phi . f`.
    pub fn amplitudes(&self, frequency: f64, modes: &[(f64, f64)]) -> Vec<Complex<f64>> {
        let speed = TAU * frequency;
        let of = |(mode, &(eigenvalue, force)): (usize, &(f64, f64))| {
            let resistance = Complex::new(eigenvalue - speed * speed, self.damping.rate(mode, eigenvalue) * speed);
            if force == 0.0 { Complex::ZERO } else { Complex::from(force) / resistance }
        };
        modes.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmonic(damping: Damping) -> Harmonic {
        Harmonic { frequencies: vec![1.0, 5.0, 9.0], is_range: true, damping }
    }

    #[test]
    fn an_oscillator_lags_by_a_quarter_at_its_natural_frequency() {
        let (stiffness, mass, ratio) = (9.0, 4.0f64, 0.05);
        let (eigenvalue, natural) = (stiffness / mass, (stiffness / mass).sqrt() / TAU);
        let damped = harmonic(Damping::Ratios(vec![ratio]));
        // A mode of unit modal mass: phi = 1 / sqrt m.
        let amplitude =
            |frequency: f64| damped.amplitudes(frequency, &[(eigenvalue, 1.0 / mass.sqrt())])[0] / mass.sqrt();
        assert!((amplitude(0.0) - Complex::new(1.0 / stiffness, 0.0)).norm() < 1e-15);
        let at_peak = amplitude(natural);
        assert!((at_peak.norm() - 1.0 / (2.0 * ratio * stiffness)).abs() < 1e-12);
        assert!((at_peak.arg() + PI / 2.0).abs() < 1e-12);
        assert!((amplitude(100.0 * natural).arg() + PI).abs() < 0.01);
        // Rayleigh's damping with the same ratio at this mode, by its mass and by its stiffness.
        let root = eigenvalue.sqrt();
        for rayleigh in [[2.0 * ratio * root, 0.0], [0.0, 2.0 * ratio / root]] {
            let other = harmonic(Damping::Rayleigh(rayleigh));
            let found = other.amplitudes(natural, &[(eigenvalue, 1.0)])[0];
            assert!((found - damped.amplitudes(natural, &[(eigenvalue, 1.0)])[0]).norm() < 1e-12);
        }
    }

    #[test]
    fn peaks_are_not_missed_between_the_points_of_a_range() {
        let eigenvalues = [(TAU * 3.3f64).powi(2), (TAU * 20.0f64).powi(2), 0.0];
        let points = harmonic(Damping::Ratios(vec![0.01])).points(&eigenvalues);
        assert!(points.is_sorted() && points.len() == 3 + 9, "{points:?}");
        assert!(points.iter().any(|point| (point - 3.3).abs() < 1e-12));
        assert!(points.iter().any(|point| (point - 3.3 * 1.01).abs() < 1e-12), "half the width of the peak");
        let from_rest = Harmonic { frequencies: vec![0.0, 1.0], ..harmonic(Damping::Ratios(vec![0.01])) };
        assert_eq!((from_rest.points(&[0.0]), from_rest.points(&[1e4])), (vec![1.0], vec![0.0, 1.0]));
        let listed = Harmonic { is_range: false, ..harmonic(Damping::Ratios(vec![0.01])) };
        assert_eq!(listed.points(&eigenvalues), [1.0, 5.0, 9.0]);
    }

    #[test]
    fn the_last_ratio_is_that_of_all_further_modes() {
        let damped = harmonic(Damping::Ratios(vec![0.1, 0.2]));
        let rates = [0, 1, 2, 9].map(|mode| damped.damping.rate(mode, 4.0));
        assert_eq!(rates, [0.4, 0.8, 0.8, 0.8]);
    }
}
