//! Keys and values that belong to the case file's language but that this version cannot act on.
//!
//! They are refused by name, at their place, rather than reported as unknown.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::generators;
use crate::model::options::analyses;
use crate::model::{CaseError, Place, Source};

/// Analysis kinds and mesh generators known by name only.
const ANALYSES_TO_COME: &[&str] = &["laplace"];
const GENERATORS_TO_COME: &[&str] = &["annulus"];

/// Keys of the analyses to come: table (empty: the top level), key, the analysis.
const KEYS_TO_COME: &[(&str, &str, &str)] = &[
    ("material", "conductivity", "laplace"),
    ("support", "value", "laplace"),
    ("", "flux", "laplace"),
    ("", "source", "laplace"),
];

/// Tables that appear once, and tables that may appear several times.
const SINGLE: &[&str] = &["mesh", "analysis", "gravity", "solver", "output"];
const REPEATED: &[&str] = &["material", "support", "pressure", "traction", "force", "point_force", "contact"];

type Entry<'a, 'i> = (Place, &'a Spanned<DeValue<'i>>);

/// The place of a key and its value.
fn entry<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<Entry<'a, 'i>> {
    table.iter().find(|(k, _)| k.get_ref().as_ref() == key).map(|(k, v)| (k.span(), v))
}

/// The table or tables under a key; nothing if it is neither.
fn tables<'a, 'i>(root: &'a DeTable<'i>, key: &str) -> Vec<&'a DeTable<'i>> {
    match entry(root, key).map(|(_, value)| value.get_ref()) {
        Some(DeValue::Table(table)) => vec![table],
        Some(DeValue::Array(array)) => array.iter().filter_map(|item| item.get_ref().as_table()).collect(),
        _ => Vec::new(),
    }
}

/// Refuses what this version does not do.
pub fn refuse(source: &Source, root: &DeTable<'_>) -> Result<(), Box<CaseError>> {
    for analysis in tables(root, "analysis") {
        refuse_value(source, analysis, "analysis", ANALYSES_TO_COME, &analyses())?;
    }
    for mesh in tables(root, "mesh") {
        for generate in tables(mesh, "generate") {
            refuse_value(source, generate, "generated mesh", GENERATORS_TO_COME, &generators())?;
        }
    }
    for &(name, key, analysis) in KEYS_TO_COME {
        let holders = if name.is_empty() { vec![root] } else { tables(root, name) };
        if let Some((place, _)) = holders.into_iter().find_map(|table| entry(table, key)) {
            let message = format!("`{key}` belongs to {analysis} problems, which are not available in this version");
            return Err(source.error_at(place, message, format!("available: {}", analyses().join(", "))));
        }
    }
    Ok(())
}

fn refuse_value(
    source: &Source,
    table: &DeTable<'_>,
    what: &str,
    to_come: &[&str],
    available: &[&str],
) -> Result<(), Box<CaseError>> {
    let Some((_, value)) = entry(table, "kind") else { return Ok(()) };
    match value.get_ref().as_str() {
        Some(kind) if to_come.contains(&kind) => {
            let message = format!("the {what} kind `{kind}` is not available in this version");
            Err(source.error_at(value.span(), message, format!("available: {}", available.join(", "))))
        }
        _ => Ok(()),
    }
}

/// `[[mesh]]` and `[support]` say so themselves rather than as a wrong type.
pub fn check_brackets(source: &Source, root: &DeTable<'_>) -> Result<(), Box<CaseError>> {
    for &name in SINGLE {
        if let Some((place, value)) = entry(root, name)
            && value.get_ref().is_array()
        {
            let message = format!("there can be only one `{name}` table");
            return Err(source.error_at(place, message, format!("write `[{name}]`, once, in single brackets")));
        }
    }
    for &name in REPEATED {
        if let Some((place, value)) = entry(root, name)
            && value.get_ref().is_table()
        {
            let message = format!("`{name}` tables form a list");
            return Err(source.error_at(place, message, format!("write `[[{name}]]`, in double brackets")));
        }
    }
    Ok(())
}
