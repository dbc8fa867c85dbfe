//! The numeric phase: stiffness, loads and supports, computed on a backend from a mesh that stays there.

use super::Numbering;
use super::topology::CellBlock;
use crate::backend::{Backend, Buffer, Vector};
use crate::element::ElementKind;
use crate::element::dispatch::{match_element, with_element};
use crate::error::{Error, Result};
use crate::model::{Analysis, Material, Model};
use crate::sparse::Matrix;
use cuda_std::prelude::View;
use kernels_rs::assembly::MeshView;
use kernels_rs::assembly::row_group::{Room, StiffnessRows, lanes};
use kernels_rs::assembly::row_owner::{BodyForce, InternalForce, Stiffness};
use kernels_rs::assembly::supports::Eliminate;
use kernels_rs::for_each_element;
use kernels_rs::real::Real;

/// Whether there is a stiffness for this element type.
pub fn is_solvable(kind: ElementKind) -> bool {
    macro_rules! solvable { ($($Kind:ident),+) => { matches!(kind, $(ElementKind::$Kind)|+) } }
    for_each_element!(solvable)
}

/// The cells of one element type on a backend.
pub struct DeviceBlock<B: Backend> {
    /// Its position in `mesh.cells`.
    pub index: usize,
    /// Element type.
    pub kind: ElementKind,
    /// Number of cells.
    pub n_cells: usize,
    nodes: Vector<B, u32>,
    material: Vector<B, u32>,
    around: Vector<B, u64>,
    cells: Vector<B, u32>,
    slots: Vector<B, u16>,
}

/// A mesh and its materials on a backend, in the solver's numbering.
pub struct DeviceMesh<B: Backend> {
    /// Number of nodes.
    pub n_nodes: usize,
    /// The cells, one entry per element type.
    pub blocks: Vec<DeviceBlock<B>>,
    /// Coordinates, and displacement components, per node.
    pub dim: usize,
    coords: Vector<B, [f64; 3]>,
    lame: Vector<B, [f64; 2]>,
    across: Vector<B, f64>,
    thickness: f64,
}

impl<B: Backend> DeviceMesh<B> {
    /// Copies a model's materials to a backend; `blocks` and `coords` are those of its mesh's topology there.
    pub fn new(backend: &B, model: &Model, blocks: Vec<CellBlock<B>>, coords: Vector<B, [f64; 3]>) -> Result<Self> {
        assert_eq!(coords.len(), model.mesh.coords.len(), "the topology of another mesh");
        let materials = model.materials.iter();
        let (lame, across): (Vec<[f64; 2]>, Vec<f64>) = materials.map(|m| constants(m, model.analysis)).unzip();
        Ok(DeviceMesh {
            n_nodes: coords.len(),
            dim: model.analysis.dim(),
            blocks: blocks.into_iter().map(|b| DeviceBlock::new(backend, model, b)).collect::<Result<_>>()?,
            coords,
            lame: backend.upload(&lame)?,
            across: backend.upload(&across)?,
            thickness: model.thickness,
        })
    }

    /// How kernels see one element type's cells.
    pub fn view(&self, block: &DeviceBlock<B>) -> MeshView {
        MeshView {
            coords: self.coords.view(),
            nodes: block.nodes.view(),
            material: block.material.view(),
            lame: self.lame.view(),
            thickness: self.thickness,
            around: block.around.view(),
            cells: block.cells.view(),
        }
    }

    /// In a plane body the stress across the plane per in-plane dilatation, `[n_materials]`.
    pub fn across(&self) -> View<f64> {
        self.across.view()
    }

    /// Adds the stiffness, before supports, to a matrix of this mesh's pattern in blocks of its dimension.
    pub fn add_stiffness<T: Real>(&self, backend: &B, matrix: &mut Matrix<B, T>) -> Result<()> {
        assert_eq!(
            (matrix.pattern().n_rows, matrix.block_size()),
            (self.n_nodes, self.dim),
            "the matrix of another mesh"
        );
        for block in &self.blocks {
            let (mesh, slots, entries) = (self.view(block), block.slots.view(), matrix.entries());
            let values = matrix.values_mut();
            // SAFETY: views of this mesh and this matrix, which live; a row is written by its owner alone.
            with_element!(block.kind, E => unsafe {
                backend.run(self.n_nodes, Stiffness::<E, T>::new(mesh, slots, entries, values))
            })?;
        }
        Ok(())
    }

    /// Experiment.
    pub fn set_stiffness_rows<T: Real>(&self, backend: &B, matrix: &mut Matrix<B, T>) -> Result<()> {
        let columns: usize = std::env::var("COLUMNS_PER_ROW").map_or(27, |c| c.parse().unwrap());
        let limit: usize = std::env::var("SHARED").map_or(48 << 10, |c| c.parse().unwrap());
        for (i, block) in self.blocks.iter().enumerate() {
            let (mesh, slots, entries) = (self.view(block), block.slots.view(), matrix.entries());
            let values = matrix.values_mut();
            // SAFETY: views of this mesh and this matrix, which live; a row is written by its owner alone.
            with_element!(block.kind, E => unsafe {
                let mut room = Room { columns, rows: 32 };
                while room.rows > 1 && room.rows * room.group_words::<E, T>() * size_of::<T>() > limit {
                    room.rows /= 2;
                }
                let grid = crate::backend::Grid {
                    blocks: self.n_nodes.div_ceil(room.rows),
                    threads: room.rows * lanes::<E>(),
                    shared_bytes: room.rows * room.group_words::<E, T>() * size_of::<T>(),
                };
                backend.launch(grid, StiffnessRows::<E, T>::new(self.n_nodes, room, u32::from(i > 0), mesh, slots, entries, values))
            })?;
        }
        Ok(())
    }

