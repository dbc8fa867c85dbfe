//! A case on its way from its file to results, and the device that solves it.

use super::earlier::Earlier;
use super::progress::Progress;
use super::terminal::{self, Detail};
use super::{mpi, preview, summary};
use crate::device::{DeviceName, host_memory};
use crate::linalg::{Comm, Space};
use crate::mesh::Mesh;
use crate::model::case::Case;
use crate::model::{self, MassProperties, Model};
use crate::output::{self, Options, Origin, PointField, Shot, Viewpoint, cases};
use crate::pipeline::{self, Solution};
use crate::plan::fits;
use crate::result::{Change, Changed, Error, FieldInfo, Result, Steps, When};
use crate::solve::Monitor;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};
use warpfem_text::files;

/// A case on its way to results.
pub(super) struct Job {
    pub(super) model: Model,
    /// The case file, and where its mesh comes from.
    case: String,
    mesh: String,
    pictures: Vec<Shot>,
    pub(super) with_symbols: bool,
    dir: PathBuf,
    /// The folder of what a deck prints.
    prints: PathBuf,
    start: Instant,
    /// How many devices solve it.
    pub(super) devices: usize,
    /// The processes that solve it together.
    pub(super) comm: Option<&'static Comm>,
    /// Computed while the device solves.
    mass: OnceLock<Option<MassProperties>>,
    /// Seconds that reading took.
    pub(super) read: f64,
}

impl Job {
    /// Reads a case and its mesh; results will go to `dir`, or else to a folder of the case's name.
    pub(super) fn read(
        path: &Path,
        dir: Option<&Path>,
        device: DeviceName,
        progress: &Progress,
    ) -> anyhow::Result<Job> {
        let start = Instant::now();
        progress.phase("read");
        let path = &deck_of(path);
        let (case, model) = read_model(path, device)?;
        let mesh = match &case.tables.mesh.get_ref().file {
            Some(_) => path.with_file_name(case.mesh_name()).display().to_string(),
            None => case.mesh_name(),
        };
        let asked = dir.map(Path::to_path_buf);
        let dir = asked.clone().unwrap_or_else(|| PathBuf::from("results").join(&model.name));
        let beside = model.deck.is_some().then(|| files::folder_of(path).to_path_buf());
        let prints = asked.or(beside).unwrap_or_else(|| dir.clone());
        let pictures = vec![Shot::default()];
        let (case, read) = (path.display().to_string(), start.elapsed().as_secs_f64());
        let (with_symbols, mass, devices, comm) = (true, OnceLock::new(), 1, None);
        let job = Job { model, case, mesh, pictures, with_symbols, dir, prints, start, devices, comm, mass, read };
        job.check()?;
        Ok(job)
    }

    /// Refuses files that cannot be written, before a long computation.
    fn check(&self) -> output::Result<()> {
        match self.model.has_steps() {
            false => output::check_results(&self.dir, &self.model.name, &self.pictures),
            true => output::check_names(&self.dir, cases::names(&self.model, &self.pictures).into_iter()),
        }
    }

    /// Takes pictures of these fields from these sides beside the usual one.
    pub(super) fn draw(&mut self, fields: &[String], views: &[Viewpoint]) -> output::Result<()> {
        let (physics, study) = (self.model.analysis.physics(), self.model.study);
        let has_strength = self.model.materials.iter().any(|material| material.yield_strength.is_some());
        let is_there = |info: &FieldInfo| study.has(info.name) && (has_strength || info.when != When::WithStrength);
        let fields: output::Result<Vec<_>> =
            fields.iter().map(|name| PointField::named(name, physics, is_there)).collect();
        self.pictures = Shot::all(&fields?, views);
        self.check()
    }

