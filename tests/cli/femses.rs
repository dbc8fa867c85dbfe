//! `--method femses` through the program.

use crate::{Folder, GOOD};

/// Heat through a plate, from 1 on the right to 0 on the left.
const PLATE: &str = r#"[mesh]
generate = { kind = "rectangle", element = "tri3", size = [1.0, 1.0], cells = [16, 16] }

[analysis]
kind = "laplace"

[[material]]
name = "steel"
conductivity = 50.0

[[support]]
on = "xmin"
value = 0.0

[[support]]
on = "xmax"
value = 1.0

[solver]
method = "femses"
residual_tolerance = 1e-8
"#;

#[test]
fn every_acceleration_solves_a_plate() {
    let folder = Folder::new();
    let mut iterations = Vec::new();
    for acceleration in ["none", "chebyshev", "cg"] {
        let run = folder.solve(PLATE, &["--acceleration", acceleration, "--verbose"]).done();
        run.says(&[&format!(" iterations of femses ({acceleration}")]);
        let summary = folder.summary("out");
        let solver = &summary["solver"];
        assert_eq!(solver["method"], "femses");
        assert_eq!(solver["preconditioner"], acceleration);
        assert_eq!((&solver["format"], &solver["assembly"]), (&"element".into(), &"none".into()));
        assert_eq!(solver.get("order").is_some(), acceleration == "cg", "{solver}");
        assert!(solver["relative_residual"].as_f64().unwrap() <= 1e-8, "{solver}");
        iterations.push(solver["iterations"].as_u64().unwrap());
        let results = &summary["results"];
        assert_eq!((results["min"].as_f64(), results["max"].as_f64()), (Some(0.0), Some(1.0)));
        assert!(results["equilibrium_error"].as_f64().unwrap() < 1e-6, "{results}");
    }
    assert!(iterations[0] > 2 * iterations[1] && iterations[1] > iterations[2], "{iterations:?}");
    let file = PLATE.replace("method = \"femses\"", "method = \"femses\"\nacceleration = \"chebyshev\"");
    folder.solve(&file, &[]).done();
    assert_eq!(folder.summary("out")["solver"]["preconditioner"], "chebyshev");
}

#[test]
fn single_precision_says_how_far_it_came() {
    let folder = Folder::new();
    folder.solve(PLATE, &["--precision", "single", "--residual-tolerance", "1e-4"]).done();
    assert_eq!(folder.summary("out")["solver"]["precision"], "single");
    folder
        .solve(PLATE, &["--quiet", "--precision", "single", "--residual-tolerance", "1e-12"])
        .refused(5, &["not converged", "rounding"]);
    assert_eq!(folder.summary("out")["solver"]["ending"], "stagnated");
    folder.solve(PLATE, &["--quiet", "--max-iterations", "3"]).refused(5, &["after 3 iterations"]);
}

#[test]
fn what_femses_is_not_for_is_refused() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--method", "femses"]).refused(2, &["method of elasticity `femses` is not available", "cg"]);
    let refusals = [
        (["--precision", "mixed"], "precision with method `femses`"),
        (["--format", "csr"], "format with method `femses`"),
        (["--assembly", "atomic"], "assembly with method `femses`"),
        (["--preconditioner", "jacobi"], "preconditioner with method `femses`"),
    ];
    for (flags, words) in refusals {
        folder.solve(PLATE, &flags).refused(2, &[words, flags[1]]);
    }
    folder
        .solve(PLATE, &["--method", "cg", "--acceleration", "cg"])
        .refused(2, &["acceleration without method `femses`"]);
    let slip = PLATE.replace("method = \"femses\"", "method = \"femses\"\nacceleration = \"chebishev\"");
    folder.solve(&slip, &[]).refused(2, &["there is no acceleration `chebishev`", "did you mean `chebyshev`"]);
}
