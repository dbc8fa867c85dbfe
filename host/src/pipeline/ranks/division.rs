//! What all ranks know of a model that they share: which nodes each has, and what holds them.

use super::super::groups::{Groups, Parts};
use crate::assembly::{Numbering, Slanted, Supports};
use crate::linalg::Space;
use crate::mesh::partition::{Partition, Piece};
use crate::model::Model;
use crate::parallel;
use crate::result::Result;
use crate::solve::energy::Members;
use kernels_rs::assembly::slanted::SLANTED;
use std::sync::OnceLock;

/// No group: of cells that another rank counts.
const NONE: u32 = u32::MAX;

/// A model divided among ranks.
pub struct Division<'a> {
    /// The model.
    pub model: &'a Model,
    /// Which rank has which node.
    pub partition: Partition,
    /// What each rank needs of the mesh, once it has been asked for.
    pieces: Vec<OnceLock<Piece>>,
    /// By node of the mesh.
    supports: Supports,
    /// The connected part of each node, and how many there are.
    parts: (Vec<u32>, usize),
    groups: Option<Groups>,
    /// Levels of multigrid of so many unknowns or fewer are on each rank as a whole.
    pub gathered: usize,
}

impl<'a> Division<'a> {
    /// Of a model among so many ranks.
    pub fn new(model: &'a Model, size: usize, gathered: usize) -> Self {
        let (partition, parts) =
            (Partition::new(&model.mesh, size, together(model)), model.coupled_parts().into_owned());
        let nodes: Vec<u32> = (0..model.mesh.coords.len() as u32).collect();
        let as_it_is = Numbering { to_mesh: nodes.clone(), to_solver: nodes };
        let groups = Groups::new(model, &parts.0);
        Division {
            model,
            partition,
            pieces: (0..size).map(|_| OnceLock::new()).collect(),
            supports: Supports::new(model, &as_it_is),
            parts,
            groups,
            gathered,
        }
    }

    /// A rank that has no nodes, if there is one.
    pub fn empty(&self) -> Option<usize> {
        let mut is_empty = vec![true; self.pieces.len()];
        self.partition.rank_of.iter().for_each(|rank| is_empty[*rank as usize] = false);
        is_empty.iter().position(|is_empty| *is_empty)
    }

    /// All elements at the nodes of a rank.
    pub fn piece(&self, rank: usize) -> &Piece {
        self.pieces[rank].get_or_init(|| self.partition.piece(&self.model.mesh, rank))
    }

    /// The rank of a node of the mesh.
    pub fn rank_of(&self, node: u32) -> u32 {
        self.partition.rank_of[node as usize]
    }

    /// The rows of nodes that a rank has; `nodes` are those of the rows.
    pub fn own(&self, nodes: &[u32], rank: u32) -> Vec<u32> {
        parallel::flat_map(nodes.len(), &|row, own| {
            own.extend((self.rank_of(nodes[row]) == rank).then_some(row as u32))
        })
    }

    /// The supports of the nodes of the mesh at some rows, without values; nodes with `is_held` are held in all components.
    pub fn supports(&self, nodes: &[u32], is_held: impl Fn(u32) -> bool + Sync) -> Supports {
        let all = (1 << self.supports.components) - 1;
        let fixed = |node: &u32| if is_held(*node) { all } else { self.supports.fixed[*node as usize] };
        let slanted = nodes.iter().zip(0..).filter(|(node, _)| !is_held(**node));
        let slanted = slanted.filter_map(|(node, row)| Some((row, self.supports.slanted.at(*node as usize)?)));
        let (rows, directions) = slanted.unzip();
        Supports {
            fixed: parallel::map_items(nodes, &fixed),
            slanted: Slanted { rows, directions },
            prescribed: vec![0.0; self.supports.components * nodes.len()],
            motion: Vec::new(),
            components: self.supports.components,
        }
    }

    /// A bit for each component of a node of the mesh that is not held.
    pub fn free(&self, node: u32) -> u8 {
        let (all, fixed) = ((1 << self.supports.components) - 1, self.supports.fixed[node as usize]);
        if fixed == SLANTED { all } else { all & !fixed }
    }

    /// The parts and groups of all ranks with the rows that a rank has of them.
    pub fn parts(
        &self,
        space: &Space,
        (part, piece): (&Model, &Piece),
        numbering: &Numbering,
        coords: &[[f64; 3]],
    ) -> Result<Parts> {
        let rank = space.comm().rank() as u32;
        let row = |node: &u32| {
            let place = piece.place(*node).filter(|_| self.rank_of(*node) == rank);
            place.map(|place| numbering.to_solver[place])
        };
        let members = |lists: &mut dyn Iterator<Item = Vec<u32>>| {
            let mut members = Members { start: vec![0], rows: Vec::new() };
            for rows in lists {
                members.rows.extend(rows);
                members.start.push(members.rows.len());
            }
            members
        };
        let (labels, n_parts) = &self.parts;
        let mut of_parts = vec![Vec::new(); *n_parts];
        let own = parallel::flat_map(numbering.len(), &|place, own| {
            let node = piece.nodes[numbering.to_mesh[place] as usize];
            own.extend((self.rank_of(node) == rank).then(|| (labels[node as usize], place as u32)));
        });
        own.into_iter().for_each(|(part, place)| of_parts[part as usize].push(place));
        let groups = self.groups.as_ref().map(|groups| {
            let group = |block: usize, cell: u32| {
                let first = self.model.mesh.cells[block].cell(cell as usize)[0];
                if self.rank_of(first) == rank { groups.of_cells[block][cell as usize] } else { NONE }
            };
            let of_cells = |(block, cells): &(usize, Vec<u32>)| cells.iter().map(|cell| group(*block, *cell)).collect();
            let n = groups.pieces.n_parts();
            let mut pieces = (0..n).map(|piece| groups.pieces.of(piece).iter().filter_map(row).collect());
            Groups {
                of_cells: piece.cells.iter().map(of_cells).collect(),
                pieces: members(&mut pieces),
                layout: groups.layout.clone(),
            }
        });
        Parts::of_members(space, part, (members(&mut of_parts.into_iter()), groups), coords)
    }
}

/// Nodes that one rank must have: those of an equation, and those of elements of second order at a slave, whose middles of edges
/// follow its masters on coarse levels.
fn together(model: &Model) -> impl Iterator<Item = Vec<u32>> {
    let mut is_slave = vec![false; model.mesh.coords.len()];
    let sums: Vec<Vec<u32>> =
        model.constraints.sums().map(|(terms, _)| terms.iter().map(|(dof, _)| dof.node).collect()).collect();
    sums.iter().for_each(|nodes| is_slave[nodes[0] as usize] = true);
    let quadratic = model.mesh.solids().filter(|(_, cells)| cells.kind.info().is_quadratic());
    let cells = quadratic.flat_map(|(_, cells)| (0..cells.len()).map(|cell| cells.cell(cell)));
    let at_slaves: Vec<Vec<u32>> = match sums.is_empty() {
        true => Vec::new(),
        false => cells.filter(|cell| cell.iter().any(|node| is_slave[*node as usize])).map(<[u32]>::to_vec).collect(),
    };
    sums.into_iter().chain(at_slaves)
}
