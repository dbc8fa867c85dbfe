//! Files of Gmsh 4.15 under `tests/data`, and one bad file for every error.

use crate::element::ElementKind::{self, *};
use crate::mesh::quality::volume;
use crate::mesh::write::{Form, to_bytes};
use crate::mesh::{Mesh, MeshError};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(data(name)).unwrap()
}

fn parse(text: &str) -> Result<Mesh, MeshError> {
    Mesh::parse(text.as_bytes())
}

/// A 2.2 file of these nodes and elements (`type`, nodes), tagged from 1.
fn v22(nodes: &[[f64; 3]], elements: &[&str]) -> String {
    let mut out = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", nodes.len());
    for (i, x) in nodes.iter().enumerate() {
        out += &format!("{} {} {} {}\n", i + 1, x[0], x[1], x[2]);
    }
    out += &format!("$EndNodes\n$Elements\n{}\n", elements.len());
    for (i, element) in elements.iter().enumerate() {
        let (kind, nodes) = element.split_once(' ').unwrap();
        out += &format!("{} {kind} 2 0 1 {nodes}\n", i + 1);
    }
    out + "$EndElements\n"
}

const TWO: [[f64; 3]; 5] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];

/// The corners of a hexahedron.
fn cube() -> [[f64; 3]; 8] {
    Hex8.info().shape.nodes.try_into().unwrap()
}

#[test]
fn four_files_of_gmsh_hold_the_same_mesh() {
    let first = Mesh::parse(&data("box41a.msh")).unwrap();
    for name in ["box41b.msh", "box22a.msh", "box22b.msh"] {
        let mesh = Mesh::parse(&data(name)).unwrap();
        assert_eq!(mesh.coords.len(), first.coords.len(), "{name}");
        let near = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-14);
        assert!(mesh.coords.iter().zip(&first.coords).all(near), "{name}");
        assert_eq!(mesh.node_tags, first.node_tags, "{name}");
        assert_eq!(mesh.cells.len(), first.cells.len(), "{name}");
        for (a, b) in mesh.cells.iter().zip(&first.cells) {
            assert_eq!((a.kind, &a.nodes), (b.kind, &b.nodes), "{name}");
        }
        assert_eq!(mesh.groups, first.groups, "{name}");
    }
    let names: Vec<&str> = first.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["corner", "group9", "left side", "both", "body", "again"]);
    let solids = first.cells.iter().find(|block| block.kind == Tet4).unwrap();
    assert_eq!(first.group("body").unwrap().members, first.group("again").unwrap().members);
    assert_eq!(first.group("body").unwrap().members[0].1.len(), solids.len());
    assert!(first.faces_on("left side").unwrap().len() < first.faces_on("both").unwrap().len());
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    assert!(!first.skin().is_empty());
}

#[test]
fn only_faces_in_groups_is_said() {
    let error = Mesh::parse(&data("faces41.msh")).unwrap_err();
    assert!(matches!(error, MeshError::NoVolume { has_volume: true, grouped: true, .. }));
    let text = error.to_string();
    assert!(text.contains("put the volume in a group too") && !text.contains("STL"), "{text}");
    let surface = v22(&TWO, &["2 1 2 3", "2 2 3 5"]);
    assert!(matches!(parse(&surface), Err(MeshError::Shell)));
    let closed = v22(&TWO, &["2 1 2 3", "2 1 2 4", "2 2 3 4", "2 1 3 4"]);
    let error = parse(&closed).unwrap_err();
    let found = matches!(error, MeshError::NoVolume { faces: 4, has_volume: false, grouped: false, is_closed: true });
    assert!(found && error.to_string().contains("Surface Loop(1) = Surface{:};"), "{error}");
}

#[test]
fn groups_of_one_name_and_dimension_are_one() {
    let elements = ["2 1 2 3", "2 1 2 4", "2 1 3 4", "2 2 3 4", "4 1 2 3 4", "4 2 3 4 5"];
    let text = v22(&TWO, &elements)
        .replace("$Nodes", "$PhysicalNames\n3\n2 1 \"a\"\n2 4 \"a\"\n3 1 \"a\"\n$EndPhysicalNames\n$Nodes");
    // The third triangle is in both, which the format has by listing it twice.
    let grouped = |line: &str| match line {
        "1 2 2 0 1 1 2 3" => "1 2 2 4 1 1 2 3\n".to_string(),
        "2 2 2 0 1 1 2 4" => "2 2 2 1 1 1 2 4\n".to_string(),
        "3 2 2 0 1 1 3 4" => "3 2 2 1 1 1 3 4\n7 2 2 4 1 1 3 4\n".to_string(),
        "4 2 2 0 1 2 3 4" => "4 2 2 5 1 2 3 4\n".to_string(),
        "5 4 2 0 1 1 2 3 4" => "5 4 2 1 1 1 2 3 4\n".to_string(),
        "6" => "7\n".to_string(),
        other => format!("{other}\n"),
    };
    let mesh = parse(&text.lines().map(grouped).collect::<String>()).unwrap();
    let groups: Vec<_> =
        mesh.groups.iter().map(|group| (group.name.as_str(), group.dim, group.members.clone())).collect();
    let triangles = mesh.cells.iter().position(|cells| cells.kind == Tri3).unwrap();
    let tets = mesh.cells.iter().position(|cells| cells.kind == Tet4).unwrap();
    assert_eq!(
        groups,
        [
            ("a", 2, vec![(triangles, vec![0, 1, 2])]),
            ("group5", 2, vec![(triangles, vec![3])]),
            ("a", 3, vec![(tets, vec![0])])
        ]
    );
    assert_eq!(mesh.warnings, ["2 physical groups are called `a` (their tags: 1, 4) and are taken as one"]);
}

