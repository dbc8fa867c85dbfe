//! What a file is that is no MSH file, and how to get one from it.

/// What to do with the mesh of another program that Gmsh reads. `meshio convert` would make another format of the same
/// ending of it.
const CONVERT: &str = "convert it: `gmsh THIS -save -format msh41 -o PART.msh`";
/// And with one that only meshio reads, or reads with its groups.
const BY_MESHIO: &str = "convert it: `meshio convert -o gmsh22 THIS PART.msh` (pip install meshio); sets make no groups: hold and load \
                         planes (xmin ..) and boxes";
/// What to do with a geometry.
const MESH_IT: &str = "mesh it: `gmsh -3 THIS -o PART.msh`, with physical groups where something is held or loaded";
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
    ("*heading", "an Abaqus or CalculiX deck", BY_MESHIO),
    ("*node", "an Abaqus or CalculiX deck", BY_MESHIO),
    ("sol ", "a Nastran deck", CONVERT),
    ("meshversionformatted", "a Medit mesh", CONVERT),
    (
        "[mesh]",
        "a case file",
        "a case file names its mesh under [mesh]; `warpfem solve` and `check` take it, `info` and `init` the mesh",
    ),
];

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
        assert_eq!(guess(&[0xff, 0xfe, 0x00]), None);
    }
}
