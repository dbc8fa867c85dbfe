//! A block of a section: which rows of the JSON it shows, in which columns, and what follows from them.

use super::expression::{Expression, Found, Scope};
use super::lookup::PRECISIONS;
use super::markdown::{span, table};
use super::outline::OUTLINE;
use super::paper::Verdict;
use super::template::Template;
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Entries of a list, or their rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// A list of the JSON, another selection, or `rows` of the entry at hand.
    from: String,
    /// The rows themselves, of `from = "given"`.
    #[serde(default)]
    given: Vec<Value>,
    /// What is kept.
    #[serde(rename = "where", default)]
    wanted: Option<Condition>,
    /// Of entries of one problem and precision only that of most rows; ordered by problem.
    #[serde(default)]
    fullest: bool,
    /// Of entries of one precision only that of about so many nodes: meshers do not meet a number of nodes.
    near: Option<f64>,
    /// Only the first.
    #[serde(default)]
    first: bool,
    /// What they are ordered by.
    #[serde(default)]
    order: Vec<Condition>,
    /// The list in each entry whose rows are shown instead of the entry.
    rows: Option<String>,
    /// Values for each row, `name = expression`; those after may use those before.
    #[serde(rename = "let", default)]
    values: Vec<Named>,
    /// What must be there, and true if it is a truth.
    #[serde(default)]
    need: Vec<Condition>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Condition(Expression);

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Expression::parse(&text).map(Condition)
    }
}

/// `name = expression`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Named(String, Expression);

impl TryFrom<String> for Named {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (name, expression) = text.split_once(" = ").ok_or_else(|| format!("no `name = expression`: {text}"))?;
        Ok(Named(name.into(), Expression::parse(expression)?))
    }
}

/// The columns of a table, a line for each: `head: template`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Columns(Vec<(Template, Cell)>);

/// The first of these texts that lacks no figure; `a || b`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Cell(Vec<Template>);

impl TryFrom<String> for Cell {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.split(" || ").map(|one| Template::try_from(one.to_owned())).collect::<Result<_, String>>().map(Cell)
    }
}

impl Cell {
    /// The text, or a dash.
    fn text(&self, scope: &Scope, rows: &[Scope]) -> String {
        self.0.iter().find_map(|one| one.text(scope, rows)).unwrap_or("-".into())
    }
}

impl TryFrom<String> for Columns {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let column = |line: &str| {
            let (head, cell) = line.split_once(" | ").ok_or_else(|| format!("no `head | cell`: {line}"))?;
            Ok((Template::try_from(head.to_owned())?, Cell::try_from(cell.to_owned())?))
        };
        text.lines().map(column).collect::<Result<_, String>>().map(Columns)
    }
}

/// Columns for each of several things.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Across {
    /// The names at this path in the rows, each once.
    names: Option<Condition>,
    /// Or these.
    rows: Option<Select>,
    head: Cell,
    cell: Cell,
}

/// A sentence that says whether a claim holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// The claim, if it is a yes or a no.
    #[serde(rename = "if")]
    holds: Option<Condition>,
    /// The claimed range of `value`.
    value: Option<Condition>,
    #[serde(default)]
    range: [f64; 2],
    /// The paper speaks of another quantity.
    #[serde(default)]
    incomparable: bool,
    measured: Template,
    /// Why it holds, why it is more, why not.
    yes: Option<Template>,
    more: Option<Template>,
    no: Option<Template>,
}

/// A claimed ratio, which is measured in both precisions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    /// What over what.
    what: String,
    /// The lowest and the highest that the paper has.
    range: [f64; 2],
    rows: Select,
    value: Condition,
    /// Why it holds, why it is more, why it is less.
    #[serde(default)]
    yes: String,
    #[serde(default)]
    more: String,
    #[serde(default)]
    no: String,
}

/// Writes a table of heads and rows.
type Write = fn(&[&str], &[Vec<String>]) -> String;

/// A block.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The block stands once for each of these, which is `in` in it.
    #[serde(default)]
    precisions: Vec<String>,
    /// The block stands once for each of these.
    each: Option<Select>,
    rows: Option<Select>,
    /// What the rows must show for the block to stand.
    when: Option<Condition>,
    columns: Option<Columns>,
    across: Option<Across>,
    /// Columns after those; what is over rows is over these columns in them.
    last: Option<Columns>,
    /// What a row says instead of the columns after the first that is missing.
    short: Option<Cell>,
    /// Values over all rows.
    #[serde(rename = "let", default)]
    values: Vec<Named>,
    #[serde(default)]
    rules: BTreeMap<String, Rule>,
    /// Claims by the paper's name, in the text `{claims}`.
    #[serde(default)]
    claims: BTreeMap<String, Vec<Claim>>,
    /// The text, of which `{table}` is the table and `{name}` a rule or a value.
    text: Option<Template>,
}

