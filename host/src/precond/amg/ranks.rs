//! The hierarchy of a body that ranks share.
//!
//! Aggregates are of a rank's own nodes. With `A = A_r + H` in the rows of a rank, A_r its own rows and columns and H the
//! rest, and `P_r = P_0 - omega D^-1 A_r P_0`,
//!
//! ```text
//! P = P_r + X,   X = - omega D^-1 H P_0,   A_c = P_r^T A_r P_r + P_r^T E + X^T (A_r P_r + E),   E = A_r X + H P
//! ```
//!
//! The first term is what a rank does with a matrix of its own, on its device. The others concern rows of other ranks' nodes
//! and their neighbours, and are found on the host. Levels that have become small are put together on each rank.
//!
//! Couplings are between nodes of one rank. Rows of slaves in P_0, P_r and X are those of their masters, as without ranks.

use super::across::{Across, Gathered};
use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns};
use super::coupled::without_slaves;
use super::cycle::{Level, Transfer};
use super::fine::Fine;
use super::galerkin::Galerkin;
use super::messages::Message;
use super::setup::{Coarsening, Symbolic, aggregate};
use super::smoother::{FEW, Smoother};
use super::strength::{REACH, Strength};
use super::tentative::{Modes, members};
use super::{Amg, CoarseMatrix, LevelSize, MOST_LEVELS, NextLevel, OMEGA, Parts, scaled_to, stacks, vertices};
use crate::device::Buffer;
use crate::linalg::{Space, values_in};
use crate::precond::Context;
use crate::result::{Error, Result};
use crate::sparse::{
    self, AUTO, CoupledRows, CrossRows, CrossTransfer, Halo, Interface, Interfaces, LinOp, Matrix, Node, Pattern,
    Sparsity, Tuning,
};
use cuda_std::prelude::View;
use kernels_rs::real::Real;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A level that ranks share.
struct SharedLevel {
    /// The rank's own rows and columns.
    below: CoarseMatrix,
    /// What they have of other ranks.
    interface: Interface,
    /// The rows whose nodes are the rank's own.
    own: Vec<u32>,
}

/// The hierarchy of an operator of all ranks; `fine` is the rank's own part, of an operator with entries.
pub(super) fn build<T: Real>(
    space: &Space,
    (operator, inverse): (&dyn LinOp<T>, Buffer<T>),
    mut fine: Option<Fine<T>>,
    (context, interfaces): (&Context, &Interfaces),
) -> Result<Amg<T>> {
    let size = interfaces.finest.rows.size[0];
    let mut parts = Parts::begin(LevelSize { size, rows: 0, blocks: 0 }, None);
    let blocks = fine.as_ref().map_or(0, |fine| fine.pattern.n_blocks());
    parts.hierarchy.levels[0] = level_size(space, size, interfaces.own.len(), blocks)?;
    let unscaled = View::from_slice(&[]);
    if let (Some(fine), Some(coords)) = (&mut fine, context.coords) {
        fine.blocks = stacks::inverse(space, fine, coords, stacks::flat(context), context.coupled.is_some())?;
        parts.is_flat = fine.blocks.is_some();
    }
    let flat = fine.as_ref().and_then(|fine| fine.blocks.as_ref());
    let smoother = Smoother::new(space, operator, inverse, flat, unscaled, FEW)?;
    parts.lap(space, |times| &mut times.smoothing)?;
    // The vertices' matrix is known but for couplings.
    let fine = fine.filter(|_| interfaces.vertices.is_none() || interfaces.is_coupled);
    let at = |coords| Place {
        interface: &interfaces.finest,
        own: &interfaces.own,
        coords,
        level: 0,
        reach: REACH,
        coupled: context.coupled,
    };
    let level = match (&interfaces.vertices, fine, context.coords) {
        (Some((interface, own, transfer)), None, _) => {
            let Some(NextLevel { prolongator, columns, below }) = vertices::known(space, context)? else {
                return Err(missing("vertices of its elements"));
            };
            let level = SharedLevel { below, interface: interface.clone(), own: own.clone() };
            let across = across(space, &interfaces.finest, interface, transfer)?;
            parts.push(space, smoother, (prolongator, columns), across)?;
            parts.count(space, &level)?;
            level
        }
        (Some((_, own, transfer)), Some(fine), Some(coords)) => {
            let at = at(coords);
            let mut strength = Strength::new(space, &fine, coords, 0, REACH)?;
            strength.couple(space, &coupled_elsewhere(at.interface))?;
            let free = without_slaves(space, context.coupled, size, strength.free)?;
            let found = context.ends.map(|ends| vertices::vertices(space, size, ends, coords, &free)).transpose()?;
            let Some(found) = found.flatten() else { return Err(missing("vertices of its elements")) };
            let found = found.coupled(space, context.coupled, context.ends)?;
            parts.push_found(space, (smoother, &fine), &at, (found, own.clone(), Some(&transfer.up)))?
        }
        (None, Some(fine), Some(coords)) => {
            let at = at(coords);
            let modes = |free: Buffer<u8>| {
                let free = without_slaves(space, context.coupled, size, free)?;
                Modes::rigid(space, size, coords, &free).map(Rc::new)
            };
            parts.coarsen(space, (smoother, &fine), &at, (Modes::rigid_number(size), &modes))?
        }
        _ => return Err(missing("assembled operator")),
    };
    parts.below_shared(space, level, interfaces.gathered)?;
    Ok(parts.amg())
}

