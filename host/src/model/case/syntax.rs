//! From TOML text to [`Tables`], with serde's complaints put into the words of the case file.
//!
//! One mistake does not hide the next: each is noted, and the tree is read again with the key that was meant, or
//! without what cannot be read.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use super::synonyms::{self, Meaning};
use super::tables::Tables;
use super::tree::{KeyPath, Part};
use super::{foreign, slips};
use crate::mesh::not_a_case;
use crate::model::Error;
use crate::model::names::{list, nearest};
use crate::model::{CaseError, Checked, Place, Problems, Source};

/// What could be read of a case file.
pub struct Parsed {
    pub tables: Tables,
    /// Unknown keys, missing keys, wrong types and brackets, with their places.
    pub problems: Problems,
    /// The tables that something was taken out of, by their places; nowhere is the top.
    pub cut: Vec<Place>,
    /// Whether nothing is lost that the case may need.
    pub is_whole: bool,
    /// What is worth saying of it.
    pub warnings: Vec<String>,
}

/// Whether an error is of a table, or of the whole file, that something was taken out of: it may follow from that.
pub fn follows(cut: &[Place], error: &Error) -> bool {
    let Error::Case(error) = error else { return false };
    match &error.span {
        // Errors hold the first line of a table in braces.
        Some(span) => cut.iter().any(|place| !place.is_empty() && place.start == span.start),
        None => cut.contains(&(0..0)),
    }
}

/// Parses the text, as far as it can be read.
///
/// # Errors
///
/// What is wrong, where there are no tables to go on with.
pub fn parse(source: &Source) -> Result<Parsed, Problems> {
    let mut root = match document(source) {
        Ok(tree) => tree.into_inner(),
        Err(error) => return Err(Problems::of([error])),
    };
    let warnings = foreign::rename_contact(&mut root).into_iter().collect();
    let mut reading = Reading { source, root, errors: vec![], guessed: vec![], cut: vec![], is_whole: true };
    reading.cut_foreign();
    reading.errors.extend(foreign::mend_brackets(source, &mut reading.root));
    let tables = reading.read();
    let Reading { mut errors, cut, is_whole, .. } = reading;
    // As they stand in the file; what is missing altogether comes last.
    errors.sort_by_key(|error| error.span.as_ref().map_or(usize::MAX, |span| span.start));
    let problems = Problems::of(errors.into_iter().map(Box::new));
    match tables {
        Some(tables) => Ok(Parsed { tables, problems, cut, is_whole, warnings }),
        None => Err(problems),
    }
}

/// The error for a file that is a geometry, a mesh, a deck, or no text at all.
pub(super) fn another_file(path: &Path, bytes: &[u8]) -> Option<Box<CaseError>> {
    let source = Source::new(path, "");
    if let Some((what, next)) = not_a_case(path, bytes) {
        return Some(source.error_anywhere(format!("this is {what}, not a case file"), next));
    }
    let is_binary = bytes.contains(&0) || std::str::from_utf8(bytes).is_err();
    is_binary.then(|| {
        let help = "a case file is TOML text in UTF-8; `warpfem init MESH` writes one for a mesh";
        source.error_anywhere("this is a binary file, not a case file", help)
    })
}

const QUOTES: &str = "put text in quotes: on = \"group\"";
const ONCE: &str = "put the keys of both into one; tables that may come several times have two brackets: [[force]]";
const SLASHES: &str = "write paths with `/`, or in single quotes: file = 'C:\\parts\\part.msh'";

/// What a case file looks like.
pub(super) const FORM: &str =
    "tables are `[name]` or `[[name]]`, entries `key = value`, texts in quotes, lists `[1.0, 2.0]`";

