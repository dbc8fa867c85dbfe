//! How many eigenvalues a pencil has below a value: as many negative ones as `K - s M` has (Sylvester's law of inertia).

use super::sparse::too_large;
use super::{Dissection, scaled_lower};
use crate::linalg::Space;
use crate::result::{DirectError, Result};
use crate::sparse::Matrix;
use warpfem_cholesky::{Failure, Lower, Symbolic, count_negative};

/// See [`super::negative_eigenvalues`].
pub fn negative_eigenvalues(
    space: &Space,
    matrix: &Matrix<f64>,
    coords: &[[f64; 3]],
    held: &[(usize, [f64; 3])],
) -> Result<usize> {
    let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(space)?);
    let (order, inverse) = Dissection::new(&sparsity, coords).of_unknowns(size);
    let mut blocks = matrix.blocks(space)?;
    for (row, n) in held {
        // The diagonal block is a row's first.
        let first = sparsity.row_start[*row] as usize * size * size;
        let block = &mut blocks[first..first + size * size];
        let along: f64 = (0..size * size).map(|k| n[k / size] * block[k] * n[k % size]).sum();
        let more = if along == 0.0 { 1.0 } else { 2.0 * along.abs() };
        (0..size * size).for_each(|k| block[k] += more * n[k / size] * n[k % size]);
    }
    let (matrix, _) = scaled_lower::<f64, f64>(&sparsity, size, &blocks);
    let lower = Lower { row_start: &matrix.row_start, columns: &matrix.columns };
    let failed = |failure| match failure {
        Failure::Memory(needed) => too_large(space, needed),
        Failure::NegativePivot(place) => {
            let at = coords[order[place] / size];
            let component = order[place] % size;
            DirectError::NotPositive { pivot: Some(0.0), at, component, precision: "double" }.into()
        }
    };
    let symbolic = Symbolic::new(lower, &order, &inverse).map_err(failed)?;
    super::check_memory(space, (symbolic.n_values() * size_of::<f64>()) as u64)?;
    let mut factor = vec![0.0; symbolic.n_values()];
    count_negative(&symbolic, lower, &matrix.values, &mut factor).map_err(failed)
}
