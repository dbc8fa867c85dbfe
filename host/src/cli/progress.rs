//! Progress on stderr when it is a terminal: one bar for the whole, in which each phase has about the part that it
//! takes of a large problem's time; in the iteration's the logarithm of the residual comes towards that of the
//! tolerance. Ctrl-C ends that iteration.

use super::{interrupt, threads};
use crate::solve::Monitor;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, stderr};
use std::thread::Builder;
use std::time::Duration;

const STEPS: u64 = 1000;

/// What a solution goes through, and where the bar stands when it begins.
const PHASES: [(&str, f64); 8] = [
    ("read", 0.0),
    ("setup", 0.12),
    ("assembly", 0.17),
    ("boundary", 0.22),
    ("preconditioner", 0.24),
    ("solve", 0.34),
    ("stress", 0.85),
    ("write", 0.9),
];

/// How much of a solution is done, from 0 to 1, as far as its phases tell.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The part of the whole that the present phase has.
    part: [f64; 2],
    /// The number of the load case, counted from 1, and of how many.
    pub case: [usize; 2],
}

impl Default for Share {
    fn default() -> Self {
        Share { part: [0.0, 1.0], case: [1, 1] }
    }
}

impl Share {
    /// A phase begins; returns how much is done.
    pub fn phase(&mut self, name: &str) -> f64 {
        self.part = part_in_case(part_of(name), self.case);
        self.part[0]
    }

    /// How much is done where the iteration stands at this error; a NaN tells nothing.
    pub fn error(&self, relative: f64, tolerance: f64) -> f64 {
        let [start, end] = self.part;
        start + (end - start) * (relative.ln() / tolerance.ln()).clamp(0.0, 1.0)
    }
}

/// A [`Monitor`] that draws, or does nothing where there is no terminal.
pub struct Progress {
    bar: ProgressBar,
    share: Cell<Share>,
}

impl Progress {
    /// Draws on stderr unless `quiet` or stderr is no terminal.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet || !stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::new(STEPS) };
        // The templates are constants that a test renders.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        interrupt::draws(&bar);
        tick(&bar);
        Progress { bar, share: Cell::default() }
    }

    /// A share of some work is done, of which this comes next.
    pub fn share(&self, name: &str, done: f64, next: &str) {
        self.bar.set_prefix(name.to_owned());
        self.bar.set_position(position(done));
        self.bar.set_message(next.to_owned());
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The message is cut where the line ends.
const TEMPLATE: &str = "{prefix:>16} {spinner} [{bar:30}] {elapsed} {wide_msg}";

/// Keeps the spinner and the clock going as long as the bar is there. Unlike the bar's own thread, one that cannot be
/// started is no panic.
fn tick(bar: &ProgressBar) {
    if bar.is_hidden() {
        return;
    }
    let bar = bar.downgrade();
    let run = move || {
        while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    // Without it the clock stands still between two steps.
    let _ = threads::spawn(Builder::new(), run);
}

/// Where the bar ends for a share of the work.
fn position(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * STEPS as f64).round() as u64
}

/// The part of the bar that a phase has.
fn part_of(name: &str) -> [f64; 2] {
    // Factors take the place of a preconditioner.
    let name = if name == "factorisation" { "preconditioner" } else { name };
    let Some(place) = PHASES.iter().position(|(phase, _)| *phase == name) else { return [0.0, 1.0] };
    [PHASES[place].1, PHASES.get(place + 1).map_or(1.0, |next| next.1)]
}

/// The phase from which each load case has its own.
const OF_CASES: f64 = 0.34;

/// The part of the bar that a phase has in one of several load cases.
fn part_in_case([start, end]: [f64; 2], [number, of]: [usize; 2]) -> [f64; 2] {
    let place = |share: f64| match share > OF_CASES || share == OF_CASES && end > OF_CASES {
        true => OF_CASES + (share - OF_CASES + (1.0 - OF_CASES) * (number - 1) as f64) / of as f64,
        false => share,
    };
    [place(start), place(end)]
}

/// Errors are printed once the work has returned: the bar is gone by then, whichever way it returned, and what draws it
/// from another thread finds it finished.
impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Monitor for Progress {
    fn phase(&self, name: &'static str) {
        interrupt::iteration_ended();
        let mut share = self.share.get();
        let (done, [number, of]) = (share.phase(name), share.case);
        self.share.set(share);
        let case = if of > 1 { format!("load case {number} of {of}") } else { String::new() };
        self.share(name, done, &case);
    }

    fn case(&self, number: usize, of: usize) {
        self.share.set(Share { case: [number, of], ..self.share.get() });
    }

    fn error(&self, iteration: usize, relative: f64, tolerance: f64) {
        interrupt::iteration_runs();
        let share = self.share.get();
        let position = position(share.error(relative, tolerance));
        // An error rises now and then; what is done does not become less.
        self.bar.set_position(position.max(self.bar.position()));
        let [number, of] = share.case;
        let case = if of > 1 { format!("load case {number} of {of}, ") } else { String::new() };
        self.bar.set_message(format!("{case}iteration {iteration}, error {relative:.1e}, goal {tolerance:.0e}"));
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
    fn work_that_fails_leaves_no_bar_to_draw() {
        let progress = Progress::new(true);
        // As the thread that draws the clock holds it.
        let held = progress.bar.clone();
        drop(progress);
        assert!(held.is_finished());
    }

    #[test]
    fn the_bar_shows_the_logarithm_of_the_residual() {
        let of = |part| {
            let share = Share { part, ..Share::default() };
            [1.0, 1e-4, 1e-8, 1e-12, 10.0, f64::NAN].map(|relative| position(share.error(relative, 1e-8)))
        };
        assert_eq!(of([0.0, 1.0]), [0, 500, 1000, 1000, 0, 0]);
        assert_eq!(of([0.2, 0.6]), [200, 400, 600, 600, 200, 0]);
    }

    #[test]
    fn phases_share_the_bar_in_their_order() {
        let parts = PHASES.map(|(name, _)| part_of(name));
        assert!(parts.windows(2).all(|two| two[0][1] == two[1][0] && two[0][0] < two[0][1]));
        assert_eq!((parts[0][0], parts[7][1]), (0.0, 1.0));
        assert_eq!(part_of("something else"), [0.0, 1.0]);
        assert_eq!(part_of("factorisation"), part_of("preconditioner"));
    }
}
