//! How a model is solved, decided before it is solved: the [`Plan`](crate::result::Plan) with every `auto` resolved, and what it will take of
//! memory and time.
//!
//! | file | holds |
//! | --- | --- |
//! | `facts` | what is known of a device |
//! | `decide` | the method, the preconditioner and the precision that `auto` stands for, and why |
//! | `shape`, `iterations` | what decisions go by: the shape of the body, and the iterations that it will take |
//! | `memory`, `work` | predicted bytes, iterations and seconds |
//! | `resolve`, `words` | the plan, if all choices go together; the plan in words |
//! | `expected` | all of that for the CPU and the GPU of a machine |
//! | `fits` | refuses what cannot fit in memory before it is tried |

mod decide;
mod expected;
mod facts;
pub mod fits;
mod iterations;
mod memory;
mod operator;
mod resolve;
mod rounding;
mod shape;
#[cfg(test)]
mod tests;
mod words;
mod work;

pub use decide::{CPU, GPU, Limits, decide, fill, without_factor};
pub use expected::{Expected, OnDevice, expect};
pub use facts::DeviceFacts;
pub use memory::{Memory, hierarchy_bytes};
pub use resolve::resolve;
pub use shape::is_linear;
pub use words::AS_ASKED;
pub use work::{Speed, Work, vector_bytes};
