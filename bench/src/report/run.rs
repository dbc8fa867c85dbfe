//! What a report is made from: the JSON of one machine, as `docs/benchmarks/collect.py` gathers it and `warpfem-bench report
//! --measure` writes it, or that of a single `warpfem-bench`.
//!
//! Figures keep the names and units of the reports of `warpfem-bench`, which say what they are. What an older file
//! lacks is left empty. A row without figures is of what could not be measured. `run` in an entry is the place of its
//! run in `runs`.

use super::derived::add_derived;
use super::provenance::Session;
use crate::header::Header;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

/// All figures of one kind of machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The file's name.
    #[serde(skip)]
    pub name: String,
    /// All of it, with what [`add_derived`] adds.
    #[serde(skip)]
    pub json: Value,
    pub device: String,
    pub runs: Vec<Session>,
    /// The file without each of its runs, once it was asked for.
    #[serde(skip)]
    pub(super) rests: OnceCell<Vec<Run>>,
    pub spmv: Vec<Spmv>,
    pub cg: Vec<Cg>,
    pub assembly: Vec<Assembly>,
    pub precond: Vec<Precond>,
    pub femses: Vec<Femses>,
    pub solve: Vec<Solve>,
    pub cusparse: Vec<Library>,
    /// The fused CG's figures by problem and precision.
    pub peer: BTreeMap<String, BTreeMap<String, Peer>>,
    pub programs: Vec<Programs>,
    pub trials: Vec<Trial>,
}

/// `warpfem-bench spmv`.
#[derive(Debug, Clone, Deserialize)]
pub struct Spmv {
    pub run: Option<usize>,
    #[serde(flatten)]
    pub head: Header,
    pub ordering: String,
    pub degree_window: usize,
    pub setup_s: f64,
    pub rows: Vec<Row<Product>>,
}

