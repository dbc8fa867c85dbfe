//! Incompatible modes: the nodes and shape functions of another element, and inside each cell the displacements
//! `1 - xi^2`, `1 - eta^2`, `1 - zeta^2` beside them, of which the nodes know nothing (Wilson, Taylor, Doherty and
//! Ghaboussi 1973). A brick bends with them as a beam does.
//!
//! Their gradients are taken with the Jacobian of the centre, `(j_0 / j) J_0^-T d(1 - xi_m^2)/dxi` (Taylor, Beresford and
//! Wilson 1976): so their integral over any cell is 0, and constant stress is met exactly on distorted cells too.

use super::{Domain, Element, Hex8, Mapping, Point, delegate_element};
use crate::real::Real;
use core::marker::PhantomData;

/// An element with incompatible modes.
#[derive(Debug, Clone, Copy)]
pub struct Incompatible<E>(PhantomData<fn() -> E>);

/// [`Hex8`] with three modes.
pub type Hex8I = Incompatible<Hex8>;

impl<E: Element> Element for Incompatible<E> {
    const NAME: &'static str = E::WITH_MODES.unwrap()[0];
    const ABAQUS: &'static str = E::WITH_MODES.unwrap()[1];
    const REVOLVED: bool = E::REVOLVED;
    const VTK_ORDER: &'static [usize] = E::VTK_ORDER;
    const QUADRATURE: &'static [Point] = E::QUADRATURE;
    const SAMPLED: &'static [Point] = E::SAMPLED;
    delegate_element!();
}

/// The gradients of the modes at `xi`, where the Jacobian's determinant is `det_j`; `centre` is the cell's at its centroid.
#[inline(always)]
pub fn mode_gradients<E: Element>(centre: &Mapping<f64>, det_j: f64, xi: [f64; 3]) -> [[f64; 3]; 3] {
    let mut gradients = [[0.0; 3]; 3];
    for m in 0..E::DIM {
        let slope = -2.0 * xi[m] * centre.det_j / det_j;
        for i in 0..E::DIM {
            gradients[m][i] = slope * centre.inverse[i][m];
        }
    }
    gradients
}
