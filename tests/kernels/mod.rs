//! Every kernel against a plain reference: on the CPU, on the emulator in several orders of lanes and blocks, and on a
//! GPU where there is one. Each check gives the bits of what it computed, so that runs and orders can be compared.

mod amg;
mod cells;
mod cholesky;
mod coloring;
mod femses;
mod matrices;
mod parts;
mod persistent;
mod precond;
mod setup;
mod topology;
mod vectors;

use crate::common::recorder::Recorder;
use crate::common::{assert_orders_agree, on_every_device, on_machines};
use ptx_archive::Archive;
use std::collections::BTreeSet;
use warpfem::linalg::Space;

/// Around the sizes of warps and blocks.
const SIZES: [usize; 9] = [0, 1, 31, 32, 33, 255, 256, 257, 1009];
/// Entries after the last one that a kernel may write; they start as NaN and must stay so.
const GUARD: usize = 3;

/// A size that takes the blocks of a grid-stride loop round more than once.
fn more_than_a_grid(space: &Space) -> usize {
    if space.name() == "emulator" { 5003 } else { 700_001 }
}

/// A test of each check on every device, and a function that does all of them on one.
macro_rules! checks {
    ($($module:ident :: $check:ident),+ $(,)?) => {
        $(#[test]
        fn $check() {
            let results = on_every_device!($module::$check);
            assert_orders_agree(&results);
            // An emulator does the same every time.
            let again = on_machines!($module::$check);
            assert!(again.iter().all(|result| results.contains(result)), "two runs differ");
        })+

        fn all(space: &Space) {
            $($module::$check(space);)+
        }
    };
}
checks!(
    vectors::fill,
    vectors::largest,
    vectors::mul,
    vectors::axpy,
    vectors::xpby,
    vectors::axpby,
    vectors::dot,
    vectors::cg_residual,
    persistent::cg_persistent,
    matrices::products,
    matrices::blocks,
    matrices::made_up_values,
    matrices::eliminate,
    matrices::total_displacement,
    matrices::unbalanced,
    matrices::inverse_diagonal,
    parts::parts,
    parts::row_sums,
    precond::round_diagonal,
    precond::polynomial_start,
    precond::polynomial_step,
    precond::lanczos_start,
    precond::inverse_blocks,
    precond::block_mul,
    precond::cg_residual_norm,
    precond::cg_update,
    precond::scale_to,
    precond::to_single_and_back,
    cells::stiffness,
    cells::body_force,
    cells::internal_force,
    cells::recover,
    cells::nodal,
    cells::potential_gradient,
    femses::femses_matrices,
    femses::femses_steps,
    setup::read_at,
    setup::exclusive_sum,
    setup::sort_order,
    topology::gathers,
    topology::order_keys,
    topology::cells_around,
    topology::neighbours,
    topology::rows_and_slots,
    coloring::rounds,
    cholesky::factor,
    cholesky::from_dense,
    amg::multigrid,
);

#[test]
fn every_entry_point_is_checked() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    all(&space);
    let archive = Archive::open(include_bytes!("../../kernels-rs/ptx/kernels.archive")).unwrap();
    let entries: BTreeSet<&str> = archive.entries().filter(|entry| !amg::UNUSED.contains(entry)).collect();
    let launched: BTreeSet<&str> = recorder.counts().launches.into_keys().collect();
    let unchecked: Vec<&&str> = entries.difference(&launched).collect();
    let unknown: Vec<&&str> = launched.difference(&entries).collect();
    assert!(!entries.is_empty());
    assert!(unchecked.is_empty() && unknown.is_empty(), "no check launches {unchecked:?}; there are no {unknown:?}");
}
