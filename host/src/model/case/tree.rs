//! The tree of a case file's text: what stands at a place, and taking it out or giving it another key.
//!
//! Places are those that the TOML parser gives: a table under a header is where its header is, any other value where it
//! stands.

use std::borrow::Cow;
use std::mem;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::model::Place;

/// Where something is in the tree: the tables down to it, its key, and which of a list of tables it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    tables: Vec<(String, Option<usize>)>,
    /// The place of the table that it is in; nowhere at the top.
    pub holder: Place,
    pub key: String,
    item: Option<usize>,
}

/// What is found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Key,
    /// A value, or what it is about: the header of a table.
    Value,
}

impl KeyPath {
    /// The name of the table that it is in; empty at the top.
    pub fn table(&self) -> &str {
        self.tables.last().map_or("", |(name, _)| name)
    }

    /// The way to what stands at a place.
    pub fn to(root: &DeTable<'_>, place: &Place) -> Option<(KeyPath, Part)> {
        root.iter().find_map(|(key, value)| {
            let here = || KeyPath { tables: vec![], holder: 0..0, key: key.get_ref().to_string(), item: None };
            if key.span() == *place {
                return Some((here(), Part::Key));
            }
            inside(key.get_ref(), value, place).or_else(|| {
                let is_here = value.span().start <= place.start && place.end <= value.span().end;
                is_here.then(|| (here(), Part::Value))
            })
        })
    }

    /// The table that it is in.
    fn holder<'t, 'i>(&self, root: &'t mut DeTable<'i>) -> Option<&'t mut DeTable<'i>> {
        self.tables.iter().try_fold(root, |table, (name, item)| match (table.get_mut(name.as_str())?.get_mut(), item) {
            (DeValue::Table(table), None) => Some(table),
            (DeValue::Array(array), Some(item)) => match array.get_mut(*item)?.get_mut() {
                DeValue::Table(table) => Some(table),
                _ => None,
            },
            _ => None,
        })
    }

    /// Takes it out of the tree; whether it was there.
    pub fn remove(&self, root: &mut DeTable<'_>) -> bool {
        let Some(table) = self.holder(root) else { return false };
        let Some(item) = self.item else { return table.remove(self.key.as_str()).is_some() };
        let Some(DeValue::Array(array)) = table.get_mut(self.key.as_str()).map(Spanned::get_mut) else { return false };
        let n = array.len();
        let items = mem::replace(array, DeArray::new()).into_iter().enumerate();
        *array = items.filter(|(i, _)| *i != item).map(|(_, value)| value).collect();
        array.len() < n
    }

    /// Gives it another key, unless that is taken; the place of its value.
    pub fn rename(&self, root: &mut DeTable<'_>, key: &str) -> Option<Place> {
        let table = self.holder(root)?;
        if table.contains_key(key) {
            return None;
        }
        let (old, value) = table.remove_entry(self.key.as_str())?;
        let place = value.span();
        table.insert(Spanned::new(old.span(), Cow::Owned(key.to_string())), value);
        Some(place)
    }
}

/// The way to a place within a table, or within one of a list of tables.
fn inside(key: &str, value: &Spanned<DeValue<'_>>, place: &Place) -> Option<(KeyPath, Part)> {
    let within = |table: &DeTable<'_>, item, holder: Place| {
        let (mut way, part) = KeyPath::to(table, place)?;
        if way.tables.is_empty() {
            way.holder = holder;
        }
        way.tables.insert(0, (key.to_string(), item));
        Some((way, part))
    };
    match value.get_ref() {
        DeValue::Table(table) => within(table, None, value.span()),
        DeValue::Array(items) => items.iter().enumerate().find_map(|(i, item)| {
            let found = item.get_ref().as_table().and_then(|table| within(table, Some(i), item.span()));
            let itself = || KeyPath { tables: vec![], holder: 0..0, key: key.to_string(), item: Some(i) };
            found.or_else(|| (item.get_ref().is_table() && item.span() == *place).then(|| (itself(), Part::Value)))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[mesh]\ngenerate = { kind = \"box\" }\n[[force]]\non = \"a\"\n[[force]]\ntotl = [1, 2]\n";

    /// The place of a piece of the text, which is in it once.
    fn place(piece: &str) -> Place {
        let start = TEXT.find(piece).unwrap();
        start..start + piece.len()
    }

    #[test]
    fn what_stands_at_a_place_is_found() {
        let tree = DeTable::parse(TEXT).unwrap();
        let at = |piece: &str| {
            let (way, part) = KeyPath::to(tree.get_ref(), &place(piece)).unwrap();
            (way.table().to_string(), way.key.clone(), way.item, part)
        };
        assert_eq!(at("kind"), ("generate".into(), "kind".into(), None, Part::Key));
        assert_eq!(at("\"box\""), ("generate".into(), "kind".into(), None, Part::Value));
        assert_eq!(at("totl"), ("force".into(), "totl".into(), None, Part::Key));
        assert_eq!(at("2]").1, "totl", "a value is found by a part of it");
        assert_eq!(at("[mesh]"), ("".into(), "mesh".into(), None, Part::Value));
        assert_eq!(at("[[force]]"), ("".into(), "force".into(), Some(0), Part::Value));
        let (way, _) = KeyPath::to(tree.get_ref(), &place("totl")).unwrap();
        assert_eq!(way.holder, TEXT.rfind("[[force]]").map(|at| at..at + 9).unwrap());
        assert_eq!(KeyPath::to(tree.get_ref(), &(900..901)), None);
    }

    #[test]
    fn keys_are_changed_and_taken_out() {
        let mut tree = DeTable::parse(TEXT).unwrap().into_inner();
        let way = |tree: &DeTable<'_>, piece: &str| KeyPath::to(tree, &place(piece)).unwrap().0;
        assert_eq!(way(&tree, "totl").rename(&mut tree, "total"), Some(place("[1, 2]")));
        assert_eq!(way(&tree, "[1, 2]").key, "total");
        assert_eq!(way(&tree, "totl").rename(&mut tree, "total"), None, "it is there already");
        assert!(way(&tree, "[[force]]").remove(&mut tree));
        assert_eq!(tree["force"].get_ref().as_array().map(|items| items.len()), Some(1));
        assert!(way(&tree, "kind").remove(&mut tree) && way(&tree, "kind").key == "generate");
        assert!(way(&tree, "[mesh]").remove(&mut tree) && !tree.contains_key("mesh"));
    }
}
