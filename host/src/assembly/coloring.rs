//! The cells of an element type sorted by colour, on a backend: by [`Coloring::first_fit`] on the host, by kernels
//! elsewhere ([`kernels_rs::setup::coloring`]), which give the same colours unless cells wait for one another in chains
//! of more than `ROUNDS`.

use super::topology::CellBlock;
use crate::backend::{Backend, Buffer, Vector};
use crate::mesh::coloring::{Balance, Coloring};
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
pub struct CellColors<B: Backend> {
    /// Where each colour starts in `cells`, and where the last ends, `[n_colors + 1]`.
    pub starts: Vec<usize>,
    /// The cells of each colour, ascending, `[n_cells]`.
    pub cells: Vector<B, u32>,
}

impl<B: Backend> CellColors<B> {
    /// Colours the cells of a block.
    pub fn new(backend: &B, block: &CellBlock<B>) -> Result<Self> {
        CellColors::in_order_for(backend, block, ROUNDS)
    }

    /// As [`CellColors::new`], where a device keeps to the order of the cells' numbers for so many rounds, to the next
    /// multiple of 64. If cells are left then, their colours are not the host's.
    pub fn in_order_for(backend: &B, block: &CellBlock<B>, rounds: usize) -> Result<Self> {
        if B::ON_HOST || block.n_cells == 0 {
            let nodes = backend.download(&block.nodes)?;
            let size = block.kind.info().n_nodes;
            let Coloring { starts, cells } = Coloring::first_fit(&nodes, size, block.around.len() - 1);
            return Ok(CellColors { starts, cells: backend.upload_vec(cells)? });
        }
        let mut greedy = Greedy::new(backend, block)?;
        if !greedy.run(backend, rounds)? {
            let waiting = greedy.waiting();
            // SAFETY: all live; each thread changes its node's list.
            unsafe { backend.run(greedy.given.len(), ReorderWaiting { waiting }) }?;
            greedy.run(backend, usize::MAX)?;
        }
        greedy.sorted(backend)
    }

    /// Number of colours.
    pub fn n_colors(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many cells the colours have.
    pub fn balance(&self) -> Balance {
        Balance::of(&self.starts)
    }
}

/// First fit by rounds.
struct Greedy<'a, B: Backend> {
    block: &'a CellBlock<B>,
    lists: Vector<B, u32>,
    given: Vector<B, u32>,
    /// The cells ready in one round, and those ready in the next.
    ready: [Vector<B, u32>; 2],
    colors: Vector<B, u64>,
    n_colors: Vector<B, u32>,
}

impl<'a, B: Backend> Greedy<'a, B> {
    fn new(backend: &B, block: &'a CellBlock<B>) -> Result<Self> {
        let n = block.n_cells;
        let mut lists = backend.zeros(block.cells.len())?;
        backend.copy(&block.cells, &mut lists)?;
        Ok(Greedy {
            block,
            lists,
            given: backend.zeros(block.around.len() - 1)?,
            ready: [backend.zeros(n)?, backend.zeros(n)?],
            colors: backend.zeros(n)?,
            n_colors: backend.zeros(1)?,
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
    fn run(&mut self, backend: &B, rounds: usize) -> Result<bool> {
        let n = self.block.n_cells;
        let (mut next_at, mut counts) = (backend.zeros(n)?, backend.zeros(3)?);
        let waiting = self.waiting();
        let colors = Colors { of_cells: self.colors.view_mut(), number: self.n_colors.view_mut() };
        let cells = self.ready.each_mut().map(Vector::<B, u32>::view_mut);
        let (next_at_view, counts_view) = (next_at.view_mut(), counts.view_mut());
        let to = |round: usize| Ready {
            next_at: next_at_view,
            cells: cells[round % 2],
            counts: counts_view,
            next: round % 3,
        };
        // SAFETY: all live until the count is read or `finish` is done, which wait; lists have all cells of each node.
        unsafe { backend.run(waiting.given.len(), FirstReady { waiting, to: to(0) }) }?;
        let mut round = 0;
        while round < rounds {
            for _ in 0..BATCH {
                let ready = to(round).cells.as_view();
                round += 1;
                // SAFETY: as above; cells that are ready share no node, and the two arrays of them take turns.
                unsafe { backend.run(n.min(LANES), ColorReady { ready, waiting, to: to(round), colors }) }?;
            }
            if backend.read_at(&counts, round % 3)? == 0 {
                return Ok(true);
            }
        }
        // Without any round nothing has waited for the first launch.
        backend.finish()?;
        Ok(false)
    }

    fn sorted(self, backend: &B) -> Result<CellColors<B>> {
        let n = self.block.n_cells;
        let n_colors = backend.read_at(&self.n_colors, 0)?;
        let cells = backend.sort_order(&self.colors, u32::BITS - (n_colors - 1).leading_zeros())?;
        let mut starts = backend.zeros(n_colors as usize)?;
        let kernel = ColorStarts { colors: self.colors.view(), order: cells.view(), starts: starts.view_mut() };
        // SAFETY: all live until the starts are taken, which waits; first fit leaves no colour out.
        unsafe { backend.run(n, kernel) }?;
        let starts = backend.take(starts)?.into_iter().map(|start: u32| start as usize);
        Ok(CellColors { starts: starts.chain([n]).collect(), cells })
    }
}
