//! Patches of cells for products without a matrix ([`crate::matrix_free`]), made where the mesh is.
//!
//! | step | kernels |
//! | --- | --- |
//! | cells along a Hilbert curve, so many to a patch | [`cell_keys`], a sort |
//! | pairs of cell and node, by patch and node: an *entry* for each node of a patch | [`pair_keys`], a sort, [`mark_entries`], [`list_entries`] |
//! | how many patches a node belongs to, and what follows from that | [`count_entries`], [`class_nodes`], [`list_shared`] |
//! | the entries of a patch by what it does with them | [`rank_keys`], a sort, [`place_nodes`], [`place_slots`], [`place_coords`] |
//! | numbers of nodes by which those of a patch lie together | [`touch_nodes`], [`count_in_first`], [`order_keys`], a sort |
//! | where the sums of shared nodes go, in the order of the patches | [`node_keys`], a sort, [`place_sums`] |

use super::order::{HILBERT_BITS, Lattice};
use crate::matrix_free::patch::{COORDS, LINE, Start};
use crate::matrix_free::shared::HELD;
use crate::real::Real;
use cuda_std::prelude::*;

/// Bits of a place along the curve that tell cells apart: 13 of each coordinate.
pub const CELL_BITS: u32 = 39;

/// The cells of one element type, divided into patches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Divided {
    /// Nodes of a cell, N.
    pub n: usize,
    /// Cells of a patch; the last may have fewer.
    pub size: usize,
    /// Cells that lists of slots have room for.
    pub pitch: usize,
    /// Bits of the number of a node.
    pub bits: u32,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// The cells, patch after patch, `[n_cells]`.
    pub cells: View<u32>,
}

/// A node of a cell.
struct Pair {
    patch: usize,
    slot: usize,
    node: u32,
}

impl Divided {
    /// Pairs are numbered patch by patch, those of the first nodes of all its cells first.
    #[inline(always)]
    unsafe fn pair(self, pair: usize) -> Pair {
        let of_patch = self.n * self.size;
        let patch = pair / of_patch;
        let (first, within) = (patch * self.size, (pair - patch * of_patch) as u32);
        let left = self.cells.len() - first;
        let n_cells = (if left < self.size { left } else { self.size }) as u32;
        let (b, c) = ((within / n_cells) as usize, (within % n_cells) as usize);
        let node = self.nodes.at(self.cells.at(first + c) as usize * self.n + b);
        Pair { patch, slot: b * self.pitch + c, node }
    }
}

/// Computes: the place of each cell's centre along a Hilbert curve.
///
/// Parameters: `n`, nodes of a cell; `nodes [n_cells][n]`; `coords [n_nodes]`; `keys [n_cells]`. Thread mapping: an item per
/// cell. Memory moved: per node of a cell 4 B and a point (gathered), 8 B per cell.
#[kernel(items)]
pub unsafe fn cell_keys(
    cell: usize,
    lattice: Lattice,
    n: usize,
    nodes: View<u32>,
    coords: View<[f64; 3]>,
    keys: ViewMut<u64>,
) {
    let mut sum = [0.0; 3];
    for b in 0..n {
        let x = coords.at(nodes.at(cell * n + b) as usize);
        for c in 0..3 {
            sum[c] += x[c];
        }
    }
    keys.set(cell, lattice.key(sum.map(|s| s / n as f64)) >> (HILBERT_BITS - CELL_BITS));
}

/// Computes: whether a node between corners of any cell is not in the middle, to rounding of its coordinates.
///
/// Parameters: `edges`, the local numbers of ends and middle; `n, nodes, coords` as of [`cell_keys`]; `curved [1]`, 0 before.
/// Thread mapping: an item per cell. Memory moved: as there.
#[kernel(items)]
pub unsafe fn find_curved(
    cell: usize,
    edges: View<[u32; 3]>,
    n: usize,
    nodes: View<u32>,
    coords: View<[f64; 3]>,
    curved: ViewMut<u32>,
) {
    let place = |k: u32| coords.at(nodes.at(cell * n + k as usize) as usize);
    let mut is_curved = false;
    for edge in 0..edges.len() {
        let [a, b, middle] = edges.at(edge).map(place);
        for c in 0..3 {
            let most = 4.0 * f64::EPSILON * a[c].abs().max(b[c].abs());
            is_curved |= (0.5 * (a[c] + b[c]) - middle[c]).abs() > most;
        }
    }
    if is_curved {
        atomic::max(curved, 0, 1);
    }
}

