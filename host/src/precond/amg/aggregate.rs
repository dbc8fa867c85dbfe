//! Aggregates: disjoint sets of neighbouring nodes, each of which is a node of the next level (Bell, Dalton, Olson
//! 2012, alg. 4 and 5).
//!
//! Roots are a maximal set of nodes no two of which are within two strong couplings of one another. An aggregate is a
//! root with its neighbours; what is left over has one of these next to it, and joins that of its strongest neighbour.
//! So each aggregate is connected. Nodes that are coupled to no other, those on supports, are in none: smoothing alone
//! solves for them.
//!
//! A second set of roots in what is left over (Kelley, Rajamanickam 2022) makes two to three times as many aggregates:
//! too many for what they save in iterations.

use super::strength::Strength;
use crate::backend::{Backend, Buffer, Vector};
use crate::result::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::aggregate::{BeginSet, Decide, GatherAround, JoinNeighbours, MarkRoots, Roots, SpreadKeys};

/// The aggregate of each node.
pub struct Aggregates<B: Backend> {
    /// Of each node its aggregate, or [`kernels_rs::amg::NONE`], `[n]`.
    pub of_nodes: Vector<B, u32>,
    /// How many there are.
    pub number: usize,
}

impl<B: Backend> Aggregates<B> {
    /// Those of a level.
    pub fn new(backend: &B, pattern: &Pattern<B>, strength: &Strength<B>) -> Result<Self> {
        let n = pattern.n_rows;
        let graph = strength.graph(pattern.view());
        let keys = independent_set(backend, pattern, strength)?;
        let (mut marks, mut around, mut of_nodes) = (backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?);
        // SAFETY: both live and have an entry per node.
        unsafe { backend.run(n, MarkRoots { keys: keys.view(), roots: marks.view_mut() }) }?;
        let before = backend.exclusive_sum(&marks)?;
        let number = backend.read_at(&before, n)? as usize;
        let roots = Roots { marks: marks.view(), before: before.view() };
        // SAFETY: all live until `finish` and have an entry per node.
        unsafe {
            backend.run(n, GatherAround { graph, roots, to: around.view_mut() })?;
            backend.run(n, JoinNeighbours { graph, from: around.view(), to: of_nodes.view_mut() })?;
        }
        backend.finish()?;
        Ok(Aggregates { of_nodes, number })
    }
}

/// A maximal independent set of the square of the graph, as keys.
fn independent_set<B: Backend>(backend: &B, pattern: &Pattern<B>, strength: &Strength<B>) -> Result<Vector<B, u64>> {
    let n = pattern.n_rows;
    let graph = strength.graph(pattern.view());
    let [mut keys, mut within_one] = [backend.zeros(n)?, backend.zeros(n)?];
    // SAFETY: all live and have an entry per node.
    unsafe { backend.run(n, BeginSet { linked: strength.linked.view(), keys: keys.view_mut() }) }?;
    loop {
        let mut undecided = backend.zeros(1)?;
        let (to, of_one) = (within_one.view_mut(), within_one.view());
        let kernel = Decide { graph, within_one: of_one, keys: keys.view_mut(), undecided: undecided.view_mut() };
        // SAFETY: as above; all live until `read_at`, which waits.
        unsafe {
            backend.run(n, SpreadKeys { graph, from: keys.view(), to })?;
            backend.run(n, kernel)?;
        }
        if backend.read_at(&undecided, 0)? == 0 {
            return Ok(keys);
        }
    }
}
