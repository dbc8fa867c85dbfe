//! What the integration tests share: devices to run on, meshes and models, references written naively.

pub mod blocks;
pub mod elements;
pub mod fields;
pub mod meshes;
pub mod recorder;
pub mod reference;

pub use warpfem::verify::meshes::Random;

use cuda_std::emulator::{Emulator, Order};
use kernels_rs::real::Real;
use nalgebra::{DMatrix, DVector};
use std::sync::Once;
use warpfem::device::{DeviceName, Emulated};
use warpfem::linalg::{Quotient, Scalar, Space};
use warpfem::precond::Preconditioner;
use warpfem::sparse::{LinOp, Matrix};

/// Orders of lanes and of blocks in which a correct kernel gives the same result.
pub const ORDERS: [(Order, Order); 2] = [(Order::Forward, Order::Forward), (Order::Reverse, Order::Shuffled(2))];

/// The emulator that runs lanes and blocks in these orders.
pub fn emulated((lanes, blocks): (Order, Order)) -> Emulated {
    Emulated::new(Emulator { lane_order: lanes, block_order: blocks, ..Emulator::default() })
}

/// An emulator for each of [`ORDERS`]; none if `WARPFEM_TEST_EMULATOR=0`, for runs on a GPU that have no time for them.
pub fn emulators() -> Vec<Space> {
    if std::env::var_os("WARPFEM_TEST_EMULATOR").is_some_and(|value| value == "0") {
        return Vec::new();
    }
    ORDERS.map(emulator).into()
}

/// A space on the emulator that runs lanes and blocks in these orders.
pub fn emulator(orders: (Order, Order)) -> Space {
    Space::gpu(emulated(orders)).unwrap()
}

/// The GPU; where there is none, says so once.
pub fn gpu() -> Option<Space> {
    static SAID: Once = Once::new();
    match DeviceName::Auto.resolve() {
        gpu @ DeviceName::Cuda(_) => Some(Space::open(gpu).expect("the GPU opens")),
        _ => {
            SAID.call_once(|| println!("skipped: no CUDA device"));
            None
        }
    }
}

/// The CPU, the emulator, and the GPU if there is one.
pub fn devices() -> Vec<DeviceName> {
    let gpu = gpu().map(|_| DeviceName::Auto.resolve());
    [DeviceName::Cpu, DeviceName::Emulate].into_iter().chain(gpu).collect()
}

/// Calls the generic function `$check(space, arguments..)` on the CPU, on every emulator of [`ORDERS`], whose results
/// must be the same, and on the GPU if there is one; gives the results in this order.
macro_rules! on_every_device {
    ($check:expr $(, $argument:expr)*) => {{
        let check = $check;
        let mut results = crate::common::on_machines!(check $(, $argument)*);
        let emulated = crate::common::emulators().into_iter().map(|emulator| check(&emulator $(, $argument)*));
        let emulated: Vec<_> = emulated.collect();
        crate::common::assert_orders_agree(&emulated);
        results.splice(1..1, emulated);
        results
    }};
}
pub(crate) use on_every_device;

/// Tests by their names, of functions that check something on a space: on every device.
macro_rules! tests_on_every_device {
    ($($test:ident: $check:expr;)+) => { $(#[test]
        fn $test() {
            crate::common::on_every_device!($check);
        })+
    };
}
pub(crate) use tests_on_every_device;

/// The same without the emulators: on the CPU, and on the GPU if there is one.
macro_rules! on_machines {
    ($check:expr $(, $argument:expr)*) => {{
        let check = $check;
        let mut results = vec![check(&warpfem::linalg::Space::cpu() $(, $argument)*)];
        if let Some(gpu) = crate::common::gpu() {
            results.push(check(&gpu $(, $argument)*));
        }
        results
    }};
}
pub(crate) use on_machines;

/// The emulators' results are the same.
#[track_caller]
pub fn assert_orders_agree<R: PartialEq>(results: &[R]) {
    for (order, result) in ORDERS.iter().zip(results) {
        assert!(*result == results[0], "{order:?} gives another result than {:?}", ORDERS[0]);
    }
}

/// What a pool of so many threads makes of some work.
pub fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// In double precision.
pub fn floats<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

/// `z = M^-1 r` by a preconditioner.
pub fn applied<T: Real>(space: &Space, preconditioner: &dyn Preconditioner<T>, k: &Matrix<T>, r: &[T]) -> Vec<T> {
    let mut z = space.zeros(r.len()).unwrap();
    preconditioner.apply(space, k, &space.upload(r).unwrap(), &mut z).unwrap();
    space.download(&z).unwrap()
}

/// `M^-1`, column by column.
pub fn columns_of<T: Real>(space: &Space, preconditioner: &dyn Preconditioner<T>, k: &Matrix<T>) -> DMatrix<f64> {
    let column = |j: usize| {
        let unit: Vec<T> = (0..k.n()).map(|i| if i == j { T::ONE } else { T::ZERO }).collect();
        DVector::from_vec(floats(&applied(space, preconditioner, k, &unit)))
    };
    DMatrix::from_columns(&(0..k.n()).map(column).collect::<Vec<_>>())
}

/// The bits of numbers, for comparisons that take no rounding.
pub fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Puts a value into the bank of device-resident scalars.
pub fn set_scalar(space: &Space, scalar: Scalar, value: f64) {
    let (x, one) = (space.upload(&[value]).unwrap(), space.upload(&[1.0]).unwrap());
    space.dot(&x, &one, scalar).unwrap();
    space.finish().unwrap();
}

/// The quotient of two scalars that are put into the bank from place `at` on.
pub fn quotient(space: &Space, at: usize, num: f64, den: f64) -> Quotient {
    let quotient = Quotient::new(Scalar::new(at), Scalar::new(at + 1));
    set_scalar(space, quotient.num, num);
    set_scalar(space, quotient.den, den);
    quotient
}

/// Checks every entry against its reference: `|x - y| <= tolerance * scale`, with no NaN anywhere.
#[track_caller]
pub fn assert_close<T: Real>(what: &str, found: &[T], expected: &[f64], tolerance: f64, scale: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        let within = (x.to_f64() - y).abs() <= tolerance * scale;
        assert!(within, "{what}: entry {i} is {x}, not {y} (to {tolerance:.1e} of {scale:.1e})");
    }
}

/// The largest magnitude.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// Rounding errors of this precision, with some room for sums.
pub fn rounding<T: Real>() -> f64 {
    if T::NAME == "f32" { 4e-6 } else { 1e-14 }
}
