//! Totals and moments of every kind of load, against values by hand.

use approx::assert_relative_eq;

use super::surface::FaceIntegral;
use crate::element::ElementKind::{Hex8, Point1, Tet4};
use crate::mesh::generate::generate_box;
use crate::mesh::vector::{add, cross, sub};
use crate::mesh::{Cells, Group, Mesh};
use crate::model::Analysis;
use crate::model::Model;
use crate::model::testing::{clamped, load, load_on, refused_on, warned};

fn model(element: &str, loads: &str) -> Model {
    load(&clamped(element, loads)).unwrap()
}

/// Sum of the nodal forces and of their moments about the origin.
fn totals(model: &Model) -> ([f64; 3], [f64; 3]) {
    let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
    for (&f, &x) in model.nodal_forces.iter().zip(&model.mesh.coords) {
        (force, moment) = (add(force, f), add(moment, cross(x, f)));
    }
    (force, moment)
}

#[track_caller]
fn assert_totals(model: &Model, force: [f64; 3], moment: [f64; 3]) {
    let (f, m) = totals(model);
    for c in 0..3 {
        assert_relative_eq!(f[c], force[c], epsilon = 1e-9, max_relative = 1e-12);
        assert_relative_eq!(m[c], moment[c], epsilon = 1e-9, max_relative = 1e-12);
    }
}

#[test]
fn pressure_pushes_on_the_body() {
    for element in ["tet4", "hex8"] {
        // The top is 2 x 1 at z = 0.5: 3 Pa push 6 N down in its middle (1, 0.5).
        let model = model(element, "[[pressure]]\non = \"zmax\"\nvalue = 3.0\n");
        assert_totals(&model, [0.0, 0.0, -6.0], [-3.0, 6.0, 0.0]);
        assert_eq!(model.applied[0].name, "pressure on zmax");
        assert_eq!(Some(model.applied[0].nodes.clone()), model.mesh.nodes_on("zmax"));
        assert_relative_eq!(model.applied[0].total[2], -6.0, max_relative = 1e-12);
    }
}

#[test]
fn pressure_all_round_is_in_equilibrium() {
    for element in ["tet4", "hex8"] {
        let sides = "[\"xmin\", \"xmax\", \"ymin\", \"ymax\", \"zmin\", \"zmax\"]";
        for on in ["\"body\"", sides, "[\"body\", \"zmax\"]"] {
            let model = model(element, &format!("[[pressure]]\non = {on}\nvalue = 5.0\n"));
            assert_totals(&model, [0.0; 3], [0.0; 3]);
            assert!(model.nodal_forces.iter().flatten().any(|f| f.abs() > 0.1));
        }
    }
}

#[test]
fn traction_is_per_area_and_force_is_in_total() {
    for element in ["tet4", "hex8"] {
        // The end is 1 x 0.5 at x = 2.
        let by_area = model(element, "[[traction]]\non = \"xmax\"\nvector = [4.0, 0.0, -8.0]\n");
        assert_totals(&by_area, [2.0, 0.0, -4.0], [-2.0, 8.0 + 0.5, -1.0]);
        let in_total = model(element, "[[force]]\non = \"xmax\"\ntotal = [2.0, 0.0, -4.0]\n");
        for (a, b) in by_area.nodal_forces.as_flattened().iter().zip(in_total.nodal_forces.as_flattened()) {
            assert_relative_eq!(a, b, epsilon = 1e-14);
        }
    }
}

#[test]
fn consistent_forces_of_a_hex_face_and_of_triangles() {
    // Four quadrilaterals of 0.5 x 0.5 on the two-by-one end: a corner takes a quarter of one.
    let hex = model("hex8", "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.0, 0.0]\n");
    let corner = hex.mesh.coords.iter().position(|x| *x == [2.0, 0.0, 0.0]).unwrap();
    let middle = hex.mesh.coords.iter().position(|x| *x == [2.0, 0.5, 0.0]).unwrap();
    assert_relative_eq!(hex.nodal_forces[corner][0], 0.0625, max_relative = 1e-12);
    assert_relative_eq!(hex.nodal_forces[middle][0], 0.125, max_relative = 1e-12);
    // Every triangle of area 0.125 gives each of its nodes a third.
    let tet = model("tet4", "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.0, 0.0]\n");
    for force in tet.nodal_forces.iter().map(|f| f[0]).filter(|f| *f != 0.0) {
        let thirds = force / (0.125 / 3.0);
        assert_relative_eq!(thirds, thirds.round(), max_relative = 1e-12);
    }
}

