//! A model: mesh, materials, supports and loads, with every group name resolved and everything checked.

mod amplitude;
mod analysis;
mod bending;
pub mod case;
pub mod constraints;
mod density;
mod directions;
mod error;
pub mod held;
mod hourglass;
mod inertia;
mod keys;
pub mod law;
mod load_cases;
mod loads;
mod locate;
mod locking;
mod mass;
mod masses;
mod materials;
mod modal;
mod names;
pub mod part;
mod probes;
mod problems;
mod resolve;
mod response;
mod rotation;
mod scattered;
mod select;
mod source;
mod springs;
mod supports;
mod temperature;
pub mod time;
pub mod units;
mod unused;

#[cfg(test)]
mod laplace_tests;
#[cfg(test)]
mod plane_tests;
#[cfg(test)]
mod slanted_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use crate::result::{Physics, Quantity, Study, Units, with_unit};
pub use amplitude::Amplitude;
pub use analysis::{Analysis, FormKind};
pub use case::Case;
#[cfg(feature = "cli")]
pub(crate) use case::Numbers;
pub use constraints::Constraints;
pub use directions::{Directions, HeldSpace};
pub use error::{Error, ModelError, Result};
pub use inertia::Inertia;
pub use law::{Axes, Isotropic, Law};
pub use load_cases::{CaseLoads, LoadCase};
pub use mass::MassProperties;
pub use masses::{Body, PointMass};
pub use names::planes;
pub use probes::Probe;
pub use problems::Problems;
pub use response::{By, Damping, Drive, Excitation, Factors, LoadedMode, Response};
pub use source::{CaseError, Checked, Place, Source};
pub use springs::Spring;
pub use temperature::Temperature;
pub use time::Transient;
pub use unused::{Unused, unused};

pub use self::loads::NodalForce;
use crate::mesh::Mesh;
use crate::mesh::vector::{dot, sub};
use crate::mesh::write::Form;
use crate::result::choices::{Acceleration, Format, Method, Operator, Ordering, Precision, Preconditioner, Strategy};
use nalgebra::{Matrix6, Vector6};
use std::borrow::Cow;
use std::sync::Arc;

/// A material.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// Its name in the case file.
    pub name: String,
    /// Stress from strain; all zero if the case says nothing of it, which elasticity needs.
    #[serde(with = "law::constants")]
    pub law: Arc<dyn Law>,
    /// Conductivity along its axes; 0 if the case has none, which potentials need.
    pub conductivity: [f64; 3],
    /// Thermal strain per degree along its axes, which temperatures need.
    pub expansion: Option<[f64; 3]>,
    /// The axes of all these.
    pub axes: Axes,
    /// Mass density; needed by gravity, rotation, vibration and heat over time only.
    pub density: Option<f64>,
    /// Heat per mass and degree, which heat over time needs.
    pub specific_heat: Option<f64>,
    /// The von Mises stress at which it yields.
    pub yield_strength: Option<f64>,
    /// Its constants at given temperatures, ascending; empty if they are the same at all.
    pub by_temperature: Vec<AtTemperature>,
}

/// What an isotropic material is at a temperature.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AtTemperature {
    /// The temperature.
    pub temperature: f64,
    /// Young's modulus.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Thermal strain per degree, from the reference on.
    pub expansion: f64,
}

impl Material {
    /// What it is at a temperature: constants are linear between those given, and constant beyond.
    pub fn at(&self, temperature: f64) -> Cow<'_, Material> {
        let rows = &self.by_temperature;
        let after = rows.partition_point(|row| row.temperature < temperature);
        let (Some(b), a) = (rows.get(after).or(rows.last()), rows.get(after.saturating_sub(1))) else {
            return Cow::Borrowed(self);
        };
        let a = a.unwrap_or(b);
        let step = b.temperature - a.temperature;
        let share = if step > 0.0 { ((temperature - a.temperature) / step).clamp(0.0, 1.0) } else { 0.0 };
        let between = |a: f64, b: f64| a + share * (b - a);
        let mut of = self.clone();
        of.set_isotropic(between(a.young, b.young), between(a.poisson, b.poisson));
        of.expansion = Some([between(a.expansion, b.expansion); 3]);
        Cow::Owned(of)
    }

    /// Of this name, without conductivity and density.
    pub fn isotropic(name: &str, young: f64, poisson: f64) -> Material {
        Material {
            name: name.into(),
            law: Arc::new(Isotropic { young, poisson }),
            conductivity: [0.0; 3],
            expansion: None,
            axes: Axes::Global,
            density: None,
            specific_heat: None,
            by_temperature: Vec::new(),
            yield_strength: None,
        }
    }

    /// Makes it isotropic, with these of Young and Poisson.
    pub fn set_isotropic(&mut self, young: f64, poisson: f64) {
        self.law = Arc::new(Isotropic { young, poisson });
    }

    /// Whether stiffness and conductivity are the same in all directions, and at all temperatures.
    pub fn is_isotropic(&self) -> bool {
        let [x, y, z] = self.conductivity;
        self.by_temperature.is_empty() && self.law.lame().is_some() && x == y && y == z
    }

    /// The strains of stresses at places, with engineering shears: `D^-1 sigma`. In plane stress the strain across is in
    /// them, too.
    pub fn strain(&self) -> impl Fn([f64; 6], [f64; 3]) -> [f64; 6] + '_ {
        let inverse = |d: Matrix6<f64>| d.try_inverse().unwrap_or_default();
        let fixed = (!self.axes.vary()).then(|| inverse(self.axes.to_global(&self.law.stiffness(), [0.0; 3])));
        move |stress, place| {
            let compliance = fixed.unwrap_or_else(|| inverse(self.axes.to_global(&self.law.stiffness(), place)));
            (compliance * Vector6::from(stress)).into()
        }
    }
}

