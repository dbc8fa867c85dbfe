//! Progress on stderr when it is a terminal: the phase, and for the iteration how far the logarithm of the residual has
//! come towards that of the tolerance. Ctrl-C ends that iteration.

use super::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;
use warpfem::solve::Monitor;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// A [`Monitor`] that draws, or does nothing where there is no terminal.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Draws on stderr unless `quiet` or stderr is no terminal.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet || !stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::new(STEPS) };
        // The templates are constants that a test renders.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const TEMPLATE: &str = "{prefix:>10} [{bar:40}] {elapsed} {msg}";

impl Monitor for Progress {
    fn phase(&self, name: &'static str) {
        interrupt::iteration_ended();
        self.bar.set_prefix(name);
        self.bar.set_message("");
        self.bar.set_position(0);
    }

    fn residual(&self, iteration: usize, relative: f64, tolerance: f64) {
        interrupt::iteration_runs();
        let done = relative.ln() / tolerance.ln();
        self.bar.set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
        self.bar.set_message(format!("iteration {iteration}, residual {relative:.1e} of {tolerance:.0e}"));
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_asked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
