//! Element types of decks: their codes, and the numbers of their faces.

use crate::element::{Domain, ElementKind};

/// What bodies of a type's elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `C3D..`
    Solid,
    /// `CPS..`
    PlaneStress,
    /// `CPE..`
    PlaneStrain,
    /// `CAX..`
    Revolved,
}

/// The last three are Abaqus's, of heat alone.
const FAMILIES: [(&str, Family); 7] = [
    ("C3D", Family::Solid),
    ("CPS", Family::PlaneStress),
    ("CPE", Family::PlaneStrain),
    ("CAX", Family::Revolved),
    ("DC3D", Family::Solid),
    ("DC2D", Family::PlaneStress),
    ("DCAX", Family::Revolved),
];

/// The family and the kind of a type's elements, `C3D20`; none if they are not of a body or not known.
pub fn solid(code: &str) -> Option<(Family, ElementKind)> {
    let (prefix, family) = FAMILIES.into_iter().find(|(prefix, _)| code.starts_with(prefix))?;
    let (rest, dim) = (&code[prefix.len()..], if family == Family::Solid { 3 } else { 2 });
    let is_it = |kind: &ElementKind| kind.info().dim == dim && kind.info().abaqus == rest && !rest.is_empty();
    ElementKind::ALL.iter().copied().find(is_it).map(|kind| (family, kind))
}

/// Whether a type's elements are points or springs, not bodies.
pub fn is_point(code: &str) -> bool {
    ["SPRING1", "SPRING2", "SPRINGA", "MASS", "DCOUP3D"].contains(&code)
}

/// The number of nodes of elements that no body is made of here.
pub fn other(code: &str) -> Option<usize> {
    match code {
        "SPRING1" | "MASS" | "DCOUP3D" => Some(1),
        "SPRING2" | "SPRINGA" | "T2D2" | "T3D2" | "B21" | "B31" | "B31R" => Some(2),
        "T3D3" | "B32" | "B32R" | "S3" | "STRI3" | "M3D3" => Some(3),
        "S4" | "S4R" | "M3D4" | "M3D4R" => Some(4),
        "S6" | "STRI65" | "M3D6" => Some(6),
        "S8" | "S8R" | "M3D8" | "M3D8R" => Some(8),
        _ => None,
    }
}

/// Why a type is not solved, and what there is instead.
pub fn refusal(code: &str) -> (String, &'static str) {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    let (what, help) = if code == "C3D8R" {
        ("with one point bend without resistance", "C3D8I and C3D20R bend right")
    } else if starts(&["CPS4R", "CPE4R", "CAX4R"]) {
        ("with one point bend without resistance", "CPS8R, CPE8R and CAX8R bend right")
    } else if starts(&["S3", "S4", "S6", "S8", "M3D", "STRI"]) {
        ("are shells", "mesh the part with solids: C3D20, C3D10")
    } else if starts(&["B2", "B3", "T2", "T3", "PIPE", "ELBOW", "U"]) {
        ("are beams or trusses", "mesh the part with solids: C3D20, C3D10")
    } else if starts(&["GAP", "DASHPOT"]) {
        ("are not linear statics", "a joint is a *TIE, *EQUATION, *COUPLING, or a spring: SPRING1, SPRING2, SPRINGA")
    } else if starts(&["F3D", "D", "AC", "C3D8P"]) {
        ("are of fluids or networks", "bodies are of C3D.., CPS.., CPE.., CAX..")
    } else if starts(&["C3D", "CPS", "CPE", "CAX"]) {
        ("are not known", "C3D4, 6, 8, 8I, 10, 15, 20, 20R; CPS, CPE and CAX 3, 4, 6, 8, 8R")
    } else {
        ("are not known", "bodies are of C3D.., CPS.., CPE.., CAX..; points of MASS, SPRING1, SPRING2, SPRINGA")
    };
    (format!("elements {code} {what}"), help)
}

/// The corners of the faces of solids, of the edges of plane elements, by their numbers in decks.
const TRIANGLE: &[&[usize]] = &[&[0, 1], &[1, 2], &[2, 0]];
const QUADRILATERAL: &[&[usize]] = &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]];
const TETRAHEDRON: &[&[usize]] = &[&[0, 1, 2], &[0, 3, 1], &[1, 3, 2], &[2, 3, 0]];
const WEDGE: &[&[usize]] = &[&[0, 1, 2], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]];
const HEXAHEDRON: &[&[usize]] =
    &[&[0, 1, 2, 3], &[4, 7, 6, 5], &[0, 4, 5, 1], &[1, 5, 6, 2], &[2, 6, 7, 3], &[3, 7, 4, 0]];

/// The corners of all faces of a shape, in the order of their numbers.
pub fn faces(domain: Domain) -> &'static [&'static [usize]] {
    match domain {
        Domain::Triangle => TRIANGLE,
        Domain::Quadrilateral => QUADRILATERAL,
        Domain::Tetrahedron => TETRAHEDRON,
        Domain::Wedge => WEDGE,
        Domain::Hexahedron => HEXAHEDRON,
        Domain::Point | Domain::Line | Domain::Pyramid => &[],
    }
}

/// The integration points of a kind in the order of decks, by their numbers here: along the first direction, then the second, then
/// the third. Plane elements are solids there, of two or three layers with the same points.
pub fn points(kind: ElementKind) -> Vec<usize> {
    let points = kind.info().shape.quadrature;
    let mut order: Vec<usize> = (0..points.len()).collect();
    // Coordinates are rounded, as those of a row may differ in the last digit.
    let key = |at: &usize| points[*at].0.map(|c| (1e6 * c).round() as i64);
    match kind.info().domain {
        // The corner at the origin, then those along the axes.
        Domain::Tetrahedron | Domain::Triangle => {
            order.sort_by_key(|at| key(at).iter().position(|c| *c > 400_000).map_or(0, |axis| axis + 1));
        }
        _ => order.sort_by_key(|at| {
            let [x, y, z] = key(at);
            [z, y, x]
        }),
    }
    let layers = match (kind.info().dim, points.len()) {
        (2, 3 | 9) => 3,
        (2, _) => 2,
        _ => 1,
    };
    order.repeat(layers)
}
