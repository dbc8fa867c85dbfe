//! Solving: on a thread of its own, so that the caller's hears of Ctrl-C and calls back.

use crate::given::{Resolved, device_of};
use crate::solution::Solution;
use crate::worker::{self, CancelOnDrop, Flag};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use warpfem::cli::{self, Failure, Share};
use warpfem::device::DeviceName;
use warpfem::model;
use warpfem::output::dat;
use warpfem::pipeline;
use warpfem::result::Steps;
use warpfem::solve::Monitor;

/// Phase, share of the whole, iteration, error, tolerance, number of the load case and of how many.
type Stage = (&'static str, f64, usize, f64, f64, (usize, usize));

/// How far a solution is.
#[derive(Default)]
struct Watch {
    stage: Mutex<(Share, Stage)>,
    is_cancelled: Flag,
}

impl Watch {
    fn change(&self, change: impl FnOnce(&mut Share, &mut Stage)) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let (share, stage) = &mut *stage;
        change(share, stage);
        stage.5 = share.case.into();
    }
}

impl Monitor for Watch {
    fn phase(&self, name: &'static str) {
        self.change(|share, stage| *stage = (name, share.phase(name), 0, f64::NAN, f64::NAN, share.case.into()));
    }

    fn case(&self, number: usize, of: usize) {
        self.change(|share, _| share.case = [number, of]);
    }

    fn error(&self, iteration: usize, error: f64, tolerance: f64) {
        self.change(|share, stage| {
            let done = share.error(error, tolerance).max(stage.1);
            (stage.1, stage.2, stage.3, stage.4) = (done, iteration, error, tolerance);
        });
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Solves a model; `progress` is called with a [`Stage`] now and then.
pub fn solve(py: Python<'_>, of: &Resolved, device: &str, progress: Option<Py<PyAny>>) -> PyResult<Solution> {
    let (device, model, watch) = (device_of(device)?, of.model.clone(), Arc::new(Watch::default()));
    let _cancel = CancelOnDrop(watch.is_cancelled.clone());
    let watched = watch.clone();
    let work = worker::start(move || solved(&model, device, &*watched))?;
    let call = || match &progress {
        Some(progress) => {
            let stage = watch.stage.lock().unwrap_or_else(PoisonError::into_inner).1;
            progress.call1(py, stage).map(drop)
        }
        None => Ok(()),
    };
    let (solutions, series) = worker::wait(py, work, call)?;
    Ok(Solution::new(of.clone(), solutions, series))
}

type Solved = (Vec<pipeline::Solution>, Vec<warpfem::result::Series>);

/// All steps with all that they have.
fn solved(model: &model::Model, device: DeviceName, monitor: &dyn Monitor) -> anyhow::Result<Solved> {
    let fields = pipeline::asked_fields(model, &dat::fields(model));
    let (mut solutions, Steps { steps, series, .. }) = cli::solve_and_keep(model, device, fields, monitor)?;
    if solutions.is_empty() {
        return Err(Failure::Stopped.into());
    }
    solutions.iter_mut().zip(steps).for_each(|(solution, step)| solution.step = step);
    Ok((solutions, series))
}
