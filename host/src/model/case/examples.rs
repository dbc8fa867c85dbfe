//! What may stand after a key, for the help of messages.

/// A table (empty: any), a key, a value. Vectors are those of a body in space.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("", "file", "\"part.msh\""),
    ("mesh", "generate", "{ kind = \"box\", element = \"tet4\", size = [1.0, 1.0, 1.0], cells = [8, 8, 8] }"),
    ("generate", "kind", "\"box\""),
    ("generate", "element", "\"tet4\""),
    ("generate", "size", "[1.0, 1.0, 1.0]"),
    ("generate", "radii", "[1.0, 2.0]"),
    ("generate", "cells", "[8, 8, 8]"),
    ("generate", "diagonals", "\"up\""),
    ("mesh", "allow_hanging", "true"),
    ("analysis", "kind", "\"elasticity\""),
    ("analysis", "thickness", "0.01"),
    ("analysis", "units", "\"mm-N-s\""),
    ("material", "name", "\"steel\""),
    ("material", "young", "210e9"),
    ("material", "poisson", "0.3"),
    ("material", "density", "7850.0"),
    ("material", "yield_strength", "235e6"),
    ("material", "conductivity", "50.0"),
    ("", "on", "\"group\""),
    ("support", "nodes", "[17, 18]"),
    ("support", "box", "{ min = [0.0, 0.0, 0.0], max = [1.0, 1.0, 1.0] }"),
    ("support", "fix", "\"xyz\""),
    ("support", "displacement", "{ x = 1e-3 }"),
    ("displacement", "x", "1e-3"),
    ("displacement", "y", "1e-3"),
    ("displacement", "z", "1e-3"),
    ("box", "min", "[0.0, 0.0, 0.0]"),
    ("box", "max", "[1.0, 1.0, 1.0]"),
    ("support", "value", "20.0"),
    ("pressure", "value", "2e6"),
    ("flux", "value", "-20.0"),
    ("source", "value", "3.0"),
    ("traction", "vector", "[0.0, 0.0, -250e3]"),
    ("force", "total", "[0.0, 0.0, -1500.0]"),
    ("point_force", "vector", "[0.0, 0.0, -1500.0]"),
    ("point_force", "at", "[1.0, 0.0, 0.0]"),
    ("point_force", "node", "17"),
    ("push", "direction", "[0.0, 0.0, 1.0]"),
    ("push", "total", "1500.0"),
    ("gravity", "acceleration", "[0.0, 0.0, -9.81]"),
    ("solver", "method", "\"cg\""),
    ("solver", "acceleration", "\"cg\""),
    ("solver", "format", "\"auto\""),
    ("solver", "ordering", "\"auto\""),
    ("solver", "preconditioner", "\"auto\""),
    ("solver", "assembly", "\"auto\""),
    ("solver", "order", "6"),
    ("solver", "precision", "\"double\""),
    ("solver", "tolerance", "1e-6"),
    ("solver", "residual_tolerance", "1e-8"),
    ("solver", "max_iterations", "20000"),
    ("output", "probes", "[{ name = \"corner\", at = [1.0, 0.0, 0.0] }]"),
    ("probes", "name", "\"corner\""),
    ("probes", "at", "[1.0, 0.0, 0.0]"),
    ("output", "fields", "[\"displacement\", \"von_mises\"]"),
];

/// Keys whose value is a vector or a point.
const VECTORS: [&str; 7] = ["total", "vector", "acceleration", "direction", "at", "min", "max"];

/// A value that may stand after a key of a table, in a space of two or three dimensions.
pub fn value(table: &str, key: &str, dim: usize) -> Option<String> {
    let fits = |of: &str| of == table || of.is_empty();
    let (.., value) = EXAMPLES.iter().find(|(of, known, _)| fits(of) && *known == key)?;
    Some(match dim {
        2 if VECTORS.contains(&key) => value.replacen("0.0, ", "", 1),
        2 if key == "fix" => "\"xy\"".into(),
        2 if key == "size" => "[1.0, 1.0]".into(),
        2 if key == "cells" => "[8, 8]".into(),
        _ => value.to_string(),
    })
}

/// Whether a vector stands after a key of a table.
pub fn is_vector(table: &str, key: &str) -> bool {
    VECTORS.contains(&key) && value(table, key, 3).is_some_and(|value| value.starts_with('['))
}

/// A vector that has a number for its last component.
pub fn along_last_axis(number: &str, dim: usize) -> String {
    format!("[{}{number}]", "0.0, ".repeat(dim - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_as_many_components_as_there_are_coordinates() {
        assert_eq!(value("force", "total", 3).as_deref(), Some("[0.0, 0.0, -1500.0]"));
        assert_eq!(value("force", "total", 2).as_deref(), Some("[0.0, -1500.0]"));
        assert_eq!(value("support", "fix", 2).as_deref(), Some("\"xy\""));
        assert_eq!(value("generate", "cells", 2).as_deref(), Some("[8, 8]"));
        assert_eq!(value("push", "total", 2).as_deref(), Some("1500.0"));
        assert!(is_vector("force", "total") && !is_vector("push", "total") && !is_vector("pressure", "value"));
        assert_eq!((along_last_axis("-3", 2), along_last_axis("-3", 3)), ("[0.0, -3]".into(), "[0.0, 0.0, -3]".into()));
        assert_eq!(value("force", "colour", 3), None);
    }
}
