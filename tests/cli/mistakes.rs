//! The messages of common mistakes, kept whole in tests/data/mistakes: each names the place, the reason and the next
//! step.
//!
//! For each `NAME.toml` there, or `NAME.msh` (or .stl) alone, `NAME.txt` holds what `warpfem check` says of it: all of
//! stderr, the warnings, and the exit code. A case may begin with a line `# run: info MESH` to run another command.
//! `WARPFEM_UPDATE_MISTAKES=1 cargo test --test cli mistakes` writes the texts anew; read them before they are
//! committed.

use crate::{Folder, repository};
use std::fs;
use std::path::Path;

/// What a run said that matters: problems, warnings, and how it ended.
fn said(folder: &Folder, arguments: &[&str]) -> String {
    let run = folder.run(arguments);
    let (mut warnings, mut is_in) = (String::new(), false);
    for line in run.out.lines() {
        is_in = line.starts_with("  warning: ") || is_in && line.starts_with("    ");
        // A warning goes on in the lines that follow.
        let joint = if line.starts_with("  warning: ") || warnings.is_empty() { "\n" } else { " " };
        warnings += &if is_in { format!("{joint}{}", line.trim_start()) } else { String::new() };
    }
    let warnings = if warnings.is_empty() { warnings } else { format!("{}\n", warnings.trim_start()) };
    format!("$ warpfem {}\n{warnings}{}exit code {}\n", arguments.join(" "), run.err, run.code.unwrap_or(-1))
}

/// The command that a case asks for in its first line; `check` if it does not.
fn command(name: &str, text: &str) -> Vec<String> {
    match text.lines().next().and_then(|line| line.strip_prefix("# run: ")) {
        Some(command) => command.split(' ').map(str::to_string).collect(),
        None => vec!["check".into(), name.into()],
    }
}

#[test]
fn messages_of_common_mistakes() {
    let kept = repository("tests/data/mistakes");
    let folder = Folder::new();
    let mut cases = Vec::new();
    for entry in fs::read_dir(&kept).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.ends_with(".toml") {
            cases.push(name.clone());
        }
        if !name.ends_with(".txt") {
            fs::copy(&path, folder.path(&name)).unwrap();
        }
    }
    cases.sort();
    assert!(cases.len() >= 10, "{cases:?}");
    let update = std::env::var_os("WARPFEM_UPDATE_MISTAKES").is_some();
    let mut wrong = Vec::new();
    for case in &cases {
        let text = fs::read_to_string(Path::new(&kept).join(case)).unwrap();
        let command = command(case, &text);
        let found = said(&folder, &command.iter().map(String::as_str).collect::<Vec<_>>());
        let file = Path::new(&kept).join(case).with_extension("txt");
        if update {
            fs::write(&file, &found).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{case} says\n{found}\nand should say\n{expected}"));
        }
        assert!(found.contains("help: ") || found.contains("warning: "), "no next step in\n{found}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_text_has_its_case() {
    let kept = repository("tests/data/mistakes");
    for entry in fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            assert!(path.with_extension("toml").exists(), "{}", path.display());
        }
    }
}
