//! D of a thin plate in its plane: no stress across it, so that the strains across follow from those in the plane.

use nalgebra::{Matrix3, Matrix6};

/// What lies in the plane: xx, yy, xy.
const IN: [usize; 3] = [0, 1, 3];
/// What lies across: zz, yz, xz.
const ACROSS: [usize; 3] = [2, 4, 5];

/// `D_ii - D_ia D_aa^-1 D_ai` in the plane, and 0 elsewhere.
pub fn in_the_plane(d: &Matrix6<f64>) -> Matrix6<f64> {
    let inverse = block(d, ACROSS, ACROSS).try_inverse().unwrap_or_default();
    let reduced = block(d, IN, IN) - block(d, IN, ACROSS) * inverse * block(d, ACROSS, IN);
    let mut plane = Matrix6::zeros();
    for (i, row) in IN.into_iter().enumerate() {
        for (j, column) in IN.into_iter().enumerate() {
            plane[(row, column)] = 0.5 * (reduced[(i, j)] + reduced[(j, i)]);
        }
    }
    plane
}

fn block(d: &Matrix6<f64>, rows: [usize; 3], columns: [usize; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| d[(rows[i], columns[j])])
}
