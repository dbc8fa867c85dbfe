//! Checks of `[[load_case]]` and of the names of loads.

use toml::Spanned;

use super::Case;
use super::tables::{BoltTable, LoadCaseTable, RemoteTable};
use crate::model::names::suggest;
use crate::model::{Checked, Place, Problems};

impl Case {
    /// The names of loads with their places. The tables there is one of are called by themselves if they have no name.
    pub(in crate::model) fn load_names(&self) -> Vec<(&str, Place)> {
        let tables = &self.tables;
        let gravity = tables.gravity.as_ref().map(|of| (&of.get_ref().name, "gravity", of.span()));
        let rotation = tables.rotation.as_ref().map(|of| (&of.get_ref().name, "rotation", of.span()));
        let sources = tables.source.iter().map(|of| (&of.name, "source", of.value.span()));
        let single = [gravity, rotation].into_iter().flatten().chain(sources);
        let single = single.map(|(name, own, place)| name.as_ref().map_or((own, place), with_place));
        let loaded = |remote: &&RemoteTable| remote.force.is_some() || remote.moment.is_some();
        let pulled = |bolt: &&BoltTable| bolt.preload.is_some();
        let listed = (tables.pressure.iter().map(|table| &table.get_ref().name))
            .chain(tables.load.iter().map(|table| &table.get_ref().name))
            .chain(tables.remote.iter().map(Spanned::get_ref).filter(loaded).map(|table| &table.name))
            .chain(tables.bolt.iter().map(Spanned::get_ref).filter(pulled).map(|table| &table.name))
            .chain(tables.traction.iter().map(|table| &table.name))
            .chain(tables.force.iter().map(|table| &table.name))
            .chain(tables.point_force.iter().map(|table| &table.get_ref().name))
            .chain(tables.nodal_force.iter().map(|table| &table.name))
            .chain(tables.push.iter().map(|table| &table.name))
            .chain(tables.flux.iter().map(|table| &table.name));
        single.chain(listed.flatten().map(with_place)).collect()
    }

    /// The name of the rotation.
    fn rotation_name(&self) -> Option<&str> {
        let table = self.tables.rotation.as_ref()?.get_ref();
        Some(table.name.as_ref().map_or("rotation", |name| name.get_ref()))
    }

    pub(super) fn check_load_cases(&self, problems: &mut Problems) {
        let known = self.load_names();
        for (_, place) in known.iter().filter(|(name, _)| name.trim().is_empty()) {
            problems.add(self.error_at(place.clone(), "this name is empty", "name = \"wind\", or leave it out"));
        }
        let mut known: Vec<&str> = known.into_iter().map(|(name, _)| name).collect();
        known.sort_unstable();
        known.dedup();
        let cases = &self.tables.load_case;
        for (i, case) in cases.iter().enumerate() {
            problems.take(self.check_case_name(&cases[..i], case.get_ref()));
            for (name, factor) in case.get_ref().factors.get_ref() {
                problems.take(self.check_factor(name, factor, &known));
            }
        }
    }

    fn check_case_name(&self, before: &[Spanned<LoadCaseTable>], case: &LoadCaseTable) -> Checked {
        let (name, place) = with_place(&case.name);
        if name.trim().is_empty() {
            return Err(self.error_at(place, "a load case has a name", "name = \"storm\""));
        }
        match before.iter().find(|other| other.get_ref().name.get_ref() == name) {
            Some(first) => {
                let line = self.source.line_of(&first.get_ref().name.span());
                let message = format!("a second load case is called `{name}` (the first: {line})");
                Err(self.error_at(place, message, "give it another name"))
            }
            None => Ok(()),
        }
    }

    fn check_factor(&self, name: &Spanned<String>, factor: &Spanned<f64>, known: &[&str]) -> Checked {
        let (load, place) = with_place(name);
        if !known.contains(&load) {
            let help = match known.is_empty() {
                true => "no load has a name: write name = \"..\" into its table".into(),
                false => suggest(load, "loads", known),
            };
            return Err(self.error_at(place, format!("there is no load `{load}`"), help));
        }
        self.check_number(load, factor)?;
        if *factor.get_ref() < 0.0 && self.rotation_name() == Some(load) {
            let help = "the factor is on its forces, which go with the square of the speed";
            return Err(self.error_at(factor.span(), "the factor of a rotation must not be negative", help));
        }
        Ok(())
    }
}

fn with_place(name: &Spanned<String>) -> (&str, Place) {
    (name.get_ref(), name.span())
}
