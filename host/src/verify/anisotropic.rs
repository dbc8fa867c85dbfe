//! Bodies that are stiffer along one direction: a plate with a hole, and a ring that is orthotropic round its axis.

use super::meshes::mapped;
use super::nafems::growing;
use super::recovery::node_at;
use super::{Measure, Problem, model_to};
use crate::element::ElementKind::{self, *};
use crate::error::Result;
use crate::model::Model;
use crate::pipeline::Solution;
use std::f64::consts::FRAC_PI_2;

/// Moduli along x and y, Poisson's ratio xy, shear modulus: of plywood (Lekhnitskii, "Anisotropic Plates", 1968).
const PLYWOOD: [f64; 4] = [1.2e4, 0.6e4, 0.071, 0.07e4];
/// Half the side of the plate whose hole has the radius 1: as good as infinite.
const FAR: f64 = 30.0;

/// The tables of a plate of plywood in plane stress; what is along x, `along`.
fn plywood(along: &str) -> String {
    let [x, y, nu, g] = PLYWOOD;
    format!(
        "[analysis]\nkind = \"plane_stress\"\nthickness = 1.0\n[[material]]\nname = \"plywood\"\nyoung = [{x}, {y}, {y}]\n\
         poisson = [{nu}, {nu}, 0.3]\nshear = [{g}, {g}, {g}]\n{along}"
    )
}

/// A quarter of a plate with a hole, pulled along x or, with its axes turned, along its y: beside the hole the stress is
/// `1 + sqrt(2 (sqrt(E1 / E2) - nu12) + E1 / G)` times that far away, 1 along the pull.
pub fn plate(kind: ElementKind, cells: [usize; 2], turned: bool, tolerance: f64) -> Result<Problem> {
    let axes = if turned { "axes = { x = [0.0, 1.0, 0.0], y = [-1.0, 0.0, 0.0] }\n" } else { "" };
    let tables = format!(
        "{}[[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
         [[pressure]]\non = \"xmax\"\nvalue = -1.0\n",
        plywood(axes)
    );
    // From the hole to a circle far away; cells grow from the place where the stress is largest.
    let mesh = mapped(kind, [cells[0], cells[1], 1], |[s, t, z]| {
        let (sin, cos) = (FRAC_PI_2 * (1.0 - growing(3.0, 1.0 - t))).sin_cos();
        let r = (growing(3.0, s) * FAR.ln()).exp();
        [r * cos, r * sin, z]
    })?;
    let mut model = model_to(1e-10, &tables, mesh)?;
    // The traction of a uniform stress along x is `(n_x, 0)`: a pull on the circle as far as it points along x.
    model.nodal_forces.iter_mut().for_each(|force| force[1] = 0.0);
    let [x, y, nu, g] = PLYWOOD;
    let (first, second, nu) = if turned { (y, x, nu * y / x) } else { (x, y, nu) };
    let expected = 1.0 + (2.0 * ((first / second).sqrt() - nu) + first / g).sqrt();
    let beside = |model: &Model, solution: &Solution| {
        solution.step.vectors::<6>("stress_nodal")[node_at(model, [0.0, 1.0, 0.0])][0]
    };
    let name = if turned { "orthotropic plate, turned" } else { "orthotropic plate" };
    let source = "Lekhnitskii, Anisotropic Plates, sec. 43";
    Ok(Problem::new(name, kind, model, [Measure::new("stress beside the hole", [expected, tolerance], source, beside)]))
}

/// A ring of plywood bent round its axis, under pressure inside: with `k = sqrt(E_t / E_r)`, `c = a / b` and `rho = r / b`,
/// `sigma_t = p k c^(k + 1) / (1 - c^2k) (rho^(k - 1) + rho^-(k + 1))`.
pub fn ring(kind: ElementKind, n: usize, tolerance: f64) -> Result<Problem> {
    let (a, b, p) = (1.0, 2.0, 3.0);
    let tables = format!(
        "{}[[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
         [[pressure]]\non = \"xmin\"\nvalue = {p:?}\n",
        plywood("axes = { axis = [0.0, 0.0, 1.0] }\n")
    );
    let mesh = mapped(kind, [n, 2 * n, 1], |[s, t, z]| {
        let ((sin, cos), r) = ((FRAC_PI_2 * t).sin_cos(), a + s * (b - a));
        [r * cos, r * sin, z]
    })?;
    let (k, c) = ((PLYWOOD[1] / PLYWOOD[0]).sqrt(), a / b);
    let round = |rho: f64| p * k * c.powf(k + 1.0) / (1.0 - c.powf(2.0 * k)) * (rho.powf(k - 1.0) + rho.powf(-k - 1.0));
    let at = |x: f64| {
        move |model: &Model, solution: &Solution| {
            solution.step.vectors::<6>("stress_nodal")[node_at(model, [x, 0.0, 0.0])][1]
        }
    };
    let source = "Lekhnitskii, Anisotropic Plates, sec. 15";
    let inside = Measure::new("stress round the bore", [round(c), tolerance], source, at(a));
    let outside = Measure::new("stress round the outside", [round(1.0), tolerance], source, at(b));
    Ok(Problem::new("ring of plywood", kind, model_to(1e-12, &tables, mesh)?, [inside, outside]))
}

/// Quadratic elements.
pub(super) fn problems() -> Result<Vec<Problem>> {
    Ok(vec![
        plate(Quad8, [40, 40], false, 0.02)?,
        plate(Tri6, [40, 40], true, 0.02)?,
        ring(Quad8, 8, 0.01)?,
        ring(Tri6, 16, 0.02)?,
    ])
}
