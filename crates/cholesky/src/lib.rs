//! Sparse Cholesky factors, `A = L L^T`, by faer's supernodes, in an order of elimination of one's own.
//!
//! faer is generic, and so compiled where it is used: this crate uses it for `f32` and `f64` and has no generic function
//! itself, so that what uses this crate is compiled without it.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::LdltError;
use faer::linalg::cholesky::llt::factor::LltError;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::supernodal::{SupernodalLdltRef, SupernodalLltRef};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::traits::RealField;
use faer::{Conj, MatMut, Par, Side};

/// The lower triangle of a symmetric sparsity, its diagonal included: row i has `columns[row_start[i]..row_start[i + 1]]`,
/// ascending.
#[derive(Debug, Clone, Copy)]
pub struct Lower<'a> {
    /// `[n + 1]`.
    pub row_start: &'a [usize],
    /// `[row_start[n]]`.
    pub columns: &'a [usize],
}

impl<'a> Lower<'a> {
    /// The lower triangle by rows is the upper one by columns.
    fn upper(self) -> SymbolicSparseColMatRef<'a, usize> {
        let n = self.row_start.len() - 1;
        SymbolicSparseColMatRef::new_checked(n, n, self.row_start, None, self.columns)
    }
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// So many bytes were not there; how many is not always known.
    Memory(Option<usize>),
    /// The pivot at this place in the order of elimination is negative, or of a [`count_negative`] 0.
    NegativePivot(usize),
}

/// The sparsity of a factor.
#[derive(Debug)]
pub struct Symbolic(SymbolicCholesky<usize>);

impl Symbolic {
    /// Of a matrix whose row `order[place]` is eliminated at each place; `inverse[order[place]] = place`.
    ///
    /// # Errors
    ///
    /// [`Failure::Memory`]
    ///
    /// # Panics
    ///
    /// Panics if the order is no order of all rows.
    pub fn new(lower: Lower, order: &[usize], inverse: &[usize]) -> Result<Symbolic, Failure> {
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(order, inverse, order.len()));
        // Always by supernodes: meshes in space have large ones.
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        let found = factorize_symbolic_cholesky(lower.upper(), Side::Upper, ordering, params);
        found.map(Symbolic).map_err(|_| Failure::Memory(None))
    }

    /// Values that a factor stores, among them the zeros that pad supernodes.
    pub fn n_values(&self) -> usize {
        self.0.len_val()
    }
}

/// What factors are made of: `f32` or `f64`.
pub trait Number: Sized {
    /// Bytes that the factorisation needs beside the matrix and the factor.
    fn scratch(symbolic: &Symbolic) -> usize;

    /// Factorises a matrix of these values, `[columns.len()]`, into [`Symbolic::n_values`] zeros.
    ///
    /// # Errors
    ///
    /// [`Failure`]
    fn factorise(symbolic: &Symbolic, lower: Lower, values: &[Self], factor: &mut [Self]) -> Result<(), Failure>;

    /// The first pivot that is not above `smallest`, a square, and its place in the order of elimination.
    fn first_small_pivot(symbolic: &Symbolic, factor: &[Self], smallest: f64) -> Option<(usize, f64)>;

    /// Replaces `x` by `A^-1 x`.
    ///
    /// # Errors
    ///
    /// [`Failure::Memory`]
    fn solve(symbolic: &Symbolic, factor: &[Self], x: &mut [Self]) -> Result<(), Failure>;
}

macro_rules! numbers {
    ($($T:ty),+) => {
        $(impl Number for $T {
            fn scratch(symbolic: &Symbolic) -> usize {
                scratch::<$T>(symbolic).unaligned_bytes_required()
            }
            fn factorise(symbolic: &Symbolic, lower: Lower, values: &[$T], factor: &mut [$T]) -> Result<(), Failure> {
                factorise(symbolic, lower, values, factor)
            }
            fn first_small_pivot(symbolic: &Symbolic, factor: &[$T], smallest: f64) -> Option<(usize, f64)> {
                first_small_pivot(symbolic, factor, smallest, |pivot| f64::from(pivot))
            }
            fn solve(symbolic: &Symbolic, factor: &[$T], x: &mut [$T]) -> Result<(), Failure> {
                solve(symbolic, factor, x)
            }
        })+
    };
}
numbers!(f32, f64);

/// What faer computes with: the threads of the current pool.
fn threads() -> Par {
    Par::rayon(0)
}

fn scratch<T: RealField>(symbolic: &Symbolic) -> StackReq {
    symbolic.0.factorize_numeric_llt_scratch::<T>(threads(), Default::default())
}

fn memory(required: StackReq) -> Result<MemBuffer, Failure> {
    MemBuffer::try_new(required).map_err(|_| Failure::Memory(Some(required.unaligned_bytes_required())))
}

fn factorise<T: RealField>(symbolic: &Symbolic, lower: Lower, values: &[T], factor: &mut [T]) -> Result<(), Failure> {
    let matrix = SparseColMatRef::new(lower.upper(), values);
    let mut memory = memory(scratch::<T>(symbolic))?;
    let stack = MemStack::new(&mut memory);
    let regularisation = Default::default();
    let found = symbolic.0.factorize_numeric_llt(
        factor,
        matrix,
        Side::Upper,
        regularisation,
        threads(),
        stack,
        Default::default(),
    );
    found.map(|_| ()).map_err(|LltError::NonPositivePivot { index }| Failure::NegativePivot(index))
}

