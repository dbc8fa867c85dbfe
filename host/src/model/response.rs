//! The motion under loads by superposition of modes: steady vibration (`[harmonic]`, `*STEADY STATE DYNAMICS`), and motion in time
//! from rest (`*MODAL DYNAMIC`).
//!
//! Of mass-normalised modes phi of eigenvalue `w^2` (Clough, Penzien: Dynamics of structures, sec. 12-4), under several drives:
//!
//! ```text
//! q'' + 2 zeta w q' + w^2 q = sum phi . f b(t),   u = sum phi q
//! b = cos(W t):   u = Re U e^(i W t),   U = sum phi (phi . f) / (w^2 - W^2 + 2 i zeta w W)
//! ```
//!
//! Loads of amplitude a have `b = a`. Supports that move with `u_s s(t)`, in which u_s is what they do at rest, load what moves
//! beside u_s: f is `M u_s`, and `b = -s''`. Where s is linear between corners, these are jumps of the velocity.

use std::f64::consts::{PI, TAU};

use nalgebra::{Complex, Matrix4, Vector4};

use warpfem_text::number;

use super::amplitude::Amplitude;
use crate::result::Moment;

/// Points on each side of a natural frequency, the nearest where the amplitude is a tenth smaller than at its peak.
const NEAR: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Natural frequencies that are this near to each other, relative to them, are one.
const EQUAL: f64 = 1e-5;

/// What is asked of the motion under loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// When it is computed.
    pub excitation: Excitation,
    /// What excites it.
    pub drives: Vec<Drive>,
    /// How much the modes are damped.
    pub damping: Damping,
}

/// What excites a motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// Loads or supports.
    pub by: By,
    /// a over time, or over frequencies.
    pub amplitude: Amplitude,
}

/// What a drive is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The loads of an amplitude: of a load case, behind those of steps.
    Loads(usize),
    /// Supports.
    Supports {
        /// The component of their prescribed displacements that moves, if not all do.
        component: Option<usize>,
        /// Whether a is their acceleration, and not their displacement.
        accelerates: bool,
    },
}

impl Drive {
    /// All loads of a model, and all that its supports prescribe, as they are.
    pub fn all() -> Vec<Drive> {
        let supports = By::Supports { component: None, accelerates: false };
        [By::Loads(0), supports].map(|by| Drive { by, amplitude: Amplitude(Vec::new()) }).into()
    }
}

/// When a motion is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Excitation {
    /// `f cos(2 pi nu t)`, of points that are probed.
    Harmonic {
        /// Cycles per time, ascending.
        frequencies: Vec<f64>,
        /// Whether these are a range: natural frequencies in it, and some near them, are added.
        is_range: bool,
        /// Those at which fields are computed, ascending.
        fields: Vec<f64>,
    },
    /// The same with fields, at so many frequencies from each end or natural frequency of a range to the next.
    Sweep {
        /// The ends, in cycles per time.
        range: [f64; 2],
        /// How many, both ends among them.
        points: usize,
        /// The larger it is the nearer they are to the ends; 1 for equal distances.
        bias: f64,
    },
    /// From rest at 0.
    History {
        /// When fields are computed, ascending.
        times: Vec<f64>,
    },
}

/// A mode under loads.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedMode {
    /// `w^2`.
    pub eigenvalue: f64,
    /// `phi . f` of each drive.
    pub forces: Vec<f64>,
}

/// By what shapes are multiplied at a frequency or a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// Of each mode.
    pub modes: Vec<Complex<f64>>,
    /// b and s of each drive: of what f does at rest, to all other modes, and of u_s; s is 0 for loads.
    pub drives: Vec<[f64; 2]>,
}

/// Damping of modes.
#[derive(Debug, Clone, PartialEq)]
pub enum Damping {
    /// A part of the critical damping: of all modes, or of each, the last for those that follow.
    Ratios(Vec<f64>),
    /// `C = alpha M + beta K`.
    Rayleigh([f64; 2]),
}

