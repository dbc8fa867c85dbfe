//! `[[load_case]]`: combinations of loads, each a right-hand side of the same equations, `f = sum of factor x load`.
//!
//! A load with a name is in the cases that give it a factor. A load without one is in all of them, with the factor 1, and
//! so are prescribed displacements.

use std::borrow::Cow;

use super::case::Case;
use warpfem_text::number;

use super::{AppliedLoad, Model, NodalForce, Rotation, SolverOptions, Study, Temperature};

/// A load case: the factor of each load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCase {
    /// Its name.
    pub name: String,
    /// Of gravity.
    pub gravity: f64,
    /// Of the forces of rotation; not negative.
    pub rotation: f64,
    /// Of each of [`Model::applied`].
    pub applied: Vec<f64>,
}

/// The loads of one case.
#[derive(Debug, Clone)]
pub struct CaseLoads<'a> {
    /// Acceleration of gravity.
    pub gravity: Option<[f64; 3]>,
    /// How the body spins.
    pub rotation: Option<Rotation>,
    /// Whether the body is free, and its own acceleration acts on it.
    pub is_free: bool,
    /// All others as nodal forces, as in [`Model::nodal_forces`].
    pub nodal_forces: Cow<'a, [[f64; 3]]>,
    /// What each of those adds up to.
    pub applied: Cow<'a, [AppliedLoad]>,
}

impl Model {
    /// Whether results are of steps that have names: load cases, modes or times.
    pub fn has_steps(&self) -> bool {
        self.study != Study::Static
            || !self.load_cases.is_empty()
            || self.temperature.as_ref().is_some_and(|of| of.n_steps() > 1)
    }

    /// How many steps are solved: load cases, modes or times.
    pub fn n_steps(&self) -> usize {
        self.all().map(Model::own_steps).sum()
    }

    /// The same without those of later models.
    pub fn own_steps(&self) -> usize {
        match self.study {
            Study::Static => self.load_cases.len().max(self.temperature.as_ref().map_or(1, Temperature::n_steps)),
            Study::Transient => self.time.as_ref().map_or(0, |time| time.times.len()),
            Study::Modal | Study::Buckling => {
                self.modes + self.response.as_ref().map_or(0, |response| response.n_steps(self.modes))
            }
        }
    }

    /// The model and those of later load cases.
    pub fn all(&self) -> impl Iterator<Item = &Model> {
        std::iter::once(self).chain(&self.others)
    }

    /// Sets how to solve, of later load cases too.
    pub fn set_solver(&mut self, set: impl Fn(&mut SolverOptions)) {
        std::iter::once(&mut self.solver).chain(self.others.iter_mut().map(|other| &mut other.solver)).for_each(set);
    }

    /// The model that a load case is of, and its number there.
    pub fn of_case(&self, case: usize) -> (&Model, usize) {
        let mut before = 0;
        for model in self.all() {
            let own = case - before;
            before += model.own_steps();
            if case < before {
                return (model, own);
            }
        }
        (self, case)
    }

