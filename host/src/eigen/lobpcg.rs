//! The iteration.

use super::basis::{Block, Part, joined, orthonormalise};
use super::problem::{Problem, dots, refs, scale, sum_of, zeros};
use super::ritz::{descending, directions};
use super::stopping::{MASSLESS, Stagnation, error};
use super::{EigenOptions, Eigenpairs, Progress};
use crate::device::Buffer;
use crate::result::{Ending, Result};
use kernels_rs::blas::quotient;
use kernels_rs::real::mixed;
use nalgebra::DMatrix;

/// Vectors that are kept for one of a block: x, w and p with A and M times them, and two more.
pub const VECTORS: usize = 11;
/// Iterations after which A x and M x are computed anew, for rounding errors add up.
const REFRESH: usize = 20;
/// The same at the beginning, when x changes most and with it the scale of residuals.
const FIRST_REFRESH: usize = 4;

/// What a residual is measured by.
#[derive(Clone, Copy, Default)]
struct Scale {
    /// `||M x||`, by which residuals are divided: a preconditioner may be in single precision.
    mass: f64,
    /// `||M x||_T` over that.
    norm: f64,
    /// The mu of x.
    mu: f64,
}

impl Scale {
    /// The relative residual, from the square of a norm: `||M x||_T` grows at least with the root of mu.
    fn relative(&self, square: f64, mu: f64) -> f64 {
        let growth = if self.mu > 0.0 { (mu / self.mu).sqrt().max(1.0) } else { 1.0 };
        quotient(square.abs().sqrt(), growth * self.norm)
    }
}

struct Lobpcg<'a> {
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
    tolerance: f64,
    iterations: usize,
}

/// Iterates with a block of `size` vectors.
pub fn solve(
    problem: Problem,
    size: usize,
    options: &EigenOptions,
    monitor: &mut dyn FnMut(Progress) -> bool,
) -> Result<Eigenpairs> {
    let mut solver = Lobpcg::start(problem, size, options)?;
    let ending = solver.run(options.max_iterations, monitor)?;
    solver.finish(ending)
}

/// Numbers in -1..1 that follow no pattern.
fn made_up(n: usize, vector: usize) -> Vec<f64> {
    (0..n).map(|i| mixed(vector * n + i) as f64 / 2f64.powi(63) - 1.0).collect()
}

impl<'a> Lobpcg<'a> {
    /// From `x = T M r`, r made up: in the space of the unknowns, and smoother than r.
    fn start(mut problem: Problem<'a>, size: usize, options: &EigenOptions) -> Result<Self> {
        let (space, n) = (problem.space, problem.n());
        let blocks = [Block::new(space, n, size)?, Block::new(space, n, size)?, Block::new(space, n, size)?];
        let ([mut x, w, p], scratch) = (blocks, zeros(space, n, 2 * size)?);
        x.len = size;
        let [of_x, _, of_m] = x.parts_mut();
        for (k, (x, m)) in of_x.iter_mut().zip(of_m).enumerate() {
            let r = space.upload_vec(made_up(n, k))?;
            problem.apply_m(&[r], std::slice::from_mut(m))?;
            problem.precondition(m, x)?;
        }
        let (mu, scales, measured, active) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (n, tolerance, fresh, iterations) = (options.n, options.tolerance, false, 0);
        let mut solver =
            Lobpcg { problem, x, w, p, scratch, mu, scales, measured, active, fresh, n, tolerance, iterations };
        solver.refresh()?;
        Ok(solver)
    }

