//! How many iterations are asked of the device at a time, and how.
//!
//! A look at the residual waits for the device, which is idle from then until the next launch arrives. So iterations
//! are asked for in tens, with multigrid in twos: three launches each with a diagonal preconditioner, recorded once and
//! repeated in one go where the device can; or, on small systems, hundreds in a single launch that looks at the
//! residual itself. The CPU takes ten in one go, for the sake of its memory.

use super::{CHECK_EVERY, CHECK_MULTIGRID, Cg, Stepping};
use crate::device::{Buffer, Recording};
use crate::linalg::{Space, check_finite};
use crate::precond::Preconditioner;
use crate::result::Result;
use crate::sparse::CgState;
use kernels_rs::cg_persistent::{HISTORY, RECORD};
use kernels_rs::real::Real;

/// Iterations of a launch of many: some milliseconds of work, then the host may say that it is enough. The host itself,
/// on which one takes that long, looks as often as with launches.
fn persistent_steps(space: &Space) -> usize {
    if space.on_host() { CHECK_EVERY } else { 256 }
}

/// Iterations of the first such launch: when enough is not known yet, it goes on to its end.
const FIRST_STEPS: usize = 32;

// A step reads one place of the ring of `r . z` and writes another.
const _: () = assert!(CHECK_EVERY >= 2 && CHECK_MULTIGRID >= 2);

/// What came of some iterations.
pub(super) struct Progress {
    /// `r . r` and `r . z` after each, and its `p . q`.
    pub(super) records: Vec<[f64; RECORD]>,
    /// `u . w`, w the weights of the energy norm; 0 without one.
    pub(super) energy: f64,
    /// Whether more of them from here would be the same: the last direction has no curvature.
    pub(super) ended: bool,
    /// Whether a `p . q` was negative.
    pub(super) indefinite: bool,
}

/// How iterations are asked for, with what that takes.
pub(super) enum Stepper {
    /// Step by step.
    Launches,
    /// Step by step until all kernels are loaded, then recorded.
    Graph {
        warm: bool,
        /// The batch, and the place in the ring that it starts from.
        recorded: Option<(Box<dyn Recording>, usize)>,
    },
    /// Many in one go.
    Persistent {
        /// `[HISTORY + RECORD persistent_steps]`
        history: Buffer<f64>,
    },
}

impl Stepper {
    /// What was asked for, as far as the preconditioner allows.
    pub(super) fn new<T: Real>(
        b: &Space,
        preconditioner: &dyn Preconditioner<T>,
        n: usize,
        stepping: Stepping,
    ) -> Result<Self> {
        let in_one = || Ok(Stepper::Persistent { history: b.zeros(HISTORY + RECORD * persistent_steps(b))? });
        match stepping {
            Stepping::Launches => Ok(Stepper::Launches),
            Stepping::Auto if n > 0 && preconditioner.diagonal().is_some() => in_one(),
            Stepping::Auto | Stepping::Graph => Ok(Stepper::Graph { warm: false, recorded: None }),
        }
    }
}

impl<T: Real> Cg<'_, T> {
    /// Iterates at most `most` times, and no further than to `r . r` or `r . z` of `enough` where these are looked at.
    pub(super) fn advance(&mut self, u: &mut Buffer<T>, most: usize, enough: [f64; 2]) -> Result<Progress> {
        if let Some(progress) = self.advance_in_one(u, most, enough)? {
            return Ok(progress);
        }
        let (first, steps) = (self.current, self.every.min(most));
        self.take_steps(u, steps)?;
        self.progress(u, first, steps)
    }

    /// What came of some iterations from a place in the ring.
    pub(super) fn progress(&self, u: &Buffer<T>, first: usize, steps: usize) -> Result<Progress> {
        self.leave_energy(u)?;
        let places = self.places;
        let last = |step: usize| step.min(steps - 1);
        let scalars: [f64; RECORD * CHECK_EVERY + 1] = self.space.read(core::array::from_fn(|i| {
            let step = last(i / RECORD);
            match (i / RECORD, i % RECORD) {
                (CHECK_EVERY, _) => places.energy(),
                (_, 0) => places.square(step),
                (_, 1) => places.rho((first + step + 1) % self.every),
                _ => places.pq(step),
            }
        }))?;
        let records: Vec<[f64; RECORD]> = scalars.as_chunks().0[..steps].to_vec();
        let least = records.iter().map(|[.., pq]| *pq).fold(f64::INFINITY, f64::min);
        let energy = scalars[RECORD * CHECK_EVERY];
        Ok(Progress { records, energy, ended: least <= 0.0, indefinite: least < 0.0 })
    }

    /// Leaves `u . w` in its place; 0 without an energy norm.
    fn leave_energy(&self, u: &Buffer<T>) -> Result<()> {
        let energy = self.equations.energy;
        energy.map_or(Ok(()), |energy| {
            self.space.dot(u, energy.weights.as_ref().unwrap_or(self.equations.f), self.places.energy())
        })
    }

    /// Many iterations in one go, if there is such a thing: where there is none, none is tried again.
    fn advance_in_one(&mut self, u: &mut Buffer<T>, most: usize, enough: [f64; 2]) -> Result<Option<Progress>> {
        let Stepper::Persistent { history } = &mut self.stepper else { return Ok(None) };
        let Some(inverse) = self.preconditioner.diagonal() else { return Ok(None) };
        let b = self.space;
        // Where the end is known by the energy, it is not known at first.
        let few = if enough[1] == 0.0 { self.lanczos.len().max(FIRST_STEPS) } else { most };
        let steps = persistent_steps(b).min(most).min(few);
        let state = CgState {
            inverse,
            u: &mut *u,
            r: &mut self.r,
            z: &mut self.z,
            p: &mut self.p,
            history: &mut *history,
            steps,
            enough,
            rho: self.places.rho(self.current),
        };
        if !self.equations.operator.fused_cg(b, state)? {
            self.stepper = Stepper::Graph { warm: false, recorded: None };
            b.copy(&self.p, &mut self.z)?;
            return Ok(None);
        }
        let found = b.download(history)?;
        let (done, pq) = (found[0] as usize, found[1]);
        let numbers = &found[HISTORY..HISTORY + RECORD * done];
        check_finite(&[found[..HISTORY].as_ref(), numbers].concat())?;
        let mut energy = 0.0;
        if self.equations.energy.is_some() {
            self.leave_energy(u)?;
            [energy] = self.space.read([self.places.energy()])?;
        }
        // One that has converged says so by its residual.
        let ended = pq <= 0.0;
        Ok(Some(Progress { records: numbers.as_chunks().0.to_vec(), energy, ended, indefinite: pq < 0.0 }))
    }

    /// Some iterations: a whole batch as it was recorded, if it was.
    fn take_steps(&mut self, u: &mut Buffer<T>, steps: usize) -> Result<()> {
        let b = self.space;
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
                return unsafe { recording.replay() };
            }
            Stepper::Graph { warm, .. } => *warm = true,
            _ => {}
        }
        (0..steps).try_for_each(|step| self.step(u, step))
    }
}
