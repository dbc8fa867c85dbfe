//! The case file's tables as serde reads them: one plain struct per kind of table, with places where a message needs
//! one. What their keys mean is said in `docs/case-file.md`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub use super::heat_tables::{ConvectionTable, Points, SourceTable, SurfaceTable, TemperatureOnTable, TimeTable};
use super::names_list::Names;
use super::vector::{Numbers, Vector};
use crate::model::{Place, Response};

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
    #[serde(default)]
    pub spring: Vec<Spanned<SpringTable>>,
    /// Of a deck.
    #[serde(skip)]
    pub bond: Vec<BondTable>,
    #[serde(default)]
    pub mass: Vec<Spanned<MassTable>>,
    #[serde(default)]
    pub tie: Vec<Spanned<TieTable>>,
    #[serde(default)]
    pub remote: Vec<Spanned<RemoteTable>>,
    #[serde(default)]
    pub cyclic: Vec<Spanned<CyclicTable>>,
    #[serde(default)]
    pub bolt: Vec<Spanned<BoltTable>>,
    #[serde(default)]
    pub equation: Vec<Spanned<EquationTable>>,
    pub gravity: Option<Spanned<GravityTable>>,
    pub rotation: Option<Spanned<RotationTable>>,
    pub temperature: Option<Spanned<TemperatureTable>>,
    pub inertia_relief: Option<Spanned<InertiaReliefTable>>,
    pub harmonic: Option<Spanned<HarmonicTable>>,
    /// Of a deck: the same, and motion in time.
    #[serde(skip)]
    pub response: Option<Response>,
    pub time: Option<Spanned<TimeTable>>,
    #[serde(default)]
    pub pressure: Vec<Spanned<PressureTable>>,
    #[serde(default)]
    pub traction: Vec<TractionTable>,
    #[serde(default)]
    pub force: Vec<ForceTable>,
    #[serde(default)]
    pub load: Vec<Spanned<LoadTable>>,
    #[serde(default)]
    pub point_force: Vec<Spanned<PointForceTable>>,
    /// Of a deck.
    #[serde(skip)]
    pub nodal_force: Vec<NodalForceTable>,
    #[serde(default)]
    pub push: Vec<PushTable>,
    #[serde(default)]
    pub flux: Vec<SurfaceTable>,
    #[serde(default)]
    pub convection: Vec<ConvectionTable>,
    #[serde(default)]
    pub source: Vec<SourceTable>,
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
    /// What the file's elements with the nodes of this kind are: files do not say how elements are integrated.
    pub element: Option<Spanned<String>>,
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
            "expansion" => &self.expansion,
            _ => &None,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisTable {
    /// An analysis; `elasticity` if left out.
    pub kind: Option<Spanned<String>>,
    /// `static`, `modal` or `buckling`; `static` if left out.
    pub study: Option<Spanned<String>>,
    /// How many modes of a modal study or of buckling.
    pub modes: Option<Spanned<u64>>,
    /// What of M is added to K where these are iterated on.
    pub shift: Option<Spanned<f64>>,
    /// Whether a modal study is about the state under the loads.
    pub prestress: Option<Spanned<bool>>,
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
    /// Thermal strain per degree: one number, or those along three axes.
    pub expansion: Option<Spanned<Numbers>>,
    /// The axes that these are along; those of the mesh if left out.
    pub axes: Option<Spanned<AxesTable>>,
    pub density: Option<Spanned<f64>>,
    /// Heat per mass and degree.
    pub specific_heat: Option<Spanned<f64>>,
    /// The von Mises stress at which it yields.
    pub yield_strength: Option<Spanned<f64>>,
    /// Instead of `young`, `poisson` and `expansion`.
    pub by_temperature: Option<Spanned<Vec<Spanned<AtTemperatureTable>>>>,
}

/// What an isotropic material is at a temperature.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtTemperatureTable {
    pub temperature: Spanned<f64>,
    pub young: Spanned<f64>,
    pub poisson: Spanned<f64>,
    pub expansion: Spanned<f64>,
}

/// `{ x, y }`, `{ axis, at }` of a cylinder, or `{ file }`.
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
    /// Of a material: a CSV file of points with vectors x and y.
    pub file: Option<Spanned<String>>,
}

