//! Stress and gradients at the nodes.
//!
//! What follows from the derivatives of a finite element solution is most accurate at certain points inside the
//! elements (Barlow, "Optimal stress locations in finite element models", IJNME 10, 1976). It is evaluated there,
//! extended to the element's nodes by the linear shape functions through these points (Hinton and Campbell, "Local and
//! global smoothing of discontinuous finite element functions using a least squares method", IJNME 8, 1974), and
//! averaged over the elements around the node, each counted once. [`kernels_rs::element::Element::SAMPLED`] has the
//! points, [`kernels_rs::nodal`] the kernels.
//!
//! Stress along an interface jumps from one material to the next, so the mean is over elements of one material alone; a
//! node between several has that of the material in which it is largest.

use super::{Asked, sampled};
use crate::assembly::{DeviceBlock, DeviceMesh, Numbering};
use crate::device::{Buffer, Plain};
use crate::linalg::Space;
use crate::mesh::Mesh;
use crate::model::Model;
use crate::result::Result;
use cuda_std::prelude::{DeviceCopy, View};
use kernels_rs::element::Point;
use kernels_rs::form::{General, Scalar};
use kernels_rs::nodal::{FinishNodal, Slots as DeviceSlots, SumAtNode};

/// Vectors or tensors at the nodes, `[n_nodes]` in the mesh's numbering; zero where there is no element.
#[derive(Debug, PartialEq)]
pub struct Nodal<const K: usize> {
    /// Components: of a stress xx, yy, zz, xy, yz, xz.
    pub values: Vec<[f64; K]>,
    /// Their size: of a stress the von Mises stress, of a gradient its magnitude.
    pub sizes: Vec<f64>,
    slots: Slots,
    /// The sizes of all slots, in the solver's numbering.
    slot_sizes: Vec<f64>,
}

/// The stresses at the nodes of displacements `u [n_nodes][dim]`, in the solver's numbering.
///
/// # Errors
///
/// [`crate::result::Error::OutOfMemory`]
pub fn nodal_stress(
    space: &Space,
    model: &Model,
    numbering: &Numbering,
    mesh: &DeviceMesh,
    u: &Buffer<f64>,
) -> Result<Nodal<6>> {
    let sums = Sums::<6>::of(space, model, numbering, mesh, |block, points| {
        Ok(sampled::<General>(space, mesh, block, points, u, Asked::Stress)?.stress)
    })?;
    sums.finish(space, numbering)
}

/// The gradients at the nodes of a potential `u [n_nodes]`, in the solver's numbering, or these times the conductivity.
///
/// # Errors
///
/// [`crate::result::Error::OutOfMemory`]
pub fn nodal_gradient(
    space: &Space,
    model: &Model,
    numbering: &Numbering,
    mesh: &DeviceMesh,
    u: &Buffer<f64>,
    asked: Asked,
) -> Result<Nodal<3>> {
    let sums = Sums::<3>::of(space, model, numbering, mesh, |block, points| {
        Ok(sampled::<Scalar>(space, mesh, block, points, u, asked)?.one())
    })?;
    sums.finish(space, numbering)
}

/// What is summed at the nodes.
struct Sums<const K: usize>
where
    [f64; K]: Plain,
{
    slots: Slots,
    first: Buffer<u32>,
    others: Buffer<u64>,
    sums: Buffer<[f64; K]>,
    counts: Buffer<u32>,
}

