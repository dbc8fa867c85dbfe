//! `*STEADY STATE DYNAMICS`, `*MODAL DYNAMIC`, `*MODAL DAMPING`: the motion under loads of the modes that the step before finds.

use super::super::tables::Tables;
use super::motion::Motion;
use super::prints::Item;
use super::steps::{ROUNDING, State, Step};
use super::{DeckStep, Reader};
use crate::io::inp::{Card, Mistake, Read};
use crate::model::{Amplitude, Damping, Excitation, Response};

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
        self.begin_motion(Excitation::History { times: times.collect(), amplitude: Amplitude(Vec::new()) });
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
        let (ratios, rayleigh, amplitude) = (Vec::new(), None, None);
        self.state.response = Some(Motion { excitation, ratios, rayleigh, amplitude });
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
        let Some(motion) = &mut self.state.response else {
            let message = "*MODAL DAMPING stands above the card that it belongs to";
            return Err(Mistake::at(
                card.place.clone(),
                message,
                "put it below *STEADY STATE DYNAMICS or *MODAL DYNAMIC",
            ));
        };
        match is_rayleigh {
            true => motion.rayleigh = read.first().map(|line| [line[2], line[3]]),
            false => motion.ratios = read.iter().map(|line| ([line[0] as usize, line[1] as usize], line[2])).collect(),
        }
        Ok(())
    }

    /// The factor of a load in a step of motion, whose amplitude all have.
    pub(super) fn in_motion(&mut self, card: &Card, name: Option<String>) -> Read<f64> {
        let written = self.deck.written(card);
        let refuse = |message: String, help: &str| Err(Mistake::at(card.place.clone(), message, help));
        if card.word("LOADCASE").is_some_and(|word| word != "1") {
            return refuse(format!("{written}: imaginary parts of loads are not read"), "give the real part alone");
        }
        let Some(motion) = &mut self.state.response else { return Ok(1.0) };
        match (&name, &motion.excitation) {
            // Supports are at rest there, or refused.
            (_, Excitation::History { .. }) if card.name == "BOUNDARY" => return Ok(1.0),
            (Some(name), _) if self.amplitudes[name].of_total_time => {
                return refuse(
                    format!("{name}: amplitudes over the total time are not read here"),
                    "count from this step",
                );
            }
            (Some(_), Excitation::Sweep { .. }) => {
                return refuse(format!("{written}: amplitudes over frequencies are not read"), "give the load itself");
            }
            _ => {}
        }
        match &motion.amplitude {
            Some(other) if *other != name => {
                let message = format!("{written}: the loads of a step of *MODAL DYNAMIC have one amplitude");
                refuse(message, "a deck for each amplitude; what they do adds up")
            }
            _ => {
                motion.amplitude = Some(name);
                Ok(1.0)
            }
        }
    }

    /// What is asked of the model.
    pub(super) fn response(&self, modes: &Step, step: &Step) -> Read<Option<Response>> {
        let Some(motion) = &step.state.response else { return Ok(None) };
        let refuse = |message: &str, help: &str| Err(Mistake::at(step.place.clone(), message, help));
        let Motion { excitation, ratios, rayleigh, amplitude } = motion;
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
            let message = "some modes are not damped, and at their frequencies the motion has no end";
            return refuse(message, &format!("*MODAL DAMPING\n1, {n_modes}, 0.02"));
        }
        let name = amplitude.clone().flatten();
        let State { supports, forces, pressures, bodies, .. } = &step.state;
        let mut excitation = excitation.clone();
        if let Excitation::History { amplitude, .. } = &mut excitation {
            if supports.values().any(|given| given.value != 0.0) {
                return refuse("supports that move in time are not solved", "*BOUNDARY with 0");
            }
            let number = step.state.number();
            let is_older = |given: usize| given != number;
            let older = forces.values().map(|given| given.step).chain(pressures.values().map(|given| given.step));
            if name.is_some() && (older.into_iter().any(is_older) || !bodies.is_empty()) {
                let message = "loads of the step before, or on bodies, stand beside those with an amplitude";
                return refuse(message, "OP=NEW drops loads of steps before");
            }
            *amplitude =
                name.and_then(|name| self.amplitudes.get(&name)).map_or(Amplitude(vec![]), |of| of.factors.clone());
        }
        Ok(Some(Response { excitation, damping }))
    }

    /// Makes tables of two steps: of modes, and of the motion under loads.
    pub(super) fn close_motion(&mut self, steps: Vec<Step>) -> Read<(Vec<Tables>, Vec<DeckStep>)> {
        let [modes, motion] = &steps[..] else { unreachable!("there are two") };
        if !motion.holds_as(modes) {
            let message = "this step is not held as the one whose modes it takes";
            return Err(Mistake::at(motion.place.clone(), message, "hold the same nodes in both"));
        }
        let printed = motion.state.prints.iter().find(|print| print.item == Item::Reaction);
        if printed.is_some() || !motion.state.sections.is_empty() {
            let message = "RF and forces on surfaces are not printed of the motion under loads";
            return Err(Mistake::at(motion.place.clone(), message, "leave RF and *SECTION PRINT out of this step"));
        }
        let mut closed = self.close_group(&steps[1..])?;
        let of_motion = closed.swap_remove(0);
        let of_modes = DeckStep { prints: modes.state.prints.clone(), sections: Vec::new(), ..of_motion.clone() };
        Ok((vec![self.tables.clone()], vec![of_modes, of_motion]))
    }
}
