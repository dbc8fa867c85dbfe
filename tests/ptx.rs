//! The checked-in PTX: made from these sources, for the GPUs that are promised, sound as a table of entry points, and no
//! larger than it needs to be.

use cuda_builder::{Header, source_hash};
use ptx_archive::{Archive, pack};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

static KERNELS: &[u8] = include_bytes!("../kernels-rs/ptx/kernels.archive");

/// Bytes of the archive at most, and of the text in it.
const MOST: [usize; 2] = [2_350_000, 10_830_000];
/// Entry points that `auto` can choose and the bytes of their text, at most.
const MOST_OF_AUTO: [usize; 2] = [578, 7_750_000];
/// What the entry points begin with that run only where a paper's method is asked for by name: strategies of assembly,
/// FEMSES, formats (`ebw` with slices of 64 and 128 rows apart, whose names end like those of 32).
#[rustfmt::skip]
const OF_PAPERS: [&str; 25] = [
    "atomic_", "by_element_", "by_entry_", "by_warp", "femses_", "geometry_", "ppni_",
    "spmv_bcsr", "spmv_bell", "spmv_csr_", "spmv_csrvector_", "spmv_denseblock_", "spmv_ebw16", "spmv_ebw1x", "spmv_ebw2x",
    "spmv_ebw3x", "spmv_ell_", "spmv_ellrow_", "spmv_ellwarp_", "spmv_sell_",
    "bcsr_starts", "column_bases", "column_offsets", "ell_row_columns", "length_keys",
];

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn archive() -> Archive<'static> {
    Archive::open(KERNELS).unwrap()
}

fn ptx() -> String {
    archive().text().unwrap()
}

#[test]
fn the_checked_in_ptx_is_of_these_sources() {
    let header = Header::parse(archive().comments()).expect("the PTX has a header");
    let sources = source_hash(in_repository("kernels-rs")).expect("the sources can be read");
    assert_eq!(
        header.sources, sources,
        "kernels-rs or cuda_std changed: run `cargo run -p cuda_builder -- kernels-rs kernels-rs/ptx/kernels.archive`"
    );
}

/// Another release of what deflates may make other bytes, which CI would refuse.
#[test]
fn the_archive_is_what_its_text_becomes() {
    assert!(pack(&ptx()) == KERNELS, "make it anew as CONTRIBUTING.md says, and commit it");
}

#[test]
fn every_entry_point_is_there_once() {
    let (text, archive) = (ptx(), archive());
    let after = text.lines().filter_map(|line| line.split_once(".entry "));
    let names: Vec<&str> = after.map(|(_, rest)| rest.split(['(', ' ']).next().unwrap_or(rest)).collect();
    assert!(!names.is_empty(), "no kernels");
    assert!(archive.entries().eq(names.iter().copied()), "the index is not of the text");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

/// Who adds kernels past these numbers makes every program larger: is there one that can go?
#[test]
fn kernels_stay_within_their_budget() {
    let archive = archive();
    let [packed, whole] = [KERNELS.len(), ptx().len()];
    assert!(packed <= MOST[0] && whole <= MOST[1], "{packed} bytes of archive, {whole} of text");
    let is_wide = |entry: &str| entry.starts_with("ebw_") && entry.split('_').any(|part| part == "64" || part == "128");
    let is_of_papers = |entry: &str| OF_PAPERS.iter().any(|start| entry.starts_with(start)) || is_wide(entry);
    assert!(OF_PAPERS.iter().all(|start| archive.entries().any(|entry| entry.starts_with(start))), "a name is gone");
    let of_auto: Vec<&str> = archive.entries().filter(|entry| !is_of_papers(entry)).collect();
    let (count, text) = (of_auto.len(), archive.module(&of_auto).unwrap().len());
    assert!(count <= MOST_OF_AUTO[0] && text <= MOST_OF_AUTO[1], "{count} entry points, {text} bytes");
}

/// The name that a line outside entry points declares, by what stands behind it: `(` or the line's end, or `[`.
fn declared(line: &str) -> Option<&str> {
    let function = line.strip_prefix(".func").map(|rest| rest.trim_start_matches("  (.param .b64 func_retval0)"));
    let variable = [".global", ".extern .shared"].into_iter().find_map(|space| line.strip_prefix(space));
    let before = function.map(|rest| rest.split('(').next()).or(variable.map(|rest| rest.split('[').next()))??;
    before.split_whitespace().last()
}

/// What the driver gets of each kernel is whole, and nothing else is in it.
#[test]
fn a_module_declares_what_its_kernel_uses_and_nothing_more() {
    let (text, archive) = (ptx(), archive());
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let all: BTreeSet<&str> = text.lines().filter_map(declared).collect();
    assert!(all.len() > 20 && all.contains("cuda_std_dynamic_shared"), "{all:?}");
    for entry in archive.entries() {
        let module = archive.module(&[entry]).unwrap();
        let declared: BTreeSet<&str> = module.lines().filter_map(declared).collect();
        let others = module.lines().filter(|line| self::declared(line).is_none());
        let used: BTreeSet<&str> = others.flat_map(|line| line.split(|c| !is_word(c))).collect();
        let used: BTreeSet<&str> = used.intersection(&all).copied().collect();
        assert_eq!(declared, used, "{entry}");
        assert!(module.starts_with(".version ") && module.contains(&format!(".visible .entry {entry}(")), "{entry}");
        assert_eq!(module.matches(".entry ").count(), 1, "{entry}");
    }
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
