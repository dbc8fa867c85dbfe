//! Products of single elements, of isotropic elasticity: a cell in the registers of a thread, or on a CPU in each lane of a vector, by formulas
//! of its own. Each is here because it is faster than [`forces`](super::cell::forces).

#[cfg(not(target_arch = "nvptx64"))]
use super::formulas::three;
use super::formulas::{FixedCell, room};
use super::hex8::TrilinearHex8;
use super::hex20::{self, AtPoint, SerendipityHex20};
#[cfg(not(target_arch = "nvptx64"))]
use super::patch::Alone;
use super::patch::{Block, COORDS, Memory, Patch, Team};
use super::product::{AllSums, Operator, Sums};
use super::tet4::LinearTet4;
use super::tet10::{CurvedTet10, StraightTet10};
use crate::element::{Element, in_steps};
use crate::form::Elasticity;
use crate::material::Lame;
use crate::real::Real;
use crate::vectors::Vectors;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::Lanes;
use cuda_std::prelude::*;
use cuda_std::shared::Shared;

/// A loop that is written out: compilers would keep one so long, and what it indexes in memory.
macro_rules! at_each {
    ($q:ident in $($number:literal)+, $body:block) => {$(
        {
            let $q: usize = $number;
            $body
        }
    )+};
}

/// A cell on its way: the places of its nodes in the lists of its patch, and its material.
#[derive(Clone, Copy)]
pub(super) struct Cell<N> {
    places: N,
    material: usize,
}

/// The places of nodes' coordinates, from their places in the lists of a patch.
#[inline(always)]
fn with_coords<C: FixedCell>(patch: &Patch) -> impl Fn(usize) -> usize {
    let without = patch.n_private - patch.n_coords[0];
    move |place| if C::PLACED < C::Element::N && place >= patch.n_private { place - without } else { place }
}

impl<T: Real> Operator<T> {
    /// Cell c of a patch; any where there are fewer.
    #[inline(always)]
    pub(super) unsafe fn cell<C: FixedCell>(
        self,
        patch: &Patch,
        c: usize,
    ) -> Cell<<C::Element as Element>::Nodal<usize>> {
        let first = patch.number * (C::Element::N * C::CELLS) + c;
        let places = C::Element::nodal(|b| self.patches.local.at(first + b * C::CELLS) as usize);
        Cell { places, material: self.patches.materials.at(patch.number * C::CELLS + c) as usize }
    }

    /// Constants of a material.
    #[inline(always)]
    pub(super) unsafe fn lame(self, material: usize) -> Lame<T> {
        self.mesh.material_stiffness::<Elasticity, T>(material)
    }

    /// Brings what formulas are computed from into the memory of a patch; see [`Operator::load`].
    #[inline(always)]
    pub(super) unsafe fn load_all<const W: usize>(
        self,
        team: impl Team,
        patch: &Patch,
        memory: Memory<T>,
        x: [View<T>; W],
        mut meanwhile: impl FnMut(),
    ) {
        self.load::<W, 4>(team, patch, memory, 3, x, || {
            let (per_line, n) = (16 / size_of::<T>(), (3 * patch.n_coords[1]).next_multiple_of(COORDS));
            team.copy_lines(self.patches.coords, patch.first_coord / per_line, n / per_line, memory.coords);
            meanwhile();
        });
    }

    /// The forces of cell c, of W vectors.
    #[inline(always)]
    unsafe fn forces<C: FixedCell, const W: usize>(
        patch: &Patch,
        c: usize,
        lame: Lame<T>,
        places: <C::Element as Element>::Nodal<usize>,
        memory: Memory<T>,
    ) {
        let (n, with_coords) = (patch.nodes[1], with_coords::<C>(patch));
        let slots = C::Element::N * C::CELLS;
        C::forces::<W, T>(
            lame,
            |b| memory.coords.offset(3 * with_coords(places[b])).get3(),
            |m, b| memory.values.offset(3 * (m * n + places[b])).get3(),
            |m, b, force| memory.forces.offset(3 * (m * slots + b * C::CELLS + c)).put3(force),
        );
    }

