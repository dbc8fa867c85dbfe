//! The smoother's D where elements are flat: dense blocks of the nodes one above the other, see
//! [`kernels_rs::amg::stacks`]. With its diagonal alone a cycle leaves what bends a shell of elements 200 times as long
//! as thick nearly as it was.

use super::aggregate::Aggregates;
use super::blocks::Columns;
use super::fine::Fine;
use super::strength::Strength;
use super::tentative::members;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::Context;
use crate::result::Result;
use crate::sparse::{AUTO, Matrix, Pattern, Tuning};
use cuda_std::prelude::View;
use kernels_rs::amg::stacks::{
    CountStacked, FindStacked, GatherStacked, InvertStacked, ListStacked, MeasureLongest, Stacks,
};
use kernels_rs::real::Real;
use std::rc::Rc;

/// Stacks are worth their while if this part of all nodes is in one.
const WORTHWHILE: f64 = 0.1;

/// Nodes are one above the other if they are so many times as close as the farthest that both are coupled to: in linear
/// elements.
pub const LINEAR: f64 = 2.5;
/// And in those with nodes on edges, which are twice as close.
pub const QUADRATIC: f64 = 3.5;

/// The one of them that a finest level has.
pub fn flat(context: &Context) -> f64 {
    if context.ends.is_some() { QUADRATIC } else { LINEAR }
}

/// `D^-1` of the matrix of nodes at `coords`, stacked if they are `flat` times as close as the farthest; nothing if
/// hardly any elements are flat, in all ranks where these share the matrix, or the matrix is there in slabs alone. With couplings around the matrix its own `inverse`
/// diagonal is that of all.
pub fn inverse<R: Real>(
    space: &Space,
    fine: &Fine<R>,
    coords: &Buffer<[f64; 3]>,
    flat: f64,
    is_coupled: bool,
) -> Result<Option<Matrix<f64>>> {
    let Some((from, values)) = fine.whole() else { return Ok(None) };
    let n = fine.pattern.n_rows;
    let (strength, number) = stacked(space, fine.pattern, coords, flat)?;
    let is_worthwhile = |number: u64| {
        let mut of_ranks = [number as f64, n as f64];
        space.add_ranks(&mut of_ranks).map(|()| of_ranks[0] >= WORTHWHILE * of_ranks[1])
    };
    if !is_worthwhile(number)? {
        return Ok(None);
    }
    let aggregates = Aggregates::new(space, fine.pattern, &strength)?;
    let columns = Columns::new(space, &members(space, &aggregates)?)?;
    let of = Stacks { of_nodes: aggregates.of_nodes.view(), members: columns.view() };
    let mut counts = space.zeros(n)?;
    // SAFETY: all live until `exclusive_sum` and have an entry per node.
    unsafe { space.run(n, CountStacked { of, counts: counts.view_mut() }) }?;
    let row_start = space.exclusive_sum(&counts)?;
    let n_blocks = space.read_at(&row_start, n)? as usize;
    if !is_worthwhile((n_blocks - n) as u64)? {
        // Stacks of elements that are flat in two directions are too large.
        return Ok(None);
    }
    let mut columns = space.zeros(n_blocks)?;
    // SAFETY: as above, until `finish`, and a place for every block.
    unsafe { space.run(n, ListStacked { of, row_start: row_start.view(), columns: columns.view_mut() }) }?;
    space.finish()?;
    let blocks = Rc::new(Pattern { n_rows: n, row_start, columns });
    let mut inverse = Matrix::<f64>::zeros(space, AUTO, fine.size, &blocks, Tuning::default())?;
    let (to, blocks) = (inverse.entries(), inverse.values_mut());
    let diagonal = if is_coupled { fine.inverse.view() } else { View::from_slice(&[]) };
    let gather = GatherStacked { from, values, inverse: diagonal, to, blocks };
    // SAFETY: both matrices live until `finish`; a stack's entries belong to its first node.
    unsafe {
        space.run(n, gather)?;
        space.run(n, InvertStacked { entries: to, blocks })?;
    }
    space.finish()?;
    Ok(Some(inverse))
}

/// Couplings within stacks, for a matrix of these blocks whose nodes are at `coords`, and how many nodes have any.
fn stacked(space: &Space, pattern: &Pattern, coords: &Buffer<[f64; 3]>, flat: f64) -> Result<(Strength, u64)> {
    let n = pattern.n_rows;
    let (mut longest, mut marks) = (space.zeros(n)?, space.zeros(n)?);
    let mut found =
        Strength { strengths: space.zeros(pattern.n_blocks())?, free: space.zeros(0)?, linked: space.zeros(n)? };
    let measure = MeasureLongest { pattern: pattern.view(), coords: coords.view(), longest: longest.view_mut() };
    let find = FindStacked {
        pattern: pattern.view(),
        coords: coords.view(),
        longest: longest.view(),
        flat,
        strengths: found.strengths.view_mut(),
        linked: found.linked.view_mut(),
        marks: marks.view_mut(),
    };
    // SAFETY: all live until `exclusive_sum` and have an entry per node, or per coupling.
    unsafe {
        space.run(n, measure)?;
        space.run(n, find)?;
    }
    let number = space.read_at(&space.exclusive_sum(&marks)?, n)?;
    Ok((found, number))
}
