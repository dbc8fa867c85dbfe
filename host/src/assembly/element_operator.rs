//! K as what it is made of, the element matrices: products and steps of iterations without assembling it (FEMSES sec.
//! 4.3).
//!
//! It is K after supports, whose rows and columns are left out instead of eliminated: vectors that it is applied to are
//! 0 in the nodes where a value is prescribed, and so are its products. For conduction alone, one unknown a node.

use super::Supports;
use super::numeric::{DeviceBlock, DeviceMesh};
use crate::device::{Buffer, Grid};
use crate::element::dispatch::{match_element, with_paper_element};
use crate::linalg::{Scalar, Space};
use crate::result::Result;
use crate::sparse::{Epilogue, LinOp};
use cuda_std::prelude::View;
use cuda_std::prelude::{ItemKernel, Items};
use kernels_rs::blas::quotient;
use kernels_rs::element::Element;
use kernels_rs::femses::{
    Elements, FemsesGather, FemsesInverse, FemsesMatrices, FemsesProduct, FemsesScatter, FemsesUpdate, FemsesWeights,
    n_packed,
};
use kernels_rs::precond::Step;
use kernels_rs::real::Real;

/// The scalar for sums that nobody reads.
const UNREAD: Scalar = Scalar::new(crate::linalg::N_SCALARS - 3);

/// The matrices of a mesh's elements, and the diagonal of their sum.
pub struct ElementOperator<'a, T: Real> {
    mesh: &'a DeviceMesh,
    blocks: Vec<ElementBlock<'a, T>>,
    inverse: Buffer<T>,
}

struct ElementBlock<'a, T: Real> {
    cells: &'a DeviceBlock,
    /// `[N (N + 1) / 2][n_cells]`
    matrices: Buffer<T>,
}

impl<'a, T: Real> ElementOperator<'a, T> {
    /// Computes the element matrices of conduction, and their weights.
    pub fn new(space: &Space, mesh: &'a DeviceMesh, supports: &Supports) -> Result<Self> {
        assert!(mesh.form.physics.is_scalar(), "element matrices of another analysis");
        assert_eq!(supports.fixed.len(), mesh.n_nodes, "the supports of another mesh");
        let matrices = |cells| Ok(ElementBlock { cells, matrices: matrices(space, mesh, cells)? });
        let blocks = mesh.blocks.iter().map(matrices).collect::<Result<_>>()?;
        let mut operator = ElementOperator { mesh, blocks, inverse: space.zeros(mesh.n_nodes)? };
        operator.weigh(space, supports)?;
        Ok(operator)
    }

    /// Sets the inverse of the diagonal.
    fn weigh(&mut self, space: &Space, supports: &Supports) -> Result<()> {
        let n = self.mesh.n_nodes;
        let fixed = space.upload(&supports.fixed)?;
        let mut weights = space.zeros::<T>(n)?;
        for block in &self.blocks {
            let (elements, w) = (self.view(block), weights.view_mut());
            // SAFETY: views of this mesh and of a vector of its nodes, which live.
            with_paper_element!(block.cells.cells.kind, E => unsafe {
                space.run(n, FemsesWeights::<{ E::N }, T>::new(elements, w))
            })?;
        }
        let kernel = FemsesInverse { fixed: fixed.view(), w: weights.view(), inverse: self.inverse.view_mut() };
        // SAFETY: all live until `finish` and have an entry per node.
        unsafe { space.run(n, kernel) }?;
        space.finish()
    }

    fn view(&self, block: &ElementBlock<T>) -> Elements<T> {
        let mesh = self.mesh.view(block.cells);
        Elements {
            matrices: block.matrices.view(),
            n_cells: block.cells.cells.n_cells,
            nodes: mesh.nodes,
            around: mesh.around,
            cells: mesh.cells,
        }
    }

    /// The inverse of the diagonal, `[n_nodes]`; 0 where a value is prescribed.
    pub fn inverse_diagonal(&self) -> &Buffer<T> {
        &self.inverse
    }

