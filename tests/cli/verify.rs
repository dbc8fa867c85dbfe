//! `verify`: the table, as text and as data.

use crate::Folder;

#[test]
fn the_emulator_verifies_what_is_small() {
    let folder = Folder::new();
    let run = folder.run(&["verify", "--device", "emulate", "--json", "verify.json"]).done();
    let report: serde_json::Value = serde_json::from_slice(&folder.read("verify.json")).unwrap();
    assert_eq!((&report["device"], &report["off"]), (&"emulator".into(), &0.into()));
    let checks = report["checks"].as_array().unwrap();
    for element in ["tri3", "quad4", "tri6", "quad8", "tet4", "hex8", "tet10", "hex20"] {
        let patch = format!("patch, {element}, ");
        assert!(checks.iter().any(|check| check["problem"].as_str().unwrap().starts_with(&patch)), "{element}");
    }
    for check in checks {
        let number = |key: &str| check[key].as_f64().unwrap();
        assert!((number("computed") / number("published") - 1.0).abs() <= number("tolerance"), "{check}");
        assert_eq!(check["passed"], true);
        let line = run.out.lines().find(|line| {
            line.contains(check["problem"].as_str().unwrap()) && line.contains(check["quantity"].as_str().unwrap())
        });
        assert!(line.is_some_and(|line| line.contains(" ok ")), "{check}");
    }
    let end = run.out.lines().last().unwrap();
    assert!(end.starts_with(&format!("{0} of {0} values are within", checks.len())), "{end}");
    assert!(end.contains("on emulator; ") && end.contains(" problems left out"), "{end}");
}

#[test]
fn verify_says_nothing_if_told_so_and_no_more_than_one_error() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["verify", "--device", "cpu", "--quiet"]).done().out, "");
    if !crate::has_gpu() {
        folder.run(&["verify", "--device", "cuda"]).refused(7, &["GPU", "`--device cpu` needs no GPU"]);
    }
}
