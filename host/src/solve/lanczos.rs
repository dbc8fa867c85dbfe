//! The smallest eigenvalue of `M^-1 K` from the coefficients of conjugate gradients.
//!
//! Preconditioned conjugate gradients are a Lanczos process: `alpha_j` and `beta_j` make its tridiagonal matrix
//! (Saad 2003, sec. 6.7.3),
//!
//! ```text
//! T_jj = 1 / alpha_j + beta_(j-1) / alpha_(j-1),   T_j,j+1 = sqrt(beta_j) / alpha_j
//! ```
//!
//! Its smallest eigenvalue theta falls towards that of `M^-1 K` as the iteration goes on.

/// Bisection stops when the interval is this narrow, relative to its upper end.
const PRECISION: f64 = 1e-3;
/// No eigenvalue is looked for below this share of the largest diagonal entry: rounding hides it.
const SMALLEST: f64 = 1e-17;
/// Theta is settled when it has fallen by less than this share over the window.
const SETTLED: f64 = 0.9;
/// Iterations before theta says anything.
const FEWEST: usize = 4;

/// The tridiagonal matrix of an iteration so far.
#[derive(Debug, Clone, Default)]
pub struct Lanczos {
    diagonal: Vec<f64>,
    /// Squares of the entries beside the diagonal; the last belongs to the next row.
    beside: Vec<f64>,
    /// `beta / alpha` of the last iteration.
    carry: f64,
    /// The smallest theta of earlier runs.
    earlier: Option<f64>,
}

impl Lanczos {
    /// Before the first iteration, with the theta of an earlier solution.
    pub fn from(earlier: Option<f64>) -> Lanczos {
        Lanczos { earlier, ..Lanczos::default() }
    }

    /// Adds an iteration: `rho = r . z` before it and after it, and its `p . K p`. What rounding has spoilt is left out.
    pub fn push(&mut self, rho: f64, pq: f64, next: f64) {
        let (alpha, beta) = (rho / pq, next / rho);
        if !(alpha > 0.0 && alpha.is_finite() && beta >= 0.0 && beta.is_finite()) {
            return;
        }
        self.diagonal.push(1.0 / alpha + self.carry);
        self.beside.push(beta / (alpha * alpha));
        self.carry = beta / alpha;
    }

    /// Iterations of this run.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether this run has none.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// Begins a new run; the smallest theta found so far is kept.
    pub fn restart(&mut self) {
        self.earlier = self.theta();
        self.diagonal.clear();
        self.beside.clear();
        self.carry = 0.0;
    }

    /// The smallest eigenvalue found so far; none before the first iteration.
    pub fn theta(&self) -> Option<f64> {
        let now = (!self.diagonal.is_empty()).then(|| self.smallest(self.diagonal.len()));
        match (self.earlier, now) {
            (Some(earlier), Some(now)) => Some(earlier.min(now)),
            (earlier, now) => earlier.or(now),
        }
    }

    /// Whether theta has hardly changed over the last `window` iterations.
    pub fn is_settled(&self, window: usize) -> bool {
        let (n, theta) = (self.diagonal.len(), self.theta());
        if self.earlier.is_some_and(|earlier| theta == Some(earlier)) {
            return true;
        }
        n >= FEWEST.max(window + 1) && theta.is_some_and(|theta| theta > SETTLED * self.smallest(n - window))
    }

    /// The smallest eigenvalue of the leading `k` rows, by bisection on a logarithmic scale.
    fn smallest(&self, k: usize) -> f64 {
        let largest = self.diagonal[..k].iter().copied().fold(0.0, f64::max);
        let mut upper = self.diagonal[..k].iter().copied().fold(f64::INFINITY, f64::min);
        let mut lower = SMALLEST * largest;
        if self.has_below(k, lower) {
            return lower;
        }
        while upper > (1.0 + PRECISION) * lower {
            let middle = (lower * upper).sqrt();
            if self.has_below(k, middle) { upper = middle } else { lower = middle }
        }
        lower
    }

    /// Whether the leading `k` rows have an eigenvalue below `x`: a pivot of `T - x I` is negative (Golub and Van Loan,
    /// sec. 8.4).
    fn has_below(&self, k: usize, x: f64) -> bool {
        let mut pivot = self.diagonal[0] - x;
        for j in 1..k {
            if pivot <= 0.0 {
                return true;
            }
            pivot = self.diagonal[j] - x - self.beside[j - 1] / pivot;
        }
        pivot <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conjugate gradients without a preconditioner on a diagonal matrix.
    fn run(eigenvalues: &[f64], steps: usize) -> Lanczos {
        let n = eigenvalues.len();
        let (mut r, mut p) = (vec![1.0; n], vec![1.0; n]);
        let mut lanczos = Lanczos::default();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for _ in 0..steps {
            let q: Vec<f64> = p.iter().zip(eigenvalues).map(|(p, e)| p * e).collect();
            let (rho, pq) = (dot(&r, &r), dot(&p, &q));
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= rho / pq * q);
            let next = dot(&r, &r);
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / rho * *p);
            lanczos.push(rho, pq, next);
        }
        lanczos
    }

    #[test]
    fn theta_falls_to_the_smallest_eigenvalue() {
        let eigenvalues: Vec<f64> = (0..40).map(|i| 0.01 + f64::from(i) * 0.05).collect();
        let mut last = f64::INFINITY;
        for steps in [1, 5, 10, 20, 38] {
            let theta = run(&eigenvalues, steps).theta().unwrap();
            assert!(theta <= last && theta >= 0.01 * (1.0 - 2e-3), "{steps}: {theta}");
            last = theta;
        }
        assert!(last < 0.01 * (1.0 + 2e-3), "{last}");
    }

    #[test]
    fn theta_is_settled_when_it_stands_still() {
        let eigenvalues: Vec<f64> = (0..40).map(|i| 0.01 + f64::from(i) * 0.05).collect();
        assert!(!run(&eigenvalues, 3).is_settled(2));
        assert!(!run(&eigenvalues, 10).is_settled(4));
        assert!(run(&eigenvalues, 38).is_settled(2));
    }

    #[test]
    fn what_an_earlier_run_found_is_kept() {
        let mut lanczos = run(&[1.0, 2.0, 1e-3], 3);
        let theta = lanczos.theta();
        lanczos.restart();
        assert_eq!(lanczos.theta(), theta);
        lanczos.push(1.0, 1.0, 0.1);
        assert_eq!(lanczos.theta(), theta);
        // An iteration that broke down says nothing.
        lanczos.push(0.0, 0.0, f64::NAN);
        assert_eq!(lanczos.theta(), theta);
    }
}