    /// The shares of a block's patch in the products with N vectors, W at a time, a thread per cell, or per one of several.
    #[inline(always)]
    unsafe fn fixed_product<C: FixedCell, const W: usize, const N: usize>(self, x: Vectors<T, N>, to: AllSums<T, N>) {
        let patch = self.patches.patch(thread::block_idx_x() as usize);
        let room = room::<C>(patch.nodes[1], patch.n_coords[1], vectors_at_once::<W, N>());
        let (mut memory, first) =
            (Memory::new(shared::dynamic_shared_mem::<u8>(), room), thread::thread_idx_x() as usize);
        let (mut cell, mut lame) = (self.cell::<C>(&patch, first), Lame { lambda: T::ZERO, mu: T::ZERO });
        // What depends on a load is asked for after what others load by then.
        self.load_all(Block, &patch, memory, x.part::<W>(0), || lame = self.lame(cell.material));
        Block.wait();
        // The next vectors come while those before them are computed with.
        let (mut part, mut next) = (0, memory.values.offset(3 * W * patch.nodes[1]));
        loop {
            let goes_on = part + 1 < N / W && !to.part::<W>(part + 1)[0].y.is_empty();
            if goes_on {
                self.load_next(Block, &patch, memory, next, x.part::<W>(part + 1));
            }
            let mut c = first;
            loop {
                if c < patch.cells[1] {
                    Self::forces::<C, W>(&patch, c, lame, cell.places, memory);
                }
                c += C::THREADS;
                if C::CELLS == C::THREADS || c >= C::CELLS {
                    break;
                }
                cell = self.cell::<C>(&patch, c);
                lame = self.lame(cell.material);
            }
            self.sum(Block, &patch, memory, 3, to.part::<W>(part));
            if !goes_on {
                break;
            }
            thread::sync_threads();
            part += 1;
            (memory.values, next) = (next, memory.values);
            if C::CELLS != C::THREADS {
                cell = self.cell::<C>(&patch, first);
                lame = self.lame(cell.material);
            }
        }
    }

    /// The same of hexahedra of 20 nodes, by three lanes a cell: see [`super::hex20`].
    #[inline(always)]
    unsafe fn hex20_product(self, x: View<T>, to: Sums<T>) {
        type C = SerendipityHex20;
        let patch = self.patches.patch(thread::block_idx_x() as usize);
        let room = room::<C>(patch.nodes[1], patch.n_coords[1], [1, 1]);
        let memory = Memory::new(shared::dynamic_shared_mem::<u8>(), room);
        let (thread, lane) = (thread::thread_idx_x() as usize, thread::thread_idx_x() % 32);
        // The last two lanes of a warp do as those before them do.
        let in_warp = if lane < 30 { lane / 3 } else { 9 };
        let (component, c) = ((lane % 3) as usize, CELLS_OF_WARP * (thread / 32) + in_warp as usize);
        let others = [1, 2].map(|k| 3 * in_warp + (lane % 3 + k) % 3);
        let (cell, mut lame) = (self.cell::<C>(&patch, c), Lame { lambda: T::ZERO, mu: T::ZERO });
        self.load_all(Block, &patch, memory, [x], || lame = self.lame(cell.material));
        Block.wait();
        let of_node = |from: Shared<T>, b: usize| from.offset(3 * cell.places[b] + component).get();
        // The coefficients of coordinates wait in shared memory, a column per thread.
        let column = memory.scratch.offset(thread);
        let place = |mode: usize| column.offset(C::THREADS * hex20::NUMBER[mode]);
        let modes = hex20::modes(|b| of_node(memory.coords, b));
        for n in 0..20 {
            place(hex20::MODES[n]).put(modes[hex20::MODES[n]]);
        }
        let modes = hex20::modes(|b| of_node(memory.values, b));
        let (mut sums, mut z, lame) = ([T::ZERO; 27], -T::ONE, hex20::scaled(lame));
        in_steps!(false, _level in 0..3, {
            let (places, mut moved) = (hex20::level(z, |mode| place(mode).get()), hex20::level(z, |mode| modes[mode]));
            let lame = hex20::of_level(z, lame);
            at_each!(q in 0 1 2 3 4 5 6 7 8, {
                let own = [places[0][q], places[1][q], places[2][q]];
                let of = |lane: u32| own.map(|slope| hex20::of_lane(slope, lane));
                let at = AtPoint::new([own, of(others[0]), of(others[1])]);
                let h = at.slopes([moved[0][q], moved[1][q], moved[2][q]]);
                let next = [hex20::of_lane(h[0], others[0]), hex20::of_lane(h[2], others[0])];
                let last = [hex20::of_lane(h[0], others[1]), hex20::of_lane(h[1], others[1])];
                let force = at.stress(q, lame, h, next, last);
                (moved[0][q], moved[1][q], moved[2][q]) = (force[0], force[1], force[2]);
            });
            hex20::add_level(z, &moved, &mut sums);
            z += T::ONE;
        });
        let is_used = lane < 30 && c < patch.cells[1];
        hex20::modes_transposed(sums, |b, force| {
            if is_used {
                memory.forces.offset(3 * (b * C::CELLS + c) + component).put(force);
            }
        });
        self.sum(Block, &patch, memory, 3, [to]);
    }
}

