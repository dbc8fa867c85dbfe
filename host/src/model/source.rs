//! The text of a case file, and errors that point into it.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::io::inp::{Listing, Segment};

/// A byte range of the case file.
pub type Place = Range<usize>;

/// The text of a case file and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Where its parts are from; none where all of it is of one file.
    segments: Arc<[Segment]>,
}

impl Source {
    /// A text under a name.
    pub fn new(path: &Path, text: &str) -> Source {
        Source { name: path.display().to_string(), text: text.into(), segments: Arc::new([]) }
    }

    /// The text of a deck with all that it includes.
    pub fn of_deck(path: &Path, listing: &Listing) -> Source {
        let (name, text) = (path.display().to_string(), listing.text.clone());
        Source { name, text, segments: listing.segments.clone() }
    }

    /// The file that a byte of the text is of, the byte where that part of it starts, and the number of its first line.
    fn part(&self, at: usize) -> (&str, usize, usize) {
        let before = self.segments.partition_point(|segment| segment.start <= at);
        let segment = before.checked_sub(1).and_then(|last| self.segments.get(last));
        segment.map_or((self.name.as_str(), 0, 1), |of| (of.name.as_str(), of.start, of.line))
    }

    /// Line and column, both from 1, of a byte of the text; the column counts characters.
    pub fn line_column(&self, at: usize) -> (usize, usize) {
        let at = self.text.floor_char_boundary(at);
        let (_, start, first) = self.part(at);
        let before = &self.text[start..at];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (first + before.matches('\n').count(), before[line..].chars().count() + 1)
    }

    /// `file:line` of a place.
    pub fn line_of(&self, place: &Place) -> String {
        format!("{}:{}", self.part(place.start).0, self.line_column(place.start).0)
    }

    /// An error at a place, with what to do about it (`help` may be empty).
    pub fn error_at(&self, place: Place, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        Box::new(CaseError { span: Some(self.first_line(place)), ..*self.error_anywhere(message, help) })
    }

    /// An error about the file as a whole.
    pub fn error_anywhere(&self, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        let help = Some(help.into()).filter(|help: &String| !help.is_empty());
        Box::new(CaseError { source: self.clone(), span: None, message: message.into(), help })
    }

    /// The part of a place on its first line: a pointer under several lines points at nothing.
    fn first_line(&self, place: Place) -> Place {
        let start = self.text.floor_char_boundary(place.start);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |i| start + i);
        start..place.end.clamp(start, line_end)
    }
}

/// What is read of a case file, or whether something in it is sound.
pub type Checked<T = ()> = Result<T, Box<CaseError>>;

/// What is wrong with a case file, and where.
///
/// `Display` writes it all in plain text: `file:line:column`, the message, the line with a pointer under the word, the
/// help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseError {
    /// The case file; its text is empty where it could not be read.
    pub source: Source,
    /// The offending bytes of the text.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What to do about it: the nearest known name, the names there are.
    pub help: Option<String>,
}

impl std::error::Error for CaseError {}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.span {
            Some(span) => self.fmt_with_pointer(f, span)?,
            None => write!(f, "{}: {}", self.source.name, self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl CaseError {
    fn fmt_with_pointer(&self, f: &mut fmt::Formatter<'_>, span: &Range<usize>) -> fmt::Result {
        let (text, name) = (&self.source.text, self.source.part(span.start).0);
        let (line, column) = self.source.line_column(span.start);
        writeln!(f, "{name}:{line}:{column}: {}", self.message)?;
        let start = text[..text.floor_char_boundary(span.start)].rfind('\n').map_or(0, |end| end + 1);
        let pointed = text[start..].lines().next().unwrap_or("");
        let gutter = line.to_string().len();
        let width = text.get(span.clone()).map_or(1, |word| word.chars().count()).max(1);
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line} | {pointed}")?;
        write!(f, "{:gutter$} | {:indent$}{}", "", "", "^".repeat(width), indent = column - 1)
    }

    /// Line and column, both from 1, where the error has a place.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.span.as_ref().map(|span| self.source.line_column(span.start))
    }
}
