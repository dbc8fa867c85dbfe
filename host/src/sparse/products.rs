//! Products with a matrix in some format, and what follows them in one pass where that is faster.

use super::Triangle;
use super::format::{Format, Half, PART};
use crate::device::{Buffer, Device, Grid};
use crate::linalg::{CHUNK, Scalar, Space, add_up, advance, descend, inner, rows_mut, views, views_mut};
use crate::parallel;
use crate::result::Result;
use cuda_std::Number;
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::blas::quotient;
use kernels_rs::cg_persistent::{CgRun, CgVectors, HISTORY, RECORD, SLICE, max_slices};
use kernels_rs::precond::{PolynomialStep, Step, step_entry};
use kernels_rs::real::{Real, Stored};
use kernels_rs::reduce::BLOCK;
use kernels_rs::sparse::Spmv;
use kernels_rs::sparse::several::{Steps, THREADS};
use kernels_rs::vectors::{NARROW, Vectors, VectorsMut, WIDTH};
use std::cell::OnceCell;

/// What follows a product `y = A x`.
#[derive(Clone, Copy)]
pub enum Epilogue<T: Real> {
    /// Nothing.
    None,
    /// `out = x . y`.
    Dot(Scalar),
    /// A step of a polynomial preconditioner from x, which leaves its result in `previous`; y is scratch.
    ///
    /// The vectors of the step live, have the rows of the matrix, and are neither x nor y; nobody else has `previous`.
    Step(Step<T>),
}

impl<T: Real> Epilogue<T> {
    /// Does it after the product.
    ///
    /// # Safety
    /// What [`Epilogue::Step`] says.
    pub unsafe fn after(self, space: &Space, x: &Buffer<T>, y: &Buffer<T>) -> Result<()> {
        match self {
            Epilogue::None => Ok(()),
            Epilogue::Dot(out) => space.dot(x, y, out),
            // SAFETY: the caller's promise.
            Epilogue::Step(step) => unsafe {
                space.run(x.len(), PolynomialStep { step, z: x.view(), product: y.view() })
            },
        }
    }
}

/// What iterations of conjugate gradients in one go ([`kernels_rs::cg_persistent`]) iterate on, and how far.
pub struct CgState<'a, T: Real> {
    /// The inverse of the diagonal.
    pub inverse: &'a Buffer<f32>,
    /// The solution.
    pub u: &'a mut Buffer<T>,
    /// The residual.
    pub r: &'a mut Buffer<T>,
    /// Scratch.
    pub z: &'a mut Buffer<T>,
    /// The direction.
    pub p: &'a mut Buffer<T>,
    /// How it went: see [`kernels_rs::cg_persistent::CgRun::history`].
    pub history: &'a mut Buffer<f64>,
    /// Iterations at most.
    pub steps: usize,
    /// Where `r . r` is not above the first or `r . z` not above the second, the iteration ends.
    pub enough: [f64; 2],
    /// `r . z`.
    pub rho: Scalar,
}

/// The steps that follow products with several vectors, if all that follows is steps.
fn steps_of<T: Real>(epilogues: &[Epilogue<T>]) -> Option<Steps<T>> {
    let step = |epilogue: &Epilogue<T>| if let Epilogue::Step(step) = epilogue { Some(*step) } else { None };
    let steps: Vec<Step<T>> = epilogues.iter().map(step).collect::<Option<_>>()?;
    let first = *steps.first()?;
    let r = Vectors(std::array::from_fn(|k| steps.get(k).unwrap_or(&first).r));
    let none = || ViewMut::from_slice(&mut []);
    let previous = VectorsMut(std::array::from_fn(|k| steps.get(k).map_or_else(none, |step| step.previous)));
    Some(Steps { factors: first.factors, inverse: first.inverse, r, previous })
}

/// What a product of `n` rows by half of a matrix takes, in a room that grows as it must.
fn half_of<'a, T: Real>(triangle: &'a Triangle, n: usize, room: &'a mut Vec<f64>) -> Half<'a, T> {
    let size = n / triangle.n_rows.max(1);
    let n_sums = triangle.n_sums(size);
    room.resize(room.len().max((n_sums * size_of::<T>()).div_ceil(size_of::<f64>())), 0.0);
    Half { triangle, size, sums: &mut bytemuck::cast_slice_mut(room)[..n_sums] }
}

/// The products of a format, once its type is forgotten.
pub trait Products<V: Stored> {
    /// `y = A x`, and what follows.
    ///
    /// # Safety
    /// The values are those of this matrix, symmetric if that is said, and x and y have its rows; and what
    /// [`Epilogue::Step`] says.
    unsafe fn multiply(
        &self,
        space: &Space,
        symmetric: bool,
        values: &Buffer<V>,
        x: &Buffer<V::Arithmetic>,
        y: &mut Buffer<V::Arithmetic>,
        epilogue: Epilogue<V::Arithmetic>,
    ) -> Result<()>;