    /// Makes x orthonormal, computes A x and M x from it, and takes the best approximations in its span. Measures all.
    fn refresh(&mut self) -> Result<()> {
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
            self.problem.precondition(&r[j], &mut z[j])?;
        }
        let norms = dots(space, r, z)?;
        let all = masses.iter().zip(norms).zip(&self.mu);
        self.scales =
            all.map(|((mass, norm), mu)| Scale { mass: mass.sqrt(), norm: norm.abs().sqrt(), mu: *mu }).collect();
        self.measured = vec![[f64::INFINITY, 0.0]; self.x.len];
        self.fresh = true;
        self.measure()
    }

    /// The estimated relative error of an eigenvalue.
    fn error(&self, j: usize) -> f64 {
        error(&self.mu, j, self.measured[j][0])
    }

    /// Whether its residual was within the tolerance, and it has stayed where it was since.
    fn is_locked(&self, j: usize) -> bool {
        let change = (self.mu[j] - self.measured[j][1]).abs();
        self.error(j) <= self.tolerance && change <= self.tolerance * self.mu[j].abs()
    }

    /// The residuals `r = M x - mu A x` of those that are not locked, and `w = T r` of those that are active.
    fn measure(&mut self) -> Result<()> {
        let space = self.problem.space;
        let open: Vec<usize> = (0..self.x.len).filter(|j| !self.is_locked(*j)).collect();
        self.w.len = open.len();
        let (a, m) = (self.x.part(Part::A), self.x.part(Part::M));
        let (r, w) = (&mut self.scratch[..open.len()], &mut *self.w.parts_mut()[0]);
        for ((j, r), w) in open.iter().zip(&mut *r).zip(&mut *w) {
            let factors = [1.0, -self.mu[*j]].map(|factor| quotient(factor, self.scales[*j].mass));
            sum_of(space, factors, &m[*j], &a[*j], r)?;
            self.problem.precondition(r, w)?;
        }
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
    fn standing(&self) -> Progress {
        let errors = (0..self.n).map(|j| self.error(j));
        let converged = errors.clone().filter(|error| *error <= self.tolerance).count();
        let (iteration, n, tolerance) = (self.iterations, self.n, self.tolerance);
        Progress { iteration, converged, n, error: errors.fold(0.0, f64::max), tolerance }
    }

    /// Iterates until there is a reason not to. The last residuals are true ones.
    fn run(&mut self, max_iterations: usize, monitor: &mut dyn FnMut(Progress) -> bool) -> Result<Ending> {
        let (mut stagnation, mut has_restarted) = (Stagnation::new(self.tolerance), false);
        loop {
            let standing = self.standing();
            let is_stuck = stagnation.is_reached(self.iterations, standing.error, &self.mu[..self.n]);
            let ending = match () {
                () if standing.converged == self.n => Some(Ending::Converged),
                () if !monitor(standing) => Some(Ending::Cancelled),
                () if self.iterations >= max_iterations => Some(Ending::Limit),
                () if is_stuck && has_restarted => Some(Ending::Stagnated),
                () => None,
            };
            if (ending.is_some() || is_stuck) && !self.fresh {
                self.refresh()?;
            }
            match ending {
                // By residuals that were computed from what had drifted away.
                Some(Ending::Converged) if self.standing().converged < self.n => {}
                Some(ending) => return Ok(ending),
                None if is_stuck => {
                    (has_restarted, self.p.len) = (true, 0);
                    stagnation = Stagnation::new(self.tolerance);
                    stagnation.is_reached(self.iterations, standing.error, &self.mu[..self.n]);
                }
                None => {}
            }
            if !self.improve()? {
                if self.fresh {
                    return Ok(Ending::Stagnated);
                }
                self.refresh()?;
                continue;
            }
            self.iterations += 1;
            if self.iterations == FIRST_REFRESH || self.iterations.is_multiple_of(REFRESH) {
                self.refresh()?;
            } else {
                self.measure()?;
            }
        }
    }

    /// The best approximations in the span of x, w and p, and the directions that led to them; false if w and p are
    /// nothing new.
    fn improve(&mut self) -> Result<bool> {
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
    fn finish(mut self, ending: Ending) -> Result<Eigenpairs> {
        let (space, n) = (self.problem.space, self.mu[..self.n].partition_point(|mu| *mu > MASSLESS * self.mu[0]));
        self.x.len = n;
        let energies = dots(space, self.x.part(Part::X), self.x.part(Part::A))?;
        let masses = dots(space, self.x.part(Part::X), self.x.part(Part::M))?;
        let converged = (0..n).filter(|j| self.error(*j) <= self.tolerance).count();
        let mut pairs = Vec::with_capacity(n);
        for (j, mut x) in self.x.take_vectors().into_iter().enumerate() {
            scale(space, 1.0 / masses[j].sqrt(), &mut x)?;
            pairs.push((energies[j] / masses[j], x, self.measured[j][0]));
        }
        Ok(super::pairs(pairs, (self.iterations, self.problem.products), converged, ending))
    }
}
