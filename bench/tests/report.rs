//! `report` and `compare`: the checked-in report, what is stale, what is refused, and a machine measured for
//! real.

use crate::{Folder, repository};
use serde_json::{Value, json};

/// A machine's figures, as `collect.py` gathers them.
const CPU: &str = "docs/benchmarks/cpu-2026-11-21.json";
const GPU: &str = "docs/benchmarks/h200-2026-11-21.json";

fn figures(folder: &Folder) {
    folder.write("cpu.json", &std::fs::read_to_string(repository(CPU)).unwrap());
}

#[test]
fn the_checked_in_report_is_what_the_figures_make() {
    let folder = Folder::new();
    let (reports, speed) = (repository("docs/benchmarks"), repository("docs/benchmarks/speed.md"));
    let checked = folder.run(&["report", "-o", &reports, "--speed", &speed, "--check"]);
    assert_eq!(checked.code, Some(0), "run `warpfem-bench report --speed docs/benchmarks/speed.md`: {checked:?}");
    let names = folder.names(&reports).into_iter().filter(|name| name.ends_with(".json"));
    let json: Vec<String> = names.map(|name| format!("{reports}/{name}")).collect();
    let from: Vec<&str> = json.iter().map(String::as_str).collect();
    folder.run(&[&["report", "-o", "made", "--from"], &from[..]].concat()).done();
    let plots = folder.names(&repository("docs/benchmarks/plots"));
    assert_eq!(plots, folder.names("made/plots"), "a plot that no report shows is to be removed");
}

/// The entry of a list that has these words in these keys.
fn entry<'a>(list: &'a Value, words: &[(&str, &str)]) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| words.iter().all(|(key, word)| one[*key] == *word));
    found.unwrap_or_else(|| panic!("no entry with {words:?}"))
}

fn read_json(path: &str) -> Value {
    Folder::new().json(&repository(path))
}

#[test]
fn the_readme_s_table_of_speed_is_what_was_measured() {
    let (cpu, gpu) = (read_json(CPU), read_json(GPU));
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    let three = |value: &Value| warpfem_text::number(value.as_f64().unwrap(), 3);
    let row = |label: &str, unit: &str, theirs: &Value, ours: &Value| {
        let line = readme.lines().find(|line| line.starts_with(&format!("| {label} |")));
        let line = line.unwrap_or_else(|| panic!("no row {label}"));
        let end = format!("| {} {unit} | {} {unit} |", three(theirs), three(ours));
        assert!(line.ends_with(&end), "{line}\nis measured as {end}");
    };
    let programs = &entry(&cpu["programs"], &[("problem", "hex8 cube 30")])["programs"];
    let seconds = |name: &str| &entry(programs, &[("program", name)])["seconds"];
    let others =
        ["CalculiX 2.20, SPOOLES", "CalculiX 2.20, ITERATIVE SCALING", "scikit-fem, SuperLU", "scikit-fem, PyAMG"];
    for other in others {
        row(&format!("CPU, hex8, 89,373 unknowns | {other}"), "s", seconds(other), seconds("warpfem, auto"));
    }
    for element in ["hex8", "tet4"] {
        let pressed = format!("{element} cube 60");
        let programs = &entry(&cpu["programs"], &[("problem", pressed.as_str())])["programs"];
        let seconds = |name: &str| &entry(programs, &[("program", name)])["seconds"];
        let (theirs, ours) = (seconds("CalculiX 2.20, ITERATIVE SCALING"), seconds("warpfem, auto"));
        row(&format!("CPU, {element}, 680,943 unknowns"), "s", theirs, ours);
        let problem = format!("{element} cube 100");
        let of = [("problem", problem.as_str()), ("precision", "f64")];
        let product = entry(&entry(&gpu["spmv"], &of)["rows"], &[("format", "ebw")]);
        let library = entry(&gpu["cusparse"], &of[..1]);
        let sell = entry(&library["rows"], &[("variant", "sell32"), ("precision", "f64")]);
        row(&format!("GPU, {element}, one product"), "ms", &sell["ms"], &product["spmv_ms"]);
        // Both iterations of one run.
        let peer = &gpu["peer"][&problem]["f64"];
        let iterated = gpu["cg"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["run"] == peer["run"] && of.iter().all(|(key, word)| one[*key] == *word));
        let ours = entry(&iterated.unwrap()["rows"], &[("format", "ebw")]);
        row(&format!("GPU, {element}, CG to 1e-8"), "ms", &peer["solve_ms"], &ours["solve_ms"]);
    }
}

