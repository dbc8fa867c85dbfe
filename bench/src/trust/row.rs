//! The table: a row for each solution.

use super::AUTO;
use super::errors::Errors;
use super::reference::Reference;
use super::verdict::{self, Ended, Run};
use serde::Serialize;
use std::collections::BTreeSet;
use warpfem::model::Model;
use warpfem::pipeline::Solution;
use warpfem::result::Error;
use warpfem::result::choices::Preconditioner;
use warpfem_text::count;

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
    #[serde(flatten)]
    pub errors: Errors,
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
    /// DeviceName name.
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
        let plan = &solution.used.plan;
        let preconditioner = plan.preconditioner.map_or(plan.method.name(), Preconditioner::name);
        let mut broken = Run { method, preconditioner, ended, estimate, errors }.breaches();
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
            errors,
            reference_correction: reference.correction,
            broken,
            ended,
        }
    }

    /// That of a model that was refused, whatever the method: all of them are sound.
    pub fn refused(name: &str, method: &str, reference: &Reference, error: &Error) -> Row {
        Row {
            model: name.into(),
            method: method.into(),
            preconditioner: method.into(),
            unknowns: reference.w.len(),
            parts: reference.parts.len(),
            iterations: 0,
            seconds: 0.0,
            cpu_seconds: None,
            ending: "refused",
            estimate: f64::NAN,
            errors: Errors { energy: f64::NAN, rounding: f64::NAN, deformation: f64::NAN, von_mises: f64::NAN },
            reference_correction: reference.correction,
            broken: vec![error.to_string()],
            ended: Ended::Failed,
        }
    }

    /// What it took: processors' time where that is known.
    fn time(&self) -> f64 {
        self.cpu_seconds.unwrap_or(self.seconds)
    }

    /// Its line of the table.
    pub fn line(&self) -> String {
        let method = match self.method == self.preconditioner {
            true => self.method.clone(),
            false => format!("{}: {}", self.method, self.preconditioner),
        };
        let error = |value: f64| format!("{value:.1e}");
        line([
            &self.model,
            &method,
            &count(self.unknowns),
            &count(self.iterations),
            &format!("{:.2}", self.seconds),
            self.ending,
            &error(self.estimate),
            &error(self.errors.energy),
            &ratio(self.estimate, self.errors.energy),
            &error(self.errors.deformation),
            &error(self.errors.von_mises),
            &match self.ended {
                _ if !self.broken.is_empty() => self.broken.join(", "),
                Ended::Failed => "says so".into(),
                _ => "ok".into(),
            },
        ])
    }
}

/// The heads of the table.
pub fn heads() -> String {
    line([
        "model", "method", "unknowns", "its", "s", "ending", "estimate", "energy", "ratio", "deform.", "v. Mises", "",
    ])
}

/// Cells in columns that are known before the rows are, so that each can be printed when it is there.
fn line(cells: [&str; 12]) -> String {
    let [model, method, unknowns, iterations, seconds, ending, errors @ .., verdict] = cells;
    let errors: String = errors.iter().map(|error| format!(" {error:>8}")).collect();
    let line =
        format!("{model:<35} {method:<15} {unknowns:>8} {iterations:>6} {seconds:>7} {ending:<10}{errors}  {verdict}");
    line.trim_end().to_owned() + "\n"
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

/// Largest last correction of a reference: rounded strains of slender bodies leave up to 8e-14, and bounds begin at 1e-8.
const GOOD_REFERENCE: f64 = 1e-13;

impl Report {
    /// That of all rows.
    pub fn new(device: String, rows: Vec<Row>) -> Report {
        let models = rows.iter().map(|row| row.model.as_str()).collect::<BTreeSet<_>>().len();
        let broken = rows.iter().filter(|row| !row.broken.is_empty()).count();
        Report { device, models, broken, rows }
    }

    /// Its last line.
    pub fn conclusion(&self) -> String {
        let by_default = self.rows.iter().filter(|row| row.method == AUTO);
        let done = by_default.clone().filter(|row| row.broken.is_empty()).count();
        format!(
            "\n{} models on {}: {} of {} solutions break a bound; by default {} of {} keep to all\n",
            self.models,
            self.device,
            self.broken,
            self.rows.len(),
            done,
            by_default.count()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &str, cpu_seconds: f64, ended: Ended) -> Row {
        Row {
            model: "any".into(),
            method: method.into(),
            preconditioner: "amg".into(),
            unknowns: 12_345,
            parts: 1,
            iterations: 7,
            seconds: 9.0,
            cpu_seconds: Some(cpu_seconds),
            ending: "converged",
            estimate: 1e-7,
            errors: Errors { energy: 1e-8, ..Errors::default() },
            reference_correction: 0.0,
            broken: Vec::new(),
            ended,
        }
    }

    fn auto_of(seconds: [f64; 2], ended: Ended) -> Vec<String> {
        let mut rows = [row(AUTO, seconds[0], Ended::Converged), row("direct", seconds[1], ended)];
        compare_times(&mut rows);
        assert!(rows[1].broken.is_empty());
        rows[0].broken.clone()
    }

    #[test]
    fn the_programs_choice_is_compared_with_what_does_as_well() {
        assert_eq!(auto_of([1.3, 1.0], Ended::Converged), ["slower than direct"]);
        assert!(auto_of([1.24, 1.0], Ended::Converged).is_empty());
        assert!(auto_of([0.29, 0.1], Ended::Converged).is_empty());
        assert!(auto_of([1.3, 1.0], Ended::Failed).is_empty());
    }

    #[test]
    fn columns_stand_under_their_heads() {
        let line = row(AUTO, 1.0, Ended::Converged).line();
        for (head, cell) in [("unknowns", "12,345"), ("ratio", "10.0"), ("energy", "1.0e-8")] {
            let end = |text: &str, of: &str| text.find(of).map(|at| at + of.len());
            assert_eq!(end(&heads(), head), end(&line, cell), "{head}: {line}");
        }
        assert!(line.ends_with("  ok\n"), "{line}");
    }
}
