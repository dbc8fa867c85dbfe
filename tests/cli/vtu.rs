//! The VTU read back: what its header announces is there, in the right place, and finite.

use crate::{Folder, GOOD};

/// A `<DataArray>` whose data is appended.
struct Array {
    name: String,
    kind: String,
    components: Option<usize>,
    offset: usize,
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    Some(tag[from..].split('"').next()?.to_owned())
}

/// Header and appended data.
fn split(file: &[u8]) -> (String, &[u8]) {
    let mark = b"<AppendedData encoding=\"raw\">";
    let at = file.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
    let start = at + file[at..].iter().position(|&byte| byte == b'_').unwrap() + 1;
    let end = file.len() - file.iter().rev().position(|&byte| byte == b'\n').unwrap_or(0);
    assert!(file[start..end].ends_with(b"</VTKFile>\n") || file.ends_with(b"</VTKFile>"), "no end");
    (String::from_utf8(file[..at].to_vec()).unwrap(), &file[start..])
}

fn arrays(header: &str) -> Vec<Array> {
    let tags = header.split('<').filter(|tag| tag.starts_with("DataArray") && tag.contains("format=\"appended\""));
    let array = |tag: &str| Array {
        name: attribute(tag, "Name").unwrap(),
        kind: attribute(tag, "type").unwrap(),
        components: attribute(tag, "NumberOfComponents").map(|n| n.parse().unwrap()),
        offset: attribute(tag, "offset").unwrap().parse().unwrap(),
    };
    tags.map(array).collect()
}

/// The bytes of an array, by the count before them.
fn bytes<'a>(data: &'a [u8], array: &Array) -> &'a [u8] {
    let (count, rest) = data[array.offset..].split_first_chunk::<8>().unwrap();
    &rest[..u64::from_le_bytes(*count) as usize]
}

fn floats(data: &[u8], array: &Array) -> Vec<f64> {
    assert_eq!(array.kind, "Float64", "{}", array.name);
    bytes(data, array).as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
}

#[test]
fn every_array_is_where_the_header_says_and_finite() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let file = folder.read("out/case.vtu");
    let (header, data) = split(&file);
    assert!(header.contains("byte_order=\"LittleEndian\" header_type=\"UInt64\""), "{header}");
    assert!(header.contains("NumberOfPoints=\"81\" NumberOfCells=\"192\""), "{header}");
    let arrays = arrays(&header);
    // They lie in the reverse order of their tags.
    let mut end = 0;
    for array in arrays.iter().rev() {
        assert_eq!(array.offset, end, "{} leaves a gap or overlaps", array.name);
        end += 8 + bytes(data, array).len();
    }
    // VTK takes a scalar with one component for a vector of length one.
    let expected = [
        ("Points", Some(3), 81),
        ("displacement", Some(3), 81),
        ("reaction_force", Some(3), 81),
        ("von_mises", None, 192),
        ("stress", Some(6), 192),
        ("von_mises_nodal", None, 81),
        ("stress_nodal", Some(6), 81),
    ];
    for (name, components, count) in expected {
        let array = arrays.iter().find(|array| array.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(array.components, components, "{name}");
        let values = floats(data, array);
        assert_eq!(values.len(), count * components.unwrap_or(1), "{name}");
        assert!(values.iter().all(|value| value.is_finite()), "{name}");
        assert!(values.iter().any(|&value| value != 0.0), "{name}");
    }
    let material = arrays.iter().find(|array| array.name == "material").unwrap();
    assert_eq!(material.components, None);
    let sizes = [("connectivity", 192 * 4), ("offsets", 192), ("types", 192)];
    for (name, count) in sizes {
        let array = arrays.iter().find(|array| array.name == name).unwrap();
        let width = array.kind.trim_start_matches(char::is_alphabetic).parse::<usize>().unwrap() / 8;
        assert_eq!(bytes(data, array).len(), count * width, "{name}");
    }
}

#[test]
fn values_agree_with_the_summary() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let file = folder.read("out/case.vtu");
    let (header, data) = split(&file);
    let arrays = arrays(&header);
    let values = |name: &str| floats(data, arrays.iter().find(|array| array.name == name).unwrap());
    let summary = folder.summary("out");
    let displacement = values("displacement");
    let largest = displacement.as_chunks::<3>().0.iter().map(|u| u.iter().map(|c| c * c).sum::<f64>().sqrt());
    let largest = largest.fold(0.0, f64::max);
    let said = summary["results"]["max_displacement"].as_f64().unwrap();
    assert!((largest - said).abs() <= 1e-14 * said, "{largest} {said}");
    let von_mises = values("von_mises").into_iter().fold(0.0, f64::max);
    assert_eq!(summary["results"]["von_mises"]["max"], von_mises);
    let nodal = values("von_mises_nodal");
    let largest = nodal.iter().copied().fold(0.0, f64::max);
    let said = &summary["results"]["von_mises_nodal"];
    assert_eq!(said["max"], largest);
    let node = nodal.iter().position(|v| *v == largest).unwrap();
    assert_eq!(said["max_node"], node + 1);
    let place: Vec<f64> = (0..3).map(|i| said["max_at"][i].as_f64().unwrap()).collect();
    assert_eq!(place, values("Points")[3 * node..3 * node + 3]);
    let (points, reactions) = (values("Points"), values("reaction_force"));
    for (x, r) in points.as_chunks::<3>().0.iter().zip(reactions.as_chunks::<3>().0) {
        assert!(x[0] == 0.0 || *r == [0.0; 3], "a reaction of a free node at {x:?}");
    }
}
