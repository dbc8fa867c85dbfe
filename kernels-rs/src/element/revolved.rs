//! Bodies of revolution: a plane element swept round the axis `x = 0`, with r = x and the axis along y.
//!
//! At a radius r a point stands for `2 pi r` of length, and a node's gradient has a third component, `N_b / r`: of a
//! radial displacement it makes the hoop strain `u_r / r` (Zienkiewicz and Taylor, sec. 5.2).

use super::{Element, Point, Quad4, Quad8, Tri3, Tri6};
use crate::real::Real;
use core::marker::PhantomData;

/// A plane element of a body of revolution.
pub struct Revolved<E>(PhantomData<fn() -> E>);

impl<E> Clone for Revolved<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Revolved<E> {}

impl<E: Element> Element for Revolved<E> {
    const NAME: &'static str = E::NAME;
    const DIM: usize = E::DIM;
    const REVOLVED: bool = true;
    type Nodal<X: Copy> = E::Nodal<X>;
    const NODES: &'static [[f64; 3]] = E::NODES;
    const QUADRATURE: &'static [Point] = E::QUADRATURE;
    const SAMPLED: &'static [Point] = E::SAMPLED;
    type Points<X: Copy> = E::Points<X>;
    const CENTROID: [f64; 3] = E::CENTROID;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        E::shape(b, xi)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        E::shape_gradient(b, xi)
    }
}

/// [`Tri3`] of a body of revolution; the names of entry points are made of these.
pub type RevolvedTri3 = Revolved<Tri3>;
/// [`Quad4`] of one.
pub type RevolvedQuad4 = Revolved<Quad4>;
/// [`Tri6`] of one.
pub type RevolvedTri6 = Revolved<Tri6>;
/// [`Quad8`] of one.
pub type RevolvedQuad8 = Revolved<Quad8>;

/// Calls `$callback! { $arguments Tri3, Quad4, .. }` with the elements of the plane.
#[macro_export]
macro_rules! for_each_plane_element {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Tri3, Quad4, Tri6, Quad8 }
    };
}

/// [`for_each_element!`](crate::for_each_element) and those of bodies of revolution: what kernels are for that take all
/// constants of a material.
#[macro_export]
macro_rules! for_each_body {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Tri3, Quad4, Tri6, Quad8, Tet4, Hex8, Tet10, Hex20,
            RevolvedTri3, RevolvedQuad4, RevolvedTri6, RevolvedQuad8 }
    };
}
