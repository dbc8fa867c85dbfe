//! Bodies of revolution with exact solutions, as their sections: a thick cylinder and a hollow sphere under pressure
//! inside, and a spinning disc.

use super::cylinder::{HOOP, INNER, OUTER, POISSON, PRESSURE, YOUNG, stretch};
use super::meshes::mapped;
use super::recovery::node_at;
use super::{Measure, Problem, model_to};
use crate::element::ElementKind;
use crate::error::Result;
use crate::model::Model;
use crate::pipeline::Solution;
use std::f64::consts::FRAC_PI_2;

/// Density and speed of the disc.
const DENSITY: f64 = 2.0;
const SPEED: f64 = 5.0;
/// Its thickness, so small beside its radius of 2 that it is in plane stress.
const THIN: f64 = 0.02;

/// The case's tables before its supports and loads.
fn head() -> String {
    format!(
        "[analysis]\nkind = \"axisymmetric\"\n[[material]]\nname = \"soft\"\nyoung = {YOUNG:?}\npoisson = {POISSON:?}\n\
         density = {DENSITY:?}\n"
    )
}

/// Radial displacement at a place of the section.
fn outward(at: [f64; 3]) -> impl Fn(&Model, &Solution) -> f64 {
    move |model, solution| solution.displacement()[node_at(model, at)][0]
}

/// Component `i` of the stress at a place.
fn stress(i: usize, at: [f64; 3]) -> impl Fn(&Model, &Solution) -> f64 {
    move |model, solution| solution.step.vectors::<6>("stress_nodal")[node_at(model, at)][i]
}

/// The thick cylinder of [`super::cylinder`], held along its axis; how far the displacement of the bore and the stress round
/// it may be off.
pub fn cylinder(kind: ElementKind, n: usize, [moved, hoop]: [f64; 2]) -> Result<Problem> {
    let tables = format!(
        "{}[[support]]\non = [\"ymin\", \"ymax\"]\nfix = \"y\"\n[[pressure]]\non = \"xmin\"\nvalue = {PRESSURE:?}\n",
        head()
    );
    let mesh = mapped(kind, [n, 2, 1], |[s, t, z]| [INNER + s * (OUTER - INNER), t / n as f64, z])?;
    let (model, bore) = (model_to(1e-12, &tables, mesh)?, [INNER, 0.0, 0.0]);
    let source = "Timoshenko and Goodier, art. 28";
    let moved = Measure::new("displacement of the bore", [INNER * stretch(INNER), moved], source, outward(bore));
    let hoop = Measure::new("stress round the bore", [HOOP, hoop], source, stress(2, bore));
    Ok(Problem::new("cylinder of revolution", kind, model, [moved, hoop]))
}

/// A hollow sphere, the upper half of it: `u_r = p a^3 / (E (b^3 - a^3)) ((1 - 2 nu) r + (1 + nu) b^3 / (2 r^2))`.
pub fn sphere(kind: ElementKind, n: usize, [moved, hoop]: [f64; 2]) -> Result<Problem> {
    let tables = format!(
        "{}[[support]]\non = \"ymin\"\nfix = \"y\"\n[[pressure]]\non = \"xmin\"\nvalue = {PRESSURE:?}\n",
        head()
    );
    // `x` along the radius, `y` from the equator to the pole, where the section meets the axis.
    let mesh = mapped(kind, [n, 2 * n, 1], |[s, t, z]| {
        let ((sin, cos), r) = ((FRAC_PI_2 * t).sin_cos(), INNER + s * (OUTER - INNER));
        [if t == 1.0 { 0.0 } else { r * cos }, r * sin, z]
    })?;
    let (model, bore) = (model_to(1e-12, &tables, mesh)?, [INNER, 0.0, 0.0]);
    let (a3, b3) = (INNER.powi(3), OUTER.powi(3));
    let u = PRESSURE * a3 / (YOUNG * (b3 - a3))
        * ((1.0 - 2.0 * POISSON) * INNER + (1.0 + POISSON) * b3 / (2.0 * INNER * INNER));
    let round = PRESSURE * a3 / (b3 - a3) * (1.0 + b3 / (2.0 * a3));
    let source = "Timoshenko and Goodier, art. 136";
    let pole = [0.0, INNER, 0.0];
    let up = move |model: &Model, solution: &Solution| solution.displacement()[node_at(model, pole)][1];
    Ok(Problem::new(
        "hollow sphere",
        kind,
        model,
        [
            Measure::new("displacement of the equator", [u, moved], source, outward(bore)),
            Measure::new("displacement of the pole", [u, moved], source, up),
            Measure::new("stress round the equator", [round, hoop], source, stress(2, bore)),
        ],
    ))
}

/// A solid disc that spins: at the rim `u_r = (1 - nu) rho w^2 b^3 / (4 E)`, at the centre both stresses are
/// `(3 + nu) rho w^2 b^2 / 8`.
pub fn disc(kind: ElementKind, n: usize, [moved, hoop]: [f64; 2]) -> Result<Problem> {
    let tables = format!("{}[[support]]\non = \"ymin\"\nfix = \"y\"\n[rotation]\nspeed = {SPEED:?}\n", head());
    let mesh = mapped(kind, [n, 1, 1], |[s, t, z]| [s * OUTER, THIN * t, z])?;
    let model = model_to(1e-12, &tables, mesh)?;
    let load = DENSITY * SPEED * SPEED;
    let rim = (1.0 - POISSON) * load * OUTER.powi(3) / (4.0 * YOUNG);
    let centre = (3.0 + POISSON) / 8.0 * load * OUTER * OUTER;
    let source = "Timoshenko and Goodier, art. 32";
    let moved = Measure::new("displacement of the rim", [rim, moved], source, outward([OUTER, 0.0, 0.0]));
    let hoop = Measure::new("stress in the middle", [centre, hoop], source, stress(0, [0.0; 3]));
    Ok(Problem::new("spinning disc", kind, model, [moved, hoop]))
}

/// Every plane element.
pub(super) fn problems() -> Result<Vec<Problem>> {
    let mut all = Vec::new();
    for kind in ElementKind::ALL.iter().copied().filter(|kind| kind.info().dim == 2) {
        all.extend(match kind.info().is_quadratic() {
            true => [cylinder(kind, 8, [1e-4, 1e-2])?, sphere(kind, 12, [5e-4, 1e-2])?, disc(kind, 16, [1e-3, 2e-3])?],
            false => {
                [cylinder(kind, 32, [2e-3, 3e-2])?, sphere(kind, 40, [5e-3, 5.5e-2])?, disc(kind, 64, [2e-3, 2e-2])?]
            }
        });
    }
    Ok(all)
}
