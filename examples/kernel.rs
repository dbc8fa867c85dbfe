//! A kernel of one's own, from the equation to a launch: `cargo run --release --example kernel`.
//!
//! It is written once, and runs on the threads of the CPU and on the emulator of a GPU, which checks every index. To
//! run on a GPU it belongs in `kernels-rs`, where PTX is made of it; nothing else changes.

// A kernel is unsafe as a whole: its safety section says what its views must be.
#![allow(unsafe_op_in_unsafe_fn)]

use cuda_std::prelude::*;
use kernels_rs::real::Real;
use warpfem::device::Emulated;
use warpfem::linalg::Space;

/// Computes: `y_i = a + x_i (b + x_i c)`.
///
/// Parameters: `x, y [n]`.
/// Thread mapping: an item per entry.
/// Memory moved: two words per entry. Operations: two.
///
/// # Safety
/// x and y have at least as many entries as there are items, and do not overlap.
#[kernel(items, T = [f32, f64])]
pub unsafe fn parabola<T: Real>(i: usize, a: T, b: T, c: T, x: View<T>, y: ViewMut<T>) {
    let x = x.at(i);
    y.set(i, a + x * (b + x * c));
}

/// The values of `1 - 2 x + 3 x^2` on a device.
fn on(space: &Space, x: &[f64]) -> warpfem::result::Result<Vec<f64>> {
    let (x, mut y) = (space.upload(x)?, space.zeros(x.len())?);
    let kernel = Parabola { a: 1.0, b: -2.0, c: 3.0, x: x.view(), y: y.view_mut() };
    // SAFETY: both live, are different, and have the same length.
    unsafe { space.run(x.len(), kernel) }?;
    space.download(&y)
}

fn main() -> warpfem::result::Result<()> {
    let x: Vec<f64> = (0..1000).map(|i| 1e-3 * f64::from(i)).collect();
    let cpu = on(&Space::cpu(), &x)?;
    let emulator = on(&Space::gpu(Emulated::default())?, &x)?;
    assert_eq!(cpu, emulator);
    assert!(x.iter().zip(&cpu).all(|(x, y)| (y - (1.0 - 2.0 * x + 3.0 * x * x)).abs() < 1e-15));
    println!("{} values, the same on the CPU and on the emulator", cpu.len());
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
