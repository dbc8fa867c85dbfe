//! Plain data that all rooms speak of: what can be chosen, what was decided, how a solution ended, what went wrong.

pub mod choices;
mod direct_error;
mod error;
mod field;
mod labels;
mod list;
mod outcome;
mod physics;
mod plan;
mod reason;

pub use choices::Study;
pub use direct_error::DirectError;
pub use error::{Error, Result};
pub use field::{Curve, Field, ForceBalance, Moment, Series, Sink, Step, Steps, Table};
pub use labels::{Quantity, Units, frequency, with_unit};
pub use list::{
    At, BUCKLING, EFFECTIVE_MASS, FIELDS, FieldInfo, MODES, PARTICIPATION, REVERSED, TABLES, TENSOR, TableInfo, VECTOR,
    When,
};
pub(crate) use list::{for_each_field, for_each_table};
pub use outcome::{Change, Changed, Ending, Measure, Outcome};
pub use physics::{Extremes, Physics, Words};
pub use plan::{Fill, Plan};
pub use reason::{Body, Hard, Reason};
