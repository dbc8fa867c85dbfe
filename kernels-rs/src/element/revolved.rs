//! Bodies of revolution: a plane element swept round the axis `x = 0`, with r = x and the axis along y.
//!
//! At a radius r a point stands for `2 pi r` of length, and a node's gradient has a third component, `N_b / r`: of a
//! radial displacement it makes the hoop strain `u_r / r` (Zienkiewicz and Taylor, sec. 5.2).

use super::{Domain, Element, Point, delegate_element};
use crate::real::Real;
use core::marker::PhantomData;

/// A plane element of a body of revolution.
#[derive(Clone, Copy)]
pub struct Revolved<E>(PhantomData<fn() -> E>);

impl<E: Element> Element for Revolved<E> {
    const NAME: &'static str = E::NAME;
    const REVOLVED: bool = true;
    const REDUCED: Option<[&'static str; 2]> = E::REDUCED;
    const QUADRATURE: &'static [Point] = E::QUADRATURE;
    const SAMPLED: &'static [Point] = E::SAMPLED;
    const CENTROID: [f64; 3] = E::CENTROID;
    delegate_element!();
}
