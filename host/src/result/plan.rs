//! What was decided before a solution.

use super::Reason;
use super::choices::{Acceleration, Format, Method, Operator, Ordering, Precision, Preconditioner, Strategy, Study};

/// How a model is solved, with every `auto` decided.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Plan {
    /// What is solved.
    pub study: Study,
    /// The method.
    pub method: Method,
    /// What makes `femses` faster; nothing with the other methods.
    pub acceleration: Acceleration,
    /// The preconditioner of conjugate gradients; none with the other methods.
    pub preconditioner: Option<Preconditioner>,
    /// Its order, if it is a polynomial, or that of accelerated `femses`.
    pub order: Option<usize>,
    /// The precision.
    pub precision: Precision,
    /// How products with K are computed; none with `femses`, which has those of elements.
    pub operator: Option<Operator>,
    /// The storage format; none without a matrix.
    pub format: Option<Format>,
    /// The order of the nodes.
    pub ordering: Ordering,
    /// The assembly strategy; none without a matrix.
    pub assembly: Option<Strategy>,
    /// The size of the factor, if it was counted.
    pub fill: Option<Fill>,
    /// Why this method and this preconditioner; empty where there was nothing to decide.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
}

/// The size of a Cholesky factor.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Fill {
    /// Values of L, its diagonal included.
    pub nonzeros: u64,
    /// Multiplications that the factorisation takes, each with an addition: half the sum of the squares of the columns'
    /// lengths.
    pub operations: f64,
}
