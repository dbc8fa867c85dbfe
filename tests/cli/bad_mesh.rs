//! Mesh files with one mistake each: code 3, the file and the tag of what is wrong in it.

use crate::{Folder, repository};

/// Two tetrahedra on a triangle.
const MESH: &str = "$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 \"foot\"
3 2 \"body\"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
3
31 2 2 1 1 1 2 3
41 4 2 2 1 1 2 3 4
42 4 2 2 1 2 3 4 5
$EndElements
";

const CASE: &str = "[mesh]
file = \"part.msh\"

[[material]]
name = \"steel\"
young = 210e9
poisson = 0.3

[[support]]
on = \"foot\"
fix = \"xyz\"

[[pressure]]
on = \"foot\"
value = 1e3
";

/// The mesh with one piece replaced, which must be there.
fn mesh_but(from: &str, to: &str) -> String {
    assert!(MESH.contains(from), "{from}");
    MESH.replacen(from, to, 1)
}

fn solve(mesh: &str) -> (Folder, crate::Run) {
    let folder = Folder::new();
    folder.write("part.msh", mesh);
    let run = folder.solve(CASE, &[]);
    (folder, run)
}

/// Solves on a mesh that must be refused, and leave nothing.
fn refused(mesh: &str, code: i32, words: &[&str]) {
    let (folder, run) = solve(mesh);
    run.refused(code, words);
    assert_eq!(folder.names("."), ["case.toml", "part.msh"]);
}

#[test]
fn the_mesh_these_are_made_from_is_sound() {
    let (folder, run) = solve(MESH);
    run.done();
    assert_eq!(folder.summary("out")["elements"], 2);
}

#[test]
fn folders_are_no_meshes() {
    let folder = Folder::new();
    folder.write("part.msh", MESH);
    folder.run(&["info", "."]).refused(3, &[".: it is a folder", "meshes in that folder: part.msh"]);
    folder.solve(&CASE.replace("part.msh", "."), &[]).refused(3, &["case.toml:2:8: . is a folder, not a mesh file"]);
}

#[test]
fn half_a_file_of_bytes() {
    let whole = std::fs::read(repository("meshes/cube_463.msh")).unwrap();
    let folder = Folder::new();
    std::fs::write(folder.path("part.msh"), &whole[..whole.len() / 2]).unwrap();
    folder.solve(CASE, &[]).refused(3, &["part.msh: the file is truncated"]);
    folder.run(&["info", "part.msh"]).refused(3, &["part.msh: the file is truncated"]);
}

#[test]
fn meshes_with_one_mistake_each() {
    for text in ["", "hello\n", CASE] {
        refused(text, 3, &["part.msh: this is not a Gmsh mesh"]);
    }
    let nodes = "2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n";
    let scaled = |by: &str| format!("2 1{by} 0 0\n3 0 1{by} 0\n4 0 0 1{by}\n5 1{by} 1{by} 1{by}\n");
    let (tiny, huge) = (scaled("e-130"), scaled("e130"));
    let (last, element) = ("5 1 1 1", "2 3 4 5\n");
    let cases: [(&str, &str, &[&str]); 10] = [
        ("2.2 0 8", "3.0 0 8", &["MSH format 3.0 is not supported", "gmsh -format msh41"]),
        (last, "5 1 nan 1", &["node 5 has a coordinate"]),
        (last, "5 1 inf 1", &["node 5 has a coordinate"]),
        (last, "5 1 -inf 1", &["node 5 has a coordinate"]),
        (nodes, &tiny, &["the mesh is 1e-130 long", "choose another unit of length"]),
        (nodes, &huge, &["the mesh is 1e130 long", "choose another unit of length"]),
        (element, "2 3 4 9\n", &["element 42 refers to node 9, which the file does not define"]),
        (last, "5 0.25 0.25 0.5", &["element 42 (tet4) near (", "is degenerate"]),
        (element, "2 3 4 4\n", &["element 42 (tet4) near (", "is degenerate"]),
        (
            last,
            "5 0.1 0.1 0.1",
            &["the mesh overlaps itself: elements 42 and 41 lie on the same side", "is a node misplaced?"],
        ),
    ];
    for (from, to, words) in cases {
        refused(&mesh_but(from, to), 3, &[&[&*format!("part.msh: {}", words[0])], &words[1..]].concat());
    }
    // Far apart, beside each other, with its nodes in another order, and mirrored.
    for again in ["51 4 2 2 1 1 2 3 4", "51 4 2 2 1 2 3 1 4", "51 4 2 2 1 2 1 3 4"] {
        let twice = mesh_but("3\n31", "4\n31").replacen("$EndElements", &format!("{again}\n$EndElements"), 1);
        refused(&twice, 3, &["part.msh: elements 41 and 51 have the same nodes"]);
    }
}

