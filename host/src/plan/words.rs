//! A plan in words.

use crate::result::choices::{Format, Operator, Preconditioner, Strategy};
use crate::result::{Plan, Reason};

/// What stands for the operator and the format of FEMSES.
const OF_ELEMENTS: &str = "element";

/// What stands for the reason where there was nothing to decide.
pub const AS_ASKED: &str = "as asked for";

impl Plan {
    /// Why this method and this preconditioner, in words: `direct: a small model`.
    pub fn reason(&self) -> String {
        let name = self.preconditioner.map_or(self.method.name(), Preconditioner::name);
        let why: Vec<String> = self.reasons.iter().map(Reason::to_string).collect();
        format!("{name}: {}", if why.is_empty() { AS_ASKED.to_owned() } else { why.join("; ") })
    }

    /// The word for what speeds up the iteration: the preconditioner, or the acceleration.
    pub fn preconditioner_name(&self) -> &'static str {
        self.preconditioner.map_or(self.acceleration.name(), Preconditioner::name)
    }

    /// The word for how products are computed.
    pub fn operator_name(&self) -> &'static str {
        self.operator.map_or(OF_ELEMENTS, Operator::name)
    }

    /// The word for what stiffness is stored in.
    pub fn format_name(&self) -> &'static str {
        self.format.map_or(if self.operator.is_some() { "none" } else { OF_ELEMENTS }, Format::name)
    }

    /// The word for the order of the nodes.
    pub fn ordering_name(&self) -> &'static str {
        if self.operator == Some(Operator::MatrixFree) { "patches" } else { self.ordering.name() }
    }

    /// The word for how the matrix is assembled.
    pub fn assembly_name(&self) -> &'static str {
        self.assembly.map_or("none", Strategy::name)
    }
}
