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

/// The body of an entry point.
fn body<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no kernel {name}"));
    let end = ptx[start..].find("\n}").map_or(ptx.len(), |at| start + at);
    &ptx[start..end]
}

/// Two copies of a shuffle or a barrier in the branches of a test would make the threads of a warp wait for ever. Here
/// a test of one condition stands before and behind them, which tempts compilers.
#[test]
fn barriers_and_shuffles_are_not_duplicated() {
    let text = ptx();
    let count = |name, what| body(&text, name).matches(what).count();
    assert_eq!(count("scan_sums", "bar.sync"), 2);
    // Five steps, each of two halves.
    assert_eq!(count("scan_sums", "shfl.sync"), 10);
    assert_eq!(count("spmv_csrvector_f64", "shfl.sync"), 10);
    assert_eq!(count("spmv_dense_f64", "bar.sync"), 2);
}

#[test]
fn sparse_products_have_launch_bounds() {
    let text = ptx();
    for name in ["spmv_ebw3_f64", "ebw_spmv_dot_3_32_f64"] {
        let (head, _) = body(&text, name).split_once("\n{").expect("a body");
        assert!(head.ends_with(".maxntid 256\n.minnctapersm 2"), "{name}: {head}");
    }
}
