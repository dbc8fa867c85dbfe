//! Supports and loads as symbols: which stand where, in which direction and colour, and what the legend says.
//!
//! A group has at most [`MOST`] symbols, spread over its nodes on the skin: each next one is the node farthest from
//! those chosen (farthest point sampling, Gonzalez 1985).

use super::colormap::Rgb;
use super::scene::{Edge, Scene, corners, normal};
use super::shapes::Shape;
use crate::mesh::vector::{cross, dot, norm, sub, unit};
use crate::model::{AppliedLoad, CaseLoads, Model, Quantity, Support, with_unit};
use std::collections::HashMap;
use warpfem_text::{engineering as number, vector};

/// The acceleration of gravity, and what the legend says of it.
pub(super) fn gravity(model: &Model, loads: &CaseLoads) -> Option<([f64; 3], String)> {
    let label = |g| format!("gravity g: {}", with_unit(number(norm(g)), model.units, Quantity::Acceleration));
    loads.gravity.map(|g| (g, label(g)))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::output) struct Symbol {
    /// Its node in the scene.
    pub node: u32,
    pub shape: Shape,
    /// Its direction, a unit vector.
    pub along: [f64; 3],
}

/// The symbols of one support or load.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::output) struct Group {
    pub label: String,
    pub color: Rgb,
    pub shape: Shape,
    /// Empty where none of its nodes is on the skin.
    pub symbols: Vec<Symbol>,
}

/// Most nodes of a group that have a symbol.
const MOST: usize = 40;
/// The least distance between two symbols of a group, as a part of the mesh's diagonal.
const SPACING: f64 = 0.022;
/// Colours of supports and of loads: none is near the colours of values, and all stand out on white and on black.
const SUPPORTS: [Rgb; 3] = [[240, 120, 0], [170, 100, 60], [255, 175, 60]];
const LOADS: [Rgb; 3] = [[214, 20, 140], [255, 105, 180], [230, 60, 90]];
const JOINTS: [Rgb; 3] = [[90, 90, 110], [60, 60, 160], [130, 120, 90]];
pub(super) const GRAVITY: Rgb = [150, 60, 220];

/// The symbols on a scene, supports first.
pub(super) fn resolve(scene: &Scene, model: &Model, loads: &CaseLoads) -> Vec<Group> {
    let surface = Surface::new(scene, model, loads);
    let supports = model.supports.iter().zip(SUPPORTS.into_iter().cycle());
    let supports = supports.map(|(support, color)| surface.support(support, color));
    let is_seen = |load: &&AppliedLoad| load.total != [0.0; 3] && !load.is_preload() || is_normal(load);
    let loads = loads.applied.iter().filter(is_seen);
    let loads = loads.zip(LOADS.into_iter().cycle());
    let springs = model.springs.iter().zip(SUPPORTS.into_iter().rev().cycle());
    let springs = springs.map(|(spring, color)| {
        surface.spread_out(format!("{} {}", spring.kind(), spring.name), color, &spring.holds.nodes)
    });
    let masses = model.masses.iter().zip(LOADS.into_iter().rev().cycle()).map(|(mass, color)| {
        let size = with_unit(number(mass.mass), model.units, Quantity::Mass);
        surface.spread_out(format!("mass {}: {size}", mass.name), color, &mass.nodes())
    });
    let loads = loads.map(|(load, color)| surface.load(load, color));
    let joints = model.constraints.joined().into_iter().zip(JOINTS.into_iter().cycle());
    let joints = joints.map(|((label, nodes), color)| surface.spread_out(label, color, &nodes));
    supports.chain(springs).chain(joints).chain(loads).chain(masses).collect()
}

/// Whether a load acts along the normal.
fn is_normal(load: &AppliedLoad) -> bool {
    load.name.starts_with("pressure ") || load.name.starts_with("flux ")
}

/// The skin with its normals.
struct Surface<'a> {
    scene: &'a Scene,
    model: &'a Model,
    loads: &'a CaseLoads<'a>,
    is_flat: bool,
    /// Outward at every node, `[n_skin_nodes]`; zero inside.
    normals: Vec<[f64; 3]>,
    spacing: f64,
}

