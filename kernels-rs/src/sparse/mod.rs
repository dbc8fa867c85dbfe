//! Sparse matrices of `d x d` blocks (d = 1, 2, 3, in EBW also 6): one file per storage format, each with its index
//! arrays and the product of a row.
//!
//! The products of all formats are one kernel, [`spmv`], over [`Layout`]; assembly and supports see every format
//! through [`Entries`], which says where an entry is kept.

pub mod bcsr;
pub mod bell;
pub mod compress;
pub mod csr;
pub mod csr_vector;
pub mod dense;
pub mod dense_block;
pub mod ebw;
pub mod ebw16;
pub mod ebw_row;
pub mod ell;
pub mod ell_row;
pub mod ell_warp;
pub mod entries;
pub mod pattern;
pub mod sell;
pub mod several;
pub mod sliced;

pub use bcsr::Bcsr;
pub use bell::Bell;
pub use csr::Csr;
pub use csr_vector::CsrVector;
pub use dense::Dense;
pub use dense_block::DenseBlock;
pub use ebw::Ebw;
pub use ebw16::Ebw16;
pub use ell::Ell;
pub use ell_row::EllRow;
pub use ell_warp::EllWarp;
pub use entries::Entries;
pub use pattern::PatternView;
pub use sell::Sell;

use crate::half::F16;
use crate::real::{Arithmetic, Real, Stored};
use cuda_std::prelude::*;

/// Formats of blocks as entry points name them: with the block size, and with the height of slices if it is not 32.
#[allow(missing_docs, reason = "a name says all")]
mod of_blocks {
    use super::{Bcsr, Bell, Ebw, Ebw16, ebw_row::EbwRow};

    pub type Bcsr1 = Bcsr<1>;
    pub type Bcsr2 = Bcsr<2>;
    pub type Bcsr3 = Bcsr<3>;
    pub type Bell1 = Bell<1>;
    pub type Bell2 = Bell<2>;
    pub type Bell3 = Bell<3>;
    pub type Ebw1 = Ebw<1, 32>;
    pub type Ebw2 = Ebw<2, 32>;
    pub type Ebw3 = Ebw<3, 32>;
    pub type Ebw1x64 = Ebw<1, 64>;
    pub type Ebw2x64 = Ebw<2, 64>;
    pub type Ebw3x64 = Ebw<3, 64>;
    pub type Ebw1x128 = Ebw<1, 128>;
    pub type Ebw2x128 = Ebw<2, 128>;
    pub type Ebw3x128 = Ebw<3, 128>;
    pub type Ebw16D1 = Ebw16<1>;
    pub type Ebw16D2 = Ebw16<2>;
    pub type Ebw16D3 = Ebw16<3>;
    pub type Ebw6 = EbwRow<6, 32>;
}
pub use of_blocks::*;

/// Calls `$callback! { $arguments file { Format = "word": Type, ..; .. } .. }` with every storage format: the only list of
/// them. The file is that of the host's half; formats of blocks have a type for each block size.
#[macro_export]
macro_rules! for_each_format {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! {
            $($argument)*
            dense {
                Dense = "dense": Dense;
                DenseBlock = "dense_block": DenseBlock;
            }
            csr {
                Csr = "csr": Csr;
                CsrVector = "csr_vector": CsrVector;
            }
            bcsr { Bcsr = "bcsr": Bcsr1, Bcsr2, Bcsr3; }
            ell_row { EllRow = "ell_row": EllRow; }
            ell {
                Ell = "ell": Ell;
                EllWarp = "ell_warp": EllWarp;
                Sell = "sell": Sell;
                Bell = "bell": Bell1, Bell2, Bell3;
            }
            ebw {
                Ebw = "ebw": Ebw1, Ebw2, Ebw3, Ebw6;
                Ebw64 = "ebw64": Ebw1x64, Ebw2x64, Ebw3x64;
                Ebw128 = "ebw128": Ebw1x128, Ebw2x128, Ebw3x128;
            }
            ebw16 { Ebw16 = "ebw16": Ebw16D1, Ebw16D2, Ebw16D3; }
        }
    };
}