/// A row: what was measured of a format or a strategy, or why it was not.
#[derive(Debug, Clone, Deserialize)]
pub struct Row<F> {
    #[serde(alias = "strategy")]
    pub format: String,
    pub needed_bytes: Option<u64>,
    #[serde(flatten)]
    pub figures: Option<F>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Product {
    pub padding: f64,
    pub spmv_ms: f64,
    pub own_bytes: f64,
    pub of_copy: f64,
    pub gflops: f64,
}

/// `warpfem-bench cg`.
#[derive(Debug, Clone, Deserialize)]
pub struct Cg {
    pub run: Option<usize>,
    #[serde(flatten)]
    pub head: Header,
    pub tolerance: f64,
    pub max_iterations: Option<usize>,
    /// Files of the first runs lack it: it was `auto`.
    #[serde(default = "auto")]
    pub stepping: String,
    pub iteration_bytes: f64,
    pub rows: Vec<Row<Iterations>>,
}

fn auto() -> String {
    "auto".into()
}

#[derive(Debug, Clone, Deserialize)]
pub struct Iterations {
    pub iterations: usize,
    pub converged: bool,
    pub setup_s: f64,
    pub assembly_s: f64,
    pub solve_ms: f64,
    pub iteration_ms: f64,
    pub iterations_per_s: f64,
    pub of_copy: f64,
}

/// `warpfem-bench assembly`.
#[derive(Debug, Clone, Deserialize)]
pub struct Assembly {
    pub run: Option<usize>,
    #[serde(flatten)]
    pub head: Header,
    pub format: String,
    pub flops: f64,
    pub min_bytes: f64,
    pub rows: Vec<Row<Assembled>>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Assembled {
    pub colors: usize,
    pub largest_color: usize,
    pub prepare_s: f64,
    pub assembly_ms: f64,
}

/// `warpfem-bench precond`.
#[derive(Debug, Clone, Deserialize)]
pub struct Precond {
    pub run: Option<usize>,
    #[serde(flatten)]
    pub head: Header,
    pub format: String,
    pub tolerance: f64,
    pub rows: Vec<Preconditioned>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Preconditioned {
    pub preconditioner: String,
    pub order: Option<u32>,
    pub mixed: bool,
    pub storage: String,
    pub iterations: usize,
    pub spmvs: usize,
    pub converged: bool,
    pub setup_ms: f64,
    pub solve_ms: f64,
    pub spmv_ms: f64,
    pub history: Vec<f64>,
    /// Iterations from one entry of the history to the next.
    #[serde(default = "one")]
    pub history_step: usize,
}

fn one() -> usize {
    1
}

/// `warpfem-bench femses`.
#[derive(Debug, Clone, Deserialize)]
pub struct Femses {
    pub run: Option<usize>,
    pub device: String,
    pub precision: String,
    pub tolerance: f64,
    pub sides: u32,
    pub rows: Vec<Method>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Method {
    pub method: String,
    pub block: Option<u32>,
    /// Nodes along an edge.
    pub nodes: usize,
    pub unknowns: usize,
    #[serde(flatten)]
    pub figures: Option<Phases>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Phases {
    pub transfer_ms: f64,
    pub setup_ms: f64,
    pub allocate_ms: f64,
    pub assembly_ms: f64,
    pub solve_ms: f64,
    pub total_ms: f64,
    pub iterations: usize,
    pub converged: bool,
    pub relative_residual: f64,
    pub error: Option<f64>,
}

/// `summary.json` of a solved case.
#[derive(Debug, Clone, Deserialize)]
pub struct Solve {
    pub run: Option<usize>,
    pub case: String,
    pub elements: usize,
    pub dofs: usize,
    pub device: String,
    pub solver: Solver,
    pub timings_s: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Solver {
    pub iterations: usize,
}

/// cuSPARSE and others on one matrix, by `cusparse.py`.
#[derive(Debug, Clone, Deserialize)]
pub struct Library {
    pub run: Option<usize>,
    pub problem: String,
    pub block_size: usize,
    pub ordering: String,
    pub rows: Vec<Variant>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Variant {
    pub variant: String,
    pub precision: String,
    pub ms: Option<f64>,
}

/// The fused CG.
#[derive(Debug, Clone, Deserialize)]
pub struct Peer {
    pub run: Option<usize>,
    pub iteration_ms: f64,
}

/// Whole solutions by several programs, by `peers.py`.
#[derive(Debug, Clone, Deserialize)]
pub struct Programs {
    pub run: Option<usize>,
    pub problem: String,
    pub device: String,
    pub dofs: usize,
    pub programs: Vec<Program>,
}

/// A program's whole solution.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    pub program: String,
    pub seconds: f64,
    pub peak_mib: f64,
}

/// Products that were tried beside EBW's.
#[derive(Debug, Clone, Deserialize)]
pub struct Trial {
    pub run: Option<usize>,
    pub element: String,
    pub cells: usize,
    pub rows: Vec<Tried>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Tried {
    pub product: String,
    pub threads: usize,
    pub precision: String,
    pub ms: f64,
    pub own_bytes: f64,
}

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
        let run: Run = serde_json::from_value(json.clone()).map_err(|error| error.to_string())?;
        add_derived(&mut json);
        let run = Run { name: name.into(), json, ..run };
        for (list, runs) in run.origins() {
            if let Some(none) = runs.into_iter().flatten().find(|place| *place >= run.runs.len()) {
                return Err(format!("an entry of `{list}` is of run {none}, which `runs` does not have"));
            }
        }
        Ok(run)
    }

    /// Whether it is of a GPU.
    pub fn is_gpu(&self) -> bool {
        is_gpu(&self.device)
    }

    /// The file's name without extension: what its plots begin with.
    pub fn stem(&self) -> &str {
        self.name.strip_suffix(".json").unwrap_or(&self.name)
    }
}

/// The list that a single report belongs to.
pub fn kind(report: &Map<String, Value>) -> Option<&'static str> {
    // An assembly has least bytes too.
    let has = |key: &str| report.contains_key(key);
    let found = KINDS.iter().find(|(key, list)| has(key) && !(*list == "spmv" && has("write_floor_ms")))?;
    (found.1 != "precond" || has("rows") && has("format")).then_some(found.1)
}

/// A machine's file as it is, also an older one, without `runs`; a single report in one.
fn collected(value: Value) -> Result<Value, String> {
    let Value::Object(report) = value else { return Err("no report: not an object".into()) };
    if report.contains_key("runs") || report.contains_key("commands") {
        return Ok(Value::Object(report));
    }
    let list = kind(&report).ok_or("neither the figures of a machine nor a report of `warpfem-bench`")?;
    let device = report["device"].clone();
    Ok(serde_json::json!({ "device": device, list: [Value::Object(report)] }))
}

/// The threads of a processor, by its name.
pub fn threads(device: &str) -> Option<usize> {
    device.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// Whether a device is a GPU.
pub fn is_gpu(device: &str) -> bool {
    !device.starts_with("cpu") && !device.starts_with("emulat")
}
