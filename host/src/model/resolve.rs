//! From a case file and its mesh to a model.

use std::path::Path;
use std::sync::Arc;

use super::case::Case;
use super::density::has_density;
use super::on_axis;
use super::problems::Problems;
use super::select::Selector;
use super::{Constraints, Material, Model, ModelError, ON_AXIS, Physics, Rotation, SolverOptions, Study, Support};
use super::{
    bending, constraints, held, hourglass, inertia, load_cases, loads, locking, masses, materials, modal, probes,
    rotation, springs, supports, temperature, time, units,
};
use crate::mesh::Mesh;
use crate::mesh::cut::Cut;
use crate::mesh::write::Form;
use crate::model::Error;

impl Model {
    /// Reads a case file and its mesh, and resolves one against the other.
    ///
    /// # Errors
    ///
    /// [`Error::Case`], [`Error::Mesh`] or [`Error::Model`], by who has to act on it.
    pub fn load(case_path: &Path) -> Result<Model, Error> {
        let case = Case::read(case_path)?;
        let mesh = case.mesh()?;
        Model::resolve(&case, mesh)
    }

    /// Resolves every name of a case file in its mesh and checks that the model can be solved.
    ///
    /// # Errors
    ///
    /// [`Error::Case`] for names that do not fit the mesh; [`Error::Model`] for a mesh that the analysis is not for, a
    /// missing density, supports that leave a part free to move, or a part whose potential no support fixes.
    pub fn resolve(case: &Case, mesh: impl Into<Arc<Mesh>>) -> Result<Model, Error> {
        let (model, problems) = Model::review(case, mesh);
        problems.or(model)
    }

    /// The same, but goes on where something is wrong: the model without what could not be resolved, and every error
    /// that could be found, the one that [`Model::resolve`] gives first.
    ///
    /// A mesh that the analysis is not for ends it. Free motions are not looked for unless every support is resolved:
    /// they would follow from the one that is missing.
    pub fn review(case: &Case, mesh: impl Into<Arc<Mesh>>) -> (Model, Problems) {
        let (mut model, mut problems, mut at_rest) = Model::review_one(case, mesh.into());
        for case in &case.others {
            let (other, more, rests) = Model::review_one(case, model.mesh.clone());
            let step = other.step_name(0).into_owned();
            more.into_vec().into_iter().for_each(|error| problems.add(error.in_step(&step)));
            let new = other.warnings.iter().filter(|warning| !model.warnings.contains(warning));
            let new: Vec<String> = new.map(|warning| format!("from {step} on: {warning}")).collect();
            model.warnings.extend(new);
            model.others.push(other);
            at_rest = at_rest.filter(|_| rests.is_some());
        }
        model.warnings.extend(at_rest.map(str::to_string));
        if model.others.iter().any(|other| other.temperature.is_some()) {
            // Where one step is as warm as the reference, others are not.
            let unheated = temperature::warnings(None, &model.materials);
            model.warnings.retain(|warning| !unheated.contains(warning));
        }
        (model, problems)
    }

