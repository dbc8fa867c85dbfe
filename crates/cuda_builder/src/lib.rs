//! Builds a crate of GPU kernels to PTX, from a build script.
//!
//! ```no_run
//! use cuda_builder::{CudaBuilder, NvvmArch};
//! let builder = CudaBuilder::new("kernels-rs").arch(NvvmArch::Compute80);
//! let built = builder.copy_to("kernels-rs/ptx/kernels.archive").build()?;
//! println!("cargo:rustc-env=KERNELS_PTX={}", built.archive.display());
//! # Ok::<(), cuda_builder::BuilderError>(())
//! ```
//!
//! The PTX becomes an archive, which the crate `ptx_archive` reads where the kernels run. That at `copy_to` is meant to be
//! checked in. While the hash in its header is that of the sources it is used as it is; after a change of the kernels
//! they are compiled again, by a compiler that this crate looks for; and without such a compiler the checked-in archive
//! is used all the same, with a warning. Two environment variables intervene: `CUDA_BUILDER=force` compiles in any case,
//! `CUDA_BUILDER=keep` looks for no compiler, and `CUDA_BUILDER_RUSTC` names the compiler.

mod bounds;
mod compile;
mod compiler;
mod error;
mod header;
mod sources;
#[cfg(test)]
mod testing;

use compiler::Compiler;
pub use error::BuilderError;
use error::at;
pub use header::Header;
use ptx_archive::{Archive, pack};
use sources::Sources;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The oldest GPU generation that the PTX is for; the driver compiles it for any newer one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NvvmArch {
    /// Ampere (A100).
    #[default]
    Compute80,
    /// Ampere (RTX 30).
    Compute86,
    /// Ada.
    Compute89,
    /// Hopper.
    Compute90,
}

impl NvvmArch {
    /// The name that rustc's `target-cpu` and the PTX's `.target` have for it.
    pub fn target_cpu(self) -> &'static str {
        match self {
            Self::Compute80 => "sm_80",
            Self::Compute86 => "sm_86",
            Self::Compute89 => "sm_89",
            Self::Compute90 => "sm_90",
        }
    }
}

/// How the PTX of a build came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Checked in, and made from these very sources.
    CheckedIn,
    /// Compiled just now.
    Compiled,
    /// Checked in, made from other sources than these: no compiler here can build kernels.
    Stale,
}

/// The result of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Absolute path of the archive of PTX.
    pub archive: PathBuf,
    /// Where it came from.
    pub origin: Origin,
}

/// A build of one kernel crate.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    crate_dir: PathBuf,
    copy_to: Option<PathBuf>,
    arch: NvvmArch,
    force: bool,
}

impl CudaBuilder {
    /// A build of the crate in this folder (relative to the building package, where a build script runs).
    pub fn new(crate_dir: impl AsRef<Path>) -> Self {
        let force = env::var_os("CUDA_BUILDER").is_some_and(|value| value == "force");
        Self { crate_dir: crate_dir.as_ref().to_owned(), copy_to: None, arch: NvvmArch::default(), force }
    }

    /// The file to write the archive to, and to take it from while it matches the sources. Without one the archive goes
    /// to the build script's `OUT_DIR`.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// The oldest GPU to build for; [`NvvmArch::Compute80`] if not called.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Whether to compile even if the checked-in archive matches the sources.
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Provides the PTX, and tells cargo what it depends on.
    ///
    /// # Errors
    ///
    /// When the kernels do not compile, when there is neither a compiler nor a checked-in archive, and when files cannot
    /// be read or written. That no compiler is found is no error where there is a checked-in archive, whole and of the
    /// format of today.
    pub fn build(self) -> Result<Built, BuilderError> {
        let sources = Sources::of(&self.crate_dir)?;
        let archive = self.destination()?;
        for path in sources.watched.iter().chain([&archive]) {
            tell_cargo(&format!("rerun-if-changed={}", path.display()));
        }
        for variable in ["CUDA_BUILDER", "CUDA_BUILDER_RUSTC"] {
            tell_cargo(&format!("rerun-if-env-changed={variable}"));
        }
        let hash = sources.hash()?;
        let checked_in = fs::read(&archive).ok();
        let checked_in = checked_in.as_deref().and_then(|bytes| Archive::open(bytes).ok());
        // PTX of the same sources by another command (other flags, another GPU) does not match either.
        let command = compile::command_line(self.arch.target_cpu());
        let header = |archive: Archive| Header::parse(archive.comments());
        let matching =
            |archive| header(archive).filter(|header| header.command == command).map(|header| header.sources);
        let found = checked_in.map(matching);
        let keeps = env::var_os("CUDA_BUILDER").is_some_and(|value| value == "keep");
        let compiler = || if keeps { Ok(None) } else { Compiler::find() };
        match decide(self.force, found.as_ref().map(|hash| hash.as_deref()), &hash, compiler)? {
            Plan::Use(Origin::Stale) => {
                warn(&format!(
                    "{} changed but no compiler can build it: embedding the checked-in archive; GPU results may not match \
                     the sources",
                    self.crate_dir.display()
                ));
                Ok(Built { archive, origin: Origin::Stale })
            }
            Plan::Use(origin) => Ok(Built { archive, origin }),
            Plan::Compile(compiler) => self.compile(&sources, hash, archive, &compiler),
        }
    }

