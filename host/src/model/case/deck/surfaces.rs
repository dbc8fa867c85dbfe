//! Surfaces and sets of nodes as groups that tables name.

use toml::Spanned;

use super::super::Names;
use super::Reader;
use crate::io::inp::{Mistake, Place, Read};

impl Reader<'_> {
    /// The group of a surface.
    pub(super) fn surface(&self, name: &str, place: &Place) -> Read<Spanned<Names>> {
        match self.geometry.surfaces.contains_key(name) {
            true => Ok(Spanned::new(place.clone(), Names::One(name.to_string()))),
            false => {
                let known: Vec<&str> = self.geometry.surfaces.keys().map(String::as_str).collect();
                let help = if known.is_empty() { String::new() } else { format!("there are: {}", known.join(", ")) };
                Err(Mistake::at(place.clone(), format!("there is no surface {name}"), help))
            }
        }
    }

    /// A set of nodes as a group.
    pub(super) fn node_group(&self, name: &str, place: &Place) -> Read<Spanned<Names>> {
        match self.geometry.node_sets.contains_key(name) {
            true => Ok(Spanned::new(place.clone(), Names::One(name.to_string()))),
            false => Err(Mistake::at(place.clone(), format!("there is no node set {name}"), "define it with *NSET")),
        }
    }
}