fn missing(what: &str) -> Error {
    Error::NotAvailable { what: "multigrid on several devices without", name: what.into(), available: vec!["jacobi"] }
}

/// Sizes of a level of all ranks.
fn level_size(space: &Space, size: usize, rows: usize, blocks: usize) -> Result<LevelSize> {
    let mut sums = [rows as f64, blocks as f64];
    space.add_ranks(&mut sums)?;
    Ok(LevelSize { size, rows: sums[0] as usize, blocks: sums[1] as usize })
}

/// The way from a level to the next.
fn across<T: Real>(
    space: &Space,
    Interface { rank, neighbours, .. }: &Interface,
    next: &Interface,
    transfer: &CrossTransfer,
) -> Result<Across<T>> {
    let up = Halo::new(space, (*rank, &next.neighbours), &transfer.up)?;
    let down = Halo::new(space, (*rank, neighbours), &transfer.down)?;
    Ok(Across { up, down, gathered: None })
}

/// The modes of a level from a bit for each component that is free.
type OfFree<'a> = dyn Fn(Buffer<u8>) -> Result<Rc<Modes>> + 'a;

/// A level that is to be coarsened.
struct Place<'a> {
    interface: &'a Interface,
    own: &'a [u32],
    coords: &'a Buffer<[f64; 3]>,
    level: usize,
    reach: f64,
    /// Couplings around its matrix.
    coupled: Option<&'a CoupledRows>,
}

