//! What the formulas of single elements have in common.

use super::patch::Room;
use crate::element::Element;
use crate::form::{Elasticity, Flux};
use crate::material::Lame;
use crate::real::{dot3, fma};
use cuda_std::Number;

/// Formulas for the forces of one element in space.
pub trait FixedCell: Copy + Send + Sync + 'static {
    /// The element.
    type Element: Element;
    /// Cells that the lists of a patch have room for.
    const CELLS: usize = 128;
    /// Threads of a block.
    const THREADS: usize = 128;
    /// Words of shared memory beside those of all patches.
    const SCRATCH: usize = 0;
    /// Nodes whose coordinates it asks for, the first ones: all, or the corners.
    const PLACED: usize = Self::Element::N;

    /// Calls `set(m, b, force)` with the force on each node b of a cell with nodes at `x(b)`, for each displacement `u(m, b)`
    /// of W. What they have in common, the geometry, is computed once.
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        set: impl FnMut(usize, usize, [T; 3]),
    );
}

/// The memory of a patch with so many nodes, and nodes with coordinates, for so many vectors and forces of them at once.
pub const fn room<C: FixedCell>(nodes: usize, with_coords: usize, [vectors, at_once]: [usize; 2]) -> Room {
    let slots = C::Element::N * C::CELLS;
    Room { nodes, coords: 3 * with_coords, size: 3, slots, scratch: C::SCRATCH, vectors, at_once }
}

/// `[of(0), of(1), of(2)]`, written out: on a CPU `array::map` may stay a call, and what is called has narrow vectors.
macro_rules! three {
    ($i:ident => $of:expr) => {
        [
            {
                let $i: usize = 0;
                $of
            },
            {
                let $i: usize = 1;
                $of
            },
            {
                let $i: usize = 2;
                $of
            },
        ]
    };
}
pub(super) use three;

/// Calls `work(m)` for each m below W, up to 4. It is written out: compilers would keep a loop with so much in it, and what it
/// indexes in memory.
#[inline(always)]
pub(super) fn each<const W: usize>(mut work: impl FnMut(usize)) {
    const { assert!(W <= 4, "so many are written out") }
    if W > 0 {
        work(0);
    }
    if W > 1 {
        work(1);
    }
    if W > 2 {
        work(2);
    }
    if W > 3 {
        work(3);
    }
}

/// The gradients of reference coordinates times the determinant, from the tangents along them; and the determinant.
#[inline(always)]
pub(super) fn cofactors<T: Number>([r, s, t]: [[T; 3]; 3]) -> ([[T; 3]; 3], T) {
    let cofactors = [cross(s, t), cross(t, r), cross(r, s)];
    (cofactors, dot3(r, cofactors[0]))
}

/// `a x b` in fused operations.
#[inline(always)]
fn cross<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    let component = |i: usize, j: usize| fma(a[i], b[j], -(a[j] * b[i]));
    [component(1, 2), component(2, 0), component(0, 1)]
}

/// The stress of a displacement gradient, row by row.
#[inline(always)]
pub(super) fn stress<T: Number>(lame: Lame<T>, h: [[T; 3]; 3]) -> [[T; 3]; 3] {
    Elasticity::flux::<super::Solid, T>(h, lame)
}
