//! Messages, one mistake at a time.

use std::path::Path;

use super::*;
use crate::result::Study;
use crate::result::choices::Format;

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

fn parse(text: &str) -> Checked<Case> {
    Case::parse(Path::new("part.toml"), text)
}

/// The whole message after replacing `from` by `to` in the good case.
fn message(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` must be in the good case once");
    let message = parse(&GOOD.replace(from, to)).expect_err("the case is spoilt").to_string();
    assert!(message.contains("\nhelp: "), "no next step in\n{message}");
    message
}

/// Checks that a message starts at a place and holds some words.
#[track_caller]
fn says(message: &str, place: &str, words: &[&str]) {
    assert!(message.starts_with(place), "{message}\ndoes not start with {place}");
    for word in words {
        assert!(message.contains(word), "{message}\ndoes not hold {word}");
    }
}

/// The good case with one piece replaced is refused at a place of its text, with these words.
#[track_caller]
fn spoilt(from: &str, to: &str, place: &str, words: &[&str]) {
    says(&message(from, to), &format!("part.toml:{place}"), words);
}

#[test]
fn a_good_case_is_read() {
    let case = parse(GOOD).unwrap();
    assert_eq!(case.name(), "part");
    assert_eq!(case.tables.material[0].get_ref().name.get_ref(), "steel");
    assert_eq!(case.solver_options().unwrap().format, Some(Format::Ebw));
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
    spoilt("cells =", "cell =", "2:", &["unknown key `cell`", "did you mean `cells`"]);
}

#[test]
fn a_modal_study_has_its_own_keys() {
    const KIND: &str = "kind = \"elasticity\"";
    let with = |more: &str| format!("{KIND}\n{more}");
    let read =
        |more: &str| parse(&GOOD.replace(KIND, &with(more))).map(|case| (case.study(), case.modes(), case.shift()));
    assert_eq!(read("").unwrap().0, Study::Static);
    assert_eq!(read("study = \"modal\"").unwrap(), (Study::Modal, 10, 0.0));
    assert_eq!(read("study = \"modal\"\nmodes = 3\nshift = 2.5").unwrap(), (Study::Modal, 3, 2.5));
    let refused = |more: &str, place: &str, words: &[&str]| spoilt(KIND, &with(more), place, words);
    refused("study = \"modl\"", "6:9: there is no study `modl`", &["did you mean `modal`", "static, modal"]);
    refused("study = \"vibration\"", "6:9: there is no study", &["did you mean `modal`"]);
    assert_eq!(read("study = \"buckling\"\nmodes = 4").unwrap(), (Study::Buckling, 4, 0.0));
    refused("study = \"dynamic\"", "6:9: study `dynamic` is not available", &["natural frequencies", "buckling"]);
    refused("modes = 3", "6:9: `modes` belongs to a study of modes", &["study = \"modal\" or \"buckling\""]);
    refused("study = \"buckling\"\nprestress = true", "7:13: `prestress` belongs to a modal study", &[]);
    refused("study = \"static\"\nshift = 1.0", "7:9: `shift` belongs to a modal study", &[]);
    refused("study = \"modal\"\nmodes = 0", "7:9: `modes` must be 1 or more", &["10 is the default"]);
    refused("study = \"modal\"\nmodes = -1", "7:9: ", &[]);
    for shift in ["-1.0", "inf", "nan"] {
        refused(&format!("study = \"modal\"\nshift = {shift}"), "7:9: `shift` must not be negative", &["K + shift M"]);
    }
    let modal = GOOD.replace(KIND, &with("study = \"modal\""));
    let case = "[[load_case]]\nname = \"a\"\nfactors = { gravity = 1.0 }\n";
    for of in [&modal, &modal.replace("modal", "buckling")] {
        for (more, what) in [(case, "has a [[load_case]]"), ("[inertia_relief]\n", "has no [inertia_relief]")] {
            let found = problems(&format!("{of}{more}"));
            assert!(found.len() == 1 && found[0].contains(what), "{found:#?}");
        }
    }
    let found = problems(&modal.replace("\"displacement\"", "\"reaction_force\""));
    assert!(found.len() == 1 && found[0].contains("field `reaction_force` is not available"), "{found:#?}");
    let heat = "[mesh]\nfile = \"a.msh\"\n[analysis]\nkind = \"laplace\"\nstudy = \"modal\"\n\
                [[material]]\nname = \"m\"\nconductivity = 1.0\n";
    says(&problems(heat)[0], "part.toml:5:9: a modal study is of elastic bodies", &["case of laplace"]);
}

/// All that is wrong with a text.
fn problems(text: &str) -> Vec<String> {
    let found =
        Case::review_text(Path::new("part.toml"), text).map_or_else(|problems| problems, |(_, problems)| problems);
    found.into_vec().iter().map(|error| error.to_string()).collect()
}

#[test]
fn every_unknown_key_is_named_in_the_order_of_the_file() {
    let text = GOOD.replace("young", "yuong").replace("density", "rho").replace("[[pressure]]", "[[presure]]");
    let found = problems(&text.replace("value = 2e6", "p = 2e6").replace("tolerance = 1e-8", "tolerance = 8"));
    let expected = [
        "part.toml:10:1: unknown key `yuong`",
        "part.toml:12:1: unknown key `rho`",
        "part.toml:21:3: unknown key `presure`",
        "part.toml:23:1: unknown key `p`",
        "part.toml:28:13: `tolerance` must lie",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    found.iter().zip(expected).for_each(|(found, expected)| says(found, expected, &["help: "]));
}

#[test]
fn one_mistake_has_one_message() {
    // What is missing because it was taken out, and what does not fit because it was guessed, follow from the first.
    assert_eq!(problems(&GOOD.replace("value = 2e6", "value = [1.0]")).len(), 1);
    assert_eq!(problems(&GOOD.replace("value = 2e6", "magnitude = [1.0]")).len(), 1);
    assert_eq!(problems(&GOOD.replace("value = 2e6", "blue = 2e6")).len(), 1);
    assert_eq!(problems(&GOOD.replace("young = 210e9", "young = 210e9\nE = 210e9")).len(), 1);
    let heat = GOOD.replace("elasticity", "laplace").replace("young", "conductivity").replace("fields", "# fields");
    assert_eq!(problems(&heat).len(), 3, "fix, gravity, pressure");
    assert_eq!(problems(&GOOD.replace("fix = \"xyz\"", "colour = 1")).len(), 1);
    assert_eq!(problems(&GOOD.replace("[mesh]", "[[mesh]]").replace("[[support]]", "[support]")).len(), 2);
}

#[test]
fn words_of_other_programs_lead_to_keys_that_there_are() {
    let tables = [foreign::SINGLE, foreign::REPEATED, &["", "generate", "probes"]].concat();
    for (table, words, meant) in synonyms::all().filter(|(of, ..)| tables.contains(of)) {
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            let text = match table {
                "" => format!("[\"{word}\"]\n"),
                "generate" => format!("[mesh]\ngenerate = {{ \"{word}\" = 1 }}\n"),
                "probes" => format!("[output]\nprobes = [{{ \"{word}\" = 1 }}]\n"),
                table => format!("{}\n\"{word}\" = 1\n", foreign::header(table).trim_matches('`')),
            };
            let of_potentials = ["flux", "convection", "source"].contains(&table);
            let text = if of_potentials { format!("[analysis]\nkind = \"laplace\"\n{text}") } else { text };
            let found = problems(&text);
            let said = found.iter().find(|message| message.contains(&format!("unknown key `{word}`")));
            let said = said.unwrap_or_else(|| panic!("{word} of [{table}] is known: {found:#?}"));
            let words = match meant {
                synonyms::Meaning::Is(key) => format!("did you mean `{key}`?"),
                synonyms::Meaning::Not(why) => format!("help: {why}; "),
            };
            assert!(said.contains(&words), "{said}\ndoes not hold {words}");
        }
    }
}

