//! What a report is made from: the JSON of one machine, as `docs/benchmarks/collect.py` gathers it and `warpfem-bench report
//! --measure` writes it, or that of a single `warpfem-bench`.
//!
//! Figures keep the names and units of the reports of `warpfem-bench`, which say what they are. A row without figures is
//! of what could not be measured. `run` in an entry is the place of its run in `runs`.

use super::derived::{add_derived, items};
use super::names::is_gpu;
use serde_json::{Map, Value};
use std::path::Path;

/// All figures of one kind of machine.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The file's name.
    pub name: String,
    /// All of it, with what [`add_derived`] adds.
    pub json: Value,
    pub device: String,
    /// When each of its runs was, `YYYY-MM-DD`: a run is what was measured at one time on one machine.
    pub days: Vec<String>,
    /// The file without each of its runs.
    pub rests: Vec<Value>,
}

/// The lists of a file whose entries are of runs.
pub const LISTS: [&str; 16] = [
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

/// What a single report of `warpfem-bench` or `warpfem solve` has and no other does, and the list it belongs to.
const KINDS: [(&str, &str); 8] = [
    ("min_bytes", "spmv"),
    ("iteration_bytes", "cg"),
    ("write_floor_ms", "assembly"),
    ("sides", "femses"),
    ("timings_s", "solve"),
    ("max_iterations", "precond"),
    ("solutions", "amg"),
    ("again", "whole"),
];

impl Run {
    /// Reads a file: a machine's, or a single report, which becomes a run of its own.
    ///
    /// # Errors
    ///
    /// Which file cannot be read or is no such JSON, and why.
    pub fn read(path: &Path) -> Result<Run, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Run::parse(&name, &text).map_err(wrong)
    }

    /// The same of a file's name and text; the error says why not.
    pub fn parse(name: &str, text: &str) -> Result<Run, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut json = collected(value)?;
        let runs = items(&json["runs"]);
        let days: Vec<String> = runs.iter().map(|run| run["date"].as_str().unwrap_or_default().into()).collect();
        for list in LISTS {
            if entries(&json, list).iter().any(|entry| !entry.is_object()) {
                return Err(format!("an entry of `{list}` is not an object"));
            }
            if let Some(none) = origins(&json, list).into_iter().flatten().find(|place| *place >= days.len()) {
                return Err(format!("an entry of `{list}` is of run {none}, which `runs` does not have"));
            }
        }
        json["stem"] = name.strip_suffix(".json").unwrap_or(name).into();
        let rests = (0..days.len()).map(|run| without(&json, run)).collect();
        add_derived(&mut json);
        let device = json["device"].as_str().unwrap_or_default().into();
        Ok(Run { name: name.into(), device, json, days, rests })
    }

    /// Whether it is of a GPU.
    pub fn is_gpu(&self) -> bool {
        is_gpu(&self.device)
    }

    /// The lists with entries of a run.
    pub fn measured(&self, run: usize) -> Vec<String> {
        let has = |list: &&str| origins(&self.json, list).contains(&Some(run));
        LISTS.into_iter().filter(has).map(|list| format!("`{list}`")).collect()
    }
}

/// The entries of a list; those of the fused CG are by problem and precision.
fn entries<'a>(file: &'a Value, list: &str) -> Vec<&'a Value> {
    match &file[list] {
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(peers) => peers.values().filter_map(Value::as_object).flat_map(Map::values).collect(),
        _ => Vec::new(),
    }
}

/// The runs that the entries of a list are of, as far as they say.
pub fn origins(file: &Value, list: &str) -> Vec<Option<usize>> {
    entries(file, list).into_iter().map(|one| one["run"].as_u64().map(|run| run as usize)).collect()
}

/// A file without the entries of a run.
fn without(file: &Value, run: usize) -> Value {
    let mut rest = file.clone();
    for list in LISTS {
        match &mut rest[list] {
            Value::Array(entries) => entries.retain(|one| one["run"] != run),
            Value::Object(peers) => {
                let peers = peers.values_mut().filter_map(Value::as_object_mut);
                peers.for_each(|of| of.retain(|_, one| one["run"] != run));
            }
            _ => {}
        }
    }
    add_derived(&mut rest);
    rest
}

/// The list that a single report belongs to.
pub fn kind(report: &Map<String, Value>) -> Option<&'static str> {
    // An assembly has least bytes too.
    let has = |key: &str| report.contains_key(key);
    let found = KINDS.iter().find(|(key, list)| has(key) && !(*list == "spmv" && has("write_floor_ms")))?;
    (found.1 != "precond" || has("rows") && has("format")).then_some(found.1)
}

/// A machine's file as it is, also one without `runs`; a single report in one.
fn collected(value: Value) -> Result<Value, String> {
    let Value::Object(report) = value else { return Err("no report: not an object".into()) };
    if report.contains_key("runs") || report.contains_key("commands") {
        return Ok(Value::Object(report));
    }
    let list = kind(&report).ok_or("neither the figures of a machine nor a report of `warpfem-bench`")?;
    let device = report["device"].clone();
    Ok(serde_json::json!({ "device": device, list: [Value::Object(report)] }))
}
