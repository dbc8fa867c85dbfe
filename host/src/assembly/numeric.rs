//! The numeric phase: stiffness, loads and supports, computed on a backend from a mesh that stays there.

use super::Numbering;
use super::symbolic::Block;
use crate::backend::{Backend, Buffer, Vector};
use crate::element::ElementKind;
use crate::element::dispatch::{match_element, with_element};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::sparse::Matrix;
use kernels_rs::assembly::MeshView;
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
    coords: Vector<B, [f64; 3]>,
    lame: Vector<B, [f64; 2]>,
}

impl<B: Backend> DeviceMesh<B> {
    /// Copies a model's mesh and materials to a backend; `numbering` and `blocks` are those of its mesh.
    pub fn upload(backend: &B, model: &Model, numbering: &Numbering, blocks: Vec<Block>) -> Result<Self> {
        assert_eq!(numbering.len(), model.mesh.coords.len(), "the numbering of another mesh");
        let lame: Vec<[f64; 2]> = model.materials.iter().map(|m| [m.lambda(), m.mu()]).collect();
        Ok(DeviceMesh {
            n_nodes: numbering.len(),
            blocks: blocks.into_iter().map(|b| DeviceBlock::upload(backend, model, b)).collect::<Result<_>>()?,
            coords: backend.upload_vec(numbering.gather(&model.mesh.coords))?,
            lame: backend.upload(&lame)?,
        })
    }

    /// How kernels see one element type's cells.
    pub fn view(&self, block: &DeviceBlock<B>) -> MeshView {
        MeshView {
            coords: self.coords.view(),
            nodes: block.nodes.view(),
            material: block.material.view(),
            lame: self.lame.view(),
            around: block.around.view(),
            cells: block.cells.view(),
        }
    }

    /// Adds the stiffness, before supports, to a matrix of this mesh's pattern in 3x3 blocks.
    pub fn add_stiffness<T: Real>(&self, backend: &B, matrix: &mut Matrix<B, T>) -> Result<()> {
        assert_eq!((matrix.pattern().n_rows, matrix.block_size()), (self.n_nodes, 3), "the matrix of another mesh");
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

    /// Adds the consistent loads of a force per volume, one per material, to `f [n_nodes][3]`.
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

    /// `K u` without the matrix and before supports: the internal forces, `[n_nodes][3]`.
    pub fn internal_force(&self, backend: &B, u: &Vector<B, f64>) -> Result<Vector<B, f64>> {
        let mut force = backend.zeros(3 * self.n_nodes)?;
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
    fn upload(backend: &B, model: &Model, block: Block) -> Result<Self> {
        if !is_solvable(block.kind) {
            return Err(Error::NotSolvable(block.kind.info().name));
        }
        Ok(DeviceBlock {
            index: block.index,
            kind: block.kind,
            n_cells: model.mesh.cells[block.index].len(),
            nodes: backend.upload_vec(block.nodes)?,
            material: backend.upload(&model.cell_material[block.index])?,
            around: backend.upload_vec(block.around.offsets)?,
            cells: backend.upload_vec(block.around.cells)?,
            slots: backend.upload_vec(block.slots)?,
        })
    }
}

/// Supports in the solver's numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Supports {
    /// A bit per prescribed component, `[n_nodes]`.
    pub fixed: Vec<u8>,
    /// What is prescribed, `[n_nodes][3]` flat; 0 where free.
    pub prescribed: Vec<f64>,
}

impl Supports {
    /// A model's supports.
    pub fn new(model: &Model, numbering: &Numbering) -> Self {
        let n = numbering.len();
        let mut supports = Supports { fixed: vec![0; n], prescribed: vec![0.0; 3 * n] };
        for support in &model.supports {
            for node in &support.nodes {
                let row = numbering.to_solver[*node as usize] as usize;
                for (i, value) in support.displacement.iter().enumerate() {
                    if let Some(value) = value {
                        supports.fixed[row] |= 1 << i;
                        supports.prescribed[3 * row + i] = *value;
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

    /// Applies them to a matrix and its right-hand side `f [n_nodes][3]`.
    pub fn eliminate<B: Backend, T: Real>(
        &self,
        backend: &B,
        matrix: &mut Matrix<B, T>,
        f: &mut Vector<B, f64>,
    ) -> Result<()> {
        let (fixed, prescribed) = (backend.upload(&self.fixed)?, backend.upload(&self.prescribed)?);
        let kernel = Eliminate {
            entries: matrix.entries(),
            fixed: fixed.view(),
            prescribed: prescribed.view(),
            values: matrix.values_mut(),
            f: f.view_mut(),
        };
        // SAFETY: all live until `finish`, have a row per node, and a row is written by its owner alone.
        unsafe { backend.run(matrix.pattern().n_rows, kernel) }?;
        backend.finish()
    }
}
