//! The case file's tables as serde reads them: one plain struct per kind of table, with places where a message needs
//! one.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::names_list::Names;
use super::vector::Vector;

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// `[mesh]`.
    pub mesh: Spanned<MeshTable>,
    /// `[analysis]`; elasticity if left out.
    pub analysis: Option<AnalysisTable>,
    /// `[[material]]`.
    #[serde(default)]
    pub material: Vec<Spanned<MaterialTable>>,
    /// `[[support]]`.
    #[serde(default)]
    pub support: Vec<Spanned<SupportTable>>,
    /// `[gravity]`.
    pub gravity: Option<Spanned<GravityTable>>,
    /// `[[pressure]]`.
    #[serde(default)]
    pub pressure: Vec<PressureTable>,
    /// `[[traction]]`.
    #[serde(default)]
    pub traction: Vec<TractionTable>,
    /// `[[force]]`.
    #[serde(default)]
    pub force: Vec<ForceTable>,
    /// `[[point_force]]`.
    #[serde(default)]
    pub point_force: Vec<Spanned<PointForceTable>>,
    /// `[[push]]`.
    #[serde(default)]
    pub push: Vec<PushTable>,
    /// `[[flux]]`.
    #[serde(default)]
    pub flux: Vec<FluxTable>,
    /// `[source]`.
    pub source: Option<SourceTable>,
    /// `[solver]`.
    #[serde(default)]
    pub solver: SolverTable,
    /// `[output]`.
    #[serde(default)]
    pub output: OutputTable,
}

/// `[mesh]`: exactly one of `file` and `generate`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshTable {
    /// A mesh file, relative to the case file.
    pub file: Option<Spanned<String>>,
    /// Or a mesh made here.
    pub generate: Option<Spanned<GenerateTable>>,
    /// Whether a mesh whose elements do not match is solved on; refused if left out.
    pub allow_hanging: Option<bool>,
}

/// `[mesh] generate = { .. }`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateTable {
    /// `box`, `rectangle` or `annulus`.
    pub kind: Spanned<String>,
    /// An element that the shape can be made of.
    pub element: Spanned<String>,
    /// Edge lengths in x, y, z; in x, y.
    pub size: Option<Spanned<Vec<f64>>>,
    /// Inner and outer radius of an annulus.
    pub radii: Option<Spanned<Vec<f64>>>,
    /// Cells in x, y, z; in x, y; along the radius and around.
    pub cells: Spanned<Vec<usize>>,
    /// How the cells of a rectangle are cut into triangles: `up` or `down`.
    pub diagonals: Option<Spanned<String>>,
}

/// `[analysis]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisTable {
    /// `elasticity`, `plane_stress`, `plane_strain` or `laplace`.
    pub kind: Option<Spanned<String>>,
    /// Of a plane problem.
    pub thickness: Option<Spanned<f64>>,
    /// What numbers are labelled with: `SI`, `mm-N-s` or `in-lbf-s`.
    pub units: Option<Spanned<String>>,
}

/// One `[[material]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// What messages and results call it.
    pub name: Spanned<String>,
    /// The groups made of it; everything if left out.
    pub on: Option<Spanned<Names>>,
    /// Young's modulus; needed in elasticity.
    pub young: Option<Spanned<f64>>,
    /// Poisson's ratio; needed in elasticity.
    pub poisson: Option<Spanned<f64>>,
    /// Conductivity; needed for potentials.
    pub conductivity: Option<Spanned<f64>>,
    /// Mass density.
    pub density: Option<Spanned<f64>>,
    /// The von Mises stress at which it yields.
    pub yield_strength: Option<Spanned<f64>>,
}

/// One `[[support]]`: exactly one of `on`, `nodes`, `box`; at least one of `fix`, `displacement`, or `value`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportTable {
    /// Groups.
    pub on: Option<Spanned<Names>>,
    /// Node tags.
    pub nodes: Option<Spanned<Vec<Spanned<u64>>>>,
    /// An axis-parallel box.
    #[serde(rename = "box")]
    pub in_box: Option<Spanned<BoxTable>>,
    /// The components held at zero, as letters.
    pub fix: Option<Spanned<String>>,
    /// Prescribed components by letter.
    pub displacement: Option<Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>>,
    /// The potential.
    pub value: Option<Spanned<f64>>,
}

/// `box = { min, max }`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxTable {
    /// Lowest corner.
    pub min: Spanned<Vector>,
    /// Highest corner.
    pub max: Spanned<Vector>,
}

/// `[gravity]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GravityTable {
    /// Length per time squared.
    pub acceleration: Spanned<Vector>,
}

/// One `[[pressure]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PressureTable {
    /// Groups.
    pub on: Spanned<Names>,
    /// Force per area, positive pushing on the body.
    pub value: Spanned<f64>,
}

/// One `[[traction]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TractionTable {
    /// Groups.
    pub on: Spanned<Names>,
    /// Force per area; in a plane problem per length of the edge and thickness.
    pub vector: Spanned<Vector>,
}

/// One `[[force]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForceTable {
    /// Groups.
    pub on: Spanned<Names>,
    /// The force on all of them together.
    pub total: Spanned<Vector>,
}

/// One `[[point_force]]`: exactly one of `on`, `at`, `node`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointForceTable {
    /// Groups of points; each of their nodes takes the force.
    pub on: Option<Spanned<Names>>,
    /// A point; the nearest node takes the force.
    pub at: Option<Spanned<Vector>>,
    /// A node tag.
    pub node: Option<Spanned<u64>>,
    /// The force.
    pub vector: Spanned<Vector>,
}

/// One `[[push]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushTable {
    /// Where the other body is; the force acts against it.
    pub direction: Spanned<Vector>,
    /// The size of the force.
    pub total: Spanned<f64>,
}

/// One `[[flux]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FluxTable {
    /// Groups.
    pub on: Spanned<Names>,
    /// Flow per area into the body; in a plane problem per length of the edge and thickness.
    pub value: Spanned<f64>,
}

/// `[source]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceTable {
    /// What is produced per volume.
    pub value: Spanned<f64>,
}

/// `[solver]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolverTable {
    /// Solution method.
    pub method: Option<Spanned<String>>,
    /// What makes `femses` faster.
    pub acceleration: Option<Spanned<String>>,
    /// Storage format.
    pub format: Option<Spanned<String>>,
    /// Order of the nodes.
    pub ordering: Option<Spanned<String>>,
    /// Preconditioner.
    pub preconditioner: Option<Spanned<String>>,
    /// Order of polynomial preconditioners.
    pub order: Option<Spanned<u64>>,
    /// Floating-point precision.
    pub precision: Option<Spanned<String>>,
    /// Estimated relative error to reach, in the energy norm.
    pub tolerance: Option<Spanned<f64>>,
    /// Relative residual to reach instead.
    pub residual_tolerance: Option<Spanned<f64>>,
    /// Iterations allowed.
    pub max_iterations: Option<Spanned<u64>>,
    /// Assembly strategy.
    pub assembly: Option<Spanned<String>>,
}

/// `[output]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputTable {
    /// The fields to write.
    pub fields: Option<Vec<Spanned<String>>>,
    /// Points where results are wanted.
    pub probes: Option<Vec<Spanned<ProbeTable>>>,
}

/// One of `[output] probes`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeTable {
    /// What results call it.
    pub name: Spanned<String>,
    /// Where it is.
    pub at: Spanned<Vector>,
}
