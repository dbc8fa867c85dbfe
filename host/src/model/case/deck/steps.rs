//! `*STEP` .. `*END STEP`: supports and loads at the end of each step.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;

use super::super::tables::{LoadCaseTable, Tables};
use super::bodies::Body;
use super::motion::{Heat, Heated, Increments, Motion};
use super::prints::{Print, SectionPrint};
use super::{DeckStep, PointsOfStep, Reader};
use crate::io::inp::{Card, Line, Mistake, Parameter, Place, Read};
use crate::model::{self, Excitation};
use crate::result::Study;

/// A node and a component, from 0: displacements, then rotations.
pub type Dof = (u64, u8);

/// A value that a card gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    pub value: f64,
    pub place: Place,
    /// The set that it was given to, or else the card.
    pub label: String,
    /// The step that it is of; 0 before the first.
    pub step: usize,
    /// What it is multiplied by over time, in steps of heat in time and of motion; there over frequencies too.
    pub amplitude: Option<String>,
}

/// What flows past a face: the temperature and the flow per area and difference of temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    pub ambient: Given,
    pub coefficient: f64,
}

/// Factors over time.
#[derive(Debug, Clone)]
pub struct Amplitude {
    /// Times with factors.
    pub(super) factors: model::Amplitude,
    /// Whether times are counted from the first step, not from the own.
    pub(super) of_total_time: bool,
}

/// Values by what they are of.
pub type Values<K> = BTreeMap<K, Given>;

/// What holds and loads the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    pub supports: Values<Dof>,
    pub forces: Values<Dof>,
    /// By elements and their faces.
    pub pressures: Values<(u64, usize)>,
    pub bodies: Vec<Body>,
    /// What flows into the body, at nodes by tag.
    pub concentrated: Values<u64>,
    pub fluxes: Values<Heated>,
    /// By elements and their faces.
    pub films: BTreeMap<(u64, usize), Film>,
    /// Of nodes by tag.
    pub temperatures: BTreeMap<u64, f64>,
    pub prints: Vec<Print>,
    pub sections: Vec<SectionPrint>,
    /// By names of cards: the last step with one, and whether the first there takes the place of others.
    first_ops: BTreeMap<String, (usize, bool)>,
    /// The number of the step that is being read, or was.
    number: usize,
    /// Where the step is that is being read.
    open: Option<Place>,
    /// Where it asks for large displacements.
    nlgeom: Option<Place>,
    is_static: bool,
    /// The amplitude of the card that is being read, in a step of heat in time or of motion.
    pub(super) amplitude: Option<String>,
    pub(super) heat: Option<Heat>,
    /// Whether it is about the state at the end of the step before.
    is_about_loads: bool,
    /// How many modes it asks for and of what, if it is of natural frequencies or of buckling.
    pub(super) modes: Option<(Study, Spanned<u64>)>,
    /// What it asks for of the motion under loads.
    pub(super) response: Option<Motion>,
    pub(super) time: f64,
    /// The total time when it begins, if that is not the end of the step before.
    pub(super) start: Option<f64>,
    /// How many increments it may have.
    pub(super) n_increments: usize,
    /// How many are from one in the files of fields to the next; 0 if there are none.
    pub(super) of_files: usize,
}

/// Cards of loads that only stress has.
const LOADS: [&str; 3] = ["CLOAD", "DLOAD", "DSLOAD"];
/// How far the last increment may be from the end of the step.
pub(super) const ROUNDING: f64 = 1e-9;
/// Increments of a step that does not say how many it may have.
const INCREMENTS: usize = 100;

/// A step.
#[derive(Debug, Clone)]
pub struct Step {
    /// What its load case is called, where there are several.
    pub name: Option<String>,
    pub state: State,
    /// When it ends.
    pub time: f64,
    pub(super) place: Place,
}

impl Step {
    /// When it begins.
    pub(super) fn start(&self) -> f64 {
        self.time - self.state.time
    }