/// Computes: marks the corners of cells.
///
/// Parameters: `n_corners` of `n` nodes; `nodes [n_cells][n]`; `marks [n_nodes]`. Thread mapping: an item per cell. Memory
/// moved: 5 B per corner of a cell; all that write to a mark write the same.
#[kernel(items)]
pub unsafe fn mark_corners(cell: usize, n: usize, n_corners: usize, nodes: View<u32>, marks: ViewMut<u8>) {
    for b in 0..n_corners {
        marks.set(nodes.at(cell * n + b) as usize, 1);
    }
}

/// Computes: keys of pairs that ascend with patch and node.
///
/// Parameters: `keys [n_cells N]`. Thread mapping: an item per pair. Memory moved: 8 B gathered and 8 B written.
#[kernel(items)]
pub unsafe fn pair_keys(pair: usize, of: Divided, keys: ViewMut<u64>) {
    let Pair { patch, node, .. } = of.pair(pair);
    keys.set(pair, (patch as u64) << of.bits | node as u64);
}

/// Whether a sorted pair is the first of its patch and node.
#[inline(always)]
unsafe fn is_first(i: usize, keys: View<u64>, order: View<u32>) -> bool {
    i == 0 || keys.at(order.at(i) as usize) != keys.at(order.at(i - 1) as usize)
}

/// Computes: a mark for the first pair of each entry.
///
/// Parameters: `keys, order, marks [n_pairs]`. Thread mapping: an item per pair, in the order of keys. Memory moved: 12 B and
/// two keys (gathered).
#[kernel(items)]
pub unsafe fn mark_entries(i: usize, keys: View<u64>, order: View<u32>, marks: ViewMut<u32>) {
    marks.set(i, u32::from(is_first(i, keys, order)));
}

/// The nodes of patches, by patch and node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entries {
    /// `[n]`
    pub nodes: View<u32>,
    /// `[n]`
    pub patches: View<u32>,
    /// Where the pairs of each start, `[n + 1]`.
    pub starts: View<u32>,
    /// The first entry of each patch, `[n_patches + 1]`.
    pub firsts: View<u32>,
}

/// Computes: the entries.
///
/// Parameters: `bits` of a node's number; `keys, order [n_pairs]`; `before [n_pairs + 1]`, the running sums of the marks; the
/// lists of [`Entries`]. Thread mapping: an item per pair. Memory moved: 20 B and a key per pair, 12 B per entry.
#[kernel(items)]
pub unsafe fn list_entries(
    i: usize,
    bits: u32,
    keys: View<u64>,
    order: View<u32>,
    before: View<u64>,
    nodes: ViewMut<u32>,
    patches: ViewMut<u32>,
    starts: ViewMut<u32>,
    firsts: ViewMut<u32>,
) {
    let (entry, next) = (before.at(i), before.at(i + 1));
    if i + 1 == order.len() {
        starts.set(next as usize, order.len() as u32);
        firsts.set(firsts.len() - 1, next as u32);
    }
    if next == entry {
        return;
    }
    let key = keys.at(order.at(i) as usize);
    let patch = (key >> bits) as u32;
    nodes.set(entry as usize, (key & ((1 << bits) - 1)) as u32);
    patches.set(entry as usize, patch);
    starts.set(entry as usize, i as u32);
    if i == 0 || (keys.at(order.at(i - 1) as usize) >> bits) as u32 != patch {
        firsts.set(patch as usize, entry as u32);
    }
}