/// Vectors in the memory of a patch, and those computed with at once: the next ones come meanwhile.
pub const fn vectors_at_once<const W: usize, const N: usize>() -> [usize; 2] {
    [if N > W { 2 * W } else { W }, W]
}

/// Cells of a warp where three lanes have one.
const CELLS_OF_WARP: usize = 10;

/// Computes: as [`patch_product`](super::product::patch_product), by the formulas of an element.
///
/// Parameters: as there. Thread mapping: a block per patch of [`FixedCell::CELLS`], a thread per cell. Memory moved per cell:
/// 4 N B of connectivity and slots, 4 B of material; per node of a patch a number, three coordinates and x (through the cache),
/// 2 B of starts; a word per component of y, or twice and 4 B where patches share the node. Operations: see the formulas. In
/// shared memory a cell reads 6 words per node and writes 3, and each of these is read once more.
#[kernel(launch_bounds(128, 3), C = [CurvedTet10, TrilinearHex8], T = [f64])]
pub unsafe fn fixed_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`fixed_patch_product`], in single precision.
#[kernel(launch_bounds(128, 5), C = [TrilinearHex8], T = [f32])]
pub unsafe fn fixed_patch_product_single<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`fixed_patch_product_single`], of cells for which 80 registers are enough.
#[kernel(launch_bounds(128, 6), C = [CurvedTet10], T = [f32])]
pub unsafe fn medium_patch_product_single<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`fixed_patch_product`], of cells for which 128 registers are enough.
///
/// Parameters, thread mapping, memory moved: as there; the coordinates of corners alone.
#[kernel(launch_bounds(128, 4), C = [StraightTet10], T = [f64])]
pub unsafe fn small_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`small_patch_product`], in single precision.
#[kernel(launch_bounds(128, 7), C = [StraightTet10], T = [f32])]
pub unsafe fn small_patch_product_single<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`fixed_patch_product`], of cells of few nodes, two a thread.
///
/// Parameters, thread mapping, memory moved: as there.
#[kernel(launch_bounds(256, 4), C = [LinearTet4], T = [f32, f64])]
pub unsafe fn wide_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C, 1, 1>(Vectors([x]), to.of_one());
}

/// Computes: as [`fixed_patch_product`], of [`SerendipityHex20`].
///
/// Thread mapping: a block per patch, three lanes per cell, ten cells per warp. Memory moved: as there. Operations of a lane:
/// about 2,900, and 10 values exchanged among lanes at each of 27 points. In shared memory a lane reads a component of 40 words and
/// writes 20, and reads 20 coefficients three times.
#[kernel(launch_bounds(128, 3), T = [f64])]
pub unsafe fn hex20_patch_product<T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.hex20_product(x, to);
}

/// Computes: as [`hex20_patch_product`], in single precision.
#[kernel(launch_bounds(128, 4), T = [f32])]
pub unsafe fn hex20_patch_product_single<T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.hex20_product(x, to);
}

/// Vectors that products take at once.
pub const SEVERAL: usize = 4;

