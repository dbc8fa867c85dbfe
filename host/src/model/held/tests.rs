//! What holds a box, a plate and a potential, and what the messages say of one that is not held.

use super::*;
use crate::element::ElementKind::{Quad4, Tet4, Tri3};
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::model::testing::beside;

/// [`super::check`] of elastic bodies.
pub(super) fn check(mesh: &Mesh, supports: &[Support]) -> Result<Vec<String>, ModelError> {
    let analysis = if mesh.dim() == 2 { Analysis::PlaneStress } else { Analysis::Elasticity };
    super::check(analysis, mesh, &supports.iter().collect::<Vec<_>>(), &Constraints::default())
}

fn cube() -> Mesh {
    generate_box(Tet4, [2.0; 3], [2; 3]).unwrap()
}

/// Index of the cube's node at a point.
pub(super) fn at(mesh: &Mesh, x: [f64; 3]) -> u32 {
    mesh.coords.iter().position(|known| *known == x).unwrap() as u32
}

pub(super) fn fix(nodes: Vec<u32>, components: &str) -> Support {
    let displacement = ["x", "y", "z"].map(|c| components.contains(c).then_some(0.0));
    Support { name: "s".into(), nodes, displacement, ..Support::default() }
}

pub(super) fn loose(mesh: &Mesh, supports: &[Support]) -> Vec<LoosePart> {
    match check(mesh, supports) {
        Ok(_) => Vec::new(),
        Err(ModelError::FreeMotion { parts, .. }) => parts,
        Err(other) => panic!("{other}"),
    }
}

pub(super) fn words(part: &LoosePart) -> Vec<String> {
    part.motions.iter().map(|motion| motion.in_words(part.dim)).collect()
}

#[test]
fn a_free_cube_has_six_motions() {
    let mesh = cube();
    let parts = loose(&mesh, &[]);
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].n_nodes, parts[0].min, parts[0].max), (27, [0.0; 3], [2.0; 3]));
    let axis = |c: &str| format!("rotation about an axis parallel to {c} through (1, 1, 1)");
    let expected: Vec<String> =
        ["x", "y", "z"].iter().map(|c| format!("translation along {c}")).chain(["x", "y", "z"].map(axis)).collect();
    assert_eq!(words(&parts[0]), expected);
    assert_eq!(parts[0].remedies, ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]);
}

#[test]
fn points_and_planes_leave_a_cube_what_they_do_not_see() {
    let mesh = cube();
    let point = |x: [f64; 3], c: &str| fix(vec![at(&mesh, x)], c);
    let plane = |name: &str, c: &str| fix(mesh.nodes_on(name).unwrap(), c);
    let about = |axis: &str, through: &str| format!("rotation about an axis parallel to {axis} through {through}");
    let along = |axis: &str| format!("translation along {axis}");
    let (a, b, c, d) = ([0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 2.0, 0.0]);
    let turns = vec![about("x", "(1, 0, 0)"), about("y", "(0, 1, 0)"), about("z", "(0, 0, 1)")];
    for (supports, left) in [
        (vec![point(a, "xyz"), point(b, "yz"), point(c, "z")], vec![]),
        (vec![point(a, "xyz"), point(b, "yz")], vec![about("x", "(1, 0, 0)")]),
        (vec![point(b, "xyz"), point(d, "xyz")], vec![about("y", "(2, 1, 0)")]),
        (vec![point(a, "xyz"), point(d, "xyz")], vec![about("(0.7071, 0.7071, 0)", "(1, 1, 0)")]),
        (vec![point(a, "xyz")], turns),
        (vec![plane("xmin", "x"), plane("ymin", "y"), plane("zmin", "z")], vec![]),
        (vec![plane("xmin", "x"), plane("ymin", "y")], vec![along("z")]),
        (vec![plane("xmin", "x")], vec![along("y"), along("z"), about("x", "(1, 1, 1)")]),
        (vec![plane("zmin", "z")], vec![along("x"), along("y"), about("z", "(1, 1, 1)")]),
    ] {
        let loose = loose(&mesh, &supports);
        assert_eq!(loose.first().map(words).unwrap_or_default(), left, "{supports:?}");
    }
}

