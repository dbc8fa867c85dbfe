//! `setup::coloring`: rounds of first fit over cells that share nodes at random, against first fit one by one.

use super::topology::{Mesh, N, UNWRITTEN, before_guard, cells, unwritten};
use super::{GUARD, SIZES};
use kernels_rs::setup::coloring::{ColorReady, ColorStarts, Colors, FirstReady, LANES, Ready, ReorderWaiting, Waiting};
use std::collections::BTreeSet;
use warpfem::device::Buffer;
use warpfem::linalg::Space;

/// Rounds in the order of the cells' numbers; more than a word of colours is given by then.
const ROUNDS: usize = 100;

/// First fit one by one.
struct Reference<'a> {
    cells: &'a [u32],
    /// Colours at each node.
    taken: Vec<BTreeSet<u32>>,
    /// The round in which the last cell at each node gets its colour.
    last: Vec<usize>,
    colors: Vec<u32>,
}

impl Reference<'_> {
    fn nodes(&self, cell: usize) -> &[u32] {
        &self.cells[N * cell..][..N]
    }

    /// The round in which this cell is ready, if those before it have gone through.
    fn round(&self, cell: usize) -> usize {
        self.nodes(cell).iter().map(|node| self.last[*node as usize] + 1).max().unwrap()
    }

    fn give(&mut self, cell: usize) {
        let nodes = self.nodes(cell).to_vec();
        let free = (0..).find(|color| nodes.iter().all(|node| !self.taken[*node as usize].contains(color)));
        self.colors[cell] = free.unwrap();
        nodes.iter().for_each(|node| {
            self.taken[*node as usize].insert(self.colors[cell]);
        });
    }
}

/// Everything of a colouring on a device.
struct Coloring {
    mesh: Mesh,
    lists: Buffer<u32>,
    given: Buffer<u32>,
    ready: [Buffer<u32>; 2],
    colors: Buffer<u64>,
    number: Buffer<u32>,
}

impl Coloring {
    fn new(space: &Space, n: usize, cells: &[u32]) -> Self {
        let n_cells = cells.len() / N;
        let mesh = Mesh::new(space, n, cells);
        let mut lists = unwritten(space, cells.len());
        space.copy(&mesh.cells, &mut lists).unwrap();
        Coloring {
            mesh,
            lists,
            given: space.zeros(n).unwrap(),
            ready: [(); 2].map(|()| unwritten(space, n_cells)),
            colors: space.upload(&vec![u64::MAX; n_cells + GUARD]).unwrap(),
            number: space.zeros(1).unwrap(),
        }
    }

    fn waiting(&mut self) -> Waiting {
        let (nodes, offsets) = (self.mesh.nodes.view(), self.mesh.offsets.view());
        Waiting { size: N, nodes, offsets, lists: self.lists.view_mut(), given: self.given.view_mut() }
    }

    /// At most so many rounds; how many cells were ready in each, and which in the first.
    fn run(&mut self, space: &Space, rounds: usize) -> (Vec<u32>, Vec<u32>) {
        let n_cells = self.colors.len() - GUARD;
        let (mut next_at, mut counts) = (space.zeros(n_cells).unwrap(), space.zeros(3).unwrap());
        let waiting = self.waiting();
        let to =
            Ready { next_at: next_at.view_mut(), cells: self.ready[0].view_mut(), counts: counts.view_mut(), next: 0 };
        // SAFETY: all live until the counts are read; lists have all cells of each node.
        unsafe { space.run(waiting.given.len(), FirstReady { waiting, to }) }.unwrap();
        let mut sizes = vec![space.read_at(&counts, 0).unwrap()];
        let mut first = before_guard(space, &self.ready[0]);
        first.truncate(sizes[0] as usize);
        first.sort_unstable();
        for round in 0..rounds {
            let ready = self.ready[round % 2].view();
            let cells = self.ready[(round + 1) % 2].view_mut();
            let to = Ready { cells, next: (round + 1) % 3, ..to };
            let colors = Colors { of_cells: self.colors.view_mut(), number: self.number.view_mut() };
            // SAFETY: as above; the two arrays of cells that are ready take turns.
            unsafe { space.run(n_cells.min(LANES), ColorReady { ready, waiting, to, colors }) }.unwrap();
            sizes.push(space.read_at(&counts, (round + 1) % 3).unwrap());
            if sizes[round + 1] == 0 {
                break;
            }
        }
        (sizes, first)
    }
}

