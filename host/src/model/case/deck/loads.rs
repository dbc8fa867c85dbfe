//! `*CLOAD`, `*DLOAD`, `*DSLOAD`: forces on nodes, pressures on faces, gravity and rotation.

use std::collections::{BTreeMap, HashMap};

use toml::Spanned;

use super::super::Names;
use super::super::Vector;
use super::super::tables::{GravityTable, NodalForceTable, PressureTable, RotationTable};
use super::Reader;
use super::bodies::{Acts, Body};
use super::points::Resolved;
use super::steps::{Dof, Given, State, Step};
use crate::io::inp::geometry::{Surface, unknown};
use crate::io::inp::{Card, Field, Line, Mistake, Place, Read};
use crate::mesh::vector::{dot, norm, unit};
use crate::model::Rotation;

/// The cosine from which on directions are the same.
const PARALLEL: f64 = 1.0 - 1e-10;

impl Reader<'_> {
    pub(super) fn cload(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let factor = self.factor(card)?;
        if self.state.replaces(card)? {
            self.state.forces.clear();
        }
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let [on, component, value, ..] = &fields[..] else {
                return Err(Mistake::at(line.place, "a force has a component and a value", "17, 2, -100."));
            };
            let component =
                component.integer().ok().filter(|component| (1..=6).contains(component)).ok_or_else(|| {
                    let help = "1 to 3 are forces along x, y, z; 4 to 6 are moments on reference nodes";
                    Mistake::at(component.place.clone(), format!("there is no component {}", component.text), help)
                })?;
            let value = factor * value.number()?;
            for node in self.geometry.nodes_once(on)? {
                let given = self.state.given(value, line.place.clone(), "CLOAD");
                State::add(&mut self.state.forces, (node, component as u8 - 1), given)?;
            }
        }
        Ok(())
    }

    pub(super) fn dload(&mut self, card: &Card) -> Read {
        self.begin_distributed(card)?;
        let factor = self.factor(card)?;
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let Some(word) = fields.get(1) else {
                return Err(Mistake::at(
                    line.place,
                    "which load is meant?",
                    "SKIN, P2, 10. or ALL, GRAV, 9.81, 0., 0., -1.",
                ));
            };
            match word.name().as_str() {
                "GRAV" | "CENTRIF" => self.body(&line, &fields, factor)?,
                name if name.starts_with('P') && name[1..].parse::<u8>().is_ok() => {
                    let value = factor * value(&fields, &line)?;
                    for element in self.geometry.elements_once(&fields[0])? {
                        let face = self.geometry.face_of(element, word, 'P')?;
                        let given = self.state.given(value, line.place.clone(), "DLOAD");
                        State::add(&mut self.state.pressures, (element, face), given)?;
                    }
                }
                name => {
                    let help = "P1, P2, .. are pressures on faces; GRAV and CENTRIF act on the volume";
                    return Err(Mistake::at(word.place.clone(), format!("the load {name} is not supported"), help));
                }
            }
        }
        Ok(())
    }

    pub(super) fn dsload(&mut self, card: &Card) -> Read {
        self.begin_distributed(card)?;
        let factor = self.factor(card)?;
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let Some(word) = fields.get(1).filter(|word| word.name() == "P") else {
                let help = "SURFACE, P, 10. is a pressure";
                return Err(Mistake::at(line.place, "a load on a surface is a pressure, P", help));
            };
            let value = factor * value(&fields, &line)?;
            let name = fields[0].name();
            let faces = match self.geometry.surfaces.get(&name) {
                Some(Surface::Faces(faces)) => faces.clone(),
                Some(Surface::Nodes(_)) => {
                    let message = format!("{name} is a surface of nodes");
                    return Err(Mistake::at(word.place.clone(), message, "a pressure needs *SURFACE, TYPE=ELEMENT"));
                }
                None => return Err(unknown(&fields[0], "surface", &self.geometry.surfaces)),
            };
            for key in faces {
                let given = self.state.given(value, line.place.clone(), &name);
                State::add(&mut self.state.pressures, key, given)?;
            }
        }
        Ok(())
    }

    /// What both have in common.
    fn begin_distributed(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        if self.state.replaces(card)? {
            let step = self.state.number();
            self.state.pressures.retain(|_, given| given.step == step);
            self.state.bodies.retain(|body| body.step == step);
        }
        Ok(())
    }

    /// `set, GRAV, size, direction` or `set, CENTRIF, speed squared, point, direction`.
    fn body(&mut self, line: &Line<'_>, fields: &[Field<'_>], factor: f64) -> Read {
        let elements = self.geometry.elements_once(&fields[0])?;
        let numbers = fields[2..].iter().map(Field::number_or_zero).collect::<Read<Vec<f64>>>()?;
        let place = line.place.clone();
        let (acts, direction) = match (fields[1].name().as_str(), &numbers[..]) {
            ("GRAV", [size, x, y, z, ..]) if norm([*x, *y, *z]) > 0.0 => {
                let direction = unit([*x, *y, *z]);
                (Acts::Gravity(direction.map(|c| factor * size * c)), direction)
            }
            ("CENTRIF", [square, x, y, z, a, b, c, ..]) if norm([*a, *b, *c]) > 0.0 && factor * square >= 0.0 => {
                let (axis, speed) = (unit([*a, *b, *c]), (factor * square).sqrt());
                (Acts::Centrifugal(Rotation { axis, at: [*x, *y, *z], speed }), axis)
            }
            ("GRAV", _) => {
                let help = "ALL, GRAV, 9.81, 0., 0., -1.";
                return Err(Mistake::at(place, "GRAV has a size and a direction", help));
            }
            _ => {
                let help = "ALL, CENTRIF, 1.E6, 0., 0., 0., 0., 0., 1.";
                return Err(Mistake::at(place, "CENTRIF has a speed squared, a point and a direction", help));
            }
        };
        let step = self.state.number();
        // The same again takes the place of what is of a step before; gravity along another direction is added to it.
        let is_alike = |body: &&Body| {
            body.step != step
                && body.elements == elements
                && std::mem::discriminant(&body.acts) == std::mem::discriminant(&acts)
        };
        let is_along = |body: &Body| dot(body.direction, direction) > PARALLEL;
        if let (Acts::Centrifugal(_), Some(_)) =
            (acts, self.state.bodies.iter().filter(is_alike).find(|of| !is_along(of)))
        {
            let message = "a step before spins this about another axis";
            return Err(Mistake::at(place, message, "*DLOAD, OP=NEW drops the loads of steps before"));
        }
        self.state.bodies.retain(|body| !(is_alike(&body) && is_along(body)));
        let amplitude = self.state.amplitude.clone();
        self.state.bodies.push(Body { elements, acts, direction, place, step, amplitude });
        Ok(())
    }

    /// The tables of a step's loads, which load cases call by the step's name. Returns what loads on points put on prescribed ones.
    pub(super) fn close_loads(&mut self, step: &Step) -> Read<Vec<(Dof, f64)>> {
        let Step { name, state, .. } = step;
        let on_held = self.close_forces(name.as_deref(), state)?;
        self.close_pressures(name.as_deref(), state);
        self.close_bodies(name.as_deref(), state)?;
        Ok(on_held)
    }

    fn close_forces(&mut self, step: Option<&str>, state: &State) -> Read<Vec<(Dof, f64)>> {
        let mut forces: BTreeMap<u64, [f64; 3]> = BTreeMap::new();
        let Resolved { of_body: moved, prescribed, .. } = self.couplings.points.forces(self, state)?;
        let own = state.forces.iter().filter(|((node, _), _)| self.is_in_body(*node));
        for (&(node, component), given) in own {
            if component > 2 {
                let message = format!("node {node} is of solids, which take no moment at a node");
                let help = "a moment acts on the reference node of *RIGID BODY or *COUPLING";
                return Err(Mistake::at(given.place.clone(), message, help));
            }
            let along = self.axes_at(node);
            let force = forces.entry(node).or_default();
            (0..3).for_each(|c| force[c] += given.value * along[(usize::from(component), c)]);
        }
        for ((node, component), value) in moved {
            forces.entry(node).or_default()[usize::from(component)] += value;
        }
        if let Some(place) = state.forces.values().map(|given| given.place.clone()).next() {
            self.add_forces("CLOAD", step, place, forces.into_iter().collect());
        }
        Ok(prescribed)
    }

    fn add_forces(&mut self, label: &str, step: Option<&str>, place: Place, forces: Vec<(u64, [f64; 3])>) {
        if !forces.is_empty() {
            let name = step.map(|step| Spanned::new(place.clone(), step.to_string()));
            let (label, amplitude) = (label.to_string(), None);
            self.tables.nodal_force.push(NodalForceTable { name, label, place, forces, amplitude });
        }
    }

    /// Faces of one pressure are a group.
    fn close_pressures(&mut self, step: Option<&str>, state: &State) {
        // By label and value.
        type Alike<'a> = BTreeMap<(&'a str, u64), Vec<((u64, usize), &'a Given)>>;
        let mut alike = Alike::new();
        for (face, given) in &state.pressures {
            alike.entry((&given.label, given.value.to_bits())).or_default().push((*face, given));
        }
        for ((label, bits), of_faces) in alike {
            let (label, place) = (label.to_string(), of_faces[0].1.place.clone());
            let faces: Vec<(u64, usize)> = of_faces.into_iter().map(|(face, _)| face).collect();
            let group = self.face_group(&label, faces);
            let spanned = |text: &str| Spanned::new(place.clone(), text.to_string());
            let table = PressureTable {
                name: step.map(spanned),
                on: Spanned::new(place.clone(), Names::One(group)),
                value: Some(Spanned::new(place.clone(), f64::from_bits(bits))),
                gradient: None,
                level: None,
                direction: None,
                file: None,
            };
            self.tables.pressure.push(Spanned::new(place.clone(), table));
        }
    }

    /// Faces as a group: their surface, if they are all of it.
    pub(super) fn face_group(&mut self, label: &str, faces: Vec<(u64, usize)>) -> String {
        let surface = self.geometry.surfaces.get(label);
        if matches!(surface, Some(Surface::Faces(all)) if all.len() == faces.len()) {
            return label.to_string();
        }
        let group = format!("{label} {}", self.faces.len() + 1);
        self.faces.push((group.clone(), faces));
        group
    }

    /// One that acts on the whole body is the table of its name; others become forces on nodes.
    fn close_bodies(&mut self, step: Option<&str>, state: &State) -> Read {
        let n_solids: usize = self.geometry.blocks.iter().filter(|b| b.solid.is_some()).map(|b| b.tags.len()).sum();
        let first = match &state.bodies[..] {
            [] => return Ok(()),
            [first] if first.elements.len() == n_solids && step.is_none() => first,
            bodies => {
                let densities = self.densities()?;
                return bodies.iter().try_for_each(|body| self.forces_of_body(step, body, &densities));
            }
        };
        let place = &first.place;
        let vector = |v: [f64; 3]| Spanned::new(place.clone(), Vector::from(v));
        match first.acts {
            Acts::Gravity(acceleration) => {
                let table = GravityTable { name: None, acceleration: vector(acceleration) };
                self.tables.gravity = Some(Spanned::new(place.clone(), table));
            }
            Acts::Centrifugal(rotation) => {
                let (axis, at) = (Some(vector(rotation.axis)), Some(vector(rotation.at)));
                let table = RotationTable { name: None, axis, at, speed: Spanned::new(place.clone(), rotation.speed) };
                self.tables.rotation = Some(Spanned::new(place.clone(), table));
            }
        }
        Ok(())
    }

    /// `f_a = int rho b N_a dV` over the elements of a set.
    fn forces_of_body(&mut self, step: Option<&str>, body: &Body, densities: &HashMap<u64, f64>) -> Read {
        let mut forces: HashMap<u64, [f64; 3]> = HashMap::new();
        let thickness = self.tables.analysis.thickness.as_ref().map_or(1.0, |thickness| *thickness.get_ref());
        for tag in &body.elements {
            let Some((block, i)) = self.geometry.element(*tag) else { continue };
            let Some((family, kind)) = block.solid else { continue };
            let Some(density) = densities.get(tag).copied().filter(|density| *density > 0.0) else {
                let message = format!("element {tag} has no density, which this load needs");
                return Err(Mistake::at(body.place.clone(), message, "*DENSITY belongs to the *MATERIAL"));
            };
            let nodes = self.geometry.ordered(block, kind, i);
            let x: Vec<[f64; 3]> = nodes.iter().map(|node| self.place_of(*node)).collect();
            for at in &kind.table().quadrature {
                let place = at.place(|b| x[b]);
                let around = match family {
                    crate::io::inp::codes::Family::Revolved => 2.0 * std::f64::consts::PI * place[0],
                    _ => thickness,
                };
                let volume = crate::element::shape::determinant(kind.info().dim, at.tangents(|b| x[b]));
                let mass = density * at.weight * around * volume.abs();
                for (node, n) in nodes.iter().zip(&at.n) {
                    let force = forces.entry(*node).or_default();
                    body.acts.at(place).iter().zip(force).for_each(|(b, f)| *f += n * mass * b);
                }
            }
        }
        let label = if matches!(body.acts, Acts::Gravity(_)) { "GRAV" } else { "CENTRIF" };
        let mut forces: Vec<(u64, [f64; 3])> = forces.into_iter().collect();
        forces.sort_unstable_by_key(|(node, _)| *node);
        self.add_forces(label, step, body.place.clone(), forces);
        Ok(())
    }
}

/// The third value of a line.
fn value(fields: &[Field<'_>], line: &Line<'_>) -> Read<f64> {
    match fields.get(2) {
        Some(value) => value.number(),
        None => Err(Mistake::at(line.place.clone(), "the load has no value", "SKIN, P2, 10.")),
    }
}