#[test]
fn wrong_types_say_what_is_wanted() {
    spoilt("210e9", "\"stiff\"", "10:9: this must be a number", &["stiff"]);
    spoilt(
        "[0.0, 0.0, -9.81]",
        "[0.0, -9.81]",
        "19:16: this must be three numbers `[x, y, z]`, not 2 values",
        &["^^^^^^^^^^^^"],
    );
    spoilt("on = \"zmin\"", "on = 3", "15:6: this must be a group name or a list", &["not"]);
    spoilt("cells = [2, 2, 2]", "cells = [2, -2, 2]", "2:", &["whole number"]);
}

#[test]
fn syntax_errors_and_missing_keys_have_their_place() {
    spoilt("name = \"steel\"", "name = \"steel", "8:", &["name = \"steel"]);
    spoilt("poisson = 0.3\n", "", "7:", &["`poisson` is missing"]);
    spoilt("[mesh]", "[grid]", "1:", &["unknown key `grid`"]);
    spoilt("value = 2e6", "value = 2e6\nvalue = 3e6", "24:", &["duplicate"]);
    spoilt("[gravity]", "[mesh]\n[gravity]", "18:2: this table is there twice", &["into one"]);
}

#[test]
fn single_and_double_brackets_are_told_apart() {
    spoilt("[[support]]", "[support]", "14:", &["write `[[support]]`"]);
    spoilt("[gravity]", "[[gravity]]", "18:", &["write `[gravity]`"]);
}

