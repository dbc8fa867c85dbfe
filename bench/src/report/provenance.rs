//! Which runs the figures of a file are from, and which of them a section needs.
//!
//! Entries say which run they are of. What a section makes of them goes through sums, medians and choices of the best,
//! so that it cannot say itself; but it is a function of the file, and so is what it makes of the file without a run.
//! Where the two differ, the section is from that run.

use super::derived::add_derived;
use super::run::Run;
use serde::Deserialize;
use serde_json::Value;

/// A run: what was measured at one time on one machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Session {
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Version of the NVIDIA driver, or `none`.
    pub driver: Option<String>,
    /// Those of the machine, or of a GPU's host.
    pub processors: Option<usize>,
    pub commands: Vec<String>,
    pub note: Option<String>,
}

/// The lists of a file whose entries are of runs.
const LISTS: [&str; 16] = [
    "spmv",
    "cg",
    "assembly",
    "precond",
    "amg",
    "femses",
    "solve",
    "whole",
    "cusparse",
    "peer_assembly",
    "host_cg",
    "programs",
    "counters",
    "registers",
    "trials",
    "peer",
];

/// Those of them that functions read.
macro_rules! lists {
    ($visit:ident) => {
        $visit!(spmv, cg, assembly, precond, femses, solve, cusparse, programs, trials)
    };
}

impl Run {
    /// For each list the runs that its entries are of, as far as they say.
    pub fn origins(&self) -> Vec<(&'static str, Vec<Option<usize>>)> {
        let run = |one: &Value| one["run"].as_u64().map(|run| run as usize);
        let of = |list: &'static str| match &self.json[list] {
            Value::Array(entries) => entries.iter().map(run).collect(),
            Value::Object(peers) => {
                peers.values().filter_map(Value::as_object).flat_map(|of| of.values()).map(run).collect()
            }
            _ => Vec::new(),
        };
        LISTS.map(|list| (list, of(list))).to_vec()
    }

    /// The file without the entries of a run.
    fn without(&self, run: usize) -> Run {
        let mut rest = self.clone();
        macro_rules! retain {
            ($($list:ident),*) => {{ $(rest.$list.retain(|one| one.run != Some(run));)* }};
        }
        lists!(retain);
        rest.peer.values_mut().for_each(|figures| figures.retain(|_, one| one.run != Some(run)));
        for found in rest.json.as_object_mut().into_iter().flat_map(|lists| lists.values_mut()) {
            match found {
                Value::Array(entries) => entries.retain(|one| one["run"] != run),
                Value::Object(peers) => {
                    peers
                        .values_mut()
                        .filter_map(Value::as_object_mut)
                        .for_each(|of| of.retain(|_, one| one["run"] != run));
                }
                _ => {}
            }
        }
        add_derived(&mut rest.json);
        rest
    }

    /// The runs, ascending, that something made of the figures is from: those without which it is another.
    pub fn behind<T: PartialEq>(&self, make: impl Fn(&Run) -> T) -> Vec<usize> {
        let whole = make(self);
        let rests = self.rests.get_or_init(|| (0..self.runs.len()).map(|run| self.without(run)).collect());
        (0..rests.len()).filter(|&run| make(&rests[run]) != whole).collect()
    }

    /// The days of some runs, each once, in order.
    pub fn dates(&self, runs: &[usize]) -> Vec<String> {
        let mut dates: Vec<String> = runs.iter().map(|&run| self.runs[run].date.clone()).collect();
        dates.sort_unstable();
        dates.dedup();
        dates
    }

    /// The day of its newest run; nothing of a file without runs.
    pub fn newest(&self) -> Option<&str> {
        self.runs.iter().map(|session| session.date.as_str()).max()
    }

    /// A run of it as an item of a list: when and how it was measured, and what.
    pub fn item(&self, run: usize) -> String {
        let Session { date, driver, processors, commands, note } = &self.runs[run];
        let driver = driver.as_ref().map(|driver| format!(", driver {driver}")).unwrap_or_default();
        let processors = processors.map(|count| format!(", {count} processors")).unwrap_or_default();
        let origins = self.origins();
        let lists: Vec<String> =
            origins.iter().filter(|(_, runs)| runs.contains(&Some(run))).map(|(list, _)| format!("`{list}`")).collect();
        let note = note.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
        let unsaid = if commands.is_empty() { " The command was not noted." } else { "" };
        let commands: String = commands.iter().map(|command| format!("    - `{command}`\n")).collect();
        format!("  - run {run}, {date}{driver}{processors}: {}.{note}{unsaid}\n{commands}", listed(&lists))
    }
}