#[test]
fn the_readme_s_claims_are_what_was_measured() {
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    let (cpu, gpu) = (read_json(CPU), read_json(GPU));
    let programs = &entry(&cpu["programs"], &[("problem", "hex8 cube 60")])["programs"];
    let seconds = |name: &str| entry(programs, &[("program", name)])["seconds"].as_f64().unwrap();
    let [ours, theirs] = ["warpfem, auto", "CalculiX 2.20, ITERATIVE SCALING"].map(seconds);
    let wanted = format!("take {ours:.2} s, files included; CalculiX's iterative solver takes {theirs:.1} s");
    assert!(readme.contains(&wanted), "{wanted}");
    let of = [("problem", "hex8 cube 100"), ("precision", "f64")];
    let product = entry(&entry(&gpu["spmv"], &of)["rows"], &[("format", "ebw")]);
    let sell = entry(&entry(&gpu["cusparse"], &of[..1])["rows"], &[("variant", "sell32"), ("precision", "f64")]);
    let copy = 100.0 * product["of_copy"].as_f64().unwrap();
    let times = sell["ms"].as_f64().unwrap() / product["spmv_ms"].as_f64().unwrap();
    let wanted = format!("{copy:.0} % of the speed of a plain copy, {times:.2} times as fast as cuSPARSE");
    assert!(readme.contains(&wanted), "{wanted}");
    let models = read_json("docs/benchmarks/trust/models-2026-11-25.json");
    let rows = models["of"][0]["rows"].as_array().unwrap().iter().filter(|row| row["method"] == "auto");
    let errors: Vec<Option<f64>> = rows.map(|row| row["deformation_error"].as_f64()).collect();
    let right = errors.iter().filter(|error| error.is_none_or(|error| error <= 1e-6)).count();
    let wanted = format!("On {right} of {} hard models", errors.len());
    assert!(readme.contains(&wanted), "{wanted}");
    let devices = read_json("docs/benchmarks/devices/h200-2026-11-28.json");
    let solved = devices["rows"].as_array().unwrap().iter().filter(|row| row["unknowns"].is_number());
    let largest = solved.max_by_key(|row| row["unknowns"].as_u64()).unwrap();
    let [millions, seconds] =
        [1e-6 * largest["unknowns"].as_f64().unwrap(), largest["phases_s"]["total"].as_f64().unwrap()];
    let wanted = format!("Two H200 solve {millions:.0} million unknowns in {seconds:.0} s");
    assert!(readme.contains(&wanted), "{wanted}");
    let growth = read_json("docs/benchmarks/trust/multigrid-growth-h200-2026-11-25.json");
    let largest = growth["runs"].as_array().unwrap().iter().filter(|run| {
        let case = run["case"].as_str().unwrap();
        case.ends_with("_3") && (case.starts_with("beam") || case.starts_with("plate"))
    });
    let iterations: Vec<u64> = largest.map(|run| run["iterations"].as_u64().unwrap()).collect();
    let [least, most] = [iterations.iter().min(), iterations.iter().max()].map(Option::unwrap);
    let wanted = format!("Beams and plates of 2 to 5 million unknowns take {least} to {most} iterations");
    assert!(iterations.len() == 6 && readme.contains(&wanted), "{wanted}");
}

#[test]
fn a_stale_report_is_named_and_left_as_it_is() {
    let folder = Folder::new();
    figures(&folder);
    folder.run(&["report", "-o", "."]).done();
    assert_eq!(folder.run(&["report", "-o", ".", "--check"]).done().out, "");
    folder.write("report.md", "old");
    let stale = folder.run(&["report", "-o", ".", "--check"]);
    assert_eq!(stale.code, Some(5));
    assert_eq!(stale.out, "./report.md is not what `warpfem-bench report` makes of the figures\n");
    assert_eq!(folder.read("report.md"), b"old");
    assert_eq!(folder.run(&["report", "-o", "."]).done().out, "wrote ./report.md\n");
}

#[test]
fn other_figures_make_another_report() {
    let folder = Folder::new();
    figures(&folder);
    folder.run(&["report", "-o", "."]).done();
    let before = folder.text("dsm.md");
    let mut figures = folder.json("cpu.json");
    for solve in figures["solve"].as_array_mut().unwrap() {
        solve["timings_s"]["solve"] = 10.0.into();
        solve["timings_s"]["total"] = 100.0.into();
    }
    folder.write("cpu.json", &figures.to_string());
    folder.run(&["report", "-o", "."]).done();
    let after = folder.text("dsm.md");
    assert!(before.contains("**Holds**: the solution takes at least "));
    assert!(after.contains("**Contradicted**: the solution takes at least 10 % of the time"));
}

