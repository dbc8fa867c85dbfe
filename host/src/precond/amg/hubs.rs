//! Hubs: unknowns that thousands of others follow, as those that determine the motion of a large rigid face.
//!
//! On the first coarse level the row of a hub would couple all aggregates along the face, and on the next ones these with
//! each other. So hubs, and with them what follows them, are held in the hierarchy, which is of the other unknowns f, and
//! each has a vector of its own in
//!
//! ```text
//! M^-1 = M_f^-1 + Z (Z^T A Z)^-1 Z^T
//! ```
//!
//! A vector of Z is the motion of a hub by 1, the other hubs at rest, and how the body follows it: `A_ff z_f = -A_fh`,
//! roughly, by one step with the hierarchy. Solved exactly, the sum is the inverse of A where `M_f` is that of `A_ff`; more
//! steps take longer than the iterations that they save.

use super::Amg;
use super::cycle::OF_HUBS;
use crate::device::Buffer;
use crate::linalg::{Quotient, Scalar, Space};
use crate::precond::Preconditioner;
use crate::result::Result;
use crate::sparse::{self, Coupling, LinOp};
use kernels_rs::real::Real;

/// `r . z`, and the energy of a vector, while vectors are made.
const RZ: Scalar = Scalar::new(0);
const ENERGY: Scalar = Scalar::new(1);

/// A vector of less than this part of its energy is what the others leave of it by rounding.
const DETERMINED: f64 = 1e-5;

/// What hubs add to a preconditioner.
#[derive(Default)]
pub struct Hubs<T: Real> {
    /// Z, so that `Z^T A Z = 1`.
    vectors: Vec<Buffer<T>>,
}

impl<T: Real> Hubs<T> {
    /// Those of an operator and its couplings, with the inverse of their diagonal; `inner` is `M_f`.
    pub fn new(
        space: &Space,
        operator: &dyn LinOp<T>,
        coupling: &Coupling<T>,
        (hubs, inverse): (&[u32], &[T]),
        inner: &Amg<T>,
    ) -> Result<Self> {
        let mut vectors: Vec<Buffer<T>> = Vec::with_capacity(hubs.len());
        for (hub, inverse) in hubs.iter().zip(inverse) {
            let mut x = space.zeros(operator.n())?;
            sparse::put(space, &mut x, &[*hub], &[T::ONE])?;
            coupling.expand(space, &mut x)?;
            relax(space, operator, inner, &mut x)?;
            let mut product = space.zeros(operator.n())?;
            let energy_of = |x: &Buffer<T>, product: &mut Buffer<T>| -> Result<f64> {
                operator.apply(space, x, product)?;
                space.dot(x, product, ENERGY)?;
                space.read([ENERGY]).map(|[energy]| energy)
            };
            let before = energy_of(&x, &mut product)?;
            let mut energy = before;
            // Twice, as once leaves rounding errors where vectors depend on each other.
            for _ in 0..2 {
                for other in &vectors {
                    space.dot(other, &product, RZ)?;
                    space.axpy(Quotient::new(RZ, Scalar::ONE).minus(), other, &mut x)?;
                }
                energy = energy_of(&x, &mut product)?;
            }
            space.fill(T::ZERO, &mut product)?;
            if energy > DETERMINED * before {
                space.axpy(Quotient::ONE.times(energy.sqrt().recip()), &x, &mut product)?;
            } else {
                // Rounding alone is left of it: its diagonal has to do.
                sparse::put(space, &mut product, &[*hub], &[T::from_f64(inverse.to_f64().max(0.0).sqrt())])?;
            }
            vectors.push(product);
        }
        Ok(Hubs { vectors })
    }

    /// `z += Z Z^T r`.
    pub fn add(&self, space: &Space, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        self.vectors.iter().try_for_each(|vector| {
            space.dot(vector, r, OF_HUBS)?;
            space.axpy(Quotient::new(OF_HUBS, Scalar::ONE), vector, z)
        })
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.vectors.iter().map(Buffer::bytes).sum()
    }
}

/// Takes energy out of x, hubs held, as they are by `M_f`: `x += alpha z`, `z = M_f^-1 r` of the residual `r = - A x`.
fn relax<T: Real>(space: &Space, operator: &dyn LinOp<T>, inner: &Amg<T>, x: &mut Buffer<T>) -> Result<()> {
    let [mut product, mut r, mut z] = [space.zeros(x.len())?, space.zeros(x.len())?, space.zeros(x.len())?];
    operator.apply(space, x, &mut product)?;
    space.axpy(Quotient::MINUS_ONE, &product, &mut r)?;
    inner.apply(space, operator, &r, &mut z)?;
    operator.apply(space, &z, &mut product)?;
    space.dot(&r, &z, RZ)?;
    space.dot(&z, &product, ENERGY)?;
    space.axpy(Quotient::new(RZ, ENERGY), &z, x)
}
