//! What may stand after a key, for the help of messages.

use super::synonyms::example;

/// Keys whose value is a vector or a point.
const VECTORS: [&str; 7] = ["total", "vector", "acceleration", "direction", "at", "min", "max"];

/// A value that may stand after a key of a table, in a space of two or three dimensions.
pub fn value(table: &str, key: &str, dim: usize) -> Option<String> {
    let value = example(table, key)?;
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
