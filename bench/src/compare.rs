//! `warpfem-bench compare`: what has become slower from one file of figures to another.
//!
//! Times of different machines, or of one machine on different days, do not compare. What does is a time in the time of
//! a copy: `t B`, where B is the copy bandwidth of the same run, is the bytes that a copy would have moved meanwhile.
//! All kernels here are near the bandwidth of the memory, so that on a machine twice as fast t is half and `t B` the
//! same.

use crate::report::derived::items;
use crate::report::names::is_gpu;
use crate::report::run::Run;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use warpfem::cli::{Reported, print, table, usage};

/// The exit code where something has become slower: a verification that is off.
const SLOWER: u8 = 5;

/// Two files and what is still the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Both may be what docs/benchmarks/collect.py gathers or `warpfem-bench report --measure` writes, or a single report of \
this program. Compared are times multiplied by the copy bandwidth of the same run, so that the files may be of different \
machines: those of a product, an iteration, an assembly, and a preconditioned solution. Ends with 5 if one has \
become slower by more than the margin.

Example: warpfem-bench compare old.json new.json --margin 0.05")]
pub struct Arguments {
    /// Figures to compare with.
    old: PathBuf,
    /// Figures to compare.
    new: PathBuf,
    /// Share by which something may be slower.
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = margin, allow_negative_numbers = true)]
    margin: f64,
}

fn margin(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share: &f64| *share >= 0.0 && share.is_finite())
        .ok_or_else(|| "expected a number of at least 0".into())
}

/// Gigabytes that a copy would have moved in the time of each measurement, by what was measured.
type Times = BTreeMap<String, f64>;

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let read = |path: &Path| Run::read(path).map_err(usage);
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let (text, slower) = compared(&times(&old), &times(&new), arguments.margin);
    let left_out: Vec<String> = [(&arguments.old, &old), (&arguments.new, &new)]
        .into_iter()
        .filter_map(|(path, run)| {
            let named: Vec<&str> =
                ["femses", "solve"].into_iter().filter(|list| !items(&run.json[*list]).is_empty()).collect();
            (!named.is_empty()).then(|| {
                format!("{}: not compared, as it is without a copy bandwidth: {}\n", path.display(), named.join(", "))
            })
        })
        .collect();
    print::text(&format!("{text}{}", left_out.concat()))?;
    if slower > 0 { Err(Reported(SLOWER).into()) } else { Ok(()) }
}

/// What was measured by a row of a list, and in how many milliseconds; nothing for what was not.
fn measured(list: &str, one: &Value, row: &Value) -> Option<(String, f64)> {
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = |key: &str| said(if row[key].is_null() { &one[key] } else { &row[key] });
    let ms = |key: &str| row[key].as_f64();
    let optional = |value: &Value, before: &str, after: &str| match value {
        Value::Null => String::new(),
        value => format!("{before}{value}{after}"),
    };
    Some(match list {
        "spmv" => {
            let order = format!("{}, window {}", text("ordering"), text("degree_window"));
            (format!("{}, blocks of {}, {order}", text("format"), text("block_size")), ms("spmv_ms")?)
        }
        "cg" => {
            // Files of the first runs lack it: it was `auto`.
            let stepping = one["stepping"].as_str().unwrap_or("auto");
            let limit = optional(&one["max_iterations"], ", ", " iterations");
            (format!("{}, {stepping}{limit}", text("format")), ms("iteration_ms")?)
        }
        "assembly" => (format!("{} into {}", text("strategy"), said(&one["format"])), ms("assembly_ms")?),
        _ => {
            let order = optional(&row["order"], " ", "");
            let tolerance = one["tolerance"].as_f64()?;
            let how = format!("{} in {} to {tolerance:.0e}", text("storage"), text("format"));
            (format!("{}{order} with {how}", text("preconditioner")), ms("setup_ms")? + ms("solve_ms")?)
        }
    })
}

