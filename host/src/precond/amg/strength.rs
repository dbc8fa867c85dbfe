//! Which couplings of a level are strong: by the Frobenius norms of its blocks, and by the nodes' distances d,
//!
//! ```text
//! |A_ij|_F^2 >= theta_l^2 |A_ii|_F |A_jj|_F,   theta_l = 0.02 / 2^l on level l;   d_ij^2 <= 5^2 d_i d_j
//! ```
//!
//! (the first by Vanek, Mandel, Brezina 1996, sec. 4), d_i being the distance to the nearest node that shares an
//! element; and each node's strongest coupling in any case, if possible one that is not long. Between aggregates 2.5
//! stands for 5: their distances vary, and aggregates that grow from one layer into the next hide how slender a body of
//! stretched elements is. With 5, such a body of 24 x 24 x 24 hex8, 20:1, takes 42 iterations, not 16.
//!
//! Theirs has theta = 0.08, which takes some of the couplings of regular meshes of tetrahedra for weak, and makes twice
//! as many aggregates.

use super::fine::{Fine, Slab};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::amg::strength::{Couplings, FindStrengths, Graph, MeasureRows, Measures};
use kernels_rs::real::Real;
use kernels_rs::sparse::PatternView;

/// theta on the finest level.
const THRESHOLD: f64 = 0.02;

/// Couplings this many times as long as the nearest ones are weak: between nodes of the mesh.
pub const REACH: f64 = 5.0;
/// And between aggregates.
pub const COARSE_REACH: f64 = 2.5;

/// The strong couplings of a level.
pub struct Strength {
    pub(super) strengths: Buffer<f32>,
    /// A bit for each component that is coupled to any other, `[n_rows]`.
    pub free: Buffer<u8>,
    /// Whether a node is coupled to others, `[n_rows]`.
    pub linked: Buffer<u8>,
}

impl Strength {
    /// Those of the matrix of level `level`, whose nodes are at `coords`, `[n_rows]`; couplings longer than `reach` times
    /// the nearest ones are weak.
    pub fn new<R: Real>(
        space: &Space,
        fine: &Fine<R>,
        coords: &Buffer<[f64; 3]>,
        level: usize,
        reach: f64,
    ) -> Result<Self> {
        let n = fine.pattern.n_rows;
        assert_eq!(coords.len(), n, "the nodes of another matrix");
        let coords = coords.view();
        let (mut norms, mut nearest) = (space.zeros(n)?, space.zeros(n)?);
        let mut found = Strength {
            strengths: space.zeros(fine.pattern.n_blocks())?,
            free: space.zeros(n)?,
            linked: space.zeros(n)?,
        };
        fine.for_each_slab(space, &mut |Slab { entries, values, .. }| {
            let (norms, nearest) = (norms.view_mut(), nearest.view_mut());
            // SAFETY: here and below there is a place for each row and block; what is freed is freed in its order.
            unsafe { space.run(n, MeasureRows { entries, values, coords, norms, nearest }) }
        })?;
        let threshold = (THRESHOLD / (1u64 << level) as f64).powi(2);
        let by = Measures { coords, norms: norms.view(), nearest: nearest.view(), threshold, reach };
        fine.for_each_slab(space, &mut |Slab { entries, values, rows }| {
            let to = Couplings {
                strengths: found.strengths.view_mut().part(fine.pattern.range(space, &rows)?),
                free: found.free.view_mut(),
                linked: found.linked.view_mut(),
            };
            // SAFETY: as above.
            unsafe { space.run(n, FindStrengths { entries, values, by, to }) }
        })?;
        space.finish()?;
        Ok(found)
    }

    /// Takes in components of rows that are coupled to others than this matrix has: a bit for each.
    pub fn couple(&mut self, space: &Space, beside: &[(u32, u8)]) -> Result<()> {
        if beside.is_empty() {
            return Ok(());
        }
        let mut free = space.download(&self.free)?;
        beside.iter().for_each(|(row, bits)| free[*row as usize] |= bits);
        self.free = space.upload_vec(free)?;
        Ok(())
    }

    /// How kernels see them; `pattern` is that of the matrix.
    pub fn graph(&self, pattern: PatternView) -> Graph {
        Graph { pattern, strengths: self.strengths.view() }
    }
}