    /// Bytes of the element matrices.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| size_of::<T>() * block.matrices.len()).sum()
    }

    /// Panics unless these are the lengths of vectors of the mesh.
    fn check_shapes<const M: usize>(&self, lengths: [usize; M]) {
        let n = self.mesh.n_nodes;
        assert!(lengths == [n; M], "vectors of {lengths:?} entries, and the mesh has {n} nodes");
    }

    /// `y = K x` over some of the element types, or with an f `y = f - K x`.
    fn product(
        &self,
        space: &Space,
        blocks: &[ElementBlock<T>],
        x: &Buffer<T>,
        f: Option<View<T>>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        self.check_shapes([x.len(), y.len()]);
        let sign = if f.is_some() { -T::ONE } else { T::ONE };
        for (i, block) in blocks.iter().enumerate() {
            let (elements, inverse, adds) = (self.view(block), self.inverse.view(), u32::from(i > 0));
            let (x, y, f) = (x.view(), y.view_mut(), f.filter(|_| i == 0).unwrap_or(View::from_slice(&[])));
            // SAFETY: views of this mesh and of vectors of its nodes, which live.
            with_paper_element!(block.cells.cells.kind, E => unsafe {
                space.run(self.n(), FemsesProduct::<{ E::N }, T>::new(elements, inverse, x, sign, f, adds, y))
            })?;
        }
        Ok(())
    }

    /// `r = f - K u`.
    pub fn residual(&self, space: &Space, f: &Buffer<T>, u: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        self.check_shapes([f.len()]);
        self.product(space, &self.blocks, u, Some(f.view()), r)
    }

    /// A step `u_new = a u + b u_old + c D^-1 (f - K u)`; `u_old` becomes u_new. `out` is the square of the norm of
    /// `f - K u`. `scratch` is used where there are several element types.
    ///
    /// # Safety
    /// What [`Epilogue::Step`] says.
    unsafe fn step(
        &self,
        space: &Space,
        mut step: Step<T>,
        u: &Buffer<T>,
        scratch: &mut Buffer<T>,
        out: Scalar,
    ) -> Result<()> {
        self.check_shapes([u.len(), scratch.len(), step.r.len(), step.previous.len()]);
        let Some((last, others)) = self.blocks.split_last() else { return Ok(()) };
        if !others.is_empty() {
            // What the other element types leave of f.
            self.product(space, others, u, Some(step.r), scratch)?;
            step.r = scratch.view();
        }
        let elements = self.view(last);
        // SAFETY: views of this mesh and of vectors of its nodes, which live, and the caller's promise.
        with_paper_element!(last.cells.cells.kind, E => unsafe {
            let (n, u) = (u.len(), u.view());
            let on_gpu = |to| FemsesGather::<{ E::N }, T>::new(n, elements, u, step, to);
            space.sum(n, [out], on_gpu, |rows| [rows.map(|row| elements.step::<{ E::N }>(row, u, step)).sum()])
        })
    }

    /// An iteration of FEMSES or of what accelerates it: a step from u, into `other`, which holds the u before.
    pub fn gather(
        &self,
        space: &Space,
        factors: [f64; 3],
        f: &Buffer<T>,
        [u, other, scratch]: [&mut Buffer<T>; 3],
        out: Scalar,
    ) -> Result<()> {
        let step = Step {
            factors: factors.map(T::from_f64),
            inverse: self.inverse.view(),
            r: f.view(),
            previous: other.view_mut(),
        };
        // SAFETY: all live; `other` and `scratch` are borrowed uniquely, so they are none of the others.
        unsafe { self.step(space, step, u, scratch, out) }
    }

    /// An iteration of FEMSES as the thesis has it, by atomics in blocks of `threads`, from u into `next`; `sums` is 0
    /// and is left so. `r` receives the residual of u.
    pub fn scatter(
        &self,
        space: &Space,
        threads: usize,
        f: &Buffer<T>,
        u: &Buffer<T>,
        [sums, next, r]: [&mut Buffer<T>; 3],
    ) -> Result<()> {
        self.check_shapes([f.len(), u.len(), sums.len(), next.len(), r.len()]);
        for block in &self.blocks {
            let (elements, u, sums) = (self.view(block), u.view(), sums.view_mut());
            // SAFETY: views of this mesh and of vectors of its nodes, which live; sums are added to by atomics alone.
            with_paper_element!(block.cells.cells.kind, E => unsafe {
                run_in_blocks(space, elements.n_cells, threads, FemsesScatter::<{ E::N }, T>::new(elements, u, sums))
            })?;
        }
        let kernel = FemsesUpdate {
            f: f.view(),
            inverse: self.inverse.view(),
            u: u.view(),
            sums: sums.view_mut(),
            next: next.view_mut(),
            r: r.view_mut(),
        };
        // SAFETY: as above; the three are borrowed uniquely.
        unsafe { run_in_blocks(space, self.n(), threads, kernel) }
    }
}

fn matrices<T: Real>(space: &Space, mesh: &DeviceMesh, block: &DeviceBlock) -> Result<Buffer<T>> {
    let (n_cells, view) = (block.cells.n_cells, mesh.view(block));
    with_paper_element!(block.cells.kind, E => {
        let mut matrices = space.zeros::<T>(n_packed(E::N) * n_cells)?;
        let kernel = FemsesMatrices::<E, T>::new(n_cells, view, matrices.view_mut());
        // SAFETY: a view of this mesh, and room for every value.
        unsafe { space.run(E::N * n_cells, kernel) }?;
        Ok(matrices)
    })
}

/// [`crate::device::Device::run`] in blocks of a number of threads, where there are blocks.
///
/// # Safety
/// As [`crate::device::Device::run`].
unsafe fn run_in_blocks<K: ItemKernel>(space: &Space, n: usize, threads: usize, kernel: K) -> Result<()> {
    // SAFETY: the caller's promise; threads past n do nothing.
    unsafe {
        match space.on_host() {
            true => space.run(n, kernel),
            false => space.launch(Grid::new(n.div_ceil(threads), threads), Items { n, kernel }),
        }
    }
}

impl<T: Real> LinOp<T> for ElementOperator<'_, T> {
    fn n(&self) -> usize {
        self.mesh.n_nodes
    }

    fn apply(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        self.product(space, &self.blocks, x, None, y)
    }

    unsafe fn apply_then(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>, then: Epilogue<T>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            match then {
                Epilogue::Step(step) => self.step(space, step, x, y, UNREAD),
                _ => {
                    self.apply(space, x, y)?;
                    then.after(space, x, y)
                }
            }
        }
    }

    /// Twice the diagonal: what rows sum up to where no entry beside it is positive.
    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        let inverse = space.download(&self.inverse)?;
        space.upload_vec(inverse.iter().map(|inverse| 2.0 * quotient(1.0, inverse.to_f64())).collect())
    }
}
