//! Sectors: `*TIE, CYCLIC SYMMETRY` names the sides, `*CYCLIC SYMMETRY MODEL` the axis and how many sectors make a turn.

use toml::Spanned;

use super::super::tables::CyclicTable;
use super::super::{Names, Vector};
use super::Reader;
use crate::io::inp::{Card, Mistake, Place, Read, fields};
use crate::mesh::vector::sub;

/// The sides of a sector.
#[derive(Debug, Clone)]
pub struct Sides {
    name: Option<String>,
    /// The side whose nodes follow.
    slave: Spanned<Names>,
    master: Spanned<Names>,
    place: Place,
    /// Whether a model has an axis for them.
    is_used: bool,
}

impl Reader<'_> {
    /// A line of a tie: what follows, and what it follows.
    pub(super) fn sides(&mut self, card: &Card, slave: Spanned<Names>, master: Spanned<Names>, place: Place) {
        self.couplings.sides.push(Sides { name: card.word("NAME"), slave, master, place, is_used: false });
    }

    /// `*CYCLIC SYMMETRY MODEL, N=, TIE=`, then two points of the axis.
    pub(super) fn sector(&mut self, card: &Card) -> Read {
        let (n, of_n) = card.required("N")?;
        let sectors = fields::number(&n).filter(|n| *n >= 2.0 && n.fract() == 0.0);
        let Some(sectors) = sectors else {
            return Err(Mistake::at(of_n, format!("N is `{n}`"), "N is how many sectors make a turn: 2, 3, .."));
        };
        if !self.tables.cyclic.is_empty() {
            let message = "this is the second sector of the deck";
            return Err(Mistake::at(card.place.clone(), message, "one *CYCLIC SYMMETRY MODEL is solved"));
        }
        let named = card.word("TIE");
        let mut of_tie = self.couplings.sides.iter_mut().filter(|sides| named.is_none() || sides.name == named);
        let (Some(sides), None) = (of_tie.next(), of_tie.next()) else {
            let message = match &named {
                Some(name) => format!("there is no *TIE, CYCLIC SYMMETRY, NAME={name} above"),
                None => "this needs one *TIE, CYCLIC SYMMETRY above".into(),
            };
            return Err(Mistake::at(card.place.clone(), message, "TIE= names it"));
        };
        sides.is_used = true;
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

    /// Sides without an axis would be free.
    pub(super) fn check_sides(&self) -> Read {
        match self.couplings.sides.iter().find(|sides| !sides.is_used) {
            Some(sides) => Err(Mistake::at(
                sides.place.clone(),
                "this sector has no axis",
                "*CYCLIC SYMMETRY MODEL, N=, TIE= has it",
            )),
            None => Ok(()),
        }
    }
}
