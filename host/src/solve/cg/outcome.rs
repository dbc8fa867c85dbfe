//! When an iteration stops, and how it ended.

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgOptions {
    /// On `||f - K u|| / ||f||`.
    pub tolerance: f64,
    /// Where to give up.
    pub max_iterations: usize,
    /// How the device is told what to do.
    pub stepping: Stepping,
}

impl CgOptions {
    /// As [`Stepping::Auto`] steps.
    pub const fn new(tolerance: f64, max_iterations: usize) -> Self {
        CgOptions { tolerance, max_iterations, stepping: Stepping::Auto }
    }
}

/// How the device is told what to do. What it computes is the same to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stepping {
    /// Many iterations in one go, where the preconditioner is diagonal and [`Backend::cg_persistent`] has such a thing
    /// for the format and size: there it is the fastest. Else as [`Stepping::Graph`].
    ///
    /// [`Backend::cg_persistent`]: crate::backend::Backend::cg_persistent
    #[default]
    Auto,
    /// A launch for each step.
    Launches,
    /// Launches recorded once and repeated in one go, where the device can.
    Graph,
}

impl Stepping {
    /// All of them.
    pub const ALL: [Stepping; 3] = [Stepping::Auto, Stepping::Launches, Stepping::Graph];

    /// Its name: `graph`.
    pub fn name(self) -> &'static str {
        match self {
            Stepping::Auto => "auto",
            Stepping::Launches => "launches",
            Stepping::Graph => "graph",
        }
    }
}

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The residual is within the tolerance.
    Converged,
    /// The iterations are used up.
    Limit,
    /// Rounding keeps the true residual from getting smaller.
    Stagnated,
    /// `p . K p < 0` for some p: K is not positive definite.
    Indefinite,
    /// The residual has grown by more than it can if the matrix is symmetric.
    Diverged,
    /// Somebody asked for it.
    Cancelled,
}

impl Ending {
    /// Its name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Converged => "converged",
            Ending::Limit => "limit",
            Ending::Stagnated => "stagnated",
            Ending::Indefinite => "indefinite",
            Ending::Diverged => "diverged",
            Ending::Cancelled => "cancelled",
        }
    }

    /// What there is to say of it, to follow the number of iterations.
    pub fn reason(self) -> &'static str {
        match self {
            Ending::Converged => "",
            Ending::Cancelled => "; it was told to stop",
            Ending::Limit => ", the limit",
            Ending::Stagnated => "; more do not help, as rounding has eaten what is left",
            Ending::Diverged => {
                "; the residual grows without bound, as happens if the matrix or the preconditioner is not symmetric, and \
                 to FEMSES without acceleration on elongated elements"
            }
            Ending::Indefinite => {
                "; the stiffness matrix is not positive definite to this precision (p . K p < 0), as happens if parts are \
                 hardly held, elements are degenerate, or stiffnesses are too far apart"
            }
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CgOutcome {
    /// Iterations done.
    pub iterations: usize,
    /// Products with the matrix, those of the preconditioner among them.
    pub spmvs: usize,
    /// The true `||f - K u|| / ||f||`, recomputed at the end.
    pub relative_residual: f64,
    /// What it was to be.
    pub tolerance: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
    /// Why it ended.
    pub ending: Ending,
    /// The recurrence's relative residual after each iteration.
    pub history: Vec<f64>,
}

impl CgOutcome {
    /// Before the first iteration, from this relative residual.
    pub(in crate::solve) fn start(relative_residual: f64, tolerance: f64) -> Self {
        let converged = relative_residual <= tolerance;
        let ending = if converged { Ending::Converged } else { Ending::Stagnated };
        CgOutcome { iterations: 0, spmvs: 0, relative_residual, tolerance, converged, ending, history: Vec::new() }
    }
}