impl Select {
    /// The rows, each with what it is looked up in.
    pub fn rows<'a>(&'static self, file: &'a Value, outer: &Scope<'a>) -> Vec<Scope<'a>> {
        let of = |list: Option<&'a Value>| {
            let entries = list.and_then(Value::as_array).into_iter().flatten();
            entries.map(|entry| outer.within(entry)).collect::<Vec<_>>()
        };
        let mut found = match self.from.as_str() {
            "given" => self.given.iter().map(|row| outer.within(row)).collect(),
            "rows" => of(outer.objects.last().and_then(|entry| entry.get("rows"))),
            name => match OUTLINE.select.get(name) {
                Some(other) => other.rows(file, outer),
                None => of(file.get(name)),
            },
        };
        found.retain(|scope| self.wanted.as_ref().is_none_or(|wanted| wanted.is_true(scope)));
        if self.fullest {
            found = fullest(found);
        }
        if let Some(nodes) = self.near {
            found = near(found, nodes);
        }
        if let Some(list) = &self.rows {
            found = found.iter().flat_map(|entry| of_entry(entry, list)).collect();
        }
        for scope in &mut found {
            set(&self.values, scope);
        }
        found.retain(|scope| {
            self.need.iter().all(|need| need.0.find(scope, &[]).is_some_and(|found| found != Found::Truth(false)))
        });
        if !self.order.is_empty() {
            found.sort_by(|a, b| by(&self.order, a, b));
        }
        found.truncate(if self.first { 1 } else { usize::MAX });
        found
    }
}

/// Of each precision the entry of most nearly so many nodes, within a twentieth.
fn near(entries: Vec<Scope<'_>>, nodes: f64) -> Vec<Scope<'_>> {
    let field = |scope: &Scope, key: &str| scope.objects.last().map_or(Value::Null, |entry| entry[key].clone());
    let off = |scope: &Scope| field(scope, "nodes").as_f64().map_or(f64::INFINITY, |found| (found - nodes).abs());
    let mut found: Vec<Scope> = Vec::new();
    for scope in entries.into_iter().filter(|scope| 20.0 * off(scope) < nodes) {
        match found.iter_mut().find(|one| field(one, "precision") == field(&scope, "precision")) {
            Some(one) if off(&scope) < off(one) => *one = scope,
            Some(_) => {}
            None => found.push(scope),
        }
    }
    found
}

fn of_entry<'a>(entry: &Scope<'a>, list: &str) -> Vec<Scope<'a>> {
    let rows = entry.objects.last().and_then(|entry| entry.get(list)?.as_array());
    rows.into_iter().flatten().map(|row| entry.within(row)).collect()
}

impl Condition {
    fn is_true(&self, scope: &Scope) -> bool {
        self.0.find(scope, &[]).is_some_and(|found| found.is_true())
    }
}

