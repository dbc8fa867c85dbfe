//! The warning of elements that are too stiff in bending where a body is only a few of them thick, and of quadratic
//! elements whose centres miss the bending stress.
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
//! | hex8i (deflection) | 0.99 | 0.99 | 0.99 | |
//! | quad4 | 0.68, 0.77 | 0.89, 0.90 | 0.97, 0.98 | 0.99, 1.05 |
//! | tet10, hex20 | 0.98, 0.90 | 0.99, 1.00 | 1.00, 1.00 | |
//!
//! So the first two should be eight at least, the next two elements. Where a body is thinner is found by [`Thin`]; a
//! body as long as it is thick hardly bends, and is left alone.
//!
//! One quad4 or hex8 of length a and thickness h, bent to the curvature k, has `u = k x y`, `v = 0`: the strain k y of
//! a beam, and a shear strain k x that a beam has not (Cook, Malkus, Plesha, Witt 2002, Concepts and Applications of
//! Finite Element Analysis, sec. 6.6). Its energy over that of the beam is
//!
//! `N = 1 / (1 - nu^2) + (a / h)^2 / (2 (1 + nu))`,
//!
//! 1.5 for a = h as in the table, and 11 for a = 5 h. Of n layers that share the thickness h, the first term is
//! `1 + (1 / (1 - nu^2) - 1) / n^2`: Poisson's ratio is held within each. The second remains, as it depends on a: more
//! elements across alone do not help.
//!
//! The bending stress is 0 half way through a part, where the centres of elements are that are one across: there hex8i,
//! hex20 and quad8 show none of it, though their nodes do.

use super::Analysis;
use crate::element::ElementKind;
use crate::mesh::thin::{self, Thin};
use crate::mesh::vector::{norm, sub};
use crate::mesh::{Cells, Mesh};
use warpfem_text::number;

/// Bodies bend that are longer than this many times [`Thin::thickness`]: beams twice as long as thick, plates three
/// times.
const SLENDER: f64 = 5.0;
/// A smaller share of the elements than this may be the sharp edge of something else.
const SHARE: f64 = 0.05;

/// Poisson's ratio of a metal; others change N by a tenth.
const POISSON: f64 = 0.3;

/// N above which several layers are worth a warning.
const STIFF: f64 = 1.1;

/// Element types that bend alike.
struct Bending {
    takes: fn(ElementKind) -> bool,
    /// How many of them should be across, an even number.
    across: u8,
    /// What is wrong with fewer, and what to do; nothing if that hardly matters.
    fewer: fn(&Thin) -> Option<String>,
}

const BENDING: [Bending; 5] = [
    Bending { takes: is_simple, across: 8, fewer: |_| Some(OF_SIMPLICES.into()) },
    Bending { takes: is_brick, across: 2, fewer: of_a_layer },
    Bending { takes: is_brick, across: 4, fewer: of_layers },
    Bending { takes: is_brick, across: 8, fewer: of_layers },
    Bending { takes: is_bending_brick, across: 2, fewer: |_| Some(OF_CENTRES.into()) },
];

/// Simplices and pyramids of first order.
fn is_simple(kind: ElementKind) -> bool {
    let info = kind.info();
    !info.is_quadratic() && !info.domain.is_layered()
}

/// Quadrilaterals, hexahedra and wedges of first order that have no modes of bending.
fn is_brick(kind: ElementKind) -> bool {
    !kind.info().is_quadratic() && kind.info().domain.is_layered() && !kind.has_modes()
}

/// Those that bend as a beam does.
fn is_bending_brick(kind: ElementKind) -> bool {
    kind.info().domain.is_layered() && !is_brick(kind)
}

const OF_SIMPLICES: &str = "fewer than 8 through the thickness: displacements and stresses in bending come out too low (a cantilever bends \
                            23, 51, 79, 93 % of the exact value with 1, 2, 4, 8 of them). Use second-order elements \
                            (tet10, hex20; Gmsh's option Mesh.ElementOrder, 2)";

