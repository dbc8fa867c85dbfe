//! Warnings of elements that lock: displacements far too small near incompressibility.
//!
//! Where the bulk modulus `kappa` is much larger than the shear modulus `mu`, every quadrature point asks for a volume
//! that stays as it is, and full integration asks for more than the nodes can satisfy. Constraint counts (after Hughes
//! 2000, The Finite Element Method, ch. 4) compare the unknowns of a large mesh with the independent demands, the
//! dimension of an element's space of dilatations; as many unknowns as there are dimensions are ideal, 2 and 3:
//!
//! | tri3 | quad4 | tri6 | quad8 | tet4 | hex8 | tet10 | hex20 |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 1 | 2/3 | 4/3 | 1 | 1/2 | 3/7 | 1 | 12/17 |
//!
//! All lock by that count, but quadratic elements still bend without a change of volume, and so lock later. How much
//! later is a matter of the ratio `kappa / mu = 2 (1 + nu) / (3 (1 - 2 nu))`: 9 at nu = 0.4464, 45 at 0.4890. In
//! plane stress the thickness gives way, and nothing locks.
//!
//! A block in plane strain bonded to the ground and pressed from above, of 4 x 4 cells, misses of the strain energy of
//! 32 x 32 cells, at nu = 0.3, 0.45, 0.47, 0.499: 1.4, 7.9, 12 and 33 % with tri3; 0.7, 4.6, 7.3 and 62 % with quad4.

use super::{Analysis, Material};
use crate::element::ElementKind;
use crate::mesh::Mesh;

/// Above these ratios of bulk to shear modulus a warning is due: linear elements, quadratic elements.
const LINEAR: f64 = 9.0;
const QUADRATIC: f64 = 45.0;

/// One line for each material and element type that lock together.
pub fn warnings(analysis: Analysis, materials: &[Material], mesh: &Mesh, cell_material: &[Vec<u32>]) -> Vec<String> {
    let mut warnings = Vec::new();
    if analysis.is_thin() || analysis.physics().is_scalar() {
        return warnings;
    }
    for (index, material) in materials.iter().enumerate() {
        for (block, cells) in mesh.solids() {
            if locks(cells.kind, material.law.poisson()) && cell_material[block].contains(&(index as u32)) {
                let (name, nu, element) = (&material.name, material.law.poisson(), cells.kind.info().name);
                let effect = match cells.kind.info().is_quadratic() {
                    true => {
                        "stress components differ from element to element, and shear comes out too stiff. Refine and compare"
                    }
                    false => "displacements come out too small, stresses wrong. Use second-order elements",
                };
                warnings.push(format!("material `{name}`: {element} elements lock at poisson = {nu}: {effect}"));
            }
        }
    }
    warnings
}

fn locks(kind: ElementKind, poisson: f64) -> bool {
    let bulk_to_shear = 2.0 * (1.0 + poisson) / (3.0 * (1.0 - 2.0 * poisson));
    let info = kind.info();
    // From 0.5 on there is no material of that ratio.
    poisson < 0.5 && bulk_to_shear > if info.is_quadratic() { QUADRATIC } else { LINEAR }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Quad4, Tet4, Tet10, Tri3, Tri6};

    #[test]
    fn linear_elements_lock_before_quadratic_ones() {
        for kind in [Tri3, Quad4, Tet4, Hex8] {
            assert!(!locks(kind, 0.44) && locks(kind, 0.45), "{kind:?}");
        }
        for kind in [Tri6, Tet10] {
            assert!(!locks(kind, 0.48) && locks(kind, 0.49), "{kind:?}");
        }
    }
}