impl<'a> Surface<'a> {
    fn new(scene: &'a Scene, model: &'a Model, loads: &'a CaseLoads<'a>) -> Surface<'a> {
        let spacing = SPACING * norm(super::extents(&scene.rest));
        let mut surface = Surface { scene, model, loads, is_flat: model.mesh.dim() == 2, normals: vec![], spacing };
        surface.normals = surface.normals_where(&vec![true; scene.rest.len()]);
        surface
    }

    /// The mean outward normal at every node, of the sides whose nodes are all marked; zero elsewhere.
    fn normals_where(&self, marked: &[bool]) -> Vec<[f64; 3]> {
        let x = &self.scene.rest;
        let mut sum = vec![[0.0; 3]; x.len()];
        let mut add = |nodes: &[u32], n: [f64; 3]| {
            if nodes.iter().all(|&node| marked[node as usize]) {
                nodes.iter().for_each(|&node| (0..3).for_each(|c| sum[node as usize][c] += n[c]));
            }
        };
        for (face, edges) in self.scene.faces.iter().zip(&self.scene.edges) {
            let (nodes, n) = (corners(face), normal(x, face));
            if !self.is_flat {
                add(nodes, n);
                continue;
            }
            for (k, &a) in nodes.iter().enumerate().filter(|&(k, _)| edges[k] == Edge::Feature) {
                let b = nodes[(k + 1) % nodes.len()];
                let third = nodes[(k + 2) % nodes.len()];
                let out = unit(cross(sub(x[b as usize], x[a as usize]), n));
                let is_inward = dot(out, sub(x[third as usize], x[a as usize])) > 0.0;
                add(&[a, b], if is_inward { out.map(|c| -c) } else { out });
            }
        }
        sum.into_iter().map(unit).collect()
    }

    /// The nodes of the scene that have a symbol, of those of the mesh in `nodes`, ascending.
    fn spread(&self, nodes: &[u32]) -> Vec<u32> {
        let known = &self.scene.nodes;
        let found = nodes.iter().filter_map(|node| known.binary_search(node).ok());
        let found: Vec<u32> = found.filter(|&i| self.normals[i] != [0.0; 3]).map(|i| i as u32).collect();
        let mut away = vec![f64::INFINITY; found.len()];
        let (mut chosen, mut gaps) = (Vec::new(), Vec::new());
        let mut next = (!found.is_empty()).then_some(0);
        while let Some(i) = next.filter(|_| chosen.len() <= MOST) {
            chosen.push(found[i]);
            gaps.push(away[i]);
            let here = self.scene.rest[found[i] as usize];
            for (away, &node) in away.iter_mut().zip(&found) {
                let d = sub(self.scene.rest[node as usize], here);
                *away = away.min(dot(d, d));
            }
            let farthest = (0..found.len()).max_by(|&a, &b| away[a].total_cmp(&away[b]).then(b.cmp(&a)));
            next = farthest.filter(|&i| away[i] > self.spacing * self.spacing);
        }
        // Symbols that begin to fill the gaps between others stand unevenly: the list ends before they do.
        if chosen.len() > MOST {
            let drop = |k: &usize| gaps[k - 1] / gaps[*k];
            let end = (3 * MOST / 4..=MOST).max_by(|a, b| drop(a).total_cmp(&drop(b))).unwrap_or(MOST);
            chosen.truncate(end);
        }
        chosen
    }

    fn is_potential(&self) -> bool {
        self.model.analysis.physics().is_scalar()
    }

    fn support(&self, support: &Support, color: Rgb) -> Group {
        let name = if support.name.starts_with("support") { "" } else { "support " };
        let nodes = self.spread(&support.nodes);
        let everywhere = |shape| nodes.iter().map(|&node| Symbol { node, shape, along: [1.0, 0.0, 0.0] }).collect();
        if self.is_potential() {
            let value = number(support.displacement[0].unwrap_or(0.0));
            let label = format!("{name}{}: {value}", support.name);
            return Group { label, color, shape: Shape::Diamond, symbols: everywhere(Shape::Diamond) };
        }
        let dim = if self.is_flat { 2 } else { 3 };
        let n_fixed = support.displacement[..dim].iter().filter(|u| **u == Some(0.0)).count();
        let size = norm(support.displacement.map(|u| u.unwrap_or(0.0)));
        let mut group = Group { label: format!("{name}{}", support.name), color, shape: Shape::Cone, symbols: vec![] };
        if n_fixed == dim {
            return Group { shape: Shape::Cube, symbols: everywhere(Shape::Cube), ..group };
        }
        let mut held: HashMap<u32, Vec<([f64; 3], f64)>> = HashMap::new();
        for (node, direction, value) in support.held(&self.model.mesh.coords) {
            held.entry(node).or_default().push((direction, value));
        }
        let held_at = |node: u32| held.get(&self.scene.nodes[node as usize]).into_iter().flatten();
        for &node in &nodes {
            let outward = self.normals[node as usize];
            group.symbols.extend(held_at(node).filter(|(_, value)| *value == 0.0).map(|(direction, _)| {
                let sign = if dot(outward, *direction) < 0.0 { -1.0 } else { 1.0 };
                Symbol { node, shape: Shape::Cone, along: direction.map(|c| sign * c + 0.0) }
            }));
        }
        if size > 0.0 {
            let size = with_unit(number(size), self.model.units, Quantity::Length);
            group.label += &format!(": moved by {size}");
            group.shape = Shape::Pull;
            group.symbols.extend(nodes.iter().map(|&node| {
                let add = |sum: [f64; 3], (n, u): &([f64; 3], f64)| [0, 1, 2].map(|c| sum[c] + u * n[c]);
                self.arrow(node, unit(held_at(node).fold([0.0; 3], add)))
            }));
        }
        group
    }

    /// Symbols without a direction.
    fn spread_out(&self, label: String, color: Rgb, nodes: &[u32]) -> Group {
        let shape = Shape::Diamond;
        let symbols = self.spread(nodes).iter().map(|&node| Symbol { node, shape, along: [1.0, 0.0, 0.0] }).collect();
        Group { label, color, shape, symbols }
    }

    fn load(&self, load: &AppliedLoad, color: Rgb) -> Group {
        let size = match self.is_potential() {
            true => number(load.total[0]),
            false if is_normal(load) => number(norm(load.total)),
            false => vector(load.total),
        };
        let of = if load.name.starts_with("point_force") || load.name.starts_with("force") { "" } else { " in all" };
        let quantity = if self.is_potential() { Quantity::Unlabelled } else { Quantity::Force };
        let name = load.name.replacen("point_force", "point force", 1);
        let label = format!("{name}: {}{of}", with_unit(size, self.model.units, quantity));
        // What is inside the body, or at points, has no direction.
        if self.is_potential() && !is_normal(load) {
            return self.spread_out(label, color, &load.nodes);
        }
        let nodes = self.spread(&load.nodes);
        let direction = unit(load.total);
        let symbols = match is_normal(load) {
            false => nodes.iter().map(|&node| self.arrow(node, direction)).collect(),
            true => {
                let normals = self.normals_of(&load.nodes);
                let inward = nodes.iter().filter(|&&node| normals[node as usize] != [0.0; 3]);
                let sign = self.inward(load, &normals);
                let shape = if sign > 0.0 { Shape::Push } else { Shape::Pull };
                inward.map(|&node| Symbol { node, shape, along: normals[node as usize].map(|c| -sign * c) }).collect()
            }
        };
        Group { label, color, shape: Shape::Push, symbols }
    }

    /// The normals of the sides whose nodes are all in `nodes`.
    fn normals_of(&self, nodes: &[u32]) -> Vec<[f64; 3]> {
        let marked: Vec<bool> = self.scene.nodes.iter().map(|node| nodes.binary_search(node).is_ok()).collect();
        self.normals_where(&marked)
    }

    /// 1 where a load along the normal goes into the body, -1 where it comes out.
    fn inward(&self, load: &AppliedLoad, normals: &[[f64; 3]]) -> f64 {
        if self.is_potential() {
            return load.total[0].signum();
        }
        let forces = self.scene.nodes.iter().map(|&node| self.loads.nodal_forces.get(node as usize));
        let outward: f64 = forces.zip(normals).map(|(force, &n)| force.map_or(0.0, |&force| dot(force, n))).sum();
        if outward > 0.0 { -1.0 } else { 1.0 }
    }

    /// An arrow that stays outside of the body.
    fn arrow(&self, node: u32, along: [f64; 3]) -> Symbol {
        let shape = if dot(along, self.normals[node as usize]) < -0.2 { Shape::Push } else { Shape::Pull };
        Symbol { node, shape, along }
    }
}
