//! How many eigenvalues a pencil has below a value: as many negative ones as `K - s M` has (Sylvester's law of inertia).

use super::sparse::too_large;
use super::{Dissection, scaled_lower};
use crate::linalg::Space;
use crate::result::{DirectError, Result};
use crate::sparse::Matrix;
use warpfem_cholesky::{Failure, Lower, Symbolic, count_negative};

/// See [`super::negative_eigenvalues`].
pub fn negative_eigenvalues(space: &Space, matrix: &Matrix<f64>, coords: &[[f64; 3]]) -> Result<usize> {
    let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(space)?);
    let (order, inverse) = Dissection::new(&sparsity, coords).of_unknowns(size);
    let (matrix, _) = scaled_lower::<f64, f64>(&sparsity, size, &matrix.blocks(space)?);
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
