//! The equations of a model.

use crate::given::Given;
use crate::mesh::Mesh;
use crate::values::{Values, copied};
use crate::worker::{CancelOnDrop, Cancellable, Flag, Worker};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use warpfem::linalg::Space;
use warpfem::pipeline::{BlockMatrix, LinearSystem};
use warpfem::result::Outcome;
use warpfem::solve::CgOptions;

#[pyclass(frozen)]
pub struct Stiffness {
    worker: Worker<LinearSystem>,
    #[pyo3(get)]
    device: String,
    #[pyo3(get)]
    n: usize,
    #[pyo3(get)]
    components: usize,
    #[pyo3(get)]
    n_elements: usize,
}

/// Iterations, the relative residual, and whether it converged.
pub type Ended = (usize, f64, bool);

/// What is said of an outcome.
pub fn ended(outcome: &Outcome) -> Ended {
    (outcome.iterations, outcome.relative_residual, outcome.converged)
}

#[pymethods]
impl Stiffness {
    /// Of a case: see [`Given`].
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        text: Option<String>,
        mesh: Option<&Mesh>,
        device: &str,
    ) -> PyResult<Stiffness> {
        let given = Given::new(path, text, mesh, device)?;
        let worker = Worker::new(py, || {
            let device = given.device;
            let model = given.model()?;
            Ok(LinearSystem::new(Space::open(device)?, model)?)
        })?;
        let facts = |of: &mut LinearSystem| Ok((of.device(), of.n(), of.components(), of.n_elements()));
        let (device, n, components, n_elements) = worker.run(py, facts)?;
        Ok(Stiffness { worker, device, n, components, n_elements })
    }

    fn load(&self, py: Python<'_>) -> PyResult<Values> {
        self.worker.run(py, |system| Ok(system.load()?)).map(Values::of)
    }

    fn apply(&self, py: Python<'_>, u: PyBuffer<f64>) -> PyResult<Values> {
        let u = copied(py, &u, self.n)?;
        self.worker.run(py, move |system| Ok(system.apply(&u)?)).map(Values::of)
    }

    fn solve(
        &self,
        py: Python<'_>,
        f: Option<PyBuffer<f64>>,
        tolerance: f64,
        max_iterations: usize,
    ) -> PyResult<(Values, Ended)> {
        let f = f.map(|f| copied(py, &f, self.n)).transpose()?;
        check_tolerance(tolerance)?;
        let (flag, options) = (Flag::default(), CgOptions::new(tolerance, max_iterations));
        let _cancel = CancelOnDrop(flag.clone());
        let solve = move |system: &mut LinearSystem| Ok(system.solve(f.as_deref(), options, &Cancellable(flag))?);
        let (u, outcome) = self.worker.run(py, solve)?;
        Ok((Values::of(u), ended(&outcome)))
    }

    fn energies(&self, py: Python<'_>, u: PyBuffer<f64>) -> PyResult<Values> {
        let u = copied(py, &u, self.n)?;
        self.worker.run(py, move |system| Ok(system.energies(&u)?)).map(Values::of)
    }

    fn scale(&self, py: Python<'_>, factors: PyBuffer<f64>) -> PyResult<()> {
        let factors = copied(py, &factors, self.n_elements)?;
        if let Some(i) = factors.iter().position(|factor| !(*factor > 0.0 && factor.is_finite())) {
            return Err(PyValueError::new_err(format!("factor {} of element {i} is not above 0", factors[i])));
        }
        self.worker.run(py, move |system| Ok(system.scale(&factors)?))
    }

    /// Size, row starts, columns and values of its blocks.
    fn blocks(&self, py: Python<'_>) -> PyResult<(usize, Values, Values, Values)> {
        let matrix = Arc::new(self.worker.run(py, |system| Ok(system.matrix()?))?);
        let start = Values::new(&matrix, |of: &BlockMatrix| of.row_start.as_slice(), 0);
        let columns = Values::new(&matrix, |of: &BlockMatrix| of.columns.as_slice(), 0);
        Ok((matrix.size, start, columns, Values::new(&matrix, |of: &BlockMatrix| of.values.as_slice(), 0)))
    }
}

/// Refuses a tolerance that is none.
pub fn check_tolerance(tolerance: f64) -> PyResult<()> {
    match tolerance > 0.0 && tolerance < 1.0 {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("tolerance {tolerance} is not between 0 and 1"))),
    }
}
