//! Steps of heat, alone or before the stress that it causes, and what heats a body: `*HEAT TRANSFER`, `*UNCOUPLED TEMPERATURE-DISPLACEMENT`,
//! `*COUPLED TEMPERATURE-DISPLACEMENT`, `*CFLUX`, `*DFLUX`, `*FILM`, and Abaqus's `*DSFLUX`, `*SFILM`.
//!
//! The stress of a linear body has no effect on its temperature, so that a coupled step is an uncoupled one.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::Names;
use super::super::Numbers;
use super::super::heat_tables::{ConvectionTable, Points, SourceTable, SurfaceTable, TimeTable};
use super::super::tables::{NodalForceTable, SupportTable, Tables, TemperatureTable};
use super::Reader;
use super::motion::{Heat, Heated, Increments};
use super::steps::{Film, Given, State, Step};
use crate::io::inp::geometry::{Surface, unknown};
use crate::io::inp::{Card, Field, Mistake, Place, Read, fields};
use crate::result::Study;
use crate::result::choices::Scheme;

/// The component of a node's displacements and rotations, from 0, behind which its temperature stands.
pub const TEMPERATURE: u8 = 10;
/// The part of the range of a deck's temperatures that chosen steps may be off.
const ERROR: f64 = 1e-4;
/// Into how many steps its time is divided where the deck says one temperature alone.
const STEPS: f64 = 1000.0;

