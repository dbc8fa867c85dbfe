//! Pictures: their files, their sides and fields, and those of a model that is not solved.

use std::collections::BTreeSet;

use crate::{Folder, GOOD};

/// The pictures in `out`.
fn pictures(folder: &Folder) -> Vec<String> {
    folder.names("out").into_iter().filter(|name| name.ends_with(".png")).collect()
}

fn solve(folder: &Folder, flags: &[&str]) {
    folder.solve(GOOD, &[&["--quiet"], flags].concat()).done();
}

#[test]
fn sides_and_fields_have_pictures_of_their_own_and_old_ones_go() {
    let folder = Folder::new();
    solve(&folder, &["--view", "iso,-y,z", "--field", "von_mises,displacement_z"]);
    let fields = ["displacement_z", "von_mises"];
    let mut expected = vec!["case.png".to_string()];
    let sides = ["-y", "iso", "z"];
    expected.extend(fields.iter().flat_map(|field| sides.map(|side| format!("case_{field}_{side}.png"))));
    assert_eq!(pictures(&folder), expected);
    let listed = folder.summary("out")["pictures"].clone();
    let listed: BTreeSet<&str> = listed.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(listed.into_iter().eq(expected.iter().map(String::as_str)));
    let different: BTreeSet<Vec<u8>> = expected.iter().map(|name| folder.read(&format!("out/{name}"))).collect();
    assert_eq!(different.len(), 7);
    folder.write("out/case_of_another.png", "kept");
    solve(&folder, &["--view=-x"]);
    assert_eq!(pictures(&folder), ["case.png", "case_-x.png", "case_of_another.png"]);
    solve(&folder, &[]);
    assert_eq!(pictures(&folder), ["case.png", "case_of_another.png"]);
}

#[test]
fn without_symbols_the_picture_is_another_and_the_report_has_none() {
    let folder = Folder::new();
    solve(&folder, &[]);
    let [with, page] = ["png", "html"].map(|ending| folder.read(&format!("out/case.{ending}")));
    solve(&folder, &["--no-symbols"]);
    let [without, bare] = ["png", "html"].map(|ending| folder.read(&format!("out/case.{ending}")));
    assert!(with != without);
    let [page, bare] = [page, bare].map(|page| String::from_utf8(page).unwrap());
    for label in ["\"support xmin\"", "\"force on xmax: (0, 0, -1000)\""] {
        assert!(page.contains(label) && !bare.contains(label), "{label}");
    }
}

#[test]
fn sides_and_fields_that_there_are_not_list_those_that_there_are() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--view", "top"]).refused(2, &["iso, x, -x, y, -y, z, -z"]);
    folder.solve(GOOD, &["--field", "stain"]).refused(2, &["`stain`", "displacement_x", "stress_xz", "von_mises"]);
    assert_eq!(folder.names("."), ["case.toml"]);
}

#[test]
fn a_model_is_drawn_without_being_solved() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    folder.run(&["check", "case.toml", "--picture"]).done().says(&["wrote case_model.png"]);
    folder.run(&["check", "case.toml", "--picture=a.png"]).done();
    assert_eq!(folder.names("."), ["a.png", "case.toml", "case_model.png"]);
    assert!(folder.read("a.png") == folder.read("case_model.png") && folder.read("a.png").starts_with(b"\x89PNG"));
}

#[test]
fn the_largest_stress_away_from_the_clamp_is_said_beside_the_largest() {
    let folder = Folder::new();
    folder.solve(GOOD, &[]).done().says(&["away from supports, point loads, corners"]);
    let [all, away] =
        ["von_mises_nodal", "max_von_mises_away"].map(|key| folder.number("out", &format!("/results/{key}/max")));
    assert!(0.0 < away && away < all, "{away} {all}");
    // Three elements of 0.5 beside the clamp are near it.
    assert!(folder.number("out", "/results/max_von_mises_away/max_at/0") >= 2.0);
}
