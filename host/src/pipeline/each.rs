//! Load cases whose matrices differ, as the constants of their materials go by the temperatures of each: every one from the beginning.

use super::start::Earlier;
use super::system::System;
use super::{Run, SolverBuilder};
use crate::result::Result;
use kernels_rs::real::Real;

impl Run<'_> {
    /// Assembles and solves case by case.
    pub(super) fn solve_each<T: Real>(&mut self, way: SolverBuilder<T>) -> Result<()> {
        let (space, model) = (self.space, self.model);
        for case in 0..self.cases.own {
            self.begin(case);
            let (plan, phase, timings) = (&self.used.plan, &mut self.phase, &mut self.timings);
            let mut system = System::<T>::assemble_at(space, (model, case), plan, phase, timings)?;
            let iteration = self.solver(&system, way)?;
            if case > 0 {
                system.set_loads(space, model, case)?;
            }
            self.monitor.phase("solve");
            let found = self.iterate(&system, &*iteration, &mut Earlier::default())?;
            if self.take(&system.body, found)? {
                break;
            }
        }
        Ok(())
    }
}
