//! Case files with one mistake each, that are refused before anything is written. The library's own tests have the
//! messages of most (`host/src/model`), `tests/data/mistakes` has common ones whole.

use crate::{Folder, GOOD, good_but};

/// Solves a case that must be refused, and leave nothing.
pub(crate) fn refused(case: &str, code: i32, words: &[&str]) {
    let folder = Folder::new();
    folder.solve(case, &[]).refused(code, words);
    assert_eq!(folder.names("."), ["case.toml"]);
}

#[test]
fn no_such_case_file() {
    let folder = Folder::new();
    let words = ["nope.toml: cannot read the case file: there is no such file", "`warpfem init MESH` makes one"];
    folder.run(&["solve", "nope.toml"]).refused(2, &words);
    assert!(folder.names(".").is_empty());
    folder.write("case.toml", GOOD);
    folder.run(&["solve", "csae.toml"]).refused(2, &["did you mean `case.toml`? case files in that folder: case.toml"]);
    let words = ["cannot read the case file: it is a folder", "case files in that folder: case"];
    ["solve", "check"].iter().for_each(|command| folder.run(&[command, "."]).refused(2, &words));
}

#[test]
fn files_of_other_programs_given_as_a_case() {
    let folder = Folder::new();
    let next = "then `warpfem init part.msh` writes a case file";
    let files: [(&str, &[u8], &[&str]); 10] = [
        ("a.msh", b"$MeshFormat\n4.1 1 8\n\xff\xfe", &["a.msh: this is a Gmsh mesh, not a case file", "init a.msh` "]),
        ("part.step", b"ISO-10303-21;\n", &["a STEP file", "`gmsh -3 -order 2 part.step -o part.msh`", next]),
        ("part.stp", b"ISO-10303-21;\n", &["a STEP file", "`gmsh -3 -order 2 part.stp -o part.msh`", next]),
        ("part.iges", b"    S      1\n", &["an IGES file", "`gmsh -3 -order 2 part.iges -o part.msh`", next]),
        ("part.geo", b"// a\nlc = 0.1;\n", &["a Gmsh script", "`gmsh -3 -order 2 part.geo -o part.msh`", next]),
        ("part.stl", b"solid part\n facet normal 0 0 1\n", &["an STL file", "a surface without a volume", next]),
        (
            "part.txt",
            b"*HEADING\n*NODE\n",
            &["an Abaqus or CalculiX deck", "call it part.inp", "`warpfem solve part.inp`"],
        ),
        ("part.bdf", b"$ a deck\nSOL 101\n", &["a Nastran deck", "convert it", next]),
        ("part.nas", b"BEGIN BULK\nGRID,1\n", &["a Nastran deck", "convert it", next]),
        ("part.bin", b"\x7f\x45\xff\x00", &["this is a binary file, not a case file", "`warpfem init MESH`"]),
    ];
    for (name, bytes, words) in files {
        std::fs::write(folder.path(name), bytes).unwrap();
        ["solve", "check"].iter().for_each(|command| folder.run(&[command, name]).refused(2, words));
    }
}

#[test]
fn numbers_too_small_or_too_large_to_compute_with() {
    let help = "choose other units, in which it lies between 1e-30 and 1e30";
    let (fix, acceleration) = ("fix = \"xyz\"", "acceleration = [0.0, 0.0, -9.81]");
    let cases: [(&str, &str, &[&str]); 8] = [
        ("210e9", "1e-200", &["case.toml:10:9: `young` is too small to compute with: 1e-200", help]),
        ("210e9", "1e300", &["`young` is too large to compute with: 1e300", help]),
        ("7850.0", "1e-162", &["`density` is too small"]),
        ("-1e3]", "-1e-162]", &["`total` is too small to compute with: -1e-162"]),
        (acceleration, "acceleration = [1e40, 0.0, 0.0]", &["`acceleration` is too large"]),
        (fix, "displacement = { x = 1e-99, y = 0.0, z = 0.0 }", &["`x` is too small"]),
        (fix, "displacement = { x = -1e-320, y = 0.0, z = 0.0 }", &["`x` is too small"]),
        ("size = [4.0,", "size = [4e-20,", &["`size` is too small", "between 1e-15 and 1e15"]),
    ];
    cases.iter().for_each(|(from, to, words)| refused(&good_but(from, to), 2, words));
    let tiny = good_but("size = [4.0, 1.0, 1.0]", "size = [4e-9, 1e-9, 1e-9]").replacen("210e9", "1e-25", 1);
    let words = "`young` = 1e-25 and a mesh of 4e-9 make stiffnesses that cannot be computed with";
    refused(&tiny, 2, &[words, "choose other units"]);
}

