//! The elements: FRD's types and orders of nodes.

use std::io::{self, Write};

use super::{binary_integer, integer};
use crate::element::{Domain, ElementKind};
use crate::mesh::write::Form;
use crate::mesh::{Cells, Mesh};
use crate::output::rows;

/// Nodes of a line.
const OF_LINE: usize = 10;

/// What a shape is in FRD: its types with nodes at the corners only and with nodes on the edges; corners, and the edges
/// in the order of their nodes, by pairs of these corners.
struct Type {
    codes: [u64; 2],
    corners: &'static [usize],
    edges: &'static [[usize; 2]],
}

const HEXAHEDRON: [[usize; 2]; 12] =
    [[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 5], [2, 6], [3, 7], [4, 5], [5, 6], [6, 7], [7, 4]];
const WEDGE: [[usize; 2]; 9] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 4], [2, 5], [3, 4], [4, 5], [5, 3]];

const fn type_of(domain: Domain) -> Option<Type> {
    let (codes, corners, edges): (_, &[usize], &[_]) = match domain {
        Domain::Hexahedron => ([1, 4], &[0, 1, 2, 3, 4, 5, 6, 7], &HEXAHEDRON),
        Domain::Pyramid => ([1, 4], &[0, 1, 2, 3, 4, 4, 4, 4], &HEXAHEDRON),
        Domain::Wedge => ([2, 5], &[0, 1, 2, 3, 4, 5], &WEDGE),
        Domain::Tetrahedron => ([3, 6], &[0, 1, 2, 3], &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]]),
        Domain::Triangle => ([7, 8], &[0, 1, 2], &[[0, 1], [1, 2], [2, 0]]),
        Domain::Quadrilateral => ([9, 10], &[0, 1, 2, 3], &[[0, 1], [1, 2], [2, 3], [3, 0]]),
        _ => return None,
    };
    Some(Type { codes, corners, edges })
}

/// The type of a kind, and its nodes by their local numbers in FRD's order. Nodes inside faces and bodies are left out.
pub(super) fn layout(kind: ElementKind) -> Option<(u64, Vec<usize>)> {
    let Type { codes, corners, edges } = type_of(kind.info().domain)?;
    if !kind.info().is_quadratic() {
        return Some((codes[0], corners.to_vec()));
    }
    let middle = |[a, b]: [usize; 2]| {
        let ends = [corners[a], corners[b]];
        let is_it = |edge: &&Vec<usize>| ends.contains(&edge[0]) && ends.contains(&edge[1]);
        // The edge between two corners that are one is a point.
        if ends[0] == ends[1] { Some(ends[0]) } else { kind.edges().iter().find(is_it)?.get(2).copied() }
    };
    let middles: Option<Vec<usize>> = edges.iter().map(|edge| middle(*edge)).collect();
    Some((codes[1], [corners.to_vec(), middles?].concat()))
}

/// The tags, or numbers from 1 where readers cannot hold one of them.
pub(super) fn tags<'a>(tags: impl Iterator<Item = &'a u64> + Clone) -> Vec<u64> {
    match tags.clone().all(|tag| *tag <= i32::MAX as u64) {
        true => tags.copied().collect(),
        false => tags.zip(1..).map(|(_, number)| number).collect(),
    }
}

/// Writes the solids.
pub(super) fn write<W: Write>(out: &mut W, mesh: &Mesh, node_tags: &[u64], form: Form) -> io::Result<()> {
    let blocks: Vec<(&Cells, u64, Vec<usize>)> =
        mesh.solids().filter_map(|(_, cells)| layout(cells.kind).map(|(code, order)| (cells, code, order))).collect();
    let all = tags(blocks.iter().flat_map(|(cells, ..)| &cells.tags));
    writeln!(out, "    3C{:>30}{:>38}", all.len(), if form == Form::Ascii { 1 } else { 2 })?;
    let mut first = 0;
    for (cells, code, order) in &blocks {
        rows::write(out, cells.len(), |cell, text| {
            let nodes = cells.cell(cell);
            let nodes = order.iter().map(|&k| node_tags[nodes[k] as usize]);
            let tag = all[first + cell];
            match form {
                Form::Ascii => text_row(text, tag, *code, nodes),
                Form::Binary => [tag, *code, 0, 1].into_iter().chain(nodes).for_each(|n| binary_integer(text, n)),
            }
            Ok(())
        })?;
        first += cells.len();
    }
    Ok(())
}

/// Appends the lines of an element: tag, type, group and material, then the nodes.
fn text_row(text: &mut Vec<u8>, tag: u64, code: u64, nodes: impl Iterator<Item = u64>) {
    text.extend_from_slice(b" -1");
    integer(text, tag, 10);
    [code, 0, 1].into_iter().for_each(|value| integer(text, value, 5));
    for (i, node) in nodes.enumerate() {
        if i % OF_LINE == 0 {
            text.extend_from_slice(b"\n -2");
        }
        integer(text, node, 10);
    }
    text.push(b'\n');
}
