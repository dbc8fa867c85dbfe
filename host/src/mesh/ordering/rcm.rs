//! Reverse Cuthill-McKee: nodes level by level from one end of the graph, so that the numbers of neighbours differ by
//! no more than two levels hold. Saad 2003, sec. 3.3.3.
//!
//! | step | function |
//! | --- | --- |
//! | a node at an end, George and Liu 1979, "An implementation of a pseudoperipheral node finder" | [`Search::far_end`] |
//! | levels by breadth-first search | [`Search::levels`] |
//! | numbers by level, Cuthill and McKee 1969 | [`Graph::append_component`] |
//! | reversed, George 1971 (the bandwidth stays, the profile shrinks) | [`reverse_cuthill_mckee`] |

use rayon::prelude::*;

/// The nodes of a symmetric graph in the reverse Cuthill-McKee order: `order[new] = old`.
///
/// `row_start` `[n + 1]` says where in `columns` each node's neighbours begin; whether a node is its own neighbour does
/// not matter. Connected components follow each other, and are begun from a node of low degree; ties go to the lower
/// number, so a graph has one order.
///
/// Takes three or four passes over the graph on one thread.
pub fn reverse_cuthill_mckee(row_start: &[u64], columns: &[u32]) -> Vec<u32> {
    let graph = Graph { row_start, columns };
    let n = row_start.len().saturating_sub(1);
    let mut by_degree: Vec<u32> = (0..n as u32).collect();
    by_degree.par_sort_by_key(|node| graph.row(*node).len());
    let mut search = Search { graph: &graph, met: vec![0; n], searches: 0, queue: Vec::new() };
    let mut placed = vec![false; n];
    let mut order = Vec::with_capacity(n);
    for node in by_degree {
        if !placed[node as usize] {
            let end = search.far_end(node);
            graph.append_component(end, &mut placed, &mut order);
        }
    }
    order.reverse();
    order
}

struct Graph<'a> {
    row_start: &'a [u64],
    columns: &'a [u32],
}

impl Graph<'_> {
    fn row(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.columns[self.row_start[node] as usize..self.row_start[node + 1] as usize]
    }

    /// Appends the component of `root`: breadth first, the neighbours of each node by rising degree.
    fn append_component(&self, root: u32, placed: &mut [bool], order: &mut Vec<u32>) {
        let mut next = order.len();
        placed[root as usize] = true;
        order.push(root);
        while let Some(&node) = order.get(next) {
            let first = order.len();
            for &other in self.row(node) {
                if !std::mem::replace(&mut placed[other as usize], true) {
                    order.push(other);
                }
            }
            order[first..].sort_unstable_by_key(|other| (self.row(*other).len(), *other));
            next += 1;
        }
    }
}

/// Breadth-first searches that share their memory.
struct Search<'a> {
    graph: &'a Graph<'a>,
    /// The last search that met each node, `[n]`; searches count from 1.
    met: Vec<u32>,
    searches: u32,
    /// The nodes of the last search, level by level.
    queue: Vec<u32>,
}

