//! The forces of a linear tetrahedron: one stress, times the gradients of the volume coordinates and the volume.

use super::formulas::{FixedCell, cofactors, each, stress};
use crate::element::Tet4;
use crate::material::Lame;
use crate::real::dot3;
use cuda_std::Number;

/// A linear tetrahedron.
#[derive(Debug, Clone, Copy)]
pub struct LinearTet4;

impl FixedCell for LinearTet4 {
    type Element = Tet4;
    const CELLS: usize = 512;
    const THREADS: usize = 256;

    /// Operations: about 160.
    #[inline(always)]
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        mut set: impl FnMut(usize, usize, [T; 3]),
    ) {
        let less = |a: [T; 3], b: [T; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let place = x(0);
        // The determinant is six volumes.
        let (slopes, det) = cofactors([1, 2, 3].map(|b| less(x(b), place)));
        let scale = T::from_f64(1.0 / 6.0) * det.near_recip();
        let lame = Lame { lambda: scale * lame.lambda, mu: scale * lame.mu };
        each::<W>(|m| {
            let moved = u(m, 0);
            let d = [1, 2, 3].map(|b| less(u(m, b), moved));
            let h = [0, 1, 2].map(|c| {
                let along = [d[0][c], d[1][c], d[2][c]];
                [0, 1, 2].map(|k| dot3(along, [slopes[0][k], slopes[1][k], slopes[2][k]]))
            });
            let rows = stress(lame, h);
            let mut first = [T::ZERO; 3];
            for b in 1..4 {
                let force = rows.map(|row| dot3(row, slopes[b - 1]));
                first = less(first, force);
                set(m, b, force);
            }
            set(m, 0, first);
        });
    }
}
