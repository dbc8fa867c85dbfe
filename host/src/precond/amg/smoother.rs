//! The smoother of a level: a Chebyshev polynomial of `D^-1 A` (Adams, Brezina, Hu, Tuminaro 2003). D is the diagonal
//! of A or, where elements are flat, block diagonal: see [`super::stacks`].

use super::copied;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::polynomial::Factors;
use crate::precond::{chebyshev, spectrum};
use crate::result::Result;
use crate::sparse::{AUTO, Epilogue, LinOp, Matrix};
use cuda_std::prelude::View;
use kernels_rs::amg::stacks::{StackedStart, StackedStep};
use kernels_rs::precond::{PolynomialStart, Step};
use kernels_rs::real::Real;
use std::mem::swap;

/// Which polynomial.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Its steps.
    pub number: usize,
    /// It reduces the eigenvalues from this part of the largest on: the rest is for the next levels.
    pub lower: f64,
}

/// On the finest level, and on all of compact bodies of usual elements.
pub const FEW: Steps = Steps { number: 2, lower: 0.1 };

/// On coarse levels of thin bodies and of stretched elements. Two steps more cost less than the iterations that they save: a
/// plate of 400 x 400 x 1 hex8 takes 39 instead of 69, and 154 instead of 191 ms on an H200.
pub const MORE: Steps = Steps { number: 4, lower: 0.04 };

impl Steps {
    fn factors(self, upper: f64) -> Vec<Factors> {
        chebyshev::factors(self.lower * upper, upper).take(self.number).collect()
    }
}

/// The polynomial of a level.
pub struct Smoother<T: Real> {
    /// The inverse of the diagonal, `[n]`.
    inverse: Buffer<T>,
    /// That of D where it is not the diagonal.
    blocks: Option<Matrix<T>>,
    /// Not below the largest eigenvalue of `D^-1 A`.
    pub upper: f64,
    steps: Vec<Factors>,
}

/// `A z = r` on a level, for some vectors.
pub struct Equations<'a, T: Real> {
    /// Where it is.
    pub space: &'a Space,
    /// A.
    pub operator: &'a dyn LinOp<T>,
    /// r.
    pub r: &'a [Buffer<T>],
}

impl<T: Real> Smoother<T> {
    /// That of `operator`, whose diagonal has this inverse, and D, if it is another matrix, the inverse `blocks`. The
    /// operator may be scaled by the root of `scaling`; `blocks` are of what it was before.
    pub fn new(
        space: &Space,
        operator: &dyn LinOp<T>,
        inverse: Buffer<T>,
        blocks: Option<&Matrix<f64>>,
        scaling: View<f64>,
        steps: Steps,
    ) -> Result<Self> {
        let blocks: Option<Matrix<T>> = blocks.map(|blocks| copied(space, blocks, AUTO, scaling)).transpose()?;
        let spectrum = match &blocks {
            None => spectrum::estimate(space, operator, &inverse, spectrum::FEW)?,
            Some(blocks) => spectrum::estimate_blocks(space, operator, blocks, &inverse, spectrum::FEW)?,
        };
        let upper = spectrum.upper;
        Ok(Smoother { inverse, blocks, upper, steps: steps.factors(upper) })
    }

    /// Unknowns.
    pub fn n(&self) -> usize {
        self.inverse.len()
    }

    /// Whether its steps are even in number.
    pub fn is_even(&self) -> bool {
        self.steps.len().is_multiple_of(2)
    }

    /// Its bytes.
    pub fn bytes(&self) -> u64 {
        let blocks = self.blocks.as_ref().map_or(0, |blocks| blocks.footprint().bytes(size_of::<T>()));
        blocks + self.inverse.bytes()
    }

    /// `z = q(D^-1 A) D^-1 r`.
    pub fn start(&self, of: &Equations<T>, [z, other, product]: [&mut [Buffer<T>]; 3]) -> Result<()> {
        let first = if self.is_even() { &mut *other } else { &mut *z };
        let (factor, n) = (T::from_f64(self.steps[0][2]), self.n());
        for (r, z) in of.r.iter().zip(first) {
            assert!([r.len(), z.len()] == [n; 2], "vectors of another length than the matrix");
            let (r, z) = (r.view(), z.view_mut());
            // SAFETY: all live and have the level's unknowns; the result is borrowed uniquely.
            unsafe {
                match &self.blocks {
                    None => of.space.run(n, PolynomialStart { factor, inverse: self.inverse.view(), r, z }),
                    Some(blocks) => {
                        let (entries, values) = (blocks.entries(), blocks.values());
                        of.space.run(n, StackedStart { factor, entries, values, r, z })
                    }
                }
            }?;
        }
        let mut steps = self.steps[1..].to_vec();
        // Before the second step z_old is 0.
        steps.iter_mut().take(1).for_each(|[_, b, _]| *b = 0.0);
        self.take(of, &steps, [z, other, product])
    }

    /// `z += q(D^-1 A) D^-1 (r - A z)`, from the z that is in `z` if the steps are even in number, and else in `other`.
    pub fn go_on(&self, of: &Equations<T>, vectors: [&mut [Buffer<T>]; 3]) -> Result<()> {
        self.take(of, &self.steps, vectors)
    }

    /// Takes steps, from one of the vectors to the other and back; the last one leaves its result in z.
    fn take(&self, of: &Equations<T>, steps: &[Factors], [z, other, product]: [&mut [Buffer<T>]; 3]) -> Result<()> {
        let (mut current, mut other) = if steps.len().is_multiple_of(2) { (z, other) } else { (other, z) };
        for factors in steps {
            let step = |(r, previous): (&Buffer<T>, &mut Buffer<T>)| Step {
                factors: factors.map(T::from_f64),
                inverse: self.inverse.view(),
                r: r.view(),
                previous: previous.view_mut(),
            };
            let steps = of.r.iter().zip(&mut *other).map(step);
            match &self.blocks {
                None => {
                    let steps: Vec<_> = steps.map(Epilogue::Step).collect();
                    // SAFETY: all live, have the level's unknowns and are different; `other` is borrowed uniquely.
                    unsafe { of.operator.apply_all_then(of.space, current, product, &steps) }?;
                }
                Some(blocks) => {
                    of.operator.apply_all(of.space, current, product)?;
                    let (entries, values) = (blocks.entries(), blocks.values());
                    for ((step, z), product) in steps.zip(&*current).zip(&*product) {
                        let kernel = StackedStep { step, entries, values, z: z.view(), product: product.view() };
                        // SAFETY: as above.
                        unsafe { of.space.run(self.n(), kernel) }?;
                    }
                }
            }
            swap(&mut current, &mut other);
        }
        Ok(())
    }
}
