//! The VTU read back: its arrays are finite, and their values agree with the summary. `host/src/output/vtu/tests.rs`
//! checks the format.

use crate::{Folder, GOOD};

/// The numbers of an array by its name, where the header says that they are.
fn floats(header: &str, data: &[u8], name: &str) -> Vec<f64> {
    let tag = header.split('<').find(|tag| tag.contains(&format!(" Name=\"{name}\""))).unwrap();
    assert!(tag.contains(" type=\"Float64\"") && tag.contains(" format=\"appended\""), "{tag}");
    let offset: usize = tag.split("offset=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse().unwrap();
    let (count, rest) = data[offset..].split_first_chunk::<8>().unwrap();
    let values = rest[..u64::from_le_bytes(*count) as usize].as_chunks::<8>().0;
    values.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
}

#[test]
fn values_agree_with_the_summary() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let file = folder.read("out/case.vtu");
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let start = file.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
    let header = std::str::from_utf8(&file[..start]).unwrap();
    assert!(header.contains("byte_order=\"LittleEndian\" header_type=\"UInt64\""), "{header}");
    assert!(header.contains("NumberOfPoints=\"81\" NumberOfCells=\"192\""), "{header}");
    let values = |name: &str, count: usize| {
        let values = floats(header, &file[start..], name);
        assert!(values.len() == count && values.iter().all(|value| value.is_finite()), "{name}");
        assert!(values.iter().any(|&value| value != 0.0), "{name}");
        values
    };
    let (points, displacement, reactions) =
        (values("Points", 3 * 81), values("displacement", 3 * 81), values("reaction_force", 3 * 81));
    values("stress", 6 * 192);
    values("stress_nodal", 6 * 81);
    let summary = folder.summary("out");
    let results = &summary["results"];
    let size = |u: &[f64; 3]| u.iter().map(|c| c * c).sum::<f64>().sqrt();
    let largest = displacement.as_chunks().0.iter().map(size).fold(0.0, f64::max);
    let said = results["max_displacement"].as_f64().unwrap();
    assert!((largest - said).abs() <= 1e-14 * said, "{largest} {said}");
    assert_eq!(results["von_mises"]["max"], values("von_mises", 192).into_iter().fold(0.0, f64::max));
    let nodal = values("von_mises_nodal", 81);
    let largest = nodal.iter().copied().fold(0.0, f64::max);
    let (said, node) = (&results["von_mises_nodal"], nodal.iter().position(|v| *v == largest).unwrap());
    assert_eq!((&said["max"], &said["max_node"]), (&largest.into(), &(node + 1).into()));
    assert_eq!(said["max_at"], serde_json::json!(points[3 * node..][..3]));
    for (x, r) in points.as_chunks::<3>().0.iter().zip(reactions.as_chunks::<3>().0) {
        assert!(x[0] == 0.0 || *r == [0.0; 3], "a reaction of a free node at {x:?}");
    }
}
