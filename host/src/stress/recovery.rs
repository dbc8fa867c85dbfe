//! Stresses, or gradients, recovered from superconvergent patches (Zienkiewicz and Zhu, "The superconvergent patch recovery
//! and a posteriori error estimates. Part 1", IJNME 33, 1992).
//!
//! Round each corner node a complete polynomial of the elements' order is fitted, by least squares, to the values at the
//! points of the elements there where these are most accurate: at the centroids of elements of first order, at
//! [`sampled`](crate::element::shape::Shape::sampled) of those of second order. The recovered value at a corner is the
//! polynomial's, that at the middle of an edge the mean of the polynomials of the edge's ends; shape functions interpolate
//! between the nodes. Each material has patches of its own, as stress jumps from one to the next.
//!
//! A patch at the surface or at an interface lies on one side of its node: there the polynomials of the fuller patches
//! beside it are taken, the nearest the most, as far as there are such. A patch with too few points takes those of the
//! elements round its elements, too. A small penalty on the terms, larger on those of second order, decides where points do not: in a layer of
//! elements they lie in a plane.

use crate::assembly::DeviceBlock;
use crate::element::shape::Shape;
use crate::element::{ElementKind, MAX_NODES};
use crate::mesh::vector::{norm, sub};
use crate::mesh::{Cells, Mesh};
use crate::parallel;
use kernels_rs::element::Point;
use nalgebra::SMatrix;
use rayon::prelude::*;
use std::f64::consts::SQRT_2;

/// Terms of a complete polynomial of second order in space.
const MOST_TERMS: usize = 10;
/// The penalties on linear and quadratic terms, for each point.
const PENALTY: [f64; 2] = [1e-12, 1e-10];

/// A patch is full that has this part of the points of the fullest beside it.
const ENOUGH: f64 = 0.6;

/// Where the values of an element are that its patches take.
pub(super) fn points(kind: ElementKind) -> Vec<Point> {
    match kind.info().is_quadratic() {
        true => kind.info().shape.sampled.to_vec(),
        false => vec![(kind.info().domain.centroid(), 1.0)],
    }
}

/// Which elements lie round which corners.
struct Patches {
    /// The number of the first element of each block of `mesh.cells`.
    first: Vec<usize>,
    /// Most corners of an element.
    stride: usize,
    /// The patch of each corner, `[n_elements][stride]`.
    of_corner: Vec<u32>,
    /// The node of each patch.
    nodes: Vec<u32>,
    /// The start of each patch in `cells`, and the end of the last.
    starts: Vec<usize>,
    /// The numbers of their elements.
    cells: Vec<u32>,
}

impl Patches {
    /// Of a mesh with these materials of its elements.
    fn of(mesh: &Mesh, materials: &[Vec<u32>]) -> Patches {
        let stride = mesh.solids().map(|(_, cells)| cells.kind.info().n_corners).max().unwrap_or(0);
        let (mut first, mut n) = (vec![0; mesh.cells.len()], 0);
        let mut corners: Vec<(u64, u64)> = Vec::new();
        for (block, cells) in mesh.solids() {
            first[block] = n;
            corners.par_extend((0..cells.len()).into_par_iter().flat_map_iter(|i| {
                let (material, start) = (u64::from(materials[block][i]), ((n + i) * stride) as u64);
                cells.corners(i).iter().zip(start..).map(move |(node, at)| (u64::from(*node) << 32 | material, at))
            }));
            n += cells.len();
        }
        corners.par_sort_unstable();
        let (mut of_corner, mut nodes, mut starts) = (vec![0; n * stride], Vec::new(), vec![0]);
        for patch in corners.chunk_by(|a, b| a.0 == b.0) {
            patch.iter().for_each(|(_, at)| of_corner[*at as usize] = nodes.len() as u32);
            nodes.push((patch[0].0 >> 32) as u32);
            starts.push(starts[starts.len() - 1] + patch.len());
        }
        let cells = corners.iter().map(|(_, at)| (*at as usize / stride) as u32).collect();
        Patches { first, stride, of_corner, nodes, starts, cells }
    }

    fn cells(&self, patch: usize) -> &[u32] {
        &self.cells[self.starts[patch]..self.starts[patch + 1]]
    }

    /// The patches of the corners of a patch's elements, each once.
    fn around(&self, patch: usize, n_corners: impl Fn(usize) -> usize) -> Vec<u32> {
        let corners = |cell: usize| &self.of_corner[cell * self.stride..][..n_corners(cell)];
        let mut around: Vec<u32> = self.cells(patch).iter().flat_map(|cell| corners(*cell as usize)).copied().collect();
        around.sort_unstable();
        around.dedup();
        around
    }

