//! The modes that cost no energy, and the tentative prolongator that they make: see [`kernels_rs::amg::modes`].

use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns, Shape, zeros};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::{Error, Result};
use crate::sparse::Pattern;
use kernels_rs::amg::modes::{Centre, Centroids, FactoriseProducts, ModeProducts, OrthonormalModes, RigidModes};
use kernels_rs::amg::pattern::{CountMembers, ListMembers};
use std::rc::Rc;

/// Most modes, and the numbers of them that coarse matrices have blocks of.
const MOST: usize = 6;
const NUMBERS: [usize; 4] = [1, 2, 3, MOST];

/// The modes at the nodes of a level.
pub struct Modes {
    /// How many there are.
    pub number: usize,
    /// `[n][size][number]`.
    pub values: Buffer<f64>,
}

impl Modes {
    /// The rigid motions of a body with `size` components at nodes at `coords`, or the constant. `free` has a bit for
    /// each component that is not supported. Where all nodes are at one point there are no rotations: they are 0.
    pub fn rigid(space: &Space, size: usize, coords: &Buffer<[f64; 3]>, free: &Buffer<u8>) -> Result<Self> {
        let (n, number) = (free.len(), Self::rigid_number(size));
        // About one point on all ranks.
        let mut x = if n > 0 { space.read_at(coords, 0)? } else { [0.0; 3] };
        space.largest_of_ranks(&mut x)?;
        let mut values = zeros(space, n * size * number)?;
        let (coords, free, modes) = (coords.view(), free.view(), values.view_mut());
        // SAFETY: all live until `finish` and have the nodes of the level.
        unsafe { space.run(n, RigidModes { about: Centre { x }, size, coords, free, modes }) }?;
        space.finish()?;
        Ok(Modes { number, values })
    }

    /// Modes that are given, `[n][size][columns]`; between them and the next number that matrices have blocks of are zeros,
    /// which a level leaves out.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] of more than six.
    pub fn given(space: &Space, columns: usize, values: &[f64]) -> Result<Self> {
        let Some(number) = NUMBERS.into_iter().find(|number| *number >= columns) else {
            return Err(Error::TooLarge(format!("{columns} modes of a near-nullspace, and there can be {MOST}")));
        };
        let padded = values.chunks_exact(columns.max(1)).flat_map(|row| {
            let zeros = std::iter::repeat_n(0.0, number - columns);
            row.iter().copied().chain(zeros)
        });
        Ok(Modes { number, values: space.upload_vec(padded.collect())? })
    }

    /// The same with 0 in supported components; `free` as for [`Modes::rigid`].
    pub fn supported(&self, space: &Space, size: usize, free: &Buffer<u8>) -> Result<Self> {
        let (mut values, free) = (space.download(&self.values)?, space.download(free)?);
        for (row, values) in values.chunks_exact_mut(self.number).enumerate() {
            if free[row / size] >> (row % size) & 1 == 0 {
                values.fill(0.0);
            }
        }
        Ok(Modes { number: self.number, values: space.upload_vec(values)? })
    }

    /// How many rigid motions a body with `size` components has; or constants.
    pub fn rigid_number(size: usize) -> usize {
        size * (size + 1) / 2
    }

    /// The tentative prolongator, whose columns have these blocks, and the modes on the next level.
    pub fn orthonormalised(
        &self,
        space: &Space,
        size: usize,
        shape: Shape,
        columns: &Columns,
    ) -> Result<(BlockRows<f64>, Modes)> {
        let (n_modes, n_rows, number) = (self.number, shape.pattern.n_rows, shape.n_columns);
        let mut prolongator = BlockRows::zeros(space, &Rc::new(shape), [size, n_modes])?;
        let n_products = number * n_modes * n_modes;
        let mut products = zeros(space, n_products)?;
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
            space.run(n_products, ModeProducts { size, n_modes, members, modes, products: to })?;
            space.run(number, FactoriseProducts { n_modes, products: to })?;
            space.run(n_rows * size, kernel)?;
        }
        space.finish()?;
        Ok((prolongator, Modes { number: n_modes, values: products }))
    }
}

/// The centroids of aggregates, whose nodes are the blocks of the columns.
pub fn centroids(space: &Space, n: usize, columns: &Columns, coords: &Buffer<[f64; 3]>) -> Result<Buffer<[f64; 3]>> {
    let mut found = space.zeros(n)?;
    let kernel = Centroids { members: columns.view(), coords: coords.view(), centroids: found.view_mut() };
    // SAFETY: all live until `finish`; members are nodes.
    unsafe { space.run(n, kernel) }?;
    space.finish()?;
    Ok(found)
}

/// A row for each node: its aggregate, or nothing.
pub fn members(space: &Space, aggregates: &Aggregates) -> Result<Shape> {
    let (n, of_nodes) = (aggregates.of_nodes.len(), aggregates.of_nodes.view());
    let mut counts = space.zeros(n)?;
    // SAFETY: both live and have an entry per node.
    unsafe { space.run(n, CountMembers { aggregates: of_nodes, counts: counts.view_mut() }) }?;
    let mut shape = Shape::with_lengths(space, &counts, aggregates.number)?;
    let Pattern { row_start, columns, .. } = &mut shape.pattern;
    let (row_start, columns, rows) = (row_start.view(), columns.view_mut(), shape.rows.view_mut());
    // SAFETY: as above, and a place for every member; all live until `finish`.
    unsafe { space.run(n, ListMembers { aggregates: of_nodes, row_start, columns, rows }) }?;
    space.finish()?;
    Ok(shape)
}
