//! What a benchmark prints of its figures: `pages.toml`.

use crate::report::block::Block;
use crate::report::expression::Scope;
use crate::report::template::Template;
use crate::report::unit::Scalar;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;
use warpfem::cli::{print, table};
use warpfem::output;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pages {
    /// The problem and the machine.
    head: Template,
    page: BTreeMap<String, Block>,
}

static PAGES: LazyLock<Pages> = LazyLock::new(|| read!("pages.toml"));

/// Writes figures to the file that was asked for, and prints their page, where `{levels}` are these.
pub fn finish(name: &str, json: Option<&Path>, figures: &impl Serialize, levels: String) -> anyhow::Result<()> {
    write(json, figures)?;
    let figures = serde_json::to_value(figures)?;
    let mut scope = Scope::default();
    scope.values.insert("levels".into(), Scalar::Text(levels));
    let head = PAGES.head.text(&scope.within(&figures), &[]).unwrap_or_default();
    scope.values.insert("head".into(), Scalar::Text(head));
    let page = PAGES.page.get(name).map(|block| block.in_scope(&figures, scope, table::text));
    print::text(&page.unwrap_or_default())
}

/// Writes figures as JSON.
pub fn write(path: Option<&Path>, figures: &impl Serialize) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(output::write_file(path, |file| file.write_all(text.as_bytes()))?)
}