#[test]
fn a_plane_mesh_in_another_plane_is_said() {
    let turned = |turn: fn([f64; 3]) -> [f64; 3]| {
        let square = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]].map(turn);
        parse(&v22(&square, &["2 1 2 3", "2 1 3 4"]))
    };
    let turns: [fn([f64; 3]) -> [f64; 3]; 3] =
        [|x| [x[0], 0.0, x[1]], |x| [7.0, x[1], x[0]], |x| [0.6 * x[0], 0.8 * x[0] + 3.0, x[1]]];
    for turn in turns {
        let error = turned(turn).unwrap_err();
        assert!(matches!(error, MeshError::Tilted) && error.to_string().contains("in Gmsh: Rotate"), "{error}");
    }
    assert!(turned(|x| [x[1], x[0], 5.0]).is_ok());
}

#[test]
fn unknown_kinds_carry_tag_and_name() {
    let error = Mesh::parse(&data("hex27.msh")).unwrap_err();
    assert!(matches!(&error, MeshError::UnknownKind { name, .. } if name == "quad9"), "{error}");
    assert!(error.to_string().contains("Mesh.SecondOrderIncomplete = 1"), "{error}");
    let MeshError::UnknownKind { at: Some(at), more, .. } = &error else { panic!("{error}") };
    assert!(at.iter().all(|x| (0.0..=2.0).contains(x)) && *more > 0, "{error}");
    let error = parse(&v22(&TWO, &["4 1 2 3 4", "14 1 2 3 4 5 1 2 3 4 5 1 2 3 4"])).unwrap_err();
    assert!(
        matches!(&error, MeshError::UnknownKind { element: 2, name, code: 14, more: 0, .. } if name == "pyramid14"),
        "{error}"
    );
}

