//! The rigid motion of each connected part that fits its prescribed values best, taken off before the equations are
//! solved.
//!
//! A support that moves as a rigid body strains nothing, but in `f - K u` its motion is the largest number of all, and
//! rounds what the loads do away. So the solver finds `w = u - g`, g the rigid motion (of a potential a constant) that
//! fits the prescribed values best with the diagonal of K as weights: where a hard and a soft end are prescribed, the
//! hard one is fitted. Stresses, reactions and energies are those of w; only the displacement that is written is
//! `w + g`.

use crate::assembly::Supports;
use crate::solve::energy::PartLists;
use crate::solve::energy::parts::{about_centre, pseudo_inverse};
use nalgebra::{Matrix6, Vector6};

/// Prescribed values that are this small beside the motion are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Fits of the motion: the second fits what rounding has left of the first.
const FITS: usize = 2;

/// Takes the motion off the prescribed values; `weights` are the diagonal of K, `[n_nodes][components]` flat.
pub(super) fn take_off(supports: &mut Supports, parts: &PartLists, coords: &[[f64; 3]], weights: &[f64]) {
    let size = supports.components;
    supports.motion = vec![0.0; supports.prescribed.len()];
    for part in 0..parts.n_parts() {
        let (rows, frame) = (parts.members().of(part), parts.frames()[part]);
        let entries = |row: u32| (0..size).map(move |i| (row as usize, i, size * row as usize + i));
        let largest = |values: &[f64]| {
            rows.iter().flat_map(|row| entries(*row)).fold(0.0, |m, (.., k)| f64::max(m, values[k].abs()))
        };
        let asked = largest(&supports.prescribed);
        if asked == 0.0 {
            continue;
        }
        let most = largest(weights);
        let fixed = |supports: &Supports| -> Vec<(usize, Vector6<f64>, f64)> {
            let held = rows.iter().flat_map(|row| entries(*row)).filter(|(row, i, _)| supports.is_fixed(*row, *i));
            held.map(|(row, i, k)| (k, parts.row(i, about_centre(coords[row], frame)), weights[k] / most)).collect()
        };
        let fixed = fixed(supports);
        let gram: Matrix6<f64> = fixed.iter().map(|(_, row, weight)| *weight * row * row.transpose()).sum();
        let (inverse, mut motion) = (pseudo_inverse(&gram), Vector6::zeros());
        for _ in 0..FITS {
            let moments: Vector6<f64> =
                fixed.iter().map(|(k, row, weight)| *weight * supports.prescribed[*k] * row).sum();
            let fit = inverse * moments;
            fixed.iter().for_each(|(k, row, _)| supports.prescribed[*k] -= row.dot(&fit));
            motion += fit;
        }
        for (row, i, k) in rows.iter().flat_map(|row| entries(*row)) {
            supports.motion[k] = parts.row(i, about_centre(coords[row], frame)).dot(&motion);
        }
        let moved = largest(&supports.motion).max(asked);
        for (k, ..) in &fixed {
            if supports.prescribed[*k].abs() <= ROUNDING * moved {
                supports.prescribed[*k] = 0.0;
            }
        }
    }
}