    /// The elements of these patches, each once.
    fn wider(&self, patch: usize, n_corners: impl Fn(usize) -> usize) -> Vec<u32> {
        let around = self.around(patch, n_corners);
        let mut cells: Vec<u32> = around.iter().flat_map(|patch| self.cells(*patch as usize)).copied().collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Whether a patch lies on one side of its node: where the surface is, or another material.
    fn one_sided(&self, mesh: &Mesh) -> Vec<bool> {
        let mut is_outer = vec![false; mesh.coords.len()];
        mesh.skin().iter().flat_map(|face| face.nodes()).for_each(|node| is_outer[*node as usize] = true);
        let shared = self.nodes.windows(2).filter(|pair| pair[0] == pair[1]);
        shared.for_each(|pair| is_outer[pair[0] as usize] = true);
        self.nodes.iter().map(|node| is_outer[*node as usize]).collect()
    }
}

/// Values at the [`points`] of a block's elements, `[n_elements][n_points]`.
pub(super) struct Samples<const K: usize> {
    /// The block's number in `mesh.cells`.
    pub(super) block: usize,
    /// Where each point is.
    places: Vec<[f64; 3]>,
    values: Vec<[f64; K]>,
}

impl<const K: usize> Samples<K> {
    pub(super) fn new(mesh: &Mesh, block: &DeviceBlock, values: Vec<[f64; K]>) -> Samples<K> {
        let index = block.cells.index;
        let (cells, points) = (&mesh.cells[index], points(mesh.cells[index].kind));
        let shares: Vec<Vec<f64>> = points.iter().map(|(xi, _)| shares(&cells.kind.info().shape, *xi)).collect();
        let place = |i: usize| {
            let (cell, shares) = (cells.cell(i / points.len()), &shares[i % points.len()]);
            weighted(shares, |b| mesh.coords[cell[b] as usize])
        };
        Samples { block: index, places: parallel::map_indices(values.len(), &place), values }
    }
}

/// The values of the shape functions at a point.
fn shares(shape: &Shape, xi: [f64; 3]) -> Vec<f64> {
    (0..shape.nodes.len()).map(|b| (shape.value)(b, xi)).collect()
}

/// The sum of values by these shares.
pub(super) fn weighted<const K: usize>(shares: &[f64], value: impl Fn(usize) -> [f64; K]) -> [f64; K] {
    let mut sum = [0.0; K];
    for (b, share) in shares.iter().enumerate() {
        let value = value(b);
        (0..K).for_each(|k| sum[k] += share * value[k]);
    }
    sum
}

/// A polynomial about a patch's node.
struct Fit<const K: usize> {
    /// What its coordinates are divided by.
    scale: f64,
    coefficients: Vec<[f64; K]>,
    /// Points of the patch.
    n_points: usize,
}

/// The recovered values.
pub(super) struct Recovered<const K: usize> {
    patches: Patches,
    fits: Vec<Fit<K>>,
    /// Whose polynomials each patch takes in place of its own, with their shares; none if it keeps it.
    lenders: Vec<Vec<(u32, f64)>>,
    /// The value at the node of each patch.
    at_corner: Vec<[f64; K]>,
    dim: usize,
}

impl<const K: usize> Recovered<K> {
    /// From samples of all blocks.
    pub(super) fn new(mesh: &Mesh, materials: &[Vec<u32>], samples: &[Samples<K>]) -> Recovered<K> {
        let (patches, dim) = (Patches::of(mesh, materials), mesh.dim());
        let is_quadratic = mesh.solids().any(|(_, cells)| cells.kind.info().is_quadratic());
        let n_terms = if is_quadratic { (dim + 1) * (dim + 2) / 2 } else { dim + 1 };
        let block_of = |cell: usize| samples.iter().rfind(|of| patches.first[of.block] <= cell);
        let n_corners = |cell: usize| block_of(cell).map_or(0, |of| mesh.cells[of.block].kind.info().n_corners);
        let of_cell = |cell: &u32| {
            let of = block_of(*cell as usize)?;
            let n = of.values.len() / mesh.cells[of.block].len();
            let from = (*cell as usize - patches.first[of.block]) * n;
            Some(of.places[from..from + n].iter().zip(&of.values[from..from + n]))
        };
        let fit = |patch: usize| {
            let own = patches.cells(patch);
            let n_points: usize = own.iter().filter_map(of_cell).map(|points| points.len()).sum();
            let wide = (3 * n_points < 4 * n_terms).then(|| patches.wider(patch, n_corners));
            let points = wide.as_deref().unwrap_or(own).iter().filter_map(of_cell).flatten();
            let (scale, coefficients) = fit(mesh.coords[patches.nodes[patch] as usize], (dim, n_terms), points);
            Fit { scale, coefficients, n_points }
        };
        let fits: Vec<Fit<K>> = parallel::map_indices(patches.nodes.len(), &fit);
        let one_sided = patches.one_sided(mesh);
        let lenders = |patch: usize| {
            let near = if one_sided[patch] { patches.around(patch, n_corners) } else { vec![] };
            let n_points = |patch: u32| fits[patch as usize].n_points as f64;
            let enough = ENOUGH * near.iter().map(|other| n_points(*other)).fold(0.0, f64::max);
            if n_points(patch as u32) >= enough {
                return Vec::new();
            }
            let x = |patch: u32| mesh.coords[patches.nodes[patch as usize] as usize];
            let share = |other: u32| norm(sub(x(other), x(patch as u32))).powi(-4);
            let lenders = near.into_iter().filter(|other| n_points(*other) >= enough);
            let lenders: Vec<(u32, f64)> = lenders.map(|other| (other, share(other))).collect();
            let sum: f64 = lenders.iter().map(|(_, share)| share).sum();
            lenders.into_iter().map(|(other, share)| (other, share / sum)).collect()
        };
        let lenders = parallel::map_indices(patches.nodes.len(), &lenders);
        let mut of = Recovered { patches, fits, lenders, at_corner: vec![], dim };
        let at_corner = |patch: usize| of.at(mesh, patch, mesh.coords[of.patches.nodes[patch] as usize]);
        of.at_corner = parallel::map_indices(of.fits.len(), &at_corner);
        of
    }

