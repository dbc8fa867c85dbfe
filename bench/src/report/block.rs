//! A block of a section: which rows of the JSON it shows, in which columns, and what follows from them.

use super::chart::Chart;
use super::expression::{Expression, Scope};
use super::markdown::{span, table};
use super::names::PRECISIONS;
use super::plot::Plots;
use super::select::{Binding, Select};
use super::template::Template;
use super::unit::Scalar;
use super::verdict::Verdict;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The columns of a table, a line for each: `head: template`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Columns(Vec<[Template; 2]>);

impl TryFrom<String> for Columns {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let column = |line: &str| {
            let (head, cell) = line.split_once(" | ").ok_or_else(|| format!("no `head | cell`: {line}"))?;
            Ok([Template::try_from(head.to_owned())?, Template::try_from(cell.to_owned())?])
        };
        text.lines().map(column).collect::<Result<_, String>>().map(Columns)
    }
}

/// Columns for each of several entries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Across {
    rows: Select,
    head: Template,
    cell: Template,
}

/// A sentence that says whether a claim holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// The claim, if it is a yes or a no.
    #[serde(rename = "if")]
    holds: Option<Expression>,
    /// The claimed range of `value`.
    value: Option<Expression>,
    #[serde(default)]
    range: [f64; 2],
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
    value: Expression,
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
    /// The block stands once for each of these.
    each: Option<Select>,
    rows: Option<Select>,
    /// What the rows must show for the block to stand.
    when: Option<Expression>,
    columns: Option<Columns>,
    across: Option<Across>,
    /// What a row says instead of the columns after the first that is missing.
    short: Option<Template>,
    /// Values over all rows.
    #[serde(rename = "let", default)]
    values: Vec<Binding>,
    #[serde(default)]
    rules: BTreeMap<String, Rule>,
    /// Claims by the paper's name, in the text `{claims}`.
    #[serde(default)]
    claims: BTreeMap<String, Vec<Claim>>,
    /// The text's `{chart}`.
    chart: Option<Chart>,
    /// The text, of which `{table}` is the table and `{name}` a rule or a value.
    text: Option<Template>,
}

/// What blocks make of a file: text, the verdicts in it, and pictures.
#[derive(Debug, Default, PartialEq)]
pub struct Made {
    pub text: String,
    pub verdicts: Vec<Verdict>,
    pub plots: Plots,
}

impl Made {
    /// Adds what comes after.
    pub fn extend(&mut self, next: Made) {
        self.text += &next.text;
        self.verdicts.extend(next.verdicts);
        self.plots.0.extend(next.plots.0);
    }
}

impl Rule {
    fn said(&self, scope: &Scope, rows: &[Scope]) -> Option<(Verdict, String)> {
        let measured = self.measured.text(scope, rows)?;
        let verdict = match (&self.holds, &self.value) {
            (Some(holds), _) if holds.find(scope, rows)?.is_true() => Verdict::Holds,
            (Some(_), _) => Verdict::Contradicted,
            (None, Some(value)) => Verdict::of(&[value.find(scope, rows)?.number()?], self.range[0], self.range[1])?,
            // The paper speaks of another quantity.
            (None, None) => Verdict::Incomparable,
        };
        let why = verdict.reason([&self.yes, &self.more, &self.no]);
        let why = why.as_ref().map_or(Some(String::new()), |why| why.text(scope, rows))?;
        Some((verdict, verdict.sentence(&measured, &why)))
    }
}

