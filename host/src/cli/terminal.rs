//! What the terminal shows of a solution: at most ten lines, then three probes and three warnings; with `--verbose`
//! everything.

use super::earlier::Earlier;
use super::print::{Tone, count, seconds, toned, unbroken, vector, whole, wrapped};
use super::summary::levels;
use crate::output::Summary;
use crate::output::distribution::{Distribution, Peak, Range};
use crate::output::points::{ProbeResult, SafetyFactor};
use crate::output::solver::Solver;
use crate::output::summary::{RISING, shared};
use crate::plan::AS_ASKED;
use crate::result::{Extremes, Quantity, with_unit};
use std::path::PathBuf;
use warpfem_text::{clean, counted, engineering as number, vector_beside};

/// Lines of a summary, probes and warnings aside.
const MOST_LINES: usize = 10;
/// Warnings shown, and probes.
const MOST_WARNINGS: usize = 3;
const MOST_PROBES: usize = 3;
const MOST_COUPLINGS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// In so many lines less than [`MOST_LINES`], for what comes after.
    Short {
        spare: usize,
    },
    Verbose,
}

/// The text of a summary; `before` is what the folder held.
pub fn text(s: &Summary, files: &[PathBuf], before: Option<&Earlier>, detail: Detail) -> String {
    let shown = |detail, each| Shown { s, files, before, is_verbose: detail == Detail::Verbose, each };
    let text = shown(detail, true);
    match detail {
        Detail::Short { spare } if text.lines().len() + spare > MOST_LINES => shown(detail, false).text(),
        _ => text.text(),
    }
}

fn share(error: f64) -> String {
    if error == 0.0 { "0".into() } else { format!("{error:.1e}") }
}

/// A summary on its way to the terminal.
struct Shown<'a> {
    s: &'a Summary,
    files: &'a [PathBuf],
    before: Option<&'a Earlier>,
    is_verbose: bool,
    /// Whether each support has its line.
    each: bool,
}

