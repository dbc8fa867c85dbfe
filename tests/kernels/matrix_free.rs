//! Products without a matrix, on every element in all its forms.

use crate::common::meshes;
use crate::matrix_free::{COMMON, FEW, compare, refused};
use kernels_rs::element::Element;
use warpfem::element::ElementKind;
use warpfem::linalg::Space;

/// With formulas of its own and without, a distorted box or square, curved where the element is, in patches of few cells and of as many as fit.
pub fn products<E: Element>(space: &Space) -> Vec<u64> {
    let kind = ElementKind::from_name(E::NAME).unwrap();
    let cells = match (kind.info().dim, kind.info().is_quadratic()) {
        (2, _) => [5, 4, 1],
        (_, false) => [3, 3, 2],
        (_, true) => [2, 2, 1],
    };
    if kind != kind.of_kernels() && !kind.is_reduced() {
        // Its stiffness is more than the sum over a rule.
        refused(space, &meshes::two_materials(meshes::regular_box(kind, cells)));
        return Vec::new();
    }
    let mut found = Vec::new();
    for analysis in meshes::all_analyses(kind) {
        let model = meshes::two_materials_in(analysis, meshes::distorted_box(kind, cells, 0.2));
        let other = meshes::anisotropic(meshes::two_materials_in(analysis, meshes::distorted_box(kind, cells, 0.2)));
        for model in [model, other] {
            found.extend(compare::<f64>(space, &model, FEW));
            if model.form().is_isotropic && model.analysis.components() > 1 {
                found.extend(compare::<f32>(space, &model, FEW));
                if [ElementKind::Tet4, ElementKind::Tet10, ElementKind::Hex8, ElementKind::Hex20].contains(&kind) {
                    found.extend(compare::<f64>(space, &model, COMMON));
                    found.extend(compare::<f32>(space, &model, COMMON));
                }
            }
        }
    }
    found
}