const OF_BRICKS: &str = "in bending (shear locking), so displacements and stresses come out too low. Use second-order elements \
                         (hex20; Gmsh's option Mesh.ElementOrder, 2)";

/// What else to do, if there are hexahedra.
const OF_HEX8: &str = ", or `element = \"hex8i\"` (C3D8I) for the same mesh";

const OF_FEW: &str = "only two or three elements along the part: displacements in bending come out up to 26 % too low, stresses more. Use \
                      smaller elements";

const OF_CENTRES: &str = "one through the thickness: stresses at element centres (CSV, 99 % value) miss the bending stress. Read the \
                          stresses at the nodes, or use two";

/// N of some layers of bricks.
fn stiffening(thin: &Thin) -> f64 {
    let held = 1.0 / (1.0 - POISSON * POISSON) - 1.0;
    1.0 + held / f64::from(thin.layers).powi(2) + thin.aspect.powi(2) / (2.0 * (1.0 + POISSON))
}

fn of_a_layer(thin: &Thin) -> Option<String> {
    (thin.layers == 1)
        .then(|| format!("one through the thickness: {} too stiff {OF_BRICKS}", at_least(stiffening(thin))))
}

/// `at least 12 %`, or `at least 7.3 times`: more with a large Poisson's ratio.
fn at_least(stiff: f64) -> String {
    match stiff < 2.0 {
        true => format!("at least {} %", number(100.0 * (stiff - 1.0), 2)),
        false => format!("at least {} times", number(stiff, 2)),
    }
}

fn of_layers(thin: &Thin) -> Option<String> {
    let stiff = stiffening(thin);
    let layers = match thin.layers {
        2 => "two",
        3 => "three",
        _ => "four and more",
    };
    (thin.layers > 1 && stiff > STIFF)
        .then(|| format!("{layers} through the thickness: {} too stiff {OF_BRICKS}", at_least(stiff)))
}

/// What is wrong with elements in bending.
pub struct Doubt {
    /// One line for the model.
    pub warning: String,
    /// Whether they are too stiff, and not only their centres of no use.
    pub is_too_stiff: bool,
}

/// Elements that are wrong in bending.
pub fn doubt(analysis: Analysis, mesh: &Mesh) -> Option<Doubt> {
    let of = |bending: &Bending| {
        mesh.solids().find(|(_, cells)| !cells.is_empty() && (bending.takes)(cells.kind)).map(|(_, cells)| cells.kind)
    };
    if analysis.physics().is_scalar() {
        return None;
    }
    let all = mesh.n_solids();
    let of_layers = || {
        BENDING.iter().find_map(|bending| {
            let kind = of(bending)?;
            if bending.across > 4 && is_brick(kind) && !has_long_bricks(mesh) {
                return None;
            }
            let thin = Thin::of(mesh, bending.across / 2, |cells| (bending.takes)(cells.kind));
            let bends = thin.longest > SLENDER * thin.thickness && thin.elements as f64 >= SHARE * all as f64;
            let fewer = if bends { (bending.fewer)(&thin) } else { None };
            fewer.map(|fewer| Doubt {
                warning: format!("{} elements, {fewer}", kind.info().name),
                is_too_stiff: !is_bending_brick(kind),
            })
        })
    };
    let stiff = |warning: Option<String>| warning.map(|warning| Doubt { warning, is_too_stiff: true });
    let mut doubt = stiff(of_few_along(mesh)).or_else(of_layers).or_else(|| stiff(of_long_bricks(mesh)))?;
    if doubt.warning.ends_with(OF_BRICKS) && mesh.solids().any(|(_, cells)| cells.kind == ElementKind::Hex8) {
        doubt.warning += OF_HEX8;
    }
    Some(doubt)
}

/// Elements of second order of which a slender body is two or three long: it bends by up to 26 % too little.
fn of_few_along(mesh: &Mesh) -> Option<String> {
    let lengths = lengths(mesh, |cells| cells.kind.info().is_quadratic());
    let middling = lengths.iter().map(|[long, short]| 0.5 * (long + short)).sum::<f64>() / lengths.len() as f64;
    (mesh.longest_side() < FEW * middling && slender(mesh).is_some()).then(|| OF_FEW.into())
}

