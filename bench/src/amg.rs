//! `warpfem-bench amg`: multigrid's levels, its set-up part by part, and what is left of that for another load and for
//! other materials.

use super::header::Header;
use super::solutions::{MAX_SOLUTIONS, Solutions, Solved, solved, storages};
use super::{Common, matrices};
use crate::page;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use serde::Serialize;
use warpfem::cli::table;
use warpfem::device::{Buffer, bandwidth};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline::System;
use warpfem::precond::amg::{Hierarchy, LevelSize};
use warpfem::precond::{self, Context, SetupCache};
use warpfem::result::Result;
use warpfem::result::choices::{Precision, Preconditioner};
use warpfem::solve::CgOptions;
use warpfem::solve::iteration::{self, Builder};
use warpfem_text::{bytes, count, seconds};

/// What is measured, and when to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without INPUT: a steel box, clamped at x = 0 under its own weight.

Examples:
  warpfem-bench amg --element tet4 --cells 100 --device cuda --mixed --json amg.json
  warpfem-bench amg meshes/vase.toml")]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    wanted: Solutions,
}

/// A solution.
#[derive(Debug, Serialize)]
struct Solution {
    /// `first`, `new load` or `new materials`.
    what: &'static str,
    /// What the hierarchy's values are stored in.
    storage: &'static str,
    #[serde(flatten)]
    solved: Solved,
}

/// An application of the hierarchy in the matrix's precision.
#[derive(Debug, Serialize)]
struct Cycle {
    /// Milliseconds for one vector.
    one_ms: f64,
    /// And for [`WIDTH`] at once.
    several_ms: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: &'static str,
    tolerance: f64,
    cycle: Cycle,
    solutions: Vec<Solution>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let model = common.problem.model(common)?;
    arguments.wanted.check(common.precision)?;
    let space = Space::open(common.device)?;
    let report: Report = match common.precision {
        Precision::Single => measure::<f32>(&space, arguments, model, &[(iteration::plain, "f32")]),
        _ => measure::<f64>(&space, arguments, model, storages(arguments.wanted.mixed)),
    }?;
    let first = report.solutions.iter().find_map(|one| one.solved.multigrid.as_ref());
    page::finish("amg", common.json.as_deref(), &report, first.map_or(String::new(), levels))
}

/// Solves, then for another load, then with other materials on the same mesh.
fn measure<T: Real>(
    space: &Space,
    arguments: &Arguments,
    mut model: Model,
    builders: &[(Builder<T>, &'static str)],
) -> Result<Report> {
    let Arguments { common, wanted: Solutions { format, tolerance, .. } } = arguments;
    let mut header = Header::new::<T>(space, common, &model.mesh, model.analysis.components())?;
    let options = CgOptions::new(*tolerance, model.solver.max_iterations);
    let samples = common.samples.min(MAX_SOLUTIONS);
    let (mut system, _) = matrices::assemble::<T>(space, &model, *format)?;
    header.blocks = system.matrix().pattern().n_blocks();
    let cycle = cycle(space, &system, samples)?;
    let kept: Vec<SetupCache> = builders.iter().map(|_| SetupCache::default()).collect();
    let mut solutions = Vec::new();
    for ((build, storage), kept) in builders.iter().zip(&kept) {
        let context = Context::of_nodes(0, system.body.mesh.coords(), system.body.mesh.ends());
        let make = || build(Preconditioner::Amg, &context, space, system.matrix());
        let first = solved(space, &system, make, options, samples)?;
        solutions.push(Solution { what: "first", storage, solved: first });
        // Fills what is kept.
        let made = build(Preconditioner::Amg, &context.keeping(kept), space, system.matrix())?;
        let other = other_load(space, &system.f, header.block_size)?;
        let load = std::mem::replace(&mut system.f, other);
        let mut again = solved(space, &system, || Ok(&*made), options, samples)?;
        (again.setup_ms, again.multigrid, system.f) = (0.0, None, load);
        solutions.push(Solution { what: "new load", storage, solved: again });
    }
    change_materials(&mut model);
    system.set_materials(space, &model)?;
    for ((build, storage), kept) in builders.iter().zip(&kept) {
        let context = Context::of_nodes(0, system.body.mesh.coords(), system.body.mesh.ends()).keeping(kept);
        let make = || build(Preconditioner::Amg, &context, space, system.matrix());
        let other = solved(space, &system, make, options, samples)?;
        solutions.push(Solution { what: "new materials", storage, solved: other });
    }
    Ok(Report { header, format: format.name(), tolerance: *tolerance, cycle, solutions })
}

/// Times applications of the hierarchy in the matrix's precision.
fn cycle<T: Real>(space: &Space, system: &System<T>, samples: u32) -> Result<Cycle> {
    let context = Context::of_nodes(0, system.body.mesh.coords(), system.body.mesh.ends());
    let (matrix, f) = (system.matrix(), space.download(&system.f)?);
    let hierarchy = precond::build(Preconditioner::Amg, &context, space, matrix)?;
    let r = (0..WIDTH).map(|_| space.upload(&f)).collect::<Result<Vec<_>>>()?;
    let mut z = (0..WIDTH).map(|_| space.zeros(f.len())).collect::<Result<Vec<_>>>()?;
    let [one, several] = [1, WIDTH]
        .map(|n| bandwidth::time(space, samples, || hierarchy.apply_all(space, matrix, &r[..n], &mut z[..n])));
    Ok(Cycle { one_ms: 1e3 * one?, several_ms: 1e3 * several? })
}

/// The same forces in other directions: supports that fix a node fix it in all of them, in the problems that this is
/// for.
fn other_load<T: Real>(space: &Space, f: &Buffer<T>, size: usize) -> Result<Buffer<T>> {
    let mut f = space.download(f)?;
    f.chunks_exact_mut(size).for_each(|node| node.rotate_left(1));
    f.iter_mut().step_by(2 * size + 1).for_each(|f| *f *= T::from_f64(0.5));
    space.upload_vec(f)
}

/// Other materials for the same mesh: stiffnesses three quarters as large, and less lateral contraction.
fn change_materials(model: &mut Model) {
    for (place, material) in model.materials.iter_mut().enumerate() {
        material.set_isotropic(0.75 * material.law.young(), 0.8 * material.law.poisson());
        material.conductivity = material.conductivity.map(|k| 0.75 * k / (1 + place) as f64);
    }
}

/// A line for each level, and the parts of the set-up.
fn levels(hierarchy: &Hierarchy) -> String {
    let finest = hierarchy.levels.first().map_or(0, |level| level.unknowns()).max(1) as f64;
    let line = |(depth, level): (usize, &LevelSize)| {
        vec![
            depth.to_string(),
            count(level.unknowns()),
            count(level.rows),
            count(level.blocks),
            format!("{:.1}", level.stencil()),
            format!("{:.4}", level.unknowns() as f64 / finest),
        ]
    };
    let rows: Vec<Vec<String>> = hierarchy.levels.iter().enumerate().map(line).collect();
    let heads = ["level", "unknowns", "rows", "blocks", "stencil", "of finest"];
    let parts = hierarchy.times.parts().map(|(name, time)| format!("{name} {}", seconds(time))).join(", ");
    format!(
        "{}operator complexity {:.3}, {}; set-up: {parts}\n",
        table::text(&heads, &rows),
        hierarchy.operator_complexity(),
        bytes(hierarchy.bytes)
    )
}