    /// The same of one case alone; and what there is to say if nothing moves.
    fn review_one(case: &Case, mut mesh: Arc<Mesh>) -> (Model, Problems, Option<&'static str>) {
        let mut at_rest = None;
        let mut problems = Problems::default();
        let mut model = Model {
            name: case.name(),
            case_text: case.deck.as_ref().map_or(&case.source.text, |deck| &deck.excerpt).clone(),
            mesh: Arc::default(),
            analysis: case.analysis(),
            study: case.study(),
            modes: case.modes(),
            shift: case.shift(),
            prestress: case.prestress(),
            // What is wrong with it has been told by the check of the case.
            response: case.response().ok().flatten(),
            time: None,
            units: case.units(),
            thickness: case.thickness(),
            materials: vec![],
            cell_material: vec![],
            cell_factors: vec![],
            supports: vec![],
            springs: vec![],
            masses: vec![],
            constraints: Constraints::default(),
            gravity: None,
            rotation: None,
            temperature: None,
            pins: vec![],
            nodal_forces: vec![],
            applied: vec![],
            load_cases: vec![],
            load_forces: vec![],
            others: vec![],
            solver: SolverOptions::default(),
            fields: fields(case),
            deck: case.deck.clone(),
            frd: case.tables.output.frd.as_ref().and_then(|name| Form::from_name(name.get_ref())),
            probes: vec![],
            warnings: vec![],
            is_too_stiff: false,
        };
        if problems.take(check_dimension(case, &mesh)).is_some() {
            let cuts = match case.tables.bolt.is_empty() {
                true => Vec::new(),
                false => constraints::bolt::cut_all(case, Arc::make_mut(&mut mesh), &mut problems),
            };
            model.fill(&Selector::new(case, &mesh), &cuts, &mut problems);
            if problems.count() == 0 && model.bears_loads() && model.study != Study::Transient {
                at_rest = model.at_rest(mesh.coords.len());
                match (model.study, at_rest) {
                    (Study::Buckling, Some(_)) => problems.add(case.without_loads()),
                    (Study::Modal, Some(_)) => at_rest = Some("nothing loads the model: `prestress` changes nothing"),
                    _ => {}
                }
            }
        }
        model.mesh = mesh;
        (model, problems, at_rest)
    }

    /// What a case says of its mesh, by tables; empty where that is wrong.
    fn fill(&mut self, selector: &Selector<'_>, cuts: &[Option<Cut>], problems: &mut Problems) {
        let (case, mesh, analysis) = (selector.case, selector.mesh, self.analysis);
        problems.take(case.check_in(mesh.dim()));
        let (materials, cell_material) = materials::resolve(selector, problems);
        self.gravity = gravity(case, &materials, &cell_material, problems);
        self.rotation = rotation(case, &materials, &cell_material, problems);
        self.time = time::resolve(selector, &materials, &cell_material, problems);
        self.temperature = temperature::resolve(selector, &materials, &cell_material, problems);
        self.supports = supports::resolve(selector, problems);
        let bonds;
        (self.springs, bonds) = springs::resolve(selector, &materials, &self.supports, problems);
        if self.study == Study::Modal {
            has_density(case, "a modal study", &materials, &cell_material, problems);
        }
        if inertia::resolve(selector, &materials, &cell_material, problems) {
            self.pins = inertia::pins(analysis, mesh, &selector.in_solid);
        }
        let is_whole =
            self.supports.len() == case.tables.support.len() && self.springs.len() == springs::expected(case);
        let of_springs = self.springs.iter().map(|spring| &spring.holds);
        let pins = inertia::as_supports(&self.pins);
        let mut of_ties = Vec::new();
        let on_axis = on_axis(analysis, mesh);
        let fixed: Vec<&Support> = self.supports.iter().chain(&pins).collect();
        self.constraints = constraints::resolve(selector, cuts, &fixed, on_axis, &mut of_ties, problems);
        self.constraints.bonds = bonds;
        self.masses = masses::resolve(selector, &self.constraints.remotes, problems);
        let (supports, constraints) = (&self.supports, &self.constraints);
        let holding: Vec<&Support> = match pins.is_empty() {
            true => supports.iter().chain(of_springs).collect(),
            false => pins.iter().collect(),
        };
        // The check of supports runs in one thread for the most part.
        let ((loads, bending), held) = rayon::join(
            || (loads::resolve(selector, supports, constraints, problems), bending::doubt(analysis, mesh)),
            || match self.bears_loads() && self.study != Study::Transient {
                true => is_whole.then(|| held::check(analysis, mesh, &holding, constraints)),
                false => Some(Ok(held::coinciding(mesh, constraints))),
            },
        );
        self.solver = problems.take(case.solver_options()).unwrap_or_default();
        let mut of_probes = Vec::new();
        self.probes = probes::resolve(case, mesh, problems, &mut of_probes);
        let unsure = held.and_then(|held| problems.take(held)).unwrap_or_default();

        let warnings = &mut self.warnings;
        warnings.extend(mesh.warnings.iter().chain(&case.warnings).cloned());
        let locking = locking::warnings(analysis, &materials, mesh, &cell_material);
        self.is_too_stiff = bending.as_ref().is_some_and(|doubt| doubt.is_too_stiff) || !locking.is_empty();
        warnings.extend(locking);
        warnings.extend(hourglass::warnings(analysis, mesh, &fixed));
        warnings.extend(supports::ambiguous(selector));
        warnings.extend(of_ties);
        warnings.extend(rotation::warnings(analysis, mesh, supports));
        warnings.extend(unsaid_thickness(case));
        if !analysis.physics().is_scalar() {
            warnings.extend(temperature::warnings(self.temperature.as_ref(), &materials));
            warnings.extend(units::warnings(&materials, mesh.longest_side(), self.gravity, self.units));
        }
        self.load_cases = load_cases::resolve(case, &loads.names);
        warnings.extend(loads.warnings);
        warnings.extend(load_cases::warnings(case, &self.load_cases));
        warnings.extend(zero_gravity(case));
        warnings.extend(unsure);
        warnings.extend(bending.map(|doubt| doubt.warning));
        warnings.extend(of_probes);
        (self.materials, self.cell_material) = (materials, cell_material);
        (self.nodal_forces, self.applied, self.load_forces) = (loads.nodal_forces, loads.applied, loads.forces);
        if is_whole {
            time::resolve_amplitudes(self, selector, problems);
        }
        if self.study.is_of_modes() && is_whole {
            problems.take(modal::check(self, selector));
        }
        if self.study == Study::Modal && self.prestress && self.rotation.is_some_and(|rotation| rotation.speed != 0.0) {
            self.warnings.push(CORIOLIS.into());
        }
        if !self.bears_loads() && is_whole {
            let idle = modal::idle(self);
            self.warnings.extend(idle);
            let nothing = self.response.is_some() && self.at_rest(mesh.coords.len()).is_some();
            self.warnings.extend(nothing.then(|| {
                "nothing loads the model: [harmonic] finds nothing. Add a load, such as [[force]]".to_string()
            }));
        }
    }

