//! `summary.json`: the run in numbers. Its keys are stable: they may be added to, never renamed.
//!
//! Keys appear in the order of the fields: results before how they came about. Numbers that are not finite are written
//! as `null`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

use super::away::Spot;
use super::distribution::{Distribution, Peak, Range};
use super::modes::{Mode, Vibration};
use super::points::{ProbeResult, SafetyFactor};
use super::resolution::{COARSE, ERROR};
use super::solver::Solver;
use crate::model::MassProperties;
use crate::pipeline;
use crate::result::{self, FieldInfo, Physics, Quantity, Series, Table, Units};
use warpfem_text::{count, engineering, percent, vector};

/// The whole summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The case file's name without extension.
    pub case: String,
    /// The version of the program.
    pub version: String,
    /// Number of nodes of the mesh.
    pub nodes: usize,
    /// Number of elements that were assembled.
    pub elements: usize,
    /// Number of degrees of freedom, prescribed ones included.
    pub dofs: usize,
    /// The device that solved it, in words.
    pub device: String,
    /// What numbers are labelled with, if the case says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// Mass, centre of mass and inertia, if all materials have a density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<MassProperties>,
    /// The name of the step that it is of; empty where there is one without a name, and of the summary of all.
    #[serde(skip)]
    pub step: String,
    /// The results in a few numbers; of several steps those of the first.
    pub results: Results,
    /// The load cases, or the modes and the motion under loads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepSummary>,
    /// The load case with the largest von Mises stress or gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governing_case: Option<String>,
    /// The results at probes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeResult>,
    /// Where the loads of `[harmonic]` move probes most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response: Vec<PeakResponse>,
    /// What was worth saying.
    pub warnings: Vec<String>,
    /// The names of the pictures that were drawn.
    pub pictures: Vec<String>,
    /// How it was solved.
    pub solver: Solver,
    /// Where the time went.
    pub timings_s: Timings,
}

impl Summary {
    /// The step in words: `storm`, `time 60`, `mode 3, 120.4 Hz`, or `mode 1, load factor 2.5`.
    pub fn step_title(&self) -> String {
        match self.results.mode {
            Some(Mode::Vibration { frequency, .. }) => {
                format!("{}, {}", self.step, result::frequency(frequency, self.units))
            }
            Some(Mode::Buckling { load_factor, .. }) => {
                format!("{}, load factor {}", self.step, engineering(load_factor))
            }
            None => match self.results.vibration {
                Some(Vibration { frequency, .. }) => {
                    format!("{}, {}", self.step, result::frequency(frequency, self.units))
                }
                None => self.step.clone(),
            },
        }
    }

    /// How far the answer can be trusted, in words.
    pub fn accuracy(&self) -> String {
        let Solver { relative_residual: residual, .. } = self.solver;
        let what = self.results.physics.words().unknowns;
        if self.results.has_no_loads() {
            let error = self.solver.error_estimate.unwrap_or(f64::NAN);
            return format!("estimated error of the eigenvalue {error:.0e}, relative residual {residual:.1e}");
        }
        match (self.solver.digits, self.solver.error_estimate) {
            (Some(digits), Some(_)) if self.solver.converged => {
                let mesh =
                    self.results.mesh_error.map_or("unknown".into(), |error| format!("about {}", percent(error)));
                format!("{what} right to about {digits} digits, mesh error {mesh}")
            }
            (_, Some(error)) => {
                format!("estimated error of {error:.0e} in the energy norm, relative residual {residual:.1e}")
            }
            _ => format!("estimated error unknown, relative residual {residual:.1e}"),
        }
    }
}

/// The largest vibration of a probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeakResponse {
    /// The probe's name.
    pub name: String,
    /// Where it is largest, in cycles per time.
    pub frequency: f64,
    /// How far it moves there.
    pub amplitude: f64,
    /// Whether the range ends there: beyond it may move more.
    #[serde(skip)]
    pub is_at_end: bool,
}

