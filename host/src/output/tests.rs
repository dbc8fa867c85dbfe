use super::*;
use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh};
use crate::model::{Analysis, Case};
use crate::pipeline::Potential;
use crate::stress::{AtNodes, Stresses};
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

/// Values at the nodes of [`hex_pair`], every number different.
fn ascending<const K: usize>(from: f64) -> AtNodes<K> {
    let value = |i: usize| std::array::from_fn(|k| from + (K * i + k) as f64);
    AtNodes { values: (0..12).map(value).collect(), sizes: (0..12).map(|i| 0.25 + f64::from(i)).collect() }
}

/// Results on [`hex_pair`], every number different.
pub(super) struct Results {
    pub displacement: Vec<[f64; 3]>,
    pub reaction_force: Vec<[f64; 3]>,
    pub stresses: Stresses,
    pub nodal: AtNodes<6>,
    pub safety_factor: Vec<f64>,
    pub material: Vec<Vec<u32>>,
}

impl Results {
    pub(super) fn of_hex_pair() -> Results {
        let three = |from: f64| (0..12).map(|i| [0.0, 0.1, 0.2].map(|d| from + f64::from(i) + d)).collect();
        let stress = vec![vec![], vec![[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]]];
        Results {
            displacement: three(100.0),
            reaction_force: three(200.0),
            stresses: Stresses { stress, von_mises: vec![vec![], vec![1.5, 2.5]], strain_energy: 0.0 },
            nodal: ascending(20.0),
            safety_factor: vec![],
            material: vec![vec![], vec![3, 4]],
        }
    }

    /// Zeros for every solid of a mesh.
    pub(super) fn zero(mesh: &Mesh) -> Results {
        let (n, dim) = (mesh.coords.len(), mesh.dim());
        let lengths = mesh.cells.iter().map(|cells| if cells.kind.info().dim == dim { cells.len() } else { 0 });
        let stress = lengths.clone().map(|n| vec![[0.0; 6]; n]).collect();
        let von_mises = lengths.clone().map(|n| vec![0.0; n]).collect();
        Results {
            displacement: vec![[0.0; 3]; n],
            reaction_force: vec![[0.0; 3]; n],
            stresses: Stresses { stress, von_mises, strain_energy: 0.0 },
            nodal: AtNodes { values: vec![[0.0; 6]; n], sizes: vec![0.0; n] },
            safety_factor: vec![],
            material: lengths.map(|n| vec![0; n]).collect(),
        }
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        let Results { displacement, reaction_force, stresses, nodal, safety_factor, material } = self;
        Fields::elastic(displacement, reaction_force, stresses, nodal, safety_factor, material)
    }
}

/// A potential on [`hex_pair`], every number different.
pub(super) fn potential() -> Potential {
    Potential {
        values: (0..12).map(|i| 0.5 * f64::from(i)).collect(),
        gradient: vec![vec![], vec![[3.0, 0.0, -4.0], [6.0, -8.0, 0.25]]],
        steepness: vec![vec![], vec![5.0, 10.0]],
        nodal: ascending(30.0),
    }
}

/// The materials of [`hex_pair`]'s cells.
pub(super) fn materials() -> Vec<Vec<u32>> {
    vec![vec![], vec![3, 4]]
}

/// [`hex_pair`] held at one end.
pub(super) fn model() -> Model {
    let text = "[mesh]\nfile = \"pair.msh\"\n[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.0\n\
                [[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
    let mut model = Model::resolve(&Case::parse(Path::new("pair.toml"), text).unwrap(), hex_pair()).unwrap();
    (model.supports, model.materials) = (vec![], vec![]);
    model.fields = Analysis::Elasticity.fields().iter().map(|field| field.to_string()).collect();
    model
}

pub(super) fn summary() -> Summary {
    Summary { case: "pair".into(), ..Summary::default() }
}

#[test]
fn a_potential_is_checked_against_the_mesh() {
    let (mesh, mut results, material) = (hex_pair(), potential(), materials());
    assert!(Fields::potential(&results, &material).check(&mesh).is_ok());
    results.values.pop();
    let error = Fields::potential(&results, &material).check(&mesh).unwrap_err().to_string();
    assert_eq!(error, "potential has 11 values, not 12");
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(super) const ORIGIN: Origin<'static> =
    Origin { case: "pair.toml", mesh: "pair.msh", written: SystemTime::UNIX_EPOCH };

fn write(dir: &Path, results: &Results, summary: &mut Summary) -> Result<Vec<PathBuf>> {
    let options = Options { pictures: &[Shot::default()], with_symbols: false, origin: ORIGIN };
    write_all(dir, &model(), &results.fields(), summary, &options)
}

#[test]
fn a_case_leaves_its_six_files_and_the_time_they_took() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("results/pair");
    let mut summary = summary();
    let written = write(&target, &Results::of_hex_pair(), &mut summary).unwrap();
    let mut files =
        ["pair.vtu", "pair_nodes.csv", "pair_elements.csv", "pair.png", "pair.html", "summary.json"].to_vec();
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
    let mut results = Results::of_hex_pair();
    results.stresses.von_mises[1].pop();
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
    let error = write(&file.join("sub"), &Results::of_hex_pair(), &mut summary()).unwrap_err();
    assert!(matches!(&error, Error::Output { path, .. } if *path == file.join("sub")), "{error}");
}

#[test]
fn the_largest_value_is_the_first_that_is_finite() {
    assert_eq!(largest([1.0, f64::NAN, 3.0, 3.0, f64::INFINITY, 2.0].into_iter()), Some((2, 3.0)));
    assert_eq!(largest([f64::NAN].into_iter()), None);
}

#[test]
fn where_all_is_zero_there_is_no_picture_and_an_old_one_goes() {
    let (dir, mut summary, nothing) = (tempfile::tempdir().unwrap(), summary(), Results::zero(&hex_pair()));
    let page = || std::fs::read_to_string(dir.path().join("pair.html")).unwrap();
    let written = write(dir.path(), &Results::of_hex_pair(), &mut summary).unwrap();
    assert!(written.contains(&dir.path().join("pair.png")));
    assert_eq!(write(dir.path(), &nothing, &mut summary).unwrap().len(), 5);
    assert_eq!(names(dir.path()), ["pair.html", "pair.vtu", "pair_elements.csv", "pair_nodes.csv", "summary.json"]);
    assert!(!page().contains("<img") && page().contains("the solution is still 0"));
    summary.solver.converged = true;
    write(dir.path(), &nothing, &mut summary).unwrap();
    assert!(page().contains("solution is 0 everywhere"));
}
