//! Cards that couple nodes: `*EQUATION`, `*RIGID BODY`, `*COUPLING`, `*DISTRIBUTING COUPLING`, `*TIE`, `*PRE-TENSION SECTION`; and
//! masses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nalgebra::{Matrix3, Vector3};
use toml::Spanned;

use super::super::Names;
use super::super::tables::{BoltTable, EquationTable, MassTable, TermTable, TieTable};
use super::Reader;
use super::points::{Equation, Points};
use super::remotes::Remote;
use super::sectors::Sides;
use super::steps::{Dof, Step, Values};
use crate::element::middle;
use crate::io::inp::geometry::Surface;
use crate::io::inp::{Card, Field, Mistake, Place, Read, codes, fields};
use crate::mesh::vector::{cross, dot, sub, unit};

/// A cut section.
#[derive(Debug, Clone)]
struct Bolt {
    on: Spanned<Names>,
    node: u64,
    /// Of the node's forces that pull.
    sign: f64,
    place: Place,
}

/// What couples nodes.
#[derive(Debug, Clone, Default)]
pub struct Couplings {
    pub points: Points,
    remotes: Vec<Remote>,
    bolts: Vec<Bolt>,
    pub sides: Vec<Sides>,
}

impl Reader<'_> {
    /// Equations: how many terms, then node, component and factor of each.
    pub(super) fn equation(&mut self, card: &Card) -> Read {
        let place = card.place.clone();
        let mut lines = self.deck.lines(card);
        while let Some(head) = lines.next() {
            let n = head.fields()[0].integer()?;
            let mut terms: Vec<(Dof, f64)> = Vec::new();
            let mut n_read = 0;
            while n_read < n {
                let Some(line) = lines.next() else {
                    let message = format!("the equation has {n_read} terms of {n}: the deck is cut");
                    return Err(Mistake::at(head.place, message, "a line has up to four: node, component, factor, .."));
                };
                for term in line.fields().chunks(3) {
                    let [node, component, factor] = term else {
                        let help = "a line has up to four terms: node, component, factor, ..";
                        return Err(Mistake::at(line.place, "a term has node, component and factor", help));
                    };
                    self.add_term(node, component, factor.number()?, &mut terms)?;
                    n_read += 1;
                }
            }
            if n_read != n {
                let message = format!("the equation has {n_read} terms, and {n} are announced");
                return Err(Mistake::at(head.place, message, "the first line is the number of terms"));
            }
            self.couplings.points.add(terms, place.clone());
        }
        Ok(())
    }

    /// A term in the mesh's axes.
    fn add_term(&self, node: &Field<'_>, component: &Field<'_>, factor: f64, terms: &mut Vec<(Dof, f64)>) -> Read {
        let (tags, place) = (self.geometry.nodes(node)?, component.place.clone());
        let [tag] = tags[..] else {
            return Err(Mistake::at(node.place.clone(), "a term of an equation is of one node", "name it by its tag"));
        };
        let component = match component.integer()? {
            component @ 1..=3 => component as usize - 1,
            other => {
                let help = "1 to 3 are x, y, z";
                return Err(Mistake::at(place, format!("equations of component {other} are not solved"), help));
            }
        };
        match self.is_in_body(tag) {
            false => terms.push(((tag, component as u8), factor)),
            true => terms.extend(along(tag, self.axes_at(tag).row(component).transpose(), factor)),
        }
        Ok(())
    }

    /// `*RIGID BODY, NSET= or ELSET=, REF NODE=, ROT NODE=`.
    pub(super) fn rigid_body(&mut self, card: &Card) -> Read {
        let place = card.place.clone();
        let at = self.reference(card, "REFNODE")?;
        let rotations = card.has("ROTNODE").then(|| self.reference(card, "ROTNODE")).transpose()?;
        let on = match card.word("ELSET") {
            Some(name) => {
                let field = Field { text: &name, place: place.clone() };
                let elements = self.geometry.elements(&field)?;
                self.nodes_as_group(&format!("NODES OF {name}"), &elements, &place)
            }
            None => {
                let (name, place) = card.required("NSET")?;
                self.node_group(&name, &place)?
            }
        };
        self.couplings.remotes.push(Remote { on, at, rotations, is_rigid: Some(true), axes: None, place });
        Ok(())
    }

    fn nodes_as_group(&mut self, name: &str, elements: &[u64], place: &Place) -> Spanned<Names> {
        let of = |tag: &u64| self.geometry.element(*tag).map_or(&[][..], |(block, i)| block.element(i)).to_vec();
        let mut nodes: Vec<u64> = elements.iter().flat_map(of).collect();
        nodes.sort_unstable();
        nodes.dedup();
        self.geometry.node_sets.insert(name.to_string(), nodes);
        Spanned::new(place.clone(), Names::One(name.to_string()))
    }

    /// The node that a parameter names.
    fn reference(&self, card: &Card, parameter: &str) -> Read<u64> {
        let (name, place) = card.required(parameter)?;
        let nodes = self.geometry.nodes(&Field { text: &name, place: place.clone() })?;
        match nodes[..] {
            [node] => Ok(node),
            _ => Err(Mistake::at(place, "this must be one node", "name it by its tag")),
        }
    }

    /// `*COUPLING, REF NODE=, SURFACE=`.
    pub(super) fn coupling(&mut self, card: &Card) -> Read {
        let at = self.reference(card, "REFNODE")?;
        let (name, place) = card.required("SURFACE")?;
        let axes = match card.word("ORIENTATION") {
            Some(name) => Some(self.orientation_named(&name, &card.place)?.axes()?),
            None => None,
        };
        let on = self.surface(&name, &place)?;
        let remote = Remote { on, at, rotations: None, is_rigid: None, axes, place: card.place.clone() };
        self.couplings.remotes.push(remote);
        Ok(())
    }

    /// `*KINEMATIC` or `*DISTRIBUTING` behind a coupling.
    pub(super) fn coupling_kind(&mut self, card: &Card) -> Read {
        let place = card.place.clone();
        let mut components = Vec::new();
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let first = fields[0].integer()?;
            let last = fields.get(1).map_or(Ok(first), |last| last.integer())?;
            if !(1..=6).contains(&first) || last < first {
                let message = format!("components {first} to {last} are not there");
                return Err(Mistake::at(fields[0].place.clone(), message, "1, 6 are all"));
            }
            components.extend(first..=last.min(6));
        }
        let open = self.couplings.remotes.last_mut().filter(|remote| remote.is_rigid.is_none());
        let Some(remote) = open else {
            return Err(Mistake::at(place, "this card is of no coupling", "*COUPLING comes before it"));
        };
        let is_whole = components.is_empty() || (1..=3).all(|component| components.contains(&component));
        let is_rigid = card.name == "KINEMATIC";
        remote.is_rigid = Some(is_rigid);
        if !is_rigid && (!is_whole || remote.axes.is_some()) {
            let message = "distributing couplings of some components, or along axes of their own, are not solved";
            return Err(Mistake::at(place, message, "1, 6 couples all along x, y, z; *KINEMATIC couples single ones"));
        }
        if components.is_empty() {
            let written = self.deck.written(card);
            self.warnings
                .push(format!("{written} without components couples all, as in Abaqus; CalculiX couples none"));
        }
        if !is_whole && let Some(remote) = self.couplings.remotes.pop() {
            self.follow(&remote, &components)?;
        }
        Ok(())
    }

    /// Makes equations of a kinematic coupling of some components, from 1: `a . u = a . (u_r + theta x (x - x_r))` for the axis a of
    /// each, with the components of the reference node as those of a point.
    fn follow(&mut self, remote: &Remote, components: &[u64]) -> Read {
        let Remote { on, at, axes, place, .. } = remote;
        self.check_reference(*at, place)?;
        if components.iter().all(|component| *component > 3) {
            let message = "nodes of solids have no rotations, which this coupling is of";
            return Err(Mistake::at(place.clone(), message, "1 to 3 couple displacements"));
        }
        let name = on.get_ref().joined();
        let surface = self.geometry.surfaces.get(&name).map(|surface| self.geometry.nodes_of(surface));
        let nodes = surface.or_else(|| self.geometry.node_sets.get(&name).cloned()).unwrap_or_default();
        let (dofs, own) = (remote.dofs(), self.axes_at(*at));
        for node in nodes {
            let x = self.place_of(node);
            let rows = axes.as_ref().map_or(Matrix3::identity(), |axes| axes.at(x));
            let arm = Vector3::from(sub(x, self.place_of(*at)));
            for component in components.iter().filter(|component| (1..=3).contains(*component)) {
                let axis = rows.row(*component as usize - 1).transpose();
                // The reference node's components are along its own axes.
                let (moved, turned) = (own * axis, own * arm.cross(&axis));
                let motion = terms(dofs, moved.iter().chain(&turned).map(|of| -of));
                self.couplings.points.add([along(node, axis, 1.0), motion].concat(), place.clone());
            }
        }
        Ok(())
    }

    /// Refuses a reference node that belongs to the body: its displacements would be two things.
    fn check_reference(&self, node: u64, place: &Place) -> Read {
        if self.is_in_body(node) {
            let message = format!("the reference node {node} belongs to an element");
            return Err(Mistake::at(place.clone(), message, "a reference node is one of its own, in the same place"));
        }
        Ok(())
    }

    /// `*DISTRIBUTING COUPLING, ELSET=`: nodes with weights, whose mean displacement is that of the set's node.
    pub(super) fn distributing_coupling(&mut self, card: &Card) -> Read {
        let (name, place) = card.required("ELSET")?;
        let elements = self.geometry.elements(&Field { text: &name, place: place.clone() })?;
        let point = elements.first().and_then(|tag| self.geometry.element(*tag)).map(|(block, i)| block.element(i)[0]);
        let Some(point) = point else { return Err(Mistake::at(place, "this set has no element", "of type DCOUP3D")) };
        let mut weights: BTreeMap<u64, f64> = BTreeMap::new();
        for line in self.deck.lines(card) {
            let fields = line.fields();
            let weight = fields.get(1).map_or(Ok(1.0), |weight| weight.number())?;
            self.geometry.nodes(&fields[0])?.into_iter().for_each(|node| {
                weights.insert(node, weight);
            });
        }
        let total: f64 = weights.values().sum();
        if total <= 0.0 {
            return Err(Mistake::at(place, "the weights of this coupling add up to nothing", "LOAD, 1."));
        }
        for component in 0..3 {
            let shares = weights.iter().map(|(node, weight)| ((*node, component), weight / total));
            let terms = shares.chain([((point, component), -1.0)]).collect();
            self.couplings.points.add(terms, card.place.clone());
        }
        Ok(())
    }

    /// `*MPC` of type MEANROT: the mean rotation of nodes about an axis, which the coordinates of the last one are, is that node's
    /// first displacement. For small rotations `theta = 1/N sum a . (p x (u - u_mean)) / |p|^2`, p from the axis through the centre.
    pub(super) fn mean_rotation(&mut self, card: &Card) -> Read {
        let fields: Vec<Field<'_>> = self.deck.lines(card).flat_map(|line| line.fields()).collect();
        let Some(kind) = fields.first().filter(|kind| kind.name() == "MEANROT") else {
            let message = "constraints of this kind are not linear, and not solved";
            return Err(Mistake::at(card.place.clone(), message, "*EQUATION, *RIGID BODY, *COUPLING and *TIE are"));
        };
        let listed = fields[1..].iter().map(|field| self.geometry.nodes(field)).collect::<Read<Vec<_>>>()?.concat();
        let Some((&pilot, thrice)) = listed.split_last().filter(|(_, thrice)| !thrice.is_empty()) else {
            return Err(Mistake::at(kind.place.clone(), "this card names no nodes", ""));
        };
        // A node's place in the list says which of its components is meant.
        let nodes: Vec<u64> = thrice.chunks(3).map(|same| same[0]).collect();
        let distinct: HashSet<u64> = nodes.iter().copied().collect();
        if thrice.chunks(3).any(|same| same != [same[0]; 3]) || distinct.len() < nodes.len() {
            let help = "each node three times, one after the other, then the node that turns";
            return Err(Mistake::at(kind.place.clone(), "MEANROT of single components is not solved", help));
        }
        let (axis, n) = (unit(self.place_of(pilot)), nodes.len() as f64);
        let centre = middle(nodes.iter().map(|node| self.place_of(*node)));
        let share = |node: &u64| {
            let from = sub(self.place_of(*node), centre);
            let p = sub(from, axis.map(|c| c * dot(from, axis)));
            cross(axis, p).map(|c| c / (n * dot(p, p)))
        };
        let shares: Vec<[f64; 3]> = nodes.iter().map(share).collect();
        let mean = [0, 1, 2].map(|c| shares.iter().map(|share| share[c]).sum::<f64>() / n);
        let mut terms = vec![((pilot, 0), -1.0)];
        for (node, share) in nodes.iter().zip(shares) {
            terms.extend((0..3).map(|c| ((*node, c as u8), share[c] - mean[c])));
        }
        if terms.iter().any(|(_, factor)| !factor.is_finite()) {
            return Err(Mistake::at(kind.place.clone(), "one of these nodes is on the axis", "leave it out"));
        }
        self.couplings.points.add(terms, card.place.clone());
        Ok(())
    }

    /// `*TIE`: a line with slave and master.
    pub(super) fn tie(&mut self, card: &Card) -> Read {
        let tolerance = match card.parameter("POSITIONTOLERANCE") {
            Some(parameter) => {
                let text = parameter.value.as_deref().unwrap_or_default();
                let value = fields::number(text).ok_or_else(|| {
                    Mistake::at(parameter.place.clone(), format!("`{text}` is no number"), "POSITION TOLERANCE=0.1")
                })?;
                Some(Spanned::new(parameter.place.clone(), value))
            }
            None => None,
        };
        for line in self.deck.lines(card) {
            let sides = line.fields();
            let [slave, master, ..] = &sides[..] else {
                return Err(Mistake::at(line.place, "a tie has two surfaces", "slave, master"));
            };
            let slave = self.surface(&slave.name(), &slave.place)?;
            let master = self.surface(&master.name(), &master.place)?;
            if card.has("CYCLICSYMMETRY") {
                self.sides(card, slave, master, line.place);
                continue;
            }
            let table = TieTable {
                name: card.word("NAME").map(|name| Spanned::new(card.place.clone(), name)),
                slave,
                master,
                tolerance: tolerance.clone(),
                kind: None,
                conductance: None,
            };
            self.tables.tie.push(Spanned::new(line.place, table));
        }
        Ok(())
    }

    /// `*PRE-TENSION SECTION, SURFACE=, NODE=`.
    pub(super) fn bolt(&mut self, card: &Card) -> Read {
        let node = self.reference(card, "NODE")?;
        let (name, place) = card.required("SURFACE")?;
        let on = self.surface(&name, &place)?;
        let line = self.deck.lines(card).next();
        let normal = line.iter().flat_map(|line| line.fields()).map(|field| field.number_or_zero());
        let normal = normal.collect::<Read<Vec<f64>>>()?;
        let sign = match (normal.as_slice(), self.outward(&name)) {
            // A force along the normal pulls where that points out of the surface's elements.
            ([x, y, z, ..], Some(out)) if dot([*x, *y, *z], out) < 0.0 => -1.0,
            _ => 1.0,
        };
        self.couplings.bolts.push(Bolt { on, node, sign, place: card.place.clone() });
        Ok(())
    }

    /// From the middle of an element to that of its face on a surface.
    fn outward(&self, surface: &str) -> Option<[f64; 3]> {
        let Surface::Faces(faces) = self.geometry.surfaces.get(surface)? else { return None };
        let (element, face) = faces.first()?;
        let (block, i) = self.geometry.element(*element)?;
        let domain = block.solid?.1.info().domain;
        let corners = &block.element(i)[..domain.corners().len()];
        let of = |node: &u64| self.place_of(*node);
        let side = codes::faces(domain).get(*face)?.iter().map(|k| of(&corners[*k]));
        Some(sub(middle(side), middle(corners.iter().map(of))))
    }

    /// `*MASS, ELSET=`: the mass at each of its points.
    pub(super) fn mass(&mut self, card: &Card) -> Read {
        let (name, place) = card.required("ELSET")?;
        let elements = self.geometry.elements(&Field { text: &name, place: place.clone() })?;
        let Some(line) = self.deck.lines(card).next() else {
            return Err(Mistake::at(place, "the mass is missing", "*MASS, ELSET=POINTS\n12."));
        };
        let each = line.fields()[0].number()?;
        let on = self.nodes_as_group(&format!("NODES OF {name}"), &elements, &place);
        let mass = Spanned::new(line.place, each * elements.len() as f64);
        let table = MassTable { name: Some(Spanned::new(place.clone(), name)), on, mass, inertia: None };
        self.tables.mass.push(Spanned::new(place, table));
        Ok(())
    }

    /// Tables of all that couples, with what supports and loads say of reference nodes.
    pub(super) fn close_couplings(&mut self, supports: &Values<Dof>, steps: &[Step]) -> Read {
        // A spring or an equation at the reference node needs its displacements.
        let of_equations = self.couplings.points.equations.iter().flat_map(|equation| &equation.terms);
        let mut used: BTreeSet<u64> = of_equations.map(|((node, _), _)| *node).collect();
        used.extend(self.springs.iter().flat_map(|springs| springs.nodes()));
        let all = std::mem::take(&mut self.couplings.remotes);
        let is_used =
            |remote: &Remote| remote.is_rigid == Some(true) && remote.nodes().any(|node| used.contains(&node));
        let (followed, remotes): (Vec<Remote>, Vec<Remote>) = all.into_iter().partition(is_used);
        followed.iter().try_for_each(|remote| self.follow(remote, &[1, 2, 3]))?;
        for remote in &remotes {
            if remote.is_rigid.is_none() {
                let message = "this coupling does not say how its nodes follow";
                return Err(Mistake::at(remote.place.clone(), message, "*KINEMATIC or *DISTRIBUTING comes behind it"));
            }
            self.check_reference(remote.at, &remote.place)?;
            if self.frame_of.contains_key(&remote.at) {
                let message = format!("the reference node {} has axes of its own", remote.at);
                return Err(Mistake::at(remote.place.clone(), message, "leave it out of *TRANSFORM"));
            }
            let held = remote.motion(supports);
            if remote.is_rigid == Some(true) || held != [None; 6] {
                self.tables.remote.push(remote.table(self.place_of(remote.at), held));
            }
            self.points.rotations.extend(remote.rotations.map(|node| (node, remote.at)));
            let at = self.place_of(remote.at);
            self.tables.load.extend(steps.iter().filter_map(|step| remote.load(at, step)));
        }
        let bolts = std::mem::take(&mut self.couplings.bolts);
        for bolt in &bolts {
            self.close_bolt(bolt, supports, steps)?;
        }
        let taken = remotes.iter().flat_map(Remote::nodes);
        self.couplings.points.taken.extend(taken.chain(bolts.iter().map(|bolt| bolt.node)));
        self.check_taken(supports)?;
        let mut points = std::mem::take(&mut self.couplings.points);
        let eliminated = points.eliminate(self, supports);
        self.couplings.points = points;
        eliminated?;
        self.close_springs(supports)?;
        for (i, Equation { terms, known, value, place }) in self.couplings.points.equations.iter().enumerate() {
            known.iter().for_each(|(dof, factor)| self.points.equations.entry(*dof).or_default().push((i, *factor)));
            let spanned = |value: f64| Spanned::new(place.clone(), value);
            let terms = terms.iter().map(|((node, component), factor)| {
                let dof = Spanned::new(place.clone(), ["x", "y", "z"][usize::from(*component)].to_string());
                let node = Spanned::new(place.clone(), *node);
                Spanned::new(place.clone(), TermTable { node, dof, factor: spanned(*factor) })
            });
            let terms = Spanned::new(place.clone(), terms.collect());
            let table = EquationTable { terms, value: Some(spanned(*value)) };
            self.tables.equation.push(Spanned::new(place.clone(), table));
        }
        Ok(())
    }

    /// Refuses equations of nodes that a body follows, or that a bolt has: these have no unknowns.
    fn check_taken(&self, supports: &Values<Dof>) -> Read {
        let Points { equations, taken, .. } = &self.couplings.points;
        let is_taken = |(dof, _): &(Dof, f64)| taken.contains(&dof.0) && !supports.contains_key(dof);
        for Equation { terms, place, .. } in equations {
            if let Some(((node, _), _)) = terms.iter().find(|term| is_taken(term)) {
                let message = format!("node {node} is a reference node, and is in an equation or in a second coupling");
                let help = "couple the nodes of the body, or prescribe the node with *BOUNDARY";
                return Err(Mistake::at(place.clone(), message, help));
            }
        }
        Ok(())
    }

    fn close_bolt(&mut self, bolt: &Bolt, supports: &Values<Dof>, steps: &[Step]) -> Read {
        let spanned = |value: f64| Some(Spanned::new(bolt.place.clone(), value));
        let shortening = supports.get(&(bolt.node, 0)).map(|given| given.value);
        let [Step { name: None, state, .. }] = steps else {
            let message = "a bolt in several steps is not solved";
            return Err(Mistake::at(bolt.place.clone(), message, "a deck for each step"));
        };
        let preload = state.forces.get(&(bolt.node, 0)).map(|given| given.value);
        if shortening.is_none() && preload.is_none() {
            let message = format!("node {} has neither a force nor a displacement", bolt.node);
            return Err(Mistake::at(
                bolt.place.clone(),
                message,
                "*CLOAD or *BOUNDARY on its component 1 pulls the bolt",
            ));
        }
        let table = BoltTable {
            name: None,
            on: bolt.on.clone(),
            preload: preload.filter(|_| shortening.is_none()).map(|force| bolt.sign * force).and_then(spanned),
            shortening: shortening.map(|length| bolt.sign * length).and_then(spanned),
        };
        self.tables.bolt.push(Spanned::new(bolt.place.clone(), table));
        Ok(())
    }

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

/// The displacement of a node along a direction, times a factor, as terms.
pub fn along(node: u64, direction: Vector3<f64>, factor: f64) -> Vec<(Dof, f64)> {
    terms([(node, 0), (node, 1), (node, 2)], direction.iter().map(|of| factor * of))
}

/// Components with factors, without those that are rounding.
fn terms(dofs: impl IntoIterator<Item = Dof>, factors: impl Iterator<Item = f64>) -> Vec<(Dof, f64)> {
    dofs.into_iter().zip(factors).filter(|(_, factor)| factor.abs() > 1e-14).collect()
}
