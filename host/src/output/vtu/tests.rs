use std::io::Cursor;

use super::*;
use crate::element::ElementKind::{self, Hex20, Quad8, Tet10, Tri6};
use crate::mesh::Cells;
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::output::tests::{hex_pair, of_hex_pair, zero};
use crate::result::{Physics, When};

/// A file taken apart by hand.
struct Parsed {
    head: String,
    data: Vec<u8>,
}

impl Parsed {
    fn of(mesh: &Mesh, step: &Step, names: &[&str]) -> Parsed {
        let mut out = Cursor::new(Vec::new());
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        write(&mut out, mesh, step, &names, true).unwrap();
        let file = out.into_inner();
        let marker = b"<AppendedData encoding=\"raw\">\n_";
        let at = file.windows(marker.len()).position(|window| window == marker).unwrap() + marker.len();
        assert!(file.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
        Parsed { head: String::from_utf8(file[..at].to_vec()).unwrap(), data: file[at..].to_vec() }
    }

    /// The `DataArray` tag of an array.
    fn tag(&self, name: &str) -> &str {
        self.head.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).unwrap()
    }

    fn at(&self, name: &str) -> usize {
        let offset = self.tag(name).split("offset=\"").nth(1).unwrap();
        offset[..offset.find('"').unwrap()].parse().unwrap()
    }

    fn word(&self, at: usize) -> usize {
        u64::from_ne_bytes(self.data[at..at + 8].try_into().unwrap()) as usize
    }

    fn raw(&self, name: &str) -> Vec<u8> {
        let at = self.at(name);
        self.data[at + 8..at + 8 + self.word(at)].to_vec()
    }
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|item| f64::from_ne_bytes(item.try_into().unwrap())).collect()
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|item| i32::from_ne_bytes(item.try_into().unwrap())).collect()
}

/// Every field there is, of every physics, is read back.
#[test]
fn every_array_is_where_the_head_says() {
    let mesh = hex_pair();
    for physics in [Physics::Elasticity, Physics::Potential] {
        let step = of_hex_pair(physics, When::Asked);
        let names: Vec<&str> = physics.fields().map(|info| info.name).collect();
        let file = Parsed::of(&mesh, &step, &names);
        for Field { info, values } in step.fields.iter().filter(|field| field.info.at != At::CellPoint) {
            let (tag, raw) = (file.tag(info.name), file.raw(info.name));
            if info.unit == Quantity::Index {
                assert!(ints(&raw).iter().map(|i| f64::from(*i)).eq(values[1].iter().copied()), "{}", info.name);
            } else {
                assert_eq!(floats(&raw), values.concat(), "{}", info.name);
            }
            let n = format!("NumberOfComponents=\"{}\"", info.width());
            assert_eq!(tag.contains(&n), info.width() > 1, "{tag}");
            // Readers name the components of a vector themselves.
            for (k, component) in info.components.iter().enumerate() {
                assert_eq!(tag.contains(&format!(" ComponentName{k}=\"{component}\"")), !info.is_vector(), "{tag}");
            }
        }
        assert!(file.head.contains("NumberOfPoints=\"12\" NumberOfCells=\"2\""));
        assert!(file.head.contains(">1</DataArray>"));
        assert_eq!(ints(&file.raw("connectivity")), mesh.cells[1].nodes.iter().map(|&n| n as i32).collect::<Vec<_>>());
        assert_eq!((ints(&file.raw("offsets")), file.raw("types")), (vec![8, 16], vec![12, 12]));
        assert_eq!(floats(&file.raw("Points")), mesh.coords.concat());
    }
}

#[test]
fn only_the_fields_asked_for_are_there() {
    let file = Parsed::of(&hex_pair(), &of_hex_pair(Physics::Elasticity, When::Usual), &["stress", "displacement"]);
    for (name, there) in [("displacement", true), ("stress", true), ("von_mises", false), ("material", false)] {
        assert_eq!(file.head.contains(&format!("Name=\"{name}\"")), there, "{name}");
    }
    assert!(file.head.find("displacement") < file.head.find("stress"));
}

#[test]
fn ramps_run_on_across_chunks_and_blocks() {
    let (mut mesh, mut results) = many_tets(300_000);
    let pair = hex_pair();
    mesh.cells.push(Cells {
        kind: ElementKind::Hex8,
        nodes: vec![0, 1, 2, 3, 0, 1, 2, 3],
        tags: vec![pair.cells[1].tags[0]],
    });
    let of_cells = results.fields.iter_mut().filter(|field| field.info.at == At::Cell);
    of_cells.for_each(|field| field.values.push(vec![0.0; field.info.width()]));
    let file = Parsed::of(&mesh, &results, &[]);
    let offsets = ints(&file.raw("offsets"));
    assert_eq!(offsets.len(), 300_001);
    assert!(offsets[..300_000].iter().enumerate().all(|(i, &end)| end == 4 * (i as i32 + 1)));
    assert_eq!(offsets[300_000], 1_200_008);
    assert_eq!(file.raw("types")[299_999..], [10, 12]);
}