impl PeakResponse {
    /// Of each curve.
    pub fn of(series: &[Series]) -> Vec<PeakResponse> {
        let of_series = |series: &'_ Series| {
            let ends = [series.at.first().copied(), series.at.last().copied()];
            let peak = |(name, frequency, amplitude): (&str, f64, f64)| {
                let is_at_end = series.at.len() > 1 && ends.contains(&Some(frequency));
                PeakResponse { name: name.into(), frequency, amplitude, is_at_end }
            };
            series.peaks().map(peak).collect::<Vec<_>>()
        };
        series.iter().filter(|series| series.name == "response").flat_map(of_series).collect()
    }
}

/// A load case, or a mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepSummary {
    /// Its name.
    pub name: String,
    /// What a mode is of, if it is one.
    #[serde(flatten)]
    pub mode: Option<Mode>,
    /// Or a part of a vibration under loads.
    #[serde(flatten)]
    pub vibration: Option<Vibration>,
    /// The time that it is of, if it is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Its results.
    pub results: Results,
    /// The results at probes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeResult>,
    /// How its solution ended.
    pub solver: StepSolver,
    /// The names of its files.
    pub files: Vec<String>,
}

/// How the solution of a step ended, as in [`Solver`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "they are those of `Solver`")]
pub struct StepSolver {
    pub iterations: usize,
    pub relative_residual: f64,
    pub error_estimate: Option<f64>,
    pub digits: Option<u32>,
    pub converged: bool,
    pub ending: String,
}

impl StepSummary {
    /// Of the summary of a step, with the names of its files.
    pub fn of(summary: &Summary, files: Vec<String>) -> StepSummary {
        let Solver { iterations, relative_residual, error_estimate, digits, converged, ending, .. } = &summary.solver;
        StepSummary {
            name: summary.step.clone(),
            mode: summary.results.mode,
            vibration: summary.results.vibration,
            time: summary.results.time,
            results: summary.results.clone(),
            probes: summary.probes.clone(),
            solver: StepSolver {
                iterations: *iterations,
                relative_residual: *relative_residual,
                error_estimate: *error_estimate,
                digits: *digits,
                converged: *converged,
                ending: ending.clone(),
            },
            files,
        }
    }
}

/// Wall-clock seconds by phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Reading or generating the mesh, and the checks.
    pub read: f64,
    /// Those of the solution.
    #[serde(flatten)]
    pub phases: pipeline::Timings,
    /// Writing the results.
    pub write: f64,
    /// From start to end.
    pub total: f64,
}

