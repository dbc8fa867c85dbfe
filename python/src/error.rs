//! Errors of the library as exceptions: each exit code of the program has a class.

use pyo3::prelude::*;
use std::alloc::set_alloc_error_hook;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, set_hook, take_hook};
use warpfem::cli;

/// What a failed allocation of so many bytes panics with.
pub struct NoMemory(pub usize);

/// Makes an allocation that fails an exception, not the end of the process.
pub fn raise_when_out_of_memory() {
    set_alloc_error_hook(|layout| panic_any(NoMemory(layout.size())));
    let usual = take_hook();
    // To tell of it takes memory, and a second panic ends the process.
    set_hook(Box::new(move |panic| {
        if !panic.payload().is::<NoMemory>() {
            usual(panic)
        }
    }));
}

/// What ends a piece of work early.
pub enum Fault {
    /// An error.
    Error(anyhow::Error),
    /// A panic.
    Panic(Box<dyn Any + Send>),
}

/// The exit code of what runs out of memory, and that of a bug.
const OUT_OF_MEMORY: u8 = 6;
const BUG: u8 = 1;

impl Fault {
    /// The exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let (code, text) = match self {
            Fault::Error(error) => {
                let error = cli::united(error);
                (cli::exit_code(&error), cli::print::message(&error))
            }
            Fault::Panic(payload) => match payload.downcast_ref::<NoMemory>() {
                Some(NoMemory(bytes)) => {
                    (OUT_OF_MEMORY, format!("out of memory on this machine: {bytes} bytes more were asked for"))
                }
                None => (BUG, format!("this is a bug in warpfem, please report it: {}", text_of(&*payload))),
            },
        };
        let raised = py.import("warpfem._errors").and_then(|errors| errors.getattr("of")?.call1((code, text)));
        raised.map_or_else(|error| error, PyErr::from_value)
    }
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

/// Does some work, whose panics are faults.
pub fn caught<T>(work: impl FnOnce() -> anyhow::Result<T>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Fault::Panic)?.map_err(Fault::Error)
}

/// Does some work while other Python threads run.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> anyhow::Result<T> + Send) -> PyResult<T> {
    py.detach(|| caught(work)).map_err(|fault| fault.raise(py))
}
