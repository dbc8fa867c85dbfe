//! The text of a case file, and errors that point into it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::CaseError;

/// A byte range of the case file.
pub type Place = Range<usize>;

/// The text of a case file and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A text under a name.
    pub fn new(path: &Path, text: &str) -> Source {
        Source { name: path.display().to_string(), text: text.into() }
    }

    /// Line and column, both from 1, of a byte of the text; the column counts characters.
    pub fn line_column(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    /// `file:line` of a place.
    pub fn line_of(&self, place: &Place) -> String {
        format!("{}:{}", self.name, self.line_column(place.start).0)
    }

    /// An error at a place, with what to do about it (`help` may be empty).
    pub fn error_at(&self, place: Place, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        let place = self.first_line(place);
        self.error(Some(place), message.into(), help.into())
    }

    /// An error about the file as a whole.
    pub fn error_anywhere(&self, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        self.error(None, message.into(), help.into())
    }

    fn error(&self, span: Option<Place>, message: String, help: String) -> Box<CaseError> {
        let help = (!help.is_empty()).then_some(help);
        Box::new(CaseError { source_name: self.name.clone(), source_text: self.text.clone(), span, message, help })
    }

    /// The part of a place on its first line: a pointer under several lines points at nothing.
    fn first_line(&self, place: Place) -> Place {
        let mut start = place.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |i| start + i);
        start..place.end.clamp(start, line_end)
    }
}
