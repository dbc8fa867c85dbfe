//! Couplings in the solver's numbering.

use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

use super::Numbering;
use crate::linalg::Space;
use crate::model::Model;
use crate::model::constraints::{Dof, Resolution};
use crate::result::Result;
use crate::sparse::{CoupledRows, Coupling, SumEquation, ZeroSums};
use kernels_rs::real::Real;

/// `u = T u_m + g` of a model, unknowns as the solver numbers them.
pub struct Couplings {
    /// T.
    pub rows: CoupledRows,
    /// T on the device, in double.
    pub on_device: Rc<Coupling<f64>>,
    /// g, by unknowns.
    pub values: Vec<(usize, f64)>,
}

impl Couplings {
    /// Of a model; none if nothing is coupled. Sums of many unknowns are eliminated, or projected out.
    pub fn new(space: &Space, model: &Model, numbering: &Numbering, eliminates: bool) -> Result<Option<Self>> {
        if model.constraints.is_empty() {
            return Ok(None);
        }
        let size = model.analysis.components();
        let unknown = |dof: Dof| size * numbering.to_solver[dof.node as usize] as usize + usize::from(dof.component);
        let numbered = |terms: Vec<(Dof, f64)>| terms.into_iter().map(|(dof, factor)| (unknown(dof) as u32, factor));
        let Resolution { rows: resolved, sums } = model.constraints.resolved(!eliminates);
        let sums = sums.into_iter().map(|(slave, terms, value)| SumEquation {
            terms: numbered(terms).map(|(of, factor)| (of, -factor)).chain([(unknown(slave) as u32, 1.0)]).collect(),
            value,
            pin: unknown(slave) as u32,
        });
        let (sums, least) = ZeroSums::of(sums.collect());
        let mut values: Vec<(usize, f64)> = least.iter().map(|(of, value)| (*of as usize, *value)).collect();
        let least: HashMap<u32, f64> = least.into_iter().collect();
        let mut rows = Vec::new();
        for (slave, terms, value) in resolved {
            let terms: Vec<(u32, f64)> = numbered(terms).filter(|term| term.1 != 0.0).collect();
            let of_sums = terms.iter().map(|(of, factor)| factor * least.get(of).copied().unwrap_or(0.0)).sum::<f64>();
            values.push((unknown(slave), value + of_sums));
            rows.push((unknown(slave) as u32, terms));
        }
        let mut rows = CoupledRows { sums, ..CoupledRows::new(size * numbering.len(), rows) };
        let openings = model.constraints.bolts.iter().flat_map(|bolt| bolt.opening(size));
        let openings = openings.map(|pair| pair.map(|dof| unknown(dof) as u32));
        let is_pin = |of: &u32| rows.sums.iter().any(|sums| sums.pins.contains(of));
        let hubs: Vec<u32> = rows.most_followed().into_iter().filter(|of| !is_pin(of)).collect();
        let is_free = |of: &u32| rows.slaves.binary_search(of).is_err() && !hubs.contains(of);
        (rows.shut, rows.hubs) = (openings.filter(|[above, _]| is_free(above)).collect(), hubs);
        Ok(Some(Couplings { on_device: Rc::new(Coupling::new(space, &rows)?), rows, values }))
    }

    /// T on the device, in any precision.
    pub fn in_precision<T: Real>(&self, space: &Space) -> Result<Rc<Coupling<T>>> {
        match (self.on_device.clone() as Rc<dyn Any>).downcast() {
            Ok(same) => Ok(same),
            Err(_) => Ok(Rc::new(Coupling::new(space, &self.rows)?)),
        }
    }
}
