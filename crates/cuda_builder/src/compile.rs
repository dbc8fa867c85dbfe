//! The nested cargo that compiles a kernel crate, and `core` with it, to PTX.

use crate::compiler::Compiler;
use crate::error::{BuilderError, at};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "nvptx64-nvidia-cuda";

/// The release profile of the nested build: one module, optimised across `core` and the libraries, so that the
/// back end leaves no call and no linker is needed.
const PROFILE: &[(&str, &str)] = &[
    ("CARGO_PROFILE_RELEASE_LTO", "fat"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "false"),
    ("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "false"),
    ("CARGO_PROFILE_RELEASE_INCREMENTAL", "false"),
];

/// Panic locations would put the paths of this machine's cargo registry into the PTX. And rustc's own jump threading
/// must not run: it makes two copies of what stands between two tests of one condition, barriers and shuffles too,
/// which LLVM would not do to convergent calls. The threads of a warp then wait for each other in different copies, for
/// ever.
const RUSTFLAGS: &str = "-Zlocation-detail=none -Zmir-enable-passes=-JumpThreading";

/// PTX 7.4 (driver 470 and later) is the first with `ld.L1::no_allocate`, for data that is read once.
const ISA: &str = "target-feature=+ptx74";

/// Loops over an element's nodes must unroll, or the arrays they index go to local memory: with LLVM's default of 300
/// the tet4 stiffness kernel had a stack frame of 288 bytes, from 600 on none.
const UNROLL: &str = "llvm-args=-unroll-threshold=1000";

/// What to build, for which GPU, and where.
pub struct Job<'a> {
    pub crate_dir: &'a Path,
    pub workspace: &'a Path,
    pub target_dir: &'a Path,
    pub target_cpu: &'a str,
}

/// The command line, without paths: the same on every machine.
pub fn command_line(target_cpu: &str) -> String {
    format!("RUSTFLAGS={RUSTFLAGS} cargo {}", arguments(target_cpu).join(" "))
}

fn arguments(target_cpu: &str) -> Vec<String> {
    let cpu = format!("target-cpu={target_cpu}");
    let fixed = ["rustc", "--release", "--lib", "--crate-type", "cdylib", "--target", TARGET, "-Zbuild-std=core"];
    let rustc = ["--", "--emit=asm", "-C", &cpu, "-C", ISA, "-C", UNROLL, "-C", "linker=/bin/true"];
    fixed.iter().chain(&rustc).map(|&argument| argument.to_owned()).collect()
}

impl Job<'_> {
    /// Compiles, and returns the PTX text as the back end wrote it.
    pub fn run(&self, compiler: &Compiler) -> Result<String, BuilderError> {
        let deps = self.target_dir.join(TARGET).join("release/deps");
        // Cargo leaves the assembly of earlier builds beside the new one.
        for old in assembly_files(&deps) {
            at(&old, fs::remove_file(&old))?;
        }
        let mut command = self.command(compiler);
        let output = at(&compiler.cargo, command.output())?;
        let printed = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(BuilderError::CompilationFailed(printed.into_owned()));
        }
        let name = crate_name(self.crate_dir)?;
        let is_ours = |path: &PathBuf| {
            path.file_stem().is_some_and(|stem| {
                let stem = stem.to_string_lossy();
                stem == name || stem.strip_prefix(&name).is_some_and(|rest| rest.starts_with('-'))
            })
        };
        match assembly_files(&deps).into_iter().find(is_ours) {
            Some(path) => at(&path, fs::read_to_string(&path)),
            None => Err(BuilderError::CompilationFailed(format!(
                "no assembly for `{name}` in {}\n{printed}",
                deps.display()
            ))),
        }
    }

    fn command(&self, compiler: &Compiler) -> Command {
        let mut command = Command::new(&compiler.cargo);
        for (name, _) in env::vars_os() {
            if is_inherited_setting(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        if !compiler.active {
            command.env_remove("LD_LIBRARY_PATH");
        }
        let arguments = arguments(self.target_cpu);
        command.current_dir(self.crate_dir).arg(&arguments[0]);
        if self.workspace.join("Cargo.lock").is_file() {
            // The outer cargo has brought it up to date, and may have been told not to change it.
            command.arg("--locked");
        }
        command
            .args(&arguments[1..])
            .envs(PROFILE.iter().copied())
            .env("RUSTC", &compiler.rustc)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", RUSTFLAGS)
            .env("CARGO_TARGET_DIR", self.target_dir)
            .env("CARGO_TERM_COLOR", "never");
        command
    }
}

/// Whether an environment variable is a setting of the outer build that must not reach the nested one. Where crates
/// are downloaded from, and whether at all, stays.
fn is_inherited_setting(name: &str) -> bool {
    const KEPT: &[&str] = &["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    const BUILD_SCRIPT: &[&str] =
        &["TARGET", "HOST", "PROFILE", "OUT_DIR", "OPT_LEVEL", "DEBUG", "NUM_JOBS", "MAKEFLAGS", "MFLAGS"];
    let cargo = name.starts_with("CARGO") && !KEPT.iter().any(|kept| name.starts_with(kept));
    cargo
        || name.starts_with("RUSTC")
        || name.starts_with("RUSTDOC")
        || name == "RUSTFLAGS"
        || BUILD_SCRIPT.contains(&name)
}

fn assembly_files(deps: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(deps).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "s")).collect()
}

/// The library's name as rustc writes it: `[lib] name`, or else `[package] name`, with underscores.
fn crate_name(crate_dir: &Path) -> Result<String, BuilderError> {
    let manifest = crate_dir.join("Cargo.toml");
    let text = at(&manifest, fs::read_to_string(&manifest))?;
    let (mut table, mut package, mut lib) = ("", None, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
        } else if let Some(("name", value)) = line.split_once('=').map(|(key, value)| (key.trim(), value)) {
            let name = value.trim().trim_matches(['"', '\'']).replace('-', "_");
            match table {
                "[package]" => package = Some(name),
                "[lib]" => lib = Some(name),
                _ => {}
            }
        }
    }
    lib.or(package).ok_or_else(|| BuilderError::NotACrate(crate_dir.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;
    use tempfile::tempdir;

    #[test]
    fn settings_of_the_outer_build_do_not_reach_the_nested_one() {
        for cleared in
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_FEATURE_CUDA", "CARGO", "OUT_DIR"]
        {
            assert!(is_inherited_setting(cleared), "{cleared}");
        }
        for kept in ["CARGO_HOME", "CARGO_NET_OFFLINE", "PATH", "RUSTUP_TOOLCHAIN", "CARGO_REGISTRIES_X_INDEX"] {
            assert!(!is_inherited_setting(kept), "{kept}");
        }
    }

    #[test]
    fn the_library_name_is_found_in_the_manifest() {
        let folder = tempdir().unwrap();
        write(&folder, "Cargo.toml", "[package]\nname = \"my-kernels\"\n[dependencies]\nname = \"x\"\n");
        assert_eq!(crate_name(folder.path()).unwrap(), "my_kernels");
        write(&folder, "Cargo.toml", "[lib]\nname = \"device\"\n[package]\nname = \"my-kernels\"\n");
        assert_eq!(crate_name(folder.path()).unwrap(), "device");
    }

    #[test]
    fn the_recorded_command_names_no_path_of_this_machine() {
        let line = command_line("sm_80");
        let paths: Vec<_> = line.split([' ', '=']).filter(|word| word.starts_with('/')).collect();
        assert!(line.contains("target-cpu=sm_80") && paths == ["/bin/true"], "{line}");
    }
}
