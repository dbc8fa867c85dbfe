//! `init`: case files that can be used once a support and a load are filled in.

use crate::{Folder, GOOD, repository};

/// The meshes of the repository that can be read.
const MESHES: [&str; 18] = [
    "meshes/bracket.msh",
    "meshes/car.msh",
    "meshes/cube_1149.msh",
    "meshes/cube_3419.msh",
    "meshes/cube_463.msh",
    "meshes/cube_7348.msh",
    "meshes/hole.msh",
    "meshes/ring.msh",
    "meshes/vase.msh",
    "tests/data/box22a.msh",
    "tests/data/box22b.msh",
    "tests/data/box41a.msh",
    "tests/data/box41b.msh",
    "tests/data/ring_hex20.msh",
    "tests/data/ring_quad8.msh",
    "tests/data/ring_tet10.msh",
    "tests/data/ring_tri6.msh",
    "tests/data/tet10.msh",
];

/// What nobody waits for in a test: thousands of iterations without optimisation.
const SLOW: [&str; 3] = ["meshes/vase.msh", "meshes/car.msh", "meshes/bracket.msh"];

/// The suggested tables of a case file: the lines of each table, without their `#`.
fn suggestions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.split(|line| !line.starts_with('#') || line.starts_with("# ") || *line == "#");
    let tables = tables.filter(|table| table.first().is_some_and(|head| head.starts_with("#[")));
    tables.map(|table| table.iter().map(|line| format!("{}\n", &line[1..])).collect()).collect()
}

/// The case that `init` writes for a mesh, and what it suggests.
fn init(folder: &Folder, mesh: &str, flags: &[&str]) -> (String, Vec<String>) {
    let out = folder.run(&[&["init", mesh, "-o", "case.toml", "--force"], flags].concat()).done().out;
    assert!(out.starts_with("wrote case.toml: ") && out.contains("warpfem check case.toml"), "{out}");
    let text = folder.text("case.toml");
    let found = suggestions(&text);
    (text, found)
}

fn is_support(table: &str) -> bool {
    table.starts_with("[[support]]")
}

#[test]
fn every_mesh_solves_with_one_support_and_one_load() {
    let folder = Folder::new();
    for mesh in MESHES {
        let (text, tables) = init(&folder, &repository(mesh), &[]);
        let support = tables.iter().find(|table| is_support(table)).unwrap();
        let load = tables.iter().find(|table| !is_support(table)).unwrap();
        folder.write("case.toml", &format!("{text}\n{support}\n{load}"));
        let checked = folder.run(&["check", "case.toml"]).done().out;
        assert!(checked.ends_with("ready: warpfem solve case.toml\n"), "{mesh}: {checked}");
        assert!(!checked.contains("warning: units"), "{mesh}: {checked}");
        if !SLOW.contains(&mesh) {
            let flags = ["--device", "cpu", "--tolerance", "1e-4", "-o", "out"];
            folder.run(&[&["solve", "case.toml"], &flags[..]].concat()).done();
        }
    }
}

#[test]
fn every_suggestion_can_be_used_as_it_is() {
    let folder = Folder::new();
    for (shape, kinds) in
        [("box", &["elasticity", "laplace"][..]), ("rectangle", &["plane_stress", "plane_strain", "laplace"])]
    {
        folder.run(&["mesh", shape, "-o", "a b.msh"]).done();
        for kind in kinds {
            let (text, tables) = init(&folder, "a b.msh", &["--kind", kind]);
            assert!(text.contains("file = \"a b.msh\"") && text.contains(&format!("kind = \"{kind}\"")), "{text}");
            let clamp = tables.iter().find(|table| is_support(table)).unwrap();
            let wanted = if *kind == "laplace" { 3 } else { 8 };
            assert_eq!(tables.len(), wanted, "{tables:?}");
            for table in &tables {
                folder.write("case.toml", &format!("{text}\n{clamp}\n{}", if table == clamp { "" } else { table }));
                let run = folder.run(&["check", "case.toml"]);
                // Moved and held at once, the group has two displacements.
                let both = table.contains("displacement");
                assert_eq!(run.code, Some(if both { 2 } else { 0 }), "{kind}: {table}\n{run:?}");
            }
            folder.write("case.toml", &text);
            let unheld = folder.run(&["check", "case.toml"]);
            assert_eq!((unheld.code, unheld.err.matches("error: ").count()), (Some(4), 1), "{unheld:?}");
        }
    }
}

