//! Multigrid for any matrix of blocks.

use crate::given::device_of;
use crate::stiffness::{Ended, check_tolerance, ended};
use crate::values::{Values, copied};
use crate::worker::{CancelOnDrop, Cancellable, Flag, Worker};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::rc::Rc;
use warpfem::linalg::Space;
use warpfem::precond::{self, Context, Modes, Preconditioner};
use warpfem::result::choices;
use warpfem::solve::energy::Equations;
use warpfem::solve::{CgOptions, Iteration, Monitor};
use warpfem::sparse::{AUTO, LinOp, Matrix, Pattern, Sparsity, Tuning};

/// A matrix and its hierarchy.
struct Hierarchy {
    preconditioner: Box<dyn Preconditioner<f64>>,
    matrix: Matrix<f64>,
    space: Space,
}

/// A matrix of blocks and what is known of it.
struct Given {
    size: usize,
    sparsity: Sparsity,
    values: Vec<f64>,
    /// Columns and values.
    modes: Option<(usize, Vec<f64>)>,
    points: Option<Vec<[f64; 3]>>,
}

impl Hierarchy {
    fn new(space: Space, given: Given) -> anyhow::Result<Hierarchy> {
        let Given { size, sparsity, values, modes, points } = given;
        let pattern = Rc::new(Pattern::upload(&space, sparsity)?);
        let mut matrix = Matrix::zeros(&space, AUTO, size, &pattern, Tuning::default())?;
        matrix.set_blocks(&space, &values)?;
        matrix.promise_symmetric();
        let points = points.map(|points| space.upload_vec(points)).transpose()?;
        let modes = modes.map(|(columns, values)| Modes::given(&space, columns, &values)).transpose()?;
        let context = Context { coords: points.as_ref(), modes: modes.as_ref(), ..Context::of_order(1) };
        let preconditioner = precond::build(choices::Preconditioner::Amg, &context, &space, &matrix)?;
        Ok(Hierarchy { preconditioner, matrix, space })
    }

    fn apply(&self, r: Vec<f64>) -> anyhow::Result<Vec<f64>> {
        let r = self.space.upload_vec(r)?;
        let mut z = self.space.zeros(r.len())?;
        self.preconditioner.apply(&self.space, &self.matrix, &r, &mut z)?;
        Ok(self.space.take(z)?)
    }

    fn solve(&self, b: Vec<f64>, options: CgOptions, monitor: &dyn Monitor) -> anyhow::Result<(Vec<f64>, Ended)> {
        let (b, mut x) = (self.space.upload_vec(b)?, self.space.zeros(self.matrix.n())?);
        let equations = Equations::new(&self.matrix, &b);
        let outcome = self.preconditioner.solve(&self.space, &equations, &mut x, options, monitor)?;
        Ok((self.space.take(x)?, ended(&outcome)))
    }
}

#[pyclass(frozen)]
pub struct Amg {
    worker: Worker<Hierarchy>,
    n: usize,
    /// Unknowns of each level.
    #[pyo3(get)]
    levels: Vec<usize>,
    /// Entries of all levels over those of the first.
    #[pyo3(get)]
    operator_complexity: f64,
}

#[pymethods]
impl Amg {
    /// Of the blocks of a matrix, `[n_blocks][size][size]`, by rows.
    #[new]
    fn new(
        py: Python<'_>,
        size: usize,
        blocks: (PyBuffer<i64>, PyBuffer<i64>, PyBuffer<f64>),
        modes: Option<(usize, PyBuffer<f64>)>,
        points: Option<PyBuffer<f64>>,
        device: &str,
    ) -> PyResult<Amg> {
        let (device, (row_start, columns, values)) = (device_of(device)?, blocks);
        let (sparsity, values) =
            diagonal_first(size, &row_start.to_vec(py)?, &columns.to_vec(py)?, &values.to_vec(py)?)?;
        let n = size * sparsity.n_rows();
        let modes =
            modes.map(|(number, values)| Ok::<_, PyErr>((number, copied(py, &values, n * number)?))).transpose()?;
        let points = points.map(|points| copied(py, &points, 3 * sparsity.n_rows())).transpose()?;
        let points = points.map(|points| points.as_chunks().0.to_vec());
        let given = Given { size, sparsity, values, modes, points };
        let worker = Worker::new(py, move || Hierarchy::new(Space::open(device)?, given))?;
        let (levels, operator_complexity) = worker.run(py, |of| {
            let of = of.preconditioner.hierarchy();
            let levels = of.map_or(vec![], |of| of.levels.iter().map(|level| level.size * level.rows).collect());
            Ok((levels, of.map_or(1.0, |of| of.operator_complexity())))
        })?;
        Ok(Amg { worker, n, levels, operator_complexity })
    }

    fn apply(&self, py: Python<'_>, r: PyBuffer<f64>) -> PyResult<Values> {
        let r = copied(py, &r, self.n)?;
        self.worker.run(py, move |of| of.apply(r)).map(Values::of)
    }

    fn solve(
        &self,
        py: Python<'_>,
        b: PyBuffer<f64>,
        tolerance: f64,
        max_iterations: usize,
    ) -> PyResult<(Values, Ended)> {
        let b = copied(py, &b, self.n)?;
        check_tolerance(tolerance)?;
        let (flag, options) = (Flag::default(), CgOptions::new(tolerance, max_iterations));
        let _cancel = CancelOnDrop(flag.clone());
        let (x, ended) = self.worker.run(py, move |of| of.solve(b, options, &Cancellable(flag)))?;
        Ok((Values::of(x), ended))
    }
}

/// The blocks in the library's order: the diagonal first in each row, the others ascending.
fn diagonal_first(size: usize, row_start: &[i64], columns: &[i64], values: &[f64]) -> PyResult<(Sparsity, Vec<f64>)> {
    let (n, block) = (row_start.len().saturating_sub(1), size * size);
    let refuse = |text: String| Err(PyValueError::new_err(text));
    let is_sound = row_start.first() == Some(&0)
        && row_start.is_sorted()
        && row_start.last() == Some(&(columns.len() as i64))
        && values.len() == columns.len() * block
        && columns.iter().all(|column| (0..n as i64).contains(column));
    if !is_sound {
        return refuse("indices and values of the matrix do not belong together".into());
    }
    let mut sparsity = Sparsity { row_start: row_start.iter().map(|start| *start as u64).collect(), columns: vec![] };
    let mut sorted = Vec::with_capacity(values.len());
    for (row, ends) in row_start.windows(2).enumerate() {
        let mut own: Vec<usize> = (ends[0] as usize..ends[1] as usize).collect();
        own.sort_unstable_by_key(|k| (columns[*k] != row as i64, columns[*k]));
        if own.first().is_none_or(|k| columns[*k] != row as i64)
            || own.windows(2).any(|two| columns[two[0]] == columns[two[1]])
        {
            return refuse(format!("block row {row} has no diagonal block, or a block twice: sum duplicates"));
        }
        for k in own {
            sparsity.columns.push(columns[k] as u32);
            sorted.extend_from_slice(&values[k * block..(k + 1) * block]);
        }
    }
    Ok((sparsity, sorted))
}
