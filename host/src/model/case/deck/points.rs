//! Equations with nodes that have no stiffness: what is known of these goes to the other side, the rest is eliminated.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use super::steps::{Dof, State, Values};
use crate::io::inp::{Mistake, Place, Read};

/// `sum factor u = value`.
#[derive(Debug, Clone)]
pub struct Equation {
    pub terms: Vec<(Dof, f64)>,
    /// Terms of points that are prescribed.
    pub known: Vec<(Dof, f64)>,
    pub value: f64,
    pub place: Place,
}

/// Equations, and what has become of the components of points.
#[derive(Debug, Clone, Default)]
pub struct Points {
    pub equations: Vec<Equation>,
    /// Points that a body follows, or that a bolt has.
    pub taken: BTreeSet<u64>,
    /// Components as sums of others and a value.
    pub eliminated: BTreeMap<Dof, Follows>,
}

/// What a component follows: others with factors, and a value.
pub type Follows = (Vec<(Dof, f64)>, f64);

impl Points {
    /// Adds an equation whose sum is 0.
    pub fn add(&mut self, terms: Vec<(Dof, f64)>, place: Place) {
        self.equations.push(Equation { terms, known: Vec::new(), value: 0.0, place });
    }

    /// Takes all components of points out of the equations.
    pub fn eliminate(&mut self, reader: &Reader<'_>, supports: &Values<Dof>) {
        for equation in &mut self.equations {
            let known = |dof: &Dof| supports.get(dof).filter(|_| !reader.is_in_body(dof.0)).map(|given| given.value);
            for (dof, factor) in &equation.terms {
                equation.value -= factor * known(dof).unwrap_or(0.0);
            }
            let (known, terms) = equation.terms.drain(..).partition(|(dof, _)| known(dof).is_some());
            (equation.known, equation.terms) = (known, terms);
        }
        let of_points = self.equations.iter().flat_map(|equation| &equation.terms).map(|(dof, _)| *dof);
        let of_points: BTreeSet<Dof> = of_points.filter(|(node, _)| !reader.is_in_body(*node)).collect();
        for point in of_points {
            let factor_in = |equation: &Equation| -> f64 {
                equation.terms.iter().filter(|(dof, _)| *dof == point).map(|(_, factor)| factor).sum()
            };
            let Some(at) = self.equations.iter().position(|equation| factor_in(equation) != 0.0) else { continue };
            let pivot = self.equations.remove(at);
            let (own, value) = (factor_in(&pivot), pivot.value);
            let others: Vec<(Dof, f64)> = pivot.terms.iter().copied().filter(|(dof, _)| *dof != point).collect();
            for equation in &mut self.equations {
                let times = factor_in(equation) / own;
                if times != 0.0 {
                    equation.terms.retain(|(dof, _)| *dof != point);
                    equation.terms.extend(others.iter().map(|(dof, factor)| (*dof, -times * factor)));
                    equation.known.extend(pivot.known.iter().map(|(dof, factor)| (*dof, -times * factor)));
                    equation.value -= times * value;
                }
            }
            let by_others = others.into_iter().map(|(dof, factor)| (dof, -factor / own)).collect();
            self.eliminated.insert(point, (by_others, value / own));
        }
        self.equations.retain(|equation| !equation.terms.is_empty());
    }

    /// The forces on nodes that those on points are, in the mesh's axes.
    ///
    /// # Errors
    ///
    /// A force on a point that nothing follows.
    pub fn forces(&self, reader: &Reader<'_>, state: &State) -> Read<Vec<(Dof, f64)>> {
        let mut found = Vec::new();
        let of_points =
            state.forces.iter().filter(|((node, _), _)| !reader.is_in_body(*node) && !self.taken.contains(node));
        for (dof, given) in of_points {
            let mut left = vec![(*dof, given.value)];
            if !self.eliminated.contains_key(dof) && !state.supports.contains_key(dof) {
                let message = format!("node {} belongs to no element: the force has nothing to act on", dof.0);
                return Err(Mistake::at(given.place.clone(), message, "load a node of the body"));
            }
            // A point may be a sum of others that are eliminated, too.
            while let Some((dof, force)) = left.pop() {
                match self.eliminated.get(&dof) {
                    Some((others, _)) => left.extend(others.iter().map(|(other, share)| (*other, share * force))),
                    None if reader.is_in_body(dof.0) => found.push((dof, force)),
                    None => {}
                }
            }
        }
        Ok(found)
    }
}