    fn compile(
        &self,
        sources: &Sources,
        hash: String,
        archive: PathBuf,
        compiler: &Compiler,
    ) -> Result<Built, BuilderError> {
        let (crate_dir, target_dir) = (at(&self.crate_dir, self.crate_dir.canonicalize())?, target_dir(&sources.root));
        let job = compile::Job {
            crate_dir: &crate_dir,
            workspace: &sources.root,
            target_dir: &target_dir,
            target_cpu: self.arch.target_cpu(),
        };
        let header = Header {
            sources: hash,
            compiler: compiler.version.clone(),
            command: compile::command_line(job.target_cpu),
        };
        write_whole(&archive, &pack(&header.put_before(&bounds::apply(&job.run(compiler)?))))?;
        warn(&format!("compiled {} with {} to {}", self.crate_dir.display(), compiler.version, archive.display()));
        Ok(Built { archive, origin: Origin::Compiled })
    }

    fn destination(&self) -> Result<PathBuf, BuilderError> {
        let path = match (&self.copy_to, env::var_os("OUT_DIR")) {
            (Some(path), _) => path.clone(),
            (None, Some(out)) => Path::new(&out).join("kernels.archive"),
            (None, None) => self.crate_dir.join("ptx/kernels.archive"),
        };
        at(&path, std::path::absolute(&path))
    }
}

/// Hash of the device sources of the crate in `crate_dir`, as it stands in the header of its PTX.
///
/// # Errors
///
/// When the folder holds no crate or a source cannot be read.
pub fn source_hash(crate_dir: impl AsRef<Path>) -> Result<String, BuilderError> {
    Sources::of(crate_dir.as_ref())?.hash()
}

/// The PTX in an archive: the whole text, or the module that a driver is given for some entry points.
///
/// # Errors
///
/// When the file cannot be read, is no archive, or lacks one of the entry points.
pub fn text(archive: impl AsRef<Path>, entries: &[&str]) -> Result<String, BuilderError> {
    let path = archive.as_ref();
    let bytes = at(path, fs::read(path))?;
    let archive = Archive::open(&bytes);
    let text = archive.and_then(|archive| if entries.is_empty() { archive.text() } else { archive.module(entries) });
    text.map_err(|error| BuilderError::Archive(path.to_owned(), error))
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Use(Origin),
    Compile(Compiler),
}

/// What to do, given the checked-in archive (`None`: no such file; `Some(None)`: without a header; else its hash) and the
/// hash of the sources. The compiler is looked for only where one is needed.
fn decide(
    force: bool,
    checked_in: Option<Option<&str>>,
    sources: &str,
    find: impl FnOnce() -> Result<Option<Compiler>, BuilderError>,
) -> Result<Plan, BuilderError> {
    if !force && checked_in == Some(Some(sources)) {
        return Ok(Plan::Use(Origin::CheckedIn));
    }
    match find()? {
        Some(compiler) => Ok(Plan::Compile(compiler)),
        None if checked_in.is_some() && !force => Ok(Plan::Use(Origin::Stale)),
        None => Err(BuilderError::NoCompiler),
    }
}

/// An instruction to cargo, when this runs in a build script.
fn tell_cargo(instruction: &str) {
    if env::var_os("OUT_DIR").is_some() {
        println!("cargo:{instruction}");
    }
}

/// A line that the user sees: cargo's warning in a build script, standard error elsewhere.
fn warn(line: &str) {
    match env::var_os("OUT_DIR") {
        Some(_) => println!("cargo:warning={line}"),
        None => eprintln!("{line}"),
    }
}

/// The nested build's own target folder: the outer cargo holds the lock of its own while this runs.
fn target_dir(workspace: &Path) -> PathBuf {
    match (env::var_os("OUT_DIR"), env::var_os("CARGO_TARGET_DIR")) {
        (Some(out), _) => Path::new(&out).join("cuda-builder"),
        (None, Some(target)) => workspace.join(target).join("cuda-builder"),
        (None, None) => workspace.join("target/cuda-builder"),
    }
}

/// Writes a file so that a reader sees the old bytes or the new ones, never a part.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), BuilderError> {
    if let Some(parent) = path.parent() {
        at(parent, fs::create_dir_all(parent))?;
    }
    let partial = path.with_extension(format!("partial.{}", std::process::id()));
    at(&partial, fs::write(&partial, bytes))?;
    at(path, fs::rename(&partial, path))
}

#[cfg(test)]
mod tests;