fn by(order: &[Condition], a: &Scope, b: &Scope) -> Ordering {
    let compared = order.iter().map(|one| match (one.0.find(a, &[]), one.0.find(b, &[])) {
        (Some(Found::Number(a)), Some(Found::Number(b))) => a.total_cmp(&b),
        (Some(Found::Text(a)), Some(Found::Text(b))) => a.cmp(&b),
        (Some(Found::Truth(a)), Some(Found::Truth(b))) => a.cmp(&b),
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
    found.sort_by(|a, b| by(&OUTLINE.order, a, b));
    found
}

fn set(values: &[Named], scope: &mut Scope) {
    for Named(name, expression) in values {
        if let Some(found) = expression.find(scope, &[]) {
            scope.values.insert(name.clone(), found);
        }
    }
}

impl Rule {
    fn text(&self, scope: &Scope, rows: &[Scope]) -> Option<String> {
        let measured = self.measured.text(scope, rows)?;
        let verdict = match (&self.holds, &self.value) {
            _ if self.incomparable => Verdict::Incomparable,
            (Some(holds), _) if holds.0.find(scope, rows)?.is_true() => Verdict::Holds,
            (Some(_), _) => Verdict::Contradicted,
            (None, value) => {
                let value = value.as_ref()?.0.find(scope, rows)?.number()?;
                Verdict::of(&[value], self.range[0], self.range[1])?
            }
        };
        let why = verdict.reason([&self.yes, &self.more, &self.no]);
        let why = why.as_ref().map_or(Some(String::new()), |why| why.text(scope, rows))?;
        Some(verdict.sentence(&measured, &why))
    }
}

impl Claim {
    /// Its line of the table; nothing if it was not measured.
    fn cells<'a>(&'static self, file: &'a Value, scope: &Scope<'a>) -> Option<Vec<String>> {
        let found = PRECISIONS.map(|precision| {
            let mut scope = scope.clone();
            scope.values.insert("in".into(), Found::Text(precision.into()));
            let rows = self.rows.rows(file, &scope);
            rows.iter().filter_map(|row| self.value.0.find(row, &rows)?.number()).collect::<Vec<f64>>()
        });
        let verdict = |values: &Vec<f64>| Verdict::of(values, self.range[0], self.range[1]);
        let verdicts: Vec<(&str, Verdict)> = PRECISIONS
            .into_iter()
            .zip(&found)
            .filter_map(|(precision, values)| Some((precision, verdict(values)?)))
            .collect();
        let mut reasons: Vec<&str> = Vec::new();
        for why in verdicts.iter().map(|(_, verdict)| verdict.reason([&self.yes, &self.more, &self.no]).as_str()) {
            if !why.is_empty() && !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        let agree = verdicts.iter().all(|(_, verdict)| *verdict == verdicts[0].1);
        let words: Vec<String> = match agree {
            true => vec![verdicts.first()?.1.words().into()],
            false => {
                verdicts.iter().map(|(precision, verdict)| format!("{} in {precision}", verdict.words())).collect()
            }
        };
        let why = if reasons.is_empty() { "-".into() } else { reasons.join("; ") };
        let [double, single] = found.map(|values| span(&values));
        Some(vec![self.what.clone(), span(&self.range), double, single, words.join(", "), why])
    }
}

impl Block {
    /// A machine's block; nothing if it lacks what that takes.
    pub fn make(&'static self, file: &Value) -> String {
        self.in_scope(file, Scope::default(), table)
    }

    /// The same with values of its own, and tables that are written so.
    pub fn in_scope<'a>(&'static self, file: &'a Value, scope: Scope<'a>, write: Write) -> String {
        let mut outer = vec![scope.within(file)];
        if !self.precisions.is_empty() {
            let of = |precision: &String| {
                let precision = Found::Text(precision.clone());
                outer.iter().map(move |scope| {
                    let mut scope = scope.clone();
                    scope.values.insert("in".into(), precision.clone());
                    scope
                })
            };
            outer = self.precisions.iter().flat_map(of).collect();
        }
        if let Some(each) = &self.each {
            outer = outer.iter().flat_map(|scope| each.rows(file, scope)).collect();
        }
        outer.into_iter().filter_map(|scope| self.within(file, scope, write)).collect()
    }

    fn within<'a>(&'static self, file: &'a Value, mut scope: Scope<'a>, write: Write) -> Option<String> {
        let mut rows = self.rows.as_ref().map_or(Vec::new(), |select| select.rows(file, &scope));
        if self.rows.is_some() && rows.is_empty() {
            return None;
        }
        for Named(name, expression) in &self.values {
            let Some(found) = expression.find(&scope, &rows) else { continue };
            rows.iter_mut().for_each(|row| drop(row.values.insert(name.clone(), found.clone())));
            scope.values.insert(name.clone(), found);
        }
        if let Some(when) = &self.when
            && !when.0.find(&scope, &rows)?.is_true()
        {
            return None;
        }
        for (name, rule) in &self.rules {
            let said = rule.text(&scope, &rows)?;
            scope.values.insert(name.clone(), Found::Text(said));
        }
        for (paper, all) in &self.claims {
            let lines: Vec<Vec<String>> = all.iter().filter_map(|claim| claim.cells(file, &scope)).collect();
            let heads = ["how many times as fast", paper, "here, f64", "here, f32", "claim.", "why."];
            if lines.is_empty() {
                return None;
            }
            scope.values.insert("claims".into(), Found::Text(table(&heads, &lines)));
        }
        let across = self.across.as_ref().map(|across| (across, across.all(file, &scope, &rows)));
        if across.as_ref().is_some_and(|(_, across)| across.is_empty()) {
            return None;
        }
        let table = Found::Text(self.table(across, &scope, &rows, write));
        scope.values.insert("table".into(), table.clone());
        match (&self.text, table) {
            (Some(text), _) => text.text(&scope, &rows),
            (None, Found::Text(table)) => Some(table),
            _ => None,
        }
    }

    fn table<'a>(
        &self,
        across: Option<(&Across, Vec<Scope<'a>>)>,
        scope: &Scope<'a>,
        rows: &[Scope<'a>],
        write: Write,
    ) -> String {
        let own = self.columns.as_ref().map_or(&[][..], |columns| &columns.0);
        let (more, across) = across.map_or((None, Vec::new()), |(more, across)| (Some(more), across));
        let last = self.last.as_ref().map_or(&[][..], |columns| &columns.0);
        let named = |column: &(Template, Cell)| column.0.text(scope, rows).unwrap_or_default();
        let head = |one: &Scope| more.map_or(String::new(), |more| more.head.text(one, &[]));
        let heads: Vec<String> =
            own.iter().map(named).chain(across.iter().map(head)).chain(last.iter().map(named)).collect();
        let cells = |row: &Scope| {
            let inner = |one: &Scope<'a>| {
                let mut inner = row.clone();
                inner.objects.extend(&one.objects[scope.objects.len()..]);
                inner.values.extend(one.values.clone());
                inner
            };
            let inner: Vec<Scope> = across.iter().map(inner).collect();
            let cell = |one: &Scope| more.map_or(String::new(), |more| more.cell.text(one, &[]));
            let first = own.iter().map(|column| column.1.text(row, &[]));
            let mut all: Vec<String> = first
                .chain(inner.iter().map(cell))
                .chain(last.iter().map(|column| column.1.text(row, &inner)))
                .collect();
            let short = self.short.as_ref().map(|short| short.text(row, &[])).filter(|short| short != "-");
            if let (Some(short), Some(at)) = (short, all.iter().position(|cell| cell == "-")) {
                all.truncate(at);
                all.push(short);
            }
            all
        };
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        write(&heads, &rows.iter().map(cells).collect::<Vec<_>>())
    }
}

