//! What a CUDA kernel written in Rust calls: thread indices, barriers, warp operations, shared memory, atomics,
//! read-only loads and fused arithmetic.
//!
//! The same kernel source compiles twice. For `nvptx64` every function here is one or a few PTX instructions over
//! rustc's own NVPTX back end. For the host the same functions talk to the [SIMT emulator](emulator), which runs a
//! grid of threads on the CPU and checks indices, barriers and warp masks while it does. Names and signatures follow
//! the published `cuda_std`, which no current compiler builds.
//!
//! ```
//! use cuda_std::emulator::Emulator;
//! use cuda_std::prelude::*;
//!
//! /// y[i] += a x[i]
//! ///
//! /// # Safety
//! /// `x` and `y` hold at least as many items as the launch.
//! #[kernel(items, T = [f32, f64])]
//! pub unsafe fn axpy<T: GpuFloat>(i: usize, a: T, x: View<T>, y: ViewMut<T>) {
//!     // SAFETY: i is less than the number of items.
//!     unsafe { y.set(i, a.mul_add(x.at(i), y.at(i))) }
//! }
//!
//! # fn main() -> Result<(), cuda_std::emulator::EmulatorError> {
//! let (x, mut y) = (vec![1.0, 2.0, 3.0], vec![10.0, 20.0, 30.0]);
//! let kernel = Axpy { a: 2.0_f64, x: View::from_slice(&x), y: ViewMut::from_slice(&mut y) };
//! // SAFETY: x and y outlive the launch and hold three items each.
//! unsafe { Emulator::default().launch(1, 32, 0, &Items { n: 3, kernel })? };
//! assert_eq!(y, [12.0, 24.0, 36.0]);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features)
)]
#![cfg_attr(not(target_arch = "nvptx64"), feature(portable_simd))]

// `#[kernel]` names this crate by its full path, in here as elsewhere.
extern crate self as cuda_std;

pub mod atomic;
mod copy;
mod float;
mod place;
pub mod shared;
mod shuffle;
pub mod thread;
mod view;
pub mod warp;

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(not(target_arch = "nvptx64"))]
pub mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
mod items;
#[cfg(not(target_arch = "nvptx64"))]
mod lanes;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;

#[cfg(not(target_arch = "nvptx64"))]
use emulator::target;

#[cfg(target_arch = "nvptx64")]
use device as target;

pub use copy::DeviceCopy;
pub use cuda_std_macros::kernel;
pub use float::{GpuFloat, Number};
#[cfg(not(target_arch = "nvptx64"))]
pub use lanes::Lanes;
pub use view::{View, ViewMut};

/// The same number, of which the compiler knows nothing: a loop that counts with it is not unrolled on a device.
#[inline(always)]
pub fn opaque(n: usize) -> usize {
    #[cfg(target_arch = "nvptx64")]
    let n = {
        let copy: usize;
        // SAFETY: it copies a register.
        unsafe {
            core::arch::asm!("mov.b64 {r}, {n};", r = out(reg64) copy, n = in(reg64) n, options(pure, nomem, nostack))
        };
        copy
    };
    n
}

/// Everything a kernel's author needs: `use cuda_std::prelude::*;`.
pub mod prelude {
    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::items::Items;
    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::launch::{ItemKernel, Kernel};
    pub use crate::{DeviceCopy, GpuFloat, Number, View, ViewMut, atomic, kernel, shared, shared_array, thread, warp};
}
