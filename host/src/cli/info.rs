//! `warpfem info MESH`.

use super::print::{self, count, vector};
use super::progress::Progress;
use super::template;
use crate::assembly;
use crate::mesh::coloring::Coloring;
use crate::mesh::parts::connected_parts;
use crate::mesh::quality;
use crate::mesh::{Group, Mesh, MeshError};
use crate::model::case::{deck_mesh, is_deck};
use crate::model::planes;
use crate::parallel;
use crate::plan::fits;
use crate::solve::Monitor;
use std::fmt::Write;
use std::path::PathBuf;
use warpfem_text::{counted, number};

/// Bad elements that are listed.
const BAD_SHOWN: usize = 12;

#[derive(Debug, clap::Args)]
#[command(after_help = "A mesh with bad elements is described too, with a list of them; `check` and `solve` refuse it.

Example: warpfem info meshes/bracket.msh")]
pub struct Arguments {
    /// The mesh file (MSH 4.1 or 2.2), or a deck (.inp).
    mesh: PathBuf,
    /// Also show neighbours of nodes and colours of elements, which assembly depends on.
    #[arg(long)]
    verbose: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let progress = Progress::new(false);
    progress.phase("read");
    fits::check_file(&arguments.mesh)?;
    let (mesh, bad) = match is_deck(&arguments.mesh) {
        true => (deck_mesh(&arguments.mesh)?, Vec::new()),
        false => Mesh::inspect(&arguments.mesh)?,
    };
    progress.phase("look");
    let text = describe(&mesh, arguments.verbose);
    progress.finish();
    print::text(&format!("{}\n{text}{}", arguments.mesh.display(), refused(bad)))
}

/// Why `check` and `solve` refuse the mesh, if they do.
pub(super) fn refused(bad: Vec<MeshError>) -> String {
    let places: Vec<_> = bad.iter().filter_map(MeshError::of_element).collect();
    let mut out = match places.len() {
        0 => String::new(),
        n => format!("  bad       {}\n", counted(n, "element")),
    };
    for (element, what, at) in places.iter().take(BAD_SHOWN) {
        out += &format!("    {element} is {what}, near {at}\n");
    }
    if places.len() > BAD_SHOWN {
        out += &format!("    and {} more\n", count(places.len() - BAD_SHOWN));
    }
    match MeshError::of_elements(bad) {
        Ok(()) => out,
        Err(error) => format!("{out}  `check` and `solve` refuse it: {}\n", error.to_string().replace('\n', "\n  ")),
    }
}

/// The text of all sections; those that run in one thread alone run beside each other.
fn describe(mesh: &Mesh, is_verbose: bool) -> String {
    type Section = fn(&Mesh, &mut String) -> std::fmt::Result;
    let sections: &[Section] = match is_verbose {
        true => &[counts, parts, degrees, colors, groups, quality],
        false => &[counts, parts, groups, quality],
    };
    let text = |section: &Section| {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = section(mesh, &mut out);
        out
    };
    let mut texts: Vec<String> = parallel::map_items(sections, &text);
    texts.extend(mesh.warnings.iter().map(|warning| format!("  warning: {warning}\n")));
    texts.concat()
}

fn counts(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    let (low, high) = mesh.extent();
    writeln!(out, "  nodes     {}", count(mesh.coords.len()))?;
    for cells in mesh.cells.iter().filter(|cells| !cells.is_empty()) {
        writeln!(out, "  {:<9} {}", cells.kind.info().name, count(cells.len()))?;
    }
    writeln!(out, "  extent    {} to {}", vector(low), vector(high))?;
    let (what, content) = (if mesh.dim() == 2 { "area" } else { "volume" }, number(quality::volume(mesh), 4));
    writeln!(out, "  {what:<9} {content}, sides {}", vector([0, 1, 2].map(|c| high[c] - low[c])))
}

fn parts(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    writeln!(out, "  parts     {}", connected_parts(mesh).1)
}

fn degrees(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    let degrees = assembly::symbolic::degrees(mesh);
    writeln!(out, "  degrees   {} to {} neighbours per node, mean {:.1}", degrees.min, degrees.max, degrees.mean)
}

/// How many colours keep elements that share a node apart.
fn colors(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    for (_, cells) in mesh.solids().filter(|(_, cells)| !cells.is_empty()) {
        let info = cells.kind.info();
        let found = Coloring::first_fit(&cells.nodes, info.n_nodes, mesh.coords.len()).balance();
        let [smallest, largest, mean] = [found.smallest, found.largest, found.mean.round() as usize].map(count);
        writeln!(out, "  colours   {} of {smallest} to {largest} {} each, mean {mean}", found.n_colors, info.name)?;
    }
    Ok(())
}

fn groups(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    if mesh.groups.is_empty() {
        return writeln!(
            out,
            "  groups    none; {} to {} name the extreme planes, and Physical Groups in Gmsh what else is to be held or loaded",
            planes(mesh.dim())[0],
            planes(mesh.dim())[2 * mesh.dim() - 1]
        );
    }
    writeln!(out, "  groups")?;
    let width = mesh.groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
    let sizes: Vec<String> = parallel::map_items(&mesh.groups, &|group| template::size_of(mesh, group));
    let mut groups = mesh.groups.iter().zip(sizes);
    groups.try_for_each(|(Group { name, .. }, size)| writeln!(out, "    {name:<width$}  {size}"))
}

fn quality(mesh: &Mesh, out: &mut String) -> std::fmt::Result {
    let Some(quality) = mesh.quality() else { return Ok(()) };
    writeln!(out, "  quality   {:.3} at worst, mean {:.3} (1 is regular, 0 is flat)", quality.min, quality.mean)?;
    let most = quality.histogram.iter().copied().max().unwrap_or(0).max(1);
    for (tenth, n) in quality.histogram.iter().enumerate().filter(|(_, n)| **n > 0) {
        let bar = "#".repeat((40 * n).div_ceil(most));
        writeln!(out, "    {:.1} to {:.1}  {bar} {}", tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0, count(*n))?;
    }
    let worst: Vec<String> = quality.worst.iter().map(|(tag, measure)| format!("{tag} ({measure:.3})")).collect();
    writeln!(out, "    worst elements: {}", worst.join(", "))
}