/// Bricks that are long beside the thickness of a slender body. Where there are many layers of them N is
/// `1 + (a / h)^2 / (2 (1 + nu))`; h is at most twice [`thin::thickness`].
fn of_long_bricks(mesh: &Mesh) -> Option<String> {
    let bricks = lengths(mesh, |cells| is_brick(cells.kind));
    let long = typical(bricks.iter().filter(|[long, short]| *long >= LONG * *short));
    if long == 0.0 {
        return None;
    }
    let stiff = 1.0 + (long / (2.0 * slender(mesh)?)).powi(2) / (2.0 * (1.0 + POISSON));
    (stiff > STIFF)
        .then(|| format!("elements that are long beside the thickness: {} too stiff {OF_BRICKS}", at_least(stiff)))
}

/// The [`thin::thickness`] of a slender body.
fn slender(mesh: &Mesh) -> Option<f64> {
    Some(thin::thickness(mesh)).filter(|thickness| mesh.longest_side() > SLENDER * thickness)
}

/// Elements looked at to see whether there are long ones.
const SAMPLE: usize = 1000;
/// Bricks of four layers and more must be so many times as long as thick to be too stiff: N is 1.1 for a = h / 2.
const LONG: f64 = 2.0;

/// A body that is shorter than so many of its elements of second order has few along it.
const FEW: f64 = 3.5;

/// Whether more than a few bricks have edges of lengths far apart.
fn has_long_bricks(mesh: &Mesh) -> bool {
    let bricks = lengths(mesh, |cells| is_brick(cells.kind));
    let long = bricks.iter().filter(|[long, short]| *long >= LONG * *short).count();
    long as f64 >= SHARE * bricks.len() as f64
}

/// The longest and the shortest edge, between corners, of a sample of some elements.
fn lengths(mesh: &Mesh, takes: impl Fn(&Cells) -> bool) -> Vec<[f64; 2]> {
    let taken = || mesh.solids().map(|(_, cells)| cells).filter(|cells| takes(cells));
    let step = taken().map(Cells::len).sum::<usize>().div_ceil(SAMPLE).max(1);
    let of = |(kind, cell): (ElementKind, &[u32])| {
        let length = |edge: &Vec<usize>| {
            let [x, y] = [edge[0], edge[1]].map(|corner| mesh.coords[cell[corner] as usize]);
            norm(sub(x, y))
        };
        let lengths = kind.edges().iter().map(length).collect::<Vec<_>>();
        [lengths.iter().copied().fold(0.0, f64::max), lengths.into_iter().fold(f64::INFINITY, f64::min)]
    };
    taken().flat_map(|cells| (0..cells.len()).step_by(step).map(|i| of((cells.kind, cells.cell(i))))).collect()
}

