//! Reference elements: one file each, with shape functions, their gradients, and a quadrature rule.
//!
//! An element is data and two pure functions; stiffness, loads and stress are written once over [`Element`].

mod hex8;
mod tet4;

pub use hex8::Hex8;
pub use tet4::Tet4;

use crate::real::{Real, dot3, fma};
use core::ops::{Index, IndexMut};

/// Calls `$callback! { $arguments Tet4, Hex8, .. }` with every element that can be solved with: the only list of them.
#[macro_export]
macro_rules! for_each_element {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Tet4, Hex8 }
    };
}

/// A quadrature point: reference coordinates `xi` and weight.
pub type Point = ([f64; 3], f64);

/// A solid reference element.
pub trait Element: Copy + Send + Sync + 'static {
    /// Its name: `tet4`.
    const NAME: &'static str;
    /// Number of nodes.
    const N: usize;
    /// One `X` per node: `[X; N]`.
    type Nodal<X: Copy>: Copy + Index<usize, Output = X> + IndexMut<usize>;
    /// A rule that integrates the stiffness of the undistorted element exactly.
    const QUADRATURE: &'static [Point];
    /// Centroid of the reference element, where output stresses are evaluated.
    const CENTROID: [f64; 3];

    /// One value per node.
    fn nodal<X: Copy>(f: impl FnMut(usize) -> X) -> Self::Nodal<X>;
    /// Shape functions `N_b(xi)`.
    fn shape<T: Real>(xi: [T; 3]) -> Self::Nodal<T>;
    /// Their gradients `dN_b/dxi`.
    fn shape_gradient<T: Real>(xi: [T; 3]) -> Self::Nodal<[T; 3]>;
}

/// Gradients in space and the Jacobian's determinant at one point of one element.
#[derive(Clone, Copy)]
pub struct Gradients<E: Element, T: Real> {
    /// `dN_b/dx`, one per node.
    pub dn_dx: E::Nodal<[T; 3]>,
    /// `det(dx/dxi)`; positive for a well-oriented element.
    pub det_j: T,
}

/// Evaluates [`Gradients`] at `xi` for nodes at `x`: `J = sum_b x_b (dN_b/dxi)^T`, `dN_b/dx = J^-T dN_b/dxi`.
#[inline(always)]
pub fn gradients<E: Element, T: Real>(x: &E::Nodal<[T; 3]>, xi: [f64; 3]) -> Gradients<E, T> {
    let dn = E::shape_gradient([T::from_f64(xi[0]), T::from_f64(xi[1]), T::from_f64(xi[2])]);
    let mut jac = [[T::ZERO; 3]; 3];
    for b in 0..E::N {
        for i in 0..3 {
            for j in 0..3 {
                jac[i][j] = fma(x[b][i], dn[b][j], jac[i][j]);
            }
        }
    }
    // Rows of the cofactor matrix; J^-T = cof / det.
    let cof = [cross(jac[1], jac[2]), cross(jac[2], jac[0]), cross(jac[0], jac[1])];
    let det_j = dot3(jac[0], cof[0]);
    let inverse = T::ONE / det_j;
    let dn_dx = E::nodal(|b| core::array::from_fn(|i| inverse * dot3(cof[i], dn[b])));
    Gradients { dn_dx, det_j }
}

#[inline(always)]
fn cross<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests;
