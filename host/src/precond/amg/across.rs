//! From a level to the next where ranks share it: what rows of one rank have of coarse nodes of another goes beside the
//! rank's own P; and the next level may be on each rank as a whole.

use super::cycle::Transfer;
use crate::device::{Buffer, Piece};
use crate::linalg::{Quotient, Space};
use crate::result::Result;
use crate::sparse::{Halo, gather, scatter};
use kernels_rs::real::Real;
use std::mem::replace;
use std::slice;

/// What a transfer has across ranks.
pub struct Across<T: Real> {
    /// `P c` of rows and coarse nodes of different ranks.
    pub up: Halo<T>,
    /// `P^T d`, likewise.
    pub down: Halo<T>,
    /// Where the next level is on each rank as a whole: how.
    pub gathered: Option<Gathered>,
}

/// A level that each rank has as a whole: the entries of one rank after those of the other.
pub struct Gathered {
    /// The entries of the rank's own vector that are its own.
    pub own: Buffer<u32>,
    /// The places that they have in the whole one.
    pub places: Buffer<u32>,
    /// Entries of the rank's own vector.
    pub n_own: usize,
    /// Entries of each rank in the whole one.
    pub numbers: Vec<usize>,
}

impl Gathered {
    /// Entries of the whole vector.
    pub fn n(&self) -> usize {
        self.numbers.iter().sum()
    }

    /// The whole vector from what each rank has.
    fn whole<T: Real>(&self, space: &Space, own: &Buffer<T>) -> Result<Buffer<T>> {
        let (rank, own, mut whole) = (space.comm().rank(), gather(space, own, &self.own)?, space.zeros(self.n())?);
        let (mut first, mut come) = (0, Vec::new());
        for (rank, number) in self.numbers.iter().enumerate() {
            come.push(Piece { rank, first: first * size_of::<T>(), bytes: number * size_of::<T>() });
            first += number;
        }
        come.remove(rank);
        let sent: Vec<Piece> =
            come.iter().map(|piece| Piece { first: 0, bytes: own.len() * size_of::<T>(), ..*piece }).collect();
        space.exchange((&own, &sent), (&mut whole, &come))?;
        scatter(space, &own, &self.places, &mut whole)?;
        Ok(whole)
    }

    /// What a rank has of the whole vector.
    fn part<T: Real>(&self, space: &Space, whole: &Buffer<T>) -> Result<Buffer<T>> {
        let mut part = space.zeros(self.n_own)?;
        scatter(space, &gather(space, whole, &self.places)?, &self.own, &mut part)?;
        Ok(part)
    }
}

impl<T: Real> Across<T> {
    /// `P^T (r - q)`; q is scratch afterwards.
    pub fn restrict(&self, space: &Space, transfer: &mut Transfer<T>, r: &Buffer<T>, q: &mut Buffer<T>) -> Result<()> {
        if self.gathered.is_some() {
            transfer.on_next()[0][0] = space.zeros(transfer.n_coarse())?;
        }
        transfer.restrict_parts::<1>(space, (slice::from_ref(r), slice::from_ref(q)), 0)?;
        space.xpby(r, Quotient::MINUS_ONE, q)?;
        let coarse = &mut transfer.on_next()[0][0];
        self.down.add(space, q, coarse)?;
        if let Some(gathered) = &self.gathered {
            *coarse = gathered.whole(space, coarse)?;
        }
        Ok(())
    }

    /// `to = z + P c`.
    pub fn prolong(&self, space: &Space, transfer: &mut Transfer<T>, z: &Buffer<T>, to: &mut Buffer<T>) -> Result<()> {
        let part =
            self.gathered.as_ref().map(|gathered| gathered.part(space, &transfer.on_next()[1][0])).transpose()?;
        let whole = part.map(|part| replace(&mut transfer.on_next()[1][0], part));
        transfer.prolong_parts::<1>(space, slice::from_ref(z), slice::from_mut(to), 0)?;
        let of_next = &mut transfer.on_next()[1][0];
        self.up.add(space, of_next, to)?;
        if let Some(whole) = whole {
            *of_next = whole;
        }
        Ok(())
    }
}