fn first_small_pivot<T: RealField + Copy>(
    symbolic: &Symbolic,
    factor: &[T],
    smallest: f64,
    to_f64: impl Fn(T) -> f64,
) -> Option<(usize, f64)> {
    let SymbolicCholeskyRaw::Supernodal(symbolic) = symbolic.0.raw() else { return None };
    let factor = SupernodalLltRef::new(symbolic, factor);
    (0..symbolic.n_supernodes()).find_map(|s| {
        let node = factor.supernode(s);
        let block = node.val();
        let pivots = (0..block.ncols()).map(|j| (node.start() + j, to_f64(block[(j, j)]).powi(2)));
        pivots.into_iter().find(|(_, pivot)| pivot.is_nan() || *pivot < smallest)
    })
}

fn solve<T: RealField>(symbolic: &Symbolic, factor: &[T], x: &mut [T]) -> Result<(), Failure> {
    let mut memory = memory(symbolic.0.solve_in_place_scratch::<T>(1, threads()))?;
    let n = x.len();
    let column = MatMut::from_column_major_slice_mut(x, n, 1);
    LltRef::new(&symbolic.0, factor).solve_in_place_with_conj(Conj::No, column, threads(), MemStack::new(&mut memory));
    Ok(())
}

/// How many eigenvalues of a symmetric matrix are below 0: as many as pivots of `A = L D L^T` (Sylvester's law of inertia).
/// `factor` is [`Symbolic::n_values`] zeros.
///
/// # Errors
///
/// [`Failure`]; a pivot of 0 ends it.
pub fn count_negative(symbolic: &Symbolic, lower: Lower, values: &[f64], factor: &mut [f64]) -> Result<usize, Failure> {
    let matrix = SparseColMatRef::new(lower.upper(), values);
    let mut memory = memory(symbolic.0.factorize_numeric_ldlt_scratch::<f64>(threads(), Default::default()))?;
    let stack = MemStack::new(&mut memory);
    let (regularisation, params) = (Default::default(), Default::default());
    let found =
        symbolic.0.factorize_numeric_ldlt(factor, matrix, Side::Upper, regularisation, threads(), stack, params);
    found.map_err(|LdltError::ZeroPivot { index }| Failure::NegativePivot(index))?;
    let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.0.raw() else { return Ok(0) };
    let factor = SupernodalLdltRef::new(nodes, factor);
    let of_node = |s| {
        let node = factor.supernode(s);
        let block = node.val();
        (0..block.ncols()).filter(|j| block[(*j, *j)] < 0.0).count()
    };
    Ok((0..nodes.n_supernodes()).map(of_node).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 0, 1 and 2 of `[[4, 2, 0], [2, 5, 2], [0, 2, 5]]`, eliminated from the last to the first.
    const LOWER: Lower = Lower { row_start: &[0, 1, 3, 5], columns: &[0, 0, 1, 1, 2] };
    const ORDER: [usize; 3] = [2, 1, 0];

    fn solved<T: Number + Default + Clone>(values: [T; 5], mut x: [T; 3]) -> Result<[T; 3], Failure> {
        let symbolic = Symbolic::new(LOWER, &ORDER, &ORDER)?;
        let mut factor = vec![T::default(); symbolic.n_values()];
        T::factorise(&symbolic, LOWER, &values, &mut factor)?;
        assert_eq!(T::first_small_pivot(&symbolic, &factor, 0.1), None);
        assert!(T::first_small_pivot(&symbolic, &factor, 100.0).is_some_and(|(place, _)| place == 0));
        T::solve(&symbolic, &factor, &mut x)?;
        Ok(x)
    }

    #[test]
    fn negative_eigenvalues_are_counted() {
        // Of the matrix less s the eigenvalues are 1.86, 4.25 and 7.89, less s.
        for (s, expected) in [(0.5, 0), (3.1, 1), (6.1, 2), (9.1, 3)] {
            let symbolic = Symbolic::new(LOWER, &ORDER, &ORDER).unwrap();
            let mut factor = vec![0.0; symbolic.n_values()];
            let values = [4.0 - s, 2.0, 5.0 - s, 2.0, 5.0 - s];
            assert_eq!(count_negative(&symbolic, LOWER, &values, &mut factor), Ok(expected), "{s}");
        }
    }

    #[test]
    fn a_small_system_is_solved_in_both_precisions() {
        // A (1, -1, 2) = (2, 1, 8).
        let x = solved([4.0, 2.0, 5.0, 2.0, 5.0], [2.0, 1.0, 8.0]).unwrap();
        assert!([1.0, -1.0, 2.0].iter().zip(x).all(|(expected, x): (&f64, f64)| (expected - x).abs() < 1e-14), "{x:?}");
        let x = solved([4.0f32, 2.0, 5.0, 2.0, 5.0], [2.0, 1.0, 8.0]).unwrap();
        assert!([1.0, -1.0, 2.0].iter().zip(x).all(|(expected, x): (&f32, f32)| (expected - x).abs() < 1e-6), "{x:?}");
    }

    #[test]
    fn a_negative_pivot_is_told_by_its_place() {
        assert_eq!(solved([4.0, 2.0, -5.0, 2.0, 5.0], [0.0; 3]), Err(Failure::NegativePivot(1)));
    }
}
