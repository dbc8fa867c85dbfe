//! The numeric phase: a mesh and its materials on a device, and the loads and internal forces computed there. Stiffness is
//! in [`super::stiffness`].

use super::forms::{match_revolved, with_general};
use super::materials::{Constants, DeviceConstants};
use super::rule::DeviceRule;
use super::topology::CellBlock;
use super::{Addition, Numbering};
use crate::device::Buffer;
use crate::element::dispatch::{match_element, with_element};
use crate::linalg::Space;
use crate::mesh::ordering;
use crate::model::{Analysis, FormKind, Model};
use crate::result::{Error, Result};
use kernels_rs::amg::NONE;
use kernels_rs::amg::vertices::{Cells, FindEnds};
use kernels_rs::assembly::MeshView;
use kernels_rs::assembly::moments::NodeMoments;
use kernels_rs::assembly::row_owner::InternalForce;
use kernels_rs::eigenstrain::Eigenstrain;
use kernels_rs::setup::around::Around;
use kernels_rs::setup::order::Lattice;
use kernels_rs::stress::Displacements;
use std::cell::RefCell;

/// The cells of one element type on a device.
pub struct DeviceBlock {
    /// The cells, and where their stiffness goes.
    pub cells: CellBlock,
    pub(super) material: Buffer<u32>,
    /// Which constants each cell has, if that is not by material.
    own_constants: Option<Buffer<u32>>,
    /// Temperatures of cells, as [`Eigenstrain`] has them.
    temperatures: Option<Buffer<f64>>,
}

/// A mesh and its materials on a device, in the solver's numbering.
pub struct DeviceMesh {
    /// Number of nodes.
    pub n_nodes: usize,
    /// The cells, one entry per element type.
    pub blocks: Vec<DeviceBlock>,
    /// What is solved.
    pub analysis: Analysis,
    /// What integrates it.
    pub form: FormKind,
    coords: Buffer<[f64; 3]>,
    /// The lattice of the Hilbert curve over the nodes.
    pub lattice: Lattice,
    ends: Option<Buffer<[u32; 2]>>,
    constants: DeviceConstants,
    /// What is added to the cells' stiffness.
    pub addition: Option<Addition>,
    /// Temperatures less the reference, `[n_nodes]`; none without [`DeviceMesh::set_temperature`].
    temperature: RefCell<Option<Buffer<f64>>>,
}

impl DeviceMesh {
    /// Copies a model's materials to a device; `blocks` and `coords` are those of its mesh's topology
    /// there, or of one with the same cells.
    pub fn new(space: &Space, model: &Model, blocks: Vec<CellBlock>, coords: Buffer<[f64; 3]>) -> Result<Self> {
        let mut constants = Constants::of_materials(model);
        let ends = find_ends(space, coords.len(), &blocks)?;
        let blocks = blocks.into_iter().map(|cells| device_block(space, model, cells, &mut constants));
        Ok(DeviceMesh {
            n_nodes: coords.len(),
            analysis: model.analysis,
            form: model.form(),
            ends,
            blocks: blocks.collect::<Result<_>>()?,
            coords,
            lattice: ordering::lattice(&model.mesh.coords),
            constants: constants.upload(space)?,
            addition: None,
            temperature: RefCell::default(),
        })
    }

    /// The same with the constants of materials as they are in a step.
    ///
    /// # Errors
    ///
    /// As [`DeviceMesh::new`].
    pub fn at_step(
        space: &Space,
        (model, step): (&Model, usize),
        blocks: Vec<CellBlock>,
        coords: Buffer<[f64; 3]>,
    ) -> Result<Self> {
        let mut mesh = DeviceMesh::new(space, model, blocks, coords)?;
        if step > 0 {
            mesh.set_materials(space, model, step)?;
        }
        Ok(mesh)
    }

    /// Takes a model's temperatures: from now on stress is that of the strain less the thermal strain.
    pub fn set_temperature(&mut self, space: &Space, model: &Model, numbering: &Numbering) -> Result<()> {
        let Some(temperature) = &model.temperature else { return Ok(()) };
        self.set_step(space, model, numbering, 0)?;
        for block in &mut self.blocks {
            let of_cells = temperature.of_cells.get(block.cells.index).filter(|of| !of.is_empty());
            block.temperatures = of_cells.map(|of| space.upload(of)).transpose()?;
        }
        Ok(())
    }

