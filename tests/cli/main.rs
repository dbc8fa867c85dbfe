//! The program itself, run as people run it: exit codes, messages, and what it leaves behind.

mod bad_case;
mod bad_mesh;
mod bad_use;
mod bench;
mod check;
mod demo;
mod disk;
mod femses;
mod files;
mod init;
mod laplace;
mod limits;
mod mistakes;
mod names;
mod outputs;
mod pictures;
mod plane;
mod report;
mod results;
mod solve;
mod speech;
mod stop;
mod terminal;
mod tools;
mod trust;
mod verify;
mod vtu;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A cantilever that solves in milliseconds.
pub(crate) const GOOD: &str = r#"[mesh]
generate = { kind = "box", element = "tet4", size = [4.0, 1.0, 1.0], cells = [8, 2, 2] }

[analysis]
kind = "elasticity"

[[material]]
name = "steel"
on = "body"
young = 210e9
poisson = 0.3
density = 7850.0

[[support]]
on = "xmin"
fix = "xyz"

[gravity]
acceleration = [0.0, 0.0, -9.81]

[[force]]
on = "xmax"
total = [0.0, 0.0, -1e3]

[solver]
tolerance = 1e-10
method = "cg"
"#;

/// [`GOOD`] with one piece replaced, which must be there.
pub(crate) fn good_but(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

/// What `solve` leaves of `case.toml`.
pub(crate) const FILES: [&str; 6] =
    ["case.html", "case.png", "case.vtu", "case_elements.csv", "case_nodes.csv", "summary.json"];

/// What a run left on its outputs.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let run = Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        for text in [&run.out, &run.err] {
            assert!(!text.contains('\x1b'), "an escape code outside of a terminal: {text:?}");
            for trace in ["panicked", "backtrace", "this is a bug", "unwrap", "Some(", "Err("] {
                assert!(!text.contains(trace), "{text}");
            }
        }
        run
    }
}

impl Run {
    /// Asserts the exit code and that one error, said once, has all of these words in it; nothing is on stdout.
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert!(self.err.starts_with("error: ") && self.err.matches("error: ").count() == 1, "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in\n{}", self.err);
        }
        let first = self.err.lines().next().unwrap_or("");
        let end = first.rsplit(": ").next().unwrap_or("");
        assert!(end.len() < 15 || first.matches(end).count() == 1, "said twice: {first}");
    }

    /// What is on stdout, with one space wherever a line may have been broken.
    pub(crate) fn words(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Asserts success and silence on stderr.
    pub(crate) fn done(self) -> Run {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self
    }
}

/// A folder to run in, gone when it is dropped.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpfem"));
        // With traces asked for, so that one would show, and as if cargo had not started the program.
        command.args(arguments).current_dir(self.0.path()).env("RUST_BACKTRACE", "1").env_remove("CARGO");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// Solves a case text on the CPU into the folder `out`.
    pub(crate) fn solve(&self, case: &str, flags: &[&str]) -> Run {
        self.write("case.toml", case);
        self.run(&[&["solve", "case.toml", "-o", "out", "--device", "cpu"], flags].concat())
    }

    /// The names of what is in a folder below, sorted; hidden files too.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn summary(&self, folder: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(&format!("{folder}/summary.json"))).unwrap()
    }
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().to_owned()
}

/// Whether this machine has a GPU: then what is said where there is none cannot be tested.
pub(crate) fn has_gpu() -> bool {
    warpfem::backend::Device::Auto.resolve() != warpfem::backend::Device::Cpu
}
