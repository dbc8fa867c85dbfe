//! The CPU backend: rayon over items and chunks.
//!
//! Sums are formed over chunks of a fixed length and added in order, so results do not depend on the number of threads.

use super::{
    Backend, Buffer, CgState, Grid, HostBuffer, Plain, Quotient, Scalar, check_finite, host_memory, new_bank, order_of,
    running_sums,
};
use crate::parallel;
use crate::result::{Error, Result};
use crate::sparse::{Format, Half, Laid, PART, Triangle};
use cuda_std::GpuFloat;
use cuda_std::launch::{ItemKernel, Kernel};
use cuda_std::prelude::View;
use kernels_rs::blas::quotient;
use kernels_rs::cg_persistent::{HISTORY, RECORD};
use kernels_rs::femses::Elements;
use kernels_rs::precond::{Step, step_entry};
use kernels_rs::real::{Real, Stored, fma};
use rayon::prelude::*;
use std::cell::RefCell;
use std::convert::Infallible;
use std::ops::Range;
use std::slice;

/// Entries per partial sum: 64 KiB of f64, and a thousand tasks at ten million unknowns.
const CHUNK: usize = 8192;
/// Items a task takes at least.
const MIN_ITEMS: usize = 512;

/// Runs on the threads of the current rayon pool.
#[derive(Debug)]
pub struct CpuBackend {
    scalars: RefCell<Vec<f64>>,
    /// Room for the sums of products with half of a symmetric matrix, as much as one has asked for.
    sums: RefCell<Vec<f64>>,
}

impl Default for CpuBackend {
    fn default() -> Self {
        CpuBackend { scalars: RefCell::new(new_bank()), sums: RefCell::default() }
    }
}

impl CpuBackend {
    fn set(&self, scalar: Scalar, value: f64) {
        self.scalars.borrow_mut()[scalar.0 as usize] = value;
    }

    /// `y = A x`, and what `then` says of the parts of y: see [`Format::multiply_then`].
    ///
    /// # Safety
    /// As [`Backend::spmv`].
    unsafe fn multiply_then<F: Format, V: Stored, R: Send>(
        &self,
        a: Laid<F>,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
    ) -> Vec<R> {
        let Some(triangle) = a.triangle else {
            // SAFETY: the caller's promise.
            return unsafe { a.layout.multiply_then(a.n_items, values, x, y, then) };
        };
        let mut room = self.sums.borrow_mut();
        let mut half = half_of(triangle, y.len(), &mut room);
        // SAFETY: the caller's promise; a matrix with a triangle is symmetric.
        unsafe { a.layout.half_sums(&mut half, values, x) };
        parallel::map_chunks(y, PART, &|first, y| {
            half.rows(first, y);
            then(first, y)
        })
    }

    fn quotient(&self, quotient: Quotient) -> f64 {
        // SAFETY: scalars are indices into the bank by construction, and host views check.
        unsafe { self.ratio(quotient).value() }
    }
}

/// What a product of `n` rows by half of a matrix takes, in a room that grows as it must.
fn half_of<'a, T: Real>(triangle: &'a Triangle, n: usize, room: &'a mut Vec<f64>) -> Half<'a, T> {
    let size = n / triangle.n_rows.max(1);
    let n_sums = triangle.n_sums(size);
    room.resize(room.len().max((n_sums * size_of::<T>()).div_ceil(size_of::<f64>())), 0.0);
    Half { triangle, size, sums: &mut bytemuck::cast_slice_mut(room)[..n_sums] }
}

/// `x . y`, in f64.
fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
}

/// `r -= alpha q`; `[r . z, r . r]` of `z = inverse r`.
fn descend<T: Real>(alpha: T, q: &[T], inverse: &[f32], r: &mut [T]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for ((r, q), inverse) in r.iter_mut().zip(q).zip(inverse) {
        *r -= alpha * *q;
        let residual = r.to_f64();
        sums[0] += residual * f64::from(*inverse) * residual;
        sums[1] += residual * residual;
    }
    sums
}

/// `u += alpha p`, then `p = z + beta p`.
fn advance<T: Real>([alpha, beta]: [T; 2], z: impl Iterator<Item = T>, u: &mut [T], p: &mut [T]) {
    for ((u, p), z) in u.iter_mut().zip(p).zip(z) {
        *u = fma(alpha, *p, *u);
        *p = fma(beta, *p, z);
    }
}

/// Sums in chunk order whatever thread formed them.
fn add_up<const M: usize>(partials: Vec<[f64; M]>) -> [f64; M] {
    let mut total = [0.0; M];
    for partial in partials {
        total.iter_mut().zip(partial).for_each(|(total, term)| *total += term);
    }
    total
}

impl Backend for CpuBackend {
    type Buffer<T: Plain> = HostBuffer<T>;
    type Recording = Infallible;
    const ON_HOST: bool = true;

    fn name(&self) -> String {
        let n = rayon::current_num_threads();
        format!("cpu ({n} thread{})", if n == 1 { "" } else { "s" })
    }

