//! Messages, one mistake at a time.

use std::path::Path;

use super::*;
use crate::model::options::Choices;

/// A correct case; each test spoils a line of it.
const GOOD: &str = r#"[mesh]
generate = { kind = "box", element = "tet4", size = [1.0, 1.0, 1.0], cells = [2, 2, 2] }

[analysis]
kind = "elasticity"

[[material]]
name = "steel"
on = "body"
young = 210e9
poisson = 0.3
density = 7850.0

[[support]]
on = "zmin"
fix = "xyz"

[gravity]
acceleration = [0.0, 0.0, -9.81]

[[pressure]]
on = "zmax"
value = 2e6

[solver]
method = "cg"
format = "ebw"
tolerance = 1e-8

[output]
fields = ["displacement", "von_mises"]
"#;

fn parse(text: &str) -> Result<Case, Box<CaseError>> {
    Case::parse(Path::new("part.toml"), text)
}

/// The whole message after replacing `from` by `to` in the good case.
fn message(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` must be in the good case once");
    parse(&GOOD.replace(from, to)).expect_err("the case is spoilt").to_string()
}

/// Checks that a message starts at a place and holds some words.
#[track_caller]
fn says(message: &str, place: &str, words: &[&str]) {
    assert!(message.starts_with(place), "{message}\ndoes not start with {place}");
    for word in words {
        assert!(message.contains(word), "{message}\ndoes not hold {word}");
    }
}

#[test]
fn a_good_case_is_read() {
    let case = parse(GOOD).unwrap();
    assert_eq!(case.name(), "part");
    assert_eq!(case.tables.material[0].get_ref().name.get_ref(), "steel");
    assert_eq!(case.solver_options().unwrap().format, "ebw");
    assert_eq!(case.mesh().unwrap().coords.len(), 27);
}

#[test]
fn the_reference_s_examples_are_cases() {
    let text = include_str!("../../../../docs/case-file.md");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 6);
    for block in blocks {
        if let Err(error) = parse(block) {
            panic!("{error}\n{block}");
        }
    }
}

#[test]
fn an_unknown_key_is_pointed_at_and_the_nearest_offered() {
    let text = message("young", "yuong");
    says(
        &text,
        "part.toml:10:1: unknown key `yuong`",
        &["did you mean `young`", "poisson", "10 | yuong = 210e9\n   | ^^^^^\n"],
    );
    says(&message("[gravity]", "[gravitation]"), "part.toml:18:", &["`gravitation`", "did you mean `gravity`"]);
    says(&message("cells =", "cell ="), "part.toml:2:", &["unknown key `cell`", "did you mean `cells`"]);
}

#[test]
fn wrong_types_say_what_is_wanted() {
    says(&message("210e9", "\"stiff\""), "part.toml:10:9: this must be a number", &["stiff"]);
    says(
        &message("[0.0, 0.0, -9.81]", "[0.0, -9.81]"),
        "part.toml:19:16: this must be three numbers `[x, y, z]`, not 2 values",
        &["^^^^^^^^^^^^"],
    );
    says(&message("on = \"zmin\"", "on = 3"), "part.toml:15:6: this must be a group name or a list", &["not"]);
    says(&message("cells = [2, 2, 2]", "cells = [2, -2, 2]"), "part.toml:2:", &["whole number"]);
}

#[test]
fn syntax_errors_and_missing_keys_have_their_place() {
    says(&message("name = \"steel\"", "name = \"steel"), "part.toml:8:", &["name = \"steel"]);
    says(&message("poisson = 0.3\n", ""), "part.toml:7:", &["`poisson` is missing"]);
    says(&message("[mesh]", "[grid]"), "part.toml:1:", &["unknown key `grid`"]);
    says(&message("value = 2e6", "value = 2e6\nvalue = 3e6"), "part.toml:24:", &["duplicate"]);
}

#[test]
fn single_and_double_brackets_are_told_apart() {
    says(&message("[[support]]", "[support]"), "part.toml:14:", &["write `[[support]]`"]);
    says(&message("[gravity]", "[[gravity]]"), "part.toml:18:", &["write `[gravity]`"]);
}

#[test]
fn what_is_to_come_is_refused_by_name() {
    let text = message("\"elasticity\"", "\"laplace\"");
    let available = "available: elasticity, plane_stress, plane_strain";
    says(&text, "part.toml:5:8: ", &["laplace", "not available in this version", available]);
    says(&message("density = 7850.0", "conductivity = 1.0"), "part.toml:12:1: `conductivity`", &["not available"]);
    says(&message("[gravity]", "[source]\nvalue = 1.0\n[gravity]"), "part.toml:18:", &["`source`", "not available"]);
    says(&message("fix = \"xyz\"", "value = 1.0"), "part.toml:16:1: `value`", &["not available"]);
    says(&message("[[pressure]]", "[[flux]]"), "part.toml:21:", &["`flux`", "not available"]);
    let annulus = "kind = \"annulus\", inner = 1.0";
    says(
        &message("kind = \"box\"", annulus),
        "part.toml:2:",
        &["annulus", "not available", "available: box, rectangle"],
    );
    says(&message("\"cg\"", "\"femses\""), "part.toml:26:10: method `femses`", &["available: cg, direct"]);
    says(&message("method = \"cg\"", "precision = \"half\""), "part.toml:26:", &["available: double, single, mixed"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    says(&message("210e9", "-1.0"), "part.toml:10:9: `young` must be greater than 0", &[]);
    says(&message("0.3", "0.5"), "part.toml:11:11: `poisson` must lie between", &["incompressible"]);
    says(&message("7850.0", "nan"), "part.toml:12:11: `density`", &[]);
    says(&message("-9.81]", "inf]"), "part.toml:19:", &["must be finite"]);
    says(&message("2e6", "nan"), "part.toml:23:", &["must be finite"]);
    says(&message("1e-8", "1.0"), "part.toml:28:", &["between 0 and 1"]);
    says(&message("tolerance = 1e-8", "max_iterations = 0"), "part.toml:28:", &["1 or more"]);
    says(&message("tolerance = 1e-8", "order = 0"), "part.toml:28:", &["`order` must lie between 1 and 16"]);
    says(&message("tolerance = 1e-8", "order = 17"), "part.toml:28:", &["between 1 and 16"]);
    says(&message("size = [1.0,", "size = [0,"), "part.toml:2:", &["longer than 0"]);
    says(&message("cells = [2,", "cells = [0,"), "part.toml:2:", &["at least one cell"]);
}

#[test]
fn supports_say_where_and_what_once() {
    says(&message("fix = \"xyz\"", "fix = \"xw\""), "part.toml:16:7: `w` is no component", &[]);
    says(&message("fix = \"xyz\"\n", ""), "part.toml:14:", &["holds nothing"]);
    says(&message("on = \"zmin\"\n", ""), "part.toml:14:", &["exactly one of `on`, `nodes`, `box`"]);
    says(&message("on = \"zmin\"", "on = \"zmin\"\nnodes = [1]"), "part.toml:14:", &["exactly one of"]);
    let both = "fix = \"xyz\"\ndisplacement = { x = 1e-3 }";
    says(&message("fix = \"xyz\"", both), "part.toml:17:", &["fixes `x` and displaces it"]);
    says(&message("fix = \"xyz\"", "displacement = { q = 0.0 }"), "part.toml:16:", &["`q` is no component"]);
    says(&message("fix = \"xyz\"", "displacement = [1.0, 0.0, 0.0]"), "part.toml:16:", &["this must be a table"]);
    let empty = "box = { min = [1, 0, 0], max = [0, 1, 1] }";
    says(&message("on = \"zmin\"", empty), "part.toml:15:", &["the box is empty"]);
}

#[test]
fn names_of_options_are_checked_against_what_there_is() {
    let case = parse(&GOOD.replace("ebw", "ebv")).unwrap();
    let choices =
        Choices { formats: &["ebw", "csr"], orderings: &["mesh"], preconditioners: &["jacobi"], assemblies: &[] };
    let error = case.check_solver(&choices).unwrap_err().to_string();
    says(&error, "part.toml:27:10: there is no format `ebv`", &["did you mean `ebw`? available: auto, ebw, csr"]);
    assert!(parse(GOOD).unwrap().check_solver(&choices).is_ok());
    let error = parse(&GOOD.replace("ebw", "dense")).unwrap().check_solver(&choices).unwrap_err().to_string();
    says(&error, "part.toml:27:10: format `dense` is not available in this version", &["available: auto, ebw, csr"]);
    says(&message("\"von_mises\"", "\"von_mizes\""), "part.toml:31:", &["did you mean `von_mises`"]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Case::read(Path::new("nowhere/part.toml")).unwrap_err();
    says(&error.to_string(), "nowhere/part.toml: cannot read the case file", &[]);
    let case = parse(&GOOD.replacen("generate", "file = \"no.msh\"\n#", 1)).unwrap();
    let error = case.mesh().unwrap_err();
    assert_eq!(error.exit_code(), 3);
    says(&error.to_string(), "part.toml:2:8: there is no mesh file no.msh", &[]);
}

#[test]
fn miette_draws_the_same_place() {
    let error = parse(&GOOD.replace("young", "yuong")).unwrap_err();
    let mut drawn = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none());
    handler.render_report(&mut drawn, &error.report()).unwrap();
    assert!(drawn.contains("part.toml:10:1") && drawn.contains("did you mean `young`"), "{drawn}");
}

#[test]
fn places_count_characters_and_survive_odd_files() {
    let error = parse("# \u{e9}\u{e9}\n[mesh]\nfile = \"\u{e9}\" q").unwrap_err();
    assert_eq!(error.line_column().map(|place| place.0), Some(3));
    assert!(parse("").is_err());
    assert!(parse("[mesh]\r\nfile = \"a\"\r\n").unwrap_err().to_string().contains("[[material]]"));
}

#[test]
fn no_cut_or_spoilt_text_makes_it_panic() {
    let mut spoilt: Vec<String> = (0..GOOD.len()).map(|end| GOOD[..end].to_string()).collect();
    for at in 0..GOOD.len() {
        for put in ["\"", "[", "\n", "=", "-", "{", "\u{e9}"] {
            spoilt.push(format!("{}{put}{}", &GOOD[..at], &GOOD[at + 1..]));
        }
    }
    let mut refused = 0;
    for text in &spoilt {
        if let Err(error) = parse(text) {
            assert!(error.to_string().starts_with("part.toml:"), "{error}");
            assert!(error.span.is_none_or(|span| text.get(span).is_some()), "{text}");
            refused += 1;
        }
    }
    assert!(refused > spoilt.len() / 2);
}
