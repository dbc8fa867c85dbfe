//! Case files resolved against meshes: materials, supports, and the messages where they do not fit.

use super::testing::{CLAMP, beside, clamped, head, load, load_on, refused, refused_on, warned};
use super::*;
use crate::element::ElementKind::{Hex8, Tet4};
use crate::mesh::Group;
use crate::mesh::generate::generate_box;
use crate::model::Error;

fn supported(supports: &str) -> Model {
    load(&format!("{}{supports}", head("tet4"))).unwrap()
}

#[test]
fn a_single_material_is_everywhere() {
    let model = supported(CLAMP);
    assert_eq!(model.name, "box");
    assert_eq!(model.cell_material, [vec![0; 48], vec![]]);
    assert_eq!(model.supports[0].nodes.len(), 6);
    assert_eq!(model.supports[0].displacement, [Some(0.0); 3]);
    assert_eq!(
        warned(&model),
        ["nothing loads the model: every displacement will be zero. Add a load, for example [[force]]"]
    );
    assert!(model.fields.iter().eq(Analysis::Elasticity.physics().usual_fields()));
}

#[test]
fn loads_that_cancel_are_said_to() {
    let load = |x: f64| format!("[[force]]\non = \"xmax\"\ntotal = [{x:?}, 0.0, 0.0]\n");
    for [a, b] in [[3.0, -3.0], [0.1, -0.1 + 1e-15]] {
        let model = supported(&format!("{CLAMP}{}{}", load(a), load(b)));
        assert_eq!(
            warned(&model),
            ["the loads cancel at every node: every displacement will be zero. Check their signs"]
        );
    }
}

#[test]
fn supports_by_group_tags_and_box() {
    let model = supported(
        "[[support]]\non = [\"xmin\", \"xmax\"]\nfix = \"y\"\ndisplacement = { x = 0.0, z = 1e-3 }\n\
         [[support]]\nnodes = [3, 2]\nfix = \"x\"\n\
         [[support]]\nbox = { min = [0.9, -1, -1], max = [1.1, 0.0, 9] }\nfix = \"z\"\n\
         [[support]]\non = \"xmin\"\nfix = \"y\"\n[[support]]\non = \"xmin\"\nfix = \"y\"\n",
    );
    let names: Vec<&str> = model.supports.iter().map(|support| support.name.as_str()).collect();
    assert_eq!(names, ["xmin+xmax", "support[2]", "support[3]", "xmin", "xmin[2]"]);
    assert_eq!(model.supports[0].nodes.len(), 12);
    assert_eq!(model.supports[0].displacement, [Some(0.0), Some(0.0), Some(1e-3)]);
    assert_eq!(model.supports[1].nodes, [1, 2]);
    assert_eq!(model.supports[1].displacement, [Some(0.0), None, None]);
    assert_eq!(model.supports[2].nodes, [2, 17]);
}

#[test]
fn supports_that_disagree_are_both_named() {
    let second = "[[support]]\non = \"ymin\"\ndisplacement = { y = 1e-3 }\n";
    let text = clamped("tet4", second);
    refused(&text, 2, &["box.toml:11:6:", "`xmin` (box.toml:8)", "`ymin`", "displacements y of node 1: 0 and 0.001"]);
    let agreeing = clamped("tet4", "[[support]]\non = \"ymin\"\nfix = \"y\"\n");
    assert!(load(&agreeing).is_ok());
}

#[test]
fn unknown_groups_and_nodes_have_a_place_and_a_list() {
    let text = |on: &str| format!("{}{}", head("tet4"), CLAMP.replace("\"xmin\"", on));
    refused(
        &text("\"xmim\""),
        2,
        &[
            "box.toml:8:6: the generated mesh has no group `xmim`",
            "did you mean `xmin`",
            "groups: body, xmin",
            "^^^^^^",
        ],
    );
    refused(&text("[\"ymin\", \"foot\"]"), 2, &["box.toml:8:15: the generated mesh has no group `foot`"]);
    refused(&text("[]"), 2, &["the list of groups is empty"]);
    let held_at = |place: &str| format!("{}{}", head("tet4"), CLAMP.replace("on = \"xmin\"", place));
    refused(&held_at("nodes = [1, 500]"), 2, &["box.toml:8:13:", "no node 500", "from 1 to 30"]);
    let nowhere = held_at("box = { min = [9, 9, 9], max = [10, 10, 10] }");
    refused(&nowhere, 2, &["box.toml:8:7: no node lies in this box", "2.0, 1.0, 0.5"]);
    let load = "[[force]]\non = \"tip\"\ntotal = [1, 0, 0]\n";
    refused(&clamped("tet4", load), 2, &["box.toml:11:6: the generated mesh has no group `tip`", "`tip`"]);
}

