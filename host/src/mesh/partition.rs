//! Which rank has which nodes, and the part of a mesh that a rank needs: all elements at its nodes. Nodes of these that other
//! ranks have are its ghosts.

use super::parts::{find, unite};
use super::{Cells, Mesh, extent_of};
use crate::parallel::{self, PART};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The rank of each node.
pub struct Partition {
    /// By node of the mesh.
    pub rank_of: Vec<u32>,
}

/// A part of a mesh: some cells and their nodes.
pub struct Piece {
    /// The nodes, ascending in the mesh.
    pub nodes: Vec<u32>,
    /// The cells, by their block's position in [`Mesh::cells`]; blocks without any are left out.
    pub cells: Vec<(usize, Vec<u32>)>,
}

impl Partition {
    /// Pieces of equally many nodes, halved again and again; but nodes that are `together`, and what is together with these, are
    /// of the rank that has most of them.
    pub fn new(mesh: &Mesh, size: usize, together: impl Iterator<Item = Vec<u32>>) -> Self {
        let (n, mut rank_of) = (mesh.coords.len(), vec![0; mesh.coords.len()]);
        let mut nodes: Vec<u32> = (0..n as u32).collect();
        for (piece, rank) in halved(&mesh.coords, &mut nodes, size).into_iter().zip(0..) {
            piece.iter().for_each(|node| rank_of[*node as usize] = rank);
        }
        let (mut parent, mut joined) = ((0..n as u32).collect::<Vec<u32>>(), BTreeSet::new());
        for nodes in together {
            for pair in nodes.windows(2) {
                let [a, b] = [pair[0], pair[1]].map(|node| find(&mut parent, node));
                unite(&mut parent, a, b);
            }
            joined.extend(nodes);
        }
        let mut votes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for node in &joined {
            let of_tree = votes.entry(find(&mut parent, *node)).or_insert_with(|| vec![0; size]);
            of_tree[rank_of[*node as usize] as usize] += 1;
        }
        for node in joined {
            let votes = &votes[&find(&mut parent, node)];
            let most = (0..size).rev().max_by_key(|rank| votes[*rank]);
            rank_of[node as usize] = most.unwrap_or_default() as u32;
        }
        Partition { rank_of }
    }

    /// All elements at the nodes of a rank.
    pub fn piece(&self, mesh: &Mesh, rank: usize) -> Piece {
        Piece::around(mesh, |node| self.rank_of[node as usize] as usize == rank)
    }
}

/// For each neighbour of a rank, ascending: the nodes of the rank that it needs, and those of it that the rank needs, ascending
/// too. `mesh` is the rank's piece, with the rank of each node.
pub fn neighbours(mesh: &Mesh, rank_of: &[u32], rank: u32) -> Vec<(usize, [Vec<u32>; 2])> {
    let mut of_rank: BTreeMap<usize, [BTreeSet<u32>; 2]> = BTreeMap::new();
    let is_own = |node: &u32| rank_of[*node as usize] == rank;
    for (_, cells) in mesh.solids() {
        let cut = parallel::flat_map(cells.len(), &|k, cut| {
            cut.extend(Some(k).filter(|k| !cells.cell(*k).iter().all(is_own)))
        });
        for cell in cut.into_iter().map(|k| cells.cell(k)) {
            for other in cell.iter().filter(|node| !is_own(node)) {
                let [sends, ghosts] = of_rank.entry(rank_of[*other as usize] as usize).or_default();
                sends.extend(cell.iter().filter(|node| is_own(node)));
                ghosts.insert(*other);
            }
        }
    }
    of_rank.into_iter().map(|(rank, sets)| (rank, sets.map(|set| set.into_iter().collect()))).collect()
}

/// Some nodes in so many pieces: halved across the longest side of the box that they lie in, and each half again. These pieces
/// have fewer ghosts than those of a Hilbert curve, and few more than those of METIS (docs/benchmarks/devices).
fn halved<'a>(coords: &[[f64; 3]], nodes: &'a mut [u32], size: usize) -> Vec<&'a [u32]> {
    if size == 1 || nodes.is_empty() {
        return [&*nodes].into_iter().chain((1..size).map(|_| &[][..])).collect();
    }
    let at = |node: &u32| coords[*node as usize];
    let boxes = parallel::map(nodes.chunks(1 << 16), &|nodes| extent_of(nodes.iter().map(at)));
    let (low, high) = extent_of(boxes.into_iter().flat_map(|(low, high)| [low, high]));
    let mut sides = [0, 1, 2];
    sides.sort_by(|a, b| (high[*b] - low[*b]).total_cmp(&(high[*a] - low[*a])));
    let middle = nodes.len() * (size / 2) / size;
    // Nodes one above the other in a flat body stay together.
    let order = |a: &u32, b: &u32| {
        let along = sides.map(|side| at(a)[side].total_cmp(&at(b)[side]));
        along.into_iter().fold(Ordering::Equal, Ordering::then).then(a.cmp(b))
    };
    nodes.select_nth_unstable_by(middle, order);
    let (left, right) = nodes.split_at_mut(middle);
    let (mut pieces, others) =
        rayon::join(|| halved(coords, left, size / 2), || halved(coords, right, size - size / 2));
    pieces.extend(others);
    pieces
}

