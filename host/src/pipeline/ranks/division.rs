//! A model that ranks share: which nodes each has, and what each knows of it.

use super::super::groups::{Groups, Parts};
use crate::assembly::{Numbering, Slanted, Supports};
use crate::linalg::Space;
use crate::mesh::partition::{Partition, Piece};
use crate::model::{Model, part};
use crate::parallel;
use crate::result::Result;
use crate::solve::energy::Members;
use kernels_rs::assembly::slanted::SLANTED;
use serde::{Deserialize, Serialize};
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

    /// What a rank needs to know of it.
    pub fn part(&self, rank: usize) -> Part {
        let Division { model, supports, parts: (labels, n_parts), groups, .. } = self;
        let piece = self.piece(rank);
        let of_nodes = |values: &[u32]| parallel::map_items(&piece.nodes, &|node| values[*node as usize]);
        let is_own = |node: &u32| self.partition.rank_of[*node as usize] as usize == rank;
        let place = |node: &u32| piece.place(*node).filter(|_| is_own(node)).map(|place| place as u32);
        let groups = groups.as_ref().map(|groups| {
            let group = |block: usize, cell: u32| {
                let first = model.mesh.cells[block].cell(cell as usize)[0];
                if is_own(&first) { groups.of_cells[block][cell as usize] } else { NONE }
            };
            let of_cells = |(block, cells): &(usize, Vec<u32>)| cells.iter().map(|cell| group(*block, *cell)).collect();
            let nodes = |number| groups.pieces.of(number).iter().filter_map(place).collect();
            Groups {
                of_cells: piece.cells.iter().map(of_cells).collect(),
                pieces: Members::of_lists((0..groups.pieces.n_parts()).map(nodes)),
                layout: groups.layout.clone(),
            }
        });
        let places = piece.nodes.iter().zip(0..);
        let slanted = places.filter_map(|(node, place)| Some((place, supports.slanted.at(*node as usize)?)));
        let (rows, directions) = slanted.unzip();
        Part {
            rank: rank as u32,
            model: model.part(piece, |node| is_own(&node)),
            rank_of: of_nodes(&self.partition.rank_of),
            fixed: parallel::map_items(&piece.nodes, &|node| supports.fixed[*node as usize]),
            slanted: Slanted { rows, directions },
            parts: (of_nodes(labels), *n_parts),
            groups,
            is_coupled: !model.constraints.is_empty(),
            gathered: self.gathered,
        }
    }
}

/// What a rank knows of a model that ranks share: all elements at its own nodes. Nodes are numbered in the order of the whole
/// mesh.
#[derive(Serialize, Deserialize)]
pub struct Part {
    /// The rank.
    pub rank: u32,
    /// The elements, and what is between nodes.
    #[serde(with = "part")]
    pub model: Model,
    /// The rank of each node.
    pub rank_of: Vec<u32>,
    /// A bit per component that is held, or that of slanted nodes.
    fixed: Vec<u8>,
    slanted: Slanted,
    /// The connected part of each node, and how many there are in all.
    parts: (Vec<u32>, usize),
    groups: Option<Groups>,
    /// Whether anything couples unknowns, on any rank.
    pub is_coupled: bool,
    /// Levels of multigrid of so many unknowns or fewer are on each rank as a whole.
    pub gathered: usize,
}

impl Part {
    /// Unknowns per node.
    pub fn components(&self) -> usize {
        self.model.analysis.components()
    }

    /// Whether a node is the rank's own.
    pub fn is_own(&self, node: u32) -> bool {
        self.rank_of[node as usize] == self.rank
    }

    /// The rows of the rank's own nodes; `nodes` are those of the rows.
    pub fn own(&self, nodes: &[u32]) -> Vec<u32> {
        parallel::flat_map(nodes.len(), &|row, own| own.extend(self.is_own(nodes[row]).then_some(row as u32)))
    }

    /// The supports of the nodes at some rows, without values; nodes with `is_held` are held in all components.
    pub fn supports(&self, nodes: &[u32], is_held: impl Fn(u32) -> bool + Sync) -> Supports {
        let components = self.components();
        let all = (1 << components) - 1;
        let fixed = |node: &u32| if is_held(*node) { all } else { self.fixed[*node as usize] };
        let slanted = nodes.iter().zip(0..).filter(|(node, _)| !is_held(**node));
        let (rows, directions) =
            slanted.filter_map(|(node, row)| Some((row, self.slanted.at(*node as usize)?))).unzip();
        Supports {
            fixed: parallel::map_items(nodes, &fixed),
            slanted: Slanted { rows, directions },
            prescribed: vec![0.0; components * nodes.len()],
            motion: Vec::new(),
            components,
        }
    }

    /// A bit for each component of a node that is not held.
    pub fn free(&self, node: u32) -> u8 {
        let (all, fixed) = ((1 << self.components()) - 1, self.fixed[node as usize]);
        if fixed == SLANTED { all } else { all & !fixed }
    }

    /// The parts and groups of all ranks with the rows that the rank has of them.
    pub(in crate::pipeline) fn parts(
        &self,
        space: &Space,
        numbering: &Numbering,
        coords: &[[f64; 3]],
    ) -> Result<Parts> {
        let (labels, n_parts) = &self.parts;
        let mut of_parts = vec![Vec::new(); *n_parts];
        let own = self.own(&numbering.to_mesh).into_iter();
        own.for_each(|row| of_parts[labels[numbering.to_mesh[row as usize] as usize] as usize].push(row));
        let groups = self.groups.clone().map(|groups| groups.numbered(numbering));
        Parts::of_members(space, &self.model, (Members::of_lists(of_parts.into_iter()), groups), coords)
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
