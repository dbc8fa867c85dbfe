//! Rigid motions in the plane: three of them, hinges at nodes, and no word of z.

use super::tests::{at, fix, loose, words};
use super::*;
use crate::element::ElementKind::{Quad4, Tri3};
use crate::mesh::rectangle::generate_rectangle;

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
fn two_points_hold_and_one_is_a_pivot() {
    let mesh = plate();
    let (a, b) = (at(&mesh, [0.0; 3]), at(&mesh, [2.0, 0.0, 0.0]));
    assert!(loose(&mesh, &[fix(vec![a], "xy"), fix(vec![b], "y")]).is_empty());
    assert_eq!(words(&loose(&mesh, &[fix(vec![a], "xy")])[0]), ["rotation about (0, 0)"]);
    // Along the line to the pivot a second support does not help.
    assert_eq!(loose(&mesh, &[fix(vec![a], "xy"), fix(vec![b], "x")]).len(), 1);
    assert_eq!(words(&loose(&mesh, &[fix(vec![a, b], "y")])[0]), ["translation along x"]);
    // Held in x at one corner and in y at the opposite one, it turns about where the lines across these meet.
    let c = at(&mesh, [2.0, 2.0, 0.0]);
    assert_eq!(words(&loose(&mesh, &[fix(vec![a], "x"), fix(vec![c], "y")])[0]), ["rotation about (2, 0)"]);
}

#[test]
fn a_plane_anywhere_is_as_good() {
    let mut mesh = plate();
    mesh.coords.iter_mut().for_each(|x| *x = [1e-3 * x[0] + 1e3, 1e-3 * x[1] - 5e2, 42.0]);
    assert!(loose(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "xy")]).is_empty());
    assert_eq!(loose(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "x")])[0].motions.len(), 1);
}

/// Squares of one cell whose lower left corners these are; equal corners are one node.
fn squares(corners: &[[f64; 2]]) -> Mesh {
    let mut mesh = generate_rectangle(Quad4, [1.0; 2], [1; 2]).unwrap();
    let square = mesh.cells[0].nodes.clone();
    let shape: Vec<[f64; 3]> = square.iter().map(|&node| mesh.coords[node as usize]).collect();
    (mesh.coords, mesh.cells[0].nodes) = (Vec::new(), Vec::new());
    for corner in corners {
        for x in shape.iter().map(|x| [x[0] + corner[0], x[1] + corner[1], 0.0]) {
            let known = mesh.coords.iter().position(|other| *other == x).unwrap_or(mesh.coords.len());
            mesh.cells[0].nodes.push(known as u32);
            if known == mesh.coords.len() {
                mesh.coords.push(x);
            }
        }
    }
    mesh.node_tags = (1..=mesh.coords.len() as u64).collect();
    mesh.cells[0].tags = (1..=corners.len() as u64).collect();
    mesh.cells.truncate(1);
    mesh.groups.clear();
    mesh
}

#[test]
fn squares_at_a_corner_are_a_hinge() {
    let mesh = squares(&[[0.0, 0.0], [1.0, 1.0]]);
    let clamped = fix(mesh.nodes_on("xmin").unwrap(), "xy");
    let parts = loose(&mesh, std::slice::from_ref(&clamped));
    assert_eq!((parts.len(), words(&parts[0])), (1, vec!["rotation about (1, 1)".to_string()]));
    let text = parts[0].to_string();
    assert!(text.starts_with("body 2 of 2 of part 1 (4 nodes, from (1, 1) to (2, 2))"), "{text}");
    assert!(text.contains("it shares no edge with the rest of its part and hangs on it by 1 node, a hinge"), "{text}");
    assert!(text.ends_with("or mesh the bodies so that they share edges"), "{text}");
    assert!(!text.contains('z'), "{text}");
    let prop = fix(vec![at(&mesh, [2.0, 1.0, 0.0])], "y");
    assert!(loose(&mesh, &[clamped, prop]).is_empty());
}

#[test]
fn three_hinges_are_a_truss_and_four_a_mechanism() {
    // Squares round a square hole, hinged at its corners: a linkage of four bars.
    let ring = squares(&[[1.0, 0.0], [2.0, 1.0], [1.0, 2.0], [0.0, 1.0]]);
    let clamped = fix(ring.nodes_on("ymin").unwrap(), "xy");
    let parts = loose(&ring, std::slice::from_ref(&clamped));
    assert_eq!(parts.len(), 3, "every bar but the clamped one moves");
    assert!(parts.iter().all(|part| !part.to_string().contains('z')));
    // With one more bar clamped, the two others are an arch of three hinges.
    let top = fix(ring.nodes_on("ymax").unwrap(), "xy");
    assert!(loose(&ring, &[clamped, top]).is_empty());
}
