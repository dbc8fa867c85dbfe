//! Arguments that make no sense (2), devices that are not there (7), places that cannot be written (8), problems that
//! no memory holds (6).

use crate::{Folder, GOOD, good_but, has_gpu};

#[test]
fn flags_that_make_no_sense() {
    let folder = Folder::new();
    let flags: [(&[&str], &str); 16] = [
        (&["--precond", "amg"], "'--preconditioner'"),
        (&["--frob"], "unexpected argument '--frob'"),
        (&["--method", "multigrid"], "possible values: auto, cg, direct, femses"),
        (&["--format", "hyb"], "ebw"),
        (&["--operator", "matrixfree"], "possible values: auto, assembled, matrix_free"),
        (&["--ordering", "rmc"], "possible values: auto, mesh, hilbert, rcm"),
        (&["--preconditioner", "ilu"], "jacobi"),
        (&["--order", "0"], "1..=16"),
        (&["--order", "17"], "1..=16"),
        (&["--precision", "half"], "double, single, mixed"),
        (&["--assembly", "magic"], "row_owner"),
        (&["--tolerance", "3"], "expected a number between 0 and 1"),
        (&["--tolerance", "-1"], "expected a number between 0 and 1"),
        (&["--max-iterations", "0"], "--max-iterations"),
        (&["--threads", "99999"], "1..=1024"),
        (&["--device", "gpu"], "expected auto, cpu, cuda, cuda:1 or emulate"),
    ];
    folder.write("case.toml", GOOD);
    for (flags, word) in flags {
        folder.run(&[&["solve", "case.toml"], flags].concat()).refused(2, &[word]);
    }
    let by_warp = ["solve", "case.toml", "--device", "cpu", "--assembly", "by_warp4"];
    folder.run(&by_warp).refused(2, &["by_warp4", "needs warps", "--device emulate", "row_owner, by_element, atomic"]);
    let on_tets = ["solve", "case.toml", "--device", "emulate", "--assembly", "ppni8"];
    folder.run(&on_tets).refused(2, &["ppni8", "tet4", "row_owner, by_element, atomic"]);
    folder.run(&["slove"]).refused(2, &["slove", "solve"]);
    folder.run(&["solve"]).refused(2, &["<CASE>"]);
    assert_eq!(folder.names("."), ["case.toml"]);
}

#[test]
fn commands_of_warpfem_bench_say_where_they_are() {
    let folder = Folder::new();
    for (words, now) in [
        (&["bench", "cg", "--cells", "2"][..], "-p warpfem-bench -- COMMAND"),
        (&["bench"], "`warpfem-bench COMMAND`"),
        (&["bench", "--help"], "is now `warpfem-bench"),
        (&["report", "--quick", "-o", "here"], "-p warpfem-bench -- report"),
    ] {
        folder.run(words).refused(2, &[now]);
    }
    assert!(folder.names(".").is_empty());
}

#[test]
fn boxes_that_make_no_sense() {
    let folder = Folder::new();
    let shapes: [(&[&str], &str); 8] = [
        (&["--size", "0", "1", "1"], "greater than 0"),
        (&["--size", "1", "1", "-1"], "greater than 0"),
        (&["--size", "nan", "1", "1"], "greater than 0"),
        (&["--size", "1", "1"], "3 values required"),
        (&["--cells", "0", "1", "1"], "--cells"),
        (&["--cells", "1", "-1", "1"], "--cells"),
        (&["--cells", "1", "1.5", "1"], "--cells"),
        (&["--element", "quad8"], "possible values: tet4, hex8, tet10, hex20, wedge6, pyramid5, wedge15, pyramid13"),
    ];
    for (shape, word) in shapes {
        folder.run(&[&["mesh", "box", "-o", "a.msh"], shape].concat()).refused(2, &[word]);
    }
    folder.run(&["mesh", "box"]).refused(2, &["--output"]);
    let rectangle = ["mesh", "rectangle", "-o", "a.msh", "--element"];
    folder.run(&[&rectangle[..], &["hex8"]].concat()).refused(2, &["possible values: tri3, quad4, tri6, quad8"]);
    folder.run(&[&rectangle[..], &["tri6", "--size", "1", "1", "1"]].concat()).refused(2, &["unexpected argument"]);
    assert!(folder.names(".").is_empty());
}

#[test]
fn no_gpu() {
    let folder = Folder::new();
    if !has_gpu() {
        folder.solve(GOOD, &["--threads", "1"]).done();
        std::fs::remove_dir_all(folder.path("out")).unwrap();
        folder.run(&["solve", "case.toml", "--device", "cuda"]).refused(7, &["GPU", "`--device cpu` needs no GPU"]);
    }
    assert!(!folder.path("results").exists());
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("file", "old");
    folder.write("case.toml", GOOD);
    let full = folder.path("").canonicalize().unwrap();
    for place in ["file", "file/below", "./file/below/that"] {
        let asked = format!("cannot write into {}", full.join(place.trim_start_matches("./")).display());
        let obstacle = format!("{} is a file, not a folder", full.join("file").display());
        folder.run(&["solve", "case.toml", "-o", place]).refused(8, &[&asked, &obstacle, "`-o`"]);
    }
    folder.run(&["mesh", "box", "--cells", "1", "1", "1", "-o", "file/a.msh"]).refused(8, &["file/a.msh", "not a dir"]);
    folder
        .run(&["mesh", "box", "--cells", "1", "1", "1", "-o", "no/a.msh"])
        .refused(8, &["no/a.msh", "there is no folder no"]);
    assert_eq!(folder.names("."), ["case.toml", "file"]);
    assert_eq!(folder.read("file"), b"old");
}

#[cfg(target_os = "linux")]
#[test]
fn problems_that_no_memory_holds() {
    let folder = Folder::new();
    let huge = good_but("cells = [8, 2, 2]", "cells = [20000, 20000, 1000]");
    folder.solve(&huge, &[]).refused(6, &["out of memory on this machine", "GiB are needed", "coarser mesh"]);
    folder.run(&["mesh", "box", "--cells", "100000", "100000", "1000", "-o", "a.msh"]).refused(6, &["GiB are needed"]);
    assert_eq!(folder.names("."), ["case.toml"]);
}
