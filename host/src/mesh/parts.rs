//! Connected parts: solids that hang together through shared nodes.

use super::Mesh;

impl Mesh {
    /// The connected parts, as [`connected_parts`] has them; found when they are first asked for.
    pub fn parts(&self) -> &(Vec<u32>, usize) {
        self.parts.get(|| connected_parts(self))
    }
}

/// A label per node, `[n_nodes]`, counted from 0 in the order of each part's first node, and the number of parts.
///
/// Union by the lower root with path halving; a node that no solid uses is a part of its own.
pub fn connected_parts(mesh: &Mesh) -> (Vec<u32>, usize) {
    let mut parent: Vec<u32> = (0..mesh.coords.len() as u32).collect();
    for (_, block) in mesh.solids() {
        for cell in block.nodes.chunks_exact(block.kind.info().n_nodes) {
            let mut root = find(&mut parent, cell[0]);
            for &node in &cell[1..] {
                let other = find(&mut parent, node);
                root = unite(&mut parent, root, other);
            }
        }
    }
    let count = number(&mut parent);
    (parent, count)
}

/// Joins two trees at the lower of their roots, which it returns.
pub(crate) fn unite(parent: &mut [u32], a: u32, b: u32) -> u32 {
    let (low, high) = (a.min(b), a.max(b));
    parent[high as usize] = low;
    low
}

/// Replaces the trees by labels, counted from 0 in the order of the roots, and returns their number.
pub(crate) fn number(parent: &mut [u32]) -> usize {
    let mut count = 0;
    for node in 0..parent.len() {
        // A root is the lowest of its tree, so it has been labelled before the others ask for its label.
        let up = parent[node] as usize;
        if up == node {
            parent[node] = count;
            count += 1;
        } else {
            parent[node] = parent[up];
        }
    }
    count as usize
}

/// The root of a tree; halves the path on the way.
pub(crate) fn find(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let up = parent[parent[node as usize] as usize];
        parent[node as usize] = up;
        node = up;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    #[test]
    fn boxes_apart_are_parts() {
        let mut mesh = generate_box(Tet4, [1.0; 3], [3, 2, 2]).unwrap();
        let n = mesh.coords.len();
        assert_eq!(connected_parts(&mesh), (vec![0; n], 1));
        let second: Vec<u32> = mesh.cells[0].nodes.iter().map(|&node| node + n as u32).collect();
        mesh.cells[0].nodes.extend(second);
        mesh.coords.extend_from_within(..);
        let (labels, count) = connected_parts(&mesh);
        assert_eq!(count, 2);
        assert!(labels[..n].iter().all(|&l| l == 0) && labels[n..].iter().all(|&l| l == 1));
        for cell in mesh.cells[0].nodes.chunks_mut(4) {
            cell.iter_mut().filter(|node| **node == n as u32).for_each(|node| *node = 0);
        }
        let (labels, count) = connected_parts(&mesh);
        assert_eq!((count, labels[n]), (2, 1));
        assert!(labels.iter().enumerate().all(|(i, &l)| l == u32::from(i == n)));
    }
}