#[test]
fn point_forces_find_their_node() {
    let tag = "[[point_force]]\nnode = 15\nvector = [0.0, 7.0, 0.0]\n";
    let at = "[[point_force]]\nat = [2.01, 1.0, 0.0]\nvector = [0.0, 7.0, 0.0]\n";
    for loads in [tag, at] {
        let model = model("tet4", loads);
        assert_eq!(model.mesh.coords[14], [2.0, 1.0, 0.0]);
        assert_eq!(model.nodal_forces[14], [0.0, 7.0, 0.0]);
        assert_totals(&model, [0.0, 7.0, 0.0], [0.0, 0.0, 14.0]);
        assert!(warned(&model).is_empty());
    }
    let far = model("tet4", "[[point_force]]\nat = [2.1, 1.0, 0.0]\nvector = [0.0, 7.0, 0.0]\n");
    assert!(far.warnings[0].contains("nearest node, 15"), "{:?}", far.warnings);
}

#[test]
fn loads_add_up() {
    let model = model(
        "tet4",
        "[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n[[force]]\non = \"xmax\"\ntotal = [0.0, 2.0, 0.0]\n",
    );
    assert_totals(&model, [1.0, 2.0, 0.0], [-0.5, 0.25, 4.0 - 0.5]);
    assert_eq!(model.applied.len(), 2);
}

#[test]
fn a_push_on_a_flat_end_is_an_even_pressure() {
    for element in ["tet4", "hex8"] {
        let push = model(element, "[[push]]\ndirection = [0.0, 0.0, 3.0]\ntotal = 6.0\n");
        let pressure = model(element, "[[pressure]]\non = \"zmax\"\nvalue = 3.0\n");
        for (a, b) in push.nodal_forces.as_flattened().iter().zip(pressure.nodal_forces.as_flattened()) {
            assert_relative_eq!(a, b, epsilon = 1e-12);
        }
        assert!(warned(&push).is_empty());
    }
}

#[test]
fn a_push_on_an_edge_or_a_corner_is_shared_and_said() {
    let edge = model("tet4", "[[push]]\ndirection = [1.0, 0.0, 1.0]\ntotal = 3.0\n");
    let part = 3.0 / 2.0f64.sqrt();
    assert_totals(&edge, [-part, 0.0, -part], [-0.5 * part, (2.0 - 0.5) * part, 0.5 * part]);
    assert_eq!(edge.nodal_forces.iter().filter(|f| f[0] != 0.0).count(), 3);
    assert!(edge.warnings[0].contains("push[1]: no face lies furthest along [1.0, 0.0, 1.0]; the 3 nodes"));
    let corner = model("hex8", "[[push]]\ndirection = [1.0, 1.0, 1.0]\ntotal = 3.0\n");
    assert_eq!(corner.nodal_forces.iter().filter(|f| f[0] != 0.0).count(), 1);
    assert!(corner.warnings[0].contains("the single node"));
}

#[test]
fn contact_is_read_as_push_with_a_warning() {
    let of = |name: &str| model("hex8", &format!("[[{name}]]\ndirection = [0.0, 0.0, 1.0]\ntotal = 6.0\n"));
    let (old, new) = (of("contact"), of("push"));
    assert_eq!((&old.nodal_forces, &old.applied), (&new.nodal_forces, &new.applied));
    assert_eq!(warned(&old), ["[[contact]] is now called [[push]]: it pushes and does not detect contact"]);
    assert!(warned(&new).is_empty());
    let load = "direction = [0.0, 0.0, 1.0]\ntotal = 6.0\n";
    let both = model("hex8", &format!("[[contact]]\n{load}[[push]]\n{load}"));
    assert_eq!(both.applied.len(), 2);
}