impl Claim {
    /// Its line of the table and its verdicts; nothing if it was not measured.
    fn cells<'a>(&'static self, file: &'a Value, scope: &Scope<'a>) -> Option<(Vec<String>, Vec<Verdict>)> {
        let found = PRECISIONS.map(|precision| {
            let mut scope = scope.clone();
            scope.values.insert("in".into(), Scalar::Text(precision.into()));
            let rows = self.rows.rows(file, &scope);
            rows.iter().filter_map(|row| self.value.find(row, &rows)?.number()).collect::<Vec<f64>>()
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
        let cells = vec![self.what.clone(), span(&self.range), double, single, words.join(", "), why];
        Some((cells, verdicts.into_iter().map(|one| one.1).collect()))
    }
}

impl Block {
    /// A machine's block; nothing if it lacks what that takes.
    pub fn make(&'static self, file: &Value) -> Made {
        self.written(file, Scope::default(), table)
    }

    /// The text with values of its own, and tables that are written so.
    pub fn in_scope<'a>(&'static self, file: &'a Value, scope: Scope<'a>, write: Write) -> String {
        self.written(file, scope, write).text
    }

    fn written<'a>(&'static self, file: &'a Value, scope: Scope<'a>, write: Write) -> Made {
        let scope = scope.within(file);
        let outer = self.each.as_ref().map_or_else(|| vec![scope.clone()], |each| each.rows(file, &scope));
        let mut made = Made::default();
        outer.into_iter().filter_map(|scope| self.within(file, scope, write)).for_each(|one| made.extend(one));
        made
    }

    fn within<'a>(&'static self, file: &'a Value, mut scope: Scope<'a>, write: Write) -> Option<Made> {
        let mut made = Made::default();
        let mut rows = self.rows.as_ref().map_or(Vec::new(), |select| select.rows(file, &scope));
        if self.rows.is_some() && rows.is_empty() {
            return None;
        }
        for Binding(name, expression) in &self.values {
            let Some(found) = expression.find(&scope, &rows) else { continue };
            rows.iter_mut().for_each(|row| drop(row.values.insert(name.clone(), found.clone())));
            scope.values.insert(name.clone(), found);
        }
        if let Some(when) = &self.when
            && !when.find(&scope, &rows)?.is_true()
        {
            return None;
        }
        for (name, rule) in &self.rules {
            let (verdict, said) = rule.said(&scope, &rows)?;
            made.verdicts.push(verdict);
            scope.values.insert(name.clone(), Scalar::Text(said));
        }
        for (paper, all) in &self.claims {
            let (lines, verdicts): (Vec<_>, Vec<_>) = all.iter().filter_map(|claim| claim.cells(file, &scope)).unzip();
            let heads = ["how many times as fast", paper, "here, f64", "here, f32", "claim.", "why."];
            if lines.is_empty() {
                return None;
            }
            made.verdicts.extend(verdicts.concat());
            scope.values.insert("claims".into(), Scalar::Text(table(&heads, &lines)));
        }
        if let Some(chart) = &self.chart {
            let shown = chart.draw(file, &scope, &mut made.plots);
            scope.values.insert("chart".into(), Scalar::Text(shown));
        }
        let across = self.across.as_ref().map(|across| (across, across.rows.rows(file, &scope)));
        if across.as_ref().is_some_and(|(_, across)| across.is_empty()) {
            return None;
        }
        let table = self.table(across, &scope, &rows, write);
        scope.values.insert("table".into(), Scalar::Text(table.clone()));
        made.text = self.text.as_ref().map_or(Some(table), |text| text.text(&scope, &rows))?;
        Some(made)
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
        let named = |[head, _]: &[Template; 2]| head.text(scope, rows).unwrap_or_default();
        let head = |one: &Scope| more.map_or(String::new(), |more| more.head.or_dash(one));
        let heads: Vec<String> = own.iter().map(named).chain(across.iter().map(head)).collect();
        let cells = |row: &Scope| {
            let cell = |one: &Scope<'a>| {
                let mut inner = row.clone();
                inner.objects.extend(&one.objects[scope.objects.len()..]);
                inner.values.extend(one.values.clone());
                more.map_or(String::new(), |more| more.cell.or_dash(&inner))
            };
            let first = own.iter().map(|[_, cell]| cell.or_dash(row));
            let mut all: Vec<String> = first.chain(across.iter().map(cell)).collect();
            let short = self.short.as_ref().and_then(|short| short.text(row, &[]));
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
        let Made { text, verdicts, .. } = block.make(&json);
        let line =
            "| a over b | 2 to 3 | 2.5 | 7 to 9 | holds in f64, holds and is exceeded in f32 | as bytes say; caches |";
        assert_eq!((text.lines().nth(2), verdicts), (Some(line), vec![Verdict::Holds, Verdict::Exceeded]));
        assert_eq!(block.make(&json!({})), Made::default());
    }

    #[test]
    fn a_block_lacks_nothing_or_is_left_out() {
        let block = r#"
            rows = { from = "cg", need = ["ebw.ms"], order = ["0 - dofs"], near = 100 }
            columns = """
            unknowns | {dofs:,}
            ms | {ebw.ms} of {csr.ms ? 'none'}"""
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
        let text = block.make(&json).text;
        assert_eq!(text, "| unknowns | ms |\n| --- | ---: |\n| 303 | 3 of none |\n**Contradicted**: 3 ms; it is slow.");
        assert_eq!(block.make(&json!({ "cg": [of(100, json!([]))] })), Made::default());
    }
}
