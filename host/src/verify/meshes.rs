//! Meshes to verify on: regular, mapped onto a shape, distorted.

use crate::element::ElementKind;
use crate::error::Result;
use crate::mesh::{Mesh, generate::generate_box, rectangle::generate_rectangle};
use crate::model::{Model, Support};
use kernels_rs::real::Real;

/// A sequence of numbers in (-1, 1), the same every time.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it has no end, and nobody iterates over it")]
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// The next whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) * 0.5 * n as f64) as usize % n.max(1)
    }

    /// `n` numbers.
    pub fn vector<T: Real>(&mut self, n: usize) -> Vec<T> {
        (0..n).map(|_| T::from_f64(self.next())).collect()
    }
}

/// A unit box, or for plane elements a unit square of the first two numbers of cells.
pub fn regular_box(kind: ElementKind, cells: [usize; 3]) -> Result<Mesh> {
    Ok(match kind.info().dim {
        2 => generate_rectangle(kind, [1.0; 2], [cells[0], cells[1]])?,
        _ => generate_box(kind, [1.0; 3], cells)?,
    })
}

/// The same with its nodes moved by `place`. Edges of quadratic elements are curved then.
pub fn mapped(kind: ElementKind, cells: [usize; 3], place: impl Fn([f64; 3]) -> [f64; 3]) -> Result<Mesh> {
    let mut mesh = regular_box(kind, cells)?;
    mesh.coords.iter_mut().for_each(|x| *x = place(*x));
    Ok(mesh)
}

/// A unit box, of plane elements a unit square of the first two numbers of cells, whose inner corners are moved by up
/// to `amount` of a cell in every direction. Edges inside are curved: the nodes in their middles are moved by a quarter
/// of that.
pub fn distorted_box(kind: ElementKind, cells: [usize; 3], amount: f64) -> Result<Mesh> {
    let mut mesh = regular_box(kind, cells)?;
    let dim = kind.info().dim;
    // A pyramid is half as high as a cell.
    let amount = if kind.info().domain.has_apex() { 0.5 * amount } else { amount };
    let mut random = Random(7);
    let mut moved = |x: [f64; 3], amount: f64| {
        let mut offset = |i: usize| if i < dim { amount * random.next() / cells[i] as f64 } else { 0.0 };
        if on_skin(dim, x) { x } else { core::array::from_fn(|i| x[i] + offset(i)) }
    };
    let corners = n_corners(&mesh);
    mesh.coords[..corners].iter_mut().for_each(|x| *x = moved(*x, amount));
    straighten(&mut mesh);
    mesh.coords[corners..].iter_mut().for_each(|x| *x = moved(*x, 0.25 * amount));
    Ok(mesh)
}

/// Generated meshes number the corners of all cells first: how many there are.
fn n_corners(mesh: &Mesh) -> usize {
    let cells = &mesh.cells[0];
    let corners = |cell: usize| cells.cell(cell)[..cells.kind.info().n_corners].iter().max();
    (0..cells.len()).filter_map(corners).max().map_or(0, |node| *node as usize + 1)
}

/// Puts every node where the linear map of the corners has it.
pub fn straighten(mesh: &mut Mesh) {
    let cells = &mesh.cells[0];
    let (info, linear) = (cells.kind.info(), &cells.kind.linear().info().shape);
    for (cell, k) in (0..cells.len()).flat_map(|cell| (info.n_corners..info.n_nodes).map(move |k| (cell, k))) {
        let nodes = cells.cell(cell);
        let value = |b: usize, i: usize| (linear.value)(b, info.shape.nodes[k]) * mesh.coords[nodes[b] as usize][i];
        let x = [0, 1, 2].map(|i| (0..info.n_corners).map(|b| value(b, i)).sum());
        mesh.coords[nodes[k] as usize] = x;
    }
}

/// Whether a point is on the surface of the unit box, or on the outline of the unit square.
pub fn on_skin(dim: usize, x: [f64; 3]) -> bool {
    x[..dim].iter().any(|c| *c == 0.0 || *c == 1.0)
}

/// Replaces the supports by these displacements of all nodes for which there is one.
pub fn prescribe(model: &mut Model, displacement: impl Fn([f64; 3]) -> Option<[f64; 3]>) {
    let support = |(node, x): (usize, &[f64; 3])| {
        let displacement = displacement(*x)?.map(Some);
        Some(Support { name: format!("node {node}"), nodes: vec![node as u32], displacement, ..Support::default() })
    };
    model.supports = model.mesh.coords.iter().enumerate().filter_map(support).collect();
}
