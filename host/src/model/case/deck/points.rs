//! Equations with nodes that have no stiffness: what is known of these goes to the other side, the rest is eliminated.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// The prescribed components of points that these values are of, with factors.
    by_prescribed: BTreeMap<Dof, Vec<(Dof, f64)>>,
}

/// A factor below this part of the largest one is rounding.
const ROUNDING: f64 = 1e-12;
/// An equation without terms holds if its value is below this part of what is known.
const HOLDS: f64 = 1e-9;

/// What a component follows: others with factors, and a value.
pub type Follows = (Vec<(Dof, f64)>, f64);

impl Points {
    /// Adds an equation whose sum is 0.
    pub fn add(&mut self, terms: Vec<(Dof, f64)>, place: Place) {
        self.equations.push(Equation { terms, known: Vec::new(), value: 0.0, place });
    }

    /// Takes all components of points out of the equations.
    ///
    /// # Errors
    ///
    /// What is prescribed at points contradicts an equation.
    pub fn eliminate(&mut self, reader: &Reader<'_>, supports: &Values<Dof>) -> Read {
        for equation in &mut self.equations {
            let known = |dof: &Dof| supports.get(dof).filter(|_| !reader.is_in_body(dof.0)).map(|given| given.value);
            for (dof, factor) in &equation.terms {
                equation.value -= factor * known(dof).unwrap_or(0.0);
            }
            let (known, terms) = equation.terms.drain(..).partition(|(dof, _)| known(dof).is_some());
            (equation.known, equation.terms) = (known, merged(terms, 0.0));
        }
        let of_points = self.equations.iter().flat_map(|equation| &equation.terms).map(|(dof, _)| *dof);
        let of_points: BTreeSet<Dof> = of_points.filter(|(node, _)| !reader.is_in_body(*node)).collect();
        for point in of_points {
            let factor_in = |equation: &Equation| -> f64 {
                equation.terms.iter().find(|(dof, _)| *dof == point).map_or(0.0, |(_, factor)| *factor)
            };
            // The first of the largest.
            let largest = self.equations.iter().map(|equation| factor_in(equation).abs()).fold(0.0, f64::max);
            let is_largest = |equation: &Equation| largest > 0.0 && factor_in(equation).abs() == largest;
            let Some(at) = self.equations.iter().position(is_largest) else { continue };
            let pivot = self.equations.remove(at);
            let (own, value) = (factor_in(&pivot), pivot.value);
            let others: Vec<(Dof, f64)> = pivot.terms.iter().copied().filter(|(dof, _)| *dof != point).collect();
            for equation in &mut self.equations {
                let times = factor_in(equation) / own;
                if times != 0.0 {
                    let size = equation.terms.iter().chain(&others).map(|(_, factor)| factor.abs()).fold(0.0, f64::max);
                    let left = equation.terms.iter().filter(|(dof, _)| *dof != point).copied();
                    let more = others.iter().map(|(dof, factor)| (*dof, -times * factor));
                    equation.terms = merged(left.chain(more).collect(), ROUNDING * size);
                    equation.known.extend(pivot.known.iter().map(|(dof, factor)| (*dof, -times * factor)));
                    equation.value -= times * value;
                }
            }
            let by_others = others.into_iter().map(|(dof, factor)| (dof, -factor / own)).collect();
            self.eliminated.insert(point, (by_others, value / own));
            let of_known = pivot.known.into_iter().map(|(dof, factor)| (dof, -factor / own));
            self.by_prescribed.insert(point, of_known.collect());
        }
        let contradicts = |equation: &&Equation| {
            let parts = equation.known.iter().map(|(dof, factor)| (factor * supports[dof].value).abs());
            equation.terms.is_empty() && equation.value.abs() > HOLDS * parts.sum::<f64>()
        };
        if let Some(equation) = self.equations.iter().find(contradicts) {
            let message = "what is prescribed at its points contradicts this";
            return Err(Mistake::at(equation.place.clone(), message, "leave one of the values free"));
        }
        self.equations.retain(|equation| !equation.terms.is_empty());
        Ok(())
    }

    /// A sum of components as one of those of bodies and of prescribed points, and those of points that are neither.
    pub fn resolve(&self, reader: &Reader<'_>, supports: &Values<Dof>, mut sum: Vec<(Dof, f64)>) -> Resolved {
        let mut found = Resolved::default();
        // A point may be a sum of others that are eliminated, too.
        while let Some((dof, factor)) = sum.pop() {
            if reader.is_in_body(dof.0) {
                found.of_body.push((dof, factor));
            } else if supports.contains_key(&dof) {
                found.prescribed.push((dof, factor));
            } else if let Some((others, _)) = self.eliminated.get(&dof) {
                let known = self.by_prescribed.get(&dof).into_iter().flatten();
                sum.extend(others.iter().map(|(other, share)| (*other, share * factor)));
                found.prescribed.extend(known.map(|(other, share)| (*other, share * factor)));
            } else {
                found.free.push((dof, factor));
            }
        }
        found
    }

    /// What forces on points do: those on nodes of bodies and on prescribed points, in the mesh's axes.
    ///
    /// # Errors
    ///
    /// A force on a point that nothing follows.
    pub fn forces(&self, reader: &Reader<'_>, state: &State) -> Read<Resolved> {
        let mut found = Resolved::default();
        let of_points =
            state.forces.iter().filter(|((node, _), _)| !reader.is_in_body(*node) && !self.taken.contains(node));
        for (dof, given) in of_points {
            let of_force = self.resolve(reader, &state.supports, vec![(*dof, given.value)]);
            if let Some(((free, _), _)) =
                of_force.free.iter().find(|(_, share)| share.abs() > ROUNDING * given.value.abs())
            {
                let message = format!("no element and no coupling holds node {free}: the force has nothing to act on");
                return Err(Mistake::at(given.place.clone(), message, "load a node of the body"));
            }
            found.of_body.extend(of_force.of_body);
            // One that is put on a prescribed point itself moves nothing.
            found.prescribed.extend(of_force.prescribed.into_iter().filter(|_| !state.supports.contains_key(dof)));
        }
        Ok(found)
    }
}

/// A sum of components by what they are of.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    pub of_body: Vec<(Dof, f64)>,
    /// Of prescribed points.
    pub prescribed: Vec<(Dof, f64)>,
    /// Of points that nothing holds.
    pub free: Vec<(Dof, f64)>,
}

/// Each component once, where it first stands, without factors up to a bound.
pub fn merged(terms: Vec<(Dof, f64)>, bound: f64) -> Vec<(Dof, f64)> {
    let (mut found, mut places): (Vec<(Dof, f64)>, HashMap<Dof, usize>) = (Vec::new(), HashMap::new());
    for (dof, factor) in terms {
        let place = *places.entry(dof).or_insert(found.len());
        match found.get_mut(place) {
            Some((_, sum)) => *sum += factor,
            None => found.push((dof, factor)),
        }
    }
    found.retain(|(_, factor)| factor.abs() > bound);
    found
}
