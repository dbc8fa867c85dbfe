//! References and errors on models whose exact solution is known.

use super::errors::Errors;
use super::models::{self, Size};
use super::reference::Reference;
use std::collections::HashSet;
use std::path::Path;
use warpfem::linalg::Space;
use warpfem::mesh::parts::connected_parts;
use warpfem::model::{Case, Model};
use warpfem::pipeline::{Solution, solve_on};
use warpfem::result::choices::Method;
use warpfem::solve::Silent;

/// A bar of Young's modulus 1000 and Poisson's ratio 0, 4 long and of area 1, moved by 0.25 along and 7 across, and
/// pulled by 8: `u_x = 0.25 + x / 125`, a strain energy of 4 * 8 * 8 / 1000, a stress of 8.
const BAR: &str = r#"
    [mesh]
    generate = { kind = "box", element = "hex8", size = [4.0, 1.0, 1.0], cells = [4, 2, 2] }
    [[material]]
    name = "cork"
    young = 1000.0
    poisson = 0.0
    [[support]]
    on = "xmin"
    displacement = { x = 0.25, y = 7.0, z = 0.0 }
    [[traction]]
    on = "xmax"
    vector = [8.0, 0.0, 0.0]
"#;

fn solved() -> (Model, Reference, Solution) {
    let case = Case::parse(Path::new("bar.toml"), BAR).unwrap();
    let mut model = Model::resolve(&case, case.mesh().unwrap()).unwrap();
    model.solver.method = Some(Method::Direct);
    let reference = Reference::new(&model).unwrap();
    let solution = solve_on(&Space::cpu(), &model, &Silent).unwrap();
    (model, reference, solution)
}

#[test]
fn a_reference_is_exact_and_without_the_motion() {
    let (_, reference, _) = solved();
    let [part] = &reference.parts[..] else { panic!("{} parts", reference.parts.len()) };
    let (u, w) = (reference.displacement(), &reference.w);
    for (node, x) in reference.coords.iter().enumerate() {
        for (i, exact, motion) in [(0, x[0] / 125.0, 0.25), (1, 0.0, 7.0), (2, 0.0, 0.0)] {
            let [u, w] = [u[3 * node + i], w[3 * node + i]].map(|value| value.rounded());
            // K and the nodal forces are rounded.
            assert!((w - exact).abs() < 1e-15 && (u - exact - motion).abs() < 2e-15, "{x:?} {i}: {u} {w}");
        }
    }
    assert!((part.energy.powi(2) / 0.256 - 1.0).abs() < 1e-14, "{}", part.energy);
    // Without its motion the bar is longer by 0.016 at either end.
    assert!((part.deformation / 0.016 - 1.0).abs() < 1e-12, "{}", part.deformation);
    assert!(reference.intensity[0].iter().all(|stress| (stress - 8.0).abs() < 1e-12));
    assert!(reference.correction < 1e-15, "{}", reference.correction);
}

#[test]
fn errors_are_those_that_were_made() {
    let (model, reference, good) = solved();
    let errors = Errors::of(&good, &model, &reference);
    assert!(errors.energy < 1e-9 && errors.deformation < 1e-9 && errors.von_mises < 1e-9, "{errors:?}");
    // One stretch too much by a thousandth is an error of a thousandth, in whatever it is measured.
    let mut bad = good.clone();
    let position = |name: &str| bad.step.fields.iter().position(|field| field.info.name == name).unwrap();
    let [u, von_mises] = ["displacement", "von_mises"].map(position);
    for (u, x) in bad.step.fields[u].values[0].chunks_exact_mut(3).zip(&model.mesh.coords) {
        u[0] += 1e-3 * x[0] / 125.0;
    }
    bad.step.fields[von_mises].values[0][3] *= 1.0 + 2e-3;
    let errors = Errors::of(&bad, &model, &reference);
    assert!((errors.energy / 1e-3 - 1.0).abs() < 1e-6, "{errors:?}");
    assert!((errors.deformation / 2e-3 - 1.0).abs() < 1e-6, "{errors:?}");
    assert!((errors.von_mises / 2e-3 - 1.0).abs() < 1e-6, "{errors:?}");
    bad.step.fields[u].values[0][16] = f64::NAN;
    let errors = Errors::of(&bad, &model, &reference);
    assert!(errors.energy.is_infinite() && errors.deformation.is_infinite(), "{errors:?}");
}

#[test]
fn models_are_many_and_named_once() {
    for size in [Size::Short, Size::Full] {
        let names: Vec<String> = models::all(size).into_iter().map(|entry| entry.name).collect();
        assert!(names.len() >= 40);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}

#[test]
fn short_models_are_sound_and_small() {
    for entry in models::all(Size::Short) {
        let model = (entry.make)().unwrap();
        let unknowns = model.analysis.components() * model.mesh.coords.len();
        assert!(unknowns <= 5_000, "{}: {unknowns}", entry.name);
        let parts = connected_parts(&model.mesh).1;
        assert_eq!(parts > 1, entry.name.contains("parts") || entry.name.contains("beside"), "{}", entry.name);
    }
}