impl Piece {
    /// All elements at nodes that are wanted.
    pub fn around(mesh: &Mesh, is_wanted: impl Fn(u32) -> bool + Sync) -> Piece {
        let mut cells = Vec::new();
        let marks: Vec<AtomicBool> = mesh.coords.iter().map(|_| AtomicBool::new(false)).collect();
        for (block, all) in mesh.solids() {
            let is_near = |cell: usize| all.cell(cell).iter().any(|node| is_wanted(*node));
            let near = parallel::flat_map(all.len(), &|cell, near| near.extend(is_near(cell).then_some(cell as u32)));
            parallel::for_ranges(near.len(), PART, &|range| {
                let nodes = near[range].iter().flat_map(|cell| all.cell(*cell as usize));
                nodes.for_each(|node| marks[*node as usize].store(true, Relaxed));
            });
            if !near.is_empty() {
                cells.push((block, near));
            }
        }
        let nodes = parallel::flat_map(marks.len(), &|node, nodes| {
            nodes.extend(marks[node].load(Relaxed).then_some(node as u32));
        });
        Piece { nodes, cells }
    }

    /// The place of a node of the mesh among those of the piece.
    pub fn place(&self, node: u32) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// It as a mesh, without groups.
    pub fn mesh(&self, whole: &Mesh) -> Mesh {
        let mut place = vec![u32::MAX; whole.coords.len()];
        self.nodes.iter().zip(0..).for_each(|(node, at)| place[*node as usize] = at);
        let cells = self.cells.iter().map(|(block, cells)| {
            let all = &whole.cells[*block];
            let nodes = parallel::flat_map(cells.len(), &|k, nodes| {
                nodes.extend(all.cell(cells[k] as usize).iter().map(|node| place[*node as usize]));
            });
            let tags = parallel::map_items(cells, &|cell| all.tags[*cell as usize]);
            Cells { kind: all.kind, nodes, tags }
        });
        Mesh {
            cells: cells.collect(),
            coords: parallel::map_items(&self.nodes, &|node| whole.coords[*node as usize]),
            node_tags: parallel::map_items(&self.nodes, &|node| whole.node_tags[*node as usize]),
            ..Mesh::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Tet10};
    use crate::mesh::generate::generate_box;

    #[test]
    fn ranks_have_all_elements_at_their_nodes_and_know_what_others_need() {
        for (kind, cells) in [(Hex8, [7, 5, 4]), (Tet10, [3, 2, 2])] {
            let mesh = generate_box(kind, [3.0, 2.0, 1.0], cells).unwrap();
            for size in [1, 2, 3, 7] {
                let partition = Partition::new(&mesh, size, std::iter::empty());
                let pieces: Vec<Piece> = (0..size).map(|rank| partition.piece(&mesh, rank)).collect();
                let own = |rank: usize| partition.rank_of.iter().filter(|of| **of as usize == rank).count();
                let n = mesh.coords.len();
                assert!((0..size).all(|rank| own(rank).abs_diff(n / size) <= 1), "pieces are equal");
                let mut ghosts = vec![Vec::new(); size * size];
                let mut sends = vec![Vec::new(); size * size];
                for (rank, piece) in pieces.iter().enumerate() {
                    let (block, all) = mesh.solids().next().unwrap();
                    let near = |cell: &usize| {
                        all.cell(*cell).iter().any(|node| partition.rank_of[*node as usize] as usize == rank)
                    };
                    let wanted: Vec<u32> = (0..all.len()).filter(near).map(|cell| cell as u32).collect();
                    assert_eq!(piece.cells, [(block, wanted)]);
                    let part = piece.mesh(&mesh);
                    assert!(part.coords.iter().zip(&piece.nodes).all(|(x, node)| *x == mesh.coords[*node as usize]));
                    let mut n_ghosts = 0;
                    let rank_of: Vec<u32> = piece.nodes.iter().map(|node| partition.rank_of[*node as usize]).collect();
                    for (other, lists) in neighbours(&part, &rank_of, rank as u32) {
                        let [sent, come] =
                            lists.map(|places| places.iter().map(|k| piece.nodes[*k as usize]).collect::<Vec<_>>());
                        n_ghosts += come.len();
                        (sends[rank * size + other], ghosts[other * size + rank]) = (sent, come);
                    }
                    assert_eq!(n_ghosts + own(rank), piece.nodes.len());
                }
                assert_eq!(sends, ghosts, "what one rank sends another waits for, in this order");
            }
        }
    }
}
