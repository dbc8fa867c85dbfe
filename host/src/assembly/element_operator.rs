//! K as what it is made of, the element matrices: products and steps of iterations without assembling it (FEMSES sec.
//! 4.3).
//!
//! It is K after supports, whose rows and columns are left out instead of eliminated: vectors that it is applied to are
//! 0 in the nodes where a value is prescribed, and so are its products. For conduction alone, one unknown a node.

use super::numeric::{DeviceBlock, DeviceMesh, Supports};
use crate::backend::{Backend, Buffer, CgState, Grid, Scalar, Vector};
use crate::element::dispatch::{match_element, with_element};
use crate::model::Analysis;
use crate::result::Result;
use crate::sparse::Operator;
use cuda_std::launch::{ItemKernel, Items};
use cuda_std::prelude::View;
use kernels_rs::blas::quotient;
use kernels_rs::element::Element;
use kernels_rs::femses::{
    Elements, FemsesInverse, FemsesMatrices, FemsesProduct, FemsesScatter, FemsesUpdate, FemsesWeights, n_packed,
};
use kernels_rs::precond::Step;
use kernels_rs::real::Real;

/// The scalar for sums that nobody reads.
const UNREAD: Scalar = Scalar::new(crate::backend::N_SCALARS - 3);

/// The matrices of a mesh's elements, and the diagonal of their sum.
pub struct ElementOperator<'a, B: Backend, T: Real> {
    mesh: &'a DeviceMesh<B>,
    blocks: Vec<ElementBlock<'a, B, T>>,
    inverse: Vector<B, T>,
}

/// Those of one element type.
struct ElementBlock<'a, B: Backend, T: Real> {
    cells: &'a DeviceBlock<B>,
    /// `[N (N + 1) / 2][n_cells]`
    matrices: Vector<B, T>,
}

impl<'a, B: Backend, T: Real> ElementOperator<'a, B, T> {
    /// Computes the element matrices of conduction, and their weights.
    pub fn new(backend: &B, mesh: &'a DeviceMesh<B>, supports: &Supports) -> Result<Self> {
        assert_eq!(mesh.analysis, Analysis::Laplace, "element matrices of another analysis");
        assert_eq!(supports.fixed.len(), mesh.n_nodes, "the supports of another mesh");
        let matrices = |cells| Ok(ElementBlock { cells, matrices: matrices(backend, mesh, cells)? });
        let blocks = mesh.blocks.iter().map(matrices).collect::<Result<_>>()?;
        let mut operator = ElementOperator { mesh, blocks, inverse: backend.zeros(mesh.n_nodes)? };
        operator.weigh(backend, supports)?;
        Ok(operator)
    }

    /// Sets the inverse of the diagonal.
    fn weigh(&mut self, backend: &B, supports: &Supports) -> Result<()> {
        let n = self.mesh.n_nodes;
        let fixed = backend.upload(&supports.fixed)?;
        let mut weights = backend.zeros::<T>(n)?;
        for block in &self.blocks {
            let (elements, w) = (self.view(block), weights.view_mut());
            // SAFETY: views of this mesh and of a vector of its nodes, which live.
            with_element!(block.cells.cells.kind, E => unsafe {
                backend.run(n, FemsesWeights::<{ E::N }, T>::new(elements, w))
            })?;
        }
        let kernel = FemsesInverse { fixed: fixed.view(), w: weights.view(), inverse: self.inverse.view_mut() };
        // SAFETY: all live until `finish` and have an entry per node.
        unsafe { backend.run(n, kernel) }?;
        backend.finish()
    }