/// A quarter of a ring between radii 1 and 2; in space, of height 1. The volumes are sums of Gmsh's own Jacobians.
#[test]
fn curved_meshes_of_gmsh_have_the_volume_gmsh_says() {
    let files: [(&str, ElementKind, usize, f64); 5] = [
        ("ring_tri6.msh", Tri6, 6, 2.3558285412302493),
        ("ring_quad8.msh", Quad8, 3, 2.3558285412302493),
        ("ring_tet10.msh", Tet10, 46, 2.356000667462269),
        ("ring_hex20.msh", Hex20, 2, 2.35436067773417),
        ("ring_wedge15.msh", Wedge15, 5, 2.3563178290622706),
    ];
    for (name, kind, n, expected) in files {
        let mesh = Mesh::parse(&data(name)).unwrap();
        assert!(mesh.warnings.is_empty(), "{name}: {:?}", mesh.warnings);
        let (_, solids) = mesh.solids().next().unwrap();
        assert_eq!((solids.kind, solids.len()), (kind, n), "{name}");
        assert!((volume(&mesh) - expected).abs() < 1e-12, "{name}: {}", volume(&mesh));
        // Every node of a curved side lies on its cylinder.
        for (side, radius) in [("outer", 2.0), ("inner", 1.0)] {
            let faces = mesh.faces_on(side).unwrap();
            assert_eq!(faces.len(), mesh.group(side).unwrap().members[0].1.len(), "{name}");
            for node in faces.iter().flat_map(|face| face.nodes()) {
                let [x, y, _] = mesh.coords[*node as usize];
                assert!((x.hypot(y) - radius).abs() < 1e-9, "{name} {side}");
            }
        }
        for form in [Form::Ascii, Form::Binary] {
            let back = Mesh::parse(&to_bytes(&mesh, form)).unwrap();
            assert_eq!((&back.coords, &back.node_tags), (&mesh.coords, &mesh.node_tags), "{name}");
            let nodes = |mesh: &Mesh| mesh.solids().map(|(_, cells)| cells.nodes.clone()).collect::<Vec<_>>();
            assert_eq!(nodes(&back), nodes(&mesh), "{name}");
            assert_eq!(back.groups.len(), mesh.groups.len(), "{name}");
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    for name in ["box41a.msh", "box41b.msh", "box22a.msh", "box22b.msh"] {
        let bytes = data(name);
        let end = bytes.len() - 2;
        for length in (0..end).step_by(61).chain([end]) {
            let error = Mesh::parse(&bytes[..length]);
            assert!(error.is_err(), "{name} cut to {length} bytes");
        }
        let elements = bytes.windows(9).position(|w| w == b"$Elements").unwrap();
        let error = Mesh::parse(&bytes[..elements + 60]).unwrap_err();
        assert!(matches!(&error, MeshError::Truncated { section, .. } if section == "Elements"), "{name}: {error}");
    }
}

#[test]
fn files_that_are_no_mesh() {
    assert!(matches!(parse(""), Err(MeshError::NotMsh(..))));
    assert!(matches!(parse("solid cube\n"), Err(MeshError::NotMsh(..))));
    let old = "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n";
    assert!(matches!(parse(old), Err(MeshError::Version(version)) if version == "4.0"));
    assert!(matches!(parse("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"), Err(MeshError::NoElements)));
    assert!(matches!(parse(&v22(&TWO, &["1 1 2"])), Err(MeshError::NoElements)));
    let missing = Mesh::read(std::path::Path::new("no/such.msh")).unwrap_err();
    assert!(matches!(missing.root(), MeshError::NoFile { .. }));
    assert_eq!(missing.to_string(), "no/such.msh: there is no such file\nhelp: there is no folder no");
}

#[test]
fn counts_that_lie_are_errors() {
    let text = text("box41a.msh");
    for (find, put) in [("$Elements\n5 131", "$Elements\n99999999999 131"), ("$Entities\n8", "$Entities\n7")] {
        assert!(text.contains(find));
        assert!(parse(&text.replace(find, put)).is_err(), "{put}");
    }
}

#[test]
fn nodes_that_are_wrong() {
    for bad in ["nan", "inf", "-NaN"] {
        for name in ["box41a.msh", "box22a.msh"] {
            let text = text(name);
            let nodes = text.find("$Nodes").unwrap();
            let at = nodes + text[nodes..].find("0.").unwrap();
            let end = at + text[at..].find(char::is_whitespace).unwrap();
            let error = parse(&format!("{}{bad}{}", &text[..at], &text[end..])).unwrap_err();
            assert!(matches!(error, MeshError::NonFinite(..)), "{name}: {error}");
        }
    }
    let missing = parse(&v22(&TWO[..4], &["4 1 2 3 9"]));
    assert!(matches!(missing, Err(MeshError::MissingNode { element: 1, node: 9 })));
    let twice = v22(&TWO, &["4 1 2 3 4"]).replace("\n5 1 1 1", "\n4 1 1 1");
    assert!(matches!(parse(&twice), Err(MeshError::DuplicateNode(4))));
    let tag = v22(&TWO, &["4 1 2 3 4", "4 2 3 4 5"]).replace("\n2 4 2", "\n1 4 2");
    assert!(matches!(parse(&tag), Err(MeshError::DuplicateElement(1))));
}

#[test]
fn sparse_tags_and_orphans_are_fine() {
    let sparse =
        v22(&TWO, &["15 5", "4 1 2 3 4"]).replace("\n4 0 0 1\n", "\n900000 0 0 1\n").replace("3 4\n$", "3 900000\n$");
    let mesh = parse(&sparse).unwrap();
    assert_eq!(mesh.node_tags, [1, 2, 3, 900_000]);
    assert_eq!(mesh.warnings.len(), 1);
    assert!(mesh.warnings[0].contains("node 5"), "{}", mesh.warnings[0]);
    assert!(mesh.cells[0].is_empty());
}

#[test]
fn elements_listed_the_other_way_are_turned() {
    for elements in [["4 1 3 2 4", "4 2 3 4 5"], ["4 1 3 2 4", "4 2 4 3 5"]] {
        let mesh = parse(&v22(&TWO, &elements)).unwrap();
        assert_eq!(mesh.warnings.len(), 1);
        assert_eq!(mesh.skin().len(), 6);
    }
    assert!(parse(&v22(&TWO, &["4 1 2 3 4", "4 2 3 4 5"])).unwrap().warnings.is_empty());
    let mesh = parse(&v22(&cube(), &["5 5 6 7 8 1 2 3 4"])).unwrap();
    assert_eq!((mesh.cells[0].kind, mesh.warnings.len()), (Hex8, 1));
    assert_eq!(mesh.cells[0].nodes, [0, 1, 2, 3, 4, 5, 6, 7]);
    let plane = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mesh = parse(&v22(&plane, &["2 1 3 2"])).unwrap();
    assert_eq!((mesh.cells[0].kind, mesh.cells[0].nodes.as_slice()), (Tri3, &[0, 1, 2][..]));
}

#[test]
fn a_misplaced_node_is_a_tangle_and_a_face_of_three_elements_is_named_with_them() {
    let mut nodes = TWO.to_vec();
    nodes[4] = [-1.0, -1.0, -1.0];
    let error = parse(&v22(&nodes, &["4 1 2 3 4", "4 2 3 4 5"])).unwrap_err();
    assert!(matches!(error, MeshError::Tangled { element: 2, other: 1 }), "{error}");
    nodes = [TWO.as_slice(), &[[2.0, 1.0, 1.0]]].concat();
    let error = parse(&v22(&nodes, &["4 1 2 3 4", "4 2 3 4 5", "4 2 3 4 6"])).unwrap_err();
    assert!(matches!(error, MeshError::OvershareFace([1, 2, 3])), "{error}");
}

#[test]
fn an_element_twice_in_a_row_joins_groups_in_22_only() {
    let twice = ["4 1 2 3 4", "4 1 2 3 4"];
    let joined = v22(&TWO, &twice).replace("\n1 4 2 0 1", "\n1 4 2 7 1").replace("\n2 4 2 0 1", "\n2 4 2 8 1");
    let mesh = parse(&joined).unwrap();
    assert_eq!((mesh.cells[0].tags.as_slice(), mesh.groups.len()), (&[1][..], 2));
    let text = |second: u64| {
        format!(
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 7 0\n$EndEntities\n$Nodes\n1 4 1 4\n\
             3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n1 2 1 2\n3 1 4 2\n\
             1 1 2 3 4\n{second} 1 2 3 4\n$EndElements\n"
        )
    };
    assert!(matches!(parse(&text(1)), Err(MeshError::DuplicateElement(1))));
    assert!(matches!(parse(&text(2)), Err(MeshError::Repeated([1, 2]))));
}

#[test]
fn degenerate_and_distorted_elements() {
    let mut nodes = TWO;
    nodes[3] = [0.5, 0.25, 0.0];
    assert!(matches!(parse(&v22(&nodes, &["4 1 2 3 4"])), Err(MeshError::Degenerate { element: 1, kind: "tet4", .. })));
    assert!(matches!(parse(&v22(&TWO, &["4 1 2 3 3"])), Err(MeshError::Degenerate { .. })));
    let mut cube = cube();
    cube[6] = [-0.6; 3];
    let error = parse(&v22(&cube, &["5 1 2 3 4 5 6 7 8"])).unwrap_err();
    assert!(matches!(error, MeshError::Distorted { element: 1, kind: "hex8", .. }), "{error}");
}

/// Layers of extruded triangles and quadrilaterals; a transfinite block beside tetrahedra, with pyramids between.
#[test]
fn mixed_meshes_of_gmsh_fill_space_once() {
    let files: [(&str, &[ElementKind], f64); 4] = [
        ("wedge6.msh", &[Wedge6], 3.0 / 2f64.sqrt()),
        ("layers.msh", &[Hex8, Wedge6], 2.0),
        ("pyramids5.msh", &[Tet4, Hex8, Pyramid5], 2.0),
        ("pyramids.msh", &[Tet10, Hex20, Pyramid13], 2.0),
    ];
    for (name, kinds, expected) in files {
        let mesh = Mesh::parse(&data(name)).unwrap();
        assert!(mesh.warnings.is_empty(), "{name}: {:?}", mesh.warnings);
        let found: Vec<ElementKind> = mesh.solids().map(|(_, cells)| cells.kind).collect();
        assert!(found.len() == kinds.len() && kinds.iter().all(|kind| found.contains(kind)), "{name}: {found:?}");
        assert!((volume(&mesh) - expected).abs() < 1e-9, "{name}: {}", volume(&mesh));
        assert!(mesh.check_hanging().is_ok() && mesh.quality().unwrap().min > 0.1, "{name}");
        // Sides that close: the normals of the skin add up to nothing.
        let mut closed = [0.0; 3];
        for face in mesh.skin() {
            for at in &face.kind.table().rule {
                let normal = face.area_vector(at, &mesh.coords);
                (0..3).for_each(|c| closed[c] += at.weight * normal[c]);
            }
        }
        assert!(closed.iter().all(|sum| sum.abs() < 1e-12), "{name}: {closed:?}");
        for group in mesh.groups.iter().filter(|group| group.dim == 2) {
            assert!(!mesh.faces_on(&group.name).unwrap().is_empty(), "{name} {}", group.name);
        }
    }
}