impl<const K: usize> Sums<K>
where
    [f64; K]: Plain + DeviceCopy,
{
    /// Of what `sample` finds at the points of each block's cells, if there is room for that.
    fn of(
        space: &Space,
        model: &Model,
        numbering: &Numbering,
        mesh: &DeviceMesh,
        sample: impl Fn(&DeviceBlock, &[Point]) -> Result<Buffer<[f64; K]>>,
    ) -> Result<Self> {
        let slots = Slots::new(&model.mesh, &model.cell_material, &numbering.to_solver);
        let mut sums = Sums {
            first: space.upload(&slots.first)?,
            others: space.upload(&slots.others)?,
            sums: space.zeros(slots.len())?,
            counts: space.zeros(slots.len())?,
            slots,
        };
        for block in &mesh.blocks {
            let sampled = sample(block, block.cells.kind.info().shape.sampled)?;
            sums.add(space, mesh, block, &sampled)?;
        }
        Ok(sums)
    }

    /// Adds what the cells of a block have at their nodes.
    fn add(&mut self, space: &Space, mesh: &DeviceMesh, block: &DeviceBlock, sampled: &Buffer<[f64; K]>) -> Result<()> {
        let extended = space.upload(&block.cells.kind.table().extended)?;
        let slots = DeviceSlots { n_nodes: self.slots.n_nodes, first: self.first.view(), others: self.others.view() };
        let (view, sampled, extended) = (mesh.view(block), sampled.view(), extended.view());
        let (size, sums, counts) = (block.cells.kind.info().n_nodes, self.sums.view_mut(), self.counts.view_mut());
        let kernel = SumAtNode::<K>::new(size, view, slots, sampled, extended, sums, counts);
        // SAFETY: all live until `finish`, the material of a cell has a slot at each of its nodes, and a node owns its
        // slots.
        unsafe { space.run(mesh.n_nodes, kernel) }?;
        space.finish()
    }

    /// The means, in the mesh's numbering.
    fn finish(mut self, space: &Space, numbering: &Numbering) -> Result<Nodal<K>> {
        let n = self.slots.len();
        let mut sizes = space.zeros(n)?;
        let (counts, sums): (View<u32>, _) = (self.counts.view(), self.sums.view_mut());
        // SAFETY: all live, and have an entry per slot.
        unsafe { space.run(n, FinishNodal::<K> { counts, sums, sizes: sizes.view_mut() }) }?;
        let (all, slot_sizes) = (space.take(self.sums)?, space.take(sizes)?);
        let slots = self.slots;
        let (values, sizes) = slots.largest(all, &slot_sizes);
        let (values, sizes) = (numbering.to_mesh_order(&values), numbering.to_mesh_order(&sizes));
        Ok(Nodal { values, sizes, slots, slot_sizes })
    }
}

impl<const K: usize> Nodal<K> {
    /// `strength / size`, `[n_nodes]` in the mesh's numbering, with the strength of each material; between materials the
    /// smallest, infinite without stress or strength; empty if no material in use has a strength.
    pub fn safety(&self, numbering: &Numbering, strengths: &[Option<f64>]) -> Vec<f64> {
        let safety = self.slots.safety(&self.slot_sizes, strengths);
        if safety.is_empty() { safety } else { numbering.to_mesh_order(&safety) }
    }

    /// The material of the value at each node, in the mesh's numbering; none where there is no element.
    pub fn materials(&self, numbering: &Numbering) -> Vec<Option<usize>> {
        let mut chosen: Vec<usize> = (0..self.slots.n_nodes).collect();
        for (other, node) in (self.slots.n_nodes..).zip(self.slots.others.iter().map(|key| (key >> 32) as usize)) {
            if self.slot_sizes[other] > self.slot_sizes[chosen[node]] {
                chosen[node] = other;
            }
        }
        let materials: Vec<_> = chosen.iter().map(|&slot| self.slots.material(slot)).collect();
        numbering.to_mesh_order(&materials)
    }
}

/// Which slots there are: see [`DeviceSlots`].
#[derive(Debug, PartialEq)]
struct Slots {
    n_nodes: usize,
    /// The material, if there is one alone.
    only: u32,
    first: Vec<u32>,
    others: Vec<u64>,
}

