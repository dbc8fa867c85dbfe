//! Expressions of the outline: arithmetic on paths into JSON.
//!
//! `ebw.spmv_ms` is a field of the row named `ebw` of the entry at hand; `title` one of the row or the entry itself.
//! Operators, the loosest first: `?` (the right side where the left one is missing), `|`, `&`, comparisons, `+ -`, `* /`.
//! What is missing makes all that is computed from it missing. `min`, `max`, `median`, `first`, `last`, `count`,
//! `all`, `list`, `span`, `exponent`, `slope`, `falls` and `decays` are over the rows of the table at hand.

use super::markdown;
use super::unit::{Scalar, Unit};
use super::verdict::exponent;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// What paths are looked up in: values by name, then JSON objects, the last first.
#[derive(Debug, Clone, Default)]
pub struct Scope<'a> {
    pub objects: Vec<&'a Value>,
    pub values: BTreeMap<String, Scalar>,
}

/// The keys that rows are named by.
const NAMES: [&str; 5] = ["format", "strategy", "method", "preconditioner", "what"];

impl<'a> Scope<'a> {
    /// The same with one more object.
    pub fn within(&self, object: &'a Value) -> Scope<'a> {
        let mut inner = self.clone();
        inner.objects.push(object);
        inner
    }

    fn find(&self, path: &str) -> Option<Scalar> {
        if let Some(found) = self.values.get(path) {
            return Some(found.clone());
        }
        self.objects.iter().rev().find_map(|object| Scalar::of(walk(object, path)?))
    }

    fn is_there(&self, path: &str) -> bool {
        self.values.contains_key(path) || self.objects.iter().any(|object| walk(object, path).is_some())
    }
}

/// The value at a path: a segment is a key, or the name of one of the rows.
fn walk<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |at, key| {
        let named = |row: &&Value| NAMES.iter().any(|name| row[*name] == key);
        at.get(key).or_else(|| at.get("rows")?.as_array()?.iter().find(named)).filter(|found| !found.is_null())
    })
}

/// An expression.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Expression {
    Is(Scalar),
    Path(String),
    Call(String, Vec<Expression>),
    Two(char, Box<[Expression; 2]>),
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Expression::parse(&text)
    }
}

impl Expression {
    /// Reads an expression; the error is where it ends to be one.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { rest: text.chars().peekable() };
        let read = reader.binary(0).filter(|_| reader.next_is(|_| true).is_none());
        read.ok_or_else(|| format!("no expression: `{text}`, before `{}`", reader.rest.collect::<String>()))
    }

    /// What it comes to, if nothing is missing.
    pub fn find(&self, scope: &Scope, rows: &[Scope]) -> Option<Scalar> {
        match self {
            Expression::Is(found) => Some(found.clone()),
            Expression::Path(path) => scope.find(path),
            Expression::Call(name, arguments) => call(name, arguments, scope, rows),
            Expression::Two('?', two) => two[0].find(scope, rows).or_else(|| two[1].find(scope, rows)),
            Expression::Two(operator, two) => {
                let [a, b] = [two[0].find(scope, rows)?, two[1].find(scope, rows)?];
                combine(*operator, &a, &b)
            }
        }
    }

    /// Whether it is true, and nothing in it is missing.
    pub fn is_true(&self, scope: &Scope) -> bool {
        self.find(scope, &[]).is_some_and(|found| found.is_true())
    }

    fn text(&self, scope: &Scope) -> Option<String> {
        if let Scalar::Text(text) = self.find(scope, &[])? { Some(text) } else { None }
    }
}

fn combine(operator: char, a: &Scalar, b: &Scalar) -> Option<Scalar> {
    match (operator, a, b) {
        ('=', ..) => return Some(Scalar::Truth(a == b)),
        ('!', ..) => return Some(Scalar::Truth(a != b)),
        ('&', Scalar::Truth(a), Scalar::Truth(b)) => return Some(Scalar::Truth(*a && *b)),
        ('|', Scalar::Truth(a), Scalar::Truth(b)) => return Some(Scalar::Truth(*a || *b)),
        ('+', Scalar::Text(a), Scalar::Text(b)) => return Some(Scalar::Text(format!("{a}{b}"))),
        _ => {}
    }
    let (a, b) = (a.number()?, b.number()?);
    Some(match operator {
        '<' => Scalar::Truth(a < b),
        '>' => Scalar::Truth(a > b),
        '+' => Scalar::Number(a + b),
        '-' => Scalar::Number(a - b),
        '*' => Scalar::Number(a * b),
        '/' if b != 0.0 => Scalar::Number(a / b),
        _ => return None,
    })
}

