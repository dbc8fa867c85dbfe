//! What a file is that is no MSH file and no case file, and how to get an MSH file from it.

use std::path::Path;

/// What to do with the mesh of another program that Gmsh reads. `meshio convert` would make another format of the same
/// ending of it.
const CONVERT: &str = "convert it: `gmsh THIS -save -format msh41 -o PART.msh`";
/// And with one that only meshio reads, or reads with its groups.
const BY_MESHIO: &str = "convert it: `meshio convert -o gmsh22 THIS PART.msh` (pip install meshio); sets make no groups: hold and load \
                         planes (xmin ..) and boxes";
/// And with a deck of another ending.
const FROM_DECK: &str = "call it PART.inp: decks are read by that name";
/// What to do with a geometry.
const MESH_IT: &str = "open it in Gmsh; under Geometry, Physical groups, name the surfaces that are held or loaded, and the volume; then \
                       mesh it there in 3D with order 2 and save PART.msh (`gmsh -3 -order 2 THIS -o PART.msh` alone makes no groups)";
/// What to do with a bare surface.
const FILL_IT: &str = "it is a surface without a volume: in Gmsh merge it, Classify Surfaces, add a volume, mesh in 3D and export as .msh";

/// A beginning, what begins so, and what to do.
const BEGINNINGS: [(&str, &str, &str); 14] = [
    ("solid", "an STL file", FILL_IT),
    ("iso-10303-21", "a STEP file: a geometry", MESH_IT),
    ("dbrep_drawable", "a BREP file: a geometry", MESH_IT),
    ("cascade topology", "a BREP file: a geometry", MESH_IT),
    ("setfactory", "a Gmsh script", MESH_IT),
    ("point(", "a Gmsh script", MESH_IT),
    ("# vtk", "a VTK file", CONVERT),
    ("<?xml", "an XML file, perhaps VTU", BY_MESHIO),
    ("<vtkfile", "a VTU file", BY_MESHIO),
    ("*heading", "an Abaqus or CalculiX deck", FROM_DECK),
    ("*node", "an Abaqus or CalculiX deck", FROM_DECK),
    ("sol ", "a Nastran deck", CONVERT),
    ("meshversionformatted", "a Medit mesh", CONVERT),
    (
        "[mesh]",
        "a case file",
        "a case file names its mesh under [mesh]; `warpfem solve` and `check` take it, `info` and `init` the mesh",
    ),
];

/// Endings of files whose beginning says nothing.
const ENDINGS: [(&str, &str, &str); 10] = [
    ("igs", "an IGES file: a geometry", MESH_IT),
    ("iges", "an IGES file: a geometry", MESH_IT),
    ("step", "a STEP file: a geometry", MESH_IT),
    ("stp", "a STEP file: a geometry", MESH_IT),
    ("geo", "a Gmsh script", MESH_IT),
    ("stl", "an STL file", FILL_IT),
    ("inp", "an Abaqus or CalculiX deck", FROM_DECK),
    ("bdf", "a Nastran deck", CONVERT),
    ("nas", "a Nastran deck", CONVERT),
    ("msh", "a mesh", "open it in Gmsh and export it: Version 4.1 or 2.2"),
];

/// What a file is that was taken for a case file, and what to do about it; nothing if that cannot be told.
pub fn not_a_case(path: &Path, bytes: &[u8]) -> Option<(&'static str, String)> {
    if bytes.starts_with(b"$MeshFormat") {
        return Some((
            "a Gmsh mesh",
            named("`warpfem init THIS` writes a case file for it, `warpfem info THIS` describes it", path),
        ));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let by_ending = || ENDINGS.iter().find(|(known, ..)| Some(*known) == ending.as_deref());
    let found = guess(bytes).filter(|(what, _)| !["a case file", "an empty file"].contains(what));
    let (what, next) = found.or_else(|| by_ending().map(|&(_, what, next)| (what, next)))?;
    let then = match next == FROM_DECK {
        true => "`warpfem solve PART.inp` solves it",
        false => "`warpfem init PART.msh` writes a case file",
    };
    Some((what, named(&format!("{next}; then {then}"), path)))
}

/// Puts the path of a file, and its name without the ending, where `THIS` and `PART` stand.
pub fn named(text: &str, path: &Path) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    text.replace("THIS", &path.display().to_string()).replace("PART", &stem)
}

/// What some bytes seem to be, and what to do about it.
pub(super) fn guess(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if bytes.is_empty() {
        return Some(("an empty file", "save the mesh again"));
    }
    // A binary STL: 80 bytes, a count, 50 bytes for each triangle.
    let count = bytes.get(80..84).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]));
    if count.is_some_and(|n| n > 0 && bytes.len() as u64 == 84 + 50 * u64::from(n)) {
        return Some(("a binary STL file", FILL_IT));
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).to_lowercase();
    // Comments of TOML, of Gmsh scripts and of decks.
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with("**");
    let first =
        text.lines().map(str::trim).filter(is_said).find(|line| !line.starts_with('#') || line.starts_with("# vtk"))?;
    BEGINNINGS.iter().find(|(begins, ..)| first.starts_with(begins)).map(|&(_, what, next)| (what, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_recognised() {
        let is = |bytes: &[u8], word: &str| assert!(guess(bytes).unwrap().0.contains(word), "{:?}", guess(bytes));
        is(b"solid part\nfacet normal 0 0 1\n", "STL");
        let mut stl = vec![b'x'; 84 + 2 * 50];
        stl[80..84].copy_from_slice(&2_u32.to_le_bytes());
        is(&stl, "binary STL");
        is(b"ISO-10303-21;\nHEADER;", "STEP");
        is(b"** a deck\n*Heading\n", "Abaqus");
        is(b"# vtk DataFile Version 3.0\n", "VTK");
        is(b"// a script\nSetFactory(\"OpenCASCADE\");", "script");
        is(b"# my case\n\n[mesh]\nfile = \"a.msh\"", "case file");
        is(b"", "empty");
        assert_eq!(guess(b"hello\n"), None);
        let case = |name: &str, bytes: &[u8]| not_a_case(Path::new(name), bytes);
        let (what, next) = case("a/part.stp", b"ISO-10303-21;\n").unwrap();
        assert!(what.contains("STEP") && next.contains("`gmsh -3 -order 2 a/part.stp -o part.msh`"), "{next}");
        assert!(next.ends_with("; then `warpfem init part.msh` writes a case file"), "{next}");
        assert!(case("x.IGES", b"   S      1\n").unwrap().0.contains("IGES"));
        let (_, next) = case("x.txt", b"*Heading\n").unwrap();
        assert!(next.starts_with("call it x.inp") && next.ends_with("`warpfem solve x.inp` solves it"), "{next}");
        assert!(case("x.msh", b"$MeshFormat\n").unwrap().1.starts_with("`warpfem init x.msh` "));
        assert_eq!(case("x.toml", b"[mesh\n"), None);
        assert_eq!(guess(&[0xff, 0xfe, 0x00]), None);
    }
}
