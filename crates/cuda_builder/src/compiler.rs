//! Finding a compiler that can build `core` for the GPU: one with its library sources beside it.

use crate::error::BuilderError;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest release whose PTX was tried and found good.
const OLDEST: (u32, u32) = (1, 96);

/// A compiler with the library sources that match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    pub rustc: PathBuf,
    pub cargo: PathBuf,
    /// First line of `rustc --version`.
    pub version: String,
    /// Whether it is the toolchain that runs this build.
    pub active: bool,
}

impl Compiler {
    /// `CUDA_BUILDER_RUSTC` where it is set; else the toolchain that runs this build; else the distribution's.
    ///
    /// # Errors
    ///
    /// When the variable names a compiler that will not do. `Ok(None)` when nothing is named and nothing will do.
    pub fn find() -> Result<Option<Self>, BuilderError> {
        if let Some(rustc) = env::var_os("CUDA_BUILDER_RUSTC").filter(|value| !value.is_empty()).map(PathBuf::from) {
            let found = Self::probe(&rustc, cargo_beside(&rustc), false);
            return found.map(Some).map_err(|reason| BuilderError::UnusableCompiler(rustc, reason));
        }
        let variable = |name, default: &str| env::var_os(name).map_or_else(|| PathBuf::from(default), PathBuf::from);
        let (rustc, cargo) = (variable("RUSTC", "rustc"), variable("CARGO", "cargo"));
        let distribution = Path::new("/usr/bin/rustc");
        let found =
            Self::probe(&rustc, cargo, true).or_else(|_| Self::probe(distribution, cargo_beside(distribution), false));
        Ok(found.ok())
    }

    /// The compiler at `rustc`, or why it cannot build kernels.
    pub fn probe(rustc: &Path, cargo: PathBuf, active: bool) -> Result<Self, String> {
        let version = ask(rustc, &["--version"], active)?;
        match release(&version) {
            Some(release) if release >= OLDEST => {}
            _ => return Err(format!("`{version}` is older than {}.{}", OLDEST.0, OLDEST.1)),
        }
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"], active)?);
        let library = sysroot.join("lib/rustlib/src/rust/library");
        if !library.join("core/src/lib.rs").is_file() {
            return Err(format!("it has no library sources in {}", library.display()));
        }
        Ok(Self { rustc: rustc.to_owned(), cargo, version, active })
    }
}

/// The cargo that was installed with a compiler, or whichever there is.
fn cargo_beside(rustc: &Path) -> PathBuf {
    let beside = rustc.with_file_name("cargo");
    if beside.is_file() { beside } else { env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from) }
}

/// The first line that `rustc` prints for these arguments.
fn ask(rustc: &Path, args: &[&str], active: bool) -> Result<String, String> {
    let mut command = Command::new(rustc);
    if !active {
        // Cargo points this at the active toolchain's libraries, which are not this compiler's.
        command.env_remove("LD_LIBRARY_PATH");
    }
    let output = command.args(args).output().map_err(|error| format!("it does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned())
}

/// Major and minor release number out of `rustc 1.96.0 (ac68faa20 2026-05-25)`.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.strip_prefix("rustc ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::write;
    use tempfile::{TempDir, tempdir};

    /// A script that answers as `rustc` does, with its sysroot in `folder`.
    fn fake(folder: &TempDir, version: &str) -> PathBuf {
        let sysroot = folder.path().display();
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'rustc {version} (abc 2026-05-25)'; else echo '{sysroot}'; fi\n"
        );
        let path = write(folder, "bin/rustc", "");
        // A shell writes it: a file that this process had open could be "busy" when a parallel test forks meanwhile.
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        assert!(Command::new("sh").arg("-c").arg(write).arg(&path).arg(script).status().unwrap().success());
        path
    }

    #[test]
    fn a_compiler_with_sources_is_taken_and_its_cargo_with_it() {
        let folder = tempdir().unwrap();
        let rustc = fake(&folder, "1.96.0");
        let cargo = write(&folder, "bin/cargo", "");
        write(&folder, "lib/rustlib/src/rust/library/core/src/lib.rs", "");
        let found = Compiler::probe(&rustc, cargo_beside(&rustc), false).unwrap();
        assert_eq!(found, Compiler { rustc, cargo, version: "rustc 1.96.0 (abc 2026-05-25)".into(), active: false });
    }

    #[test]
    fn a_compiler_without_sources_or_too_old_is_refused() {
        let folder = tempdir().unwrap();
        let reason = Compiler::probe(&fake(&folder, "1.97.0-nightly"), "cargo".into(), false).unwrap_err();
        assert!(reason.contains("no library sources"), "{reason}");
        write(&folder, "lib/rustlib/src/rust/library/core/src/lib.rs", "");
        let reason = Compiler::probe(&fake(&folder, "1.63.0"), "cargo".into(), false).unwrap_err();
        assert!(reason.contains("older than 1.96"), "{reason}");
        let missing = Compiler::probe(&folder.path().join("none"), "cargo".into(), false).unwrap_err();
        assert!(missing.contains("does not run"), "{missing}");
    }

    #[test]
    fn release_numbers_are_read() {
        assert_eq!(release("rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"), Some((1, 97)));
        assert_eq!(release("clang 22"), None);
    }
}
