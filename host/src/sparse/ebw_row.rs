//! EBW with a thread per row. See `kernels_rs::sparse::ebw_row` for the layout; the CPU multiplies as by the other
//! sizes of EBW.

use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Half, Plan, Triangle};
use crate::result::Result;
use cuda_std::launch::Kernel;
use cuda_std::prelude::View;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::Ebw;
use kernels_rs::sparse::ebw_row::EbwRow;
use kernels_rs::sparse::several::Steps;
use kernels_rs::vectors::{Vectors, VectorsMut, WIDTH};

impl<const D: usize, const S: usize> Format for EbwRow<D, S> {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sliced::build(plan, Rows::Blocks, S)
    }

    fn view(arrays: &SlicedArrays) -> Self {
        EbwRow { sliced: arrays.view(), n_rows: arrays.n_rows }
    }

    unsafe fn triangle(arrays: &SlicedArrays) -> Option<Triangle> {
        // SAFETY: the caller's promise.
        unsafe { Ebw::<D, S>::triangle(arrays) }
    }

    fn products<const W: usize, T: Real>(
        self,
        n_rows: usize,
        values: View<T>,
        x: Vectors<T, WIDTH>,
        y: VectorsMut<T, WIDTH>,
    ) -> Option<impl Kernel> {
        Ebw::<D, S> { sliced: self.sliced }.products::<W, T>(n_rows, values, x, y)
    }

    fn steps<const W: usize, T: Real>(
        self,
        n_rows: usize,
        values: View<T>,
        z: Vectors<T, WIDTH>,
        steps: Steps<T>,
    ) -> Option<impl Kernel> {
        Ebw::<D, S> { sliced: self.sliced }.steps::<W, T>(n_rows, values, z, steps)
    }

    unsafe fn half_sums<V: Stored>(self, half: &mut Half<V::Arithmetic>, values: &[V], x: &[V::Arithmetic]) -> f64 {
        // SAFETY: the caller's promise; the arrays are those of this matrix.
        unsafe { Ebw::<D, S> { sliced: self.sliced }.half_sums(half, values, x) }
    }

    unsafe fn multiply_then<V: Stored, R: Send>(
        self,
        n_items: usize,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
    ) -> Vec<R> {
        // SAFETY: as above.
        unsafe { Ebw::<D, S> { sliced: self.sliced }.multiply_then(n_items, values, x, y, then) }
    }
}
