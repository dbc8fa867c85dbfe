//! The files a solution leaves: summary and tables. Pictures, reports and VTU have tests of their own in
//! `host/src/output`.

use crate::{Folder, GOOD, repository};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// An object of the summary has these keys, in this order and no others.
#[track_caller]
fn has_keys(text: &str, object: &Value, expected: &[&str]) {
    let [mut found, mut sorted] = [keys(object), expected.to_vec()];
    found.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    let mut from = 0;
    for key in expected {
        let at = text[from..].find(&format!("\"{key}\":"));
        from += at.unwrap_or_else(|| panic!("{key} is missing or out of order in {text}"));
    }
}

#[test]
fn the_summary_has_the_keys_that_scripts_rely_on() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let (summary, text) = (folder.summary("out"), folder.text("out/summary.json"));
    let words = |words: &'static str| words.split(' ').collect::<Vec<_>>();
    let whole = "case version nodes elements dofs device mass results warnings pictures solver timings_s";
    has_keys(&text, &summary, &words(whole));
    let solver = "study method reason operator format ordering preconditioner precision assembly iterations spmvs relative_residual \
                  error_estimate backward_error digits converged ending history parts";
    has_keys(&text, &summary["solver"], &words(solver));
    let timings = "read setup assembly boundary solve stress write total";
    has_keys(&text, &summary["timings_s"], &words(timings));
    let results = "max_displacement max_displacement_at strain_energy reactions reaction_sum shared_nodes applied \
                   equilibrium_error von_mises von_mises_nodal max_von_mises_away max_von_mises_away_rises reaction_moments";
    has_keys(&text, &summary["results"], &words(results));
    has_keys(&text, &summary["results"]["von_mises"], &words("min max mean p99 max_at max_element"));
    assert_eq!(keys(&summary["results"]["von_mises_nodal"]), ["max", "max_at", "max_node"]);
    assert_eq!(summary["version"], env!("CARGO_PKG_VERSION"));
    let history = &summary["solver"]["history"];
    let [every, iterations] =
        [&history["every"], &summary["solver"]["iterations"]].map(|number| number.as_u64().unwrap() as usize);
    let residuals = history["relative_residual"].as_array().unwrap();
    assert!(every >= 1 && residuals.len() == iterations / every, "{iterations} iterations: {history}");
    assert!(residuals.iter().all(|residual| residual.as_f64().unwrap() > 0.0), "{history}");
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
    run.tells(&[" all reactions (", said]);
    let page = folder.text("out/case.html");
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
        let text = folder.text(&format!("out/cube_463_{name}.csv"));
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
