//! The one-way flow of data between the library's modules, and the lengths of files.

use crate::circles;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module of `host/src` and the modules it may use; all may use `parallel`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("result", &[]),
    ("parallel", &[]),
    ("element", &["result"]),
    ("mesh", &["element"]),
    ("io", &["element", "mesh"]),
    ("model", &["result", "element", "mesh", "io"]),
    ("device", &["result"]),
    ("linalg", &["result", "device"]),
    ("sparse", &["result", "device", "linalg"]),
    ("assembly", &["result", "element", "mesh", "model", "device", "linalg", "sparse"]),
    ("precond", &["result", "device", "linalg", "sparse"]),
    ("solve", &["result", "device", "linalg", "sparse", "assembly", "precond"]),
    ("eigen", &["result", "device", "linalg", "sparse", "precond", "solve"]),
    ("stress", &["result", "element", "mesh", "model", "device", "linalg", "sparse", "assembly"]),
    (
        "plan",
        &["result", "element", "mesh", "model", "device", "linalg", "sparse", "assembly", "precond", "solve", "eigen"],
    ),
    (
        "pipeline",
        &[
            "result", "plan", "mesh", "model", "device", "linalg", "sparse", "assembly", "precond", "solve", "eigen",
            "stress",
        ],
    ),
    ("output", &["result", "element", "mesh", "io", "model", "pipeline", "stress"]),
    ("error", &["result", "mesh", "model", "output"]),
    ("verify", &["result", "error", "element", "mesh", "model", "device", "linalg", "solve", "pipeline"]),
];

/// The command line may use all of it, and nothing else uses it; `lib.rs` lists what there is.
const ROOTS: [&str; 3] = ["cli", "lib", "main"];
const MAX_LINES: usize = 600;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder, build outputs and hidden folders apart.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            files.extend(rust_files(&path));
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    files
}

/// The source without comments and without its `#[cfg(test)] mod tests { .. }` at the end.
pub fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// The modules that a source names after `crate::`, alone, nested in braces, or in a path within the code.
fn modules_used(code: &str) -> BTreeSet<String> {
    let file = circles::parse(code, false);
    let paths = file.uses.iter().map(|(path, _)| path).chain(&file.paths);
    let of_crate = paths.filter(|path| path[0] == "crate" && path.len() > 1).map(|path| path[1].clone());
    of_crate.filter(|name| name.starts_with(char::is_lowercase)).collect()
}

#[test]
fn uses_are_found_in_every_form() {
    let code = "use crate::mesh::{Mesh, faces};\nuse crate::{model::Case, stress, device::{self, Device}};\n\
                use crate::Error;\nfn f() -> crate::output::Fields { $crate::solve::cg() }\nuse other_crate::cli;";
    let expected = ["device", "mesh", "model", "output", "solve", "stress"];
    assert!(modules_used(code).iter().eq(&expected), "{:?}", modules_used(code));
}

#[test]
fn modules_use_only_those_before_them() {
    let source = repository().join("host/src");
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in rust_files(&source) {
        let relative = path.strip_prefix(&source).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        let is_test = relative.to_string_lossy().ends_with("tests.rs");
        if ROOTS.contains(&module.as_str()) || is_test {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{}: module `{module}` has no place in the flow", relative.display()));
            continue;
        };
        for used in modules_used(&code(&path)) {
            if used != module && used != "parallel" && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}: `{module}` may not use `{used}`", relative.display()));
            }
        }
        seen.insert(module);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(MAY_USE.iter().all(|(name, _)| seen.contains(*name)), "a module of the flow is gone; found {seen:?}");
}

/// Every module comes after those it may use.
#[test]
fn the_flow_has_one_direction() {
    let position = |name: &str| MAY_USE.iter().position(|(module, _)| *module == name).unwrap();
    for (module, allowed) in MAY_USE {
        for used in *allowed {
            assert!(position(used) < position(module), "`{module}` before `{used}`");
        }
    }
}

/// A device has memory and launches; what is computed on it is said elsewhere.
#[test]
fn devices_name_no_algorithm() {
    for path in rust_files(&repository().join("host/src/device")) {
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).collect::<BTreeSet<_>>();
        for algorithm in ["cg", "femses", "amg", "spmv", "cholesky", "dot"] {
            assert!(!words.contains(algorithm), "`{algorithm}` in {}", path.display());
        }
    }
}

#[test]
fn files_are_short_or_say_why_not() {
    let mut wrong = Vec::new();
    for path in rust_files(repository()) {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        let first = text.lines().next().unwrap_or("");
        if lines > MAX_LINES && !first.to_lowercase().contains("long because") {
            wrong.push(format!("{}: {lines} lines, and its first line does not say `long because ..`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_plan_has_words_for_nothing_but_choices() {
    let plan = code(&repository().join("host/src/result/plan.rs"));
    assert!(plan.contains("struct Plan") && !plan.contains("String") && !plan.contains("static str"), "{plan}");
}
