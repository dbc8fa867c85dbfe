//! `warpfem demo`: a crane hook that is built in, solved as `warpfem solve` would, in a folder to go on from.

use super::devices;
use super::job::Job;
use super::print::{unbroken, whole, wrapped};
use super::progress::Progress;
use super::solve;
use super::terminal::Detail;
use crate::device::DeviceName;
use crate::output;
use flate2::read::ZlibDecoder;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The hook's mesh, deflated, and its case, which names it so.
const MESH: (&str, &[u8]) = ("hook.msh", include_bytes!(env!("WARPFEM_DEMO_MESH")));
const CASE: (&str, &[u8]) = ("hook.toml", include_bytes!("../../../meshes/hook.toml"));

#[derive(Debug, clap::Args)]
#[command(after_help = "Writes the hook's mesh, its case file and all results into DIR.

Examples:
  warpfem demo
  warpfem demo -o first --device cpu")]
pub struct Arguments {
    /// Folder for the hook and its results.
    #[arg(short, long, value_name = "DIR", default_value = "warpfem-demo")]
    output: PathBuf,
    /// auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Print errors only.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let dir = &arguments.output;
    output::check_folder(dir)?;
    let mut mesh = Vec::new();
    ZlibDecoder::new(MESH.1).read_to_end(&mut mesh)?;
    put(&dir.join(MESH.0), &mesh)?;
    put(&dir.join(CASE.0), CASE.1)?;
    let progress = Progress::new(arguments.quiet);
    let job = Job::read(&dir.join(CASE.0), Some(dir), arguments.device, &progress)?;
    let (solution, said) =
        solve::solve(&job, arguments.device, &progress, (arguments.quiet, Detail::Short { spare: 1 }))?;
    progress.finish();
    let said = said + &next(dir, std::env::var_os("CARGO").is_some());
    solve::end(solution, (!arguments.quiet).then_some(said.as_str()))
}

/// Writes a file of the demo; one that somebody has changed stays, and is an error.
fn put(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let fail = |source| output::Error::Output { path: path.to_path_buf(), source };
    // A pipe would keep the reader waiting.
    output::check_file(path)?;
    match std::fs::read(path) {
        Ok(there) if there == bytes => return Ok(()),
        Ok(_) => {
            let path = path.display();
            let message = format!("{path} has been changed: choose another folder with `-o`, or remove it");
            return Err(super::usage(message));
        }
        Err(_) => {}
    }
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(fail)?;
    }
    Ok(output::write_file(path, |file| file.write_all(bytes))?)
}

/// What to try next, in a line of 80 columns if it fits; cargo runs a program that is not on the path.
fn next(dir: &Path, is_by_cargo: bool) -> String {
    let program = if is_by_cargo { "cargo run --release --" } else { "warpfem" };
    let solve = format!("{program} solve {} -o {}", whole(&dir.join(CASE.0)), whole(dir));
    let edit = format!("next: edit {}, {}", CASE.0, unbroken(&solve));
    let text = if edit.chars().count() <= 80 { edit } else { format!("next: {}", unbroken(&solve)) };
    wrapped(&text, "  ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Case;

    #[test]
    fn the_case_names_the_mesh() {
        let case = Case::parse(Path::new(CASE.0), std::str::from_utf8(CASE.1).unwrap()).unwrap();
        assert_eq!(case.mesh_name(), MESH.0);
    }

    #[test]
    fn commands_can_be_pasted() {
        let text = next(Path::new("my demo"), false);
        assert!(text.contains("warpfem solve 'my demo/hook.toml' -o 'my demo'"), "{text}");
        assert_eq!(next(Path::new("warpfem-demo"), false).lines().count(), 1);
        let text = next(Path::new("warpfem-demo"), true);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("cargo run --release -- solve warpfem-demo/hook.toml -o warpfem-demo"), "{text}");
    }
}