    /// At the nodes of an element, the first of `[MAX_NODES]`.
    pub(super) fn at_nodes(&self, mesh: &Mesh, (block, cells): (usize, &Cells), i: usize) -> [[f64; K]; MAX_NODES] {
        let mut values = [[0.0; K]; MAX_NODES];
        let of = &self.patches.of_corner[(self.patches.first[block] + i) * self.patches.stride..];
        for (b, value) in values[..cells.kind.info().n_corners].iter_mut().enumerate() {
            *value = self.at_corner[of[b] as usize];
        }
        for edge in cells.kind.edges() {
            let &[a, b, middle] = edge.as_slice() else { continue };
            let x = mesh.coords[cells.cell(i)[middle] as usize];
            let [p, q] = [a, b].map(|end| self.at(mesh, of[end] as usize, x));
            values[middle] = std::array::from_fn(|k| 0.5 * (p[k] + q[k]));
        }
        values
    }

    /// A patch's polynomial, or those that it takes instead, at a place.
    fn at(&self, mesh: &Mesh, patch: usize, x: [f64; 3]) -> [f64; K] {
        let own = |patch: usize| {
            let (from, of) = (mesh.coords[self.patches.nodes[patch] as usize], &self.fits[patch]);
            let terms = terms(self.dim, sub(x, from).map(|d| d / of.scale));
            weighted(&terms[..of.coefficients.len()], |term| of.coefficients[term])
        };
        let mut sum = [0.0; K];
        for (lender, share) in &self.lenders[patch] {
            let value = own(*lender as usize);
            (0..K).for_each(|k| sum[k] += share * value[k]);
        }
        if self.lenders[patch].is_empty() { own(patch) } else { sum }
    }
}

/// The terms of a polynomial: 1, the coordinates, their squares, and the root of 2 times their products, so that a sum of
/// squared coefficients of one order is the same in any axes.
fn terms(dim: usize, [x, y, z]: [f64; 3]) -> [f64; MOST_TERMS] {
    match dim {
        2 => [1.0, x, y, x * x, y * y, SQRT_2 * x * y, 0.0, 0.0, 0.0, 0.0],
        _ => [1.0, x, y, z, x * x, y * y, z * z, SQRT_2 * x * y, SQRT_2 * y * z, SQRT_2 * x * z],
    }
}

/// The polynomial about `centre` that fits values at points best: the scale of its coordinates and its coefficients.
fn fit<'a, const K: usize>(
    centre: [f64; 3],
    (dim, n_terms): (usize, usize),
    points: impl Iterator<Item = (&'a [f64; 3], &'a [f64; K])> + Clone,
) -> (f64, Vec<[f64; K]>) {
    let scale = points.clone().map(|(x, _)| norm(sub(*x, centre))).fold(f64::MIN_POSITIVE, f64::max);
    let mut gram = SMatrix::<f64, MOST_TERMS, MOST_TERMS>::identity();
    gram.view_mut((0, 0), (n_terms, n_terms)).fill(0.0);
    let (mut right, mut n) = (SMatrix::<f64, MOST_TERMS, K>::zeros(), 0.0);
    for (x, value) in points {
        let terms = terms(dim, sub(*x, centre).map(|d| d / scale));
        for i in 0..n_terms {
            (0..=i).for_each(|j| gram[(i, j)] += terms[i] * terms[j]);
            (0..K).for_each(|k| right[(i, k)] += terms[i] * value[k]);
        }
        n += 1.0;
    }
    (1..n_terms).for_each(|i| gram[(i, i)] += n * PENALTY[usize::from(i > dim)]);
    // Only the lower triangle is read.
    if let Some(factor) = gram.cholesky() {
        factor.solve_mut(&mut right);
    }
    (scale, (0..n_terms).map(|i| std::array::from_fn(|k| right[(i, k)])).collect())
}
