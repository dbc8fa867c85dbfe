//! `cg_persistent`: many iterations in one launch; and what the CPU does in its place.

use crate::common::blocks::{Blocks, band, random_sparsity, sparsity};
use crate::common::recorder::Recorder;
use crate::common::{Random, assert_close, bits, largest, rounding};
use kernels_rs::cg_persistent::{HISTORY, RECORD, max_slices};
use kernels_rs::real::Real;
use warpfem::device::Buffer;
use warpfem::linalg::{Scalar, Space};
use warpfem::precond::{self, Context};
use warpfem::result::choices::{Format, Preconditioner};
use warpfem::sparse::CgState;
use warpfem::sparse::{LinOp, Matrix, Sparsity};

const RHO: Scalar = Scalar::new(2);

/// An iteration's state.
#[derive(Clone)]
struct State {
    u: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    rho: f64,
    pq: f64,
    /// `r . r` after each iteration.
    squares: Vec<f64>,
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The state from which the iteration starts, with u = 0.
fn start(blocks: &Blocks, f: &[f64]) -> (Vec<f64>, State) {
    let mut inverse = vec![0.0; blocks.n()];
    blocks.for_each(|row, column, value| {
        if row == column {
            // In single precision, as a preconditioner has it.
            inverse[row] = f64::from((1.0 / value) as f32)
        }
    });
    let p: Vec<f64> = inverse.iter().zip(f).map(|(inverse, f)| inverse * f).collect();
    let rho = dot(f, &p);
    (inverse, State { u: vec![0.0; blocks.n()], r: f.to_vec(), p, rho, pq: 0.0, squares: Vec::new() })
}

/// Saad 2003, alg. 9.1, line by line.
fn iterate(blocks: &Blocks, inverse: &[f64], state: &mut State) {
    let q = blocks.product(&state.p);
    state.pq = dot(&state.p, &q);
    let alpha = state.rho / state.pq;
    state.u.iter_mut().zip(&state.p).for_each(|(u, p)| *u += alpha * p);
    state.r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
    let z: Vec<f64> = inverse.iter().zip(&state.r).map(|(inverse, r)| inverse * r).collect();
    let rho = dot(&state.r, &z);
    let beta = rho / state.rho;
    state.rho = rho;
    state.p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
    state.squares.push(dot(&state.r, &state.r));
}

pub fn cg_persistent(space: &Space) -> Vec<u64> {
    // Blocks of one, two, or as many slices as there can be.
    let is_emulated = space.name() == "emulator";
    let mut found = Vec::new();
    for size in 1..=3 {
        let many = if is_emulated { 8 * 32 * max_slices(size) - 5 } else { 10_001 };
        for n in [1, 33, 257, 500, many] {
            found.extend(persistent(space, n, size, random_sparsity(n, 8, 3)));
        }
        // The CPU, too, cuts these in parts.
        let local = persistent(space, many, size, band(many, 5, 40, &[]));
        assert!(!local.is_empty());
        found.extend(local);
    }
    assert!(!is_emulated || found.len() > 1000);
    refuses_what_has_no_room(space);
    found
}

/// Of the launches here, blocks have room for nothing, for a few values, for their neighbours alone, with some values,
/// and for all. Two rows name every other row: their blocks have no room for their neighbours when the rest do.
#[test]
fn what_has_a_place_in_shared_memory_changes_no_bit() {
    fn check<T: Real>(size: usize) {
        let n = 8 * 32 * max_slices(size) - 5;
        let mut neighbours: Vec<Vec<usize>> = (0..n).map(|i| vec![(i + 1) % n, (i + n - 1) % n]).collect();
        for hub in [3, n / 2] {
            for other in (hub % 2..n).step_by(2) {
                neighbours[hub].push(other);
                neighbours[other].push(hub);
            }
        }
        let blocks = Blocks::dominant(sparsity(&neighbours), size, 0.25, 5);
        let bits = [0, 1, 2, 4, 8, 16, 64, 224].map(|kilobytes| {
            let space = Recorder { shared_bytes: Some(kilobytes << 10), ..Recorder::default() }.space().unwrap();
            iterated::<T>(&space, &blocks, &[3])
        });
        assert!(!bits[0].is_empty() && bits.iter().all(|found| *found == bits[0]), "{size} unknowns a row");
    }
    for size in 1..=3 {
        check::<f32>(size);
        check::<f64>(size);
    }
}

fn refuses_what_has_no_room(space: &Space) {
    let n = if space.name() == "emulator" { 8 * 32 * max_slices(3) + 1 } else { 300_000 };
    let blocks = Blocks::dominant(random_sparsity(n, 2, 3), 3, 0.25, 5);
    let matrix: Matrix<f32> = symmetric(space, &blocks);
    let jacobi = precond::build(Preconditioner::Jacobi, &Context::of_order(1), space, &matrix).unwrap();
    let mut vectors = [(); 3].map(|()| space.zeros(3 * n).unwrap());
    let mut history = space.zeros(HISTORY + RECORD).unwrap();
    assert!(!launch(space, &matrix, &*jacobi, &mut vectors, &mut history, (1, 0.0)), "{n} rows");
}

/// Iterates on u, r and p; says whether there is such a launch.
fn launch<T: Real>(
    space: &Space,
    matrix: &Matrix<T>,
    jacobi: &dyn precond::Preconditioner<T>,
    [u, r, p]: &mut [Buffer<T>; 3],
    history: &mut Buffer<f64>,
    (steps, enough): (usize, f64),
) -> bool {
    let (inverse, mut z) = (jacobi.diagonal().unwrap(), space.zeros(matrix.n()).unwrap());
    let state = CgState { inverse, u, r, z: &mut z, p, history, steps, enough: [enough, -1.0], rho: RHO };
    matrix.fused_cg(space, state).unwrap()
}

/// The matrix in the format that has such a launch, known to be symmetric.
fn symmetric<T: Real>(space: &Space, blocks: &Blocks) -> Matrix<T> {
    let mut matrix = blocks.upload(space, Format::Ebw);
    matrix.promise_symmetric();
    matrix
}

fn persistent(space: &Space, n: usize, size: usize, sparsity: Sparsity) -> Vec<u64> {
    let blocks = Blocks::dominant(sparsity, size, 0.25, 5);
    // A single row is solved sooner, and many take their time on the emulator.
    let steps: &[usize] = match n {
        1 => &[0, 1],
        1000.. => &[4, 5],
        _ => &[0, 1, 4, 5],
    };
    [iterated::<f32>(space, &blocks, steps), iterated::<f64>(space, &blocks, steps)].concat()
}

/// The bits of what comes of so many iterations, each time from the start.
fn iterated<T: Real>(space: &Space, blocks: &Blocks, steps: &[usize]) -> Vec<u64> {
    let matrix: Matrix<T> = symmetric(space, blocks);
    let jacobi = precond::build(Preconditioner::Jacobi, &Context::of_order(1), space, &matrix).unwrap();
    let f: Vec<T> = Random(7).vector(blocks.n());
    let f: Vec<f64> = f.iter().map(|f| f.to_f64()).collect();
    let (inverse, first) = start(blocks, &f);
    let mut found = Vec::new();
    for &steps in steps {
        let mut expected = first.clone();
        (0..steps).for_each(|_| iterate(blocks, &inverse, &mut expected));
        // To the end, and to where the residual is small enough before.
        let floor = (100.0 * rounding::<T>()).powi(2) * first.squares_scale();
        let last = expected.squares.last().map_or(f64::INFINITY, |square| 1.001 * square + floor);
        let far = [(steps, 0.0), (steps + 20, last)];
        for (most, enough) in far.into_iter().take(if steps == 0 { 1 } else { 2 }) {
            found.extend(compare::<T>(space, &matrix, &*jacobi, &first, &expected, (most, enough)));
        }
    }
    found
}

fn compare<T: Real>(
    space: &Space,
    matrix: &Matrix<T>,
    jacobi: &dyn precond::Preconditioner<T>,
    first: &State,
    expected: &State,
    (steps, enough): (usize, f64),
) -> Vec<u64> {
    let upload = |v: &[f64]| space.upload(&v.iter().map(|v| T::from_f64(*v)).collect::<Vec<T>>()).unwrap();
    let mut vectors = [&first.u, &first.r, &first.p].map(|v| upload(v));
    space.dot(&vectors[1], &vectors[2], RHO).unwrap();
    let mut history = space.upload(&vec![-1.0; HISTORY + RECORD * (steps + 1)]).unwrap();
    let n = matrix.n();
    if !launch(space, matrix, jacobi, &mut vectors, &mut history, (steps, enough)) {
        assert!(n > 3000, "every device has room for {n} unknowns");
        return Vec::new();
    }
    let [rho] = space.read([RHO]).unwrap();
    let all = space.download(&history).unwrap();
    let (done, pq, history) = (all[0], all[1], &all[HISTORY..]);
    let k = expected.squares.len();
    assert_eq!(done as usize, k, "iterations of {n} unknowns");
    let tolerance = 50.0 * rounding::<T>();
    let scale = first.squares_scale();
    let (records, unwritten) = history.split_at(RECORD * k);
    let of = |place: usize| -> Vec<f64> { records.iter().skip(place).step_by(RECORD).copied().collect() };
    assert_close("r . r", &of(0), &expected.squares, tolerance, scale);
    assert_eq!(of(1).last().copied(), (k > 0).then_some(rho), "r . z after the last iteration");
    assert_eq!(of(2).last().copied(), (k > 0).then_some(pq), "its p . q");
    assert!(unwritten.iter().all(|number| *number == -1.0), "no more is written");
    if k > 0 {
        assert_close("p . q", &[pq], &[expected.pq], tolerance, expected.pq.abs().max(1e-3 * scale));
    }
    assert_close("r . z", &[rho], &[expected.rho], tolerance, first.rho);
    let mut found = bits(&all);
    let [u, r, p] = &vectors;
    for (what, found_on_device, expected, scale) in [
        ("u", u, &expected.u, largest(&expected.u)),
        ("r", r, &expected.r, largest(&first.r)),
        ("p", p, &expected.p, largest(&first.p)),
    ] {
        let vector = space.download(found_on_device).unwrap();
        let values: Vec<f64> = vector.iter().map(|v| v.to_f64()).collect();
        assert_close(what, &values, expected, tolerance, scale.max(f64::MIN_POSITIVE));
        found.extend(bits(&vector));
    }
    found
}

impl State {
    /// What sums of squares are measured by.
    fn squares_scale(&self) -> f64 {
        dot(&self.r, &self.r)
    }
}