#[test]
fn what_cannot_be_reported_on_is_refused() {
    let folder = Folder::new();
    let refused = |arguments: &[&str], why: &str| {
        folder.run(&[&["report"], arguments].concat()).refused(2, &[why]);
    };
    refused(&[], "docs/benchmarks: there is no such folder\nhelp: this makes the report of measurements");
    refused(&[], "`warpfem-bench report --quick -o FOLDER`");
    refused(&["-o", "."], ".: there is no *.json in it\nhelp: ");
    refused(&["--from", "none.json"], "none.json");
    refused(&["--check", "--quick"], "cannot be used with");
    refused(&["--cells", "9"], "--measure");
    refused(&["--quick", "--device", "tpu"], "expected auto, cpu");
    folder.write("bad.json", "{\"rows\": []}");
    refused(&["-o", "."], "neither the figures of a machine nor a report");
    folder.write("bad.json", "{\"runs\": [], \"cg\": [1]}");
    refused(&["-o", "."], "bad.json");
    std::fs::remove_file(folder.path("bad.json")).unwrap();
    figures(&folder);
    folder.write("speed.md", "no marks");
    refused(&["-o", ".", "--speed", "speed.md"], "figures of a GPU");
    folder.write("gpu.json", &std::fs::read_to_string(repository(GPU)).unwrap());
    refused(&["-o", ".", "--speed", "speed.md"], "it lacks the marks");
    assert_eq!(folder.names("."), ["cpu.json", "gpu.json", "speed.md"]);
}

#[test]
fn a_machine_is_measured_and_reported_on() {
    let folder = Folder::new();
    let run = folder.run(&["report", "--measure", "--cells", "2", "--device", "cpu", "-o", "mine"]).done();
    assert!(!run.err.contains("left out"), "{}", run.err);
    let names = folder.names("mine");
    let made = ["dsm.md", "femses.md", "measured.md", "plots", "report.md", "sbell.md", "warp.md"];
    let others: Vec<&String> = names.iter().filter(|name| !name.ends_with(".json")).collect();
    assert_eq!((names.len(), others), (8, made.map(String::from).iter().collect()));
    let figures_file = names.iter().find(|name| name.ends_with(".json")).unwrap();
    let figures = folder.json(&format!("mine/{figures_file}"));
    assert!(figures["device"].as_str().unwrap().starts_with("cpu ("), "{}", figures["device"]);
    assert_eq!(
        (&figures["runs"][0]["driver"], &figures["runs"][0]["commands"]),
        (&"none".into(), &json!(["warpfem-bench report --measure --cells 2 --device cpu"]))
    );
    for list in ["spmv", "cg", "assembly", "precond", "femses", "solve"] {
        let entries = figures[list].as_array().unwrap();
        assert!(!entries.is_empty() && entries.iter().all(|one| one["run"] == 0), "{list}");
    }
    for (page, wanted) in [
        ("dsm.md", "## Figures 7, 8: "),
        ("sbell.md", "## Figure 8: "),
        ("warp.md", "## Figures 12, 14: "),
        ("femses.md", "## Figure 5.34: "),
        ("measured.md", "## Roofline\n"),
    ] {
        let text = folder.text(&format!("mine/{page}"));
        assert!(text.contains(wanted), "{page}: {wanted}");
    }
    // What was measured compares with itself.
    let file = format!("mine/{figures_file}");
    let same = folder.run(&["compare", &file, &file]).done();
    same.says(&[" compared: 0 slower by more than 10 %, 0 faster"]);
}

#[test]
fn what_became_slower_is_found() {
    let folder = Folder::new();
    let flags = ["assembly", "--cells", "2", "--device", "cpu", "--samples", "1", "--json", "old.json"];
    folder.run(&flags).done();
    let mut report = folder.json("old.json");
    let ms = report["rows"][0]["assembly_ms"].as_f64().unwrap();
    report["rows"][0]["assembly_ms"] = (2.0 * ms).into();
    folder.write("slow.json", &report.to_string());
    // Twice the time at half the bandwidth is the same.
    report["copy_gb_per_s"] = (report["copy_gb_per_s"].as_f64().unwrap() / 2.0).into();
    report["rows"].as_array_mut().unwrap().truncate(1);
    folder.write("small.json", &report.to_string());
    let slow = folder.run(&["compare", "old.json", "slow.json"]);
    assert_eq!(slow.code, Some(5), "{}{}", slow.out, slow.err);
    slow.says(&["row_owner into ebw", "2.000  SLOWER"]);
    folder.run(&["compare", "old.json", "slow.json", "--margin", "1.1"]).done();
    folder.run(&["compare", "slow.json", "old.json"]).done();
    let small = folder.run(&["compare", "old.json", "small.json"]).done();
    small.says(&["only in the old file: assembly tet4 cube 2, f64, cpu (", "1 compared: 0 slower"]);
    assert_eq!(folder.run(&["compare", "old.json", "none.json"]).code, Some(2));
    assert_eq!(folder.run(&["compare", "old.json", "slow.json", "--margin", "-1"]).code, Some(2));
}
