//! The figures of speed.md: products and iterations in double precision side by side, of the newest run on a GPU; whole
//! programs on processors.

use super::block::Block;
use super::provenance::listed;
use super::run::Run;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// What the table stands between in speed.md.
pub const MARKS: [&str; 2] = ["<!-- speed -->", "<!-- /speed -->"];

/// `pages/speed.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Speed {
    copy: Block,
    table: Block,
    whole: Block,
    programs: Block,
}

static SPEED: LazyLock<Speed> = LazyLock::new(|| read!("pages/speed.toml"));

/// The table with its days, and how long whole solutions took; nothing where no product or iteration was measured.
pub fn speed(run: &Run) -> Option<String> {
    let make = |file: &Value| [&SPEED.copy, &SPEED.table, &SPEED.whole].map(|block| block.make(file).text).concat();
    let figures = make(&run.json);
    let days = listed(&run.dates(&run.behind(make)));
    let days = if days.is_empty() { days } else { format!(", {days}") };
    (!figures.is_empty()).then(|| format!("{}, double precision{days}; {figures}", run.device))
}

/// Whole programs on a processor, a paragraph each; nothing where none were measured.
pub fn programs(run: &Run) -> String {
    SPEED.programs.make(&run.json).text
}

/// A text with the table between its marks; nothing if it lacks them.
pub fn fill(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    Some(format!("{before}{}\n\n{table}\n{}{after}", MARKS[0], MARKS[1]))
}
