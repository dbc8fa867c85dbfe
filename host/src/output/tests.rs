use super::*;
use crate::element::ElementKind;
use crate::mesh::Cells;

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

/// Values at the nodes of [`hex_pair`], every number different.
fn ascending<const K: usize>(from: f64) -> AtNodes<K> {
    let value = |i: usize| std::array::from_fn(|k| from + (K * i + k) as f64);
    AtNodes { values: (0..12).map(value).collect(), sizes: (0..12).map(|i| 0.25 + f64::from(i)).collect() }
}

/// Results on [`hex_pair`], every number different.
pub(super) struct Results {
    pub displacement: Vec<[f64; 3]>,
    pub reaction_force: Vec<[f64; 3]>,
    pub von_mises: Vec<Vec<f64>>,
    pub stress: Vec<Vec<[f64; 6]>>,
    pub nodal: AtNodes<6>,
    pub safety_factor: Vec<f64>,
    pub material: Vec<Vec<u32>>,
}

impl Results {
    pub(super) fn of_hex_pair() -> Results {
        let three = |from: f64| (0..12).map(|i| [0.0, 0.1, 0.2].map(|d| from + f64::from(i) + d)).collect();
        Results {
            displacement: three(100.0),
            reaction_force: three(200.0),
            von_mises: vec![vec![], vec![1.5, 2.5]],
            stress: vec![vec![], vec![[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]]],
            nodal: ascending(20.0),
            safety_factor: vec![],
            material: vec![vec![], vec![3, 4]],
        }
    }

    /// Zeros for every solid of a mesh.
    pub(super) fn zero(mesh: &Mesh) -> Results {
        let dim = mesh.dim();
        let lengths = mesh.cells.iter().map(|cells| if cells.kind.info().dim == dim { cells.len() } else { 0 });
        Results {
            displacement: vec![[0.0; 3]; mesh.coords.len()],
            reaction_force: vec![[0.0; 3]; mesh.coords.len()],
            von_mises: lengths.clone().map(|n| vec![0.0; n]).collect(),
            stress: lengths.clone().map(|n| vec![[0.0; 6]; n]).collect(),
            nodal: AtNodes { values: vec![[0.0; 6]; mesh.coords.len()], sizes: vec![0.0; mesh.coords.len()] },
            safety_factor: vec![],
            material: lengths.map(|n| vec![0; n]).collect(),
        }
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        let solved = Solved::Elastic {
            displacement: &self.displacement,
            reaction_force: &self.reaction_force,
            von_mises: &self.von_mises,
            stress: &self.stress,
            nodal: &self.nodal,
            safety_factor: &self.safety_factor,
        };
        Fields { solved, material: &self.material }
    }
}

/// A potential on [`hex_pair`], every number different.
pub(super) struct PotentialResults {
    pub potential: Vec<f64>,
    pub gradient: Vec<Vec<[f64; 3]>>,
    pub steepness: Vec<Vec<f64>>,
    pub nodal: AtNodes<3>,
    pub material: Vec<Vec<u32>>,
}

impl PotentialResults {
    pub(super) fn of_hex_pair() -> PotentialResults {
        PotentialResults {
            potential: (0..12).map(|i| 0.5 * f64::from(i)).collect(),
            gradient: vec![vec![], vec![[3.0, 0.0, -4.0], [6.0, -8.0, 0.25]]],
            steepness: vec![vec![], vec![5.0, 10.0]],
            nodal: ascending(30.0),
            material: vec![vec![], vec![3, 4]],
        }
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        let PotentialResults { potential, gradient, steepness, nodal, .. } = self;
        let solved = Solved::Potential { potential, gradient, steepness, nodal };
        Fields { solved, material: &self.material }
    }
}

#[test]
fn a_potential_is_checked_against_the_mesh() {
    let (mesh, mut results) = (hex_pair(), PotentialResults::of_hex_pair());
    assert!(results.fields().check(&mesh).is_ok());
    results.potential.pop();
    let error = results.fields().check(&mesh).unwrap_err().to_string();
    assert_eq!(error, "potential has 11 values, not 12");
}

