//! Which cells meet at a node.

use super::Cells;
use crate::parallel;

/// Below this many (cell, node) pairs one thread does the work.
const SERIAL_BELOW: usize = 1 << 16;

/// For each node the cells of one block that contain it, in compressed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCells {
    /// Start of each node's list in `cells`, `[n_nodes + 1]`.
    pub offsets: Vec<u64>,
    /// Cell indices, ascending within each node.
    pub cells: Vec<u32>,
}

impl NodeCells {
    /// Inverts the connectivity of `cells` over `n_nodes` nodes.
    ///
    /// A counting sort. Each thread owns a range of nodes and reads the whole connectivity for it, which needs neither
    /// atomics nor a merge and leaves every list ascending, whatever the number of threads.
    pub fn of(cells: &Cells, n_nodes: usize) -> NodeCells {
        let threads = if cells.nodes.len() < SERIAL_BELOW { 1 } else { rayon::current_num_threads() };
        let span = n_nodes.div_ceil(threads).max(1);
        let mut offsets = vec![0u64; n_nodes + 1];
        parallel::map_chunks(&mut offsets[1..], span, &|first, counts| {
            for &node in &cells.nodes {
                if let Some(count) = counts.get_mut(node.wrapping_sub(first as u32) as usize) {
                    *count += 1;
                }
            }
        });
        let mut total = 0;
        for offset in &mut offsets {
            total += *offset;
            *offset = total;
        }
        let mut lists = vec![0; total as usize];
        let bounds: Vec<usize> = (0..n_nodes).step_by(span).chain([n_nodes]).collect();
        parallel::map_parts(&mut lists, bounds.iter().map(|node| offsets[*node] as usize), &|part, list| {
            let (first, last) = (bounds[part], bounds[part + 1]);
            fill(cells, first as u32, &offsets[first..last], list);
        });
        NodeCells { offsets, cells: lists }
    }

    /// The cells at `node`, ascending.
    pub fn at(&self, node: usize) -> &[u32] {
        &self.cells[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// Writes the lists of the nodes from `first` on; `starts` are their offsets, and `list` begins at the first of them.
fn fill(cells: &Cells, first: u32, starts: &[u64], list: &mut [u32]) {
    let Some(&base) = starts.first() else { return };
    let mut next = starts.to_vec();
    for (cell, nodes) in cells.nodes.chunks_exact(cells.kind.info().n_nodes).enumerate() {
        for &node in nodes {
            if let Some(position) = next.get_mut(node.wrapping_sub(first) as usize) {
                list[(*position - base) as usize] = cell as u32;
                *position += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    #[test]
    fn lists_are_ascending_and_complete() {
        let cells = Cells { kind: Tri3, nodes: vec![0, 1, 2, 4, 2, 1, 4, 5, 2], tags: vec![1, 2, 3] };
        let at = NodeCells::of(&cells, 6);
        assert_eq!(at.offsets, [0, 1, 3, 6, 6, 8, 9]);
        assert_eq!(at.cells, [0, 0, 1, 0, 1, 2, 1, 2, 2]);
        assert!(at.at(3).is_empty());
    }

    #[test]
    fn threads_do_not_change_the_lists() {
        let mesh = generate_box(Tet4, [1.0; 3], [17, 16, 15]).unwrap();
        let with = |threads| on_threads(threads, || NodeCells::of(&mesh.cells[0], mesh.coords.len()));
        let serial = with(1);
        assert_eq!(serial, with(5));
        for (node, pair) in serial.offsets.windows(2).enumerate() {
            let list = &serial.cells[pair[0] as usize..pair[1] as usize];
            assert!(list.is_sorted_by(|a, b| a < b));
            assert!(list.iter().all(|&c| mesh.cells[0].cell(c as usize).contains(&(node as u32))));
        }
        assert_eq!(serial.cells.len(), mesh.cells[0].nodes.len());
    }

    #[test]
    fn an_empty_block_has_empty_lists() {
        let none = Cells { kind: Tet4, nodes: vec![], tags: vec![] };
        assert_eq!(NodeCells::of(&none, 2).offsets, [0, 0, 0]);
        assert_eq!(NodeCells::of(&none, 0).offsets, [0]);
    }
}