#[test]
fn an_element_listed_the_other_way_round_is_turned_with_a_warning() {
    let (folder, run) = solve(&mesh_but("2 3 4 5\n", "3 2 4 5\n"));
    run.done().says(&["warning: element 42 had its nodes in reverse order"]);
    let warnings = folder.summary("out")["warnings"].to_string();
    assert!(warnings.contains("element 42 had its nodes in reverse order"), "{warnings}");
}

#[test]
fn elements_of_a_file_that_are_not_supported() {
    let folder = Folder::new();
    let words = ["hex27.msh: element", "of type quad9", "Mesh.SecondOrderIncomplete = 1"];
    folder.solve(&CASE.replace("part.msh", &repository("tests/data/hex27.msh")), &[]).refused(3, &words);
    assert_eq!(folder.names("."), ["case.toml"]);
}

/// A coarse quadrilateral with two fine ones beside it.
const COARSE_AND_FINE: &str = "$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
8
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 2 0 0
6 2 0.5 0
7 2 1 0
8 1 0.5 0
$EndNodes
$Elements
3
71 3 2 0 1 1 2 3 4
72 3 2 0 1 2 5 6 8
73 3 2 0 1 8 6 7 3
$EndElements
";

/// The same with the coarse one cut at the node beside it.
fn matched() -> String {
    let cut = "5\n71 2 2 0 1 1 2 8\n74 2 2 0 1 1 8 4\n75 2 2 0 1 8 3 4";
    COARSE_AND_FINE.replacen("3\n71 3 2 0 1 1 2 3 4", cut, 1)
}

const PLATE: &str = "[mesh]
file = \"part.msh\"

[analysis]
kind = \"plane_stress\"
thickness = 1.0

[[material]]
name = \"steel\"
young = 210e9
poisson = 0.3

[[support]]
on = \"xmin\"
fix = \"xy\"

[[pressure]]
on = \"xmax\"
value = 1e3
";

#[test]
fn a_node_on_a_side_of_an_element_that_does_not_have_it() {
    let folder = Folder::new();
    folder.write("part.msh", COARSE_AND_FINE);
    let said = "part.msh: 1 node hangs: node 8 at (1, 0.5) lies on a side of element 71, which does not have it";
    folder.solve(PLATE, &[]).refused(3, &[said, "allow_hanging = true"]);
    assert_eq!(folder.names("."), ["case.toml", "part.msh"]);
    folder.run(&["info", "part.msh"]).done().says(&["`check` and `solve` refuse it: 1 node hangs"]);
    let allowed = PLATE.replacen("[mesh]\n", "[mesh]\nallow_hanging = true\n", 1);
    folder.solve(&allowed, &[]).done().says(&["warning: 1 node hangs: node 8 at (1, 0.5)"]);
    folder.write("part.msh", &matched());
    let run = folder.solve(PLATE, &[]).done();
    assert!(!run.out.contains("hangs"), "{}", run.out);
}

#[test]
fn noise_out_of_the_plane_is_left_out() {
    let folder = Folder::new();
    let matched = matched();
    for (z, at) in [(["1.9e-6", "-1e-8"], 0.0), (["7.0000019", "7"], 7.000_000_95)] {
        let noisy = matched.replacen("4 0 1 0", &format!("4 0 1 {}", z[0]), 1);
        let noisy = [1, 2, 3, 5, 6, 7, 8].iter().fold(noisy, |text, node| {
            let line = text.lines().skip(5).find(|line| line.starts_with(&format!("{node} "))).unwrap().to_string();
            let moved = format!("{}{}", line.trim_end_matches('0'), z[1]);
            text.replacen(&format!("\n{line}\n"), &format!("\n{moved}\n"), 1)
        });
        folder.write("part.msh", &noisy);
        folder.solve(PLATE, &[]).done();
        let mesh = warpfem::mesh::Mesh::read(&folder.path("part.msh")).unwrap();
        assert!(mesh.coords.iter().all(|x| (x[2] - at).abs() < 1e-12), "{:?}", mesh.coords);
    }
    // More than that is no noise.
    folder.write("part.msh", &matched.replacen("4 0 1 0", "4 0 1 1e-5", 1));
    assert_eq!(folder.solve(PLATE, &[]).code, Some(2));
}

