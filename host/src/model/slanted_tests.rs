//! Supports in other directions, springs and masses: what a case says, and what is refused.

use super::testing::{clamped, head, load, load_on, refused, refused_on, warned};
use crate::element::ElementKind::{Hex8, Quad4, Quad8};
use crate::mesh::annulus::generate_annulus;
use crate::mesh::generate::generate_box;
use crate::mesh::vector::dot;
use crate::model::Directions;

fn normals(text: &str) -> Vec<(u32, [f64; 3])> {
    match &load(text).unwrap().supports[1].directions {
        Directions::Normals(normals) => normals.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn normals_of_flat_sides_are_exact_and_edges_have_two() {
    for element in ["tet4", "hex8", "tet10", "hex20"] {
        let one = normals(&clamped(element, "[[support]]\non = \"zmax\"\nfix = \"normal\"\n"));
        assert!(one.iter().all(|(_, n)| *n == [0.0, 0.0, 1.0]), "{element}: {one:?}");
        let two = normals(&clamped(element, "[[support]]\non = [\"zmax\", \"ymin\"]\nfix = \"normal\"\n"));
        let on_edge = two.chunk_by(|a, b| a.0 == b.0).filter(|of| of.len() == 2).count();
        assert_eq!(on_edge, if element.ends_with('0') { 9 } else { 5 }, "{element}");
    }
}

#[test]
fn normals_of_a_ring_are_radial() {
    let tables = "[mesh]\nfile = \"ring.msh\"\n[analysis]\nkind = \"plane_strain\"\n[[material]]\nname = \"m\"\nyoung = 1.0\n\
                  poisson = 0.3\n[[support]]\non = \"inner\"\nfix = \"xy\"\n[[support]]\non = \"outer\"\nfix = \"normal\"\n";
    // An edge of a parabola is off the circle by 4e-5 in its direction, one of a chord by nothing at its ends.
    for (kind, within) in [(Quad4, 1e-12), (Quad8, 1e-6)] {
        let mesh = generate_annulus(kind, [1.0, 2.0], [2, 32]).unwrap();
        let model = load_on(tables, mesh).unwrap();
        let Directions::Normals(normals) = &model.supports[1].directions else { panic!() };
        for (node, n) in normals {
            let along = dot(model.mesh.coords[*node as usize].map(|c| 0.5 * c), *n);
            assert!((along - 1.0).abs() < within, "{kind:?}: {along}");
        }
    }
}

#[test]
fn axes_of_the_mesh_are_no_others() {
    let same = "[[support]]\non = \"zmax\"\naxes = { x = [2.0, 0.0, 0.0], y = [0.0, 3.0, 0.0] }\nfix = \"z\"\n";
    assert!(!load(&clamped("hex8", same)).unwrap().supports[1].is_slanted());
    let named = "[[support]]\nname = \"pin\"\non = \"zmax\"\naxes = { axis = [0.0, 0.0, 1.0], at = [9.0, 0.0, 0.0] }\nfix = \"rt\"\n";
    let model = load(&clamped("hex8", named)).unwrap();
    assert_eq!(
        (model.supports[1].name.as_str(), model.supports[1].displacement),
        ("pin", [Some(0.0), Some(0.0), None])
    );
}

#[test]
fn springs_and_slanted_supports_hold_a_body() {
    let spring =
        "[[spring]]\non = \"xmin\"\nstiffness = [1.0, 1.0, 1.0]\n[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n";
    let model = load(&format!("{}{spring}", head("tet10"))).unwrap();
    assert!(warned(&model).iter().all(|said| said.contains("elements along the part")), "{:?}", warned(&model));
    let total = |c: usize| model.springs[0].blocks.iter().map(|(.., s)| s[c][c]).sum::<f64>();
    (0..3).for_each(|c| assert!((total(c) - 1.0).abs() < 1e-12));
    let sides = "[[support]]\non = [\"xmin\", \"ymin\", \"zmin\"]\nfix = \"normal\"\n";
    assert_eq!(load(&format!("{}{sides}", head("hex8"))).unwrap().supports.len(), 1);
    // Two springs of one name.
    let twice = format!("{}{spring}{}", head("hex8"), &spring[..spring.find("[[force").unwrap()]);
    assert_eq!(load(&twice).unwrap().springs[1].name, "xmin[2]");
}

#[test]
fn what_does_not_hold_is_refused() {
    let free = |text: &str, words: &[&str]| refused(&format!("{}{text}", head("hex8")), 4, words);
    free("[[support]]\non = [\"xmin\", \"ymin\"]\nfix = \"normal\"\n", &["free to move", "translation along z"]);
    free("[[spring]]\non = \"zmin\"\nfoundation = 5.0\n", &["translation along x", "translation along y"]);
    free("[[spring]]\non = \"zmin\"\nstiffness = [1.0, 1.0, 0.0]\n", &["translation along z"]);
}

#[test]
fn mistakes_in_supports_springs_and_masses() {
    let round = "axes = { axis = [0.0, 0.0, 1.0] }";
    let support = |keys: &str| format!("[[support]]\n{keys}\n");
    let cases: Vec<(String, &str)> = vec![
        (support("on = \"ymin\"\nfix = \"rx\""), "`r` is no component"),
        (support(&format!("on = \"ymin\"\n{round}\nfix = \"x\"")), "components: r, t, z"),
        (support(&format!("on = \"ymin\"\n{round}\nfix = \"normal\"")), "`normal` is across the faces"),
        (support("nodes = [1, 2]\nfix = \"normal\""), "`normal` needs faces"),
        (
            support("on = \"ymin\"\nfix = \"normal\"\ndisplacement = { normal = 1.0 }"),
            "fixes `normal` and displaces it",
        ),
        (support("on = \"ymin\"\nfix = \"normal\"\ndisplacement = { x = 1.0 }"), "components: normal"),
        (support("on = \"ymin\"\naxes = { x = [1.0, 0.0, 0.0], y = [2.0, 0.0, 0.0] }\nfix = \"x\""), "are parallel"),
        (support("on = \"ymin\"\naxes = { axis = [0.0, 0.0, 0.0] }\nfix = \"r\""), "`axis` must not be zero"),
        (support("on = \"ymin\"\naxes = { at = [0.0, 0.0, 0.0] }\nfix = \"r\""), "axes are `x` and `y`, or `axis`"),
        (support(&format!("on = \"ymin\"\n{round}\nfix = \"r\"")), "lies on the axis"),
        (support("on = \"nope\"\nfix = \"normal\""), "has no group `nope`"),
        (
            support("on = \"xmin\"\ndisplacement = { normal = 2.0 }"),
            "supports `xmin` (box.toml:8) and `xmin[2]` prescribe displacements of node",
        ),
        (
            support("on = \"ymin\"\naxes = { x = [1.0, 1.0, 0.0], y = [-1.0, 1.0, 0.0] }\ndisplacement = { x = 0.5 }"),
            "exclude each other",
        ),
        ("[[spring]]\non = \"xmax\"\nstiffness = [1.0, -1.0, 0.0]\n".into(), "`stiffness` is negative"),
        ("[[spring]]\non = \"xmax\"\nfoundation = -1.0\n".into(), "`foundation` is negative"),
        ("[[spring]]\non = \"xmax\"\nstiffness = [0.0, 0.0, 0.0]\n".into(), "`stiffness` is 0"),
        ("[[spring]]\non = \"xmax\"\nstiffness = 5.0\n".into(), "`stiffness` has 3 numbers"),
        ("[[spring]]\non = \"xmax\"\nfoundation = [1.0, 2.0]\n".into(), "`foundation` has one number or 3"),
        ("[[spring]]\non = \"xmax\"\n".into(), "exactly one of `stiffness`, `foundation`"),
        ("[[spring]]\non = \"xmax\"\nstiffness = [1.0, inf, 0.0]\n".into(), "`stiffness` must be finite"),
        ("[[spring]]\non = \"nope\"\nfoundation = 1.0\n".into(), "has no group `nope`"),
        ("[[spring]]\non = \"xmax\"\nk = 1.0\n".into(), "did you mean `stiffness`?"),
        ("[[mass]]\non = \"xmax\"\nmass = -3.0\n".into(), "`mass` must be greater than 0"),
        ("[[mass]]\non = \"nope\"\nmass = 3.0\n".into(), "has no group `nope`"),
        ("[[mass]]\non = \"xmax\"\n".into(), "`mass` is missing here"),
        ("[spring]\non = \"xmax\"\nfoundation = 1.0\n".into(), "`spring` tables form a list"),
    ];
    for (keys, words) in &cases {
        refused(&clamped("hex8", keys), 2, &[">box.toml:", words]);
    }
    let heat = "[mesh]\nfile = \"a.msh\"\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 1.0\n\
                [[support]]\non = \"xmin\"\nvalue = 1.0\n[[spring]]\non = \"xmax\"\nfoundation = 1.0\n";
    refused_on(heat, generate_box(Hex8, [1.0; 3], [1; 3]).unwrap(), 2, &["`spring` belongs to elasticity"]);
}

#[test]
fn axes_fit_the_analysis() {
    let text = |kind: &str, support: &str| {
        format!(
            "[mesh]\ngenerate = {{ kind = \"rectangle\", element = \"quad8\", size = [2.0, 1.0], cells = [4, 2] }}\n\
             [analysis]\nkind = \"{kind}\"\n[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.3\n\
             [[support]]\non = \"ymin\"\n{support}\n"
        )
    };
    let out = "axes = { x = [1.0, 0.0, 1.0], y = [0.0, 1.0, 0.0] }\nfix = \"xy\"";
    refused(&text("plane_stress", out), 2, &["these axes leave the plane"]);
    let across = "axes = { axis = [1.0, 0.0, 0.0] }\nfix = \"rt\"";
    refused(&text("plane_strain", across), 2, &["across the plane"]);
    let round = "axes = { axis = [0.0, 0.0, 1.0] }\nfix = \"rt\"";
    refused(&text("axisymmetric", round), 2, &["a body of revolution has its own axis"]);
    refused(&text("plane_stress", &round.replace("rt", "z")), 2, &["`z` is no component", "components: r, t"]);
    load(&text("plane_stress", round)).unwrap();
    load(&text("axisymmetric", "fix = \"normal\"")).unwrap();
}