/// One `[[support]]`: nodes and what is prescribed there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Support {
    /// Its own name or the group's (several joined by `+`; `end[2]` for the second support on `end`), or `support[2]`
    /// by its position, counted from 1.
    pub name: String,
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// The displacement prescribed along its [`Directions`], mostly x, y, z; `None` leaves that component free. Of a
    /// potential its value, then `None`.
    pub displacement: [Option<f64>; 3],
    /// What the components are along.
    pub directions: Directions,
}

impl Support {
    /// What it prescribes: node, component of its directions, value.
    pub fn prescribed(&self) -> impl Iterator<Item = (u32, usize, f64)> {
        let at = move |node: u32| (0..3).filter_map(move |c| Some((node, c, self.displacement[c]?)));
        self.nodes.iter().copied().flat_map(at)
    }
}

/// What one load of the case file adds up to.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedLoad {
    /// `pressure on flange`, `push[1]`.
    pub name: String,
    /// The sum of its nodal forces in x, y, z; of a flux what flows into the body, then zeros.
    pub total: [f64; 3],
    /// The nodes that carry it, ascending.
    pub nodes: Vec<u32>,
}

impl AppliedLoad {
    /// Whether it is the preload of a bolt, which adds up to nothing and is told of with the bolt.
    pub fn is_preload(&self) -> bool {
        self.name.starts_with("bolt ")
    }
}

/// `[rotation]`: a force per volume of `density speed^2` times the distance from the axis, away from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    /// The direction of the axis, of length 1.
    pub axis: [f64; 3],
    /// A point of it.
    pub at: [f64; 3],
    /// Angle (in radians) per time.
    pub speed: f64,
}

impl Rotation {
    /// The force on a mass with this first moment about the origin.
    pub fn force(&self, mass: f64, moment: [f64; 3]) -> [f64; 3] {
        let from = sub(moment, self.at.map(|c| mass * c));
        let along = dot(from, self.axis);
        [0, 1, 2].map(|c| self.speed * self.speed * (from[c] - along * self.axis[c]))
    }
}

/// `[solver]`: how to solve; every field has a default.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolverOptions {
    /// Method; none: `auto`, as everywhere here.
    pub method: Option<Method>,
    /// What makes `femses` faster.
    pub acceleration: Acceleration,
    /// How products with K are computed.
    pub operator: Option<Operator>,
    /// Storage format.
    pub format: Option<Format>,
    /// Order of the nodes.
    pub ordering: Option<Ordering>,
    /// Preconditioner.
    pub preconditioner: Option<Preconditioner>,
    /// Order of polynomial preconditioners.
    pub order: usize,
    /// Precision.
    pub precision: Option<Precision>,
    /// Assembly strategy.
    pub assembly: Option<Strategy>,
    /// On the estimated error in the energy norm, relative to the strain energy of each part.
    pub tolerance: f64,
    /// On `||b - K u|| / ||b||` instead, to compare with other programs.
    pub residual_tolerance: Option<f64>,
    /// Whether modes are counted by a factor, to see that none is missed.
    pub check_count: bool,
    /// Where the iteration gives up.
    pub max_iterations: usize,
}

impl Default for SolverOptions {
    fn default() -> Self {
        SolverOptions {
            method: None,
            acceleration: Acceleration::None,
            operator: None,
            format: None,
            ordering: None,
            preconditioner: None,
            order: 6,
            precision: None,
            assembly: None,
            tolerance: 1e-6,
            residual_tolerance: None,
            check_count: false,
            max_iterations: 20_000,
        }
    }
}

