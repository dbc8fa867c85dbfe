//! Values, and the units that they are written in.

use serde_json::Value;
use warpfem_text::{bytes, count, number, seconds};

/// What an expression comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Number(f64),
    Text(String),
    Truth(bool),
}

impl Scalar {
    pub fn number(&self) -> Option<f64> {
        if let Scalar::Number(number) = self { Some(*number) } else { None }
    }

    pub fn is_true(&self) -> bool {
        *self == Scalar::Truth(true)
    }

    pub fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Number(number) => number.as_f64().map(Scalar::Number),
            Value::String(text) => Some(Scalar::Text(text.clone())),
            Value::Bool(truth) => Some(Scalar::Truth(*truth)),
            _ => None,
        }
    }
}

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
            Unit::Digits(n) => number(value, n),
            Unit::Decimals(n) => format!("{value:.n$}"),
            Unit::Signed(n) => format!("{value:+.n$}"),
            Unit::Power(n) => format!("{value:.n$e}"),
            Unit::Count => count(value.round() as usize),
            Unit::Percent => format!("{:.0} %", 100.0 * value),
            Unit::Bytes => bytes(value as u64),
            Unit::Seconds => seconds(value),
            Unit::Reached => String::new(),
        }
    }
}
