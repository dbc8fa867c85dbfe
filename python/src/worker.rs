//! Threads of their own: for what may be interrupted, and for devices, which stay on the thread that has opened them.

use crate::error::{Fault, caught};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use warpfem::solve::Monitor;

/// Whether nobody waits any longer.
pub type Flag = Arc<AtomicBool>;

/// Raises a flag when it goes.
pub struct CancelOnDrop(pub Flag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Ends an iteration once a flag is raised.
pub struct Cancellable(pub Flag);

impl Monitor for Cancellable {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often Python is asked whether to go on.
const BEAT: Duration = Duration::from_millis(50);
const STACK: usize = 16 << 20;

/// Starts a thread.
///
/// # Errors
///
/// Those of the operating system.
fn spawn(work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    Ok(thread::Builder::new().name("warpfem".into()).stack_size(STACK).spawn(work).map(drop)?)
}

/// Starts some work on a thread of its own.
pub fn start<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> PyResult<Receiver<Result<T, Fault>>> {
    let (sender, receiver) = channel();
    // Nobody waits for what has been interrupted.
    spawn(move || drop(sender.send(caught(work))))?;
    Ok(receiver)
}

/// Waits for the end of some work while other Python threads run. Signals are looked for, and `beat` is called, now and then;
/// where one of these raises an exception, nobody waits any longer.
pub fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Result<T, Fault>>,
    mut beat: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    loop {
        let ended;
        (receiver, ended) = py.detach(move || {
            let ended = receiver.recv_timeout(BEAT);
            (receiver, ended)
        });
        match ended {
            Ok(ended) => {
                py.check_signals()?;
                beat()?;
                return ended.map_err(|fault| fault.raise(py));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                beat()?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a thread of warpfem has ended"));
            }
        }
    }
}

type Job<T> = Box<dyn FnOnce(&mut T) + Send>;

/// Something that lives on a thread of its own, which ends with it.
pub struct Worker<T>(Sender<Job<T>>);

impl<T: 'static> Worker<T> {
    /// Makes it there.
    pub fn new(py: Python<'_>, make: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> PyResult<Worker<T>> {
        let (jobs, todo) = channel::<Job<T>>();
        let (sender, receiver) = channel();
        spawn(move || match caught(make) {
            Ok(mut it) => {
                drop(sender.send(Ok(())));
                todo.iter().for_each(|job| job(&mut it));
            }
            Err(fault) => drop(sender.send(Err(fault))),
        })?;
        wait(py, receiver, || Ok(()))?;
        Ok(Worker(jobs))
    }

    /// Does some work with it, after what has been asked of it before.
    pub fn run<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> anyhow::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let (sender, receiver) = channel();
        let job = move |it: &mut T| drop(sender.send(caught(|| work(it))));
        // A thread that has ended drops the sender, too.
        drop(self.0.send(Box::new(job)));
        wait(py, receiver, || Ok(()))
    }
}
