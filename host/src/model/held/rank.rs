//! The rank test: which rigid motions of the pieces no constraint sees.
//!
//! A constraint sees the motions `m` of one piece or of several as `row . m`; they are held when the rows of all
//! constraints span all motions, that is when the Gram matrix `sum row^T row` has full rank. What is left is its null
//! space.
//!
//! Of many pieces that matrix is large and sparse, six unknowns for each. Each constraint then becomes the projector onto
//! the row space of its own equations, so that the short lever arms of a small joint do not weaken it. The sum of the
//! projectors is `A`. `A + s I`, with the shift s ten times the largest eigenvalue that counts as zero, is factored by
//! blocks of six, the piece with the fewest neighbours first. Inverse iteration with twelve random vectors then removes from
//! them all but the null space. If that has at most twelve dimensions, they span it. If it has more, they are twelve random
//! vectors in it: every piece that can move moves in them, in every way it can. A chain of 10,000 pieces takes 2 s.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use nalgebra::{Cholesky, Const, DMatrix, Matrix6, SMatrix, SymmetricEigen, Vector6};

use crate::parallel;

/// A motion is free when its eigenvalue is below this fraction of the largest one. Eigenvalues are squares of lever
/// arms over the piece's size: coordinates written with seven digits leave 1e-14 where points should be in line, and a
/// bolt hole of a hundredth of the size gives 1e-4 / (supported nodes).
const TOLERANCE: f64 = 1e-12;
/// Vectors that are iterated at once: twice the motions of a piece.
const VECTORS: usize = 12;
/// Iterations: each divides what is not in the null space by its eigenvalue over the shift.
const ITERATIONS: usize = 10;
/// A chain of this many rigid joints is held by an eigenvalue a hundred times the tolerance. In longer chains that
/// eigenvalue falls with the fourth power of the length, and the tolerance is lowered with it.
const LONG: f64 = 200.0;
/// The tolerance is not lowered below this fraction, where eigenvalues are rounded.
const LEAST: f64 = 1e-3;
/// The shift, against the largest eigenvalue that counts as none: a lower one drowns in the rounding of the factors.
const SHIFT: f64 = 10.0;
/// Updates of blocks that the factorisation may take: some seconds.
const MOST_UPDATES: usize = 10_000_000;

/// The motions of one piece that a Gram matrix leaves free, orthonormal.
pub(super) fn null_space(gram: &Matrix6<f64>) -> Vec<Vector6<f64>> {
    let eigen = SymmetricEigen::new(*gram);
    let limit = TOLERANCE * eigen.eigenvalues.max();
    (0..6).filter(|&i| eigen.eigenvalues[i] <= limit).map(|i| eigen.eigenvectors.column(i).into()).collect()
}

/// Whether equations with this Gram matrix stop every motion of a space.
pub(super) fn stops(gram: &Matrix6<f64>, space: &[Vector6<f64>]) -> bool {
    let seen = DMatrix::from_fn(space.len(), space.len(), |i, j| space[i].dot(&(gram * space[j])));
    seen.symmetric_eigenvalues().min() > TOLERANCE * gram.trace()
}

/// The projector onto the row space of the equations whose Gram matrix this is.
fn row_space(gram: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, eigen) = (gram.nrows(), SymmetricEigen::new(gram.clone()));
    let limit = TOLERANCE * eigen.eigenvalues.max();
    let rows = (0..n).filter(|&i| eigen.eigenvalues[i] > limit).map(|i| eigen.eigenvectors.column(i));
    rows.fold(DMatrix::zeros(n, n), |sum, v| sum + v * v.transpose())
}

/// A constraint on some pieces: the Gram matrix of its rows, in the motions of the first piece, then of the next.
pub(super) type Constraint = (Vec<usize>, DMatrix<f64>);

/// Six motions of a piece in each of the vectors.
type Block = SMatrix<f64, 6, VECTORS>;
type Row = BTreeMap<usize, Matrix6<f64>>;

/// The elimination of one piece.
struct Step {
    piece: usize,
    /// The factor of what is left of its own block.
    own: Cholesky<f64, Const<6>>,
    /// Those of its neighbours that were left, with their blocks times the inverse.
    below: Vec<(usize, Matrix6<f64>)>,
}

/// The motions that constraints leave to some pieces: vectors that span the null space, or as many of it as are looked for,
/// for each piece its rows. `None` if that takes too long.
pub(super) fn null_spaces(n_pieces: usize, constraints: &[Constraint]) -> Option<Vec<DMatrix<f64>>> {
    let rows = sum_of_projectors(n_pieces, constraints);
    let size = |row: &Row| row.values().map(|block| block.norm()).sum::<f64>();
    let tolerance = TOLERANCE * rows.iter().map(size).fold(0.0, f64::max);
    let slender = (LONG / n_pieces as f64).powi(4).clamp(LEAST, 1.0);
    let limit = slender * tolerance;
    let steps = factor(rows.clone(), SHIFT * tolerance)?;
    let mut vectors = orthonormal(&random(n_pieces));
    for _ in 0..ITERATIONS {
        vectors = orthonormal(&solve(&steps, vectors));
    }
    // Rayleigh and Ritz.
    let of_row = |row: &Row| row.iter().fold(Block::zeros(), |sum, (&piece, block)| sum + block * vectors[piece]);
    let gram: SMatrix<f64, VECTORS, VECTORS> =
        vectors.iter().zip(&rows).map(|(v, row)| v.transpose() * of_row(row)).sum();
    let eigen = SymmetricEigen::new(0.5 * (gram + gram.transpose()));
    let null: Vec<usize> = (0..VECTORS).filter(|&k| eigen.eigenvalues[k] <= limit).collect();
    let of_piece = |block: &Block| {
        let rows = block * eigen.eigenvectors;
        DMatrix::from_fn(6, null.len(), |i, k| rows[(i, null[k])])
    };
    Some(vectors.iter().map(of_piece).collect())
}

