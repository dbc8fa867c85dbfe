//! `*STEADY STATE DYNAMICS`, `*MODAL DYNAMIC`, `*MODAL DAMPING`, `*BASE MOTION`: the motion under loads of the modes that the step before finds.

use std::collections::BTreeSet;

use super::super::tables::Tables;
use super::motion::{Base, Motion};
use super::prints::Item;
use super::steps::{ROUNDING, State, Step};
use super::{DeckStep, Reader};
use crate::io::inp::{Card, Mistake, Place, Read};
use crate::model::{Amplitude, By, Damping, Drive, Excitation, Response};

/// Points from one natural frequency to the next, and their bias, where a deck does not say.
const POINTS: usize = 20;
const BIAS: f64 = 3.0;

impl Reader<'_> {
    /// `*STEADY STATE DYNAMICS`: a range of frequencies, points, bias.
    pub(super) fn steady_state(&mut self, card: &Card) -> Read {
        if card.word("HARMONIC").is_some_and(|word| word == "NO") {
            let message = "loads that are periodic and not harmonic are not solved";
            return Err(Mistake::at(card.place.clone(), message, "leave out HARMONIC=NO"));
        }
        let [first, last, points, bias] = self.numbers_of(card)?;
        let range = [first.unwrap_or(0.0), last.unwrap_or(0.0)];
        if !(0.0 <= range[0] && range[0] < range[1] && range[1].is_finite()) {
            let message = "the range of frequencies is not one";
            return Err(Mistake::at(card.place.clone(), message, "the lower, then the upper end: 10., 500."));
        }
        let (points, bias) = (points.map_or(POINTS, |points| points as usize), bias.unwrap_or(BIAS));
        if !(2..=10_000).contains(&points) || !(bias > 0.0 && bias.is_finite()) {
            let message = "points are from 2 to 10000, and the bias is larger than 0";
            return Err(Mistake::at(card.place.clone(), message, "10., 500., 20, 3."));
        }
        self.begin_motion(Excitation::Sweep { range, points, bias });
        Ok(())
    }

    /// `*MODAL DYNAMIC`: the increment and the length of the step.
    pub(super) fn modal_dynamic(&mut self, card: &Card) -> Read {
        if card.has("STEADYSTATE") {
            let message = "STEADY STATE: an end of the motion that is waited for is not solved";
            return Err(Mistake::at(card.place.clone(), message, "say how long the step is"));
        }
        let [increment, length] = self.numbers_of(card)?;
        let (Some(increment), Some(length)) = (increment, length) else {
            let message = "the increment and the length of the step are missing";
            return Err(Mistake::at(card.place.clone(), message, "*MODAL DYNAMIC\n1.e-4, 1.e-2"));
        };
        if !(increment > 0.0 && increment <= length && length.is_finite()) {
            let message = "the increment is more than 0, and not longer than the step";
            return Err(Mistake::at(card.place.clone(), message, "*MODAL DYNAMIC\n1.e-4, 1.e-2"));
        }
        let n = self.n_increments(card, increment, length)?;
        let times = (1..=n).map(|k| if k == n { length } else { k as f64 * increment });
        self.begin_motion(Excitation::History { times: times.collect() });
        Ok(())
    }

    /// How many increments of a length a step has, if it may.
    pub(super) fn n_increments(&self, card: &Card, increment: f64, length: f64) -> Read<usize> {
        let (n, most) = (((length / increment) * (1.0 - ROUNDING)).ceil(), self.state.n_increments);
        match n > most as f64 {
            true => {
                let message = format!("the step has {n} increments, and INC allows {most}");
                Err(Mistake::at(card.place.clone(), message, format!("*STEP, INC={n}")))
            }
            false => Ok(n as usize),
        }
    }

    fn begin_motion(&mut self, excitation: Excitation) {
        let (ratios, rayleigh, bases) = (Vec::new(), None, Vec::new());
        self.state.response = Some(Motion { excitation, ratios, rayleigh, bases });
    }

    /// The numbers of a card's only line; none where a field is empty.
    pub(super) fn numbers_of<const N: usize>(&self, card: &Card) -> Read<[Option<f64>; N]> {
        self.within_step(card)?;
        let (mut numbers, mut lines) = ([None; N], self.deck.lines(card));
        let fields = lines.next().map_or(Vec::new(), |line| line.fields());
        for (number, field) in numbers.iter_mut().zip(fields).filter(|(_, field)| !field.text.is_empty()) {
            *number = Some(field.number()?);
        }
        match lines.next() {
            None => Ok(numbers),
            Some(line) => {
                Err(Mistake::at(line.place, "one line is enough here", "is the card missing above this line?"))
            }
        }
    }

    /// `*MODAL DAMPING`: ratios of the first to the last of some modes, or Rayleigh's factors behind two empty fields.
    pub(super) fn modal_damping(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let is_rayleigh = card.has("RAYLEIGH");
        let mut read = Vec::new();
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let number =
                |k: usize| fields.get(k).filter(|field| !field.text.is_empty()).map_or(Ok(0.0), |f| f.number());
            let numbers = [number(0)?, number(1)?, number(2)?, number(3)?];
            let of_damping = if is_rayleigh { &numbers[2..] } else { &numbers[2..3] };
            if of_damping.iter().any(|value| !(*value >= 0.0 && value.is_finite())) {
                return Err(Mistake::at(line.place, "damping is 0 or more", "1, 10, 0.02: 2 % of modes 1 to 10"));
            }
            read.push(numbers);
        }
        let motion = self.motion(card)?;
        match is_rayleigh {
            true => motion.rayleigh = read.first().map(|line| [line[2], line[3]]),
            false => motion.ratios = read.iter().map(|line| ([line[0] as usize, line[1] as usize], line[2])).collect(),
        }
        Ok(())
    }

    /// What the step of a card of motion asks for.
    fn motion(&mut self, card: &Card) -> Read<&mut Motion> {
        let message = format!("{} is of steps of motion, and has their card above it", self.deck.written(card));
        let help = "put it below *STEADY STATE DYNAMICS or *MODAL DYNAMIC";
        self.state.response.as_mut().ok_or_else(|| Mistake::at(card.place.clone(), message, help))
    }

    /// `*BASE MOTION`: all that is held along a component moves.
    pub(super) fn base_motion(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let (written, place) = (self.deck.written(card), card.place.clone());
        let refuse =
            |message: &str, help: &str| Err(Mistake::at(card.place.clone(), format!("{written}: {message}"), help));
        if card.has("NSET") || card.has("BASENAME") {
            return refuse("all that is held along DOF moves", "*BOUNDARY with values moves some nodes alone");
        }
        let Some(amplitude) = card.parameter("AMPLITUDE").filter(|parameter| parameter.value.is_some()) else {
            return refuse("AMPLITUDE is missing", "DOF=3, AMPLITUDE=.. names how the base moves");
        };
        let component = match card.word("DOF").as_deref() {
            Some(dof @ ("1" | "2" | "3")) => dof.as_bytes()[0] - b'1',
            _ => return refuse("DOF is 1, 2 or 3", "supports move along x, y or z"),
        };
        let accelerates = match card.word("TYPE").as_deref() {
            None | Some("ACCELERATION") => true,
            Some("DISPLACEMENT") => false,
            Some(_) => return refuse("TYPE is ACCELERATION or DISPLACEMENT", "integrate velocities"),
        };
        let scale = match card.value("SCALE").map(|scale| scale.trim().parse::<f64>()) {
            None => 1.0,
            Some(Ok(scale)) if scale.is_finite() => scale,
            Some(_) => return refuse("SCALE is a number", "SCALE=9.81"),
        };
        let amplitude = self.amplitude_named(amplitude)?;
        self.check_in_motion(card, Some(&amplitude))?;
        let motion = self.motion(card)?;
        let begins_at_rest = matches!(motion.excitation, Excitation::Sweep { range: [first, _], .. } if first == 0.0);
        if accelerates && begins_at_rest {
            return refuse("an acceleration at frequency 0 moves it infinitely far", "begin the range above 0");
        }
        if motion.bases.iter().any(|base| base.component == component) {
            return refuse("this direction moves already", "one card for each DOF");
        }
        motion.bases.push(Base { component, amplitude, scale, accelerates, place });
        Ok(())
    }

    /// The factor of a load in a step of motion, whose amplitude it keeps.
    pub(super) fn in_motion(&mut self, card: &Card, name: Option<String>) -> Read<f64> {
        self.check_in_motion(card, name.as_ref())?;
        self.state.amplitude = name;
        Ok(1.0)
    }

    /// Refuses loads with a phase, and amplitudes that begin with the first step.
    fn check_in_motion(&self, card: &Card, name: Option<&String>) -> Read {
        let refuse = |message: String, help: &str| Err(Mistake::at(card.place.clone(), message, help));
        if card.word("LOADCASE").is_some_and(|word| word != "1") {
            let message = format!("{}: imaginary parts of loads are not read", self.deck.written(card));
            return refuse(message, "give the real part alone");
        }
        match name {
            Some(name) if self.amplitudes[name].of_total_time => {
                let message = format!("{name}: amplitudes over the total time are not read here");
                refuse(message, "count from this step")
            }
            _ => Ok(()),
        }
    }

    /// What is asked of the model.
    fn response(&self, modes: &Step, step: &Step, drives: Vec<Drive>) -> Read<Option<Response>> {
        let Some(Motion { excitation, ratios, rayleigh, .. }) = &step.state.response else { return Ok(None) };
        let mut excitation = excitation.clone();
        if let Excitation::History { times } = &mut excitation {
            *times = step.outputs().into_iter().map(|(_, time)| time).collect();
        }
        let damping = match rayleigh {
            Some(factors) => Damping::Rayleigh(*factors),
            None => {
                let n = ratios.iter().map(|([_, last], _)| *last).max().unwrap_or(0);
                // Those that no line names are not damped.
                let mut of_modes = vec![0.0; n + 1];
                for ([first, last], ratio) in ratios {
                    let range = first.saturating_sub(1)..*last;
                    of_modes.get_mut(range).into_iter().flatten().for_each(|of_mode| *of_mode = *ratio);
                }
                Damping::Ratios(of_modes)
            }
        };
        let n_modes = modes.state.modes.as_ref().map_or(0, |(_, n)| *n.get_ref() as usize);
        if !damping.damps_all(n_modes) && matches!(excitation, Excitation::Sweep { .. }) {
            let message = "some modes are not damped, and at their frequencies the motion is infinite";
            let help = format!("*MODAL DAMPING\n1, {n_modes}, 0.02");
            return Err(Mistake::at(step.place.clone(), message, help));
        }
        Ok(Some(Response { excitation, drives, damping }))
    }

    fn drive(&self, by: By, amplitude: Option<&String>) -> Drive {
        let factors = amplitude.and_then(|name| self.amplitudes.get(name)).map(|of| of.factors.clone());
        Drive { by, amplitude: factors.unwrap_or(Amplitude(Vec::new())) }
    }

    /// Refuses an amplitude by which supports jump: they begin at 0.
    fn check_continuous(&self, name: Option<&String>, place: &Place) -> Read {
        let amplitude = name.and_then(|name| self.amplitudes.get(name)).map(|of| &of.factors);
        let jumps = |pair: &&[[f64; 2]]| pair[0][0] >= pair[1][0] && pair[0][1] != pair[1][1];
        let jump = match amplitude {
            Some(amplitude) if amplitude.at(0.0) == 0.0 => amplitude.0.windows(2).find(jumps).map(|pair| pair[1][0]),
            _ => Some(0.0),
        };
        let Some(time) = jump else { return Ok(()) };
        let by = name.map_or("without an amplitude".into(), |name| format!("by the amplitude {name}"));
        let message = format!("supports jump at the time {time:?} {by}");
        Err(Mistake::at(place.clone(), message, "an *AMPLITUDE that begins at 0, and has one value at each time"))
    }

    /// How supports move; gives those of a base its displacement.
    fn moving_supports(&self, step: &mut Step) -> Read<Vec<Drive>> {
        let Some(Motion { excitation, bases, .. }) = step.state.response.clone() else { return Ok(Vec::new()) };
        let is_in_time = matches!(excitation, Excitation::History { .. });
        let moving = step.state.supports.values().find(|given| given.value != 0.0).cloned();
        let mut drives = Vec::new();
        if let (Some(given), false) = (&moving, bases.is_empty()) {
            let message = "supports move by *BOUNDARY and by *BASE MOTION";
            return Err(Mistake::at(given.place.clone(), message, "leave one of them out"));
        }
        let is_alike = |base: &Base| base.amplitude == bases[0].amplitude && base.accelerates == bases[0].accelerates;
        let are_alike = bases.iter().all(is_alike);
        for Base { component, amplitude, scale, accelerates, place } in &bases {
            let on_base = step.state.supports.iter_mut().filter(|((_, held), _)| held == component);
            let mut is_held = false;
            for ((node, _), given) in on_base {
                if self.frame_of.contains_key(node) || !(are_alike || self.is_in_body(*node)) {
                    let message = format!(
                        "node {node} has its own axes, or other nodes that follow it: it does not move as a base"
                    );
                    return Err(Mistake::at(place.clone(), message, "*BOUNDARY with values moves it"));
                }
                (given.value, is_held) = (*scale, true);
            }
            if !is_held {
                let message = "nothing is held along this direction: no base moves";
                return Err(Mistake::at(place.clone(), message, "hold nodes by *BOUNDARY: they are the base"));
            }
            if is_in_time && !accelerates {
                self.check_continuous(Some(amplitude), place)?;
            }
            let component = (!are_alike).then_some(usize::from(*component));
            let by = By::Supports { component, accelerates: *accelerates };
            if component.is_some() || drives.is_empty() {
                drives.push(self.drive(by, Some(amplitude)));
            }
        }
        if let Some(given) = moving {
            let mut others = step.state.supports.values().filter(|other| other.value != 0.0);
            if let Some(other) = others.find(|other| other.amplitude != given.amplitude) {
                let message = "supports that move have one amplitude";
                return Err(Mistake::at(other.place.clone(), message, "*BASE MOTION has one for each direction"));
            }
            if is_in_time {
                self.check_continuous(given.amplitude.as_ref(), &given.place)?;
            }
            let by = By::Supports { component: None, accelerates: false };
            drives.push(self.drive(by, given.amplitude.as_ref()));
        }
        Ok(drives)
    }

    /// Makes tables of two steps: of modes, and of the motion under loads. Loads of one amplitude are a load case.
    pub(super) fn close_motion(&mut self, mut steps: Vec<Step>) -> Read<(Vec<Tables>, Vec<DeckStep>)> {
        let mut motion = steps.pop().unwrap_or_else(|| unreachable!("there are two"));
        let modes = &steps[0];
        if !motion.holds_as(modes) {
            let message = "this step is not held as the one whose modes it takes";
            return Err(Mistake::at(motion.place.clone(), message, "hold the same nodes in both"));
        }
        if !motion.state.temperatures.is_empty() {
            let message = "temperatures are no loads of a motion";
            return Err(Mistake::at(motion.place.clone(), message, "leave *TEMPERATURE out of both steps"));
        }
        let mut printed = motion.state.prints.iter().filter(|print| print.item == Item::Reaction);
        if printed.any(|print| print.tags.iter().any(|tag| !self.is_in_body(*tag))) || !motion.state.sections.is_empty()
        {
            let message =
                "RF of nodes without elements and forces on surfaces are not printed of the motion under loads";
            return Err(Mistake::at(motion.place.clone(), message, "print RF of nodes of the body"));
        }
        let moving = self.moving_supports(&mut motion)?;
        let mut parts = motion.by_amplitudes();
        let drives = parts.iter().enumerate().map(|(case, (name, _))| self.drive(By::Loads(case), name.as_ref()));
        self.tables.response = self.response(modes, &motion, drives.chain(moving).collect())?;
        if parts.len() > 1 {
            parts.iter_mut().for_each(|(name, part)| part.name = Some(name.clone().unwrap_or("no amplitude".into())));
        }
        let parts: Vec<Step> = parts.into_iter().map(|(_, part)| part).collect();
        let mut closed = self.close_group(&parts)?;
        let of_motion = closed.swap_remove(0);
        let (prints, outputs) = (modes.state.prints.clone(), modes.outputs());
        let of_modes = DeckStep { prints, outputs, sections: Vec::new(), ..of_motion.clone() };
        Ok((vec![self.tables.clone()], vec![of_modes, of_motion]))
    }
}

impl Step {
    /// The same with the loads of one amplitude alone, for each; as it is without loads.
    fn by_amplitudes(&self) -> Vec<(Option<String>, Step)> {
        let State { forces, pressures, bodies, .. } = &self.state;
        let given = forces.values().chain(pressures.values()).map(|given| &given.amplitude);
        let all: BTreeSet<&Option<String>> = given.chain(bodies.iter().map(|body| &body.amplitude)).collect();
        let none = [&None].into_iter().filter(|_| all.is_empty());
        let part = |name: &Option<String>| {
            let mut part = self.clone();
            part.state.forces.retain(|_, given| given.amplitude == *name);
            part.state.pressures.retain(|_, given| given.amplitude == *name);
            part.state.bodies.retain(|body| body.amplitude == *name);
            (name.clone(), part)
        };
        all.iter().copied().chain(none).map(part).collect()
    }
}