/// One `[[support]]`: exactly one of `on`, `nodes`, `box`; at least one of `fix`, `displacement`, or `value`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportTable {
    pub on: Option<Spanned<Names>>,
    pub nodes: Option<Spanned<Vec<Spanned<u64>>>>,
    #[serde(rename = "box")]
    pub in_box: Option<Spanned<BoxTable>>,
    /// What results call it; the groups' names if left out.
    pub name: Option<Spanned<String>>,
    /// The components held at zero, as letters; or `normal`.
    pub fix: Option<Spanned<String>>,
    /// The axes that components are along; those of the mesh if left out.
    pub axes: Option<Spanned<AxesTable>>,
    /// Prescribed components by letter.
    pub displacement: Option<Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>>,
    pub value: Option<Spanned<f64>>,
    /// What the value is multiplied by over time.
    pub amplitude: Option<Spanned<Points>>,
}

/// One `[[tie]]`: the nodes of the slave move as the faces of the master.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TieTable {
    pub name: Option<Spanned<String>>,
    pub slave: Spanned<Names>,
    pub master: Spanned<Names>,
    /// How far slave nodes may be from the master.
    pub tolerance: Option<Spanned<f64>>,
    /// `bonded` or `sliding`; `bonded` if left out.
    pub kind: Option<Spanned<String>>,
    /// Of heat: flow per area and difference of temperature; the sides have one temperature if left out.
    pub conductance: Option<Spanned<f64>>,
}

/// One `[[remote]]`: a point that moves with the nodes of some groups.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteTable {
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Where it is; in the middle of the groups if left out.
    pub at: Option<Spanned<Vector>>,
    /// `distributing` or `rigid`; `distributing` if left out.
    pub kind: Option<Spanned<String>>,
    pub force: Option<Spanned<Vector>>,
    /// Of a plane body one number.
    pub moment: Option<Spanned<Numbers>>,
    /// The motions held at zero: `xyz rx ry rz`.
    pub fix: Option<Spanned<String>>,
    /// Prescribed displacements by letter.
    pub displacement: Option<Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>>,
    /// Prescribed rotations by letter, in radians.
    pub rotation: Option<Spanned<BTreeMap<Spanned<String>, Spanned<f64>>>>,
}

/// One `[[cyclic]]`: the body is a sector that repeats round an axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclicTable {
    /// What results call it; the groups of `to` if left out.
    pub name: Option<Spanned<String>>,
    /// One side of the sector.
    pub from: Spanned<Names>,
    /// The other, whose nodes follow.
    pub to: Spanned<Names>,
    /// The direction of the axis; across the plane of a plane body if left out.
    pub axis: Option<Spanned<Vector>>,
    /// A point of the axis; the origin if left out.
    pub at: Option<Spanned<Vector>>,
    /// How many sectors make a turn, if a deck says so.
    #[serde(skip)]
    pub sectors: Option<f64>,
}

/// One `[[bolt]]`: exactly one of `preload`, `shortening`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoltTable {
    /// What results and load cases call it; the groups if left out.
    pub name: Option<Spanned<String>>,
    /// Faces inside the body, all across the shank.
    pub on: Spanned<Names>,
    /// The force in the shank.
    pub preload: Option<Spanned<f64>>,
    /// Or how much of the shank's length is taken out.
    pub shortening: Option<Spanned<f64>>,
}

/// One `[[equation]]`: `sum factor u = value`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquationTable {
    pub terms: Spanned<Vec<Spanned<TermTable>>>,
    pub value: Option<Spanned<f64>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermTable {
    /// The node's tag.
    pub node: Spanned<u64>,
    /// `x`, `y` or `z`; of a potential `value`.
    pub dof: Spanned<String>,
    pub factor: Spanned<f64>,
}

/// One `[[spring]]`: exactly one of `stiffness`, `foundation`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringTable {
    /// What results call it; the groups' names if left out.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Force per displacement in x, y, z, of all of them together.
    pub stiffness: Option<Spanned<Numbers>>,
    /// Pressure per displacement along the normal, or in x, y, z.
    pub foundation: Option<Spanned<Numbers>>,
}

/// A sum of components, by nodes' tags, and a value.
pub type TagSum = (Vec<((u64, u8), f64)>, f64);

