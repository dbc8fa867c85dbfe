//! `*SPRING`: what joins two nodes, or a node and the ground.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Vector3;

use super::super::tables::BondTable;
use super::Reader;
use super::couplings::along;
use super::points::{Follows, Resolved, merged};
use super::steps::{Dof, State, Values};
use crate::io::inp::{Card, Field, Mistake, Place, Read};
use crate::mesh::vector::{sub, unit};
use crate::model::Axes;

/// A spring resists a sum of the displacements of no more nodes than this: its matrix has a block for each pair.
const MOST_NODES: usize = 100;

/// An end of a spring: its node, and the direction that its displacement is taken along, times a factor.
type End = (u64, [f64; 3]);

/// The springs of a card.
#[derive(Debug, Clone)]
struct OfCard {
    name: String,
    rate: f64,
    /// Of each spring its ends.
    ends: Vec<Vec<End>>,
    place: Place,
}

/// Forces on components: factors times sums.
pub type Ends = BTreeMap<Dof, Vec<(f64, Follows)>>;

/// All springs.
#[derive(Debug, Clone, Default)]
pub struct Springs {
    cards: Vec<OfCard>,
    /// What springs do to nodes where CalculiX says so, beside what K has: factors times sums.
    pub ends: Ends,
}

impl Reader<'_> {
    /// `*SPRING, ELSET=`: a component of SPRING1, or one for each end of SPRING2; then force per length.
    pub(super) fn spring(&mut self, card: &Card) -> Read {
        let (name, place) = card.required("ELSET")?;
        if let Some(parameter) = card.parameter("NONLINEAR") {
            let message = "springs whose rate changes are not solved";
            return Err(Mistake::at(parameter.place.clone(), message, "give one rate"));
        }
        let elements = self.geometry.elements(&Field { text: &name, place: place.clone() })?;
        let code = |tag: &u64| self.geometry.element(*tag).map(|(block, _)| block.code.as_str());
        let Some(kind) = elements.first().and_then(code) else {
            return Err(Mistake::at(place, format!("{name} has no element"), "SPRING1, SPRING2 or SPRINGA"));
        };
        let n_components = match kind {
            "SPRINGA" => 0,
            "SPRING1" => 1,
            "SPRING2" => 2,
            _ => {
                let message = format!("elements {kind} are no springs");
                return Err(Mistake::at(place, message, "SPRING1, SPRING2 or SPRINGA"));
            }
        };
        if let Some(other) = elements.iter().filter_map(code).find(|other| *other != kind) {
            let message = format!("{name} has elements {kind} and {other}");
            return Err(Mistake::at(place, message, "a set for each type"));
        }
        let rows = self.spring_axes(card)?;
        let mut lines: Vec<_> = self.deck.lines(card).collect();
        let needed = usize::from(n_components > 0) + 1;
        if lines.len() != needed {
            let (message, help) = match lines.get(needed) {
                Some(_) => ("rates that change with the temperature are not solved", "give one rate"),
                None => ("a spring has its components and a rate", "SPRING1: 2\n1.E6"),
            };
            return Err(Mistake::at(lines.get(needed).map_or(place, |line| line.place.clone()), message, help));
        }
        let last = lines.remove(needed - 1).fields().remove(0);
        let rate = last.number()?;
        if rate <= 0.0 {
            let message = "the rate of a spring is greater than 0";
            return Err(Mistake::at(last.place, message, "leave a spring out that does nothing"));
        }
        let components = lines.first().map(|line| line.fields()).unwrap_or_default();
        if components.len() < n_components {
            let message = format!("{kind} has {n_components} components");
            return Err(Mistake::at(lines[0].place.clone(), message, "1, 1 is x of both nodes"));
        }
        let mut directions = Vec::new();
        for field in &components[..n_components] {
            let Some(row) = field.integer()?.checked_sub(1).and_then(|c| rows.get(c as usize)) else {
                let message = format!("there is no spring along component {}", field.text);
                return Err(Mistake::at(field.place.clone(), message, "1 to 3"));
            };
            directions.push(*row);
        }
        let mut ends = Vec::with_capacity(elements.len());
        for tag in elements {
            let Some((block, i)) = self.geometry.element(tag) else { continue };
            let nodes = block.element(i);
            ends.push(match directions[..] {
                [one] => vec![(nodes[0], one)],
                [first, second] => vec![(nodes[0], first), (nodes[1], second.map(|c| -c))],
                _ => {
                    let line = unit(sub(self.place_of(nodes[0]), self.place_of(nodes[1])));
                    if line == [0.0; 3] {
                        let message = format!("the nodes of spring {tag} are in one place: it has no direction");
                        return Err(Mistake::at(place, message, "SPRING2 has components of its own"));
                    }
                    vec![(nodes[0], line), (nodes[1], line.map(|c| -c))]
                }
            });
        }
        self.springs.cards.push(OfCard { name, rate, ends, place });
        Ok(())
    }

    /// The directions of a card's components.
    fn spring_axes(&self, card: &Card) -> Read<[[f64; 3]; 3]> {
        let none = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let Some(name) = card.word("ORIENTATION") else { return Ok(none) };
        match self.orientation_named(&name, &card.place)?.axes()? {
            Axes::Global => Ok(none),
            Axes::Fixed(rows) => Ok([0, 1, 2].map(|i| [0, 1, 2].map(|c| rows[(i, c)]))),
            Axes::Cylinder { .. } => {
                let message = "springs along the axes of a cylinder are not solved";
                Err(Mistake::at(card.place.clone(), message, "an orientation with fixed axes for each spring"))
            }
        }
    }

    /// Tables of all springs. One whose other end is prescribed acts on the body there, in each step.
    pub(super) fn close_springs(&mut self, supports: &Values<Dof>, loads: &[(Option<String>, State)]) -> Read {
        let mut noted = Ends::new();
        for OfCard { name, rate, ends, place } in std::mem::take(&mut self.springs.cards) {
            let (mut sums, mut forces) = (Vec::new(), BTreeMap::<u64, [f64; 3]>::new());
            for spring in &ends {
                let direct = self.terms(spring);
                let Resolved { of_body, known, free } = self.couplings.points.resolve(self, supports, direct.clone());
                if let Some(((node, _), _)) = free.first() {
                    let message = format!("node {node} of a spring is of no body, and not held");
                    return Err(Mistake::at(place, message, "hold it, or let it follow a body by an *EQUATION"));
                }
                let (in_body, terms) = (|dof: &Dof| self.is_in_body(dof.0), merged(of_body, 0.0));
                let nodes: BTreeSet<u64> = terms.iter().map(|((node, _), _)| *node).collect();
                if nodes.len() > MOST_NODES {
                    let message = format!("a spring acts on {} nodes by way of equations", nodes.len());
                    return Err(Mistake::at(place, message, format!("at most {MOST_NODES} are solved")));
                }
                let value: f64 = known.iter().map(|(dof, factor)| factor * supports[dof].value).sum();
                for ((node, component), factor) in &terms {
                    forces.entry(*node).or_default()[usize::from(*component)] -= rate * value * factor;
                }
                let whole = (terms.clone(), value);
                let mut note = |dof: Dof, factor: f64, sum: Follows| {
                    noted.entry(dof).or_default().push((rate * factor, sum));
                };
                for (dof, factor) in &known {
                    note(*dof, *factor, whole.clone());
                }
                for (dof, factor) in direct.iter().filter(|(dof, _)| !supports.contains_key(dof) || in_body(dof)) {
                    // K has the springs at the body's nodes, but for what is known.
                    note(*dof, *factor, if in_body(dof) { (Vec::new(), value) } else { whole.clone() });
                }
                for (dof, factor) in &terms {
                    let own = direct.iter().find(|(of, _)| of == dof).map_or(0.0, |(_, factor)| *factor);
                    note(*dof, own - factor, (terms.clone(), 0.0));
                }
                sums.extend((!terms.is_empty()).then_some(terms));
            }
            forces.retain(|_, force| *force != [0.0; 3]);
            let forces: Vec<(u64, [f64; 3])> = forces.into_iter().collect();
            for (step, _) in loads {
                self.add_forces(&format!("spring {name}"), step.as_deref(), place.clone(), forces.clone());
            }
            self.tables.bond.push(BondTable { name, rate, sums });
        }
        self.springs.ends = noted;
        Ok(())
    }

    /// What a spring resists, as a sum of components: those of points along their own axes.
    fn terms(&self, spring: &[End]) -> Vec<(Dof, f64)> {
        let of_end = |&(node, direction): &End| match self.is_in_body(node) {
            true => along(node, direction.into(), 1.0),
            false => along(node, self.axes_at(node) * Vector3::from(direction), 1.0),
        };
        spring.iter().flat_map(of_end).collect()
    }
}