    /// What there is to say of a model on so many nodes if nothing loads it, nor do supports move it.
    fn at_rest(&self, n_nodes: usize) -> Option<&'static str> {
        let at_work = |v: &[f64; 3]| *v != [0.0; 3];
        // What rounding leaves of loads that cancel is none.
        let largest = |v: &mut dyn Iterator<Item = &[f64; 3]>| v.flatten().fold(0.0, |most: f64, c| most.max(c.abs()));
        let rounding = ROUNDING * largest(&mut self.applied.iter().map(|load| &load.total)) / n_nodes as f64;
        let of_cases = self.load_forces.iter().flatten().map(|(_, force)| force);
        let is_loaded = largest(&mut self.nodal_forces.iter().chain(of_cases)) > rounding
            || self.springs.iter().any(|spring| !spring.driven.is_empty())
            || self.gravity.iter().any(at_work)
            || self.rotation.is_some_and(|rotation| rotation.speed != 0.0)
            || self.temperature.as_ref().is_some_and(|temperature| temperature.range() != Some((0.0, 0.0)))
            || self.constraints.are_driven();
        let mut values = self.supports.iter().flat_map(|support| support.displacement).flatten();
        match self.analysis.physics() {
            _ if is_loaded => None,
            Physics::Potential | Physics::Heat => {
                let first = values.next();
                values
                    .all(|value| Some(value) == first)
                    .then_some("nothing drives a flow: the potential will be constant")
            }
            Physics::Elasticity => {
                values.all(|v| v == 0.0).then_some(match self.applied.iter().any(|load| at_work(&load.total)) {
                    true => "the loads cancel at every node: every displacement will be zero. Check their signs",
                    false => {
                        "nothing loads the model: every displacement will be zero. Add a load, for example [[force]]"
                    }
                })
            }
        }
    }
}

