//! An element's quadrature rule in tables on a device.

use crate::device::Buffer;
use crate::element::ElementKind;
use crate::element::shape::At;
use crate::linalg::Space;
use crate::model::FormKind;
use crate::result::Result;
use kernels_rs::assembly::rule::Rule;

/// The tables of [`Rule`].
pub(super) struct DeviceRule {
    kind: ElementKind,
    weights: Buffer<f64>,
    shape: Buffer<f64>,
    slopes: Buffer<[f64; 3]>,
}

impl DeviceRule {
    /// A rule with these points.
    pub(super) fn new(space: &Space, kind: ElementKind, points: &[At]) -> Result<Self> {
        Ok(DeviceRule {
            kind,
            weights: space.upload_vec(points.iter().map(|at| at.weight).collect())?,
            shape: space.upload_vec(points.iter().flat_map(|at| at.n.iter().copied()).collect())?,
            slopes: space.upload_vec(points.iter().flat_map(|at| at.dn.iter().copied()).collect())?,
        })
    }

    /// The rule for the bodies of a form.
    pub(super) fn view(&self, form: FormKind) -> Rule {
        Rule {
            size: self.kind.info().n_nodes,
            dim: self.kind.info().dim,
            revolved: form.is_revolved.into(),
            weights: self.weights.view(),
            shape: self.shape.view(),
            slopes: self.slopes.view(),
        }
    }
}