#[test]
fn an_inclined_shift_is_given_by_its_components() {
    // All nodes held along z; two along x = y would be one constraint, so hold x and y of points in line with them.
    let space = [Vector6::new(0.6, 0.8, 0.0, 0.0, 0.0, 0.0)];
    let said: Vec<String> = motion::name(&space, [0.0; 3], 1.0).iter().map(|m| m.in_words(3)).collect();
    assert_eq!(said, ["translation along (0.6, 0.8, 0)"]);
    let screw = [Vector6::new(0.0, 0.0, 0.5, 0.0, 0.0, 1.0)];
    let said = motion::name(&screw, [1.0, 2.0, 3.0], 2.0).remove(0).in_words(3);
    assert_eq!(said, "rotation about an axis parallel to z through (1, 2, 3), with a shift of 1 along it per radian");
}

#[test]
fn the_second_body_is_named_though_the_first_is_held() {
    let one = cube();
    let mut mesh = beside(one.clone(), &one, [5.0, 0.0, 0.0]);
    let held = fix(one.nodes_on("xmin").unwrap(), "xyz");
    let parts = loose(&mesh, std::slice::from_ref(&held));
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].number, parts[0].min, parts[0].max), (2, [5.0, 0.0, 0.0], [7.0, 2.0, 2.0]));
    let error = check(&mesh, std::slice::from_ref(&held)).unwrap_err().to_string();
    assert!(error.starts_with("the supports leave 1 of the body's 2 separate parts"), "{error}");
    assert!(error.contains("part 2 (27 nodes, from (5, 0, 0) to (7, 2, 2))"), "{error}");
    assert!(error.contains("fix = \"xyz\"` on any of: xmin, xmax"), "{error}");
    // Without groups the extreme planes of the whole mesh are offered where they touch the part.
    mesh.groups.clear();
    assert_eq!(loose(&mesh, &[held])[0].remedies, ["xmax", "ymin", "ymax", "zmin", "zmax"]);
    assert_eq!(loose(&mesh, &[]).len(), 2);
}

#[test]
fn a_small_patch_on_a_large_part_holds() {
    // Three corners of one cell in a part a thousand cells long.
    let mesh = generate_box(Tet4, [1.0, 1e-3, 1e-3], [1000, 1, 1]).unwrap();
    let nodes = vec![0, at(&mesh, [0.0, 1e-3, 0.0]), at(&mesh, [0.0, 0.0, 1e-3])];
    assert!(loose(&mesh, &[fix(nodes.clone(), "xyz")]).is_empty());
    assert_eq!(loose(&mesh, &[fix(nodes[..2].to_vec(), "xyz")]).len(), 1);
}

#[test]
fn far_from_the_origin_nothing_changes() {
    let mut mesh = cube();
    mesh.coords.iter_mut().for_each(|x| *x = x.map(|v| 1e-3 * v + 1e3));
    let xmin = mesh.nodes_on("xmin").unwrap();
    assert!(loose(&mesh, &[fix(xmin, "xyz")]).is_empty());
    let line = vec![0, 1, 2];
    assert_eq!(loose(&mesh, &[fix(line, "xyz")])[0].motions.len(), 1);
}

#[test]
fn a_node_without_a_solid_is_no_part() {
    let mut mesh = cube();
    mesh.cells.truncate(1);
    mesh.groups.clear();
    mesh.cells[0].nodes.iter_mut().for_each(|node| *node += 1);
    mesh.coords.insert(0, [9.0; 3]);
    mesh.node_tags.insert(0, 900);
    let parts = loose(&mesh, &[]);
    assert_eq!((parts.len(), parts[0].number, parts[0].n_nodes), (1, 1, 27));
    assert!(loose(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "xyz")]).is_empty());
}

fn plate() -> Mesh {
    generate_rectangle(Tri3, [2.0, 2.0], [2, 2]).unwrap()
}

