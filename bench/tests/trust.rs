//! `trust`: what the program says of its own error, against the error.

use crate::{Folder, GOOD, Run};
use serde_json::Value;

/// What the program printed, and the rows of its table.
fn trust(folder: &Folder, arguments: &[&str]) -> (Run, Vec<Value>) {
    let flags = ["trust", "--short", "--device", "cpu", "--json", "trust.json"];
    let run = folder.run(&[&flags, arguments].concat());
    let rows = folder.json("trust.json")["rows"].as_array().unwrap().clone();
    (run, rows)
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"))
}

#[test]
fn a_model_by_every_method() {
    let folder = Folder::new();
    let (run, rows) = trust(&folder, &["--model", "cube_hex8"]);
    let run = run.done();
    let methods: Vec<&str> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["auto", "jacobi", "amg", "direct"]);
    for row in &rows {
        assert_eq!((&row["model"], &row["unknowns"], &row["parts"]), (&"cube_hex8".into(), &1029.into(), &1.into()));
        assert!(number(row, "reference_correction") < 1e-16, "{row}");
        assert!((1e-16..1e-5).contains(&number(row, "energy_error")), "{row}");
    }
    // A factor is right to as many digits as there are, whatever tolerance was asked for.
    assert!(number(&rows[3], "energy_error") < 1e-12, "{}", rows[3]);
    assert!(run.out.ends_with("0 of 4 solutions break a bound; by default 1 of 1 keep to all\n"), "{}", run.out);
}

#[test]
fn a_solution_that_is_off_is_found() {
    let folder = Folder::new();
    let (run, rows) = trust(&folder, &["--model", "plate_hex8_10mm_1N", "--methods", "amg", "--tolerance", "0.5"]);
    assert_eq!((run.code, run.err.as_str()), (Some(5), ""), "{run:?}");
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert!(number(row, "energy_error") > 1e-4 && number(row, "von_mises_error") > 1e-4, "{row}");
    assert!(row["broken"].as_array().unwrap().contains(&"von Mises".into()), "{row}");
    run.says(&["1 of 1 solutions break a bound"]);
}

#[test]
fn cases_join_the_models() {
    let folder = Folder::new();
    folder.write("beam.toml", GOOD);
    let (run, rows) = trust(&folder, &["beam.toml", "--model", "beam", "--methods", "auto,direct", "--samples", "3"]);
    run.done();
    assert_eq!((rows.len(), &rows[0]["model"], &rows[0]["unknowns"]), (2, &"beam".into(), &243.into()));
}

#[test]
fn what_there_is_not_is_refused() {
    let folder = Folder::new();
    folder.run(&["trust", "--short", "--model", "sphere"]).refused(2, &["no model `sphere`", "cube_hex8"]);
    assert_eq!(folder.run(&["trust", "--methods", "gauss"]).code, Some(2));
}

#[test]
fn every_model_keeps_to_the_bounds() {
    let folder = Folder::new();
    let (run, rows) = trust(&folder, &["--methods", "auto"]);
    let broken: Vec<&Value> = rows.iter().filter(|row| row["broken"] != Value::Array(Vec::new())).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    run.done();
}

#[test]
fn rounding_of_hard_pieces_is_part_of_the_error() {
    for model in ["bonded_force_on_hard_1e7", "coat_force_on_hard_1e6"] {
        let folder = Folder::new();
        let (run, rows) = trust(&folder, &["--model", model, "--methods", "jacobi"]);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(row["broken"], Value::Array(Vec::new()), "{row}");
        run.done();
    }
}
