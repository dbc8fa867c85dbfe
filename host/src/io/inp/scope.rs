//! `*PART`, `*ASSEMBLY`, `*INSTANCE`: the cards of a part are read once for each instance, whose nodes and elements get tags of their
//! own, and whose sets are called `instance.set`.

use nalgebra::{Rotation3, Unit, Vector3};

use super::{Card, Deck, Mistake, Read, fields};

/// An instance of a part.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Its name in upper case.
    pub name: String,
    /// What is added to the tags of its nodes and elements.
    pub offset: u64,
    shift: [f64; 3],
    /// Two points of an axis, and the angle in degrees.
    turn: Option<([f64; 3], [f64; 3], f64)>,
}

/// The cards of a deck in the order in which they act, each with the number of its scope if it is of an instance.
#[derive(Debug, Clone, Default)]
pub struct Scoped {
    /// Positions of cards, and scopes.
    pub cards: Vec<(usize, Option<usize>)>,
    /// The instances.
    pub scopes: Vec<Scope>,
}

impl Scope {
    /// Where a point of the part is.
    pub fn place(&self, x: [f64; 3]) -> [f64; 3] {
        let moved = Vector3::from(x) + Vector3::from(self.shift);
        let Some((a, b, degrees)) = self.turn else { return moved.into() };
        let (a, axis) = (Vector3::from(a), Unit::new_normalize(Vector3::from(b) - Vector3::from(a)));
        (a + Rotation3::from_axis_angle(&axis, degrees.to_radians()) * (moved - a)).into()
    }
}

impl Scoped {
    /// Those of a deck.
    ///
    /// # Errors
    ///
    /// An instance of no part, or parts that do not end.
    pub fn of(deck: &Deck) -> Read<Scoped> {
        let mut all = Scoped::default();
        // Names of parts, and the positions of their cards.
        let mut parts: Vec<(String, Vec<usize>)> = Vec::new();
        let mut part: Option<(String, Vec<usize>)> = None;
        let step = parts_step(deck)?;
        let mut instance = None;
        for (at, card) in deck.cards.iter().enumerate() {
            match (card.name.as_str(), &mut part) {
                ("PART", None) => part = Some((card.required("NAME")?.0, Vec::new())),
                ("ENDPART", Some(_)) => parts.extend(part.take()),
                (_, Some((_, cards))) => cards.push(at),
                ("INSTANCE", None) => {
                    let (name, place) = card.required("PART")?;
                    let Some((_, cards)) = parts.iter().find(|(known, _)| *known == name) else {
                        return Err(Mistake::at(
                            place,
                            format!("there is no part {name}"),
                            "*PART, NAME=.. defines it",
                        ));
                    };
                    let offset = step.saturating_mul(all.scopes.len() as u64);
                    all.scopes.push(scope(deck, card, offset)?);
                    instance = Some(all.scopes.len() - 1);
                    all.cards.extend(cards.iter().map(|card| (*card, instance)));
                }
                ("ENDINSTANCE", None) => instance = None,
                ("ASSEMBLY" | "ENDASSEMBLY", None) => {}
                _ => all.cards.push((at, instance)),
            }
        }
        match part {
            Some((name, _)) => Err(Box::new(Mistake {
                place: None,
                message: format!("part {name} has no *END PART: the deck is cut"),
                help: String::new(),
            })),
            None => Ok(all),
        }
    }
}

/// A power of ten above all tags of a deck, if it has parts.
fn parts_step(deck: &Deck) -> Read<u64> {
    if !deck.cards.iter().any(|card| card.name == "PART") {
        return Ok(1);
    }
    let mut most = 1;
    for card in deck.cards.iter().filter(|card| card.name == "NODE" || card.name == "ELEMENT") {
        let tags = deck.lines(card).filter_map(|line| line.text.split(',').next()?.trim().parse::<u64>().ok());
        most = tags.fold(most, u64::max);
    }
    Ok(10_u64.saturating_pow(most.ilog10() + 1))
}

fn scope(deck: &Deck, card: &Card, offset: u64) -> Read<Scope> {
    let (name, _) = card.required("NAME")?;
    let mut lines = deck.lines(card).map(|line| line.fields().iter().map(fields::Field::number_or_zero).collect());
    let shift: Vec<f64> = lines.next().transpose()?.unwrap_or_default();
    let turn: Vec<f64> = lines.next().transpose()?.unwrap_or_default();
    let turn = match turn[..] {
        [a, b, c, d, e, f, degrees] if [a, b, c] != [d, e, f] => Some(([a, b, c], [d, e, f], degrees)),
        _ => None,
    };
    let at = |c: usize| shift.get(c).copied().unwrap_or(0.0);
    Ok(Scope { name, offset, shift: [at(0), at(1), at(2)], turn })
}