    /// Products with up to [`WIDTH`] vectors in one pass over the matrix, and what follows each; false, and nothing done, if
    /// this device or format has no such thing.
    ///
    /// # Safety
    /// As `multiply` for each vector; the steps differ in `r` and `previous` alone.
    unsafe fn multiply_several(
        &self,
        space: &Space,
        n_rows: usize,
        values: &Buffer<V>,
        x: &[Buffer<V::Arithmetic>],
        y: &mut [Buffer<V::Arithmetic>],
        epilogues: &[Epilogue<V::Arithmetic>],
    ) -> Result<bool>;

    /// Iterations of conjugate gradients in one go, as [`kernels_rs::cg_persistent`] says; false if this device or
    /// format has no such thing, or the device no room for that many unknowns: then `z` alone may have changed.
    ///
    /// # Safety
    /// As `multiply` for the vectors of `state`.
    unsafe fn iterate(
        &self,
        space: &Space,
        symmetric: bool,
        values: &Buffer<V>,
        state: CgState<V::Arithmetic>,
    ) -> Result<bool>;
}

/// A format's index arrays.
pub struct Arrays<F: Format> {
    arrays: F::Arrays,
    n_items: usize,
    /// What products can do with if the matrix is symmetric, found when the first one asks.
    triangle: OnceCell<Option<Triangle>>,
}

impl<F: Format> Arrays<F> {
    /// Those of a matrix of so many items.
    pub fn new(arrays: F::Arrays, n_items: usize) -> Self {
        Arrays { arrays, n_items, triangle: OnceCell::new() }
    }

    fn view(&self, space: &Space, symmetric: bool) -> MatrixView<'_, F> {
        // SAFETY: the arrays are of this device, on the host.
        let find = || unsafe { F::triangle(&self.arrays) };
        let has_half = symmetric && space.on_host();
        let triangle = if has_half { self.triangle.get_or_init(find).as_ref() } else { None };
        MatrixView { layout: F::view(&self.arrays), n_items: self.n_items, triangle }
    }
}

impl<F: Format, V: Stored> Products<V> for Arrays<F> {
    unsafe fn multiply(
        &self,
        space: &Space,
        symmetric: bool,
        values: &Buffer<V>,
        x: &Buffer<V::Arithmetic>,
        y: &mut Buffer<V::Arithmetic>,
        epilogue: Epilogue<V::Arithmetic>,
    ) -> Result<()> {
        let view = self.view(space, symmetric);
        if space.on_host() {
            // SAFETY: the caller's promise.
            unsafe { view.on_cpu(space, values.host(), x.host(), y.host_mut(), epilogue) };
            return Ok(());
        }
        let MatrixView { layout: a, n_items, .. } = view;
        let (values, blocks) = (values.view(), n_items.div_ceil(BLOCK));
        // SAFETY: the caller's promise; y is borrowed uniquely.
        unsafe {
            match epilogue {
                Epilogue::Dot(out) => {
                    let to = space.reduction(blocks.max(1), [out])?;
                    if let Some(kernel) = a.spmv_dot(n_items, values, x.view(), y.view_mut(), to) {
                        return space.launch_sum(blocks.max(1), kernel);
                    }
                }
                Epilogue::Step(step) => {
                    if let Some(kernel) = a.spmv_step(n_items, values, x.view(), step) {
                        return space.launch(Grid::new(blocks, BLOCK), kernel);
                    }
                }
                Epilogue::None => {}
            }
            let kernel = Spmv { n_items, a, values, x: x.view(), y: y.view_mut() };
            space.launch(Grid::new((n_items * F::LANES).div_ceil(BLOCK), BLOCK), kernel)?;
            epilogue.after(space, x, y)
        }
    }

    unsafe fn multiply_several(
        &self,
        space: &Space,
        n_rows: usize,
        values: &Buffer<V>,
        x: &[Buffer<V::Arithmetic>],
        y: &mut [Buffer<V::Arithmetic>],
        epilogues: &[Epilogue<V::Arithmetic>],
    ) -> Result<bool> {
        let Some(values) = V::numbers(values.view()).filter(|_| !space.on_host()) else { return Ok(false) };
        let (a, x) = (F::view(&self.arrays), (x, views(x)));
        // SAFETY: the caller's promise.
        unsafe {
            if space.is_idle_with(n_rows) {
                launch_several::<F, NARROW, _>(space, (a, n_rows), values, x, y, epilogues)
            } else {
                launch_several::<F, WIDTH, _>(space, (a, n_rows), values, x, y, epilogues)
            }
        }
    }

