//! Text with figures in it: `{1e3 * ebw.layout_s:4} ms`, an expression and the unit that it is written in.

use super::expression::{Expression, Scope};
use super::unit::Unit;
use serde::Deserialize;

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

impl Template {
    /// The text, if no figure in it is missing.
    pub fn text(&self, scope: &Scope, rows: &[Scope]) -> Option<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) => Some(words.clone()),
            Piece::Figure(expression, unit) => Some(unit.write(&expression.find(scope, rows)?)),
        };
        self.0.iter().map(piece).collect()
    }

    /// The text, or a dash.
    pub fn or_dash(&self, scope: &Scope) -> String {
        self.text(scope, &[]).unwrap_or("-".into())
    }
}
