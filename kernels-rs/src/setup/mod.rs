//! Set-up: what is needed before a matrix can be filled, computed where the mesh's connectivity is.
//!
//! | what | where |
//! | --- | --- |
//! | running sums, the order of keys | [`scan`], [`sort`] |
//! | which cells meet at a node | [`around`] |
//! | which nodes share cells: sparsity, slots | [`neighbours`] |
//! | the solver's numbering | [`order`] |
//! | colours of cells | [`coloring`] |
//! | patches of cells for products without a matrix | [`patches`] |

pub mod around;
pub mod coloring;
pub mod lists;
pub mod neighbours;
pub mod order;
pub mod patches;
pub mod scan;
pub mod sort;
