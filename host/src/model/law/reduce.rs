//! D of a thin plate in its plane: no stress across it, so that the strains across follow from those in the plane.

use nalgebra::{Matrix3, Matrix6, RowVector6};

/// What lies in the plane: xx, yy, xy.
const IN: [usize; 3] = [0, 1, 3];
/// What lies across: zz, yz, xz.
const ACROSS: [usize; 3] = [2, 4, 5];

/// `D_ii - D_ia D_aa^-1 D_ai` in the plane, and 0 elsewhere.
pub fn in_the_plane(d: &Matrix6<f64>) -> Matrix6<f64> {
    let reduced = block(d, IN, IN) + block(d, IN, ACROSS) * strains_across(d);
    let mut plane = Matrix6::zeros();
    for (i, row) in IN.into_iter().enumerate() {
        for (j, column) in IN.into_iter().enumerate() {
            plane[(row, column)] = 0.5 * (reduced[(i, j)] + reduced[(j, i)]);
        }
    }
    plane
}

/// What the strain across the plane is made of: `eps_zz` is its product with the strain in the plane.
pub fn across_the_plane(d: &Matrix6<f64>) -> RowVector6<f64> {
    let strains = strains_across(d);
    let mut row = RowVector6::zeros();
    IN.into_iter().enumerate().for_each(|(j, column)| row[column] = strains[(0, j)]);
    row
}

/// `-D_aa^-1 D_ai`.
fn strains_across(d: &Matrix6<f64>) -> Matrix3<f64> {
    -block(d, ACROSS, ACROSS).try_inverse().unwrap_or_default() * block(d, ACROSS, IN)
}

fn block(d: &Matrix6<f64>, rows: [usize; 3], columns: [usize; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| d[(rows[i], columns[j])])
}
