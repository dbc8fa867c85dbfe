//! `warpfem refine CASE --error X`: element sizes for a wanted error, for Gmsh.

use super::failure::Failure;
use super::job::{deck_of, read_model, solve_and_keep};
use super::print::{self, count};
use super::progress::Progress;
use super::summary::ties;
use super::{devices, solve};
use crate::device::DeviceName;
use crate::model::case::Case;
use crate::model::{self, Model};
use crate::output;
use crate::output::away::near;
use crate::output::sizes::{Sizes, sizes};
use crate::solve::Monitor;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use warpfem_text::{counted, percent};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Solves the case, estimates the error that the mesh makes, and writes the sizes that elements need for the \
wanted error: a background mesh for Gmsh, which the next mesh is made with. Of several load cases each is to have that error.

Examples:
  warpfem refine meshes/bracket.toml --error 0.05
  gmsh -3 part.geo -bgm bracket_size.pos -o part.msh"
)]
pub struct Arguments {
    /// The case file, or a deck (.inp).
    case: PathBuf,
    /// The wanted relative error in the energy norm, between 0 and 1: 0.01 is 1 %.
    #[arg(long, value_name = "X", value_parser = solve::tolerance, allow_negative_numbers = true)]
    error: f64,
    /// The file to write [default: <case>_size.pos].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the numbers to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Print errors only.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.quiet);
    progress.phase("read");
    let (case, model) = read_model(&deck_of(&arguments.case), arguments.device)?;
    check(&case).map_err(model::Error::from)?;
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}_size.pos", model.name)));
    for path in [Some(&path), arguments.json.as_ref()].into_iter().flatten() {
        output::check_file(path)?;
    }
    let errors = errors(&model, arguments.device, &progress)?;
    let largest = errors.iter().map(|(error, _)| *error).fold(0.0, f64::max);
    progress.phase("write");
    let cases: Vec<&[Vec<f64>]> = errors.iter().map(|(_, cells)| cells.as_slice()).collect();
    let near = near(&model.mesh, &model.supports, &model.loads(0).applied, &ties(&model));
    let sizes = sizes(&model.mesh, &cases, arguments.error, |node| near.is_at(node));
    output::write_file(&path, |file| sizes.write(file, &model.mesh))?;
    let report = json(&model, [largest, arguments.error], &sizes);
    if let Some(path) = &arguments.json {
        output::write_file(path, |file| writeln!(file, "{report:#}"))?;
    }
    progress.finish();
    if !arguments.quiet {
        print::text(&text(&model, [largest, arguments.error], &sizes, &path))?;
    }
    Ok(())
}

/// Refuses cases whose meshes Gmsh does not make again, and those without an error.
fn check(case: &Case) -> Result<(), Box<model::CaseError>> {
    let (tables, is_of_modes) = (&case.tables, case.study().is_of_modes());
    if let Some(study) = tables.analysis.study.as_ref().filter(|_| is_of_modes) {
        let message = "no error is estimated of modes";
        let help = "refine a static case on the same mesh; see docs/accuracy";
        return Err(case.error_at(study.span(), message, help));
    }
    if let Some(generate) = &tables.mesh.get_ref().generate {
        let message = "the mesh is generated: there is no geometry that Gmsh could mesh again";
        return Err(case.error_at(generate.span(), message, "take more `cells`, or a mesh made by Gmsh"));
    }
    Ok(())
}

/// Of each load case the estimated error, and those of the elements.
fn errors(model: &Model, device: DeviceName, progress: &Progress) -> anyhow::Result<Vec<(f64, Vec<Vec<f64>>)>> {
    let (solutions, kept) = solve_and_keep(model, device, vec!["error".into()], progress)?;
    if let Some(failed) = solutions.into_iter().find(|solution| !solution.outcome.converged) {
        return Err(Failure::NotConverged(Box::new(failed)).into());
    }
    Ok(kept.steps.into_iter().map(|step| (step.row("mesh_error", 0)[0], step.lists("error").to_vec())).collect())
}

fn json(model: &Model, [estimated, wanted]: [f64; 2], sizes: &Sizes) -> serde_json::Value {
    json!({
        "estimated_error": estimated,
        "wanted_error": wanted,
        "unknowns": model.analysis.components() * model.mesh.coords.len(),
        "elements": model.mesh.n_solids(),
        "predicted_elements": sizes.n_elements.round(),
    })
}

fn text(model: &Model, [estimated, wanted]: [f64; 2], sizes: &Sizes, path: &std::path::Path) -> String {
    let reached = if estimated <= wanted { ": reached" } else { "" };
    let of = if model.n_steps() > 1 { " of the worst load case" } else { "" };
    format!(
        "{}: {}\n  estimated error{of} {} in the energy norm, wanted {}{reached}\n  \
         a mesh of the new sizes has about {} elements\n  wrote {}\n",
        model.name,
        counted(model.mesh.n_solids(), "element"),
        percent(estimated),
        percent(wanted),
        count(sizes.n_elements.round() as usize),
        print::whole(path),
    )
}
