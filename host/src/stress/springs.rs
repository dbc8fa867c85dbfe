//! What springs do to the body: `-S u`, and what driven ends add.

use crate::assembly::Numbering;
use crate::model::Spring;

/// The forces of a spring, whose ends are driven by so many times what they are, on the nodes, at the unknowns `u [n_nodes][dim]`, flat, in the solver's numbering; a node comes
/// once for each that it is coupled to.
pub fn spring_forces<'a>(
    spring: &'a Spring,
    numbering: &'a Numbering,
    u: &'a [f64],
    dim: usize,
    factor: f64,
) -> impl Iterator<Item = (u32, [f64; 3])> + 'a {
    let of_blocks = spring.blocks.iter().map(move |(node, other, block)| {
        let row = dim * numbering.to_solver[*other as usize] as usize;
        (*node, [0, 1, 2].map(|i| -(0..dim).map(|j| block[i][j] * u[row + j]).sum::<f64>()))
    });
    of_blocks.chain(spring.driven.iter().map(move |(node, force)| (*node, force.map(|f| factor * f))))
}
