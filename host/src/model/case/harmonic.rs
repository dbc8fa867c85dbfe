//! Checks of `[harmonic]`, and what it says.

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::HarmonicTable;
use super::vector::Numbers;
use crate::model::{Checked, Damping, Drive, Excitation, Place, Problems, Response, Study};

/// Points of a range that does not say how many.
const POINTS: u64 = 100;
/// And at most.
const MOST_POINTS: u64 = 100_000;

impl Case {
    /// What is asked of the motion under the loads, if anything is.
    pub(in crate::model) fn response(&self) -> Checked<Option<Response>> {
        let Some(table) = &self.tables.harmonic else { return Ok(self.tables.response.clone()) };
        let (frequencies, is_range) = self.frequencies(table)?;
        let fields = table.get_ref().fields.as_ref().map(|list| self.listed("fields", list)).transpose()?;
        let excitation = Excitation::Harmonic { frequencies, is_range, fields: fields.unwrap_or_default() };
        Ok(Some(Response { excitation, drives: Drive::all(), damping: self.damping(table)? }))
    }

    /// Checks it, and that the rest of the case goes with it.
    pub(super) fn check_harmonic(&self, problems: &mut Problems) {
        let (Some(table), tables) = (&self.tables.harmonic, &self.tables) else { return };
        problems.take(self.response());
        if self.study() != Study::Modal {
            let message = "[harmonic] belongs to a modal study: it adds up modes";
            problems.add(self.error_at(table.span(), message, "study = \"modal\" in [analysis]"));
            return;
        }
        if self.prestress() {
            let message = "[harmonic] and `prestress`: the loads cannot be at rest and vibrate";
            problems.add(self.error_at(table.span(), message, "leave one of them out"));
        }
        let rotation = tables.rotation.as_ref().map(|rotation| ("rotation", rotation.span()));
        let temperature = tables.temperature.as_ref().map(|temperature| ("temperature", temperature.span()));
        for (name, place) in rotation.into_iter().chain(temperature) {
            let message = format!("[{name}] does not vibrate: it is no load of [harmonic]");
            problems.add(self.error_at(place, message, "leave it out"));
        }
        if table.get_ref().fields.is_none() && tables.output.probes.as_ref().is_none_or(Vec::is_empty) {
            let message = "[harmonic] tells what points do, or has `fields`, and this case names neither";
            let help = "[output]\nprobes = [{ name = \"tip\", at = [1.0, 0.0, 0.0] }]";
            problems.add(self.error_at(table.span(), message, help));
        }
    }

    /// The frequencies, ascending, and whether they are a range.
    fn frequencies(&self, table: &Spanned<HarmonicTable>) -> Checked<(Vec<f64>, bool)> {
        let HarmonicTable { frequencies, from, to, points, .. } = table.get_ref();
        match (frequencies, from, to) {
            (Some(list), None, None) if points.is_none() => Ok((self.listed("frequencies", list)?, false)),
            (None, Some(from), Some(to)) => {
                let ends = [*from.get_ref(), *to.get_ref()];
                self.check_frequencies("from", from.span(), &ends[..1])?;
                self.check_frequencies("to", to.span(), &ends[1..])?;
                if ends[0] >= ends[1] {
                    return Err(self.error_at(to.span(), "`to` must be larger than `from`", "both are frequencies"));
                }
                let n = points.as_ref().map_or(POINTS, |points| *points.get_ref());
                if let Some(points) = points.as_ref().filter(|_| !(2..=MOST_POINTS).contains(&n)) {
                    let message = format!("`points` must be from 2 to {MOST_POINTS}");
                    return Err(self.error_at(points.span(), message, format!("{POINTS} is the default")));
                }
                let at = |i: u64| ends[0] + (ends[1] - ends[0]) * (i as f64 / (n - 1) as f64);
                Ok(((0..n).map(at).collect(), true))
            }
            (None, None, None) if table.get_ref().fields.is_some() && points.is_none() => Ok((Vec::new(), false)),
            _ => {
                let message = "[harmonic] takes either `frequencies`, or `from` and `to`";
                let help = "in cycles per time:\nfrom = 10.0\nto = 500.0";
                Err(self.error_at(table.span(), message, help))
            }
        }
    }

    /// Frequencies of a list, ascending.
    fn listed(&self, key: &str, list: &Spanned<Numbers>) -> Checked<Vec<f64>> {
        let mut values = list.get_ref().0.clone();
        self.check_frequencies(key, list.span(), &values)?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(values)
    }

    fn check_frequencies(&self, key: &str, place: Place, values: &[f64]) -> Checked {
        self.check_finite(key, place.clone(), values)?;
        self.check_scale(key, place.clone(), values, &NUMBERS)?;
        if values.is_empty() {
            return Err(self.error_at(
                place,
                format!("`{key}` is empty"),
                "name one, in cycles per time, such as 50.0",
            ));
        }
        match values.iter().any(|value| *value < 0.0) {
            true => Err(self.error_at(place, format!("`{key}` must be 0 or more"), "cycles per time, such as 50.0")),
            false => Ok(()),
        }
    }

    fn damping(&self, table: &Spanned<HarmonicTable>) -> Checked<Damping> {
        let HarmonicTable { damping, rayleigh, .. } = table.get_ref();
        match (damping, rayleigh) {
            (Some(ratios), None) => {
                let values = &ratios.get_ref().0;
                if values.is_empty() || values.iter().any(|ratio| !(*ratio > 0.0 && *ratio < 1.0)) {
                    let help = "2 % is 0.02: usual for welded steel; bolted 0.05";
                    let message = "`damping` is a part of the critical damping: more than 0, less than 1";
                    return Err(self.error_at(ratios.span(), message, help));
                }
                if ![1, self.modes()].contains(&values.len()) {
                    let message =
                        format!("`damping` has {} numbers, and there are {} modes", values.len(), self.modes());
                    return Err(self.error_at(ratios.span(), message, "one number for all of them, or one for each"));
                }
                Ok(Damping::Ratios(values.clone()))
            }
            (None, Some(rates)) => {
                let (values, place) = (rates.get_ref(), rates.span());
                self.check_finite("rayleigh", place.clone(), values)?;
                if values.iter().any(|rate| *rate < 0.0) || *values == [0.0; 2] {
                    let message = "`rayleigh` is [alpha, beta], not negative, and not both 0";
                    return Err(self.error_at(place, message, "C = alpha M + beta K"));
                }
                Ok(Damping::Rayleigh(*values))
            }
            (Some(_), Some(rates)) => {
                Err(self.error_at(rates.span(), "`damping` and `rayleigh` say the same twice", "leave one of them out"))
            }
            (None, None) => {
                let message = "[harmonic] needs `damping` or `rayleigh`: without them peaks have no end";
                Err(self.error_at(table.span(), message, "damping = 0.02"))
            }
        }
    }
}
