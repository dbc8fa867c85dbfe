//! The files a solution leaves: summary, table, picture and report.

use crate::{Folder, GOOD, repository};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The positions of `keys` in `text` ascend.
fn in_order(text: &str, keys: &[&str]) {
    let mut from = 0;
    for key in keys {
        let at = text[from..].find(&format!("\"{key}\":"));
        from += at.unwrap_or_else(|| panic!("{key} is missing or out of order in {text}"));
    }
}

#[test]
fn the_summary_has_the_keys_that_scripts_rely_on() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let summary = folder.summary("out");
    let expected = ["case", "version", "nodes", "elements", "dofs", "device", "results", "warnings", "pictures"];
    let expected = [&expected[..], &["solver", "timings_s"]].concat();
    let solver = ["method", "reason", "format", "ordering", "preconditioner", "precision", "assembly"];
    let solver = [
        &solver[..],
        &["iterations", "spmvs", "relative_residual", "error_estimate", "backward_error", "digits"],
        &["converged", "ending", "history", "parts"],
    ]
    .concat();
    let history = &summary["solver"]["history"];
    let [every, iterations] =
        [&history["every"], &summary["solver"]["iterations"]].map(|number| number.as_u64().unwrap() as usize);
    let residuals = history["relative_residual"].as_array().unwrap();
    assert!(every >= 1 && residuals.len() == iterations / every, "{iterations} iterations: {history}");
    assert!(residuals.iter().all(|residual| residual.as_f64().unwrap() > 0.0), "{history}");
    let timings = ["read", "setup", "assembly", "boundary", "solve", "stress", "write", "total"];
    let results = ["max_displacement", "max_displacement_at", "strain_energy", "reactions", "reaction_sum"];
    let stresses = ["von_mises", "von_mises_nodal", "max_von_mises_away", "max_von_mises_away_rises"];
    let results = [&results[..], &["shared_nodes", "applied", "equilibrium_error"], &stresses].concat();
    let sorted = |keys: &[&'static str]| {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys
    };
    let found = |value: &Value| {
        let mut keys: Vec<String> = keys(value).into_iter().map(str::to_owned).collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(found(&summary), sorted(&expected));
    assert_eq!(found(&summary["solver"]), sorted(&solver));
    assert_eq!(found(&summary["timings_s"]), sorted(&timings));
    assert_eq!(found(&summary["results"]), sorted(&results));
    let over_elements = ["min", "max", "mean", "p99", "max_at", "max_element"];
    assert_eq!(found(&summary["results"]["von_mises"]), sorted(&over_elements));
    assert_eq!(found(&summary["results"]["von_mises_nodal"]), sorted(&["max", "max_at", "max_node"]));
    assert_eq!(summary["version"], env!("CARGO_PKG_VERSION"));
    let text = String::from_utf8(folder.read("out/summary.json")).unwrap();
    in_order(&text, &expected);
    in_order(&text, &solver);
    in_order(&text, &timings);
    in_order(&text, &results);
    in_order(&text, &over_elements);
}

#[test]
fn the_summary_of_a_cantilever_makes_sense() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let summary = folder.summary("out");
    assert_eq!((&summary["case"], &summary["nodes"]), (&"case".into(), &81.into()));
    assert_eq!((&summary["elements"], &summary["dofs"]), (&192.into(), &243.into()));
    assert_eq!(summary["solver"]["converged"], true);
    let results = &summary["results"];
    let (applied, reaction) = (numbers(&results["applied"]), numbers(&results["reactions"]["xmin"]));
    let weight = 7850.0 * 9.81 * 4.0;
    assert!((applied[2] + weight + 1e3).abs() < 1e-6 * weight, "{applied:?}");
    for (load, reaction) in applied.iter().zip(&reaction) {
        assert!((load + reaction).abs() < 1e-6 * weight, "{applied:?} {reaction:?}");
    }
    assert!(results["equilibrium_error"].as_f64().unwrap() < 1e-6);
    let at = numbers(&results["max_displacement_at"]);
    assert!(at[0] == 4.0 && (2.0 * at[1]).fract() == 0.0 && (2.0 * at[2]).fract() == 0.0, "{at:?}");
    let v = |name: &str| results["von_mises"][name].as_f64().unwrap();
    assert!(0.0 < v("min") && v("min") < v("mean") && v("mean") < v("p99") && v("p99") <= v("max"));
    let t = |name: &str| summary["timings_s"][name].as_f64().unwrap();
    let phases = ["read", "setup", "assembly", "boundary", "solve", "stress", "write"];
    let sum: f64 = phases.into_iter().map(t).sum();
    assert!(phases.into_iter().all(|phase| t(phase) >= 0.0) && sum <= 1.001 * t("total"), "{summary}");
}