#[test]
fn a_push_acts_only_on_the_higher_of_two_steps() {
    let mut mesh = generate_box(Hex8, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    for x in mesh.coords.iter_mut().filter(|x| x[2] > 0.0 && x[0] > 1.2) {
        x[2] = 0.7;
    }
    let text = clamped("hex8", "[[push]]\ndirection = [0.0, 0.0, 1.0]\ntotal = 6.0\n");
    let model = load_on(&text, mesh).unwrap();
    // Faces between x = 1.5 and 2: four corners with a quarter of a half, two middles with a half.
    let forces: Vec<f64> = model.nodal_forces.iter().map(|f| f[2]).filter(|f| *f != 0.0).collect();
    assert_eq!(forces.len(), 6);
    assert_relative_eq!(forces.iter().copied().fold(0.0, f64::min), -1.5, max_relative = 1e-12);
    assert_relative_eq!(forces.iter().copied().fold(f64::MIN, f64::max), -0.75, max_relative = 1e-12);
}

#[test]
fn a_warped_quadrilateral_integrates_its_own_normal() {
    let mut mesh = generate_box(Hex8, [1.0; 3], [1; 3]).unwrap();
    mesh.coords[7] = [1.3, 0.9, 1.4];
    // The area vector of a bilinear patch is half the cross product of its diagonals, and a closed skin adds to zero.
    let mut closed = [0.0; 3];
    for face in mesh.skin() {
        let integral = FaceIntegral::of(face, &mesh.coords, Analysis::default());
        let x: Vec<[f64; 3]> = face.nodes().iter().map(|&n| mesh.coords[n as usize]).collect();
        let vector = integral.normal.into_iter().fold([0.0; 3], add);
        let diagonals = cross(sub(x[2], x[0]), sub(x[3], x[1]));
        (0..3).for_each(|c| assert_relative_eq!(vector[c], 0.5 * diagonals[c], epsilon = 1e-14));
        closed = add(closed, vector);
    }
    assert!(closed.iter().all(|v| v.abs() < 1e-14));
}

#[test]
fn a_load_on_a_support_is_said() {
    let model = model("tet4", "[[force]]\non = \"xmin\"\ntotal = [1.0, 0.0, 0.0]\n");
    assert!(model.warnings[0].contains("force on xmin: 100 % of it"), "{:?}", model.warnings);
}

#[test]
fn orphan_nodes_take_no_load() {
    let mut mesh: Mesh = generate_box(Tet4, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    mesh.coords.push([2.0, 1.01, 0.0]);
    mesh.node_tags.push(900);
    let at = "[[point_force]]\nat = [2.0, 1.01, 0.0]\nvector = [0.0, 7.0, 0.0]\n";
    let model = load_on(&clamped("tet4", at), mesh.clone()).unwrap();
    assert_eq!(model.nodal_forces[14], [0.0, 7.0, 0.0]);
    let node = "[[point_force]]\nnode = 900\nvector = [0.0, 7.0, 0.0]\n";
    refused_on(&clamped("tet4", node), mesh, 2, &["node 900 has no solid element"]);
}

#[test]
fn a_pressure_inside_the_body_is_refused_and_a_force_is_not() {
    let mut mesh = generate_box(Hex8, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    // The faces between the cells left and right of x = 1.
    let middle: Vec<u32> = (0..mesh.coords.len() as u32).filter(|&i| mesh.coords[i as usize][0] == 1.0).collect();
    let facets = &mut mesh.cells[1];
    let (first, last) = (facets.len() as u32, facets.tags.len() as u64);
    // Nodes of a plane across x come by y, then z: two quadrilaterals.
    facets.nodes.extend([0, 1, 4, 3, 1, 2, 5, 4].map(|k| middle[k]));
    facets.tags.extend([1000 + last, 1001 + last]);
    let group = |name: &str, dim, members| Group { name: name.into(), dim, members };
    mesh.groups.push(group("joint", 2, vec![(1, vec![first, first + 1])]));
    let pressure = clamped("hex8", "[[pressure]]\non = [\"zmax\", \"joint\"]\nvalue = 1.0\n");
    let within = "`joint` lies inside the body, within `body`: a pressure there has no side";
    refused_on(&pressure, mesh.clone(), 2, &[within, "[[force]] or [[traction]]", "body's surface"]);
    // Two bodies, and a group that is on the outside too.
    mesh.groups.retain(|group| group.name != "body");
    let outside = mesh.group("xmax").unwrap().members[0].1.clone();
    mesh.groups.iter_mut().find(|group| group.name == "joint").unwrap().members[0].1.splice(0..0, outside);
    let between = "2 of the 4 faces of `joint` lie inside the body, between element ";
    refused_on(&pressure, mesh.clone(), 2, &[between]);
    let left: Vec<u32> = (0..8).filter(|cell| cell % 4 < 2).collect();
    let right: Vec<u32> = (0..8).filter(|cell| cell % 4 > 1).collect();
    mesh.groups.extend([group("steel", 3, vec![(0, left)]), group("brass", 3, vec![(0, right)])]);
    refused_on(&pressure, mesh.clone(), 2, &["inside the body, between `steel` and `brass`: "]);
    let force = clamped("hex8", "[[force]]\non = \"joint\"\ntotal = [3.0, 0.0, 0.0]\n");
    assert_relative_eq!(totals(&load_on(&force, mesh).unwrap()).0[0], 3.0, max_relative = 1e-12);
}

/// The box with groups of points: `tip`, one corner, and `pair`, two.
fn with_points() -> Mesh {
    let mut mesh = generate_box(Tet4, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap();
    let at = |x: [f64; 3]| mesh.coords.iter().position(|y| *y == x).unwrap() as u32;
    let nodes = vec![at([2.0, 0.0, 0.0]), at([2.0, 1.0, 0.0]), at([2.0, 1.0, 0.5])];
    let group = |name: &str, members| Group { name: name.into(), dim: 0, members: vec![(mesh.cells.len(), members)] };
    let groups = [group("tip", vec![0]), group("pair", vec![1, 2])];
    mesh.groups.extend(groups);
    mesh.cells.push(Cells { kind: Point1, nodes, tags: vec![901, 902, 903] });
    mesh
}

#[test]
fn groups_of_points_are_loaded_and_held() {
    let of = |text: &str| load_on(&clamped("tet4", text), with_points());
    let shared = of("[[force]]\non = [\"tip\", \"pair\"]\ntotal = [0.0, 0.0, -6.0]\n").unwrap();
    assert_eq!((&shared.applied[0].total, shared.applied[0].nodes.len()), (&[0.0, 0.0, -6.0], 3));
    assert!(shared.applied[0].nodes.iter().all(|&node| shared.nodal_forces[node as usize] == [0.0, 0.0, -2.0]));
    let each = of("[[point_force]]\non = \"pair\"\nvector = [0.0, 1.0, -6.0]\n").unwrap();
    assert_eq!((each.applied[0].name.as_str(), each.applied[0].total), ("point_force on pair", [0.0, 2.0, -12.0]));
    assert!(each.warnings.iter().any(|said| said.contains("each of its 2 nodes carries the whole force")));
    let held = of("[[support]]\non = \"tip\"\nfix = \"y\"\n").unwrap();
    assert_eq!(held.supports[1].nodes, [each.mesh.cells.last().unwrap().nodes[0]]);
    for (load, words) in [
        ("[[point_force]]\non = \"xmax\"\nvector", "`xmax` is a group of surfaces, not of points"),
        ("[[point_force]]\non = \"tpi\"\nvector", "did you mean `tip`?"),
        ("[[point_force]]\non = \"tip\"\nnode = 3\nvector", "exactly one of `on`, `at`, `node`"),
        ("[[force]]\non = [\"tip\", \"xmax\"]\ntotal", "use [[force]] on it alone"),
    ] {
        refused_on(&clamped("tet4", &format!("{load} = [1.0, 0.0, 0.0]\n")), with_points(), 2, &[words]);
    }
}
