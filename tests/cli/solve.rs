//! Solutions through the program: what flags change, how it ends, what it says.

use crate::{FILES, Folder, GOOD, Run, good_but};

#[test]
fn results_go_to_the_case_s_folder_if_none_is_given() {
    let folder = Folder::new();
    folder.write("beam.toml", GOOD);
    let run = folder.run(&["solve", "beam.toml", "--device", "cpu"]).done();
    assert_eq!(folder.names("results"), ["beam"]);
    assert_eq!(folder.names("results/beam"), FILES.map(|name| name.replace("case", "beam")));
    assert!(run.out.starts_with("beam: 81 nodes, 192 elements on cpu ("), "{}", run.out);
    run.says(&["reaction of xmin", "largest displacement", "von Mises stress"]);
    run.says(&["report: results/beam/beam.html; VTU"]);
}

#[test]
fn the_mesh_is_looked_for_beside_the_case() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.run(&["mesh", "box", "--cells", "2", "2", "2", "-o", "sub/cube.msh"]).done();
    let generate = GOOD.lines().nth(1).unwrap();
    folder.write("sub/cube.toml", &GOOD.replace(generate, "file = \"cube.msh\""));
    folder.run(&["solve", "sub/cube.toml", "-o", "out", "--device", "cpu", "--quiet"]).done();
    assert_eq!(folder.summary("out")["nodes"], 27);
}

#[test]
fn flags_take_precedence_over_the_file() {
    let folder = Folder::new();
    let strict = folder.solve(GOOD, &["--quiet"]).done();
    assert_eq!(strict.out, "");
    let file = folder.summary("out");
    let flags = ["--quiet", "--tolerance", "1e-3", "--precision", "single", "--preconditioner", "none"];
    let more = ["--format", "ebw", "--assembly", "row_owner", "--method", "cg", "--threads", "1"];
    folder.solve(GOOD, &[&flags[..], &more].concat()).done();
    let solver = &folder.summary("out")["solver"];
    assert_eq!(file["solver"]["precision"], "double");
    assert_eq!(file["solver"]["preconditioner"], "jacobi");
    assert_eq!(solver["precision"], "single");
    assert_eq!(solver["preconditioner"], "none");
    let residual = solver["relative_residual"].as_f64().unwrap();
    assert!(residual <= 1e-3 && residual > 1e-10, "{residual}");
    assert!(file["solver"]["relative_residual"].as_f64().unwrap() <= 1e-10);
    assert!(folder.summary("out")["device"].as_str().unwrap().starts_with("cpu (1 thread"));
}

#[test]
fn polynomials_have_an_order() {
    let folder = Folder::new();
    folder.solve(GOOD, &[]).done();
    let jacobi = folder.number("out", "/solver/iterations") as u64;
    assert!(folder.summary("out")["solver"].get("order").is_none());
    let case = good_but("tolerance = 1e-10", "tolerance = 1e-10\npreconditioner = \"least_squares\"\norder = 3");
    for (flags, order) in [(&[][..], 3), (&["--order", "9"], 9)] {
        let run = folder.solve(&case, &[flags, &["--verbose"]].concat()).done();
        run.tells(&[&format!("(least_squares of order {order}, ebw, double)")]);
        let solver = &folder.summary("out")["solver"];
        assert_eq!((&solver["preconditioner"], &solver["order"]), (&"least_squares".into(), &order.into()));
        let [iterations, spmvs] = ["iterations", "spmvs"].map(|key| solver[key].as_u64().unwrap());
        assert!(iterations < jacobi, "{solver}");
        // A product to start with and one for each look closely; each with a preconditioner.
        assert!(spmvs >= (iterations + 2) * (order + 1) && spmvs <= (iterations + 6) * (order + 1), "{solver}");
    }
}

