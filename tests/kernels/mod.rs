//! Every kernel against a plain reference: on the CPU, on the emulator in several orders of lanes and blocks, and on a
//! GPU where there is one. Each check gives the bits of what it computed, so that runs and orders can be compared.

mod amg;
mod cells;
mod cholesky;
mod coupling;
mod femses;
mod matrices;
mod matrix_free;
mod parts;
mod persistent;
mod precond;
mod setup;
mod several;
mod supports;
mod vectors;

use crate::common::recorder::Recorder;
use crate::common::{on_every_device, on_machines};
use ptx_archive::Archive;
use std::collections::BTreeSet;
use warpfem::linalg::Space;

/// Around the sizes of warps and blocks.
pub const SIZES: [usize; 9] = [0, 1, 31, 32, 33, 255, 256, 257, 1009];
/// Entries after the last one that a kernel may write; they start as NaN and must stay so.
const GUARD: usize = 3;

/// A size that takes the blocks of a grid-stride loop round more than once.
fn more_than_a_grid(space: &Space) -> usize {
    if space.name() == "emulator" { 5003 } else { 700_001 }
}

/// A check of items in both precisions, for every number of them.
macro_rules! of_items {
    ($($check:ident)::+) => { |space: &Space| -> Vec<u64> {
        let of = |n| [$($check)::+::<f32>(space, n), $($check)::+::<f64>(space, n)].concat();
        vectors::item_sizes(space).flat_map(of).collect()
    } };
}

/// A check of every element; of those that the papers' kernels are for, in both precisions.
macro_rules! of_elements {
    ($module:ident :: $check:ident) => {
        |space: &Space| -> Vec<u64> { kernels_rs::for_each_solvable!(elements, ($module $check space)) }
    };
    ($module:ident :: $check:ident both) => {
        |space: &Space| -> Vec<u64> { kernels_rs::for_each_paper_element!(elements, ($module $check space both)) }
    };
}
macro_rules! elements {
    (($module:ident $check:ident $space:ident) $($E:ident),+) => {
        [$($module::$check::<kernels_rs::element::$E>($space)),+].concat()
    };
    (($module:ident $check:ident $space:ident both) $($E:ident),+) => { [$(
        $module::$check::<kernels_rs::element::$E, f32>($space),
        $module::$check::<kernels_rs::element::$E, f64>($space)
    ),+].concat() };
}

/// A test of each check on every device, and a function that does all of them on one.
macro_rules! checks {
    ($($name:ident: $check:expr;)+) => {
        $(#[test]
        fn $name() {
            let results = on_every_device!($check);
            // An emulator does the same every time.
            let again = on_machines!($check);
            assert!(again.iter().all(|result| results.contains(result)), "two runs differ");
        })+

        fn all(space: &Space) {
            $({
                let check = $check;
                check(space);
            })+
        }
    };
}
checks! {
    fill: of_items!(vectors::fill);
    largest: vectors::largest;
    mul: of_items!(vectors::mul);
    axpy: of_items!(vectors::axpy);
    xpby: of_items!(vectors::xpby);
    axpby: of_items!(vectors::axpby);
    dot: of_items!(vectors::dot);
    gram: several::gram;
    combine: several::combine;
    matrix_products: several::matrix_products;
    transfers: amg::transfers;
    cg_residual: of_items!(vectors::cg_residual);
    cg_persistent: persistent::cg_persistent;
    products: matrices::products;
    blocks: matrices::blocks;
    made_up_values: matrices::made_up_values;
    eliminate: matrices::eliminate;
    eliminate_slanted: supports::eliminate_slanted;
    project_free: of_items!(supports::project_free);
    additions: supports::additions;
    total_displacement: of_items!(matrices::total_displacement);
    unbalanced: of_items!(matrices::unbalanced);
    inverse_diagonal: matrices::inverse_diagonal;
    parts: parts::parts;
    row_sums: parts::row_sums;
    round_diagonal: of_items!(precond::round_diagonal);
    polynomial_start: of_items!(precond::polynomial_start);
    polynomial_step: precond::polynomial_step;
    lanczos_start: of_items!(precond::lanczos_start);
    inverse_blocks: precond::inverse_blocks;
    block_mul: precond::block_mul;
    cg_residual_norm: of_items!(precond::cg_residual_norm);
    cg_update: of_items!(precond::cg_update);
    scale_to: precond::scale_to;
    to_single_and_back: precond::to_single_and_back;
    stiffness: of_elements!(cells::stiffness);
    node_moments: of_elements!(cells::node_moments);
    mass: of_elements!(cells::mass);
    geometric: of_elements!(cells::geometric);
    internal_force: of_elements!(cells::internal_force);
    sample: of_elements!(cells::sample);
    nodal: of_elements!(cells::nodal);
    matrix_free: of_elements!(matrix_free::products);
    matrix_free_straight: crate::matrix_free::of_straight_edges;
    matrix_free_springs: crate::matrix_free::with_springs;
    vertex_level: crate::without_matrix::vertex_level;
    slabs: crate::without_matrix::slabs;
    femses_matrices: of_elements!(femses::femses_matrices both);
    femses_steps: of_elements!(femses::femses_steps both);
    read_at: setup::read_at;
    exclusive_sum: setup::exclusive_sum;
    sort_order: setup::sort_order;
    topology: crate::topology::of_random_cells;
    coloring: crate::coloring::of_random_cells;
    factor: cholesky::factor;
    from_dense: cholesky::from_dense;
    multigrid: amg::multigrid;
    gather_rows: coupling::gather_rows;
    moved_entries: coupling::moved_entries;
    scalars_of_ranks: vectors::scalars_of_ranks;
    coupled_diagonal: coupling::coupled_diagonal;
    replaced_rows: coupling::replaced_rows;
    combine_rows: coupling::combine_rows;
}

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
