//! The modes that cost no energy, and the tentative prolongator that they make: see [`kernels_rs::amg::modes`].

use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns, Shape, zeros};
use crate::backend::{Backend, Buffer, Vector};
use crate::result::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::modes::{Centre, Centroids, FactoriseProducts, ModeProducts, OrthonormalModes, RigidModes};
use kernels_rs::amg::pattern::{CountMembers, ListMembers};
use std::rc::Rc;

/// The modes at the nodes of a level.
pub struct Modes<B: Backend> {
    /// How many there are.
    pub number: usize,
    /// `[n][size][number]`.
    values: Vector<B, f64>,
}

impl<B: Backend> Modes<B> {
    /// The rigid motions of a body with `size` components at nodes at `coords`, or the constant. `free` has a bit for
    /// each component that is not supported. Where all nodes are at one point there are no rotations: they are 0.
    pub fn rigid(backend: &B, size: usize, coords: &Vector<B, [f64; 3]>, free: &Vector<B, u8>) -> Result<Self> {
        let (n, number) = (free.len(), Self::rigid_number(size));
        let x = if n > 0 { backend.read_at(coords, 0)? } else { [0.0; 3] };
        let mut values = zeros(backend, n * size * number)?;
        let (coords, free, modes) = (coords.view(), free.view(), values.view_mut());
        // SAFETY: all live until `finish` and have the nodes of the level.
        unsafe { backend.run(n, RigidModes { about: Centre { x }, size, coords, free, modes }) }?;
        backend.finish()?;
        Ok(Modes { number, values })
    }

    /// How many rigid motions a body with `size` components has; or constants.
    pub fn rigid_number(size: usize) -> usize {
        size * (size + 1) / 2
    }

    /// The modes as they are, `[n][size][number]`.
    pub fn values(&self) -> &Vector<B, f64> {
        &self.values
    }

    /// The tentative prolongator, whose columns have these blocks, and the modes on the next level.
    pub fn orthonormalised(
        &self,
        backend: &B,
        size: usize,
        shape: Shape<B>,
        columns: &Columns<B>,
    ) -> Result<(BlockRows<B, f64>, Modes<B>)> {
        let (n_modes, n_rows, number) = (self.number, shape.pattern.n_rows, shape.n_columns);
        let mut prolongator = BlockRows::zeros(backend, &Rc::new(shape), [size, n_modes])?;
        let n_products = number * n_modes * n_modes;
        let mut products = zeros(backend, n_products)?;
        let (members, modes, to) = (columns.view(), self.values.view(), products.view_mut());
        let kernel = OrthonormalModes {
            size,
            n_modes,
            aggregates: prolongator.shape.pattern.view(),
            modes,
            factors: to.as_view(),
            values: prolongator.values.view_mut(),
        };
        // SAFETY: all live until `finish`; a place for every entry.
        unsafe {
            backend.run(n_products, ModeProducts { size, n_modes, members, modes, products: to })?;
            backend.run(number, FactoriseProducts { n_modes, products: to })?;
            backend.run(n_rows * size, kernel)?;
        }
        backend.finish()?;
        Ok((prolongator, Modes { number: n_modes, values: products }))
    }
}

/// The centroids of aggregates, whose nodes are the blocks of the columns.
pub fn centroids<B: Backend>(
    backend: &B,
    number: usize,
    columns: &Columns<B>,
    coords: &Vector<B, [f64; 3]>,
) -> Result<Vector<B, [f64; 3]>> {
    let mut found = backend.zeros(number)?;
    let kernel = Centroids { members: columns.view(), coords: coords.view(), centroids: found.view_mut() };
    // SAFETY: all live until `finish`; members are nodes.
    unsafe { backend.run(number, kernel) }?;
    backend.finish()?;
    Ok(found)
}

/// A row for each node: its aggregate, or nothing.
pub fn members<B: Backend>(backend: &B, aggregates: &Aggregates<B>) -> Result<Shape<B>> {
    let (n, of_nodes) = (aggregates.of_nodes.len(), aggregates.of_nodes.view());
    let mut counts = backend.zeros(n)?;
    // SAFETY: both live and have an entry per node.
    unsafe { backend.run(n, CountMembers { aggregates: of_nodes, counts: counts.view_mut() }) }?;
    let row_start = backend.exclusive_sum(&counts)?;
    let n_members = backend.read_at(&row_start, n)? as usize;
    let (mut columns, mut rows) = (backend.zeros(n_members)?, backend.zeros(n_members)?);
    let kernel = ListMembers {
        aggregates: of_nodes,
        row_start: row_start.view(),
        columns: columns.view_mut(),
        rows: rows.view_mut(),
    };
    // SAFETY: as above, and a place for every member; all live until `finish`.
    unsafe { backend.run(n, kernel) }?;
    backend.finish()?;
    Ok(Shape { pattern: Pattern { n_rows: n, row_start, columns }, rows, n_columns: aggregates.number })
}
