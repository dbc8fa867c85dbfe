//! Meshes of geometries, which Gmsh makes.

use super::failure::Failure;
use crate::output;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpfem_text::files;

/// Endings of geometries.
const ENDINGS: [&str; 5] = ["step", "stp", "iges", "igs", "brep"];
/// Errors of Gmsh that are shown.
const SHOWN: usize = 3;

/// Whether a file is a geometry, by its ending.
pub(super) fn is_geometry(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ENDINGS.contains(&ending.as_str())
}

/// Where the mesh of a geometry goes: beside it.
pub(super) fn mesh_of(path: &Path) -> PathBuf {
    path.with_extension("msh")
}

/// Writes the mesh of a geometry: tet10 up to `size` long, each face and each body a group.
///
/// # Errors
///
/// Gmsh is not there or fails; the mesh cannot be written.
pub(super) fn mesh(path: &Path, size: Option<f64>) -> anyhow::Result<()> {
    let fail = |why: String| Failure::Gmsh { path: path.into(), why };
    std::fs::File::open(path).map_err(|error| fail(files::reason(path, &error)))?;
    let made = (|| {
        let folder = tempfile::tempdir()?;
        let (lines, mesh) = (folder.path().join("part.geo"), folder.path().join("part.msh"));
        std::fs::write(&lines, script(path, size))?;
        let run = Command::new("gmsh").arg(&lines).args(["-3", "-v", "2", "-bin", "-o"]).arg(&mesh).output()?;
        // Gmsh may end well after errors, and leave what it has.
        Ok((std::fs::read(mesh).ok().filter(|_| run.status.success()), errors(&[run.stdout, run.stderr].concat())))
    })();
    let (mesh, errors) = made.map_err(|error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => fail(
            "geometries are meshed by Gmsh, which is not installed\nhelp: `pip install gmsh` or `apt install gmsh`"
                .into(),
        ),
        _ => fail(format!("Gmsh does not start: {}", files::plain(&error))),
    })?;
    let mesh = mesh.filter(|_| errors.is_empty());
    let mesh = mesh.ok_or_else(|| fail(format!("Gmsh makes no mesh of it\n{}", errors.join("\n"))))?;
    output::write_file(&mesh_of(path), |file| file.write_all(&mesh))?;
    Ok(())
}

/// What Gmsh is told, with the geometry and the size of elements.
const SCRIPT: &str = "SetFactory(\"OpenCASCADE\");
Merge \"GEOMETRY\";
v() = Volume{:};
// Surfaces alone, as in IGES, are sewn.
If (#v() == 0)
  s() = Surface{:};
  Surface Loop(1) = {s()} Using Sewing;
  Volume(1) = {1};
  Recursive Delete { Surface{s()}; }
EndIf
BoundingBox;
b() = {General.MaxX - General.MinX, General.MaxY - General.MinY, General.MaxZ - General.MinZ};
Mesh.MeshSizeMax = SIZE;
Mesh.MeshSizeFromCurvature = 12;
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
// Without it some elements come out too flat to be curved.
Mesh.OptimizeNetgen = 1;
s() = Surface{:};
For i In {0 : #s()-1}
  Physical Surface(Sprintf(\"face%g\", s(i)), s(i)) = {s(i)};
EndFor
v() = Volume{:};
For i In {0 : #v()-1}
  Physical Volume(Sprintf(\"body%g\", v(i)), v(i)) = {v(i)};
EndFor
";

/// A twentieth of the diagonal gives some ten thousand nodes; curved faces have smaller elements.
const USUAL_SIZE: &str = "Sqrt(b(0)^2 + b(1)^2 + b(2)^2) / 20";

fn script(path: &Path, size: Option<f64>) -> String {
    let path = files::full(path).display().to_string().replace('\\', "/").replace('"', "\\\"");
    let size = size.map_or(USUAL_SIZE.into(), |size| format!("{size:?}"));
    SCRIPT.replace("SIZE", &size).replace("GEOMETRY", &path)
}

/// The first errors among what Gmsh has said.
fn errors(said: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(said);
    text.lines().filter(|line| line.starts_with("Error")).take(SHOWN).map(str::to_owned).collect()
}