pub fn rounds(space: &Space) -> Vec<u64> {
    SIZES.into_iter().flat_map(|n| rounds_of(space, n)).collect()
}

fn rounds_of(space: &Space, n: usize) -> Vec<u64> {
    let cells = cells(n);
    let n_cells = cells.len() / N;
    let (taken, last) = (vec![BTreeSet::new(); n], vec![0; n]);
    let mut reference = Reference { cells: &cells, taken, last, colors: vec![UNWRITTEN; n_cells] };
    let mut expected = vec![0; ROUNDS + 1];
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for cell in 0..n_cells {
        let round = reference.round(cell);
        reference.nodes(cell).to_vec().iter().for_each(|node| reference.last[*node as usize] = round);
        match round {
            1..=ROUNDS => reference.give(cell),
            _ => rest.push(cell),
        }
        expected.get_mut(round - 1).into_iter().for_each(|count| *count += 1);
        first.extend((round == 1).then_some(cell as u32));
    }
    let mut coloring = Coloring::new(space, n, &cells);
    let found = coloring.run(space, ROUNDS);
    expected.truncate(found.0.len());
    assert_eq!(found, (expected, first), "cells ready in each round, and in the first, of {n_cells}");

    // SAFETY: all live until the lists are read; each thread changes its node's list.
    unsafe { space.run(n, ReorderWaiting { waiting: coloring.waiting() }) }.unwrap();
    rest.sort_unstable_by_key(|cell| (*cell as u32).reverse_bits());
    rest.iter().for_each(|cell| reference.give(*cell));
    let (sizes, _) = coloring.run(space, usize::MAX);
    assert_eq!(sizes.iter().sum::<u32>() as usize, rest.len(), "the rest in the other order");
    assert_eq!(before_guard(space, &coloring.lists).len(), cells.len());
    coloring.ready.iter().for_each(|ready| assert_eq!(before_guard(space, ready).len(), n_cells));
    let mut colors = space.download(&coloring.colors).unwrap();
    assert_eq!(colors.split_off(n_cells), [u64::MAX; GUARD]);
    assert!(colors.iter().eq(reference.colors.iter().map(|color| u64::from(*color)).collect::<Vec<_>>().iter()));
    let n_colors = colors.iter().max().map_or(0, |last| *last as u32 + 1);
    assert_eq!(space.read_at(&coloring.number, 0).unwrap(), n_colors);
    if n == 1009 {
        assert!(n_colors > 2 * u64::BITS && !rest.is_empty(), "{n_colors} colours: not what this is to check");
    }
    starts(space, &colors, n_colors as usize);
    colors
}

/// Where colours start among the cells sorted by them.
fn starts(space: &Space, colors: &[u64], n_colors: usize) {
    let mut order: Vec<u32> = (0..colors.len() as u32).collect();
    order.sort_by_key(|cell| colors[*cell as usize]);
    let expected: Vec<u32> =
        (0..n_colors).map(|color| colors.iter().filter(|other| **other < color as u64).count() as u32).collect();
    let (device_colors, order) = (space.upload(colors).unwrap(), space.upload(&order).unwrap());
    let mut starts = unwritten(space, n_colors);
    let kernel = ColorStarts { colors: device_colors.view(), order: order.view(), starts: starts.view_mut() };
    // SAFETY: all live until the starts are read; every colour has cells.
    unsafe { space.run(colors.len(), kernel) }.unwrap();
    assert_eq!(before_guard(space, &starts), expected);
}