impl Damping {
    /// Whether so many modes have some.
    pub fn damps_all(&self, n_modes: usize) -> bool {
        match self {
            Damping::Ratios(ratios) => (0..n_modes).all(|mode| ratios[mode.min(ratios.len() - 1)] > 0.0),
            Damping::Rayleigh(factors) => factors.iter().any(|factor| *factor > 0.0),
        }
    }

    /// `2 zeta w` of a mode.
    fn rate(&self, mode: usize, eigenvalue: f64) -> f64 {
        match self {
            Damping::Ratios(ratios) => 2.0 * ratios[mode.min(ratios.len() - 1)] * eigenvalue.sqrt(),
            Damping::Rayleigh([alpha, beta]) => alpha + beta * eigenvalue,
        }
    }
}

impl Response {
    /// The most steps with fields, of so many modes.
    pub fn n_steps(&self, modes: usize) -> usize {
        self.moments().len()
            * match &self.excitation {
                Excitation::Harmonic { fields, .. } => fields.len(),
                Excitation::Sweep { points, .. } => (modes + 1) * (points - 1) + 1,
                Excitation::History { times, .. } => times.len(),
            }
    }

    /// The time of a step with fields, if it is one.
    pub fn time(&self, step: usize) -> Option<f64> {
        match &self.excitation {
            Excitation::History { times, .. } => times.get(step).copied(),
            _ => None,
        }
    }

    /// The name of a step with fields.
    pub fn step_name(&self, step: usize) -> String {
        let moments = self.moments();
        let (number_of, moment) = (step / moments.len() + 1, moments[step % moments.len()]);
        match moment {
            Moment::Time => format!("time {}", self.time(step).map_or(String::new(), |time| number(time, 6))),
            Moment::Real => format!("response {number_of}, real"),
            Moment::Imaginary => format!("response {number_of}, imaginary"),
        }
    }

