//! `<case>.html`: the report, one file that needs no network. The skin to turn and zoom (on paper, or where that cannot
//! be, the picture), the model in words, loads, reactions and their balance, maxima, the mesh, warnings, the case file,
//! how it was solved.
//!
//! `page.html` is the frame; what it leaves open as `{{name}}` is filled in here. `page.css` is its style, `viewer.js`
//! draws the skin by WebGL, `page.js` has the controls. The page's content security policy forbids every request.

mod base64;
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
use crate::mesh::Mesh;
use crate::model::{AppliedLoad, Material, Support};
use skin::Skin;
use warpfem_text::escape;

/// What a report says of the model, beyond the results.
#[derive(Debug, Clone, Copy)]
pub struct Background<'a> {
    /// The case file's text.
    pub case_text: &'a str,
    /// The case file.
    pub case: &'a str,
    /// The mesh's file, or what it is made by.
    pub mesh: &'a str,
    /// When it was solved.
    pub written: SystemTime,
    /// The kind of analysis, as the case file names it.
    pub analysis: &'a str,
    /// The materials.
    pub materials: &'a [Material],
    /// The supports.
    pub supports: &'a [Support],
    /// The acceleration of gravity, if it acts.
    pub gravity: Option<[f64; 3]>,
    /// What a potential's source gives per volume.
    pub source: Option<f64>,
    /// The loads on nodes and surfaces; what they lack of all that is applied is gravity or a source.
    pub loads: &'a [AppliedLoad],
    /// What the iteration had to reach.
    pub tolerance: f64,
    /// The tolerance on the residual, if it is that.
    pub residual_tolerance: Option<f64>,
}

impl Background<'_> {
    /// The tolerance on the error, or else that on the residual.
    fn tolerances(&self) -> [Option<f64>; 2] {
        let residual = self.residual_tolerance;
        [residual.is_none().then_some(self.tolerance), residual]
    }
}

/// All that a report shows but the picture.
pub(super) struct Report<'a> {
    mesh: &'a Mesh,
    summary: &'a Summary,
    background: Background<'a>,
    skin: Option<Skin>,
}

impl<'a> Report<'a> {
    /// Gathers it: the skin is packed, if there is something to see, and the shapes of the elements are measured, side
    /// by side.
    pub(super) fn new(
        mesh: &'a Mesh,
        summary: &'a Summary,
        background: Background<'a>,
        shown: Option<&Shown>,
    ) -> Report<'a> {
        let (_, skin) = rayon::join(|| mesh.quality(), || shown.map(|shown| Skin::pack(shown, summary.units)));
        Report { mesh, summary, background, skin }
    }

    /// Writes the page around the picture `png`, if there is one.
    pub(super) fn write<W: Write>(&self, mut out: W, png: Option<&[u8]>) -> io::Result<()> {
        let page = fill(include_str!("page.html"), |name| self.part(name, png));
        out.write_all(page.as_bytes())?;
        out.flush()
    }

    /// What stands for `{{name}}` in the frame.
    fn part(&self, name: &str, png: Option<&[u8]>) -> String {
        let of_skin = |part: fn(&Skin) -> String| self.skin.as_ref().map(part);
        match name {
            "title" => escape(&self.summary.case),
            "style" => include_str!("page.css").into(),
            "viewer" => include_str!("viewer.js").into(),
            "controls" => include_str!("page.js").into(),
            // The page's program shows nothing of no triangles.
            "skin_header" => of_skin(|skin| skin.header.clone()).unwrap_or_else(|| "{\"triangles\":0}".into()),
            "skin" => of_skin(|skin| base64::encode(&skin.packed)).unwrap_or_default(),
            "skin_note" => of_skin(|skin| escape(&skin.note)).unwrap_or_default(),
            "picture" => parts::picture(png.map(base64::encode), self.summary.solver.converged),
            "status" => parts::status(self.summary),
            "stamp" => parts::stamp(self.summary),
            "subtitle" => parts::subtitle(self.summary, self.background.analysis),
            "cards" => parts::cards(self.summary),
            "warnings" => parts::warnings(&self.summary.warnings),
            "forces" => parts::forces(self.summary, self.background.loads),
            "extremes" => parts::extremes(self.summary) + &probes::probes(self.summary),
            "mesh" => parts::mesh(self.mesh),
            "model" => model::model(self.mesh, self.summary, &self.background),
            "solver" => parts::solver(self.summary, self.background.tolerances()),
            "residuals" => plots::residuals(&self.summary.solver.history, self.background.residual_tolerance),
            "timings" => plots::timings(&self.summary.timings_s),
            "case" => escape(self.background.case_text),
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
pub(super) mod tests;
