//! Sectors: `*TIE, CYCLIC SYMMETRY` names the sides, `*CYCLIC SYMMETRY MODEL` the axis and how many sectors make a turn.

use std::collections::HashSet;

use toml::Spanned;

use super::super::tables::CyclicTable;
use super::super::{Names, Vector};
use super::Reader;
use crate::io::inp::geometry::Surface;
use crate::io::inp::{Card, Mistake, Place, Read, codes, fields};
use crate::mesh::vector::sub;

/// The sides of a sector.
#[derive(Debug, Clone)]
pub struct Sides {
    name: Option<String>,
    /// The side whose nodes follow.
    slave: Spanned<Names>,
    master: Spanned<Names>,
    place: Place,
}

impl Reader<'_> {
    /// A line of a tie: what follows, and what it follows, of which the faces are taken where it is a surface of nodes.
    pub(super) fn sides(&mut self, card: &Card, slave: Spanned<Names>, master: Spanned<Names>, place: Place) -> Read {
        if let Names::One(name) = master.get_ref() {
            let name = name.clone();
            if let Some(Surface::Nodes(nodes)) = self.geometry.surfaces.get(&name) {
                let faces = self.faces_between(&nodes.iter().copied().collect());
                if faces.is_empty() {
                    let message = format!("no element has a face whose nodes are all in {name}");
                    return Err(Mistake::at(master.span(), message, "this side needs all nodes of its faces"));
                }
                self.geometry.surfaces.insert(name, Surface::Faces(faces));
            }
        }
        self.couplings.sides.push(Sides { name: card.word("NAME"), slave, master, place });
        Ok(())
    }

    /// The faces of elements whose corners are all among some nodes.
    fn faces_between(&self, nodes: &HashSet<u64>) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        for block in &self.geometry.blocks {
            let Some((_, kind)) = block.solid else { continue };
            for (i, tag) in block.tags.iter().enumerate() {
                let element = block.element(i);
                let faces = codes::faces(kind.info().domain).iter().enumerate();
                let on = faces.filter(|(_, corners)| corners.iter().all(|&k| nodes.contains(&element[k])));
                found.extend(on.map(|(face, _)| (*tag, face)));
            }
        }
        found
    }

    /// `*CYCLIC SYMMETRY MODEL, N=, TIE=`, then two points of the axis.
    pub(super) fn sector(&mut self, card: &Card) -> Read {
        let (n, of_n) = card.required("N")?;
        let sectors = fields::number(&n).filter(|n| *n >= 2.0);
        let Some(sectors) = sectors else {
            return Err(Mistake::at(of_n, format!("N is `{n}`"), "N is how many sectors make a turn, from 2 on"));
        };
        if !self.tables.cyclic.is_empty() {
            let message = "this is the second sector of the deck";
            return Err(Mistake::at(card.place.clone(), message, "parts of other sectors are not solved together"));
        }
        let named = card.word("TIE");
        let of_tie: Vec<&Sides> =
            self.couplings.sides.iter().filter(|sides| named.is_none() || sides.name == named).collect();
        let [sides] = of_tie[..] else {
            let message = format!("{} ties with CYCLIC SYMMETRY may be meant", of_tie.len());
            return Err(Mistake::at(
                card.place.clone(),
                message,
                "TIE= names the one *TIE, CYCLIC SYMMETRY, NAME= before",
            ));
        };
        let Sides { slave, master, .. } = sides.clone();
        let line = self.deck.lines(card).next();
        let points = line.iter().flat_map(|line| line.fields()).map(|field| field.number_or_zero());
        let [a, b, c, d, e, f] = points.collect::<Read<Vec<f64>>>()?[..] else {
            return Err(Mistake::at(card.place.clone(), "the axis has two points", "x, y, z, x, y, z"));
        };
        let vector = |x: [f64; 3]| Some(Spanned::new(card.place.clone(), Vector::from(x)));
        let table = CyclicTable {
            name: None,
            from: master,
            to: slave,
            axis: vector(sub([d, e, f], [a, b, c])),
            at: vector([a, b, c]),
            sectors: Some(sectors),
        };
        self.tables.cyclic.push(Spanned::new(card.place.clone(), table));
        Ok(())
    }

    /// Sides without an axis would hold nothing.
    pub(super) fn check_sides(&self) -> Read {
        match self.couplings.sides.iter().find(|_| self.tables.cyclic.is_empty()) {
            Some(sides) => Err(Mistake::at(
                sides.place.clone(),
                "this sector has no axis",
                "*CYCLIC SYMMETRY MODEL, N=, TIE= has it",
            )),
            None => Ok(()),
        }
    }
}
