//! Supports in the solver's numbering: in components by [`kernels_rs::assembly::supports`], in other directions by
//! [`kernels_rs::assembly::slanted`].

use super::{DeviceSlanted, Numbering, Slanted};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::{HeldSpace, Model};
use crate::parallel::{self, PART};
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::assembly::slanted::{EliminateSlanted, Held, SLANTED, take_off};
use kernels_rs::assembly::supports::{Eliminate, Unbalanced};
use kernels_rs::real::Real;
use std::collections::BTreeMap;
use std::ops::Range;

/// Supports in the solver's numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Supports {
    /// A bit per prescribed component, or that of [slanted](Supports::slanted) nodes, `[n_nodes]`.
    pub fixed: Vec<u8>,
    /// Nodes that are held in directions other than the components.
    pub slanted: Slanted,
    /// Prescribed values, less [`Supports::motion`], `[n_nodes][components]` flat; 0 for free components, and without
    /// part in free directions.
    pub prescribed: Vec<f64>,
    /// The rigid motion that has been taken off, `[n_nodes][components]` flat; empty where there is none.
    pub motion: Vec<f64>,
    /// Unknowns per node.
    pub components: usize,
}

/// What supports hold, on a device.
pub struct DeviceSupports {
    /// As [`Supports::fixed`].
    pub fixed: Buffer<u8>,
    /// Nodes that are held in other directions.
    pub slanted: DeviceSlanted,
    size: usize,
}

impl DeviceSupports {
    /// `r = a - b` where it is free, and 0 elsewhere; all are `[n_nodes][components]`, flat.
    pub fn free<T: Real>(&self, space: &Space, a: &Buffer<f64>, b: &Buffer<f64>, r: &mut Buffer<T>) -> Result<()> {
        let n = self.size * self.fixed.len();
        assert_eq!([a.len(), b.len(), r.len()], [n; 3], "vectors of the body");
        let (size, fixed, loads, forces) = (self.size, self.fixed.view(), a.view(), b.view());
        // SAFETY: all live, and have the body's rows; r is borrowed uniquely.
        unsafe { space.run(self.fixed.len(), Unbalanced { size, fixed, loads, forces, r: r.view_mut() }) }?;
        self.slanted.project(space, self.size, r)
    }
}

impl Supports {
    /// A model's supports.
    pub fn new(model: &Model, numbering: &Numbering) -> Self {
        let (n, components) = (numbering.len(), model.analysis.components());
        let mut supports = Supports { prescribed: vec![0.0; components * n], components, ..Supports::free(n) };
        for support in model.supports.iter().filter(|support| !support.is_slanted()) {
            for node in &support.nodes {
                let row = numbering.to_solver[*node as usize] as usize;
                let values = support.displacement[..components].iter().enumerate();
                for (i, value) in values.filter_map(|(i, value)| value.map(|value| (i, value))) {
                    supports.fixed[row] |= 1 << i;
                    // Zeros that nobody writes take no memory.
                    if value != 0.0 {
                        supports.prescribed[components * row + i] = value;
                    }
                }
            }
        }
        for &(node, c) in &model.pins {
            supports.fixed[numbering.to_solver[node as usize] as usize] |= 1 << c;
        }
        supports.hold_axis(model, numbering);
        supports.add_slanted(model, numbering);
        supports
    }

    /// Copies what they hold to a device.
    pub fn upload(&self, space: &Space) -> Result<DeviceSupports> {
        let (fixed, slanted) = (space.upload(&self.fixed)?, self.slanted.upload(space)?);
        Ok(DeviceSupports { fixed, slanted, size: self.components })
    }

    /// None, of nodes with one component.
    pub fn free(n: usize) -> Self {
        let (prescribed, motion) = (Vec::new(), Vec::new());
        Supports { fixed: vec![0; n], slanted: Slanted::default(), prescribed, motion, components: 1 }
    }