    fn free_memory(&self) -> Option<u64> {
        host_memory::available()
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<HostBuffer<T>> {
        Ok(HostBuffer(data.to_vec()))
    }

    fn upload_vec<T: Plain>(&self, data: Vec<T>) -> Result<HostBuffer<T>> {
        Ok(HostBuffer(data))
    }

    fn zeros<T: Plain>(&self, n: usize) -> Result<HostBuffer<T>> {
        let mut zeros = vec![T::zeroed(); n];
        host_memory::in_huge_pages(&mut zeros);
        Ok(HostBuffer(zeros))
    }

    fn download<T: Plain>(&self, buffer: &HostBuffer<T>) -> Result<Vec<T>> {
        Ok(buffer.0.clone())
    }

    fn take<T: Plain>(&self, buffer: HostBuffer<T>) -> Result<Vec<T>> {
        Ok(buffer.0)
    }

    fn read_at<T: Plain>(&self, buffer: &HostBuffer<T>, i: usize) -> Result<T> {
        Ok(buffer.0[i])
    }

    fn copy<T: Plain>(&self, from: &HostBuffer<T>, to: &mut HostBuffer<T>) -> Result<()> {
        assert_eq!(from.len(), to.len(), "copy between arrays of different lengths");
        let chunks = to.0.par_chunks_mut(CHUNK).zip(from.0.par_chunks(CHUNK));
        chunks.for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    }

    unsafe fn run<K: ItemKernel>(&self, n: usize, kernel: K) -> Result<()> {
        parallel::for_ranges(n, MIN_ITEMS, &|items| {
            // SAFETY: the caller keeps the kernel's contract; items write to different places by the same contract.
            unsafe { kernel.on_cpu(items) };
        });
        Ok(())
    }

    unsafe fn launch<K: Kernel>(&self, _grid: Grid, kernel: K) -> Result<()> {
        Err(Error::Device(format!("kernel `{}` needs warps: run it on a GPU or the emulator", kernel.name())))
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    unsafe fn replay(&self, recording: &Infallible) -> Result<()> {
        match *recording {}
    }

    fn exclusive_sum(&self, counts: &HostBuffer<u32>) -> Result<HostBuffer<u64>> {
        Ok(HostBuffer(running_sums(counts.0.iter().copied().map(u64::from))))
    }

    fn sort_order(&self, keys: &HostBuffer<u64>, bits: u32) -> Result<HostBuffer<u32>> {
        Ok(HostBuffer(order_of(&keys.0, bits)))
    }

    fn scalars(&self) -> View<f64> {
        View::from_slice(&self.scalars.borrow())
    }

    fn read<const N: usize>(&self, scalars: [Scalar; N]) -> Result<[f64; N]> {
        let bank = self.scalars.borrow();
        let values = scalars.map(|scalar| bank[scalar.0 as usize]);
        check_finite(&values)?;
        Ok(values)
    }

    fn dot<T: Real>(&self, x: &HostBuffer<T>, y: &HostBuffer<T>, out: Scalar) -> Result<()> {
        assert_eq!(x.len(), y.len(), "product of vectors of different lengths");
        let partials = x.0.par_chunks(CHUNK).zip(y.0.par_chunks(CHUNK)).map(|(x, y)| [inner(x, y)]).collect();
        let [sum] = add_up(partials);
        self.set(out, sum);
        Ok(())
    }

    unsafe fn spmv<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &HostBuffer<V>,
        x: &HostBuffer<V::Arithmetic>,
        y: &mut HostBuffer<V::Arithmetic>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.multiply_then(a, &values.0, &x.0, &mut y.0, |_, _| ()) };
        Ok(())
    }