/// meshio's way through a file (`_parse_raw_binary` of 5.3.5): as `data[offset]` become base64, so do the offsets in the
/// tags, and the next array is the first whose tag has its offset. Without an array there it gives up.
fn meshio_reads(file: &Parsed) -> Result<(), String> {
    let tags = file.head.lines().filter(|line| line.contains("offset=\""));
    let names: Vec<&str> = tags.map(|line| line.split("Name=\"").nth(1).unwrap().split('"').next().unwrap()).collect();
    let mut offsets: Vec<usize> = names.iter().map(|name| file.at(name)).collect();
    let end = file.data.len() - "\n</AppendedData>\n</VTKFile>\n".len();
    let (mut at, mut encoded, mut read) = (0, 0, Vec::new());
    while at < end {
        let found = offsets.iter().position(|offset| *offset == at).ok_or(format!("no array at {at}"))?;
        offsets[found] = encoded;
        read.push(names[found]);
        let bytes = 8 + file.word(at);
        encoded += 4 * bytes.div_ceil(3);
        at += bytes;
    }
    read.sort_unstable();
    read.dedup();
    if read.len() == names.len() { Ok(()) } else { Err(format!("only {read:?} of {names:?}")) }
}

/// Of so many sizes, some have an array's offset in base64 that is another's.
#[test]
fn meshio_finds_the_arrays_whatever_their_sizes() {
    let names: Vec<&str> = Physics::Elasticity.usual_fields().collect();
    for kind in [ElementKind::Tet4, ElementKind::Hex8] {
        for cells in (0..512).map(|i| [1 + i % 8, 1 + i / 8 % 8, 1 + i / 64]) {
            let mesh = generate_box(kind, [1.0; 3], cells).unwrap();
            let file = Parsed::of(&mesh, &zero(&mesh), &names);
            meshio_reads(&file).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
        }
    }
}

#[test]
fn wide_integers_hold_the_same_numbers() {
    let nodes = Piece::Nodes { nodes: &[7, u32::MAX], order: &[], wide: true };
    let pieces = vec![nodes, Piece::Ramp { first: 4, step: 4, count: 2, wide: true }];
    let mut out = Vec::new();
    Array::new("Cells", "offsets", "Int64", 1, pieces).write(&mut out).unwrap();
    let words: Vec<u64> = out.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [32, 7, u64::from(u32::MAX), 4, 8]);
}

/// The middle nodes of cells in VTK's order lie between the corners that VTK's documentation (vtkQuadraticTetra,
/// vtkQuadraticHexahedron, vtkQuadraticTriangle, vtkQuadraticQuad) names for them.
#[test]
fn quadratic_cells_have_the_order_of_vtk() {
    const HEX: &[[usize; 2]] =
        &[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]];
    let cases: [(Mesh, u8, &[[usize; 2]]); 4] = [
        (generate_box(Tet10, [1.0; 3], [2, 1, 1]).unwrap(), 24, &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]]),
        (generate_box(Hex20, [1.0; 3], [2, 1, 1]).unwrap(), 25, HEX),
        (generate_rectangle(Tri6, [1.0; 2], [2, 1]).unwrap(), 22, &[[0, 1], [1, 2], [2, 0]]),
        (generate_rectangle(Quad8, [1.0; 2], [2, 1]).unwrap(), 23, &[[0, 1], [1, 2], [2, 3], [3, 0]]),
    ];
    for (mesh, code, edges) in cases {
        let file = Parsed::of(&mesh, &zero(&mesh), &[]);
        let (points, nodes) = (floats(&file.raw("Points")), ints(&file.raw("connectivity")));
        let (n, cells) = (mesh.cells[0].kind.info().n_nodes, mesh.cells[0].len());
        assert_eq!(file.raw("types"), vec![code; cells]);
        assert_eq!(ints(&file.raw("offsets")), (1..=cells).map(|i| (i * n) as i32).collect::<Vec<_>>());
        for cell in nodes.chunks_exact(n) {
            for (k, ends) in edges.iter().enumerate() {
                for c in 0..3 {
                    let x = |b: usize| points[3 * cell[b] as usize + c];
                    assert_eq!(x(n - edges.len() + k), 0.5 * (x(ends[0]) + x(ends[1])), "{code} {ends:?}");
                }
            }
        }
    }
}

/// `n` copies of one tet.
fn many_tets(n: usize) -> (Mesh, Step) {
    let coords = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let cells = vec![Cells { kind: ElementKind::Tet4, nodes: [0, 1, 2, 3].repeat(n), tags: (0..n as u64).collect() }];
    let mesh = Mesh { coords, node_tags: vec![1, 2, 3, 4], cells, ..Mesh::default() };
    let results = zero(&mesh);
    (mesh, results)
}
