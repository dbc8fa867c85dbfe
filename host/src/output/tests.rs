use super::*;
use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh};
use crate::model::{Case, MassProperties};
use crate::result::{EFFECTIVE_MASS, Field, FieldInfo, MODES, Physics, Study, Table, When};
use std::time::SystemTime;

/// A quadrilateral, then two unit cubes side by side along x, tagged 41 and 42.
pub(super) fn hex_pair() -> Mesh {
    let plane = |x: f64| [[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 1.0, 1.0], [x, 0.0, 1.0]];
    let coords: Vec<[f64; 3]> = [plane(0.0), plane(1.0), plane(2.0)].concat();
    let node_tags = (1..=12).collect();
    let hexes = vec![0, 4, 5, 1, 3, 7, 6, 2, 4, 8, 9, 5, 7, 11, 10, 6];
    let cells = vec![
        Cells { kind: ElementKind::Quad4, nodes: vec![0, 3, 2, 1], tags: vec![7] },
        Cells { kind: ElementKind::Hex8, nodes: hexes, tags: vec![41, 42] },
    ];
    Mesh { coords, node_tags, cells, ..Mesh::default() }
}

/// The fields of a physics on [`hex_pair`] that are computed so or more often; every number different.
pub(super) fn of_hex_pair(physics: Physics, when: When) -> Step {
    let vector = |from: f64, i: usize, k: usize| from + i as f64 + [0.0, 0.1, 0.2][k];
    let gradient = [[3.0, 0.0, -4.0], [6.0, -8.0, 0.25]];
    let value = |name: &str, number: usize, width: usize, i: usize, k: usize| match name {
        "displacement" => vector(100.0, i, k),
        "reaction_force" => vector(200.0, i, k),
        "stress" => (6 * i + k + 1) as f64,
        "von_mises" => 1.5 + i as f64,
        "stress_nodal" => (20 + 6 * i + k) as f64,
        "von_mises_nodal" => 0.25 + i as f64,
        "material" => (3 + i) as f64,
        "potential" => 0.5 * i as f64,
        "gradient" => gradient[i][k],
        "gradient_nodal" => (30 + 3 * i + k) as f64,
        _ => (1000 * number + width * i + k) as f64 + 0.125,
    };
    let of_field = |(number, info): (usize, &'static FieldInfo)| {
        let list = |n: usize| {
            let of = |i: usize| (0..info.width()).map(move |k| value(info.name, number, info.width(), i, k));
            (0..n).flat_map(of).collect::<Vec<f64>>()
        };
        let values = match info.at {
            At::Node => vec![list(12)],
            At::Cell => vec![vec![], list(2)],
            At::CellPoint => vec![vec![], list(16)],
        };
        Field { info, values }
    };
    let fields = physics.fields().enumerate().filter(|(_, info)| info.when as u8 <= when as u8);
    Step { physics, fields: fields.map(of_field).collect(), ..Step::default() }
}

/// The usual fields of elasticity on [`hex_pair`].
pub(super) fn elastic() -> Step {
    of_hex_pair(Physics::Elasticity, When::Usual)
}

/// The same, zero for every solid of a mesh.
pub(super) fn zero(mesh: &Mesh) -> Step {
    let solid = |cells: &Cells| if cells.kind.info().dim == mesh.dim() { cells.len() } else { 0 };
    let field = |name: &'static str| {
        let info = FieldInfo::named(name).unwrap();
        let lengths: Vec<usize> = match info.at {
            At::Node => vec![mesh.coords.len()],
            _ => mesh.cells.iter().map(solid).collect(),
        };
        Field { info, values: lengths.iter().map(|n| vec![0.0; n * info.width()]).collect() }
    };
    let names = Physics::Elasticity.usual_fields().filter(|name| *name != "safety_factor");
    Step { fields: names.map(field).collect(), ..Step::default() }
}

/// The last list of a field: of the nodes, or of the cells of [`hex_pair`].
pub(super) fn values<'a>(step: &'a mut Step, name: &str) -> &'a mut Vec<f64> {
    let field = step.fields.iter_mut().find(|field| field.info.name == name).unwrap();
    field.values.last_mut().unwrap()
}