#[test]
fn every_sensible_system_of_units_passes() {
    let folder = Folder::new();
    // The same cantilever in GPa and km, in N and nm, in Pa and nm as metres; its tip in units of its length.
    let mut tips = Vec::new();
    for (length, young, force) in [(1.0, 210e9, 1e3), (1e-3, 210.0, 1e-12), (1e9, 210e-9, 1e3), (1e-9, 210e9, 1e-15)] {
        let case = good_but("size = [4.0, 1.0, 1.0]", &format!("size = [{:e}, {length:e}, {length:e}]", 4.0 * length));
        let case = case.replacen("young = 210e9", &format!("young = {young:e}"), 1);
        let case = case.replacen("total = [0.0, 0.0, -1e3]", &format!("total = [0.0, 0.0, {:e}]", -force), 1);
        let case = case.replacen("acceleration = [0.0, 0.0, -9.81]", "acceleration = [0.0, 0.0, 0.0]", 1);
        let run = folder.solve(&case, &[]);
        assert_eq!(run.code, Some(0), "{run:?}");
        tips.push(folder.number("out", "/results/max_displacement") / length);
    }
    assert!(tips[0] > 0.0 && tips.iter().all(|tip| (tip / tips[0] - 1.0).abs() < 1e-6), "{tips:?}");
}

#[test]
fn mistakes_that_no_other_test_has() {
    let (tolerance, total) = ("tolerance = 1e-10", "total = [0.0, 0.0, -1e3]\n");
    let (kind, of_unit) = ("kind = \"elasticity\"", "kind = \"elasticity\"\nunits = \"mm\"");
    let modal = ["analysis kind `modal` is not available", "study = \"modal\"", "plane_strain, axisymmetric, laplace"];
    let unit = ["case.toml:6:9: there is no system of units `mm`", "`mm-N-s`?", "SI, mm-N-s, in-lbf-s"];
    let cases: [(&str, &str, &[&str]); 11] = [
        ("210e9", "\"210e9\"", &["numbers stand without quotes: `young = 210e9`"]),
        ("210e9", "\"stiff\"", &["for example `young = 210e9`"]),
        (total, "", &["`total` is missing here", "add `total = [0.0, 0.0, -1500.0]`"]),
        ("\"xyz\"", "3", &["case.toml:16:7: this must be a string, not the number `3`"]),
        ("[[support]]", "[[support]", &["case.toml:14:11", "[[support]\n"]),
        (tolerance, "preconditioner = \"ilu\"", &["preconditioner `ilu` is not available", "jacobi"]),
        (tolerance, "operator = \"matrixfree\"", &["there is no operator `matrixfree`", "did you mean `matrix_free`?"]),
        (tolerance, "ordering = \"metis\"", &["ordering `metis` is not available", "auto, mesh, hilbert, rcm"]),
        (tolerance, "ordering = \"rmc\"", &["case.toml:26:12: there is no ordering `rmc`", "did you mean `rcm`?"]),
        (kind, "kind = \"modal\"", &modal),
        (kind, of_unit, &unit),
    ];
    cases.iter().for_each(|(from, to, words)| refused(&good_but(from, to), 2, words));
}

#[test]
fn units_stand_in_all_files() {
    let folder = Folder::new();
    folder.solve(&good_but("kind = \"elasticity\"", "kind = \"elasticity\"\nunits = \"in-lbf-s\""), &[]).done();
    assert_eq!(folder.summary("out")["units"], "in-lbf-s");
    let csv = folder.text("out/case_nodes.csv");
    assert!(csv.starts_with("node,x [in],y [in],z [in],displacement_x [in],"), "{}", &csv[..100]);
    assert!(folder.text("out/case.html").contains("<tr><th>units</th><td>in-lbf-s</td></tr>"));
}
