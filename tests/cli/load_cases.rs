//! Load cases: their files, the summary, the envelope, the report, and what is refused.

use crate::bad_case::refused;
use crate::terminal::{endless, is_on_its_way, signal};
use crate::{Folder, GOOD, good_but};

const LOADS: &str = "\n[[traction]]\nname = \"wind\"\non = \"zmax\"\nvector = [0.0, 200.0, 0.0]\n";
const FORCE: &str = "[[force]]\non = \"xmax\"";

/// A cantilever with its weight, a tip force and wind in these cases.
fn with(cases: &str) -> String {
    good_but(FORCE, &FORCE.replace("]]\n", "]]\nname = \"tip\"\n")) + LOADS + cases
}

fn case(name: &str, factors: &str) -> String {
    format!("[[load_case]]\nname = \"{name}\"\nfactors = {{ {factors} }}\n")
}

fn three() -> String {
    with(
        &(case("dead load", "gravity = 1.0")
            + &case("storm", "gravity = 1.35, wind = 1.5, tip = 0.1")
            + &case("dead/load", "tip = 2.0")),
    )
}

/// An array of doubles, or of whole numbers, of a VTU.
fn array(folder: &Folder, file: &str, name: &str) -> Vec<f64> {
    let bytes = folder.read(file);
    let text = String::from_utf8_lossy(&bytes);
    let tag = text
        .lines()
        .find(|line| line.contains(&format!("Name=\"{name}\"")))
        .unwrap_or_else(|| panic!("{name} in {file}"));
    let offset: usize = tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let data = bytes.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len() + offset;
    let n = u64::from_ne_bytes(bytes[data..data + 8].try_into().unwrap()) as usize;
    let values = &bytes[data + 8..data + 8 + n];
    match tag.contains("Int32") {
        true => values.chunks(4).map(|value| f64::from(i32::from_ne_bytes(value.try_into().unwrap()))).collect(),
        false => values.chunks(8).map(|value| f64::from_ne_bytes(value.try_into().unwrap())).collect(),
    }
}

