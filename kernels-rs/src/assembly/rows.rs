//! A row of blocks of an element's stiffness in one thread: the integrals of a node a and all nodes b that a block is
//! made of, in elasticity `M_b = int g_a g_b^T dV`, from which it is `lambda M + mu M^T + mu tr(M) I`.
//!
//! Operations in three dimensions, per quadrature point: 9 N for the Jacobian and, unless N is above 8, 18 N for the
//! columns; else 18 N and a shape function's gradient each. In conduction the products are 3 N of these for 9 N.

use super::select;
use crate::element::*;
use crate::form::Form;
use crate::real::Real;

/// Most columns whose sums a thread keeps in registers: 72 words in three dimensions.
const REGISTER_COLUMNS: usize = 8;

/// Hands the integrals of node a of a cell with nodes at `x` to `add(b, ..)`, for every node b.
#[inline(always)]
pub fn row_of_products<E: Element, P: Form, T: Real>(
    x: &E::Nodal<[T; 3]>,
    a: usize,
    add: impl FnMut(usize, P::Product<T>),
) {
    if const { E::N <= REGISTER_COLUMNS } {
        all_columns::<E, P, T>(x, a, add)
    } else {
        column_by_column::<E, P, T>(x, a, add)
    }
}

/// All nodes b summed at once.
#[inline(always)]
fn all_columns<E: Element, P: Form, T: Real>(
    x: &E::Nodal<[T; 3]>,
    a: usize,
    mut add: impl FnMut(usize, P::Product<T>),
) {
    let mut products = E::nodal(|_| P::zero());
    for &(xi, weight) in E::QUADRATURE {
        let at = gradients::<E, T>(x, xi);
        let w = T::from_f64(weight) * at.det_j;
        let ga = select::<E, _>(&at.dn_dx, a).map(|g| w * g);
        for b in 0..E::N {
            P::add::<E, T>(&mut products[b], ga, at.dn_dx[b]);
        }
    }
    for b in 0..E::N {
        add(b, products[b]);
    }
}

/// The same one node b after the other, from the Jacobians of all quadrature points: for elements whose columns do not
/// fit in registers. These Jacobians and the gradients of node a are kept in local memory.
#[inline(always)]
fn column_by_column<E: Element, P: Form, T: Real>(
    x: &E::Nodal<[T; 3]>,
    a: usize,
    mut add: impl FnMut(usize, P::Product<T>),
) {
    let at = E::points(|q| {
        let (xi, weight) = E::QUADRATURE[q];
        let xi = xi.map(T::from_f64);
        let at = Mapping::at::<E>(x, xi);
        let w = T::from_f64(weight) * at.det_j;
        (at.inverse, at.gradient::<E>(a, xi).map(|g| w * g))
    });
    // An array of its own, which is none where it is not read.
    let per_radius = E::points(|q| Mapping::at::<E>(x, E::QUADRATURE[q].0.map(T::from_f64)).per_radius);
    for b in 0..E::N {
        let mut product = P::zero();
        for (q, &(xi, _)) in E::QUADRATURE.iter().enumerate() {
            let (inverse, ga) = at[q];
            let gb = gradient::<E, T>(inverse, per_radius[q], b, xi.map(T::from_f64));
            P::add::<E, T>(&mut product, ga, gb);
        }
        add(b, product);
    }
}
