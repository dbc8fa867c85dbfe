//! The best start for another load case: of all combinations of earlier solutions, part by part, the one with the least
//! error in the energy norm.
//!
//! `v = sum of c_i v_i` with `G c = b`, `G_ij = v_i . K v_j = v_i . f_j` and `b_i = v_i . f` (Galerkin on their span). A case
//! that is a combination of earlier ones so starts at its solution. Parts do not touch, so each has its own c: one without
//! loads stays at 0.

use crate::parallel::{self, PART};
use crate::solve::energy::Members;
use nalgebra::{DMatrix, DVector};

/// Eigenvalues of G, scaled to a diagonal of 1, below this are those of solutions that depend on each other.
const RANK: f64 = 1e-10;

/// Solutions of one matrix, in the solver's numbering, `[n_rows][size]` flat.
#[derive(Default)]
pub(super) struct Earlier {
    v: Vec<Vec<f64>>,
    /// Of each part `G_ij`, `[i][j]` with `i <= j` at `[j][i]`.
    gram: Vec<Vec<Vec<f64>>>,
    /// The smallest eigenvalue of the preconditioned matrix that was found.
    pub theta: Option<f64>,
}

impl Earlier {
    /// Adds a solution for a right-hand side.
    pub(super) fn push(&mut self, parts: &Members, size: usize, (v, f): (Vec<f64>, &[f64]), theta: Option<f64>) {
        self.theta = [self.theta, theta].into_iter().flatten().reduce(f64::min);
        self.v.push(v);
        self.gram.resize(parts.n_parts(), Vec::new());
        for (part, gram) in self.gram.iter_mut().enumerate() {
            gram.push(self.v.iter().map(|v| dot(parts.of(part), size, v, f)).collect());
        }
    }

    /// Where to start for a right-hand side; none where nothing is better than 0.
    pub(super) fn start(&self, parts: &Members, size: usize, f: &[f64]) -> Option<Vec<f64>> {
        let mut start = vec![0.0; f.len()];
        for (part, gram) in self.gram.iter().enumerate() {
            let rows = parts.of(part);
            let moments: Vec<f64> = self.v.iter().map(|v| dot(rows, size, v, f)).collect();
            let factors = solve(gram, &moments);
            let used: Vec<_> = factors.iter().zip(&self.v).filter(|(factor, _)| **factor != 0.0).collect();
            let sum = |i: usize| used.iter().map(|(factor, v)| *factor * v[i]).sum::<f64>();
            let of_rows = |rows: &[u32]| rows.iter().flat_map(|row| entries(*row, size)).map(sum).collect::<Vec<f64>>();
            let sums = parallel::map(rows.chunks(PART), &of_rows).into_iter().flatten();
            rows.iter().flat_map(|row| entries(*row, size)).zip(sums).for_each(|(i, sum)| start[i] = sum);
        }
        start.iter().any(|v| *v != 0.0).then_some(start)
    }
}

fn entries(row: u32, size: usize) -> std::ops::Range<usize> {
    size * row as usize..size * (row as usize + 1)
}

/// `v . f` over some rows; the same whatever the number of threads.
fn dot(rows: &[u32], size: usize, v: &[f64], f: &[f64]) -> f64 {
    let of_rows = |rows: &[u32]| rows.iter().flat_map(|row| entries(*row, size)).map(|i| v[i] * f[i]).sum::<f64>();
    let sums: Vec<f64> = parallel::map(rows.chunks(PART), &of_rows);
    sums.iter().sum()
}

/// `G^-1 b` on the space where G has an inverse.
fn solve(gram: &[Vec<f64>], moments: &[f64]) -> Vec<f64> {
    let n = moments.len();
    let scale: Vec<f64> = (0..n).map(|i| if gram[i][i] > 0.0 { 1.0 / gram[i][i].sqrt() } else { 0.0 }).collect();
    let entry = |i: usize, j: usize| scale[i] * scale[j] * gram[i.max(j)][i.min(j)];
    let eigen = DMatrix::from_fn(n, n, entry).symmetric_eigen();
    let inverse = eigen.eigenvalues.map(|value| if value > RANK { 1.0 / value } else { 0.0 });
    let moments = DVector::from_fn(n, |i, _| scale[i] * moments[i]);
    let along = (eigen.eigenvectors.transpose() * moments).component_mul(&inverse);
    (eigen.eigenvectors * along).iter().zip(&scale).map(|(c, scale)| c * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_of_earlier_cases_start_at_their_solution() {
        // Two parts of two rows, K = diag(1, 2) in each.
        let parts = Members::of_labels(&[0, 0, 1, 1], 2);
        let solve = |f: &[f64]| vec![f[0], f[1] / 2.0, f[2], f[3] / 2.0];
        let cases = [[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 3.0, 1.0], [2.0, 4.0, 0.0, 0.0]];
        let mut earlier = Earlier::default();
        assert_eq!(earlier.start(&parts, 1, &cases[0]), None);
        for f in &cases {
            earlier.push(&parts, 1, (solve(f), f), None);
        }
        let start = earlier.start(&parts, 1, &[3.0, 8.0, -3.0, -1.0]).unwrap();
        for (found, exact) in start.iter().zip(solve(&[3.0, 8.0, -3.0, -1.0])) {
            assert!((found - exact).abs() < 1e-12, "{start:?}");
        }
        // A part without loads stays at rest.
        assert_eq!(earlier.start(&parts, 1, &[1.0, 0.0, 0.0, 0.0]).unwrap()[2..], [0.0, 0.0]);
        assert_eq!(earlier.start(&parts, 1, &[0.0; 4]), None);
    }
}