/// [`hex_pair`] held at one end.
pub(super) fn model() -> Model {
    let text = "[mesh]\nfile = \"pair.msh\"\n[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.0\n\
                [[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
    let mut model = Model::resolve(&Case::parse(Path::new("pair.toml"), text).unwrap(), hex_pair()).unwrap();
    (model.supports, model.materials) = (vec![], vec![]);
    model.fields = Physics::Elasticity.usual_fields().map(String::from).collect();
    model
}

pub(super) fn summary() -> Summary {
    Summary { case: "pair".into(), ..Summary::default() }
}

#[test]
fn every_field_is_checked_against_the_mesh() {
    for physics in [Physics::Elasticity, Physics::Potential] {
        let step = of_hex_pair(physics, When::Asked);
        assert!(field::check(&step, &hex_pair()).is_ok());
        for info in physics.fields() {
            let mut short = step.clone();
            let list = values(&mut short, info.name);
            list.truncate(list.len() - info.width());
            let error = field::check(&short, &hex_pair()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{} has ", info.name)), "{error}");
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(super) const ORIGIN: Origin<'static> =
    Origin { case: "pair.toml", mesh: "pair.msh", written: SystemTime::UNIX_EPOCH };

fn write(dir: &Path, results: &Step, summary: &mut Summary) -> Result<Vec<PathBuf>> {
    let options = Options { pictures: &[Shot::default()], with_symbols: false, origin: ORIGIN, prints: dir };
    write_all(dir, &model(), results, summary, &options)
}

#[test]
fn a_case_leaves_its_seven_files_and_the_time_they_took() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("results/pair");
    let mut summary = summary();
    let written = write(&target, &elastic(), &mut summary).unwrap();
    let mut files =
        ["pair.vtu", "pair_nodes.csv", "pair_elements.csv", "pair_tables.csv", "pair.png", "pair.html", "summary.json"]
            .to_vec();
    assert_eq!(written, files.iter().map(|name| target.join(name)).collect::<Vec<_>>());
    files.sort_unstable();
    assert_eq!(names(&target), files);
    let text = std::fs::read(target.join("summary.json")).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read["timings_s"]["write"], summary.timings_s.write);
    assert!(summary.timings_s.write > 0.0 && summary.timings_s.total == summary.timings_s.write);
}

#[test]
fn fields_that_do_not_fit_the_mesh_are_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = elastic();
    values(&mut results, "von_mises").pop();
    let error = write(dir.path(), &results, &mut summary()).unwrap_err();
    assert_eq!(error.exit_code(), 8);
    assert!(error.to_string().contains("von_mises has 1 values, not 2"), "{error}");
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = write(&file.join("sub"), &elastic(), &mut summary()).unwrap_err();
    assert!(matches!(&error, Error::Output { path, .. } if *path == file.join("sub")), "{error}");
}

#[test]
fn the_largest_value_is_the_first_that_is_finite() {
    assert_eq!(largest([1.0, f64::NAN, 3.0, 3.0, f64::INFINITY, 2.0].into_iter()), Some((2, 3.0)));
    assert_eq!(largest([f64::NAN].into_iter()), None);
}

#[test]
fn where_all_is_zero_there_is_no_picture_and_an_old_one_goes() {
    let (dir, mut summary, nothing) = (tempfile::tempdir().unwrap(), summary(), zero(&hex_pair()));
    let page = || std::fs::read_to_string(dir.path().join("pair.html")).unwrap();
    let written = write(dir.path(), &elastic(), &mut summary).unwrap();
    assert!(written.contains(&dir.path().join("pair.png")));
    assert_eq!(write(dir.path(), &nothing, &mut summary).unwrap().len(), 6);
    assert_eq!(
        names(dir.path()),
        ["pair.html", "pair.vtu", "pair_elements.csv", "pair_nodes.csv", "pair_tables.csv", "summary.json"]
    );
    assert!(!page().contains("<img") && page().contains("the solution is still 0"));
    summary.solver.converged = true;
    write(dir.path(), &nothing, &mut summary).unwrap();
    assert!(page().contains("solution is 0 everywhere"));
}

/// A mode of vibration of [`hex_pair`], of a frequency and with an effective mass along x.
fn mode(number: usize, frequency: f64, mass: f64) -> Step {
    let name = format!("mode {number}");
    let table = |info, row: Vec<f64>| Table { info, rows: vec![(name.clone(), row)] };
    let tables = vec![
        table(&MODES, vec![(std::f64::consts::TAU * frequency).powi(2), frequency, 1e-9]),
        table(&EFFECTIVE_MASS, vec![mass, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    let fields = elastic().fields.into_iter().filter(|field| Study::Modal.has(field.info.name));
    let (study, fields) = (Study::Modal, fields.collect());
    Step { label: name.clone(), value: frequency, study, fields, tables, ..Step::default() }
}

/// What is told of a mode.
fn summary_of(step: &Step) -> Summary {
    let mut summary = summary();
    let eigenvalue = step.row("modes", 0)[0];
    (summary.step, summary.units) = (step.label.clone(), Some(crate::result::Units::Si));
    summary.solver.converged = true;
    summary.mass = Some(MassProperties { mass: 2.0, centre: [0.0; 3], inertia: [0.0; 6] });
    summary.results.mode = Some(super::modes::Mode::Vibration { frequency: step.value, eigenvalue });
    summary.results.tables = step.tables.clone();
    summary
}

#[test]
fn modes_are_written_as_steps() {
    let dir = tempfile::tempdir().unwrap();
    let mut model = model();
    (model.study, model.modes, model.units) = (Study::Modal, 5, Some(crate::result::Units::Si));
    let options = Options { pictures: &[Shot::default()], with_symbols: true, origin: ORIGIN, prints: dir.path() };
    let mut writer = cases::CaseWriter::new(dir.path(), &model, options);
    // Two rigid motions, and fewer modes than were asked for.
    let steps = [mode(1, 0.0, 0.5), mode(2, 0.0, 0.0), mode(3, 12.5, 1.0)];
    let summaries: Vec<Summary> = steps.iter().map(summary_of).collect();
    steps.into_iter().for_each(|step| writer.add(step).unwrap());
    assert_eq!(writer.governing(), 2);
    let mut total = Summary { step: String::new(), ..summaries[0].clone() };
    let of_step = |(k, of)| summary::StepSummary::of(of, writer.files(k));
    total.steps = summaries.iter().enumerate().map(of_step).collect();
    writer.finish(&summaries, &mut total).unwrap();
    let mut files =
        vec!["pair.html", "pair.png", "pair.pvd", "summary.json"].into_iter().map(String::from).collect::<Vec<_>>();
    for k in 1..=3 {
        let endings = [".vtu", "_elements.csv", "_nodes.csv", "_tables.csv"];
        files.extend(endings.map(|ending| format!("pair_mode_{k}{ending}")));
    }
    files.sort();
    assert_eq!(names(dir.path()), files);
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let list = text("pair.pvd");
    for (time, name) in [("0", "1"), ("0.000000012500000000000001", "2"), ("12.5", "3")] {
        let line =
            format!("timestep=\"{time}\" group=\"\" part=\"0\" name=\"mode {name}\" file=\"pair_mode_{name}.vtu\"");
        assert!(list.contains(&line), "{list}");
    }
    let read: serde_json::Value = serde_json::from_str(&text("summary.json")).unwrap();
    assert_eq!((&read["steps"][2]["name"], &read["steps"][2]["frequency"]), (&"mode 3".into(), &12.5.into()));
    assert!(read["steps"][2]["eigenvalue"].as_f64().unwrap() > 6168.0);
    let results = &read["steps"][0]["results"];
    assert!(results["effective_mass"]["mode 1"][0] == 0.5 && results.get("reactions").is_none());
    assert!(results.get("equilibrium_error").is_none() && results.get("applied").is_none());
    let page = text("pair.html");
    for part in [
        "<h2>3 modes</h2>",
        "mass along x [%]",
        "<td>12.50 Hz</td><td>50.0</td>",
        "<th>sum</th><td></td><td>75.0</td>",
        "<label>Mode<select",
        "mode 3, 12.50 Hz",
        "<h2>Effective mass</h2>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["Loads and reactions", "force balance", "Load case", "envelope: ", "Extremes"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(text("pair_mode_3_tables.csv").contains("modes,mode 3,frequency,12.5,Hz"));
}
