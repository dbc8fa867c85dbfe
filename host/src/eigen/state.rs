//! What an iteration works on, and its steps.

use super::basis::{Block, Part, joined, orthonormalise};
use super::problem::{Problem, dots, refs, scale, sum_of};
use super::ritz::{descending, directions};
use super::stopping::{MASSLESS, Scale, error};
use super::{EigenOptions, Eigenpairs, Progress};
use crate::device::Buffer;
use crate::parallel;
use crate::result::{Ending, Result};
use kernels_rs::blas::quotient;
use kernels_rs::real::mixed;
use nalgebra::DMatrix;

/// Vectors that are kept for one of a block: x, w and p with A and M times them, and two more.
pub const VECTORS: usize = 11;

/// The vectors of an iteration, and how good they are.
pub struct State<'a> {
    problem: Problem<'a>,
    x: Block,
    w: Block,
    p: Block,
    /// Twice the size of the block.
    scratch: Vec<Buffer<f64>>,
    /// 1 / lambda, descending.
    mu: Vec<f64>,
    scales: Vec<Scale>,
    /// The relative residual of each, and the mu for which it was computed.
    measured: Vec<[f64; 2]>,
    /// Vectors that are not within the tolerance: w has a direction for each.
    active: Vec<usize>,
    /// Whether A x and M x are computed from x.
    fresh: bool,
    n: usize,
    shift: f64,
    tolerance: f64,
    /// Iterations done.
    pub iterations: usize,
}

/// Numbers in -1..1 that follow no pattern.
fn made_up(n: usize, vector: usize) -> Vec<f64> {
    parallel::map_indices(n, &|i| mixed(vector * n + i) as f64 / 2f64.powi(63) - 1.0)
}

impl<'a> State<'a> {
    /// From `x = T M r`, r made up: in the space of the unknowns, and smoother than r.
    pub fn start(mut problem: Problem<'a>, size: usize, options: &EigenOptions) -> Result<Self> {
        let (space, n) = (problem.space, problem.n());
        let blocks = [Block::new(space, n, size)?, Block::new(space, n, size)?, Block::new(space, n, size)?];
        let ([mut x, w, p], scratch) = (blocks, space.vectors(n, 2 * size)?);
        x.len = size;
        let [of_x, of_a, of_m] = x.parts_mut();
        for (k, r) in of_a.iter_mut().enumerate() {
            *r = space.upload_vec(made_up(n, k))?;
        }
        problem.apply_m(of_a, of_m)?;
        problem.precondition(of_m, of_x)?;
        let (mu, scales, measured, active) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let EigenOptions { n, shift, tolerance, .. } = *options;
        let (fresh, iterations) = (false, 0);
        let mut solver =
            State { problem, x, w, p, scratch, mu, scales, measured, active, fresh, n, shift, tolerance, iterations };
        solver.refresh()?;
        Ok(solver)
    }

    /// Makes x orthonormal, computes A x and M x from it, and takes the best approximations in its span. Measures all.
    pub fn refresh(&mut self) -> Result<()> {
        let (space, block) = (self.problem.space, &mut self.x);
        self.problem.deflate(block.parts_mut()[0])?;
        orthonormalise(&mut self.problem, &[], block, &mut self.scratch)?;
        let [x, _, m] = block.parts_mut();
        self.problem.apply_m(x, m)?;
        let (mu, c) = descending(space.symmetric_gram(&refs(x), &refs(m))?);
        block.transform(space, &c, &[Part::X, Part::A, Part::M], &mut self.scratch)?;
        (self.mu, self.n, self.w.len) = (mu, self.n.min(block.len), block.len);
        let (m, r, z) = (block.part(Part::M), &mut self.scratch[..block.len], &mut *self.w.parts_mut()[0]);
        let masses = dots(space, m, m)?;
        for (j, mass) in masses.iter().enumerate() {
            space.combine(&[&m[j]], &DMatrix::from_element(1, 1, quotient(1.0, mass.sqrt())), 0.0, &mut r[j..=j])?;
        }
        self.problem.precondition(r, z)?;
        let norms = dots(space, r, z)?;
        let all = masses.iter().zip(norms).zip(&self.mu);
        self.scales =
            all.map(|((mass, norm), mu)| Scale { mass: mass.sqrt(), norm: norm.abs().sqrt(), mu: *mu }).collect();
        self.measured = vec![[f64::INFINITY, 0.0]; self.x.len];
        self.fresh = true;
        self.measure()
    }

    /// Whether A is not positive definite.
    pub fn is_indefinite(&self) -> bool {
        self.problem.is_indefinite
    }

    /// Whether the residuals are true ones.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// 1 / lambda of the eigenvalues wanted, descending.
    pub fn wanted(&self) -> &[f64] {
        &self.mu[..self.n]
    }

    /// Forgets the directions of the last step.
    pub fn forget_directions(&mut self) {
        self.p.len = 0;
    }