/// Calls `$callback! { $arguments Dense, .. }` with the types of all formats.
macro_rules! for_each_layout {
    ([$callback:ident $($argument:tt)*] $($file:ident { $($Format:ident = $word:literal: $($Type:ident),+;)+ })+) => {
        $callback! { $($argument)* $($($($Type),+),+),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { for_each_format! { for_each_layout, [$callback $($argument)*] } };
}

// Launch bounds and shared arrays of this module have it as a number.
const _: () = assert!(crate::reduce::BLOCK == 256);

/// Rows of an item at most.
pub const MAX_BLOCK: usize = 3;
/// The product of an item's rows.
pub type Product<V> = [Arithmetic<V>; MAX_BLOCK];

/// How a storage format multiplies: the product is cut into items, of one row each where the format stores scalars,
/// mostly of a block row where it stores blocks.
pub trait Layout: Copy + Send + Sync + 'static {
    /// The size of its blocks; none if it stores scalars, whatever the matrix is made of.
    const BLOCK: Option<usize>;
    /// Rows of an item.
    const ROWS: usize = match Self::BLOCK {
        Some(size) => size,
        None => 1,
    };
    /// Threads of a block that share an item; divides the size of thread blocks.
    const LANES: usize = 1;

    /// The first row of an item.
    #[inline(always)]
    unsafe fn row(self, item: usize) -> usize {
        item * Self::ROWS
    }

    /// Computes: the product of an item's rows with x, in the first [`Layout::ROWS`] entries.
    unsafe fn product<V: Stored>(self, item: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V>;

    /// Computes: the same by [`Layout::LANES`] threads; lane 0 has the result. Every thread of the block calls it.
    #[inline(always)]
    unsafe fn shared_product<V: Stored>(self, part: Part, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let Part { item, n_items, lane } = part;
        debug_assert!(lane == 0);
        if item < n_items { self.product(item, values, x) } else { [V::Arithmetic::ZERO; MAX_BLOCK] }
    }
}

/// What a thread has of a product.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its item; past the last there is none.
    pub item: usize,
    /// Number of items.
    pub n_items: usize,
    /// Its number among the threads that share the item.
    pub lane: usize,
}

/// Computes: `y = A x`.
///
/// Parameters: `values` as the format keeps them, `x, y [n]`. Thread mapping: [`Layout::LANES`] threads per item.
/// Memory moved: the format's values and indices, x and y once; each format says what that is and what it reached.
#[kernel(launch_bounds(256, 2), L = for_each_layout!, V = [f32, f64, F16])]
pub unsafe fn spmv<L: Layout, V: Stored>(
    n_items: usize,
    a: L,
    values: View<V>,
    x: View<Arithmetic<V>>,
    y: ViewMut<Arithmetic<V>>,
) {
    let thread = thread::block_idx_x() as usize * thread::block_dim_x() as usize + thread::thread_idx_x() as usize;
    let (item, lane) = (thread / L::LANES, thread % L::LANES);
    let product = a.shared_product(Part { item, n_items, lane }, values, x);
    if item < n_items && lane == 0 {
        let row = a.row(item);
        for i in 0..L::ROWS {
            y.set(row + i, product[i]);
        }
    }
}

/// Reads entry by entry the `D` entries of x in block column `column`.
#[inline(always)]
unsafe fn gather<const D: usize, T: DeviceCopy>(x: View<T>, column: usize) -> [T; D] {
    core::array::from_fn(|j| x.at(D * column + j))
}

/// A single row's product as [`Layout::product`] gives it.
#[inline(always)]
fn one_row<T: Real>(sum: T) -> [T; MAX_BLOCK] {
    let mut product = [T::ZERO; MAX_BLOCK];
    product[0] = sum;
    product
}
