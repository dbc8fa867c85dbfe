//! The stopwatch of a solution.

use crate::solve::Monitor;
use std::time::Instant;

/// The stopwatch of the phases.
pub struct Phase<'a> {
    monitor: &'a dyn Monitor,
    since: Instant,
}

impl<'a> Phase<'a> {
    /// Starts with a phase of this name.
    pub fn begin(monitor: &'a dyn Monitor, name: &'static str) -> Self {
        monitor.phase(name);
        Phase { monitor, since: Instant::now() }
    }

    /// Seconds of the phase that ends; the next begins.
    pub fn next(&mut self, name: &'static str) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        *self = Phase::begin(self.monitor, name);
        seconds
    }
}
