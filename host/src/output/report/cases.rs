//! The report's steps, which are load cases, modes or times: a table of all, and for the choice of one what is shown of each.

use super::{Skin, base64, escape, parts, plots};
use crate::output::Summary;
use crate::output::modes::{MassShares, Mode};
use crate::result::{Extremes, Quantity, Series, Units};
use warpfem_text::{counted, vector};

/// Steps as the page has them.
pub(in crate::output) struct CasePages<'a> {
    /// Of each case.
    pub summaries: &'a [Summary],
    /// The skin of each case; none where all is zero, and of the governing one once the page has it.
    pub skins: Vec<Option<Skin>>,
    /// The skin with the largest values of all cases.
    pub envelope: Option<Skin>,
    /// The number of the case that is shown first.
    pub governing: usize,
    /// What is over frequencies or times.
    pub series: &'a [Series],
}

/// What marks the skin of the envelope.
const ENVELOPE: &str = "-0";

impl CasePages<'_> {
    /// What marks a case in the page: nothing for the one that is shown first.
    fn mark(&self, case: usize) -> String {
        if case == self.governing { String::new() } else { format!("-{}", case + 1) }
    }

    fn name(&self, case: usize) -> String {
        escape(&self.summaries[case].step_title())
    }

    /// Modes, which come first.
    fn n_modes(&self) -> usize {
        self.summaries.iter().filter(|summary| summary.results.mode.is_some()).count()
    }

    /// What a step is; of some behind modes those.
    fn noun(&self) -> &'static str {
        self.summaries.last().map_or("", |last| last.results.noun())
    }

    /// Rows of the steps.
    pub(super) fn table(&self) -> String {
        let n_modes = self.n_modes();
        let modes = if n_modes > 0 { self.modes(&self.summaries[..n_modes]) } else { String::new() };
        modes + &(if n_modes < self.summaries.len() { self.load_cases(n_modes) } else { String::new() })
    }

    /// Rows of the modes: frequencies, effective masses, and how the solution ended.
    fn modes(&self, modes: &[Summary]) -> String {
        let of = modes[0].results.mode;
        let masses = modes.iter().map(|summary| summary.results.table_row("effective_mass"));
        let shares = MassShares::of(masses, self.summaries[0].mass);
        let percent = |shares: &[f64]| shares.iter().map(|share| format!("<td>{share:.1}</td>")).collect::<String>();
        let row = |(case, summary): (usize, &Summary)| {
            let value = summary.results.mode.map_or(f64::NAN, Mode::value);
            let value = parts::measured(summary, value, of.map_or(Quantity::Unlabelled, Mode::quantity));
            let masses = shares.as_ref().map_or(String::new(), |shares| percent(&shares.of_modes[case]));
            let ended = if summary.solver.converged { "converged" } else { "<strong>not converged</strong>" };
            let class = if case == self.governing { " class=\"sum\"" } else { "" };
            format!("<tr{class}><th>{}</th><td>{value}</td>{masses}<td>{ended}</td></tr>", escape(&summary.step))
        };
        let mut rows: String = modes.iter().enumerate().map(row).collect();
        if let Some(shares) = &shares {
            rows += &format!("<tr><th>sum</th><td></td>{}<td></td></tr>", percent(&shares.sum));
        }
        let masses = shares.as_ref().map(|_| "masses are effective masses".to_string());
        let notes = masses.into_iter().chain(of.map(|of| of.note().into())).chain(of.and_then(Mode::of_reversed));
        let notes = notes.collect::<Vec<_>>().join("; ");
        let axes = shares.iter().flat_map(|shares| &shares.axes);
        let heads: String = axes.map(|axis| format!("<th>mass along {axis} [%]</th>")).collect();
        format!(
            "<section><h2>{}</h2><div class=\"wide\"><table><thead><tr><th></th><th>{}</th>{heads}<th></th></tr></thead>\
             <tbody>{rows}</tbody></table></div><p class=\"note\">{notes}.</p></section>\n",
            counted(modes.len(), "mode"),
            of.map_or("", Mode::name)
        )
    }

    /// Rows of the load cases, behind so many modes: the largest values, where they are, and how the solution ended.
    fn load_cases(&self, first: usize) -> String {
        let words = self.summaries[0].results.physics.words();
        let row = |(case, summary): (usize, &Summary)| {
            let results = &summary.results;
            let unknown = match words.extremes {
                Extremes::Largest(_) => parts::measured(summary, results.unknown.max, results.unknown_unit()),
                Extremes::Both(_) => {
                    let most = parts::measured(summary, results.unknown.max, results.unknown_unit());
                    format!("{} to {most}", parts::shown(results.unknown.min))
                }
            };
            let largest = parts::measured(summary, results.nodal.max, results.intensity_unit());
            let at = vector(results.nodal.max_at).replace('-', "−");
            let ended = if summary.solver.converged { "converged" } else { "<strong>not converged</strong>" };
            let class = if case == self.governing { " class=\"sum\"" } else { "" };
            format!(
                "<tr{class}><th>{}</th><td>{largest}</td><td class=\"place\">{at}</td><td>{unknown}</td><td>{ended}</td></tr>",
                self.name(case)
            )
        };
        let rows: String = self.summaries.iter().enumerate().skip(first).map(row).collect();
        let unknown = match words.extremes {
            Extremes::Largest(_) => format!("largest {}", words.unknown),
            Extremes::Both(_) => words.unknown.into(),
        };
        format!(
            "<section><h2>{}</h2><div class=\"wide\"><table><thead><tr><th></th><th>largest {}</th><th>at</th><th>{unknown}</th>\
             <th></th></tr></thead><tbody>{rows}</tbody></table></div><p class=\"note\">{} is shown first.</p></section>\n",
            counted(self.summaries.len() - first, self.noun()),
            words.intensity[0],
            match self.noun() {
                "time" => "The last time".into(),
                "response" => self.name(self.governing),
                _ => format!("The governing case, {},", self.name(self.governing)),
            }
        )
    }

    /// A plot of each series.
    pub(super) fn series(&self, units: Option<Units>) -> String {
        self.series.iter().map(|series| plots::series(series, units)).collect()
    }

    /// The choice of a case, or of the envelope.
    pub(super) fn choice(&self) -> String {
        let is_there = |case: &usize| *case == self.governing || self.skins[*case].is_some();
        let option = |case: usize| {
            let selected = if case == self.governing { " selected" } else { "" };
            format!("<option value=\"{}\"{selected}>{}</option>", self.mark(case), self.name(case))
        };
        let cases: String = (0..self.summaries.len()).filter(is_there).map(option).collect();
        let envelope = self.envelope.as_ref().map_or(String::new(), |_| {
            format!("<option value=\"{ENVELOPE}\">envelope: the largest of all cases</option>")
        });
        let (noun, slider) = match self.noun() {
            "mode" => ("Mode", String::new()),
            "time" => ("Time", self.slider()),
            "response" => ("Step", String::new()),
            _ => ("Load case", String::new()),
        };
        format!("<label>{noun}<select id=\"case\">{cases}{envelope}</select></label>\n{slider}")
    }

    /// Goes through the times.
    fn slider(&self) -> String {
        let last = self.summaries.len() - 1;
        format!(
            "<label>Step<input id=\"step\" type=\"range\" min=\"0\" max=\"{last}\" step=\"1\" value=\"{last}\"></label>\n"
        )
    }

    /// The skins that are not shown first.
    pub(super) fn skins(&self) -> String {
        let of_cases = self.skins.iter().enumerate().filter_map(|(case, skin)| Some((self.mark(case), skin.as_ref()?)));
        let of_envelope = self.envelope.iter().map(|skin| (ENVELOPE.to_owned(), skin));
        let text = |(mark, skin): (String, &Skin)| {
            format!(
                "<script type=\"application/json\" id=\"skin-header{mark}\">{}</script>\n\
                 <script type=\"text/plain\" id=\"skin{mark}\">{}</script>\n",
                skin.header,
                base64::encode(&skin.packed)
            )
        };
        of_cases.chain(of_envelope).map(text).collect()
    }

    /// A part of the page for each case, of which the page shows that of the case that is chosen.
    pub(super) fn each(&self, part: impl Fn(&Summary, usize) -> String) -> String {
        // The name of a mode or a time says what it is.
        let of = if self.noun() == "load case" { "Load case " } else { "" };
        let block = |(case, summary): (usize, &Summary)| {
            let (mark, name) = (self.mark(case), self.name(case));
            format!(
                "<div class=\"of-case\" data-case=\"{mark}\"><p class=\"note\">{of}{name}</p>{}</div>\n",
                part(summary, case)
            )
        };
        self.summaries.iter().enumerate().map(block).collect()
    }
}
