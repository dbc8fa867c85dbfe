//! Aggregates: disjoint sets of neighbouring nodes, each of which is a node of the next level.
//!
//! | step | source |
//! | --- | --- |
//! | roots: a maximal set of nodes no two of which are within two strong couplings of one another | Bell, Dalton, Olson 2012, alg. 5 |
//! | an aggregate is a root with its neighbours | the same, alg. 4 |
//! | what is left over: once more, where a root has enough neighbours that are left over too | Kelley, Rajamanickam 2022, alg. 3 |
//! | the rest joins the aggregate of its strongest neighbour | the same |
//!
//! Each aggregate is connected. Nodes that are coupled to no other, those on supports, are in none: smoothing alone solves for them.

use super::strength::Strength;
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::NONE;
use kernels_rs::amg::aggregate::{BeginSet, Decide, GatherAround, JoinNeighbours, MarkRoots, Roots, SpreadKeys};
use std::mem::swap;

/// Neighbours that a root of the second set must have to itself.
const LEAST: u32 = 2;

/// The aggregate of each node.
pub struct Aggregates<B: Backend> {
    /// Of each node its aggregate, or [`NONE`], `[n]`.
    pub of_nodes: Vector<B, u32>,
    /// How many there are.
    pub number: usize,
}

impl<B: Backend> Aggregates<B> {
    /// Those of a level.
    pub fn new(backend: &B, pattern: &Pattern<B>, strength: &Strength<B>) -> Result<Self> {
        let n = pattern.n_rows;
        let graph = strength.graph(pattern.view());
        let mut found = Aggregates::<B> { of_nodes: backend.upload_vec(vec![NONE; n])?, number: 0 };
        let mut next = backend.zeros(n)?;
        for least in [0, LEAST] {
            let keys = independent_set(backend, pattern, strength, &found.of_nodes)?;
            let mut marks = backend.zeros(n)?;
            let (roots, aggregates) = (marks.view_mut(), found.of_nodes.view());
            // SAFETY: all live and have an entry per node.
            unsafe { backend.run(n, MarkRoots { least, graph, keys: keys.view(), aggregates, roots }) }?;
            let before = backend.exclusive_sum(&marks)?;
            let roots = Roots { marks: marks.view(), before: before.view(), first: found.number as u32 };
            // SAFETY: as above.
            unsafe { backend.run(n, GatherAround { graph, roots, from: aggregates, to: next.view_mut() }) }?;
            found.number += backend.read_at(&before, n)? as usize;
            swap(&mut found.of_nodes, &mut next);
        }
        let kernel = JoinNeighbours { graph, from: found.of_nodes.view(), to: next.view_mut() };
        // SAFETY: as above.
        unsafe { backend.run(n, kernel) }?;
        backend.finish()?;
        found.of_nodes = next;
        Ok(found)
    }
}

/// A maximal independent set of the square of the graph of the nodes that have no aggregate yet, as keys.
fn independent_set<B: Backend>(
    backend: &B,
    pattern: &Pattern<B>,
    strength: &Strength<B>,
    aggregates: &Vector<B, u32>,
) -> Result<Vector<B, u64>> {
    let n = pattern.n_rows;
    let (graph, aggregates) = (strength.graph(pattern.view()), aggregates.view());
    let [mut keys, mut once, mut twice] = [backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?];
    // SAFETY: all live and have an entry per node.
    unsafe { backend.run(n, BeginSet { linked: strength.linked.view(), aggregates, keys: keys.view_mut() }) }?;
    loop {
        let mut undecided = backend.zeros(1)?;
        let kernel =
            Decide { greatest: twice.view(), keys: keys.view_mut(), undecided: undecided.view_mut() };
        // SAFETY: as above; all live until `read_at`, which waits.
        unsafe {
            backend.run(n, SpreadKeys { graph, aggregates, from: keys.view(), to: once.view_mut() })?;
            backend.run(n, SpreadKeys { graph, aggregates, from: once.view(), to: twice.view_mut() })?;
            backend.run(n, kernel)?;
        }
        if backend.read_at(&undecided, 0)? == 0 {
            return Ok(keys);
        }
    }
}
