//! A chart of a section: which rows of the JSON are its series, and what is across and up.

use super::expression::{Expression, Scope};
use super::plot::{self, Plots, Style};
use super::select::Select;
use super::template::Template;
use serde::Deserialize;
use serde_json::Value;

/// Points by the names of their series, on logarithmic axes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// What the picture's file is called after the machine's.
    name: String,
    title: Template,
    /// What is across and up, with units.
    x: String,
    y: String,
    series: Vec<Series>,
}

/// Rows that are points of one series, or of one for each name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    rows: Select,
    name: Template,
    at: [Expression; 2],
    #[serde(default)]
    style: Style,
}

impl Chart {
    /// Draws it, and gives the Markdown that shows it; nothing without points.
    pub fn draw<'a>(&'static self, file: &'a Value, scope: &Scope<'a>, plots: &mut Plots) -> String {
        let mut drawn: Vec<plot::Series> = Vec::new();
        for series in &self.series {
            let rows = series.rows.rows(file, scope);
            for row in &rows {
                let [x, y] = series.at.each_ref().map(|at| at.find(row, &rows).and_then(|found| found.number()));
                let (Some(name), Some(x), Some(y)) = (series.name.text(row, &rows), x, y) else { continue };
                match drawn.iter_mut().find(|one| one.name == name) {
                    Some(one) => one.points.push((x, y)),
                    None => drawn.push(plot::Series { name, points: vec![(x, y)], style: series.style }),
                }
            }
        }
        let title = self.title.text(scope, &[]).unwrap_or_default();
        let stem = file["stem"].as_str().unwrap_or_default();
        let picture = plot::Chart { title: &title, x: &self.x, y: &self.y, series: &drawn }.svg();
        plots.add(format!("{stem}-{}", self.name), &title, picture)
    }
}
