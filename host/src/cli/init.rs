//! `warpfem init MESH`: a case file for a mesh or a geometry, to be filled in.

use super::mesh::length;
use super::print::{self, count};
use super::{geometry, info, template, usage};
use crate::mesh::Mesh;
use crate::model::Analysis;
use crate::output;
use crate::plan::fits;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use warpfem_text::files::folder_of;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file lists the mesh's groups, a material, and a suggestion for each kind of support and load. \
Suggestions are lines that begin with # and no space: take the # away, and set names and numbers.

A geometry (.step, .stp, .iges, .igs, .brep) is meshed first, by Gmsh (pip install gmsh): PART.msh beside it, each face \
a group (face1 ..).

Examples:
  warpfem init meshes/bracket.msh
  warpfem init part.step --size 2.5
  warpfem init meshes/ring.msh --kind laplace -o heat.toml"
)]
pub struct Arguments {
    /// The mesh file (MSH 4.1 or 2.2), or a geometry.
    mesh: PathBuf,
    /// Largest elements in the mesh of a geometry [default: a twentieth of its diagonal].
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_negative_numbers = true)]
    size: Option<f64>,
    /// The case file to write [default: the mesh's name with the ending .toml, in this folder].
    #[arg(short, long, value_name = "CASE.toml")]
    output: Option<PathBuf>,
    /// What is to be solved [default: elasticity in space, plane_stress in the plane].
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(Analysis::names()))]
    kind: Option<String>,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut name = arguments.mesh.file_stem().unwrap_or_default().to_os_string();
    name.push(".toml");
    let case = arguments.output.clone().unwrap_or(PathBuf::from(name));
    let path = if geometry::is_geometry(&arguments.mesh) { meshed(arguments, &case)? } else { arguments.mesh.clone() };
    fits::check_file(&path)?;
    let (mesh, bad) = Mesh::inspect(&path)?;
    let analysis = analysis(arguments, &mesh)?;
    arguments.check_case(&case)?;
    let text = template::text(&mesh, &relative(&path, &case), &case.display().to_string(), analysis);
    output::write_file(&case, |file| file.write_all(text.as_bytes()))?;
    let (case, groups) = (case.display(), count(mesh.groups.len()));
    let first = match (bad.is_empty(), mesh.groups.is_empty()) {
        (false, _) => "mend the elements in Gmsh, ",
        (_, true) => "give the mesh physical groups in Gmsh, or use `box` for supports and `at` for forces, ",
        _ => "",
    };
    print::text(&format!(
        "wrote {case}: {groups} groups of {}\n{}next: {first}fill in a support and a load, then `warpfem check {case}`\n",
        path.display(),
        info::refused(bad)
    ))
}

/// Meshes a geometry, if neither its mesh nor the case is there already. Returns the path of the mesh.
fn meshed(arguments: &Arguments, case: &Path) -> anyhow::Result<PathBuf> {
    let mesh = geometry::mesh_of(&arguments.mesh);
    if mesh.exists() && !arguments.force {
        let mesh = mesh.display();
        return Err(usage(format!("{mesh} is there already: `warpfem init {mesh}` takes it, `--force` meshes anew")));
    }
    arguments.check_case(case)?;
    geometry::mesh(&arguments.mesh, arguments.size)?;
    Ok(mesh)
}

impl Arguments {
    /// Refuses to write over a case.
    fn check_case(&self, case: &Path) -> anyhow::Result<()> {
        if !case.exists() || self.force {
            return Ok(());
        }
        let case = case.display();
        Err(usage(format!("{case} is there already; choose another name with `-o`, or write over it with `--force`")))
    }
}

/// What is asked for, or else what the mesh is for.
fn analysis(arguments: &Arguments, mesh: &Mesh) -> anyhow::Result<Analysis> {
    let for_mesh = Analysis::usual(mesh.dim());
    let asked = arguments.kind.as_deref().and_then(Analysis::from_name).unwrap_or(for_mesh);
    if asked.fits(mesh.dim()) {
        return Ok(asked);
    }
    let fitting = Analysis::ALL.iter().filter(|kind| kind.fits(mesh.dim()));
    let fitting: Vec<&str> = fitting.map(|kind| kind.name()).collect();
    let (name, dim, fitting) = (asked.name(), mesh.dim(), fitting.join(", "));
    let mesh = arguments.mesh.display();
    Err(usage(format!("{mesh} is a mesh of {dim} dimensions, which is not for `--kind {name}`; it is for: {fitting}")))
}

/// The path of a mesh as seen from the folder of a case, with slashes; as given if one of them cannot be found.
fn relative(mesh: &Path, case: &Path) -> String {
    let folder = folder_of(case);
    let found = mesh.canonicalize().and_then(|mesh| Ok((mesh, folder.canonicalize()?)));
    let path = found.map_or(mesh.to_path_buf(), |(mesh, folder)| between(&folder, &mesh));
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/").replacen("//", "/", 1)
}

/// The way from a folder to a file, both absolute.
fn between(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    // Nothing in common but the root, or not even that: no way through the tree is shorter.
    if shared <= 1 {
        return file.to_path_buf();
    }
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_named_from_the_folder_of_the_case() {
        let way = |folder: &str, file: &str| between(Path::new(folder), Path::new(file)).display().to_string();
        assert_eq!(way("/home/a", "/home/a/part.msh"), "part.msh");
        assert_eq!(way("/home/a/cases", "/home/a/meshes/part.msh"), "../meshes/part.msh");
        assert_eq!(way("/home/a", "/home/a/b/c/part.msh"), "b/c/part.msh");
        assert_eq!(way("/home/a", "/mnt/part.msh"), "/mnt/part.msh");
        assert_eq!(relative(Path::new("/nowhere/part.msh"), Path::new("a.toml")), "/nowhere/part.msh");
    }
}
