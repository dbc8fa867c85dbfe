//! How many eigenvalues a pencil has below a value: as many negative ones as `K - s M` has (Sylvester's law of inertia).

use super::sparse::Analysed;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Matrix;
use warpfem_cholesky::count_negative;

/// See [`super::negative_eigenvalues`].
pub fn negative_eigenvalues(
    space: &Space,
    matrix: &Matrix<f64>,
    coords: &[[f64; 3]],
    held: &[(usize, [f64; 3])],
) -> Result<usize> {
    let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(space)?);
    let mut blocks = matrix.blocks(space)?;
    for (row, n) in held {
        // The diagonal block is a row's first.
        let first = sparsity.row_start[*row] as usize * size * size;
        let block = &mut blocks[first..first + size * size];
        let along: f64 = (0..size * size).map(|k| n[k / size] * block[k] * n[k % size]).sum();
        let more = if along == 0.0 { 1.0 } else { 2.0 * along.abs() };
        (0..size * size).for_each(|k| block[k] += more * n[k / size] * n[k % size]);
    }
    let analysed = Analysed::<f64>::new(space, &sparsity, size, blocks, coords)?;
    let (lower, Analysed { matrix, symbolic, .. }) = (analysed.lower(), &analysed);
    super::check_memory(space, (symbolic.n_values() * size_of::<f64>()) as u64)?;
    let mut factor = vec![0.0; symbolic.n_values()];
    count_negative(symbolic, lower, &matrix.values, &mut factor)
        .map_err(|failure| analysed.failed(space, failure, Some(0.0), coords))
}