/// Names of all fields of elasticity.
pub(super) fn all_fields() -> Vec<String> {
    crate::model::Analysis::Elasticity.fields().iter().map(|field| field.to_string()).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_case_leaves_its_six_files_and_the_time_they_took() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("results/pair");
    let mut summary = Summary { case: "pair".into(), ..Summary::default() };
    let fields = all_fields();
    let report = Some(report::tests::BACKGROUND);
    let options = Options { fields: &fields, compress: false, pictures: &[Shot::default()], symbols: None, report };
    let written = write_all(&target, &hex_pair(), &Results::of_hex_pair().fields(), &mut summary, &options).unwrap();
    assert_eq!(
        names(&target),
        ["pair.html", "pair.png", "pair.vtu", "pair_elements.csv", "pair_nodes.csv", "summary.json"]
    );
    assert_eq!(
        written,
        ["pair.vtu", "pair_nodes.csv", "pair_elements.csv", "pair.png", "pair.html", "summary.json"]
            .map(|name| target.join(name))
    );
    let text = std::fs::read(target.join("summary.json")).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read["timings_s"]["write"], summary.timings_s.write);
    assert!(summary.timings_s.write > 0.0 && summary.timings_s.total == summary.timings_s.write);
}

#[test]
fn fields_that_do_not_fit_the_mesh_are_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = Results::of_hex_pair();
    results.von_mises[1].pop();
    let mut summary = Summary { case: "pair".into(), ..Summary::default() };
    let options =
        Options { fields: &all_fields(), compress: false, pictures: &[Shot::default()], symbols: None, report: None };
    let error = write_all(dir.path(), &hex_pair(), &results.fields(), &mut summary, &options).unwrap_err();
    assert_eq!(error.exit_code(), 8);
    assert!(error.to_string().contains("von_mises has 1 values, not 2"), "{error}");
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut summary = Summary::default();
    let options = Options { fields: &[], compress: false, pictures: &[], symbols: None, report: None };
    let fields = Results::of_hex_pair();
    let error = write_all(&file.join("sub"), &hex_pair(), &fields.fields(), &mut summary, &options).unwrap_err();
    assert!(matches!(&error, Error::Output { path, .. } if *path == file.join("sub")), "{error}");
}

#[test]
fn the_largest_value_is_the_first_that_is_finite() {
    assert_eq!(largest([1.0, f64::NAN, 3.0, 3.0, f64::INFINITY, 2.0].into_iter()), Some((2, 3.0)));
    assert_eq!(largest([f64::NAN].into_iter()), None);
}

#[test]
fn where_all_is_zero_there_is_no_picture_and_an_old_one_goes() {
    let (dir, mesh) = (tempfile::tempdir().unwrap(), hex_pair());
    let mut summary = Summary { case: "pair".into(), ..Summary::default() };
    let report = Some(report::tests::BACKGROUND);
    let options = Options { fields: &[], compress: false, pictures: &[Shot::default()], symbols: None, report };
    let mut write =
        |results: &Results| write_all(dir.path(), &mesh, &results.fields(), &mut summary, &options).unwrap();
    assert!(write(&Results::of_hex_pair()).contains(&dir.path().join("pair.png")));
    assert_eq!(write(&Results::zero(&mesh)).len(), 5);
    assert_eq!(names(dir.path()), ["pair.html", "pair.vtu", "pair_elements.csv", "pair_nodes.csv", "summary.json"]);
    let page = std::fs::read_to_string(dir.path().join("pair.html")).unwrap();
    assert!(!page.contains("<img") && page.contains("the solution is still 0"));
    summary.solver.converged = true;
    write_all(dir.path(), &mesh, &Results::zero(&mesh).fields(), &mut summary, &options).unwrap();
    assert!(std::fs::read_to_string(dir.path().join("pair.html")).unwrap().contains("solution is 0 everywhere"));
}
