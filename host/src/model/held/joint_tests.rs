//! Bodies that meet in nodes or edges only: ball joints, hinges, and what holds them.

use super::tests::{at, check, fix, loose, words};
use super::{Joint, LoosePart, Mesh, Motion, Support};
use crate::element::ElementKind::{self, Hex8, Quad4, Tet4};
use crate::mesh::Cells;
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::model::testing::beside;

/// Solids of one kind without groups.
fn solids(kind: ElementKind, coords: &[[f64; 3]], nodes: Vec<u32>) -> Mesh {
    let n_cells = (nodes.len() / kind.info().n_nodes) as u64;
    Mesh {
        coords: coords.to_vec(),
        node_tags: (1..=coords.len() as u64).collect(),
        cells: vec![Cells { kind, nodes, tags: (1..=n_cells).collect() }],
        ..Mesh::default()
    }
}

/// Copies of the first block's solids with these shifts, nodes at one point made one.
fn copies(one: &Mesh, shifts: &[[f64; 3]]) -> Mesh {
    let mut coords: Vec<[f64; 3]> = Vec::new();
    let mut nodes = Vec::new();
    for shift in shifts {
        for &node in &one.cells[0].nodes {
            let x = [0, 1, 2].map(|c| one.coords[node as usize][c] + shift[c]);
            let known = coords.iter().position(|other| *other == x);
            nodes.push(known.unwrap_or(coords.len()) as u32);
            if known.is_none() {
                coords.push(x);
            }
        }
    }
    solids(one.cells[0].kind, &coords, nodes)
}

/// Unit cubes of one cell each with these lowest corners.
fn cubes(kind: ElementKind, corners: &[[f64; 3]]) -> Mesh {
    copies(&generate_box(kind, [1.0; 3], [1; 3]).unwrap(), corners)
}

/// Cubes in a zigzag along x, each hinged to the next at y = 1.
fn zigzag(n: usize) -> Mesh {
    let corners: Vec<[f64; 3]> = (0..n).map(|i| [i as f64, (i % 2) as f64, 0.0]).collect();
    cubes(Hex8, &corners)
}

fn clamp(mesh: &Mesh, plane: &str) -> Support {
    fix(mesh.nodes_on(plane).unwrap(), "xyz")
}

/// The bodies that are not held, and how many motions are left to each.
fn found(mesh: &Mesh, supports: &[Support]) -> Vec<(usize, usize)> {
    loose(mesh, supports).iter().map(|part| (joint(part).body, part.motions.len())).collect()
}

fn joint(part: &LoosePart) -> Joint {
    part.joint.clone().unwrap()
}

const TETS: [[f64; 3]; 7] =
    [[0.0; 3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]];

#[test]
fn tets_across_an_edge_are_a_hinge() {
    let mesh = solids(Tet4, &TETS[..6], vec![0, 1, 2, 3, 0, 1, 5, 4]);
    let clamped = fix(vec![0, 2, 3], "xyz");
    let parts = loose(&mesh, std::slice::from_ref(&clamped));
    assert_eq!(parts.len(), 1);
    assert_eq!(joint(&parts[0]), Joint { body: 2, n_bodies: 2, n_shared: 2, in_line: true });
    assert_eq!((parts[0].n_nodes, parts[0].min, parts[0].max), (4, [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]));
    assert_eq!(words(&parts[0]), ["rotation about an axis parallel to z through (0, 0, 0.5)"]);
    // A support that the turn moves stops it, one along its radius does not.
    assert!(loose(&mesh, &[clamped.clone(), fix(vec![4], "y")]).is_empty());
    assert_eq!(loose(&mesh, &[clamped.clone(), fix(vec![4], "x")]).len(), 1);
    let message = check(&mesh, &[clamped]).unwrap_err().to_string();
    for word in ["body 2 of 2 of part 1 (4 nodes", "hangs on it by 2 nodes in line, a hinge", "xmin", "share faces"] {
        assert!(message.contains(word), "{message}\ndoes not hold {word}");
    }
    assert!(!message.contains("xmax"), "{message}");
}

#[test]
fn tets_at_a_node_are_a_ball_joint() {
    let mesh = solids(Tet4, &TETS, vec![0, 1, 2, 3, 0, 5, 4, 6]);
    let clamped = fix(vec![0, 1, 2], "xyz");
    let parts = loose(&mesh, std::slice::from_ref(&clamped));
    assert_eq!(joint(&parts[0]), Joint { body: 2, n_bodies: 2, n_shared: 1, in_line: true });
    assert_eq!(parts[0].motions.len(), 3);
    assert!(check(&mesh, std::slice::from_ref(&clamped)).unwrap_err().to_string().contains("1 node, a ball joint"));
    assert_eq!(words(&loose(&mesh, &[clamped.clone(), fix(vec![5], "xz")])[0]).len(), 1);
    assert!(loose(&mesh, &[clamped, fix(vec![5], "xz"), fix(vec![4], "z")]).is_empty());
}

