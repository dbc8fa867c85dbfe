//! `check`: what a case is, and everything that is wrong with it.

use crate::{Folder, GOOD, Run, good_but, has_gpu};

/// [`GOOD`] on a mesh of the repository.
fn on_a_file(mesh: &str) -> String {
    GOOD.replace(GOOD.lines().nth(1).unwrap(), &format!("file = \"{}\"", crate::repository(mesh)))
}

fn check(case: &str) -> Run {
    let folder = Folder::new();
    folder.write("case.toml", case);
    let run = folder.run(&["check", "case.toml"]);
    assert_eq!(folder.names("."), ["case.toml"], "check writes nothing");
    run
}

/// Asserts the exit code, and the first line of each problem in its order.
#[track_caller]
fn problems(run: &Run, code: i32, expected: &[&str]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    let found: Vec<&str> = run.err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(found.len(), expected.len(), "{}", run.err);
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}\ndoes not hold {expected}");
    }
    assert!(!run.out.contains("ready:"), "{}", run.out);
}

#[test]
fn a_sound_case_is_described() {
    let run = check(GOOD).done();
    let out = &run.out;
    let lines = [
        "case: linear elasticity on the generated mesh\n",
        "  mesh      81 nodes, 192 tet4, from (0, 0, 0) to (4.000, 1.000, 1.000)\n",
        "  unknowns  243\n",
        "  material  steel: 192 elements, volume 4, mass 31400; E = 2.1e11, nu = 0.3\n",
        "  load      gravity: (0, 0, -308.0e3) in total\n",
        "  support   xmin: 9 nodes, x, y, z fixed\n",
        "  load      force on xmax: (0, 0, -1000) in total\n",
        "  shapes    all 0.66 (1 is regular, 0 is flat)\n",
        "ready: warpfem solve case.toml\n",
    ];
    run.says(&lines);
    run.tells(&["memory about ", " cpu about ", "to a factor of 2 or 3"]);
    assert_eq!(out.contains("  cuda:0    "), has_gpu(), "{out}");
    // Every generated box has these sides, and whoever generates one knows.
    assert!(!out.contains("not used"), "{out}");
    // Two linear elements are few over the depth of a beam.
    assert!(
        out.matches("warning").count() == 1 && out.contains("  warning: tet4 elements, fewer than 8 through"),
        "{out}"
    );
    let finer = check(&good_but("\"tet4\"", "\"tet10\"")).done().out;
    assert!(!finer.contains("warning"), "{finer}");
}

#[test]
fn elements_too_stiff_in_bending_are_told_of_beside_the_results() {
    let folder = Folder::new();
    folder.solve(GOOD, &[]).done().tells(&[" warning: tet4 elements, fewer than 8 through the thickness"]);
    assert!(folder.summary("out")["warnings"].to_string().contains("tet4 elements, fewer than 8"));
}

/// What `check` warns of is what `solve` warns of first, in its order; what `check` refuses, `solve` refuses by the
/// first of the same words.
#[test]
fn check_and_solve_say_the_same() {
    let folder = Folder::new();
    let mut cases: Vec<String> = ["meshes", "tests/data/mistakes"]
        .iter()
        .flat_map(|dir| std::fs::read_dir(crate::repository(dir)).unwrap())
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| path.ends_with(".toml"))
        .collect();
    cases.sort();
    assert!(cases.len() > 40, "{cases:?}");
    let (mut warned, mut refused) = (0, 0);
    for case in cases {
        std::fs::remove_dir_all(folder.path("out")).unwrap_or_default();
        let check = folder.run(&["check", &case, "--device", "cpu"]);
        // What is said of the model is said whether or not the iteration ends.
        let short = ["--device", "cpu", "-o", "out", "--verbose", "--max-iterations", "1"];
        let solve = folder.run(&[&["solve", &case], &short[..]].concat());
        match check.code {
            Some(0) => {
                let (of_check, of_solve) = (warnings(&check), warnings(&solve));
                assert!(matches!(solve.code, Some(0 | 5)), "{case}: {solve:?}");
                assert_eq!(of_solve.get(..of_check.len()), Some(&of_check[..]), "{case}: {of_solve:?}");
                warned += of_check.len();
            }
            code => {
                assert_eq!((solve.code, solve.out.as_str()), (code, ""), "{case}: {solve:?}");
                assert!(!folder.path("out").exists(), "{case}: something is left");
                let first = |run: &Run| run.err.split("\nerror: ").next().map(str::to_owned).unwrap();
                assert!(first(&check).starts_with(first(&solve).trim_end()), "{case}\n{}\n{}", check.err, solve.err);
                refused += 1;
            }
        }
    }
    assert!(warned > 10 && refused > 20, "{warned} {refused}");
}

