//! Load cases, or modes: each written as it comes, then what is of all of them.

use super::earlier::Earlier;
use super::failure::Failure;
use super::job::Job;
use super::print::{Tone, count, seconds, toned, unbroken, vector, whole, wrapped};
use super::terminal::{self, Detail};
use super::{modes, preview, summary, table, warnings};
use crate::device::DeviceName;
use crate::model::{MassProperties, Model, Study};
use crate::output::cases::CaseWriter;
use crate::output::summary::{PeakResponse, StepSummary};
use crate::output::{self, Options, Summary};
use crate::pipeline::{self, Solution};
use crate::result::{Error, Extremes, FieldInfo, Quantity, Result, Series, Sink, Step, frequency, with_unit};
use crate::solve::Monitor;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use warpfem_text::{counted, engineering as number, percent};

/// Writes what a study sends, and keeps the numbers.
struct CaseSink<'a> {
    model: &'a Model,
    fields: Vec<String>,
    writer: CaseWriter<'a>,
    shown: Vec<summary::Shown>,
}

impl Sink for CaseSink<'_> {
    fn wants(&self, name: &str) -> bool {
        FieldInfo::named(name).is_none() || self.fields.iter().any(|field| field == name)
    }

    fn take(&mut self, step: Step) -> Result<()> {
        let case = self.shown.len();
        self.shown.push((summary::results(self.model, case, &step), summary::probes(self.model, &step)));
        self.writer.add(step).map_err(|error| Error::Sink(Box::new(error)))
    }

    fn take_series(&mut self, series: Series) -> Result<()> {
        self.writer.add_series(series);
        Ok(())
    }
}

impl CaseSink<'_> {
    /// Writes what is of all steps, whose solutions these are; `read` and `total` are seconds.
    fn finish(
        self,
        solutions: &[Solution],
        mass: Option<MassProperties>,
        (read, seconds): (f64, f64),
    ) -> output::Result<(Summary, Vec<PathBuf>)> {
        let CaseSink { model, writer, shown, .. } = self;
        let each = solutions.iter().zip(shown);
        let summaries: Vec<Summary> =
            each.map(|(solution, shown)| summary::with(model, solution, shown, mass, read)).collect();
        let mut total = total(model, &summaries, &writer);
        total.timings_s.total = seconds;
        let files = writer.finish(&summaries, &mut total)?;
        Ok((total, files))
    }
}

/// Writes the results of solutions that have kept them, into a folder, as `solve` does. Returns the summary.
///
/// # Errors
///
/// Those of writing.
pub fn save(
    dir: &Path,
    model: &Model,
    (solutions, series): (&[Solution], &[Series]),
    (options, read): (Options, f64),
) -> anyhow::Result<Summary> {
    let mass = model.mass_properties();
    if let ([solution], false) = (solutions, model.has_steps()) {
        let mut summary = summary::of(model, 0, solution, mass, read);
        output::write_all(dir, model, &solution.step, &mut summary, &options)?;
        return Ok(summary);
    }
    let writer = CaseWriter::new(dir, model, options);
    let mut sink = CaseSink { model, fields: Vec::new(), writer, shown: Vec::new() };
    solutions.iter().try_for_each(|solution| sink.take(solution.step.clone())).map_err(of_sink)?;
    series.iter().try_for_each(|series| sink.take_series(series.clone()))?;
    Ok(sink.finish(solutions, mass, (read, 0.0))?.0)
}

/// Solves and writes the steps of a job. Returns the solution that the exit code is of, the first that has not
/// converged or else the first, and what to say.
pub(super) fn run(
    job: &Job,
    device: DeviceName,
    monitor: &dyn Monitor,
    (quiet, detail): (bool, Detail),
) -> anyhow::Result<(Solution, String)> {
    let (model, before) = (&job.model, Earlier::read(job.dir()));
    let taken = RefCell::new(None);
    let solve = |model: &Model, device| {
        let writer = CaseWriter::new(job.dir(), &job.model, job.options());
        let fields = pipeline::asked_fields(model, &job.fields());
        let mut sink = CaseSink { model: &job.model, fields, writer, shown: Vec::new() };
        let solutions = pipeline::solve_into(&job.open(device)?, model, &mut sink, monitor)?;
        *taken.borrow_mut() = Some(sink);
        Ok(solutions)
    };
    let mut solutions = job.solve_or_fall_back(device, solve).map_err(of_sink)?;
    let Some(sink) = taken.into_inner() else { unreachable!("it has been solved") };
    if solutions.is_empty() {
        return Err(Failure::Stopped.into());
    }
    monitor.phase("write");
    let small = sink.writer.governing_step().map_or(String::new(), |step| preview::of(&model.mesh, step, quiet));
    let (total, files) = sink.finish(&solutions, job.mass(), (job.read, job.seconds()))?;
    let said = small + &text(&total, &files, before.as_ref(), detail);
    let decisive = solutions.iter().position(|solution| !solution.outcome.converged).unwrap_or(0);
    Ok((solutions.swap_remove(decisive), said))
}

