//! Progress on stderr when it is a terminal: which phase of how many, and for the iteration how far the logarithm of the residual
//! has come towards that of the tolerance. Ctrl-C ends that iteration.

use super::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;
use warpfem::solve::Monitor;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// What a solution goes through.
const PHASES: [&str; 7] = ["read", "setup", "assembly", "boundary", "solve", "stress", "write"];

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
        bar.set_style(style.progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar }
    }

    /// A share of some work is done, of which this comes next.
    pub fn share(&self, name: &str, done: f64, next: &str) {
        self.bar.set_prefix(name.to_owned());
        self.bar.set_position(position(done));
        self.bar.set_message(next.to_owned());
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const TEMPLATE: &str = "{prefix:>16} {spinner} [{bar:40}] {elapsed} {msg}";

/// Where the bar ends for a share of the work.
fn position(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * STEPS as f64).round() as u64
}

/// How far a residual has come; a NaN nowhere.
fn of_residual(relative: f64, tolerance: f64) -> u64 {
    position(relative.ln() / tolerance.ln())
}

impl Monitor for Progress {
    fn phase(&self, name: &'static str) {
        interrupt::iteration_ended();
        let (before, message) = match PHASES.iter().position(|phase| *phase == name) {
            Some(before) => (before, format!("step {} of {}", before + 1, PHASES.len())),
            None => (0, String::new()),
        };
        self.share(name, before as f64 / PHASES.len() as f64, &message);
    }

    fn residual(&self, iteration: usize, relative: f64, tolerance: f64) {
        interrupt::iteration_runs();
        self.bar.set_position(of_residual(relative, tolerance));
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

    #[test]
    fn the_bar_shows_the_logarithm_of_the_residual() {
        let found = [1.0, 1e-4, 1e-8, 1e-12, 10.0, f64::NAN].map(|relative| of_residual(relative, 1e-8));
        assert_eq!(found, [0, 500, 1000, 1000, 0, 0]);
    }
}
