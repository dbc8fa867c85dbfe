//! From a level to the next where ranks share it: what rows of one rank have of coarse nodes of another goes beside the
//! rank's own P; and the next level may be on each rank as a whole.

use crate::device::{Buffer, Piece, running_sums};
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{Halo, gather_into, scatter};
use kernels_rs::real::Real;
use std::cell::RefCell;

/// What a transfer has across ranks.
pub struct Across<T: Real> {
    /// `P c` of rows and coarse nodes of different ranks.
    pub up: Halo<T>,
    /// `P^T d`, likewise.
    pub down: Halo<T>,
    /// Where the next level is on each rank as a whole: how.
    pub gathered: Option<Gathered<T>>,
}

/// A level that each rank has as a whole: the entries of one rank after those of the other.
pub struct Gathered<T: Real> {
    /// The entries of the rank's own vector that are its own.
    own: Buffer<u32>,
    /// The places that they have in the whole one.
    places: Buffer<u32>,
    /// Entries of the whole one.
    n: usize,
    /// What goes to each other rank, and what comes.
    sent: Vec<Piece>,
    come: Vec<Piece>,
    /// The rank's own entries, and its own vectors.
    packed: RefCell<Buffer<T>>,
    pub(super) vectors: RefCell<[Buffer<T>; 2]>,
}

impl<T: Real> Gathered<T> {
    /// Of a rank's own entries among `n_own`; `numbers` are those of each rank.
    pub fn new(space: &Space, own: Vec<u32>, n_own: usize, numbers: &[usize]) -> Result<Self> {
        let (rank, bytes) = (space.comm().rank(), size_of::<T>());
        let first = running_sums(numbers.iter().copied());
        let mut come: Vec<Piece> = (0..numbers.len())
            .map(|rank| Piece { rank, first: bytes * first[rank], bytes: bytes * numbers[rank] })
            .collect();
        come.remove(rank);
        let sent = come.iter().map(|piece| Piece { first: 0, bytes: bytes * own.len(), ..*piece }).collect();
        let places = (first[rank] as u32..first[rank + 1] as u32).collect();
        Ok(Gathered {
            places: space.upload_vec(places)?,
            n: first[numbers.len()],
            sent,
            come,
            packed: RefCell::new(space.zeros(own.len())?),
            vectors: RefCell::new([space.zeros(n_own)?, space.zeros(n_own)?]),
            own: space.upload_vec(own)?,
        })
    }

    /// Entries of the whole vector.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The whole vector from what each rank has.
    pub(super) fn join(&self, space: &Space, own: &Buffer<T>, whole: &mut Buffer<T>) -> Result<()> {
        let mut packed = self.packed.borrow_mut();
        gather_into(space, own, &self.own, &mut packed)?;
        space.exchange((&packed, &self.sent), (whole, &self.come))?;
        scatter(space, &packed, &self.places, whole)
    }

    /// What a rank has of the whole vector.
    pub(super) fn part(&self, space: &Space, whole: &Buffer<T>, own: &mut Buffer<T>) -> Result<()> {
        let mut packed = self.packed.borrow_mut();
        gather_into(space, whole, &self.places, &mut packed)?;
        scatter(space, &packed, &self.own, own)
    }
}
