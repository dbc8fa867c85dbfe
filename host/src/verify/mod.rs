//! Problems with published answers: what `warpfem verify` solves to show that this build, on this machine and device,
//! computes what it should.
//!
//! A [`Problem`] is a model and what is to be measured in its solution, beside the value that theory or a benchmark has
//! for it. The [`groups`](GROUPS) hold those that the command solves; the functions that make them take any element and
//! mesh, and the tests of convergence use these.

pub mod anisotropic;
pub mod beam;
pub mod cylinder;
pub mod laplace;
pub mod meshes;
pub mod nafems;
pub mod patch;
pub mod recovery;
pub mod revolution;

use crate::device::DeviceName;
use crate::element::ElementKind;
use crate::error::Result;
use crate::mesh::Mesh;
use crate::model::{self, Case, Model};
use crate::pipeline::{self, Solution};
use crate::solve::Monitor;
use std::path::Path;

/// Unknowns up to which a problem is for the emulator, which takes seconds for what a GPU does in milliseconds.
const MOST_EMULATED: usize = 600;

/// A group's name, and what makes its problems.
pub type Group = (&'static str, fn() -> Result<Vec<Problem>>);

/// All there are, the smallest first.
pub const GROUPS: [Group; 7] = [
    ("patch tests", patch::problems),
    ("Laplace annulus", laplace::problems),
    ("thick cylinder", cylinder::problems),
    ("bodies of revolution", revolution::problems),
    ("orthotropic bodies", anisotropic::problems),
    ("NAFEMS", nafems::problems),
    ("beams", beam::problems),
];

/// What is measured in a solution.
type Measured = Box<dyn Fn(&Model, &Solution) -> f64>;

/// A value of a solution that is known.
pub struct Measure {
    /// What it is, with its unit if it has one.
    pub quantity: &'static str,
    /// What it should be.
    pub published: f64,
    /// How far it may be off on this mesh, relative to that.
    pub tolerance: f64,
    /// Where that is published.
    pub source: &'static str,
    /// What it is in a solution.
    pub of: Measured,
}

impl Measure {
    /// What `of` makes of a solution, beside what `source` says it should be.
    fn new(
        quantity: &'static str,
        [published, tolerance]: [f64; 2],
        source: &'static str,
        of: impl Fn(&Model, &Solution) -> f64 + 'static,
    ) -> Measure {
        Measure { quantity, published, tolerance, source, of: Box::new(of) }
    }
}

/// A model whose solution is known.
pub struct Problem {
    /// What it is, and the element.
    pub name: String,
    /// The model, which the solver's tolerance is part of.
    pub model: Model,
    /// What is known of its solution.
    pub measures: Vec<Measure>,
}

/// A computed value beside the published one.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Check {
    /// The problem's name.
    pub problem: String,
    /// What was measured.
    pub quantity: &'static str,
    /// What was found.
    pub computed: f64,
    /// What is published.
    pub published: f64,
    /// The relative error that is allowed.
    pub tolerance: f64,
    /// Where it is published.
    pub source: &'static str,
}

impl Check {
    /// `|computed / published - 1|`.
    pub fn error(&self) -> f64 {
        (self.computed / self.published - 1.0).abs()
    }

    /// Whether the error is within the tolerance; NaN is not.
    pub fn passed(&self) -> bool {
        self.error() <= self.tolerance
    }
}

impl Problem {
    /// Of an element, whose name follows.
    fn new(name: &str, kind: ElementKind, model: Model, measures: impl Into<Vec<Measure>>) -> Problem {
        Problem { name: format!("{name}, {}", kind.info().name), model, measures: measures.into() }
    }

    /// Whether the emulator solves it in seconds.
    pub fn is_small(&self) -> bool {
        self.model.mesh.coords.len() * self.model.analysis.components() <= MOST_EMULATED
    }

    /// Solves it and measures; what has not converged is NaN, and does not pass.
    pub fn check(&self, device: DeviceName, monitor: &dyn Monitor) -> Result<Vec<Check>> {
        let solution =
            Some(pipeline::solve(&self.model, device, monitor)?).filter(|solution| solution.outcome.converged);
        let check = |measure: &Measure| Check {
            problem: self.name.clone(),
            quantity: measure.quantity,
            computed: solution.as_ref().map_or(f64::NAN, |solution| (measure.of)(&self.model, solution)),
            published: measure.published,
            tolerance: measure.tolerance,
            source: measure.source,
        };
        Ok(self.measures.iter().map(check).collect())
    }
}

/// The model of a case's tables, without `[mesh]`, on a mesh.
pub fn model(tables: &str, mesh: Mesh) -> model::Result<Model> {
    let text = format!("[mesh]\nfile = \"given.msh\"\n{tables}");
    Model::resolve(&Case::parse(Path::new("given.toml"), &text)?, mesh)
}

/// The same, to be solved to this relative residual.
fn model_to(tolerance: f64, tables: &str, mesh: Mesh) -> model::Result<Model> {
    let mut model = model(tables, mesh)?;
    model.solver.tolerance = tolerance;
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(computed: f64) -> Check {
        let (problem, quantity, source) = (String::new(), "length", "a ruler");
        Check { problem, quantity, computed, published: -2.0, tolerance: 0.01, source }
    }

    #[test]
    fn a_value_that_is_off_does_not_pass() {
        assert!(check(-2.0).passed() && check(-2.019).passed() && check(-1.981).passed());
        for off in [-2.021, -1.979, 2.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(!check(off).passed(), "{off}");
        }
    }
}
