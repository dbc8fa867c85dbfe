//! The skin of a mesh: the sides that belong to exactly one solid.
//!
//! Most sides lie between two solids, and most nodes are round such sides only. So a sieve comes before any comparison:
//! each node has the exclusive or of a 64-bit hash of every side whose lowest corner it is, once for each solid of that
//! side. What lies between two solids cancels. Where the sum is zero no side is of the skin, but for one chance in
//! 2^64, and only the sides at the other nodes are compared. It is one sweep over the solids, with eight bytes for each
//! node.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::faces::{Face, FaceUse, Key, for_each_face, in_order, key, single};
use super::{Cells, Mesh};
use crate::parallel::{self, PART};

/// Where more than one in so many nodes is left by the sieve, lists of the solids round each node take less memory than
/// the sides at those nodes.
const MANY: usize = 8;

impl Mesh {
    /// The sides that belong to exactly one solid, in the order of the solids. They are found when they are first asked
    /// for, and kept.
    pub fn skin(&self) -> &[Face] {
        self.skin.get(|| find(self))
    }
}

fn find(mesh: &Mesh) -> Vec<Face> {
    let is_left = sieve(mesh);
    let n_left = is_left.iter().filter(|&&left| left).count();
    in_order(mesh, if n_left > mesh.coords.len() / MANY { single_of_all(mesh) } else { single_at(mesh, &is_left) })
}

/// The sides that belong to one solid, by lists of the solids round each node.
fn single_of_all(mesh: &Mesh) -> Vec<FaceUse> {
    for_each_face(mesh, |shared, found| {
        if let [one] = shared {
            found.push(*one);
        }
    })
}

/// Those whose lowest corner is marked, by a list of all sides at such nodes.
fn single_at(mesh: &Mesh, marked: &[bool]) -> Vec<FaceUse> {
    single(sides_at(mesh, marked))
}

/// Whether each node may be the lowest corner of a side of the skin, `[n_nodes]`.
fn sieve(mesh: &Mesh) -> Vec<bool> {
    let sums: Vec<AtomicU64> = mesh.coords.iter().map(|_| AtomicU64::new(0)).collect();
    for (_, cells) in mesh.solids() {
        parallel::for_ranges(cells.len(), PART, &|range| {
            for i in range {
                // Most sides have the lowest corner of the solid, and their hashes are added as one.
                let lowest = cells.cell(i).iter().copied().min().unwrap_or(0);
                let mut sum = 0;
                for key in keys(cells, i) {
                    match key[0] == lowest {
                        true => sum ^= hash(&key),
                        false => _ = sums[key[0] as usize].fetch_xor(hash(&key), Relaxed),
                    }
                }
                sums[lowest as usize].fetch_xor(sum, Relaxed);
            }
        });
    }
    sums.into_iter().map(|sum| sum.into_inner() != 0).collect()
}

fn keys(cells: &Cells, i: usize) -> impl Iterator<Item = Key> + '_ {
    let nodes = cells.cell(i);
    cells.kind.faces().iter().map(move |(kind, local)| key(*kind, nodes, local))
}

/// 64 bits of the corners of a side but the lowest: the halves of a product, folded.
fn hash(key: &Key) -> u64 {
    let [_, a, b, c] = key.map(u64::from);
    let fold = |x: u64, y: u64| {
        let product = u128::from(x) * u128::from(y);
        product as u64 ^ (product >> 64) as u64
    };
    fold(fold(a << 32 | b, 0x9e37_79b9_7f4a_7c15) ^ c, 0xd1b5_4a32_d192_ed03)
}

