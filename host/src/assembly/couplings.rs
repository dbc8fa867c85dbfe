//! Couplings in the solver's numbering.

use super::Numbering;
use crate::linalg::Space;
use crate::model::Model;
use crate::model::constraints::Dof;
use crate::result::Result;
use crate::sparse::{CoupledRows, Coupling};

/// `u = T u_m + g` of a model, unknowns as the solver numbers them.
pub struct Couplings {
    /// T.
    pub rows: CoupledRows,
    /// T on the device, in double.
    pub on_device: Coupling<f64>,
    /// g, by unknowns.
    pub values: Vec<(usize, f64)>,
}

impl Couplings {
    /// Of a model; none if nothing is coupled.
    pub fn new(space: &Space, model: &Model, numbering: &Numbering) -> Result<Option<Self>> {
        if model.constraints.is_empty() {
            return Ok(None);
        }
        let size = model.analysis.components();
        let unknown = |dof: Dof| size * numbering.to_solver[dof.node as usize] as usize + usize::from(dof.component);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for (slave, terms, value) in model.constraints.resolved() {
            rows.push((
                unknown(slave) as u32,
                terms.iter().map(|(dof, factor)| (unknown(*dof) as u32, *factor)).collect(),
            ));
            values.push((unknown(slave), value));
        }
        let rows = CoupledRows::new(size * numbering.len(), rows);
        Ok(Some(Couplings { on_device: Coupling::new(space, &rows)?, rows, values }))
    }
}
