//! Matrices of rectangular blocks while the hierarchy is made: which blocks their products have, and the blocks of
//! their columns.

use crate::device::{Buffer, Plain, check_memory};
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Pattern;
use kernels_rs::amg::blocks::Blocks;
use kernels_rs::amg::pattern::{
    self as device, ColumnKeys, ColumnStarts, CountProducts, CountUpper, CutRows, JoinLists, ListProducts, ListUpper,
    SHARES,
};
use kernels_rs::setup::order::Gather;
use kernels_rs::sparse::PatternView;
use std::ops::Range;
use std::rc::Rc;

/// An array of zeros, if there is room for it.
pub fn zeros<T: Plain>(space: &Space, n: usize) -> Result<Buffer<T>> {
    let purpose = " for a multigrid hierarchy";
    check_memory(space, n as u64 * size_of::<T>() as u64, purpose)?;
    space.zeros(n)
}

/// Which blocks a matrix of rectangular blocks has.
pub struct Shape {
    /// Its rows; columns ascend, or have the diagonal first.
    pub pattern: Pattern,
    /// The block row of each block, `[n_blocks]`.
    pub rows: Buffer<u32>,
    /// Number of block columns.
    pub n_columns: usize,
}

impl Shape {
    /// That of `X Y`, X of n rows, whose `y` has `n_columns` block columns. The diagonal of a square one comes first if
    /// that is asked for.
    pub fn of_product(
        space: &Space,
        (n, x): (usize, PatternView),
        y: PatternView,
        n_columns: usize,
        diagonal_first: bool,
    ) -> Result<Self> {
        let mut candidates = space.zeros(n)?;
        let kernel = CountProducts { most: n_columns as u32, x, y, candidates: candidates.view_mut() };
        // SAFETY: all live, X's columns are Y's rows, and there is a count for each row of X.
        unsafe { space.run(n, kernel) }?;
        let starts = space.exclusive_sum(&candidates)?;
        let mut found = zeros(space, space.read_at(&starts, n)? as usize)?;
        let mut lengths = candidates;
        let kernel = ListProducts { x, y, starts: starts.view(), found: found.view_mut(), lengths: lengths.view_mut() };
        // SAFETY: as above, and there is room for every candidate.
        unsafe { space.run(n, kernel) }?;
        let mut shape = Shape::with_lengths(space, &lengths, n_columns)?;
        let kernel = JoinLists {
            diagonal_first: u32::from(diagonal_first),
            starts: starts.view(),
            found: found.view(),
            row_start: shape.pattern.row_start.view(),
            columns: shape.pattern.columns.view_mut(),
            rows: shape.rows.view_mut(),
        };
        // SAFETY: as above; all live until `finish`.
        unsafe { space.run(n, kernel) }?;
        space.finish()?;
        Ok(shape)
    }

    /// Rows of these lengths, whose blocks are still to be listed.
    pub fn with_lengths(space: &Space, lengths: &Buffer<u32>, n_columns: usize) -> Result<Self> {
        let (n_rows, row_start) = (lengths.len(), space.exclusive_sum(lengths)?);
        let n_blocks = space.read_at(&row_start, n_rows)? as usize;
        let (columns, rows) = (zeros(space, n_blocks)?, zeros(space, n_blocks)?);
        Ok(Shape { pattern: Pattern { n_rows, row_start, columns }, rows, n_columns })
    }

    /// The same of an X whose rows are few and long: on a device of many threads the columns of each row are found in
    /// shares, which are then put together.
    pub fn of_long_rows(
        space: &Space,
        (n, x): (usize, PatternView),
        y: PatternView,
        n_columns: usize,
        diagonal_first: bool,
    ) -> Result<Self> {
        if space.on_host() {
            return Self::of_product(space, (n, x), y, n_columns, diagonal_first);
        }
        let n_shares = n * SHARES;
        let (mut starts, mut row_start) = (space.zeros(n_shares + 1)?, space.zeros(n + 1)?);
        let mut columns = space.zeros(n_shares)?;
        let (of_shares, of_rows) = (starts.view_mut(), row_start.view_mut());
        let kernel = CutRows { x, starts: of_shares, row_start: of_rows, columns: columns.view_mut() };
        // SAFETY: all live, and have an entry per share, or per row, and one more.
        unsafe { space.run(n_shares + 1, kernel) }?;
        let cut = PatternView { row_start: starts.view(), columns: x.columns };
        let found = Self::of_product(space, (n_shares, cut), y, n_columns, false)?;
        let shares = PatternView { row_start: row_start.view(), columns: columns.view() };
        Self::of_product(space, (n, shares), found.pattern.view(), n_columns, diagonal_first)
    }

