//! Products of single elements, of isotropic elasticity: a cell in the registers of a thread, by formulas of its own. Each
//! is here because it is faster than [`forces`](super::cell::forces).

use super::hex8::TrilinearHex8;
#[cfg(not(target_arch = "nvptx64"))]
use super::patch::Alone;
use super::patch::{Block, Memory, Patch, Team};
use super::product::{Operator, Sums};
use super::tet4::LinearTet4;
use super::tet10::{CurvedTet10, StraightTet10};
use crate::element::Element;
use crate::form::{Elasticity, Flux};
use crate::material::Lame;
use crate::real::{Real, dot3, fma};
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
use cuda_std::prelude::*;

/// Formulas for the forces of one element in space.
pub trait FixedCell: Copy + Send + Sync + 'static {
    /// The element.
    type Element: Element;
    /// Cells of a patch at most: a thread each, with the registers that some blocks of as many have.
    const MAX_CELLS: usize = 128;
    /// Bits of the nodes whose coordinates it does not ask for.
    const WITHOUT: u32 = 0;

    /// Calls `set(b, force)` with the force on each node b of a cell with nodes at `x(b)` and displacements `u(b)`.
    fn forces<T: Real>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize) -> [T; 3],
        set: impl FnMut(usize, [T; 3]),
    );
}

/// The gradients of reference coordinates times the determinant, from the tangents along them; and the determinant.
#[inline(always)]
pub(super) fn cofactors<T: Real>([r, s, t]: [[T; 3]; 3]) -> ([[T; 3]; 3], T) {
    let cofactors = [cross(s, t), cross(t, r), cross(r, s)];
    (cofactors, dot3(r, cofactors[0]))
}

/// `a x b` in fused operations.
#[inline(always)]
fn cross<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    let component = |i: usize, j: usize| fma(a[i], b[j], -(a[j] * b[i]));
    [component(1, 2), component(2, 0), component(0, 1)]
}

/// The stress of a displacement gradient, row by row.
#[inline(always)]
pub(super) fn stress<T: Real>(lame: Lame<T>, h: [[T; 3]; 3]) -> [[T; 3]; 3] {
    Elasticity::flux::<super::Solid, T>(h, lame)
}

impl<T: Real> Operator<T> {
    /// Where the components of the nodes of cell c start in the memory of its patch.
    #[inline(always)]
    unsafe fn places<E: Element>(self, patch: &Patch, c: usize) -> E::Nodal<usize> {
        E::nodal(|b| 3 * self.patches.local(patch, b, c))
    }

    /// The forces of cell c.
    #[inline(always)]
    unsafe fn forces<C: FixedCell>(
        patch: &Patch,
        c: usize,
        lame: Lame<T>,
        places: <C::Element as Element>::Nodal<usize>,
        memory: Memory<T>,
    ) {
        C::forces(
            lame,
            |b| memory.coords.offset(places[b]).get3(),
            |b| memory.values.offset(places[b]).get3(),
            |b, force| memory.forces.offset(3 * (b * patch.cells[1] + c)).put3(force),
        );
    }

    /// The share of a block's patch, a thread per cell.
    #[inline(always)]
    unsafe fn fixed_product<C: FixedCell>(self, x: View<T>, to: Sums<T>) {
        let (thread, memory) = (thread::thread_idx_x() as usize, shared::dynamic_shared_mem::<u8>());
        let patch = self.patches.patch(C::Element::N, thread::block_idx_x() as usize);
        let memory = Memory::new::<C::Element, Elasticity>(memory, &patch);
        let has_cell = thread < patch.cells[1];
        // What depends on a load is asked for after what others load by then.
        let c = if has_cell { thread } else { 0 };
        let (cell, places) = (self.patches.cells.at(patch.cells[0] + c), self.places::<C::Element>(&patch, c));
        let mut material = 0;
        self.load::<C::Element, Elasticity, 4>(Block, &patch, memory, x, C::WITHOUT, || {
            material = self.mesh.material.at(cell as usize);
        });
        let lame = self.mesh.material_stiffness::<Elasticity, T>(material as usize);
        Block.wait();
        if has_cell {
            Self::forces::<C>(&patch, thread, lame, places, memory);
        }
        self.sum::<C::Element, Elasticity>(Block, &patch, memory, to);
    }
}

/// Computes: as [`patch_product`](super::product::patch_product), by the formulas of an element.
///
/// Parameters, memory moved: as there. Thread mapping: a block per patch, a thread per cell. Operations: see the formulas. In
/// shared memory a cell reads 6 words per node and writes 3, and each of these is read once more.
#[kernel(launch_bounds(128, 3), C = [CurvedTet10, TrilinearHex8], T = [f32, f64])]
pub unsafe fn fixed_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C>(x, to);
}

/// Computes: as [`fixed_patch_product`], of cells for which 128 registers are enough.
///
/// Parameters, thread mapping, memory moved: as there; the coordinates of corners alone.
#[kernel(launch_bounds(128, 4), C = [StraightTet10], T = [f32, f64])]
pub unsafe fn small_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C>(x, to);
}

/// Computes: as [`fixed_patch_product`], of cells of so few nodes that there is room for 256.
///
/// Parameters, thread mapping, memory moved: as there.
#[kernel(launch_bounds(256, 3), C = [LinearTet4], T = [f32, f64])]
pub unsafe fn wide_patch_product<C: FixedCell, T: Real>(operator: Operator<T>, x: View<T>, to: Sums<T>) {
    operator.fixed_product::<C>(x, to);
}

/// [`fixed_patch_product`] of some patches on a thread of a CPU; `memory` is as much as the largest needs.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe fn fixed_products<C: FixedCell, T: Real>(
    patches: Range<usize>,
    memory: &mut [u128],
    operator: Operator<T>,
    x: View<T>,
    to: Sums<T>,
) {
    for patch in patches {
        let patch = operator.patches.patch(C::Element::N, patch);
        let memory = Memory::new::<C::Element, Elasticity>(memory.as_mut_ptr().cast(), &patch);
        operator.load::<C::Element, Elasticity, 1>(Alone, &patch, memory, x, C::WITHOUT, || {});
        for c in 0..patch.cells[1] {
            let cell = operator.patches.cells.at(patch.cells[0] + c) as usize;
            let lame = operator.mesh.cell_stiffness::<Elasticity, T>(cell);
            Operator::forces::<C>(&patch, c, lame, operator.places::<C::Element>(&patch, c), memory);
        }
        operator.sum::<C::Element, Elasticity>(Alone, &patch, memory, to);
    }
}
