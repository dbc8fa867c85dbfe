//! The cells of an element type sorted by colour, on a device: by [`Coloring::first_fit`] on the host, by kernels
//! elsewhere ([`kernels_rs::setup::coloring`]), which give the same colours unless cells wait for one another in chains
//! of more than `ROUNDS`.

use super::topology::CellBlock;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::mesh::coloring::Coloring;
use crate::result::Result;
use kernels_rs::setup::coloring::{ColorReady, ColorStarts, Colors, FirstReady, LANES, Ready, ReorderWaiting, Waiting};

/// Rounds in the order of the cells' numbers; cells that still wait then are coloured in another.
///
/// A box of 128 x 128 x 128 hexahedra takes 890 rounds, unstructured meshes of tens of thousands of tetrahedra under
/// 200. A row of a million cells would take a million.
const ROUNDS: usize = 4096;
/// Rounds between two looks at whether any cell is left.
const BATCH: usize = 64;

/// The cells of an element type, sorted by colour. No two cells of a colour share a node.
pub type CellColors = Coloring<Buffer<u32>>;

impl CellColors {
    /// Colours the cells of a block.
    pub fn new(space: &Space, block: &CellBlock) -> Result<Self> {
        CellColors::in_order_for(space, block, ROUNDS)
    }

    /// As [`CellColors::new`], where a device keeps to the order of the cells' numbers for so many rounds, to the next
    /// multiple of 64. If cells are left then, their colours are not the host's.
    pub fn in_order_for(space: &Space, block: &CellBlock, rounds: usize) -> Result<Self> {
        if space.on_host() || block.n_cells == 0 {
            let nodes = space.download(&block.nodes)?;
            let size = block.kind.info().n_nodes;
            let Coloring { starts, cells } = <Coloring>::first_fit(&nodes, size, block.around.len() - 1);
            return Ok(CellColors { starts, cells: space.upload_vec(cells)? });
        }
        let mut greedy = Greedy::new(space, block)?;
        if !greedy.run(space, rounds)? {
            let waiting = greedy.waiting();
            // SAFETY: all live; each thread changes its node's list.
            unsafe { space.run(greedy.given.len(), ReorderWaiting { waiting }) }?;
            greedy.run(space, usize::MAX)?;
        }
        greedy.sorted(space)
    }
}

struct Greedy<'a> {
    block: &'a CellBlock,
    lists: Buffer<u32>,
    given: Buffer<u32>,
    /// The cells ready in one round, and those ready in the next.
    ready: [Buffer<u32>; 2],
    colors: Buffer<u64>,
    n_colors: Buffer<u32>,
}

impl<'a> Greedy<'a> {
    fn new(space: &Space, block: &'a CellBlock) -> Result<Self> {
        let n = block.n_cells;
        let mut lists = space.zeros(block.cells.len())?;
        space.copy(&block.cells, &mut lists)?;
        Ok(Greedy {
            block,
            lists,
            given: space.zeros(block.around.len() - 1)?,
            ready: [space.zeros(n)?, space.zeros(n)?],
            colors: space.zeros(n)?,
            n_colors: space.zeros(1)?,
        })
    }

    fn waiting(&mut self) -> Waiting {
        Waiting {
            size: self.block.kind.info().n_nodes,
            nodes: self.block.nodes.view(),
            offsets: self.block.around.view(),
            lists: self.lists.view_mut(),
            given: self.given.view_mut(),
        }
    }

    /// Colours cells in the order of the lists, for so many rounds or until none is left. Whether none is.
    fn run(&mut self, space: &Space, rounds: usize) -> Result<bool> {
        let n = self.block.n_cells;
        let (mut next_at, mut counts) = (space.zeros(n)?, space.zeros(3)?);
        let waiting = self.waiting();
        let colors = Colors { of_cells: self.colors.view_mut(), number: self.n_colors.view_mut() };
        let cells = self.ready.each_mut().map(Buffer::<u32>::view_mut);
        let (next_at_view, counts_view) = (next_at.view_mut(), counts.view_mut());
        let to = |round: usize| Ready {
            next_at: next_at_view,
            cells: cells[round % 2],
            counts: counts_view,
            next: round % 3,
        };
        // SAFETY: all live until the count is read or `finish` is done, which wait; lists have all cells of each node.
        unsafe { space.run(waiting.given.len(), FirstReady { waiting, to: to(0) }) }?;
        let mut round = 0;
        while round < rounds {
            for _ in 0..BATCH {
                let ready = to(round).cells.as_view();
                round += 1;
                // SAFETY: as above; cells that are ready share no node, and the two arrays of them take turns.
                unsafe { space.run(n.min(LANES), ColorReady { ready, waiting, to: to(round), colors }) }?;
            }
            if space.read_at(&counts, round % 3)? == 0 {
                return Ok(true);
            }
        }
        // Without any round nothing has waited for the first launch.
        space.finish()?;
        Ok(false)
    }

    fn sorted(self, space: &Space) -> Result<CellColors> {
        let n = self.block.n_cells;
        let n_colors = space.read_at(&self.n_colors, 0)?;
        let cells = space.sort_order(&self.colors, u32::BITS - (n_colors - 1).leading_zeros())?;
        let mut starts = space.zeros(n_colors as usize)?;
        let kernel = ColorStarts { colors: self.colors.view(), order: cells.view(), starts: starts.view_mut() };
        // SAFETY: all live until the starts are taken, which waits; first fit leaves no colour out.
        unsafe { space.run(n, kernel) }?;
        let starts = space.take(starts)?.into_iter().map(|start: u32| start as usize);
        Ok(CellColors { starts: starts.chain([n]).collect(), cells })
    }
}