    unsafe fn iterate(
        &self,
        space: &Space,
        symmetric: bool,
        values: &Buffer<V>,
        state: CgState<V::Arithmetic>,
    ) -> Result<bool> {
        assert!(HISTORY + RECORD * state.steps <= state.history.len(), "no room for {} iterations", state.steps);
        let view = self.view(space, symmetric);
        // SAFETY: the caller's promise.
        unsafe {
            match space.on_host() {
                true => view.iterate_on_cpu(space, values.host(), state),
                false => view.iterate_on_gpu(space, values, state),
            }
        }
    }
}

/// [`Products::multiply_several`] with W vectors a thread.
unsafe fn launch_several<F: Format, const W: usize, T: Real>(
    space: &Space,
    (a, n_rows): (F, usize),
    values: View<T>,
    (x, x_views): (&[Buffer<T>], Vectors<T, WIDTH>),
    y: &mut [Buffer<T>],
    epilogues: &[Epilogue<T>],
) -> Result<bool> {
    let grid = Grid::new(n_rows.div_ceil(THREADS) * (WIDTH / W), THREADS);
    // SAFETY: the caller's promise; y is borrowed uniquely.
    unsafe {
        if let Some(steps) = steps_of(epilogues) {
            let Some(kernel) = a.steps::<W, T>(n_rows, values, x_views, steps) else { return Ok(false) };
            space.launch(grid, kernel)?;
            return Ok(true);
        }
        let Some(kernel) = a.products::<W, T>(n_rows, values, x_views, views_mut(y)) else { return Ok(false) };
        space.launch(grid, kernel)?;
        for ((x, y), epilogue) in x.iter().zip(y).zip(epilogues) {
            epilogue.after(space, x, y)?;
        }
    }
    Ok(true)
}

/// A matrix as a device multiplies by it.
struct MatrixView<'a, F> {
    layout: F,
    n_items: usize,
    /// What the CPU reads of it, if it is symmetric and the format can do with half.
    triangle: Option<&'a Triangle>,
}

