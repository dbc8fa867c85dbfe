//! Results beside displacements and stresses: safety factors and probes.

use crate::{Folder, GOOD, good_but};

/// The cells of a table below its header, and the header.
fn table(folder: &Folder, name: &str) -> (String, Vec<Vec<f64>>) {
    let text = folder.text(name);
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
    assert!(rows.iter().all(|row| (row[n - 1] * row[n - 2] / 235e6 - 1.0).abs() < 1e-6));
    let least = rows.iter().map(|row| row[n - 1]).fold(f64::INFINITY, f64::min);
    assert_eq!(smallest["value"].as_f64().unwrap() as f32, least as f32);
    let node = rows.iter().find(|row| row[n - 1] == least).unwrap();
    assert_eq!(smallest["node"].as_f64(), Some(node[0]));
    assert_eq!([0, 1, 2].map(|c| smallest["at"][c].as_f64().unwrap()), node[1..4]);
    run.says(&["smallest safety factor "]);
    assert!(folder.text("out/case.vtu").contains("Name=\"safety_factor\""));
    assert!(folder.text("out/case.html").contains("<th>smallest safety factor</th>"));

    folder.solve(GOOD, &[]).done();
    assert!(folder.summary("out")["results"].get("min_safety_factor").is_none());
    assert!(!folder.text("out/case.vtu").contains("safety_factor"));
    let asked = format!("{GOOD}[output]\nfields = [\"safety_factor\"]\n");
    folder.solve(&asked, &[]).refused(2, &["case.toml:29:11: `safety_factor` needs the `yield_strength`"]);
    let negative = good_but("density = 7850.0", "yield_strength = -1.0");
    folder.solve(&negative, &[]).refused(2, &["`yield_strength` must be greater than 0", "235e6 in Pa"]);
}

/// Fields that are asked for are in every file, others in none.
#[test]
fn fields_on_request_are_in_every_file() {
    let folder = Folder::new();
    let names = ["strain", "tresca_nodal", "principal_stress_nodal", "principal_directions"];
    let asked = format!(
        "{GOOD}[output]\nfields = {:?}\nprobes = [{{ name = \"p\", at = [0.5, 0.5, 0.5] }}]\n",
        [&names[..], &["stress_points"]].concat()
    );
    folder.solve(&asked, &["--field", "strain_xx,principal_stress_1"]).done();
    let [nodes, elements] = ["nodes", "elements"].map(|of| table(&folder, &format!("out/case_{of}.csv")).0);
    assert!(nodes.ends_with(",tresca,principal_stress_1,principal_stress_2,principal_stress_3"), "{nodes}");
    assert!(elements.contains(",strain_xx,") && elements.ends_with(",principal_directions_3z"), "{elements}");
    let (header, rows) = table(&folder, "out/case_points.csv");
    assert!(header.starts_with("element,x,y,z,stress_xx,") && rows.len() > 8, "{header} {}", rows.len());
    let (vtu, page, summary) = (folder.text("out/case.vtu"), folder.text("out/case.html"), folder.summary("out"));
    names.iter().for_each(|name| assert!(vtu.contains(&format!("Name=\"{name}\"")), "{name}"));
    assert!(!vtu.contains("Name=\"tresca\"") && !vtu.contains("strain_nodal"));
    let ranges = &summary["results"]["fields"];
    let [least, most] = ["min", "max"].map(|end| ranges["strain_xx"][end].as_f64().unwrap());
    assert!(least < most && ranges["principal_directions_1x"].is_object() && ranges.get("tresca").is_none());
    assert!(summary["probes"][0]["principal_stress_nodal"].is_array());
    assert!(page.contains("\"principal stress 1\"") && page.contains("largest strain xx"));
    assert!(folder.path("out/case_strain_xx.png").exists());

    folder.solve(GOOD, &[]).done();
    assert!(folder.summary("out")["results"].get("fields").is_none());
    assert!(!folder.text("out/case.vtu").contains("tresca") && !folder.path("out/case_points.csv").exists());
}

#[test]
fn probes_interpolate_within_their_element() {
    let folder = Folder::new();
    // Pulled along x, free across: u is linear, and the stress the same everywhere.
    let bar = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [4.0, 1.0, 1.0], cells = [8, 2, 2] }\n\
               [[material]]\nname = \"m\"\nyoung = 1e3\npoisson = 0.25\n\
               [[support]]\non = \"xmin\"\nfix = \"x\"\n[[support]]\non = \"ymin\"\nfix = \"y\"\n\
               [[support]]\non = \"zmin\"\nfix = \"z\"\n[[traction]]\non = \"xmax\"\nvector = [2.0, 0.0, 0.0]\n\
               [output]\nprobes = [{ name = \"inside\", at = [1.7, 0.3, 0.9] }, { name = \"end\", at = [4.0, 0.0, 0.0] }]\n";
    let run = folder.solve(bar, &["--tolerance", "1e-11"]).done();
    let probes = &folder.summary("out")["probes"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    for (probe, name, at) in [(&probes[0], "inside", [1.7, 0.3, 0.9]), (&probes[1], "end", [4.0, 0.0, 0.0])] {
        assert_eq!((&probe["name"], &probe["at"]), (&name.into(), &serde_json::json!(at)));
        let strain = [2e-3, -5e-4, -5e-4];
        for c in 0..3 {
            assert!((number(&probe["displacement"][c]) - strain[c] * at[c]).abs() < 1e-10, "{probe}");
        }
        assert!((number(&probe["von_mises"]) - 2.0).abs() < 1e-8 && (number(&probe["stress"][0]) - 2.0).abs() < 1e-8);
        run.says(&[&format!("probe {name} at (")]);
    }
    let page = folder.text("out/case.html");
    assert!(page.contains("<h2>Probes</h2>") && page.contains("<tr><th>inside</th>"));

    let outside = bar.replace("[1.7, 0.3, 0.9]", "[1.7, 0.3, 1.5]");
    let words = ["probe `inside` lies outside of the mesh", "the nearest node, ", " is 0.5745 away"];
    folder.solve(&outside, &[]).refused(2, &words);
    folder.solve(&bar.replace("\"end\"", "\"inside\""), &[]).refused(2, &["a second probe is called `inside`"]);
    folder.solve(&bar.replace("name = \"end\", at", "name = \"end\", point"), &[]).refused(2, &["did you mean `at`?"]);
}

#[test]
fn probes_of_a_potential_have_its_gradient() {
    let folder = Folder::new();
    let wall = "[mesh]\ngenerate = { kind = \"rectangle\", element = \"tri6\", size = [2.0, 1.0], cells = [3, 2] }\n\
                [analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 5.0\n\
                [[support]]\non = \"xmin\"\nvalue = 1.0\n[[support]]\non = \"xmax\"\nvalue = 4.0\n\
                [[output.probes]]\nname = \"middle\"\nat = [0.9, 0.45]\n";
    folder.solve(wall, &["--tolerance", "1e-11"]).done();
    assert!((folder.number("out", "/probes/0/potential") - 2.35).abs() < 1e-9);
    assert!((folder.number("out", "/probes/0/gradient/0") - 1.5).abs() < 1e-8);
}
