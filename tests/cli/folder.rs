//! Runs of a program in a folder of their own, and a case to run it on. The tests of `warpfem-bench` use it too.
#![allow(dead_code, reason = "not every test program uses all of it")]

use crate::{PROGRAM, ROOT};
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

/// Solves a case on the CPU into the folder `out`.
pub(crate) const SOLVE: [&str; 6] = ["solve", "case.toml", "-o", "out", "--device", "cpu"];

/// [`GOOD`] with one piece replaced, which must be there.
pub(crate) fn good_but(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

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

    /// Asserts that all of these words are on stdout.
    #[track_caller]
    pub(crate) fn says(&self, words: &[&str]) {
        words.iter().for_each(|word| assert!(self.out.contains(word), "`{word}` is not in\n{}", self.out));
    }

    /// Asserts the same of [`Run::words`].
    #[track_caller]
    pub(crate) fn tells(&self, words: &[&str]) {
        words.iter().for_each(|word| assert!(self.words().contains(word), "`{word}` is not in\n{}", self.out));
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

    /// A file as text; the arrays of a VTU are none.
    pub(crate) fn text(&self, name: &str) -> String {
        let bytes = self.read(name);
        assert!(name.ends_with(".vtu") || std::str::from_utf8(&bytes).is_ok(), "{name}");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
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
        self.run(&[&SOLVE, flags].concat())
    }

    /// The names of what is in a folder below, sorted; hidden files too.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn summary(&self, folder: &str) -> serde_json::Value {
        self.json(&format!("{folder}/summary.json"))
    }

    /// A number of the summary, by its JSON pointer.
    #[track_caller]
    pub(crate) fn number(&self, folder: &str, place: &str) -> f64 {
        let found = self.summary(folder).pointer(place).and_then(serde_json::Value::as_f64);
        found.unwrap_or_else(|| panic!("{place} is no number of {folder}/summary.json"))
    }
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> String {
    Path::new(ROOT).join(path).to_str().unwrap().to_owned()
}

/// Whether this machine has a GPU: then what is said where there is none cannot be tested.
pub(crate) fn has_gpu() -> bool {
    warpfem::device::DeviceName::Auto.resolve() != warpfem::device::DeviceName::Cpu
}