impl Timings {
    /// The phases by name, but for the last.
    pub fn before_writing(&self) -> [(&'static str, f64); 6] {
        let pipeline::Timings { setup, assembly, boundary, solve, stress } = self.phases;
        let names = ["read", "setup", "assembly", "boundary", "solve", "stress"];
        let times = [self.read, setup, assembly, boundary, solve, stress];
        std::array::from_fn(|i| (names[i], times[i]))
    }
}

/// The results in a few numbers, in the units of the case. Their keys are in the [`Words`](crate::result::Words) of the
/// physics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// What was solved for.
    pub physics: Physics,
    /// What it is of, if it is a mode.
    pub mode: Option<Mode>,
    /// Or if it is part of a vibration under loads.
    pub vibration: Option<Vibration>,
    /// Whether it is of the motion under loads: then, as of a mode, loads and reactions are none of them.
    pub is_response: bool,
    /// The time that it is of, if it is one of several.
    pub time: Option<f64>,
    /// The magnitude of the unknown at the nodes.
    pub unknown: Range,
    /// `u . K u / 2`.
    pub strain_energy: Option<f64>,
    /// The estimated error that the mesh makes, relative, in the energy norm, if it was asked for.
    pub mesh_error: Option<f64>,
    /// For each support, in the case file's order: the force it exerts on the body, or the flow into the body there.
    pub reactions: Vec<(String, Vec<f64>)>,
    /// The same of all supports; a node of several counts once.
    pub reaction_sum: Vec<f64>,
    /// Nodes at which several supports prescribe the same component: each of their reactions has all of the node's.
    pub shared_nodes: usize,
    /// The sum of the applied loads, or of what fluxes and sources bring into the body.
    pub applied: Vec<f64>,
    /// How far reactions and loads are from balance, relative to the magnitudes of all nodal forces.
    pub equilibrium_error: f64,
    /// Von Mises stress or the gradient's magnitude over the elements, at their centres.
    pub centres: Distribution,
    /// The same at the nodes.
    pub nodal: Peak,
    /// The same [away](super::away) from supports, point loads and sharp inner corners, if any node is.
    pub max_away: Option<Peak>,
    /// Whether that [rises](super::away::Near::rises) towards one of these.
    pub max_away_rises: Option<bool>,
    /// Where the stress grows with every refinement, beyond what there is away from these places.
    pub singular: Vec<Spot>,
    /// The smallest safety factor, if a material has a yield strength.
    pub min_safety_factor: Option<SafetyFactor>,
    /// The same away from supports, point loads and sharp inner corners, if any node is.
    pub min_safety_factor_away: Option<SafetyFactor>,
    /// The scalars of the fields that were asked for, by name.
    pub ranges: Vec<(String, Quantity, Range)>,
    /// The tables that have no key of their own above.
    pub tables: Vec<Table>,
    /// How far the stress is from linear in the elements at the largest one [away](super::away), as
    /// [`unresolved`](super::resolution::unresolved) says; 0 where that rises.
    pub unresolved: f64,
    /// The sizes of the forces at nodes, loads or reactions, whichever add up to more: what loads that balance each
    /// other leave is rounding beside it.
    pub nodal_forces: f64,
}

/// Numbers of a node or a support: alone as a number, several as a list.
struct Numbers<'a>(&'a [f64]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [number] = self.0 { number.serialize(serializer) } else { self.0.serialize(serializer) }
    }
}

/// An object that keeps the order of its entries.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

/// The rows of a table.
fn rows(rows: &[(String, Vec<f64>)]) -> Object<&str, Numbers<'_>> {
    Object(rows.iter().map(|(name, numbers)| (name.as_str(), Numbers(numbers))).collect())
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (words, unknown) = (self.physics.words(), &self.unknown);
        let mut map = serializer.serialize_map(None)?;
        let ends = [(unknown.min, unknown.min_at), (unknown.max, unknown.max_at)];
        let ends = words.extremes.keys().into_iter().zip(ends.into_iter().rev()).rev();
        for ([key, place], (value, at)) in ends {
            map.serialize_entry(key, &value)?;
            map.serialize_entry(place, &at)?;
        }
        if let Some(energy) = self.strain_energy {
            map.serialize_entry("strain_energy", &energy)?;
        }
        if let Some(error) = self.mesh_error {
            map.serialize_entry("mesh_error", &error)?;
        }
        if !self.has_no_loads() {
            map.serialize_entry(words.reactions[0], &rows(&self.reactions))?;
            map.serialize_entry(words.reactions[1], &Numbers(&self.reaction_sum))?;
            map.serialize_entry("shared_nodes", &self.shared_nodes)?;
            map.serialize_entry("applied", &Numbers(&self.applied))?;
            map.serialize_entry("equilibrium_error", &self.equilibrium_error)?;
        }
        map.serialize_entry(words.centres, &self.centres)?;
        map.serialize_entry(words.nodal, &self.nodal)?;
        if let (Some([largest, rises]), Some(away)) = (words.away, &self.max_away) {
            map.serialize_entry(largest, away)?;
            map.serialize_entry(rises, &self.max_away_rises)?;
        }
        if !self.singular.is_empty() {
            map.serialize_entry("singular", &self.singular)?;
        }
        let factors = [("", self.min_safety_factor), ("_away", self.min_safety_factor_away)];
        for (suffix, factor) in factors.iter().filter_map(|(suffix, factor)| Some((suffix, factor.as_ref()?))) {
            map.serialize_entry(&format!("min_safety_factor{suffix}"), factor)?;
        }
        for table in &self.tables {
            map.serialize_entry(table.info.name, &rows(&table.rows))?;
        }
        if !self.ranges.is_empty() {
            let ranges = self.ranges.iter().map(|(name, _, range)| (name, range));
            map.serialize_entry("fields", &Object(ranges.collect()))?;
        }
        map.end()
    }
}