    /// Points on the axis of a body of revolution stay there.
    fn hold_axis(&mut self, model: &Model, numbering: &Numbering) {
        for node in model.on_axis() {
            self.fixed[numbering.to_solver[node as usize] as usize] |= 1;
        }
    }

    /// Whether component `i` of node `row` is prescribed; of slanted nodes none is.
    pub fn is_fixed(&self, row: usize, i: usize) -> bool {
        self.fixed[row] >> i & 1 == 1
    }

    /// Whether node `row` is held in directions other than its components.
    pub fn is_slanted(&self, row: usize) -> bool {
        self.fixed[row] == SLANTED
    }

    /// The directions that are held, each with its node.
    pub fn held(&self) -> Vec<(usize, [f64; 3])> {
        let unit = |i: usize| [0, 1, 2].map(|j| f64::from(u8::from(i == j)));
        let along = (0..self.fixed.len())
            .filter(|row| !self.is_slanted(*row))
            .flat_map(|row| (0..self.components).filter(move |i| self.is_fixed(row, *i)).map(move |i| (row, unit(i))));
        let slanted =
            self.slanted.rows.iter().zip(&self.slanted.directions).flat_map(|(row, directions)| {
                directions.iter().filter(|n| **n != [0.0; 3]).map(|n| (*row as usize, *n))
            });
        along.chain(slanted).collect()
    }

    /// Values per unknown with the rigid motion that was taken off.
    pub fn with_motion(&self, values: &[f64]) -> Vec<f64> {
        match self.motion.is_empty() {
            true => values.to_vec(),
            false => values.iter().zip(&self.motion).map(|(value, motion)| value + motion).collect(),
        }
    }

    /// Nodes of which a component or direction is prescribed, ascending.
    pub fn nodes(&self) -> Vec<u32> {
        (0..self.fixed.len()).filter(|&row| self.fixed[row] != 0).map(|row| row as u32).collect()
    }

    /// Applies them to a matrix; the right-hand side is the loads less the forces of what is prescribed, on what is free.
    pub fn eliminate<T: Real>(&self, space: &Space, matrix: &mut Matrix<T>) -> Result<()> {
        assert_eq!(matrix.block_size(), self.components, "the matrix of another analysis");
        let was_symmetric = matrix.is_symmetric();
        match self.slanted.rows.is_empty() {
            true => self.eliminate_components(space, matrix)?,
            false => self.eliminate_slanted(space, matrix)?,
        }
        if was_symmetric {
            matrix.promise_symmetric();
        }
        Ok(())
    }

    fn eliminate_components<T: Real>(&self, space: &Space, matrix: &mut Matrix<T>) -> Result<()> {
        let on_device = space.upload(&self.fixed)?;
        let (n_rows, entries, fixed) = (matrix.pattern().n_rows, matrix.entries(), on_device.view());
        let values = matrix.values_mut();
        // SAFETY: all live until `finish`, have a row per node, and a row is written by its owner alone.
        unsafe {
            match self.components {
                1 => space.run(n_rows, Eliminate::<T, 1>::new(entries, fixed, values)),
                2 => space.run(n_rows, Eliminate::<T, 2>::new(entries, fixed, values)),
                _ => space.run(n_rows, Eliminate::<T, 3>::new(entries, fixed, values)),
            }
        }?;
        space.finish()
    }

    /// Takes in the supports of a model that are not along its components, and what else is held at their nodes.
    fn add_slanted(&mut self, model: &Model, numbering: &Numbering) {
        let slanted = model.supports.iter().filter(|support| support.is_slanted());
        let nodes = slanted.flat_map(|support| &support.nodes).filter(|node| !model.constraints.slanted.contains(node));
        let mut spaces: BTreeMap<u32, HeldSpace> = nodes.map(|node| (*node, HeldSpace::default())).collect();
        if spaces.is_empty() {
            return;
        }
        // Values that contradict each other have been refused. Components come first, for what they hold to stay exact.
        for is_slanted in [false, true] {
            for support in model.supports.iter().filter(|support| support.is_slanted() == is_slanted) {
                for (node, direction, value) in support.held(&model.mesh.coords) {
                    if let Some(space) = spaces.get_mut(&node) {
                        space.add(direction, value);
                    }
                }
            }
        }
        for node in model.on_axis() {
            if let Some(space) = spaces.get_mut(&node) {
                space.add([1.0, 0.0, 0.0], 0.0);
            }
        }
        let mut found: Vec<(u32, HeldSpace)> =
            spaces.into_iter().map(|(node, space)| (numbering.to_solver[node as usize], space)).collect();
        found.sort_unstable_by_key(|(row, _)| *row);
        for (row, space) in found {
            self.hold(row, &space);
        }
    }

