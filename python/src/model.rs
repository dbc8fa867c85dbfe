//! Models.

use crate::error::detached;
use crate::given::{Given, Resolved};
use crate::mesh::Mesh;
use crate::solution::Solution;
use crate::solve::solve;
use pyo3::prelude::*;
use std::path::PathBuf;

#[pyclass(frozen)]
pub struct Model(Resolved);

#[pymethods]
impl Model {
    /// Checks a case: see [`Given`].
    #[new]
    fn new(py: Python<'_>, path: PathBuf, text: Option<String>, mesh: Option<&Mesh>, device: &str) -> PyResult<Model> {
        let given = Given::new(path, text, mesh, device)?;
        detached(py, || given.resolve()).map(Model)
    }

    /// Solves it; `progress` is called with the phase, the share that is done, iteration, error, tolerance and load case.
    fn solve(&self, py: Python<'_>, device: &str, progress: Option<Py<PyAny>>) -> PyResult<Solution> {
        solve(py, &self.0, device, progress)
    }

    #[getter]
    fn mesh(&self) -> Mesh {
        Mesh(self.0.model.mesh.clone())
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.model.warnings.clone()
    }
}