impl Search<'_> {
    /// Searches from `root`; returns the number of levels, and where in the queue the last one begins.
    fn levels(&mut self, root: u32) -> (usize, usize) {
        self.searches += 1;
        self.met[root as usize] = self.searches;
        self.queue.clear();
        self.queue.push(root);
        let (mut n_levels, mut level) = (0, 0..1);
        loop {
            n_levels += 1;
            for at in level.clone() {
                for &other in self.graph.row(self.queue[at]) {
                    if std::mem::replace(&mut self.met[other as usize], self.searches) != self.searches {
                        self.queue.push(other);
                    }
                }
            }
            if self.queue.len() == level.end {
                return (n_levels, level.start);
            }
            level = level.end..self.queue.len();
        }
    }

    /// A node of the component of `start` from which the farthest node is about as far as any two are.
    ///
    /// Goes to the node of the lowest degree in the last level for as long as that has more levels.
    fn far_end(&mut self, start: u32) -> u32 {
        let (mut end, mut most) = (start, 0);
        loop {
            let (n_levels, last) = self.levels(end);
            if n_levels <= most {
                return end;
            }
            most = n_levels;
            let key = |node: &u32| (self.graph.row(*node).len(), *node);
            end = self.queue[last..].iter().copied().min_by_key(key).unwrap_or(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shuffles numbers with a linear congruential generator.
    fn shuffled(n: usize) -> Vec<u32> {
        let mut state = 1u64;
        let mut numbers: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            numbers.swap(i, (state >> 33) as usize % (i + 1));
        }
        numbers
    }

    /// The compressed rows of the edges between `n` nodes, under shuffled numbers.
    fn graph(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> (Vec<u64>, Vec<u32>) {
        let number = shuffled(n);
        let mut rows: Vec<Vec<u32>> = (0..n as u32).map(|node| vec![node]).collect();
        for (a, b) in edges {
            let (a, b) = (number[a], number[b]);
            rows[a as usize].push(b);
            rows[b as usize].push(a);
        }
        let row_start = (0..=n).map(|row| rows[..row].iter().map(Vec::len).sum::<usize>() as u64);
        (row_start.collect(), rows.concat())
    }

    /// The edges of `n` nodes that are all joined to the `band` next ones, from `first` on.
    fn band(first: usize, n: usize, band: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..n).flat_map(move |i| (i + 1..n.min(i + band + 1)).map(move |j| (first + i, first + j)))
    }

    /// Checks that `order` is a permutation; returns the largest distance of two neighbours in it.
    fn bandwidth((row_start, columns): &(Vec<u64>, Vec<u32>), order: &[u32]) -> u32 {
        let n = row_start.len() - 1;
        let mut position = vec![u32::MAX; n];
        for (new, old) in order.iter().enumerate() {
            assert_eq!(std::mem::replace(&mut position[*old as usize], new as u32), u32::MAX, "twice");
        }
        assert_eq!(order.len(), n);
        let rows = (0..n).map(|node| &columns[row_start[node] as usize..row_start[node + 1] as usize]);
        let spans = rows.zip(&position).flat_map(|(row, at)| row.iter().map(|c| position[*c as usize].abs_diff(*at)));
        spans.max().unwrap_or(0)
    }

    #[test]
    fn a_shuffled_band_comes_back() {
        for width in [1, 3, 10] {
            let graph = graph(500, band(0, 500, width));
            assert!(bandwidth(&graph, &(0..500).collect::<Vec<_>>()) > 400);
            assert_eq!(bandwidth(&graph, &reverse_cuthill_mckee(&graph.0, &graph.1)), width as u32);
        }
    }

    #[test]
    fn a_shuffled_grid_is_as_wide_as_its_short_side() {
        let at = |x: usize, y: usize, z: usize| x + 8 * (y + 9 * z);
        let steps = |(x, y, z)| [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)].map(|to| ((x, y, z), to));
        let points = (0..60).flat_map(|z| (0..9).flat_map(move |y| (0..8).map(move |x| (x, y, z))));
        let inside = points.flat_map(steps).filter(|(_, (x, y, z))| *x < 8 && *y < 9 && *z < 60);
        let graph = graph(8 * 9 * 60, inside.map(|((a, b, c), (x, y, z))| (at(a, b, c), at(x, y, z))));
        let found = bandwidth(&graph, &reverse_cuthill_mckee(&graph.0, &graph.1));
        // Layer by layer gives 72; the levels from a corner are oblique and somewhat larger than a layer.
        assert!((60..=80).contains(&found), "{found}");
    }

    #[test]
    fn components_follow_each_other() {
        // A band of 5, one of 2, six nodes alone, and a ring.
        let ring = (0..40).map(|i| (206 + i, 206 + (i + 1) % 40));
        let graph = graph(246, band(0, 120, 5).chain(band(120, 80, 2)).chain(ring));
        let order = reverse_cuthill_mckee(&graph.0, &graph.1);
        assert_eq!(bandwidth(&graph, &order), 5);
        let number = shuffled(246);
        let component = |node: &u32| match number.iter().position(|other| other == node) {
            Some(0..120) => 0,
            Some(120..200) => 1,
            Some(i @ 200..206) => i,
            _ => 2,
        };
        let changes = order.windows(2).filter(|pair| component(&pair[0]) != component(&pair[1])).count();
        assert_eq!(changes, 8);
    }

    #[test]
    fn small_graphs() {
        assert!(reverse_cuthill_mckee(&[0], &[]).is_empty());
        assert!(reverse_cuthill_mckee(&[], &[]).is_empty());
        assert_eq!(reverse_cuthill_mckee(&[0, 0, 1, 1], &[1]), [1, 2, 0]);
        // A star: its centre is one step from everything.
        let star = graph(9, (1..9).map(|leaf| (0, leaf)));
        assert_eq!(reverse_cuthill_mckee(&star.0, &star.1)[7], shuffled(9)[0]);
    }
}
