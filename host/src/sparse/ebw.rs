//! EBW (DSM sec. II.E) and SBELL: slices of 32, 64 or 128 block rows. See `kernels_rs::sparse::ebw` for the layout.

use super::format::PART;
use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Half, Plan, Triangle, ebw_symmetric};
use crate::device::widest::{Work, widest};
use crate::parallel;
use crate::result::Result;
use cuda_std::Number;
use cuda_std::launch::Kernel;
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::cg_persistent::{CgPersistent, CgRun, CgVectors};
use kernels_rs::precond::{EbwPolynomialStep, Step};
use kernels_rs::real::{Real, Stored};
use kernels_rs::reduce::Reduction;
use kernels_rs::sparse::Ebw;
use kernels_rs::sparse::ebw::EbwSpmvDot;
use kernels_rs::sparse::several::{EbwPolynomialSteps, EbwProducts, Steps};
use kernels_rs::vectors::{Vectors, VectorsMut, WIDTH};

impl<const D: usize, const S: usize> Format for Ebw<D, S> {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sliced::build(plan, Rows::Blocks, S)
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Ebw { sliced: arrays.view() }
    }

    unsafe fn triangle(arrays: &SlicedArrays) -> Option<Triangle> {
        // SAFETY: the arrays live, in the memory of the host by the caller's promise, and have slices of S rows.
        unsafe { Triangle::new(arrays.view(), S, arrays.n_rows) }
    }

    fn spmv_dot<V: Stored>(
        self,
        n_rows: usize,
        values: View<V>,
        x: View<V::Arithmetic>,
        y: ViewMut<V::Arithmetic>,
        to: Reduction,
    ) -> Option<impl Kernel> {
        Some(EbwSpmvDot { n_rows, a: self, values, x, y, to })
    }

    fn spmv_step<V: Stored>(
        self,
        n_rows: usize,
        values: View<V>,
        z: View<V::Arithmetic>,
        step: Step<V::Arithmetic>,
    ) -> Option<impl Kernel> {
        Some(EbwPolynomialStep { n_rows, a: self, values, z, step })
    }

    fn products<const W: usize, T: Real>(
        self,
        n_rows: usize,
        values: View<T>,
        x: Vectors<T, WIDTH>,
        y: VectorsMut<T, WIDTH>,
    ) -> Option<impl Kernel> {
        (S == 32).then_some(EbwProducts::<D, W, T> { n_rows, a: Ebw { sliced: self.sliced }, values, x, y })
    }

    fn steps<const W: usize, T: Real>(
        self,
        n_rows: usize,
        values: View<T>,
        z: Vectors<T, WIDTH>,
        steps: Steps<T>,
    ) -> Option<impl Kernel> {
        (S == 32).then_some(EbwPolynomialSteps::<D, W, T> { n_rows, a: Ebw { sliced: self.sliced }, values, z, steps })
    }

    fn cg_persistent<T: Real>(
        self,
        n_rows: usize,
        values: View<T>,
        v: CgVectors<T>,
        run: CgRun,
    ) -> Option<impl Kernel> {
        (S == 32).then_some(CgPersistent { n_rows, a: Ebw::<D, 32> { sliced: self.sliced }, values, v, run })
    }

    unsafe fn half_sums<V: Stored>(self, half: &mut Half<V::Arithmetic>, values: &[V], x: &[V::Arithmetic]) -> f64 {
        // SAFETY: the caller's promise.
        unsafe { ebw_symmetric::sums(self, half, values, x) }
    }

    unsafe fn multiply_then<V: Stored, R: Send>(
        self,
        _: usize,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
    ) -> Vec<R> {
        const { assert!(PART.is_multiple_of(D * S)) };
        parallel::map_chunks(y, PART, &|first, y| {
            widest(SlicesProduct { a: self, first: first / (D * S), values, x, y: &mut *y });
            then(first, y)
        })
    }
}

struct SlicesProduct<'a, const D: usize, const S: usize, V: Stored> {
    a: Ebw<D, S>,
    /// The first slice.
    first: usize,
    values: &'a [V],
    x: &'a [V::Arithmetic],
    /// The rows of these slices.
    y: &'a mut [V::Arithmetic],
}

impl<const D: usize, const S: usize, V: Stored> Work for SlicesProduct<'_, D, S, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (slice, y) in self.y.chunks_mut(D * S).enumerate() {
            let sums = slice_product(self.a, self.first + slice, self.values, self.x);
            for (lane, y) in y.chunks_exact_mut(D).enumerate() {
                y.iter_mut().zip(&sums).for_each(|(y, sums)| *y = sums[lane]);
            }
        }
    }
}

/// The products of a slice's rows, `[D][S]`. Lanes innermost: the layout that coalesces on a GPU vectorises here.
/// Values are read in their order, as that is what prefetchers are for: sums kept in registers, eight lanes after the
/// other, took 20 to 50 % longer.
#[inline(always)]
fn slice_product<const D: usize, const S: usize, V: Stored>(
    a: Ebw<D, S>,
    slice: usize,
    values: &[V],
    x: &[V::Arithmetic],
) -> [[V::Arithmetic; S]; D] {
    // SAFETY: `slice` is a slice of the matrix, and host views check their bounds.
    let std::ops::Range { start, end } = unsafe { a.sliced.slice(slice) };
    let mut sums = [[V::Arithmetic::ZERO; S]; D];
    for k in start..end {
        let mut gathered = [[V::Arithmetic::ZERO; S]; D];
        for (lane, column) in (k * S..(k + 1) * S).enumerate() {
            // SAFETY: as above; k is below the end of the slice.
            let column = unsafe { a.sliced.columns.at(column) } as usize;
            for (gathered, x) in gathered.iter_mut().zip(&x[D * column..D * column + D]) {
                gathered[lane] = *x;
            }
        }
        let block = &values[k * D * D * S..(k + 1) * D * D * S];
        for (entry, values) in block.chunks_exact(S).enumerate() {
            let (sum, x) = (&mut sums[entry % D], &gathered[entry / D]);
            for lane in 0..S {
                sum[lane] += values[lane].value() * x[lane];
            }
        }
    }
    sums
}