impl<T: Real> Parts<'_, T> {
    /// Adds a level with its way to the next.
    fn push(
        &mut self,
        space: &Space,
        smoother: Smoother<T>,
        (prolongator, columns): (Rc<BlockRows<f64>>, Rc<Columns>),
        across: Across<T>,
    ) -> Result<()> {
        let prolongator = scaled_to(space, prolongator, View::from_slice(&[]))?;
        let transfer = Transfer::new(space, prolongator, columns)?.across(Some(across));
        self.levels.push(Level::new(space, smoother, Some(transfer))?);
        self.lap(space, |times| &mut times.smoothing)
    }

    /// Notes the size of a level.
    fn count(&mut self, space: &Space, level: &SharedLevel) -> Result<()> {
        let CoarseMatrix { matrix, is_of_vertices, .. } = &level.below;
        let next = level_size(space, matrix.block_size(), level.own.len(), matrix.pattern().n_blocks())?;
        self.is_quadratic |= is_of_vertices;
        self.is_thin |= !is_of_vertices && next.is_thin();
        self.hierarchy.levels.push(next);
        Ok(())
    }

    /// The levels from the first on that has a matrix of its own.
    fn below_shared(&mut self, space: &Space, mut level: SharedLevel, gathered: usize) -> Result<()> {
        loop {
            let unknowns = self.hierarchy.levels.last().map_or(0, LevelSize::unknowns);
            let before = self.hierarchy.levels.iter().rev().nth(1).map_or(0, LevelSize::unknowns);
            if unknowns <= gathered || unknowns == before || self.levels.len() + 1 == MOST_LEVELS {
                let (whole, how) = whole(space, &level)?;
                self.levels.last_mut().map_or(Ok(()), |level| level.gather(space, how))?;
                return space.apart(|| self.below(space, Some(whole)));
            }
            level = self.next_shared(space, level)?;
        }
    }

    /// Adds a level that has a matrix; the next one.
    fn next_shared(&mut self, space: &Space, level: SharedLevel) -> Result<SharedLevel> {
        let SharedLevel { below, interface, own } = level;
        let (smoother, fine) = self.smoothed(space, &below, Some(&interface))?;
        let CoarseMatrix { modes, coords, .. } = &below;
        let (level, reach) = (self.levels.len(), below.reach());
        let at = Place { interface: &interface, own: &own, coords, level, reach, coupled: None };
        self.coarsen(space, (smoother, &fine), &at, (modes.number, &|_| Ok(modes.clone())))
    }

    /// Adds a level; the next one.
    fn coarsen<R: Real>(
        &mut self,
        space: &Space,
        (smoother, fine): (Smoother<T>, &Fine<R>),
        at: &Place,
        (n_modes, modes): (usize, &OfFree),
    ) -> Result<SharedLevel> {
        let beside = coupled_elsewhere(at.interface);
        let found = aggregate(space, fine, at.coords, (at.level, at.reach, &beside), n_modes, modes)?;
        let mut is_missing = [f64::from(u8::from(found.is_none()))];
        space.largest_of_ranks(&mut is_missing)?;
        let coarsening = match found {
            Some(found) if is_missing == [0.0] => found,
            _ => same(space, fine, (at, &beside), modes)?,
        };
        let coarsening = coarsening.coupled(space, at.coupled, None)?;
        let own = (0..coarsening.tentative.shape.n_columns as u32).collect();
        self.push_found(space, (smoother, fine), at, (coarsening, own, None))
    }

    /// Adds a level from which the way to the next is known, with what P has across ranks if that is known too; the next one, of
    /// which these rows are the rank's own.
    fn push_found<R: Real>(
        &mut self,
        space: &Space,
        (smoother, fine): (Smoother<T>, &Fine<R>),
        at: &Place,
        (coarsening, own, cross): (Coarsening, Vec<u32>, Option<&CrossRows>),
    ) -> Result<SharedLevel> {
        self.lap(space, |times| &mut times.aggregation)?;
        let symbolic = Symbolic::new(space, fine, coarsening)?;
        self.lap(space, |times| &mut times.symbolic)?;
        let omega = OMEGA / smoother.upper;
        let (prolongator, matrix) = symbolic.values(space, fine, omega)?;
        let Coarsening { modes, coords, .. } = &symbolic.coarsening;
        let galerkin = Galerkin {
            space,
            fine,
            interface: at.interface,
            prolongator: &prolongator,
            from: &symbolic.coarsening,
            omega,
        };
        let (interface, transfer) = galerkin.interface(cross)?;
        let across = across(space, at.interface, &interface, &transfer)?;
        self.lap(space, |times| &mut times.numeric)?;
        let (modes, coords, is_of_vertices) = (modes.clone(), coords.clone(), cross.is_some());
        let below = CoarseMatrix { matrix: Rc::new(matrix), modes, coords, is_of_vertices };
        self.push(space, smoother, (prolongator, symbolic.columns.clone()), across)?;
        let level = SharedLevel { below, interface, own };
        self.count(space, &level)?;
        Ok(level)
    }
}

