//! `*BOUNDARY`: what is held.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::tables::SupportTable;
use super::Reader;
use super::heat::TEMPERATURE;
use super::steps::{Dof, Given, Values};
use crate::io::inp::{Card, Field, Mistake, Place, Read};

/// Abaqus's words for what is held, with the components, from 1.
const WORDS: [(&str, &[u8]); 8] = [
    ("ENCASTRE", &[1, 2, 3, 4, 5, 6]),
    ("PINNED", &[1, 2, 3]),
    ("XSYMM", &[1, 5, 6]),
    ("YSYMM", &[2, 4, 6]),
    ("ZSYMM", &[3, 4, 5]),
    ("XASYMM", &[2, 3, 4]),
    ("YASYMM", &[1, 3, 5]),
    ("ZASYMM", &[1, 2, 6]),
];

impl Reader<'_> {
    pub(super) fn boundary(&mut self, card: &Card) -> Read {
        let factor = self.factor(card)?;
        if let Some(fixed) = card.parameter("FIXED") {
            let message = "FIXED: supports that freeze a displaced state are not solved";
            return Err(Mistake::at(fixed.place.clone(), message, "give the displacements themselves"));
        }
        if self.state.replaces(card)? {
            self.state.supports.clear();
        }
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let value = fields.get(3).map_or(Ok(0.0), |value| value.number_or_zero())?;
            let label = if fields[0].tag().is_some() { "BOUNDARY".into() } else { fields[0].name() };
            let components = components(&fields, &line.place)?;
            for node in self.geometry.nodes(&fields[0])? {
                for &component in &components {
                    let given = self.state.given(factor * value, line.place.clone(), &label);
                    self.state.supports.insert((node, component - 1), given);
                }
            }
        }
        Ok(())
    }

    /// Supports of nodes with stiffness, those alike in one table. Nodes of solids do not turn.
    pub(super) fn close_supports(&mut self, supports: &Values<Dof>) {
        let mut of_node: BTreeMap<u64, Vec<(u8, &Given)>> = BTreeMap::new();
        for ((node, component), given) in supports {
            if *component < 3 && self.is_in_body(*node) {
                of_node.entry(*node).or_default().push((*component, given));
            }
        }
        // By label, axes, and components with the bits of their values.
        type Alike<'a> = (&'a str, Option<usize>, Vec<(u8, u64)>);
        let mut alike: BTreeMap<Alike, (Vec<u64>, &Place)> = BTreeMap::new();
        for (node, given) in of_node {
            let held = given.iter().map(|(component, given)| (*component, given.value.to_bits())).collect();
            let (first, frame) = (given[0].1, self.frame_of.get(&node).copied());
            alike.entry((&first.label, frame, held)).or_insert_with(|| (Vec::new(), &first.place)).0.push(node);
        }
        for ((label, frame, held), (nodes, place)) in alike {
            let letters = frame.map_or(["x", "y", "z"], |frame| self.frames[frame].letters());
            let spanned = |text: &str| Spanned::new(place.clone(), text.to_string());
            let displacement = held.iter().map(|(component, bits)| {
                (spanned(letters[usize::from(*component)]), Spanned::new(place.clone(), f64::from_bits(*bits)))
            });
            let nodes = nodes.into_iter().map(|node| Spanned::new(place.clone(), node)).collect();
            let table = SupportTable {
                amplitude: None,
                on: None,
                nodes: Some(Spanned::new(place.clone(), nodes)),
                in_box: None,
                name: Some(spanned(label)),
                fix: None,
                axes: frame.map(|frame| self.frame_tables[frame].clone()),
                displacement: Some(Spanned::new(place.clone(), displacement.collect())),
                value: None,
            };
            self.tables.support.push(Spanned::new(place.clone(), table));
        }
    }
}

/// The components, from 1, that a line holds: a first and a last one, or a word.
fn components(fields: &[Field<'_>], place: &Place) -> Read<Vec<u8>> {
    let Some(first) = fields.get(1) else {
        return Err(Mistake::at(place.clone(), "which components are held?", "17, 1, 3 holds x, y and z of node 17"));
    };
    if let Some((_, components)) = WORDS.iter().find(|(word, _)| *word == first.name()) {
        return Ok(components.to_vec());
    }
    let from = first.integer()?;
    let to = match fields.get(2).filter(|last| !last.text.is_empty()) {
        Some(last) => last.integer()?,
        None => from,
    };
    match (from, to) {
        (0 | 11, 0 | 11) => Ok(vec![TEMPERATURE + 1]),
        (1..=6, 1..=6) if from <= to => Ok((from as u8..=to as u8).collect()),
        _ => {
            let help = "1 to 3 are x, y, z; 4 to 6 are rotations of reference nodes, 11 is the temperature";
            Err(Mistake::at(first.place.clone(), format!("components {from} to {to} are not there"), help))
        }
    }
}