#[test]
fn groups_are_listed_with_their_sizes() {
    let folder = Folder::new();
    let (text, _) = init(&folder, &repository("meshes/bracket.msh"), &[]);
    let body = "\"body\"    volumes   36,959 elements, 8,936 nodes, volume ";
    let bracket = ["\"bolts\"   surfaces  ", body, ", area 0.", "on = \"bolts\""];
    assert!(bracket.iter().all(|words| text.contains(words)), "{text}");
    let (text, _) = init(&folder, &repository("meshes/hole.msh"), &[]);
    let hole = ["\"plate\"", "surfaces  1,240 elements", "curves", "kind = \"plane_stress\"", "\n#thickness = 0.01 "];
    assert!(hole.iter().all(|words| text.contains(words)), "{text}");
    // No number that results depend on is made up in silence.
    folder.run(&["check", "case.toml"]).says(&["warning: [analysis] has no `thickness`"]);
}

#[test]
fn a_mesh_without_groups_is_offered_its_extreme_planes() {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--ascii", "--size", "200", "20", "10", "-o", "a.msh"]).done();
    let named = folder.text("a.msh");
    // Entities without physical tags are in no group.
    let lines: Vec<&str> = named.lines().collect();
    let from = lines.iter().position(|line| *line == "$PhysicalNames").unwrap();
    let to = lines.iter().position(|line| *line == "$EndPhysicalNames").unwrap();
    let entities = lines.iter().position(|line| *line == "$Entities").unwrap();
    let bare: Vec<String> = (0..lines.len())
        .filter(|i| !(from..=to).contains(i))
        .map(|i| {
            let words: Vec<&str> = lines[i].split(' ').collect();
            let is_entity = i > entities + 1 && words.len() > 8 && words[7] == "1";
            if is_entity { [&words[..7], &["0"], &words[9..]].concat().join(" ") } else { lines[i].to_string() }
        })
        .collect();
    folder.write("a.msh", &bare.join("\n"));
    let (text, tables) = init(&folder, "a.msh", &[]);
    let planes = ["The mesh has no groups.", "xmin, xmax, ymin, ymax, zmin, zmax.", "on = \"xmin\"", "on = \"zmax\""];
    // 200 is more likely to be in millimetres.
    let millimetres = ["young = 210000.0", "density = 7.85e-9", "[MPa]"];
    assert!(planes.iter().chain(&millimetres).all(|words| text.contains(words)), "{text}");
    folder.write("case.toml", &format!("{text}\n{}\n{}", tables[0], tables[2]));
    folder.run(&["solve", "case.toml", "--device", "cpu"]).done();
}

#[test]
fn nothing_is_written_over_and_paths_are_seen_from_the_case() {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--cells", "1", "1", "1", "-o", "part.msh"]).done();
    assert!(folder.run(&["init", "part.msh"]).done().out.starts_with("wrote part.toml: 7 groups of part.msh\n"));
    folder.write("part.toml", GOOD);
    folder.run(&["init", "part.msh"]).refused(2, &["part.toml is there already", "-o", "--force"]);
    assert_eq!(folder.read("part.toml"), GOOD.as_bytes());
    std::fs::create_dir(folder.path("cases")).unwrap();
    folder.run(&["init", "part.msh", "-o", "cases/a.toml"]).done();
    assert!(folder.text("cases/a.toml").contains("file = \"../part.msh\""));
    folder.run(&["init", "part.msh", "-o", "no/a.toml"]).refused(8, &["no/a.toml"]);
    folder.run(&["init", "nope.msh"]).refused(3, &["nope.msh: there is no such file"]);
    let flat = folder.run(&["init", "part.msh", "--kind", "plane_stress", "-o", "b.toml"]);
    flat.refused(2, &["3 dimensions", "elasticity, laplace"]);
    assert_eq!(folder.names("."), ["cases", "part.msh", "part.toml"]);
}

#[test]
fn a_mesh_with_bad_elements_gets_its_case_and_they_are_named() {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--ascii", "--cells", "2", "1", "1", "-o", "a.msh"]).done();
    let sound = folder.run(&["init", "a.msh", "-o", "sound.toml"]).done().out;
    assert!(!sound.contains("bad "), "{sound}");
    // The first node in the place of the last: elements at either are flat or folded.
    let text = folder.text("a.msh");
    assert!(text.contains("\n0.0 0.0 0.0 \n"), "{text}");
    folder.write("b.msh", &text.replacen("\n0.0 0.0 0.0 \n", "\n1.0 1.0 1.0 \n", 1));
    let said = folder.run(&["init", "b.msh", "-o", "case.toml"]).done().out;
    assert!(said.starts_with("wrote case.toml: 7 groups of b.msh\n  bad  "), "{said}");
    assert!(said.contains(", near (") && said.contains("mend the elements in Gmsh, fill in a support"), "{said}");
    let case = folder.text("case.toml");
    assert!(case.contains("file = \"b.msh\"") && case.contains("#[[support]]"), "{case}");
    folder.run(&["check", "case.toml"]).refused(3, &["b.msh: element "]);
}
