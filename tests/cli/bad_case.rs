//! Case files with one mistake each: code 2, or 4 where case and mesh are readable but make no model.

use crate::{Folder, GOOD, good_but};

/// Solves a case that must be refused, and leave nothing.
fn refused(case: &str, code: i32, words: &[&str]) {
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
    for command in ["solve", "check"] {
        folder
            .run(&[command, "."])
            .refused(2, &["cannot read the case file: it is a folder", "case files in that folder: case"]);
    }
}

#[test]
fn a_mesh_given_as_a_case() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.msh"), b"$MeshFormat\n4.1 1 8\n\xff\xfe\x01\0\0\0").unwrap();
    folder
        .run(&["solve", "a.msh"])
        .refused(2, &["a.msh: this is a Gmsh mesh, not a case file", "`warpfem init a.msh` "]);
}

#[test]
fn files_of_other_programs_given_as_a_case() {
    let folder = Folder::new();
    let next = "then `warpfem init part.msh` writes a case file";
    for (name, text, words) in [
        ("part.step", "ISO-10303-21;\nHEADER;\n", ["a STEP file", "`gmsh -3 -order 2 part.step -o part.msh`", next]),
        ("part.stp", "ISO-10303-21;\nHEADER;\n", ["a STEP file", "`gmsh -3 -order 2 part.stp -o part.msh`", next]),
        ("part.iges", "    S      1\n", ["an IGES file", "`gmsh -3 -order 2 part.iges -o part.msh`", next]),
        ("part.geo", "// a\nlc = 0.1;\n", ["a Gmsh script", "`gmsh -3 -order 2 part.geo -o part.msh`", next]),
        ("part.stl", "solid part\n facet normal 0 0 1\n", ["an STL file", "a surface without a volume", next]),
        ("part.inp", "*HEADING\n*NODE\n", ["an Abaqus or CalculiX deck", "decks are not read yet", next]),
        ("part.bdf", "$ a deck\nSOL 101\n", ["a Nastran deck", "convert it", next]),
        ("part.nas", "BEGIN BULK\nGRID,1\n", ["a Nastran deck", "convert it", next]),
    ] {
        folder.write(name, text);
        for command in ["solve", "check"] {
            folder.run(&[command, name]).refused(2, &words);
        }
    }
    std::fs::write(folder.path("part.bin"), [0x7f, 0x45, 0xff, 0x00]).unwrap();
    folder.run(&["check", "part.bin"]).refused(2, &["this is a binary file, not a case file", "`warpfem init MESH`"]);
}

#[test]
fn numbers_too_small_or_too_large_to_compute_with() {
    let small = |from, to: &str, words: &[&str]| refused(&good_but(from, to), 2, words);
    let help = "choose other units, in which it lies between 1e-30 and 1e30";
    small("young = 210e9", "young = 1e-200", &["case.toml:10:9: `young` is too small to compute with: 1e-200", help]);
    small("young = 210e9", "young = 1e300", &["`young` is too large to compute with: 1e300", help]);
    small("density = 7850.0", "density = 1e-162", &["`density` is too small"]);
    small(
        "total = [0.0, 0.0, -1e3]",
        "total = [0.0, 0.0, -1e-162]",
        &["`total` is too small to compute with: -1e-162"],
    );
    small("acceleration = [0.0, 0.0, -9.81]", "acceleration = [1e40, 0.0, 0.0]", &["`acceleration` is too large"]);
    small("fix = \"xyz\"", "displacement = { x = 1e-99, y = 0.0, z = 0.0 }", &["`x` is too small"]);
    small("fix = \"xyz\"", "displacement = { x = -1e-320, y = 0.0, z = 0.0 }", &["`x` is too small"]);
    small("size = [4.0, 1.0, 1.0]", "size = [4e-20, 1.0, 1.0]", &["`size` is too small", "between 1e-15 and 1e15"]);
    let tiny = good_but("size = [4.0, 1.0, 1.0]", "size = [4e-9, 1e-9, 1e-9]");
    let soft = tiny.replacen("young = 210e9", "young = 1e-25", 1);
    let words =
        ["`young` = 1e-25 and a mesh of 4e-9 make stiffnesses that cannot be computed with", "choose other units"];
    refused(&soft, 2, &words);
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
        let largest = folder.summary("out")["results"]["max_displacement"].as_f64().unwrap();
        tips.push(largest / length);
    }
    assert!(tips[0] > 0.0 && tips.iter().all(|tip| (tip / tips[0] - 1.0).abs() < 1e-6), "{tips:?}");
}