/// Computes: adds to `counts` how many entries a node has.
///
/// Parameters: `nodes [n]`, of entries; `counts [n_nodes]`. Thread mapping: an item per entry. Memory moved: 4 B and an atomic
/// addition.
#[kernel(items)]
pub unsafe fn count_entries(entry: usize, nodes: View<u32>, counts: ViewMut<u32>) {
    atomic::accumulate(counts, nodes.at(entry) as usize, 1);
}

/// Computes: the entries in lists of nodes that supports hold: their places among these.
///
/// Parameters: `rows [n_held]`; `numbers [n_nodes]`. Thread mapping: an item per held node. Memory moved: 8 B.
#[kernel(items)]
pub unsafe fn number_held(h: usize, rows: View<u32>, numbers: ViewMut<u32>) {
    numbers.set(rows.at(h) as usize, HELD | h as u32);
}

/// The sum of a node is not that of one patch.
const SHARED: u8 = 1;
/// Supports hold it.
const IS_HELD: u8 = 2;

/// Computes: what each node is to its patches, and a mark for those that are shared and not held.
///
/// Parameters: `counts [n_nodes]`, how many entries; `numbers`, see [`number_held`]; `added`, whether something is added to its
/// row; `flags`; `marks`, all `[n_nodes]`. Thread mapping: an item per node. Memory moved: 14 B.
#[kernel(items)]
pub unsafe fn class_nodes(
    node: usize,
    counts: View<u32>,
    numbers: View<u32>,
    added: View<u8>,
    flags: ViewMut<u8>,
    marks: ViewMut<u32>,
) {
    let is_held = numbers.at(node) & HELD != 0;
    let is_shared = is_held || counts.at(node) != 1 || added.at(node) != 0;
    flags.set(node, (u8::from(is_shared) * SHARED) | (u8::from(is_held) * IS_HELD));
    marks.set(node, u32::from(is_shared && !is_held));
}

/// Computes: the shared nodes, ascending and then the held ones; the place of each among them, and how many sums it has.
///
/// Parameters: `before [n_nodes + 1]`, the running sums of the marks of [`class_nodes`]; `numbers, flags, counts, added
/// [n_nodes]`; `places [n_nodes]`; `shared, lengths [n_shared]`. Thread mapping: an item per node. Memory moved: 26 B per node,
/// 12 B per shared one.
#[kernel(items)]
pub unsafe fn list_shared(
    node: usize,
    before: View<u64>,
    numbers: View<u32>,
    flags: View<u8>,
    counts: View<u32>,
    added: View<u8>,
    places: ViewMut<u32>,
    shared: ViewMut<u32>,
    lengths: ViewMut<u32>,
) {
    let flags = flags.at(node);
    if flags & SHARED == 0 {
        return;
    }
    let held = (numbers.at(node) & !HELD) as usize;
    let n_free = before.at(before.len() - 1) as usize;
    let place = if flags & IS_HELD != 0 { n_free + held } else { before.at(node) as usize };
    places.set(node, place as u32);
    shared.set(place, node as u32);
    lengths.set(place, counts.at(node) + added.at(node) as u32);
}

/// Computes: numbers of 32 bits.
///
/// Parameters: `from, to [n]`. Thread mapping: an item per number. Memory moved: 12 B.
#[kernel(items)]
pub unsafe fn narrow(i: usize, from: View<u64>, to: ViewMut<u32>) {
    to.set(i, from.at(i) as u32);
}

/// Classes of nodes in the order that a patch lists them.
pub const CLASSES: usize = 6;

/// The class of a node: of this patch alone with coordinates and without; shared with coordinates, and held so; held without,
/// and shared without.
#[inline(always)]
fn class(flags: u8, has_coords: bool) -> usize {
    match (flags & SHARED != 0, has_coords, flags & IS_HELD != 0) {
        (false, true, _) => 0,
        (false, false, _) => 1,
        (true, true, false) => 2,
        (true, true, true) => 3,
        (true, false, true) => 4,
        (true, false, false) => 5,
    }
}

/// Bits of a class.
const CLASS_BITS: u32 = 3;
/// Bits of how many cells of a patch have a node.
const COUNT_BITS: u32 = 16;
/// Bits below the patch in the keys of [`rank_keys`].
pub const RANK_BITS: u32 = CLASS_BITS + COUNT_BITS;