/// The warnings of a run, each in a line.
fn warnings(run: &Run) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_in = false;
    for line in run.out.lines() {
        match line.strip_prefix("  warning: ") {
            Some(text) => found.push(text.to_owned()),
            None if is_in && line.starts_with("    ") => {
                found.last_mut().unwrap().push_str(&format!(" {}", line.trim()));
            }
            None => {}
        }
        is_in = line.starts_with("  warning: ") || is_in && line.starts_with("    ");
    }
    found
}

#[test]
fn the_device_is_checked_and_repeated() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    let out = folder.run(&["check", "case.toml", "--device", "cpu"]).done().out;
    assert!(out.ends_with("ready: warpfem solve case.toml --device cpu\n"), "{out}");
    // No machine has so many GPUs, and most that run this have none.
    let flags = ["case.toml", "--device", "cuda:99"];
    let [check, solve] = ["check", "solve"].map(|command| folder.run(&[&[command], &flags[..]].concat()));
    assert_eq!((check.code, &check.err), (Some(7), &solve.err), "{check:?}");
    assert_eq!(solve.code, Some(7), "{solve:?}");
    assert!(check.out.contains("material  steel") && !check.out.contains("ready:"), "{}", check.out);
}

#[test]
fn a_misspelt_group_is_no_plane_and_brings_no_hints() {
    let case = on_a_file("meshes/bracket.msh").replace("\"xmin\"", "\"blots\"").replace("\"xmax\"", "\"tip\"");
    let run = check(&case);
    problems(&run, 2, &["has no group `blots`"]);
    assert!(run.err.contains("did you mean `bolts`?") && !run.out.contains("hint: "), "{run:?}");
}

#[test]
fn groups_of_a_file_that_nothing_is_on_are_listed() {
    let out = check(&on_a_file("meshes/cube_463.msh")).done().out;
    let unused = out.lines().find(|line| line.starts_with("  groups    not used: ")).unwrap_or_else(|| panic!("{out}"));
    assert!(unused.contains("ymin") && !unused.contains("body") && !unused.contains("xmin"), "{out}");
    let shapes = out.lines().find(|line| line.starts_with("  shapes    mean ")).unwrap_or_else(|| panic!("{out}"));
    assert!(shapes.contains(", worst 0.") && shapes.ends_with("(1 is regular, 0 is flat)"), "{out}");
}

#[test]
fn everything_wrong_in_a_case_is_said_at_once() {
    let case =
        good_but("poisson = 0.3", "poisson = 0.7").replace("density = 7850.0\n", "").replace("\"xmax\"", "\"xmaxx\"");
    let more = "\n[[pressure]]\non = \"top\"\nvalue = 1.0\n\n[output]\nfields = [\"plastic_strain\"]\n";
    let case = case.replace("tolerance = 1e-10", "tolerance = 7\nformat = \"hyb\"") + more;
    let run = check(&case);
    let expected = [
        "case.toml:11:11: `poisson` must lie between -1 and 0.5",
        "field `plastic_strain` is not available",
        "`tolerance` must lie between 0 and 1",
        "format `hyb` is not available",
        "gravity needs the density of material `steel`",
        "the generated mesh has no group `top`",
        "the generated mesh has no group `xmaxx`",
    ];
    problems(&run, 2, &expected);
    assert!(run.err.ends_with("7 problems; exit code 2, from the first\n"), "{}", run.err);
}

#[test]
fn what_follows_from_another_mistake_is_not_said() {
    // The support is misspelt: that the body is free follows from it. The material's group is: that elements have none.
    problems(&check(&good_but("\"xmin\"", "\"xmim\"")), 2, &["has no group `xmim`"]);
    problems(&check(&good_but("\"body\"", "\"bodi\"")), 2, &["has no group `bodi`"]);
    problems(&check(&good_but("fix = \"xyz\"", "fix = \"xw\"")), 2, &["`w` is no component"]);
    problems(&check(&good_but("cells = [8, 2, 2]", "cells = [8, 0, 2]")), 2, &["at least one cell"]);
    let bare: String = GOOD.lines().filter(|line| !line.starts_with("young")).map(|line| format!("{line}\n")).collect();
    problems(&check(&bare), 2, &["`young` is missing here"]);
}

#[test]
fn exit_codes_are_those_of_solve() {
    problems(&check(&good_but("cells = [8, 2, 2]", "cells = [20000, 20000, 1000]")), 6, &["out of memory"]);
    let half = "precision = \"mixed_half\"\npreconditioner = \"jacobi\"";
    problems(&check(&good_but("tolerance = 1e-10", half)), 2, &["mixed_half"]);
    let folder = Folder::new();
    folder.run(&["check", "nope.toml"]).refused(2, &["cannot read the case file", "warpfem init MESH"]);
    folder.write("case.toml", GOOD);
    folder.run(&["check", "case.toml", "--device", "gpu"]).refused(2, &["expected auto, cpu"]);
}

