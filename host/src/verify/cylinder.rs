//! Lame's thick cylinder under pressure inside, in plane strain (Timoshenko and Goodier, "Theory of Elasticity", art.
//! 28): `u_r = c ((1 - 2 nu) r + b^2 / r)`, `c = (1 + nu) / E p a^2 / (b^2 - a^2)`.

use super::meshes::mapped;
use super::recovery::node_at;
use super::{Measure, Problem, model_to};
use crate::element::{Domain, ElementKind};
use crate::error::Result;
use crate::mesh::generate;
use crate::model::Model;
use crate::pipeline::Solution;
use std::f64::consts::FRAC_PI_2;

/// The inner radius.
pub const INNER: f64 = 1.0;
/// The outer radius.
pub const OUTER: f64 = 2.0;
/// The pressure inside.
pub const PRESSURE: f64 = 3.0;
/// Young's modulus.
pub const YOUNG: f64 = 1000.0;
/// Poisson's ratio.
pub const POISSON: f64 = 0.3;

const SOURCE: &str = "Timoshenko and Goodier, art. 28";

/// `u_r / r` at a distance `r` from the axis.
pub fn stretch(r: f64) -> f64 {
    let c = (1.0 + POISSON) / YOUNG * PRESSURE * INNER * INNER / (OUTER * OUTER - INNER * INNER);
    c * (1.0 - 2.0 * POISSON + OUTER * OUTER / (r * r))
}

/// The stress round the bore.
pub const HOOP: f64 = PRESSURE * (OUTER * OUTER + INNER * INNER) / (OUTER * OUTER - INNER * INNER);

/// A quarter of a ring, as high as a cell: `x` along the radius, `y` round the axis.
fn ring(n: usize) -> impl Fn([f64; 3]) -> [f64; 3] {
    move |[s, t, z]| {
        let (sin, cos) = (FRAC_PI_2 * t).sin_cos();
        let r = INNER + s * (OUTER - INNER);
        [r * cos, r * sin, z / n as f64]
    }
}

/// A quarter of the cylinder with `n` cells along the radius, in plane strain or as a slice held along its axis; how
/// far the displacement of the bore and the stress round it may be off.
pub fn cylinder(kind: ElementKind, n: usize, [moved, hoop]: [f64; 2]) -> Result<Problem> {
    let plane = kind.info().dim == 2;
    let head = if plane { "[analysis]\nkind = \"plane_strain\"\n" } else { "" };
    let ends = if plane { "" } else { "[[support]]\non = [\"zmin\", \"zmax\"]\nfix = \"z\"\n" };
    let tables = format!(
        "{head}[[material]]\nname = \"soft\"\nyoung = {YOUNG:?}\npoisson = {POISSON:?}\n{ends}\
         [[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
         [[pressure]]\non = \"xmin\"\nvalue = {PRESSURE:?}\n"
    );
    let model = model_to(1e-12, &tables, mapped(kind, [n, 2 * n, 1], ring(n))?)?;
    let bore = [INNER, 0.0, 0.0];
    let outward = move |model: &Model, solution: &Solution| solution.displacement()[node_at(model, bore)][0];
    let round =
        move |model: &Model, solution: &Solution| solution.step.vectors::<6>("stress_nodal")[node_at(model, bore)][1];
    let moved = Measure::new("displacement of the bore", [INNER * stretch(INNER), moved], SOURCE, outward);
    let hoop = Measure::new("stress round the bore", [HOOP, hoop], SOURCE, round);
    Ok(Problem::new("thick cylinder", kind, model, [moved, hoop]))
}

/// Every element.
pub(super) fn problems() -> Result<Vec<Problem>> {
    // Triangles are stiffer than quadrilaterals, wedges of them as they are.
    let is_square = |domain: Domain| domain.is_layered() && domain.factors().iter().all(|&n| n == 1);
    let one = |kind: ElementKind| match (kind.info().is_quadratic(), is_square(kind.info().domain)) {
        (true, _) => cylinder(kind, 8, [3e-4, 5e-3]),
        (false, false) => cylinder(kind, 16, [1e-2, 5e-2]),
        (false, true) => cylinder(kind, 16, [1e-3, 5.5e-2]),
    };
    [2, 3].into_iter().flat_map(generate::kinds).map(one).collect()
}
