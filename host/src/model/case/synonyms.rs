//! Words that other programs and books have for the keys and names of a case file, words for what this version has not,
//! and examples of values, all from `words.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use Meaning::{Is, Not};
use serde::Deserialize;

/// What a word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// This key or name.
    Is(&'a str),
    /// Nothing that there is: what to do instead.
    Not(&'static str),
}

/// By tables (empty: the top level), or by what is to be named.
type By<T> = BTreeMap<String, BTreeMap<String, T>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    keys: By<Key>,
    missing: By<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    value: Option<String>,
    #[serde(default)]
    words: String,
}

static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("tests of this file read it"));

/// Of everything: the table or what is to be named, the words for something of it, what they mean.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str, Meaning<'static>)> {
    fn rows<T>(by: &'static By<T>) -> impl Iterator<Item = (&'static str, &'static str, &'static T)> {
        by.iter().flat_map(|(of, rows)| rows.iter().map(|(name, row)| (of.as_str(), name.as_str(), row)))
    }
    let keys = rows(&WORDS.keys).map(|(of, key, row)| (of, row.words.as_str(), Is(key)));
    keys.chain(rows(&WORDS.missing).map(|(of, words, why)| (of, words, Not(why))))
}

/// What a key means that its table does not have, or a name that there is none of: as it is written, or else whatever its
/// case and its hyphens are.
pub fn meaning(of: &str, word: &str) -> Option<Meaning<'static>> {
    let is_of = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    let find = |word: &str| all().find(|(table, words, _)| *table == of && is_of(words, word)).map(|(.., meant)| meant);
    find(word).or_else(|| find(&word.to_lowercase().replace(['-', ' '], "_")))
}

/// Keys whose value is a vector or a point.
const VECTORS: [&str; 7] = ["total", "vector", "acceleration", "direction", "at", "min", "max"];

/// A value that may stand after a key of a table, in a space of two or three dimensions.
pub(super) fn example(table: &str, key: &str, dim: usize) -> Option<String> {
    let value = WORDS.keys.get(table)?.get(key)?.value.as_deref()?;
    Some(match dim {
        2 if VECTORS.contains(&key) => value.replacen("0.0, ", "", 1),
        2 if key == "fix" => "\"xy\"".into(),
        2 if key == "size" => "[1.0, 1.0]".into(),
        2 if key == "cells" => "[8, 8]".into(),
        _ => value.to_string(),
    })
}

/// Whether a vector stands after a key of a table.
pub(super) fn is_vector(table: &str, key: &str) -> bool {
    VECTORS.contains(&key) && example(table, key, 3).is_some_and(|value| value.starts_with('['))
}

/// A vector that has a number for its last component.
pub(super) fn along_last_axis(number: &str, dim: usize) -> String {
    format!("[{}{number}]", "0.0, ".repeat(dim - 1))
}

/// What to do about a node's rotations.
pub(super) fn rotations() -> &'static str {
    match meaning("support", "rotations") {
        Some(Not(why)) => why,
        _ => "",
    }
}

/// Words for all components.
const ALL: [&str; 5] = ["all", "fixed", "full", "clamped", "encastre"];

/// The letters of components that a word for them means: `123`, `XYZ`, `ux, uy`, `all`. Rotations, 4 to 6, mean none.
pub fn letters(word: &str, known: &[&str]) -> Option<String> {
    let word = word.to_lowercase();
    if ALL.contains(&word.as_str()) {
        return Some(known.concat());
    }
    let mut letters = String::new();
    for c in word.chars().filter(|c| !" ,;+u456".contains(*c)) {
        let letter = match c {
            '1' => "x",
            '2' => "y",
            '3' => "z",
            c => known.iter().find(|letter| letter.starts_with(c))?,
        };
        if known.contains(&letter) && !letters.contains(letter) {
            letters.push_str(letter);
        }
    }
    (!letters.is_empty()).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_their_table_alone() {
        assert_eq!(meaning("material", "E"), Some(Is("young")));
        assert_eq!(meaning("material", "Youngs-Modulus"), Some(Is("young")));
        assert_eq!(meaning("support", "E"), None);
        assert_eq!((meaning("flux", "group"), meaning("", "group")), (Some(Is("on")), None));
        assert!(matches!(
            (meaning("material", "k"), meaning("material", "K")),
            (Some(Is("conductivity")), Some(Not(_)))
        ));
        assert!(matches!(meaning("", "step"), Some(Not(_))));
        assert_eq!(meaning("", "moment"), Some(Is("load")));
        assert_eq!(meaning("analysis kind", "Thermal"), Some(Is("heat")));
        assert_eq!(meaning("field", "heat"), None);
    }

    #[test]
    fn no_word_means_two_things() {
        let mut known = BTreeMap::new();
        for (of, words, meant) in all() {
            for word in words.split(' ').filter(|word| !word.is_empty()) {
                assert_eq!(known.insert((of, word), meant), None, "`{word}` of [{of}]");
            }
        }
    }

    #[test]
    fn components_by_any_name() {
        let xyz = ["x", "y", "z"];
        for (word, letters_of_it) in [("123", "xyz"), ("XZ", "xz"), ("ux, uy", "xy"), ("all", "xyz"), ("123456", "xyz")]
        {
            assert_eq!(letters(word, &xyz).as_deref(), Some(letters_of_it), "{word}");
        }
        assert_eq!((letters("xw", &xyz), letters("", &xyz), letters("456", &xyz)), (None, None, None));
        assert_eq!(letters("all", &xyz[..2]).as_deref(), Some("xy"));
    }

    #[test]
    fn vectors_have_as_many_components_as_there_are_coordinates() {
        assert_eq!(example("force", "total", 3).as_deref(), Some("[0.0, 0.0, -1500.0]"));
        assert_eq!(example("force", "total", 2).as_deref(), Some("[0.0, -1500.0]"));
        assert_eq!(example("support", "fix", 2).as_deref(), Some("\"xy\""));
        assert_eq!(example("generate", "cells", 2).as_deref(), Some("[8, 8]"));
        assert_eq!(example("push", "total", 2).as_deref(), Some("1500.0"));
        assert!(is_vector("force", "total") && !is_vector("push", "total") && !is_vector("pressure", "value"));
        assert_eq!((along_last_axis("-3", 2), along_last_axis("-3", 3)), ("[0.0, -3]".into(), "[0.0, 0.0, -3]".into()));
        assert_eq!(example("force", "colour", 3), None);
    }
}
