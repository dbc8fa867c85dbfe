//! Which entries of a list of the JSON, or which of their rows, a table shows.

use super::expression::{Expression, Scope};
use super::unit::Scalar;
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Selections by name, and what entries of a list are ordered by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    order: Vec<Expression>,
    select: BTreeMap<String, Select>,
}

static NAMED: LazyLock<Named> = LazyLock::new(|| read!("pages/select.toml"));

/// Entries of a list, or their rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// A list of the JSON, another selection, or `rows` of the entry at hand.
    #[serde(default)]
    from: String,
    /// Or several selections.
    #[serde(default)]
    all: Vec<String>,
    /// The rows themselves, of `from = "given"`.
    #[serde(default)]
    given: Vec<Value>,
    /// What is kept.
    #[serde(rename = "where", default)]
    wanted: Option<Expression>,
    /// Of entries of one problem and precision only that of most rows; ordered by problem.
    #[serde(default)]
    fullest: bool,
    /// Of entries of one precision only that of most nearly so many nodes: meshers do not meet a number of nodes.
    near: Option<f64>,
    /// How far from that it may be: a share of it, a twentieth if it is not said.
    within: Option<f64>,
    /// Only the entry of most unknowns for each of these.
    largest: Option<Expression>,
    /// Only the first.
    #[serde(default)]
    first: bool,
    /// What they are ordered by.
    #[serde(default)]
    order: Vec<Expression>,
    /// The list in each entry whose rows are shown instead of the entry.
    rows: Option<String>,
    /// Values for each row, `name = expression`; those after may use those before.
    #[serde(rename = "let", default)]
    values: Vec<Binding>,
    /// What must be there, and true if it is a truth.
    #[serde(default)]
    need: Vec<Expression>,
}

/// `name = expression`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Binding(pub String, pub Expression);

impl TryFrom<String> for Binding {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (name, expression) = text.split_once(" = ").ok_or_else(|| format!("no `name = expression`: {text}"))?;
        Ok(Binding(name.into(), Expression::parse(expression)?))
    }
}

impl Select {
    /// The rows, each with what it is looked up in.
    pub fn rows<'a>(&'static self, file: &'a Value, outer: &Scope<'a>) -> Vec<Scope<'a>> {
        let of = |list: Option<&'a Value>| {
            let entries = list.and_then(Value::as_array).into_iter().flatten();
            entries.map(|entry| outer.within(entry)).collect::<Vec<_>>()
        };
        let from = |name: &str| match name {
            "" => Vec::new(),
            "given" => self.given.iter().map(|row| outer.within(row)).collect(),
            "rows" => of(outer.objects.last().and_then(|entry| entry.get("rows"))),
            name => match NAMED.select.get(name) {
                Some(other) => other.rows(file, outer),
                None => of(file.get(name)),
            },
        };
        let mut found = from(&self.from);
        found.extend(self.all.iter().flat_map(|name| from(name)));
        found.retain(|scope| self.wanted.as_ref().is_none_or(|wanted| wanted.is_true(scope)));
        if self.fullest {
            found = fullest(found);
        }
        if let Some(nodes) = self.near {
            found = near(found, nodes, self.within.unwrap_or(0.05));
        }
        if let Some(kind) = &self.largest {
            found = largest(found, kind);
        }
        if let Some(list) = &self.rows {
            found = found.iter().flat_map(|entry| of_entry(entry, list)).collect();
        }
        for scope in &mut found {
            set(&self.values, scope);
        }
        found.retain(|scope| {
            self.need.iter().all(|need| need.find(scope, &[]).is_some_and(|found| found != Scalar::Truth(false)))
        });
        if !self.order.is_empty() {
            found.sort_by(|a, b| by(&self.order, a, b));
        }
        found.truncate(if self.first { 1 } else { usize::MAX });
        found
    }
}

/// Of each precision the entry of most nearly so many nodes.
fn near(entries: Vec<Scope<'_>>, nodes: f64, within: f64) -> Vec<Scope<'_>> {
    let field = |scope: &Scope, key: &str| scope.objects.last().map_or(Value::Null, |entry| entry[key].clone());
    let off = |scope: &Scope| field(scope, "nodes").as_f64().map_or(f64::INFINITY, |found| (found - nodes).abs());
    let mut found: Vec<Scope> = Vec::new();
    for scope in entries.into_iter().filter(|scope| off(scope) < within * nodes) {
        match found.iter_mut().find(|one| field(one, "precision") == field(&scope, "precision")) {
            Some(one) if off(&scope) < off(one) => *one = scope,
            Some(_) => {}
            None => found.push(scope),
        }
    }
    found
}

/// Of each kind the entry of most unknowns, in their order.
fn largest<'a>(entries: Vec<Scope<'a>>, kind: &Expression) -> Vec<Scope<'a>> {
    let dofs = |scope: &Scope| scope.objects.last().and_then(|entry| entry["dofs"].as_u64());
    let mut found: Vec<(Option<Scalar>, Scope)> = Vec::new();
    for scope in entries {
        let kind = kind.find(&scope, &[]);
        match found.iter_mut().find(|one| one.0 == kind) {
            Some(one) if dofs(&scope) > dofs(&one.1) => one.1 = scope,
            Some(_) => {}
            None => found.push((kind, scope)),
        }
    }
    found.into_iter().map(|one| one.1).collect()
}

/// The rows of a list in an entry.
fn of_entry<'a>(entry: &Scope<'a>, list: &str) -> Vec<Scope<'a>> {
    let rows = entry.objects.last().and_then(|entry| entry.get(list)?.as_array());
    rows.into_iter().flatten().map(|row| entry.within(row)).collect()
}

fn by(order: &[Expression], a: &Scope, b: &Scope) -> Ordering {
    let compared = order.iter().map(|one| match (one.find(a, &[]), one.find(b, &[])) {
        (Some(Scalar::Number(a)), Some(Scalar::Number(b))) => a.total_cmp(&b),
        (Some(Scalar::Text(a)), Some(Scalar::Text(b))) => a.cmp(&b),
        (Some(Scalar::Truth(a)), Some(Scalar::Truth(b))) => a.cmp(&b),
        _ => Ordering::Equal,
    });
    compared.fold(Ordering::Equal, Ordering::then)
}

/// For each problem and precision the entry of most rows, in order: the others study a part.
fn fullest(entries: Vec<Scope<'_>>) -> Vec<Scope<'_>> {
    let mut best: BTreeMap<(String, u64, String), Scope> = BTreeMap::new();
    let rows = |scope: &Scope| scope.objects.last().and_then(|entry| entry["rows"].as_array()).map_or(0, Vec::len);
    for scope in entries {
        let Some(entry) = scope.objects.last() else { continue };
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let key = (text("problem"), entry["block_size"].as_u64().unwrap_or(0), text("precision"));
        match best.get(&key) {
            Some(slot) if rows(&scope) <= rows(slot) => {}
            _ => drop(best.insert(key, scope)),
        }
    }
    let mut found: Vec<Scope> = best.into_values().collect();
    found.sort_by(|a, b| by(&NAMED.order, a, b));
    found
}

fn set(values: &[Binding], scope: &mut Scope) {
    for Binding(name, expression) in values {
        if let Some(found) = expression.find(scope, &[]) {
            scope.values.insert(name.clone(), found);
        }
    }
}
