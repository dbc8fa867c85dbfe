//! Files of the library do not need each other in a circle, nor do those of the benchmarks, the device code and the crates.
//!
//! Where a name leads is followed through `pub use` to the file that has it. A module's root (`mod.rs`) is left out: it
//! has what its files share.

use crate::layers::{code, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub type Names = Vec<String>;

/// A source file.
pub struct File {
    is_root: bool,
    items: BTreeSet<String>,
    /// What `use` brings in: a path, and the name that it has here.
    pub uses: Vec<(Names, String)>,
    /// Paths within the code.
    pub paths: Vec<Names>,
}

fn split(path: &str) -> Names {
    path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The paths of a tree such as `a::{b, c::{self, d as e}}`, each with the name it gets.
fn leaves(prefix: &[String], tree: &str, into: &mut Vec<(Names, String)>) {
    let tree = tree.trim();
    if let Some((before, list)) = tree.split_once('{') {
        let prefix = [prefix, &split(before)].concat();
        let (mut depth, mut start) = (0, 0);
        let list = list.strip_suffix('}').unwrap_or(list);
        for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if c == ',' && depth == 0 {
                leaves(&prefix, &list[start..at], into);
                start = at + 1;
            }
        }
        return;
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path = [prefix, &split(path)].concat();
    path.pop_if(|last| last == "self");
    if let Some(last) = path.last() {
        let name = if alias.is_empty() { last.clone() } else { alias.trim().to_owned() };
        into.push((path, name));
    }
}

/// Without `pub`, `pub(crate)` and the like.
fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest).trim_start()
}

pub fn parse(text: &str, is_root: bool) -> File {
    const KINDS: [&str; 10] =
        ["fn ", "const fn ", "unsafe fn ", "struct ", "enum ", "trait ", "const ", "static ", "type ", "macro_rules! "];
    let (mut items, mut uses, mut paths) = (BTreeSet::new(), Vec::new(), Vec::new());
    let mut rest = String::new();
    for statement in text.split_inclusive(';') {
        let start = statement.rfind("use ").filter(|at| {
            let before = statement[..*at].rsplit('\n').next().unwrap_or("");
            without_visibility(before.trim_start()).trim().is_empty()
        });
        match start {
            Some(at) => {
                leaves(&[], statement[at + 4..].trim_end_matches(';'), &mut uses);
                rest += &statement[..at];
            }
            None => rest += statement,
        }
    }
    for line in text.lines().map(without_visibility) {
        let name = KINDS.iter().find_map(|kind| line.strip_prefix(kind));
        items.extend(name.map(|name| name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()));
    }
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in rest.split(|c| !is_of_path(c)) {
        if word.starts_with("crate::") || word.starts_with("super::") {
            paths.push(split(word));
        }
    }
    File { is_root, items, uses, paths }
}

/// All files of a folder of sources by the paths of their modules.
fn files_of(source: &Path) -> BTreeMap<Names, File> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let mut files = BTreeMap::new();
    for path in rust_files(&source) {
        let relative = path.strip_prefix(&source).unwrap().with_extension("");
        let mut module: Names = relative.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        module.pop_if(|last| last == "mod");
        let last = module.last().map_or("", String::as_str);
        if last.ends_with("tests") || last == "main" {
            continue;
        }
        if module == ["lib"] {
            module.clear();
        }
        let is_root = module.is_empty() || path.ends_with("mod.rs") || path.with_extension("").is_dir();
        files.insert(module, parse(&code(&path), is_root));
    }
    files
}

/// The file that has what a path leads to from a module; none outside of the folder.
fn resolve(files: &BTreeMap<Names, File>, from: &[String], path: &[String], depth: usize) -> Option<Names> {
    let mut here = from.to_vec();
    let mut path = path;
    while let Some((first, rest)) = path.split_first().filter(|_| depth < 8) {
        let child = [&here[..], std::slice::from_ref(first)].concat();
        match first.as_str() {
            "crate" => here.clear(),
            "self" => {}
            "super" => drop(here.pop()),
            _ if files.contains_key(&child) => here = child,
            name => {
                let file = files.get(&here)?;
                let through = file.uses.iter().find(|(to, known)| known == name && *to != path);
                return match through {
                    _ if file.items.contains(name) => Some(here),
                    Some((to, _)) => resolve(files, &here, &[to, rest].concat(), depth + 1),
                    // The first name of a path is a crate's where it is none of the module's.
                    None => (here != from).then_some(here),
                };
            }
        }
        path = rest;
    }
    Some(here)
}

/// What each file needs of others.
fn needs(files: &BTreeMap<Names, File>) -> BTreeMap<&Names, BTreeSet<Names>> {
    let is_file = |module: &Names| files.get(module).is_some_and(|file| !file.is_root);
    let mut needs = BTreeMap::new();
    for (module, file) in files.iter().filter(|(_, file)| !file.is_root) {
        let paths = file.uses.iter().map(|(path, _)| path).chain(&file.paths);
        let found = paths.filter_map(|path| resolve(files, module, path, 0));
        needs.insert(module, found.filter(|found| found != module && is_file(found)).collect());
    }
    needs
}

/// What is left when files that need none of the others are taken away, and so on.
fn in_circles(needs: &BTreeMap<&Names, BTreeSet<Names>>) -> Vec<String> {
    let mut left: BTreeSet<&Names> = needs.keys().copied().collect();
    loop {
        let needed_by_none = |module: &Names| !left.iter().any(|other| needs[*other].contains(module));
        let ends = |module: &&Names| needs[*module].iter().all(|other| !left.contains(other)) || needed_by_none(module);
        let outside: Vec<&Names> = left.iter().copied().filter(ends).collect();
        if outside.is_empty() {
            return left.into_iter().map(|module| format!("{} -> {:?}", module.join("::"), needs[module])).collect();
        }
        left.retain(|module| !outside.contains(module));
    }
}

#[test]
fn no_files_need_each_other_in_a_circle() {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path().join("src"));
    let folders: Vec<PathBuf> =
        ["host/src", "bench/src", "kernels-rs/src"].map(PathBuf::from).into_iter().chain(crates).collect();
    let files: Vec<_> = folders.iter().map(|folder| files_of(folder)).collect();
    let needs: Vec<_> = files.iter().map(needs).collect();
    let circles: Vec<String> = needs.iter().flat_map(in_circles).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
    let [needs, benches, kernels, ..] = &needs[..] else { panic!("folders are missing") };
    assert!(benches[&split("report::select")].contains(&split("report::expression")));
    // Names are followed, through lists and through `pub use`.
    assert!(needs[&split("pipeline::build")].contains(&split("result::plan")));
    assert!(needs[&split("precond::amg::stacks")].contains(&split("precond::amg::fine")));
    assert!(kernels[&split("amg::product")].contains(&split("amg::blocks")));
}

#[test]
fn circles_are_found() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| vec![name.to_owned()]);
    let set = |to: &[&Names]| to.iter().map(|name| (*name).clone()).collect::<BTreeSet<_>>();
    let mut needs = BTreeMap::from([(&a, set(&[&b])), (&b, set(&[&c])), (&c, set(&[&d])), (&d, set(&[]))]);
    assert_eq!(in_circles(&needs), [""; 0]);
    needs.insert(&c, set(&[&a, &d]));
    assert_eq!(in_circles(&needs).len(), 3);
}
