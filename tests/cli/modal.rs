//! Studies of modes: what `check` and `solve` say of them, and what is refused.

use crate::bad_case::refused;
use crate::{Folder, good_but};

/// The good case as a modal study, with more of `[analysis]`.
fn modal(more: &str) -> String {
    good_but("kind = \"elasticity\"", &format!("kind = \"elasticity\"\nstudy = \"modal\"\n{more}"))
}

#[test]
fn check_says_what_is_solved_and_what_plays_no_part() {
    let folder = Folder::new();
    folder.write("case.toml", &modal("modes = 4\nshift = 100.0"));
    let run = folder.run(&["check", "case.toml", "--device", "cpu"]).done();
    run.tells(&[
        "study 4 modes of vibration, shift 100",
        "warning: loads do not change the natural frequencies here (their stress does with `prestress = true`): gravity, force on xmax",
        "solver amg: LOBPCG finds the lowest modes",
        "no estimate of time for modes",
        "ready: warpfem solve case.toml",
    ]);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    // Nothing has to hold it.
    let free = modal("").replace("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", "");
    folder.write("case.toml", &free);
    folder.run(&["check", "case.toml"]).done().tells(&["study 10 modes of vibration"]);
}

#[test]
fn what_does_not_go_with_modes_is_refused() {
    refused(&modal("modes = 100000"), 2, &["case.toml:7:9: `modes` is 100000, and the model has "]);
    refused(&modal("").replace("density = 7850.0\n", ""), 4, &["needs the density of material `steel`"]);
    let folder = Folder::new();
    let why = "does not go with study `modal`, which LOBPCG solves";
    for (flags, words) in [
        (["--method", "femses"], ["method `femses`", "available here: auto, cg"]),
        (["--precision", "single"], ["precision `single`", "available here: auto, double"]),
        (["--operator", "matrix_free"], ["operator `matrix_free`", "available here: auto, assembled"]),
    ] {
        folder.solve(&modal(""), &flags).refused(2, &[words[0], why, words[1]]);
    }
    folder.solve(&modal(""), &["--field", "reaction_force"]).refused(2, &["reaction_force", "displacement"]);
}

#[test]
fn modes_are_counted_on_request() {
    let folder = Folder::new();
    for flags in [&["--check-count"][..], &["--check-count", "--preconditioner", "amg"]] {
        let run = folder.solve(&modal("modes = 4"), flags).done();
        assert!(
            run.out.contains("a factor counts ") && run.out.contains(": none is missed there; the last"),
            "{}",
            run.out
        );
        let count = &folder.summary("out")["solver"]["count"];
        assert!(count["counted"] == count["found"] && count["below"].as_f64().unwrap() > 0.0, "{count}");
    }
}

#[test]
fn a_buckling_study_has_load_factors() {
    let folder = Folder::new();
    let case = modal("modes = 2").replace("modal", "buckling");
    folder.write("case.toml", &case);
    folder.run(&["check", "case.toml"]).done().tells(&["study 2 modes of buckling", "ready: warpfem solve case.toml"]);
    let run = folder.solve(&case, &["--check-count", "--frd"]).done();
    run.tells(&["mode load factor", "out/case.html; "]);
    let summary = folder.summary("out");
    let factors: Vec<f64> =
        summary["steps"].as_array().unwrap().iter().map(|step| step["load_factor"].as_f64().unwrap()).collect();
    assert!(factors.len() == 2 && 0.0 < factors[0] && factors[0] <= factors[1], "{factors:?}");
    assert!(summary["steps"][0]["reversed_load_factor"].as_f64().unwrap() < 0.0);
    assert_eq!(summary["steps"][0]["results"]["buckling"]["mode 1"][0].as_f64(), Some(factors[0]));
    let frd = folder.text("out/case.frd");
    assert!(frd.contains("mode 1") && !frd.contains("1PMODE") && !frd.contains("MODAL"), "{}", &frd[..500]);
    // A body that nothing holds has no factor.
    let free = case.replace("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", "");
    refused(&free, 4, &["nothing holds"]);
    refused(
        &modal("prestress = true").replace("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", ""),
        4,
        &["nothing holds"],
    );
}

#[test]
fn loads_that_vibrate_move_probes() {
    let folder = Folder::new();
    let harmonic = "[harmonic]\nfrom = 5.0\nto = 200.0\npoints = 5\ndamping = 0.02\n\
                    [output]\nprobes = [{ name = \"tip, \\\"top\\\"\", at = [4.0, 0.5, 1.0] }, { name = \"root\", at = [0.0, 0.5, 0.5] }]\n";
    let case = modal("modes = 3\nunits = \"SI\"").replace("[solver]", &format!("{harmonic}[solver]"));
    folder.write("case.toml", &case);
    folder.run(&["check", "case.toml", "--device", "cpu"]).done().tells(&["harmonic loads vibrate at 5 to 200"]);
    let run = folder.solve(&case, &[]).done();
    run.tells(&["tip, \"top\": vibrates by ", "m at most, at "]);
    assert!(!run.out.contains("loads do not change"), "{}", run.out);
    let text = folder.text("out/case_response.csv");
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    assert!(
        head.starts_with("frequency [Hz],\"tip, \"\"top\"\" amplitude [m]\",\"tip, \"\"top\"\" x [m]\","),
        "{head}"
    );
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    assert!(rows.len() >= 5 + 9 && rows.iter().all(|row| row.len() == 1 + 2 * 7), "{text}");
    let summary = folder.summary("out");
    let first = summary["steps"][0]["frequency"].as_f64().unwrap();
    let peak = &summary["response"][0];
    assert!((peak["frequency"].as_f64().unwrap() / first - 1.0).abs() < 0.02, "{peak} {first}");
    let largest = rows.iter().map(|row| row[1]).fold(0.0, f64::max);
    assert_eq!(peak["amplitude"].as_f64(), Some(largest));
    // What does not move has no curve, and is no error.
    assert_eq!(summary["response"][1]["amplitude"].as_f64(), Some(0.0));
    let report = folder.text("out/case.html");
    assert!(report.contains("Response to the loads") && report.contains("aria-label=\"amplitude over frequency\""));
    // Fields at a frequency are steps behind the modes.
    let shown = case.replace("points = 5\n", "points = 5\nfields = [50.0]\n");
    folder.solve(&shown, &[]).done().tells(&["response 1, imaginary", "3 modes, 2 responses, solved"]);
    let steps = &folder.summary("out")["steps"];
    assert_eq!((steps[3]["frequency"].as_f64(), steps[3]["part"].as_str()), (Some(50.0), Some("real")));
    assert!(steps[4]["part"] == "imaginary" && steps[4]["results"].get("reactions").is_none(), "{}", steps[4]);
    assert!(
        steps[3]["results"]["von_mises_nodal"].is_object() && folder.path("out/case_response_1__real.vtu").exists()
    );
    let report = folder.text("out/case.html");
    assert!(report.contains("<h2>2 responses</h2>") && report.contains("response 1, real, 50.00 Hz"));
    // A solution without it takes the file away.
    folder.solve(&case.replace(harmonic, ""), &[]).done();
    assert!(!folder.path("out/case_response.csv").exists());
}