    /// The estimated relative error of an eigenvalue.
    fn error(&self, j: usize) -> f64 {
        error(&self.mu, j, self.measured[j][0], self.shift)
    }

    /// Whether its residual was within the tolerance, and it has stayed where it was since.
    fn is_locked(&self, j: usize) -> bool {
        let change = (self.mu[j] - self.measured[j][1]).abs();
        self.error(j) <= self.tolerance && change <= self.tolerance * self.mu[j].abs()
    }

    /// The residuals `r = M x - mu A x` of those that are not locked, and `w = T r` of those that are active.
    pub fn measure(&mut self) -> Result<()> {
        let space = self.problem.space;
        let open: Vec<usize> = (0..self.x.len).filter(|j| !self.is_locked(*j)).collect();
        self.w.len = open.len();
        let (a, m) = (self.x.part(Part::A), self.x.part(Part::M));
        let (r, w) = (&mut self.scratch[..open.len()], &mut *self.w.parts_mut()[0]);
        for (j, r) in open.iter().zip(&mut *r) {
            let factors = [1.0, -self.mu[*j]].map(|factor| quotient(factor, self.scales[*j].mass));
            sum_of(space, factors, &m[*j], &a[*j], r)?;
        }
        self.problem.precondition(r, w)?;
        let squares = dots(space, r, w)?;
        for (j, square) in open.iter().zip(squares) {
            self.measured[*j] = [self.scales[*j].relative(square, self.mu[*j]), self.mu[*j]];
        }
        self.active.clear();
        for (place, j) in open.into_iter().enumerate() {
            if self.error(j) > self.tolerance {
                self.w.parts_mut()[0].swap(self.active.len(), place);
                self.active.push(j);
            }
        }
        self.w.len = self.active.len();
        Ok(())
    }

    /// The largest error of those wanted, and how many are within the tolerance.
    pub fn standing(&self) -> Progress {
        let errors = (0..self.n).map(|j| self.error(j));
        let converged = errors.clone().filter(|error| *error <= self.tolerance).count();
        let (iteration, n, tolerance) = (self.iterations, self.n, self.tolerance);
        Progress { iteration, converged, n, error: errors.fold(0.0, f64::max), tolerance }
    }

    /// The best approximations in the span of x, w and p, and the directions that led to them; false if w and p are
    /// nothing new.
    pub fn improve(&mut self) -> Result<bool> {
        let (space, n_x, w) = (self.problem.space, self.x.len, &mut self.w);
        self.problem.deflate(w.parts_mut()[0])?;
        orthonormalise(&mut self.problem, &[&self.x, &self.p], w, &mut self.scratch)?;
        let [x, _, m] = w.parts_mut();
        self.problem.apply_m(x, m)?;
        let basis = [&self.x, &self.p, &self.w];
        if basis[1].len + basis[2].len == 0 {
            return Ok(false);
        }
        let gram = space.symmetric_gram(&joined(&basis, Part::X), &joined(&basis, Part::M))?;
        let (mut mu, c) = descending(gram);
        mu.truncate(n_x);
        let c = c.columns(0, n_x).into_owned();
        let p = directions(&c, n_x, &self.active);
        let n_p = p.ncols();
        let both = DMatrix::from_fn(c.nrows(), n_x + n_p, |i, j| if j < n_x { c[(i, j)] } else { p[(i, j - n_x)] });
        let scratch = &mut self.scratch[..n_x + n_p];
        for part in [Part::X, Part::A, Part::M] {
            space.combine(&joined(&[&self.x, &self.p, &self.w], part), &both, 0.0, scratch)?;
            let (x, p) = scratch.split_at_mut(n_x);
            self.x.swap(part, x);
            self.p.swap(part, p);
        }
        (self.p.len, self.mu, self.fresh) = (n_p, mu, false);
        Ok(true)
    }

    /// The vectors that are wanted and have mass, M-orthonormal, with their Rayleigh quotients.
    pub fn finish(mut self, ending: Ending) -> Result<Eigenpairs> {
        let (space, n) = (self.problem.space, self.mu[..self.n].partition_point(|mu| *mu > MASSLESS * self.mu[0]));
        self.x.len = n;
        let energies = dots(space, self.x.part(Part::X), self.x.part(Part::A))?;
        let masses = dots(space, self.x.part(Part::X), self.x.part(Part::M))?;
        let is_sound = ending != Ending::Indefinite;
        let converged = (0..n).filter(|j| is_sound && self.error(*j) <= self.tolerance).count();
        let errors: Vec<[f64; 2]> = (0..n).map(|j| [self.measured[j][0], self.error(j)]).collect();
        let mut pairs = Vec::with_capacity(n);
        for (j, mut x) in self.x.take_vectors().into_iter().enumerate() {
            scale(space, 1.0 / masses[j].sqrt(), &mut x)?;
            pairs.push((energies[j] / masses[j], x, errors[j]));
        }
        Ok(super::pairs(pairs, (self.iterations, self.problem.products), converged, ending))
    }
}
