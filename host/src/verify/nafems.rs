//! Two of NAFEMS' benchmarks ("The Standard NAFEMS Benchmarks", 1990): LE1, an elliptic membrane, and LE10, a thick
//! plate of the same outline. Meshes are regular ones with their nodes moved onto the geometry, so that edges of
//! quadratic elements are curved.

use super::meshes::mapped;
use super::recovery::node_at;
use super::{Measure, Problem, model_to};
use crate::element::ElementKind::{self, *};
use crate::error::Result;
use crate::model::Model;
use crate::pipeline::Solution;
use std::f64::consts::FRAC_PI_2;

/// `sigma_yy` at D of LE1, in MPa.
pub const LE1: f64 = 92.7;
/// `sigma_yy` at D of LE10, in MPa.
pub const LE10: f64 = -5.38;

/// `from` on the inside, `to` on the outside, `s` of the way.
pub fn between(from: [f64; 2], to: [f64; 2], s: f64) -> [f64; 2] {
    [0, 1].map(|i| (1.0 - s) * from[i] + s * to[i])
}

/// A map of [0, 1] onto itself that makes equal steps grow by `e^growth` from the first to the last.
pub fn growing(growth: f64, s: f64) -> f64 {
    (growth * s).exp_m1() / growth.exp_m1()
}

/// The quarter of a plate between two ellipses, with cells that grow outwards: `x` from the inner to the outer one, `y`
/// from the long axis to the short.
fn ellipses(growth: f64, [s, t, z]: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = (FRAC_PI_2 * t).sin_cos();
    let [x, y] = between([2.0 * cos, sin], [3.25 * cos, 2.75 * sin], growing(growth, s));
    [x, y, z]
}

/// `sigma_yy` at D, in MPa.
fn stress_yy(at: [f64; 3], source: &'static str, known: [f64; 2]) -> Measure {
    let of = move |model: &Model, solution: &Solution| {
        solution.step.vectors::<6>("stress_nodal")[node_at(model, at)][1] / 1e6
    };
    Measure::new("sigma_yy at D [MPa]", known, source, of)
}

/// The elliptic membrane: `sigma_yy` at D = (2, 0).
pub fn le1(kind: ElementKind, cells: [usize; 2], tolerance: f64) -> Result<Problem> {
    let tables = "[analysis]\nkind = \"plane_stress\"\nthickness = 0.1\n\
                  [[material]]\nname = \"steel\"\nyoung = 210e9\npoisson = 0.3\n\
                  [[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
                  [[pressure]]\non = \"xmax\"\nvalue = -10e6\n";
    let model = model_to(1e-10, tables, mapped(kind, [cells[0], cells[1], 1], |x| ellipses(1.5, x))?)?;
    Ok(Problem::new("LE1 membrane", kind, model, [stress_yy([2.0, 0.0, 0.0], "NAFEMS 1990, LE1", [LE1, tolerance])]))
}

/// The thick plate: `sigma_yy` at D = (2, 0, 0.6).
pub fn le10(kind: ElementKind, cells: [usize; 3], tolerance: f64) -> Result<Problem> {
    let mesh = mapped(kind, cells, |[s, t, z]| ellipses(0.5, [s, t, 0.6 * z]))?;
    // The line in the middle of the outer edge, held against moving down.
    let on_outer = |[x, y, _]: [f64; 3]| ((x / 3.25).powi(2) + (y / 2.75).powi(2) - 1.0).abs() < 1e-9;
    let on_line = |(x, _): &(&[f64; 3], &u64)| x[2] == 0.3 && on_outer(**x);
    let line: Vec<u64> = mesh.coords.iter().zip(&mesh.node_tags).filter(on_line).map(|(_, tag)| *tag).collect();
    let tables = format!(
        "[[material]]\nname = \"steel\"\nyoung = 210e9\npoisson = 0.3\n\
         [[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
         [[support]]\non = \"xmax\"\nfix = \"xy\"\n[[support]]\nnodes = {line:?}\nfix = \"z\"\n\
         [[pressure]]\non = \"zmax\"\nvalue = 1e6\n"
    );
    let model = model_to(1e-10, &tables, mesh)?;
    Ok(Problem::new("LE10 plate", kind, model, [stress_yy([2.0, 0.0, 0.6], "NAFEMS 1990, LE10", [LE10, tolerance])]))
}

/// The membrane of every plane element, the plate of those that are not too stiff in bending.
pub(super) fn problems() -> Result<Vec<Problem>> {
    Ok(vec![
        le1(Tri3, [32, 48], 0.045)?,
        le1(Quad4, [32, 48], 0.045)?,
        le1(Tri6, [24, 40], 0.005)?,
        le1(Quad8, [16, 24], 0.005)?,
        le10(Tet10, [8, 16, 4], 0.02)?,
        le10(Hex20, [8, 16, 4], 0.02)?,
    ])
}