    /// The folder for the results.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Seconds since it was begun.
    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// What is written beside the results.
    pub(super) fn options(&self) -> Options<'_> {
        let origin = Origin { case: &self.case, mesh: &self.mesh, written: SystemTime::now() };
        Options { pictures: &self.pictures, with_symbols: self.with_symbols, origin, prints: &self.prints }
    }

    /// The fields that pictures and a deck's prints are of.
    pub(super) fn fields(&self) -> Vec<&'static str> {
        let drawn = self.pictures.iter().filter_map(|shot| shot.field.as_ref()).map(|field| field.info.name);
        drawn.chain(output::dat::fields(&self.model)).collect()
    }

    /// The solution. Where `auto` stands for a GPU that cannot solve it, the CPU does.
    pub(super) fn solve(&self, device: DeviceName, monitor: &dyn Monitor) -> Result<Solution> {
        let fields = self.fields();
        let solve =
            |model: &Model, device| Ok(vec![pipeline::solve_asked(&self.open(device)?, model, &fields, monitor)?]);
        Ok(self.solve_or_fall_back(device, solve)?.swap_remove(0))
    }

    /// Solves as [`solve_or_fall_back`]; the mass is computed beside.
    pub(super) fn solve_or_fall_back(
        &self,
        device: DeviceName,
        solve: impl Fn(&Model, DeviceName) -> Result<Vec<Solution>>,
    ) -> Result<Vec<Solution>> {
        let solutions = rayon::in_place_scope(|scope| {
            // By a thread of the pool: memory may have no room for one more.
            scope.spawn(|_| {
                self.mass();
            });
            // Other processes have their own devices.
            let asked = if self.comm.is_some() { device.resolve() } else { device };
            let solutions = solve_or_fall_back(&self.model, [asked, device.resolve()], solve)?;
            mpi::has_solved();
            Ok(solutions)
        });
        // Results are written by other threads than the one that has freed the matrix.
        host_memory::give_back();
        solutions
    }

    /// As many of a device as are asked for.
    pub(super) fn open(&self, device: DeviceName) -> Result<Space> {
        self.comm.map_or_else(|| Space::open_several(&device.several(self.devices)), |comm| mpi::open(device, comm))
    }

    pub(super) fn mass(&self) -> Option<MassProperties> {
        *self.mass.get_or_init(|| self.model.mass_properties())
    }

    /// Writes the results; returns what to say, with a small picture where a terminal can show it and it is not to be
    /// `quiet`.
    pub(super) fn write(&self, solution: &Solution, quiet: bool, detail: Detail) -> anyhow::Result<String> {
        let model = &self.model;
        let mut summary = summary::of(model, 0, solution, self.mass(), self.read);
        summary.timings_s.total = self.seconds();
        let before = Earlier::read(&self.dir);
        let files = output::write_all(&self.dir, model, &solution.step, &mut summary, &self.options())?;
        Ok(preview::of(&model.mesh, &solution.step, quiet) + &terminal::text(&summary, &files, before.as_ref(), detail))
    }
}

/// Solves on the device that was asked for, which is `chosen`; if `auto` has chosen one that fails or has too little
/// memory, on the CPU, with a warning.
fn solve_or_fall_back(
    model: &Model,
    [asked, chosen]: [DeviceName; 2],
    solve: impl Fn(&Model, DeviceName) -> Result<Vec<Solution>>,
) -> Result<Vec<Solution>> {
    match solve(model, chosen) {
        Err(error @ (Error::OutOfMemory { .. } | Error::Device(_)))
            if asked == DeviceName::Auto && chosen != DeviceName::Cpu =>
        {
            fits::check_mesh(&model.mesh, model.analysis, true)?;
            let mut solutions = solve(model, DeviceName::Cpu)?;
            let change = Change { choice: Changed::Device, from: "gpu", to: "cpu", reason: error.to_string() };
            solutions.iter_mut().for_each(|solution| solution.outcome.changes.insert(0, change.clone()));
            Ok(solutions)
        }
        ended => ended,
    }
}

/// The same of all steps, whose fields of these names are kept, and tables.
///
/// # Errors
///
/// Those of solving.
pub fn solve_and_keep(
    model: &Model,
    device: DeviceName,
    fields: Vec<String>,
    monitor: &dyn Monitor,
) -> Result<(Vec<Solution>, Steps)> {
    let kept = RefCell::default();
    let solve = |model: &Model, device| {
        let mut steps = Steps { fields: fields.clone(), ..Steps::default() };
        let solutions = pipeline::solve_into(&Space::open(device)?, model, &mut steps, monitor)?;
        kept.replace(steps);
        Ok(solutions)
    };
    Ok((solve_or_fall_back(model, [device, device.resolve()], solve)?, kept.into_inner()))
}

