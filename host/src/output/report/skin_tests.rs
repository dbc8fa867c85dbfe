use super::*;
use crate::element::ElementKind::{Hex8, Hex20};
use crate::mesh::Mesh;
use crate::mesh::generate::generate_box;
use crate::output::tests::{elastic, hex_pair, values, zero};
use crate::result::Step;
use std::io::Read;

/// What the page's program makes of a packed skin: planes as numbers, then node numbers.
fn unpack(skin: &Skin) -> (serde_json::Value, Vec<Vec<f64>>, Vec<u32>) {
    let header: serde_json::Value = serde_json::from_str(&skin.header).unwrap();
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(&skin.packed[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(header["bytes"], bytes.len());
    let n = header["vertices"].as_u64().unwrap() as usize;
    let mut at = 0;
    let mut planes = Vec::new();
    for range in header["ranges"].as_array().unwrap() {
        let [low, high] = [0, 1].map(|i| range[i].as_f64().unwrap());
        let mut q = 0u16;
        planes.push(
            (0..n)
                .map(|i| {
                    q = q.wrapping_add(u16::from(bytes[at + i]) | u16::from(bytes[at + n + i]) << 8);
                    low + f64::from(q) / STEPS * (high - low)
                })
                .collect(),
        );
        at += 2 * n;
    }
    let (mut numbers, mut last) = (Vec::new(), 0i64);
    while at < bytes.len() {
        let (mut zigzag, mut shift) = (0u64, 0);
        loop {
            zigzag |= u64::from(bytes[at] & 127) << shift;
            (shift, at) = (shift + 7, at + 1);
            if bytes[at - 1] < 128 {
                break;
            }
        }
        last += (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        numbers.push(last as u32);
    }
    (header, planes, numbers)
}

/// A bent and coloured mesh.
fn bent(mesh: &Mesh) -> Step {
    let mut results = zero(mesh);
    *values(&mut results, "displacement") =
        mesh.coords.iter().flat_map(|x| [1e-4 * x[1], -3e-5, 2e-3 * x[0] * x[0]]).collect();
    *values(&mut results, "von_mises_nodal") =
        (0..mesh.coords.len()).map(|i| 1e6 + (i as f64 * 0.7).sin() * 9e5).collect();
    // As in the plane, where three are 0.
    let stress = |i: f64| [1e6 * i.sin(), -2e5 * i, 0.0, 3e4 + i, 0.0, 0.0];
    *values(&mut results, "stress_nodal") = (0..mesh.coords.len()).flat_map(|i| stress(i as f64)).collect();
    results
}

#[test]
fn a_skin_comes_back_within_half_a_step() {
    let mesh = generate_box(Hex8, [3.0, 1.0, 0.5], [6, 4, 2]).unwrap();
    let results = bent(&mesh);
    let shown = Shown::new(&mesh, &results, &[], None);
    let (header, planes, _) = unpack(&Skin::pack(&shown, None, false, MOST_VERTICES));
    let scene = &shown.scene;
    let order = surface(scene).vertices;
    assert_eq!((planes.len(), order.len()), (10, scene.rest.len()));
    assert_eq!(header["fields"], serde_json::json!(["von Mises stress", "stress xx", "stress yy", "stress xy"]));
    for (k, plane) in planes.iter().enumerate() {
        let range = &header["ranges"][k];
        let half_step = (range[1].as_f64().unwrap() - range[0].as_f64().unwrap()) / 131_070.0;
        for (vertex, &node) in order.iter().enumerate() {
            let node = node as usize;
            let exact = match k {
                0..3 => scene.rest[node][k],
                3..6 => scene.displacement[node][k - 3],
                _ => scene.scalars[[0, 1, 2, 4][k - 6]].2[node],
            };
            let bound = half_step * (1.0 + 1e-9) + 1e-12 * exact.abs();
            assert!((plane[vertex] - exact).abs() <= bound, "{k} {vertex}: {} {exact}", plane[vertex]);
        }
    }
}

#[test]
fn faces_become_triangles_and_edges_keep_their_kinds() {
    let mesh = hex_pair();
    let results = elastic();
    let shown = Shown::new(&mesh, &results, &[], None);
    let (header, _, numbers) = unpack(&Skin::pack(&shown, None, false, MOST_VERTICES));
    // Ten squares; sixteen pieces of twelve edges; between the cubes four edges.
    assert_eq!([&header["triangles"], &header["outline"], &header["edges"]], [20, 16, 4]);
    assert_eq!(numbers.len(), 3 * 20 + 2 * 16 + 2 * 4);
    assert!(numbers.iter().all(|&number| number < 12));
    let surface = surface(&shown.scene);
    let expected: Vec<u32> = surface.triangles.iter().flatten().copied().collect();
    assert_eq!(numbers[..60], expected);
}

#[test]
fn quadratic_faces_have_no_edges_within() {
    let mesh = generate_box(Hex20, [1.0; 3], [1; 3]).unwrap();
    let results = zero(&mesh);
    let skin = surface(&Shown::new(&mesh, &results, &[], None).scene);
    // Six faces in five parts: four corner triangles and a square of two.
    assert_eq!((skin.triangles.len(), skin.outline.len(), skin.edges.len()), (6 * 6, 24, 0));
}

#[test]
fn a_skin_with_too_many_vertices_is_thinned_and_says_so() {
    let mesh = generate_box(Hex8, [1.0; 3], [24; 3]).unwrap();
    let results = bent(&mesh);
    let shown = Shown::new(&mesh, &results, &[], None);
    let whole = surface(&shown.scene);
    let n = whole.vertices.len();
    assert!(Skin::pack(&shown, None, false, MOST_VERTICES).note.is_empty());
    let area = |surface: &Surface| -> f64 {
        let x = |v: u32| shown.scene.rest[surface.vertices[v as usize] as usize];
        surface.triangles.iter().map(|t| thin::area(t.map(x))).sum()
    };
    assert!((area(&whole) - 6.0).abs() < 1e-9);
    let thinned = thin::thin(&shown.scene, whole, 500);
    assert!((100..=500).contains(&thinned.vertices.len()), "{} of {n}", thinned.vertices.len());
    let numbers = thinned.triangles.iter().flatten().chain(thinned.outline.iter().flatten());
    assert!(numbers.copied().all(|v| (v as usize) < thinned.vertices.len()));
    assert!(!thinned.outline.is_empty());
    let peaks = &shown.scene.peaks;
    assert!(peaks.len() == 2 && peaks.iter().all(|peak| thinned.vertices.contains(peak)), "{peaks:?}");
    assert!((area(&thinned) - 6.0).abs() < 0.6, "{}", area(&thinned));
}

#[test]
fn a_million_elements_make_a_few_hundred_kilobytes() {
    // The skin of a cube of a million cells, from a plate with as many faces on it.
    let mesh = generate_box(Hex8, [1.0, 1.0, 0.01], [170, 170, 1]).unwrap();
    let results = bent(&mesh);
    let packed = Skin::pack(&Shown::new(&mesh, &results, &[], None), None, false, MOST_VERTICES).packed.len();
    assert!(packed < 1_000_000, "{packed}");
}
