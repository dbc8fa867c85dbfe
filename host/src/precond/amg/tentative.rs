//! The modes that cost no energy, and the tentative prolongator that they make: see [`kernels_rs::amg::modes`].

use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns, Shape};
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::modes::{Centre, FactoriseProducts, ModeProducts, OrthonormalModes, RigidModes};
use kernels_rs::amg::pattern::{CountMembers, ListMembers};

/// The modes at the nodes of a level.
pub struct Modes<B: Backend> {
    /// How many there are.
    pub number: usize,
    /// `[n][size][number]`.
    values: Vector<B, f64>,
}

impl<B: Backend> Modes<B> {
    /// The rigid motions of a body with `size` components at nodes with these coordinates, or the constant. Without coordinates there are
    /// no rotations: they are 0. `free` has a bit for each component that is not supported.
    pub fn rigid(
        backend: &B,
        size: usize,
        coords: Option<&Vector<B, [f64; 3]>>,
        free: &Vector<B, u8>,
    ) -> Result<Self> {
        let (n, number) = (free.len(), size * (size + 1) / 2);
        let nowhere = if coords.is_none() { Some(backend.zeros(n)?) } else { None };
        let Some(coords) = coords.or(nowhere.as_ref()) else { unreachable!("one or the other is there") };
        let x = if n > 0 { backend.read_at(coords, 0)? } else { [0.0; 3] };
        let mut values = super::blocks::zeros(backend, n * size * number)?;
        let kernel = RigidModes {
            about: Centre { x },
            size,
            coords: coords.view(),
            free: free.view(),
            modes: values.view_mut(),
        };
        // SAFETY: all live until `finish` and have the nodes of the level.
        unsafe { backend.run(n, kernel) }?;
        backend.finish()?;
        Ok(Modes { number, values })
    }

    /// The modes as they are, `[n][size][number]`.
    pub fn values(&self) -> &Vector<B, f64> {
        &self.values
    }

    /// The tentative prolongator, and the modes on the next level.
    pub fn orthonormalised(
        &self,
        backend: &B,
        size: usize,
        aggregates: &Aggregates<B>,
    ) -> Result<(BlockRows<B, f64>, Modes<B>)> {
        let n_modes = self.number;
        let shape = members(backend, aggregates)?;
        let columns = Columns::new(backend, &shape)?;
        let mut prolongator = BlockRows::zeros(backend, shape, [size, n_modes])?;
        let n_products = aggregates.number * n_modes * n_modes;
        let mut products = super::blocks::zeros(backend, n_products)?;
        let (modes, to) = (self.values.view(), products.view_mut());
        let members = columns.view();
        // SAFETY: all live until `finish`; a place for every entry.
        unsafe {
            backend.run(n_products, ModeProducts { size, n_modes, members, modes, products: to })?;
            backend.run(aggregates.number, FactoriseProducts { n_modes, products: to })?;
        }
        let kernel = OrthonormalModes {
            size,
            n_modes,
            aggregates: prolongator.shape.pattern.view(),
            modes,
            factors: products.view(),
            values: prolongator.values.view_mut(),
        };
        // SAFETY: as above.
        unsafe { backend.run(aggregates.of_nodes.len() * size, kernel) }?;
        backend.finish()?;
        Ok((prolongator, Modes { number: n_modes, values: products }))
    }
}

/// A row for each node: its aggregate, or nothing.
fn members<B: Backend>(backend: &B, aggregates: &Aggregates<B>) -> Result<Shape<B>> {
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
