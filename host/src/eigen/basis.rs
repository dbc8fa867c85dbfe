//! Blocks of vectors with their products, and how they are made orthonormal: `S^T A S = I`.

use super::problem::{Problem, refs};
use super::ritz::{is_near_identity, orthonormalising};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use nalgebra::DMatrix;

/// Passes at most: two are enough, unless a vector was rounding errors alone.
const PASSES: usize = 3;

/// An energy below 0 of more than this part of the largest is no rounding error: A is not positive definite.
const NEGATIVE: f64 = 1e-3;

/// What a block has of each of its vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The vector x.
    X,
    /// A x.
    A,
    /// M x.
    M,
}

/// Vectors x with A x and M x. There may be more of each than are in use.
pub struct Block {
    parts: [Vec<Buffer<f64>>; 3],
    /// Vectors in use.
    pub len: usize,
}

impl Block {
    /// Up to `size` vectors of length n, none in use.
    pub fn new(space: &Space, n: usize, size: usize) -> Result<Block> {
        Ok(Block { parts: [space.vectors(n, size)?, space.vectors(n, size)?, space.vectors(n, size)?], len: 0 })
    }

    /// A part of the vectors in use.
    pub fn part(&self, part: Part) -> &[Buffer<f64>] {
        &self.parts[part as usize][..self.len]
    }

    /// x, A x and M x of the vectors in use, to be changed.
    pub fn parts_mut(&mut self) -> [&mut [Buffer<f64>]; 3] {
        self.parts.each_mut().map(|part| &mut part[..self.len])
    }

    /// Takes other vectors for a part, and gives its own for them; they are to be in use.
    pub fn swap(&mut self, part: Part, others: &mut [Buffer<f64>]) {
        self.parts[part as usize][..others.len()].swap_with_slice(others);
    }

    /// The vectors in use, no longer the block's.
    pub fn take_vectors(mut self) -> Vec<Buffer<f64>> {
        let mut x = std::mem::take(&mut self.parts[0]);
        x.truncate(self.len);
        x
    }

    /// Puts `x t` in the place of x, and likewise the other parts named; as many as t has columns are then in use.
    pub fn transform(
        &mut self,
        space: &Space,
        t: &DMatrix<f64>,
        parts: &[Part],
        scratch: &mut [Buffer<f64>],
    ) -> Result<()> {
        let scratch = &mut scratch[..t.ncols()];
        for part in parts {
            space.combine(&refs(self.part(*part)), t, 0.0, scratch)?;
            self.swap(*part, scratch);
        }
        self.len = t.ncols();
        Ok(())
    }
}

/// A part of several blocks, one after the other.
pub fn joined<'a>(blocks: &[&'a Block], part: Part) -> Vec<&'a Buffer<f64>> {
    blocks.iter().flat_map(|block| block.part(part)).collect()
}

/// Makes w A-orthonormal, and A-orthogonal to blocks that are so together; sets A w. What depends on the rest is left out.
pub fn orthonormalise(
    problem: &mut Problem,
    others: &[&Block],
    w: &mut Block,
    scratch: &mut [Buffer<f64>],
) -> Result<()> {
    let ([x, a], space) = ([Part::X, Part::A].map(|part| joined(others, part)), problem.space);
    if !x.is_empty() {
        let c = -space.gram(&a, &refs(w.part(Part::X)))?;
        space.combine(&x, &c, 1.0, w.parts_mut()[0])?;
    }
    let [of_x, of_a, _] = w.parts_mut();
    problem.apply_a(of_x, of_a)?;
    for _ in 0..PASSES {
        let gram = space.symmetric_gram(&refs(w.part(Part::X)), &refs(w.part(Part::A)))?;
        let energies = gram.diagonal();
        problem.is_indefinite |= energies.min() < -NEGATIVE * energies.max().abs();
        w.transform(space, &orthonormalising(&gram), &[Part::X, Part::A], scratch)?;
        if is_near_identity(&gram) || w.len == 0 {
            break;
        }
        if !x.is_empty() {
            let c = -space.gram(&a, &refs(w.part(Part::X)))?;
            space.combine(&x, &c, 1.0, w.parts_mut()[0])?;
            space.combine(&a, &c, 1.0, w.parts_mut()[1])?;
        }
    }
    Ok(())
}
