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
    folder.run(&["solve", "nope.toml"]).refused(2, &["nope.toml: cannot read the case file: No such file"]);
    folder.run(&["solve", "."]).refused(2, &["cannot read the case file"]);
    assert!(folder.names(".").is_empty());
}

#[test]
fn a_mesh_given_as_a_case() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.msh"), b"$MeshFormat\n4.1 1 8\n\xff\xfe\x01\0\0\0").unwrap();
    folder.run(&["solve", "a.msh"]).refused(2, &["a.msh: cannot read the case file", "is this a mesh?"]);
}

#[test]
fn unknown_keys_and_tables() {
    let words = ["case.toml:16:1: unknown key `fxi`", "fxi = \"xyz\"\n   | ^^^", "did you mean `fix`?", "displacement"];
    refused(&good_but("fix =", "fxi ="), 2, &words);
    refused(&good_but("young", "youngs"), 2, &["case.toml:10:1: unknown key `youngs`", "did you mean `young`?"]);
    refused(&good_but("[[force]]", "[[forces]]"), 2, &["unknown key `forces`", "did you mean `force`?"]);
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
    refused("", 2, &["case.toml", "mesh"]);
}

#[test]
fn unknown_groups_and_nodes() {
    let words =
        ["case.toml:15:6: no group of the generated mesh is called `xmim`", "did you mean `xmin`?", "groups: body"];
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
        &solver("method = \"multigrid\""),
        2,
        &["case.toml:26:10: method `multigrid` is not available", "available: cg, direct, femses"],
    );
    refused(&solver("preconditioner = \"ilu\""), 2, &["preconditioner `ilu` is not available", "jacobi"]);
    refused(&solver("format = \"hyb\""), 2, &["format `hyb` is not available", "ebw"]);
    refused(&solver("ordering = \"metis\""), 2, &["ordering `metis` is not available", "auto, mesh, hilbert, rcm"]);
    refused(&solver("ordering = \"rmc\""), 2, &["case.toml:26:12: there is no ordering `rmc`", "did you mean `rcm`?"]);
    refused(&solver("precision = \"half\""), 2, &["precision `half` is not available", "double, single, mixed"]);
    let words = ["case.toml:5:8: analysis kind `thermal` is not available", "plane_strain, laplace"];
    refused(&good_but("\"elasticity\"", "\"thermal\""), 2, &words);
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
    refused(&none, 4, &["translation along x", "rotation about an axis parallel to z"]);
}

#[test]
fn gravity_without_density() {
    let words = ["case.toml:8: gravity needs the density of material `steel`", "help: add `density"];
    refused(&good_but("density = 7850.0\n", ""), 4, &words);
}

#[test]
fn supports_that_disagree() {
    let more = format!("{GOOD}\n[[support]]\non = \"ymin\"\ndisplacement = {{ x = 1e-3 }}\n");
    refused(&more, 2, &["supports `xmin` (case.toml:15) and `ymin` prescribe different displacements x of node"]);
}