#[test]
fn unknown_keys_and_tables() {
    let words = ["case.toml:16:1: unknown key `fxi`", "fxi = \"xyz\"\n   | ^^^", "did you mean `fix`?", "displacement"];
    refused(&good_but("fix =", "fxi ="), 2, &words);
    refused(&good_but("young", "youngs"), 2, &["case.toml:10:1: unknown key `youngs`", "did you mean `young`?"]);
    refused(&good_but("[[force]]", "[[forces]]"), 2, &["unknown key `forces`", "did you mean `force`?"]);
}

#[test]
fn words_of_other_programs_are_understood() {
    refused(&good_but("young", "E"), 2, &["case.toml:10:1: unknown key `E`", "did you mean `young`?"]);
    refused(&good_but("total", "vector"), 2, &["unknown key `vector`", "did you mean `total`?"]);
    let words = ["unknown key `alpha`", "there is no thermal expansion in this version"];
    refused(&good_but("density = 7850.0", "density = 7850.0\nalpha = 12e-6"), 2, &words);
    refused(&good_but("[[force]]", "[[load]]"), 2, &["unknown key `load`", "a load is [[force]] (a total on a group)"]);
    refused(&good_but("[[force]]", "[[moment]]"), 2, &["unknown key `moment`", "there are no moments in this version"]);
    let words = ["case.toml:5:8: there is no analysis kind `heat`", "did you mean `laplace`?"];
    refused(&good_but("\"elasticity\"", "\"heat\""), 2, &words);
    let words = ["unknown key `rx`", "solids have no rotations: a face fixed in x, y, z cannot turn either"];
    refused(&good_but("fix = \"xyz\"", "fix = \"xyz\"\nrx = 0.0"), 2, &words);
    let words = ["case.toml:11:", "`0,3` has a decimal comma", "help: numbers have a decimal point: 0.3"];
    refused(&good_but("poisson = 0.3", "poisson = 0,3"), 2, &words);
    for (fix, word) in
        [("123", "did you mean `xyz`?"), ("all", "did you mean `xyz`?"), ("123456", "solids have no rotations")]
    {
        refused(&good_but("\"xyz\"", &format!("\"{fix}\"")), 2, &["case.toml:16:7", "is no component", word]);
    }
}

#[test]
fn values_of_the_wrong_shape_are_shown_right() {
    let words = ["case.toml:16:7: this must be a string, not a list", "help: write `fix = \"xyz\"`"];
    refused(&good_but("\"xyz\"", "[\"x\", \"y\", \"z\"]"), 2, &words);
    let words = ["case.toml:23:9: this must be a list", "as in `total = [0.0, 0.0, -1e3]`"];
    refused(&good_but("[0.0, 0.0, -1e3]", "-1e3"), 2, &words);
    refused(&good_but("210e9", "\"210e9\""), 2, &["numbers stand without quotes: `young = 210e9`"]);
    refused(&good_but("210e9", "\"stiff\""), 2, &["for example `young = 210e9`"]);
    refused(
        &good_but("total = [0.0, 0.0, -1e3]\n", ""),
        2,
        &["`total` is missing here", "add `total = [0.0, 0.0, -1500.0]`"],
    );
}

#[test]
fn wrong_types_and_values() {
    refused(&good_but("fix = \"xyz\"", "fix = 3"), 2, &["case.toml:16:7: this must be a string, not the number `3`"]);
    refused(&good_but("1e-10", "\"small\""), 2, &["case.toml:26:13: this must be a number, not the text \"small\""]);
    refused(&good_but("1e-10", "2.0"), 2, &["case.toml:26:13: `tolerance` must lie between 0 and 1"]);
    refused(&good_but("poisson = 0.3", "poisson = 0.5"), 2, &["case.toml:11:11", "poisson"]);
    refused(&good_but("young = 210e9", "young = -1"), 2, &["case.toml:10:9", "young"]);
    refused(&good_but("young = 210e9\n", ""), 2, &["case.toml:7", "young"]);
    refused(&good_but("cells = [8, 2, 2]", "cells = [8, 0, 2]"), 2, &["case.toml:2:", "cells"]);
    refused(&good_but("fix = \"xyz\"", "fix = \"xw\""), 2, &["case.toml:16:7", "fix"]);
}

#[test]
fn syntax_errors() {
    refused(&good_but("[[support]]", "[[support]"), 2, &["case.toml:14:11", "[[support]\n"]);
    refused(&good_but("\"xyz\"", "\"xyz"), 2, &["case.toml:16:"]);
    refused("", 2, &["case.toml: there is no [mesh]", "help: [mesh]\nfile = \"part.msh\"\n"]);
    let start = GOOD.find("[[material]]").unwrap();
    refused(&GOOD[start..], 2, &["case.toml: there is no [mesh]"]);
}

