//! Groups of elements of one part and one material, and the connected pieces that they are made of.
//!
//! A piece gives a lower bound of the error: with T its rigid motions, 0 outside it and in supported components, and
//! `t = T^T r`, every error e has `t . (T^T K T)^-1 t <= ||e||_K^2`. It finds what the estimate misses early on: a hard piece that still moves as one
//! in a soft surrounding.

use super::parts::{PartLists, pseudo_inverse};
use crate::assembly::DeviceSlanted;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::LinOp;
use kernels_rs::real::Real;
use nalgebra::Matrix6;
use std::cell::OnceCell;

/// A group whose strain energy is below the square of this times `w . D w`, D the diagonal of K, has no strain but
/// rounding errors.
const NOISE: f64 = 16.0 * f64::EPSILON;

/// Which parts and groups groups and pieces belong to.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    /// The connected part that each group belongs to.
    pub part: Vec<u32>,
    /// The group that each piece belongs to.
    pub group: Vec<u32>,
    /// Pieces of one colour have no element in common.
    pub colours: Vec<Vec<usize>>,
}

/// The groups and their pieces.
pub struct Groups<'a> {
    lists: &'a PartLists,
    coords: &'a Buffer<[f64; 3]>,
    layout: &'a Layout,
    /// A bit per supported component of each row, and the slanted ones.
    held: (Buffer<u8>, DeviceSlanted),
    /// The diagonal of K; none where each part has one material.
    diagonal: Option<Buffer<f32>>,
    inverses: OnceCell<Vec<Matrix6<f64>>>,
}

impl<'a> Groups<'a> {
    /// Of the rows of each piece.
    pub fn new(
        lists: &'a PartLists,
        coords: &'a Buffer<[f64; 3]>,
        layout: &'a Layout,
        held: (Buffer<u8>, DeviceSlanted),
        diagonal: Option<Buffer<f32>>,
    ) -> Self {
        Groups { lists, coords, layout, held, diagonal, inverses: OnceCell::new() }
    }

    /// Whether a part has several materials.
    pub fn are_several(&self) -> bool {
        self.diagonal.is_some()
    }

    /// The part of each group.
    pub fn part(&self) -> &[u32] {
        &self.layout.part
    }

    /// The strain energy of each group that rounding of the displacements w makes up.
    pub(super) fn noise<T: Real>(&self, space: &Space, w: &Buffer<T>) -> Result<Vec<f64>> {
        let (mut forces, mut noise) = (space.zeros(w.len())?, vec![0.0; self.layout.part.len()]);
        let Some(diagonal) = &self.diagonal else { return Ok(noise) };
        space.mul(diagonal, w, &mut forces)?;
        for (sum, group) in self.lists.dot(space, w, &forces)?.into_iter().zip(&self.layout.group) {
            noise[*group as usize] += NOISE * NOISE * sum;
        }
        Ok(noise)
    }

    /// The largest bound on `||e||_K^2` of a piece of each part, `[n_parts]`, at a residual.
    pub(super) fn bounds<T: Real>(
        &self,
        space: &Space,
        operator: &dyn LinOp<T>,
        size: usize,
        r: &Buffer<T>,
        n_parts: usize,
    ) -> Result<Vec<f64>> {
        if self.inverses.get().is_none() {
            let grams = self.stiffnesses(space, operator, size)?;
            let _ = self
                .inverses
                .set(grams.iter().map(|gram| pseudo_inverse(&(0.5 * (gram + gram.transpose())))).collect());
        }
        let inverses = self.inverses.get().into_iter().flatten();
        let mut bounds = vec![0.0; n_parts];
        for ((t, inverse), group) in
            self.lists.moments(space, self.coords, r)?.iter().zip(inverses).zip(&self.layout.group)
        {
            let bound = &mut bounds[self.layout.part[*group as usize] as usize];
            *bound = f64::max(*bound, t.dot(&(inverse * t)));
        }
        Ok(bounds)
    }

    /// `T^T K T` of each piece: a product for each motion and colour.
    fn stiffnesses<T: Real>(&self, space: &Space, operator: &dyn LinOp<T>, size: usize) -> Result<Vec<Matrix6<f64>>> {
        let mut grams = vec![Matrix6::zeros(); self.layout.group.len()];
        let mut product = space.zeros(operator.n())?;
        for colour in &self.layout.colours {
            for motion in 0..size * (size + 1) / 2 {
                let (fixed, slanted) = &self.held;
                let mut moved = self.lists.motion::<T>(space, self.coords, motion, colour, fixed)?;
                slanted.project(space, size, &mut moved)?;
                operator.apply(space, &moved, &mut product)?;
                let columns = self.lists.moments(space, self.coords, &product)?;
                for &piece in colour {
                    grams[piece].set_column(motion, &columns[piece]);
                }
            }
        }
        Ok(grams)
    }
}