    /// What the steps with fields of a frequency or a time are of.
    pub fn moments(&self) -> &'static [Moment] {
        match self.excitation {
            Excitation::History { .. } => &[Moment::Time],
            _ => &[Moment::Real, Moment::Imaginary],
        }
    }

    /// The largest frequency that loads have, if it is known.
    pub fn highest(&self) -> Option<f64> {
        match &self.excitation {
            Excitation::Harmonic { frequencies, fields, .. } => {
                frequencies.last().into_iter().chain(fields.last()).copied().reduce(f64::max)
            }
            Excitation::Sweep { range, .. } => Some(range[1]),
            Excitation::History { .. } => None,
        }
    }

    /// The frequencies of the curves of probes, for a body of these eigenvalues.
    pub fn probed(&self, eigenvalues: &[f64]) -> Vec<f64> {
        let Excitation::Harmonic { frequencies, is_range, .. } = &self.excitation else { return Vec::new() };
        let mut points = frequencies.clone();
        if let ([first, .., last], true) = (&frequencies[..], is_range) {
            for (mode, eigenvalue) in eigenvalues.iter().enumerate().filter(|(_, eigenvalue)| **eigenvalue > 0.0) {
                // Half the width of the peak, where the amplitude is 1 / sqrt 2 of it.
                let (natural, half) = (eigenvalue.sqrt() / TAU, self.damping.rate(mode, *eigenvalue) / (4.0 * PI));
                let near = NEAR.iter().flat_map(|width| [natural - width * half, natural + width * half]);
                points.extend(near.chain([natural]).filter(|point| first < point && point < last));
            }
        }
        moving(points, eigenvalues)
    }

    /// The frequencies or times with fields, for a body of these eigenvalues.
    pub fn shown(&self, eigenvalues: &[f64]) -> Vec<f64> {
        match &self.excitation {
            Excitation::Harmonic { fields, .. } => moving(fields.clone(), eigenvalues),
            Excitation::History { times, .. } => times.clone(),
            Excitation::Sweep { range: [first, last], points, bias } => {
                let natural = eigenvalues.iter().map(|eigenvalue| eigenvalue.sqrt() / TAU);
                let mut ends: Vec<f64> = natural.filter(|natural| first < natural && natural < last).collect();
                ends.extend([*first, *last]);
                ends.sort_by(f64::total_cmp);
                ends.dedup_by(|next, before| *next - *before <= EQUAL * *before);
                let at = |[low, high]: [f64; 2], i: usize| {
                    let place = 2.0 * i as f64 / (points - 1) as f64 - 1.0;
                    0.5 * (low + high) + 0.5 * (high - low) * place.abs().powf(bias.recip()).copysign(place)
                };
                let between = ends.windows(2).flat_map(|pair| (0..points - 1).map(move |i| at([pair[0], pair[1]], i)));
                moving(between.chain([*last]).collect(), eigenvalues)
            }
        }
    }

    /// By what shapes are multiplied at frequencies, or at times.
    pub fn factors(&self, at: &[f64], modes: &[LoadedMode]) -> Vec<Factors> {
        match &self.excitation {
            Excitation::History { .. } => self.in_time(at, modes),
            _ => at.iter().map(|frequency| self.at_frequency(*frequency, modes)).collect(),
        }
    }

    fn at_frequency(&self, frequency: f64, modes: &[LoadedMode]) -> Factors {
        let speed = TAU * frequency;
        let of_drive = |Drive { by, amplitude }: &Drive| match (by, amplitude.at(frequency)) {
            (By::Loads(_), a) => [a, 0.0],
            (By::Supports { accelerates: false, .. }, a) => [speed * speed * a, a],
            (By::Supports { accelerates: true, .. }, a) => [-a, -a / (speed * speed)],
        };
        let drives: Vec<[f64; 2]> = self.drives.iter().map(of_drive).collect();
        let of = |(mode, LoadedMode { eigenvalue, forces }): (usize, &LoadedMode)| {
            let resistance = Complex::new(eigenvalue - speed * speed, self.damping.rate(mode, *eigenvalue) * speed);
            let force: f64 = forces.iter().zip(&drives).map(|(force, [b, _])| force * b).sum();
            if force == 0.0 { Complex::ZERO } else { Complex::from(force) / resistance }
        };
        Factors { modes: modes.iter().enumerate().map(of).collect(), drives }
    }

    /// By the exponential of the equation's matrix from one time, or corner of an amplitude, to the next: exact, as all are linear
    /// there.
    fn in_time(&self, times: &[f64], modes: &[LoadedMode]) -> Vec<Factors> {
        let end = times.last().copied().unwrap_or(0.0);
        let corners = self.drives.iter().flat_map(|drive| &drive.amplitude.0).map(|[time, _]| *time);
        let mut stops: Vec<f64> =
            corners.filter(|time| 0.0 < *time && *time < end).chain(times.iter().copied()).collect();
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        let starts = [0.0].into_iter().chain(stops.iter().copied());
        let spans: Vec<[f64; 2]> = starts.zip(&stops).map(|(start, stop)| [start, *stop]).collect();
        let drives: Vec<Vec<Span>> = self.drives.iter().map(|drive| drive.over(&spans)).collect();
        let of_mode = |(mode, LoadedMode { eigenvalue, forces }): (usize, &LoadedMode)| {
            // Of q, q', the force and its slope.
            let mut matrix = Matrix4::zeros();
            (matrix[(1, 0)], matrix[(1, 1)]) = (-eigenvalue, -self.damping.rate(mode, *eigenvalue));
            (matrix[(0, 1)], matrix[(1, 2)], matrix[(2, 3)]) = (1.0, 1.0, 1.0);
            let (mut state, mut step) = (Vector4::zeros(), (0.0, Matrix4::identity()));
            let reach = |(k, [start, stop]): (usize, &[f64; 2])| {
                let length = stop - start;
                if length != step.0 {
                    step = (length, (matrix * length).exp());
                }
                let sum =
                    |of: &dyn Fn(&Span) -> f64| forces.iter().zip(&drives).map(|(f, spans)| f * of(&spans[k])).sum();
                let (from, to, jump): (f64, f64, f64) = (sum(&|of| of.b[0]), sum(&|of| of.b[1]), sum(&|of| of.jump));
                let slope = if length > 0.0 { (to - from) / length } else { 0.0 };
                state = step.1 * Vector4::new(state[0], state[1] + jump, from, slope);
                state[0]
            };
            spans.iter().enumerate().map(reach).collect::<Vec<f64>>()
        };
        let motions: Vec<Vec<f64>> = modes.iter().enumerate().map(of_mode).collect();
        let asked = stops.iter().enumerate().filter(|(_, stop)| times.contains(stop));
        let factors = |(k, _): (usize, &f64)| Factors {
            modes: motions.iter().map(|motion| motion[k].into()).collect(),
            drives: drives.iter().map(|spans| [spans[k].b[1], spans[k].s]).collect(),
        };
        asked.map(factors).collect()
    }
}

