//! What each support does to a node that several may hold.
//!
//! Directions that are independent share the node's force `F = sum lambda_i n_i`, each support its own terms. Where they
//! depend on each other, as for two supports that hold the same component, each has all of F that is along its own.

use std::collections::HashMap;

use crate::element::vector::dot;
use crate::model::{HeldSpace, Model};
use nalgebra::{DMatrix, DVector};

/// The supports at nodes that slanted ones hold: their numbers and what each of them holds there.
pub struct Shares(HashMap<u32, Vec<(usize, HeldSpace)>>);

impl Shares {
    /// Of a model.
    pub fn new(model: &Model) -> Self {
        let slanted = model.supports.iter().filter(|support| support.is_slanted());
        let mut at: HashMap<u32, Vec<(usize, HeldSpace)>> =
            slanted.flat_map(|support| &support.nodes).map(|node| (*node, Vec::new())).collect();
        if at.is_empty() {
            return Shares(at);
        }
        for (number, support) in model.supports.iter().enumerate() {
            for (node, direction, value) in support.held(&model.mesh.coords) {
                let Some(known) = at.get_mut(&node) else { continue };
                if known.last().is_none_or(|last| last.0 != number) {
                    known.push((number, HeldSpace::default()));
                }
                if let Some((_, space)) = known.last_mut() {
                    space.add(direction, value);
                }
            }
        }
        Shares(at)
    }

    /// What a support has of the force of all supports on a node; none if only supports in components hold it.
    pub fn of(&self, support: usize, node: u32, force: [f64; 3]) -> Option<[f64; 3]> {
        let known = self.0.get(&node)?;
        let all: Vec<(usize, [f64; 3])> =
            known.iter().flat_map(|(number, space)| space.directions().iter().map(|n| (*number, *n))).collect();
        let along = DVector::from_fn(all.len(), |i, _| dot(all[i].1, force));
        let gram = DMatrix::from_fn(all.len(), all.len(), |i, j| dot(all[i].1, all[j].1));
        let factors = gram.cholesky().filter(|_| is_independent(known)).map_or(along.clone(), |l| l.solve(&along));
        let own = all.iter().enumerate().filter(|(_, (number, _))| *number == support);
        Some(own.fold([0.0; 3], |sum, (i, (_, n))| [0, 1, 2].map(|c| sum[c] + factors[i] * n[c])))
    }
}

/// Whether no support holds what others hold.
fn is_independent(supports: &[(usize, HeldSpace)]) -> bool {
    let mut space = HeldSpace::default();
    let all: Vec<[f64; 3]> = supports.iter().flat_map(|(_, own)| own.directions().to_vec()).collect();
    for n in &all {
        space.add(*n, 0.0);
    }
    space.directions().len() == all.len()
}