impl Reader<'_> {
    /// `*HEAT TRANSFER`, and with stress: the first increment and the length of the step.
    pub(super) fn heat_step(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        if let Some(modes) = card.parameter("FREQUENCY").or(card.parameter("MODALDYNAMIC")) {
            let message = format!("{}: acoustics by way of heat is not solved", modes.name);
            return Err(Mistake::at(modes.place.clone(), message, "leave it out for conduction"));
        }
        let [first, length, ..] = self.numbers_of::<4>(card)?;
        let length = length.unwrap_or(1.0);
        let first = first.unwrap_or(length);
        if !(first > 0.0 && first <= length && length.is_finite()) {
            let message = "the increment is more than 0, and not longer than the step";
            return Err(Mistake::at(card.place.clone(), message, "*HEAT TRANSFER\n10., 3600."));
        }
        self.state.time = length;
        let before = self.steps.last().map_or(0.0, |step| step.time);
        self.state.start = match card.value("TOTALTIMEATSTART").map(fields::number) {
            _ if card.has("TIMERESET") => Some(before - length),
            start => start.flatten(),
        };
        let increments = match card.has("DIRECT") {
            _ if card.has("STEADYSTATE") => None,
            true => {
                self.n_increments(card, first, length)?;
                Some(Increments::Direct(first))
            }
            false => Some(Increments::Chosen),
        };
        let is_stressed = card.name != "HEATTRANSFER";
        if is_stressed {
            self.refuse_large_displacements()?;
        }
        self.state.heat = Some(Heat { is_stressed, increments });
        Ok(())
    }

    /// `*CFLUX`: nodes, the component of the temperature, and what flows into each.
    pub(super) fn cflux(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let factor = self.factor(card)?;
        if self.state.replaces(card)? {
            self.state.concentrated.clear();
        }
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let [on, component, value, ..] = &fields[..] else {
                return Err(Mistake::at(line.place, "a flux has a component and a value", "17, 11, 100."));
            };
            if !matches!(component.integer()?, 0 | 11) {
                let message = format!("component {} has no flux", component.text);
                return Err(Mistake::at(component.place.clone(), message, "11 is the temperature"));
            }
            let value = factor * value.number()?;
            for node in self.geometry.nodes_once(on)? {
                let given = self.state.given(value, line.place.clone(), "CFLUX");
                State::add(&mut self.state.concentrated, node, given)?;
            }
        }
        Ok(())
    }

    /// `*DFLUX`: elements, `S1` .. or `BF`, a value; `*DSFLUX`: a surface, `S`, a value.
    pub(super) fn dflux(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let factor = self.factor(card)?;
        if self.state.replaces(card)? {
            self.state.fluxes.clear();
        }
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let [_, word, value, ..] = &fields[..] else {
                return Err(Mistake::at(line.place, "which flux is meant?", "SKIN, S2, 10. or ALL, BF, 1.E6"));
            };
            let value = factor * value.number()?;
            let (label, heated) = match word.name().as_str() {
                "BF" => {
                    let elements = self.geometry.elements_once(&fields[0])?;
                    ("DFLUX".to_string(), elements.into_iter().map(|element| (element, None)).collect())
                }
                _ => self.faces_of_line(card, &fields, 'S')?,
            };
            let label = if fields[0].tag().is_none() { fields[0].name() } else { label };
            for key in heated {
                let given = self.state.given(value, line.place.clone(), &label);
                State::add(&mut self.state.fluxes, key, given)?;
            }
        }
        Ok(())
    }

    /// `*FILM`: elements, `F1` .., the temperature of what flows past, a coefficient; `*SFILM`: a surface, `F`, the same.
    pub(super) fn film(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let of_coefficient = self.film_factor(card)?;
        let factor = self.factor(card)?;
        if self.state.replaces(card)? {
            self.state.films.clear();
        }
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let [_, _, ambient, coefficient, ..] = &fields[..] else {
                let message = "a film has the temperature of what flows past, and a coefficient";
                return Err(Mistake::at(line.place, message, "SKIN, F2, 20., 25."));
            };
            let coefficient = of_coefficient * coefficient.number()?;
            let ambient = factor * ambient.number()?;
            let (label, faces) = self.faces_of_line(card, &fields, 'F')?;
            for (element, face) in faces.into_iter().filter_map(|(element, face)| Some((element, face?))) {
                let ambient = self.state.given(ambient, line.place.clone(), &label);
                self.state.films.insert((element, face), Film { ambient, coefficient });
            }
        }
        Ok(())
    }

    /// The factor of coefficients at the end of the step.
    fn film_factor(&mut self, card: &Card) -> Read<f64> {
        let Some(parameter) = card.parameter("FILMAMPLITUDE") else { return Ok(1.0) };
        if self.state.is_transient() {
            let message = "FILM AMPLITUDE: coefficients that change in time are not solved";
            return Err(Mistake::at(
                parameter.place.clone(),
                message,
                "AMPLITUDE is of the temperature that flows past",
            ));
        }
        let name = self.amplitude_named(parameter)?;
        Ok(self.at_the_end(&name))
    }

    /// The faces that a line loads, and what it names them by.
    fn faces_of_line(&self, card: &Card, fields: &[Field<'_>], letter: char) -> Read<(String, Vec<Heated>)> {
        let (name, word) = (fields[0].name(), &fields[1]);
        if card.name.contains("SF") && word.name() == letter.to_string() {
            return match self.geometry.surfaces.get(&name) {
                Some(Surface::Faces(faces)) => {
                    Ok((name, faces.iter().map(|(element, face)| (*element, Some(*face))).collect()))
                }
                _ => Err(unknown(&fields[0], "surface of faces", &self.geometry.surfaces)),
            };
        }
        let is_face = |word: &str| word.starts_with(letter) && word[1..].parse::<u8>().is_ok();
        if !is_face(&word.name()) {
            let message =
                format!("{} is not supported: users' routines, forced convection and shells are not", word.text);
            let help = format!("{letter}1, {letter}2, .. are faces with a value of their own");
            return Err(Mistake::at(word.place.clone(), message, help));
        }
        let elements = self.geometry.elements_once(&fields[0])?;
        let of = |element| Ok((element, Some(self.geometry.face_of(element, word, letter)?)));
        let label = if fields[0].tag().is_some() { card.name.clone() } else { name };
        Ok((label, elements.into_iter().map(of).collect::<Read<_>>()?))
    }

    /// The tables of heat of steps that are held alike; several of them are steady.
    pub(super) fn close_heat(&mut self, steps: &[Step]) -> Read {
        self.close_sections(true)?;
        // What joins displacements has no effect on temperatures.
        self.tables.mass.clear();
        self.tables.cyclic.clear();
        let (first, last) = (&steps[0], &steps[steps.len() - 1]);
        self.close_temperatures_held(first);
        self.close_films(first);
        for step in steps {
            self.close_fluxes(step);
        }
        if let Some(Heat { increments: Some(increments), .. }) = last.state.heat {
            self.tables.time = Some(self.time_table(first, increments));
            let study = Study::Transient.name().to_string();
            self.tables.analysis.study = Some(Spanned::new(first.place.clone(), study));
        }
        Ok(())
    }

    /// The points of the amplitude of something that is given, in total time.
    fn amplitude_of(&self, given: &Given, start: f64) -> Option<Spanned<Points>> {
        let amplitude = &self.amplitudes[given.amplitude.as_ref()?];
        let shift = if amplitude.of_total_time { 0.0 } else { start };
        let points = amplitude.factors.0.iter().map(|[time, factor]| [time + shift, *factor]);
        Some(Spanned::new(given.place.clone(), points.collect()))
    }

    /// Nodes at one temperature are a support.
    fn close_temperatures_held(&mut self, step: &Step) {
        let held = step.state.supports.iter().filter(|((_, component), _)| *component == TEMPERATURE);
        let held = held.filter(|((node, _), _)| self.is_in_body(*node));
        for (given, keys) in alike(held) {
            let place = given.place.clone();
            let nodes = keys.iter().map(|(node, _)| Spanned::new(place.clone(), *node)).collect();
            let table = SupportTable {
                amplitude: self.amplitude_of(given, step.start()),
                on: None,
                nodes: Some(Spanned::new(place.clone(), nodes)),
                in_box: None,
                name: Some(Spanned::new(place.clone(), given.label.clone())),
                fix: None,
                axes: None,
                displacement: None,
                value: Some(Spanned::new(place.clone(), given.value)),
            };
            self.tables.support.push(Spanned::new(place, table));
        }
    }

    /// Faces with one coefficient, past which one temperature flows, are a group.
    fn close_films(&mut self, step: &Step) {
        let mut by_coefficient: BTreeMap<u64, BTreeMap<(u64, usize), &Given>> = BTreeMap::new();
        for (face, Film { ambient, coefficient }) in step.state.films.iter().filter(|(_, film)| film.coefficient != 0.0)
        {
            by_coefficient.entry(coefficient.to_bits()).or_default().insert(*face, ambient);
        }
        for (coefficient, films) in by_coefficient {
            for (given, faces) in alike(films.iter().map(|(face, given)| (face, *given))) {
                let place = given.place.clone();
                let group = self.face_group(&given.label, faces);
                let table = ConvectionTable {
                    name: None,
                    on: Spanned::new(place.clone(), Names::One(group)),
                    coefficient: Spanned::new(place.clone(), f64::from_bits(coefficient)),
                    ambient: Spanned::new(place, given.value),
                    amplitude: self.amplitude_of(given, step.start()),
                };
                self.tables.convection.push(table);
            }
        }
    }

    /// Fluxes of a step, which load cases call by its name.
    fn close_fluxes(&mut self, step: &Step) {
        let name = |place: &Place| step.name.as_ref().map(|name| Spanned::new(place.clone(), name.clone()));
        for (given, heated) in alike(&step.state.fluxes) {
            let (place, value) = (&given.place, Spanned::new(given.place.clone(), given.value));
            let (name, amplitude) = (name(place), self.amplitude_of(given, step.start()));
            let spanned = |group: String| Spanned::new(place.clone(), Names::One(group));
            let (faces, elements): (Vec<Heated>, Vec<Heated>) = heated.into_iter().partition(|of| of.1.is_some());
            if !faces.is_empty() {
                let faces = faces.into_iter().filter_map(|(element, face)| Some((element, face?))).collect();
                let on = spanned(self.face_group(&given.label, faces));
                let (name, amplitude, value) = (name.clone(), amplitude.clone(), value.clone());
                self.tables.flux.push(SurfaceTable { name, on, value, amplitude });
            }
            if !elements.is_empty() {
                let elements = elements.into_iter().map(|(element, _)| element).collect();
                let on = Some(spanned(self.element_group(&given.label, elements)));
                self.tables.source.push(SourceTable { name, on, value, amplitude });
            }
        }
        let concentrated = step.state.concentrated.iter().filter(|(node, _)| self.is_in_body(**node));
        for (given, nodes) in alike(concentrated) {
            let (amplitude, place) = (self.amplitude_of(given, step.start()), given.place.clone());
            let forces = nodes.into_iter().map(|node| (node, [given.value, 0.0, 0.0])).collect();
            let (name, label) = (name(&place), given.label.clone());
            self.tables.nodal_force.push(NodalForceTable { name, label, place, forces, amplitude });
        }
    }

    /// Elements as a group: their set, if they are all of it.
    fn element_group(&mut self, label: &str, elements: Vec<u64>) -> String {
        let sets = &self.geometry.element_sets;
        if sets.get(label).is_some_and(|set| set.len() == elements.len()) {
            return label.to_string();
        }
        let name = format!("{label} {}", sets.len() + 1);
        self.geometry.element_sets.insert(name.clone(), elements);
        name
    }

    fn time_table(&self, step: &Step, increments: Increments) -> Spanned<TimeTable> {
        let spanned = |value: f64| Spanned::new(step.place.clone(), value);
        let (length, tolerance, scheme) = match (increments, self.tolerance(step)) {
            (Increments::Direct(length), _) => (Some(length), None, Scheme::BackwardEuler),
            (Increments::Chosen, None) => (Some((step.time - step.start()) / STEPS), None, Scheme::Bdf2),
            (Increments::Chosen, tolerance) => (None, tolerance, Scheme::Bdf2),
        };
        let times = step.outputs().into_iter().map(|(_, time)| time).collect();
        let table = TimeTable {
            start: step.start(),
            goes_on: step.state.number() > 1,
            end: spanned(step.time),
            step: length.map(spanned),
            tolerance: tolerance.map(spanned),
            scheme: Some(Spanned::new(step.place.clone(), scheme.name().to_string())),
            outputs: None,
            times: Some(Spanned::new(step.place.clone(), Numbers(times))),
            initial: Some(spanned(0.0)),
            on: Vec::new(),
            nodal: self.temperatures.initial.iter().map(|(node, value)| (*node, *value)).collect(),
        };
        Spanned::new(step.place.clone(), table)
    }

    /// How many degrees a step may be off; none where the deck says one temperature alone.
    fn tolerance(&self, step: &Step) -> Option<f64> {
        let held = step.state.supports.iter().filter(|((_, component), _)| *component == TEMPERATURE);
        let given = held.map(|(_, given)| given).chain(step.state.films.values().map(|film| &film.ambient));
        let of_given = given.flat_map(|given| match given.amplitude.as_ref().map(|name| &self.amplitudes[name]) {
            Some(amplitude) => amplitude.factors.0.iter().map(|[_, factor]| factor * given.value).collect(),
            None => vec![given.value],
        });
        let all: Vec<f64> = of_given.chain(self.temperatures.initial.values().copied()).collect();
        let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(*t), b.max(*t)));
        (low < high).then_some(ERROR * (high - low))
    }

    /// Makes the temperatures of a step's stress those of its heat.
    pub(super) fn close_heated(&mut self, heat: Tables, step: &Step) -> Read {
        let place = &step.place;
        let mut initial = self.temperatures.initial.values();
        let first = initial.next().copied().unwrap_or(0.0);
        if initial.any(|t| *t != first) {
            let message = "the initial temperature is not the same everywhere";
            return Err(Mistake::at(place.clone(), message, "give all nodes one: without it there is no reference"));
        }
        let (value, file, from) = (None, None, None);
        let (heat, on, nodal) = (Some(Box::new(heat)), Vec::new(), Vec::new());
        let reference = Spanned::new(place.clone(), first);
        let table = TemperatureTable { reference, value, file, from, heat, on, nodal };
        self.tables.temperature = Some(Spanned::new(place.clone(), table));
        Ok(())
    }
}

/// What is given by label, value and amplitude, with all that it is given to.
fn alike<'a, K: Copy + 'a>(all: impl IntoIterator<Item = (&'a K, &'a Given)>) -> Vec<(&'a Given, Vec<K>)> {
    type Key<'a> = (&'a str, u64, Option<&'a String>);
    let mut found: BTreeMap<Key<'a>, (&'a Given, Vec<K>)> = BTreeMap::new();
    for (key, given) in all {
        let of = (given.label.as_str(), given.value.to_bits(), given.amplitude.as_ref());
        found.entry(of).or_insert_with(|| (given, Vec::new())).1.push(*key);
    }
    found.into_values().collect()
}