/// A drive from one time to the next.
struct Span {
    /// b, at the start and at the end.
    b: [f64; 2],
    /// How much the integral of b jumps at the start.
    jump: f64,
    /// s at the end.
    s: f64,
}

impl Drive {
    fn over(&self, spans: &[[f64; 2]]) -> Vec<Span> {
        let (mut s, mut speed) = (0.0, 0.0);
        let over = |[start, stop]: &[f64; 2]| {
            let (length, a) = (stop - start, [self.amplitude.after(*start), self.amplitude.at(*stop)]);
            match self.by {
                By::Loads(_) => Span { b: a, jump: 0.0, s: 0.0 },
                By::Supports { accelerates: true, .. } => {
                    s += length * (speed + length * (2.0 * a[0] + a[1]) / 6.0);
                    speed += 0.5 * length * (a[0] + a[1]);
                    Span { b: a.map(|a| -a), jump: 0.0, s }
                }
                By::Supports { .. } => {
                    let before = speed;
                    speed = if length > 0.0 { (a[1] - a[0]) / length } else { before };
                    Span { b: [0.0; 2], jump: before - speed, s: a[1] }
                }
            }
        };
        spans.iter().map(over).collect()
    }
}

/// Frequencies in order, without 0 if the body is free, as loads at rest would move it away.
fn moving(mut frequencies: Vec<f64>, eigenvalues: &[f64]) -> Vec<f64> {
    let is_free = eigenvalues.contains(&0.0);
    frequencies.retain(|frequency| *frequency > 0.0 || !is_free);
    frequencies.sort_by(f64::total_cmp);
    frequencies.dedup();
    frequencies
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    fn ratio(ratio: f64) -> Damping {
        Damping::Ratios(vec![ratio])
    }

    fn over(frequencies: &[f64], is_range: bool, damping: Damping) -> Response {
        let excitation = Excitation::Harmonic { frequencies: frequencies.to_vec(), is_range, fields: vec![] };
        Response { excitation, drives: Drive::all(), damping }
    }

    fn loaded(eigenvalue: f64, force: f64) -> LoadedMode {
        LoadedMode { eigenvalue, forces: vec![force, 0.0] }
    }

    fn supports(accelerates: bool, amplitude: &[[f64; 2]]) -> Drive {
        Drive { by: By::Supports { component: None, accelerates }, amplitude: Amplitude(amplitude.to_vec()) }
    }

    #[test]
    fn an_oscillator_lags_by_a_quarter_at_its_natural_frequency() {
        let (stiffness, mass, part) = (9.0, 4.0f64, 0.05);
        let (eigenvalue, natural) = (stiffness / mass, (stiffness / mass).sqrt() / TAU);
        let amplitude = |damping: &Damping, frequency: f64| {
            // A mode of unit modal mass: phi = 1 / sqrt m.
            let mode = loaded(eigenvalue, 1.0 / mass.sqrt());
            over(&[], false, damping.clone()).factors(&[frequency], &[mode])[0].modes[0] / mass.sqrt()
        };
        let damped = ratio(part);
        assert!((amplitude(&damped, 0.0) - Complex::new(1.0 / stiffness, 0.0)).norm() < 1e-15);
        let at_peak = amplitude(&damped, natural);
        assert!((at_peak.norm() - 1.0 / (2.0 * part * stiffness)).abs() < 1e-12);
        assert!((at_peak.arg() + PI / 2.0).abs() < 1e-12);
        assert!((amplitude(&damped, 100.0 * natural).arg() + PI).abs() < 0.01);
        // Rayleigh's damping with the same ratio at this mode, by its mass and by its stiffness.
        let root = eigenvalue.sqrt();
        for rayleigh in [[2.0 * part * root, 0.0], [0.0, 2.0 * part / root]] {
            assert!((amplitude(&Damping::Rayleigh(rayleigh), natural) - at_peak).norm() < 1e-12);
        }
    }

    #[test]
    fn an_oscillator_on_a_support_that_moves() {
        // Its displacement beside the support's is W^2 / (w^2 - W^2) of that; an acceleration is -W^2 times a displacement.
        let mode = LoadedMode { eigenvalue: 4.0, forces: vec![1.0] };
        for (accelerates, a) in [(false, 1.0), (true, -9.0)] {
            let drives = vec![supports(accelerates, &[[0.0, 0.0], [3.0 / TAU, a], [1.0, 7.0]])];
            let response = Response { drives, ..over(&[], false, ratio(0.0)) };
            let Factors { modes, drives } = &response.factors(&[3.0 / TAU], slice::from_ref(&mode))[0];
            assert!((modes[0] - Complex::from(9.0 / (4.0 - 9.0))).norm() < 1e-12);
            assert!((drives[0][0] - 9.0).abs() < 1e-12 && (drives[0][1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn peaks_are_not_missed_between_the_points_of_a_range() {
        let eigenvalues = [(TAU * 3.3f64).powi(2), (TAU * 20.0f64).powi(2), 0.0];
        let range = [1.0, 5.0, 9.0];
        let points = over(&range, true, ratio(0.01)).probed(&eigenvalues);
        assert!(points.is_sorted() && points.len() == 3 + 9, "{points:?}");
        assert!(points.iter().any(|point| (point - 3.3).abs() < 1e-12));
        assert!(points.iter().any(|point| (point - 3.3 * 1.01).abs() < 1e-12), "half the width of the peak");
        let from_rest = over(&[0.0, 1.0], true, ratio(0.01));
        assert_eq!((from_rest.probed(&[0.0]), from_rest.probed(&[1e4])), (vec![1.0], vec![0.0, 1.0]));
        assert_eq!(over(&range, false, ratio(0.01)).probed(&eigenvalues), range);
    }

    /// As CalculiX has them: 4 points, bias 3.
    #[test]
    fn a_sweep_goes_from_one_natural_frequency_to_the_next() {
        let natural = [84.5838348, 84.5838349, 524.8];
        let eigenvalues = natural.map(|frequency: f64| (TAU * frequency).powi(2));
        let excitation = Excitation::Sweep { range: [50.0, 300.0], points: 4, bias: 3.0 };
        let sweep = Response { excitation, drives: Drive::all(), damping: ratio(0.02) };
        let expected = [50.0, 55.30237152, 79.28146329, 84.5838348, 117.6113040, 266.9725308, 300.0];
        let shown = sweep.shown(&eigenvalues);
        let apart = shown.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        assert!(shown.len() == expected.len() && apart.fold(0.0, f64::max) < 1e-6, "{shown:?}");
        assert!(2 * shown.len() <= sweep.n_steps(2) && sweep.step_name(3) == "response 2, imaginary");
    }

    #[test]
    fn the_last_ratio_is_that_of_all_further_modes() {
        let damping = Damping::Ratios(vec![0.1, 0.2]);
        assert_eq!([0, 1, 2, 9].map(|mode| damping.rate(mode, 4.0)), [0.4, 0.8, 0.8, 0.8]);
    }

    fn history(times: &[f64], amplitude: &[[f64; 2]], damping: Damping, mode: &LoadedMode) -> Vec<f64> {
        let drives = vec![Drive { by: By::Loads(0), amplitude: Amplitude(amplitude.to_vec()) }];
        let response = Response { excitation: Excitation::History { times: times.to_vec() }, drives, damping };
        response.factors(times, slice::from_ref(mode)).iter().map(|factors| factors.modes[0].re).collect()
    }

    #[test]
    fn motion_from_rest_under_a_load_that_stays_that_grows_and_that_jumps() {
        let (speed, part, force) = (5.0f64, 0.1f64, 2.0);
        let (mode, damped) = (loaded(speed * speed, force), speed * (1.0 - part * part).sqrt());
        let step = |t: f64| {
            let swing = (damped * t).cos() + part * speed / damped * (damped * t).sin();
            if t > 0.0 { force / (speed * speed) * (1.0 - (-part * speed * t).exp() * swing) } else { 0.0 }
        };
        let times = [0.1, 0.35, 0.4, 2.0];
        let is_near = |found: Vec<f64>, expected: &dyn Fn(f64) -> f64| {
            found.iter().zip(times).all(|(found, t)| (found - expected(t)).abs() < 1e-12)
        };
        assert!(is_near(history(&times, &[], ratio(part), &mode), &step));
        // On at 0.2, and off at 0.37.
        let pulse = [[0.2, 0.0], [0.2, 1.0], [0.37, 1.0], [0.37, 0.0]];
        assert!(is_near(history(&times, &pulse, ratio(part), &mode), &|t| step(t - 0.2) - step(t - 0.37)));
        // Without damping, under t f: f / w^2 (t - sin(w t) / w).
        let ramp = |t: f64| force / (speed * speed) * (t - (speed * t).sin() / speed);
        assert!(is_near(history(&times, &[[0.0, 0.0], [9.0, 9.0]], ratio(0.0), &mode), &ramp));
        // Free: f t^2 / 2.
        assert!(is_near(history(&times, &[], ratio(part), &loaded(0.0, force)), &|t| 0.5 * force * t * t));
    }

    #[test]
    fn motions_under_drives_of_their_own_amplitudes_add_up() {
        let (times, damping) = ([0.1, 0.35, 0.4, 2.0], ratio(0.1));
        let amplitudes = [vec![[0.0, 0.0], [0.37, 1.0], [0.37, 0.5]], vec![], vec![[0.05, 2.0], [1.0, -1.0]]];
        let forces = vec![2.0, -1.0, 3.0];
        let drive = |amplitude: &Vec<_>| Drive { by: By::Loads(0), amplitude: Amplitude(amplitude.clone()) };
        let drives = amplitudes.iter().map(drive).collect();
        let excitation = Excitation::History { times: times.to_vec() };
        let response = Response { excitation, drives, damping: damping.clone() };
        let together = response.factors(&times, &[LoadedMode { eigenvalue: 25.0, forces: forces.clone() }]);
        let alone =
            amplitudes.iter().zip(forces).map(|(a, force)| history(&times, a, damping.clone(), &loaded(25.0, force)));
        let sums = alone.reduce(|sums, more| sums.iter().zip(more).map(|(sum, more)| sum + more).collect()).unwrap();
        assert!(together.iter().zip(sums).all(|(found, sum)| (found.modes[0].re - sum).abs() < 1e-12));
    }

    /// Without damping: beside a support that moves on with speed v from 0.2 on, q = -v sin(w (t - 0.2)) / w; with acceleration v, the
    /// integral of that.
    #[test]
    fn motion_beside_supports_that_begin_to_move() {
        let (times, speed, v) = ([0.1, 0.35, 0.4, 2.0], 5.0, 3.0);
        for (accelerates, a) in [(false, [[0.2, 0.0], [9.2, 9.0 * v]]), (true, [[0.2, 0.0], [0.2, v]])] {
            let (excitation, drives) = (Excitation::History { times: times.to_vec() }, vec![supports(accelerates, &a)]);
            let response = Response { excitation, drives, damping: ratio(0.0) };
            let found = response.factors(&times, &[LoadedMode { eigenvalue: speed * speed, forces: vec![1.0] }]);
            for (Factors { modes, drives }, t) in found.iter().zip(times.map(|t| f64::max(t - 0.2, 0.0))) {
                let (q, s) = match accelerates {
                    false => (-v * (speed * t).sin() / speed, v * t),
                    true => (-v * (1.0 - (speed * t).cos()) / (speed * speed), 0.5 * v * t * t),
                };
                assert!(
                    (modes[0].re - q).abs() < 1e-12 && (drives[0][1] - s).abs() < 1e-12,
                    "{t}: {modes:?} {drives:?}"
                );
            }
        }
    }
}
