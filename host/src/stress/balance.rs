//! Supports and loads: forces of the supports, sums, and how far all is from balance.

use crate::assembly::Supports;
use crate::parallel::{self, PART};
use crate::result::Table;
use crate::sparse::CoupledRows;
use std::ops::Range;

/// Forces of supports and couplings on the body, `K u - f` in the prescribed and the coupled components and directions and
/// 0 elsewhere, `[n_nodes][dim]` flat; `coupled` says which are coupled.
pub fn support_forces(supports: &Supports, coupled: Option<&[bool]>, internal: &[f64], applied: &[f64]) -> Vec<f64> {
    let dim = supports.components;
    let is_coupled = |entry: usize| coupled.is_some_and(|coupled| coupled[entry]);
    let force = |entry: usize| match supports.is_fixed(entry / dim, entry % dim) || is_coupled(entry) {
        true => internal[entry] - applied[entry],
        false => 0.0,
    };
    let mut forces: Vec<f64> = parallel::map_indices(internal.len(), &force);
    for row in supports.slanted.rows.iter().map(|row| *row as usize) {
        for n in supports.directions(row) {
            let along: f64 = (0..dim).map(|i| n[i] * (internal[dim * row + i] - applied[dim * row + i])).sum();
            (0..dim).for_each(|i| forces[dim * row + i] += along * n[i]);
        }
    }
    forces
}

/// `||f - K u||` over the free components, from the internal forces and the loads, `[n_nodes][dim]` flat; with couplings
/// of `T^T (f - K u)`.
pub fn free_residual(supports: &Supports, rows: Option<&CoupledRows>, internal: &[f64], applied: &[f64]) -> f64 {
    if !supports.slanted.rows.is_empty() || rows.is_some() {
        let mut left: Vec<f64> = applied.iter().zip(internal).map(|(f, force)| f - force).collect();
        rows.inspect(|rows| rows.restrict(&mut left));
        supports.free_part(&mut left);
        return norm(&left);
    }
    let dim = supports.components;
    let free = (0..internal.len()).filter(|entry| !supports.is_fixed(entry / dim, entry % dim));
    free.map(|entry| (applied[entry] - internal[entry]).powi(2)).sum::<f64>().sqrt()
}

/// The sum of vectors `[n][dim]`, flat; components past `dim` are 0.
pub fn resultant(forces: &[f64], dim: usize) -> [f64; 3] {
    sums(forces, dim).0
}

/// The sum of vectors `[n][dim]`, flat, and that of their magnitudes. Parts of a fixed length are added up in order,
/// whatever the number of threads.
fn sums(forces: &[f64], dim: usize) -> ([f64; 3], f64) {
    let add = |(mut sum, magnitude): ([f64; 3], f64), (more, size): (&[f64], f64)| {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        (sum, magnitude + size)
    };
    let zero = || ([0.0; 3], 0.0);
    let of_part = |part: &[f64]| part.chunks_exact(dim).map(|force| (force, norm(force))).fold(zero(), add);
    let parts: Vec<([f64; 3], f64)> = parallel::map(forces.chunks(dim * PART), &of_part);
    parts.iter().map(|(sum, size)| (&sum[..], *size)).fold(zero(), add)
}

/// Supports and loads, added up.
pub struct Balance {
    /// `|sum of both|`.
    unbalanced: f64,
    /// `|sum of the loads|`.
    loads: f64,
    /// The sum of both's magnitudes.
    magnitudes: f64,
}

/// Reactions below this part of the nodal forces are what rounding leaves of loads that balance each other.
const ROUNDING: f64 = 1e-6;

impl Balance {
    /// Of forces of supports and loads, `[n][dim]` flat, in the components that are in [balance](crate::model::Analysis::balanced).
    pub fn new(support_forces: &[f64], applied: &[f64], dim: usize, balanced: &[usize]) -> Self {
        let ((supports, of_supports), (loads, of_loads)) = (sums(support_forces, dim), sums(applied, dim));
        let unbalanced = norm(&balanced.iter().map(|&i| supports[i] + loads[i]).collect::<Vec<_>>());
        Balance { unbalanced, loads: norm(&loads), magnitudes: of_supports + of_loads }
    }

    /// The sum of the magnitudes of all nodal forces.
    pub fn magnitudes(&self) -> f64 {
        self.magnitudes
    }

    /// How far both are from balance, relative to the sum of their magnitudes; 0 without forces.
    pub fn error(&self) -> f64 {
        if self.magnitudes == 0.0 { 0.0 } else { self.unbalanced / self.magnitudes }
    }

    /// The same relative to the loads or the largest row of a table of reactions; 0 where these are rounding.
    pub fn load_error(&self, reactions: &Table) -> f64 {
        let scale = reactions.rows.iter().map(|(_, reaction)| norm(reaction)).fold(self.loads, f64::max);
        if scale > ROUNDING * self.magnitudes { self.unbalanced / scale } else { 0.0 }
    }
}

/// Euclidean norm.
pub fn norm(v: &[f64]) -> f64 {
    // Parts of a fixed length, whatever the number of threads.
    let squares = |part: Range<usize>| v[part].iter().map(|x| x * x).sum::<f64>();
    if v.len() <= PART {
        return squares(0..v.len()).sqrt();
    }
    parallel::map_ranges(v.len(), PART, &squares).into_iter().sum::<f64>().sqrt()
}
