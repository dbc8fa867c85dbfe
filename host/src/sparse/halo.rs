//! Products with a matrix whose rows the ranks share: each has its own rows and columns as a matrix by itself, and what its
//! rows have of other ranks' nodes beside that. Entries of other ranks arrive while the own product is computed.

use super::interface::{CrossRows, Interface, Neighbour, Node};
use super::sums::{Lists, SparseSums};
use super::{LinOp, gather_into};
use crate::device::{Buffer, Piece};
use crate::linalg::Space;
use crate::result::Result;
use cuda_std::prelude::ViewMut;
use kernels_rs::real::Real;
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;

/// Which entries of vectors go to which ranks, and how many come.
pub struct Exchange<T: Real> {
    /// The entries that are sent, to one neighbour after the other.
    sends: Buffer<u32>,
    sent: Vec<Piece>,
    come: Vec<Piece>,
    /// What goes, and what has come.
    packed: RefCell<Buffer<T>>,
    outside: RefCell<Buffer<T>>,
}

impl<T: Real> Exchange<T> {
    /// Of nodes with `size` entries each.
    pub fn new(space: &Space, neighbours: &[Neighbour], size: usize) -> Result<Self> {
        let sends = neighbours.iter().flat_map(|of| &of.sends).flat_map(|row| entries(*row, size)).collect();
        let pieces = |number: fn(&Neighbour) -> usize| {
            let mut first = 0;
            let piece = |of: &Neighbour| {
                let bytes = size * size_of::<T>() * number(of);
                first += bytes;
                Piece { rank: of.rank, first: first - bytes, bytes }
            };
            neighbours.iter().map(piece).filter(|piece| piece.bytes > 0).collect::<Vec<_>>()
        };
        let (sent, come) = (pieces(|of| of.sends.len()), pieces(|of| of.ghosts.len()));
        let n = come.last().map_or(0, |last| (last.first + last.bytes) / size_of::<T>());
        let sends = space.upload_vec(sends)?;
        let (packed, outside) = (RefCell::new(space.zeros(sends.len())?), RefCell::new(space.zeros(n)?));
        Ok(Exchange { sends, sent, come, packed, outside })
    }

    /// Sends what the others wait for.
    fn begin(&self, space: &Space, x: &Buffer<T>) -> Result<()> {
        let mut packed = self.packed.borrow_mut();
        gather_into(space, x, &self.sends, &mut packed)?;
        space.begin_exchange((&packed, &self.sent), (&mut self.outside.borrow_mut(), &self.come))
    }

    /// What has come from the others, one after the other; waits.
    fn end(&self, space: &Space) -> Result<Ref<'_, Buffer<T>>> {
        space.end_exchange(&mut self.outside.borrow_mut(), &self.come)?;
        Ok(self.outside.borrow())
    }

    /// The entries of x that are other ranks'.
    pub fn outside(&self, space: &Space, x: &Buffer<T>) -> Result<Ref<'_, Buffer<T>>> {
        self.begin(space, x)?;
        self.end(space)
    }
}

/// The entries of a node.
fn entries(row: u32, size: usize) -> std::ops::Range<u32> {
    row * size as u32..(row + 1) * size as u32
}

/// Rows of a sparse matrix whose columns may be of any rank.
pub struct Halo<T: Real> {
    exchange: Exchange<T>,
    own: Option<SparseSums<T>>,
    outside: Option<SparseSums<T>>,
    /// The largest sum of magnitudes in each block row.
    row_sums: Vec<(u32, f64)>,
}

impl<T: Real> Halo<T> {
    /// What an interface adds to the rank's own matrix.
    pub fn of(space: &Space, interface: &Interface) -> Result<Self> {
        let Interface { rank, neighbours, rows } = interface;
        Halo::new(space, (*rank, neighbours), rows)
    }

    /// Of these rows.
    pub fn new(space: &Space, (rank, neighbours): (u32, &[Neighbour]), rows: &CrossRows) -> Result<Self> {
        let size = rows.size;
        let ghosts = neighbours.iter().flat_map(|of| &of.ghosts).zip(0..);
        let places: BTreeMap<Node, u32> = ghosts.map(|(node, place)| (*node, place)).collect();
        let (mut lists, mut row_sums) = ([Lists::empty(), Lists::empty()], Vec::with_capacity(rows.rows.len()));
        for (row, blocks) in &rows.rows {
            let mut largest = 0.0;
            for (target, i) in entries(*row, size[0]).zip(0..) {
                let mut terms = [Vec::new(), Vec::new()];
                for (node, block) in blocks {
                    let (is_outside, column) = if node.rank == rank { (0, node.row) } else { (1, places[node]) };
                    let of_row = entries(column, size[1]).zip(block[i * size[1]..].iter().copied());
                    terms[is_outside].extend(of_row.filter(|term| term.1 != 0.0));
                }
                largest = f64::max(largest, terms.iter().flatten().map(|term| term.1.abs()).sum());
                let there = lists.iter_mut().zip(terms).filter(|(_, terms)| !terms.is_empty());
                there.for_each(|(lists, terms)| lists.push(target, terms.into_iter()));
            }
            row_sums.push((*row, largest));
        }
        let [own, outside] = lists
            .map(|lists| if lists.targets.is_empty() { Ok(None) } else { SparseSums::new(space, lists).map(Some) });
        let exchange = Exchange::new(space, neighbours, size[1])?;
        Ok(Halo { exchange, own: own?, outside: outside?, row_sums })
    }

    /// `y += A x`, x of all ranks.
    pub fn add(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        self.exchange.begin(space, x)?;
        self.end(space, x, y)
    }

    /// The same once entries have been sent.
    fn end(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        let outside = self.exchange.end(space)?;
        let launch = |sums: &SparseSums<T>, x: &Buffer<T>, y: ViewMut<T>| {
            // SAFETY: x and y live and are different vectors of the ranks; what is freed is freed in its order.
            unsafe { sums.launch(space, false, true, x.view(), y) }
        };
        self.own.as_ref().map_or(Ok(()), |sums| launch(sums, x, y.view_mut()))?;
        self.outside.as_ref().map_or(Ok(()), |sums| launch(sums, &outside, y.view_mut()))
    }
}

/// An operator of a rank's own rows and columns, with what its rows have of other ranks' nodes if there are any.
pub struct Shared<'a, T: Real> {
    operator: &'a dyn LinOp<T>,
    halo: Option<&'a Halo<T>>,
}

impl<'a, T: Real> Shared<'a, T> {
    /// Of the rank's own operator.
    pub fn new(operator: &'a dyn LinOp<T>, halo: Option<&'a Halo<T>>) -> Self {
        Shared { operator, halo }
    }

    /// The operator of all ranks.
    pub fn operator(&self) -> &dyn LinOp<T> {
        if self.halo.is_some() { self } else { self.operator }
    }
}

impl<T: Real> LinOp<T> for Shared<'_, T> {
    fn n(&self) -> usize {
        self.operator.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        let Some(halo) = self.halo else { return self.operator.apply(space, x, y) };
        halo.exchange.begin(space, x)?;
        self.operator.apply(space, x, y)?;
        halo.end(space, x, y)
    }

    /// An upper bound where a row has other ranks' nodes.
    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        let mut sums = space.take(self.operator.row_sums(space)?)?;
        for (row, sum) in self.halo.iter().flat_map(|halo| &halo.row_sums) {
            sums[*row as usize] += sum;
        }
        space.upload_vec(sums)
    }
}
