//! Stress and gradients at the nodes.
//!
//! What follows from the derivatives of a finite element solution is most accurate at certain points inside the elements
//! (Barlow, "Optimal stress locations in finite element models", IJNME 10, 1976). It is evaluated there, extended to the
//! element's nodes by the linear shape functions through these points (Hinton and Campbell, "Local and global smoothing of
//! discontinuous finite element functions using a least squares method", IJNME 8, 1974), and averaged over the elements
//! around the node, each counted once. [`Table::sampled`](crate::element::shape::Table::sampled) has the points.
//!
//! Stress along an interface jumps from one material to the next, so the mean is over elements of one material alone; a node
//! between several has that of the material in which it is largest.

use kernels_rs::element::{invert, transform};
use kernels_rs::material::{Lame, strain, stress, von_mises};
use kernels_rs::real::add_outer;
use rayon::prelude::*;

use super::norm;
use crate::assembly::constants;
use crate::element::shape::{At, Table};
use crate::mesh::{Cells, Mesh};
use crate::model::Model;

/// Elements whose values are held at a time: 34 MB of the largest element.
const CHUNK: usize = 1 << 15;

/// Vectors or tensors at the nodes, `[n_nodes]`; zero where there is no element.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AtNodes<const K: usize> {
    /// Components: of a stress xx, yy, zz, xy, yz, xz.
    pub values: Vec<[f64; K]>,
    /// Their size: of a stress the von Mises stress, of a gradient its magnitude.
    pub sizes: Vec<f64>,
}

/// The stresses at the nodes of displacements `[n_nodes][3]`, in the mesh's numbering.
pub fn nodal_stress(model: &Model, displacement: &[[f64; 3]]) -> AtNodes<6> {
    let is_plane = model.mesh.dim() == 2;
    let of_material: Vec<_> = model.materials.iter().map(|material| constants(model.analysis, material)).collect();
    let at_point = |material: u32, h: [[f64; 3]; 3]| {
        let ([lambda, mu], across) = of_material[material as usize];
        let eps = strain(h);
        let mut sigma = stress(eps, Lame { lambda, mu });
        if is_plane {
            sigma[2] = across * (eps[0] + eps[1]);
        }
        sigma
    };
    average(model, |node| displacement[node], at_point, |sigma| von_mises(*sigma))
}

/// The gradients at the nodes of a potential `[n_nodes]`, in the mesh's numbering.
pub fn nodal_gradient(model: &Model, potential: &[f64]) -> AtNodes<3> {
    average(model, |node| [potential[node], 0.0, 0.0], |_, h| h[0], |gradient| norm(gradient))
}

/// The means at the nodes of what `at_point` makes of a material and of `h[i][j] = du_i/dx_j`.
fn average<const K: usize>(
    model: &Model,
    field: impl Fn(usize) -> [f64; 3] + Sync,
    at_point: impl Fn(u32, [[f64; 3]; 3]) -> [f64; K] + Sync,
    size: impl Fn(&[f64; K]) -> f64 + Sync + Send,
) -> AtNodes<K> {
    let mesh = &model.mesh;
    let slots = Slots::new(mesh, &model.cell_material);
    let mut sums = vec![([0.0; K], 0u32); slots.len()];
    for (block, cells) in mesh.solids() {
        let table = cells.kind.table();
        let n = table.nodes.len();
        let most = n * CHUNK.min(cells.len());
        let (mut places, mut values) = (vec![0u32; most], vec![[0.0; K]; most]);
        for first in (0..cells.len()).step_by(CHUNK) {
            let filled = n * CHUNK.min(cells.len() - first);
            let (places, values) = (&mut places[..filled], &mut values[..filled]);
            let elements = places.par_chunks_mut(n).zip(values.par_chunks_mut(n)).enumerate();
            elements.for_each(|(i, (places, at_nodes))| {
                let cell = first + i;
                let material = model.cell_material[block][cell];
                element(mesh, cells, cell, &field, |h| at_point(material, h), at_nodes);
                for (place, &node) in places.iter_mut().zip(cells.cell(cell)) {
                    *place = slots.of(node, material);
                }
            });
            scatter(places, values, &mut sums);
        }
    }
    let means: Vec<[f64; K]> = sums
        .into_par_iter()
        .map(|(sum, count)| if count > 0 { sum.map(|s| s / f64::from(count)) } else { sum })
        .collect();
    let sizes = means.par_iter().map(size).collect();
    slots.largest(AtNodes { values: means, sizes })
}

