//! Blocks of matrices that ranks send each other while a hierarchy is made.

use crate::linalg::{Space, values_in};
use crate::result::Result;
use crate::sparse::{Neighbour, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks by row and column, of nodes of any rank.
pub(super) type NodeRows = BTreeMap<Node, Vec<(Node, Vec<f64>)>>;

/// Blocks on their way to another rank.
#[derive(Clone, Default)]
pub(super) struct Message {
    /// Of each block the nodes of its row and column.
    nodes: Vec<[u32; 4]>,
    values: Vec<f64>,
}

impl Message {
    pub(super) fn add(&mut self, row: Node, column: Node, block: &[f64]) {
        self.nodes.push([row.rank, row.row, column.rank, column.row]);
        self.values.extend_from_slice(block);
    }

    pub(super) fn blocks(&self, size: usize) -> impl Iterator<Item = (Node, Node, &[f64])> {
        let node = |rank: u32, row: u32| Node { rank, row };
        self.nodes
            .iter()
            .zip(self.values.chunks_exact(size))
            .map(move |(of, block)| (node(of[0], of[1]), node(of[2], of[3]), block))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let n = [self.nodes.len() as u64];
        [bytemuck::cast_slice(&n), bytemuck::cast_slice(&self.nodes), bytemuck::cast_slice(&self.values)].concat()
    }

    pub(super) fn read(bytes: &[u8]) -> Message {
        let (head, rest) = bytes.split_at(size_of::<u64>());
        let n = values_in::<u64>(head)[0] as usize;
        let (nodes, values) = rest.split_at(n * size_of::<[u32; 4]>());
        Message { nodes: values_in(nodes), values: values_in(values) }
    }
}

/// Sends each rank its message; those that come, in the order of ranks, the rank's own among them.
pub(super) fn all_to_all(space: &Space, messages: &[Message]) -> Result<Vec<Message>> {
    let come = space.comm().all_to_all(messages.iter().map(Message::bytes).collect())?;
    Ok(come.iter().map(|bytes| Message::read(bytes)).collect())
}

/// Sends the rows of nodes that neighbours need; those of ghosts.
pub(super) fn exchange_rows(
    space: &Space,
    neighbours: &[Neighbour],
    size: usize,
    row: impl Fn(u32) -> Vec<(Node, Vec<f64>)>,
) -> Result<NodeRows> {
    let (comm, rank) = (space.comm(), space.comm().rank() as u32);
    for of in neighbours {
        let mut message = Message::default();
        for from in &of.sends {
            row(*from).iter().for_each(|(column, block)| message.add(Node { rank, row: *from }, *column, block));
        }
        comm.send(of.rank, message.bytes());
    }
    let mut come: NodeRows = BTreeMap::new();
    for of in neighbours {
        let message = Message::read(&comm.receive(of.rank)?);
        message
            .blocks(size)
            .for_each(|(row, column, block)| come.entry(row).or_default().push((column, block.to_vec())));
    }
    Ok(come)
}

/// The neighbours of a level where a rank needs these nodes.
pub(super) fn neighbours_of(space: &Space, rank: u32, needed: impl Iterator<Item = Node>) -> Result<Vec<Neighbour>> {
    let ghosts: BTreeSet<Node> = needed.filter(|node| node.rank != rank).collect();
    let mut to_ranks = vec![Message::default(); space.comm().size()];
    ghosts.iter().for_each(|node| to_ranks[node.rank as usize].add(*node, *node, &[]));
    let asked = all_to_all(space, &to_ranks)?;
    let all = asked.iter().enumerate().filter(|(other, _)| *other != rank as usize).map(|(other, asked)| Neighbour {
        rank: other,
        sends: asked.nodes.iter().map(|of| of[1]).collect(),
        ghosts: ghosts.iter().filter(|node| node.rank as usize == other).copied().collect(),
    });
    Ok(all.filter(|of| !of.sends.is_empty() || !of.ghosts.is_empty()).collect())
}