    /// The increments that results are written after, by number, and when these end: with increments of one length those that
    /// cards ask for, else the last.
    pub(super) fn outputs(&self) -> Vec<(usize, f64)> {
        let ends: Vec<f64> = match (&self.state.heat, &self.state.response) {
            (Some(Heat { increments: Some(Increments::Direct(length)), .. }), _) => {
                let n = ((self.state.time / length) * (1.0 - ROUNDING)).ceil() as usize;
                (1..n).map(|k| self.start() + k as f64 * length).chain([self.time]).collect()
            }
            (_, Some(Motion { excitation: Excitation::History { times }, .. })) => times.clone(),
            _ => vec![self.time],
        };
        let every = self.state.prints.iter().map(|print| print.frequency).chain([self.state.of_files]);
        let every: Vec<usize> = every.filter(|every| *every > 0).collect();
        let is_asked = |k: usize| k == ends.len() || every.iter().any(|every| k.is_multiple_of(*every));
        (1..).zip(ends.iter().copied()).filter(|(k, _)| is_asked(*k)).collect()
    }

    /// Whether the same nodes are held at the same values, and at the same temperatures, as load cases are.
    fn is_held_as(&self, other: &Step) -> bool {
        let values = self.state.supports.values().zip(other.state.supports.values());
        let is_alone = |step: &Step| step.state.is_transient() || step.is_stressed();
        self.holds_as(other)
            && self.state.films == other.state.films
            && values.into_iter().all(|(a, b)| a.value == b.value)
            && !is_alone(self)
            && !is_alone(other)
    }

    /// Whether it is of heat and of the stress that this causes.
    fn is_stressed(&self) -> bool {
        self.state.heat.as_ref().is_some_and(|heat| heat.is_stressed)
    }

    /// The same at any values.
    pub(super) fn holds_as(&self, other: &Step) -> bool {
        let [own, of] = [&self.state, &other.state];
        own.supports.keys().eq(of.supports.keys()) && own.temperatures == of.temperatures
    }
}

impl State {
    /// Gives a value: more to what has one of this step, a new one to what has one of a step before.
    ///
    /// # Errors
    ///
    /// They have two amplitudes.
    pub fn add<K: Ord>(values: &mut Values<K>, key: K, given: Given) -> Read {
        match values.get_mut(&key) {
            Some(known) if known.step == given.step && known.amplitude != given.amplitude => {
                let message = "this adds to a load of another amplitude in the same place";
                return Err(Mistake::at(given.place, message, "one *AMPLITUDE that is the sum of both"));
            }
            Some(known) if known.step == given.step => known.value += given.value,
            _ => {
                values.insert(key, given);
            }
        }
        Ok(())
    }

    /// Whether a card takes the place of all of its kind in steps before: the first of a step may.
    ///
    /// # Errors
    ///
    /// `OP` is neither NEW nor MOD, or is NEW on a later card, which programs take differently.
    pub fn replaces(&mut self, card: &Card) -> Read<bool> {
        let is_new = match card.word("OP").as_deref() {
            None | Some("MOD") => false,
            Some("NEW") => true,
            Some(_) => {
                let help = "OP=NEW drops what is of steps before, OP=MOD adds to it";
                let place = card.parameter("OP").map_or(card.place.clone(), |op| op.place.clone());
                return Err(Mistake::at(place, "OP is NEW or MOD", help));
            }
        };
        let first = self.first_ops.entry(card.name.clone()).or_default();
        match *first {
            _ if self.number == 0 => Ok(false),
            (step, _) if step != self.number => {
                *first = (self.number, is_new);
                Ok(is_new)
            }
            (_, false) if is_new => {
                let message = "OP=NEW stands on a later card of this kind in the step";
                Err(Mistake::at(card.place.clone(), message, "put it on the first, which it then holds for"))
            }
            _ => Ok(false),
        }
    }

    /// Whether it is of heat in time.
    pub fn is_transient(&self) -> bool {
        self.heat.as_ref().is_some_and(|heat| heat.increments.is_some())
    }

    /// A value of this step.
    pub fn given(&self, value: f64, place: Place, label: &str) -> Given {
        Given { value, place, label: label.to_string(), step: self.number, amplitude: self.amplitude.clone() }
    }

    /// The number of the step.
    pub fn number(&self) -> usize {
        self.number
    }
}

/// The card of a study of modes.
fn card_of(study: Study) -> &'static str {
    if study == Study::Modal { "*FREQUENCY" } else { "*BUCKLE" }
}

