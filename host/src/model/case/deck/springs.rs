//! `*SPRING`: what joins two nodes, or a node and the ground.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nalgebra::Vector3;

use super::super::tables::BondTable;
use super::Reader;
use super::couplings::along;
use super::points::{Follows, Resolved, merged};
use super::steps::{Dof, Values};
use crate::io::inp::{Card, Field, Mistake, Place, Read};
use crate::mesh::vector::{sub, unit};
use crate::model::{Analysis, Axes};

/// A spring resists a sum of the displacements of no more nodes than this: its matrix has a block for each pair.
const MOST_NODES: usize = 100;

/// An end of a spring: its node, and the direction that its displacement is taken along, times a factor.
type End = (u64, [f64; 3]);

/// The springs of a card.
#[derive(Debug, Clone)]
pub struct OfCard {
    name: String,
    rate: f64,
    /// Tags of the elements.
    elements: HashSet<u64>,
    /// Of each spring its ends.
    ends: Vec<Vec<End>>,
    place: Place,
}

/// Forces on components: factors times sums.
pub type Forces = BTreeMap<Dof, Vec<(f64, Follows)>>;

impl OfCard {
    /// The nodes of all.
    pub fn nodes(&self) -> impl Iterator<Item = u64> {
        self.ends.iter().flatten().map(|(node, _)| *node)
    }

    /// Whether an element is one of these.
    pub fn has(&self, tag: u64) -> bool {
        self.elements.contains(&tag)
    }
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
        if let Some(tag) = elements.iter().find(|tag| self.springs.iter().any(|of| of.has(**tag))) {
            let message = format!("spring {tag} has a rate already");
            return Err(Mistake::at(place, message, "one *SPRING for each element"));
        }
        let mut ends = Vec::with_capacity(elements.len());
        for tag in &elements {
            let Some((block, i)) = self.geometry.element(*tag) else { continue };
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
        self.springs.push(OfCard { name, rate, elements: elements.into_iter().collect(), ends, place });
        Ok(())
    }

    /// The directions of a card's components.
    fn spring_axes(&self, card: &Card) -> Read<[[f64; 3]; 3]> {
        let axes = match card.word("ORIENTATION") {
            Some(name) => self.orientation_named(&name, &card.place)?.axes()?,
            None => Axes::Global,
        };
        if axes.vary() {
            let message = "springs along the axes of a cylinder are not solved";
            return Err(Mistake::at(card.place.clone(), message, "an orientation with fixed axes for each spring"));
        }
        let rows = axes.at([0.0; 3]);
        Ok([0, 1, 2].map(|i| [0, 1, 2].map(|c| rows[(i, c)])))
    }

    /// Tables of all springs.
    pub(super) fn close_springs(&mut self, supports: &Values<Dof>) -> Read {
        let mut of_springs = Forces::new();
        for OfCard { name, rate, ends, place, .. } in std::mem::take(&mut self.springs) {
            let mut sums = Vec::new();
            for spring in &ends {
                self.check_flat(spring, &place)?;
                let direct = self.terms(spring);
                let Resolved { of_body, prescribed, free } =
                    self.couplings.points.resolve(self, supports, direct.clone());
                if let Some(((node, _), _)) = free.first() {
                    let taken = self.couplings.points.taken.contains(node);
                    let (what, help) = match taken {
                        true => {
                            ("is the reference node of a coupling that no spring acts on", "*KINEMATIC takes springs")
                        }
                        false => ("is of no body, and not held", "hold it, or let it follow a body by an *EQUATION"),
                    };
                    return Err(Mistake::at(place, format!("node {node} of a spring {what}"), help));
                }
                let (in_body, terms) = (|dof: &Dof| self.is_in_body(dof.0), merged(of_body, 0.0));
                let nodes: BTreeSet<u64> = terms.iter().map(|((node, _), _)| *node).collect();
                if nodes.len() > MOST_NODES {
                    let message = format!("a spring acts on {} nodes by way of equations", nodes.len());
                    return Err(Mistake::at(place, message, format!("at most {MOST_NODES} are solved")));
                }
                let value: f64 = prescribed.iter().map(|(dof, factor)| factor * supports[dof].value).sum();
                let whole = (terms.clone(), value);
                let mut note = |dof: Dof, factor: f64, sum: Follows| {
                    of_springs.entry(dof).or_default().push((rate * factor, sum));
                };
                for (dof, factor) in &prescribed {
                    note(*dof, *factor, whole.clone());
                }
                // The body's nodes have in the field what equations bring them, and points do not.
                for (dof, factor) in direct.iter().filter(|(dof, _)| !supports.contains_key(dof) && !in_body(dof)) {
                    note(*dof, *factor, whole.clone());
                }
                for (dof, factor) in &terms {
                    let own = direct.iter().find(|(of, _)| of == dof).map_or(0.0, |(_, factor)| *factor);
                    if own != *factor {
                        note(*dof, own - factor, whole.clone());
                    }
                }
                sums.extend((!terms.is_empty()).then_some(whole));
            }
            self.tables.bond.push(BondTable { name, place, rate, sums });
        }
        self.points.of_springs = of_springs;
        Ok(())
    }

    /// Refuses springs that a plane body or one of revolution has not.
    fn check_flat(&self, spring: &[End], place: &Place) -> Read {
        let kind = self.tables.analysis.kind.as_ref().and_then(|kind| Analysis::from_name(kind.get_ref()));
        let (message, help) = match kind.unwrap_or_default() {
            analysis if analysis.is_revolved() => {
                ("springs of bodies of revolution are not solved", "a solid body has them")
            }
            analysis if analysis.components() == 2 && spring.iter().any(|(_, direction)| direction[2] != 0.0) => {
                ("a spring acts across the plane", "components are 1 and 2, and axes in the plane")
            }
            _ => return Ok(()),
        };
        Err(Mistake::at(place.clone(), message, help))
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