/// Computes: keys of entries that ascend with patch and class and fall with the number of cells; adds up how many of each class
/// a patch has.
///
/// Parameters: `entries`; `flags, has_coords [n_nodes]`; `keys [n]`; `counts [n_patches][CLASSES]`. Thread mapping: an item per
/// entry. Memory moved: 26 B, two flags (gathered) and an atomic addition.
#[kernel(items)]
pub unsafe fn rank_keys(
    entry: usize,
    entries: Entries,
    flags: View<u8>,
    has_coords: View<u8>,
    keys: ViewMut<u64>,
    counts: ViewMut<u32>,
) {
    let (node, patch) = (entries.nodes.at(entry) as usize, entries.patches.at(entry));
    let class = class(flags.at(node), has_coords.at(node) != 0);
    let n_cells = entries.starts.at(entry + 1) - entries.starts.at(entry);
    let fewer = ((1 << COUNT_BITS) - 1 - n_cells) as u64;
    keys.set(entry, (patch as u64) << RANK_BITS | (class as u64) << COUNT_BITS | fewer);
    atomic::accumulate(counts, CLASSES * patch as usize + class, 1);
}

/// Computes: the nodes of patches, the rank of each entry in its patch, and how many slots each has.
///
/// Parameters: `entries`; `order [n]`, by [`rank_keys`]; `numbers [n_nodes]`; `nodes, ranks, lengths [n]`. Thread mapping: an
/// item per place in the order. Memory moved: 36 B.
#[kernel(items)]
pub unsafe fn place_nodes(
    place: usize,
    entries: Entries,
    order: View<u32>,
    numbers: View<u32>,
    nodes: ViewMut<u32>,
    ranks: ViewMut<u16>,
    lengths: ViewMut<u32>,
) {
    let entry = order.at(place) as usize;
    nodes.set(place, numbers.at(entries.nodes.at(entry) as usize));
    ranks.set(entry, (place as u32 - entries.firsts.at(entries.patches.at(entry) as usize)) as u16);
    lengths.set(place, entries.starts.at(entry + 1) - entries.starts.at(entry));
}

/// Computes: the lists of slots.
///
/// Parameters: `of`; `entries`; `stride`, entries of a patch in them; `patches`, see [`Start`]; `pairs [n_pairs]`, by
/// [`pair_keys`]; `order, ranks [n]`; `before [n + 1]`, the running sums of the lengths of [`place_nodes`]; `slot_starts`,
/// `slots`, `local`. Thread mapping: an item per place in the order. Memory moved: 40 B, and per slot a pair and 4 B.
#[kernel(items)]
pub unsafe fn place_slots(
    place: usize,
    of: Divided,
    entries: Entries,
    stride: usize,
    patches: View<Start>,
    pairs: View<u32>,
    order: View<u32>,
    before: View<u64>,
    slot_starts: ViewMut<u16>,
    slots: ViewMut<u16>,
    local: ViewMut<u16>,
) {
    let entry = order.at(place) as usize;
    let patch = entries.patches.at(entry) as usize;
    let (first, next) = (entries.firsts.at(patch) as usize, entries.firsts.at(patch + 1) as usize);
    let (rank, start_line) = (place - first, patches.at(patch)[2] as usize);
    let within = |place: usize| (before.at(place) as usize - patch * of.n * of.size) as u16;
    let start = within(place);
    slot_starts.set(LINE * start_line + rank, start);
    if place + 1 == next {
        slot_starts.set(LINE * start_line + rank + 1, within(next));
    }
    let pairs_from = entries.starts.at(entry) as usize;
    for k in 0..entries.starts.at(entry + 1) as usize - pairs_from {
        let slot = of.pair(pairs.at(pairs_from + k) as usize).slot;
        slots.set(patch * stride + start as usize + k, slot as u16);
        local.set(patch * stride + slot, rank as u16);
    }
}

