//! Colouring: cells that share a node get different colours, so that all cells of one colour can add to a matrix at the
//! same time (WARP sec. 3.4).

/// Cells sorted by colour; they may be listed on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coloring<C = Vec<u32>> {
    /// Where each colour starts in `cells`, and where the last ends, `[n_colors + 1]`.
    pub starts: Vec<usize>,
    /// The cells of each colour, ascending, `[n_cells]`.
    pub cells: C,
}

/// How many cells the colours have; zeros if there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// Number of colours.
    pub n_colors: usize,
    /// Cells of the smallest colour.
    pub smallest: usize,
    /// Cells of the largest colour.
    pub largest: usize,
    /// Their mean number.
    pub mean: f64,
}

impl Balance {
    /// Of colours that start there, `[n_colors + 1]`.
    pub fn of(starts: &[usize]) -> Balance {
        let sizes = || starts.windows(2).map(|ends| ends[1] - ends[0]);
        let n_colors = sizes().count();
        Balance {
            n_colors,
            smallest: sizes().min().unwrap_or(0),
            largest: sizes().max().unwrap_or(0),
            mean: sizes().sum::<usize>() as f64 / n_colors.max(1) as f64,
        }
    }
}

impl Coloring {
    /// Gives each cell, in order, the first colour that no cell at its nodes has yet.
    ///
    /// `nodes [n_cells][size]` are those of each cell, below `n_nodes`.
    ///
    /// Colours are looked for 64 at a time, a bit each in one word per node. A cell that finds none waits until all
    /// others have looked: it does not stand in their way, so what comes out is the same as with all colours at hand.
    pub fn first_fit(nodes: &[u32], size: usize, n_nodes: usize) -> Coloring {
        let n_cells = nodes.len() / size;
        let mut colors = vec![0; n_cells];
        let mut waiting: Vec<u32> = (0..n_cells as u32).collect();
        let mut first = 0;
        while !waiting.is_empty() {
            let mut taken = vec![0_u64; n_nodes];
            waiting.retain(|cell| {
                let nodes = &nodes[*cell as usize * size..][..size];
                let free = nodes.iter().fold(0, |bits, node| bits | taken[*node as usize]).trailing_ones();
                if free < u64::BITS {
                    colors[*cell as usize] = first + free;
                    nodes.iter().for_each(|node| taken[*node as usize] |= 1 << free);
                }
                free == u64::BITS
            });
            first += u64::BITS;
        }
        Coloring::of(&colors)
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

    /// The cells of each colour, ascending.
    pub fn colors(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.cells[ends[0]..ends[1]])
    }
}

impl<C> Coloring<C> {
    /// Number of colours.
    pub fn n_colors(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many cells the colours have.
    pub fn balance(&self) -> Balance {
        Balance::of(&self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_takes_the_first_color_that_is_free_at_its_nodes() {
        // Triangles: two that touch, one apart, one that touches all three.
        let coloring = Coloring::first_fit(&[0, 1, 2, 2, 1, 3, 5, 6, 7, 7, 3, 0], 3, 9);
        assert_eq!(coloring, Coloring { starts: vec![0, 2, 3, 4], cells: vec![0, 2, 1, 3] });
        assert!(coloring.colors().eq([&[0, 2][..], &[1], &[3]]));
        assert_eq!(coloring.balance(), Balance { n_colors: 3, smallest: 1, largest: 2, mean: 4.0 / 3.0 });
    }

    #[test]
    fn more_than_a_word_of_colors() {
        // Lines from node 0, which all differ, then two between others, which the first two colours suit.
        let hub: Vec<u32> = (1..=150).flat_map(|node| [0, node]).chain([64, 65, 1, 130]).collect();
        let coloring = Coloring::first_fit(&hub, 2, 151);
        assert_eq!(coloring.n_colors(), 150);
        assert_eq!(coloring.colors().next().unwrap(), [0, 150]);
        assert_eq!(coloring.colors().nth(1).unwrap(), [1, 151]);
        assert!(coloring.colors().skip(2).eq((2..150).map(|cell| [cell])));
    }

    #[test]
    fn no_cells_have_no_colors() {
        let none = Coloring::first_fit(&[], 4, 3);
        assert_eq!((none.n_colors(), none.colors().count()), (0, 0));
        assert_eq!(none.balance(), Balance { n_colors: 0, smallest: 0, largest: 0, mean: 0.0 });
    }
}
