//! `on = "a"` or `on = ["a", "b"]`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use crate::model::Place;

/// One name, or a list of names with their places.
#[derive(Debug, Clone, PartialEq)]
pub enum Names {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl Names {
    /// The names with their places; `whole` is the place of the value itself.
    pub fn with_places(&self, whole: Place) -> Vec<(&str, Place)> {
        match self {
            Names::One(name) => vec![(name, whole)],
            Names::Many(names) => names.iter().map(|name| (name.get_ref().as_str(), name.span())).collect(),
        }
    }

    /// The names joined by `+`.
    pub fn joined(&self) -> String {
        let names: Vec<_> = self.with_places(0..0).into_iter().map(|(name, _)| name).collect();
        names.join("+")
    }

    /// The name that a table gives, or else its groups'.
    pub fn or_own(&self, own: Option<&Spanned<String>>) -> String {
        own.map_or_else(|| self.joined(), |name| name.get_ref().clone())
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a group name or a list of them")
    }

    fn visit_str<E>(self, name: &str) -> Result<Names, E> {
        Ok(Names::One(name.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = seq.next_element()? {
            names.push(name);
        }
        Ok(Names::Many(names))
    }
}