/// An error of writing as it is.
fn of_sink(error: Error) -> anyhow::Error {
    match error {
        Error::Sink(inner) => match inner.downcast::<output::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => Error::Sink(other).into(),
        },
        error => error.into(),
    }
}

/// The summary of all steps: results and solver of the first, the worst of what tells how far they can be trusted.
fn total(model: &Model, summaries: &[Summary], writer: &CaseWriter) -> Summary {
    let governing = writer.governing();
    let (each, names): (Vec<_>, Vec<_>) = summaries.iter().map(|of| (of.warnings.clone(), of.step.clone())).unzip();
    let mut total = Summary { step: String::new(), ..summaries[0].clone() };
    let steps = summaries.iter().enumerate().map(|(case, of)| StepSummary::of(of, writer.files(case)));
    total.steps = steps.collect();
    total.response = PeakResponse::of(writer.series());
    total.governing_case = (model.study == Study::Static).then(|| names[governing].clone());
    total.warnings = warnings::of_cases(&each, &names, governing);
    let solvers = || summaries.iter().map(|of| &of.solver);
    if let Some(failed) = solvers().find(|solver| !solver.converged) {
        total.solver = failed.clone();
    }
    total.solver.digits = solvers().map(|solver| solver.digits).min().flatten();
    let errors = solvers().map(|solver| solver.error_estimate);
    total.solver.error_estimate = errors.reduce(|a, b| Some(a?.max(b?))).flatten();
    total.solver.relative_residual = solvers().map(|solver| solver.relative_residual).fold(0.0, f64::max);
    // Cases add up.
    total.timings_s.phases = summaries.last().map_or(total.timings_s.phases, |last| last.timings_s.phases);
    total.warnings.extend(few_modes(model, summaries));
    let n = if model.study.is_of_modes() { model.modes } else { model.n_steps() };
    if summaries.len() < n {
        let missing = n - summaries.len();
        total.warnings.push(match model.study {
            Study::Static => format!("{} not solved: the run was stopped", counted(missing, "load case")),
            Study::Transient => {
                let last = summaries.last().map_or("", |last| &last.step);
                format!("the run was stopped after {last}: {} not reached", counted(missing, "later time"))
            }
            Study::Modal | Study::Buckling => format!("{} of {n} were found", counted(summaries.len(), "mode")),
        });
    }
    total
}

/// Modes are to reach so many times as far as the loads of `[harmonic]`.
const BEYOND: f64 = 1.5;

/// A warning where modes end so soon that others may resonate.
fn few_modes(model: &Model, summaries: &[Summary]) -> Option<String> {
    let last = summaries.get(model.modes - 1)?.results.mode?.value();
    let to = model.response.as_ref()?.highest()?;
    (last < BEYOND * to).then(|| {
        format!(
            "modes reach {}, and loads vibrate at up to {}: peaks of further modes are missing. Ask for more `modes`, up to \
             twice that",
            frequency(last, model.units),
            frequency(to, model.units)
        )
    })
}

/// Warnings shown.
const MOST_WARNINGS: usize = 3;
/// Columns of a name.
const NAME: usize = 23;

/// The modes, and the load cases or what loads do.
fn modes_and_cases(s: &Summary) -> (&[StepSummary], &[StepSummary]) {
    s.steps.split_at(s.steps.iter().filter(|step| step.mode.is_some()).count())
}

/// What the terminal shows: a row for each step, then the warnings and the files.
fn text(s: &Summary, files: &[PathBuf], before: Option<&Earlier>, detail: Detail) -> String {
    let is_verbose = detail == Detail::Verbose;
    let sizes = format!("{}, {}", counted(s.nodes, "node"), counted(s.elements, "element"));
    let mut out = wrapped(&format!("{}: {sizes} on {}", s.case, s.device), "  ") + "\n";
    let (of_modes, cases) = modes_and_cases(s);
    let modes = (!of_modes.is_empty()).then(|| modes::text(s, of_modes, is_verbose));
    for (table, notes) in modes.into_iter().chain((!cases.is_empty()).then(|| load_cases(s, cases))) {
        table.lines().for_each(|line| out += &format!("  {}\n", line.trim_end()));
        notes.iter().for_each(|note| out += &(wrapped(&format!("  {note}"), "    ") + "\n"));
    }
    for PeakResponse { name, frequency: at, amplitude, is_at_end } in &s.response {
        let (moved, at) = (with_unit(number(*amplitude), s.units, Quantity::Length), frequency(*at, s.units));
        let end = if *is_at_end { ", where the range ends" } else { "" };
        out += &(wrapped(&format!("  {name}: vibrates by {moved} at most, at {at}{end}"), "    ") + "\n");
    }
    let shown = if is_verbose { s.warnings.len() } else { MOST_WARNINGS };
    s.warnings.iter().take(shown).for_each(|warning| out += &terminal::warning(warning));
    if s.warnings.len() > shown {
        out += &format!("  {}: --verbose, or the report\n", counted(s.warnings.len() - shown, "more warning"));
    }
    for line in wrote(s, files, before, is_verbose) {
        out += &(wrapped(&format!("  {line}"), "    ") + "\n");
    }
    out + &wrapped(&result(s), "  ") + "\n"
}