/// Everything needed to solve, checked.
#[derive(Debug)]
pub struct Model {
    /// The case file's name without extension; names the outputs.
    pub name: String,
    /// The case file's text, for reports.
    pub case_text: std::sync::Arc<str>,
    /// The mesh.
    pub mesh: Arc<Mesh>,
    /// What is solved.
    pub analysis: Analysis,
    /// What is asked of it.
    pub study: Study,
    /// How many modes a modal study or one of buckling asks for.
    pub modes: usize,
    /// The shift of a modal study, in (radians per time)^2: `K + shift M` is iterated with.
    pub shift: f64,
    /// Whether a modal study is about the state under the loads.
    pub prestress: bool,
    /// What a modal study is asked of the motion under the loads.
    pub response: Option<Response>,
    /// What a transient study is asked.
    pub time: Option<Transient>,
    /// What numbers are labelled with, if the case says so.
    pub units: Option<Units>,
    /// Thickness of a plane problem; 1 in three dimensions.
    pub thickness: f64,
    /// The materials.
    pub materials: Vec<Material>,
    /// For each block of `mesh.cells` of the analysis's dimension (in `mesh.cells` order; other blocks have an empty
    /// list): the material index of each cell.
    pub cell_material: Vec<Vec<u32>>,
    /// How many times as stiff, or conducting, each cell is as its material, likewise; empty where all are so once.
    pub cell_factors: Vec<Vec<f64>>,
    /// The supports, in the case file's order.
    pub supports: Vec<Support>,
    /// The springs, in the case file's order.
    pub springs: Vec<Spring>,
    /// The point masses, in the case file's order.
    pub masses: Vec<PointMass>,
    /// What couples unknowns of several nodes.
    pub constraints: Constraints,
    /// Acceleration of gravity, applied to the volume by the assembly.
    pub gravity: Option<[f64; 3]>,
    /// How the body spins, applied to the volume by the assembly.
    pub rotation: Option<Rotation>,
    /// How warm the body is, of which thermal strains follow.
    pub temperature: Option<Temperature>,
    /// The nodes and components that hold a free body, which `[inertia_relief]` makes of it; else nothing.
    pub pins: Vec<(u32, usize)>,
    /// All other loads as consistent nodal forces, `[n_nodes][3]`; fluxes come first, then zeros.
    pub nodal_forces: Vec<[f64; 3]>,
    /// What each of those loads adds up to, in the order pressure, traction, force, flux, source, point force, push.
    pub applied: Vec<AppliedLoad>,
    /// `[[load_case]]`; none where all loads make one.
    pub load_cases: Vec<LoadCase>,
    /// The nodal forces of each of `applied`; none where there are no load cases and no time.
    pub load_forces: Vec<Vec<NodalForce>>,
    /// The same body for later load cases, which are held or heated otherwise.
    pub others: Vec<Model>,
    /// How to solve.
    pub solver: SolverOptions,
    /// `[output] fields`.
    pub fields: Vec<String>,
    /// What a deck says beside: what it prints.
    pub deck: Option<Arc<case::DeckCase>>,
    /// `[output] frd`: how CalculiX's file of results is written, if it is.
    pub frd: Option<Form>,
    /// `[output] probes`, in the case file's order.
    pub probes: Vec<Probe>,
    /// Things worth saying that do not stop the solution; the mesh's own come first.
    pub warnings: Vec<String>,
    /// Whether one of these is that the elements are too stiff, so that stresses come out too low.
    pub is_too_stiff: bool,
}

/// Nodes nearer to the axis than this part of the mesh's longest side are on it.
const ON_AXIS: f64 = 1e-9;

/// The nodes of a mesh on the axis of a body of revolution.
fn on_axis(analysis: Analysis, mesh: &Mesh) -> impl Iterator<Item = u32> + '_ {
    let coords = if analysis.holds_axis() { &mesh.coords[..] } else { &[] };
    let near = if coords.is_empty() { 0.0 } else { ON_AXIS * mesh.longest_side() };
    coords.iter().zip(0u32..).filter(move |(x, _)| x[0].abs() <= near).map(|(_, node)| node)
}

impl Model {
    /// The nodes of a body of revolution that its axis holds: their radial displacement is 0.
    pub fn on_axis(&self) -> impl Iterator<Item = u32> + '_ {
        on_axis(self.analysis, &self.mesh)
    }

    /// The connected parts, those that constraints couple joined: as [`Mesh::parts`] has them.
    pub fn coupled_parts(&self) -> Cow<'_, (Vec<u32>, usize)> {
        match self.constraints.joins() {
            false => Cow::Borrowed(self.mesh.parts()),
            true => Cow::Owned(self.constraints.parts(&self.mesh)),
        }
    }

    /// The form of the device code that integrates it.
    pub fn form(&self) -> FormKind {
        // Kernels of isotropic materials know no constants of a cell's own.
        let is_isotropic = self.cell_factors.is_empty() && self.materials.iter().all(Material::is_isotropic);
        self.analysis.form(is_isotropic)
    }
}
