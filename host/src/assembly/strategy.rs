//! What each of the assembly strategies asks for.

use crate::element::ElementKind;
use crate::linalg::Space;
use crate::model::{FormKind, Physics};
use crate::result::choices::Strategy;
use kernels_rs::for_each_warp_element;

/// With more quadrature points than this the CPU assembles element by element: measured at 9 (quad8) and 27 (hex20).
const MANY_POINTS: usize = 9;

impl Strategy {
    /// What `auto` stands for, on the host or not, for a form on a mesh of these elements; it gives the same bits
    /// every time.
    ///
    /// On GPUs [`Strategy::RowOwner`]. So on the CPU, but for elements of many quadrature points (hex20): a thread that
    /// owns a row computes the Jacobians of all points once for each node. What [`Strategy::ByElement`] does not solve
    /// is left to [`Strategy::RowOwner`] there too.
    pub fn auto(on_host: bool, form: FormKind, mut kinds: impl Iterator<Item = ElementKind>) -> Strategy {
        let takes = |kind: ElementKind| Strategy::ByElement.fits(kind);
        let of_many_points = kinds.all(|kind| kind.info().shape.quadrature.len() > MANY_POINTS && takes(kind));
        if on_host && of_many_points && Strategy::ByElement.solves(form) {
            Strategy::ByElement
        } else {
            Strategy::RowOwner
        }
    }

    /// Whether it takes the cells colour by colour.
    pub fn is_colored(self) -> bool {
        !matches!(self, Strategy::RowOwner | Strategy::Atomic)
    }

    /// Whether it gives the same bits every time.
    pub fn is_deterministic(self) -> bool {
        !matches!(self, Strategy::Atomic | Strategy::ByWarp4Atomic)
    }

    /// Whether its threads work together, in warps or blocks: not on the CPU, whose items know nothing of one another.
    pub fn needs_warps(self) -> bool {
        !matches!(self, Strategy::RowOwner | Strategy::ByElement | Strategy::Atomic)
    }

    /// Whether there is code of it for an element type.
    pub fn fits(self, kind: ElementKind) -> bool {
        if self.needs_warps() { divides_among_lanes(kind) } else { self == Strategy::RowOwner || kind.is_of_papers() }
    }

    /// Whether there is code of it for a form. Isotropic elasticity has all; for potentials the two that take a kernel for
    /// every element are enough, as their assembly is a small part of the solution, and for what is not isotropic one.
    pub fn solves(self, form: FormKind) -> bool {
        match (form.is_isotropic, form.physics) {
            (false, _) => self == Strategy::RowOwner,
            (true, Physics::Potential | Physics::Heat) => matches!(self, Strategy::RowOwner | Strategy::Atomic),
            (true, Physics::Elasticity) => true,
        }
    }

    /// Whether it runs on a device.
    pub fn runs_on(self, space: &Space) -> bool {
        !space.on_host() || !self.needs_warps()
    }
}

/// Whether an element's stiffness divides evenly among the 32 lanes of a warp.
fn divides_among_lanes(kind: ElementKind) -> bool {
    macro_rules! listed { ($($Kind:ident),+) => { matches!(kind, $(ElementKind::$Kind)|+) } }
    for_each_warp_element!(listed)
}
