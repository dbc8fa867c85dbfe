//! Buckling: the smallest load factors of `(K + lambda G) u = 0`, G the geometric stiffness of the stress under the loads. They
//! are those of `K u = lambda (-G) u`; of a factor below 0 the loads are reversed.

use super::modes::{self, Free, Told};
use super::system::System;
use super::{Run, stopping};
use crate::assembly::geometric_stiffness;
use crate::device::Buffer;
use crate::eigen::{Eigenpairs, Pencil};
use crate::linalg::Space;
use crate::precond::Preconditioner;
use crate::result::{BUCKLING, Ending, Error, Outcome, Result};
use crate::solve::Iteration;
use crate::sparse::{Coupled, Matrix};
use crate::stress::{self, Asked};
use kernels_rs::element::Point;
use kernels_rs::form::General;

/// Finds the load factors of a model with their modes, and sends each as a step.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (space, model) = (run.space, run.model);
    let system = System::<f64>::assemble(space, model, &run.used.plan, &mut run.phase, &mut run.timings)?;
    let preconditioner = modes::preconditioner(run, &system)?;
    let (u, outcome) = displacements(run, &system, &preconditioner)?;
    if outcome.ending == Ending::Cancelled {
        return Ok(());
    }
    let search = |factor: f64, n: usize| {
        let g = geometric(space, &system, factor, &u)?;
        find(run, &system, &g, &*preconditioner, n)
    };
    let mut found = search(-1.0, run.n_cases)?;
    if found.vectors.is_empty() && found.ending != Ending::Cancelled {
        return Err(Error::NotSolvable("these loads make nothing buckle, however large they are".into()));
    }
    // Of the reversed loads the smallest is told.
    let reversed = search(1.0, 1)?;
    if !outcome.converged {
        (found.ending, found.converged) = (outcome.ending, 0);
    }
    run.timings.solve += run.phase.next("stress");
    let System { body, operator, f, .. } = system;
    drop((operator, preconditioner, f));
    modes::send(run, &body, &found, &|number, u| {
        let largest = modes::largest(u);
        u.iter_mut().for_each(|value| *value /= largest);
        let factor = found.values[number];
        let of_reversed = reversed.values.first().map_or(f64::NAN, |factor| -factor);
        Told { value: factor, tables: vec![(&BUCKLING, vec![factor, found.residuals[number], of_reversed])] }
    })
}

/// The displacements under the loads, with what is prescribed, and how their iteration ended.
fn displacements(run: &Run, system: &System<f64>, by: &dyn Iteration<f64>) -> Result<(Buffer<f64>, Outcome)> {
    let (v, outcome) = system.iterate(run.space, by, stopping(&run.model.solver), run.monitor)?;
    let prescribed = &system.body.supports.prescribed;
    let u = run.space.upload_vec(v.iter().zip(prescribed).map(|(v, prescribed)| v + prescribed).collect())?;
    Ok((u, outcome))
}

/// The geometric stiffness under displacements u, times a factor, after supports.
pub(super) fn geometric(space: &Space, system: &System<f64>, factor: f64, u: &Buffer<f64>) -> Result<Matrix<f64>> {
    let (body, mesh) = (&system.body, &system.body.mesh);
    let mut g = geometric_stiffness(space, mesh, factor, system.matrix(), &|block, points: &[Point]| {
        Ok(stress::sampled::<General>(space, mesh, block, points, u, Asked::Stress)?.stress)
    })?;
    body.supports.eliminate(space, &mut g, &mut space.zeros(system.f.len())?)?;
    Ok(g)
}

/// The eigenpairs of `K u = lambda M u` with the smallest lambda above 0, M being G times a factor.
fn find(
    run: &Run,
    system: &System<f64>,
    g: &Matrix<f64>,
    preconditioner: &dyn Preconditioner<f64>,
    n: usize,
) -> Result<Eigenpairs> {
    let (space, coupling) = (run.space, system.coupling.as_ref());
    let (stiffness, g) = (Coupled::new(system.matrix(), coupling), Coupled::new(g, coupling));
    let (a, m) = (Free::new(space, stiffness.operator(), &system.body)?, Free::new(space, g.operator(), &system.body)?);
    let pencil = Pencil { a: &a, m: &m, preconditioner, deflated: &[] };
    modes::search(run, &pencil, n, 0.0)
}