    /// The name of a step: of a load case, `mode 1` or `time 60`, or of the motion under loads; empty where all loads make one.
    pub fn step_name(&self, step: usize) -> Cow<'_, str> {
        let (model, case) = self.of_case(step);
        match self.study {
            Study::Static if model.own_steps() > model.load_cases.len().max(1) => {
                let heat = model.temperature.as_ref().and_then(|of| of.heat.as_ref());
                heat.map_or("".into(), |heat| heat.step_name(case))
            }
            Study::Static => model.load_cases.get(case).map_or("", |case| &case.name).into(),
            Study::Modal | Study::Buckling => match (&self.response, step.checked_sub(self.modes)) {
                (Some(response), Some(step)) => response.step_name(step).into(),
                _ => format!("mode {}", step + 1).into(),
            },
            Study::Transient => {
                format!("time {}", model.time_of(case).map_or(String::new(), |time| number(time, 6))).into()
            }
        }
    }

    /// The factor of one of [`Model::applied`] in a case of this model alone; 0 if there is none of this name.
    pub fn factor(&self, case: usize, load: &str) -> f64 {
        let Some(place) = self.applied.iter().position(|applied| applied.name == load) else { return 0.0 };
        self.load_cases.get(case).map_or(1.0, |case| case.applied[place])
    }

    /// Whether loads act on it that supports have to bear: in a modal study only with prestress.
    pub fn bears_loads(&self) -> bool {
        self.study != Study::Modal || self.prestress
    }

    /// The forces of driven springs on the nodes where u is 0, at a time if there is one.
    pub fn driven_forces(&self, time: Option<f64>) -> impl Iterator<Item = NodalForce> + '_ {
        let springs = self.springs.iter().enumerate().filter(|_| self.bears_loads());
        springs.flat_map(move |(number, spring)| {
            let factor = self.spring_factor(number, time);
            spring.driven.iter().map(move |(node, force)| (*node, force.map(|f| factor * f)))
        })
    }

    /// The loads of a case; all of them where there are no cases.
    pub fn loads(&self, case: usize) -> CaseLoads<'_> {
        let (model, case) = self.of_case(case);
        model.own_loads(case)
    }

    /// The loads at a time.
    pub fn loads_at(&self, time: f64) -> CaseLoads<'_> {
        let combined = self.combined(|load| Some(self.load_factor(load, time)));
        CaseLoads { gravity: None, rotation: None, is_free: false, ..combined }
    }

    /// So many times each of [`Model::applied`], by number, but for those without a factor; gravity and rotation as they are.
    fn combined(&self, factor: impl Fn(usize) -> Option<f64>) -> CaseLoads<'_> {
        let mut nodal_forces = vec![[0.0; 3]; self.nodal_forces.len()];
        let mut applied = Vec::new();
        for (number, (load, forces)) in self.applied.iter().zip(&self.load_forces).enumerate() {
            let Some(factor) = factor(number) else { continue };
            for (node, force) in forces {
                nodal_forces[*node as usize].iter_mut().zip(force).for_each(|(sum, c)| *sum += factor * c);
            }
            applied.push(AppliedLoad { total: load.total.map(|c| factor * c), ..load.clone() });
        }
        CaseLoads {
            gravity: self.gravity,
            rotation: self.rotation,
            is_free: !self.pins.is_empty(),
            nodal_forces: nodal_forces.into(),
            applied: applied.into(),
        }
    }

    fn own_loads(&self, case: usize) -> CaseLoads<'_> {
        if !self.bears_loads() && self.response.is_none() {
            return CaseLoads {
                gravity: None,
                rotation: None,
                is_free: false,
                nodal_forces: vec![[0.0; 3]; self.nodal_forces.len()].into(),
                applied: Cow::Borrowed(&[]),
            };
        }
        if let Some(time) = self.time_of(case) {
            return self.loads_at(time);
        }
        // Those of a motion's amplitudes come behind its steps, which show all.
        let case = if self.study.is_of_modes() { case.checked_sub(self.own_steps()) } else { Some(case) };
        let Some(case) = case.and_then(|case| self.load_cases.get(case)) else {
            return CaseLoads {
                gravity: self.gravity,
                rotation: self.rotation,
                is_free: !self.pins.is_empty(),
                nodal_forces: Cow::Borrowed(&self.nodal_forces),
                applied: Cow::Borrowed(&self.applied),
            };
        };
        let combined = self.combined(|load| case.applied.get(load).copied().filter(|factor| *factor != 0.0));
        // Forces go with the square of the speed.
        let spun = |rotation: Rotation| Rotation { speed: rotation.speed * case.rotation.sqrt(), ..rotation };
        CaseLoads {
            gravity: self.gravity.filter(|_| case.gravity != 0.0).map(|g| g.map(|c| case.gravity * c)),
            rotation: self.rotation.filter(|_| case.rotation != 0.0).map(spun),
            ..combined
        }
    }
}

/// The load cases of a case file; `names` are those of its loads in the order of [`Model::applied`].
pub fn resolve(case: &Case, names: &[Option<String>]) -> Vec<LoadCase> {
    let tables = &case.tables;
    let name = |name: Option<&toml::Spanned<String>>, own: &str| {
        name.map_or_else(|| own.to_owned(), |name| name.get_ref().clone())
    };
    let gravity = name(tables.gravity.as_ref().and_then(|table| table.get_ref().name.as_ref()), "gravity");
    let rotation = name(tables.rotation.as_ref().and_then(|table| table.get_ref().name.as_ref()), "rotation");
    let of_table = |table: &toml::Spanned<super::case::tables::LoadCaseTable>| {
        let table = table.get_ref();
        let factors = table.factors.get_ref();
        let factor = |name: &str| {
            let found = factors.iter().find(|(load, _)| load.get_ref() == name);
            found.map_or(0.0, |(_, factor)| *factor.get_ref())
        };
        LoadCase {
            name: table.name.get_ref().clone(),
            gravity: factor(&gravity),
            rotation: factor(&rotation),
            applied: names.iter().map(|name| name.as_deref().map_or(1.0, factor)).collect(),
        }
    };
    tables.load_case.iter().map(of_table).collect()
}

/// Named loads in no case, and cases without loads.
pub fn warnings(case: &Case, cases: &[LoadCase]) -> Vec<String> {
    // A step of a deck may be driven or heated alone.
    if cases.is_empty() || case.deck.is_some() {
        return Vec::new();
    }
    let tables = &case.tables.load_case;
    let is_used =
        |name: &str| tables.iter().any(|table| table.get_ref().factors.get_ref().keys().any(|of| of.get_ref() == name));
    let mut unused: Vec<&str> =
        case.load_names().into_iter().map(|(name, _)| name).filter(|name| !is_used(name)).collect();
    unused.dedup();
    let unused = unused.iter().map(|name| format!("load `{name}` is in no [[load_case]]: it acts nowhere"));
    let is_empty =
        |case: &&LoadCase| [case.gravity, case.rotation].iter().chain(&case.applied).all(|factor| *factor == 0.0);
    let empty = cases.iter().filter(is_empty).map(|case| format!("load case `{}` has no load", case.name));
    unused.chain(empty).collect()
}
