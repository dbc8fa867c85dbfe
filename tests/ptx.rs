//! The checked-in PTX: made from these sources, for the GPUs that are promised, and sound as a table of entry points.

use cuda_builder::{Header, source_hash};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn ptx() -> String {
    let path = in_repository("kernels-rs/ptx/kernels.ptx");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the `.entry` directives, in their order.
fn entries(ptx: &str) -> Vec<&str> {
    let after = ptx.lines().filter_map(|line| line.split_once(".entry "));
    after.map(|(_, rest)| rest.split(['(', ' ']).next().unwrap_or(rest)).collect()
}

#[test]
fn the_checked_in_ptx_is_of_these_sources() {
    let header = Header::parse(&ptx()).expect("the PTX has a header");
    let sources = source_hash(in_repository("kernels-rs")).expect("the sources can be read");
    assert_eq!(
        header.sources, sources,
        "kernels-rs or cuda_std changed: run `cargo run -p cuda_builder -- kernels-rs kernels-rs/ptx/kernels.ptx`"
    );
}

#[test]
fn every_entry_point_is_there_once() {
    let text = ptx();
    let names = entries(&text);
    assert!(!names.is_empty(), "no kernels");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

#[test]
fn it_is_for_sm_80_and_up() {
    let text = ptx();
    let target = text.lines().find(|line| line.starts_with(".target")).expect("a .target line");
    assert_eq!(target, ".target sm_80");
    assert!(text.contains("\n.address_size 64\n"));
}
