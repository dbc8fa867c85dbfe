//! Bodies of revolution: a plane element swept round the axis `x = 0`, with r = x and the axis along y.
//!
//! At a radius r a point stands for `2 pi r` of length, and a node's gradient has a third component, `N_b / r`: of a
//! radial displacement it makes the hoop strain `u_r / r` (Zienkiewicz and Taylor, sec. 5.2).

use super::{Domain, Element, Point};
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
    const DOMAIN: Domain = E::DOMAIN;
    const REVOLVED: bool = true;
    const GMSH: i32 = E::GMSH;
    const VTK: u8 = E::VTK;
    const REDUCED: Option<[&'static str; 2]> = E::REDUCED;
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