#[test]
fn an_element_folded_between_its_nodes() {
    let triangle = |mid: &str| {
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n{mid}\n$EndNodes\n$Elements\n1\n\
             81 9 2 0 1 1 2 3 4 5 6\n$EndElements\n"
        )
    };
    let folder = Folder::new();
    folder.write("part.msh", &triangle("4 0.3 0 0\n5 0.5 0.5 0\n6 0 0.3 0"));
    folder.solve(PLATE, &[]);
    assert!(folder.run(&["info", "part.msh"]).done().out.lines().all(|line| !line.contains("tangled")));
    // Both edges at the first corner are folded, which the Jacobian there does not show.
    folder.write("part.msh", &triangle("4 0.2 0 0\n5 0.5 0.5 0\n6 0 0.2 0"));
    folder.solve(PLATE, &[]).refused(3, &["part.msh: element 81 (tri6) is tangled", "near ("]);
    folder.run(&["info", "part.msh"]).done().says(&["81 is tangled, near (", "quality   0.000 at worst"]);
}

#[test]
fn a_facet_that_is_there_twice_is_loaded_once() {
    let total = |mesh: &str, words: &[&str]| {
        let (folder, run) = solve(mesh);
        run.done().says(words);
        folder.summary("out")["results"]["applied"].clone()
    };
    let once = total(MESH, &[]);
    assert!(once.as_array().is_some_and(|total| total.iter().any(|f| f.as_f64().unwrap() != 0.0)), "{once}");
    for again in ["32 2 2 1 1 1 2 3\n", "32 2 2 1 1 2 3 1\n", "32 2 2 1 9 3 2 1\n"] {
        assert_eq!(total(&mesh_but("3\n31", &format!("4\n{again}31")), &[]), once);
        assert_eq!(total(&mesh_but("3\n31", "4\n31").replacen("$EndEl", &format!("{again}$EndEl"), 1), &[]), once);
    }
    // Two surfaces of one name that share a face; that they are taken as one is said.
    let named = MESH.replacen("2\n2 1 \"foot\"", "3\n2 1 \"foot\"\n2 7 \"foot\"", 1).replacen("3\n31", "4\n31", 1);
    let named = named.replacen("$EndEl", "32 2 2 7 9 3 2 1\n$EndEl", 1);
    assert_eq!(total(&named, &["2 physical groups are called `foot`"]), once);
}

#[test]
fn a_facet_that_is_no_face_of_a_solid() {
    let stray = mesh_but("3\n31 2 2 1 1 1 2 3\n", "4\n31 2 2 1 1 1 2 3\n32 2 2 1 1 1 2 5\n");
    refused(&stray, 2, &["case.toml:14:6: 1 of the 2 facets of `foot` are not faces of a solid element"]);
}

#[test]
fn a_second_body_that_nothing_holds() {
    let nodes = "5 1 1 1\n11 5 0 0\n12 6 0 0\n13 5 1 0\n14 5 0 1\n$EndNodes";
    let two = mesh_but("5 1 1 1\n$EndNodes", nodes).replacen("$Nodes\n5", "$Nodes\n9", 1);
    let two = two.replacen("3\n31", "4\n31", 1).replacen("$EndElements", "43 4 2 2 1 11 12 13 14\n$EndElements", 1);
    let words = [
        "the supports leave 1 of the body's 2 separate parts free to move",
        "part 2 (4 nodes, from (5, 0, 0) to (6, 1, 1)) is free to move",
        "nothing stops any translation or rotation",
        "help: it would be held by",
    ];
    // It carries no load: nothing would move it, but its displacements are not determined.
    refused(&two, 4, &words);
}
