//! `refine`: sizes for Gmsh; the estimated error in all that `solve` writes; and what cannot be refined.

use crate::{Folder, GOOD, good_but, repository};

/// The plate with a hole: a mesh of Gmsh's.
fn plate() -> String {
    repository("meshes/hole.toml")
}

fn json(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

#[test]
fn sizes_are_small_at_the_hole_and_the_numbers_are_those_of_solve() {
    let (folder, plate) = (Folder::new(), plate());
    let flags = ["--error", "0.004", "--device", "cpu", "-o", "size.pos", "--json", "numbers.json"];
    let run = folder.run(&[&["refine", &plate], &flags[..]].concat()).done();
    let numbers = json(&folder, "numbers.json");
    let number = |key: &str| numbers[key].as_f64().unwrap();
    assert!((0.005..0.01).contains(&number("estimated_error")), "{numbers}");
    assert!(number("predicted_elements") > number("elements") && number("elements") == 1240.0, "{numbers}");
    run.tells(&["hole: 1,240 elements", "in the energy norm, wanted 0.4 %", "wrote size.pos"]);

    // Places and sizes of the view.
    let text = folder.text("size.pos");
    let values = |line: &str| -> Vec<f64> {
        line.split(['(', ')', '{', '}', ',', ';']).filter_map(|word| word.parse().ok()).collect()
    };
    let rows: Vec<Vec<f64>> = text.lines().filter(|line| line.starts_with("SQ(")).map(values).collect();
    assert!(rows.len() == 1240 && rows.iter().all(|row| row.len() == 16 && row[12..].iter().all(|size| *size > 0.0)));
    let smallest = rows.iter().min_by(|a, b| a[12].total_cmp(&b[12])).unwrap();
    let largest = rows.iter().max_by(|a, b| a[12].total_cmp(&b[12])).unwrap();
    assert!(smallest[0].hypot(smallest[1]) < largest[0].hypot(largest[1]), "{smallest:?} {largest:?}");

    let solved =
        folder.run(&["solve", &plate, "--mesh-error", "-o", "out", "--device", "cpu", "--field", "error"]).done();
    let results = &folder.summary("out")["results"];
    assert!((results["mesh_error"].as_f64().unwrap() / number("estimated_error") - 1.0).abs() < 1e-6);
    solved.tells(&["digits, mesh error about "]);
    assert!(folder.text("out/hole_elements.csv").lines().next().unwrap().contains("error"));
    assert!(
        folder.text("out/hole.vtu").contains("Name=\"error\"") && folder.text("out/hole.html").contains("mesh error")
    );
    assert!(folder.names("out").contains(&"hole_error.png".into()), "{:?}", folder.names("out"));
}

#[test]
fn a_load_case_less_does_not_make_sizes_smaller() {
    let folder = Folder::new();
    folder
        .run(&["mesh", "box", "--element", "hex8", "--size", "4", "1", "1", "--cells", "8", "2", "2", "-o", "box.msh"])
        .done();
    let case = good_but(
        "generate = { kind = \"box\", element = \"tet4\", size = [4.0, 1.0, 1.0], cells = [8, 2, 2] }",
        "file = \"box.msh\"",
    );
    let side = "[[force]]\nname = \"side\"\non = \"xmax\"\ntotal = [0.0, 1e3, 0.0]\n";
    let two =
        "[[load_case]]\nname = \"down\"\nfactors = {}\n[[load_case]]\nname = \"both\"\nfactors = { side = 3.0 }\n";
    let run = |name: &str, text: &str| {
        folder.write(name, text);
        folder.run(&["refine", name, "--error", "0.1", "--device", "cpu", "--json", "numbers.json"]).done();
        json(&folder, "numbers.json")["predicted_elements"].as_f64().unwrap()
    };
    let (one, both) = (run("one.toml", &case), run("two.toml", &format!("{case}{side}{two}")));
    assert!(both >= one, "{one} {both}");
    assert!(folder.text("two_size.pos").starts_with("View"));
    let solved = folder.run(&["solve", "two.toml", "-o", "out", "--device", "cpu", "--mesh-error"]).done();
    solved.tells(&["mesh error at most about "]);
}

#[test]
fn what_cannot_be_refined_says_why() {
    let (folder, plate) = (Folder::new(), plate());
    for error in ["0", "1", "-0.1", "nan", "much"] {
        folder.run(&["refine", &plate, "--error", error]).refused(2, &["expected a number between 0 and 1"]);
    }
    folder.run(&["refine", &plate]).refused(2, &["--error <X>"]);
    folder.write("case.toml", GOOD);
    let refine = ["refine", "case.toml", "--error", "0.01", "--device", "cpu"];
    folder.run(&refine).refused(2, &["case.toml:2", "the mesh is generated", "more `cells`"]);
    for study in ["modal", "buckling"] {
        folder.write("case.toml", &good_but("kind = \"elasticity\"", &format!("study = \"{study}\"")));
        folder.run(&refine).refused(2, &["case.toml:5", "no error is estimated of modes"]);
    }
    folder.run(&["refine", "missing.toml", "--error", "0.01"]).refused(2, &["missing.toml"]);
    folder.run(&["refine", &plate, "--error", "0.01", "-o", "no/where.pos"]).refused(8, &["no/where.pos"]);
    let short = std::fs::read_to_string(&plate).unwrap()
        + "\n[solver]\nmethod = \"cg\"\npreconditioner = \"jacobi\"\nmax_iterations = 2\n";
    std::fs::copy(repository("meshes/hole.msh"), folder.path("hole.msh")).unwrap();
    folder.write("short.toml", &short);
    folder.run(&["refine", "short.toml", "--error", "0.01", "--device", "cpu"]).refused(5, &["not converged"]);
    assert_eq!(folder.names("."), ["case.toml", "hole.msh", "short.toml"]);
}

/// An L of quadrilaterals, `2 n` to a side, with its foot at y = 0 and its top at y = 1, as Gmsh writes it.
fn l_shape(n: usize) -> String {
    let (side, step) = (2 * n + 1, 0.5 / n as f64);
    let place = |node: usize| (node % side, node / side);
    let is_there = |(i, j): (usize, usize)| i <= n || j <= n;
    let nodes: Vec<usize> = (0..side * side).filter(|node| is_there(place(*node))).collect();
    let mut text = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 1 \"foot\"\n1 2 \"top\"\n2 3 \"body\"\n\
                            $EndPhysicalNames\n$Nodes\n{}\n",
        nodes.len()
    );
    for node in &nodes {
        let (i, j) = place(*node);
        text += &format!("{} {} {} 0\n", node + 1, step * i as f64, step * j as f64);
    }
    let line = |j: usize, i: usize, tag: usize| format!("1 2 {tag} {tag} {} {}", j * side + i + 1, j * side + i + 2);
    let mut cells: Vec<String> = (0..2 * n).map(|i| line(0, i, 1)).chain((0..n).map(|i| line(2 * n, i, 2))).collect();
    for (i, j) in (0..2 * n).flat_map(|j| (0..2 * n).map(move |i| (i, j))).filter(|(i, j)| *i < n || *j < n) {
        let at = |i: usize, j: usize| j * side + i + 1;
        cells.push(format!("3 2 3 3 {} {} {} {}", at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)));
    }
    text += &format!("$EndNodes\n$Elements\n{}\n", cells.len());
    cells.iter().zip(1..).for_each(|(cell, tag)| text += &format!("{tag} {cell}\n"));
    text + "$EndElements\n"
}

#[test]
fn a_sharp_inner_corner_is_named_and_a_round_hole_is_not() {
    let folder = Folder::new();
    folder.write("l.msh", &l_shape(8));
    folder.write(
        "l.toml",
        "[mesh]\nfile = \"l.msh\"\n[analysis]\nkind = \"plane_strain\"\n[[material]]\nname = \"steel\"\nyoung = 210e9\npoisson = 0.3\n\
         [[support]]\non = \"foot\"\nfix = \"xy\"\n[[traction]]\non = \"top\"\nvector = [1e6, 0.0]\n",
    );
    let run = folder.run(&["solve", "l.toml", "-o", "out", "--device", "cpu"]).done();
    let singular = &folder.summary("out")["results"]["singular"];
    assert_eq!(singular[0]["near"], "a sharp inner corner", "{singular}");
    assert_eq!(singular[0]["max_at"], serde_json::json!([0.5, 0.5, 0.0]));
    run.tells(&["the stress grows with every refinement at (0.5000, 0.5000, 0) (a sharp inner corner)"]);
    folder.run(&["solve", &plate(), "-o", "hole", "--device", "cpu"]).done();
    assert_eq!(folder.summary("hole")["results"]["singular"], serde_json::Value::Null);
}