/// Computes: coordinates relative to the first node of a patch: differences in f64.
///
/// Parameters: `entries`; `patches`; `order [n]`; `counts [n_patches][CLASSES]`; `has_coords, coords [n_nodes]`; `relative`, the
/// lists. Thread mapping: an item per place in the order. Memory moved: 36 B, two points (gathered), three words.
#[kernel(items, T = [f32, f64])]
pub unsafe fn place_coords<T: Real>(
    place: usize,
    entries: Entries,
    patches: View<Start>,
    order: View<u32>,
    counts: View<u32>,
    has_coords: View<u8>,
    coords: View<[f64; 3]>,
    relative: ViewMut<T>,
) {
    let entry = order.at(place) as usize;
    let (node, patch) = (entries.nodes.at(entry) as usize, entries.patches.at(entry) as usize);
    if has_coords.at(node) == 0 {
        return;
    }
    let first = entries.firsts.at(patch) as usize;
    let (origin, x) = (coords.at(entries.nodes.at(order.at(first) as usize) as usize), coords.at(node));
    let (rank, [with, without]) = (place - first, [0, 1].map(|c| counts.at(CLASSES * patch + c) as usize));
    let rank = if rank < with { rank } else { rank - without };
    for c in 0..3 {
        relative.set(COORDS * patches.at(patch)[3] as usize + 3 * rank + c, T::from_f64(x[c] - origin[c]));
    }
}

/// Computes: the nodes of entries as keys.
///
/// Parameters: `nodes, keys [n]`. Thread mapping: an item per entry. Memory moved: 12 B.
#[kernel(items)]
pub unsafe fn node_keys(entry: usize, nodes: View<u32>, keys: ViewMut<u64>) {
    keys.set(entry, nodes.at(entry) as u64);
}

/// The sums of shared nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SharedSums {
    /// See [`class_nodes`], `[n_nodes]`.
    pub flags: View<u8>,
    /// The place of each node among the shared ones, `[n_nodes]`.
    pub places: View<u32>,
    /// Where the sums of each of these start, `[n_shared + 1]`.
    pub starts: View<u32>,
    /// How many sums of each node patches of other element types have, `[n_nodes]`.
    pub given: View<u32>,
}

/// Computes: where the sums of the shared nodes of patches go, those of a node in the order of its patches.
///
/// Parameters: `entries`; `sums`; `patches`; `by_node [n]`, the entries by node and patch; `before [n_nodes + 1]`, the running
/// sums of entries of nodes; `ranks [n]`; `to`, of each shared node of each patch. Thread mapping: an item per entry, by node.
/// Memory moved: 64 B.
#[kernel(items)]
pub unsafe fn place_sums(
    i: usize,
    entries: Entries,
    sums: SharedSums,
    patches: View<Start>,
    by_node: View<u32>,
    before: View<u64>,
    ranks: View<u16>,
    to: ViewMut<u32>,
) {
    let entry = by_node.at(i) as usize;
    let (node, patch) = (entries.nodes.at(entry) as usize, entries.patches.at(entry) as usize);
    if sums.flags.at(node) & SHARED == 0 {
        return;
    }
    let [_, first_shared, _, _, counts, ..] = patches.at(patch);
    let which = ranks.at(entry) as u32 - (counts >> 16);
    let place =
        sums.starts.at(sums.places.at(node) as usize) + sums.given.at(node) + (i as u64 - before.at(node)) as u32;
    to.set((first_shared + which) as usize, place);
}

/// Computes: adds to how many sums each node has been given.
///
/// Parameters: `more, given [n_nodes]`. Thread mapping: an item per node. Memory moved: 12 B.
#[kernel(items)]
pub unsafe fn give_sums(node: usize, more: View<u32>, given: ViewMut<u32>) {
    given.set(node, given.at(node) + more.at(node));
}

/// Computes: where the sums of rows that something is added to go: behind those of all patches.
///
/// Parameters: `rows, to [n]`; `sums`. Thread mapping: an item per row. Memory moved: 20 B.
#[kernel(items)]
pub unsafe fn place_rows(i: usize, rows: View<u32>, sums: SharedSums, to: ViewMut<u32>) {
    let row = rows.at(i) as usize;
    to.set(i, sums.starts.at(sums.places.at(row) as usize) + sums.given.at(row));
}

