//! `convert`, `init` of geometries, and CalculiX's files.

use crate::{Folder, GOOD, good_but};

/// A folder with a mesh of two cells.
fn with_mesh(element: &str) -> Folder {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--element", element, "--cells", "2", "1", "1", "-o", "part.msh"]).done();
    folder
}

#[test]
fn meshes_keep_their_groups_in_every_format() {
    let folder = with_mesh("hex20");
    for name in ["new.msh", "new.inp", "new.vtu"] {
        let out = folder.run(&["convert", "part.msh", name]).done().out;
        assert_eq!(out, format!("wrote {name}: 32 nodes, 2 elements\n"));
    }
    let described = |name: &str| folder.run(&["info", name]).done().out.replace(name, "");
    assert_eq!(described("new.msh"), described("part.msh"));
    let deck = folder.text("new.inp");
    for words in [
        "*ELEMENT, TYPE=C3D20, ELSET=hex20\n",
        "*ELSET, ELSET=body\n1, 2\n",
        "*SURFACE, NAME=xmax, TYPE=ELEMENT\n2, S4\n",
    ] {
        assert!(deck.contains(words), "{deck}");
    }
    let vtu = folder.text("new.vtu");
    let [points, cells] = ["<PointData>", "<CellData>"].map(|section| vtu.find(section).unwrap());
    let at = |name: &str| vtu.find(&format!("<DataArray type=\"UInt8\" Name=\"{name}\"")).unwrap();
    assert!((points..cells).contains(&at("xmin")) && at("body") > cells);
    folder.run(&["convert", "part.msh", "part.msh", "--ascii"]).done();
    assert!(folder.text("part.msh").starts_with("$MeshFormat\n4.1 0 8\n"));
}

#[test]
fn what_cannot_be_converted_is_refused() {
    let folder = with_mesh("pyramid5");
    folder.run(&["convert", "part.msh", "part.stl"]).refused(2, &["part.stl", ".inp (CalculiX, Abaqus)", ".vtu"]);
    folder.run(&["convert", "part.msh", "part.inp"]).refused(2, &["pyramid5", "help: "]);
    folder.run(&["convert", "prt.msh", "part.vtu"]).refused(3, &["did you mean `part.msh`?"]);
    assert_eq!(folder.names("."), ["part.msh"]);
}

#[test]
fn results_are_written_for_calculix_where_they_are_asked_for() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--frd"]).done();
    let text = folder.text("out/case.frd");
    assert!(text.starts_with("    1C\n") && text.ends_with(" 9999\n"));
    assert_eq!(text.matches(" -4  ").count(), 3, "DISP, FORC, STRESS");
    folder.solve(&format!("{GOOD}\n[output]\nfields = [\"displacement\"]\nfrd = \"binary\"\n"), &[]).done();
    assert!(folder.read("out/case.frd").ends_with(b" 9999\n"));
    folder.solve(&format!("{GOOD}\n[output]\nfrd = \"text\"\n"), &[]).refused(2, &["form of FRD files", "ascii"]);
}

#[test]
fn load_cases_are_steps_of_one_file() {
    let folder = Folder::new();
    let case = good_but("total", "name = \"push\"\ntotal");
    let cases = "[[load_case]]\nname = \"once\"\nfactors = { push = 1.0 }\n[[load_case]]\nname = \"twice\"\nfactors = { push = 2.0 }\n";
    folder.solve(&format!("{case}\n{cases}"), &["--frd"]).done();
    let text = folder.text("out/case.frd");
    assert_eq!(
        ["    2C", "    3C", "once  ", "twice  ", " 9999\n"].map(|head| text.matches(head).count()),
        [1, 1, 3, 3, 1]
    );
}

#[test]
fn geometries_need_gmsh() {
    let folder = Folder::new();
    folder.write("part.step", "ISO-10303-21;\n");
    let run = folder.command(&["init", "part.step"]).env("PATH", "").output().unwrap().into();
    crate::Run::refused(
        &run,
        3,
        &["part.step: ", "Gmsh, which is not installed", "`pip install gmsh` or `apt install gmsh`"],
    );
    folder.run(&["init", "prt.step"]).refused(3, &["prt.step: there is no such file"]);
    assert_eq!(folder.names("."), ["part.step"]);
}

/// A stand-in for Gmsh leaves a mesh, or says why not.
#[cfg(unix)]
#[test]
fn geometries_are_meshed_beside_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_mesh("tet10");
    std::fs::rename(folder.path("part.msh"), folder.path("made.msh")).unwrap();
    folder.write("part.STP", "ISO-10303-21;\n");
    let stand_in = |script: &str| {
        folder.write("gmsh", &format!("#!/bin/sh\ncp \"$1\" {}\n{script}\n", folder.path("said.geo").display()));
        std::fs::set_permissions(folder.path("gmsh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let path = format!("{}:{}", folder.path("").display(), std::env::var("PATH").unwrap());
    let init = |flags: &[&str]| -> crate::Run {
        let arguments = [&["init", "part.STP"], flags].concat();
        folder.command(&arguments).env("PATH", &path).output().unwrap().into()
    };
    stand_in("echo 'Error   : Could not read it' >&2; exit 1");
    init(&[]).refused(3, &["part.STP: Gmsh makes no mesh of it", "Could not read it"]);
    stand_in(&format!("for last; do :; done; cp {} \"$last\"", folder.path("made.msh").display()));
    let out = init(&["--size", "2.5"]).done().out;
    assert!(out.starts_with("wrote part.toml: 7 groups of part.msh"), "{out}");
    let said = folder.text("said.geo");
    assert!(said.contains("/part.STP\";") && said.contains("Mesh.MeshSizeMax = 2.5;"), "{said}");
    assert_eq!(folder.read("part.msh"), folder.read("made.msh"));
    init(&[]).refused(2, &["part.msh is there already", "`--force`"]);
    assert!(init(&["--force"]).done().out.starts_with("wrote part.toml"));
}