    /// Adds the consistent loads of a force per volume, one per material, to `f [n_nodes][dim]`.
    pub fn add_body_force(&self, backend: &B, force: &[[f64; 3]], f: &mut Vector<B, f64>) -> Result<()> {
        let force = backend.upload(force)?;
        for block in &self.blocks {
            let (mesh, force, f) = (self.view(block), force.view(), f.view_mut());
            // SAFETY: views of this mesh and of vectors of its size, which live.
            with_element!(block.kind, E => unsafe {
                backend.run(self.n_nodes, BodyForce::<E>::new(mesh, force, f))
            })?;
        }
        backend.finish()
    }

    /// `K u` without the matrix and before supports: the internal forces, `[n_nodes][dim]`.
    pub fn internal_force(&self, backend: &B, u: &Vector<B, f64>) -> Result<Vector<B, f64>> {
        let mut force = backend.zeros(self.dim * self.n_nodes)?;
        for block in &self.blocks {
            let (mesh, u, f) = (self.view(block), u.view(), force.view_mut());
            // SAFETY: views of this mesh and of vectors of its size, which live.
            with_element!(block.kind, E => unsafe {
                backend.run(self.n_nodes, InternalForce::<E>::new(mesh, u, f))
            })?;
        }
        Ok(force)
    }
}

impl<B: Backend> DeviceBlock<B> {
    fn new(backend: &B, model: &Model, block: CellBlock<B>) -> Result<Self> {
        if !is_solvable(block.kind) {
            return Err(Error::NotSolvable(block.kind.info().name));
        }
        Ok(DeviceBlock {
            index: block.index,
            kind: block.kind,
            n_cells: block.n_cells,
            nodes: block.nodes,
            material: backend.upload(&model.cell_material[block.index])?,
            around: block.around,
            cells: block.cells,
            slots: block.slots,
        })
    }
}

/// Lame's parameters of a material, and the stress across the plane per in-plane dilatation.
fn constants(material: &Material, analysis: Analysis) -> ([f64; 2], f64) {
    let (lambda, mu) = (material.lambda(), material.mu());
    match analysis {
        Analysis::Elasticity | Analysis::PlaneStrain => ([lambda, mu], lambda),
        // With no stress across, eps_zz = -lambda / (lambda + 2 mu) (eps_xx + eps_yy).
        Analysis::PlaneStress => ([2.0 * lambda * mu / (lambda + 2.0 * mu), mu], 0.0),
    }
}

/// Supports in the solver's numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Supports {
    /// A bit per prescribed component, `[n_nodes]`.
    pub fixed: Vec<u8>,
    /// What is prescribed, `[n_nodes][dim]` flat; 0 where free.
    pub prescribed: Vec<f64>,
    /// Components per node.
    pub dim: usize,
}

impl Supports {
    /// A model's supports.
    pub fn new(model: &Model, numbering: &Numbering) -> Self {
        let (n, dim) = (numbering.len(), model.analysis.dim());
        let mut supports = Supports { fixed: vec![0; n], prescribed: vec![0.0; dim * n], dim };
        for support in &model.supports {
            for node in &support.nodes {
                let row = numbering.to_solver[*node as usize] as usize;
                for (i, value) in support.displacement[..dim].iter().enumerate() {
                    if let Some(value) = value {
                        supports.fixed[row] |= 1 << i;
                        supports.prescribed[dim * row + i] = *value;
                    }
                }
            }
        }
        supports
    }

    /// Whether component `i` of node `row` is prescribed.
    pub fn is_fixed(&self, row: usize, i: usize) -> bool {
        self.fixed[row] >> i & 1 == 1
    }

    /// Applies them to a matrix and its right-hand side `f [n_nodes][dim]`.
    pub fn eliminate<B: Backend, T: Real>(
        &self,
        backend: &B,
        matrix: &mut Matrix<B, T>,
        f: &mut Vector<B, f64>,
    ) -> Result<()> {
        let (fixed, prescribed) = (backend.upload(&self.fixed)?, backend.upload(&self.prescribed)?);
        assert_eq!(matrix.block_size(), self.dim, "the matrix of another analysis");
        let n_rows = matrix.pattern().n_rows;
        let (entries, fixed, prescribed) = (matrix.entries(), fixed.view(), prescribed.view());
        let (values, f) = (matrix.values_mut(), f.view_mut());
        // SAFETY: all live until `finish`, have a row per node, and a row is written by its owner alone.
        unsafe {
            match self.dim {
                2 => backend.run(n_rows, Eliminate::<T, 2>::new(entries, fixed, prescribed, values, f)),
                _ => backend.run(n_rows, Eliminate::<T, 3>::new(entries, fixed, prescribed, values, f)),
            }
        }?;
        backend.finish()
    }
}
