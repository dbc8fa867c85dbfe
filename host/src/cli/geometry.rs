//! Meshes of geometries, which Gmsh makes.

use super::failure::Failure;
use crate::output;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpfem_text::files;

/// Endings of geometries.
const ENDINGS: [&str; 5] = ["step", "stp", "iges", "igs", "brep"];
/// Lines of Gmsh's output that are shown when it fails.
const SHOWN: usize = 5;

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
        let run = Command::new("gmsh").arg(&lines).args(["-3", "-v", "3", "-bin", "-o"]).arg(&mesh).output()?;
        Ok((std::fs::read(mesh).ok().filter(|_| run.status.success()), [run.stdout, run.stderr].concat()))
    })();
    let (mesh, said) = made.map_err(|error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => fail(
            "geometries are meshed by Gmsh, which is not installed\nhelp: `pip install gmsh` or `apt install gmsh`"
                .into(),
        ),
        _ => fail(format!("Gmsh does not start: {}", files::plain(&error))),
    })?;
    let mesh = mesh.ok_or_else(|| fail(format!("Gmsh makes no mesh of it:\n{}", last_lines(&said))))?;
    output::write_file(&mesh_of(path), |file| file.write_all(&mesh))?;
    Ok(())
}

/// What Gmsh is told. A twentieth of the diagonal gives some ten thousand nodes; curved faces have smaller elements.
fn script(path: &Path, size: Option<f64>) -> String {
    let path = files::full(path).display().to_string().replace('\\', "/").replace('"', "\\\"");
    let size =
        size.map_or("Sqrt((b(3)-b(0))^2 + (b(4)-b(1))^2 + (b(5)-b(2))^2) / 20".into(), |size| format!("{size:?}"));
    format!(
        "SetFactory(\"OpenCASCADE\");\nMerge \"{path}\";\nb() = BoundingBox;\nMesh.MeshSizeMax = {size};\n\
         Mesh.MeshSizeFromCurvature = 12;\nMesh.ElementOrder = 2;\nMesh.HighOrderOptimize = 1;\n\
         s() = Surface{{:}};\nFor i In {{0 : #s()-1}}\n  Physical Surface(Sprintf(\"face%g\", s(i)), s(i)) = {{s(i)}};\nEndFor\n\
         v() = Volume{{:}};\nFor i In {{0 : #v()-1}}\n  Physical Volume(Sprintf(\"body%g\", v(i)), v(i)) = {{v(i)}};\nEndFor\n"
    )
}

/// The last lines that a program has said.
fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
