//! Gmsh's element types: their names and numbers of nodes.

use crate::element::ElementKind;

/// Types that are not supported, by code, with the number of nodes.
const OTHERS: [(i32, &str, u64); 10] = [
    (10, "quad9", 9),
    (12, "hex27", 27),
    (13, "wedge18", 18),
    (14, "pyramid14", 14),
    (21, "tri10", 10),
    (26, "line4", 4),
    (29, "tet20", 20),
    (36, "quad16", 16),
    (90, "wedge40", 40),
    (92, "hex64", 64),
];

/// Name and number of nodes of the type with this code.
pub fn gmsh_kind(code: i32) -> Option<(&'static str, u64)> {
    let known = ElementKind::from_gmsh(code).map(|kind| (kind.info().name, kind.info().n_nodes as u64));
    known.or_else(|| OTHERS.iter().find(|(other, ..)| *other == code).map(|&(_, name, n)| (name, n)))
}

/// The dimension of the type of this name.
pub fn dimension(name: &str) -> i32 {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "point" => 0,
        "line" => 1,
        "tri" | "quad" => 2,
        _ => 3,
    }
}