fn document(source: &Source) -> Checked<Spanned<DeTable<'_>>> {
    DeTable::parse(&source.text).map_err(|error| {
        if let Some(other) = another_file(Path::new(&source.name), source.text.as_bytes()) {
            return other;
        }
        if let Some((place, (message, help))) =
            error.span().and_then(|at| Some((at.clone(), slips::reason(&source.text, &at)?)))
        {
            return source.error_at(place, message, help);
        }
        let message = error.message();
        let heads_table = error.span().is_some_and(|at| source.text[..at.start].ends_with('['));
        let (said, help) = match message {
            _ if message.contains("duplicate") && heads_table => ("this table is there twice", ONCE),
            _ if message.contains("must be quoted") => ("this text has no quotes", QUOTES),
            _ if message.contains("invalid boolean") => {
                ("this is not `true` or `false`, and a text needs quotes", QUOTES)
            }
            _ if message.contains("quote") => (message, QUOTES),
            _ if message.contains("unicode") || message.contains("escape") => {
                ("a backslash is special in quotes", SLASHES)
            }
            _ => (message, FORM),
        };
        match error.span() {
            Some(place) => source.error_at(place, said, help),
            None => source.error_anywhere(said, help),
        }
    })
}

/// A tree that is being read, and mended so that it can be.
struct Reading<'s> {
    source: &'s Source,
    root: DeTable<'s>,
    errors: Vec<CaseError>,
    /// Values of keys that were taken for others.
    guessed: Vec<Place>,
    /// Tables that something was taken out of.
    cut: Vec<Place>,
    /// Whether nothing is lost that the case may need.
    is_whole: bool,
}

