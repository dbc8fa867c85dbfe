//! Any linear elastic material: the 21 numbers of D.

use super::{Constants, Kind, Law, Quantity, Refusal, packed};
use kernels_rs::form::upper;
use nalgebra::Matrix6;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Anisotropic(pub(super) Matrix6<f64>);

/// The example is quartz.
pub(super) const KIND: Kind = Kind {
    constants: "any other: `stiffness`, the 21 numbers of D",
    example: Constants {
        stiffness: &[
            86.8e9, 7e9, 11.9e9, 0.0, -18e9, 0.0, // xx
            86.8e9, 11.9e9, 0.0, 18e9, 0.0, // yy
            105.8e9, 0.0, 0.0, 0.0, // zz
            39.9e9, 0.0, -18e9, // xy
            58.2e9, 0.0,    // yz
            58.2e9, // xz
        ],
        ..Constants::NONE
    },
    read,
};

fn read(constants: &Constants) -> Option<Result<Arc<dyn Law>, Refusal>> {
    let Constants { young: [], poisson: [], shear: [], stiffness } = *constants else { return None };
    let triangle = <[f64; 21]>::try_from(stiffness).ok()?;
    let d = Matrix6::from_fn(|i, j| triangle[upper(6, i, j)]);
    // The determinants of its first 1, 2, .. rows and columns are all positive (Sylvester).
    let minor = |n: usize| (d / d.amax()).view((0, 0), (n, n)).into_owned().determinant();
    Some(match (1..=6).find(|&n| minor(n) <= 0.0) {
        None => Ok(Arc::new(Anisotropic(d))),
        Some(n) => Err(Refusal {
            key: "stiffness",
            message: format!("the determinant of the first {n} rows and columns of `stiffness` is not greater than 0"),
            help: "the upper triangle of D row by row, in the order xx, yy, zz, xy, yz, xz, with engineering shear strains"
                .into(),
        }),
    })
}

impl Law for Anisotropic {
    fn stiffness(&self) -> Matrix6<f64> {
        self.0
    }

    fn constants(&self) -> Vec<(&'static str, Vec<f64>, Quantity)> {
        vec![("stiffness", packed::<6, 21>(&self.0).to_vec(), Quantity::Stress)]
    }
}
