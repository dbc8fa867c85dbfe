//! Serde's functions for laws: what kernels see of them.

use super::anisotropic::Anisotropic;
use super::{Isotropic, Law};
use nalgebra::Matrix6;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
enum Constants {
    Isotropic { young: f64, poisson: f64 },
    Anisotropic(Box<Matrix6<f64>>),
}

/// Writes a law.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(law: &Arc<dyn Law>, serializer: S) -> Result<S::Ok, S::Error> {
    let constants = match law.lame() {
        Some(_) => Constants::Isotropic { young: law.young(), poisson: law.poisson() },
        None => Constants::Anisotropic(law.stiffness().into()),
    };
    constants.serialize(serializer)
}

/// Reads a law.
///
/// # Errors
///
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<dyn Law>, D::Error> {
    Constants::deserialize(deserializer).map(|constants| -> Arc<dyn Law> {
        match constants {
            Constants::Isotropic { young, poisson } => Arc::new(Isotropic { young, poisson }),
            Constants::Anisotropic(stiffness) => Arc::new(Anisotropic(*stiffness)),
        }
    })
}