#[test]
fn without_supports_the_part_is_named_and_not_its_bodies() {
    let mesh = zigzag(2);
    let parts = loose(&mesh, &[]);
    assert_eq!((parts.len(), parts[0].joint.clone(), parts[0].motions.len()), (1, None, 6));
}

#[test]
fn boxes_across_an_edge_hinge_about_it() {
    for kind in [Tet4, Hex8] {
        let mesh = cubes(kind, &[[0.0; 3], [1.0, 1.0, 0.0]]);
        let parts = loose(&mesh, &[clamp(&mesh, "xmin")]);
        assert_eq!((parts.len(), joint(&parts[0]).body, joint(&parts[0]).n_shared), (1, 2, 2));
        assert_eq!(words(&parts[0]), ["rotation about an axis parallel to z through (1, 1, 0.5)"]);
        assert_eq!(parts[0].remedies, ["xmax", "ymax", "zmin", "zmax"]);
        assert!(loose(&mesh, &[clamp(&mesh, "xmin"), clamp(&mesh, "ymax")]).is_empty());
    }
}

#[test]
fn a_chain_of_three_moves_behind_its_first_hinge() {
    let mesh = zigzag(3);
    let parts = loose(&mesh, &[clamp(&mesh, "xmin")]);
    assert_eq!(found(&mesh, &[clamp(&mesh, "xmin")]), [(2, 1), (3, 2)]);
    assert_eq!(words(&parts[0]), ["rotation about an axis parallel to z through (1, 1, 0.5)"]);
    assert_eq!((joint(&parts[0]).n_shared, joint(&parts[0]).in_line), (4, false));
    // Held at both ends it is an arch of three hinges less one.
    assert!(loose(&mesh, &[clamp(&mesh, "xmin"), clamp(&mesh, "xmax")]).is_empty());
}

#[test]
fn four_hinges_in_a_ring_are_a_mechanism() {
    // Each body is held between its neighbours; all four together are not.
    let mesh = cubes(Hex8, &[[0.0; 3], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [-1.0, 1.0, 0.0]]);
    let parts = loose(&mesh, &[clamp(&mesh, "ymin")]);
    assert_eq!(found(&mesh, &[clamp(&mesh, "ymin")]), [(2, 1), (3, 1), (4, 1)]);
    assert_eq!(words(&parts[0]), ["rotation about an axis parallel to z through (1, 1, 0.5)"]);
    assert!(loose(&mesh, &[clamp(&mesh, "ymin"), clamp(&mesh, "ymax")]).is_empty());
}

#[test]
fn three_shared_nodes_hold_without_a_shared_face() {
    // A tet on three corners of a hex's face.
    let mut mesh = cubes(Hex8, &[[0.0; 3]]);
    let feet = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]].map(|x| at(&mesh, x));
    mesh.coords.push([0.0, 0.0, 2.0]);
    mesh.node_tags.push(9);
    mesh.cells.push(Cells { kind: Tet4, nodes: vec![feet[0], feet[1], feet[2], 8], tags: vec![2] });
    assert!(loose(&mesh, &[clamp(&mesh, "zmin")]).is_empty());
}

