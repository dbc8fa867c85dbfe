//! The case file's tables as serde reads them: one plain struct per kind of table, with places where a message needs
//! one. What their keys mean is said in `docs/case-file.md`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::names_list::Names;
use super::vector::{Numbers, Vector};

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    pub mesh: Spanned<MeshTable>,
    #[serde(default)]
    pub analysis: AnalysisTable,
    #[serde(default)]
    pub material: Vec<Spanned<MaterialTable>>,
    #[serde(default)]
    pub support: Vec<Spanned<SupportTable>>,
    pub gravity: Option<Spanned<GravityTable>>,
    pub rotation: Option<Spanned<RotationTable>>,
    #[serde(default)]
    pub pressure: Vec<SurfaceTable>,
    #[serde(default)]
    pub traction: Vec<TractionTable>,
    #[serde(default)]
    pub force: Vec<ForceTable>,
    #[serde(default)]
    pub point_force: Vec<Spanned<PointForceTable>>,
    #[serde(default)]
    pub push: Vec<PushTable>,
    #[serde(default)]
    pub flux: Vec<SurfaceTable>,
    pub source: Option<SourceTable>,
    #[serde(default)]
    pub load_case: Vec<Spanned<LoadCaseTable>>,
    #[serde(default)]
    pub solver: SolverTable,
    #[serde(default)]
    pub output: OutputTable,
}

/// `[mesh]`: exactly one of `file` and `generate`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshTable {
    pub file: Option<Spanned<String>>,
    /// Or a mesh that is made here.
    pub generate: Option<Spanned<GenerateTable>>,
    /// Whether a mesh whose elements do not match is solved on; refused if left out.
    pub allow_hanging: Option<bool>,
}

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

impl MaterialTable {
    /// The numbers under one of the keys that take several.
    pub fn numbers(&self, key: &str) -> &Option<Spanned<Numbers>> {
        match key {
            "young" => &self.young,
            "poisson" => &self.poisson,
            "shear" => &self.shear,
            "stiffness" => &self.stiffness,
            "conductivity" => &self.conductivity,
            _ => &None,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisTable {
    /// An analysis; `elasticity` if left out.
    pub kind: Option<Spanned<String>>,
    pub thickness: Option<Spanned<f64>>,
    /// What numbers are labelled with: `SI`, `mm-N-s` or `in-lbf-s`.
    pub units: Option<Spanned<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// What messages and results call it.
    pub name: Spanned<String>,
    /// The groups made of it; everything if left out.
    pub on: Option<Spanned<Names>>,
    /// One number, or those along three axes.
    pub young: Option<Spanned<Numbers>>,
    /// One number, or xy, xz, yz.
    pub poisson: Option<Spanned<Numbers>>,
    /// Shear moduli xy, xz, yz.
    pub shear: Option<Spanned<Numbers>>,
    /// The upper triangle of D, row by row.
    pub stiffness: Option<Spanned<Numbers>>,
    /// One number, or those along three axes.
    pub conductivity: Option<Spanned<Numbers>>,
    /// The axes that these are along; those of the mesh if left out.
    pub axes: Option<Spanned<AxesTable>>,
    pub density: Option<Spanned<f64>>,
    /// The von Mises stress at which it yields.
    pub yield_strength: Option<Spanned<f64>>,
}

/// `{ x, y }`, or `{ axis, at }` of a cylinder.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxesTable {
    pub x: Option<Spanned<Vector>>,
    /// As far as it is at right angles to `x`.
    pub y: Option<Spanned<Vector>>,
    /// The direction of a cylinder's axis, along which z is; x is radial.
    pub axis: Option<Spanned<Vector>>,
    /// A point of that axis; the origin if left out.
    pub at: Option<Spanned<Vector>>,
}

/// One `[[support]]`: exactly one of `on`, `nodes`, `box`; at least one of `fix`, `displacement`, or `value`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportTable {
    pub on: Option<Spanned<Names>>,
    pub nodes: Option<Spanned<Vec<Spanned<u64>>>>,
    #[serde(rename = "box")]
    pub in_box: Option<Spanned<BoxTable>>,
    /// The components held at zero, as letters.
    pub fix: Option<Spanned<String>>,
    /// Prescribed components by letter.
    pub displacement: Option<Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>>,
    pub value: Option<Spanned<f64>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxTable {
    pub min: Spanned<Vector>,
    pub max: Spanned<Vector>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GravityTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// Length per time squared.
    pub acceleration: Spanned<Vector>,
}

/// `[rotation]`: the body spins, and its parts are thrown outwards.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotationTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// The direction of the axis; across the plane of a plane body, and along that of a body of revolution, if left out.
    pub axis: Option<Spanned<Vector>>,
    /// A point of the axis; the origin if left out.
    pub at: Option<Spanned<Vector>>,
    /// Angle (in radians) per time.
    pub speed: Spanned<f64>,
}

/// One `[[pressure]]` or `[[flux]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Force per area, positive pushing on the body; flow per area into it. In a plane problem the area is the length of
    /// the edge times the thickness.
    pub value: Spanned<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TractionTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Force per area; in a plane problem per length of the edge and thickness.
    pub vector: Spanned<Vector>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// The force on all of them together.
    pub total: Spanned<Vector>,
}

/// One `[[point_force]]`: exactly one of `on`, `at`, `node`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointForceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// Groups of points; each of their nodes takes the force.
    pub on: Option<Spanned<Names>>,
    /// A point; the nearest node takes the force.
    pub at: Option<Spanned<Vector>>,
    pub node: Option<Spanned<u64>>,
    pub vector: Spanned<Vector>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// Where the other body is; the force acts against it.
    pub direction: Spanned<Vector>,
    pub total: Spanned<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// What is produced per volume.
    pub value: Spanned<f64>,
}

/// One `[[load_case]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadCaseTable {
    pub name: Spanned<String>,
    /// Factors by the names of loads.
    pub factors: Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolverTable {
    pub method: Option<Spanned<String>>,
    /// What makes `femses` faster.
    pub acceleration: Option<Spanned<String>>,
    pub format: Option<Spanned<String>>,
    pub ordering: Option<Spanned<String>>,
    pub preconditioner: Option<Spanned<String>>,
    /// Order of polynomial preconditioners.
    pub order: Option<Spanned<u64>>,
    pub precision: Option<Spanned<String>>,
    /// Estimated relative error to reach, in the energy norm.
    pub tolerance: Option<Spanned<f64>>,
    /// Relative residual to reach instead.
    pub residual_tolerance: Option<Spanned<f64>>,
    pub max_iterations: Option<Spanned<u64>>,
    pub assembly: Option<Spanned<String>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputTable {
    pub fields: Option<Vec<Spanned<String>>>,
    /// Points where results are wanted.
    pub probes: Option<Vec<Spanned<ProbeTable>>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeTable {
    pub name: Spanned<String>,
    pub at: Spanned<Vector>,
}
