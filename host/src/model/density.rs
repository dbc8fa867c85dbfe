//! Densities that loads on the volume need, and vibration.

use super::case::Case;
use super::problems::Problems;
use super::{Material, ModelError, Units};

/// What to add to a material without density. Steel has 210e9 Pa and 210e3 MPa.
fn density_help(case: &Case, young: f64) -> &'static str {
    match case.units().map_or(young < 1e7, |units| units == Units::MmNS) {
        true => "add `density = 7.85e-9` (t/mm^3) to that [[material]], if it is steel in mm, N and MPa",
        false => "add `density = 7850.0` (kg/m^3) to that [[material]], if it is steel in m, N and Pa",
    }
}

/// Whether every material in use has a density; else that is a problem.
pub(super) fn has_density(
    case: &Case,
    what: &str,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> bool {
    let without = in_use(materials, cell_material, |material| material.density.is_none());
    let all_have = without.is_empty();
    for i in without {
        let message = format!("{what} needs the density of material `{}`", materials[i].name);
        let (place, help) =
            (case.tables.material[i].get_ref().name.span(), density_help(case, materials[i].law.young()));
        problems.add(ModelError::MissingDensity(case.error_at(place, message, help)));
    }
    all_have
}

/// The numbers of the materials in use of which something holds.
pub(super) fn in_use(
    materials: &[Material],
    cell_material: &[Vec<u32>],
    holds: impl Fn(&Material) -> bool,
) -> Vec<usize> {
    let mut used = vec![false; materials.len()];
    // Elements without a material are an error of their own.
    for &material in cell_material.iter().flatten() {
        used.get_mut(material as usize).into_iter().for_each(|used| *used = true);
    }
    (0..materials.len()).filter(|&i| used[i] && holds(&materials[i])).collect()
}
