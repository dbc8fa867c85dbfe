//! The vibration under the loads, by superposition of the modes found: see [`Harmonic`](crate::model::Harmonic).
//!
//! What modes beyond them would add is nearly what they do at rest: the displacements under the loads without their share in the
//! modes found (Cornwell, Craig, Johnson 1983, "mode acceleration").

use super::Run;
use super::system::Loaded;
use crate::device::Buffer;
use crate::result::{Curve, Quantity, Result, Series};
use nalgebra::{Complex, Vector3};

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

/// Sends what the probes do, if the model asks for it: of the modes' vectors, what others add, and the eigenvalues of the modes
/// with `phi . f`.
pub(super) fn send(
    run: &mut Run,
    body: &Loaded,
    (vectors, others): (&[Buffer<f64>], &Buffer<f64>),
    modes: &[(f64, f64)],
) -> Result<()> {
    let Some(harmonic) = &run.model.harmonic else { return Ok(()) };
    let size = body.supports.components;
    let mut shapes: Vec<Vec<Vector3<f64>>> = vec![vec![]; run.model.probes.len()];
    for vector in vectors.iter().chain([others]) {
        let u = run.space.download(vector)?;
        for (probe, shapes) in run.model.probes.iter().zip(&mut shapes) {
            let row = |node: u32| size * body.numbering.to_solver[node as usize] as usize;
            let at = |c: usize| probe.shares.iter().map(|(node, share)| share * u[row(*node) + c]).sum::<f64>();
            shapes.push(Vector3::from_fn(|c, _| if c < size { at(c) } else { 0.0 }));
        }
    }
    let eigenvalues: Vec<f64> = modes.iter().map(|(eigenvalue, _)| *eigenvalue).collect();
    let frequencies = harmonic.points(&eigenvalues);
    let amplitudes = |at: &f64| {
        let mut amplitudes = harmonic.amplitudes(*at, modes);
        amplitudes.push(Complex::ONE);
        amplitudes
    };
    let amplitudes: Vec<Vec<Complex<f64>>> = frequencies.iter().map(amplitudes).collect();
    let row = |amplitudes: &Vec<Complex<f64>>, shapes: &[Vector3<f64>]| {
        let terms = amplitudes.iter().zip(shapes);
        let u = terms.fold(Vector3::zeros(), |sum: Vector3<Complex<f64>>, (a, shape)| sum + shape.map(|c| a * c));
        // What is rounding beside the rest has no phase.
        let most = largest(&u);
        let u = u.map(|c| if c.norm() > ROUNDING * most { c } else { Complex::ZERO });
        let phases = u.iter().map(|c| c.arg().to_degrees());
        [most].into_iter().chain(u.iter().map(|c| c.norm())).chain(phases).collect()
    };
    let curve = |(probe, shapes): (&crate::model::Probe, &Vec<Vector3<f64>>)| Curve {
        name: probe.name.clone(),
        rows: amplitudes.iter().map(|amplitudes| row(amplitudes, shapes)).collect(),
    };
    let curves = run.model.probes.iter().zip(&shapes).map(curve).collect();
    let over = ("frequency", Quantity::Frequency);
    run.sink.take_series(Series { name: "response", over, at: frequencies, columns: COLUMNS, curves })
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