#[test]
fn orderings_and_strategies_are_chosen_by_name_and_change_no_result() {
    let folder = Folder::new();
    let bricks = good_but("element = \"tet4\"", "element = \"hex8\"");
    let solved = |case: &str, device: &str| {
        folder.write("case.toml", case);
        folder.run(&["solve", "case.toml", "-o", "out", "--device", device]).done();
        folder.summary("out")
    };
    let [auto, of_bricks] = [GOOD, &bricks].map(|case| solved(case, "cpu"));
    assert_eq!((&auto["solver"]["ordering"], &of_bricks["solver"]["assembly"]), (&"mesh".into(), &"row_owner".into()));
    let check = |what: &str, name: &str, same: &serde_json::Value, summary: serde_json::Value| {
        assert_eq!(summary["solver"][what], name);
        // Two corners move as far: which is named is a matter of rounding.
        for key in ["max_displacement", "strain_energy"] {
            let [a, b] = [same, &summary].map(|summary| summary["results"][key].as_f64().unwrap());
            assert!((a - b).abs() < 1e-9 * a, "{name}, {key}: {a} and {b}");
        }
    };
    let with = |case: &str, line: &str| case.replacen("tolerance = 1e-10", &format!("tolerance = 1e-10\n{line}"), 1);
    for name in warpfem::result::choices::Ordering::names() {
        check("ordering", name, &auto, solved(&with(GOOD, &format!("ordering = \"{name}\"")), "cpu"));
        folder.solve(GOOD, &["--ordering", name]).done();
        check("ordering", name, &auto, folder.summary("out"));
    }
    for (name, device) in [("by_element", "cpu"), ("atomic", "cpu"), ("ppni4", "emulate"), ("two_kernels", "emulate")] {
        check("assembly", name, &of_bricks, solved(&with(&bricks, &format!("assembly = \"{name}\"")), device));
    }
}