#[test]
fn supports_without_a_group_are_named_by_position() {
    let folder = Folder::new();
    let held = GOOD.replace("on = \"xmin\"", "box = { min = [0.0, 0.0, 0.0], max = [0.0, 1.0, 1.0] }");
    folder.solve(&format!("{held}\n[[support]]\nnodes = [81]\nfix = \"y\"\n"), &["--quiet"]).done();
    let summary = folder.summary("out");
    assert_eq!(keys(&summary["results"]["reactions"]), ["support[1]", "support[2]"]);
    let second = numbers(&summary["results"]["reactions"]["support[2]"]);
    assert!(second[0] == 0.0 && second[1] != 0.0 && second[2] == 0.0, "{second:?}");
}

/// The whole end, and one of its edges once more: its nodes' reactions are in both.
#[test]
fn nodes_of_several_supports_count_once_in_sums() {
    let folder = Folder::new();
    let edge = "[[support]]\nbox = { min = [0.0, 0.0, 0.0], max = [0.0, 1.0, 0.0] }\nfix = \"xyz\"\n";
    let run = folder.solve(&format!("{GOOD}\n{edge}"), &["--verbose"]).done();
    let results = &folder.summary("out")["results"];
    let (applied, sum) = (numbers(&results["applied"]), numbers(&results["reaction_sum"]));
    let all = ["xmin", "support[2]"].map(|name| numbers(&results["reactions"][name])[2]);
    assert!((applied[2] + sum[2]).abs() < 1e-6 * applied[2].abs(), "{results}");
    assert!((applied[2] + all[0]).abs() < 1e-6 * applied[2].abs() && all[1] != 0.0, "{results}");
    assert_eq!(results["shared_nodes"], 3);
    let said = "3 nodes are in several supports, counted once here";
    assert!(run.out.contains("  all reactions (") && run.words().contains(said), "{}", run.out);
    let page = String::from_utf8(folder.read("out/case.html")).unwrap();
    assert!(page.contains(said) && page.contains("<th>loads + reactions</th><td>0</td><td>0</td><td>0</td>"));
    // Without the edge nothing is said of it.
    let run = folder.solve(GOOD, &[]).done();
    assert!(!run.out.contains("all reactions") && folder.summary("out")["results"]["shared_nodes"] == 0);
}

#[test]
fn the_tables_have_a_line_per_node_and_per_element() {
    let folder = Folder::new();
    let case = repository("meshes/cube_463.toml");
    folder.run(&["solve", &case, "-o", "out", "--device", "cpu", "--quiet"]).done();
    let summary = folder.summary("out");
    let table = |name: &str, header: &str| -> Vec<Vec<f64>> {
        let text = String::from_utf8(folder.read(&format!("out/cube_463_{name}.csv"))).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(header));
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
    };
    let stress = "stress_xx,stress_yy,stress_zz,stress_xy,stress_yz,stress_xz,von_mises";
    let elements = table("elements", &format!("element,x,y,z,{stress}"));
    let nodes = table("nodes", &format!("node,x,y,z,displacement_x,displacement_y,displacement_z,{stress}"));
    assert_eq!((&summary["elements"], &summary["nodes"]), (&elements.len().into(), &nodes.len().into()));
    for (rows, key) in [(&elements, "von_mises"), (&nodes, "von_mises_nodal")] {
        let largest = rows.iter().map(|row| row[row.len() - 1]).fold(0.0, f64::max);
        assert_eq!(summary["results"][key]["max"].as_f64().unwrap() as f32, largest as f32);
    }
    // The tags are the mesh file's, in which triangles come first.
    assert_eq!(elements[0][0], 643.0);
}

#[test]
fn the_picture_shows_something() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let file = folder.read("out/case.png");
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.width, 1600);
    assert!(info.height > 400);
    let samples = info.color_type.samples();
    let mut colours: Vec<&[u8]> = pixels[..info.buffer_size()].chunks_exact(samples).collect();
    let background = colours[0];
    assert!(colours.iter().filter(|&&colour| colour != background).count() > colours.len() / 50);
    colours.sort_unstable();
    colours.dedup();
    assert!(colours.len() > 50, "{} colours", colours.len());
}

#[test]
fn the_report_has_the_case_its_loads_and_its_reactions() {
    let folder = Folder::new();
    let case = GOOD.replace("\n[gravity]", "\n# <b>&\n[gravity]");
    folder.solve(&case, &["--quiet"]).done();
    let page = String::from_utf8(folder.read("out/case.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 1_000_000, "{} bytes", page.len());
    for text in ["<th>gravity</th>", "<th>force on xmax</th>", "<th>reaction of xmin</th>", "Converged"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        page.contains(&case.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"))
    );
}
