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
        // A component's row and weight are its own, those of a direction n are `sum n_i row_i` and `sum n_i^2 weight_i`.
        let held = |row: u32| {
            let y = about_centre(coords[row as usize], frame);
            let along = move |n: [f64; 3]| {
                let of = (0..size).filter(|&i| n[i] != 0.0);
                let motions = of.clone().map(|i| n[i] * parts.row(i, y)).sum::<Vector6<f64>>();
                let weight = of.map(|i| n[i] * n[i] * (weights[size * row as usize + i] / most)).sum::<f64>();
                (size * row as usize, n, motions, weight)
            };
            supports.directions(row as usize).map(along).collect::<Vec<_>>()
        };
        let fixed: Vec<(usize, [f64; 3], Vector6<f64>, f64)> = rows.iter().flat_map(|row| held(*row)).collect();
        let gram: Matrix6<f64> = fixed.iter().map(|(.., row, weight)| *weight * row * row.transpose()).sum();
        let prescribed = |supports: &Supports, k: usize, n: [f64; 3]| -> f64 {
            (0..size).filter(|&i| n[i] != 0.0).map(|i| n[i] * supports.prescribed[k + i]).sum()
        };
        let add = |supports: &mut Supports, k: usize, n: [f64; 3], by: f64| {
            (0..size).filter(|&i| n[i] != 0.0).for_each(|i| supports.prescribed[k + i] += n[i] * by);
        };
        let (inverse, mut motion) = (pseudo_inverse(&gram), Vector6::zeros());
        for _ in 0..FITS {
            let moments: Vector6<f64> =
                fixed.iter().map(|(k, n, row, weight)| *weight * prescribed(supports, *k, *n) * row).sum();
            let fit = inverse * moments;
            fixed.iter().for_each(|(k, n, row, _)| add(supports, *k, *n, -row.dot(&fit)));
            motion += fit;
        }
        for (row, i, k) in rows.iter().flat_map(|row| entries(*row)) {
            supports.motion[k] = parts.row(i, about_centre(coords[row], frame)).dot(&motion);
        }
        let moved = largest(&supports.motion).max(asked);
        for (k, n, ..) in &fixed {
            let left = prescribed(supports, *k, *n);
            if left.abs() <= ROUNDING * moved {
                add(supports, *k, *n, -left);
            }
        }
    }
}