impl Across {
    fn all<'a>(&'static self, file: &'a Value, scope: &Scope<'a>, rows: &[Scope<'a>]) -> Vec<Scope<'a>> {
        let Some(names) = &self.names else {
            return self.rows.as_ref().map_or(Vec::new(), |select| select.rows(file, scope));
        };
        let mut found: Vec<Found> = Vec::new();
        for name in rows.iter().flat_map(|entry| of_entry(entry, "rows")).filter_map(|row| names.0.find(&row, &[])) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        let named = |name: Found| {
            let mut scope = scope.clone();
            scope.values.insert("name".into(), name);
            scope
        };
        found.into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_say_where_precisions_differ() {
        let block = r#"
            claims.PAPER = [{ what = "a over b", range = [2.0, 3.0], rows = { from = "cg", where = "precision == in" },
                value = "a / b", yes = "as bytes say", more = "caches" }]
            text = "{claims}"
        "#;
        let block: &Block = Box::leak(Box::new(toml::from_str(block).unwrap()));
        let one = |precision: &str, a: f64| json!({ "precision": precision, "a": a, "b": 1.0 });
        let json = json!({ "cg": [one("f64", 2.5), one("f32", 9.0), one("f32", 7.0)] });
        let text = block.make(&json);
        let line =
            "| a over b | 2 to 3 | 2.5 | 7 to 9 | holds in f64, holds and is exceeded in f32 | as bytes say; caches |";
        assert_eq!(text.lines().nth(2), Some(line));
        assert_eq!(block.make(&json!({})), "");
    }

    #[test]
    fn a_block_lacks_nothing_or_is_left_out() {
        let block = r#"
            rows = { from = "cg", need = ["ebw.ms"], order = ["0 - dofs"], near = 100 }
            columns = """
            unknowns | {dofs:,}
            ms | {ebw.ms} of {csr.ms} || {ebw.ms} alone"""
            let = ["least = min(ebw.ms)"]
            text = "{table}{said}"
            [rules.said]
            if = "least < 2"
            measured = "{least} ms"
            no = "it is slow"
        "#;
        let block: &Block = Box::leak(Box::new(toml::from_str(&block.replace("            ", "")).unwrap()));
        let of = |nodes: usize, rows: Value| json!({ "nodes": nodes, "dofs": 3 * nodes, "rows": rows });
        let ebw = json!({ "format": "ebw", "ms": 3.0 });
        let json = json!({ "cg": [of(98, json!([ebw, { "format": "csr", "ms": 4.0 }])), of(101, json!([ebw])), of(500, json!([]))] });
        let text = block.make(&json);
        assert_eq!(text, "| unknowns | ms |\n| --- | ---: |\n| 303 | 3 alone |\n**Contradicted**: 3 ms; it is slow.");
        assert_eq!(block.make(&json!({ "cg": [of(100, json!([]))] })), "");
    }
}