fn call(name: &str, arguments: &[Expression], scope: &Scope, rows: &[Scope]) -> Option<Scalar> {
    let over = |i: usize| rows.iter().filter_map(move |row| arguments.get(i)?.find(row, rows));
    let numbers = |i: usize| over(i).filter_map(|found| found.number()).collect::<Vec<f64>>();
    let points = || {
        let number = |row: &Scope, i: usize| arguments.get(i)?.find(row, rows)?.number();
        let both = rows.iter().filter_map(|row| Some((number(row, 0)?, number(row, 1)?)));
        both.filter(|point| point.1 > 0.0).collect::<Vec<(f64, f64)>>()
    };
    let text = |i: usize| arguments.get(i)?.text(scope);
    let number = match name {
        "min" => numbers(0).into_iter().min_by(f64::total_cmp)?,
        "max" => numbers(0).into_iter().max_by(f64::total_cmp)?,
        "median" => markdown::median(&numbers(0))?,
        "count" => over(0).filter(Scalar::is_true).count() as f64,
        "exponent" => exponent(&points())?,
        // That between the last two.
        "slope" => {
            let points = points();
            let [.., a, b] = points[..] else { return None };
            (b.1 / a.1).ln() / (b.0 / a.0).ln()
        }
        "falls" => return Some(Scalar::Truth(numbers(0).windows(2).any(|two| two[1] < two[0]))),
        "decays" => return Some(Scalar::Truth(numbers(0).windows(2).all(|two| two[1] < two[0]))),
        "first" => return over(0).next(),
        "last" => return over(0).next_back(),
        "all" => return Some(Scalar::Truth(over(0).all(|found| found.is_true()))),
        "list" => {
            let words = over(0).filter_map(|found| if let Scalar::Text(word) = found { Some(word) } else { None });
            return Some(Scalar::Text(words.collect::<Vec<_>>().join(&text(1).unwrap_or(", ".into()))))
                .filter(|list| *list != Scalar::Text(String::new()));
        }
        "span" => return over(0).next().is_some().then(|| Scalar::Text(markdown::span(&numbers(0)))),
        "not" => return Some(Scalar::Truth(!arguments[0].find(scope, rows)?.is_true())),
        "has" => {
            let Expression::Path(path) = arguments.first()? else { return None };
            return Some(Scalar::Truth(scope.is_there(path)));
        }
        "if" => {
            let place = if arguments[0].find(scope, rows)?.is_true() { 1 } else { 2 };
            return arguments.get(place)?.find(scope, rows);
        }
        "write" => {
            let unit = Unit::parse(&text(1)?).ok()?;
            return Some(Scalar::Text(unit.write(&arguments[0].find(scope, rows)?)));
        }
        // Of what is there.
        "least" | "most" => {
            let there = arguments.iter().filter_map(|one| one.find(scope, rows)?.number());
            there.reduce(if name == "least" { f64::min } else { f64::max })?
        }
        "begins" => return Some(Scalar::Truth(text(0)?.starts_with(&text(1)?))),
        "ends" => return Some(Scalar::Truth(text(0)?.ends_with(&text(1)?))),
        // A field of the row whose name is computed.
        "of" => return scope.find(&format!("{}.{}", text(0)?, text(1)?)),
        "contains" => return Some(Scalar::Truth(text(0)?.contains(&text(1)?))),
        "abs" => arguments[0].find(scope, rows)?.number()?.abs(),
        _ => return None,
    };
    Some(Scalar::Number(number))
}

/// Operators by how tight they bind, loose ones first.
const OPERATORS: [&[char]; 6] = [&['?'], &['|'], &['&'], &['=', '!', '<', '>'], &['+', '-'], &['*', '/']];

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn next_is(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
        self.rest.next_if(|c| wanted(*c))
    }

    fn word(&mut self, wanted: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.rest.next_if(|c| wanted(*c))).collect()
    }

    fn binary(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = OPERATORS.get(level) else { return self.atom() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.next_is(|c| operators.contains(&c)) {
            // `==` and `!=` are two characters.
            if "=!".contains(operator) {
                self.next_is(|c| c == '=')?;
            }
            left = Expression::Two(operator, Box::new([left, self.binary(level + 1)?]));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Expression> {
        let first = self.next_is(|c| c.is_alphanumeric() || "('\"_".contains(c))?;
        match first {
            '(' => {
                let inner = self.binary(0)?;
                self.next_is(|c| c == ')').map(|_| inner)
            }
            '\'' | '"' => {
                let text = self.word(|c| c != first);
                self.rest.next().map(|_| Expression::Is(Scalar::Text(text)))
            }
            digit if digit.is_ascii_digit() => {
                let number = format!("{digit}{}", self.word(|c| c.is_ascii_digit() || ".e_".contains(c)));
                Some(Expression::Is(Scalar::Number(number.replace('_', "").parse().ok()?)))
            }
            letter => {
                let path = format!("{letter}{}", self.word(|c| c.is_alphanumeric() || "_.".contains(c)));
                if path == "true" {
                    return Some(Expression::Is(Scalar::Truth(true)));
                }
                if self.rest.next_if_eq(&'(').is_none() {
                    return Some(Expression::Path(path));
                }
                let mut arguments = Vec::new();
                while self.next_is(|c| c == ')').is_none() {
                    arguments.push(self.binary(0)?);
                    self.next_is(|c| c == ',');
                }
                Some(Expression::Call(path, arguments))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_through_rows_and_missing_is_missing() {
        let entry = json!({ "dofs": 6, "rows": [{ "format": "csr", "ms": 4.0 }, { "format": "ebw", "ms": 2.0 }] });
        let rows: Vec<Scope> =
            entry["rows"].as_array().unwrap().iter().map(|row| Scope::default().within(row)).collect();
        let scope = Scope::default().within(&entry);
        let find = |text: &str| Expression::parse(text).unwrap().find(&scope, &rows);
        for (text, expected) in [
            ("csr.ms / ebw.ms + dofs", Some(8.0)),
            ("1 - 2 - 3 * 4e0", Some(-13.0)),
            ("(ell.ms ? 7) * 2", Some(14.0)),
            ("ell.ms + 1", None),
            ("max(ms) - min(ms)", Some(2.0)),
            ("if(dofs == 6 & has(csr.ms), of('ebw', 'ms'), 0)", Some(2.0)),
        ] {
            assert_eq!(find(text), expected.map(Scalar::Number), "{text}");
        }
        assert!(find("begins('tet4 cube', 'tet') & dofs > 5 & not(dofs != 6)").unwrap().is_true());
        assert!(Expression::parse("a +").is_err() && Expression::parse("a b").is_err());
    }
}
