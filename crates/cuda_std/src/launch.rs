//! What a launch needs of a kernel, on the host: its entry point's name, its parameters, and a way to run one thread.
//!
//! `#[kernel]` writes these implementations; one value of its type is one launch's parameter list.

use std::ffi::c_void;
use std::ops::Range;

/// The addresses of a kernel's parameters in order, as `cuLaunchKernel` takes them.
pub type Params = Vec<*mut c_void>;

/// The name of an entry point by its generic arguments: for each the place in its list and the length of that, the last
/// fastest. None if one is not in its list.
pub fn entry(names: &[&'static str], places: &[(Option<usize>, usize)]) -> Option<&'static str> {
    let place = places.iter().try_fold(0, |place, &(in_list, n)| Some(place * n + in_list?))?;
    names.get(place).copied()
}

/// A kernel with its parameters.
pub trait Kernel: Sync {
    /// The entry point's name in the PTX module.
    fn name(&self) -> &'static str;
    /// The addresses of the parameters, valid while `self` is.
    fn params(&self) -> Params;
    /// Runs the kernel for the emulated thread that is current.
    ///
    /// # Safety
    /// The parameters meet the kernel's own conditions.
    unsafe fn run_thread(&self);
}

/// A kernel that is a function of an item's index, with its parameters.
pub trait ItemKernel: Sync {
    /// The entry point's name in the PTX module.
    fn name(&self) -> &'static str;
    /// The addresses of the parameters after the number of items, valid while `self` is.
    fn params(&self) -> Params;
    /// Computes item `i`.
    ///
    /// # Safety
    /// The parameters meet the kernel's own conditions for item `i`.
    unsafe fn item(&self, i: usize);
    /// Computes one item after the other: what a host calls, so that a kernel is compiled once for it.
    ///
    /// # Safety
    /// As [`ItemKernel::item`], of all of them.
    #[inline(never)]
    unsafe fn items(&self, items: Range<usize>) {
        // SAFETY: the caller's promise.
        items.for_each(|i| unsafe { self.item(i) });
    }
    /// Computes these items together, as a CPU does, whose threads have many of them: `#[kernel(items, cpu = ..)]`
    /// names a function that does once what neighbours share, to the same bits.
    ///
    /// # Safety
    /// As [`ItemKernel::items`].
    #[inline]
    unsafe fn on_cpu(&self, items: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.items(items) }
    }
}
