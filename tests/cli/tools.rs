//! `info`, `devices`, `mesh`, and help.

use crate::{Folder, repository};

#[test]
fn help_has_examples() {
    let folder = Folder::new();
    let alone = folder.run(&[]);
    assert_eq!((alone.code, alone.out.as_str()), (Some(2), ""));
    let help = folder.run(&["--help"]).done().out;
    assert_eq!(alone.err, help);
    let words = ["demo", "verify", "completions", "solve", "info", "mesh", "devices", "Examples:", "Exit codes:"];
    assert!(words.iter().all(|word| help.contains(word)), "{help}");
    let version = folder.run(&["--version"]).done().out;
    assert_eq!(version, format!("warpfem {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn info_describes_a_mesh() {
    let folder = Folder::new();
    let run = folder.run(&["info", &repository("meshes/cube_463.msh")]).done();
    run.says(&["nodes     463", "tet4      1,638", "tri3      642", "parts     1", "body  volumes   1,638 elements"]);
    run.says(&["zmin  surfaces  118 elements, 74 nodes", "quality   0.4"]);
    assert!(!run.out.contains("colours"), "{}", run.out);
    let all = folder.run(&["info", &repository("meshes/cube_463.msh"), "--verbose"]).done();
    all.says(&["colours   50 of 1 to 69 tet4 each, mean 33", "neighbours per node"]);
}

#[test]
fn a_generated_box_reads_back() {
    let folder = Folder::new();
    for (flags, count) in [(&["--element", "hex8"][..], "hex8      6"), (&["--ascii"], "tet4      36")] {
        let shape = ["mesh", "box", "--size", "3", "2", "0.5", "--cells", "3", "2", "1", "-o", "box.msh"];
        let out = folder.run(&[&shape, flags].concat()).done().out;
        assert!(out.starts_with("wrote box.msh: 24 nodes, "), "{out}");
        let run = folder.run(&["info", "box.msh"]).done();
        run.says(&["nodes     24", count, "extent    (0, 0, 0) to (3.000, 2.000, 0.5000)"]);
        run.says(&["    xmin  ", "    xmax  ", "    ymin  ", "    ymax  ", "    zmin  ", "    zmax  ", "    body  "]);
    }
    assert_eq!(folder.names("."), ["box.msh"]);
}

#[test]
fn quadratic_and_plane_meshes_are_generated_and_described() {
    let folder = Folder::new();
    let shapes: [(&str, &[&str], &[&str]); 4] = [
        ("box", &["tet10", "1", "1", "1", "--cells", "2", "1", "1"], &["nodes     45", "tet10     12", "tri6      20"]),
        ("box", &["hex20", "1", "1", "1", "--cells", "2", "1", "1"], &["nodes     32", "hex20     2", "quad8     10"]),
        ("rectangle", &["tri6", "2", "1", "--cells", "2", "1"], &["nodes     15", "tri6      4", "line3     6"]),
        ("rectangle", &["quad8", "2", "1", "--cells", "2", "1"], &["nodes     13", "xmax  curves", "parts     1"]),
    ];
    for (shape, arguments, words) in shapes {
        let (element, rest) = arguments.split_first().unwrap();
        let all = [&["mesh", shape, "-o", "a.msh", "--element", element, "--size"], rest].concat();
        folder.run(&all).done();
        let run = folder.run(&["info", "a.msh"]).done();
        run.says(words);
        assert!(!run.out.contains("warning"), "{}", run.out);
    }
    for (file, word) in [("ring_hex20", "quality   0."), ("ring_tri6", "outer   curves    3 elements, 7 nodes")] {
        folder.run(&["info", &repository(&format!("tests/data/{file}.msh"))]).done().says(&[word]);
    }
}

#[test]
fn devices_are_listed() {
    let out = Folder::new().run(&["devices"]).done().out;
    let first: Vec<&str> = out.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(first[..2], ["cpu", "emulate"]);
    assert!(first[2..].iter().all(|name| name.starts_with("cuda")) && first.len() > 2, "{out}");
}

/// Two tetrahedra of second order, side by side, one of which has a middle node beyond its edge.
#[test]
fn a_mesh_with_bad_elements_is_described_and_they_are_listed() {
    let folder = Folder::new();
    let mut nodes = String::new();
    for (k, shift) in [(0, 0.0), (10, 5.0)] {
        // Corners, then the middles of 01, 12, 02, 03, 23, 13.
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let middles = [[0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3]]
            .map(|[a, b]: [usize; 2]| [0, 1, 2].map(|i| 0.5 * (corners[a][i] + corners[b][i])));
        let mut x: Vec<[f64; 3]> = corners.into_iter().chain(middles).collect();
        if k > 0 {
            x[4] = [0.9, 0.0, 0.0];
        }
        for (i, x) in x.iter().enumerate() {
            nodes += &format!("{} {} {} {}\n", k + i + 1, x[0] + shift, x[1], x[2]);
        }
    }
    let elements = "7 11 2 1 1 1 2 3 4 5 6 7 8 9 10\n8 11 2 1 1 11 12 13 14 15 16 17 18 19 20\n";
    let mesh = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n$Nodes\n20\n{nodes}$EndNodes\n\
         $Elements\n2\n{elements}$EndElements\n"
    );
    folder.write("bad.msh", &mesh);
    let run = folder.run(&["info", "bad.msh"]).done();
    run.says(&["  tet10     2\n", "  quality   0.000 at worst", "    0.0 to 0.1  "]);
    run.says(&["  bad       1 element\n    8 is tangled, near (5."]);
    run.says(&["  `check` and `solve` refuse it: element 8 (tet10) is tangled"]);
    let case = "[mesh]\nfile = \"bad.msh\"\n[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.3\n";
    folder.write("bad.toml", case);
    let remedies =
        ["bad.msh: element 8 (tet10) is tangled", "Mesh.SecondOrderLinear to 1", "Mesh.HighOrderOptimize to 1"];
    folder.run(&["solve", "bad.toml"]).refused(3, &remedies);
    assert_eq!(folder.run(&["check", "bad.toml"]).code, Some(3));
}
