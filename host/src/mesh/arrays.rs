//! Meshes from arrays, as other programs have them in memory.

use super::{Mesh, MeshError, Raw};
use crate::element::ElementKind;
use std::collections::BTreeMap;

/// Elements of one kind.
pub struct Block<'a> {
    /// The kind.
    pub kind: ElementKind,
    /// Positions of nodes in the points, `[n_cells][n_nodes]`, flat.
    pub nodes: &'a [u64],
    /// Which of the kind's nodes stands at each place; empty where they are in Gmsh's order.
    pub order: &'a [usize],
}

/// What is in a group.
pub enum Members {
    /// Nodes, by their positions.
    Nodes(Vec<u64>),
    /// Elements, by the position of their block and their own in it.
    Cells(Vec<(usize, Vec<u64>)>),
}

impl Mesh {
    /// A mesh of points, elements and named groups. Tags of nodes and elements are their positions; those of elements go on from
    /// block to block.
    ///
    /// # Errors
    ///
    /// Those of a mesh file.
    pub fn from_arrays(
        points: Vec<[f64; 3]>,
        blocks: &[Block],
        groups: Vec<(String, Members)>,
    ) -> Result<Mesh, MeshError> {
        let mut raw = Raw::of_nodes((0..points.len() as u64).collect(), points);
        let (mut next, mut first) = (0, Vec::new());
        let mut counts = BTreeMap::<ElementKind, u64>::new();
        for Block { kind, nodes, order } in blocks {
            let cells = nodes.chunks_exact(kind.info().n_nodes);
            let n = cells.len() as u64;
            raw.push_block(*kind, &(next..next + n).collect::<Vec<_>>(), cells, order);
            next += n;
            // Blocks of one kind are put together.
            let count = counts.entry(*kind).or_default();
            first.push(*count);
            *count += n;
        }
        for (name, members) in groups {
            match members {
                Members::Nodes(mut nodes) => {
                    nodes.sort_unstable();
                    nodes.dedup();
                    let start = counts.entry(ElementKind::Point1).or_default();
                    let cells = (*start..).take(nodes.len()).map(|cell| cell as u32).collect();
                    *start += nodes.len() as u64;
                    let tags: Vec<u64> = (next..).take(nodes.len()).collect();
                    next += nodes.len() as u64;
                    raw.push_block(ElementKind::Point1, &tags, nodes.chunks_exact(1), &[]);
                    raw.add_group(name, 0, vec![(ElementKind::Point1, cells)]);
                }
                Members::Cells(parts) => add_cells(&mut raw, &name, parts, blocks, &first)?,
            }
        }
        raw.into_mesh()
    }
}

/// Adds a group of elements: one for each dimension that they have.
fn add_cells(
    raw: &mut Raw,
    name: &str,
    parts: Vec<(usize, Vec<u64>)>,
    blocks: &[Block],
    first: &[u64],
) -> Result<(), MeshError> {
    let mut of_dims = BTreeMap::<usize, BTreeMap<ElementKind, Vec<u32>>>::new();
    for (block, cells) in parts {
        let Some(Block { kind, nodes, .. }) = blocks.get(block) else {
            return Err(MeshError::NoMember {
                group: name.into(),
                what: "blocks",
                member: block as u64,
                n: blocks.len(),
            });
        };
        let n = nodes.len() / kind.info().n_nodes;
        if let Some(member) = cells.iter().copied().find(|cell| *cell >= n as u64) {
            return Err(MeshError::NoMember { group: name.into(), what: kind.info().name, member, n });
        }
        let of_kind = of_dims.entry(kind.info().dim).or_default().entry(*kind).or_default();
        of_kind.extend(cells.iter().map(|cell| (first[block] + cell) as u32));
    }
    for (dim, mut members) in of_dims {
        members.values_mut().for_each(|cells| {
            cells.sort_unstable();
            cells.dedup();
        });
        raw.add_group(name.into(), dim, members.into_iter().collect());
    }
    Ok(())
}