/// The values at the nodes of one element.
fn element<const K: usize>(
    mesh: &Mesh,
    cells: &Cells,
    cell: usize,
    field: impl Fn(usize) -> [f64; 3],
    at_point: impl Fn([[f64; 3]; 3]) -> [f64; K],
    at_nodes: &mut [[f64; K]],
) {
    let (table, dim): (&Table, usize) = (cells.kind.table(), cells.kind.info().dim);
    let nodes = cells.cell(cell);
    at_nodes.fill([0.0; K]);
    for (k, point) in table.sampled.iter().enumerate() {
        let value = at_point(derivative(mesh, nodes, &field, point, dim));
        for (at_node, shares) in at_nodes.iter_mut().zip(&table.extended) {
            (0..K).for_each(|i| at_node[i] += shares[k] * value[i]);
        }
    }
}

/// `h = (sum_b u_b (dN_b/dxi)^T) J^-1` at a point of an element.
fn derivative(mesh: &Mesh, nodes: &[u32], field: impl Fn(usize) -> [f64; 3], point: &At, dim: usize) -> [[f64; 3]; 3] {
    let (mut jac, mut slope) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    for (&node, &dn) in nodes.iter().zip(&point.dn) {
        add_outer(dim, &mut jac, mesh.coords[node as usize], dn);
        let u = field(node as usize);
        for (row, u) in slope.iter_mut().zip(u) {
            (0..dim).for_each(|j| row[j] += u * dn[j]);
        }
    }
    let (inverse, _) = invert(dim, jac);
    slope.map(|row| transform(dim, inverse, row))
}

/// Adds values to the sums of their slots. Each task owns some slots and reads all places for them, so that a sum has the
/// same order whatever the number of threads.
fn scatter<const K: usize>(places: &[u32], values: &[[f64; K]], sums: &mut [([f64; K], u32)]) {
    let span = sums.len().div_ceil(rayon::current_num_threads()).max(1);
    sums.par_chunks_mut(span).enumerate().for_each(|(part, sums)| {
        let first = (part * span) as u32;
        for (slot, value) in places.iter().zip(values) {
            if let Some((sum, count)) = sums.get_mut(slot.wrapping_sub(first) as usize) {
                (0..K).for_each(|i| sum[i] += value[i]);
                *count += 1;
            }
        }
    });
}

/// Where the values of one material at a node are summed: the node's own place for the first material there, a place behind
/// those of all nodes for every other.
struct Slots {
    n_nodes: usize,
    /// The first material at each node; empty if there is but one.
    first: Vec<u32>,
    /// Nodes with their other materials, ascending.
    others: Vec<(u32, u32)>,
}

impl Slots {
    fn new(mesh: &Mesh, materials: &[Vec<u32>]) -> Slots {
        let n_nodes = mesh.coords.len();
        let mut all = materials.iter().flatten();
        let one = all.next();
        if all.all(|material| Some(material) == one) {
            return Slots { n_nodes, first: vec![], others: vec![] };
        }
        let (mut first, mut others) = (vec![u32::MAX; n_nodes], Vec::new());
        for (block, cells) in mesh.solids() {
            for (cell, &material) in materials[block].iter().enumerate() {
                for &node in cells.cell(cell) {
                    match &mut first[node as usize] {
                        none if *none == u32::MAX => *none = material,
                        known if *known != material => others.push((node, material)),
                        _ => {}
                    }
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        Slots { n_nodes, first, others }
    }

    fn len(&self) -> usize {
        self.n_nodes + self.others.len()
    }

    /// That of a node in an element of a material.
    fn of(&self, node: u32, material: u32) -> u32 {
        if self.first.is_empty() || self.first[node as usize] == material {
            return node;
        }
        // Every pair that is not the first is among the others.
        let other = self.others.binary_search(&(node, material)).unwrap_or_else(|next| next);
        (self.n_nodes + other) as u32
    }

    /// What is largest among the slots of each node.
    fn largest<const K: usize>(&self, all: AtNodes<K>) -> AtNodes<K> {
        let AtNodes { mut values, mut sizes } = all;
        for (i, &(node, _)) in self.others.iter().enumerate() {
            let (node, other) = (node as usize, self.n_nodes + i);
            if sizes[other] > sizes[node] {
                (sizes[node], values[node]) = (sizes[other], values[other]);
            }
        }
        sizes.truncate(self.n_nodes);
        values.truncate(self.n_nodes);
        AtNodes { values, sizes }
    }
}
