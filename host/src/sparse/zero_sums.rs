//! Sums of many unknowns that are 0, `C u = 0`, by the orthogonal projector `I - Q^T Q`, Q an orthonormal basis of C's rows.
//!
//! Elimination of one unknown, `u_s = - sum c_m u_m / c_s`, would give `T^T K T` an eigenvalue as large as the sum has
//! unknowns: polynomials and smoothers would converge no more. A projector leaves K's largest where it is.

use std::collections::HashSet;

/// A row shorter than this part of its length before others were taken off depends on them.
const DEPENDENT: f64 = 1e-10;

/// An equation `sum factor u = value` and the unknown that it might be solved for.
#[derive(Debug, Clone)]
pub struct SumEquation {
    /// The unknowns and their factors.
    pub terms: Vec<(u32, f64)>,
    /// The right-hand side.
    pub value: f64,
    /// One of the unknowns.
    pub pin: u32,
}

/// Sums that have unknowns in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZeroSums {
    /// The unknowns, ascending.
    pub unknowns: Vec<u32>,
    /// Q by rows, `[n_sums][n_unknowns]`.
    pub basis: Vec<Vec<f64>>,
    /// An unknown for each sum: with these held, nothing else that the sums forbid is free.
    pub pins: Vec<u32>,
}

impl ZeroSums {
    /// Equations by groups that have unknowns in common, as sums; and the least u that has their values.
    pub fn of(equations: Vec<SumEquation>) -> (Vec<ZeroSums>, Vec<(u32, f64)>) {
        // Few groups, of few equations each.
        let mut groups: Vec<(HashSet<u32>, Vec<SumEquation>)> = Vec::new();
        for equation in equations {
            let mut own: HashSet<u32> = equation.terms.iter().map(|term| term.0).collect();
            let (met, others) = groups.into_iter().partition::<Vec<_>, _>(|(unknowns, _)| !unknowns.is_disjoint(&own));
            let mut together = Vec::new();
            for (unknowns, known) in met {
                own.extend(unknowns);
                together.extend(known);
            }
            together.push(equation);
            groups = others;
            groups.push((own, together));
        }
        let (mut all, mut least) = (Vec::new(), Vec::new());
        for (_, group) in groups {
            let (sums, values) = ZeroSums::group(&group);
            let at = |i: usize| sums.basis.iter().zip(&values).map(|(row, value)| row[i] * value).sum::<f64>();
            least.extend(sums.unknowns.iter().enumerate().map(|(i, unknown)| (*unknown, at(i))));
            all.push(sums);
        }
        (all, least)
    }

    fn group(equations: &[SumEquation]) -> (ZeroSums, Vec<f64>) {
        let mut unknowns: Vec<u32> = equations.iter().flat_map(|of| of.terms.iter().map(|term| term.0)).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let row = |equation: &SumEquation| {
            let mut row = vec![0.0; unknowns.len()];
            for (unknown, factor) in &equation.terms {
                row[unknowns.partition_point(|of| of < unknown)] += factor;
            }
            row
        };
        let (basis, values) = orthonormal(equations.iter().map(|of| (row(of), of.value)).collect());
        let pins = equations.iter().map(|of| of.pin).collect();
        (ZeroSums { unknowns, basis, pins }, values)
    }

    /// Takes off a vector what the sums forbid.
    pub fn project(&self, x: &mut [f64]) {
        for row in &self.basis {
            let sum: f64 = self.unknowns.iter().zip(row).map(|(unknown, q)| q * x[*unknown as usize]).sum();
            self.unknowns.iter().zip(row).for_each(|(unknown, q)| x[*unknown as usize] -= q * sum);
        }
    }

    /// The same sums of `S^-1 u`, by the diagonal of S.
    pub fn scaled(&self, scale: impl Fn(usize) -> f64) -> ZeroSums {
        let of_row =
            |row: &Vec<f64>| self.unknowns.iter().zip(row).map(|(unknown, q)| q * scale(*unknown as usize)).collect();
        let (basis, _) = orthonormal(self.basis.iter().map(|row| (of_row(row), 0.0)).collect());
        ZeroSums { basis, ..self.clone() }
    }
}

/// Rows and their values by the process of Gram and Schmidt, each row twice; without those that depend on others.
fn orthonormal(rows: Vec<(Vec<f64>, f64)>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut basis, mut values): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    for (mut row, mut value) in rows {
        let before = dot(&row, &row).sqrt();
        for _ in 0..2 {
            for (known, of_known) in basis.iter().zip(&values) {
                let part = dot(&row, known);
                row.iter_mut().zip(known).for_each(|(c, known)| *c -= part * known);
                value -= part * of_known;
            }
        }
        let size = dot(&row, &row).sqrt();
        if size > DEPENDENT * before {
            row.iter_mut().for_each(|c| *c /= size);
            basis.push(row);
            values.push(value / size);
        }
    }
    (basis, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn sums_vanish_after_projection_and_the_least_vector_has_their_values() {
        let equation = |terms: &[(u32, f64)], value| SumEquation { terms: terms.to_vec(), value, pin: terms[0].0 };
        let equations = vec![
            equation(&[(1, 2.0), (4, -1.0), (5, 0.5)], 3.0),
            equation(&[(7, 1.0), (8, 1.0)], -2.0),
            equation(&[(4, 1.0), (2, 1.0)], 0.25),
        ];
        let (sums, least) = ZeroSums::of(equations.clone());
        assert_eq!(sums.iter().map(|of| of.unknowns.clone()).collect::<Vec<_>>(), [vec![7, 8], vec![1, 2, 4, 5]]);
        let value = |equation: &SumEquation, x: &[f64]| -> f64 {
            equation.terms.iter().map(|(unknown, factor)| factor * x[*unknown as usize]).sum()
        };
        let mut given = vec![0.0; 9];
        least.iter().for_each(|(unknown, value)| given[*unknown as usize] = *value);
        let mut x: Vec<f64> = (0..9).map(|i| f64::from(i * i) - 3.0).collect();
        let before = x.clone();
        sums.iter().for_each(|of| of.project(&mut x));
        for equation in &equations {
            assert_relative_eq!(value(equation, &given), equation.value, max_relative = 1e-13);
            assert!(value(equation, &x).abs() < 1e-12);
        }
        assert_eq!([x[0], x[3], x[6]], [before[0], before[3], before[6]]);
        // Scaled by 2 and back.
        let scaled = sums[1].scaled(|unknown| if unknown == 4 { 2.0 } else { 1.0 });
        let mut y = before;
        y[4] /= 2.0;
        scaled.project(&mut y);
        y[4] *= 2.0;
        assert!(value(&equations[0], &y).abs() < 1e-12 && value(&equations[2], &y).abs() < 1e-12);
    }
}