impl Shown<'_> {
    fn text(&self) -> String {
        let mut lines = self.lines();
        let end = lines.len() - 1;
        lines.splice(end..end, self.probes().into_iter().chain(self.warnings()));
        lines.concat()
    }

    /// All lines but the warnings, wrapped, each with its end.
    fn lines(&self) -> Vec<String> {
        let s = self.s;
        let mut lines = vec![format!(
            "{}: {}, {} on {}",
            s.case,
            counted(s.nodes, "node"),
            counted(s.elements, "element"),
            s.device
        )];
        let nowhere = s.is_zero() && !s.solver.converged;
        match s.is_zero() {
            _ if nowhere => lines.push(NOWHERE.into()),
            true => lines.push("the solution is 0 everywhere, so there is no picture".into()),
            false => self.maxima(&mut lines),
        }
        if !nowhere {
            self.forces(&mut lines);
        }
        let state = if s.solver.converged { "equations solved".into() } else { toned(Tone::Bad, "NOT CONVERGED") };
        if !s.is_zero() || !s.solver.converged {
            lines.push(format!("{state}: {}", s.accuracy()));
        }
        if self.is_verbose {
            self.how(&mut lines);
        }
        lines.extend(self.wrote());
        lines.push(self.result());
        let last = lines.len() - 1;
        let indented = |(i, line): (usize, String)| match i == 0 || i == last {
            true => wrapped(&line, "  "),
            false => wrapped(&format!("  {line}"), "    "),
        };
        let text: Vec<String> = lines.into_iter().enumerate().map(indented).collect();
        text.iter().flat_map(|text| text.lines()).map(|line| format!("{line}\n")).collect()
    }

    /// A number, or a vector, with its unit where the case names units, unbroken.
    fn with_unit(&self, value: String, of: Quantity) -> String {
        unbroken(&with_unit(value, self.s.units, of))
    }

    fn place(&self, x: [f64; 3]) -> String {
        self.with_unit(vector(x), Quantity::Length)
    }

    fn maxima(&self, lines: &mut Vec<String>) {
        let (results, words) = (&self.s.results, self.s.results.physics.words());
        let (unknown, Range { min, min_at, max, max_at }) = (words.unknown, results.unknown);
        let [least, largest] = [min, max].map(|value| self.with_unit(number(value), results.unknown_unit()));
        let [low, high] = [min_at, max_at].map(|at| self.place(at));
        lines.push(match words.extremes {
            Extremes::Largest(_) => format!("largest {unknown} {largest} at {high}"),
            Extremes::Both(_) => format!("{unknown} {least} at {low} to {largest} at {high}"),
        });
        let unit = results.intensity_unit();
        self.peak(lines, (&format!("largest {}", words.intensity[0]), unit), &results.nodal, &results.centres);
        if let Some(peak) = results.away() {
            let (most, at) = (self.with_unit(number(peak.max), unit), self.place(peak.max_at));
            let rises = if results.rises() { RISING } else { "" };
            lines.push(format!("  away from supports, point loads, corners {most} at {at}{rises}"));
        }
        if let Some(factor) = results.min_safety_factor {
            let SafetyFactor { value, at, .. } = factor;
            let away = results.min_safety_factor_away.filter(|away| away.value.is_finite() && away.value > value);
            let away =
                away.map_or(String::new(), |away| format!("; away {} at {}", number(away.value), self.place(away.at)));
            let value = number(value) + if value < 1.0 { " (yields)" } else { "" };
            lines.push(format!("smallest safety factor {value} at {}{away}{}", self.place(at), factor.doubt()));
        }
    }

    /// The largest value at the nodes and its place; the elements' own values beside it.
    fn peak(&self, lines: &mut Vec<String>, of: (&str, Quantity), nodal: &Peak, centres: &Distribution) {
        let [largest, most, p99] =
            [nodal.max, centres.max, centres.p99].map(|value| self.with_unit(number(value), of.1));
        lines.push(format!("{} {largest} at {}", of.0, self.place(nodal.max_at)));
        if self.is_verbose {
            lines.push(format!("  nodal average; element centres: {most} at most, 99 % below {p99}"));
        }
    }

    fn forces(&self, lines: &mut Vec<String>) {
        let (results, words) = (&self.s.results, self.s.results.physics.words());
        let (least, largest) = (self.s.least_force(), results.largest_force());
        let of = |force: &[f64]| match *force {
            [x, y, z] => self.with_unit(vector_beside([x, y, z], least, largest), Quantity::Force),
            _ => force.iter().map(|flow| number(clean(*flow, least))).collect(),
        };
        let ([loads, error], balance) = (words.loads, share(results.equilibrium_error));
        lines.push(format!("{loads} {}; {error} {balance}", of(&results.applied)));
        let free = results.tables.iter().find(|table| table.info.name == "inertia_relief");
        for (_, row) in free.iter().flat_map(|table| &table.rows) {
            let of = |at: usize| vector([row[at], row[at + 1], row[at + 2]]);
            let along = self.with_unit(of(0), Quantity::Acceleration);
            lines.push(format!("free body: acceleration {along}, angular {}", of(3)));
        }
        let couplings = self.couplings(of);
        match couplings.len() {
            n if n > MOST_COUPLINGS && !self.is_verbose => {
                lines.push(format!("{n} results of joints and remote points: --verbose, or the report"));
            }
            _ => lines.extend(couplings),
        }
        let each = results.reactions.iter().map(|(name, force)| (name.as_str(), of(force))).collect();
        self.supports(lines, words.reaction, each, (of(&results.reaction_sum), results.shared_nodes));
    }

    /// Lines for what goes through joints, for what couplings hold from outside, and for the motions of remote points.
    fn couplings(&self, force: impl Fn(&[f64]) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let results = &self.s.results;
        let rows = |name: &str| {
            let table = results.tables.iter().find(|table| table.info.name == name);
            table.map_or(&[][..], |table| &table.rows[..])
        };
        let length = |values: &[f64]| match *values {
            [x, y, z] => self.with_unit(vector([x, y, z]), Quantity::Length),
            _ => values.iter().map(|value| self.with_unit(number(*value), Quantity::Length)).collect(),
        };
        let through = rows("tie_forces").iter().chain(rows("tie_flows"));
        lines.extend(through.map(|(name, values)| format!("through joint {name} {}", force(values))));
        let shorter = rows("bolt_shortenings").iter();
        lines.extend(shorter.map(|(name, values)| format!("bolt {name} shortened by {}", length(values))));
        let held = rows("coupling_forces").iter();
        lines.extend(held.map(|(name, values)| format!("carried by {name} {}", force(values))));
        let held = rows("remote_forces").iter().filter(|(_, values)| values.iter().any(|f| *f != 0.0));
        lines.extend(held.map(|(name, values)| format!("reaction of remote {name} {}", force(values))));
        let motions = rows("remote_displacements").iter().zip(rows("remote_rotations"));
        lines.extend(motions.map(|((name, moved), (_, turned))| {
            let turned = vector([turned[0], turned[1], turned[2]]);
            format!("remote {name} moved by {}, turned by {turned} rad", length(moved))
        }));
        lines
    }

    /// A line for each support, and their sum where nodes of several count in each; or the sum alone.
    fn supports(&self, lines: &mut Vec<String>, words: [&str; 2], each: Vec<(&str, String)>, all: (String, usize)) {
        let ([one, every], (sum, n_shared), n) = (words, all, each.len());
        if n > 1 && !self.each && !self.is_verbose {
            lines.push(format!("{every} {sum}; each of the {n}: --verbose, or the report"));
            return;
        }
        lines.extend(each.iter().map(|(name, value)| format!("{one} {name} {value}")));
        lines.extend(shared(n_shared).map(|note| format!("{every} {sum}: {note}")));
    }

    fn probes(&self) -> Vec<String> {
        let probes = &self.s.probes;
        let said = |probe: &ProbeResult| format!("probe {} {}", probe.name, probe.in_words(self.s.units));
        let lines = match self.is_verbose || probes.len() <= MOST_PROBES {
            true => probes.iter().map(said).collect(),
            false => vec![format!("{} probes: --verbose, or the report", probes.len())],
        };
        lines.iter().map(|text| wrapped(&format!("  {text}"), "    ") + "\n").collect()
    }

    fn how(&self, lines: &mut Vec<String>) {
        let (solver, t) = (&self.s.solver, &self.s.timings_s);
        lines.push(method(solver));
        if !solver.reason.ends_with(AS_ASKED) {
            lines.push(solver.reason.clone());
        }
        lines.push(residual(solver));
        lines.extend(solver.multigrid.as_ref().map(levels));
        let phases = t.before_writing().into_iter().chain([("write", t.write)]);
        let phases: Vec<String> = phases.map(|(name, s)| format!("{name} {}", seconds(s))).collect();
        lines.push(format!("times: {}", phases.join(", ")));
    }

    /// The files: the report by its path, the others beside it by their names.
    fn wrote(&self) -> Vec<String> {
        let replaced = |before: &Earlier| before.replaced(self.s);
        let is_of_case = |before: &&Earlier| before.case == self.s.case;
        let removed = self.before.map(|before| before.removed(self.s)).filter(|&n| n > 0);
        let removed = removed.map(|n| format!("{} of the earlier solution removed", counted(n, "picture")));
        if self.is_verbose {
            let note = |file: &PathBuf| {
                // Every case has a summary of that name.
                let of = self.before.filter(|before| is_of_case(before) || file.ends_with("summary.json"));
                of.map_or(String::new(), replaced)
            };
            let lines = self.files.iter().map(|file| format!("wrote {}{}", whole(file), note(file)));
            return lines.chain(removed).collect();
        }
        let ending = |file: &PathBuf| file.extension().unwrap_or_default().to_string_lossy().into_owned();
        let Some(report) = self.files.iter().find(|file| ending(file) == "html") else { return vec![] };
        let mut others: Vec<String> = self.files.iter().map(|file| ending(file).to_uppercase()).collect();
        others.retain(|ending| ending != "HTML");
        others.dedup();
        let other_model = self.before.map(replaced).filter(|note| note != super::earlier::SAME).unwrap_or_default();
        let removed = removed.map_or(String::new(), |removed| format!("; {removed}"));
        vec![format!("report: {}; {} beside it{other_model}{removed}", whole(report), others.join(", "))]
    }

    fn result(&self) -> String {
        let (solver, time) = (&self.s.solver, seconds(self.s.timings_s.total));
        let state = match (solver.converged, solver.iterations) {
            (true, _) if solver.method == "direct" => toned(Tone::Good, "solved"),
            (true, 0) => toned(Tone::Good, "solved"),
            (true, n) => format!("{} in {}", toned(Tone::Good, "converged"), counted(n, "iteration")),
            (false, n) => format!("{} after {}", toned(Tone::Bad, "not converged"), counted(n, "iteration")),
        };
        format!("{}: {state}, {time}", self.s.case)
    }

    /// The first warnings, or with `--verbose` all of them.
    fn warnings(&self) -> Vec<String> {
        let all = &self.s.warnings;
        let shown = if self.is_verbose { all.len() } else { all.len().min(MOST_WARNINGS) };
        let mut lines: Vec<String> = all.iter().take(shown).map(|text| warning(text)).collect();
        if all.len() > shown {
            lines.push(format!("  {}: --verbose, or the report\n", counted(all.len() - shown, "more warning")));
        }
        lines
    }
}

/// A warning, wrapped, with its end.
pub fn warning(text: &str) -> String {
    wrapped(&format!("  {}: {text}", toned(Tone::Doubtful, "warning")), "    ") + "\n"
}

/// An iteration that ended before it found anything.
const NOWHERE: &str = "the solver stopped before its first step: the solution is still 0, so there is no picture";

fn method(solver: &Solver) -> String {
    let Solver { method, preconditioner, format, precision, iterations, .. } = solver;
    if method == "direct" {
        return format!("direct factorisation ({format}, {precision}), {} solutions with it", count(*iterations));
    }
    let order = solver.order.map_or(String::new(), |order| format!(" of order {order}"));
    format!("{} of {method} ({preconditioner}{order}, {format}, {precision})", counted(*iterations, "iteration"))
}

fn residual(solver: &Solver) -> String {
    let error = solver.error_estimate.map_or("unknown".into(), |error| format!("{error:.0e}"));
    format!("estimated error {error} (energy norm), relative residual {:.1e}", solver.relative_residual)
}