/// Refuses one line more.
fn last_line(more: Option<Line<'_>>, message: &str) -> Read {
    match more {
        Some(line) => Err(Mistake::at(line.place, message, "is the card missing above this line?")),
        None => Ok(()),
    }
}

/// Refuses steps of heat beside others, and stress behind heat in time in several steps.
fn check_heat(steps: &[Step]) -> Read {
    let Some(first) = steps.iter().find(|step| step.state.heat.is_some()) else { return Ok(()) };
    let is_alike = |step: &&Step| step.state.heat.is_some() && step.is_stressed() == first.is_stressed();
    if steps.iter().filter(is_alike).count() < steps.len() {
        let message = "steps of heat and others stand in one deck: neither takes over what the other finds";
        let help = "a deck for each; *UNCOUPLED TEMPERATURE-DISPLACEMENT finds temperatures and their stress";
        return Err(Mistake::at(first.place.clone(), message, help));
    }
    match steps.iter().find(|step| step.is_stressed() && step.state.is_transient()) {
        Some(step) if steps.len() > 1 => {
            let message = "heat in time and its stress are solved in a deck of one step";
            Err(Mistake::at(step.place.clone(), message, "STEADY STATE, or a deck for each step"))
        }
        _ => Ok(()),
    }
}

impl Reader<'_> {
    pub(super) fn step(&mut self, card: &Card) -> Read {
        if self.state.open.is_some() {
            return Err(Mistake::at(card.place.clone(), "a step begins within a step", "*END STEP ends one"));
        }
        let nlgeom = card.parameter("NLGEOM");
        let nlgeom = nlgeom.filter(|p| p.value.as_deref().is_none_or(|v| !v.eq_ignore_ascii_case("NO")));
        self.state.nlgeom = nlgeom.map(|parameter| parameter.place.clone());
        self.state.number += 1;
        self.state.is_about_loads = card.has("PERTURBATION") && self.state.number > 1;
        (self.state.open, self.state.is_static, self.state.time) = (Some(card.place.clone()), false, 1.0);
        self.state.start = None;
        (self.state.modes, self.state.response, self.state.heat) = (None, None, None);
        self.state.n_increments =
            card.parameter("INC").and_then(|inc| inc.value.as_ref()?.parse().ok()).unwrap_or(INCREMENTS);
        Ok(())
    }

    /// Refuses a step that asks for them; of heat alone they are nothing.
    pub(super) fn refuse_large_displacements(&self) -> Read {
        match self.state.nlgeom.clone() {
            Some(place) => {
                let message = "NLGEOM: large displacements are not solved";
                Err(Mistake::at(place, message, "leave it out for the linear answer"))
            }
            None => Ok(()),
        }
    }

    /// `*STATIC`: the first increment and the length of the step.
    pub(super) fn static_step(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        self.refuse_large_displacements()?;
        self.state.is_static = true;
        let mut lines = self.deck.lines(card);
        if let Some(line) = lines.next()
            && let Some(time) = line.fields().get(1).filter(|time| !time.text.is_empty())
        {
            let (first, whole) = (line.fields()[0].number_or_zero()?, time.number()?);
            if first > whole {
                let message = "the first increment is longer than the step";
                return Err(Mistake::at(line.place, message, "*STATIC\n0.1, 1."));
            }
            self.state.time = whole;
        }
        last_line(lines.next(), "*STATIC has one line")
    }

    /// `*FREQUENCY` and `*BUCKLE`: the number of modes, or of load factors; how they are found is for others.
    pub(super) fn modes_step(&mut self, card: &Card, study: Study) -> Read {
        self.within_step(card)?;
        let mut lines = self.deck.lines(card);
        let Some(line) = lines.next() else {
            let (what, number) = match study {
                Study::Buckling => ("load factors", "their number"),
                _ => ("modes", "the number of modes"),
            };
            let (message, help) =
                (format!("how many {what} are asked for?"), format!("write {number} on the next line"));
            return Err(Mistake::at(card.place.clone(), message, help));
        };
        let fields = line.fields();
        for bound in fields.iter().skip(1).take(2).filter(|_| study == Study::Modal) {
            if bound.number_or_zero()? != 0.0 {
                let message = "bounds of frequencies are not kept to: the lowest modes are solved for";
                return Err(Mistake::at(bound.place.clone(), message, "leave it out, and ask for more modes"));
            }
        }
        self.state.modes = Some((study, Spanned::new(fields[0].place.clone(), fields[0].integer()?)));
        last_line(lines.next(), &format!("{} has one line", card_of(study)))
    }

    /// Refuses a card outside of steps.
    pub(super) fn within_step(&self, card: &Card) -> Read {
        match self.state.open {
            Some(_) => Ok(()),
            None => {
                let message = format!("{} stands outside of a step", self.deck.written(card));
                Err(Mistake::at(card.place.clone(), message, "put it between *STEP and *END STEP"))
            }
        }
    }

    pub(super) fn end_step(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let place = self.state.open.take().unwrap_or_default();
        let State { is_static, modes, response, heat, .. } = &self.state;
        if heat.is_none() {
            self.refuse_large_displacements()?;
        }
        if !is_static && modes.is_none() && response.is_none() && heat.is_none() {
            let help =
                "*STATIC is linear statics, *FREQUENCY natural frequencies, *BUCKLE buckling, *HEAT TRANSFER heat";
            return Err(Mistake::at(place, "this step does not say what is solved", help));
        }
        let before = self.steps.last().map_or(0.0, |step| step.time);
        let start = self.state.start.unwrap_or(before);
        let step = Step { name: None, state: self.state.clone(), time: start + self.state.time, place };
        self.steps.push(step);
        Ok(())
    }

    pub(super) fn amplitude(&mut self, card: &Card) -> Read {
        let (name, _) = card.required("NAME")?;
        let is_other = card.word("DEFINITION").is_some_and(|word| word != "TABULAR");
        if is_other || ["USER", "SHIFTX", "SHIFTY"].iter().any(|word| card.has(word)) {
            let help = "list pairs of time and value";
            return Err(Mistake::at(card.place.clone(), "amplitudes of this kind are not read", help));
        }
        let mut numbers = Vec::new();
        for line in self.deck.lines(card) {
            for field in line.fields() {
                numbers.push(field.number()?);
            }
        }
        if numbers.is_empty() || numbers.len() % 2 == 1 {
            let help = "0., 0., 1., 1. is time and value, twice";
            return Err(Mistake::at(card.place.clone(), "an amplitude has pairs of time and value", help));
        }
        let factors = model::Amplitude(numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect());
        let of_total_time = card.word("TIME").is_some_and(|word| word.starts_with("TOTAL"));
        self.amplitudes.insert(name, Amplitude { factors, of_total_time });
        Ok(())
    }

    /// The factor of a card's values at the end of its step.
    pub(super) fn factor(&mut self, card: &Card) -> Read<f64> {
        if let Some(name) = card.parameter("TIMEDELAY").or(card.parameter("USER")).or(card.parameter("SUBMODEL")) {
            let message = format!("{}: {} is not supported", self.deck.written(card), name.name);
            return Err(Mistake::at(name.place.clone(), message, "give the values themselves"));
        }
        let parameter = card.parameter("AMPLITUDE");
        let name = parameter.map(|parameter| self.amplitude_named(parameter)).transpose()?;
        self.state.amplitude = None;
        if self.state.response.is_some() {
            return self.in_motion(card, name);
        }
        match (parameter, name) {
            (Some(parameter), Some(_)) if self.state.is_transient() && LOADS.contains(&card.name.as_str()) => {
                let message = "forces that change in time beside heat in time are not solved";
                Err(Mistake::at(parameter.place.clone(), message, "leave out AMPLITUDE: the load acts throughout"))
            }
            (_, Some(name)) if self.state.is_transient() => {
                self.state.amplitude = Some(name);
                Ok(1.0)
            }
            (_, Some(name)) => Ok(self.at_the_end(&name)),
            (_, None) => Ok(1.0),
        }
    }

    /// The amplitude that a parameter names.
    pub(super) fn amplitude_named(&self, parameter: &Parameter) -> Read<String> {
        let name = parameter.value.clone().unwrap_or_default().to_uppercase();
        match self.amplitudes.contains_key(&name) {
            true => Ok(name),
            false => {
                let message = format!("there is no amplitude {name}");
                Err(Mistake::at(parameter.place.clone(), message, "define it with *AMPLITUDE"))
            }
        }
    }

    /// The factor of an amplitude at the end of the step.
    pub(super) fn at_the_end(&self, name: &str) -> f64 {
        let Amplitude { factors, of_total_time } = &self.amplitudes[name];
        let before = self.steps.last().filter(|_| *of_total_time).map_or(0.0, |step| step.time);
        factors.at(before + self.state.time)
    }

    /// What is asked of the model: a step of natural frequencies or of buckling is the only one, or frequencies are about the
    /// state at the end of one of statics.
    fn close_study(&mut self, steps: &[Step]) -> Read {
        let of_motion = steps.iter().position(|step| step.state.response.is_some());
        match (steps, of_motion) {
            (_, None) => {}
            ([modes, _], Some(1)) if modes.state.modes.as_ref().is_some_and(|(of, _)| *of == Study::Modal) => {}
            (_, Some(motion)) => {
                let message = "the motion under loads is solved in a step behind one of *FREQUENCY alone";
                return Err(Mistake::at(steps[motion].place.clone(), message, "two steps: *FREQUENCY, and this one"));
            }
        }
        let of_modes = steps.iter().find_map(|step| Some((step.state.modes.clone()?, step)));
        let about_loads = steps.iter().find(|step| step.state.is_about_loads);
        let Some(((study, modes), step)) = of_modes else {
            return about_loads.map_or(Ok(()), |step| {
                let message = "PERTURBATION: statics about a loaded state are not solved";
                Err(Mistake::at(step.place.clone(), message, "a deck for the first step alone"))
            });
        };
        let is_prestressed = study == Study::Modal && steps.len() == 2 && step.state.is_about_loads;
        if is_prestressed {
            self.tables.analysis.prestress = Some(Spanned::new(step.place.clone(), true));
        } else if steps.len() > 1 && of_motion.is_none() {
            let message = format!("a {} step stands beside others, which do not change what it finds", card_of(study));
            let help = "a deck for this step alone; *STEP, PERTURBATION takes the stress of one *STATIC step before *FREQUENCY";
            return Err(Mistake::at(step.place.clone(), message, help));
        }
        self.tables.analysis.study = Some(Spanned::new(step.place.clone(), study.name().to_string()));
        self.tables.analysis.modes = Some(modes);
        Ok(())
    }

    /// Makes tables of the last state of each step: steps in a row that hold the same nodes at the same temperatures are the load
    /// cases of one model.
    pub(super) fn close_steps(&mut self) -> Read<(Vec<Tables>, Vec<DeckStep>)> {
        if let Some(place) = self.state.open.take() {
            return Err(Mistake::at(place, "this step has no end: the deck is cut", "*END STEP ends it"));
        }
        let mut steps = std::mem::take(&mut self.steps);
        if steps.is_empty() {
            let help = "*STEP\n*STATIC\n*CLOAD .. *END STEP".to_string();
            return Err(Box::new(Mistake {
                place: None,
                message: "the deck has no *STEP: nothing is solved".into(),
                help,
            }));
        }
        self.close_study(&steps)?;
        check_heat(&steps)?;
        if self.tables.analysis.prestress.is_some() {
            // Loads are those of the first step, and what is printed is of the second.
            let modes = steps.split_off(1);
            if !modes[0].is_held_as(&steps[0]) {
                let message = "this step is not held as the one whose stress it takes";
                return Err(Mistake::at(modes[0].place.clone(), message, "hold the same nodes in both"));
            }
            steps[0].state.prints = modes[0].state.prints.clone();
        }
        if steps.iter().any(|step| step.state.response.is_some()) {
            return self.close_motion(steps);
        }
        if steps.len() > 1 {
            steps.iter_mut().zip(1..).for_each(|(step, number)| step.name = Some(format!("step {number}")));
        }
        let (mut tables, mut closed) = (Vec::new(), Vec::new());
        let before = (self.tables.clone(), self.couplings.clone(), self.springs.clone());
        for group in steps.chunk_by(Step::is_held_as) {
            (self.tables, self.couplings, self.springs) = before.clone();
            closed.extend(self.close_group(group)?);
            tables.push(self.tables.clone());
        }
        Ok((tables, closed))
    }

    /// Makes tables of steps that hold the same nodes.
    pub(super) fn close_group(&mut self, steps: &[Step]) -> Read<Vec<DeckStep>> {
        let State { supports, temperatures, heat, .. } = &steps[0].state;
        // Where a step gives none the body is as warm as it was.
        self.temperatures.given.clear();
        if !temperatures.is_empty() {
            self.temperatures.given = self.temperatures.initial.clone();
            self.temperatures.given.extend(temperatures);
        }
        self.points = PointsOfStep::default();
        let on_held = match heat {
            Some(Heat { is_stressed: false, .. }) => {
                self.close_heat(steps)?;
                vec![Vec::new(); steps.len()]
            }
            Some(_) => {
                let before = self.tables.clone();
                self.close_heat(steps)?;
                let of_heat = std::mem::replace(&mut self.tables, before);
                self.close_statics(steps, Some(of_heat))?
            }
            None => self.close_statics(steps, None)?,
        };
        for step in steps.iter().filter(|step| !step.state.is_transient()) {
            let Some(name) = &step.name else { continue };
            let spanned = |text: &str| Spanned::new(step.place.clone(), text.to_string());
            let one = (spanned(name), Spanned::new(step.place.clone(), 1.0));
            let factors = self.is_loaded_in(name).then_some(one).into_iter().collect();
            let table = LoadCaseTable { name: spanned(name), factors: Spanned::new(step.place.clone(), factors) };
            self.tables.load_case.push(Spanned::new(step.place.clone(), table));
        }
        self.close_files();
        let held = supports.iter().filter(|((node, _), _)| !self.is_in_body(*node));
        let held: Vec<_> = held.map(|(dof, given)| (*dof, (Vec::new(), given.value))).collect();
        self.points.follows.extend(held);
        self.points.follows.append(&mut self.couplings.points.eliminated);
        let points = Arc::new(std::mem::take(&mut self.points));
        let now = if temperatures.is_empty() { &self.temperatures.initial } else { &self.temperatures.given };
        let temperatures = Arc::new(now.clone());
        let on_points = |step: &Step| {
            let forces = step.state.forces.iter().filter(|((node, _), _)| !self.is_in_body(*node));
            forces.map(|(dof, given)| (*dof, given.value)).collect()
        };
        let closed = steps.iter().zip(on_held).map(|(step, on_held)| DeckStep {
            outputs: step.outputs(),
            on_points: on_points(step),
            prints: step.state.prints.clone(),
            sections: step.state.sections.clone(),
            temperatures: temperatures.clone(),
            points: points.clone(),
            on_held,
        });
        Ok(closed.collect())
    }

    /// Tables of displacements and their loads, with the tables of the heat that they come from, if they do. Returns what loads on
    /// points put on prescribed ones in each step.
    fn close_statics(&mut self, steps: &[Step], heat: Option<Tables>) -> Read<Vec<Vec<(Dof, f64)>>> {
        let supports = &steps[0].state.supports;
        self.close_sections(false)?;
        match heat {
            Some(heat) => self.close_heated(heat, &steps[0])?,
            None => self.close_temperatures()?,
        }
        self.close_couplings(supports, steps)?;
        self.close_supports(supports);
        steps.iter().map(|step| self.close_loads(step)).collect()
    }

    /// Whether a load has this name.
    fn is_loaded_in(&self, step: &str) -> bool {
        let is_it = |name: &Option<Spanned<String>>| name.as_ref().is_some_and(|name| name.get_ref() == step);
        let Tables { nodal_force, pressure, load, flux, source, .. } = &self.tables;
        nodal_force.iter().any(|of| is_it(&of.name))
            || flux.iter().any(|of| is_it(&of.name))
            || source.iter().any(|of| is_it(&of.name))
            || pressure.iter().any(|of| is_it(&of.get_ref().name))
            || load.iter().any(|of| is_it(&of.get_ref().name))
    }
}
