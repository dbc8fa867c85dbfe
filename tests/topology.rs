//! The symbolic phase on every device, entry for entry as the host does it, whose result is checked by its definition.

use crate::common::elements::solvable;
use crate::common::recorder::Recorder;
use crate::common::{ORDERS, emulator, meshes, on_every_device};
use crate::kernels::SIZES;
use std::collections::BTreeSet;
use warpfem::assembly::patch_order::node_order;
use warpfem::assembly::{Numbering, Symbolic, Topology};
use warpfem::element::ElementKind::{self, Hex8, Line2, Quad4, Tet4, Tet10, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::{Cells, Mesh, generate::generate_box};
use warpfem::result::choices::Ordering;
use warpfem::sparse::Sparsity;

/// Everything of a block: position, type, cells, nodes, offsets and lists of cells, slots.
type Block = (usize, ElementKind, usize, Vec<u32>, Vec<u64>, Vec<u32>, Vec<u16>);

fn by_host(mesh: &Mesh, order: Ordering, window: usize) -> (Numbering, Sparsity, Vec<Block>, Vec<[f64; 3]>) {
    let Symbolic { numbering, sparsity, blocks } = Symbolic::new(mesh, &[], order, window).unwrap();
    let coords = numbering.gather(&mesh.coords);
    let blocks = blocks
        .into_iter()
        .map(|b| (b.index, b.kind, mesh.cells[b.index].len(), b.nodes, b.around.offsets, b.around.cells, b.slots));
    (numbering, sparsity, blocks.collect(), coords)
}

/// What the host finds, by its definition: a permutation; rows of neighbours, the diagonal first; the cells around each
/// node; and where in the row of a cell's node its nodes are.
fn check_host(mesh: &Mesh, numbering: &Numbering, sparsity: &Sparsity, blocks: &[Block]) {
    let n = mesh.coords.len();
    assert!((0..n).all(|row| numbering.to_solver[numbering.to_mesh[row] as usize] as usize == row));
    let mut sets: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
    for (index, kind, n_cells, nodes, offsets, cells, slots) in blocks {
        let (size, of_mesh) = (kind.info().n_nodes, &mesh.cells[*index].nodes);
        assert!(of_mesh.iter().map(|node| numbering.to_solver[*node as usize]).eq(nodes.iter().copied()));
        let mut around = vec![Vec::new(); n];
        for (cell, nodes) in nodes.chunks(size).enumerate() {
            nodes.iter().for_each(|row| around[*row as usize].push(cell as u32));
            nodes.iter().for_each(|row| sets[*row as usize].extend(nodes));
        }
        assert!((0..n).all(|row| (offsets[row + 1] - offsets[row]) as usize == around[row].len()));
        assert_eq!((*n_cells, cells), (nodes.len() / size, &around.concat()));
        for (i, (row, slots)) in nodes.iter().zip(slots.chunks(size)).enumerate() {
            let found = slots.iter().map(|slot| sparsity.row(*row as usize)[usize::from(*slot)]);
            assert!(found.eq(nodes[i / size * size..][..size].iter().copied()), "row {row} of cell {}", i / size);
        }
    }
    for (row, set) in sets.iter().enumerate() {
        let others = set.iter().copied().filter(|other| *other as usize != row);
        assert!(std::iter::once(row as u32).chain(others).eq(sparsity.row(row).iter().copied()), "row {row}");
    }
}

/// The slots of a block but for cells that have a node twice, which no matrix is made of.
fn slots((_, kind, _, nodes, _, _, slots): &Block) -> Vec<u16> {
    let size = kind.info().n_nodes;
    let cells = nodes.chunks(size).zip(slots.chunks(size * size));
    let distinct = cells.filter(|(nodes, _)| BTreeSet::from_iter(*nodes).len() == size);
    distinct.flat_map(|(_, slots)| slots).copied().collect()
}

fn agrees(space: &Space, mesh: &Mesh, order: Ordering, window: usize) {
    let (numbering, sparsity, blocks, coords) = by_host(mesh, order, window);
    if space.on_host() {
        check_host(mesh, &numbering, &sparsity, &blocks);
    }
    let found = Topology::new(space, mesh, &[], order, window).unwrap();
    let what = format!("{} nodes on {}, {order:?}, window {window}", mesh.coords.len(), space.name());
    assert!(found.numbering == numbering, "numbering: {what}");
    assert!(found.pattern.download(space).unwrap() == sparsity, "sparsity: {what}");
    assert_eq!(found.pattern.n_rows, mesh.coords.len());
    assert!(space.download(&found.coords).unwrap() == coords, "coordinates: {what}");
    assert_eq!(found.blocks.len(), blocks.len(), "{what}");
    for (found, block) in found.blocks.iter().zip(&blocks) {
        let found: Block = (
            found.index,
            found.kind,
            found.n_cells,
            space.download(&found.nodes).unwrap(),
            space.download(&found.around).unwrap(),
            space.download(&found.cells).unwrap(),
            space.download(&found.slots).unwrap(),
        );
        assert_eq!((found.0, found.1, found.2), (block.0, block.1, block.2), "{what}");
        assert!(found.3 == block.3, "nodes of {:?}: {what}", found.1);
        assert!(found.4 == block.4 && found.5 == block.5, "cells around nodes of {:?}: {what}", found.1);
        assert!(slots(&found) == slots(block), "slots of {:?}: {what}", found.1);
    }
}

/// In both orders, with and without a sort by degree.
fn check(space: &Space, mesh: &Mesh) {
    for order in [Ordering::Mesh, Ordering::Hilbert] {
        for window in [1, 32, 1024] {
            agrees(space, mesh, order, window);
        }
    }
}

/// Cells of one or more types over `n` nodes at random places.
fn mesh(n: usize, cells: Vec<(ElementKind, Vec<u32>)>) -> Mesh {
    let mut random = crate::common::Random(9);
    let block = |(kind, nodes): (ElementKind, Vec<u32>)| Cells {
        tags: (1..=(nodes.len() / kind.info().n_nodes) as u64).collect(),
        kind,
        nodes,
    };
    Mesh {
        coords: (0..n).map(|_| [random.next(), random.next(), random.next()]).collect(),
        node_tags: (0..n as u64).map(|node| 10 * node + 7).collect(),
        cells: cells.into_iter().map(block).collect(),
        ..Mesh::default()
    }
}

/// Cells of four of `n` nodes at random, some of them twice in a cell; node 0 is in every third cell.
pub fn random_cells(n: usize) -> Mesh {
    let mut random = crate::common::Random(4);
    let n_cells = if n == 0 { 0 } else { n + n / 2 };
    let mut node = |i: usize| if i.is_multiple_of(12) { 0 } else { random.below(n) as u32 };
    mesh(n, vec![(Tet4, (0..4 * n_cells).map(&mut node).collect())])
}

/// The kernels' check, of so many nodes as threads are in warps and blocks.
pub fn of_random_cells(space: &Space) {
    SIZES.iter().for_each(|n| check(space, &random_cells(*n)));
}

/// `n_cells` cells of four nodes, all of which share node 5.
fn star(n_cells: u32) -> Vec<u32> {
    (0..n_cells).flat_map(|cell| [6 + 2 * cell, 5, 7 + 2 * cell, 8 + 2 * cell]).collect()
}

#[test]
fn boxes() {
    for kind in [Tet4, Hex8] {
        let mesh = generate_box(kind, [3.0, 2.0, 1.0], [7, 6, 5]).unwrap();
        on_every_device!(check, &mesh);
    }
    for kind in solvable() {
        on_every_device!(check, &meshes::distorted_box(kind, [4, 3, 2], 0.2));
    }
}

#[test]
fn unstructured_meshes() {
    let cube = meshes::load("cube_463.toml").mesh;
    on_every_device!(check, &cube);
    let vase = meshes::load("vase.toml").mesh;
    agrees(&emulator(ORDERS[1]), &vase, Ordering::Hilbert, 1024);
    if let Some(gpu) = crate::common::gpu() {
        for case in ["vase.toml", "car.toml", "bracket.toml", "cube_7348.toml"] {
            check(&gpu, &meshes::load(case).mesh);
        }
    }
}

#[test]
fn several_element_types_with_facets_beside_them() {
    let mut mixed = generate_box(Hex8, [1.0; 3], [4, 3, 3]).unwrap();
    let tets = generate_box(Tet4, [1.0; 3], [4, 3, 3]).unwrap();
    let of_the_upper_half = tets.cells[0].nodes.chunks_exact(4).filter(|cell| cell[0] > 40);
    let nodes: Vec<u32> = of_the_upper_half.flatten().copied().collect();
    mixed.cells.push(Cells { kind: Tet4, tags: (1..=nodes.len() as u64 / 4).collect(), nodes });
    assert!(mixed.cells.len() == 3 && mixed.solids().count() == 2);
    on_every_device!(check, &mixed);
}

#[test]
fn orphan_nodes_and_nodes_that_a_cell_has_twice() {
    on_every_device!(check, &mesh(300, vec![(Tet4, vec![7, 250, 9, 31, 31, 9, 200, 7, 7, 7, 7, 7])]));
}

#[test]
fn a_node_that_very_many_cells_share() {
    let hub = star(500);
    on_every_device!(check, &mesh(1100, vec![(Tet4, hub.clone())]));
    // Two element types, so that a long list is added to.
    let triangles = (0..300).flat_map(|cell| [5, 1099 - cell, 6 + cell]).collect();
    let two = mesh(1100, vec![(Quad4, hub), (Tri3, triangles)]);
    on_every_device!(check, &two);
}

#[test]
fn meshes_without_cells_or_nodes() {
    on_every_device!(check, &mesh(0, vec![]));
    on_every_device!(check, &mesh(0, vec![(Tet4, vec![])]));
    on_every_device!(check, &mesh(40, vec![]));
    on_every_device!(check, &mesh(40, vec![(Tet4, vec![]), (Hex8, vec![])]));
}

#[test]
fn the_mesh_goes_to_the_device_and_only_the_numbering_comes_back() {
    let mesh = generate_box(Tet4, [1.0; 3], [4, 3, 3]).unwrap();
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    let before = recorder.counts();
    Topology::new(&space, &mesh, &[], Ordering::Hilbert, 32).unwrap();
    let after = recorder.counts();
    assert_eq!(after.uploads - before.uploads, 2);
    let bytes = size_of_val(&*mesh.cells[0].nodes) + size_of_val(&*mesh.coords);
    assert_eq!(after.bytes_uploaded - before.bytes_uploaded, bytes);
    // The numbering both ways, the room for candidates, the largest degree, the number of blocks.
    assert_eq!(after.downloads - before.downloads, 5);
}

fn too_many(space: &Space) -> String {
    let hub: Vec<u32> = (0..65_536).flat_map(|node| [65_536, node]).collect();
    let mesh = mesh(65_537, vec![(Line2, hub)]);
    let Err(error) = Topology::new(space, &mesh, &[], Ordering::Mesh, 1) else { panic!("65,537 blocks in a row") };
    error.to_string()
}

#[test]
fn too_many_neighbours_are_an_error_that_names_the_node() {
    let expected = too_many(&Space::cpu());
    assert!(expected.contains("655367"), "{expected}");
    assert_eq!(too_many(&emulator(ORDERS[0])), expected);
    if let Some(gpu) = crate::common::gpu() {
        assert_eq!(too_many(&gpu), expected);
    }
}

#[test]
fn nodes_of_a_patch_lie_together() {
    let space = Space::cpu();
    for kind in [Hex8, Tet10] {
        let mesh = generate_box(kind, [1.0; 3], [8; 3]).unwrap();
        let (nodes, coords) = (space.upload(&mesh.cells[0].nodes).unwrap(), space.upload(&mesh.coords).unwrap());
        let order = space.take(node_order(&space, &mesh, &coords, &[(kind, &nodes)]).unwrap()).unwrap();
        let mut place = vec![usize::MAX; order.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old as usize] = new);
        assert!(place.iter().all(|new| *new < order.len()), "not a permutation");
        // Most nodes of most cells are near each other.
        let cells = &mesh.cells[0];
        let is_near = |cell: &usize| {
            let mut nodes: Vec<usize> = cells.cell(*cell).iter().map(|node| place[*node as usize]).collect();
            nodes.sort_unstable();
            nodes[3 * nodes.len() / 4] - nodes[nodes.len() / 4] < order.len() / 4
        };
        assert!(2 * (0..cells.len()).filter(is_near).count() > cells.len());
    }
}