#[test]
fn not_converged_is_said_everywhere_and_the_results_are_written() {
    let folder = Folder::new();
    let run = folder.solve(GOOD, &["--max-iterations", "5"]);
    assert_eq!(run.code, Some(5));
    let limit = " after 5 iterations, the tolerance 1e-10; that is the limit of iterations\n";
    assert!(run.err.starts_with("error: not converged: the estimated error is "), "{}", run.err);
    assert!(run.err.contains(limit) && run.err.contains("--max-iterations"), "{}", run.err);
    run.says(&["  NOT CONVERGED: estimated error of "]);
    // The last iterate is written, and marked.
    assert_eq!(folder.names("out"), FILES);
    assert!(folder.number("out", "/results/max_displacement") > 0.0, "{}", run.out);
    let solver = &folder.summary("out")["solver"];
    assert_eq!((&solver["converged"], &solver["iterations"]), (&false.into(), &5.into()));
    let mark = "Name=\"converged\" NumberOfTuples=\"1\" format=\"ascii\">0<";
    assert!(folder.text("out/case.vtu").contains(mark));
    let quiet = folder.solve(GOOD, &["--max-iterations", "5", "--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (Some(5), ""));
    assert!(quiet.err.contains("not converged"));
    folder.solve(GOOD, &["--max-iterations", "80"]).says(&["not converged after 80 iterations"]);
    assert_eq!(folder.names("out"), FILES);
    assert!(folder.text("out/case.html").contains(">NOT CONVERGED</div>"));
}

/// Reactions are results too, where nothing can move.
#[test]
fn a_load_on_what_is_held_is_held() {
    let folder = Folder::new();
    let without_gravity = GOOD.replace("[gravity]\nacceleration = [0.0, 0.0, -9.81]\n", "");
    let run = folder.solve(&without_gravity.replace("\"xmax\"", "\"xmin\""), &[]).done();
    run.says(&["0 everywhere, so there is no picture\n", "  loads (0, 0, -1000); "]);
    run.says(&["  reaction of xmin (0, 0, 1000)\n"]);
}

#[test]
fn displacements_that_are_not_small_are_warned_of() {
    let folder = Folder::new();
    assert_eq!(folder.solve(GOOD, &[]).done().out.matches("linear theory").count(), 0);
    let run = folder.solve(&good_but("young = 210e9", "young = 210e5"), &[]).done();
    let largest = folder.number("out", "/results/max_displacement");
    let warning = format!("the largest displacement is {:.0} % of the body's size (", 25.0 * largest);
    run.tells(&[&warning]);
    assert!(folder.summary("out")["warnings"].to_string().contains(&warning));
}

#[test]
fn a_tolerance_that_rounding_does_not_allow() {
    let folder = Folder::new();
    // An answer as good as rounding allows is one, and its digits are said.
    let run = folder.solve(GOOD, &["--method", "cg", "--tolerance", "1e-18"]).done();
    run.tells(&["warning: a tolerance of 1e-18 is more than double precision allows"]);
    run.says(&["warning: rounding allows about 1"]);
    assert_eq!(folder.summary("out")["solver"]["ending"], "stagnated");
    let run = folder.solve(GOOD, &["--method", "cg", "--residual-tolerance", "1e-18"]);
    assert_eq!(run.code, Some(5));
    run.tells(&["warning: a residual tolerance of 1e-18 is more than double"]);
    for words in ["the relative residual is ", ", the tolerance 1e-18; ", "rounding allows no residual below "] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    assert!(!run.err.contains("--precision"), "it is double already: {}", run.err);
    // What is said to be met is met.
    folder.solve(GOOD, &["--method", "cg", "--residual-tolerance", said_to_be_met(&run)]).done();
}

/// The residual that an error says would be met.
fn said_to_be_met(run: &Run) -> &str {
    run.err.split("`--residual-tolerance ").nth(1).and_then(|rest| rest.split('`').next()).unwrap()
}

/// Rounding keeps a slender cantilever's residual above 1e-10 with Jacobi, and above 1e-13 with every method.
#[test]
fn a_cantilever_meets_the_residual_that_is_said_to_be_met() {
    let folder = Folder::new();
    let size = "size = [64.0, 8.0, 8.0], cells = [64, 8, 8]";
    // Its own weight alone bends it so far that the rounding of displacements leaves a residual of 2e-10.
    let beam = good_but("size = [4.0, 1.0, 1.0], cells = [8, 2, 2]", size).replace("-9.81", "0.0");
    folder.solve(&beam, &["--residual-tolerance", "1e-10"]).done();
    for method in [&["--preconditioner", "jacobi"][..], &["--preconditioner", "amg"], &["--method", "direct"]] {
        let solve = |tolerance| folder.solve(&beam, &[method, &["--residual-tolerance", tolerance]].concat());
        let run = solve("1e-13");
        assert_eq!(run.code, Some(5), "{run:?}");
        // The digits of a direct solution are not known where only its residual was asked for.
        assert_eq!(run.err.contains(" digits"), method[1] != "direct", "{}", run.err);
        solve(said_to_be_met(&run)).done();
    }
}

/// A cantilever 3,000 times as long as thick: rounding of its matrix alone moves its end by 3 %.
#[test]
fn rounding_of_the_matrix_does_not_bend_slender_bodies() {
    let folder = Folder::new();
    let case = "[mesh]\ngenerate = { kind = \"box\", element = \"hex20\", size = [3000.0, 1.0, 1.0], cells = [1000, 1, 1] }\n\
                [[material]]\nname = \"m\"\nyoung = 210e3\npoisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n\
                [[force]]\non = \"xmax\"\ntotal = [0.0, 0.0, -1e-3]\n";
    folder.solve(case, &[]).done();
    let theory = 1e-3 * 3000f64.powi(3) / (3.0 * 210e3 / 12.0);
    let deflection = folder.number("out", "/results/max_displacement");
    assert!((deflection / theory - 1.0).abs() < 1e-3, "{deflection} {theory}");
    assert!(folder.number("out", "/solver/error_estimate") <= 1e-6);
}

#[test]
fn single_precision_that_comes_to_its_end_says_so() {
    let folder = Folder::new();
    let run = folder.solve(GOOD, &["--precision", "single", "--residual-tolerance", "1e-10"]);
    assert_eq!(run.code, Some(5));
    let warning = "more than single precision allows";
    assert!(run.words().contains(warning) && !run.words().contains("single precision reached"), "{}", run.out);
    assert!(folder.summary("out")["warnings"].to_string().contains(warning));
    for precision in ["mixed", "mixed_half"] {
        folder.solve(GOOD, &["--precision", precision, "--residual-tolerance", "1e-10"]).done();
        let solver = &folder.summary("out")["solver"];
        assert_eq!((&solver["precision"], &solver["preconditioner"]), (&precision.into(), &"chebyshev".into()));
        assert!(solver["relative_residual"].as_f64().unwrap() <= 1e-10, "{solver}");
    }
    folder.solve(GOOD, &["--precision", "mixed_half", "--preconditioner", "jacobi"]).refused(2, &["`mixed_half`"]);
    assert!(run.err.contains("use `--precision double` or `mixed`, or a larger `--tolerance`"), "{}", run.err);
}

#[test]
fn two_runs_leave_the_same_bytes() {
    let folder = Folder::new();
    folder.solve(GOOD, &[]).done();
    let files = || ["out/case.vtu", "out/case_nodes.csv", "out/case.png"].map(|name| folder.read(name));
    let first = files();
    folder.solve(GOOD, &[]).done();
    assert!(first == files());
}

#[test]
fn fields_are_those_asked_for() {
    let folder = Folder::new();
    folder.solve(&format!("{GOOD}\n[output]\nfields = [\"von_mises\"]\n"), &[]).done();
    let vtu = folder.text("out/case.vtu");
    assert!(vtu.contains("Name=\"von_mises\"") && !vtu.contains("Name=\"displacement\""));
    let run = folder.solve(&format!("{GOOD}\n[output]\nfields = [\"von_mises\", \"stain\"]\n"), &[]);
    let fields = "displacement, reaction_force, von_mises, stress, von_mises_nodal";
    run.refused(2, &["case.toml:30:24", "`stain`", fields]);
}

#[test]
fn what_was_chosen_is_said_with_its_reason() {
    let folder = Folder::new();
    let case = good_but("method = \"cg\"", "method = \"auto\"");
    let out = folder.solve(&case, &["--verbose"]).done().out;
    let solver = folder.summary("out")["solver"].clone();
    assert_eq!((&solver["method"], &solver["preconditioner"]), (&"direct".into(), &"none".into()));
    assert_eq!((&solver["reason"], &solver["converged"]), (&"direct: a small model".into(), &true.into()));
    assert!(solver["relative_residual"].as_f64() < Some(1e-12) && solver["factor_nonzeros"].as_u64() > Some(0));
    folder.solve(&case, &["--method", "direct", "--precision", "mixed_half"]).refused(2, &["mixed_half"]);
    assert!(out.contains("  direct factorisation (") && out.contains("\n  direct: a small model\n"), "{out}");
    folder.write("case.toml", &case);
    let out = folder.run(&["check", "case.toml", "--device", "cpu"]).done().out;
    assert!(out.contains("  solver    direct: a small model\n") && out.contains(" for the factor of "), "{out}");
    // What is named is taken, and needs no reason.
    let out = folder.solve(&case, &["--preconditioner", "jacobi", "--verbose"]).done().out;
    assert!(out.contains(" iterations of cg (jacobi, ") && !out.contains("as asked for"), "{out}");
    assert_eq!(folder.summary("out")["solver"]["reason"], "jacobi: as asked for");
}

#[test]
fn several_devices_solve_a_case_together() {
    let folder = Folder::new();
    let [alone, three] = ["1", "3"].map(|n| {
        folder.solve(GOOD, &["--quiet", "--devices", n, "--tolerance", "1e-9"]).done();
        folder.summary("out")
    });
    let largest = |of: &serde_json::Value| of["results"]["max_displacement"].as_f64().unwrap();
    assert!((largest(&three) / largest(&alone) - 1.0).abs() < 1e-6);
    assert!(three["device"].as_str().unwrap().starts_with("3 x cpu"), "{}", three["device"]);
    let ranks = three["solver"]["ranks"].as_array().unwrap();
    let sum = |key: &str| ranks.iter().map(|rank| rank[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((ranks.len(), sum("nodes")), (3, 81));
    assert!(sum("ghosts") > 0 && sum("messages") > 0 && sum("bytes") > 0, "{ranks:?}");
    folder.solve(GOOD, &["--devices", "2", "--method", "direct"]).refused(2, &["devices", "must be `cg`"]);
    folder.solve(GOOD, &["--devices", "0"]).refused(2, &["--devices"]);
}
