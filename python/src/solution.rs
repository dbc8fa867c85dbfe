//! Results.

use crate::error::detached;
use crate::given::Resolved;
use crate::mesh::Mesh;
use crate::values::{Values, interface, shape_of};
use crate::worker::Worker;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use warpfem::cli;
use warpfem::device::{Buffer, DeviceName};
use warpfem::linalg::Space;
use warpfem::mesh::write::Form;
use warpfem::output::{self, Options, Origin, Shot};
use warpfem::pipeline;
use warpfem::result::{At, Series, Step};

/// The solutions of all steps.
#[pyclass(frozen)]
pub struct Solution {
    of: Resolved,
    solutions: Arc<Vec<pipeline::Solution>>,
    series: Vec<Series>,
}

/// Name, columns and rows.
type Table = (&'static str, Vec<&'static str>, Vec<(String, Vec<f64>)>);
/// Frequencies or times, names of columns, and the rows of each name.
type Curves = (&'static str, Vec<f64>, Vec<&'static str>, Vec<(String, Vec<Vec<f64>>)>);

impl Solution {
    pub fn new(of: Resolved, solutions: Vec<pipeline::Solution>, series: Vec<Series>) -> Solution {
        Solution { of, solutions: Arc::new(solutions), series }
    }

    fn solution(&self, step: usize) -> PyResult<&pipeline::Solution> {
        self.solutions.get(step).ok_or_else(|| PyIndexError::new_err("there is no such step"))
    }

    fn step(&self, step: usize) -> PyResult<&Step> {
        Ok(&self.solution(step)?.step)
    }

    fn save_all(&self, dir: &Path) -> anyhow::Result<()> {
        let Resolved { model, origin: [case, mesh], read } = &self.of;
        let origin = Origin { case, mesh, written: SystemTime::now() };
        let pictures = [Shot::default()];
        let options = Options { pictures: &pictures, with_symbols: true, origin, prints: dir };
        cli::save(dir, model, (&self.solutions, &self.series), (options, *read))?;
        Ok(())
    }
}

#[pymethods]
impl Solution {
    fn __len__(&self) -> usize {
        self.solutions.len()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.of.model.name
    }

    #[getter]
    fn mesh(&self) -> Mesh {
        Mesh(self.of.model.mesh.clone())
    }

    /// Label and value of a step.
    fn label(&self, step: usize) -> PyResult<(String, f64)> {
        let step = self.step(step)?;
        Ok((step.label.clone(), step.value))
    }

    /// Names of the fields of a step, whether each is at nodes, and of its components.
    fn fields(&self, step: usize) -> PyResult<Vec<(&'static str, bool, &'static [&'static str])>> {
        let of = |field: &warpfem::result::Field| (field.info.name, field.info.at == At::Node, field.info.components);
        Ok(self.step(step)?.fields.iter().map(of).collect())
    }

    /// The values of a field: one array at nodes, else one for each block of elements that it is in.
    fn field(&self, step: usize, name: &str) -> PyResult<Vec<Values>> {
        let Some(place) = self.step(step)?.fields.iter().position(|field| field.info.name == name) else {
            return Ok(Vec::new());
        };
        let field = &self.solutions[step].step.fields[place];
        let width = field.info.components.len();
        let lists = (0..field.values.len()).filter(|list| !field.values[*list].is_empty());
        let of = |list: usize| {
            Values::new(&self.solutions, |all| all[step].step.fields[place].values[list].as_slice(), width)
        };
        Ok(lists.map(of).collect())
    }

    /// The same at nodes, copied to a GPU.
    fn on_device(&self, py: Python<'_>, step: usize, name: String, device: u32) -> PyResult<DeviceValues> {
        let width = self.step(step)?.field(&name).map_or(0, |field| field.info.components.len());
        let solutions = self.solutions.clone();
        DeviceValues::new(py, width, device, move |space| Ok(space.upload(solutions[step].step.nodes(&name))?))
    }

    fn tables(&self, step: usize) -> PyResult<Vec<Table>> {
        let of = |table: &warpfem::result::Table| {
            let columns = table.info.columns.iter().map(|(column, _)| *column).collect();
            (table.info.name, columns, table.rows.clone())
        };
        Ok(self.step(step)?.tables.iter().map(of).collect())
    }

    #[getter]
    fn series(&self) -> Vec<Curves> {
        let of = |series: &Series| {
            let columns = series.columns.iter().map(|(column, _)| *column).collect();
            let curves = series.curves.iter().map(|curve| (curve.name.clone(), curve.rows.clone())).collect();
            (series.name, series.at.clone(), columns, curves)
        };
        self.series.iter().map(of).collect()
    }

    /// The summary of a step as JSON.
    fn summary(&self, py: Python<'_>, step: usize) -> PyResult<String> {
        let solution = self.solution(step)?;
        detached(py, || {
            let Resolved { model, read, .. } = &self.of;
            let summary = cli::summary::of(model, step, solution, model.mass_properties(), *read);
            Ok(serde_json::to_string(&summary)?)
        })
    }

    /// Whether it converged, and the text of the program where it did not.
    fn converged(&self, step: usize) -> PyResult<Option<String>> {
        let solution = self.solution(step)?;
        let (step, used) = (solution.step.without_results(), solution.used.clone());
        let failed = pipeline::Solution::of(step, used, solution.timings).filter(|of| !of.outcome.converged);
        Ok(failed.map(|of| cli::print::message(&cli::Failure::NotConverged(Box::new(of)).into())))
    }

    /// Writes what the program writes into a folder.
    fn save(&self, py: Python<'_>, dir: PathBuf) -> PyResult<()> {
        detached(py, || self.save_all(&dir))
    }

    /// Writes the fields of a step into one file: a VTU, or CalculiX's.
    fn write(&self, py: Python<'_>, step: usize, path: PathBuf) -> PyResult<()> {
        let (solution, model) = (self.solution(step)?, &self.of.model);
        let (mesh, of, names) = (&model.mesh, &solution.step, &model.fields);
        detached(py, || {
            let is_frd = path.extension().is_some_and(|ending| ending == "frd");
            Ok(output::write_file(&path, |file| match is_frd {
                true => {
                    let steps = self.solutions.iter().map(|solution| &solution.step);
                    output::frd::write(file, mesh, steps, names, model.frd.unwrap_or(Form::Ascii))
                }
                false => output::vtu::write(file, mesh, of, names, solution.outcome.converged),
            })?)
        })
    }
}

/// An array in a GPU's memory, which lives as long as this.
#[pyclass(frozen)]
pub struct DeviceValues {
    _memory: Worker<(Buffer<f64>, Space)>,
    address: usize,
    shape: Vec<usize>,
}

impl DeviceValues {
    /// What `upload` makes on a GPU, as rows of `width` numbers; 0 for one without columns.
    fn new(
        py: Python<'_>,
        width: usize,
        device: u32,
        upload: impl FnOnce(&Space) -> anyhow::Result<Buffer<f64>> + Send + 'static,
    ) -> PyResult<DeviceValues> {
        let memory = Worker::new(py, move || {
            let space = Space::open(DeviceName::Cuda(device))?;
            let values = upload(&space)?;
            space.finish()?;
            Ok((values, space))
        })?;
        let (address, n) = memory.run(py, |(values, _)| Ok((values.view().as_ptr() as usize, values.len())))?;
        Ok(DeviceValues { _memory: memory, address, shape: shape_of(n, width) })
    }
}

#[pymethods]
impl DeviceValues {
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(py, self.address, &self.shape, ("<f8", false))
    }
}
