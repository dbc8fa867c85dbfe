//! Checks of `[time]` and of `amplitude`, and what they say.

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::{Points, TimeTable};
use crate::model::Amplitude;
use crate::model::time::Steps;
use crate::model::{Checked, Physics, Problems};
use crate::result::Study;
use crate::result::choices::Scheme;

/// Times that results are written at, if a case does not say.
const OUTPUTS: u64 = 10;
/// And at most.
const MOST_OUTPUTS: u64 = 100_000;
/// What is rounding in the length of a step.
const ROUNDING: f64 = 1e-9;
/// Steps at most.
const MOST_STEPS: f64 = 1e8;

impl Case {
    /// The times that results are written at, and how long steps are; nothing without a table.
    pub(in crate::model) fn steps(&self) -> Checked<Option<(Vec<f64>, Steps)>> {
        let Some(table) = &self.tables.time else { return Ok(None) };
        let steps = self.step_length(table)?;
        Ok(Some((self.times(table)?, steps)))
    }

    /// How a case goes from one time to the next.
    pub(in crate::model) fn scheme(&self) -> Scheme {
        let scheme = self.tables.time.as_ref().and_then(|table| table.get_ref().scheme.as_ref());
        scheme.and_then(|scheme| Scheme::from_name(scheme.get_ref())).unwrap_or_default()
    }

    /// Checks what has to do with time, and that the rest of the case goes with it.
    pub(super) fn check_time(&self, problems: &mut Problems) {
        let is_transient = self.study() == Study::Transient;
        let study = self.tables.analysis.study.as_ref().map_or(0..0, Spanned::span);
        for points in self.amplitudes() {
            let help = "add study = \"transient\" and a table [time], or leave it out";
            match is_transient {
                true => drop(problems.take(self.amplitude(Some(points)))),
                false => {
                    problems.add(self.error_at(points.span(), "`amplitude` is of loads that change in time", help))
                }
            }
        }
        match (&self.tables.time, is_transient) {
            (Some(table), false) => {
                let message = "[time] belongs to study = \"transient\"";
                problems.add(self.error_at(table.span(), message, "add it in [analysis], or leave [time] out"));
            }
            (None, true) => {
                let help = "[time]\nend = 3600.0\nstep = 10.0\ninitial = 20.0";
                problems.add(self.error_at(study.clone(), "a transient study needs a table [time]", help));
            }
            (Some(table), true) => {
                problems.take(self.check_name("scheme", table.get_ref().scheme.as_ref(), &Scheme::names()));
                problems.take(self.steps());
                let TimeTable { initial, on, .. } = table.get_ref();
                for value in initial.iter().chain(on.iter().map(|on| &on.value)) {
                    problems.take(self.check_number("initial", value));
                }
                if initial.is_none() && table.get_ref().nodal.is_empty() {
                    let message = "`initial` is missing here: how warm is the body at first?";
                    problems.add(self.error_at(table.span(), message, "initial = 20.0"));
                }
            }
            (None, false) => {}
        }
        if !is_transient {
            return;
        }
        if self.analysis().physics() != Physics::Heat {
            let message = format!("a transient study is of heat, and this is a case of {}", self.analysis().name());
            problems.add(self.error_at(study, message, "kind = \"heat\", or leave `study` out"));
        }
        if let Some(case) = self.tables.load_case.first() {
            let message = "a transient study has no [[load_case]]: its loads change by `amplitude`";
            problems.add(self.error_at(case.span(), message, "a case file for each, or leave [[load_case]] out"));
        }
    }

    /// All that the case says of changes in time.
    fn amplitudes(&self) -> impl Iterator<Item = &Spanned<Points>> {
        let tables = &self.tables;
        (tables.support.iter().filter_map(|table| table.get_ref().amplitude.as_ref()))
            .chain(tables.flux.iter().filter_map(|table| table.amplitude.as_ref()))
            .chain(tables.convection.iter().filter_map(|table| table.amplitude.as_ref()))
            .chain(tables.source.iter().filter_map(|table| table.amplitude.as_ref()))
            .chain(tables.nodal_force.iter().filter_map(|table| table.amplitude.as_ref()))
    }

