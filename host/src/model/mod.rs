//! A model: mesh, materials, supports and loads, with every group name resolved and everything checked.

mod bending;
pub mod case;
mod error;
pub mod held;
mod loads;
mod locking;
mod materials;
mod names;
mod probes;
mod problems;
mod resolve;
mod rotation;
mod select;
mod source;
mod supports;
pub mod units;
mod unused;

#[cfg(test)]
mod laplace_tests;
#[cfg(test)]
mod plane_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use crate::result::{Quantity, Units, with_unit};
pub use case::Case;
pub use error::{Error, ModelError, Result};
pub use names::planes;
pub use probes::Probe;
pub use problems::Problems;
pub use source::{CaseError, Checked, Place, Source};
pub use unused::{Unused, unused};

use crate::mesh::Mesh;
use crate::result::Physics;
use crate::result::choices::{Acceleration, Format, Method, Ordering, Precision, Preconditioner, Strategy, choices};

choices! {
    /// What is solved.
    Analysis:
    /// Three-dimensional linear elasticity.
    Elasticity = "elasticity",
    /// Elasticity of a thin plate in its plane: no stress across it.
    PlaneStress = "plane_stress",
    /// Elasticity of a long prism's cross-section: no strain along it.
    PlaneStrain = "plane_strain",
    /// A potential in the plane or in space, `-div(k grad u) = s`: heat, seepage, electric fields.
    Laplace = "laplace",
}

impl Analysis {
    /// The physics, which decides what results there are.
    pub fn physics(self) -> Physics {
        match self {
            Analysis::Laplace => Physics::Potential,
            _ => Physics::Elasticity,
        }
    }

    /// Unknowns of a node.
    pub fn components(self) -> usize {
        match self {
            Analysis::Elasticity => 3,
            Analysis::PlaneStress | Analysis::PlaneStrain => 2,
            Analysis::Laplace => 1,
        }
    }

    /// The dimension of the meshes that it is for; none if the mesh decides between two and three.
    pub fn dim(self) -> Option<usize> {
        (self != Analysis::Laplace).then_some(self.components())
    }
}

/// An isotropic material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name in the case file.
    pub name: String,
    /// Young's modulus; 0 if the case has none, which elasticity needs.
    pub young: f64,
    /// Poisson's ratio; 0 if the case has none.
    pub poisson: f64,
    /// Conductivity; 0 if the case has none, which potentials need.
    pub conductivity: f64,
    /// Mass density; needed by gravity only.
    pub density: Option<f64>,
    /// The von Mises stress at which it yields.
    pub yield_strength: Option<f64>,
}

impl Material {
    /// Lame's first parameter, `lambda = E nu / ((1 + nu)(1 - 2 nu))`.
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// The strain of a stress, with the engineer's shears: `((1 + nu) sigma - nu tr(sigma) I) / E`. In plane stress the
    /// strain across is in it, too.
    pub fn strain(&self, stress: [f64; 6]) -> [f64; 6] {
        let (pressure, shear) = (self.poisson * (stress[0] + stress[1] + stress[2]), 1.0 + self.poisson);
        std::array::from_fn(|i| if i < 3 { shear * stress[i] - pressure } else { 2.0 * shear * stress[i] } / self.young)
    }

    /// The shear modulus, `mu = E / (2 (1 + nu))`.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }
}

/// One `[[support]]`: nodes and what is prescribed there.
#[derive(Debug, Clone, PartialEq)]
pub struct Support {
    /// The group's name (several joined by `+`; `end[2]` for the second support on `end`), or `support[2]` by
    /// its position, counted from 1.
    pub name: String,
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// The displacement prescribed in x, y, z; `None` leaves that component free. Of a potential its value, then
    /// `None`.
    pub displacement: [Option<f64>; 3],
}

impl Support {
    /// What it prescribes: node, component, value.
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

/// `[solver]`: how to solve; every field has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverOptions {
    /// Method; none: `auto`, as everywhere here.
    pub method: Option<Method>,
    /// What makes `femses` faster.
    pub acceleration: Acceleration,
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
    /// Where the iteration gives up.
    pub max_iterations: usize,
}

impl Default for SolverOptions {
    fn default() -> Self {
        SolverOptions {
            method: None,
            acceleration: Acceleration::None,
            format: None,
            ordering: None,
            preconditioner: None,
            order: 6,
            precision: None,
            assembly: None,
            tolerance: 1e-6,
            residual_tolerance: None,
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
    pub mesh: Mesh,
    /// What is solved.
    pub analysis: Analysis,
    /// What numbers are labelled with, if the case says so.
    pub units: Option<Units>,
    /// Thickness of a plane problem; 1 in three dimensions.
    pub thickness: f64,
    /// The materials.
    pub materials: Vec<Material>,
    /// For each block of `mesh.cells` of the analysis's dimension (in `mesh.cells` order; other blocks have an empty
    /// list): the material index of each cell.
    pub cell_material: Vec<Vec<u32>>,
    /// The supports, in the case file's order.
    pub supports: Vec<Support>,
    /// Acceleration of gravity, applied to the volume by the assembly.
    pub gravity: Option<[f64; 3]>,
    /// What a potential's source gives per volume, applied by the assembly.
    pub source: Option<f64>,
    /// All other loads as consistent nodal forces, `[n_nodes][3]`; fluxes come first, then zeros.
    pub nodal_forces: Vec<[f64; 3]>,
    /// What each of those loads adds up to, in the order pressure, traction, force, flux, point force, push.
    pub applied: Vec<AppliedLoad>,
    /// How to solve.
    pub solver: SolverOptions,
    /// `[output] fields`.
    pub fields: Vec<String>,
    /// `[output] probes`, in the case file's order.
    pub probes: Vec<Probe>,
    /// Things worth saying that do not stop the solution; the mesh's own come first.
    pub warnings: Vec<String>,
    /// Whether one of these is that the elements are too stiff, so that stresses come out too low.
    pub is_too_stiff: bool,
}
