//! Directions that supports hold: those of axes, or normals of faces; and what is held at a node in all.

use super::{Axes, Support};
use crate::mesh::faces::Face;
use crate::mesh::vector::{axis, clean, dot, norm, unit};

/// Directions that differ by less than this angle count as one.
const PARALLEL: f64 = 1e-6;
/// The cosine of the angle up to which faces at a node are one curved face; beyond it the node is on an edge.
const SMOOTH: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The directions of a support's components.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub enum Directions {
    /// x, y and z of the mesh.
    #[default]
    Global,
    /// Those of other axes; of a cylinder radial, around and along.
    Axes(Axes),
    /// Normals, which the first component is along: node and direction, nodes ascending. A node on an edge has several.
    Normals(Vec<(u32, [f64; 3])>),
}

impl Directions {
    /// The letters of the components.
    pub fn letters(&self) -> [&'static str; 3] {
        match self {
            Directions::Axes(axes) => axes.letters(),
            Directions::Normals(_) => ["normal", "", ""],
            Directions::Global => ["x", "y", "z"],
        }
    }
}

impl Axes {
    /// What the case file calls them.
    pub fn letters(&self) -> [&'static str; 3] {
        if self.vary() { ["r", "t", "z"] } else { ["x", "y", "z"] }
    }
}

impl Support {
    /// What it holds: node, direction of length 1, displacement along it.
    pub fn held<'a>(&'a self, coords: &'a [[f64; 3]]) -> Box<dyn Iterator<Item = (u32, [f64; 3], f64)> + 'a> {
        match &self.directions {
            Directions::Global => Box::new(self.prescribed().map(|(node, c, value)| (node, axis(c), value))),
            Directions::Axes(axes) => Box::new(self.prescribed().map(|(node, c, value)| {
                let rows = axes.at(coords[node as usize]);
                (node, [0, 1, 2].map(|k| rows[(c, k)]), value)
            })),
            Directions::Normals(normals) => {
                let value = self.displacement[0].unwrap_or(0.0);
                Box::new(normals.iter().map(move |(node, normal)| (*node, *normal, value)))
            }
        }
    }

    /// Whether its components are not those of the mesh.
    pub fn is_slanted(&self) -> bool {
        self.directions != Directions::Global
    }
}

/// What is held at a node: orthonormal directions, and the displacement along each.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeldSpace {
    directions: [[f64; 3]; 3],
    values: [f64; 3],
    n: usize,
}

impl HeldSpace {
    /// Adds a direction of length 1 and the displacement along it; false if it contradicts those before.
    pub fn add(&mut self, direction: [f64; 3], value: f64) -> bool {
        let (mut left, mut rest, mut scale) = (direction, value, value.abs());
        for k in 0..self.n {
            let along = dot(direction, self.directions[k]);
            (0..3).for_each(|c| left[c] -= along * self.directions[k][c]);
            rest -= along * self.values[k];
            scale = scale.max(self.values[k].abs());
        }
        let size = norm(left);
        if size < PARALLEL || self.n == 3 {
            return rest.abs() <= PARALLEL * scale;
        }
        (self.directions[self.n], self.values[self.n]) = (clean(left.map(|c| c / size)), rest / size);
        self.n += 1;
        true
    }

    /// The directions.
    pub fn directions(&self) -> &[[f64; 3]] {
        &self.directions[..self.n]
    }

    /// The displacement in them, a vector.
    pub fn displacement(&self) -> [f64; 3] {
        let along = |c: usize| (0..self.n).map(|k| self.values[k] * self.directions[k][c]).sum();
        [along(0), along(1), along(2)]
    }

    /// A bit for each component that is held, if all that is held at a node of so many components is some of them.
    pub fn components(&self, of: usize) -> Option<u8> {
        if self.n == of {
            return Some((1 << of) - 1);
        }
        let component = |n: &[f64; 3]| (0..3).find(|&c| n[c].abs() == 1.0).map(|c| 1 << c);
        self.directions().iter().map(component).try_fold(0, |mask, bit| Some(mask | bit?))
    }
}

/// The outward normals at the nodes of some faces, the mean of each node's faces by area; faces that meet at an edge
/// have one each. Nodes ascending.
///
/// At a node the normal of a face is that of its shape there. The integral of `N_a n` would not do: at corners of
/// quadratic faces it is 0 or negative.
pub fn normals(faces: &[Face], coords: &[[f64; 3]]) -> Vec<(u32, [f64; 3])> {
    let mut all: Vec<(u32, [f64; 3])> = Vec::new();
    for face in faces {
        let table = face.kind.table();
        let area: f64 = table.rule.iter().map(|at| at.weight * norm(face.area_vector(at, coords))).sum();
        for (&node, at) in face.nodes().iter().zip(&table.nodes) {
            all.push((node, unit(face.area_vector(at, coords)).map(|c| area * c)));
        }
    }
    all.sort_by_key(|(node, _)| *node);
    let mut found = Vec::new();
    for of_node in all.chunk_by(|a, b| a.0 == b.0) {
        let mut sums: Vec<[f64; 3]> = Vec::new();
        for (_, normal) in of_node {
            let is_near = |sum: &&mut [f64; 3]| dot(**sum, *normal) >= SMOOTH * norm(**sum) * norm(*normal);
            match sums.iter_mut().find(is_near) {
                Some(sum) => (0..3).for_each(|c| sum[c] += normal[c]),
                None => sums.push(*normal),
            }
        }
        found.extend(sums.into_iter().map(|sum| (of_node[0].0, clean(unit(sum)))));
    }
    found
}