#[test]
fn keys_of_other_analyses_are_refused_by_name() {
    let laplace = |text: &str| {
        let text = text.replace("\"elasticity\"", "\"laplace\"").replace("density = 7850.0", "conductivity = 50.0");
        parse(&text).unwrap_err().to_string()
    };
    says(&laplace(GOOD), "part.toml:16:1: `fix` belongs to elasticity", &["a case of laplace", "laplace has value"]);
    let fixed = GOOD.replace("fix = \"xyz\"", "value = 1.0");
    let help = "laplace has flux, convection, source; or change [analysis] kind";
    says(&laplace(&fixed), "part.toml:18:2: `gravity` belongs to elasticity", &[help]);
    let pressed = fixed.replace("[gravity]\nacceleration = [0.0, 0.0, -9.81]\n", "");
    says(&laplace(&pressed), "part.toml:19:3: `pressure` belongs to elasticity", &[help]);
    let text = message("fix = \"xyz\"", "value = 1.0");
    says(&text, "part.toml:16:1: `value` belongs to heat and laplace problems", &["elasticity has fix, displacement"]);
    spoilt("[[pressure]]", "[[flux]]", "21:3: `flux` belongs to heat and laplace problems", &["pressure"]);
    let source = message("[gravity]", "[source]\nvalue = 1.0\n[gravity]");
    says(&source, "part.toml:18:2: `source` belongs to heat and laplace problems", &["gravity, rotation, pressure"]);
    spoilt("\"von_mises\"", "\"potential\"", "31:", &["field `potential` is not available"]);
}

#[test]
fn materials_may_say_more_than_an_analysis_asks_for_and_no_less() {
    assert!(parse(&GOOD.replace("density = 7850.0", "density = 7850.0\nconductivity = 50.0")).is_ok());
    spoilt("density = 7850.0", "conductivity = 0.0", "12:", &["`conductivity` must be greater than 0"]);
    let heat = "[mesh]\nfile = \"a.msh\"\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"steel\"\n";
    let with = |keys: &str| parse(&format!("{heat}{keys}"));
    assert!(with("conductivity = 50.0\n").is_ok());
    assert!(with("conductivity = 50.0\nyoung = 210e9\npoisson = 0.3\ndensity = 7850.0\n").is_ok());
    says(&with("young = 210e9\n").unwrap_err().to_string(), "part.toml:5:", &["`conductivity` is missing here"]);
    says(&with("conductivity = 50.0\nyoung = -1.0\n").unwrap_err().to_string(), "part.toml:8:", &["`young` must be"]);
}

#[test]
fn what_is_to_come_is_refused_by_name() {
    spoilt("\"cg\"", "\"multigrid\"", "26:10: method `multigrid`", &["available: auto, cg, direct"]);
    spoilt("method = \"cg\"", "precision = \"half\"", "26:", &["available: auto, double, single, mixed"]);
}

