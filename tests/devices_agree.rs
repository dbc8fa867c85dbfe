//! The whole way on every device: the same answer, and the same bits from run to run.

mod common;

use common::{assert_close, bits, largest, meshes};
use warpfem::backend::Device;
use warpfem::pipeline::{self, Solution};
use warpfem::solve::Silent;

fn numbers(solution: &Solution) -> Vec<f64> {
    let mut numbers = solution.displacement.as_flattened().to_vec();
    numbers.extend(solution.reaction_force.as_flattened());
    numbers.extend(solution.stresses.von_mises.concat());
    numbers.extend(solution.stresses.stress.concat().as_flattened());
    numbers.extend(&solution.outcome.history);
    numbers
}

#[test]
fn devices_agree_and_repeat_themselves() {
    let mut model = meshes::load("cube_463.toml");
    model.solver.tolerance = 1e-12;
    let expected = pipeline::solve(&model, Device::Cpu, &Silent).unwrap();
    let mut devices = vec![Device::Cpu, Device::Emulate];
    if common::gpu().is_some() {
        devices.push(Device::Auto.resolve());
    }
    for device in devices {
        let found = pipeline::solve(&model, device, &Silent).unwrap();
        let again = pipeline::solve(&model, device, &Silent).unwrap();
        assert!(bits(&numbers(&found)) == bits(&numbers(&again)), "{device:?}: two runs differ");
        let close = |what: &str, found: &[f64], expected: &[f64]| {
            assert_close(&format!("{what} on {device:?}"), found, expected, 1e-10, largest(expected));
        };
        close("displacements", found.displacement.as_flattened(), expected.displacement.as_flattened());
        close("von Mises", &found.stresses.von_mises.concat(), &expected.stresses.von_mises.concat());
        close("reactions", found.reactions.as_flattened(), expected.reactions.as_flattened());
        close("energy", &[found.stresses.strain_energy], &[expected.stresses.strain_energy]);
        assert!(found.equilibrium_error < 1e-10, "{}", found.equilibrium_error);
        assert!(found.outcome.iterations.abs_diff(expected.outcome.iterations) <= 10, "{device:?}");
    }
}

#[test]
fn single_precision_agrees_to_its_own() {
    let mut model = meshes::load("cube_463.toml");
    let double = pipeline::solve(&model, Device::Cpu, &Silent).unwrap();
    model.solver.precision = "single".into();
    model.solver.tolerance = 1e-5;
    for device in [Device::Cpu, Device::Emulate] {
        let single = pipeline::solve(&model, device, &Silent).unwrap();
        let (u, expected) = (single.displacement.as_flattened(), double.displacement.as_flattened());
        assert_close("displacements", u, expected, 1e-4, largest(expected));
    }
}
