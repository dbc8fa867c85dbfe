//! The native part of the Python package: a thin layer over the library, one class for each of its types. What is
//! shaped for people is Python, in `warpfem/`.

#![feature(alloc_error_hook)]

mod amg;
mod error;
mod given;
mod mesh;
mod model;
mod solution;
mod solve;
mod stiffness;
mod values;
mod worker;

use pyo3::prelude::*;
use std::ffi::OsString;
use warpfem::device::host_memory::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Runs the program on the words of its command line, its own name first; returns the exit code.
#[pyfunction]
fn main(words: Vec<OsString>) -> u8 {
    std::alloc::set_alloc_error_hook(warpfem::cli::out_of_memory);
    warpfem::cli::main_of(words)
}

#[pymodule]
fn _warpfem(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::raise_when_out_of_memory();
    module.add_class::<mesh::Mesh>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<solution::Solution>()?;
    module.add_class::<stiffness::Stiffness>()?;
    module.add_class::<amg::Amg>()?;
    module.add_function(wrap_pyfunction!(mesh::elements, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}
