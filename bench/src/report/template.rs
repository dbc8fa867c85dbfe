//! Text with figures in it: `{1e3 * ebw.layout_s:4} ms`, an expression and the unit that it is written in.

use super::expression::{Expression, Scalar, Scope};
use super::markdown::{count, digits, number, percent};
use serde::Deserialize;
use warpfem_text::{bytes, seconds};

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// Significant digits.
    Digits(usize),
    /// Decimals.
    Decimals(usize),
    /// Decimals, with a sign.
    Signed(usize),
    /// A power of ten with so many decimals.
    Power(usize),
    /// `12,345`
    Count,
    Percent,
    Bytes,
    Seconds,
    /// Nothing of what is true, ` (not reached)` of what is not.
    Reached,
}

#[derive(Debug)]
enum Piece {
    Words(String),
    Figure(Expression, Unit),
}

/// Text with figures in it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Template(Vec<Piece>);

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut pieces = Vec::new();
        for (i, part) in text.split('{').enumerate() {
            let words = match part.split_once('}').filter(|_| i > 0) {
                Some((figure, words)) => {
                    let (expression, unit) = figure.rsplit_once(':').unwrap_or((figure, "3"));
                    pieces.push(Piece::Figure(Expression::parse(expression)?, Unit::parse(unit)?));
                    words
                }
                None => part,
            };
            if !words.is_empty() {
                pieces.push(Piece::Words(words.into()));
            }
        }
        Ok(Template(pieces))
    }
}

impl Unit {
    /// Reads its short name.
    pub fn parse(text: &str) -> Result<Unit, String> {
        let whole = |text: &str| text.parse().map_err(|_| format!("no unit: `{text}`"));
        Ok(match text {
            "," => Unit::Count,
            "%" => Unit::Percent,
            "bytes" => Unit::Bytes,
            "s" => Unit::Seconds,
            "reached" => Unit::Reached,
            _ => match text.split_at_checked(1).unwrap_or_default() {
                ("+", decimals) => Unit::Signed(whole(decimals)?),
                (".", decimals) => Unit::Decimals(whole(decimals)?),
                ("e", decimals) => Unit::Power(whole(decimals)?),
                _ => Unit::Digits(whole(text)?),
            },
        })
    }

    /// Writes a number; text stays as it is.
    pub fn write(self, found: &Scalar) -> String {
        let value = match found {
            Scalar::Text(text) => return text.clone(),
            Scalar::Truth(truth) => return if *truth { "" } else { " (not reached)" }.into(),
            Scalar::Number(value) => *value,
        };
        match self {
            Unit::Digits(3) => number(value),
            Unit::Digits(n) => digits(value, n),
            Unit::Decimals(n) => format!("{value:.n$}"),
            Unit::Signed(n) => format!("{value:+.n$}"),
            Unit::Power(n) => format!("{value:.n$e}"),
            Unit::Count => count(value as usize),
            Unit::Percent => percent(value),
            Unit::Bytes => bytes(value as u64),
            Unit::Seconds => seconds(value),
            Unit::Reached => String::new(),
        }
    }
}

impl Template {
    /// The text, if no figure in it is missing.
    pub fn text(&self, scope: &Scope, rows: &[Scope]) -> Option<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) => Some(words.clone()),
            Piece::Figure(expression, unit) => Some(unit.write(&expression.find(scope, rows)?)),
        };
        self.0.iter().map(piece).collect()
    }
}
