//! Gmsh's element types: their names and numbers of nodes.

/// Name and number of nodes of the type with this code, as Gmsh's manual calls it.
pub fn gmsh_kind(code: i32) -> Option<(&'static str, u64)> {
    Some(match code {
        1 => ("line2", 2),
        2 => ("tri3", 3),
        3 => ("quad4", 4),
        4 => ("tet4", 4),
        5 => ("hex8", 8),
        6 => ("prism6", 6),
        7 => ("pyramid5", 5),
        8 => ("line3", 3),
        9 => ("tri6", 6),
        10 => ("quad9", 9),
        11 => ("tet10", 10),
        12 => ("hex27", 27),
        13 => ("prism18", 18),
        14 => ("pyramid14", 14),
        15 => ("point1", 1),
        16 => ("quad8", 8),
        17 => ("hex20", 20),
        18 => ("prism15", 15),
        19 => ("pyramid13", 13),
        21 => ("tri10", 10),
        26 => ("line4", 4),
        29 => ("tet20", 20),
        36 => ("quad16", 16),
        92 => ("hex64", 64),
        _ => return None,
    })
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