    /// A factor over time.
    pub(in crate::model) fn amplitude(&self, points: Option<&Spanned<Points>>) -> Checked<Option<Amplitude>> {
        let Some(points) = points else { return Ok(None) };
        let (table, place) = (points.get_ref(), points.span());
        self.check_finite("amplitude", place.clone(), table.as_flattened())?;
        self.check_scale("amplitude", place.clone(), table.as_flattened(), &NUMBERS)?;
        let is_ascending = table.windows(2).all(|pair| pair[0][0] < pair[1][0]);
        match table.is_empty() || !is_ascending {
            true => {
                let message = "`amplitude` is a list of [time, factor], by ascending times";
                Err(self.error_at(place, message, "amplitude = [[0.0, 0.0], [60.0, 1.0]] rises for a minute"))
            }
            false => Ok(Some(Amplitude(table.clone()))),
        }
    }

    fn step_length(&self, table: &Spanned<TimeTable>) -> Checked<Steps> {
        let TimeTable { start, end, step, tolerance, .. } = table.get_ref();
        self.check_positive("end", end)?;
        let length = *end.get_ref() - start;
        match (step, tolerance) {
            (Some(step), None) => {
                self.check_positive("step", step)?;
                if *step.get_ref() > length * (1.0 + ROUNDING) {
                    return Err(self.error_at(step.span(), "`step` is longer than the whole time", "make it shorter"));
                }
                if length > MOST_STEPS * *step.get_ref() {
                    let message = format!("there would be more than {MOST_STEPS:e} steps");
                    return Err(self.error_at(step.span(), message, "make `step` longer"));
                }
                Ok(Steps::Fixed(*step.get_ref()))
            }
            (None, Some(tolerance)) => {
                self.check_positive("tolerance", tolerance)?;
                Ok(Steps::Within(*tolerance.get_ref()))
            }
            _ => {
                let message = "[time] has exactly one of `step`, `tolerance`";
                let help = "step = 10.0, or tolerance = 0.1: degrees that a step may be off, by which steps are chosen";
                Err(self.error_at(table.span(), message, help))
            }
        }
    }

    /// The times that results are written at, ascending, the end last.
    fn times(&self, table: &Spanned<TimeTable>) -> Checked<Vec<f64>> {
        let (TimeTable { start, outputs, times, .. }, end) = (table.get_ref(), *table.get_ref().end.get_ref());
        if let (Some(outputs), Some(_)) = (outputs, times) {
            let message = "[time] has `outputs` and `times`";
            return Err(self.error_at(outputs.span(), message, "leave one of them out"));
        }
        if let Some(times) = times {
            let (values, place) = (&times.get_ref().0, times.span());
            self.check_finite("times", place.clone(), values)?;
            let is_within = values.iter().all(|time| *time > *start && *time <= end);
            if values.is_empty() || !is_within || values.windows(2).any(|pair| pair[0] >= pair[1]) {
                let message = "`times` ascend, later than 0 and not later than `end`";
                return Err(self.error_at(place, message, "times = [10.0, 100.0, 1000.0]"));
            }
            let is_end = values.last() == Some(&end);
            return Ok(values.iter().copied().chain((!is_end).then_some(end)).collect());
        }
        let n = outputs.as_ref().map_or(OUTPUTS, |outputs| *outputs.get_ref());
        match outputs.as_ref().filter(|_| !(1..=MOST_OUTPUTS).contains(&n)) {
            Some(outputs) => {
                let message = format!("`outputs` must be from 1 to {MOST_OUTPUTS}");
                Err(self.error_at(outputs.span(), message, format!("{OUTPUTS} is the default")))
            }
            None => Ok((1..=n).map(|i| end * (i as f64 / n as f64)).collect()),
        }
    }
}
