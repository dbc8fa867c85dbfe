//! How many iterations are asked of the device at a time, and how.
//!
//! A look at the residual waits for the device, which is idle from then until the next launch arrives. So iterations
//! are asked for in tens, with multigrid in twos: three launches each with a diagonal preconditioner, recorded once and
//! repeated in one go where the device can; or, on small systems, hundreds in a single launch that looks at the
//! residual itself. The CPU takes ten in one go, for the sake of its memory.

use super::{CHECK_EVERY, CHECK_MULTIGRID, Cg, RHO, Stepping, history, pq};
use crate::backend::{Backend, CgState, Vector, check_finite};
use crate::error::Result;
use crate::precond::Preconditioner;
use kernels_rs::cg_persistent::HISTORY;
use kernels_rs::real::Real;

/// Iterations of a launch of many: some milliseconds of work, then the host may say that it is enough. The host itself,
/// on which one takes that long, looks as often as with launches.
const fn persistent_steps<B: Backend>() -> usize {
    if B::ON_HOST { CHECK_EVERY } else { 256 }
}

// A recorded batch leaves `RHO` as it found it.
const _: () = assert!(CHECK_EVERY.is_multiple_of(2) && CHECK_MULTIGRID.is_multiple_of(2));

/// What came of some iterations.
pub(super) struct Progress {
    /// `r . r` after each.
    pub(super) squares: Vec<f64>,
    /// Whether more of them from here would be the same: the last direction has no curvature.
    pub(super) ended: bool,
    /// Whether a `p . q` was negative.
    pub(super) indefinite: bool,
}

/// How iterations are asked for, with what that takes.
pub(super) enum Stepper<B: Backend> {
    /// Step by step.
    Launches,
    /// Step by step until all kernels are loaded, then recorded.
    Graph {
        /// Whether a batch has been done step by step.
        warm: bool,
        /// The batch, and the place in `RHO` that it starts from.
        recorded: Option<(B::Recording, usize)>,
    },
    /// Many in one go.
    Persistent {
        /// `[HISTORY + persistent_steps]`
        history: Vector<B, f64>,
    },
}

impl<B: Backend> Stepper<B> {
    /// What was asked for, as far as the preconditioner allows.
    pub(super) fn new<T: Real>(
        b: &B,
        preconditioner: &dyn Preconditioner<B, T>,
        n: usize,
        stepping: Stepping,
    ) -> Result<Self> {
        let in_one = || Ok(Stepper::Persistent { history: b.zeros(HISTORY + persistent_steps::<B>())? });
        match stepping {
            Stepping::Launches => Ok(Stepper::Launches),
            Stepping::Auto if n > 0 && preconditioner.diagonal().is_some() => in_one(),
            Stepping::Auto | Stepping::Graph => Ok(Stepper::Graph { warm: false, recorded: None }),
        }
    }
}

impl<B: Backend, T: Real> Cg<'_, B, T> {
    /// Iterates at most `most` times, and no further than to a square of the residual of `enough` where that is looked
    /// at.
    pub(super) fn advance(&mut self, u: &mut Vector<B, T>, most: usize, enough: f64) -> Result<Progress> {
        if let Some(progress) = self.advance_in_one(u, most, enough)? {
            return Ok(progress);
        }
        let steps = self.every.min(most);
        self.take_steps(u, steps)?;
        let last = |step: usize| step.min(steps - 1);
        let scalars: [f64; 2 * CHECK_EVERY] = self.backend.read(core::array::from_fn(|i| match i {
            0..CHECK_EVERY => history(last(i)),
            _ => pq(last(i - CHECK_EVERY)),
        }))?;
        let (squares, curvatures) = scalars.split_at(CHECK_EVERY);
        let least = curvatures.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Progress { squares: squares[..steps].to_vec(), ended: least <= 0.0, indefinite: least < 0.0 })
    }

    /// Many iterations in one go, if there is such a thing: where there is none, none is tried again.
    fn advance_in_one(&mut self, u: &mut Vector<B, T>, most: usize, enough: f64) -> Result<Option<Progress>> {
        let Stepper::Persistent { history } = &mut self.stepper else { return Ok(None) };
        let Some(inverse) = self.preconditioner.diagonal() else { return Ok(None) };
        let (b, steps) = (self.backend, persistent_steps::<B>().min(most));
        let state = CgState {
            inverse,
            u,
            r: &mut self.r,
            z: &mut self.z,
            p: &mut self.p,
            history: &mut *history,
            steps,
            enough,
            rho: RHO[self.current],
        };
        if !self.operator.iterate(b, state)? {
            self.stepper = Stepper::Graph { warm: false, recorded: None };
            b.copy(&self.p, &mut self.z)?;
            return Ok(None);
        }
        let found = b.download(history)?;
        let (done, pq) = (found[0] as usize, found[1]);
        let squares = found[HISTORY..HISTORY + done].to_vec();
        check_finite(&found[..HISTORY + done])?;
        // One that has converged says so by its residual.
        let ended = pq <= 0.0;
        Ok(Some(Progress { squares, ended, indefinite: pq < 0.0 }))
    }

    /// Some iterations: a whole batch as it was recorded, if it was.
    fn take_steps(&mut self, u: &mut Vector<B, T>, steps: usize) -> Result<()> {
        let b = self.backend;
        let is_whole = steps == self.every;
        if let Stepper::Graph { warm: true, recorded: None } = self.stepper
            && is_whole
        {
            let current = self.current;
            let recording = b.record(&mut || (0..steps).try_for_each(|step| self.step(u, step)))?;
            self.stepper = match recording {
                Some(recording) => Stepper::Graph { warm: true, recorded: Some((recording, current)) },
                None => Stepper::Launches,
            };
        }
        match &mut self.stepper {
            Stepper::Graph { recorded: Some((recording, current)), .. } if is_whole && *current == self.current => {
                // SAFETY: the vectors that were recorded are this iteration's own, and live as long as it does, but for
                // `u`, which the caller lends to all of it; the operator and the preconditioner are borrowed as long.
                return unsafe { b.replay(recording) };
            }
            Stepper::Graph { warm, .. } => *warm = true,
            _ => {}
        }
        (0..steps).try_for_each(|step| self.step(u, step))
    }
}
