//! Checks of `[analysis] study`, and of what goes with it.

use super::scale::NUMBERS;
use super::{Case, CaseError};
use crate::model::{Checked, Problems};
use crate::result::Study;

/// The modes of a study that does not say how many.
const MODES: usize = 10;

impl Case {
    /// What is asked of the model; statics if the case does not say.
    pub fn study(&self) -> Study {
        let study = self.tables.analysis.study.as_ref();
        study.and_then(|study| Study::from_name(study.get_ref())).unwrap_or_default()
    }

    /// How many modes are asked for.
    pub fn modes(&self) -> usize {
        let modes = self.tables.analysis.modes.as_ref();
        modes.map_or(MODES, |modes| usize::try_from(*modes.get_ref()).unwrap_or(usize::MAX))
    }

    /// What of M is added to K.
    pub fn shift(&self) -> f64 {
        self.tables.analysis.shift.as_ref().map_or(0.0, |shift| *shift.get_ref())
    }

    /// Whether a modal study is about the state under the loads.
    pub fn prestress(&self) -> bool {
        self.tables.analysis.prestress.as_ref().is_some_and(|prestress| *prestress.get_ref())
    }

    pub(super) fn check_study(&self, problems: &mut Problems) {
        let table = &self.tables.analysis;
        if problems.take(self.check_name("study", table.study.as_ref(), &Study::names())).is_none() {
            return;
        }
        match self.study() {
            Study::Static | Study::Transient => {
                if let Some(modes) = &table.modes {
                    let message = "`modes` belongs to a study of modes";
                    let help = "add study = \"modal\" or \"buckling\", or leave it out";
                    problems.add(self.error_at(modes.span(), message, help));
                }
                if let Some(check) = &self.tables.solver.check_count {
                    let message = "`check_count` belongs to a study of modes";
                    problems.add(self.error_at(check.span(), message, "leave it out"));
                }
                self.check_not_modal(problems);
            }
            Study::Modal => {
                problems.take(self.check_modes());
                problems.take(self.check_shift());
                self.check_tables_of_modal(problems);
                self.check_no_sector(problems);
            }
            Study::Buckling => {
                problems.take(self.check_modes());
                self.check_not_modal(problems);
                self.check_tables_of_buckling(problems);
                self.check_no_sector(problems);
            }
        }
    }

    /// Refuses a sector in a study of modes.
    fn check_no_sector(&self, problems: &mut Problems) {
        for sector in &self.tables.cyclic {
            let message = "a sector has those modes of its ring alone that are the same in all sectors";
            problems.add(self.error_at(sector.span(), message, "model the whole ring"));
        }
    }

    /// A buckling study that nothing loads.
    pub fn without_loads(&self) -> Box<CaseError> {
        let place = self.tables.analysis.study.as_ref().map_or(0..0, |study| study.span());
        self.error_at(place, "a buckling study needs a load, and nothing loads this model", "for example [[force]]")
    }

    fn check_modes(&self) -> Checked {
        match &self.tables.analysis.modes {
            Some(modes) if *modes.get_ref() == 0 => {
                Err(self.error_at(modes.span(), "`modes` must be 1 or more", format!("{MODES} is the default")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what belongs to a modal study.
    fn check_not_modal(&self, problems: &mut Problems) {
        let table = &self.tables.analysis;
        let shift = table.shift.as_ref().map(|shift| ("shift", shift.span()));
        let prestress = table.prestress.as_ref().map(|prestress| ("prestress", prestress.span()));
        for (key, place) in shift.into_iter().chain(prestress) {
            let help = "add study = \"modal\", or leave it out";
            problems.add(self.error_at(place, format!("`{key}` belongs to a modal study"), help));
        }
    }

    fn check_shift(&self) -> Checked {
        let Some(shift) = &self.tables.analysis.shift else { return Ok(()) };
        match *shift.get_ref() {
            0.0 => Ok(()),
            value if value > 0.0 && value.is_finite() => self.check_scale("shift", shift.span(), &[value], &NUMBERS),
            _ => {
                let help = "K + shift M is what is iterated with; frequencies do not depend on it: leave it out";
                Err(self.error_at(shift.span(), "`shift` must not be negative, and finite", help))
            }
        }
    }

    fn check_elastic(&self, what: &str, problems: &mut Problems) {
        if self.analysis().physics().is_scalar() {
            let place = self.tables.analysis.study.as_ref().map_or(0..0, |study| study.span());
            let message = format!("{what} is of elastic bodies, and this is a case of {}", self.analysis().name());
            problems.add(self.error_at(place, message, "leave `study` out, or change [analysis] kind"));
        }
    }

    /// Refuses what buckling is not found of.
    fn check_tables_of_buckling(&self, problems: &mut Problems) {
        self.check_elastic("buckling", problems);
        if let Some(case) = self.tables.load_case.first() {
            let message = "buckling is found under one set of loads, and this case has a [[load_case]]";
            problems.add(self.error_at(case.span(), message, "a case file for each, or leave [[load_case]] out"));
        }
        if let Some(relief) = &self.tables.inertia_relief {
            let message = "buckling of a free body is not found: it has no [inertia_relief]";
            problems.add(self.error_at(relief.span(), message, "hold it by supports, and leave this out"));
        }
    }

    /// Refuses tables that have no meaning in a modal study.
    fn check_tables_of_modal(&self, problems: &mut Problems) {
        let tables = &self.tables;
        self.check_elastic("a modal study", problems);
        // Those of a deck have amplitudes of their own.
        if let Some(case) = tables.load_case.first().filter(|_| tables.response.is_none()) {
            let message = "a modal study is of one state of the body, and this case has a [[load_case]]";
            problems.add(self.error_at(case.span(), message, "leave one of them out"));
        }
        if let Some(relief) = &tables.inertia_relief {
            let message = "a modal study has no [inertia_relief]";
            let help = "leave it out: a free body has modes of frequency 0";
            problems.add(self.error_at(relief.span(), message, help));
        }
    }
}
