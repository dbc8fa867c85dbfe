//! Faces that a group has twice, or that belong to other bodies: what a load on it adds up to.

use approx::assert_relative_eq;

use crate::element::ElementKind::{Hex8, Quad4, Quad8, Tet4};
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::mesh::{Cells, Group, Mesh, quality};
use crate::model::testing::{clamped, load_on, refused_on};

/// Lists the facets of `xmax` again: with their corners rotated and reversed (which of an edge is
/// the same).
fn doubled(mut mesh: Mesh) -> Mesh {
    let group = mesh.groups.iter_mut().find(|group| group.name == "xmax").unwrap();
    let (block, members) = group.members[0].clone();
    let cells = &mut mesh.cells[block];
    let n = cells.kind.info().n_corners;
    let mut last = 1000;
    for reversed in [false, true] {
        for &facet in &members {
            let mut copy = cells.cell(facet as usize).to_vec();
            match reversed {
                true => copy[..n].reverse(),
                false => copy[..n].rotate_left(1),
            }
            cells.nodes.extend(copy);
            last += 1;
            cells.tags.push(last);
            group.members[0].1.push(cells.tags.len() as u32 - 1);
        }
    }
    mesh
}

fn total(text: &str, mesh: Mesh) -> [f64; 3] {
    let model = load_on(text, mesh).unwrap();
    let mut sum = [0.0; 3];
    model.nodal_forces.iter().for_each(|f| (0..3).for_each(|c| sum[c] += f[c]));
    sum
}

#[test]
fn a_face_that_is_there_twice_is_loaded_once() {
    for kind in [Tet4, Hex8] {
        let text = |load: &str| clamped(kind.info().name, load);
        let mesh = doubled(generate_box(kind, [2.0, 1.0, 0.5], [4, 2, 1]).unwrap());
        assert_relative_eq!(quality::measure_of(&mesh, mesh.group("xmax").unwrap()), 0.5, max_relative = 1e-12);
        let pressure = total(&text("[[pressure]]\non = \"xmax\"\nvalue = 3.0\n"), mesh.clone());
        assert_relative_eq!(pressure[0], -1.5, max_relative = 1e-12);
        let traction = total(&text("[[traction]]\non = \"xmax\"\nvector = [0.0, 2.0, 0.0]\n"), mesh.clone());
        assert_relative_eq!(traction[1], 1.0, max_relative = 1e-12);
        let force = total(&text("[[force]]\non = [\"xmax\", \"xmax\"]\ntotal = [0.0, 0.0, 7.0]\n"), mesh);
        assert_relative_eq!(force[2], 7.0, max_relative = 1e-12);
    }
}

#[test]
fn an_edge_of_a_plate_that_is_there_twice_is_loaded_once() {
    for kind in [Quad4, Quad8] {
        let mesh = doubled(generate_rectangle(kind, [2.0, 1.0], [4, 2]).unwrap());
        let plate = |kind: &str, rest: &str| {
            format!(
                "[mesh]\nfile = \"-\"\n[analysis]\nkind = \"{kind}\"\nthickness = 0.5\n[[material]]\nname = \"m\"\n{rest}"
            )
        };
        let pull = "young = 1.0\npoisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"xy\"\n[[pressure]]\non = \"xmax\"\nvalue = 3.0\n";
        assert_relative_eq!(total(&plate("plane_stress", pull), mesh.clone())[0], -1.5, max_relative = 1e-12);
        let flow =
            "conductivity = 1.0\n[[support]]\non = \"xmin\"\nvalue = 0.0\n[[flux]]\non = \"xmax\"\nvalue = 3.0\n";
        assert_relative_eq!(total(&plate("laplace", flow), mesh)[0], 1.5, max_relative = 1e-12);
    }
}

/// Three layers of cells along x, the middle one a body of its own, one cell thick.
fn layers() -> Mesh {
    let mut mesh = generate_box(Hex8, [3.0, 2.0, 1.0], [3, 2, 1]).unwrap();
    let of = |name: &str, cells: [u32; 2]| Group { name: name.into(), dim: 3, members: vec![(0, cells.to_vec())] };
    mesh.groups.extend([of("left", [0, 3]), of("middle", [1, 4]), of("right", [2, 5])]);
    mesh
}

#[test]
fn a_load_on_a_body_stays_on_its_own_faces() {
    let text = |on: &str| clamped("hex8", &format!("[[traction]]\non = {on}\nvector = [0.0, 0.0, 1.0]\n"));
    // Top, bottom and the two ends along y; the whole skin has 22.
    for (on, area) in [("\"middle\"", 6.0), ("\"left\"", 8.0), ("[\"left\", \"middle\"]", 14.0), ("\"body\"", 22.0)] {
        assert_relative_eq!(total(&text(on), layers())[2], area, max_relative = 1e-12);
    }
    // `left` and `right` have all nodes of the middle's skin between them.
    assert_relative_eq!(total(&text("[\"left\", \"right\"]"), layers())[2], 16.0, max_relative = 1e-12);
}

/// A cube below, and on its top two tetrahedra whose faces are the halves of the cube's.
fn cube_under_tets() -> Mesh {
    let mut mesh = generate_box(Hex8, [1.0; 3], [1; 3]).unwrap();
    let top: Vec<u32> = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
        .map(|[x, y]| mesh.coords.iter().position(|at| *at == [x, y, 1.0]).unwrap() as u32)
        .to_vec();
    mesh.coords.push([0.5, 0.5, 2.0]);
    mesh.node_tags.push(9);
    let nodes = [top[0], top[1], top[2], 8, top[0], top[2], top[3], 8].to_vec();
    mesh.cells.push(Cells { kind: Tet4, nodes, tags: vec![101, 102] });
    let facet = mesh.group("zmax").unwrap().members[0].1[0];
    mesh.groups.clear();
    mesh.groups.push(Group { name: "joint".into(), dim: 2, members: vec![(1, vec![facet])] });
    let all = vec![(0, vec![0]), (2, vec![0, 1])];
    mesh.groups.push(Group { name: "all".into(), dim: 3, members: all });
    mesh
}

#[test]
fn a_face_between_a_hexahedron_and_tetrahedra_lies_inside() {
    let mesh = cube_under_tets();
    let text = |load: &str| clamped("hex8", load);
    let pressure = text("[[pressure]]\non = \"joint\"\nvalue = 1.0\n");
    refused_on(&pressure, mesh.clone(), 2, &["`joint` lies inside the body"]);
    // The five other faces of the cube, and the four of the tetrahedra's pyramid.
    let traction = text("[[traction]]\non = \"all\"\nvector = [0.0, 0.0, 1.0]\n");
    let slanted = 1.25f64.sqrt() / 2.0;
    assert_relative_eq!(total(&traction, mesh)[2], 5.0 + 4.0 * slanted, max_relative = 1e-12);
}