/// Computes: the materials of the cells of patches.
///
/// Parameters: `size, pitch` of patches; `cells, material [n_cells]`; `materials [n_patches][pitch]`. Thread mapping: an item
/// per cell, patch by patch. Memory moved: 12 B.
#[kernel(items)]
pub unsafe fn place_materials(
    i: usize,
    size: usize,
    pitch: usize,
    cells: View<u32>,
    material: View<u32>,
    materials: ViewMut<u32>,
) {
    materials.set(i / size * pitch + i % size, material.at(cells.at(i) as usize));
}

/// The cells of one type along a curve, so many to a patch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Along {
    /// Nodes of a cell, N.
    pub n: usize,
    /// Its corners.
    pub n_corners: usize,
    /// Cells of a patch.
    pub size: usize,
    /// Patches of other types before.
    pub first: u32,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// The cells along the curve, `[n_cells]`.
    pub cells: View<u32>,
}

impl Along {
    /// A node of a cell, its patch, and whether it is a corner.
    #[inline(always)]
    unsafe fn pair(self, pair: usize) -> (usize, u32, bool) {
        let (place, b) = (pair / self.n, pair % self.n);
        let node = self.nodes.at(self.cells.at(place) as usize * self.n + b) as usize;
        (node, self.first + (place / self.size) as u32, b < self.n_corners)
    }
}

/// Computes: the last patch of each node, counted backwards, and the last counted forwards.
///
/// Parameters: `most`, not below the number of any patch; `backwards, last [n_nodes]`, 0 before. Thread mapping: an item per
/// node of a cell. Memory moved: 8 B and two atomic maxima.
#[kernel(items)]
pub unsafe fn touch_nodes(pair: usize, of: Along, most: u32, backwards: ViewMut<u32>, last: ViewMut<u32>) {
    let (node, patch, _) = of.pair(pair);
    atomic::max(backwards, node, most - patch);
    atomic::max(last, node, patch);
}

/// Bits of how many cells of its first patch a node belongs to.
const OF_FIRST: u32 = 12;
/// Bits below the patch in the keys of [`order_keys`].
pub const ORDER_BITS: u32 = OF_FIRST + 2;
/// Added to a count by a cell that has the node as a corner.
const CORNER: u32 = 1 << 16;

/// Computes: how many cells of its first patch each node belongs to; more if as a corner.
///
/// Parameters: as of [`touch_nodes`]; `counts [n_nodes]`, 0 before. Thread mapping: as there. Memory moved: 12 B and an atomic
/// addition.
#[kernel(items)]
pub unsafe fn count_in_first(pair: usize, of: Along, most: u32, backwards: View<u32>, counts: ViewMut<u32>) {
    let (node, patch, is_corner) = of.pair(pair);
    if patch == most - backwards.at(node) {
        atomic::accumulate(counts, node, if is_corner { CORNER | 1 } else { 1 });
    }
}

/// Computes: keys of nodes that ascend with the first patch, of which nodes of this patch alone come first, corners before others,
/// and fall with the number of cells.
///
/// Parameters: as of [`count_in_first`]; `keys [n_nodes]`. Thread mapping: an item per node. Memory moved: 20 B.
#[kernel(items)]
pub unsafe fn order_keys(
    node: usize,
    most: u32,
    backwards: View<u32>,
    last: View<u32>,
    counts: View<u32>,
    keys: ViewMut<u64>,
) {
    let (first, count) = (most - backwards.at(node), counts.at(node));
    let is_shared = u64::from(last.at(node) != first);
    let (is_between, n_cells) = (u64::from(count < CORNER), count & (CORNER - 1));
    let fewer = ((1 << OF_FIRST) - 1_u32).saturating_sub(n_cells) as u64;
    keys.set(node, (first as u64) << ORDER_BITS | is_shared << (OF_FIRST + 1) | is_between << OF_FIRST | fewer);
}