/// The deck that a name without its ending stands for.
pub(super) fn deck_of(path: &Path) -> PathBuf {
    let deck = path.with_extension("inp");
    if path.extension().is_none() && !path.exists() && deck.is_file() { deck } else { path.to_path_buf() }
}

/// Reads a case and its mesh, and checks both, before anything large whether a device's memory can hold it.
pub fn read_model(path: &Path, device: DeviceName) -> anyhow::Result<(Case, Model)> {
    let case = Case::read(path).map_err(model::Error::from)?;
    let model = model_of(&case, None, device)?;
    Ok((case, model))
}

/// The same of a case, and of a mesh instead of that which it names.
pub fn model_of(case: &Case, mesh: Option<Arc<Mesh>>, device: DeviceName) -> anyhow::Result<Model> {
    let on_host = !matches!(device.resolve(), DeviceName::Cuda(_));
    let mesh = match mesh {
        Some(mesh) => case.fit(Path::new(&case.mesh_name()), mesh)?,
        None => {
            fits::check_case(case, on_host)?;
            case.mesh()?.into()
        }
    };
    fits::check_mesh(&mesh, case.analysis(), on_host)?;
    Ok(Model::resolve(case, mesh)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Timings, Used};
    use crate::result::{Outcome, Plan, Step};

    const BOX: &str = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [1.0, 1.0, 1.0], cells = [1, 1, 1] }\n\
                       [[material]]\nname = \"soft\"\nyoung = 1e3\npoisson = 0.3\n\
                       [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n";

    /// What comes of a GPU that fails like this.
    fn with_a_gpu_that(fails: fn() -> Error, asked: DeviceName) -> Result<Solution> {
        let case = Case::parse(Path::new("case.toml"), BOX).unwrap();
        let model = Model::resolve(&case, case.mesh().unwrap()).unwrap();
        let solve = |model: &Model, device| match device {
            DeviceName::Cpu => Ok(vec![solved(model)]),
            _ => Err(fails()),
        };
        Ok(solve_or_fall_back(&model, [asked, DeviceName::Cuda(0)], solve)?.swap_remove(0))
    }

    fn solved(model: &Model) -> Solution {
        let (device, plan) = (String::new(), Plan::plain(model, true));
        let used = Used { device, plan, factor_nonzeros: None, hierarchy: None, count: None, ranks: vec![] };
        let outcome = Some(Outcome { converged: true, ..Outcome::start(1.0, 1e-6) });
        Solution::of(Step { outcome, ..Step::default() }, used, Timings::default()).unwrap()
    }

    fn full() -> Error {
        Error::OutOfMemory { device: "a GPU".into(), needed: Some(1 << 40), available: Some(1 << 30) }
    }

    fn old() -> Error {
        Error::Device("cuda:0 cannot be used: its driver is for CUDA 10.2".into())
    }

    #[test]
    fn auto_goes_on_on_the_cpu_and_says_why() {
        for (fails, word) in [(full as fn() -> Error, "out of memory on a GPU: 1024.0 GiB"), (old, "CUDA 10.2")] {
            let outcome = with_a_gpu_that(fails, DeviceName::Auto).unwrap().outcome;
            assert!(outcome.converged && outcome.changes.len() == 1);
            let warning = outcome.changes[0].to_string();
            assert!(warning.starts_with("solved on the CPU instead: ") && warning.contains(word), "{warning}");
        }
    }

    #[test]
    fn a_gpu_that_was_asked_for_fails_with_its_own_exit_code() {
        for (fails, code) in [(full as fn() -> Error, 6), (old, 7)] {
            let found = with_a_gpu_that(fails, DeviceName::Cuda(0));
            assert_eq!(found.unwrap_err().exit_code(), code);
        }
        // What is wrong with the model is wrong with it everywhere.
        let found = with_a_gpu_that(|| Error::Breakdown, DeviceName::Auto);
        assert_eq!(found.unwrap_err().exit_code(), 4);
    }
}
