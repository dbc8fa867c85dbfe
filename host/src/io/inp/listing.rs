//! The text of a deck with all files that it includes, and where each line stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Mistake, lexer};
use warpfem_text::files;

/// Files that include each other more than this often include themselves.
const MOST_NESTED: usize = 16;

/// Where a part of a text is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its first byte in the whole text.
    pub start: usize,
    /// Its file.
    pub name: String,
    /// The number of its first line in that file, from 1.
    pub line: usize,
}

/// A deck's text.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Of all files.
    pub text: Arc<str>,
    /// In the order of their places.
    pub segments: Arc<[Segment]>,
}

type Spliced = Result<Listing, (Listing, Box<Mistake>)>;

/// Reads a file and what it includes.
pub fn read(path: &Path) -> Spliced {
    match std::fs::read(path) {
        Ok(bytes) => splice(path, bytes),
        Err(error) => {
            let message = format!("cannot read the deck: {}", files::reason(path, &error));
            let mistake = Mistake { place: None, message, help: files::instead(path, "inp", "decks") };
            Err((Splice::new(path).listing(), Box::new(mistake)))
        }
    }
}

/// The text of a file's bytes with what it includes.
pub fn splice(path: &Path, bytes: Vec<u8>) -> Spliced {
    let mut all = Splice::new(path);
    let added = all.add(path, &bytes, 0);
    // They go now, as `listing` copies the text.
    drop(bytes);
    match added {
        Ok(()) => Ok(all.listing()),
        Err(mistake) => Err((all.listing(), mistake)),
    }
}

/// A text as it grows.
struct Splice {
    text: String,
    segments: Vec<Segment>,
}

impl Splice {
    fn new(path: &Path) -> Splice {
        Splice { text: String::new(), segments: vec![Segment { start: 0, name: path.display().to_string(), line: 1 }] }
    }

    fn listing(self) -> Listing {
        Listing { text: self.text.into(), segments: self.segments.into() }
    }

    fn add(&mut self, path: &Path, bytes: &[u8], depth: usize) -> Result<(), Box<Mistake>> {
        let text = as_text(bytes)?;
        let (mut done, mut line) = (0, 1);
        for card in lexer::starts(&text).filter(|&at| is_include(&text[at..])) {
            let end = text[card..].find('\n').map_or(text.len(), |length| card + length + 1);
            self.push(path, &text[done..end], line);
            line += text[done..end].matches('\n').count();
            done = end;
            let start = self.text.len() - (end - card);
            let place = start..start + text[card..end].trim_end().len();
            self.include(path, &text[card..end], place, depth)?;
        }
        self.push(path, &text[done..], line);
        Ok(())
    }

    /// Adds a part of a file.
    fn push(&mut self, path: &Path, text: &str, line: usize) {
        let (start, name) = (self.text.len(), path.display().to_string());
        match self.segments.last_mut().filter(|last| last.start == start) {
            Some(last) => *last = Segment { start, name, line },
            None => self.segments.push(Segment { start, name, line }),
        }
        self.text.push_str(text);
        // What follows an included file begins a line.
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn include(&mut self, path: &Path, card: &str, place: super::Place, depth: usize) -> Result<(), Box<Mistake>> {
        let wrong = |message: String, help: &str| Err(Mistake::at(place.clone(), message, help));
        if depth == MOST_NESTED {
            return wrong("this file includes itself".into(), "take the *INCLUDE out");
        }
        let named = lexer::parameters(card, 0).into_iter().find(|parameter| parameter.name == "INPUT");
        let Some(name) = named.and_then(|parameter| parameter.value).filter(|name| !name.is_empty()) else {
            return wrong("*INCLUDE needs a file".into(), "*INCLUDE, INPUT=mesh.inp");
        };
        let file: PathBuf = path.parent().unwrap_or(Path::new("")).join(name);
        match std::fs::read(&file) {
            Ok(bytes) => self.add(&file, &bytes, depth + 1),
            Err(error) => {
                let message = format!("cannot read {}: {}", file.display(), files::reason(&file, &error));
                wrong(message, "the file is looked for beside the deck that includes it")
            }
        }
    }
}

fn is_include(card: &str) -> bool {
    let name = card.get(..8).unwrap_or_default();
    name.eq_ignore_ascii_case("*INCLUDE")
}

/// Bytes that are no text are those of another file, but for letters of comments in an older encoding.
fn as_text(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, Box<Mistake>> {
    match bytes.contains(&0) {
        true => Err(Box::new(Mistake {
            place: None,
            message: "this is no deck: it holds bytes that are no text".into(),
            help: "a deck is text with cards such as *NODE, *ELEMENT, *STEP".into(),
        })),
        // Some editors mark text by three bytes at its beginning.
        false => Ok(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))),
    }
}
