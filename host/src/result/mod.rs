//! Plain data that all rooms speak of: what can be chosen, what was decided, how a solution ended, what went wrong.

pub mod choices;
mod direct_error;
mod error;
mod outcome;
mod plan;
mod reason;

pub use direct_error::DirectError;
pub use error::{Error, Result};
pub use outcome::{Change, Changed, Ending, Measure, Outcome};
pub use plan::{Fill, Plan};
pub use reason::{Body, Hard, Reason};