    unsafe fn spmv_dot<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &HostBuffer<V>,
        x: &HostBuffer<V::Arithmetic>,
        y: &mut HostBuffer<V::Arithmetic>,
        out: Scalar,
    ) -> Result<()> {
        let dot = |first: usize, y: &[V::Arithmetic]| [inner(&x.0[first..first + y.len()], y)];
        // SAFETY: the caller's promise.
        let [sum] = add_up(unsafe { self.multiply_then(a, &values.0, &x.0, &mut y.0, dot) });
        self.set(out, sum);
        Ok(())
    }

    unsafe fn spmv_step<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &HostBuffer<V>,
        step: Step<V::Arithmetic>,
        z: &HostBuffer<V::Arithmetic>,
        scratch: &mut HostBuffer<V::Arithmetic>,
    ) -> Result<()> {
        let shortest = step.inverse.len().min(step.r.len()).min(step.previous.len());
        assert!(shortest >= z.len(), "vectors too short");
        let update = |first: usize, product: &[V::Arithmetic]| {
            let rows = first..first + product.len();
            let z = &z.0[rows.clone()];
            // SAFETY: the step's vectors live by the caller's promise, nobody else has `previous`, and they have these
            // rows; a row belongs to one part.
            let (inverse, r, previous) = unsafe {
                let previous = step.previous.as_mut_ptr().add(first);
                (step.inverse.slice(rows.clone()), step.r.slice(rows), slice::from_raw_parts_mut(previous, z.len()))
            };
            for ((((old, inverse), r), z), product) in previous.iter_mut().zip(inverse).zip(r).zip(z).zip(product) {
                *old = step_entry(step.factors, *inverse, *r - *product, *z, || *old);
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.multiply_then(a, &values.0, &z.0, &mut scratch.0, update) };
        Ok(())
    }

    unsafe fn femses_gather<const N: usize, T: Real>(
        &self,
        elements: Elements<T>,
        u: &HostBuffer<T>,
        step: Step<T>,
        out: Scalar,
    ) -> Result<()> {
        let (n, u) = (u.len(), u.view());
        let of_rows = |rows: Range<usize>| {
            // SAFETY: the caller's promise; a row belongs to one chunk.
            [rows.map(|row| unsafe { elements.step::<N>(row, u, step) }).sum()]
        };
        let [sum] = add_up(parallel::map_ranges(n, CHUNK, &of_rows));
        self.set(out, sum);
        Ok(())
    }

    unsafe fn cg_persistent<F: Format, V: Stored>(
        &self,
        a: Laid<F>,
        values: &HostBuffer<V>,
        state: CgState<Self, V::Arithmetic>,
    ) -> Result<bool> {
        let Some(triangle) = a.triangle else { return Ok(false) };
        let CgState { inverse, u, r, p, history, steps, enough, rho: place, .. } = state;
        assert!([u.len(), r.len(), p.len()] == [inverse.len(); 3], "vectors of different lengths");
        assert!(HISTORY + RECORD * steps <= history.len(), "no room for the history of {steps} iterations");
        let [mut rho] = self.read([place])?;
        let mut room = self.sums.borrow_mut();
        let mut half = half_of(triangle, r.len(), &mut room);
        let (mut done, mut pq) = (0, 0.0);
        while done < steps {
            // SAFETY: the caller's promise; a matrix with a triangle is symmetric.
            pq = unsafe { a.layout.half_sums(&mut half, &values.0, &p.0) };
            // An iteration without curvature is not done.
            if pq.is_nan() || pq <= 0.0 {
                break;
            }
            let alpha = V::Arithmetic::from_f64(quotient(rho, pq));
            let [next, square] = add_up(parallel::map_chunks(&mut r.0, PART, &|first, r| {
                let mut q = [V::Arithmetic::ZERO; PART];
                let q = &mut q[..r.len()];
                half.rows(first, q);
                descend(alpha, q, &inverse.0[first..first + q.len()], r)
            }));
            let factors = [alpha, V::Arithmetic::from_f64(quotient(next, rho))];
            let residual = r.0.par_chunks(CHUNK).zip(inverse.0.par_chunks(CHUNK));
            let new = p.0.par_chunks_mut(CHUNK).zip(residual);
            u.0.par_chunks_mut(CHUNK).zip(new).for_each(|(u, (p, (r, inverse)))| {
                let z = r.iter().zip(inverse).map(|(r, inverse)| V::Arithmetic::from_f64((*inverse).into()) * *r);
                advance(factors, z, u, p);
            });
            history.0[HISTORY + RECORD * done..][..RECORD].copy_from_slice(&[square, next, pq]);
            (rho, done) = (next, done + 1);
            if square <= enough[0] || next <= enough[1] || square.is_nan() {
                break;
            }
        }
        self.set(place, rho);
        history.0[..HISTORY].copy_from_slice(&[done as f64, pq]);
        Ok(true)
    }

    fn cg_residual<T: Real>(
        &self,
        alpha: Quotient,
        q: &HostBuffer<T>,
        inverse: &HostBuffer<f32>,
        z: &mut HostBuffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        assert!(q.len() == z.len() && inverse.len() == z.len(), "vectors of different lengths");
        let alpha = T::from_f64(self.quotient(alpha));
        let chunks = z.0.par_chunks_mut(CHUNK).zip(q.0.par_chunks(CHUNK)).zip(inverse.0.par_chunks(CHUNK));
        let partials = chunks.map(|((z, q), inverse)| {
            let mut sums = [0.0; 2];
            for ((z, q), inverse) in z.iter_mut().zip(q).zip(inverse) {
                let inverse = f64::from(*inverse);
                *z -= alpha * T::from_f64(inverse) * *q;
                let residual = quotient(z.to_f64(), inverse);
                sums[0] += residual * z.to_f64();
                sums[1] += residual * residual;
            }
            sums
        });
        let [rz, rr] = add_up(partials.collect());
        self.set(out[0], rz);
        self.set(out[1], rr);
        Ok(())
    }

    fn cg_update<T: Real>(
        &self,
        [alpha, beta]: [Quotient; 2],
        z: &HostBuffer<T>,
        u: &mut HostBuffer<T>,
        p: &mut HostBuffer<T>,
    ) -> Result<()> {
        assert!([z.len(), u.len()] == [p.len(); 2], "vectors of different lengths");
        let [alpha, beta] = [alpha, beta].map(|quotient| T::from_f64(self.quotient(quotient)));
        let new = p.0.par_chunks_mut(CHUNK).zip(z.0.par_chunks(CHUNK));
        u.0.par_chunks_mut(CHUNK).zip(new).for_each(|(u, (p, z))| advance([alpha, beta], z.iter().copied(), u, p));
        Ok(())
    }
}
