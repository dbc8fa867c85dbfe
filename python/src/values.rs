//! Arrays for numpy, without a copy, and copies of numpy's.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::any::Any;
use std::sync::Arc;

/// A number that arrays are of, and what numpy calls it.
pub trait Number: 'static {
    /// `<f8`.
    const NAME: &'static str;
}
macro_rules! numbers { ($($T:ty = $name:literal),+) => { $(impl Number for $T { const NAME: &'static str = $name; })+ }; }
numbers!(f64 = "<f8", u32 = "<u4", u64 = "<u8");

/// An array of the library's that numpy reads where it is. It lives as long as something of numpy's reads it.
#[pyclass(frozen)]
pub struct Values {
    _owner: Arc<dyn Any + Send + Sync>,
    address: usize,
    shape: Vec<usize>,
    name: &'static str,
}

impl Values {
    /// What `of` finds in its owner, flat, as an array of rows of `width` numbers; 0 for one without columns.
    pub fn new<O: Any + Send + Sync, T: Number>(owner: &Arc<O>, of: impl FnOnce(&O) -> &[T], width: usize) -> Values {
        let values = of(owner);
        let (address, shape) = (values.as_ptr() as usize, shape_of(values.len(), width));
        Values { _owner: owner.clone(), address, shape, name: T::NAME }
    }

    /// An array of its own.
    pub fn of<T: Number + Send + Sync>(values: Vec<T>) -> Values {
        Values::new(&Arc::new(values), |values| values.as_slice(), 0)
    }
}

#[pymethods]
impl Values {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(py, self.address, &self.shape, (self.name, true))
    }
}

/// The shape of `n` numbers in rows of `width`, or of an array without columns.
pub fn shape_of(n: usize, width: usize) -> Vec<usize> {
    n.checked_div(width).map_or(vec![n], |rows| vec![rows, width])
}

/// An array as numpy, and with another name CUDA's libraries, are told of it.
pub fn interface<'py>(
    py: Python<'py>,
    address: usize,
    shape: &[usize],
    (name, is_read_only): (&str, bool),
) -> PyResult<Bound<'py, PyDict>> {
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("shape", PyTuple::new(py, shape)?)?;
    interface.set_item("typestr", name)?;
    interface.set_item("data", (address, is_read_only))?;
    Ok(interface)
}

/// A copy of an array of `n` numbers.
pub fn copied<T: Element + Copy>(py: Python<'_>, array: &PyBuffer<T>, n: usize) -> PyResult<Vec<T>> {
    match array.item_count() == n {
        true => array.to_vec(py),
        false => {
            Err(PyValueError::new_err(format!("an array of {} numbers, and {n} are expected", array.item_count())))
        }
    }
}
