//! The warning of elements that are far too stiff in bending where a body is only a few of them thick.
//!
//! A linear tetrahedron or triangle has one strain, and so bends by shearing; linear quadrilaterals and hexahedra do so
//! too, but less. A cantilever of 10 x 1 x 1 with a force at its end, of cubes (of six tet4), has these shares of the
//! deflection and of the largest stress of beams (Timoshenko), with so many elements over its depth:
//!
//! | | 1 | 2 | 4 | 8 |
//! | --- | --- | --- | --- | --- |
//! | tet4 | 0.23, 0.23 | 0.51, 0.47 | 0.79, 0.68 | 0.93, 0.86 |
//! | tri3 | 0.23, 0.27 | 0.54, 0.54 | 0.82, 0.80 | 0.95, 0.94 |
//! | hex8 | 0.65, 0.62 | 0.87, 0.79 | 0.96, 0.90 | 0.99, 0.98 |
//! | quad4 | 0.68, 0.77 | 0.89, 0.90 | 0.97, 0.98 | 0.99, 1.05 |
//! | tet10, hex20 | 0.98, 0.90 | 0.99, 1.00 | 1.00, 1.00 | |
//!
//! So the first two should be four at least, the next two elements. Where a body is thinner is found by [`Thin`]; what
//! is as long as it is thick hardly bends, and is left alone.

use super::Analysis;
use crate::element::ElementKind::{self, Hex8, Quad4, Tet4, Tri3};
use crate::mesh::Mesh;
use crate::mesh::thin::Thin;

/// Bodies bend that are longer than this many times [`Thin::thickness`]: beams twice as long as thick, plates three
/// times.
const SLENDER: f64 = 5.0;
/// A smaller share of the elements than this may be the sharp edge of something else.
const SHARE: f64 = 0.05;

/// Element types that bend alike.
struct Stiff {
    kinds: [ElementKind; 2],
    /// How many of them should be across, an even number.
    across: u8,
    /// What is meant by fewer, and what it leads to.
    fewer: &'static str,
}

const STIFF: [Stiff; 2] = [
    Stiff {
        kinds: [Tet4, Tri3],
        across: 4,
        fewer: "fewer than 4 across where the body is thin: good for a first look, but in bending displacements and stresses come out far too \
                low (a cantilever with 1, 2, 4 across bends by 23, 51, 79 % of the theory)",
    },
    Stiff {
        kinds: [Hex8, Quad4],
        across: 2,
        fewer: "one across where the body is thin: in bending displacements and stresses come out too low (a cantilever bends by two thirds \
                of the theory)",
    },
];

/// What there is to say of the elements that are too stiff in bending; one line for the model.
pub fn warning(analysis: Analysis, mesh: &Mesh) -> Option<String> {
    let of = |stiff: &Stiff| {
        mesh.solids()
            .find(|(_, cells)| !cells.is_empty() && stiff.kinds.contains(&cells.kind))
            .map(|(_, cells)| cells.kind)
    };
    if analysis == Analysis::Laplace || STIFF.iter().all(|stiff| of(stiff).is_none()) {
        return None;
    }
    let all: usize = mesh.solids().map(|(_, cells)| cells.len()).sum();
    STIFF.iter().find_map(|stiff| {
        let kind = of(stiff)?;
        let thin = Thin::of(mesh, stiff.across / 2, |cells| stiff.kinds.contains(&cells.kind));
        let bends = thin.longest > SLENDER * thin.thickness && thin.elements as f64 >= SHARE * all as f64;
        let (name, Stiff { across, fewer, .. }) = (kind.info().name, stiff);
        bends.then(|| {
            format!("{name} elements, {fewer}; next: second-order elements (in Gmsh `Mesh.ElementOrder = 2`), or at least {across} across")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    fn said(mesh: &Mesh) -> Option<String> {
        let analysis = if mesh.dim() == 2 { Analysis::PlaneStrain } else { Analysis::Elasticity };
        assert_eq!(warning(Analysis::Laplace, mesh), None);
        warning(analysis, mesh)
    }

    #[test]
    fn slender_bodies_need_elements_across() {
        for n in 1..=4 {
            let length = 6 * n;
            for kind in
                [Tet4, Hex8, Tri3, Quad4, ElementKind::Tet10, ElementKind::Hex20, ElementKind::Tri6, ElementKind::Quad8]
            {
                let mesh = match kind.info().dim {
                    3 => generate_box(kind, [6.0, 1.0, 1.0], [length, n, n]).unwrap(),
                    _ => generate_rectangle(kind, [6.0, 1.0], [length, n]).unwrap(),
                };
                let expected = match kind {
                    Tet4 | Tri3 => n < 4,
                    Hex8 | Quad4 => n < 2,
                    _ => false,
                };
                let found = said(&mesh);
                assert_eq!(found.is_some(), expected, "{kind:?} {n}: {found:?}");
                assert!(
                    found.is_none_or(|said| said.starts_with(kind.info().name) && said.contains("ElementOrder = 2"))
                );
            }
        }
    }

    #[test]
    fn what_is_as_long_as_thick_is_left_alone() {
        for kind in [Tet4, Hex8] {
            for cells in [[1; 3], [2; 3], [3; 3], [1, 2, 1]] {
                assert_eq!(said(&generate_box(kind, [1.0, 1.2, 1.0], cells).unwrap()), None, "{kind:?} {cells:?}");
            }
        }
        // A plate, with elements as flat as it.
        assert!(said(&generate_box(Hex8, [8.0, 8.0, 0.5], [3, 3, 1]).unwrap()).is_some());
    }
}
