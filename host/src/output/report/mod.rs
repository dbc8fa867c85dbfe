//! `<case>.html`: the report, one file that needs no network. The skin to turn and zoom (on paper, or where that cannot
//! be, the picture), the model in words, loads, reactions and their balance, maxima, the mesh, warnings, the case file,
//! how it was solved.
//!
//! `page.html` is the frame; what it leaves open as `{{name}}` is filled in here. `page.css` is its style, `viewer.js`
//! draws the skin by WebGL, `sweep.js` turns a section into a body of revolution, `page.js` has the controls. The page's content security policy forbids every request.

mod base64;
mod cases;
mod model;
mod parts;
mod plots;
mod probes;
mod skin;
mod thin;

use std::io::{self, Write};
use std::time::SystemTime;

use super::Summary;
use super::picture::Shown;
use crate::model::Model;
pub(super) use cases::CasePages;
use skin::MOST_VERTICES;
pub(super) use skin::{Skin, most_vertices};
use warpfem_text::escape;

/// Where a model is from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The case file.
    pub case: &'a str,
    /// The mesh's file, or what it is made by.
    pub mesh: &'a str,
    /// When it was solved.
    pub written: SystemTime,
}

/// All that a report shows but the picture.
pub(super) struct Report<'a> {
    model: &'a Model,
    summary: &'a Summary,
    origin: Origin<'a>,
    skin: Option<Skin>,
    /// Of several steps.
    cases: Option<CasePages<'a>>,
}

impl<'a> Report<'a> {
    /// Gathers it: the skin is packed, if there is something to see, and the shapes of the elements are measured, side
    /// by side.
    pub(super) fn new(model: &'a Model, summary: &'a Summary, origin: Origin<'a>, shown: Option<&Shown>) -> Report<'a> {
        let pack = || shown.map(|shown| Skin::pack(shown, summary.units, model.analysis.is_revolved(), MOST_VERTICES));
        let (_, skin) = rayon::join(|| model.mesh.quality(), pack);
        Report { model, summary, origin, skin, cases: None }
    }

    /// The report of several steps, with the summary of all.
    pub(super) fn of_cases(
        model: &'a Model,
        summary: &'a Summary,
        origin: Origin<'a>,
        mut cases: CasePages<'a>,
    ) -> Report<'a> {
        let skin = cases.skins[cases.governing].take();
        Report { model, summary, origin, skin, cases: Some(cases) }
    }

    /// A part of the page for each step, or for the one there is: of its summary and its number.
    fn each(&self, part: impl Fn(&Summary, usize) -> String) -> String {
        match &self.cases {
            Some(cases) => cases.each(part),
            None => part(self.summary, 0),
        }
    }

    /// Writes the page around the picture `png`, if there is one.
    pub(super) fn write<W: Write>(&self, mut out: W, png: Option<&[u8]>) -> io::Result<()> {
        let page = fill(include_str!("page.html"), |name| self.part(name, png));
        out.write_all(page.as_bytes())?;
        out.flush()
    }

    /// What stands for `{{name}}` in the frame.
    fn part(&self, name: &str, png: Option<&[u8]>) -> String {
        let (model, summary) = (self.model, self.summary);
        let of_skin = |part: fn(&Skin) -> String| self.skin.as_ref().map(part);
        match name {
            "title" => escape(&summary.case),
            "style" => include_str!("page.css").into(),
            "viewer" => include_str!("viewer.js").into(),
            "sweep" => include_str!("sweep.js").into(),
            "controls" => include_str!("page.js").into(),
            // The page's program shows nothing of no triangles.
            "skin_header" => of_skin(|skin| skin.header.clone()).unwrap_or_else(|| "{\"triangles\":0}".into()),
            "skin" => of_skin(|skin| base64::encode(&skin.packed)).unwrap_or_default(),
            "skin_note" => of_skin(|skin| escape(&skin.note)).unwrap_or_default(),
            "picture" => parts::picture(png.map(base64::encode), summary.solver.converged),
            "status" => parts::status(summary),
            "stamp" => parts::stamp(summary),
            "subtitle" => parts::subtitle(summary, model.analysis.name()),
            "cases" => self.cases.as_ref().map_or(String::new(), CasePages::table),
            "series" => self.cases.as_ref().map_or(String::new(), |cases| cases.series(summary.units)),
            "case_choice" => self.cases.as_ref().map_or(String::new(), CasePages::choice),
            "more_skins" => self.cases.as_ref().map_or(String::new(), CasePages::skins),
            "cards" => self.each(|summary, _| parts::cards(summary)),
            "warnings" => parts::warnings(&summary.warnings),
            "forces" => self.each(|summary, case| parts::forces(summary, &model.loads(case).applied)),
            "extremes" => self.each(|summary, _| parts::extremes(summary) + &probes::probes(summary)),
            "mesh" => parts::mesh(&model.mesh),
            "model" => model::model(model, summary, &self.origin),
            "solver" => parts::solver(summary, &model.solver),
            "residuals" => plots::residuals(&summary.solver.history, model.solver.residual_tolerance),
            "timings" => plots::timings(&summary.timings_s),
            "case" => escape(&model.case_text),
            "version" => env!("CARGO_PKG_VERSION").into(),
            // Only a slip in the frame comes here, and a test looks for it.
            _ => format!("{{{{{name}}}}}"),
        }
    }
}

/// `frame` with every `{{name}}` replaced once: what is filled in is not searched again.
fn fill(frame: &str, part: impl Fn(&str) -> String) -> String {
    let mut page = String::with_capacity(frame.len());
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page += before;
        page += &part(name);
        rest = after;
    }
    page + rest
}

#[cfg(test)]
mod tests;
