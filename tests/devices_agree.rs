//! The whole way on every device: the same answer, and the same bits from run to run.

use crate::common::elements::solvable;
use crate::common::fields::converged;
use crate::common::{assert_close, bits, devices, largest, meshes};
use warpfem::device::DeviceName;
use warpfem::model::{Analysis, Model};
use warpfem::pipeline::Solution;
use warpfem::result::choices::{Method, Precision};

fn numbers(solution: &Solution) -> Vec<f64> {
    let mut numbers = solution.displacement.as_flattened().to_vec();
    numbers.extend(solution.reaction_force.as_flattened());
    numbers.extend(solution.stresses.von_mises.concat());
    numbers.extend(solution.stresses.stress.concat().as_flattened());
    if let Some(potential) = &solution.potential {
        numbers.extend(&potential.values);
        numbers.extend(potential.gradient.concat().as_flattened());
    }
    numbers.extend(&solution.outcome.history);
    numbers
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
        close("displacements", found.displacement.as_flattened(), expected.displacement.as_flattened());
        close("von Mises", &found.stresses.von_mises.concat(), &expected.stresses.von_mises.concat());
        if let (Some(found), Some(expected)) = (&found.potential, &expected.potential) {
            close("potential", &found.values, &expected.values);
            let gradients = [found, expected].map(|potential| potential.gradient.concat());
            close("gradient", gradients[0].as_flattened(), gradients[1].as_flattened());
        }
        close("reactions", found.reactions.as_flattened(), expected.reactions.as_flattened());
        close("energy", &[found.stresses.strain_energy], &[expected.stresses.strain_energy]);
        assert!(found.equilibrium_error < 1e-10, "{}", found.equilibrium_error);
        assert!(found.outcome.iterations.abs_diff(expected.outcome.iterations) <= 10, "{device:?}");
    }
}

#[test]
fn devices_agree_and_repeat_themselves() {
    check(meshes::load("cube_463.toml"));
}

#[test]
fn devices_agree_about_every_element() {
    for kind in solvable() {
        let cells = if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 3, 2] };
        for analysis in meshes::all_analyses(kind) {
            let mut model = meshes::two_materials_in(analysis, meshes::distorted_box(kind, cells, 0.2));
            match analysis {
                Analysis::Laplace => model.source = Some(2.0),
                _ => model.gravity = Some([0.5, -1.0, if kind.info().dim == 3 { 2.0 } else { 0.0 }]),
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
        let (u, expected) = (single.displacement.as_flattened(), double.displacement.as_flattened());
        assert_close("displacements", u, expected, 1e-4, largest(expected));
    }
}
