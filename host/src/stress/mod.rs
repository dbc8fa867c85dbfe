//! What follows from the displacements, or from a potential: the fields and tables of the one
//! [list](crate::result::FIELDS), each computed by the function of its name in `fields.rs` or `tables.rs`, once, and only
//! if it is asked for.

mod balance;
mod cells;
mod error;
mod fields;
mod nodal;
mod reactions;
mod recovery;
mod springs;
mod tables;
mod tensor;
mod warmth;

use crate::assembly::{DeviceMesh, Numbering, Supports};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::result::{Field, FieldInfo, Result, Sink, Step, Table, TableInfo, for_each_field, for_each_table};
pub use balance::{Balance, free_residual, norm, resultant, support_forces};
pub use cells::{Asked, AtPoints, cell_energies, gradients, sampled, strain_energy, stresses};
pub use nodal::{Nodal, nodal_gradient, nodal_stress};
pub use springs::spring_forces;

/// What results are computed from, and those that are computed. Vectors over nodes are in the solver's numbering,
/// `[n_nodes][components]`, flat.
pub struct Context<'a> {
    /// The device.
    pub space: &'a Space,
    /// The model.
    pub model: &'a Model,
    /// The solver's numbering.
    pub numbering: &'a Numbering,
    /// The mesh on the device.
    pub mesh: &'a DeviceMesh,
    /// The supports.
    pub supports: &'a Supports,
    /// The unknown, without the motion that supports prescribe to a whole part.
    pub u: &'a [f64],
    /// The same on the device.
    pub device_u: &'a Buffer<f64>,
    /// The forces of the supports on the body, or first the flow into it, in the mesh's numbering.
    pub forces: Vec<[f64; 3]>,
    /// Acceleration and angular acceleration of a free body.
    pub acceleration: Option<[[f64; 3]; 2]>,
    /// The heat that the body takes up per time.
    pub stored: Option<f64>,
    /// The force of each row of the model's constraints.
    pub multipliers: Vec<f64>,
    /// Which load case it is.
    pub case: usize,
    step: Step,
    /// Stresses at the nodes.
    nodal: Option<Nodal<6>>,
    /// The estimated error of the whole, relative.
    mesh_error: Option<f64>,
}

impl<'a> Context<'a> {
    /// Nothing is computed yet.
    pub fn new(
        space: &'a Space,
        model: &'a Model,
        (numbering, mesh): (&'a Numbering, &'a DeviceMesh),
        (u, device_u): (&'a [f64], &'a Buffer<f64>),
        (supports, forces): (&'a Supports, Vec<[f64; 3]>),
        multipliers: Vec<f64>,
    ) -> Self {
        let step = Step { physics: model.analysis.physics(), study: model.study, ..Step::default() };
        let (acceleration, stored, case, nodal, mesh_error) = Default::default();
        Context {
            space,
            model,
            numbering,
            mesh,
            supports,
            u,
            device_u,
            forces,
            acceleration,
            stored,
            multipliers,
            case,
            step,
            nodal,
            mesh_error,
        }
    }

    /// The values of a field, as in [`Field::values`]; no lists if the model has none of this name.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn field(&mut self, name: &str) -> Result<&[Vec<f64>]> {
        let known = self.step.field(name).is_some();
        let info = FieldInfo::named(name).filter(|info| !known && info.physics.contains(&self.step.physics));
        if let Some(info) = info {
            let values = compute_field(info.name, self)?;
            if !values.is_empty() {
                self.step.fields.push(Field { info, values });
            }
        }
        Ok(self.step.lists(name))
    }

    /// A table, as [`Context::field`] has fields.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn table(&mut self, name: &str) -> Result<Option<&Table>> {
        let known = self.step.table(name).is_some();
        let info = TableInfo::named(name).filter(|info| !known && info.physics.contains(&self.step.physics));
        if let Some(info) = info {
            let rows = compute_table(info.name, self)?;
            if !rows.is_empty() {
                self.step.tables.push(Table { info, rows });
            }
        }
        Ok(self.step.table(name))
    }

    /// The step, with what a sink wants of it.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn into_step(mut self, sink: &dyn Sink) -> Result<Step> {
        let (physics, study) = (self.step.physics, self.step.study);
        let is_wanted = |name: &str| study.has(name) && sink.wants(name);
        for info in physics.fields().filter(|info| is_wanted(info.name)) {
            self.field(info.name)?;
        }
        for info in physics.tables().filter(|info| is_wanted(info.name)) {
            self.table(info.name)?;
        }
        self.step.fields.retain(|field| sink.wants(field.info.name));
        self.step.tables.retain(|table| sink.wants(table.info.name));
        Ok(self.step)
    }
}

macro_rules! compute_fields {
    ($($name:ident, $at:ident, $components:ident, $unit:ident, $physics:tt, $when:ident;)+) => {
        /// Computes a field; no lists if there is none of this name.
        fn compute_field(name: &str, of: &mut Context) -> Result<Vec<Vec<f64>>> {
            match name {
                $(stringify!($name) => fields::$name(of),)+
                _ => Ok(Vec::new()),
            }
        }
    };
}
for_each_field!(compute_fields);

macro_rules! compute_tables {
    ($($name:ident, $columns:tt, $physics:tt;)+) => {
        /// Computes the rows of a table; none if there is none of this name.
        fn compute_table(name: &str, of: &mut Context) -> Result<Vec<(String, Vec<f64>)>> {
            match name {
                $(stringify!($name) => tables::$name(of),)+
                _ => Ok(Vec::new()),
            }
        }
    };
}
for_each_table!(compute_tables);
