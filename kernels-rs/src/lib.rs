//! Device code of warpfem: the mathematics of the finite element method as pure functions, and the kernels that run
//! them over rows, elements and vectors.
//!
//! Everything here compiles twice: to PTX for NVIDIA GPUs, and to the host, where the CPU backend calls the same
//! functions and the SIMT emulator runs the same kernels. Nothing allocates and nothing panics on a device.
//!
//! | equation or algorithm | where |
//! | --- | --- |
//! | shape functions, quadrature | [`element`] |
//! | `D`, element blocks, von Mises | [`material`] |
//! | elasticity and conduction: blocks, strain, stress | [`form`] |
//! | `K = sum_e K_e`, supports, `f = sum_e f_e` | [`assembly`] |
//! | `y = K x` | [`sparse`] |
//! | `y = K x` without K | [`matrix_free`] |
//! | conjugate gradients' vector steps | [`cg`], [`blas`] |
//! | products and combinations of several vectors | [`vectors`] |
//! | preconditioners | [`precond`] |
//! | smoothed aggregation multigrid | [`amg`] |
//! | couplings, `T^T (K (T x))` | [`coupling`] |
//! | `K = L L^T`, dense | [`cholesky`] |
//! | the iteration on element matrices | [`femses`] |
//! | sums by connected part, for error estimates | [`parts`] |
//! | running sums, sorting, adjacency, sparsity, slots | [`setup`] |
//! | thermal strain | [`eigenstrain`] |
//! | stress, energy and gradients in elements | [`stress`] |
//! | stress and gradient at the nodes | [`nodal`] |
//!
//! # Safety of kernels
//!
//! Kernels and the functions they are made of are `unsafe`: they read and write through [`cuda_std::View`]s without
//! bounds checks on the device. Callers promise that every view is alive for the launch, holds the shape its
//! documentation gives, and that no two views of one launch overlap unless both are only read; and that an index is one
//! of what it counts: cells of the mesh, rows of the matrix, entries of a block. On the host every access is checked, so
//! the emulator finds what breaks the promise.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch, stdarch_nvptx))]
#![cfg_attr(not(target_arch = "nvptx64"), feature(portable_simd))]
#![allow(clippy::needless_range_loop, reason = "indices are what the equations have")]
#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel is unsafe as a whole: see the crate's section on safety")]
#![allow(clippy::missing_safety_doc, reason = "what all functions ask is in the crate's section on safety")]

pub mod amg;
pub mod assembly;
pub mod blas;
pub mod cg;
pub mod cg_persistent;
pub mod cholesky;
pub mod coupling;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
pub mod eigenstrain;
pub mod element;
pub mod femses;
pub mod form;
pub mod half;
pub mod material;
pub mod matrix_free;
pub mod nodal;
pub mod parts;
pub mod precond;
pub mod real;
pub mod reduce;
pub mod setup;
pub mod sparse;
pub mod stress;
pub mod vectors;

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: `trap` ends the kernel; the host sees the launch fail.
    unsafe { core::arch::nvptx::trap() }
}
