//! What iterations side by side do at once: products with the operator, and the preconditioner.
//!
//! The vectors of those that take part stand in a row while that lasts, taken out of the iterations and put back.

use super::stepping::Progress;
use super::{CHECK_MULTIGRID, Cg, nothing};
use crate::device::Buffer;
use crate::result::Result;
use crate::sparse::Epilogue;
use kernels_rs::real::Real;
use std::mem::replace;

/// A vector of an iteration.
#[derive(Clone, Copy)]
pub(super) enum Row {
    R,
    Z,
    P,
    Q,
}

impl<T: Real> Cg<'_, T> {
    fn row(&mut self, row: Row) -> &mut Buffer<T> {
        match row {
            Row::R => &mut self.r,
            Row::Z => &mut self.z,
            Row::P => &mut self.p,
            Row::Q => &mut self.q,
        }
    }
}

/// Takes a vector out of each of some iterations, and another, for as long as `work` has them.
fn with_rows<T: Real>(
    cgs: &mut [Cg<'_, T>],
    which: &[usize],
    [from, to]: [Row; 2],
    work: impl FnOnce(&Cg<'_, T>, &[Buffer<T>], &mut [Buffer<T>]) -> Result<()>,
) -> Result<()> {
    let Some(first) = which.first() else { return Ok(()) };
    let mut take = |row: Row| which.iter().map(|k| replace(cgs[*k].row(row), nothing())).collect::<Vec<_>>();
    let (x, mut y) = (take(from), take(to));
    work(&cgs[*first], &x, &mut y)?;
    for (k, (x, y)) in which.iter().zip(x.into_iter().zip(y)) {
        *cgs[*k].row(from) = x;
        *cgs[*k].row(to) = y;
    }
    Ok(())
}

/// Leaves in q the products of some u with the operator, where residuals need them.
pub(super) fn products<T: Real>(cgs: &mut [Cg<'_, T>], u: &mut [Buffer<T>], which: &[usize]) -> Result<()> {
    let Some(first) = which.first().filter(|k| cgs[**k].equations.needs_product()) else { return Ok(()) };
    let x: Vec<Buffer<T>> = which.iter().map(|k| replace(&mut u[*k], nothing())).collect();
    let mut y: Vec<Buffer<T>> = which.iter().map(|k| replace(&mut cgs[*k].q, nothing())).collect();
    let cg = &cgs[*first];
    cg.equations.operator.apply_all(cg.space, &x, &mut y)?;
    for (k, (x, y)) in which.iter().zip(x.into_iter().zip(y)) {
        (u[*k], cgs[*k].q) = (x, y);
    }
    Ok(())
}

/// Leaves in one of the vectors of some iterations what the preconditioner makes of another.
pub(super) fn precondition<T: Real>(cgs: &mut [Cg<'_, T>], which: &[usize], rows: [Row; 2]) -> Result<()> {
    with_rows(cgs, which, rows, |cg, r, z| cg.preconditioner.apply_all(cg.space, cg.equations.operator, r, z))
}

/// [`Cg::start`] of all; returns `||r||` of each.
pub(super) fn start<T: Real>(cgs: &mut [Cg<'_, T>], u: &mut [Buffer<T>]) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..cgs.len()).collect();
    products(cgs, u, &all)?;
    for (cg, u) in cgs.iter_mut().zip(u) {
        cg.equations.residual_of(cg.space, u, &cg.q, &mut cg.r)?;
        cg.starts += 1;
    }
    precondition(cgs, &all, [Row::R, Row::Z])?;
    cgs.iter_mut().map(Cg::begin).collect()
}

/// Some iterations of each, `most` at most; returns what came of them.
pub(super) fn advance<T: Real>(
    cgs: &mut [Cg<'_, T>],
    u: &mut [Buffer<T>],
    which: &[usize],
    most: usize,
) -> Result<Vec<Progress>> {
    let (steps, firsts) = (CHECK_MULTIGRID.min(most), which.iter().map(|k| cgs[*k].current).collect::<Vec<_>>());
    for step in 0..steps {
        let dots: Vec<_> = which.iter().map(|k| Epilogue::Dot(cgs[*k].places.pq(step))).collect();
        with_rows(cgs, which, [Row::P, Row::Q], |cg, p, q| {
            // SAFETY: these are no steps.
            unsafe { cg.equations.operator.apply_all_then(cg.space, p, q, &dots) }
        })?;
        for k in which {
            cgs[*k].descend(step)?;
        }
        precondition(cgs, which, [Row::R, Row::Z])?;
        for k in which {
            cgs[*k].turn(&mut u[*k], step)?;
        }
    }
    which.iter().zip(firsts).map(|(k, first)| cgs[*k].progress(&u[*k], first, steps)).collect()
}
