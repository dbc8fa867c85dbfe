//! Lines of data, and the numbers in them.

use std::ops::Range;

use super::{Mistake, Place, Read};
use crate::parallel;

/// A value of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// Without spaces around it.
    pub text: &'a str,
    /// Where it stands.
    pub place: Place,
}

/// A line of data.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// The text, without spaces around it.
    pub text: &'a str,
    /// Where it stands.
    pub place: Place,
}

/// The lines of a range of a text, without comments and empty lines.
pub fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = Line<'_>> {
    let mut at = range.start;
    let all = text[range].split_inclusive('\n').map(move |line| {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        Line { text: line.trim(), place: start..start + line.trim().len() }
    });
    all.filter(|line| !line.text.is_empty() && !line.text.starts_with("**"))
}

impl<'a> Line<'a> {
    /// Its values; one behind the last comma is none if it is empty.
    pub fn fields(&self) -> Vec<Field<'a>> {
        let (mut at, mut fields) = (self.place.start, Vec::new());
        for text in self.text.split(',') {
            let start = at + (text.len() - text.trim_start().len());
            fields.push(Field { text: text.trim(), place: start..start + text.trim().len() });
            at += text.len() + 1;
        }
        if fields.len() > 1 && fields.last().is_some_and(|last| last.text.is_empty()) {
            fields.pop();
        }
        fields
    }
}

impl Field<'_> {
    /// Its number.
    ///
    /// # Errors
    ///
    /// It is none, or not finite.
    pub fn number(&self) -> Read<f64> {
        number(self.text).ok_or_else(|| {
            let message = match self.text.is_empty() {
                true => "a number is missing here".to_string(),
                false => format!("`{}` is no number", self.text),
            };
            Mistake::at(self.place.clone(), message, "numbers are written 210000, 2.1E5 or .3")
        })
    }

    /// Its number, 0 if it is empty.
    ///
    /// # Errors
    ///
    /// As [`Field::number`].
    pub fn number_or_zero(&self) -> Read<f64> {
        if self.text.is_empty() { Ok(0.0) } else { self.number() }
    }

    /// Its whole number, if it is one.
    pub fn tag(&self) -> Option<u64> {
        self.text.parse().ok()
    }

    /// Its whole number.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn integer(&self) -> Read<u64> {
        self.tag().ok_or_else(|| {
            Mistake::at(self.place.clone(), format!("`{}` is no whole number", self.text), "tags are written 17")
        })
    }

    /// A name, in upper case.
    pub fn name(&self) -> String {
        self.text.trim_matches('"').to_uppercase()
    }
}

/// A finite number, also with Fortran's exponent, `1.D3`.
pub fn number(text: &str) -> Option<f64> {
    let plain = || text.parse().ok();
    let fortran = || text.contains(['d', 'D']).then(|| text.replace(['d', 'D'], "e").parse().ok()).flatten();
    plain().or_else(fortran).filter(|value: &f64| value.is_finite())
}

/// Bytes of text that a thread takes at once.
const CHUNK: usize = 1 << 18;

/// Ranges of a range that end at lines' ends.
fn chunks(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let most = (at + CHUNK).min(range.end);
        let end = memchr::memchr(b'\n', &text.as_bytes()[most..range.end]).map_or(range.end, |n| most + n + 1);
        found.push(at..end);
        at = end;
    }
    found
}

/// What `read` makes of each line of a range, in order.
///
/// # Errors
///
/// The first of `read`.
pub fn each_line<T: Send>(
    text: &str,
    range: Range<usize>,
    read: impl Fn(Line<'_>, &mut Vec<T>) -> Read + Sync,
) -> Read<Vec<Vec<T>>> {
    let of_chunk = |range: Range<usize>| {
        let mut found = Vec::with_capacity(range.len() / 16);
        lines(text, range).try_for_each(|line| read(line, &mut found)).map(|()| found)
    };
    parallel::map(chunks(text, range), &of_chunk).into_iter().collect()
}
