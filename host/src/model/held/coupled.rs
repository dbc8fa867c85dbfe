//! Constraints in the graph of pieces: each is a row over the motions of all pieces that it has nodes of.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector, Matrix6, SymmetricEigen, Vector6};

use super::pieces::Pieces;
use super::rank::{Constraint, null_space, null_spaces};
use crate::model::Constraints;

/// A piece rests if, in free motions of length 1, the square of its own length is below this.
const AT_REST: f64 = 1e-10;

/// A constraint on the motions of pieces: for each of them what it sees.
type Row = BTreeMap<usize, Vector6<f64>>;

fn rows<'a>(pieces: &'a Pieces<'_>, constraints: &'a Constraints) -> impl Iterator<Item = (Option<u32>, Row)> + 'a {
    constraints.sums().map(|(terms, entry)| {
        let mut row = Row::new();
        for (dof, factor) in terms {
            // Pieces that share a node are held to each other there.
            if let Some(piece) = pieces.at(dof.node).next() {
                let x = pieces.mesh.coords[dof.node as usize];
                let seen = factor * pieces.frames[piece].row(x, dof.component.into());
                *row.entry(piece).or_insert_with(Vector6::zeros) += seen;
            }
        }
        (entry, row)
    })
}

/// The motions that supports, with these Gram matrices, and constraints leave to each piece; none to any if that takes
/// too long to say.
pub(super) fn spaces(pieces: &Pieces<'_>, grams: &[Matrix6<f64>], constraints: &Constraints) -> Vec<Vec<Vector6<f64>>> {
    if let [gram] = grams {
        let mut alone = [*gram];
        add(pieces, &mut alone, constraints);
        return vec![null_space(&alone[0])];
    }
    let mut of_pieces: BTreeMap<(Option<u32>, Vec<usize>), DMatrix<f64>> = BTreeMap::new();
    for (entry, row) in rows(pieces, constraints) {
        let at: Vec<usize> = row.keys().copied().collect();
        let flat = DVector::from_iterator(6 * at.len(), row.values().flat_map(|seen| seen.iter().copied()));
        let gram = of_pieces.entry((entry, at)).or_insert_with(|| DMatrix::zeros(flat.len(), flat.len()));
        *gram += &flat * flat.transpose();
    }
    let of_supports = grams.iter().enumerate();
    let of_supports = of_supports.map(|(piece, gram)| (vec![piece], DMatrix::from_column_slice(6, 6, gram.as_slice())));
    let of_constraints = of_pieces.into_iter().map(|((_, at), gram)| (at, gram));
    let all: Vec<Constraint> = of_supports.chain(of_constraints).filter(|(at, _)| !at.is_empty()).collect();
    let Some(found) = null_spaces(grams.len(), &all) else { return vec![Vec::new(); grams.len()] };
    found.into_iter().map(|rows| share(&rows)).collect()
}

/// What a piece has of some motions of all pieces, orthonormal.
pub(super) fn share(rows: &DMatrix<f64>) -> Vec<Vector6<f64>> {
    let own = SymmetricEigen::new(Matrix6::from_iterator((rows * rows.transpose()).iter().copied()));
    (0..6).filter(|&k| own.eigenvalues[k] > AT_REST).map(|k| own.eigenvectors.column(k).into()).collect()
}

/// Adds the constraints to the Gram matrices of the pieces, each as if the others were at rest.
pub(super) fn add(pieces: &Pieces<'_>, grams: &mut [Matrix6<f64>], constraints: &Constraints) {
    for (_, row) in rows(pieces, constraints) {
        row.into_iter().for_each(|(piece, seen)| grams[piece] += seen * seen.transpose());
    }
}

/// The number of the group of coupled pieces that each piece is in.
pub(super) fn groups(pieces: &Pieces<'_>, constraints: &Constraints) -> Vec<u32> {
    let (labels, _) = constraints.parts(pieces.mesh);
    let mut groups = vec![0; pieces.frames.len()];
    for (node, label) in labels.iter().enumerate() {
        pieces.at(node as u32).for_each(|piece| groups[piece] = *label);
    }
    groups
}
