//! Buckling: the smallest load factors of `(K + lambda G) u = 0`, G the geometric stiffness of the stress under the loads. They
//! are those of `K u = lambda (-G) u`; of a factor below 0 the loads are reversed.

use super::Run;
use super::modes::{self, Free, Told, displacements, geometric};
use super::system::System;
use crate::eigen::{Eigenpairs, Pencil};
use crate::precond::Preconditioner;
use crate::result::{BUCKLING, Ending, Error, REVERSED, Result};
use crate::sparse::{Coupled, Matrix};

/// Finds the load factors of a model with their modes, and sends each as a step.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (space, model) = (run.space, run.model);
    let mut system = System::<f64>::assemble(space, model, &run.used.plan, &mut run.phase, &mut run.timings)?;
    let preconditioner = modes::preconditioner(run, &system)?;
    let (u, outcome) = displacements(run, &system, &preconditioner)?;
    if outcome.ending == Ending::Cancelled {
        return Ok(());
    }
    // Of the reversed loads the smallest is told.
    let reversed = find(run, &system, &geometric(space, &system, 1.0, &u)?, &*preconditioner, 1)?;
    let g = geometric(space, &system, -1.0, &u)?;
    let mut found = find(run, &system, &g, &*preconditioner, run.cases.own)?;
    if found.vectors.is_empty() && found.ending != Ending::Cancelled {
        return Err(Error::NeverBuckles(reversed.values.first().copied()));
    }
    modes::count(run, &mut system, &g, &found, |factor| factor)?;
    modes::expand(space, &system.body, &mut found)?;
    if !outcome.converged {
        (found.ending, found.converged) = (outcome.ending, 0);
    }
    run.timings.solve += run.phase.next("stress");
    let System { body, operator, f, .. } = system;
    drop((operator, preconditioner, f, g));
    modes::send(run, &body, &found, &|number, largest| {
        let factor = found.values[number];
        let of_reversed = reversed.values.first().map(|factor| (&REVERSED, vec![-factor]));
        let tables = [(&BUCKLING, vec![factor, found.residuals[number]])].into_iter().chain(of_reversed).collect();
        Told { scale: 1.0 / largest, value: factor, tables }
    })
}

/// The eigenpairs of `K u = lambda M u` with the smallest lambda above 0, M being G times a factor.
fn find(
    run: &Run,
    system: &System<f64>,
    g: &Matrix<f64>,
    preconditioner: &dyn Preconditioner<f64>,
    n: usize,
) -> Result<Eigenpairs> {
    let (space, coupling) = (run.space, system.coupling.as_deref());
    let (stiffness, g) = (Coupled::new(system.matrix(), coupling), Coupled::new(g, coupling));
    let (a, m) = (Free::new(space, stiffness.operator(), &system.body)?, Free::new(space, g.operator(), &system.body)?);
    let pencil = Pencil { a: &a, m: &m, preconditioner, deflated: &[] };
    modes::search(run, &pencil, n, 0.0)
}