#[test]
fn an_annulus_has_radii_and_a_rectangle_may_be_cut_either_way() {
    let plane = |generate: &str| {
        let text = format!(
            "[mesh]\ngenerate = {{ {generate} }}\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"a\"\n\
             conductivity = 1.0\n"
        );
        parse(&text).map_err(|error| error.to_string())
    };
    let ring = "kind = \"annulus\", element = \"tri3\", radii = [1.0, 2.0], cells = [2, 9]";
    assert_eq!(plane(ring).unwrap().mesh().unwrap().coords.len(), 27);
    for (from, to, words) in [
        ("[1.0, 2.0]", "[2.0, 1.0]", "0 < inner < outer"),
        ("[1.0, 2.0]", "[2.0]", "two numbers `[inner, outer]`"),
        ("[2, 9]", "[2, 2]", "3 around"),
        ("[2, 9]", "[2, 9, 1]", "two numbers `[along the radius, around]`"),
        ("radii", "size", "`size` is no key of kind = \"annulus\""),
        ("radii = [1.0, 2.0], ", "", "`radii` is missing here"),
        ("tri3", "hex8", "available: tri3, quad4"),
        ("radii", "diagonals = \"up\", radii", "`diagonals` is no key"),
    ] {
        assert!(ring.contains(from));
        says(&plane(&ring.replace(from, to)).unwrap_err(), "part.toml:2:", &[words, "\nhelp: "]);
    }
    let cut = |how: &str| {
        let text = format!("kind = \"rectangle\", element = \"tri3\", size = [1, 1], cells = [1, 1]{how}");
        plane(&text).map(|case| case.mesh().unwrap().cells[0].nodes.clone())
    };
    assert_eq!(cut("").unwrap(), [0, 1, 3, 0, 3, 2]);
    assert_eq!(cut(", diagonals = \"up\"").unwrap(), cut("").unwrap());
    assert_eq!(cut(", diagonals = \"down\"").unwrap(), [0, 1, 2, 1, 3, 2]);
    says(&cut(", diagonals = \"dwon\"").unwrap_err(), "part.toml:2:", &["did you mean `down`?"]);
    says(&cut(", radii = [1, 2]").unwrap_err(), "part.toml:2:", &["`radii` is no key of kind = \"rectangle\""]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    spoilt("210e9", "-1.0", "10:9: `young` must be greater than 0", &["help: steel: 210e9 in Pa"]);
    spoilt("0.3", "0.5", "11:11: `poisson` must lie between", &["incompressible"]);
    spoilt("7850.0", "nan", "12:11: `density`", &["help: steel: 7850.0 in kg/m^3"]);
    spoilt("-9.81]", "inf]", "19:", &["must be finite", "help: `nan` and `inf` are nothing"]);
    spoilt("2e6", "nan", "23:", &["must be finite"]);
    spoilt("1e-8", "1.0", "28:", &["between 0 and 1"]);
    spoilt("tolerance = 1e-8", "max_iterations = 0", "28:", &["1 or more", "help: 20000 is"]);
    spoilt("tolerance = 1e-8", "order = 0", "28:", &["`order` must lie between 1 and 16"]);
    spoilt("tolerance = 1e-8", "order = 17", "28:", &["between 1 and 16"]);
    spoilt("size = [1.0,", "size = [0,", "2:", &["longer than 0", "help: for example `size = [1.0, 1.0, 1.0]`"]);
    spoilt("cells = [2,", "cells = [0,", "2:", &["at least one cell", "`cells = [8, 8, 8]`"]);
}

#[test]
fn supports_say_where_and_what_once() {
    spoilt("fix = \"xyz\"", "fix = \"xw\"", "16:7: `w` is no component", &[]);
    spoilt("fix = \"xyz\"\n", "", "14:", &["holds nothing"]);
    spoilt("on = \"zmin\"\n", "", "14:", &["exactly one of `on`, `nodes`, `box`"]);
    spoilt("on = \"zmin\"", "on = \"zmin\"\nnodes = [1]", "14:", &["exactly one of"]);
    let both = "fix = \"xyz\"\ndisplacement = { x = 1e-3 }";
    spoilt("fix = \"xyz\"", both, "17:", &["fixes `x` and displaces it"]);
    spoilt("fix = \"xyz\"", "displacement = { q = 0.0 }", "16:", &["`q` is no component"]);
    spoilt("fix = \"xyz\"", "displacement = [1.0, 0.0, 0.0]", "16:", &["this must be a table"]);
    let empty = "box = { min = [1, 0, 0], max = [0, 1, 1] }";
    spoilt("on = \"zmin\"", empty, "15:", &["the box is empty", "help: `min` has the lowest"]);
}

#[test]
fn names_of_options_are_checked_against_what_there_is() {
    let names = "available: auto, dense, dense_block, csr";
    spoilt("ebw", "ebv", "27:10: there is no format `ebv`", &[&format!("did you mean `ebw`? {names}")]);
    spoilt("ebw", "coo", "27:10: format `coo` is not available in this version", &[names]);
    spoilt("\"von_mises\"", "\"von_mizes\"", "31:", &["did you mean `von_mises`"]);
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
