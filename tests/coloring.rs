//! Colouring of cells on the host and on every device: no two cells of a colour share a node, colours are few, and the
//! same on every device and in every order of threads.

use crate::common::recorder::{Counts, Recorder};
use crate::common::{ORDERS, Random, emulator, meshes, on_every_device};
use warpfem::assembly::{CellColors, Topology};
use warpfem::element::ElementKind::{self, Hex8, Line2, Tet4, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::coloring::Coloring;
use warpfem::mesh::{Cells, Mesh, generate::generate_box, rectangle::generate_rectangle};
use warpfem::result::choices::Ordering;

macro_rules! kinds {
    ($($Kind:ident),+) => { [$(ElementKind::$Kind),+] };
}

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

/// A box or a rectangle of `kind`.
fn structured(kind: ElementKind, n: [usize; 3]) -> Mesh {
    match kind.info().dim {
        2 => generate_rectangle(kind, [1.0; 2], [n[0], n[1]]).unwrap(),
        _ => generate_box(kind, [1.0; 3], n).unwrap(),
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
    let topology = Topology::new(space, mesh, Ordering::Hilbert, 32).unwrap();
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
    for kind in kernels_rs::for_each_element!(kinds) {
        let corners = kind.linear();
        let mesh = structured(kind, [7, 6, 5]);
        let coloring = check(&mesh);
        let (least, found, name) = (most_around(&mesh), coloring.balance(), kind.info().name);
        println!(
            "{name}: {} colours of {} to {} cells; {least} at least",
            found.n_colors, found.smallest, found.largest
        );
        // Of quadrilaterals and hexahedra as many as meet at a node.
        let most = if corners == Tri3 || corners == Tet4 { 2 * least } else { least };
        assert!((least..=most).contains(&found.n_colors), "{name}: {found:?}");
        assert_eq!(coloring, first_fit(&structured(corners, [7, 6, 5])), "{name}: corners decide");
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
    let mut beside_others = structured(Hex8, [2, 1, 1]);
    beside_others.cells.insert(0, Cells { kind: Tet4, nodes: Vec::new(), tags: Vec::new() });
    assert_eq!(check(&beside_others).n_colors(), 0);
}

#[test]
fn the_host_reads_once_in_64_rounds_and_the_cells_stay_on_the_device() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    // A cell waits for its neighbours of a lower number: cell (i, j, k) of a box is ready in round 1 + i + 2 j + 4 k.
    for (n, rounds) in [([7, 6, 5], 1 + 6 + 10 + 16), ([20, 11, 15], 1 + 19 + 20 + 56)] {
        let topology = Topology::new(&space, &structured(Hex8, n), Ordering::Hilbert, 32).unwrap();
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

/// A row of cells, each of which waits for the one before it.
fn row(n: u32) -> Mesh {
    mesh(Line2, (0..n).flat_map(|cell| [cell, cell + 1]).collect())
}

#[test]
fn a_long_row_is_not_waited_for() {
    let row = row(1000);
    // The host goes through to the end; where the device turns to the other order, cells 64 to 999 are left.
    assert_eq!(first_fit(&row).n_colors(), 2);
    let mut expected: Vec<u32> = (0..64).map(|cell| cell % 2).chain([u32::MAX; 936]).collect();
    let mut rest: Vec<u32> = (64..1000).collect();
    rest.sort_unstable_by_key(|cell| cell.reverse_bits());
    for cell in rest {
        let beside = |other: u32| expected.get(other as usize).copied();
        let taken = [beside(cell - 1), beside(cell + 1)];
        expected[cell as usize] = (0..3).find(|color| !taken.contains(&Some(*color))).unwrap();
    }
    let results = on_every_device!(colors, &row, Some(64));
    assert!(results[1..].iter().all(|found| *found == Coloring::of(&expected)));
    assert_eq!(results[0], first_fit(&row), "the host has no rounds");
}

#[test]
fn the_other_order_needs_few_rounds_and_not_many_more_colors() {
    for (kind, n) in [(Hex8, [9, 7, 8]), (Tet4, [6, 5, 4])] {
        let mesh = structured(kind, n);
        let host = first_fit(&mesh);
        let found = colors(&emulator(ORDERS[2]), &mesh, Some(0));
        assert_valid(solids(&mesh), &found);
        assert_eq!(found, colors(&emulator(ORDERS[1]), &mesh, Some(0)));
        assert_ne!(found, host);
        println!("{}: {} colours, {} by number", kind.info().name, found.n_colors(), host.n_colors());
        assert!(found.n_colors() <= 2 * host.n_colors());
    }
}
