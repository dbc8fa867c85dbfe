//! Plane problems resolved against meshes: what fits, and the messages where it does not.

use super::testing::{load, load_on, refused, refused_on};
use super::*;
use crate::element::ElementKind::{Quad4, Tet4, Tri3};
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::model::Error;

/// A plate of 2 x 1 with 4 x 2 cells, before supports and loads: the material is on line 9.
fn plate(element: &str) -> String {
    format!(
        "[mesh]\ngenerate = {{ kind = \"rectangle\", element = \"{element}\", size = [2.0, 1.0], cells = [4, 2] }}\n\
         [analysis]\nkind = \"plane_stress\"\nthickness = 0.5\n\
         [[material]]\nname = \"soft\"\nyoung = 1e6\npoisson = 0.3\n"
    )
}

const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xy\"\n";

/// The clamped plate with one piece replaced, which must be there.
fn but(from: &str, to: &str) -> String {
    let text = format!("{}{CLAMP}", plate("quad4"));
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn with(loads: &str) -> String {
    format!("{}{CLAMP}{loads}", plate("quad4"))
}

#[test]
fn a_plate_is_a_model() {
    for (element, n_cells) in [("tri3", 16), ("quad4", 8)] {
        let model = load(&format!("{}{CLAMP}", plate(element))).unwrap();
        assert_eq!((model.analysis, model.thickness), (Analysis::PlaneStress, 0.5));
        assert_eq!(model.cell_material, [vec![0; n_cells], vec![]]);
        assert_eq!(model.supports[0].displacement, [Some(0.0), Some(0.0), None]);
        assert_eq!(
            model.warnings,
            ["nothing loads the model: every displacement will be zero. Add a load, for example [[force]]"]
        );
    }
    let model = load(&but("thickness = 0.5\n", "")).unwrap();
    assert_eq!(model.thickness, 1.0);
    assert!(model.warnings[0].contains("no `thickness`: the plate is taken to be 1 thick"), "{:?}", model.warnings);
    let strain = load(&but("\"plane_stress\"\nthickness = 0.5", "\"plane_strain\"")).unwrap();
    assert_eq!((strain.analysis, strain.thickness, strain.warnings.len()), (Analysis::PlaneStrain, 1.0, 1));
}

#[test]
fn thickness_is_positive_and_of_plane_problems() {
    refused(&but("0.5", "0.0"), 2, &["box.toml:5:13: `thickness` must be greater than 0"]);
    refused(&but("\"plane_stress\"", "\"elasticity\""), 2, &["box.toml:5:13: `thickness` belongs to plane problems"]);
    refused(&but("plane_stress", "plane_stres"), 2, &["box.toml:4:8: there is no analysis kind", "`plane_stress`?"]);
}

#[test]
fn generated_meshes_fit_their_analysis() {
    let space = but("\"plane_stress\"\nthickness = 0.5", "\"elasticity\"");
    refused(&space, 2, &["box.toml:2:21: a rectangle is no mesh for the analysis kind `elasticity`", "kind = \"box\""]);
    let solid = "\"box\", element = \"hex8\", size = [1, 1, 1], cells = [2, 2, 2]";
    let solid = but("\"rectangle\", element = \"quad4\", size = [2.0, 1.0], cells = [4, 2]", solid);
    refused(&solid, 2, &["a box is no mesh for the analysis kind `plane_stress`", "\"rectangle\""]);
    refused(&but("\"quad4\"", "\"hex8\""), 2, &["box.toml:2:44: element `hex8`", "tri3, quad4"]);
    refused(&but("[2.0, 1.0]", "[2.0, 1.0, 1.0]"), 2, &["this must be two numbers `[x, y]`, not 3 values"]);
    refused(&but("[4, 2]", "[4]"), 2, &["this must be two numbers `[x, y]`, not 1 value\n"]);
    refused(&but("[4, 2]", "[4, 0]"), 2, &["the rectangle needs at least one cell"]);
    refused(&but("[2.0, 1.0]", "[2.0, 0.0]"), 2, &["every edge of the rectangle must be longer than 0"]);
}

#[test]
fn meshes_of_files_fit_their_analysis() {
    let text = with("").replace("generate = { ", "file = \"given.msh\"\n# { ");
    let words =
        ">given.msh is no mesh of plane elements, which plane_stress needs; it holds 6 tet4, 12 tri3; groups: body";
    refused_on(&text, generate_box(Tet4, [1.0; 3], [1; 3]).unwrap(), 4, &[words]);
    let rectangle = generate_rectangle(Tri3, [2.0, 1.0], [1, 1]).unwrap();
    let elastic = text.replace("\"plane_stress\"\nthickness = 0.5", "\"elasticity\"").replace("\"xy\"", "\"xyz\"");
    let words =
        ">given.msh has no solid elements, which elasticity needs; it holds 2 tri3, 4 line2; groups: body, xmin";
    let help = "[analysis] kind = \"plane_stress\" or \"plane_strain\"";
    refused_on(&elastic, rectangle.clone(), 4, &[words, help]);
    let mut raised = rectangle;
    raised.coords[0][2] = 0.1;
    refused_on(&text, raised.clone(), 4, &[">given.msh is not flat; plane_stress"]);
    raised.coords.iter_mut().for_each(|x| x[2] = 0.1);
    assert!(load_on(&text, raised).is_ok(), "any plane z = constant will do");
}

#[test]
fn components_are_x_and_y() {
    for fix in ["z", "xyz"] {
        let words = ["`z` is no component of a plane_stress problem", "components: x, y"];
        refused(&but("fix = \"xy\"", &format!("fix = \"{fix}\"")), 2, &words);
    }
    let z = but("fix = \"xy\"", "fix = \"xy\"\ndisplacement = { z = 0.0 }");
    refused(&z, 2, &["box.toml:13:18: `z` is no component"]);
    refused(&but("fix = \"xy\"", "fix = \"q\""), 2, &["`q` is no component", "components: x, y\n"].map(|w| w.trim()));
}

#[test]
fn vectors_lie_in_the_plane() {
    let density = |text: String| text.replace("poisson = 0.3", "poisson = 0.3\ndensity = 1.0");
    let good = [
        "[gravity]\nacceleration = V\n",
        "[[traction]]\non = \"xmax\"\nvector = V\n",
        "[[force]]\non = \"xmax\"\ntotal = V\n",
        "[[point_force]]\nnode = 5\nvector = V\n",
        "[[push]]\ndirection = V\ntotal = 1.0\n",
    ];
    for table in good {
        let text = |v: &str| density(with(&table.replace('V', v)));
        let [two, three] = ["[1.0, 2.0]", "[1.0, 2.0, 0.0]"].map(|v| load(&text(v)).unwrap());
        assert_eq!((two.nodal_forces, two.gravity), (three.nodal_forces, three.gravity));
        refused(&text("[1.0, 2.0, 3.0]"), 2, &["points out of the plane of this plane_stress problem"]);
        refused(&text("[1.0, 2.0, 0.0, 0.0]"), 2, &["two numbers `[x, y]`, not 4 values"]);
    }
}

#[test]
fn points_and_boxes_have_two_coordinates_or_three() {
    let mut mesh = generate_rectangle(Quad4, [2.0, 1.0], [4, 2]).unwrap();
    mesh.coords.iter_mut().for_each(|x| x[2] = 7.0);
    let text = |at: &str| with(&format!("[[point_force]]\nat = {at}\nvector = [0.0, 1.0]\n"));
    for at in ["[2.0, 1.0]", "[2.0, 1.0, 7.0]"] {
        let model = load_on(&text(at), mesh.clone()).unwrap();
        assert_eq!((model.nodal_forces[14], model.warnings.len()), ([0.0, 1.0, 0.0], 0));
    }
    let in_box = |corners: &str| but("on = \"xmin\"", &format!("box = {{ {corners} }}"));
    let model = load_on(&in_box("min = [-1, -1], max = [0, 9]"), mesh.clone()).unwrap();
    assert_eq!(model.supports[0].nodes, [0, 5, 10]);
    let model = load_on(&in_box("min = [-1, -1, 6], max = [0, 9, 8]"), mesh.clone()).unwrap();
    assert_eq!(model.supports[0].nodes, [0, 5, 10]);
    refused_on(&in_box("min = [-1, -1, 0], max = [0, 9, 1]"), mesh, 2, &["no node lies in this box"]);
}

#[test]
fn groups_are_those_of_the_plane() {
    let mut bare = generate_rectangle(Quad4, [2.0, 1.0], [4, 2]).unwrap();
    bare.groups.clear();
    let load_side = |on: &str| with(&format!("[[pressure]]\non = \"{on}\"\nvalue = 2.0\n"));
    let model = load_on(&load_side("ymax"), bare.clone()).unwrap();
    assert_eq!((model.supports[0].nodes.len(), &model.applied[0].total), (3, &[0.0, -2.0 * 2.0 * 0.5, 0.0]));
    for z in ["zmin", "zmax"] {
        refused(
            &load_side(z),
            2,
            &[&format!("a plane problem has no side `{z}`"), "its sides: xmin, xmax, ymin, ymax"],
        );
        refused_on(&but("xmin", z), bare.clone(), 2, &["has no side"]);
    }
    refused(&load_side("tip"), 2, &["the generated mesh has no group `tip`", "extreme planes: xmin .. ymax"]);
    let material = but("name = \"soft\"", "name = \"soft\"\non = \"xmin\"");
    refused(&material, 2, &["`xmin` is a group of dimension 1; a material is of groups of surfaces", ": body"]);
    let typo = but("name = \"soft\"", "name = \"soft\"\non = \"bodi\"");
    refused(&typo, 2, &["did you mean `body`? groups of surfaces: body", "may leave `on` out"]);
}

#[test]
fn consistent_forces_of_an_edge() {
    let model = load(&with("[[traction]]\non = \"xmax\"\nvector = [4.0, 0.0]\n")).unwrap();
    // Two edges of length 0.5 on a plate 0.5 thick: 1 N each, half to either end.
    let at = |node: usize| model.nodal_forces[node][0];
    assert_eq!([at(4), at(9), at(14)], [0.5, 1.0, 0.5]);
    let all_round = load(&with("[[pressure]]\non = \"body\"\nvalue = 3.0\n")).unwrap();
    assert!(all_round.applied[0].total.iter().all(|total| total.abs() < 1e-14));
    let corner = load(&with("[[push]]\ndirection = [1.0, 1.0]\ntotal = 1.0\n")).unwrap();
    assert!(corner.warnings[0].contains("no edge lies furthest along [1.0, 1.0, 0.0]; the single node"));
}

#[test]
fn nothing_locks_in_plane_stress() {
    let soft = |kind: &str| but("0.3", "0.499").replace("plane_stress", kind);
    let locks =
        |kind: &str| load(&soft(kind)).unwrap().warnings.iter().any(|warning| warning.contains("quad4 elements lock"));
    assert!(locks("plane_strain") && !locks("plane_stress"));
}

#[test]
fn a_plate_that_is_not_held_says_how_it_moves() {
    match load(&plate("tri3")) {
        Err(Error::Model(ModelError::FreeMotion { parts, .. })) => assert_eq!(parts[0].motions.len(), 3),
        other => panic!("{other:?}"),
    }
    let words = [
        "nothing holds the body: no [[support]] acts on it",
        "part 1 (15 nodes, from (0, 0) to (2, 1)) is free to move: nothing stops any translation or rotation\n",
        "held by `fix = \"xy\"` on any of: xmin, xmax, ymin, ymax",
    ];
    refused(&plate("tri3"), 4, &words);
}