fn sum_of_projectors(n_pieces: usize, constraints: &[Constraint]) -> Vec<Row> {
    let projectors: Vec<DMatrix<f64>> = parallel::map_items(constraints, &|(_, gram)| row_space(gram));
    let mut rows = vec![Row::new(); n_pieces];
    for ((at, _), projector) in constraints.iter().zip(&projectors) {
        for (i, &row) in at.iter().enumerate() {
            for (j, &column) in at.iter().enumerate() {
                let block = rows[row].entry(column).or_insert_with(Matrix6::zeros);
                *block += projector.fixed_view::<6, 6>(6 * i, 6 * j);
            }
        }
    }
    rows
}

/// Eliminates every piece, that with the fewest neighbours first.
fn factor(mut rows: Vec<Row>, shift: f64) -> Option<Vec<Step>> {
    rows.iter_mut().enumerate().for_each(|(i, row)| {
        *row.entry(i).or_insert_with(Matrix6::zeros) += shift * Matrix6::identity();
    });
    let mut queue: BinaryHeap<_> = rows.iter().enumerate().map(|(i, row)| Reverse((row.len(), i))).collect();
    let (mut steps, mut updates) = (Vec::with_capacity(rows.len()), 0);
    while let Some(Reverse((length, piece))) = queue.pop() {
        if rows[piece].len() != length {
            // It was queued again when its neighbours changed, or is eliminated.
            continue;
        }
        let row = std::mem::take(&mut rows[piece]);
        updates += row.len() * row.len();
        if updates > MOST_UPDATES {
            return None;
        }
        let own = cholesky(&row[&piece], shift)?;
        let neighbours = || row.iter().filter(|(other, _)| **other != piece);
        let mut below = Vec::with_capacity(row.len() - 1);
        for (&i, block) in neighbours() {
            let factor = own.solve(block).transpose();
            rows[i].remove(&piece);
            for (&j, other) in neighbours() {
                *rows[i].entry(j).or_insert_with(Matrix6::zeros) -= factor * other;
            }
            queue.push(Reverse((rows[i].len(), i)));
            below.push((i, factor));
        }
        steps.push(Step { piece, own, below });
    }
    Some(steps)
}

/// The factor of a block that is positive definite but for rounding.
fn cholesky(block: &Matrix6<f64>, shift: f64) -> Option<Cholesky<f64, Const<6>>> {
    let block = 0.5 * (block + block.transpose());
    let shifted = |times: f64| (block + times * shift * Matrix6::identity()).cholesky();
    [0.0, 1.0, 10.0, 100.0].into_iter().find_map(shifted)
}

fn solve(steps: &[Step], mut x: Vec<Block>) -> Vec<Block> {
    for Step { piece, below, .. } in steps {
        let own = x[*piece];
        below.iter().for_each(|(other, factor)| x[*other] -= factor * own);
    }
    for Step { piece, own, below } in steps.iter().rev() {
        let others = below.iter().fold(Block::zeros(), |sum, (other, factor)| sum + factor.transpose() * x[*other]);
        x[*piece] = own.solve(&x[*piece]) - others;
    }
    x
}

/// The same space with orthonormal vectors.
fn orthonormal(vectors: &[Block]) -> Vec<Block> {
    let all = DMatrix::from_fn(6 * vectors.len(), VECTORS, |i, j| vectors[i / 6][(i % 6, j)]);
    let q = all.qr().q();
    (0..vectors.len()).map(|i| q.fixed_view::<6, VECTORS>(6 * i, 0).into_owned()).collect()
}

/// Numbers between -1 and 1, the same each time.
fn random(n: usize) -> Vec<Block> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| Block::from_fn(|_, _| next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many motions, of those looked for, are left to pieces in a row along x, the first held; each joint passes on the
    /// first `n_rows` of shifts and turns.
    fn left_to_chain(n: usize, n_rows: usize) -> usize {
        // The motion `t + w x r` of a piece at its end, `r = (1, 0, 0)`, is that of the next at `r = (-1, 0, 0)`.
        let mut alike = DMatrix::zeros(6, 12);
        for c in 0..6 {
            (alike[(c, c)], alike[(c, 6 + c)]) = (1.0, -1.0);
        }
        for first in [0, 6] {
            (alike[(1, first + 5)], alike[(2, first + 4)]) = (1.0, -1.0);
        }
        let rows = alike.rows(0, n_rows);
        let joints = (1..n).map(|i| (vec![i - 1, i], rows.transpose() * rows));
        let constraints: Vec<Constraint> = joints.chain([(vec![0], DMatrix::identity(6, 6))]).collect();
        null_spaces(n, &constraints).unwrap()[0].ncols()
    }

    #[test]
    fn a_long_chain_of_rigid_joints_is_held_and_one_of_hinges_is_not() {
        for n in [2, 7, 300, 1000] {
            // Each hinge turns, and no more vectors are looked for than there are.
            assert_eq!([6, 5].map(|n_rows| left_to_chain(n, n_rows)), [0, (n - 1).min(VECTORS)], "{n}");
        }
    }

    #[test]
    fn what_takes_too_long_is_not_begun() {
        let pairs = (0..400).flat_map(|i| (0..i).map(move |j| (vec![j, i], DMatrix::identity(12, 12))));
        assert!(null_spaces(400, &pairs.collect::<Vec<_>>()).is_none());
    }
}
