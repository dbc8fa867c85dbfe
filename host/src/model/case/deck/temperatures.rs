//! `*INITIAL CONDITIONS, TYPE=TEMPERATURE` and `*TEMPERATURE`.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::tables::TemperatureTable;
use super::Reader;
use super::materials::Constants;
use crate::io::inp::{Card, Mistake, Place, Read};

/// Temperatures of nodes by tag.
#[derive(Debug, Clone, Default)]
pub struct Temperatures {
    /// At which there is no thermal strain.
    pub initial: BTreeMap<u64, f64>,
    /// At the end of the steps that tables are made of.
    pub given: BTreeMap<u64, f64>,
    place: Place,
}

impl Temperatures {
    /// Constants of a material at the temperature of the body.
    ///
    /// # Errors
    ///
    /// They change with the temperature, and that from place to place.
    pub fn constants(&self, of: &Constants, material: &str) -> Read<Vec<f64>> {
        let now = if self.given.is_empty() { &self.initial } else { &self.given };
        let first = now.values().next().copied().unwrap_or(0.0);
        match of.vary() && now.values().any(|t| *t != first) {
            true => {
                let message = format!("{material} changes with the temperature, which is not the same everywhere");
                Err(Mistake::at(of.place.clone(), message, "give the constants at one temperature"))
            }
            false => Ok(of.at(first)),
        }
    }

    /// The expansion per degree between the initial and the given temperature: of rows that differ the strain is
    /// `a(T) (T - zero) - a(T0) (T0 - zero)`.
    pub fn expansion(&self, of: &Constants, zero: f64, material: &str) -> Read<Vec<f64>> {
        let now = self.constants(of, material)?;
        let first = |values: &BTreeMap<u64, f64>| values.values().next().copied();
        let (Some(t0), Some(t)) = (first(&self.initial), first(&self.given)) else { return Ok(now) };
        if !of.vary() || t == t0 {
            return Ok(now);
        }
        if self.initial.values().any(|initial| *initial != t0) {
            let message =
                format!("{material} expands as the temperature is, and the initial one is not the same everywhere");
            return Err(Mistake::at(of.place.clone(), message, "give *EXPANSION one row"));
        }
        let before = of.at(t0);
        let strain = now.iter().zip(before).map(|(now, before)| now * (t - zero) - before * (t0 - zero));
        Ok(strain.map(|strain| strain / (t - t0)).collect())
    }
}

impl Reader<'_> {
    pub(super) fn initial_conditions(&mut self, card: &Card) -> Read {
        let (kind, place) = card.required("TYPE")?;
        if kind != "TEMPERATURE" {
            let message = format!("initial conditions of {kind} are not solved");
            return Err(Mistake::at(place, message, "TYPE=TEMPERATURE is"));
        }
        let read = self.nodal_temperatures(card)?;
        self.temperatures.initial.extend(read);
        Ok(())
    }

    pub(super) fn temperature(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        if let Some(file) = card.parameter("FILE") {
            let help = "list the nodes with their temperatures: 17, 80.";
            return Err(Mistake::at(file.place.clone(), "temperatures of a result file are not read", help));
        }
        let factor = self.factor(card)?;
        let read = self.nodal_temperatures(card)?;
        if self.state.replaces(card)? {
            self.state.temperatures.clear();
        }
        self.state.temperatures.extend(read.into_iter().map(|(node, t)| (node, factor * t)));
        self.temperatures.place = card.place.clone();
        Ok(())
    }

    fn nodal_temperatures(&self, card: &Card) -> Read<Vec<(u64, f64)>> {
        let mut read = Vec::new();
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let Some(value) = fields.get(1) else {
                return Err(Mistake::at(line.place, "a node or a set has a temperature", "ALL, 80."));
            };
            let value = value.number()?;
            read.extend(self.geometry.nodes(&fields[0])?.into_iter().map(|node| (node, value)));
        }
        Ok(read)
    }

    /// The table of temperatures: above the initial ones, which are the reference where they are all the same.
    pub(super) fn close_temperatures(&mut self) -> Read {
        let Temperatures { initial, given, place } = &self.temperatures;
        let expands = self.tables.material.iter().any(|material| material.get_ref().expansion.is_some());
        if given.is_empty() || !expands {
            return Ok(());
        }
        if let Some(node) = given.keys().find(|node| self.is_in_body(**node) && !initial.contains_key(node)) {
            let message = format!("node {node} has no initial temperature");
            return Err(Mistake::at(place.clone(), message, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20."));
        }
        let first = initial.values().next().copied().unwrap_or(0.0);
        let reference = if initial.values().all(|t| *t == first) { first } else { 0.0 };
        let above = initial.iter().map(|(node, t0)| {
            let t = given.get(node).copied().unwrap_or(*t0);
            (*node, if reference == first { t } else { t - t0 })
        });
        let table = TemperatureTable {
            reference: Spanned::new(place.clone(), reference),
            value: None,
            file: None,
            from: None,
            heat: None,
            on: Vec::new(),
            nodal: above.collect(),
        };
        self.tables.temperature = Some(Spanned::new(place.clone(), table));
        Ok(())
    }
}
