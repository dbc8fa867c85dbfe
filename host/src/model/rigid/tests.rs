//! What holds a box, and what the messages say of one that is not held.

use super::*;
use crate::element::ElementKind::Tet4;
use crate::mesh::generate::generate_box;
use crate::model::testing::beside;

fn cube() -> Mesh {
    generate_box(Tet4, [2.0; 3], [2; 3]).unwrap()
}

/// Index of the cube's node at a point.
pub(super) fn at(mesh: &Mesh, x: [f64; 3]) -> u32 {
    mesh.coords.iter().position(|known| *known == x).unwrap() as u32
}

pub(super) fn fix(nodes: Vec<u32>, components: &str) -> Support {
    let displacement = ["x", "y", "z"].map(|c| components.contains(c).then_some(0.0));
    Support { name: "s".into(), nodes, displacement }
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
fn three_two_one_points_hold() {
    let mesh = cube();
    let (a, b, c) = (at(&mesh, [0.0; 3]), at(&mesh, [2.0, 0.0, 0.0]), at(&mesh, [0.0, 2.0, 0.0]));
    let mut supports = vec![fix(vec![a], "xyz"), fix(vec![b], "yz"), fix(vec![c], "z")];
    assert!(loose(&mesh, &supports).is_empty());
    supports.pop();
    assert_eq!(words(&loose(&mesh, &supports)[0]), ["rotation about an axis parallel to x through (1, 0, 0)"]);
}

#[test]
fn two_points_leave_the_turn_about_their_line() {
    let mesh = cube();
    let supports = [fix(vec![at(&mesh, [2.0, 0.0, 0.0]), at(&mesh, [2.0, 2.0, 0.0])], "xyz")];
    let parts = loose(&mesh, &supports);
    assert_eq!(words(&parts[0]), ["rotation about an axis parallel to y through (2, 1, 0)"]);
    let diagonal = [fix(vec![at(&mesh, [0.0; 3]), at(&mesh, [2.0, 2.0, 0.0])], "xyz")];
    let said = words(&loose(&mesh, &diagonal)[0]).remove(0);
    assert_eq!(said, "rotation about an axis parallel to (0.7071, 0.7071, 0) through (1, 1, 0)");
}

#[test]
fn one_clamped_point_leaves_three_turns_through_it() {
    let mesh = cube();
    let parts = loose(&mesh, &[fix(vec![at(&mesh, [0.0; 3])], "xyz")]);
    assert_eq!(parts[0].motions.len(), 3);
    for motion in &parts[0].motions {
        let Motion::Rotation { axis, through, pitch } = motion else { panic!("{motion:?}") };
        let k = axis.iter().position(|a| a.abs() > 0.9).unwrap();
        assert_eq!(*pitch, 0.0);
        assert!((0..3).all(|c| (through[c] - if c == k { 1.0 } else { 0.0 }).abs() < 1e-9), "{motion:?}");
    }
}

#[test]
fn symmetry_planes_hold_when_there_are_three() {
    let mesh = cube();
    let plane = |name: &str, c: &str| fix(mesh.nodes_on(name).unwrap(), c);
    let three = [plane("xmin", "x"), plane("ymin", "y"), plane("zmin", "z")];
    assert!(loose(&mesh, &three).is_empty());
    assert_eq!(words(&loose(&mesh, &three[..2])[0]), ["translation along z"]);
    assert_eq!(loose(&mesh, &three[..1])[0].motions.len(), 3);
    let sliding = [plane("zmin", "z")];
    assert_eq!(
        words(&loose(&mesh, &sliding)[0]),
        ["translation along x", "translation along y", "rotation about an axis parallel to z through (1, 1, 1)"]
    );
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
