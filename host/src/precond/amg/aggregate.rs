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
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::NONE;
use kernels_rs::amg::aggregate::{BeginSet, Decide, GatherAround, JoinNeighbours, MarkRoots, Roots, SpreadKeys};

/// The aggregate of each node.
pub struct Aggregates {
    /// Of each node its aggregate, or [`kernels_rs::amg::NONE`], `[n]`.
    pub of_nodes: Buffer<u32>,
    /// How many there are.
    pub number: usize,
}

impl Aggregates {
    /// Those of a level.
    pub fn new(space: &Space, pattern: &Pattern, strength: &Strength) -> Result<Self> {
        let n = pattern.n_rows;
        let graph = strength.graph(pattern.view());
        let keys = independent_set(space, pattern, strength)?;
        let (mut marks, mut around, mut of_nodes) = (space.zeros(n)?, space.zeros(n)?, space.zeros(n)?);
        // SAFETY: both live and have an entry per node.
        unsafe { space.run(n, MarkRoots { keys: keys.view(), roots: marks.view_mut() }) }?;
        let before = space.exclusive_sum(&marks)?;
        let number = space.read_at(&before, n)? as usize;
        let roots = Roots { marks: marks.view(), before: before.view() };
        // SAFETY: all live until `finish` and have an entry per node.
        unsafe {
            space.run(n, GatherAround { graph, roots, to: around.view_mut() })?;
            space.run(n, JoinNeighbours { graph, from: around.view(), to: of_nodes.view_mut() })?;
        }
        space.finish()?;
        Ok(Aggregates { of_nodes, number })
    }
}

impl Aggregates {
    /// Makes those of some rows that are in none aggregates of their own: they are coupled to others than this level has.
    pub fn add_single(&mut self, space: &Space, rows: &[(u32, u8)]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut of_nodes = space.download(&self.of_nodes)?;
        for (row, _) in rows {
            let of_node = &mut of_nodes[*row as usize];
            if *of_node == NONE {
                *of_node = self.number as u32;
                self.number += 1;
            }
        }
        self.of_nodes = space.upload_vec(of_nodes)?;
        Ok(())
    }
}

/// A maximal independent set of the square of the graph, as keys.
fn independent_set(space: &Space, pattern: &Pattern, strength: &Strength) -> Result<Buffer<u64>> {
    let n = pattern.n_rows;
    let graph = strength.graph(pattern.view());
    let [mut keys, mut within_one] = [space.zeros(n)?, space.zeros(n)?];
    // SAFETY: all live and have an entry per node.
    unsafe { space.run(n, BeginSet { linked: strength.linked.view(), keys: keys.view_mut() }) }?;
    loop {
        let mut undecided = space.zeros(1)?;
        let (to, of_one) = (within_one.view_mut(), within_one.view());
        let kernel = Decide { graph, within_one: of_one, keys: keys.view_mut(), undecided: undecided.view_mut() };
        // SAFETY: as above; all live until `read_at`, which waits.
        unsafe {
            space.run(n, SpreadKeys { graph, from: keys.view(), to })?;
            space.run(n, kernel)?;
        }
        if space.read_at(&undecided, 0)? == 0 {
            return Ok(keys);
        }
    }
}
