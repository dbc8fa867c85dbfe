//! The table: a row for each solution.

use super::AUTO;
use super::errors::Errors;
use super::reference::Reference;
use super::verdict::{self, Ended, Run};
use crate::cli::{print, table};
use crate::model::Model;
use crate::pipeline::Solution;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Instant;

/// One solution of one model.
#[derive(Debug, Serialize)]
pub struct Row {
    pub model: String,
    /// `auto`, or the method that was named.
    pub method: String,
    /// What the iteration was preconditioned with; `direct`.
    pub preconditioner: String,
    /// Unknowns, prescribed ones among them.
    pub unknowns: usize,
    /// Connected parts.
    pub parts: usize,
    pub iterations: usize,
    /// Of the whole solution, from the mesh in memory to stresses there.
    pub seconds: f64,
    /// Of all threads together, in the program and in the system for it; none on a GPU, or where that is not known.
    pub cpu_seconds: Option<f64>,
    /// How it ended, in the program's words.
    pub ending: &'static str,
    /// The relative error that the program says it has.
    pub estimate: f64,
    /// The relative error in the energy norm: the largest over parts.
    pub energy_error: f64,
    /// That of the exact displacements once they are written as doubles.
    pub rounding: f64,
    pub deformation_error: f64,
    pub von_mises_error: f64,
    /// The last correction of the reference, relative to its displacements.
    pub reference_correction: f64,
    /// The bounds that it breaks.
    pub broken: Vec<String>,
    #[serde(skip)]
    ended: Ended,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Device name.
    pub device: String,
    /// Number of models.
    pub models: usize,
    /// Solutions that break a bound.
    pub broken: usize,
    pub rows: Vec<Row>,
}

impl Row {
    /// That of a solution, which took so long.
    pub fn new(
        name: &str,
        method: &str,
        model: &Model,
        reference: &Reference,
        solution: &Solution,
        (seconds, cpu_seconds): (f64, Option<f64>),
    ) -> Row {
        let errors = Errors::of(solution, model, reference);
        let (ended, estimate) = (verdict::ended(solution), verdict::estimate(solution));
        let preconditioner = match model.solver.method.as_str() {
            "cg" => solution.choices.preconditioner.as_str(),
            method => method,
        };
        let mut broken = Run { model: name, method, preconditioner, ended, estimate, errors }.breaches();
        if reference.correction > GOOD_REFERENCE {
            broken.push("no reference".into());
        }
        Row {
            model: name.into(),
            method: method.into(),
            preconditioner: preconditioner.into(),
            unknowns: reference.w.len(),
            parts: reference.parts.len(),
            iterations: solution.outcome.iterations,
            seconds,
            cpu_seconds,
            ending: match ended {
                Ended::Acceptable => "acceptable",
                _ => solution.outcome.ending.name(),
            },
            estimate,
            energy_error: errors.energy,
            rounding: errors.rounding,
            deformation_error: errors.deformation,
            von_mises_error: errors.von_mises,
            reference_correction: reference.correction,
            broken,
            ended,
        }
    }

    /// What it took: processors' time where that is known.
    fn time(&self) -> f64 {
        self.cpu_seconds.unwrap_or(self.seconds)
    }

    fn cells(&self) -> Vec<String> {
        let method = match self.method == self.preconditioner {
            true => self.method.clone(),
            false => format!("{}: {}", self.method, self.preconditioner),
        };
        let error = |value: f64| format!("{value:.1e}");
        vec![
            self.model.clone(),
            method,
            print::count(self.unknowns),
            print::count(self.iterations),
            format!("{:.2}", self.seconds),
            self.ending.into(),
            error(self.estimate),
            error(self.energy_error),
            ratio(self.estimate, self.energy_error),
            error(self.deformation_error),
            error(self.von_mises_error),
            match self.ended {
                _ if !self.broken.is_empty() => self.broken.join(", "),
                Ended::Failed => "says so".into(),
                _ => "ok".into(),
            },
        ]
    }
}

/// How many times the estimate is the error.
fn ratio(estimate: f64, error: f64) -> String {
    match estimate / error {
        ratio if (0.1..1e4).contains(&ratio) => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0e}"),
    }
}

/// Says of what was solved by default if another method that does as well takes noticeably less time.
pub fn compare_times(rows: &mut [Row]) {
    let done = rows.iter().filter(|row| row.ended != Ended::Failed && row.broken.is_empty());
    let Some(best) = done.min_by(|a, b| a.time().total_cmp(&b.time())) else { return };
    let (time, method) = (best.time(), best.method.clone());
    for row in rows.iter_mut().filter(|row| row.method == AUTO) {
        if row.time() > SLOWER * time && row.time() > time + NOTICEABLE {
            row.broken.push(format!("slower than {method}"));
        }
    }
}

/// The program's own choice may take so many times the time of the best.
const SLOWER: f64 = 1.25;
/// Seconds that nobody notices.
const NOTICEABLE: f64 = 0.2;

/// Largest last correction of a reference that is one.
const GOOD_REFERENCE: f64 = 1e-14;

impl Report {
    /// That of all rows.
    pub fn new(device: String, rows: Vec<Row>) -> Report {
        let models = rows.iter().map(|row| row.model.as_str()).collect::<BTreeSet<_>>().len();
        let broken = rows.iter().filter(|row| !row.broken.is_empty()).count();
        Report { device, models, broken, rows }
    }

    /// As text.
    pub fn text(&self) -> String {
        let heads = [
            "model",
            "method",
            "unknowns",
            "iterations",
            "s",
            "ending",
            "estimate",
            "energy",
            "est./true",
            "deformation",
            "von Mises",
            "",
        ];
        let cells: Vec<Vec<String>> = self.rows.iter().map(Row::cells).collect();
        let is_left = |column: usize| [0, 1, 5, 11].contains(&column);
        let by_default = self.rows.iter().filter(|row| row.method == AUTO);
        let done = by_default.clone().filter(|row| row.broken.is_empty()).count();
        format!(
            "{}\n{} models on {}: {} of {} solutions break a bound; by default {} of {} keep to all\n",
            table::aligned(&heads, &cells, is_left, |_, padded| padded),
            self.models,
            self.device,
            self.broken,
            self.rows.len(),
            done,
            by_default.count()
        )
    }
}

/// A stopwatch, of time and of processors' time.
pub struct Clock {
    since: Instant,
    cpu: Option<f64>,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Clock {
        Clock { since: Instant::now(), cpu: cpu_seconds() }
    }

    /// Seconds since, and those of processors.
    pub fn seconds(&self) -> (f64, Option<f64>) {
        let cpu = self.cpu.zip(cpu_seconds()).map(|(before, now)| now - before);
        (self.since.elapsed().as_secs_f64(), cpu)
    }
}

/// What the process has taken of processors, with what the system did for it.
#[cfg(target_os = "linux")]
fn cpu_seconds() -> Option<f64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: there is room for what is written.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: it has been written.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(not(target_os = "linux"))]
fn cpu_seconds() -> Option<f64> {
    None
}
