//! Reduced integration: the nodes and shape functions of another element, and its stiffness from the points of
//! [`Element::SAMPLED`], 2 x 2 (x 2) of squares and cubes (Zienkiewicz and Taylor, sec. 12.5).
//!
//! Such an element is softer in bending and near incompressibility, and has motions beside the rigid ones that strain none
//! of the points: one of eight nodes in the plane, six of twenty nodes. Neighbours rarely share them.

use super::{Array, Domain, Element, Hex20, Point, Quad8, delegate_element};
use crate::real::Real;
use core::marker::PhantomData;

/// An element of reduced integration.
#[derive(Debug, Clone, Copy)]
pub struct Reduced<E>(PhantomData<fn() -> E>);

/// [`Quad8`] from 2 x 2 points.
pub type Quad8R = Reduced<Quad8>;
/// [`Hex20`] from 2 x 2 x 2 points.
pub type Hex20R = Reduced<Hex20>;

impl<E: Element> Element for Reduced<E> {
    const NAME: &'static str = E::REDUCED.unwrap()[0];
    const ABAQUS: &'static str = E::REDUCED.unwrap()[1];
    const REVOLVED: bool = E::REVOLVED;
    const VTK_ORDER: &'static [usize] = E::VTK_ORDER;
    const QUADRATURE: &'static [Point] = E::SAMPLED;
    delegate_element!();

    /// The first as many as the rule has points.
    #[inline(always)]
    fn points<X: Copy>(mut f: impl FnMut(usize) -> X) -> E::Points<X> {
        let first = f(0);
        Array::from_fn(|q| if (1..Self::QUADRATURE.len()).contains(&q) { f(q) } else { first })
    }
}