    /// How kernels see the elements of a type.
    fn view(&self, block: &ElementBlock<B, T>) -> Elements<T> {
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
    pub fn inverse_diagonal(&self) -> &Vector<B, T> {
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
        backend: &B,
        blocks: &[ElementBlock<B, T>],
        x: &Vector<B, T>,
        f: Option<View<T>>,
        y: &mut Vector<B, T>,
    ) -> Result<()> {
        self.check_shapes([x.len(), y.len()]);
        let sign = if f.is_some() { -T::ONE } else { T::ONE };
        for (i, block) in blocks.iter().enumerate() {
            let (elements, inverse, adds) = (self.view(block), self.inverse.view(), u32::from(i > 0));
            let (x, y, f) = (x.view(), y.view_mut(), f.filter(|_| i == 0).unwrap_or(View::from_slice(&[])));
            // SAFETY: views of this mesh and of vectors of its nodes, which live.
            with_element!(block.cells.cells.kind, E => unsafe {
                backend.run(self.n(), FemsesProduct::<{ E::N }, T>::new(elements, inverse, x, sign, f, adds, y))
            })?;
        }
        Ok(())
    }

    /// `r = f - K u`.
    pub fn residual(&self, backend: &B, f: &Vector<B, T>, u: &Vector<B, T>, r: &mut Vector<B, T>) -> Result<()> {
        self.check_shapes([f.len()]);
        self.product(backend, &self.blocks, u, Some(f.view()), r)
    }

    /// A step `u_new = a u + b u_old + c D^-1 (f - K u)`; `u_old` becomes u_new. `out` is the square of the norm of
    /// `f - K u`. `scratch` is used where there are several element types.
    ///
    /// # Safety
    /// As [`Operator::apply_step`].
    unsafe fn step(
        &self,
        backend: &B,
        mut step: Step<T>,
        u: &Vector<B, T>,
        scratch: &mut Vector<B, T>,
        out: Scalar,
    ) -> Result<()> {
        self.check_shapes([u.len(), scratch.len(), step.r.len(), step.previous.len()]);
        let Some((last, others)) = self.blocks.split_last() else { return Ok(()) };
        if !others.is_empty() {
            // What the other element types leave of f.
            self.product(backend, others, u, Some(step.r), scratch)?;
            step.r = scratch.view();
        }
        let elements = self.view(last);
        // SAFETY: views of this mesh and of vectors of its nodes, which live, and the caller's promise.
        with_element!(last.cells.cells.kind, E => unsafe {
            backend.femses_gather::<{ E::N }, T>(elements, u, step, out)
        })
    }

    /// An iteration of FEMSES or of what accelerates it: a step from u, into `other`, which holds the u before.
    pub fn gather(
        &self,
        backend: &B,
        factors: [f64; 3],
        f: &Vector<B, T>,
        [u, other, scratch]: [&mut Vector<B, T>; 3],
        out: Scalar,
    ) -> Result<()> {
        let step = Step {
            factors: factors.map(T::from_f64),
            inverse: self.inverse.view(),
            r: f.view(),
            previous: other.view_mut(),
        };
        // SAFETY: all live; `other` and `scratch` are borrowed uniquely, so they are none of the others.
        unsafe { self.step(backend, step, u, scratch, out) }
    }

    /// An iteration of FEMSES as the thesis has it, by atomics in blocks of `threads`, from u into `next`; `sums` is 0
    /// and is left so. `r` receives the residual of u.
    pub fn scatter(
        &self,
        backend: &B,
        threads: usize,
        f: &Vector<B, T>,
        u: &Vector<B, T>,
        [sums, next, r]: [&mut Vector<B, T>; 3],
    ) -> Result<()> {
        self.check_shapes([f.len(), u.len(), sums.len(), next.len(), r.len()]);
        for block in &self.blocks {
            let (elements, u, sums) = (self.view(block), u.view(), sums.view_mut());
            // SAFETY: views of this mesh and of vectors of its nodes, which live; sums are added to by atomics alone.
            with_element!(block.cells.cells.kind, E => unsafe {
                run_in_blocks(backend, elements.n_cells, threads, FemsesScatter::<{ E::N }, T>::new(elements, u, sums))
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
        unsafe { run_in_blocks(backend, self.n(), threads, kernel) }
    }
}

/// The element matrices of a type.
fn matrices<B: Backend, T: Real>(backend: &B, mesh: &DeviceMesh<B>, block: &DeviceBlock<B>) -> Result<Vector<B, T>> {
    let (n_cells, view) = (block.cells.n_cells, mesh.view(block));
    with_element!(block.cells.kind, E => {
        let mut matrices = backend.zeros::<T>(n_packed(E::N) * n_cells)?;
        let kernel = FemsesMatrices::<E, T>::new(n_cells, view, matrices.view_mut());
        // SAFETY: a view of this mesh, and room for every value.
        unsafe { backend.run(E::N * n_cells, kernel) }?;
        Ok(matrices)
    })
}

/// [`Backend::run`] in blocks of a number of threads, where there are blocks.
///
/// # Safety
/// As [`Backend::run`].
unsafe fn run_in_blocks<B: Backend, K: ItemKernel>(backend: &B, n: usize, threads: usize, kernel: K) -> Result<()> {
    // SAFETY: the caller's promise; threads past n do nothing.
    unsafe {
        match B::ON_HOST {
            true => backend.run(n, kernel),
            false => backend.launch(Grid::new(n.div_ceil(threads), threads), Items { n, kernel }),
        }
    }
}

impl<B: Backend, T: Real> Operator<B, T> for ElementOperator<'_, B, T> {
    fn n(&self) -> usize {
        self.mesh.n_nodes
    }

    fn apply(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>) -> Result<()> {
        self.product(backend, &self.blocks, x, None, y)
    }

    fn apply_dot(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>, out: Scalar) -> Result<()> {
        self.apply(backend, x, y)?;
        backend.dot(x, y, out)
    }

    unsafe fn apply_step(
        &self,
        backend: &B,
        step: Step<T>,
        z: &Vector<B, T>,
        scratch: &mut Vector<B, T>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.step(backend, step, z, scratch, UNREAD) }
    }

    /// Twice the diagonal: what rows sum up to where no entry beside it is positive.
    fn row_sums(&self, backend: &B) -> Result<Vector<B, f64>> {
        let inverse = backend.download(&self.inverse)?;
        backend.upload_vec(inverse.iter().map(|inverse| 2.0 * quotient(1.0, inverse.to_f64())).collect())
    }

    fn iterate(&self, _: &B, _: CgState<B, T>) -> Result<bool> {
        Ok(false)
    }
}