/// Every time of a run over that of a copy; of one measured more than once the least.
fn times(run: &Run) -> Times {
    let mut found = Times::new();
    for list in ["spmv", "cg", "assembly", "precond"] {
        for one in items(&run.json[list]) {
            let [problem, precision, device] =
                ["problem", "precision", "device"].map(|key| one[key].as_str().unwrap_or_default());
            // A GPU is a GPU, so that machines compare; processors differ by their threads.
            let device = if is_gpu(device) { "gpu" } else { device };
            let Some(copy) = one["copy_gb_per_s"].as_f64() else { continue };
            for (what, ms) in items(&one["rows"]).iter().filter_map(|row| measured(list, one, row)) {
                let key = format!("{list} {problem}, {precision}, {device}: {what}");
                let copied = ms * copy / 1e3;
                found.entry(key).and_modify(|least| *least = least.min(copied)).or_insert(copied);
            }
        }
    }
    found
}

/// What to print, and how many have become slower by more than the margin.
fn compared(old: &Times, new: &Times, margin: f64) -> (String, usize) {
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    let mut counts = [0usize; 3];
    for (what, time) in new {
        let Some(before) = old.get(what) else { continue };
        let ratio = time / before;
        let verdict = match () {
            () if ratio > 1.0 + margin => 0,
            () if ratio < 1.0 / (1.0 + margin) => 1,
            () => 2,
        };
        counts[verdict] += 1;
        let words = ["SLOWER", "faster", ""][verdict];
        rows.push((
            ratio,
            vec![what.clone(), format!("{before:.4}"), format!("{time:.4}"), format!("{ratio:.3}"), words.into()],
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| row.1).collect();
    let mut out = if rows.is_empty() {
        "nothing in common\n".into()
    } else {
        table::text(&["GB that a copy moves meanwhile", "old", "new", "new / old", ""], &rows)
    };
    for (words, here, there) in [("only in the old file", old, new), ("only in the new file", new, old)] {
        for what in here.keys().filter(|what| !there.contains_key(*what)) {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{words}: {what}");
        }
    }
    let _ = writeln!(
        out,
        "{} compared: {} slower by more than {:.0} %, {} faster by as much",
        rows.len(),
        counts[0],
        100.0 * margin,
        counts[1]
    );
    (out, counts[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of products as `warpfem-bench spmv` writes it.
    fn spmv(problem: &str, copy: f64, ms: f64) -> Run {
        let text = format!(
            r#"{{"device": "GPU", "problem": "{problem}", "nodes": 8, "elements": 1, "block_size": 3, "dofs": 24,
            "blocks": 64,
            "precision": "f64", "copy_gb_per_s": {copy}, "ordering": "mesh", "degree_window": 1, "setup_s": 0.1,
            "min_bytes": 1000,
            "rows": [{{"format": "dense", "needed_bytes": 7}}, {{"format": "ebw", "stored_bytes": 1, "padding": 1,
            "spmv_ms": {ms},
            "own_bytes": 1, "own_of_copy": 1, "gb_per_s": 1, "of_copy": 1, "gflops": 1}}]}}"#
        );
        Run::parse("one.json", &text).unwrap()
    }

    fn slower(old: &Run, new: &Run) -> usize {
        compared(&times(old), &times(new), 0.1).1
    }

    #[test]
    fn times_are_in_times_of_a_copy() {
        let old = spmv("tet4 cube 4", 1000.0, 1.0);
        assert_eq!(slower(&old, &spmv("tet4 cube 4", 1000.0, 1.09)), 0);
        assert_eq!(slower(&old, &spmv("tet4 cube 4", 1000.0, 1.12)), 1);
        // A machine with twice the bandwidth takes half the time.
        assert_eq!(slower(&old, &spmv("tet4 cube 4", 2000.0, 0.5)), 0);
        assert_eq!(slower(&old, &spmv("tet4 cube 4", 2000.0, 0.9)), 1);
    }

    #[test]
    fn what_has_no_counterpart_is_named() {
        let (text, slower) = compared(&times(&spmv("a", 1.0, 1.0)), &times(&spmv("b", 1.0, 9.0)), 0.1);
        assert_eq!(slower, 0);
        for wanted in [
            "nothing in common",
            "only in the old file: spmv a, f64, gpu: ebw",
            "only in the new file: spmv b, f64, gpu: ebw",
            "0 compared",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn the_least_time_of_several_counts() {
        let mut run = spmv("a", 1000.0, 2.0);
        let faster = spmv("a", 1000.0, 1.0).json["spmv"][0].clone();
        run.json["spmv"].as_array_mut().unwrap().push(faster);
        assert_eq!(times(&run).values().copied().collect::<Vec<_>>(), [1.0]);
    }
}
