//! Measures this machine by the benches, in this process, and keeps their JSON as one file.

use super::Arguments;
use super::names::is_gpu;
use crate::problem::clamped;
use clap::Parser;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use warpfem::cli::{self, print};
use warpfem::device::DeviceName;
use warpfem::output;
use warpfem::result::choices::Format;
use warpfem_text::date;

/// Cells along the edges of the largest cube with a dense matrix on a processor: 0.8 GB.
const MOST_DENSE: usize = 14;

/// The sizes of what is measured.
struct Plan {
    device: String,
    is_gpu: bool,
    /// Cells along the edges of the largest cubes.
    cells: usize,
    /// Where reports go before they are gathered.
    folder: tempfile::TempDir,
    /// The reports by list.
    found: Map<String, Value>,
}

/// Measures, writes the file, and says where it is.
pub fn measure(arguments: &Arguments) -> anyhow::Result<PathBuf> {
    let device: DeviceName = arguments.device.parse().map_err(anyhow::Error::msg)?;
    let is_gpu = matches!(device.resolve(), DeviceName::Cuda(_));
    let usual = match (is_gpu, arguments.quick) {
        (true, false) => 100,
        (true, true) => 60,
        (false, false) => 40,
        (false, true) => 20,
    };
    let cells = arguments.cells.map_or(usual, |cells| cells as usize);
    let folder = tempfile::tempdir()?;
    let mut plan = Plan { device: arguments.device.clone(), is_gpu, cells, folder, found: Map::new() };
    std::fs::create_dir_all(&arguments.output)?;
    plan.products()?;
    plan.iterations()?;
    plan.assembly()?;
    plan.preconditioners()?;
    plan.femses()?;
    plan.solutions()?;
    let flag = if arguments.quick { "--quick" } else { "--measure" };
    plan.write(&arguments.output, &format!("warpfem-bench report {flag} --cells {cells} --device {}", arguments.device))
}

impl Plan {
    fn products(&mut self) -> anyhow::Result<()> {
        let n = self.cells;
        let formats =
            Format::names().into_iter().filter(|name| !name.starts_with("dense")).collect::<Vec<_>>().join(",");
        for (element, cells) in [("tet4", n), ("hex8", n), ("tri3", 4 * n), ("quad4", 4 * n)] {
            for precision in ["double", "single"] {
                let what = format!("spmv --element {element} --cells {cells} --precision {precision} --samples 9");
                self.bench(&format!("{what} --format {formats}"))?;
            }
        }
        Ok(())
    }

    /// To a tolerance, and DSM's comparison of formats, also on one thread of the processor.
    fn iterations(&mut self) -> anyhow::Result<()> {
        let n = self.cells;
        for element in ["tet4", "hex8"] {
            for cells in [n.div_ceil(4), n.div_ceil(2), 3 * n / 4, n] {
                self.bench(&format!("cg --element {element} --cells {cells} --samples 3"))?;
            }
        }
        // Nodes about as many as of DSM's cubes: 512, 2,197, 3,375, 12,167, 50,653.
        let mut series: Vec<usize> = [7, 12, 14, 22, 36].into_iter().filter(|cells| *cells < n).collect();
        series.push(n);
        let limit = if self.is_gpu { 200 } else { 20 };
        for cells in series {
            // A processor takes minutes for larger dense matrices; a GPU has no memory for them, and says so at once.
            let dense = if self.is_gpu || cells <= MOST_DENSE { "dense," } else { "" };
            for precision in ["double", "single"] {
                let what = format!("cg --cells {cells} --precision {precision} --samples 3 --max-iterations {limit}");
                self.bench(&format!("{what} --format {dense}csr,ell,ell_warp,ebw"))?;
            }
            if self.is_gpu && cells <= MOST_DENSE {
                let what = format!("cg --cells {cells} --samples 1 --max-iterations 20 --format dense,dense_block,ebw");
                self.on_one_thread(&what)?;
            }
        }
        Ok(())
    }

    /// WARP's cantilever, as wide as it is deep, and cubes.
    fn assembly(&mut self) -> anyhow::Result<()> {
        let n = self.cells;
        let wide = (2 * n / 5).max(1);
        for precision in ["double", "single"] {
            for m in [wide.div_ceil(2), wide] {
                let what = format!("assembly --element hex8 --cells {}x{m}x{m} --size 16x2x2 --samples 9", 8 * m);
                self.bench(&format!("{what} --precision {precision} --format csr"))?;
            }
            for (element, cells) in [("tet4", n), ("hex8", n), ("tet10", n.div_ceil(2)), ("hex20", n.div_ceil(2))] {
                self.bench(&format!(
                    "assembly --element {element} --cells {cells} --precision {precision} --samples 9"
                ))?;
            }
        }
        Ok(())
    }

