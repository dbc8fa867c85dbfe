//! The same in all directions: Young's modulus and Poisson's ratio.

use super::{Constants, Kind, Law, Quantity, Refusal};
use nalgebra::Matrix6;
use std::sync::Arc;

/// `sigma = lambda tr(eps) I + 2 mu eps`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotropic {
    /// Young's modulus E.
    pub young: f64,
    /// Poisson's ratio nu.
    pub poisson: f64,
}

impl Isotropic {
    /// Lame's first parameter, `lambda = E nu / ((1 + nu)(1 - 2 nu))`.
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// The shear modulus, `mu = E / (2 (1 + nu))`.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }
}

pub(super) const KIND: Kind = Kind {
    constants: "isotropic: `young` and `poisson`, a number each",
    example: Constants { young: &[210e9], poisson: &[0.3], ..Constants::NONE },
    read,
};

fn read(constants: &Constants) -> Option<Result<Arc<dyn Law>, Refusal>> {
    let Constants { young: &[young], poisson: &[poisson], shear: [], stiffness: [] } = *constants else { return None };
    let refused = |help: &str| Refusal {
        key: "poisson",
        message: "`poisson` must lie between -1 and 0.5, both excluded".into(),
        help: help.into(),
    };
    Some(match poisson {
        0.5 => Err(refused("0.5 is incompressible, which displacements alone cannot describe; 0.49 is close")),
        _ if poisson > -1.0 && poisson < 0.5 => Ok(Arc::new(Isotropic { young, poisson })),
        _ => Err(refused("metals: about 0.3")),
    })
}

impl Law for Isotropic {
    fn stiffness(&self) -> Matrix6<f64> {
        let (lambda, mu) = (self.lambda(), self.mu());
        Matrix6::from_fn(|i, j| match (i == j, i < 3 && j < 3) {
            (true, true) => lambda + 2.0 * mu,
            (false, true) => lambda,
            (true, false) => mu,
            (false, false) => 0.0,
        })
    }

    fn lame(&self) -> Option<[f64; 2]> {
        Some([self.lambda(), self.mu()])
    }

    fn constants(&self) -> Vec<(&'static str, Vec<f64>, Quantity)> {
        vec![("young", vec![self.young], Quantity::Stress), ("poisson", vec![self.poisson], Quantity::Unlabelled)]
    }

    fn young(&self) -> f64 {
        self.young
    }

    fn poisson(&self) -> f64 {
        self.poisson
    }
}
