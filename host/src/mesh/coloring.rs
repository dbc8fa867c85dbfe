//! Colouring: cells that share a node get different colours, so that all cells of one colour can add to a matrix at the
//! same time (WARP sec. 3.4).

use super::Cells;

/// Cells sorted by colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coloring {
    /// Where each colour starts in `cells`, and where the last ends, `[n_colors + 1]`.
    pub starts: Vec<usize>,
    /// The cells of each colour, ascending, `[n_cells]`.
    pub cells: Vec<u32>,
}

impl Coloring {
    /// Gives each cell, in order, the first colour that no cell at its nodes has yet.
    pub fn first_fit(cells: &Cells, n_nodes: usize) -> Coloring {
        // A bit per colour; a node is in at most as many cells as there are colours.
        let mut taken: Vec<Vec<u64>> = vec![Vec::new(); n_nodes];
        let mut of_cell = Vec::with_capacity(cells.len());
        for i in 0..cells.len() {
            let nodes = cells.cell(i);
            let word = |w: usize| nodes.iter().fold(0, |bits, n| bits | taken[*n as usize].get(w).unwrap_or(&0));
            let (w, bits) = (0..).map(|w| (w, word(w))).find(|(_, bits)| *bits != u64::MAX).unwrap_or((0, 0));
            let bit = bits.trailing_ones() as usize;
            for node in nodes {
                let words = &mut taken[*node as usize];
                words.resize(words.len().max(w + 1), 0);
                words[w] |= 1 << bit;
            }
            of_cell.push((64 * w + bit) as u32);
        }
        Coloring::of(&of_cell)
    }

    /// Sorts cells by their colours.
    pub fn of(colors: &[u32]) -> Coloring {
        let n_colors = colors.iter().max().map_or(0, |last| *last as usize + 1);
        let mut starts = vec![0; n_colors + 1];
        colors.iter().for_each(|color| starts[*color as usize + 1] += 1);
        (0..n_colors).for_each(|color| starts[color + 1] += starts[color]);
        let mut next = starts.clone();
        let mut cells = vec![0; colors.len()];
        for (cell, color) in colors.iter().enumerate() {
            cells[next[*color as usize]] = cell as u32;
            next[*color as usize] += 1;
        }
        Coloring { starts, cells }
    }
}