#[test]
fn planes_need_no_groups() {
    let mut mesh = generate_box(Tet4, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    mesh.groups.clear();
    let text = clamped("tet4", "[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n");
    assert_eq!(load_on(&text, mesh).unwrap().supports[0].nodes.len(), 6);
}

#[test]
fn a_load_on_curves_or_loose_facets_says_why_it_cannot_act() {
    let mut mesh = generate_box(Hex8, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    mesh.cells.push(crate::mesh::Cells {
        kind: crate::element::ElementKind::Line2,
        nodes: vec![3, 4],
        tags: vec![800],
    });
    let facet = vec![4, 9, 24, 20];
    mesh.cells.push(crate::mesh::Cells { kind: crate::element::ElementKind::Quad4, nodes: facet, tags: vec![801] });
    mesh.groups.push(Group { name: "rim".into(), dim: 1, members: vec![(2, vec![0])] });
    mesh.groups.push(Group { name: "loose".into(), dim: 2, members: vec![(3, vec![0])] });
    let mut mixed = mesh.groups[2].clone();
    mixed.name = "mixed".into();
    mixed.members.push((3, vec![0]));
    mesh.groups.push(mixed);
    for (name, why) in [("rim", "is a group of curves"), ("loose", "holds no face"), ("mixed", "1 of the 3 facets")] {
        let text = clamped("hex8", &format!("[[pressure]]\non = \"{name}\"\nvalue = 1.0\n"));
        refused_on(&text, mesh.clone(), 2, &[why]);
    }
}

#[test]
fn gravity_needs_the_density_of_every_material_in_use() {
    let gravity = "[gravity]\nacceleration = [0, 0, -9.81]\n";
    let text = clamped("tet4", gravity);
    refused(&text, 4, &["box.toml:4:8: gravity needs the density of material `soft`"]);
    let model = load(&text.replace("poisson = 0.3", "poisson = 0.3\ndensity = 7850")).unwrap();
    assert_eq!(model.gravity, Some([0.0, 0.0, -9.81]));
    assert!(warned(&model).is_empty());
    let weightless =
        load(&text.replace("poisson = 0.3", "poisson = 0.3\ndensity = 7850").replace("-9.81", "0")).unwrap();
    assert_eq!(warned(&weightless)[0], "gravity is zero");
}

/// Two boxes, "body" and "core".
fn two_bodies() -> Mesh {
    let one = generate_box(Tet4, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    let mut other = one.clone();
    other.groups[0].name = "core".into();
    beside(one, &other, [3.0, 0.0, 0.0])
}

fn materials(first: &str, second: &str) -> String {
    let material =
        |name: &str, on: &str| format!("[[material]]\nname = \"{name}\"\non = {on}\nyoung = 1e6\npoisson = 0.3\n");
    let both = "[[support]]\nbox = { min = [-1, -1, -1], max = [9, 9, 0] }\nfix = \"xyz\"\n";
    format!("[mesh]\nfile = \"two.msh\"\n{}{}{both}", material("steel", first), material("foam", second))
}

#[test]
fn every_solid_has_exactly_one_material() {
    let model = load_on(&materials("\"body\"", "\"core\""), two_bodies()).unwrap();
    assert_eq!(model.cell_material, [vec![0; 48], vec![], vec![1; 48], vec![]]);
    let words = "of `core` has two materials: `steel` (box.toml:4) and `foam`";
    let surface = "`xmin` is a group of dimension 2; a material is of groups of volumes";
    for (first, second, words) in [
        ("[\"body\", \"core\"]", "\"core\"", [">box.toml:10:6: element ", words]),
        ("\"body\"", "[\"body\"]", ["two materials", ""]),
        ("\"body\"", "\"xmin\"", [surface, "volumes: body, core"]),
        ("\"body\"", "\"cor\"", [">box.toml:10:6: two.msh has no group", "did you mean `core`"]),
    ] {
        refused_on(&materials(first, second), two_bodies(), 2, &words);
    }
    let one = materials("\"body\"", "\"core\"")
        .replace("[[material]]\nname = \"foam\"\non = \"core\"\nyoung = 1e6\npoisson = 0.3\n", "");
    refused_on(&one, two_bodies(), 2, &["48 solid elements have no material", "`on` for: core"]);
}

#[test]
fn too_few_supports_are_a_model_error() {
    let text = format!("{}{}", head("tet4"), CLAMP.replace("xyz", "x"));
    refused(
        &text,
        4,
        &["the supports leave the body free to move", "part 1 (30 nodes", "translation along y", "on any of:"],
    );
    refused(&head("tet4"), 4, &["nothing holds the body", "nothing stops any translation or rotation"]);
    let push = format!("{}[[push]]\ndirection = [0, 0, 1]\ntotal = 1\n", head("tet4"));
    refused(&push, 4, &["nothing holds the body"]);
}

#[test]
fn a_body_without_support_is_found_though_nothing_loads_it() {
    let text = materials("\"body\"", "\"core\"").replace("max = [9, 9, 0]", "max = [2, 9, 0]");
    match load_on(&text, two_bodies()) {
        Err(Error::Model(ModelError::FreeMotion { parts, n_parts })) => {
            assert_eq!((parts.len(), n_parts, parts[0].number), (1, 2, 2));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn surfaces_without_solids_are_named() {
    let mut mesh = generate_box(Tet4, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    mesh.cells[0].nodes.clear();
    mesh.cells[0].tags.clear();
    mesh.groups.remove(0);
    let words = ["has no solid elements, which elasticity needs; it holds 56 tri3", "physical volume"];
    refused_on(&clamped("tet4", ""), mesh, 4, &words);
}

#[test]
fn nearly_incompressible_linear_elements_are_warned_of() {
    for element in ["tet4", "hex8"] {
        let text = clamped(element, "").replace("0.3", "0.47");
        let words = format!(
            "material `soft`: {element} elements lock at poisson = 0.47: displacements come out too small, stresses \
             wrong. Use second-order elements"
        );
        assert_eq!(load(&text).unwrap().warnings[0], words);
        assert!(!load(&text.replace("0.47", "0.4")).unwrap().warnings[0].contains("elements lock"));
    }
}
