//! `warpfem verify`: published problems, and how far off this build is on this device.

use super::devices;
use super::failure::Failure;
use super::print::{self, Tone, seconds, toned};
use super::progress::Progress;
use super::table;
use crate::device::DeviceName;
use crate::solve::Silent;
use crate::verify::{Check, GROUPS};
use crate::{Result, output};
use serde_json::json;
use std::fmt::Write;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Patch tests of every element, the potential of a ring, a cylinder under pressure, NAFEMS LE1 and LE10, beams: \
computed values beside published ones, and the tolerance on these meshes. The emulator solves the small ones. \
Exit code 5: a value is out of tolerance.

Examples:
  warpfem verify
  warpfem verify --device cuda --json verify.json"
)]
pub struct Arguments {
    /// auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Also write the table to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print errors only.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let device = arguments.device.resolve();
    let name = device.open()?.name();
    if let Some(path) = &arguments.json {
        output::check_file(path)?;
    }
    let progress = Progress::new(arguments.quiet);
    let found = check_all(device, &progress)?;
    progress.finish();
    if let Some(path) = &arguments.json {
        output::write_file(path, |file| file.write_all(report(&name, &found.checks).as_bytes()))?;
    }
    if !arguments.quiet {
        let mut text = table(&found.checks);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", conclusion(&found, &name, start.elapsed().as_secs_f64()));
        print::text(&text)?;
    }
    Ok(verdict(&found.checks)?)
}

struct Report {
    checks: Vec<Check>,
    /// Problems that were left out as too large for the emulator.
    skipped: usize,
}

fn check_all(device: DeviceName, progress: &Progress) -> Result<Report> {
    let mut found = Report { checks: Vec::new(), skipped: 0 };
    for (i, (group, problems)) in GROUPS.into_iter().enumerate() {
        let problems = problems()?;
        let n = problems.len();
        for (k, problem) in problems.iter().enumerate() {
            progress.share(group, (i as f64 + k as f64 / n as f64) / GROUPS.len() as f64, &problem.name);
            if device == DeviceName::Emulate && !problem.is_small() {
                found.skipped += 1;
                continue;
            }
            found.checks.extend(problem.check(device, &Silent)?);
        }
    }
    Ok(found)
}

fn off(checks: &[Check]) -> usize {
    checks.iter().filter(|check| !check.passed()).count()
}

fn verdict(checks: &[Check]) -> Result<(), Failure> {
    match off(checks) {
        0 => Ok(()),
        off => Err(Failure::Unverified { off, of: checks.len() }),
    }
}

fn conclusion(found: &Report, device: &str, took: f64) -> String {
    let (n, off) = (found.checks.len(), off(&found.checks));
    let good = format!("{} of {n} values are within their tolerances", n - off);
    let good = toned(if off == 0 { Tone::Good } else { Tone::Bad }, &good);
    let skipped = match found.skipped {
        0 => String::new(),
        n => format!("; {n} problems left out, which take long on an emulator"),
    };
    format!("{good}, {} on {device}{skipped}", seconds(took))
}

fn table(checks: &[Check]) -> String {
    let heads = ["problem", "quantity", "computed", "expected", "error", "allowed", "", "source"];
    let rows = checks.iter().map(|check| {
        let state = if check.passed() { "ok" } else { "OFF" };
        vec![
            check.problem.clone(),
            check.quantity.into(),
            number(check.computed),
            number(check.published),
            percent(check.error()),
            percent(check.tolerance),
            state.into(),
            check.source.into(),
        ]
    });
    let paint = |cell: &str, padded: String| match cell {
        "ok" => toned(Tone::Good, &padded),
        "OFF" => toned(Tone::Bad, &padded),
        _ => padded,
    };
    table::aligned(&heads, &rows.collect::<Vec<_>>(), |column| !(2..=5).contains(&column), paint)
}

fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if (1e-2..1e5).contains(&size) => {
            let decimals = 5 - size.log10().floor() as i32;
            format!("{x:.*}", decimals.max(0) as usize)
        }
        _ => format!("{x:.5e}"),
    }
}

/// An error in hundredths, with an exponent where it is tiny.
fn percent(x: f64) -> String {
    let percent = 100.0 * x;
    if percent == 0.0 || percent >= 1e-3 { format!("{percent:.3} %") } else { format!("{percent:.0e} %") }
}

/// The table for programs.
fn report(device: &str, checks: &[Check]) -> String {
    let row = |check: &Check| {
        let mut row = json!(check);
        (row["error"], row["passed"]) = (check.error().into(), check.passed().into());
        row
    };
    let rows: Vec<_> = checks.iter().map(row).collect();
    format!("{:#}\n", json!({ "device": device, "off": off(checks), "checks": rows }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(computed: f64) -> Check {
        let (problem, quantity, source) = ("ruler".to_owned(), "length", "a book");
        Check { problem, quantity, computed, published: 2.0, tolerance: 0.01, source }
    }

    #[test]
    fn one_value_that_is_off_is_an_error_that_is_no_bug_report() {
        assert!(verdict(&[check(2.0), check(2.01)]).is_ok());
        let error = verdict(&[check(2.0), check(2.03), check(f64::NAN)]).unwrap_err();
        assert!(error.to_string().contains("2 of 3 values are wrong"), "{error}");
        assert_eq!(super::super::failure::exit_code(&error.into()), 5);
    }

    #[test]
    fn a_table_lines_up_and_marks_what_is_off() {
        let text = table(&[check(2.0), check(2.03)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("0.000 %") && lines[1].contains(" ok "), "{text}");
        assert!(lines[2].contains("1.500 %") && lines[2].contains(" OFF "), "{text}");
        let at = |line: &str| line.find("a book").or(line.find("source"));
        assert!(lines.iter().all(|line| at(line) == at(lines[0])), "{text}");
    }

    #[test]
    fn numbers_have_six_digits() {
        let numbers =
            [(92.7, "92.7000"), (-5.38, "-5.38000"), (0.0123456, "0.0123456"), (3e-5, "3.00000e-5"), (0.0, "0")];
        for (x, text) in numbers {
            assert_eq!(number(x), text);
        }
        assert_eq!((percent(0.015).as_str(), percent(1e-9).as_str()), ("1.500 %", "1e-7 %"));
    }
}
