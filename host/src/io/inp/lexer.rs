//! From the text of a deck to its cards.

use std::ops::Range;

use super::{Card, Mistake, Parameter, Read};

/// Where cards start: lines that begin with one star.
pub fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    let first = (bytes.first() == Some(&b'*')).then_some(0);
    let later = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).filter(|&at| bytes.get(at) == Some(&b'*'));
    first.into_iter().chain(later).filter(|&at| bytes.get(at + 1) != Some(&b'*'))
}

/// The cards of a text.
///
/// # Errors
///
/// A text without cards, or one before whose first card there is something else.
pub fn cards(text: &str) -> Read<Vec<Card>> {
    let found: Vec<usize> = starts(text).collect();
    let head = &text[..found.first().copied().unwrap_or(text.len())];
    let is_data = |line: &&str| !line.trim().is_empty() && !line.starts_with("**");
    if let Some(line) = head.lines().find(is_data) {
        let at = line.as_ptr() as usize - text.as_ptr() as usize;
        let (message, help) = match found.is_empty() {
            true => ("this is no deck: it has no cards", "a deck has cards such as *NODE, *ELEMENT, *STEP"),
            false => ("there is data before the first card", "lines of data follow a card; a comment begins with **"),
        };
        return Err(Mistake::at(at..at + line.trim_end().len(), message, help));
    }
    let ends = found.iter().skip(1).copied().chain([text.len()]);
    Ok(found.iter().zip(ends).map(|(&start, end)| card(text, start..end)).collect())
}

fn card(text: &str, whole: Range<usize>) -> Card {
    let line_end = |from: usize| memchr::memchr(b'\n', &text.as_bytes()[from..whole.end]).map(|n| from + n + 1);
    let mut end = line_end(whole.start).unwrap_or(whole.end);
    // A comma at the end goes on on the next line.
    while end < whole.end && text[whole.start..end].trim_end().ends_with(',') {
        end = line_end(end).unwrap_or(whole.end);
    }
    let head = &text[whole.start..end];
    let length = head.find(',').unwrap_or(head.len()).min(head.find('\n').unwrap_or(head.len()));
    let place = whole.start..whole.start + head[..length].trim_end().len();
    let name = text[place.clone()].chars().filter(|c| !c.is_whitespace() && *c != '*').collect::<String>();
    Card { name: name.to_uppercase(), parameters: parameters(head, whole.start), place, data: end..whole.end }
}

/// The parameters of a card's line, which stands at `at`.
pub fn parameters(head: &str, at: usize) -> Vec<Parameter> {
    let (mut found, mut quoted, mut start) = (Vec::new(), false, None);
    let ends = head.char_indices().filter(|(_, c)| {
        quoted ^= *c == '"';
        *c == ',' && !quoted
    });
    for (end, _) in ends.chain([(head.len(), ',')]) {
        // What is before the first comma is the card's name.
        if let Some(start) = start.filter(|start| !head[*start..end].trim().is_empty()) {
            found.push(parameter(head, start..end, at));
        }
        start = Some(end + 1);
    }
    found
}

fn parameter(head: &str, range: Range<usize>, at: usize) -> Parameter {
    let word = &head[range.clone()];
    let first = range.start + (word.len() - word.trim_start().len());
    let place = at + first..at + first + word.trim().len();
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.trim().trim_matches('"').trim().to_string())),
        None => (word, None),
    };
    let name = name.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_uppercase();
    Parameter { name, value, place }
}
