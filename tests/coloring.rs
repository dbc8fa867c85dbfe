//! Colouring of cells on the host and on every device: no two cells of a colour share a node, colours are few, and the
//! same on every device and in every order of threads.

use crate::common::elements::solvable;
use crate::common::recorder::{Counts, Recorder};
use crate::common::{Random, meshes, on_every_device};
use crate::kernels::SIZES;
use crate::topology::random_cells;
use std::collections::BTreeSet;
use warpfem::assembly::{CellColors, Topology};
use warpfem::element::ElementKind::{self, Hex8, Line2, Tet4, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::coloring::Coloring;
use warpfem::mesh::{Cells, Mesh};
use warpfem::result::choices::Ordering;

/// Cells that share nodes, and nothing else of a mesh.
fn mesh(kind: ElementKind, nodes: Vec<u32>) -> Mesh {
    let n_nodes = nodes.iter().max().map_or(0, |last| *last as usize + 1);
    let tags = (1..=(nodes.len() / kind.info().n_nodes) as u64).collect();
    Mesh {
        coords: (0..n_nodes).map(|node| [node as f64, 0.0, 0.0]).collect(),
        node_tags: (1..=n_nodes as u64).collect(),
        cells: vec![Cells { kind, nodes, tags }],
        ..Mesh::default()
    }
}

/// The cells that are coloured: the first block of those of the highest dimension.
fn solids(mesh: &Mesh) -> &Cells {
    mesh.solids().next().unwrap().1
}

/// The most cells around a node: that many colours it takes at least.
fn most_around(mesh: &Mesh) -> usize {
    let mut around = vec![0; mesh.coords.len()];
    solids(mesh).nodes.iter().for_each(|node| around[*node as usize] += 1);
    around.into_iter().max().unwrap_or(0)
}

/// Every cell has a colour, those of a colour ascend, and no two of them share a node.
#[track_caller]
fn assert_valid(cells: &Cells, coloring: &Coloring) {
    let mut all = coloring.cells.clone();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..cells.len() as u32), "every cell once");
    for color in coloring.colors() {
        assert!(!color.is_empty() && color.is_sorted_by(|a, b| a < b));
        let of_cell = |cell: &u32| {
            let mut nodes = cells.cell(*cell as usize).to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let mut nodes: Vec<u32> = color.iter().flat_map(of_cell).collect();
        let n = nodes.len();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), n, "two cells of a colour share a node");
    }
}

fn first_fit(mesh: &Mesh) -> Coloring {
    let cells = solids(mesh);
    Coloring::first_fit(&cells.nodes, cells.kind.info().n_nodes, mesh.coords.len())
}

/// The colours that a device gives, where a device keeps to the order of the cells' numbers for so many rounds.
fn colors(space: &Space, mesh: &Mesh, rounds: Option<usize>) -> Coloring {
    let topology = Topology::new(space, mesh, &[], Ordering::Hilbert, 32).unwrap();
    let block = &topology.blocks[0];
    let found = match rounds {
        None => CellColors::new(space, block),
        Some(rounds) => CellColors::in_order_for(space, block, rounds),
    };
    let CellColors { starts, cells } = found.unwrap();
    Coloring { starts, cells: space.take(cells).unwrap() }
}

/// The colours of every device are valid and the host's.
#[track_caller]
fn check(mesh: &Mesh) -> Coloring {
    let expected = first_fit(mesh);
    assert_valid(solids(mesh), &expected);
    for found in on_every_device!(colors, mesh, None) {
        assert!(found == expected, "{} colours, not {}", found.n_colors(), expected.n_colors());
    }
    expected
}

#[test]
fn structured_meshes_of_every_element() {
    for kind in solvable().filter(|kind| kind.is_of_papers()) {
        let corners = kind.linear();
        let mesh = meshes::regular_box(kind, [7, 6, 5]);
        let coloring = check(&mesh);
        let (least, found, name) = (most_around(&mesh), coloring.balance(), kind.info().name);
        println!(
            "{name}: {} colours of {} to {} cells; {least} at least",
            found.n_colors, found.smallest, found.largest
        );
        // Of quadrilaterals and hexahedra as many as meet at a node.
        let most = if corners == Tri3 || corners == Tet4 { 2 * least } else { least };
        assert!((least..=most).contains(&found.n_colors), "{name}: {found:?}");
        assert_eq!(coloring, first_fit(&meshes::regular_box(corners, [7, 6, 5])), "{name}: corners decide");
    }
}

#[test]
fn unstructured_tetrahedra() {
    let mesh = meshes::load("cube_463.toml").mesh;
    let coloring = check(&mesh);
    assert_eq!((coloring.n_colors(), most_around(&mesh)), (50, 50));
    for case in ["bracket.toml", "car.toml", "cube_7348.toml", "vase.toml"] {
        let mesh = meshes::load(case).mesh;
        let coloring = first_fit(&mesh);
        assert_valid(solids(&mesh), &coloring);
        println!("{case}: {:?}, {} at least", coloring.balance(), most_around(&mesh));
        assert_eq!(coloring.n_colors(), most_around(&mesh), "{case}");
        if let Some(gpu) = crate::common::gpu() {
            assert!(colors(&gpu, &mesh, None) == coloring, "{case}");
        }
    }
}