fn unit_of(field: &str) -> Quantity {
    FieldInfo::named(field).map_or(Quantity::Unlabelled, |info| info.unit)
}

/// What is said of a largest stress beside which, nearer to one of these places, there is more.
pub const RISING: &str = ", still rising towards them: do not rely on it";

impl Results {
    /// Whether loads and reactions are none of them.
    pub fn has_no_loads(&self) -> bool {
        self.mode.is_some() || self.is_response
    }

    /// What a step of these is.
    pub fn noun(&self) -> &'static str {
        match (self.mode, self.time) {
            (Some(_), _) => "mode",
            _ if self.is_response => "response",
            (_, Some(_)) => "time",
            _ => "load case",
        }
    }

    /// A warning where the mesh is too coarse at the largest stress or gradient.
    pub fn doubt(&self) -> Option<String> {
        self.nodal.doubt(&self.centres, self.physics.words().intensity[1]).or_else(|| self.coarse())
    }

    /// The largest stress away from supports, point loads and sharp inner corners, if it is another than the largest.
    pub fn away(&self) -> Option<&Peak> {
        self.max_away.as_ref().filter(|peak| peak.max != self.nodal.max)
    }

    /// The first row of a table; empty if it is not there.
    pub fn table_row(&self, name: &str) -> &[f64] {
        let table = self.tables.iter().find(|table| table.info.name == name);
        table.and_then(|table| table.rows.first()).map_or(&[], |row| &row.1)
    }

    /// Whether a node beside that place has more, so that it is no peak.
    pub fn rises(&self) -> bool {
        self.max_away_rises == Some(true)
    }

    /// A warning where elements of second order are too large at the largest stress away from supports.
    fn coarse(&self) -> Option<String> {
        let peak = self.max_away.as_ref().filter(|_| self.unresolved > COARSE)?;
        Some(format!(
            "mesh too coarse near {}: the stress there may be {:.0} % off, or more. Refine there",
            vector(peak.max_at),
            100.0 * ERROR * self.unresolved
        ))
    }

    /// What the unknown measures.
    pub fn unknown_unit(&self) -> Quantity {
        unit_of(self.physics.words().unknown)
    }

    /// What the values that results are judged by measure.
    pub fn intensity_unit(&self) -> Quantity {
        unit_of(self.physics.words().nodal)
    }

    /// The largest component of loads and reactions.
    pub fn largest_force(&self) -> f64 {
        let forces = self.reactions.iter().flat_map(|reaction| &reaction.1).chain(&self.applied);
        forces.fold(0.0, |most: f64, c| most.max(c.abs()))
    }
}

/// What there is to say of the sum over all supports if some nodes are in several.
pub fn shared(nodes: usize) -> Option<String> {
    match nodes {
        0 => None,
        1 => Some("1 node is in several supports, counted once here".into()),
        n => Some(format!("{} nodes are in several supports, counted once here", count(n))),
    }
}

impl Summary {
    /// What forces or flows must reach to be more than rounding errors, and what the iteration has left: ten times the
    /// part of the largest, or of the sizes of those at nodes added up, that the residual is, or that they are out of
    /// balance by; but between a 10^9th and a millionth of it.
    pub fn least_force(&self) -> f64 {
        let results = &self.results;
        let largest = results.largest_force().max(results.nodal_forces);
        largest * (10.0 * self.solver.relative_residual.max(results.equilibrium_error)).clamp(1e-9, 1e-6)
    }

