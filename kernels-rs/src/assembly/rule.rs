//! An element's quadrature rule in tables, so that one kernel serves all elements.

use super::MeshView;
use crate::element::invert;
use crate::real::{add_outer, fma};
use cuda_std::prelude::*;

/// A rule of Q points for elements of N nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rule {
    /// Nodes of a cell, N.
    pub size: usize,
    /// Number of coordinates: 2 or 3.
    pub dim: usize,
    /// 1 for bodies of revolution.
    pub revolved: u32,
    /// Weight of each point, `[Q]`.
    pub weights: View<f64>,
    /// `N_b`, `[Q][N]`.
    pub shape: View<f64>,
    /// `dN_b/dxi`, `[Q][N]`.
    pub slopes: View<[f64; 3]>,
}

impl Rule {
    /// Which node of a cell `node` is.
    #[inline(always)]
    pub unsafe fn local_number(self, mesh: MeshView, cell: usize, node: usize) -> usize {
        let mut a = 0;
        for b in 1..self.size {
            if mesh.nodes.at(cell * self.size + b) as usize == node {
                a = b;
            }
        }
        a
    }

    /// The place of a point of a cell and its share of the cell's volume: times the thickness, or once round the axis.
    #[inline(always)]
    pub unsafe fn volume(self, mesh: MeshView, cell: usize, q: usize) -> ([f64; 3], f64) {
        let (place, _, volume) = self.mapping(mesh, cell, q);
        (place, volume)
    }

    /// The same with `J^-T` between them.
    #[inline(always)]
    pub unsafe fn mapping(self, mesh: MeshView, cell: usize, q: usize) -> ([f64; 3], [[f64; 3]; 3], f64) {
        let corner = |b: usize| mesh.coords.at(mesh.nodes.at(cell * self.size + b) as usize);
        let (origin, mut jac, mut place) = (corner(0), [[0.0; 3]; 3], [0.0; 3]);
        for b in 0..self.size {
            let (x, k) = (corner(b), q * self.size + b);
            let from: [f64; 3] = core::array::from_fn(|i| x[i] - origin[i]);
            add_outer(3, &mut jac, from, self.slopes.at(k));
            for i in 0..3 {
                place[i] = fma(self.shape.at(k), x[i], place[i]);
            }
        }
        let (inverse, det_j) = if self.dim == 2 { invert(2, jac) } else { invert(3, jac) };
        let around = if self.revolved == 1 { 2.0 * core::f64::consts::PI * place[0] } else { 1.0 };
        (place, inverse, mesh.thickness * self.weights.at(q) * det_j * around)
    }
}