/// Computes: as [`fixed_patch_product_single`], of each y that is there; two vectors at a time have the geometry in common.
///
/// Parameters: as there, `[SEVERAL]` of each. Thread mapping: as there. Memory moved: as there, what is of no vector once.
#[kernel(launch_bounds(128, 3), C = [TrilinearHex8], T = [f32])]
pub unsafe fn several_patch_products_single<C: FixedCell, T: Real>(
    operator: Operator<T>,
    x: Vectors<T, SEVERAL>,
    to: AllSums<T, SEVERAL>,
) {
    operator.fixed_product::<C, 2, SEVERAL>(x, to);
}

/// Computes: as [`several_patch_products_single`], one vector at a time: of straight tetrahedra the geometry is little, and shared
/// memory, which is what they wait for, has more blocks at a time.
///
/// Parameters, thread mapping, memory moved: as there.
#[kernel(launch_bounds(128, 6), C = [StraightTet10], T = [f32])]
pub unsafe fn small_several_patch_products_single<C: FixedCell, T: Real>(
    operator: Operator<T>,
    x: Vectors<T, SEVERAL>,
    to: AllSums<T, SEVERAL>,
) {
    operator.fixed_product::<C, 1, SEVERAL>(x, to);
}

/// Computes: as [`several_patch_products_single`], of cells of few nodes, two a thread.
///
/// Parameters, thread mapping, memory moved: as there.
#[kernel(launch_bounds(256, 3), C = [LinearTet4], T = [f32])]
pub unsafe fn wide_several_patch_products_single<C: FixedCell, T: Real>(
    operator: Operator<T>,
    x: Vectors<T, SEVERAL>,
    to: AllSums<T, SEVERAL>,
) {
    operator.fixed_product::<C, 2, SEVERAL>(x, to);
}

/// [`fixed_patch_product`] of some patches on a thread of a CPU, several cells at a time; `memory` is as much as the largest needs.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub unsafe fn fixed_products<C: FixedCell, T: Real>(
    patches: Range<usize>,
    memory: &mut [u128],
    operator: Operator<T>,
    x: View<T>,
    to: Sums<T>,
) {
    const { assert!(C::CELLS % T::Lanes::N == 0, "past the last cell there is room for forces") }
    for patch in patches {
        let patch = operator.patches.patch(patch);
        let room = room::<C>(patch.nodes[1], patch.n_coords[1], [1, 1]);
        let memory = Memory::new(memory.as_mut_ptr().cast(), room);
        operator.load_all(Alone, &patch, memory, [x], || {});
        for c in (0..patch.cells[1]).step_by(T::Lanes::N) {
            operator.forces_of_lanes::<C>(&patch, c, memory);
        }
        operator.sum(Alone, &patch, memory, 3, [to]);
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: Real> Operator<T> {
    /// The forces of as many cells as there are lanes, from cell `first` on; of the last cell again where there are fewer.
    #[inline(always)]
    unsafe fn forces_of_lanes<C: FixedCell>(self, patch: &Patch, first: usize, memory: Memory<T>) {
        let (mut lambda, mut mu) = (T::Lanes::ZERO, T::Lanes::ZERO);
        let mut values = C::Element::nodal(|_| [T::Lanes::ZERO; 3]);
        let (mut coords, with_coords) = (values, with_coords::<C>(patch));
        for lane in 0..T::Lanes::N {
            let cell = self.cell::<C>(patch, (first + lane).min(patch.cells[1] - 1));
            let lame = self.lame(cell.material);
            (lambda.lanes()[lane], mu.lanes()[lane]) = (lame.lambda, lame.mu);
            for b in 0..C::Element::N {
                let value = memory.values.offset(3 * cell.places[b]).get3();
                for i in 0..3 {
                    values[b][i].lanes()[lane] = value[i];
                }
                if b < C::PLACED {
                    let coord = memory.coords.offset(3 * with_coords(cell.places[b])).get3();
                    for i in 0..3 {
                        coords[b][i].lanes()[lane] = coord[i];
                    }
                }
            }
        }
        C::forces::<1, T::Lanes>(
            Lame { lambda, mu },
            |b| coords[b],
            |_, b| values[b],
            |_, b, mut force| {
                for lane in 0..T::Lanes::N {
                    let to = memory.forces.offset(3 * (b * C::CELLS + first + lane));
                    to.put3(three!(i => force[i].lanes()[lane]));
                }
            },
        );
    }
}