/// What frequencies of a body that spins are not.
const CORIOLIS: &str =
    "Coriolis forces are left out: right for blades that bend along the axis, wrong for shafts that whirl";

/// Nodal forces below this part of the loads' mean share of a node are rounding.
const ROUNDING: f64 = 1e-10;

/// Refuses a mesh of other elements than the analysis is for, and a plane one that is not flat.
fn check_dimension(case: &Case, mesh: &Mesh) -> Result<(), ModelError> {
    let analysis = case.analysis();
    if !analysis.fits(mesh.dim()) {
        let occupied = mesh.cells.iter().filter(|block| !block.is_empty());
        let found = occupied.map(|block| format!("{} {}", block.len(), block.kind.info().name)).collect();
        let groups = mesh.groups.iter().map(|group| group.name.clone()).collect();
        return Err(ModelError::WrongDimension { mesh: case.mesh_name(), analysis, dim: mesh.dim(), found, groups });
    }
    if mesh.dim() == 2 && !mesh.is_flat() {
        return Err(ModelError::NotFlat { mesh: case.mesh_name(), analysis });
    }
    let beyond = |(x, _): &(&[f64; 3], &u64)| analysis.is_revolved() && x[0] < -ON_AXIS * mesh.longest_side();
    match mesh.coords.iter().zip(&mesh.node_tags).find(beyond) {
        None => Ok(()),
        Some((x, &node)) => Err(ModelError::BeyondAxis { mesh: case.mesh_name(), node, radius: x[0] }),
    }
}

/// Gravity of nothing, which is said as that of other loads is.
fn zero_gravity(case: &Case) -> Option<String> {
    let gravity = case.tables.gravity.as_ref()?.get_ref().acceleration.get_ref().xyz();
    (gravity == [0.0; 3]).then(|| "gravity is zero".to_string())
}

/// The results of plane stress depend on a thickness that hardly ever is 1 in the case's units.
fn unsaid_thickness(case: &Case) -> Option<String> {
    (case.analysis().is_thin() && case.tables.analysis.thickness.is_none())
        .then(|| "[analysis] has no `thickness`: the plate is taken to be 1 thick".to_string())
}

/// Gravity; every material in use must have a density.
fn gravity(
    case: &Case,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> Option<[f64; 3]> {
    let acceleration = &case.tables.gravity.as_ref()?.get_ref().acceleration;
    let mut is_sound = problems.take(case.check_vector("acceleration", acceleration)).is_some();
    if case.analysis().is_revolved() && acceleration.get_ref().xyz()[0] != 0.0 {
        let message = "gravity across the axis is not the same all round";
        let help = "of a body of revolution only the second component may be there, along the axis";
        problems.add(case.error_at(acceleration.span(), message, help));
        is_sound = false;
    }
    is_sound &= has_density(case, "gravity", materials, cell_material, problems);
    is_sound.then(|| acceleration.get_ref().xyz())
}

/// Rotation; every material in use must have a density.
fn rotation(
    case: &Case,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> Option<Rotation> {
    let table = case.tables.rotation.as_ref()?;
    let rotation = problems.take(case.rotation(table))?;
    has_density(case, "rotation", materials, cell_material, problems).then_some(rotation)
}

/// The fields asked for, each once.
fn fields(case: &Case) -> Vec<String> {
    let Some(asked) = &case.tables.output.fields else {
        let usual = case.analysis().physics().usual_fields();
        return usual.filter(|name| case.study().has(name)).map(String::from).collect();
    };
    let mut fields: Vec<String> = Vec::new();
    for field in asked.iter().map(|field| field.get_ref()) {
        if !fields.contains(field) {
            fields.push(field.clone());
        }
    }
    fields
}