impl Reading<'_> {
    /// Takes the keys of other analyses out, each with its error.
    fn cut_foreign(&mut self) {
        loop {
            // The first of each key: where it is gone the next is the first.
            let found = foreign::of_other_analyses(self.source, &self.root);
            if found.is_empty() {
                return;
            }
            self.is_whole = false;
            for error in found {
                let way = error.span.as_ref().and_then(|place| KeyPath::to(&self.root, place));
                self.errors.push(error);
                if way.and_then(|(way, _)| self.cut(&way)).is_none() {
                    return;
                }
            }
        }
    }

    fn read(&mut self) -> Option<Tables> {
        loop {
            let tree = Spanned::new(0..0, self.root.clone());
            match Tables::deserialize(Deserializer::from(tree)) {
                Ok(tables) => return Some(tables),
                Err(error) => self.mend(&error)?,
            }
        }
    }

    /// Notes an error and mends its cause; nothing if there is no way on. Each time one entry less is unknown, or is
    /// there at all.
    fn mend(&mut self, error: &toml::de::Error) -> Option<()> {
        let said = error.message();
        let place = error.span().unwrap_or(0..0);
        let quoted: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
        let found = KeyPath::to(&self.root, &place);
        match (quoted.split_first(), found) {
            (Some((&key, known)), Some((way, Part::Key))) if said.starts_with("unknown field") => {
                self.unknown(&way, place, key, known)
            }
            (Some((&key, _)), Some((way, Part::Value))) if said.starts_with("missing field") && !place.is_empty() => {
                self.missing(&way, place, key)
            }
            (Some((&key, _)), _) if said.starts_with("missing field") => {
                self.errors.push(*self.without_table(key));
                None
            }
            (_, Some((way, Part::Value))) => self.wrong(&way, place, said),
            _ => {
                self.errors.push(*self.source.error_at(place, said, FORM));
                None
            }
        }
    }

    fn unknown(&mut self, way: &KeyPath, place: Place, key: &str, known: &[&str]) -> Option<()> {
        let here = format!("{}: {}", if way.table().is_empty() { "tables" } else { "keys here" }, list(known));
        let is_there = |meant: &Meaning| !matches!(meant, Meaning::Is(key) if !known.contains(key));
        let (meant, help) = match synonyms::meaning(way.table(), key).filter(is_there) {
            Some(Meaning::Not(why)) => (None, format!("{why}; {here}")),
            Some(Meaning::Is(key)) => (Some(key), format!("did you mean `{key}`? {here}")),
            None => match nearest(key, known) {
                Some(key) => (Some(key), format!("did you mean `{key}`? {here}")),
                None => {
                    self.is_whole = false;
                    (None, here)
                }
            },
        };
        self.errors.push(*self.source.error_at(place, format!("unknown key `{key}`"), help));
        match meant.and_then(|key| way.rename(&mut self.root, key)) {
            Some(value) => {
                self.guessed.push(value);
                Some(())
            }
            None => {
                // Of a table that means nothing here, as `alpha`, nothing is lost.
                self.is_whole &= meant.is_none() && !way.table().is_empty();
                self.cut(way)
            }
        }
    }

    /// What lacks a key cannot be read; if something was taken out of it, that is why.
    fn missing(&mut self, way: &KeyPath, place: Place, key: &str) -> Option<()> {
        if !self.cut.contains(&place) {
            let help = match synonyms::example(&way.key, key, self.dim()) {
                Some(value) => format!("add `{key} = {value}`"),
                None => format!("add `{key} = ..`"),
            };
            self.errors.push(*self.source.error_at(place, format!("`{key}` is missing here"), help));
        }
        self.is_whole = false;
        self.cut(way)
    }

    fn without_table(&self, name: &str) -> Box<CaseError> {
        let help = match name {
            "mesh" => {
                "[mesh]\nfile = \"part.msh\"\n(`warpfem init part.msh` writes a whole case for a mesh)".to_string()
            }
            name => format!("add {}", foreign::header(name)),
        };
        self.source.error_anywhere(format!("there is no [{name}]"), help)
    }

    /// A value of the wrong type, or out of the range of its type.
    fn wrong(&mut self, way: &KeyPath, place: Place, said: &str) -> Option<()> {
        // That it does not fit a key that it was not given follows from the guess.
        if !self.guessed.iter().any(|value| value.start <= place.start && place.end <= value.end) {
            let help = self.instead(way, &place);
            self.errors.push(*self.source.error_at(place, reword(said), help));
        }
        self.is_whole = false;
        self.cut(way)
    }

    /// What to write instead of a value of the wrong type.
    fn instead(&self, way: &KeyPath, place: &Place) -> String {
        let (table, key) = (way.table(), way.key.as_str());
        if table.is_empty() {
            return format!("write {}, and its keys in the lines below", foreign::header(key));
        }
        let text = self.source.text.get(place.clone()).unwrap_or("");
        let bare: String = text.chars().filter(|c| !"[]\"'".contains(*c)).collect();
        let components = if self.dim() == 2 { &["x", "y"][..] } else { &["x", "y", "z"] };
        let is_number = bare.trim().parse::<f64>().is_ok_and(f64::is_finite);
        if key == "fix"
            && let Some(letters) = synonyms::letters(&bare, components)
        {
            return format!("write `fix = \"{letters}\"`");
        }
        if is_number && synonyms::is_vector(table, key) {
            // Gravity without a direction points down.
            let down = key == "acceleration" && !bare.trim().starts_with('-');
            let number = if down { format!("-{}", bare.trim()) } else { bare.trim().to_owned() };
            let vector = synonyms::along_last_axis(&number, self.dim());
            return format!("a number for each direction, as in `{key} = {vector}`");
        }
        if is_number && text.starts_with(['"', '\'']) {
            return format!("numbers stand without quotes: `{key} = {}`", bare.trim());
        }
        let note = match synonyms::meaning(table, "vector") {
            Some(Meaning::Not(why)) if key == "value" && text.starts_with('[') => format!("; {why}"),
            _ => String::new(),
        };
        let example = synonyms::example(table, key, self.dim());
        example.map_or(String::new(), |value| format!("for example `{key} = {value}`{note}"))
    }

    /// Takes something out of the tree.
    fn cut(&mut self, way: &KeyPath) -> Option<()> {
        self.cut.push(way.holder.clone());
        way.remove(&mut self.root).then_some(())
    }

    /// The dimension of the problem, as far as its words tell.
    fn dim(&self) -> usize {
        let word = |keys: [&str; 3]| {
            let mut value = self.root.get(keys[0])?.get_ref();
            for key in keys[1..].iter().filter(|key| !key.is_empty()) {
                value = value.get(key)?.get_ref();
            }
            value.as_str()
        };
        let kind = word(["analysis", "kind", ""]);
        let shape = word(["mesh", "generate", "kind"]);
        let is_plane =
            kind.is_some_and(|kind| kind.starts_with("plane")) || matches!(shape, Some("rectangle" | "annulus"));
        if is_plane { 2 } else { 3 }
    }
}

/// What serde or the TOML parser says of a value.
fn reword(said: &str) -> String {
    for prefix in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some((found, expected)) = said.strip_prefix(prefix).and_then(|rest| rest.rsplit_once(", expected ")) {
            let found = if prefix == "invalid length " { format!("{found} values") } else { plain(found) };
            return format!("this must be {}, not {found}", plain(expected));
        }
    }
    said.to_string()
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