    fn preconditioners(&mut self) -> anyhow::Result<()> {
        let square = format!("precond --element quad4 --cells {} --samples 1", 4 * self.cells);
        self.bench(&format!(
            "{square} --mixed --order 2,4,6 --preconditioner jacobi,none,block_jacobi,neumann,chebyshev,least_squares"
        ))?;
        let few = "--mixed --order 6 --preconditioner jacobi,least_squares";
        self.bench(&format!("{square} {few} --format csr"))?;
        if self.is_gpu {
            self.on("cpu", &format!("{square} {few} --format csr"))?;
        }
        for element in ["tet4", "hex8"] {
            let cube = format!("--element {element} --cells {}", self.cells);
            self.bench(&format!("precond {cube} --samples 1 --mixed --preconditioner jacobi,amg"))?;
            self.bench(&format!("amg {cube} --samples 3 --mixed"))?;
        }
        Ok(())
    }

    fn femses(&mut self) -> anyhow::Result<()> {
        let most = (3 * self.cells).max(20);
        let nodes = [5, 10, 20, 50, 100].iter().filter(|nodes| **nodes <= most);
        let nodes = nodes.map(usize::to_string).collect::<Vec<_>>().join(",");
        let what = format!("femses --tolerance 1e-6 --samples 3 --nodes {nodes}");
        self.bench(&what)?;
        if self.is_gpu {
            self.bench(&format!("{what} --precision single --max-iterations 200000"))?;
        }
        let methods = "--method dense,sparse,cg,femses,femses_chebyshev,femses_cg --max-iterations 100000";
        self.on_one_thread(&format!("{what} {methods}"))
    }

    fn solutions(&mut self) -> anyhow::Result<()> {
        let n = self.cells;
        for (element, name) in [("tet4", format!("cube_{n}")), ("hex8", format!("cube_hex8_{n}"))] {
            let case = self.folder.path().join(format!("{name}.toml"));
            std::fs::write(&case, clamped(element, [n; 3], [1.0; 3]))?;
            let results = self.folder.path().join(&name);
            let [case, out] = [&case, &results].map(|path| path.display().to_string());
            let solved = cli::run_command(&["warpfem", "solve", &case, "--device", &self.device, "-o", &out]);
            self.keep("solve", &name, solved, &results.join("summary.json"))?;
        }
        Ok(())
    }

    fn bench(&mut self, what: &str) -> anyhow::Result<()> {
        let device = self.device.clone();
        self.on(&device, what)
    }

    /// The same on one thread of the processor: what papers call serial.
    fn on_one_thread(&mut self, what: &str) -> anyhow::Result<()> {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        alone.install(|| self.on("cpu", what))
    }

    fn on(&mut self, device: &str, what: &str) -> anyhow::Result<()> {
        print::text(&format!("\n$ warpfem-bench {what} --device {device}\n"))?;
        let path = self.folder.path().join("report.json");
        let file = path.display().to_string();
        let words =
            std::iter::once("warpfem-bench").chain(what.split(' ')).chain(["--device", device, "--json", &file]);
        let measured = crate::run(&crate::Arguments::try_parse_from(words)?.kind);
        let list = what.split(' ').next().unwrap_or_default();
        self.keep(list, what, measured, &path)
    }

    /// Keeps a report; one that failed is named and left out.
    fn keep(&mut self, list: &str, what: &str, measured: anyhow::Result<()>, path: &Path) -> anyhow::Result<()> {
        if let Err(error) = measured {
            if print::is_closed_pipe(&error) {
                return Err(error);
            }
            writeln!(io::stderr(), "left out: {what}: {error:#}")?;
            return Ok(());
        }
        let mut report: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        // No section reads the residuals one by one.
        for row in report["rows"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            row.remove("history");
        }
        // There is one run.
        report["run"] = json!(0);
        if let Some(list) = self.found.entry(list).or_insert_with(|| json!([])).as_array_mut() {
            list.push(report);
        }
        Ok(())
    }

    fn write(self, folder: &Path, command: &str) -> anyhow::Result<PathBuf> {
        let reports = || self.found.values().filter_map(Value::as_array).flatten();
        let devices: Vec<&str> = reports().filter_map(|report| report["device"].as_str()).collect();
        let device = devices.iter().find(|device| is_gpu(device) == self.is_gpu).or(devices.first()).copied();
        let device = device.ok_or_else(|| anyhow::anyhow!("nothing could be measured"))?.to_owned();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let date = date(since.as_secs() / 86_400);
        let driver = if self.is_gpu { driver() } else { Some("none".into()) };
        let processors = std::thread::available_parallelism().ok();
        let run = json!({ "date": date, "driver": driver, "processors": processors, "commands": [command] });
        let mut file = self.found;
        file.insert("device".into(), json!(device));
        file.insert("runs".into(), json!([run]));
        let path = folder.join(format!("{}-{date}.json", slug(&device)));
        let text = serde_json::to_string_pretty(&Value::Object(file))? + "\n";
        output::write_file(&path, |file| file.write_all(text.as_bytes()))?;
        Ok(path)
    }
}

/// The driver's version, as its kernel module says it.
fn driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

/// A device's name as a file's.
fn slug(device: &str) -> String {
    let words = device.to_lowercase();
    words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
