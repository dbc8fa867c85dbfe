//! `setup`: numbering, adjacency, neighbours and slots of cells that share nodes at random, against sets.

use super::{GUARD, SIZES};
use crate::common::Random;
use kernels_rs::setup::around::{Around, CountCells, ListCells, SortCells};
use kernels_rs::setup::neighbours::{
    BeginLists, CountCandidates, ListNeighbours, Lists, LongestList, PlaceCells, Placed, RenumberRows,
};
use kernels_rs::setup::order::{DegreeKeys, Gather, GatherPoints, HilbertKeys, Invert, Lattice};
use kernels_rs::sparse::PatternView;
use std::collections::BTreeSet;
use warpfem::device::Buffer;
use warpfem::linalg::Space;

/// What nobody has written.
pub const UNWRITTEN: u32 = u32::MAX;
/// Nodes per cell.
pub const N: usize = 4;

/// Room for `n` entries and the guard.
pub fn unwritten(space: &Space, n: usize) -> Buffer<u32> {
    space.upload(&vec![UNWRITTEN; n + GUARD]).unwrap()
}

/// The entries before the guard, which must be untouched.
#[track_caller]
pub fn before_guard(space: &Space, buffer: &Buffer<u32>) -> Vec<u32> {
    let mut values = space.download(buffer).unwrap();
    let guard = values.split_off(values.len() - GUARD);
    assert_eq!(guard, [UNWRITTEN; GUARD], "{} entries, and more are written", values.len());
    values
}

fn widened(values: &[u32]) -> impl Iterator<Item = u64> {
    values.iter().map(|value| u64::from(*value))
}