#[test]
fn each_case_has_its_files_and_all_have_an_envelope() {
    let folder = Folder::new();
    let run = folder.solve(&three(), &[]).done();
    let stems = ["case_dead_load", "case_storm", "case_dead_load_2"];
    let mut files: Vec<String> = stems
        .iter()
        .flat_map(|stem| [".vtu", "_nodes.csv", "_elements.csv", "_tables.csv"].map(|ending| format!("{stem}{ending}")))
        .collect();
    files.extend(["case.pvd", "case_envelope.vtu", "case.png", "case.html", "summary.json"].map(String::from));
    files.sort();
    assert_eq!(folder.names("out"), files);
    let list = folder.text("out/case.pvd");
    assert!(
        list.contains("timestep=\"2\"") && list.contains("name=\"dead/load\" file=\"case_dead_load_2.vtu\""),
        "{list}"
    );

    let stress = stems.map(|stem| array(&folder, &format!("out/{stem}.vtu"), "von_mises_nodal"));
    let envelope = array(&folder, "out/case_envelope.vtu", "von_mises_nodal");
    let governing = array(&folder, "out/case_envelope.vtu", "governing_case");
    assert!(!envelope.is_empty() && governing.len() == envelope.len());
    for (node, (value, case)) in envelope.iter().zip(&governing).enumerate() {
        let most = stress.iter().map(|of| of[node]).fold(0.0, f64::max);
        assert_eq!((*value, stress[*case as usize - 1][node]), (most, most));
    }

    let summary = folder.summary("out");
    let steps = summary["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["dead load", "storm", "dead/load"]);
    assert_eq!(summary["results"], steps[0]["results"]);
    let largest = |step: &serde_json::Value| step["results"]["von_mises_nodal"]["max"].as_f64().unwrap();
    let most = steps.iter().max_by(|a, b| largest(a).total_cmp(&largest(b))).unwrap();
    assert_eq!(summary["governing_case"], most["name"]);
    assert_eq!(steps[2]["files"][0], "case_dead_load_2.vtu");
    assert!(steps.iter().all(|step| step["solver"]["converged"] == true) && summary["solver"]["converged"] == true);
    // A case is the model with its loads alone.
    let tip = folder.number("out", "/steps/2/results/max_displacement");
    run.tells(&["dead load", "storm", "dead/load", "3 load cases, solved", "case.pvd has all cases"]);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    let html = folder.text("out/case.html");
    for part in [
        "<select id=\"case\">",
        "id=\"skin-header-0\"",
        "data-case=\"\"",
        "envelope: the largest of all cases",
        "3 load cases",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("{{"));

    let alone = good_but("[gravity]\nacceleration = [0.0, 0.0, -9.81]\n", "").replace("-1e3]", "-2e3]");
    folder.solve(&alone, &[]).done();
    let of_run = folder.number("out", "/results/max_displacement");
    assert!((tip / of_run - 1.0).abs() < 1e-9, "{tip} {of_run}");
    // What is not written again is gone.
    assert_eq!(folder.names("out"), crate::FILES);
    folder.solve(&three(), &[]).done();
    assert_eq!(folder.names("out"), files);
}

#[test]
fn check_lists_the_cases() {
    let folder = Folder::new();
    folder.write("case.toml", &three());
    let run = folder.run(&["check", "case.toml"]).done();
    run.tells(&[
        "case dead load: 1 x gravity",
        "case storm: 1.35 x gravity, 1.5 x traction on zmax, 0.1 x force on xmax",
    ]);
    folder.write("case.toml", &with(&(case("idle", "gravity = 0.0, tip = 0.0"))));
    let run = folder.run(&["check", "case.toml"]).done();
    run.tells(&["case idle: no load", "load `wind` is in no [[load_case]]", "load case `idle` has no load"]);
}

#[test]
fn one_that_does_not_converge_is_named() {
    let folder = Folder::new();
    let run = folder.solve(&three(), &["--max-iterations", "2", "--preconditioner", "jacobi"]);
    assert_eq!(run.code, Some(5), "{run:?}");
    assert!(run.err.contains("not converged: load case `dead load`: "), "{}", run.err);
    run.tells(&["NOT CONVERGED", "3 not converged"]);
    assert_eq!(folder.summary("out")["solver"]["converged"], false);
    assert_eq!(folder.summary("out")["steps"].as_array().unwrap().len(), 3);
}

#[test]
fn mistakes_are_refused_with_their_place() {
    let cases: [(&str, &[&str]); 7] = [
        (&case("a", "wnd = 1.0"), &["case.toml:36:13: there is no load `wnd`", "did you mean `wind`?", "gravity"]),
        (
            &(case("a", "tip = 1.0") + &case("a", "wind = 1.0")),
            &["a second load case is called `a` (the first: case.toml:35)"],
        ),
        (&case(" ", "tip = 1.0"), &["a load case has a name"]),
        (&case("a", "tip = nan"), &["`tip` must be finite"]),
        (&case("a", "tip = \"1\""), &["this must be a number"]),
        ("[load_case]\nname = \"a\"\nfactors = {}\n", &["`load_case` tables form a list"]),
        ("[[load_case]]\nname = \"a\"\n", &["`factors` is missing here", "factors = { gravity = 1.35, wind = 1.5 }"]),
    ];
    for (text, words) in cases {
        refused(&with(text), 2, words);
    }
    let spun = "[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 2.0\n";
    refused(
        &with(&(spun.to_owned() + &case("a", "rotation = -1.0"))),
        2,
        &["the factor of a rotation must not be negative"],
    );
    refused(&(GOOD.to_owned() + &case("a", "tip = 1.0")), 2, &["there is no load `tip`", "gravity"]);
    refused(&with(&case("a", "tip = 1.0")).replace("\"wind\"", "\"\""), 2, &["this name is empty"]);
}

/// What is written of earlier cases stays.
#[test]
fn an_interrupted_run_keeps_the_cases_before() {
    let folder = Folder::new();
    let command = endless(&folder, "out");
    let named = folder.text("case.toml").replace("[[force]]", "[[force]]\nname = \"tip\"");
    folder.write("case.toml", &(named + &case("none", "tip = 0.0") + &case("full", "tip = 1.0")));
    let is_time = |shown: &str| shown.contains("load case 2 of 2") && is_on_its_way(shown);
    let run = signal(command, libc::SIGINT, is_time, |_| ());
    assert_eq!(run.code, Some(130), "{run:?}");
    let steps = folder.summary("out")["steps"].clone();
    assert_eq!(
        (&steps[0]["solver"]["ending"], &steps[1]["solver"]["ending"]),
        (&"converged".into(), &"cancelled".into())
    );
}
