//! The iteration.

use super::problem::Problem;
use super::state::State;
use super::stopping::Stagnation;
use super::{EigenOptions, Eigenpairs, Progress};
use crate::result::{Ending, Result};

/// Iterations after which A x and M x are computed anew, for rounding errors add up.
const REFRESH: usize = 20;
/// The same at the beginning, when x changes most and with it the scale of residuals.
const FIRST_REFRESH: usize = 4;

/// Iterates with a block of `size` vectors.
pub fn solve(
    problem: Problem,
    size: usize,
    options: &EigenOptions,
    monitor: &mut dyn FnMut(Progress) -> bool,
) -> Result<Eigenpairs> {
    let mut state = State::start(problem, size, options)?;
    let ending = run(&mut state, options, monitor)?;
    state.finish(ending)
}

/// Iterates until there is a reason not to. The last residuals are true ones.
fn run(state: &mut State, options: &EigenOptions, monitor: &mut dyn FnMut(Progress) -> bool) -> Result<Ending> {
    let (mut stagnation, mut has_restarted) = (Stagnation::new(options.tolerance), false);
    loop {
        let standing = state.standing();
        let ending = match () {
            () if state.is_indefinite() => return Ok(Ending::Indefinite),
            () if standing.is_done() => Some(Ending::Converged),
            () if !monitor(standing) => Some(Ending::Cancelled),
            () if state.iterations >= options.max_iterations => Some(Ending::Limit),
            () => None,
        };
        let is_stuck = stagnation.is_reached(state.iterations, standing.error, state.wanted());
        if ending.is_some() || is_stuck {
            if !state.is_fresh() {
                state.refresh()?;
            }
            match ending {
                _ if state.standing().is_done() => return Ok(Ending::Converged),
                // By residuals that had drifted away from the true ones.
                Some(Ending::Converged) => {}
                Some(ending) => return Ok(ending),
                None if has_restarted => return Ok(Ending::Stagnated),
                None => {
                    (has_restarted, stagnation) = (true, Stagnation::new(options.tolerance));
                    state.forget_directions();
                }
            }
        }
        if state.improve()? {
            state.iterations += 1;
            if state.iterations == FIRST_REFRESH || state.iterations.is_multiple_of(REFRESH) {
                state.refresh()?;
            } else {
                state.measure()?;
            }
        } else if state.is_fresh() {
            return Ok(Ending::Stagnated);
        } else {
            state.refresh()?;
        }
    }
}
