//! What the program does with a mesh and with a case file, on the library's functions.

use crate::reference;
use std::collections::BTreeMap;
use std::path::Path;
use warpfem::Result;
use warpfem::assembly::symbolic::degrees;
use warpfem::device::DeviceName;
use warpfem::mesh::Mesh;
use warpfem::mesh::parts::connected_parts;
use warpfem::model::case::{Case, Generated};
use warpfem::model::{Model, Study};
use warpfem::pipeline::{self, Solution};
use warpfem::result::choices::Precision;
use warpfem::solve::Silent;

/// A case for a mesh of solids, whatever its groups.
pub const CASE: &str = "[mesh]\nfile = \"mutant.msh\"\n[[material]]\nname = \"soft\"\nyoung = 1e3\npoisson = 0.3\n\
                        [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n";

/// Nodes of what is solved: more say no more.
const MOST_NODES: usize = 2000;
/// Iterations: more say no more either.
const ITERATIONS: usize = 1000;
/// Tolerance of solutions that are compared.
const TOLERANCE: f64 = 1e-10;

/// How far an attempt without an error came.
pub enum Reached {
    End,
    /// A solution short of its tolerance.
    Unconverged,
}

/// Reads, describes and solves.
pub fn mesh(bytes: &[u8]) -> Result<Reached> {
    let mesh = Mesh::parse(bytes)?;
    let _ = (connected_parts(&mesh), degrees(&mesh), mesh.quality(), mesh.extent());
    mesh.groups.iter().for_each(|group| drop(mesh.nodes_on(&group.name)));
    let plane = CASE.replace("[[material]]", "[analysis]\nkind = \"plane_strain\"\n[[material]]").replace("xyz", "xy");
    let case = Case::parse(Path::new("mutant.toml"), if mesh.dim() == 2 { &plane } else { CASE })?;
    solve(Model::resolve(&case, mesh)?)
}

/// Reads a case that is among the meshes of `tests/data`, and solves it.
pub fn case(bytes: &[u8]) -> Result<Reached> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mutant.toml");
    let case = Case::parse(&path, &String::from_utf8_lossy(bytes))?;
    let cells = match case.generated()? {
        Some(Generated::Box(lattice)) => lattice.cells.to_vec(),
        Some(Generated::Rectangle(lattice, _) | Generated::Annulus(lattice)) => lattice.cells.to_vec(),
        None => vec![0],
    };
    let cells: f64 = cells.iter().map(|n| *n as f64).product();
    // The program asks whether there is memory for it.
    if cells > MOST_NODES as f64 { Ok(Reached::End) } else { solve(Model::resolve(&case, case.mesh()?)?) }
}

/// Reads a deck that is beside those of `tests/data/decks`, and solves it.
pub fn deck(bytes: &[u8]) -> Result<Reached> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/decks/mutant.inp");
    let case = Case::parse(&path, &String::from_utf8_lossy(bytes))?;
    solve(Model::resolve(&case, case.mesh()?)?)
}

fn solve(mut model: Model) -> Result<Reached> {
    if model.mesh.coords.len() > MOST_NODES {
        return Ok(Reached::End);
    }
    model.solver.max_iterations = model.solver.max_iterations.min(ITERATIONS);
    let solution = pipeline::solve(&model, DeviceName::Cpu, &Silent)?;
    if !solution.outcome.converged {
        return Ok(Reached::Unconverged);
    }
    assert!(solution.outcome.relative_residual.is_finite());
    compare(model, solution)
}

/// Compares a solution with another assembly and another solver, as far as the iteration can answer for it: a tolerance
/// or a precision that promises less is replaced.
fn compare(mut model: Model, mut solution: Solution) -> Result<Reached> {
    let is_of_loads = model.study == Study::Static && model.temperature.is_none();
    if !reference::is_small(&model) || !model.constraints.is_empty() || !is_of_loads {
        return Ok(Reached::End);
    }
    let solver = &mut model.solver;
    if solver.tolerance > TOLERANCE || solver.precision == Some(Precision::Single) {
        (solver.tolerance, solver.precision) = (TOLERANCE.min(solver.tolerance), Some(Precision::Double));
        solution = pipeline::solve(&model, DeviceName::Cpu, &Silent)?;
        if !solution.outcome.converged {
            return Ok(Reached::Unconverged);
        }
    }
    reference::compare(&model, &solution.unknown(model.analysis.components()));
    Ok(Reached::End)
}

/// The exit code that stands for it.
pub fn code(result: Result<Reached>) -> u8 {
    match result {
        Ok(Reached::End) => 0,
        Ok(Reached::Unconverged) => 5,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            error.exit_code()
        }
    }
}

/// How often each exit code came.
pub fn tally(codes: &[u8]) -> String {
    let mut counts = BTreeMap::new();
    codes.iter().for_each(|code| *counts.entry(code).or_insert(0) += 1);
    let text: Vec<String> = counts.iter().map(|(code, n)| format!("{n} ended with {code}")).collect();
    text.join(", ")
}
