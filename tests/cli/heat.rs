//! Heat through the program: results of times, an interrupted run, and mistakes in cases.

use crate::Folder;
use crate::bad_case::refused;

const BAR: &str = r#"[mesh]
generate = { kind = "rectangle", element = "quad8", size = [0.1, 0.02], cells = [5, 1] }

[analysis]
kind = "heat"
study = "transient"

[[material]]
name = "steel"
conductivity = 50.0
density = 7850.0
specific_heat = 480.0

[[support]]
on = "xmin"
value = 100.0
amplitude = [[0.0, 0.0], [60.0, 1.0]]

[[convection]]
on = "xmax"
coefficient = 25.0
ambient = 20.0

[[flux]]
on = "ymax"
value = 10.0

[time]
end = 100.0
step = 5.0
initial = 20.0
outputs = 2

[output]
probes = [{ name = "tip", at = [0.1, 0.01] }]
"#;

fn but(from: &str, to: &str) -> String {
    assert!(BAR.contains(from), "{from}");
    BAR.replacen(from, to, 1)
}

#[test]
fn times_are_steps_and_probes_have_a_history() {
    let folder = Folder::new();
    let run = folder.solve(BAR, &[]).done();
    run.says(&["time 50 ", "time 100 ", "temperature", "case: 2 times, solved"]);
    let summary = folder.summary("out");
    let steps = summary["steps"].as_array().unwrap();
    assert_eq!(steps.iter().map(|step| step["time"].as_f64().unwrap()).collect::<Vec<_>>(), [50.0, 100.0]);
    let results = &steps[1]["results"];
    for key in ["min", "max", "flows", "heat_flux", "heat_flux_nodal", "heat_stored"] {
        assert!(!results[key].is_null(), "{key}: {results}");
    }
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let stored = number(&results["applied"]) + number(&results["flow_sum"]);
    assert!((stored / number(&results["heat_stored"]["body"]) - 1.0).abs() < 1e-6, "{results}");
    let history = folder.text("out/case_history.csv");
    assert!(history.starts_with("time,tip temperature\n0,20.0\n5,") && history.lines().count() == 22, "{history}");
    let last: f64 = history.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((last - number(&steps[1]["probes"][0]["temperature"])).abs() < 1e-9, "{last}");
    assert!(folder.text("out/case.pvd").contains("timestep=\"100\""));
    let report = folder.text("out/case.html");
    assert!(report.contains("id=\"step\"") && report.contains("temperature over time"), "no slider or no plot");
    let again = folder.solve(&but("step = 5.0", "tolerance = 0.5"), &[]).done();
    again.says(&["case: 2 times, solved"]);
}

