//! Symmetric tensors: principal values and directions by Jacobi's rotations (Golub and Van Loan, Matrix Computations,
//! 8.5), which give orthogonal directions even where values are equal.

use std::array::from_fn;

/// Sweeps after which nothing changes: they converge quadratically, and six suffice for three rows.
const SWEEPS: usize = 12;

/// The principal values of xx, yy, zz, xy, yz, xz, the largest first, and unit vectors along them. Of each direction the
/// largest component is positive.
pub(super) fn principal([xx, yy, zz, xy, yz, xz]: [f64; 6]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    // Row i is the direction of `a[i][i]`.
    let mut directions = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        for [p, q] in [[0, 1], [0, 2], [1, 2]] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            let rotate = |p: f64, q: f64| (cosine * p - sine * q, sine * p + cosine * q);
            for row in &mut a {
                (row[p], row[q]) = rotate(row[p], row[q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = rotate(a[p][k], a[q][k]);
                (directions[p][k], directions[q][k]) = rotate(directions[p][k], directions[q][k]);
            }
            (a[p][q], a[q][p]) = (0.0, 0.0);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    (order.map(|i| a[i][i]), order.map(|i| upright(directions[i])))
}

/// A direction or its opposite, whichever has a positive largest component.
fn upright(direction: [f64; 3]) -> [f64; 3] {
    let largest = direction.iter().fold(0.0_f64, |most, c| if c.abs() > most.abs() { *c } else { most });
    from_fn(|i| if largest < 0.0 { -direction[i] } else { direction[i] })
}

/// Tresca's stress: the largest difference of two principal stresses.
pub(super) fn tresca(stress: [f64; 6]) -> f64 {
    let [largest, _, smallest] = principal(stress).0;
    largest - smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sum_i lambda_i n_i n_i^T`.
    fn assembled((values, directions): ([f64; 3], [[f64; 3]; 3])) -> [f64; 6] {
        let entry = |r: usize, c: usize| (0..3).map(|i| values[i] * directions[i][r] * directions[i][c]).sum();
        [entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(1, 2), entry(0, 2)]
    }

    #[test]
    fn principal_stresses_make_the_tensor_and_their_directions_a_frame() {
        let cases: [[f64; 6]; 7] = [
            [3.0, 1.0, 2.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [5.0, 5.0, -1.0, 1e-9, 0.0, 0.0],
            [1.0, -2.0, 0.5, 4.0, -3.0, 2.0],
            [0.0, 0.0, 0.0, 7.0, 0.0, 0.0],
            [1e9, 1.0, 0.0, 1e3, 2.0, -5e8],
            [0.0; 6],
        ];
        for stress in cases {
            let size = stress.iter().fold(1e-300_f64, |most, s| most.max(s.abs()));
            let (values, n) = principal(stress);
            assert!(values[0] >= values[1] && values[1] >= values[2], "{values:?}");
            let again = assembled((values, n));
            assert!(stress.iter().zip(again).all(|(s, a)| (s - a).abs() < 1e-14 * 10.0 * size), "{stress:?} {again:?}");
            for i in 0..3 {
                for j in 0..3 {
                    let dot: f64 = (0..3).map(|k| n[i][k] * n[j][k]).sum();
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-14, "{stress:?} {n:?}");
                }
            }
        }
        assert!(principal([f64::NAN; 6]).0.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn tresca_of_pulling_and_of_shear() {
        assert!((tresca([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]) - 5.0).abs() < 1e-14);
        assert!((tresca([0.0, 0.0, 0.0, 0.0, 2.0, 0.0]) - 4.0).abs() < 1e-14);
        assert!(tresca([7.0, 7.0, 7.0, 0.0, 0.0, 0.0]) == 0.0);
    }
}