/// The rows with something of other ranks' nodes, and a bit for each component that has.
fn coupled_elsewhere(interface: &Interface) -> Vec<(u32, u8)> {
    let size = interface.rows.size[0];
    let bits = |block: &[f64]| {
        let is_coupled = |i: &usize| block[i * size..(i + 1) * size].iter().any(|value| *value != 0.0);
        (0..size).filter(is_coupled).fold(0, |bits, i| bits | 1 << i)
    };
    let of_row = |(row, blocks): (&u32, &BTreeMap<Node, Vec<f64>>)| {
        (*row, blocks.values().fold(0, |sum, block| sum | bits(block)))
    };
    interface.rows.rows.iter().map(of_row).filter(|of| of.1 != 0).collect()
}

/// A next level with the same nodes, where some rank has too few for aggregates.
fn same<R: Real>(
    space: &Space,
    fine: &Fine<R>,
    (at, beside): (&Place, &[(u32, u8)]),
    modes: &OfFree,
) -> Result<Coarsening> {
    let (n, size) = (fine.pattern.n_rows, fine.size);
    let mut strength = Strength::new(space, fine, at.coords, at.level, at.reach)?;
    strength.couple(space, beside)?;
    let modes = modes(strength.free)?;
    let mut of_nodes = vec![kernels_rs::amg::NONE; n];
    at.own.iter().zip(0..).for_each(|(row, place)| of_nodes[*row as usize] = place);
    let shape = members(space, &Aggregates { of_nodes: space.upload_vec(of_nodes)?, number: at.own.len() })?;
    let mut tentative = BlockRows::zeros(space, &Rc::new(shape), [size, size])?;
    let unit = (0..size * size).map(|k| f64::from(u8::from(k % (size + 1) == 0)));
    tentative.values = space.upload_vec(unit.cycle().take(at.own.len() * size * size).collect())?;
    let (all, coords) = (space.download(&modes.values)?, space.download(at.coords)?);
    let of_node = size * modes.number;
    let own = at.own.iter().map(|row| *row as usize);
    let values = own.clone().flat_map(|row| all[row * of_node..(row + 1) * of_node].to_vec()).collect();
    let coords = space.upload_vec(own.map(|row| coords[row]).collect())?;
    let modes = Rc::new(Modes { number: modes.number, values: space.upload_vec(values)? });
    Ok(Coarsening { tentative: Rc::new(tentative), is_smoothed: false, modes, coords: Rc::new(coords), sums: None })
}

/// Takes what the rest of the rows has on the diagonal into the inverse of that.
pub(super) fn add_to_diagonal<R: Real>(space: &Space, inverse: &mut Buffer<R>, interface: &Interface) -> Result<()> {
    let size = interface.rows.size[0];
    let own = interface.rows.blocks().filter(|(row, node, _)| *node == Node { rank: interface.rank, row: *row });
    let more: Vec<(u32, f64)> = own
        .flat_map(|(row, _, block)| (0..size).map(move |i| (row * size as u32 + i as u32, block[i * (size + 1)])))
        .collect();
    let places: Vec<u32> = more.iter().map(|of| of.0).collect();
    let mut values = sparse::pick(space, inverse, &places)?;
    for (value, (_, more)) in values.iter_mut().zip(more) {
        let diagonal = 1.0 / value.to_f64() + more;
        if value.to_f64() > 0.0 && diagonal > 0.0 {
            *value = R::from_f64(1.0 / diagonal);
        }
    }
    sparse::put(space, inverse, &places, &values)
}