    /// Whether what was solved for is zero everywhere, as where an iteration ended before it found anything.
    pub fn is_zero(&self) -> bool {
        self.results.unknown.min == 0.0 && self.results.unknown.max == 0.0
    }

    /// Writes it as indented JSON with a final newline.
    pub fn write<W: Write>(&self, mut out: W) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        out.write_all(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(summary: &Summary) -> String {
        let mut text = Vec::new();
        summary.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn with(results: Results) -> Summary {
        Summary { results, ..Summary::default() }
    }

    #[test]
    fn keys_are_the_stable_ones_in_order() {
        let reactions = vec![("wall".into(), vec![1.0, 2.0, 3.0]), ("anchor".into(), vec![4.0, 5.0, 6.0])];
        let strain_energy = Some(1.0);
        let text = written(&with(Results { reactions, strain_energy, ..Results::default() }));
        for keys in [
            "case version nodes elements dofs device results warnings",
            "warnings solver history timings_s",
            "method format preconditioner precision assembly iterations",
            "relative_residual converged read setup assembly boundary solve",
            "stress write total",
            "max_displacement max_displacement_at strain_energy reactions",
            "reactions wall anchor applied equilibrium_error",
            "von_mises min max mean p99 max_at max_element warnings",
            "von_mises_nodal max max_at max_node warnings",
        ] {
            let mut rest = text.as_str();
            for key in keys.split(' ') {
                let at = rest.find(&format!("\"{key}\":"));
                rest = &rest[at.unwrap_or_else(|| panic!("{key} is missing or out of order in {text}"))..];
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_become_null() {
        let mut summary = with(Results { applied: vec![0.0, f64::INFINITY, 0.0], ..Results::default() });
        summary.solver.relative_residual = f64::NAN;
        let read: serde_json::Value = serde_json::from_str(&written(&summary)).unwrap();
        assert!(read["solver"]["relative_residual"].is_null());
        assert!(read["results"]["applied"][1].is_null());
        assert_eq!(read["results"]["applied"][0], 0.0);
    }

    #[test]
    fn an_element_above_the_mean_at_the_nodes_is_told() {
        let nodal = Peak { max: 200.0, ..Peak::default() };
        let centres = |max| Distribution { max, ..Distribution::default() };
        assert_eq!(nodal.beside(&centres(242.0)), "nodal average; 242.0 at element centres, 21 % more");
        assert!(nodal.doubt(&centres(242.0), "stress").unwrap().contains("exceeds the nodal average by 21 %. Refine"));
        for quiet in [150.0, 205.0, f64::NAN] {
            assert_eq!(nodal.doubt(&centres(quiet), "stress"), None);
        }
        assert_eq!(nodal.beside(&centres(150.0)), "nodal average; 150.0 at element centres");
        assert_eq!(Peak::default().doubt(&centres(1.0), "stress"), None);
    }

    #[test]
    fn loads_that_balance_each_other_leave_rounding_errors() {
        let applied = || vec![-1.4e-14, 4.4e-13, 0.0];
        let least =
            |nodal_forces| with(Results { applied: applied(), nodal_forces, ..Results::default() }).least_force();
        assert_eq!(least(1e3), 1e3 * 1e-9);
        assert!(least(0.0) < 4.4e-13);
    }

    #[test]
    fn what_an_iteration_leaves_out_of_balance_is_no_force() {
        let reactions = vec![("wall".into(), vec![2.01e-3, 2.65e-4, 5252.0])];
        let least = |equilibrium_error| {
            with(Results { reactions: reactions.clone(), equilibrium_error, ..Results::default() }).least_force()
        };
        assert!(least(3.8e-7) > 2.01e-3 && least(1e-12) < 2.65e-4);
    }
}