/// The numbers below `n` in random order.
fn permutation(n: usize, seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    let mut order: Vec<u32> = (0..n as u32).collect();
    (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
    order
}

pub fn gathers(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for n in SIZES {
        let order = permutation(n, 1);
        let points: Vec<[f64; 3]> = (0..n).map(|i| [i as f64, -1.0, 0.5]).collect();
        let index = space.upload(&order).unwrap();
        let (mut inverse, mut back) = (unwritten(space, n), unwritten(space, n));
        let mut moved = space.upload(&vec![[f64::NAN; 3]; n + GUARD]).unwrap();
        let device_points = space.upload(&points).unwrap();
        // SAFETY: all live and have n entries; an order names every one.
        unsafe {
            space.run(n, Invert { order: index.view(), inverse: inverse.view_mut() }).unwrap();
            space.run(n, Gather { index: index.view(), from: inverse.view(), out: back.view_mut() }).unwrap();
            let kernel = GatherPoints { index: index.view(), from: device_points.view(), out: moved.view_mut() };
            space.run(n, kernel).unwrap();
        }
        let inverse = before_guard(space, &inverse);
        assert!((0..n).all(|i| inverse[order[i] as usize] == i as u32));
        assert!(before_guard(space, &back).iter().copied().eq(0..n as u32));
        let mut moved = space.download(&moved).unwrap();
        assert!(moved.split_off(n).as_flattened().iter().all(|c| c.is_nan()));
        assert!((0..n).all(|i| moved[i] == points[order[i] as usize]));
        found.extend(widened(&inverse));
    }
    found
}

pub fn order_keys(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for n in SIZES {
        let mut random = Random(2);
        let coords: Vec<[f64; 3]> = (0..n).map(|_| [random.next(), 3.0 * random.next(), random.next()]).collect();
        let lattice = Lattice::new([-1.0, -3.0, -1.0], [1.0, 3.0, 1.0]);
        let degrees: Vec<u32> = (0..n).map(|_| 1 + random.below(31) as u32).collect();
        let order = permutation(n, 3);
        let (device_coords, device_order) = (space.upload(&coords).unwrap(), space.upload(&order).unwrap());
        let device_degrees = space.upload(&degrees).unwrap();
        let [mut places, mut keys] = [(); 2].map(|()| space.upload(&vec![u64::MAX; n + GUARD]).unwrap());
        let hilbert = HilbertKeys { lattice, coords: device_coords.view(), keys: places.view_mut() };
        let by_degree = DegreeKeys {
            window: 32,
            bits: 5,
            order: device_order.view(),
            degrees: device_degrees.view(),
            keys: keys.view_mut(),
        };
        // SAFETY: all live and have n entries; degrees have five bits.
        unsafe {
            space.run(n, hilbert).unwrap();
            space.run(n, by_degree).unwrap();
        }
        let (mut places, mut keys) = (space.download(&places).unwrap(), space.download(&keys).unwrap());
        assert_eq!([places.split_off(n), keys.split_off(n)], [[u64::MAX; GUARD]; 2]);
        assert!((0..n).all(|i| places[i] == lattice.key(coords[i])), "the host's keys");
        let mut sorted: Vec<usize> = (0..n).collect();
        sorted.sort_by_key(|place| keys[*place]);
        let mut expected: Vec<usize> = (0..n).collect();
        expected.sort_by_key(|place| (place / 32, std::cmp::Reverse(degrees[order[*place] as usize])));
        assert_eq!(sorted, expected);
        found.extend(places.into_iter().chain(keys));
    }
    found
}

/// Cells of [`N`] of `n` nodes at random, some of them twice in a cell; node 0 is in every third cell.
pub fn cells(n: usize) -> Vec<u32> {
    let mut random = Random(4);
    let n_cells = if n == 0 { 0 } else { n + n / 2 };
    let node = |i: usize, random: &mut Random| if i.is_multiple_of(3 * N) { 0 } else { random.below(n) as u32 };
    (0..N * n_cells).map(|i| node(i, &mut random)).collect()
}

/// The cells around nodes, on a device.
pub struct Mesh {
    pub nodes: Buffer<u32>,
    counts: Buffer<u32>,
    pub offsets: Buffer<u64>,
    pub cells: Buffer<u32>,
}

impl Mesh {
    pub fn new(space: &Space, n: usize, cells: &[u32]) -> Self {
        let nodes = space.upload(cells).unwrap();
        let mut counts = space.zeros(n).unwrap();
        let count = CountCells { size: N, nodes: nodes.view(), counts: counts.view_mut() };
        // SAFETY: both live; cells name nodes below n.
        unsafe { space.run(cells.len() / N, count) }.unwrap();
        let offsets = space.exclusive_sum(&counts).unwrap();
        let (mut listed, mut around) = (space.zeros(n).unwrap(), unwritten(space, cells.len()));
        let list = ListCells {
            size: N,
            nodes: nodes.view(),
            offsets: offsets.view(),
            listed: listed.view_mut(),
            cells: around.view_mut(),
        };
        // SAFETY: all live; the offsets leave room for every pair.
        unsafe {
            space.run(cells.len() / N, list).unwrap();
            space.run(n, SortCells { offsets: offsets.view(), cells: around.view_mut() }).unwrap();
        }
        space.finish().unwrap();
        Mesh { nodes, counts, offsets, cells: around }
    }

    fn view(&self) -> Around {
        Around { size: N, nodes: self.nodes.view(), offsets: self.offsets.view(), cells: self.cells.view() }
    }
}

pub fn cells_around(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for n in SIZES {
        let cells = cells(n);
        let mut expected = vec![Vec::new(); n];
        cells.iter().enumerate().for_each(|(i, node)| expected[*node as usize].push((i / N) as u32));
        let mesh = Mesh::new(space, n, &cells);
        let counts: Vec<u32> = expected.iter().map(|list| list.len() as u32).collect();
        assert_eq!(space.download(&mesh.counts).unwrap(), counts);
        let around = before_guard(space, &mesh.cells);
        assert_eq!(around, expected.concat(), "{n} nodes");
        found.extend(widened(&around));
    }
    found
}

/// Neighbours of each node, itself included.
fn neighbour_sets(n: usize, cells: &[u32]) -> Vec<BTreeSet<u32>> {
    let mut sets: Vec<BTreeSet<u32>> = (0..n as u32).map(|node| BTreeSet::from([node])).collect();
    for cell in cells.chunks_exact(N) {
        cell.iter().for_each(|node| sets[*node as usize].extend(cell));
    }
    sets
}

/// The lists of neighbours of a mesh whose cells come in two blocks.
fn listed(space: &Space, n: usize, blocks: &[Mesh]) -> (Buffer<u64>, Buffer<u32>, Buffer<u32>) {
    let mut candidates = space.zeros(n).unwrap();
    for block in blocks {
        let kernel =
            CountCandidates { others: N as u32 - 1, counts: block.counts.view(), candidates: candidates.view_mut() };
        // SAFETY: both live and have n entries.
        unsafe { space.run(n, kernel) }.unwrap();
    }
    let starts = space.exclusive_sum(&candidates).unwrap();
    let room = space.read_at(&starts, n).unwrap() as usize + n;
    let (mut nodes, mut lengths) = (unwritten(space, room), space.zeros(n).unwrap());
    let lists = Lists { starts: starts.view(), nodes: nodes.view_mut() };
    // SAFETY: all live, and there is room for every candidate.
    unsafe { space.run(n, BeginLists { lists, lengths: lengths.view_mut() }) }.unwrap();
    for block in blocks {
        let kernel = ListNeighbours { around: block.view(), lists, lengths: lengths.view_mut() };
        // SAFETY: as above.
        unsafe { space.run(n, kernel) }.unwrap();
    }
    space.finish().unwrap();
    (starts, nodes, lengths)
}

pub fn neighbours(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for n in SIZES {
        let cells = cells(n);
        let sets = neighbour_sets(n, &cells);
        let (one, other) = cells.split_at(cells.len() / N / 3 * N);
        let blocks = [Mesh::new(space, n, one), Mesh::new(space, n, other)];
        let (starts, nodes, lengths) = listed(space, n, &blocks);
        let mut longest = space.zeros(1).unwrap();
        // SAFETY: both live, and lengths has n entries.
        unsafe { space.run(n, LongestList { lengths: lengths.view(), longest: longest.view_mut() }) }.unwrap();
        let most = sets.iter().map(|set| set.len() as u32).max();
        assert_eq!(space.read_at(&longest, 0).unwrap(), most.unwrap_or(0));
        let (starts, nodes) = (space.download(&starts).unwrap(), before_guard(space, &nodes));
        for (node, (set, length)) in sets.iter().zip(space.download(&lengths).unwrap()).enumerate() {
            let list = &nodes[starts[node] as usize + node..][..length as usize];
            assert!(list.iter().eq(set), "node {node} of {n}");
            found.extend(widened(list));
        }
    }
    found
}

pub fn rows_and_slots(space: &Space) -> Vec<u64> {
    SIZES.into_iter().flat_map(|n| rows_and_slots_of(space, n)).collect()
}

fn rows_and_slots_of(space: &Space, n: usize) -> Vec<u64> {
    // Slots are by cell and node, so the nodes of a cell must be different ones.
    let cells = cells(n);
    let distinct = |cell: &&[u32]| BTreeSet::from_iter(*cell).len() == N;
    let cells: Vec<u32> = cells.chunks_exact(N).filter(distinct).flatten().copied().collect();
    assert!(n < SIZES[2] || cells.len() > N * n / 2);
    let to_mesh = permutation(n, 5);
    let mut to_solver = vec![0; n];
    (0..n).for_each(|row| to_solver[to_mesh[row] as usize] = row as u32);
    let renumbered: Vec<u32> = cells.iter().map(|node| to_solver[*node as usize]).collect();
    let sets = neighbour_sets(n, &renumbered);
    let mesh = Mesh::new(space, n, &cells);
    let (starts, mut lists, _) = listed(space, n, std::slice::from_ref(&mesh));
    let lengths: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
    let row_start = space.exclusive_sum(&space.upload(&lengths).unwrap()).unwrap();
    let mut columns = unwritten(space, lengths.iter().sum::<u32>() as usize);
    let [device_to_mesh, device_to_solver] = [&to_mesh, &to_solver].map(|order| space.upload(order).unwrap());
    let renumber = RenumberRows {
        to_mesh: device_to_mesh.view(),
        to_solver: device_to_solver.view(),
        lists: Lists { starts: starts.view(), nodes: lists.view_mut() },
        row_start: row_start.view(),
        columns: columns.view_mut(),
    };
    // SAFETY: all live; rows are as long as lists.
    unsafe { space.run(n, renumber) }.unwrap();
    let rows: Vec<Vec<u32>> = sets.iter().enumerate().map(|(row, set)| diagonal_first(row as u32, set)).collect();
    let found_columns = before_guard(space, &columns);
    assert_eq!(found_columns, rows.concat(), "{n} rows");

    let mut around = vec![Vec::new(); n];
    renumbered.iter().enumerate().for_each(|(i, row)| around[*row as usize].push(i / N));
    let counts: Vec<u32> = around.iter().map(|list| list.len() as u32).collect();
    let offsets = space.exclusive_sum(&space.upload(&counts).unwrap()).unwrap();
    let mut placed = unwritten(space, cells.len());
    let mut slots = space.upload(&vec![u16::MAX; cells.len() * N + GUARD]).unwrap();
    let device_nodes = space.upload(&renumbered).unwrap();
    let place = PlaceCells {
        to_mesh: device_to_mesh.view(),
        around: Around { nodes: device_nodes.view(), ..mesh.view() },
        pattern: PatternView { row_start: row_start.view(), columns: columns.view() },
        to: Placed { offsets: offsets.view(), cells: placed.view_mut(), slots: slots.view_mut() },
    };
    // SAFETY: all live; a row has as many cells as its node.
    unsafe { space.run(n, place) }.unwrap();
    assert!(before_guard(space, &placed).iter().map(|cell| *cell as usize).eq(around.concat()));
    let mut slots = space.download(&slots).unwrap();
    assert_eq!(slots.split_off(cells.len() * N), [u16::MAX; GUARD]);
    for (i, (row, slots)) in renumbered.iter().zip(slots.chunks_exact(N)).enumerate() {
        let nodes: Vec<u32> = slots.iter().map(|slot| rows[*row as usize][usize::from(*slot)]).collect();
        assert_eq!(nodes, renumbered[i / N * N..][..N], "row {row} of cell {}", i / N);
    }
    widened(&found_columns).chain(slots.iter().map(|slot| u64::from(*slot))).collect()
}

fn diagonal_first(row: u32, set: &BTreeSet<u32>) -> Vec<u32> {
    std::iter::once(row).chain(set.iter().copied().filter(|column| *column != row)).collect()
}