    fn hold(&mut self, row: u32, space: &HeldSpace) {
        let size = self.components;
        let entries = size * row as usize..size * (row as usize + 1);
        self.prescribed[entries].copy_from_slice(&space.displacement()[..size]);
        self.fixed[row as usize] = space.components(size).unwrap_or_else(|| {
            let directions = space.directions();
            self.slanted.rows.push(row);
            self.slanted.directions.push([0, 1].map(|k| directions.get(k).copied().unwrap_or_default()));
            SLANTED
        });
    }

    /// The directions that are held at a node, of length 1.
    pub fn directions(&self, row: usize) -> impl Iterator<Item = [f64; 3]> + '_ {
        let slanted = if self.fixed[row] == SLANTED { self.slanted.at(row) } else { None };
        let axis = |i: usize| [0, 1, 2].map(|c| f64::from(u8::from(c == i)));
        let components = (0..self.components).filter(move |&i| self.is_fixed(row, i)).map(axis);
        components.chain(slanted.into_iter().flatten().filter(|n| *n != [0.0; 3]))
    }

    /// Takes off a vector of the unknowns, flat, what is held of it.
    pub fn free_part(&self, values: &mut [f64]) {
        let size = self.components;
        let free = |row: usize, x: &mut [f64]| match self.slanted.at(row).filter(|_| self.fixed[row] == SLANTED) {
            None => (0..size).filter(|&i| self.is_fixed(row, i)).for_each(|i| x[i] = 0.0),
            Some(directions) => {
                let free = take_off(directions, [0, 1, 2].map(|c| x.get(c).copied().unwrap_or(0.0)));
                x.copy_from_slice(&free[..size]);
            }
        };
        parallel::map_chunks(values, size * PART, &|first, values| {
            let rows = (first / size..).zip(values.chunks_exact_mut(size));
            rows.filter(|(row, _)| self.fixed[*row] != 0).for_each(|(row, x)| free(row, x));
        });
    }

    /// Whether all that is prescribed is 0.
    pub fn is_at_rest(&self) -> bool {
        let prescribed = &self.prescribed;
        let is_zero = |part: Range<usize>| prescribed[part].iter().all(|value| *value == 0.0);
        parallel::map_ranges(prescribed.len(), PART, &is_zero).into_iter().all(|is_zero| is_zero)
    }

    /// [`Supports::eliminate`] where some nodes are slanted.
    fn eliminate_slanted<T: Real>(&self, space: &Space, matrix: &mut Matrix<T>) -> Result<()> {
        let mut place = vec![0; self.fixed.len()];
        self.slanted.rows.iter().zip(0..).for_each(|(row, i)| place[*row as usize] = i);
        let (fixed, place, slanted) = (space.upload(&self.fixed)?, space.upload(&place)?, self.slanted.upload(space)?);
        let held = Held { fixed: fixed.view(), place: place.view(), directions: slanted.directions.view() };
        let (n_rows, entries, values) = (matrix.pattern().n_rows, matrix.entries(), matrix.values_mut());
        // SAFETY: all live until `finish`, have a row per node, and a row is written by its owner alone.
        unsafe {
            match self.components {
                2 => space.run(n_rows, EliminateSlanted::<T, 2>::new(entries, held, values)),
                _ => space.run(n_rows, EliminateSlanted::<T, 3>::new(entries, held, values)),
            }
        }?;
        space.finish()
    }
}
