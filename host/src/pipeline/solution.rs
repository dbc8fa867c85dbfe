//! The answer, how it was found, and where the time went.

use crate::precond::Hierarchy;
use crate::result::{ForceBalance, Outcome, Plan, Step};

/// Seconds each phase took.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Timings {
    /// Sparsity, slots, layout, copies to the device.
    pub setup: f64,
    /// Stiffness and loads.
    pub assembly: f64,
    /// Supports.
    pub boundary: f64,
    /// Preconditioner and iteration, or factorisation and substitution.
    pub solve: f64,
    /// Stresses and reactions.
    pub stress: f64,
}

/// How a model was solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    /// The device's name.
    pub device: String,
    /// The plan, as it was carried out: with what took the place of a factor or of multigrid where they did not go, of
    /// which [`Outcome::changes`] say why.
    pub plan: Plan,
    /// Values that the factors of a direct solver store.
    pub factor_nonzeros: Option<u64>,
    /// The levels of a multigrid preconditioner.
    pub hierarchy: Option<Hierarchy>,
    /// The modes that were counted.
    pub count: Option<ModeCount>,
    /// What each rank had, where there were several.
    pub ranks: Vec<RankSize>,
}

/// What one of several ranks has of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct RankSize {
    /// Its own nodes.
    pub nodes: usize,
    /// Nodes of other ranks that its elements have.
    pub ghosts: usize,
    /// Messages that it has sent while the last case was solved.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds of the last case's solution that exchanges took, waiting included.
    pub exchange_s: f64,
}

/// How many modes there are, by a factor.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ModeCount {
    /// Below this frequency or load factor.
    pub below: f64,
    /// So many were counted.
    pub counted: usize,
    /// So many were found.
    pub found: usize,
}

/// The answer, in the mesh's numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The results; without fields and tables where another sink has taken them.
    pub step: Step,
    /// The sum of all loads but thermal strain; of a potential what fluxes and sources bring in, then zeros.
    pub applied: [f64; 3],
    /// The sum of the forces of all supports and springs on the body, or of the flows into it there; a node of several
    /// counts once.
    pub reaction_sum: [f64; 3],
    /// See [`Balance::error`](crate::stress::Balance::error).
    pub equilibrium_error: f64,
    /// The same of each connected part.
    pub part_balance: Vec<f64>,
    /// See [`Balance::load_error`](crate::stress::Balance::load_error); 0 of a potential.
    pub load_error: f64,
    /// How the iteration ended.
    pub outcome: Outcome,
    /// How it was solved.
    pub used: Used,
    /// Where the time went.
    pub timings: Timings,
}

impl Solution {
    /// Of a step that was solved so; none if it was not solved.
    pub fn of(step: Step, used: Used, timings: Timings) -> Option<Solution> {
        let outcome = step.outcome.clone()?;
        let ForceBalance { applied, reaction_sum, equilibrium_error, parts: part_balance, load_error, .. } =
            step.balance.clone();
        Some(Solution {
            step,
            applied,
            reaction_sum,
            equilibrium_error,
            part_balance,
            load_error,
            outcome,
            used,
            timings,
        })
    }

    /// The displacements, `[n_nodes]`; none if they were not asked for.
    pub fn displacement(&self) -> &[[f64; 3]] {
        self.step.vectors("displacement")
    }

    /// The first `components` of the unknown at each node, `[n_nodes][components]` flat.
    pub fn unknown(&self, components: usize) -> Vec<f64> {
        let field = self.step.field(self.step.physics.words().unknown);
        field.map_or(vec![], |field| {
            field.values[0].chunks_exact(field.info.width()).flat_map(|value| &value[..components]).copied().collect()
        })
    }

    /// What a support does to the body, by its number in the case: the force, or the flow into it.
    pub fn reaction(&self, support: usize) -> &[f64] {
        self.step.row(self.step.physics.words().reactions[0], support)
    }

    /// The strain energy of the body; NaN if there is none.
    pub fn strain_energy(&self) -> f64 {
        self.step.row("strain_energy", 0).first().copied().unwrap_or(f64::NAN)
    }
}