/// A row for each load case, and what is in it.
fn load_cases(s: &Summary, cases: &[StepSummary]) -> (String, Vec<String>) {
    let words = s.results.physics.words();
    let unit =
        |quantity| s.units.and_then(|units| units.label(quantity)).map_or(String::new(), |unit| format!(" [{unit}]"));
    let unknown = match words.extremes {
        Extremes::Largest(_) => format!("{}{}", words.unknown, unit(s.results.unknown_unit())),
        Extremes::Both(_) => words.unknown.into(),
    };
    let heads = [
        if s.results.time.is_some() { "" } else { "case" },
        &format!("{}{}", words.intensity[1], unit(s.results.intensity_unit())),
        "at",
        &unknown,
        "solved",
    ];
    let row = |step: &StepSummary| {
        let results = &step.results;
        let unknown = match words.extremes {
            Extremes::Largest(_) => number(results.unknown.max),
            Extremes::Both(_) => format!("{} to {}", number(results.unknown.min), number(results.unknown.max)),
        };
        let mut name: String = step.name.chars().take(NAME).collect();
        if s.governing_case.as_ref() == Some(&step.name) {
            name += " *";
        }
        let solved = match (step.solver.converged, step.solver.digits) {
            (false, _) => "NOT CONVERGED".into(),
            (true, Some(digits)) => format!("{digits} digits"),
            (true, None) => "yes".into(),
        };
        vec![name, number(results.nodal.max), vector(results.nodal.max_at), unknown, solved]
    };
    let rows: Vec<Vec<String>> = cases.iter().map(row).collect();
    let largest = format!("largest {}, {}", words.intensity[0], words.unknown);
    let governs = if s.governing_case.is_some() { "; * governs" } else { "" };
    let errors = cases.iter().filter_map(|step| step.results.mesh_error);
    let error = errors.reduce(f64::max).map(|error| format!("mesh error at most about {}", percent(error)));
    let notes = [format!("of each the {largest} at the nodes{governs}")].into_iter().chain(error);
    (table::text(&heads, &rows), notes.collect())
}

/// The files, or how many there are.
fn wrote(s: &Summary, files: &[PathBuf], before: Option<&Earlier>, is_verbose: bool) -> Vec<String> {
    if is_verbose {
        return files.iter().map(|file| format!("wrote {}", whole(file))).collect();
    }
    let Some(report) = files.iter().find(|file| file.extension().is_some_and(|ending| ending == "html")) else {
        return vec![];
    };
    let replaced = before.map(|before| before.replaced(s)).filter(|note| note != super::earlier::SAME);
    let pvd = unbroken(&format!("{}.pvd", s.case));
    let n = count(files.len() - 1);
    let (modes, cases) = modes_and_cases(s);
    let all = match (modes, cases.first().map(|case| case.results.noun())) {
        ([], Some("time")) => "times",
        ([], _) => "cases",
        (_, None) => "modes",
        _ => "steps",
    };
    let (report, replaced) = (whole(report), replaced.unwrap_or_default());
    vec![format!("report: {report}; {n} files beside it, {pvd} has all {all}{replaced}")]
}

fn result(s: &Summary) -> String {
    let n_failed = s.steps.iter().filter(|step| !step.solver.converged).count();
    let state = match n_failed {
        0 => toned(Tone::Good, "solved"),
        n => toned(Tone::Bad, &format!("{} not converged", count(n))),
    };
    let (modes, cases) = modes_and_cases(s);
    let counts =
        [modes, cases].into_iter().filter_map(|steps| Some(counted(steps.len(), steps.first()?.results.noun())));
    let counts: Vec<String> = counts.collect();
    format!("{}: {}, {state}, {}", s.case, counts.join(", "), seconds(s.timings_s.total))
}
