//! Material laws: stress from strain, `sigma = D eps`, in the order xx, yy, zz, xy, yz, xz with engineering shear strains.
//!
//! A law is host code: kernels see Lame's parameters or the 21 numbers of D, in global axes and reduced to the analysis,
//! and never a law's name.

mod anisotropic;
mod axes;
pub mod constants;
mod isotropic;
mod orthotropic;
mod reduce;

use nalgebra::{Matrix6, SMatrix};
use std::fmt::Debug;
use std::sync::Arc;

pub use axes::{Axes, Field, spanned};
pub use isotropic::Isotropic;
pub use reduce::in_the_plane;

use super::Quantity;
use kernels_rs::form::upper;

/// A law of linear elasticity.
pub trait Law: Debug + Send + Sync {
    /// D in the material's own axes.
    fn stiffness(&self) -> Matrix6<f64>;

    /// Lame's parameters, if it is isotropic.
    fn lame(&self) -> Option<[f64; 2]> {
        None
    }

    /// What the case file says of it: keys, numbers, what these are.
    fn constants(&self) -> Vec<(&'static str, Vec<f64>, Quantity)>;

    /// The largest Young's modulus in any of the axes, `1 / S_ii`.
    fn young(&self) -> f64 {
        let compliance = self.stiffness().try_inverse().unwrap_or_default();
        (0..3).map(|i| 1.0 / compliance[(i, i)]).fold(0.0, f64::max)
    }

    /// Poisson's ratio; of what is not isotropic that of the same mean bulk and shear moduli (Voigt 1928), which says how
    /// near it is to incompressible.
    fn poisson(&self) -> f64 {
        let d = self.stiffness();
        let bulk = d.fixed_view::<3, 3>(0, 0).sum() / 9.0;
        let trace = d.fixed_view::<3, 3>(0, 0).trace();
        let shear = (trace - 3.0 * bulk) / 10.0 + (d[(3, 3)] + d[(4, 4)] + d[(5, 5)]) / 5.0;
        (3.0 * bulk - 2.0 * shear) / (2.0 * (3.0 * bulk + shear))
    }
}

/// The numbers that a `[[material]]` has for its law; empty where a key is not there.
#[derive(Debug, Clone)]
pub struct Constants<'a> {
    /// Young's moduli.
    pub young: &'a [f64],
    /// Poisson's ratios.
    pub poisson: &'a [f64],
    /// Shear moduli.
    pub shear: &'a [f64],
    /// The upper triangle of D, row by row.
    pub stiffness: &'a [f64],
}

impl Constants<'_> {
    /// No key at all.
    pub const NONE: Constants<'static> = Constants { young: &[], poisson: &[], shear: &[], stiffness: &[] };
}

/// Why numbers are no material.
#[derive(Debug)]
pub struct Refusal {
    /// The key at fault.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A law from its constants; nothing if they are another law's.
type Read = fn(&Constants) -> Option<Result<Arc<dyn Law>, Refusal>>;

/// A kind of law.
#[derive(Debug)]
pub struct Kind {
    /// What it is, and by which keys.
    constants: &'static str,
    /// The constants of some material, in SI.
    pub example: Constants<'static>,
    read: Read,
}

/// Every law: the only list of them. The first that takes the constants has them.
pub const LAWS: &[Kind] = &[isotropic::KIND, orthotropic::KIND, anisotropic::KIND];

/// The law of these constants.
///
/// # Errors
///
/// Constants that no law takes, or that no material has.
pub fn read(constants: &Constants) -> Result<Arc<dyn Law>, Refusal> {
    let unknown = || {
        let key = if constants.young.is_empty() { "stiffness" } else { "young" };
        let help = LAWS.iter().map(|law| law.constants).collect::<Vec<_>>().join("; ");
        Refusal { key, message: "these numbers are no material law".into(), help }
    };
    LAWS.iter().find_map(|law| (law.read)(constants)).ok_or_else(unknown)?
}

/// The upper triangle of a symmetric matrix, row by row, as kernels take it.
pub fn packed<const N: usize, const M: usize>(matrix: &SMatrix<f64, N, N>) -> [f64; M] {
    let mut triangle = [0.0; M];
    for i in 0..N {
        for j in i..N {
            triangle[upper(N, i, j)] = matrix[(i, j)];
        }
    }
    triangle
}

#[cfg(test)]
mod tests;
