//! `[[spring]]` and `[[mass]]`: checks that need no mesh.

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::SpringTable;
use super::vector::Numbers;
use crate::model::{Checked, Problems};

/// The stiffness of a spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// In x, y, z, of all of it together.
    Total([f64; 3]),
    /// Per area, along the normal.
    Normal(f64),
    /// Per area, in x, y, z.
    PerArea([f64; 3]),
}

impl Case {
    pub(super) fn check_springs_and_masses(&self, problems: &mut Problems) {
        for spring in &self.tables.spring {
            problems.take(self.rate(spring));
        }
        for mass in &self.tables.mass {
            problems.take(self.check_positive("mass", &mass.get_ref().mass));
            if let Some(inertia) = &mass.get_ref().inertia {
                problems.take(self.inertia(inertia));
            }
        }
    }

    /// The stiffness of a spring.
    pub(in crate::model) fn rate(&self, spring: &Spanned<SpringTable>) -> Checked<Rate> {
        let table = spring.get_ref();
        let (n, example) = match self.analysis().components() {
            2 => (2, "[1e6, 1e6]"),
            _ => (3, "[1e6, 1e6, 1e6]"),
        };
        match (&table.stiffness, &table.foundation) {
            (Some(total), None) => {
                self.check_rates("stiffness", total)?;
                let of = per_axis(&total.get_ref().0, n);
                let help = format!("stiffness = {example}, one number for each axis");
                let message = format!("`stiffness` has {n} numbers");
                of.map(Rate::Total).ok_or_else(|| self.error_at(total.span(), message, help))
            }
            (None, Some(rates)) => {
                self.check_rates("foundation", rates)?;
                if let [normal] = rates.get_ref().0[..] {
                    return Ok(Rate::Normal(normal));
                }
                let help = format!("foundation = 1e9 is along the normal, {example} in the axes");
                let message = format!("`foundation` has one number or {n}");
                per_axis(&rates.get_ref().0, n)
                    .map(Rate::PerArea)
                    .ok_or_else(|| self.error_at(rates.span(), message, help))
            }
            _ => {
                let help = format!("stiffness = {example} in all, or foundation = 1e9 per area");
                let message = "a spring has exactly one of `stiffness`, `foundation`";
                Err(self.error_at(spring.span(), message, help))
            }
        }
    }

    /// Moments of inertia about x, y, z: three numbers, or in the plane one.
    pub(in crate::model) fn inertia(&self, inertia: &Spanned<Numbers>) -> Checked<[f64; 3]> {
        let numbers = self.moment("inertia", inertia)?;
        match numbers.iter().all(|moment| *moment >= 0.0) {
            true => Ok(numbers),
            false => Err(self.error_at(inertia.span(), "a moment of inertia is not negative", "m r^2 of a ring")),
        }
    }

    /// Refuses stiffnesses that are negative, or all 0.
    fn check_rates(&self, key: &str, rates: &Spanned<Numbers>) -> Checked {
        let values = &rates.get_ref().0;
        self.check_finite(key, rates.span(), values)?;
        self.check_scale(key, rates.span(), values, &NUMBERS)?;
        if values.iter().any(|rate| *rate < 0.0) {
            let message = format!("`{key}` is negative: such a spring pushes the body away");
            return Err(self.error_at(rates.span(), message, "make it greater than 0, or 0 along free axes"));
        }
        match values.iter().all(|rate| *rate == 0.0) {
            true => Err(self.error_at(rates.span(), format!("`{key}` is 0"), "leave the spring out")),
            false => Ok(()),
        }
    }
}

/// As many numbers, then zeros; none if there are not as many.
fn per_axis(numbers: &[f64], n: usize) -> Option<[f64; 3]> {
    let at = |c: usize| numbers.get(c).copied().unwrap_or(0.0);
    (numbers.len() == n).then(|| [at(0), at(1), at(2)])
}