impl Slots {
    /// Of a mesh with these materials of its cells, and these numbers of its nodes.
    fn new(mesh: &Mesh, materials: &[Vec<u32>], number: &[u32]) -> Slots {
        let n_nodes = mesh.coords.len();
        let mut all = materials.iter().flatten();
        let one = all.next();
        let only = one.copied().unwrap_or(0);
        if all.all(|material| Some(material) == one) {
            return Slots { n_nodes, only, first: vec![], others: vec![] };
        }
        let (mut first, mut others) = (vec![u32::MAX; n_nodes], Vec::new());
        for (block, cells) in mesh.solids() {
            for (cell, &material) in materials[block].iter().enumerate() {
                for node in cells.cell(cell).iter().map(|&node| number[node as usize]) {
                    match &mut first[node as usize] {
                        none if *none == u32::MAX => *none = material,
                        known if *known != material => others.push(u64::from(node) << 32 | u64::from(material)),
                        _ => {}
                    }
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        Slots { n_nodes, only, first, others }
    }

    fn len(&self) -> usize {
        self.n_nodes + self.others.len()
    }

    /// The material of a slot; none if its node has no element.
    fn material(&self, slot: usize) -> Option<usize> {
        let material = match slot.checked_sub(self.n_nodes) {
            Some(other) => self.others[other] as u32,
            None => self.first.get(slot).copied().unwrap_or(self.only),
        };
        (material != u32::MAX).then_some(material as usize)
    }

    /// The smallest ratio of yield strength to von Mises stress among the slots of each node; nothing if no material in
    /// use has a strength.
    fn safety(&self, sizes: &[f64], strengths: &[Option<f64>]) -> Vec<f64> {
        if strengths.iter().all(Option::is_none) {
            return Vec::new();
        }
        let strength = |slot: usize| self.material(slot).and_then(|material| *strengths.get(material)?);
        let mut smallest = vec![f64::INFINITY; self.n_nodes];
        let mut is_used = false;
        for (slot, size) in sizes.iter().enumerate() {
            let Some(strength) = strength(slot) else { continue };
            is_used = true;
            let node = slot.checked_sub(self.n_nodes).map_or(slot, |other| (self.others[other] >> 32) as usize);
            // The smallest that is a number: a stress of 0 makes it infinite.
            smallest[node] = smallest[node].min(strength / size);
        }
        if is_used { smallest } else { Vec::new() }
    }

    /// What is largest among the slots of each node, and its size.
    fn largest<const K: usize>(&self, mut values: Vec<[f64; K]>, all_sizes: &[f64]) -> (Vec<[f64; K]>, Vec<f64>) {
        let mut sizes = all_sizes[..self.n_nodes].to_vec();
        for (i, key) in self.others.iter().enumerate() {
            let (node, other) = ((key >> 32) as usize, self.n_nodes + i);
            if all_sizes[other] > sizes[node] {
                (sizes[node], values[node]) = (all_sizes[other], values[other]);
            }
        }
        values.truncate(self.n_nodes);
        (values, sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_materials_the_smallest_safety_factor_counts() {
        let none = Vec::<f64>::new();
        let two = Slots { n_nodes: 4, only: 0, first: vec![0, 0, 1, u32::MAX], others: vec![1 << 32 | 1] };
        let sizes = [10.0, 20.0, 5.0, 0.0, 40.0];
        assert_eq!(two.safety(&sizes, &[Some(100.0), Some(60.0)]), [10.0, 1.5, 12.0, f64::INFINITY]);
        assert_eq!(two.safety(&sizes, &[Some(100.0), None]), [10.0, 5.0, f64::INFINITY, f64::INFINITY]);
        assert_eq!(two.safety(&sizes, &[None, None]), none);
        let one = Slots { n_nodes: 2, only: 1, first: vec![], others: vec![] };
        assert_eq!(one.safety(&[2.0, 0.0], &[None, Some(3.0)]), [1.5, f64::INFINITY]);
        assert_eq!(one.safety(&[2.0, 0.0], &[Some(3.0), None]), none);
    }
}