/// The mean of the longest edges; 0 without elements.
fn typical<'a>(lengths: impl Iterator<Item = &'a [f64; 2]>) -> f64 {
    let (sum, n) = lengths.fold((0.0, 0), |(sum, n), [long, _]| (sum + long, n + 1));
    if n > 0 { sum / f64::from(n) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Quad4, Tet4, Tri3};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    fn said(mesh: &Mesh) -> Option<String> {
        let analysis = if mesh.dim() == 2 { Analysis::PlaneStrain } else { Analysis::Elasticity };
        assert!(doubt(Analysis::Laplace, mesh).is_none());
        doubt(analysis, mesh).map(|doubt| doubt.warning)
    }

    #[test]
    fn slender_bodies_need_elements_across() {
        for n in 1..=4 {
            let length = 6 * n;
            for kind in [
                Tet4,
                Hex8,
                Tri3,
                Quad4,
                ElementKind::Hex8I,
                ElementKind::Tet10,
                ElementKind::Hex20,
                ElementKind::Tri6,
                ElementKind::Quad8,
            ] {
                let mesh = match kind.info().dim {
                    3 => generate_box(kind, [6.0, 1.0, 1.0], [length, n, n]).unwrap(),
                    _ => generate_rectangle(kind, [6.0, 1.0], [length, n]).unwrap(),
                };
                let expected = match kind {
                    Tet4 | Tri3 => true,
                    Hex8 | Quad4 => n < 3,
                    ElementKind::Hex8I | ElementKind::Hex20 | ElementKind::Quad8 => n < 2,
                    _ => false,
                };
                let found = said(&mesh);
                assert_eq!(found.is_some(), expected, "{kind:?} {n}: {found:?}");
                assert!(found.is_none_or(|said| said.starts_with(kind.info().name)
                    && said.contains("through the thickness")
                    && said.ends_with(OF_HEX8) == (kind == Hex8)));
            }
        }
    }

    #[test]
    fn bricks_lock_by_the_square_of_their_length_over_their_thickness() {
        for (length, factor) in [(12, "20 %"), (6, "48 %"), (3, "2.6 times"), (1, "15 times")] {
            let solid = generate_box(Hex8, [6.0, 1.0, 1.0], [length, 1, 1]).unwrap();
            let plane = generate_rectangle(Quad4, [6.0, 1.0], [length, 1]).unwrap();
            for mesh in [solid, plane] {
                let found = said(&mesh).unwrap();
                assert!(found.contains(&format!("at least {factor} too stiff")), "{length}: {found}");
            }
        }
        let plate = said(&generate_box(Hex8, [8.0, 8.0, 0.5], [4, 4, 1]).unwrap()).unwrap();
        assert!(plate.contains("at least 7.3 times too stiff"), "{plate}");
        // Cubes, 0.87 in the table, and bricks four times as long as thick.
        for (length, stiff) in [(12, "two through the thickness: at least 12 %"), (3, "at least 2.6 times")] {
            let solid = generate_box(Hex8, [6.0, 1.0, 1.0], [length, 2, 2]).unwrap();
            assert!(said(&solid).unwrap().contains(stiff), "{length}: {:?}", said(&solid));
        }
    }

    /// Five layers of bricks twice as long as the plate is thick bend 1 + 2^2 / 2.6 times too little.
    #[test]
    fn many_layers_do_not_help_long_bricks() {
        let plate = said(&generate_box(Hex8, [20.0, 20.0, 0.5], [20, 20, 5]).unwrap()).unwrap();
        assert!(
            plate.contains("four and more through the thickness: at least 2.") && plate.contains("times"),
            "{plate}"
        );
        let strip = said(&generate_rectangle(Quad4, [20.0, 0.5], [20, 4]).unwrap()).unwrap();
        assert!(strip.contains("four and more"), "{strip}");
        for cells in [[160, 160, 4], [120, 120, 6]] {
            assert_eq!(said(&generate_box(Hex8, [20.0, 20.0, 0.5], cells).unwrap()), None, "{cells:?}");
        }
        assert_eq!(said(&generate_box(Hex8, [20.0, 20.0, 20.0], [20, 20, 40]).unwrap()), None);
    }

    /// With two along a beam of 10:1 all bricks have a side on the skin at its ends; it bends 10.7 times too little.
    #[test]
    fn few_elements_along_are_told() {
        for (cells, said_to_be) in [([2, 4, 4], "at least 12 times"), ([20, 4, 4], "at least 11 %")] {
            let beam = said(&generate_box(Hex8, [100.0, 10.0, 10.0], cells).unwrap()).unwrap_or_default();
            assert!(beam.contains(said_to_be) && beam.contains("too stiff"), "{cells:?}: {beam}");
        }
        assert_eq!(said(&generate_box(Hex8, [100.0, 10.0, 10.0], [40, 4, 4]).unwrap()), None);
        let of =
            |n| said(&generate_box(ElementKind::Tet10, [100.0, 10.0, 10.0], [n, 1, 1]).unwrap()).unwrap_or_default();
        assert!(of(2).contains("only two or three elements along"), "{}", of(2));
        assert_eq!(of(6), "");
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
