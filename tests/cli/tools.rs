//! `info`, `devices`, `mesh`, `bench`, and help.

use crate::{Folder, repository};
use serde_json::Value;

#[test]
fn help_has_examples() {
    let folder = Folder::new();
    let alone = folder.run(&[]);
    assert_eq!((alone.code, alone.out.as_str()), (Some(2), ""));
    let help = folder.run(&["--help"]).done().out;
    assert_eq!(alone.err, help);
    for word in ["solve", "info", "mesh", "devices", "bench", "Examples:", "Exit codes:"] {
        assert!(help.contains(word), "{help}");
    }
    for command in [&["solve"][..], &["info"], &["mesh", "box"], &["bench", "spmv"], &["bench", "cg"]] {
        let help = folder.run(&[command, &["--help"]].concat()).done().out;
        assert!(help.contains("Example") && help.contains(&format!("warpfem {}", command.join(" "))), "{help}");
    }
    let version = folder.run(&["--version"]).done().out;
    assert_eq!(version, format!("warpfem {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn info_describes_a_mesh() {
    let folder = Folder::new();
    let out = folder.run(&["info", &repository("meshes/cube_463.msh")]).done().out;
    for line in ["nodes     463", "tet4      1,638", "tri3      642", "parts     1", "body  volumes   1,638 elements"] {
        assert!(out.contains(line), "{out}");
    }
    assert!(out.contains("zmin  surfaces  118 elements, 74 nodes") && out.contains("quality   0.4"), "{out}");
}

#[test]
fn a_generated_box_reads_back() {
    let folder = Folder::new();
    for (flags, count) in [(&["--element", "hex8"][..], "hex8      6"), (&["--ascii"], "tet4      36")] {
        let shape = ["mesh", "box", "--size", "3", "2", "0.5", "--cells", "3", "2", "1", "-o", "box.msh"];
        let out = folder.run(&[&shape, flags].concat()).done().out;
        assert!(out.starts_with("wrote box.msh: 24 nodes, "), "{out}");
        let out = folder.run(&["info", "box.msh"]).done().out;
        assert!(out.contains("nodes     24") && out.contains(count), "{out}");
        assert!(out.contains("extent    (0, 0, 0) to (3.0000, 2.0000, 0.5000)"), "{out}");
        for group in ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "body"] {
            assert!(out.contains(&format!("    {group}  ")), "{out}");
        }
    }
    assert_eq!(folder.names("."), ["box.msh"]);
}

#[test]
fn devices_are_listed() {
    let out = Folder::new().run(&["devices"]).done().out;
    let first: Vec<&str> = out.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(first[..2], ["cpu", "emulate"]);
    assert!(first[2..].iter().all(|name| name.starts_with("cuda")) && first.len() > 2, "{out}");
}

#[test]
fn benchmarks_measure_and_write_their_figures() {
    let folder = Folder::new();
    let problem = ["--cells", "4", "--device", "cpu", "--samples", "2", "--json", "out.json"];
    let json = |kind: &str, element: &str| -> Value {
        let run = folder.run(&[&["bench", kind, "--element", element], &problem[..]].concat()).done();
        assert!(run.out.starts_with(&format!("{element} cube of 4^3 cells, 375 unknowns")), "{}", run.out);
        serde_json::from_slice(&folder.read("out.json")).unwrap()
    };
    let spmv = json("spmv", "tet4");
    assert_eq!((&spmv["dofs"], &spmv["precision"]), (&375.into(), &"f64".into()));
    let rows = spmv["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["format"] == "ebw"));
    for row in rows {
        for figure in ["spmv_ms", "gb_per_s", "of_copy", "min_bytes", "stored_bytes"] {
            assert!(row[figure].as_f64().unwrap() > 0.0, "{row}");
        }
        assert!(row["padding"].as_f64().unwrap() >= 1.0, "{row}");
    }
    let cg = json("cg", "tet4");
    assert_eq!(cg["converged"], true);
    assert!(cg["relative_residual"].as_f64().unwrap() <= 1e-8, "{cg}");
    assert!(cg["min_u_z"].as_f64().unwrap() < 0.0, "{cg}");
}