/// Springs between nodes, which a deck has and a case file has not.
#[derive(Debug, Clone)]
pub struct BondTable {
    /// What results call them.
    pub name: String,
    pub place: Place,
    /// Force per change of a sum.
    pub rate: f64,
    /// For each spring what it resists: nodes' tags, components and factors, and what driven ends add to their sum.
    pub sums: Vec<TagSum>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MassTable {
    /// What messages call it; the groups' names if left out.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Of all of them together.
    pub mass: Spanned<f64>,
    /// Moments of inertia about x, y, z; in a plane problem one number.
    pub inertia: Option<Spanned<Numbers>>,
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

/// `[harmonic]`: the loads vibrate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarmonicTable {
    /// Cycles per time.
    pub frequencies: Option<Spanned<Numbers>>,
    /// Or a range.
    pub from: Option<Spanned<f64>>,
    pub to: Option<Spanned<f64>>,
    /// Points of the range.
    pub points: Option<Spanned<u64>>,
    /// Of modes, relative to the critical one; or of each.
    pub damping: Option<Spanned<Numbers>>,
    /// Or what M and K are multiplied by.
    pub rayleigh: Option<Spanned<[f64; 2]>>,
    /// Where fields are written.
    pub fields: Option<Spanned<Numbers>>,
}

/// `[temperature]`: the thermal strain is `expansion` times what it is above the reference.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperatureTable {
    /// Where there is no thermal strain.
    pub reference: Spanned<f64>,
    /// That of the whole body, but where `on` says another; the reference if `value` and `file` are left out.
    pub value: Option<Spanned<f64>>,
    /// Or a CSV file of points.
    pub file: Option<Spanned<String>>,
    /// Or a heat case, which is solved first.
    pub from: Option<Spanned<String>>,
    /// The same of a deck, by its tables.
    #[serde(skip)]
    pub heat: Option<Box<Tables>>,
    #[serde(default)]
    pub on: Vec<TemperatureOnTable>,
    /// Of nodes by their tags, which a deck has.
    #[serde(skip)]
    pub nodal: Vec<(u64, f64)>,
}

/// `[inertia_relief]`: the body is free, and accelerates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InertiaReliefTable {}

/// One `[[pressure]]`: exactly one of `value`, `gradient`, `file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PressureTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Force per area, positive pushing on the body. In a plane problem the area is the length of the edge times the
    /// thickness.
    pub value: Option<Spanned<f64>>,
    /// What a liquid's pressure grows by per length below `level`: density times gravity.
    pub gradient: Option<Spanned<f64>>,
    /// A point of the liquid's surface.
    pub level: Option<Spanned<Vector>>,
    /// Where down is; along gravity if left out.
    pub direction: Option<Spanned<Vector>>,
    /// A CSV file of points.
    pub file: Option<Spanned<String>>,
}

/// One `[[load]]`: at least one of `force` and `moment`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    pub force: Option<Spanned<Vector>>,
    /// About x, y, z; in a plane problem one number.
    pub moment: Option<Spanned<Numbers>>,
    /// Where the force acts; at the centre of the faces if left out.
    pub at: Option<Spanned<Vector>>,
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

/// Forces on nodes, which a deck has and a case file has not.
#[derive(Debug, Clone)]
pub struct NodalForceTable {
    /// What load cases call them.
    pub name: Option<Spanned<String>>,
    /// What results call them.
    pub label: String,
    pub place: Place,
    /// By nodes' tags; what flows into them comes first, then zeros.
    pub forces: Vec<(u64, [f64; 3])>,
    /// What they are multiplied by over time.
    pub amplitude: Option<Spanned<Points>>,
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
    /// How products with K are computed.
    pub operator: Option<Spanned<String>>,
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
    /// Whether modes are counted.
    pub check_count: Option<Spanned<bool>>,
    pub max_iterations: Option<Spanned<u64>>,
    pub assembly: Option<Spanned<String>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputTable {
    pub fields: Option<Vec<Spanned<String>>>,
    /// How CalculiX's file of results is written, if it is.
    pub frd: Option<Spanned<String>>,
    /// Points where results are wanted.
    pub probes: Option<Vec<Spanned<ProbeTable>>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeTable {
    pub name: Spanned<String>,
    pub at: Spanned<Vector>,
}