    /// Takes the temperatures of another step of a heat case.
    pub fn set_step(&self, space: &Space, model: &Model, numbering: &Numbering, step: usize) -> Result<()> {
        let Some(temperature) = &model.temperature else { return Ok(()) };
        *self.temperature.borrow_mut() = Some(space.upload(&numbering.gather(temperature.nodal(step)))?);
        Ok(())
    }

    /// The thermal strains of one element type's cells.
    pub fn eigenstrain(&self, block: &DeviceBlock) -> Eigenstrain {
        let temperature = self.temperature.borrow();
        let Some(nodal) = &*temperature else { return Eigenstrain::NONE };
        Eigenstrain {
            per_degree: self.constants.expansion.view(),
            nodal: nodal.view(),
            of_cells: block.temperatures.as_ref().map_or(Eigenstrain::NONE.of_cells, Buffer::view),
        }
    }

    /// Takes the materials, as they are in a step, and the thickness of another model on the same mesh. What was found out about
    /// the topology, here and in matrices and assemblies of this mesh, stays as it is.
    pub fn set_materials(&mut self, space: &Space, model: &Model, step: usize) -> Result<()> {
        assert_eq!(model.analysis.components(), self.components(), "an analysis of other unknowns");
        (self.analysis, self.form) = (model.analysis, model.form());
        let mut constants = Constants::of_materials(model);
        for block in &mut self.blocks {
            block.material = materials_of(space, model, &block.cells)?;
            block.own_constants = own_constants(space, (model, step), &block.cells, &mut constants)?;
        }
        self.constants = constants.upload(space)?;
        Ok(())
    }

    /// Coordinates of the nodes, in the solver's numbering, `[n_nodes]`.
    pub fn coords(&self) -> &Buffer<[f64; 3]> {
        &self.coords
    }

    /// Of each node in the middle of an edge the ends of that, and of others themselves twice, `[n_nodes]`; nothing if
    /// there are only vertices.
    pub fn ends(&self) -> Option<&Buffer<[u32; 2]>> {
        self.ends.as_ref()
    }

    /// Unknowns per node.
    pub fn components(&self) -> usize {
        self.analysis.components()
    }

    /// How kernels see one element type's cells, by material.
    pub fn view(&self, block: &DeviceBlock) -> MeshView {
        let constants = self.constants.isotropic.as_ref().unwrap_or(&self.constants.general);
        MeshView {
            coords: self.coords.view(),
            nodes: block.cells.nodes.view(),
            material: block.material.view(),
            constants: constants.view(),
            thickness: self.constants.thickness,
            around: block.cells.around.view(),
            cells: block.cells.cells.view(),
            reduced: block.cells.kind.is_reduced().into(),
        }
    }

    /// The same with all constants of a cell's material.
    pub fn general_view(&self, block: &DeviceBlock) -> MeshView {
        let material = block.own_constants.as_ref().unwrap_or(&block.material).view();
        MeshView { material, constants: self.constants.general.view(), ..self.view(block) }
    }

    /// `int N_a w (1, x) dV` of each node, w by material, `[n_nodes]`.
    pub fn node_moments(&self, space: &Space, weights: &[f64]) -> Result<Buffer<[f64; 4]>> {
        let mut moments = space.zeros(self.n_nodes)?;
        let density = space.upload(weights)?;
        for block in &self.blocks {
            let kind = block.cells.kind;
            let rule = DeviceRule::new(space, kind, &kind.table().quadrature)?;
            let (rule, mesh) = (rule.view(self.form), self.view(block));
            let (density, out) = (density.view(), moments.view_mut());
            // SAFETY: views of this mesh, of tables of its elements and of vectors of its size, which live until `finish`.
            unsafe { space.run(self.n_nodes, NodeMoments { rule, mesh, density, out }) }?;
            space.finish()?;
        }
        Ok(moments)
    }

