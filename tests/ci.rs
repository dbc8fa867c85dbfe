//! Checks of `.ci/run` that must be able to fail: run by themselves, with a `cargo` that does something else.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Whether a function of `.ci/run` succeeds where `cargo` is this script.
fn succeeds(function: &str, cargo: &str) -> bool {
    let root = env!("CARGO_MANIFEST_DIR");
    let script = fs::read_to_string(format!("{root}/.ci/run")).unwrap();
    let start = script.find(&format!("\n{function}() {{")).unwrap();
    let body = &script[start..start + script[start..].find("\n}\n").unwrap() + 3];
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("cargo");
    fs::write(&program, format!("#!/bin/bash\n{cargo}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let text =
        format!("set -euo pipefail\ntools=$(dirname \"$(command -v cargo)\") target=$tools\n{body}\n{function}\n");
    let run = Command::new("bash").args(["-c", &text]).current_dir(root).env("PATH", path).output().unwrap();
    run.status.success()
}

#[test]
fn a_library_without_features_has_a_tree_without_their_crates() {
    let check = |tree: &str| succeeds("check_without_features", &format!("[ $1 = check ] || {{ {tree}; }}"));
    assert!(check("echo warpfem v1"));
    assert!(!check("echo warpfem v1; echo clap v4"));
    assert!(!check("true"), "a tree without the crate itself");
    assert!(!check("echo warpfem v1; exit 101"), "a tree that is not whole");
    assert!(!succeeds("check_without_features", "echo warpfem v1; [ $1 = tree ]"), "a library that does not compile");
}

#[test]
fn device_code_of_other_sources_or_another_compiler_is_refused() {
    let made = |edit: &str| {
        succeeds("rebuild_ptx", &format!("LC_ALL=C sed '{edit}' kernels-rs/ptx/kernels.archive >\"${{@: -1}}\""))
    };
    assert!(made(""));
    for edit in ["s#^// compiler:.*#// compiler: another#", "/^.. compiler:/d", "s#^// sources:.*#// sources: 0#", "$d"]
    {
        assert!(!made(edit), "{edit}");
    }
    assert!(!succeeds("rebuild_ptx", "exit 101"));
}
