//! Files with mistakes that nobody thought of: meshes and case files with bytes flipped, lines lost, numbers exchanged.
//! Whatever comes of them is a result or an error of the library; never a panic, a hang, or an array as large as a
//! wrong number says. Displacements and potentials are compared with those of another assembly and a direct solver.
//!
//! `WARPFEM_TEST_MUTANTS` is how many of each there are, in a long run on larger meshes too; a mutant is made of its
//! number, so that it can be made again.

mod attempts;
#[allow(dead_code, reason = "the tests of the library use the rest")]
#[path = "../common"]
mod common {
    pub mod elements;
    pub mod reference;
}
mod mutants;
mod reference;
mod watch;

use mutants::Mutants;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use watch::Watch;

/// Meshes of a few cells, of every version and element.
#[rustfmt::skip]
const MESHES: [&str; 16] = [
    "box22a", "box22b", "box41a", "box41b", "faces41", "hex27", "layers", "pyramids", "pyramids5", "wedge6",
    "ring_hex20", "ring_quad8", "ring_tet10", "ring_tri6", "ring_wedge15", "tet10",
];

/// Meshes of some hundred nodes, for the long run.
const LARGER: [&str; 3] = ["cube_463", "hole", "ring"];

/// A mutant in so many takes the long way through the program.
const PER_PROCESS: usize = 20;

/// Of so many mutants at least one is solved and compared.
const COMPARED_AT_LEAST: usize = 20;

/// What was asked for.
fn asked() -> Option<usize> {
    let asked = std::env::var("WARPFEM_TEST_MUTANTS").ok();
    asked.map(|n| n.parse().expect("WARPFEM_TEST_MUTANTS is a number"))
}

fn count() -> usize {
    asked().unwrap_or(2000)
}

fn meshes() -> Mutants {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let small = MESHES.iter().map(|name| root.join(format!("tests/data/{name}.msh")));
    let larger = LARGER.iter().map(|name| root.join(format!("meshes/{name}.msh"))).filter(|_| asked().is_some());
    Mutants::new(small.chain(larger).map(|path| fs::read(path).unwrap()).collect())
}

/// Every table there is, small; the meshes are those of `tests/data`.
fn cases() -> Mutants {
    let texts = include_str!("cases.toml").split("#---\n").map(|text| text.as_bytes().to_vec());
    Mutants::new(texts.collect())
}

/// Decks as other programs write them; in the long run each second is one of CalculiX's own, where they are installed. Most of
/// these are refused.
fn decks() -> Mutants {
    let own = decks_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/decks"));
    let suite = asked().map_or(vec![], |_| decks_in(Path::new("/usr/share/doc/calculix-ccx-test/examples/test")));
    let mixed = suite.iter().zip(own.iter().cycle()).flat_map(|(suite, own)| [suite, own]);
    let mixed: Vec<Vec<u8>> = mixed.cloned().collect();
    Mutants::new(if mixed.is_empty() { own } else { mixed })
}

/// The decks of a folder, packed or not, by name; none where it is missing.
fn decks_in(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let (bytes, name) = (fs::read(path).unwrap(), path.to_string_lossy().into_owned());
        let plain = || name.ends_with(".inp").then_some(bytes.clone());
        let mut packed = Vec::new();
        let unpacked =
            name.ends_with(".inp.gz").then(|| flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut packed));
        if unpacked.is_some() { Some(packed) } else { plain() }
    };
    paths.iter().filter_map(read).collect()
}

/// Tries so many mutants by the library's functions; the exit codes, one of which for a solution that was compared.
fn try_all(what: &'static str, mutants: &Mutants, attempt: fn(&[u8]) -> warpfem::Result<attempts::Reached>) -> Vec<u8> {
    let mut watch = Watch::new(what);
    let one = |i| watch.attempt(i, &mutants.mutant(i), |bytes| attempts::code(attempt(bytes)));
    let endings: Vec<u8> = (0..count()).map(one).collect();
    watch.done();
    println!("{}; {} solutions compared", attempts::tally(&endings), reference::compared());
    assert!(reference::compared() > count() / COMPARED_AT_LEAST);
    endings
}

#[test]
fn meshes_that_went_wrong() {
    let endings = try_all("mesh", &meshes(), attempts::mesh);
    // Some must come through, and most must not.
    assert!(endings.contains(&0) && endings.contains(&3));
}

#[test]
fn cases_that_went_wrong() {
    let endings = try_all("case", &cases(), attempts::case);
    assert!([0, 2, 4].iter().all(|code| endings.contains(code)));
}

#[test]
fn decks_that_went_wrong() {
    let endings = try_all("deck", &decks(), attempts::deck);
    assert!([0, 2, 3, 4].iter().all(|code| endings.contains(code)));
}

/// The same through the program, which writes results too: its exit code is one of those in its help, and its stderr
/// says one error or nothing.
#[test]
fn the_program_on_files_that_went_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in MESHES {
        let mesh = format!("tests/data/{name}.msh");
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(mesh), at(&format!("{name}.msh"))).unwrap();
    }
    let (meshes, cases) = (meshes(), cases());
    let mut endings = Vec::new();
    for i in 0..count().div_ceil(PER_PROCESS) {
        // Others than the library has seen.
        let number = usize::MAX / 2 + i;
        if i % 2 == 0 {
            fs::write(at("case.toml"), cases.mutant(number)).unwrap();
        } else {
            fs::write(at("mutant.msh"), meshes.mutant(number)).unwrap();
            fs::write(at("case.toml"), attempts::CASE).unwrap();
        }
        let solve = ["solve", "case.toml", "-o", "out", "--device", "cpu", "--threads", "1", "--max-iterations", "200"];
        let run = Command::new(env!("CARGO_BIN_EXE_warpfem")).args(solve).current_dir(folder.path()).output().unwrap();
        let (code, said) = (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned());
        let expected = match code {
            Some(0) => said.is_empty(),
            Some(2..=6) => said.matches("error: ").count() == 1 && !said.contains("bug"),
            _ => false,
        };
        assert!(expected, "mutant {number}: {code:?}\n{said}");
        endings.push(code.unwrap_or(1) as u8);
    }
    println!("{}", attempts::tally(&endings));
}