/// The unsafe functions here want what those of [`Products`] want.
impl<F: Format> MatrixView<'_, F> {
    unsafe fn on_cpu<V: Stored>(
        self,
        space: &Space,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        epilogue: Epilogue<V::Arithmetic>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match epilogue {
                Epilogue::None => {
                    self.multiply_then(space, values, x, y, |_, _| ());
                }
                Epilogue::Dot(out) => {
                    let dot = |first: usize, y: &[V::Arithmetic]| [inner(&x[first..first + y.len()], y)];
                    space.set([out], add_up(self.multiply_then(space, values, x, y, dot)));
                }
                Epilogue::Step(step) => {
                    let shortest = step.inverse.len().min(step.r.len()).min(step.previous.len());
                    assert!(shortest >= x.len(), "vectors too short");
                    self.multiply_then(space, values, x, y, |first, product| advance_step(step, first, x, product));
                }
            }
        }
    }

    /// `y = A x`, and what `then` says of the parts of y: see [`Format::multiply_then`].
    unsafe fn multiply_then<V: Stored, R: Send>(
        self,
        space: &Space,
        values: &[V],
        x: &[V::Arithmetic],
        y: &mut [V::Arithmetic],
        then: impl Fn(usize, &[V::Arithmetic]) -> R + Sync,
    ) -> Vec<R> {
        let Some(triangle) = self.triangle else {
            // SAFETY: the caller's promise.
            return unsafe { self.layout.multiply_then(self.n_items, values, x, y, then) };
        };
        let mut room = space.scratch();
        let mut half = half_of(triangle, y.len(), &mut room);
        // SAFETY: the caller's promise; a matrix with a triangle is symmetric.
        unsafe { self.layout.half_sums(&mut half, values, x) };
        parallel::map_chunks(y, PART, &|first, y| {
            half.rows(first, y);
            then(first, y)
        })
    }

    unsafe fn iterate_on_gpu<V: Stored>(
        self,
        space: &Space,
        values: &Buffer<V>,
        state: CgState<V::Arithmetic>,
    ) -> Result<bool> {
        let (a, n_rows) = (self.layout, self.n_items);
        let CgState { inverse, u, r, z, p, history, steps, enough, rho } = state;
        let n = inverse.len();
        let Some(values) = V::numbers(values.view()) else { return Ok(false) };
        assert!([&*u, &*r, &*z, &*p].map(Buffer::len) == [n; 4], "vectors of different lengths");
        let v =
            CgVectors { inverse: inverse.view(), u: u.view_mut(), r: r.view_mut(), z: z.view_mut(), p: p.view_mut() };
        let mut run = {
            let mut bank = space.bank();
            CgRun {
                steps,
                enough,
                shared_bytes: 0,
                barrier: bank.barrier.view_mut(),
                partials: bank.partials.view_mut(),
                history: history.view_mut(),
                scalars: bank.scalars.view_mut(),
                rho: rho.place(),
            }
        };
        let Some(kernel) = a.cg_persistent(n_rows, values, v, run) else { return Ok(false) };
        let Device::Gpu(launcher) = &**space else { return Ok(false) };
        let n_slices = n_rows.div_ceil(SLICE).max(1);
        let resident = launcher.resident_grid(BLOCK, &kernel)?;
        let blocks = resident.blocks.min(n_slices);
        if blocks == 0 || n_slices.div_ceil(blocks) > max_slices(F::ROWS) {
            return Ok(false);
        }
        run.shared_bytes = resident.shared_bytes;
        space.fill(V::Arithmetic::ZERO, z)?;
        let Some(kernel) = a.cg_persistent(n_rows, values, v, run) else { return Ok(false) };
        // SAFETY: the caller's promise; all vectors have n entries and are borrowed uniquely where they are written.
        unsafe { launcher.launch_cooperative(Grid { blocks, ..resident }, &kernel) }
    }

    unsafe fn iterate_on_cpu<V: Stored>(
        self,
        space: &Space,
        values: &[V],
        state: CgState<V::Arithmetic>,
    ) -> Result<bool> {
        let Some(triangle) = self.triangle else { return Ok(false) };
        let CgState { inverse, u, r, p, history, steps, enough, rho: place, .. } = state;
        assert!([&*u, &*r, &*p].map(Buffer::len) == [inverse.len(); 3], "vectors of different lengths");
        let (inverse, u, r, p) = (inverse.host(), u.host_mut(), r.host_mut(), p.host_mut());
        let [mut rho] = space.read([place])?;
        let mut room = space.scratch();
        let mut half = half_of(triangle, r.len(), &mut room);
        let (mut done, mut pq) = (0, 0.0);
        while done < steps {
            // SAFETY: the caller's promise; a matrix with a triangle is symmetric.
            pq = unsafe { self.layout.half_sums(&mut half, values, p) };
            // An iteration without curvature is not done.
            if pq.is_nan() || pq <= 0.0 {
                break;
            }
            let alpha = V::Arithmetic::from_f64(quotient(rho, pq));
            let [next, square] = add_up(parallel::map_chunks(r, PART, &|first, r| {
                let mut q = [V::Arithmetic::ZERO; PART];
                let q = &mut q[..r.len()];
                half.rows(first, q);
                descend(alpha, q, &inverse[first..first + q.len()], r)
            }));
            let factors = [alpha, V::Arithmetic::from_f64(quotient(next, rho))];
            let given = r.chunks(CHUNK).zip(inverse.chunks(CHUNK));
            parallel::map(u.chunks_mut(CHUNK).zip(p.chunks_mut(CHUNK)).zip(given), &|((u, p), (r, inverse))| {
                let z = r.iter().zip(inverse).map(|(r, inverse)| V::Arithmetic::from_f64((*inverse).into()) * *r);
                advance(factors, z, u, p);
            });
            history.host_mut()[HISTORY + RECORD * done..][..RECORD].copy_from_slice(&[square, next, pq]);
            (rho, done) = (next, done + 1);
            if square <= enough[0] || next <= enough[1] || square.is_nan() {
                break;
            }
        }
        space.set([place], [rho]);
        history.host_mut()[..HISTORY].copy_from_slice(&[done as f64, pq]);
        Ok(true)
    }
}

/// The step's rows from `first` on, of which this is the product.
///
/// # Safety
/// What [`Epilogue::Step`] says, on the CPU; nobody else has these rows.
unsafe fn advance_step<T: Real>(step: Step<T>, first: usize, x: &[T], product: &[T]) {
    let rows = first..first + product.len();
    let x = &x[rows.clone()];
    // SAFETY: the caller's promise.
    let (inverse, r, previous) =
        unsafe { (step.inverse.slice(rows.clone()), step.r.slice(rows.clone()), rows_mut(step.previous, rows)) };
    for ((((old, inverse), r), x), product) in previous.iter_mut().zip(inverse).zip(r).zip(x).zip(product) {
        *old = step_entry(step.factors, *inverse, *r - *product, *x, || *old);
    }
}
