//! A launch of one thread for each item.

use crate::launch::{ItemKernel, Kernel, Params};
use crate::thread;

/// The launch of an item kernel over `n` items, one thread each, in a one-dimensional grid of at least `n` threads.
#[derive(Clone, Copy, Debug)]
pub struct Items<K: ItemKernel> {
    /// Number of items.
    pub n: usize,
    /// The kernel and its parameters.
    pub kernel: K,
}

impl<K: ItemKernel> Kernel for Items<K> {
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    fn params(&self) -> Params {
        let mut params = Params::from([(&raw const self.n).cast_mut().cast()]);
        params.extend(self.kernel.params());
        params
    }

    #[inline]
    unsafe fn run_thread(&self) {
        let i = thread::index_1d() as usize;
        if i < self.n {
            // SAFETY: the caller's promise; i is an item.
            unsafe { self.kernel.items(i..i + 1) }
        }
    }
}
