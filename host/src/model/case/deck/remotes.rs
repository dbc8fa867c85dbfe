//! Bodies that follow a reference node: its supports and loads as those of a remote point.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::tables::{LoadTable, RemoteTable};
use super::super::{Names, Numbers, Vector};
use super::steps::{Dof, Step, Values};
use crate::io::inp::Place;
use crate::model::Axes;

/// A body that follows a reference node.
#[derive(Debug, Clone)]
pub struct Remote {
    pub on: Spanned<Names>,
    pub at: u64,
    /// The node whose displacements are its rotations; else the reference node has components 4 to 6.
    pub rotations: Option<u64>,
    /// None until a coupling says so.
    pub is_rigid: Option<bool>,
    /// What the components of a coupling are along, if it says so.
    pub axes: Option<Axes>,
    pub place: Place,
}

impl Remote {
    /// The reference node, and the one that its rotations are at.
    pub fn nodes(&self) -> impl Iterator<Item = u64> {
        [Some(self.at), self.rotations].into_iter().flatten()
    }

    /// Where the six components of its motion are.
    pub fn dofs(&self) -> [Dof; 6] {
        let of = |component: u8| match self.rotations {
            Some(node) if component > 2 => (node, component - 3),
            _ => (self.at, component),
        };
        std::array::from_fn(|component| of(component as u8))
    }

    pub fn motion(&self, supports: &Values<Dof>) -> [Option<f64>; 6] {
        self.dofs().map(|dof| supports.get(&dof).map(|given| given.value))
    }

    pub fn table(&self, at: [f64; 3], held: [Option<f64>; 6]) -> Spanned<RemoteTable> {
        let spanned = |text: &str| Spanned::new(self.place.clone(), text.to_string());
        let given = |held: &[Option<f64>]| {
            let letters = ["x", "y", "z"].into_iter().zip(held);
            let values = letters
                .filter_map(|(letter, value)| Some((spanned(letter), Spanned::new(self.place.clone(), (*value)?))));
            let values: BTreeMap<_, _> = values.collect();
            (!values.is_empty()).then(|| Spanned::new(self.place.clone(), values))
        };
        let table = RemoteTable {
            name: Some(spanned(&format!("node {}", self.at))),
            on: self.on.clone(),
            at: Some(Spanned::new(self.place.clone(), Vector::from(at))),
            kind: Some(spanned(if self.is_rigid == Some(true) { "rigid" } else { "distributing" })),
            force: None,
            moment: None,
            fix: None,
            displacement: given(&held[..3]),
            rotation: given(&held[3..]),
        };
        Spanned::new(self.place.clone(), table)
    }

    /// What acts on the reference node, spread over what follows it.
    pub fn load(&self, at: [f64; 3], step: &Step) -> Option<Spanned<LoadTable>> {
        let values = self.dofs().map(|dof| step.state.forces.get(&dof).map_or(0.0, |given| given.value));
        let of = |values: &[f64]| values.iter().any(|value| *value != 0.0).then(|| values.to_vec());
        let (force, moment) = (of(&values[..3]), of(&values[3..]));
        let place = self.place.clone();
        (force.is_some() || moment.is_some()).then(|| {
            let table = LoadTable {
                name: step.name.as_ref().map(|name| Spanned::new(place.clone(), name.clone())),
                on: self.on.clone(),
                at: force.as_ref().map(|_| Spanned::new(place.clone(), Vector::from(at))),
                force: force.map(|f| Spanned::new(place.clone(), Vector::from([f[0], f[1], f[2]]))),
                moment: moment.map(|moment| Spanned::new(place.clone(), Numbers(moment))),
            };
            Spanned::new(place.clone(), table)
        })
    }
}