#[test]
fn two_problems_of_a_model_are_both_said() {
    let run = check(&good_but("fix = \"xyz\"", "fix = \"x\"").replace("density = 7850.0\n", ""));
    problems(&run, 4, &["gravity needs the density", "the supports leave the body free to move"]);
    assert!(run.err.contains("help: it would be held by `fix = \"xyz\"` on any of: xmin, xmax"), "{}", run.err);
    // What is right is described beside what is wrong.
    assert!(run.out.contains("  support   xmin: 9 nodes, x fixed\n"), "{}", run.out);
}

#[test]
fn misspelt_keys_are_all_found_and_read_as_what_was_meant() {
    let case = good_but("young", "youngs")
        .replace("poisson", "nu")
        .replace("total", "vector")
        .replace("\"xmax\"", "\"xmaxx\"");
    let expected = [
        "case.toml:10:1: unknown key `youngs`",
        "case.toml:11:1: unknown key `nu`",
        "case.toml:23:1: unknown key `vector`",
        "the generated mesh has no group `xmaxx`",
    ];
    let run = check(&case);
    problems(&run, 2, &expected);
    assert!(run.out.contains("E = 2.1e11, nu = 0.3"), "{}", run.out);
    // What cannot be guessed, or be read, ends the check before the mesh.
    let case = good_but("young", "colour")
        .replace("1e-10", "7")
        .replace("\"xyz\"", "7")
        .replace("[0.0, 0.0, -1e3]", "[\"a\"]")
        .replace("\"xmax\"", "\"xmaxx\"");
    let types = ["16:7: this must be a string", "23:10: this must be a number"];
    problems(&check(&case), 2, &["10:1: unknown key `colour`", types[0], types[1], "`tolerance` must lie"]);
    // Brackets are mended for the rest.
    let case = good_but("[[support]]", "[support]").replace("[gravity]", "[[gravity]]").replace("\"xmin\"", "\"xmim\"");
    let brackets = ["14:2: `support` tables form a list", "18:3: there can be only one `gravity`"];
    problems(&check(&case), 2, &[brackets[0], brackets[1], "`xmim`"]);
}

#[test]
fn what_is_wrong_is_not_listed_as_right() {
    let run = check(&good_but("density = 7850.0\n", ""));
    assert!(!run.out.contains("gravity: "), "{}", run.out);
    let run = check(&good_but("[0.0, 0.0, -1e3]", "[0.0, -1e3]"));
    problems(&run, 2, &["case.toml:23:9: this must be three numbers"]);
    assert!(!run.out.contains("force on xmax") && run.out.contains("gravity: "), "{}", run.out);
}

/// `tests/data/mistakes` has those of a case that nothing loads, of tolerances out of reach and of other units.
#[test]
fn a_load_of_zero_beside_another_and_a_long_mesh_are_warned_of() {
    let out = check(&good_but("-1e3", "0.0")).done().words();
    assert!(out.contains("warning: force on xmax is zero") && !out.contains("nothing loads"), "{out}");
    let long = check(&good_but("size = [4.0, 1.0, 1.0]", "size = [80.0, 20.0, 20.0]")).done();
    long.tells(&["warning: units: the longest side of the mesh, 80, is 80 m", "ready:"]);
}

#[test]
fn other_analyses_are_described() {
    let plane = "[mesh]\ngenerate = { kind = \"rectangle\", element = \"quad4\", size = [2.0, 1.0], cells = [4, 2] }\n\
                 [analysis]\nkind = \"plane_stress\"\nthickness = 0.5\n[[material]]\nname = \"steel\"\nyoung = 210e9\n\
                 poisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"x\"\ndisplacement = { y = -1e-3 }\n";
    let words = ["case: plane stress, 0.5 thick, on the generated mesh", "volume 1;", "x fixed, y moved by -0.001"];
    check(plane).done().tells(&[&words[..], &["unknowns 30"]].concat());
    let heat = "[mesh]\ngenerate = { kind = \"annulus\", element = \"tri3\", radii = [1.0, 2.0], cells = [4, 24] }\n\
                [analysis]\nkind = \"laplace\"\n[[material]]\nname = \"steel\"\nconductivity = 50.0\n[[support]]\non = \"inner\"\n\
                value = 20.0\n[source]\nvalue = 3.0\n[solver]\nmethod = \"femses\"\n";
    let words = ["k = 50", "inner: 24 nodes, value 20", "source: ", "no estimate of time for this method"];
    check(heat).done().tells(&[&["a potential"], &words[..]].concat());
}