    /// The blocks on the diagonal and right of it of a matrix that has the diagonal first in each row.
    pub fn upper(space: &Space, square: &Pattern) -> Result<Self> {
        let (n, square) = (square.n_rows, square.view());
        let mut lengths = space.zeros(n)?;
        // SAFETY: all live, and there is a length for each row.
        unsafe { space.run(n, CountUpper { square, lengths: lengths.view_mut() }) }?;
        let mut upper = Shape::with_lengths(space, &lengths, n)?;
        let Pattern { row_start, columns, .. } = &mut upper.pattern;
        let (row_start, columns, rows) = (row_start.view(), columns.view_mut(), upper.rows.view_mut());
        // SAFETY: as above; all live until `finish`.
        unsafe { space.run(n, ListUpper { square, row_start, columns, rows }) }?;
        space.finish()?;
        Ok(upper)
    }

    /// Some of its rows: the others have no blocks.
    pub fn rows(&self, space: &Space, rows: &Range<usize>) -> Result<Self> {
        let (pattern, rows) = self.pattern.rows(space, rows)?;
        Ok(Shape { pattern, rows, n_columns: self.n_columns })
    }

    /// The blocks as kernels see them.
    pub fn blocks(&self) -> Blocks {
        Blocks { rows: self.rows.view(), columns: self.pattern.columns.view() }
    }
}

/// The blocks of each column of a matrix.
pub struct Columns {
    /// Blocks before those of each column, `[n_columns + 1]`.
    pub starts: Buffer<u64>,
    rows: Buffer<u32>,
    places: Buffer<u32>,
}

impl Columns {
    /// Those of a matrix of this shape.
    pub fn new(space: &Space, shape: &Shape) -> Result<Self> {
        let (n_blocks, columns) = (shape.rows.len(), shape.pattern.columns.view());
        let mut keys = zeros(space, n_blocks)?;
        // SAFETY: both live and have an entry per block.
        unsafe { space.run(n_blocks, ColumnKeys { columns, keys: keys.view_mut() }) }?;
        let bits = u64::BITS - (shape.n_columns as u64).leading_zeros();
        let places = space.sort_order(&keys, bits)?;
        let (mut rows, mut starts) = (zeros(space, n_blocks)?, space.zeros(shape.n_columns + 1)?);
        let gather = Gather { index: places.view(), from: shape.rows.view(), out: rows.view_mut() };
        let kernel = ColumnStarts { columns, places: places.view(), starts: starts.view_mut() };
        // SAFETY: as above; places are those of blocks, and there is a start for each column; all live until `finish`.
        unsafe {
            space.run(n_blocks, gather)?;
            space.run(shape.n_columns + 1, kernel)?;
        }
        space.finish()?;
        Ok(Columns { starts, rows, places })
    }

    /// How kernels see them.
    pub fn view(&self) -> device::Lists {
        device::Lists { starts: self.starts.view(), rows: self.rows.view(), places: self.places.view() }
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.starts.bytes() + self.rows.bytes() + self.places.bytes()
    }

    /// The columns as rows: the pattern of the transposed matrix.
    pub fn transposed(&self) -> PatternView {
        PatternView { row_start: self.starts.view(), columns: self.rows.view() }
    }
}

/// A matrix of rectangular blocks.
pub struct BlockRows<T: Plain> {
    /// Which blocks.
    pub shape: Rc<Shape>,
    /// `[n_blocks][columns][rows]`.
    pub values: Buffer<T>,
    /// Rows of a block.
    pub rows: usize,
    /// Columns of a block.
    pub columns: usize,
}

impl<T: Plain> BlockRows<T> {
    /// A matrix of zeros.
    pub fn zeros(space: &Space, shape: &Rc<Shape>, [rows, columns]: [usize; 2]) -> Result<Self> {
        let values = zeros(space, shape.rows.len() * rows * columns)?;
        Ok(BlockRows { shape: shape.clone(), values, rows, columns })
    }

    /// Bytes of its values and of which blocks it has.
    pub fn bytes(&self) -> u64 {
        let Shape { pattern: Pattern { row_start, columns, .. }, rows, .. } = &*self.shape;
        self.values.bytes() + rows.bytes() + columns.bytes() + row_start.bytes()
    }

    /// Rows of its blocks, all of them.
    pub fn n_items(&self) -> usize {
        self.shape.rows.len() * self.rows
    }

    /// How kernels see it.
    pub fn view(&self) -> kernels_rs::amg::blocks::BlockRows<T> {
        let (pattern, values) = (self.shape.pattern.view(), self.values.view());
        kernels_rs::amg::blocks::BlockRows { pattern, values, rows: self.rows, columns: self.columns }
    }
}