/// `run 3`, or `runs 3 to 5 and 8`, of ascending numbers.
pub fn numbered(runs: &[usize]) -> String {
    let mut spans: Vec<[usize; 2]> = Vec::new();
    for &run in runs {
        match spans.last_mut() {
            Some([_, last]) if *last + 1 == run => *last = run,
            _ => spans.push([run, run]),
        }
    }
    let words = spans.iter().flat_map(|&[first, last]| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first} to {last}")],
    });
    format!("run{} {}", if runs.len() == 1 { "" } else { "s" }, listed(&words.collect::<Vec<_>>()))
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
    use serde_json::{Value, json};

    /// Potentials of three runs, and the fused CG's figures of two of them.
    fn file() -> Value {
        let session = |date: &str| json!({ "date": date, "commands": [] });
        let entry = |run: usize, sides: u32| {
            json!({ "run": run, "device": "GPU", "precision": "f64", "tolerance": 1e-6, "sides": sides,
                "rows": [] })
        };
        let peers = json!({ "f64": { "run": 2, "iteration_ms": 1.0 }, "f32": { "run": 0, "iteration_ms": 2.0 } });
        json!({ "device": "GPU", "runs": [session("2026-01-03"), session("2026-01-01"), session("2026-01-02")],
            "femses": [entry(0, 1), entry(1, 2), entry(1, 3), entry(2, 4)],
            "peer": { "tet4 cube 9": peers } })
    }

    fn read(file: &Value) -> Run {
        Run::parse("x.json", &file.to_string()).unwrap()
    }

    #[test]
    fn a_number_is_from_the_runs_that_change_it() {
        let run = read(&file());
        let most = |run: &Run| run.femses.iter().map(|one| one.sides).max();
        let even = |run: &Run| run.femses.iter().filter(|one| one.sides % 2 == 0).count();
        let peers = |run: &Run| run.json["peer"]["tet4 cube 9"].as_object().map_or(0, |peers| peers.len());
        assert_eq!((run.behind(most), run.behind(even), run.behind(peers)), (vec![2], vec![1, 2], vec![0, 2]));
        assert_eq!(run.behind(|_| 0), Vec::<usize>::new());
        assert_eq!(run.dates(&[0, 2, 1, 2]), ["2026-01-01", "2026-01-02", "2026-01-03"]);
        assert_eq!(run.newest(), Some("2026-01-03"));
    }

    #[test]
    fn a_run_says_what_it_measured() {
        let mut file = file();
        assert_eq!(read(&file).item(1), "  - run 1, 2026-01-01: `femses`. The command was not noted.\n");
        file["runs"][2] = json!({ "date": "2026-01-02", "driver": "1.2", "processors": 16, "commands": ["a", "b"],
            "note": "Warm." });
        let wanted =
            "  - run 2, 2026-01-02, driver 1.2, 16 processors: `femses` and `peer`. Warm.\n    - `a`\n    - `b`\n";
        assert_eq!(read(&file).item(2), wanted);
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
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks")).unwrap();
        let paths =
            folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
        let files: Vec<Run> = paths.map(|path| Run::read(&path).unwrap()).collect();
        assert!(files.len() > 1);
        for run in files {
            let of: Vec<Option<usize>> = run.origins().into_iter().flat_map(|(_, runs)| runs).collect();
            assert!(of.iter().all(Option::is_some), "{}", run.name);
            assert!((0..run.runs.len()).all(|one| of.contains(&Some(one))), "{}", run.name);
        }
    }

    #[test]
    fn runs_are_named_in_few_words() {
        assert_eq!((numbered(&[3]), numbered(&[3, 4])), ("run 3".into(), "runs 3 and 4".into()));
        assert_eq!(numbered(&[0, 3, 4, 5, 8, 9, 12]), "runs 0, 3 to 5, 8, 9 and 12");
    }
}