#[test]
fn four_edges_hold_without_a_shared_face() {
    // A cube over the hole of a ring of eight: no face in common, but the four edges of its base.
    let ring = (0..9).filter(|&i| i != 4).map(|i| [f64::from(i / 3), f64::from(i % 3), 0.0]);
    let corners: Vec<[f64; 3]> = ring.chain([[1.0, 1.0, 1.0]]).collect();
    let mesh = cubes(Hex8, &corners);
    assert!(loose(&mesh, &[clamp(&mesh, "zmin")]).is_empty());
    // Over a corner of the ring's outside two cubes hang: each on one edge.
    let hanging = [[3.0, 0.0, 1.0], [0.0, 3.0, 1.0]];
    let mesh = cubes(Hex8, &[corners.as_slice(), &hanging].concat());
    assert_eq!(found(&mesh, &[clamp(&mesh, "zmin")]).iter().map(|found| found.0).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn a_hinge_on_the_second_part_is_found_beside_a_loose_first() {
    let mesh = beside(zigzag(1), &zigzag(2), [9.0, 0.0, 0.0]);
    let held = fix(vec![at(&mesh, [9.0, 0.0, 0.0]), at(&mesh, [9.0, 1.0, 0.0]), at(&mesh, [9.0, 0.0, 1.0])], "xyz");
    let error = check(&mesh, std::slice::from_ref(&held)).unwrap_err().to_string();
    assert!(error.starts_with("the supports leave 2 of the body's 2 separate parts"), "{error}");
    let found: Vec<_> = loose(&mesh, &[held]).iter().map(|part| (part.number, part.joint.is_some())).collect();
    assert_eq!(found, [(1, false), (2, true)]);
}

#[test]
fn a_hinge_far_smaller_than_its_bodies_is_still_a_hinge() {
    // Two beams of 1000 that meet in an edge of 1; the turn about it stops at a third point an edge away.
    let mesh = |third: bool| {
        let mut mesh = cubes(Hex8, &[[0.0; 3], [1.0, 1.0, 0.0]]);
        mesh.coords.iter_mut().for_each(|x| x[0] = [-1000.0, 1.0, 1000.0][x[0] as usize]);
        if third {
            let (a, b) = (at(&mesh, [1.0, 0.0, 0.0]), at(&mesh, [1.0, 2.0, 0.0]));
            let (c, d) = (at(&mesh, [1.0, 1.0, 0.0]), at(&mesh, [1.0, 1.0, 1.0]));
            mesh.coords.push([2.0, 0.5, 0.5]);
            mesh.node_tags.push(mesh.coords.len() as u64);
            let last = mesh.coords.len() as u32 - 1;
            mesh.cells.push(Cells { kind: Tet4, nodes: vec![a, c, d, last, b, d, c, last], tags: vec![3, 4] });
        }
        mesh
    };
    let open = mesh(false);
    assert_eq!(loose(&open, &[clamp(&open, "xmin")]).len(), 1);
    let stayed = mesh(true);
    assert!(loose(&stayed, &[clamp(&stayed, "xmin")]).is_empty());
}

/// The black squares of a board of `n` by `n`, as cubes: each hinged to its neighbours at its edges along z.
fn checkerboard(n: usize) -> Mesh {
    let places = (0..n * n).map(|i| [i / n, i % n]).filter(|[x, y]| (x + y) % 2 == 0);
    cubes(Hex8, &places.map(|[x, y]| [x as f64, y as f64, 0.0]).collect::<Vec<_>>())
}

#[test]
fn hundreds_of_bodies_are_checked_as_a_whole() {
    // Held at both ends each body of a zigzag is held between its neighbours, and all move together.
    let mesh = zigzag(205);
    let held = [clamp(&mesh, "xmin"), clamp(&mesh, "xmax")];
    let parts = loose(&mesh, &held);
    assert_eq!(parts.iter().map(|part| joint(part).body).collect::<Vec<_>>(), (2..205).collect::<Vec<_>>());
    let is_in_plane = |motion: &Motion| match motion {
        Motion::Rotation { axis, .. } => axis[2].abs() > 0.999,
        Motion::Translation { along } => along[2].abs() < 1e-3,
    };
    assert!(parts.iter().flat_map(|part| &part.motions).all(is_in_plane));
    // Clamped all along one side every second is held, and with it its neighbours by two hinges each but the last.
    assert_eq!(found(&mesh, &[clamp(&mesh, "ymin")]), []);
    let mesh = zigzag(206);
    assert_eq!(found(&mesh, &[clamp(&mesh, "ymin")]), [(206, 1)]);
}

#[test]
fn of_a_board_of_hinges_the_far_corners_turn() {
    // From the clamped column on, two hinges hold each cube; the last two in the corners have one.
    let mesh = checkerboard(25);
    let parts = loose(&mesh, &[clamp(&mesh, "xmin")]);
    let found: Vec<_> = parts.iter().map(|part| (joint(part).body, joint(part).n_bodies, part.motions.len())).collect();
    assert_eq!(found, [(301, 313, 1), (313, 313, 1)]);
    assert!(loose(&mesh, &[clamp(&mesh, "xmin"), clamp(&mesh, "xmax")]).is_empty());
}

/// Squares of one cell whose lower left corners these are.
fn squares(corners: &[[f64; 3]]) -> Mesh {
    copies(&generate_rectangle(Quad4, [1.0; 2], [1; 2]).unwrap(), corners)
}

#[test]
fn squares_at_a_corner_are_a_hinge() {
    let mesh = squares(&[[0.0; 3], [1.0, 1.0, 0.0]]);
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
    let ring = squares(&[[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]);
    let clamped = fix(ring.nodes_on("ymin").unwrap(), "xy");
    let parts = loose(&ring, std::slice::from_ref(&clamped));
    assert_eq!(parts.len(), 3, "every bar but the clamped one moves");
    assert!(parts.iter().all(|part| !part.to_string().contains('z')));
    // With one more bar clamped, the two others are an arch of three hinges.
    let top = fix(ring.nodes_on("ymax").unwrap(), "xy");
    assert!(loose(&ring, &[clamped, top]).is_empty());
}