    /// `K u` without the matrix and before supports: the internal forces, `[n_nodes][components]`; of some nodes, if
    /// these are given, and at others only what is added to the cells.
    pub fn internal_force(&self, space: &Space, u: &Buffer<f64>, of: Option<&[u32]>) -> Result<Buffer<f64>> {
        self.forces(space, u, of, |_| Eigenstrain::NONE)
    }

    /// `int B^T D eps_th dV`: the forces that would stretch the body as the temperature does, `[n_nodes][components]`;
    /// nothing without temperatures.
    pub fn thermal_force(&self, space: &Space) -> Result<Option<Vec<f64>>> {
        if self.temperature.borrow().is_none() {
            return Ok(None);
        }
        let rest = space.zeros(self.components() * self.n_nodes)?;
        let forces = space.take(self.forces(space, &rest, None, |block| self.eigenstrain(block))?)?;
        Ok(Some(forces.into_iter().map(|force| -force).collect()))
    }

    /// The internal forces of displacements beside some thermal strains.
    fn forces(
        &self,
        space: &Space,
        u: &Buffer<f64>,
        of: Option<&[u32]>,
        eigen: impl Fn(&DeviceBlock) -> Eigenstrain,
    ) -> Result<Buffer<f64>> {
        let mut force = space.zeros(self.components() * self.n_nodes)?;
        let nodes = space.upload(of.unwrap_or_default())?;
        let n = of.map_or(self.n_nodes, <[u32]>::len);
        for block in &self.blocks {
            let eigen = eigen(block);
            let modes = self.amplitudes(space, block, eigen, u)?;
            let (mesh, nodes, f) = (self.general_view(block), nodes.view(), force.view_mut());
            let u = Displacements { nodal: u.view(), modes: modes.view() };
            // SAFETY: views of this mesh and of vectors of its size, which live until `finish`.
            with_general!(self.form, block.cells.kind, P, E => unsafe {
                space.run(n, InternalForce::<E, P>::new(mesh, eigen, nodes, u, f))
            })?;
            space.finish()?;
        }
        if let Some(addition) = &self.addition {
            addition.add_product(space, self.components(), u, &mut force)?;
        }
        Ok(force)
    }
}

fn find_ends(space: &Space, n: usize, blocks: &[CellBlock]) -> Result<Option<Buffer<[u32; 2]>>> {
    if !blocks.iter().any(|block| block.kind.info().is_quadratic()) {
        return Ok(None);
    }
    let mut ends = space.upload_vec(vec![[NONE; 2]; n])?;
    for block in blocks {
        let edges = block.kind.edges();
        let edges: Vec<[u32; 3]> =
            edges.iter().filter_map(|edge| Some([edge[0] as u32, edge[1] as u32, *edge.get(2)? as u32])).collect();
        let edges = space.upload_vec(edges)?;
        let (nodes, offsets, cells) = (block.nodes.view(), block.around.view(), block.cells.view());
        let around = Around { size: block.kind.info().n_nodes, nodes, offsets, cells };
        let of = Cells { around, edges: edges.view() };
        // SAFETY: the topology of this mesh, which lives until `finish`, and an entry for each of its nodes.
        unsafe { space.run(n, FindEnds { of, ends: ends.view_mut() }) }?;
        space.finish()?;
    }
    Ok(Some(ends))
}

fn device_block(space: &Space, model: &Model, cells: CellBlock, constants: &mut Constants) -> Result<DeviceBlock> {
    if !cells.kind.is_solvable() {
        return Err(Error::NotSolvable(cells.kind.info().name));
    }
    Ok(DeviceBlock {
        material: materials_of(space, model, &cells)?,
        own_constants: own_constants(space, (model, 0), &cells, constants)?,
        temperatures: None,
        cells,
    })
}

fn own_constants(
    space: &Space,
    (model, step): (&Model, usize),
    cells: &CellBlock,
    constants: &mut Constants,
) -> Result<Option<Buffer<u32>>> {
    constants.of_cells(model, step, cells.index).map(|of| space.upload_vec(of)).transpose()
}

fn materials_of(space: &Space, model: &Model, cells: &CellBlock) -> Result<Buffer<u32>> {
    let material = &model.cell_material[cells.index];
    assert_eq!(material.len(), cells.n_cells, "the materials of another mesh");
    space.upload(material)
}
