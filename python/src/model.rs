//! Cases and the models that they make.

use crate::error::detached;
use crate::mesh::Mesh;
use crate::solution::Solution;
use crate::stiffness::Stiffness;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use warpfem::cli;
use warpfem::device::DeviceName;
use warpfem::model::{self, Case};

#[pyclass(frozen)]
pub struct Model {
    pub model: Arc<model::Model>,
    /// The name of its case and that of its mesh.
    pub origin: [String; 2],
    /// Seconds that reading took.
    pub read: f64,
}

/// A case, by its text or else a file, and a mesh instead of the one that it names, if there is one.
pub struct Given {
    path: PathBuf,
    text: Option<String>,
    mesh: Option<Arc<warpfem::mesh::Mesh>>,
    device: DeviceName,
}

impl Given {
    pub fn new(path: PathBuf, text: Option<String>, mesh: Option<&Mesh>, device: &str) -> PyResult<Given> {
        Ok(Given { path, text, mesh: mesh.map(|mesh| mesh.0.clone()), device: device_of(device)? })
    }

    /// The case and the model of it.
    pub fn resolve(self) -> anyhow::Result<(Case, model::Model, DeviceName)> {
        let case = match &self.text {
            Some(text) => Case::parse(&self.path, text)?,
            None => Case::read(&self.path)?,
        };
        let model = cli::model_of(&case, self.mesh, self.device)?;
        Ok((case, model, self.device))
    }
}

#[pymethods]
impl Model {
    /// Checks a case; `path` names it and says where other files are.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, text: Option<String>, mesh: Option<&Mesh>, device: &str) -> PyResult<Model> {
        let (given, start) = (Given::new(path, text, mesh, device)?, Instant::now());
        let (case, model, _) = detached(py, || given.resolve())?;
        let origin = [case.path.display().to_string(), case.mesh_name()];
        Ok(Model { model: Arc::new(model), origin, read: start.elapsed().as_secs_f64() })
    }

    /// Solves it; `progress` is called with the phase, the share that is done, iteration, error, tolerance and load case.
    fn solve(&self, py: Python<'_>, device: &str, progress: Option<Py<PyAny>>) -> PyResult<Solution> {
        self.solution(py, device, progress)
    }

    /// Its equations, from the same arguments.
    #[staticmethod]
    fn stiffness(
        py: Python<'_>,
        path: PathBuf,
        text: Option<String>,
        mesh: Option<&Mesh>,
        device: &str,
    ) -> PyResult<Stiffness> {
        Stiffness::new(py, Given::new(path, text, mesh, device)?)
    }

    #[getter]
    fn mesh(&self) -> Mesh {
        Mesh(self.model.mesh.clone())
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.model.warnings.clone()
    }
}

/// The device of a name.
pub fn device_of(name: &str) -> PyResult<DeviceName> {
    name.parse().map_err(PyValueError::new_err)
}