fn sides_at(mesh: &Mesh, marked: &[bool]) -> Vec<FaceUse> {
    let mut sides = Vec::new();
    for (block, cells) in mesh.solids() {
        let parts = parallel::map_ranges(cells.len(), PART, &|range| {
            let mut found = Vec::new();
            for i in range.filter(|&i| cells.cell(i).iter().any(|&node| marked[node as usize])) {
                let of = |(side, key)| FaceUse { key, block: block as u32, cell: i as u32, side: side as u8 };
                found.extend(keys(cells, i).enumerate().filter(|(_, key)| marked[key[0] as usize]).map(of));
            }
            found
        });
        sides.extend(parts.into_iter().flatten());
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;
    use std::collections::BTreeMap;

    /// The nodes, sorted, of the sides that one solid has, by counting.
    fn counted(mesh: &Mesh) -> Vec<Vec<u32>> {
        let mut counts: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for (_, cells) in mesh.solids() {
            for (i, (_, local)) in (0..cells.len()).flat_map(|i| cells.kind.faces().iter().map(move |face| (i, face))) {
                let mut nodes: Vec<u32> = local.iter().map(|&k| cells.cell(i)[k]).collect();
                nodes.sort_unstable();
                *counts.entry(nodes).or_default() += 1;
            }
        }
        counts.into_iter().filter(|(_, count)| *count == 1).map(|(nodes, _)| nodes).collect()
    }

    /// The same of sides that were found.
    fn nodes(mesh: &Mesh, sides: &[FaceUse]) -> Vec<Vec<u32>> {
        let sorted = |side: &FaceUse| {
            let mut nodes = side.face(mesh).nodes().to_vec();
            nodes.sort_unstable();
            nodes
        };
        let mut all: Vec<Vec<u32>> = sides.iter().map(sorted).collect();
        all.sort();
        all
    }

    /// The same mesh under other node numbers.
    fn shuffled(mut mesh: Mesh) -> Mesh {
        let n = mesh.coords.len() as u64;
        // A prime above every number of nodes here, so no two nodes become one.
        let new = |node: u32| (u64::from(node) * 1_000_003 % n) as u32;
        let mut coords = mesh.coords.clone();
        (0..n as u32).for_each(|node| coords[new(node) as usize] = mesh.coords[node as usize]);
        mesh.coords = coords;
        mesh.cells.iter_mut().flat_map(|cells| &mut cells.nodes).for_each(|node| *node = new(*node));
        mesh
    }

    #[test]
    fn both_ways_find_the_sides_that_counting_finds() {
        let mut meshes = vec![];
        for kind in [Tet4, Hex8, Tet10, Hex20] {
            for cells in [[1, 1, 1], [7, 6, 5], [9, 1, 1], [8, 7, 2]] {
                meshes.push(generate_box(kind, [1.0, 2.0, 3.0], cells).unwrap());
            }
        }
        meshes.extend([Tri3, Quad8].map(|kind| generate_rectangle(kind, [1.0, 2.0], [7, 5]).unwrap()));
        meshes.extend(meshes.clone().into_iter().map(shuffled));
        for mesh in meshes {
            let expected = counted(&mesh);
            assert_eq!(nodes(&mesh, &single_of_all(&mesh)), expected);
            assert_eq!(nodes(&mesh, &single_at(&mesh, &sieve(&mesh))), expected);
            assert_eq!(mesh.skin().len(), expected.len());
        }
    }

    #[test]
    fn the_sieve_leaves_the_lowest_corners_of_the_skin() {
        let mesh = shuffled(cube(Tet4, 12));
        let mut lowest = vec![false; mesh.coords.len()];
        single_of_all(&mesh).iter().for_each(|side| lowest[side.key[0] as usize] = true);
        assert_eq!(sieve(&mesh), lowest);
    }

    #[test]
    fn a_side_of_three_solids_is_not_of_the_skin() {
        let nodes = vec![0, 1, 2, 3, 0, 2, 1, 4, 0, 1, 2, 5];
        let cells = vec![Cells { kind: Tet4, nodes, tags: vec![1, 2, 3] }];
        let mesh = Mesh { coords: vec![[0.0; 3]; 6], node_tags: (1..=6).collect(), cells, ..Mesh::default() };
        assert_eq!(mesh.skin().len(), 9);
        assert!(mesh.skin().iter().all(|face| face.nodes().iter().any(|&node| node > 2)));
        assert_eq!(single_at(&mesh, &sieve(&mesh)).len(), 9);
    }

    #[test]
    fn a_mesh_keeps_its_skin_and_a_copy_finds_its_own() {
        let mesh = generate_box(Hex8, [1.0; 3], [2, 1, 1]).unwrap();
        assert_eq!(mesh.skin().as_ptr(), mesh.skin().as_ptr());
        let mut copy = mesh.clone();
        copy.cells[0].nodes.truncate(8);
        copy.cells[0].tags.truncate(1);
        assert_eq!((mesh.skin().len(), copy.skin().len()), (10, 6));
    }
}