#[test]
fn a_node_that_very_many_cells_share() {
    let star = (0..300).flat_map(|cell| [5, 6 + 2 * cell, 7 + 2 * cell, 8 + 2 * cell]).collect();
    assert_eq!(check(&mesh(Tet4, star)).n_colors(), 300);
}

#[test]
fn cells_that_have_a_node_twice_and_nodes_without_cells() {
    let mut random = Random(3);
    let twice = mesh(Tet4, vec![7, 250, 9, 31, 31, 9, 200, 7, 7, 7, 7, 7, 3, 2, 2, 3]);
    assert_eq!(check(&twice).n_colors(), 3);
    check(&mesh(Tet4, (0..800).map(|_| random.below(100) as u32).collect()));
}

#[test]
fn no_cells() {
    let mut beside_others = meshes::regular_box(Hex8, [2, 1, 1]);
    beside_others.cells.insert(0, Cells { kind: Tet4, nodes: Vec::new(), tags: Vec::new() });
    assert_eq!(check(&beside_others).n_colors(), 0);
}

#[test]
fn the_host_reads_once_in_64_rounds_and_the_cells_stay_on_the_device() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    // A cell waits for its neighbours of a lower number: cell (i, j, k) of a box is ready in round 1 + i + 2 j + 4 k.
    for (n, rounds) in [([7, 6, 5], 1 + 6 + 10 + 16), ([20, 11, 15], 1 + 19 + 20 + 56)] {
        let topology = Topology::new(&space, &meshes::regular_box(Hex8, n), &[], Ordering::Hilbert, 32).unwrap();
        let before = recorder.counts();
        assert_eq!(CellColors::new(&space, &topology.blocks[0]).unwrap().n_colors(), 8);
        let after = recorder.counts();
        let launched = |counts: &Counts| counts.launches.get("color_ready").copied().unwrap_or(0);
        let batches = (rounds as usize).div_ceil(64);
        assert_eq!(launched(&after) - launched(&before), 64 * batches, "{n:?}");
        // Whether cells are left, the number of colours, where they start.
        assert_eq!((after.downloads - before.downloads, after.uploads - before.uploads), (batches + 2, 0), "{n:?}");
    }
}

/// First fit one by one: of cells that are ready within so many rounds in the order of their numbers, a cell after
/// those before it at its nodes, and then of the others in the order of their numbers' bits in reverse.
fn by_rounds(mesh: &Mesh, rounds: usize) -> Coloring {
    let (cells, n) = (solids(mesh), mesh.coords.len());
    let (mut taken, mut last) = (vec![BTreeSet::new(); n], vec![0; n]);
    let mut colors = vec![u32::MAX; cells.len()];
    let mut give = |cell: usize| {
        let nodes = cells.cell(cell);
        let is_free = |color: &u32| nodes.iter().all(|node| !taken[*node as usize].contains(color));
        colors[cell] = (0..).find(is_free).unwrap();
        for node in nodes {
            taken[*node as usize].insert(colors[cell]);
        }
    };
    let mut rest = Vec::new();
    for cell in 0..cells.len() {
        let round = cells.cell(cell).iter().map(|node| last[*node as usize] + 1).max().unwrap();
        cells.cell(cell).iter().for_each(|node| last[*node as usize] = round);
        if round <= rounds { give(cell) } else { rest.push(cell) }
    }
    rest.sort_unstable_by_key(|cell| (*cell as u32).reverse_bits());
    rest.into_iter().for_each(give);
    Coloring::of(&colors)
}

/// The kernels' check, of so many nodes as threads are in warps and blocks: more than two words of colours.
pub fn of_random_cells(space: &Space) {
    for mesh in SIZES.map(random_cells).iter().filter(|mesh| !mesh.coords.is_empty()) {
        for rounds in [0, 128, usize::MAX] {
            let found = colors(space, mesh, Some(rounds));
            assert_valid(solids(mesh), &found);
            let expected = if space.on_host() { usize::MAX } else { rounds };
            assert!(found == by_rounds(mesh, expected), "{} nodes, {rounds} rounds", mesh.coords.len());
            assert!(mesh.coords.len() < 1009 || found.n_colors() > 2 * u64::BITS as usize);
        }
    }
}

/// A row of cells, each of which waits for the one before it: it is not waited for.
#[test]
fn a_long_row_and_boxes_are_colored_in_another_order_with_not_many_more_colors() {
    let row = mesh(Line2, (0..1000).flat_map(|cell| [cell, cell + 1]).collect());
    assert_eq!(first_fit(&row).n_colors(), 2);
    for (mesh, rounds) in
        [(row, 64), (meshes::regular_box(Hex8, [9, 7, 8]), 0), (meshes::regular_box(Tet4, [6, 5, 4]), 0)]
    {
        let (host, expected) = (first_fit(&mesh), by_rounds(&mesh, rounds));
        let results = on_every_device!(colors, &mesh, Some(rounds));
        assert_eq!(results[0], host, "the host has no rounds");
        assert!(results[1..].iter().all(|found| *found == expected));
        assert!(rounds > 0 || host != expected, "the order is another");
        println!("{} colours, {} by number", expected.n_colors(), host.n_colors());
        assert!(expected.n_colors() <= 2 * host.n_colors());
    }
}
