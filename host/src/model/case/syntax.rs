//! From TOML text to [`Tables`], with serde's complaints put into the words of the case file.

use serde::Deserialize;
use toml::de::DeTable;

use super::foreign;
use super::tables::Tables;
use crate::model::names::suggest;
use crate::model::{CaseError, Source};

/// Parses the text; unknown keys, missing keys, wrong types and syntax errors are named with their place.
pub fn parse(source: &Source) -> Result<Tables, Box<CaseError>> {
    if source.text.trim_start().starts_with("$MeshFormat") {
        let help = "`warpfem init MESH` writes a case file for a mesh, and `warpfem info MESH` says what is in it";
        return Err(source.error_anywhere("this is a Gmsh mesh, not a case file", help));
    }
    let tree = DeTable::parse(&source.text).map_err(|error| translate(source, &error))?;
    foreign::refuse(source, tree.get_ref())?;
    foreign::check_brackets(source, tree.get_ref())?;
    Tables::deserialize(toml::de::Deserializer::from(tree)).map_err(|error| translate(source, &error))
}

fn translate(source: &Source, error: &toml::de::Error) -> Box<CaseError> {
    let (message, help) = reword(error.message());
    match error.span() {
        Some(span) => source.error_at(span, message, help),
        None => source.error_anywhere(message, help),
    }
}

/// Message and help for what serde or the TOML parser says.
fn reword(said: &str) -> (String, String) {
    let quoted: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    if let (true, Some((key, known))) = (said.starts_with("unknown field"), quoted.split_first()) {
        return (format!("unknown key `{key}`"), suggest(key, "keys here", known));
    }
    if let (true, Some(key)) = (said.starts_with("missing field"), quoted.first()) {
        return (format!("`{key}` is missing here"), format!("add `{key} = ..`"));
    }
    for prefix in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some((found, expected)) = said.strip_prefix(prefix).and_then(|rest| rest.rsplit_once(", expected ")) {
            let found = if prefix == "invalid length " { format!("{found} values") } else { plain(found) };
            return (format!("this must be {}, not {found}", plain(expected)), String::new());
        }
    }
    let help = match said.contains("quote") {
        true => "texts stand in quotes: on = \"group\"",
        false => "tables are `[name]` or `[[name]]`, entries `key = value`, texts in quotes, lists `[1.0, 2.0]`",
    };
    (said.to_string(), help.to_string())
}

/// Rust's names of types in plain words.
fn plain(term: &str) -> String {
    let term = match term {
        "f64" => "a number",
        "u64" | "usize" | "i64" => "a whole number of zero or more",
        "an array of length 3" => "three numbers `[x, y, z]`",
        "a sequence" => "a list `[..]`",
        "sequence" => "a list",
        "map" => "a table",
        "a map" => "a table `{ .. }`",
        _ if term.starts_with("struct ") => "a table `{ .. }`",
        _ => {
            return term
                .replace("floating point", "the number")
                .replace("integer", "the number")
                .replace("string \"", "the text \"");
        }
    };
    term.to_string()
}
