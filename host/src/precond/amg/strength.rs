//! Which couplings of a level are strong: by the Frobenius norms of its blocks,
//!
//! ```text
//! |A_ij|_F^2 >= theta_l^2 |A_ii|_F |A_jj|_F,   theta_l = 0.08 / 2^l on level l
//! ```
//!
//! (Vanek, Mandel, Brezina 1996, sec. 4), and each node's strongest coupling in any case.

use super::setup::Fine;
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use kernels_rs::amg::strength::{Couplings, DiagonalNorms, FindStrengths, Graph};
use kernels_rs::real::Real;
use kernels_rs::sparse::PatternView;

/// theta on the finest level.
const THRESHOLD: f64 = 0.08;

/// The strong couplings of a level.
pub struct Strength<B: Backend> {
    strengths: Vector<B, f32>,
    /// A bit for each component that is coupled to any other, `[n_rows]`.
    pub free: Vector<B, u8>,
    /// Whether a node is coupled to others, `[n_rows]`.
    pub linked: Vector<B, u8>,
}

impl<B: Backend> Strength<B> {
    /// Those of the matrix of level `level`.
    pub fn new<R: Real>(backend: &B, fine: &Fine<B, R>, level: usize) -> Result<Self> {
        let (n, entries, values) = (fine.pattern.n_rows, fine.entries, fine.values);
        let mut norms = backend.zeros(n)?;
        let mut found = Strength::<B> {
            strengths: backend.zeros(fine.pattern.n_blocks())?,
            free: backend.zeros(n)?,
            linked: backend.zeros(n)?,
        };
        let to = Couplings {
            strengths: found.strengths.view_mut(),
            free: found.free.view_mut(),
            linked: found.linked.view_mut(),
        };
        let threshold = (THRESHOLD / (1u64 << level) as f64).powi(2);
        // SAFETY: the matrix lives, and there is a place for each of its rows and blocks; all live until `finish`.
        unsafe {
            backend.run(n, DiagonalNorms { entries, values, norms: norms.view_mut() })?;
            backend.run(n, FindStrengths { threshold, entries, values, norms: norms.view(), to })?;
        }
        backend.finish()?;
        Ok(found)
    }

    /// How kernels see them; `pattern` is that of the matrix.
    pub fn graph(&self, pattern: PatternView) -> Graph {
        Graph { pattern, strengths: self.strengths.view() }
    }
}