#[test]
fn a_free_plate_has_three_motions() {
    let parts = loose(&plate(), &[]);
    assert_eq!(words(&parts[0]), ["translation along x", "translation along y", "rotation about (1, 1)"]);
    assert_eq!(parts[0].remedies, ["xmin", "xmax", "ymin", "ymax"]);
    let text = parts[0].to_string();
    assert!(text.starts_with("part 1 (9 nodes, from (0, 0) to (2, 2)) is free to move:"), "{text}");
    assert!(
        text.ends_with(
            "held by `fix = \"xy\"` on any of: xmin, xmax, ymin, ymax; a plane of symmetry is fixed in its normal alone"
        ),
        "{text}"
    );
}

#[test]
fn two_points_hold_a_plate_and_one_is_a_pivot() {
    let mesh = plate();
    let point = |x: [f64; 3], c: &str| fix(vec![at(&mesh, x)], c);
    let (a, b, c) = ([0.0; 3], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]);
    for (supports, left) in [
        (vec![point(a, "xy"), point(b, "y")], vec![]),
        (vec![point(a, "xy")], vec!["rotation about (0, 0)"]),
        // Along the line to the pivot a second support does not help.
        (vec![point(a, "xy"), point(b, "x")], vec!["rotation about (0, 0)"]),
        (vec![point(a, "y"), point(b, "y")], vec!["translation along x"]),
        // Held in x at one corner and in y at the opposite one, it turns about where the lines across these meet.
        (vec![point(a, "x"), point(c, "y")], vec!["rotation about (2, 0)"]),
    ] {
        let loose = loose(&mesh, &supports);
        assert_eq!(loose.first().map(words).unwrap_or_default(), left, "{supports:?}");
    }
}

#[test]
fn a_plane_anywhere_is_as_good() {
    let mut mesh = plate();
    mesh.coords.iter_mut().for_each(|x| *x = [1e-3 * x[0] + 1e3, 1e-3 * x[1] - 5e2, 42.0]);
    assert!(loose(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "xy")]).is_empty());
    assert_eq!(loose(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "x")])[0].motions.len(), 1);
}

fn fixed(nodes: &[u32]) -> Support {
    Support { name: "fixed".into(), nodes: nodes.to_vec(), displacement: [Some(1.0), None, None], ..Support::default() }
}

#[test]
fn a_single_node_is_enough_for_a_part_and_every_part_needs_one() {
    let one = generate_rectangle(Quad4, [1.0; 2], [2, 2]).unwrap();
    let none = Constraints::default();
    assert!(super::check(Analysis::Laplace, &one, &[&fixed(&[4])], &none).is_ok());
    let mut two = beside(one.clone(), &one, [3.0, 0.0, 0.0]);
    // A node of no element is no part.
    two.coords.push([9.0; 3]);
    two.node_tags.push(99);
    assert!(super::check(Analysis::Laplace, &two, &[&fixed(&[0]), &fixed(&[9 + 3])], &none).is_ok());
    let Err(ModelError::Floating { parts, n_parts }) = super::check(Analysis::Laplace, &two, &[&fixed(&[0])], &none)
    else {
        panic!("the second part floats")
    };
    assert_eq!((n_parts, parts.len(), parts[0].number, parts[0].n_nodes), (2, 1, 2, 9));
    assert_eq!((parts[0].min, parts[0].max), ([3.0, 0.0, 0.0], [4.0, 1.0, 0.0]));
    assert_eq!(parts[0].remedies, ["xmin", "xmax", "ymin", "ymax"]);
    let text = parts[0].to_string();
    assert!(text.starts_with("part 2 (9 nodes, from (3, 0) to (4, 1)) has no fixed value"), "{text}");
}

#[test]
fn parts_without_groups_are_offered_the_extreme_planes_that_touch_them() {
    let mut one = generate_rectangle(Quad4, [1.0; 2], [2, 2]).unwrap();
    one.groups.clear();
    let two = beside(one.clone(), &one, [3.0, 0.5, 0.0]);
    let Err(ModelError::Floating { parts, .. }) = super::check(Analysis::Laplace, &two, &[], &Constraints::default())
    else {
        panic!("both float")
    };
    assert_eq!(parts[0].remedies, ["xmin", "ymin"]);
    assert_eq!(parts[1].remedies, ["xmax", "ymax"]);
}
