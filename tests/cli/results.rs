//! Results beside displacements and stresses: safety factors and probes.

use crate::{Folder, GOOD, good_but};

/// The cells of a table below its header, and the header.
fn table(folder: &Folder, name: &str) -> (String, Vec<Vec<f64>>) {
    let text = String::from_utf8(folder.read(name)).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    (header.to_string(), rows.lines().map(row).collect())
}

#[test]
fn a_yield_strength_gives_safety_factors() {
    let folder = Folder::new();
    let run = folder.solve(&good_but("density = 7850.0", "density = 7850.0\nyield_strength = 235e6"), &[]).done();
    let smallest = &folder.summary("out")["results"]["min_safety_factor"];
    let (header, rows) = table(&folder, "out/case_nodes.csv");
    assert!(header.ends_with(",von_mises,safety_factor"), "{header}");
    let n = rows[0].len();
    assert!(rows.iter().all(|row| (row[n - 1] * row[n - 2] / 235e6 - 1.0).abs() < 1e-12));
    let least = rows.iter().map(|row| row[n - 1]).fold(f64::INFINITY, f64::min);
    assert_eq!(smallest["value"], least);
    let node = rows.iter().find(|row| row[n - 1] == least).unwrap();
    assert_eq!(smallest["node"].as_f64(), Some(node[0]));
    assert_eq!([0, 1, 2].map(|c| smallest["at"][c].as_f64().unwrap()), node[1..4]);
    assert!(run.out.contains("smallest safety factor "), "{}", run.out);
    let text = |name: &str| String::from_utf8_lossy(&folder.read(name)).into_owned();
    assert!(text("out/case.vtu").contains("Name=\"safety_factor\""));
    assert!(text("out/case.html").contains("<th>smallest safety factor</th>"));

    folder.solve(GOOD, &[]).done();
    assert!(folder.summary("out")["results"].get("min_safety_factor").is_none());
    assert!(!text("out/case.vtu").contains("safety_factor"));
    let asked = format!("{GOOD}[output]\nfields = [\"safety_factor\"]\n");
    folder.solve(&asked, &[]).refused(2, &["case.toml:29:11: `safety_factor` needs the `yield_strength`"]);
    let negative = good_but("density = 7850.0", "yield_strength = -1.0");
    folder.solve(&negative, &[]).refused(2, &["`yield_strength` must be greater than 0", "235e6 in Pa"]);
}
