//! Sparse matrices of `d x d` blocks, in one storage format or another, built on a device from the pattern of a mesh.

pub mod bcsr;
mod compress;
pub mod csr;
pub mod dense;
pub mod ebw;
pub mod ebw16;
pub mod ebw_row;
mod ebw_symmetric;
pub mod ell;
pub mod ell_row;
pub mod format;
mod matrix;
mod pattern;
mod products;
mod sliced;
mod triangle;

pub use compress::from_dense;
pub use format::{Built, Format, Half, PART, Places, Plan, Tuning};
pub use matrix::{Footprint, LinOp, Matrix};
pub use pattern::{Pattern, Sparsity};
pub use products::{CgState, Epilogue};
pub use triangle::Triangle;

use crate::result::choices;

/// What `auto` stands for: on every solid mesh measured within 5 % of the fastest, in both precisions. What beats it is
/// mostly `ebw16`, by 2 to 4 %, but that cannot hold every mesh (docs/formats.md).
pub const AUTO: choices::Format = choices::Format::Ebw;

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_rs::for_each_format;
    use kernels_rs::sparse::Layout;

    #[test]
    fn every_format_can_be_chosen() {
        macro_rules! list { ($($F:ident),+) => { vec![$(<kernels_rs::sparse::$F as Layout>::NAME),+] } }
        let mut names = Vec::new();
        for name in for_each_format!(list) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        assert_eq!(names, choices::Format::names());
    }
}
