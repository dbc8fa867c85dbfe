//! `[time]`: a body that warms up or cools down, from its temperatures at first, under loads that change.

use super::amplitude::Amplitude;
use super::case::tables::TimeTable;
use super::density::in_use;
use super::problems::Problems;
use super::select::Selector;
use super::{Material, Model, ModelError};
use crate::result::choices::Scheme;

/// How long steps are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steps {
    /// So long, or a little less, for results to be at the end of one.
    Fixed(f64),
    /// As long as the error of each, in the root mean square over the body, is not larger.
    Within(f64),
}

/// What is asked of a body over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Transient {
    /// The times that results are written at, ascending; the last is the end.
    pub times: Vec<f64>,
    /// How long steps are.
    pub steps: Steps,
    /// How to go from one to the next.
    pub scheme: Scheme,
    /// When it begins.
    pub start: f64,
    /// The temperatures at first, `[n_nodes]`; those of the model before it where it goes on from that.
    pub initial: Vec<f64>,
    /// Whether it does.
    pub goes_on: bool,
    /// How what the supports prescribe changes.
    pub of_supports: Vec<Option<Amplitude>>,
    /// How the ambients of the springs change.
    pub of_springs: Vec<Option<Amplitude>>,
    /// How the loads change, by their number in [`Model::applied`].
    pub of_loads: Vec<Option<Amplitude>>,
}

impl Transient {
    /// Whether nothing changes from without.
    pub fn is_steady(&self) -> bool {
        self.of_supports.iter().chain(&self.of_springs).chain(&self.of_loads).all(Option::is_none)
    }
}

/// The factor of one of several at a time.
fn factor(amplitudes: &[Option<Amplitude>], number: usize, time: f64) -> f64 {
    amplitudes.get(number).and_then(Option::as_ref).map_or(1.0, |amplitude| amplitude.at(time))
}

impl Model {
    /// The time of a step of a transient study.
    pub fn time_of(&self, step: usize) -> Option<f64> {
        self.time.as_ref()?.times.get(step).copied()
    }

    /// The same, or the time of the heat case whose temperatures a step of the stress has, or of the motion under loads.
    pub fn step_time(&self, step: usize) -> Option<f64> {
        let heat = || self.temperature.as_ref()?.heat.as_ref()?.time_of(step);
        let motion = || self.response.as_ref()?.time(step.checked_sub(self.modes)?);
        self.time_of(step).or_else(heat).or_else(motion)
    }

    /// By what a support's values are multiplied at a time.
    pub fn support_factor(&self, support: usize, time: f64) -> f64 {
        self.time.as_ref().map_or(1.0, |of| factor(&of.of_supports, support, time))
    }

    /// By what the forces of a driven spring are multiplied at a time, if there is one.
    pub fn spring_factor(&self, spring: usize, time: Option<f64>) -> f64 {
        self.time.as_ref().zip(time).map_or(1.0, |(of, time)| factor(&of.of_springs, spring, time))
    }

    /// By what a load is multiplied at a time.
    pub(super) fn load_factor(&self, load: usize, time: f64) -> f64 {
        self.time.as_ref().map_or(1.0, |of| factor(&of.of_loads, load, time))
    }
}

/// What a transient study is asked, if the case is one; nothing where that is wrong.
pub(super) fn resolve(
    selector: &Selector<'_>,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> Option<Transient> {
    let (case, table) = (selector.case, selector.case.tables.time.as_ref()?);
    let (times, steps) = problems.take(case.steps())??;
    super::density::has_density(case, "a transient study", materials, cell_material, problems);
    for i in in_use(materials, cell_material, |material| material.specific_heat.is_none()) {
        let message = format!("a transient study needs the `specific_heat` of material `{}`", materials[i].name);
        let help = "specific_heat = 480.0 is that of steel, in J/(kg K)";
        let place = case.tables.material[i].get_ref().name.span();
        problems.add(ModelError::MissingSpecificHeat(case.error_at(place, message, help)));
    }
    let &TimeTable { start, goes_on, ref initial, ref on, ref nodal, .. } = table.get_ref();
    let mut initial = vec![initial.as_ref().map_or(0.0, |value| *value.get_ref()); selector.mesh.coords.len()];
    for table in on {
        let nodes = problems.take(selector.nodes(&table.on)).unwrap_or_default();
        nodes.into_iter().for_each(|node| initial[node as usize] = *table.value.get_ref());
    }
    let of_deck = nodal.iter().filter_map(|(tag, value)| Some((selector.node(*tag)?, value)));
    of_deck.for_each(|(node, value)| initial[node as usize] = *value);
    let (of_supports, of_springs, of_loads) = Default::default();
    let scheme = case.scheme();
    Some(Transient { times, steps, scheme, start, initial, goes_on, of_supports, of_springs, of_loads })
}

/// How supports, springs and loads change, where none of their tables is wrong.
pub(super) fn resolve_amplitudes(model: &mut Model, selector: &Selector<'_>, problems: &mut Problems) {
    let (case, tables) = (selector.case, &selector.case.tables);
    let Some(time) = &mut model.time else { return };
    let mut take = |points| problems.take(case.amplitude(points)).flatten();
    time.of_supports = tables.support.iter().map(|table| take(table.get_ref().amplitude.as_ref())).collect();
    let of_convection = tables.convection.iter().map(|table| take(table.amplitude.as_ref()));
    time.of_springs = vec![None; tables.spring.len()].into_iter().chain(of_convection).collect();
    let of_fluxes = tables.flux.iter().map(|table| take(table.amplitude.as_ref()));
    time.of_loads = of_fluxes.collect();
    time.of_loads.extend(tables.source.iter().map(|table| take(table.amplitude.as_ref())));
    time.of_loads.extend(tables.nodal_force.iter().map(|table| take(table.amplitude.as_ref())));
    if time.of_supports.iter().all(Option::is_none) {
        return;
    }
    if let Some(entry) = model.constraints.entries.first() {
        let message = format!("[[{}]] does not go with supports that change in time", entry.kind);
        problems.add(case.error_at(entry.place.clone(), message, "leave `amplitude` out of the supports"));
    }
    let mut of_node = vec![usize::MAX; selector.mesh.coords.len()];
    for (i, support) in model.supports.iter().enumerate() {
        for &node in &support.nodes {
            let first = std::mem::replace(&mut of_node[node as usize], i);
            if first != usize::MAX && time.of_supports.get(first) != time.of_supports.get(i) {
                let message = format!(
                    "supports `{}` and `{}` share nodes, and change differently in time",
                    model.supports[first].name, support.name
                );
                let place = tables.support[i].span();
                problems.add(case.error_at(place, message, "take the shared nodes out of one of the groups"));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_linear_between_points_and_constant_beyond() {
        let amplitude = Amplitude(vec![[1.0, 2.0], [3.0, 6.0], [4.0, 0.0]]);
        for (time, factor) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (3.5, 3.0), (4.0, 0.0), (9.0, 0.0)] {
            assert_eq!(amplitude.at(time), factor, "{time}");
        }
    }
}
