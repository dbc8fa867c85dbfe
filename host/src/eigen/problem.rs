//! A pencil on a device: products, the preconditioner and deflation for several vectors.

use super::Pencil;
use crate::device::Buffer;
use crate::linalg::{Scalar, Space};
use crate::result::Result;
use nalgebra::DMatrix;

/// The pencil, and how much it was used.
pub struct Problem<'a> {
    /// The device.
    pub space: &'a Space,
    /// A, M, T and the deflated D.
    pub pencil: &'a Pencil<'a>,
    /// M D.
    deflated: Vec<Buffer<f64>>,
    /// Products with A and M so far.
    pub products: usize,
    /// Whether a vector of negative `x . A x` was met.
    pub is_indefinite: bool,
}

/// Vectors as [`Space::gram`] takes them.
pub fn refs(vectors: &[Buffer<f64>]) -> Vec<&Buffer<f64>> {
    vectors.iter().collect()
}

/// `x *= factor`.
pub fn scale(space: &Space, factor: f64, x: &mut Buffer<f64>) -> Result<()> {
    space.combine(&[], &DMatrix::zeros(0, 1), factor, std::slice::from_mut(x))
}

/// `y = a x + b z`.
pub fn sum_of(space: &Space, [a, b]: [f64; 2], x: &Buffer<f64>, z: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
    space.combine(&[x, z], &DMatrix::from_column_slice(2, 1, &[a, b]), 0.0, std::slice::from_mut(y))
}

/// `x_j . y_j` of each pair; waits.
pub fn dots(space: &Space, x: &[Buffer<f64>], y: &[Buffer<f64>]) -> Result<Vec<f64>> {
    /// Read at once.
    const BATCH: usize = 16;
    let mut dots = Vec::with_capacity(x.len());
    for (x, y) in x.chunks(BATCH).zip(y.chunks(BATCH)) {
        let mut scalars = [Scalar::ONE; BATCH];
        for (place, (x, y)) in x.iter().zip(y).enumerate() {
            scalars[place] = Scalar::new(place);
            space.dot(x, y, scalars[place])?;
        }
        dots.extend_from_slice(&space.read(scalars)?[..x.len()]);
    }
    Ok(dots)
}

impl<'a> Problem<'a> {
    /// A pencil on a space.
    pub fn new(space: &'a Space, pencil: &'a Pencil<'a>) -> Result<Self> {
        let deflated = space.vectors(pencil.a.n(), pencil.deflated.len())?;
        let mut problem = Problem { space, pencil, deflated: Vec::new(), products: 0, is_indefinite: false };
        problem.deflated = deflated;
        for (x, y) in pencil.deflated.iter().zip(&mut problem.deflated) {
            pencil.m.apply(space, x, y)?;
        }
        problem.products += pencil.deflated.len();
        Ok(problem)
    }

    /// Unknowns.
    pub fn n(&self) -> usize {
        self.pencil.a.n()
    }

    /// `y = A x`.
    pub fn apply_a(&mut self, x: &[Buffer<f64>], y: &mut [Buffer<f64>]) -> Result<()> {
        self.products += x.len();
        self.pencil.a.apply_all(self.space, x, y)
    }

    /// `y = M x`.
    pub fn apply_m(&mut self, x: &[Buffer<f64>], y: &mut [Buffer<f64>]) -> Result<()> {
        self.products += x.len();
        self.pencil.m.apply_all(self.space, x, y)
    }

    /// `z = T r`.
    pub fn precondition(&self, r: &[Buffer<f64>], z: &mut [Buffer<f64>]) -> Result<()> {
        self.pencil.preconditioner.apply_all(self.space, self.pencil.a, r, z)
    }

    /// `x -= D (M D)^T x`, twice, so that little is left where most of x is taken away.
    pub fn deflate(&self, x: &mut [Buffer<f64>]) -> Result<()> {
        if self.deflated.is_empty() || x.is_empty() {
            return Ok(());
        }
        for _ in 0..2 {
            let c = self.space.gram(&refs(&self.deflated), &refs(x))?;
            self.space.combine(&refs(self.pencil.deflated), &-c, 1.0, x)?;
        }
        Ok(())
    }

    /// `M - (M D) (M D)^T` of a dense M: that of the vectors M-orthogonal to D.
    pub fn deflate_dense(&self, m: &mut DMatrix<f64>) -> Result<()> {
        for x in &self.deflated {
            let column = nalgebra::DVector::from_vec(self.space.download(x)?);
            m.ger(-1.0, &column, &column, 1.0);
        }
        Ok(())
    }
}
