//! The whole way on every device: the same answer, and the same bits from run to run.

use crate::common::elements::solvable;
use crate::common::fields::converged;
use crate::common::{assert_close, bits, devices, largest, meshes};
use warpfem::device::DeviceName;
use warpfem::model::{Model, Physics};
use warpfem::pipeline::Solution;
use warpfem::result::When;
use warpfem::result::choices::{Method, Precision};

/// Every result, and the residuals.
fn numbers(solution: &Solution) -> Vec<f64> {
    let fields = solution.step.fields.iter().flat_map(|field| field.values.concat());
    let rows = solution.step.tables.iter().flat_map(|table| &table.rows).flat_map(|row| row.1.clone());
    fields.chain(rows).chain(solution.outcome.history.iter().copied()).collect()
}

fn check(mut model: Model) {
    (model.solver.method, model.solver.residual_tolerance) = (Some(Method::Cg), Some(1e-12));
    let expected = converged(&model, DeviceName::Cpu);
    for device in devices() {
        let found = converged(&model, device);
        let again = converged(&model, device);
        assert!(bits(&numbers(&found)) == bits(&numbers(&again)), "{device:?}: two runs differ");
        let close = |what: &str, found: &[f64], expected: &[f64]| {
            assert_close(&format!("{what} on {device:?}"), found, expected, 1e-10, largest(expected));
        };
        for (found, expected) in found.step.fields.iter().zip(&expected.step.fields) {
            close(expected.info.name, &found.values.concat(), &expected.values.concat());
        }
        for (found, expected) in found.step.tables.iter().zip(&expected.step.tables) {
            let [found, all] = [found, expected].map(|table| table.rows.iter().flat_map(|row| row.1.clone()).collect());
            let _: (&Vec<f64>, &Vec<f64>) = (&found, &all);
            close(expected.info.name, &found, &all);
        }
        assert!(found.equilibrium_error < 1e-10, "{}", found.equilibrium_error);
        assert!(found.outcome.iterations.abs_diff(expected.outcome.iterations) <= 10, "{device:?}");
    }
}

/// Every field that has no sign to choose, and every table.
#[test]
fn devices_agree_and_repeat_themselves() {
    let mut model = meshes::load("cube_463.toml");
    let fields = model.analysis.physics().fields().filter(|of| of.when != When::WithStrength && of.width() < 9);
    model.fields = fields.map(|of| of.name.to_string()).collect();
    check(model);
}

#[test]
fn devices_agree_about_every_element() {
    for kind in solvable() {
        let cells = if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 3, 2] };
        for analysis in meshes::all_analyses(kind) {
            let mut model = meshes::two_materials_in(analysis, meshes::distorted_box(kind, cells, 0.2));
            match analysis.physics() {
                Physics::Potential | Physics::Heat => {
                    model.nodal_forces.iter_mut().for_each(|flow| flow[0] = 2.0);
                }
                Physics::Elasticity => model.gravity = Some([0.5, -1.0, if kind.info().dim == 3 { 2.0 } else { 0.0 }]),
            }
            check(model);
        }
    }
}

#[test]
fn single_precision_agrees_to_its_own() {
    let mut model = meshes::load("cube_463.toml");
    let double = converged(&model, DeviceName::Cpu);
    model.solver.precision = Some(Precision::Single);
    model.solver.tolerance = 1e-5;
    for device in [DeviceName::Cpu, DeviceName::Emulate] {
        let single = converged(&model, device);
        let (u, expected) = (single.displacement().as_flattened(), double.displacement().as_flattened());
        assert_close("displacements", u, expected, 1e-4, largest(expected));
    }
}
