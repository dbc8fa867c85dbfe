//! Potentials through the program: results, what the files hold, and mistakes in cases.

use crate::bad_case::refused;
use crate::{FILES, Folder, repository};

const RING: &str = r#"[mesh]
generate = { kind = "annulus", element = "quad4", radii = [1.0, 2.0], cells = [4, 32] }

[analysis]
kind = "laplace"
thickness = 0.5

[[material]]
name = "steel"
conductivity = 50.0

[[support]]
on = "inner"
value = 1.0

[[flux]]
on = "outer"
value = -2.0
"#;

fn but(from: &str, to: &str) -> String {
    assert!(RING.contains(from), "{from}");
    RING.replacen(from, to, 1)
}

#[test]
fn a_ring_is_solved_and_written() {
    let folder = Folder::new();
    let run = folder.solve(RING, &["--tolerance", "1e-12"]).done();
    assert!(run.out.starts_with("case: 160 nodes, 128 elements on cpu"), "{}", run.out);
    run.says(&["  potential ", "  largest gradient ", "  flow from fluxes and sources "]);
    run.says(&["  flow in at inner ", "; balance error "]);
    assert!(!run.out.contains("displacement") && !run.out.contains("reaction"), "{}", run.out);
    assert_eq!(folder.names("out"), FILES);
    let summary = folder.summary("out");
    assert_eq!((&summary["dofs"], &summary["warnings"]), (&160.into(), &serde_json::json!([])));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let results = &summary["results"];
    // What flows out leaves through a polygon of 32 edges round radius 2, of thickness 0.5.
    let flow = 2.0 * 0.5 * 32.0 * 4.0 * (std::f64::consts::PI / 32.0).sin();
    assert!((number(&results["applied"]) / -flow - 1.0).abs() < 1e-12, "{results}");
    assert!((number(&results["flows"]["inner"]) / flow - 1.0).abs() < 1e-9, "{results}");
    assert!(number(&results["equilibrium_error"]) < 1e-9);
    // u = 1 - 2 r_2 ln(r) / k.
    let lowest = 1.0 - 4.0 / 50.0 * std::f64::consts::LN_2;
    assert!((number(&results["min"]) - lowest).abs() < 1e-3 && number(&results["max"]) == 1.0, "{results}");
    let at = |key: &str| [0, 1].map(|c| number(&results[key][c]));
    assert!((at("min_at")[0].hypot(at("min_at")[1]) - 2.0).abs() < 1e-12, "{results}");
    assert!((at("max_at")[0].hypot(at("max_at")[1]) - 1.0).abs() < 1e-12, "{results}");
    assert!(results.get("von_mises").is_none() && results.get("reactions").is_none(), "{results}");
    let csv = folder.text("out/case_elements.csv");
    let head = "element,x,y,z,gradient_x,gradient_y,gradient_z\n1,";
    assert!(csv.starts_with(head) && csv.lines().count() == 129, "{csv}");
    let cells = |line: &str| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let steepest = csv.lines().skip(1).map(|line| cells(line)[4].hypot(cells(line)[5])).fold(0.0, f64::max);
    assert!((steepest / number(&results["gradient"]["max"]) - 1.0).abs() < 1e-6);
    let csv = folder.text("out/case_nodes.csv");
    assert!(csv.starts_with("node,x,y,z,potential,gradient_x,gradient_y,gradient_z\n1,"), "{csv}");
    let vtu = folder.text("out/case.vtu");
    for tag in ["Name=\"potential\" format", "Name=\"gradient\" NumberOfComponents=\"3\"", "Name=\"material\""] {
        assert!(vtu.contains(tag), "{tag}");
    }
    assert!(!vtu.contains("displacement") && !vtu.contains("stress"));
}

#[test]
fn the_cases_in_meshes_are_solved() {
    let flow = |case: &str| {
        let folder = Folder::new();
        folder.run(&["solve", &repository(case), "-o", "out", "--device", "cpu"]).done();
        folder.number("out", "/results/flows/inner")
    };
    let exact = 2.0 * std::f64::consts::PI * 50.0 / std::f64::consts::LN_2;
    for case in ["meshes/annulus.toml", "meshes/ring.toml"] {
        let found = flow(case).abs();
        assert!((found / exact - 1.0).abs() < 4e-3, "{case}: {found} against {exact}");
    }
}

#[test]
fn a_ring_from_the_command_line_is_the_case_s() {
    let folder = Folder::new();
    let ring = ["mesh", "annulus", "--element", "tri3", "--radii", "1", "2", "--cells", "4", "32", "-o", "ring.msh"];
    folder.run(&ring).done().says(&["wrote ring.msh: 160 nodes, 256 elements"]);
    let highest = |case: &str| {
        folder.solve(case, &["--tolerance", "1e-12"]).done();
        folder.number("out", "/results/gradient/max")
    };
    let generate = "generate = { kind = \"annulus\", element = \"quad4\", radii = [1.0, 2.0], cells = [4, 32] }";
    let (read, made) = (but(generate, "file = \"ring.msh\""), but("quad4", "tri3"));
    assert!((highest(&read) - highest(&made)).abs() < 1e-10);
    folder.run(&["mesh", "annulus", "--radii", "2", "1", "-o", "no.msh"]).refused(3, &["0 < inner < outer"]);
    let rectangle = ["mesh", "rectangle", "--element", "tri3", "--diagonals", "down", "-o", "cut.msh"];
    folder.run(&rectangle).done();
}

/// The library's tests have the other mistakes (`host/src/model/laplace_tests.rs`).
#[test]
fn mistakes_in_cases_of_potentials() {
    let free = but("[[support]]\non = \"inner\"\nvalue = 1.0\n", "");
    let part = "part 1 (160 nodes, from (-2, -2) to (2, 2)) has no fixed value";
    refused(&free, 4, &["the potential is fixed nowhere", part, "`value` on any of: inner, outer"]);
    refused(&but("value = 1.0", "value = nan"), 2, &["case.toml:14:9: `value` must be finite"]);
}
