//! Heat through the wall of a pipe: a potential of 0 on the inner circle and 1 on the outer is `ln(r) / ln(2)` between
//! radii 1 and 2, and what flows in is `2 pi k / ln(2)` (Carslaw and Jaeger, "Conduction of Heat in Solids", 1959, sec.
//! 7.2; FEMSES sec. 2.6 has the same ring).

use super::recovery::node_at;
use super::{Measure, Problem, model_to};
use crate::element::ElementKind::{self, *};
use crate::error::Result;
use crate::mesh::annulus::generate_annulus;
use crate::model::Model;
use crate::pipeline::Solution;
use std::f64::consts::{LN_2, PI};

/// Conductivity.
pub const K: f64 = 3.0;
const SOURCE: &str = "Carslaw and Jaeger 1959, 7.2";

/// The tables of the ring: 0 inside, 1 outside.
pub const TABLES: &str = "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"body\"\nconductivity = 3.0\n\
                          [[support]]\non = \"inner\"\nvalue = 0.0\n[[support]]\non = \"outer\"\nvalue = 1.0\n";

/// The potential at a place.
pub fn exact(x: [f64; 3]) -> f64 {
    x[0].hypot(x[1]).ln() / LN_2
}

/// What flows in on the outside.
pub const FLOW: f64 = 2.0 * PI * K / LN_2;

/// The ring of `n` cells along the radius; how far the flow and the potential in the middle may be off.
pub fn ring(kind: ElementKind, n: usize, [flow, middle]: [f64; 2]) -> Result<Problem> {
    let model = model_to(1e-13, TABLES, generate_annulus(kind, [1.0, 2.0], [n, 8 * n])?)?;
    let place = [1.5, 0.0, 0.0];
    let value_at = move |model: &Model, solution: &Solution| {
        solution.step.nodes("potential").get(node_at(model, place)).copied().unwrap_or(f64::NAN)
    };
    let flow_in = |_: &Model, solution: &Solution| solution.step.row("flows", 1)[0];
    let flow = Measure::new("flow", [FLOW, flow], SOURCE, flow_in);
    let value = Measure::new("potential at r = 1.5", [exact(place), middle], SOURCE, value_at);
    Ok(Problem::new("annulus", kind, model, [flow, value]))
}

/// Every plane element.
pub(super) fn problems() -> Result<Vec<Problem>> {
    let (linear, quadratic) = ([1e-3, 2e-4], [3e-6, 3e-6]);
    let rings = [(Tri3, 16, linear), (Quad4, 16, linear), (Tri6, 8, quadratic), (Quad8, 8, quadratic)];
    rings.into_iter().map(|(kind, n, within)| ring(kind, n, within)).collect()
}
