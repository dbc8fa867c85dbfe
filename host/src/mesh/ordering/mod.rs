//! Orders of nodes that keep neighbours close in memory: from where the nodes are ([`hilbert`]), and from who their
//! neighbours are ([`reverse_cuthill_mckee`]).

mod hilbert;
mod rcm;

pub use hilbert::{hilbert, lattice};
pub use rcm::reverse_cuthill_mckee;
