//! Which runs the figures of a section are from, and when they were.
//!
//! Entries say which run they are of. What a section makes of them goes through sums, medians and choices of the best,
//! so that it cannot say itself; but it is a function of the file, and so is what it makes of the file without a run.
//! Where the two differ, the section is from that run.

use super::run::Run;
use serde_json::Value;

impl Run {
    /// The runs, ascending, that something made of the figures is from: those without which it is another.
    pub fn behind<T: PartialEq>(&self, make: impl Fn(&Value) -> T) -> Vec<usize> {
        let whole = make(&self.json);
        (0..self.rests.len()).filter(|&run| make(&self.rests[run]) != whole).collect()
    }

    /// The days of some runs, each once, in order.
    pub fn dates(&self, runs: &[usize]) -> Vec<String> {
        let mut dates: Vec<String> = runs.iter().map(|&run| self.days[run].clone()).collect();
        dates.sort_unstable();
        dates.dedup();
        dates
    }

    /// The days and the runs in words: `2026-01-02, runs 3 and 4`; nothing of a file without runs.
    pub fn origin(&self, runs: &[usize]) -> String {
        if runs.is_empty() { String::new() } else { format!(", {}, {}", listed(&self.dates(runs)), numbered(runs)) }
    }
}

/// `run 3`, or `runs 3, 4 and 8`.
fn numbered(runs: &[usize]) -> String {
    let words: Vec<String> = runs.iter().map(usize::to_string).collect();
    format!("run{} {}", if runs.len() == 1 { "" } else { "s" }, listed(&words))
}

/// `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::run::{LISTS, origins};
    use serde_json::json;

    /// Potentials of three runs, and the fused CG's figures of two of them.
    fn file() -> Value {
        let session = |date: &str| json!({ "date": date });
        let entry = |run: usize, sides: u32| json!({ "run": run, "device": "GPU", "sides": sides, "rows": [] });
        let peers = json!({ "f64": { "run": 2, "iteration_ms": 1.0 }, "f32": { "run": 0, "iteration_ms": 2.0 } });
        json!({ "device": "GPU", "runs": [session("2026-01-03"), session("2026-01-01"), session("2026-01-02")],
            "femses": [entry(0, 1), entry(1, 2), entry(1, 3), entry(2, 4)],
            "peer": { "tet4 cube 9": peers } })
    }

    #[test]
    fn a_number_is_from_the_runs_that_change_it() {
        let run = Run::parse("x.json", &file().to_string()).unwrap();
        let sides = |file: &Value| {
            file["femses"].as_array().unwrap().iter().map(|one| one["sides"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let most = |file: &Value| sides(file).into_iter().max();
        let even = |file: &Value| sides(file).iter().filter(|sides| *sides % 2 == 0).count();
        let peers = |file: &Value| file["peer"]["tet4 cube 9"].as_object().map_or(0, |peers| peers.len());
        assert_eq!((run.behind(most), run.behind(even), run.behind(peers)), (vec![2], vec![1, 2], vec![0, 2]));
        assert_eq!(run.behind(|_| 0), Vec::<usize>::new());
        assert_eq!(run.origin(&[0, 2]), ", 2026-01-02 and 2026-01-03, runs 0 and 2");
        assert_eq!(run.origin(&[1]), ", 2026-01-01, run 1");
        assert_eq!(run.measured(2), ["`femses`", "`peer`"]);
    }

    #[test]
    fn an_entry_is_of_a_run_that_is_there() {
        let mut file = file();
        file["peer"]["tet4 cube 9"]["f64"]["run"] = json!(3);
        let error = Run::parse("x.json", &file.to_string()).unwrap_err();
        assert_eq!(error, "an entry of `peer` is of run 3, which `runs` does not have");
    }

    #[test]
    fn every_figure_that_is_checked_in_is_of_a_run() {
        for run in crate::report::tests::checked_in() {
            let of: Vec<Option<usize>> = LISTS.iter().flat_map(|list| origins(&run.json, list)).collect();
            assert!(of.iter().all(Option::is_some), "{}", run.name);
            assert!((0..run.days.len()).all(|one| of.contains(&Some(one))), "{}", run.name);
        }
    }
}
