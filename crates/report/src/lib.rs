//! What `warpfem report` makes: the papers' tables and figures beside what was measured, as Markdown with plots.
//!
//! `run.rs` reads JSON; `provenance.rs` tells which run each number is from. One file for each paper says what the
//! paper claims and what answers it; `document.rs` puts the report together from them and from the chapters that are
//! about no paper. Everything is a function of the JSON: the same files make the same bytes.
//!
//! It knows nothing of the solver. A crate of its own, it is compiled beside other crates, and with little
//! optimisation.

mod assembly;
mod document;
mod dsm;
mod dsm_counters;
mod dsm_rates;
mod femses;
mod femses_gpu;
mod femses_iteration;
mod femses_serial;
mod femses_table;
mod iterations;
mod lookup;
mod markdown;
mod multigrid;
mod paper;
mod peers;
mod phases;
mod plot;
mod precond;
mod products;
mod provenance;
mod roofline;
#[allow(missing_docs, reason = "figures are named as in the reports of `warpfem bench`, which say what they are")]
pub mod run;
mod sbell;
mod sbell_solver;
pub mod speed;
mod topic;
mod trials;
mod warp;
mod warp_beam;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdict_tests;

pub use document::make;
pub use plot::Plots;
pub use run::Run;