#[test]
fn unknown_groups_and_nodes() {
    let words = ["case.toml:15:6: the generated mesh has no group `xmim`", "did you mean `xmin`?", "groups: body"];
    refused(&good_but("\"xmin\"", "\"xmim\""), 2, &words);
    refused(&good_but("on = \"xmax\"", "on = \"bolts\""), 2, &["case.toml:22:6", "`bolts`", "groups: body, xmin"]);
    refused(&good_but("\"body\"", "\"bodi\""), 2, &["case.toml:9:6", "did you mean `body`?"]);
    refused(&good_but("on = \"xmin\"", "nodes = [999]"), 2, &["case.toml:15:", "no node 999", "from 1 to 81"]);
    let nowhere = "box = { min = [9.0, 9.0, 9.0], max = [10.0, 10.0, 10.0] }";
    refused(&good_but("on = \"xmin\"", nowhere), 2, &["case.toml:15:7: no node lies in this box", "extends from"]);
}

#[test]
fn what_this_version_has_not() {
    let solver = |line: &str| good_but("tolerance = 1e-10", line);
    refused(
        &good_but("method = \"cg\"", "method = \"multigrid\""),
        2,
        &["case.toml:27:10: method `multigrid` is not available", "available: auto, cg, direct, femses"],
    );
    refused(&solver("preconditioner = \"ilu\""), 2, &["preconditioner `ilu` is not available", "jacobi"]);
    refused(&solver("format = \"hyb\""), 2, &["format `hyb` is not available", "ebw"]);
    refused(&solver("ordering = \"metis\""), 2, &["ordering `metis` is not available", "auto, mesh, hilbert, rcm"]);
    refused(&solver("ordering = \"rmc\""), 2, &["case.toml:26:12: there is no ordering `rmc`", "did you mean `rcm`?"]);
    refused(&solver("precision = \"half\""), 2, &["there is no precision `half`", "double, single, mixed"]);
    let words = ["case.toml:5:8: analysis kind `modal` is not available", "what is at rest", "plane_strain, laplace"];
    refused(&good_but("\"elasticity\"", "\"modal\""), 2, &words);
}

#[test]
fn supports_that_leave_the_body_free() {
    let words = [
        "part 1 (81 nodes, from (0, 0, 0) to (4, 1, 1)) is free to move",
        "translation along y",
        "translation along z",
        "rotation about an axis parallel to x",
        "held by `fix = \"xyz\"` on any of: xmin, xmax",
    ];
    refused(&good_but("fix = \"xyz\"", "fix = \"x\""), 4, &words);
    let none = GOOD.replace("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", "");
    refused(
        &none,
        4,
        &["nothing holds the body: no [[support]] acts on it", "nothing stops any translation or rotation"],
    );
}

#[test]
fn gravity_without_density() {
    let words = [
        "case.toml:8:8: gravity needs the density of material `steel`",
        "8 | name = \"steel\"\n  |        ^^^^^^^",
        "help: add `density = 7850.0`",
    ];
    refused(&good_but("density = 7850.0\n", ""), 4, &words);
}

#[test]
fn supports_that_disagree() {
    let more = format!("{GOOD}\n[[support]]\non = \"ymin\"\ndisplacement = {{ x = 1e-3 }}\n");
    refused(&more, 2, &["supports `xmin` (case.toml:15) and `ymin` prescribe different displacements x of node"]);
}

#[test]
fn systems_of_units_are_listed() {
    let with = |units: &str| good_but("kind = \"elasticity\"", &format!("kind = \"elasticity\"\nunits = \"{units}\""));
    refused(
        &with("mm"),
        2,
        &["case.toml:6:9: there is no system of units `mm`", "did you mean `mm-N-s`?", "SI, mm-N-s, in-lbf-s"],
    );
    let folder = Folder::new();
    folder.solve(&with("in-lbf-s"), &[]).done();
    assert_eq!(folder.summary("out")["units"], "in-lbf-s");
    let csv = String::from_utf8(folder.read("out/case_nodes.csv")).unwrap();
    assert!(csv.starts_with("node,x [in],y [in],z [in],displacement_x [in],"), "{}", &csv[..100]);
    let page = String::from_utf8(folder.read("out/case.html")).unwrap();
    assert!(page.contains("<tr><th>units</th><td>in-lbf-s</td></tr>"));
}