/// A level of all ranks on each of them.
fn whole<T: Real>(space: &Space, level: &SharedLevel) -> Result<(CoarseMatrix, Gathered<T>)> {
    let SharedLevel { below: CoarseMatrix { matrix, modes, coords, .. }, interface, own } = level;
    let (size, comm, rank) = (matrix.block_size(), space.comm(), interface.rank);
    let rows_of_ranks: Vec<Vec<u32>> =
        comm.gather(bytemuck::cast_slice(own).to_vec())?.iter().map(|of| values_in(of)).collect();
    let first = crate::device::running_sums(rows_of_ranks.iter().map(Vec::len));
    let place = |node: Node| -> Option<u32> {
        let of_rank = &rows_of_ranks[node.rank as usize];
        Some((first[node.rank as usize] + of_rank.binary_search(&node.row).ok()?) as u32)
    };
    // The rank's own rows, then those of all.
    let (pattern, blocks) = (matrix.pattern().download(space)?, matrix.blocks(space)?);
    let mut message = Message::default();
    for row in own {
        let node = |row: u32| Node { rank, row };
        let mut sum = CrossRows::new([size; 2]);
        for k in pattern.range(*row as usize) {
            sum.add(0, node(pattern.columns[k]), &blocks[k * size * size..(k + 1) * size * size]);
        }
        interface.rows.row(*row).for_each(|(column, block)| sum.add(0, column, block));
        sum.row(0).for_each(|(column, block)| message.add(node(*row), column, block));
    }
    let all = comm.gather(message.bytes())?;
    let (mut row_start, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for (own, bytes) in rows_of_ranks.iter().zip(&all) {
        let message = Message::read(bytes);
        let mut rows: BTreeMap<u32, Vec<(u32, &[f64])>> = BTreeMap::new();
        for (row, column, block) in message.blocks(size * size) {
            if let (Some(row), Some(column)) = (place(row), place(column)) {
                rows.entry(row).or_default().push((column, block));
            }
        }
        debug_assert_eq!(rows.len(), own.len(), "rows without a diagonal");
        for (row, mut blocks) in rows {
            blocks.sort_unstable_by_key(|(column, _)| (*column != row, *column));
            columns.extend(blocks.iter().map(|of| of.0));
            blocks.iter().for_each(|of| values.extend_from_slice(of.1));
            row_start.push(columns.len() as u64);
        }
    }
    let pattern = Rc::new(Pattern::upload(space, Sparsity { row_start, columns })?);
    let mut whole = Matrix::<f64>::zeros(space, AUTO, size, &pattern, Tuning::default())?;
    whole.set_blocks(space, &values)?;
    whole.promise_symmetric();
    let all_of = |values: &[f64], width: usize| -> Result<Vec<f64>> {
        let own: Vec<f64> =
            own.iter().flat_map(|row| values[*row as usize * width..(*row as usize + 1) * width].to_vec()).collect();
        Ok(comm.gather(bytemuck::cast_slice(&own).to_vec())?.iter().flat_map(|of| values_in::<f64>(of)).collect())
    };
    let of_modes = all_of(&space.download(&modes.values)?, size * modes.number)?;
    let places = all_of(space.download(coords)?.as_flattened(), 3)?;
    let modes = Rc::new(Modes { number: modes.number, values: space.upload_vec(of_modes)? });
    let coords = Rc::new(space.upload_vec(places.as_chunks().0.to_vec())?);
    let entries = |row: u32| row * size as u32..(row + 1) * size as u32;
    let numbers: Vec<usize> = rows_of_ranks.iter().map(|of| of.len() * size).collect();
    let own = own.iter().flat_map(|row| entries(*row)).collect();
    let gathered = Gathered::new(space, own, matrix.n(), &numbers)?;
    Ok((CoarseMatrix { matrix: Rc::new(whole), modes, coords, is_of_vertices: level.below.is_of_vertices }, gathered))
}