#[test]
fn mistakes_in_heat_cases() {
    let elastic = "name = \"steel\"\nyoung = 210e9\npoisson = 0.3\nexpansion = 1e-5\n";
    let cases: [(String, i32, &[&str]); 26] = [
        (but("conductivity = 50.0\n", ""), 2, &["case.toml:8:", "`conductivity` is missing here: heat needs it"]),
        (but("conductivity = 50.0", "conductivity = -50.0"), 2, &["`conductivity` must be greater than 0"]),
        (but("conductivity = 50.0", "conductivity = [1.0, 2.0, 3.0, 4.0]"), 2, &["has one number or three"]),
        (but("density = 7850.0\n", ""), 4, &["a transient study needs the density of material `steel`"]),
        (but("specific_heat = 480.0\n", ""), 4, &["needs the `specific_heat` of material `steel`", "480.0"]),
        (but("specific_heat = 480.0", "specific_heat = 0.0"), 2, &["`specific_heat` must be greater than 0"]),
        (but("ambient = 20.0\n", ""), 2, &["case.toml:19:", "`ambient`"]),
        (but("coefficient = 25.0\n", ""), 2, &["`coefficient`"]),
        (
            but("coefficient = 25.0", "coefficient = -25.0"),
            2,
            &["case.toml:21:15: `coefficient` must be greater than 0"],
        ),
        (but("ambient = 20.0", "ambient = nan"), 2, &["`ambient` must be finite"]),
        (but("on = \"xmax\"", "on = \"nowhere\""), 2, &["has no group `nowhere`"]),
        (but("step = 5.0", "step = 0.0"), 2, &["case.toml:30:8: `step` must be greater than 0"]),
        (but("step = 5.0", "step = 500.0"), 2, &["`step` is longer than the whole time"]),
        (but("step = 5.0\n", ""), 2, &["[time] has exactly one of `step`, `tolerance`"]),
        (but("step = 5.0", "step = 5.0\ntolerance = 0.1"), 2, &["[time] has exactly one of"]),
        (but("end = 100.0", "end = -1.0"), 2, &["`end` must be greater than 0"]),
        (but("initial = 20.0\n", ""), 2, &["`initial` is missing here"]),
        (but("outputs = 2", "outputs = 0"), 2, &["`outputs` must be from 1 to"]),
        (but("outputs = 2", "times = [10.0, 200.0]"), 2, &["`times` ascend", "not later than `end`"]),
        (but("outputs = 2", "scheme = \"euler\""), 2, &["scheme `euler`", "backward_euler"]),
        (
            but("study = \"transient\"\n", ""),
            2,
            &["`amplitude` is of loads that change in time", "study = \"transient\""],
        ),
        (
            but("kind = \"heat\"", "kind = \"laplace\""),
            2,
            &["a transient study is of heat, and this is a case of laplace"],
        ),
        (but("[60.0, 1.0]", "[0.0, 1.0]"), 2, &["`amplitude` is a list of [time, factor], by ascending times"]),
        (
            but("[[flux]]\non = \"ymax\"", "[[support]]\non = \"ymin\"\nvalue = 100.0\n[[flux]]\non = \"ymax\""),
            2,
            &["supports `xmin` and `ymin` share nodes, and change differently in time"],
        ),
        (but("[time]", "[[load_case]]\nname = \"a\"\nfactors = {}\n[time]"), 2, &["has no [[load_case]]"]),
        (
            but(
                "kind = \"rectangle\", element = \"quad8\", size = [0.1, 0.02], cells = [5, 1]",
                "kind = \"annulus\", element = \"quad8\", radii = [-0.1, 0.2], cells = [5, 8]",
            ),
            2,
            &["case.toml:2:"],
        ),
    ];
    for (case, code, words) in cases {
        refused(&case, code, words);
    }
    let steady = BAR.split("[time]").next().unwrap().replace("study = \"transient\"\n", "");
    refused(&steady, 2, &["`amplitude` is of loads that change in time"]);
    let loose = steady.split("[[support]]").next().unwrap().to_string() + "[[flux]]\non = \"ymax\"\nvalue = 10.0\n";
    refused(&loose, 4, &["fixed nowhere"]);
    let mesh = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [1.0, 1.0, 1.0], cells = [2, 2, 2] }\n[[material]]\n";
    let held = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[temperature]\nreference = 20.0\nvalue = 80.0\n";
    let rows = "name = \"s\"\nby_temperature = [{ temperature = 20.0, young = 2e5, poisson = 0.3, expansion = 1e-5 }";
    let after = "{ temperature = 10.0, young = 2e5, poisson = 0.3, expansion = 1e-5 }]\n";
    refused(&format!("{mesh}{rows}, {after}{held}"), 2, &["`by_temperature` has rows by ascending `temperature`"]);
    refused(&format!("{mesh}{rows}]\nyoung = 1.0\n{held}"), 2, &["`young` stands beside `by_temperature`"]);
    refused(&format!("{mesh}{elastic}{held}").replace("value = 80.0", "from = \"none.toml\""), 2, &["none.toml"]);
    let cold = held.split("[temperature]").next().unwrap();
    refused(&format!("{mesh}{rows}]\n{cold}"), 2, &["`by_temperature` needs to know how warm the body is"]);
    let tie = "[[tie]]\nslave = \"xmin\"\nmaster = \"xmax\"\nconductance = 5.0\n";
    refused(&format!("{mesh}{elastic}{held}{tie}"), 2, &["`conductance` is of a joint that heat flows through"]);
}
