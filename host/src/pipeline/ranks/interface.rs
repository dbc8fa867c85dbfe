//! What the rows of a rank have of other ranks' nodes: K of the elements between them, assembled on the host.

use super::super::unsupported::{Made, unsupported};
use super::super::{Phase, Timings};
use super::division::Part;
use super::ghosts::Ghosts;
use crate::assembly::{DeviceMesh, Numbering, VertexLevel};
use crate::linalg::{Space, values_in};
use crate::mesh::partition::{Piece, neighbours};
use crate::parallel;
use crate::result::choices::Preconditioner;
use crate::result::{Plan, Result};
use crate::solve::Silent;
use crate::sparse::{CrossRows, CrossTransfer, Interface, Interfaces, Matrix, Neighbour, Node};
use std::collections::BTreeMap;

/// Levels of so many unknowns or fewer are on each rank as a whole: their products take less time than messages.
pub const GATHERED: usize = 100_000;

/// For each neighbour what is sent to it and what comes from it: nodes of the mesh, or rows.
type Lists = [(usize, [Vec<u32>; 2])];

/// All that a rank has to know of the others for a preconditioner; asked by all at once. The level of vertices is multigrid's.
pub fn interfaces(
    space: &Space,
    (part, by): (&Part, Preconditioner),
    (numbering, mesh): (&Numbering, &DeviceMesh),
) -> Result<(Interfaces, Ghosts)> {
    let shared = neighbours(&part.model.mesh, &part.rank_of, part.rank);
    let rows = |nodes: &[u32]| nodes.iter().map(|node| numbering.to_solver[*node as usize]).collect::<Vec<u32>>();
    let of_lists = |[sends, ghosts]: &[Vec<u32>; 2]| [rows(sends), rows(ghosts)];
    let lists: Vec<(usize, [Vec<u32>; 2])> = shared.iter().map(|(other, lists)| (*other, of_lists(lists))).collect();
    let neighbours = tell(space, &lists)?;
    let ghosts: Vec<u32> = lists.iter().flat_map(|(_, [_, ghosts])| ghosts.clone()).collect();
    let edge = if shared.is_empty() { None } else { Some(Edge::new(part, &shared, by)?) };
    let size = part.components();
    let others = of_nodes(&lists, &neighbours, &numbering.to_mesh);
    let rows = match &edge {
        Some(edge) => {
            let row = |node: u32| numbering.to_solver[node as usize];
            edge.cross_rows(part, (&edge.matrix, &edge.nodes), row, &others)?
        }
        None => CrossRows::new([size; 2]),
    };
    let finest = Interface { rank: part.rank, rows, neighbours: neighbours.clone() };
    let vertices = match mesh.ends().filter(|_| by == Preconditioner::Amg) {
        Some(ends) => {
            Some(vertices(space, (part, numbering), (&lists, &neighbours), edge.as_ref(), &space.download(ends)?)?)
        }
        None => None,
    };
    let ghosts = Ghosts::new(space, &neighbours, &ghosts, size)?;
    let (own, is_coupled, gathered) = (part.own(&numbering.to_mesh), part.is_coupled, part.gathered);
    Ok((Interfaces { finest, own, vertices, is_coupled, gathered }, ghosts))
}

/// Tells neighbours the numbers of the rows that are sent to them, by `[sent, coming]` rows here.
fn tell(space: &Space, lists: &Lists) -> Result<Vec<Neighbour>> {
    for (other, [sends, _]) in lists {
        space.comm().send(*other, bytemuck::cast_slice(sends).to_vec());
    }
    let with_ghosts = |(other, [sends, _]): &(usize, [Vec<u32>; 2])| {
        let rows = values_in::<u32>(&space.comm().receive(*other)?);
        let ghosts = rows.into_iter().map(|row| Node { rank: *other as u32, row }).collect();
        Ok(Neighbour { rank: *other, sends: sends.clone(), ghosts })
    };
    lists.iter().map(with_ghosts).collect()
}

/// The nodes of other ranks, by node of the part; `nodes` are those of the rows here.
fn of_nodes(lists: &Lists, neighbours: &[Neighbour], nodes: &[u32]) -> BTreeMap<u32, Node> {
    let of_rank = |((_, [_, rows]), of): (&(usize, [Vec<u32>; 2]), &Neighbour)| {
        let node = |(row, node): (&u32, &Node)| (nodes[*row as usize], *node);
        rows.iter().zip(&of.ghosts).map(node).collect::<Vec<_>>()
    };
    lists.iter().zip(neighbours).flat_map(of_rank).collect()
}

/// K of the elements at nodes that other ranks need, on the host.
struct Edge {
    matrix: Matrix<f64>,
    /// The node of the part of each row.
    nodes: Vec<u32>,
    /// The same between vertices.
    vertices: Option<(VertexLevel, Vec<u32>)>,
    host: Space,
    /// By node of the part whether other ranks need it.
    is_sent: Vec<bool>,
}

impl Edge {
    fn new(part: &Part, shared: &Lists, by: Preconditioner) -> Result<Self> {
        let (model, mut is_sent) = (&part.model, vec![false; part.rank_of.len()]);
        shared.iter().flat_map(|(_, [sends, _])| sends).for_each(|node| is_sent[*node as usize] = true);
        let piece = Piece::around(&model.mesh, |node| is_sent[node as usize]);
        let (model, host) = (model.part(&piece, |_| false), Space::cpu());
        let plan = Plan::plain(&model, true);
        let mut phase = Phase::begin(&Silent, "setup");
        let of_phase = (&mut phase, &mut Timings::default());
        let (numbering, mesh, made): (_, _, Made<f64>) = unsupported(&host, (&model, 0), &plan, of_phase)?;
        let mut matrix = made.0;
        let nodes = parallel::map_items(&numbering.to_mesh, &|place| piece.nodes[*place as usize]);
        let supports = part.supports(&nodes, |_| false);
        let vertices = match mesh.ends().filter(|_| by == Preconditioner::Amg) {
            Some(ends) => {
                let rows = vertex_rows(&host.download(ends)?);
                let nodes = rows.iter().map(|row| nodes[*row as usize]).collect();
                VertexLevel::new(&host, &model, &numbering, &mesh, &supports)?.map(|level| (level, nodes))
            }
            None => None,
        };
        supports.eliminate(&host, &mut matrix)?;
        Ok(Edge { matrix, nodes, vertices, host, is_sent })
    }

    /// The blocks of rows that are sent in columns of other ranks.
    fn cross_rows(
        &self,
        part: &Part,
        (matrix, nodes): (&Matrix<f64>, &[u32]),
        row: impl Fn(u32) -> u32,
        others: &BTreeMap<u32, Node>,
    ) -> Result<CrossRows> {
        let size = matrix.block_size();
        let (pattern, blocks) = (matrix.pattern().download(&self.host)?, matrix.blocks(&self.host)?);
        let mut cross = CrossRows::new([size; 2]);
        for (number, node) in nodes.iter().enumerate().filter(|(_, node)| self.is_sent[**node as usize]) {
            let first = pattern.row_start[number] as usize;
            for (k, column) in pattern.row(number).iter().enumerate() {
                let (other, block) = (nodes[*column as usize], &blocks[(first + k) * size * size..][..size * size]);
                let is_other = part.rank_of[other as usize] != part.rank_of[*node as usize];
                if let Some(other) = others.get(&other).filter(|_| is_other && block.iter().any(|value| *value != 0.0))
                {
                    cross.add(row(*node), *other, block);
                }
            }
        }
        Ok(cross)
    }
}

/// The rows that are no middle of an edge.
fn vertex_rows(ends: &[[u32; 2]]) -> Vec<u32> {
    parallel::flat_map(ends.len(), &|row, rows| rows.extend(is_vertex(ends[row]).then_some(row as u32)))
}

fn is_vertex([a, b]: [u32; 2]) -> bool {
    a == b
}

/// The level of the vertices, the rank's own among them, and the way to it.
fn vertices(
    space: &Space,
    (part, numbering): (&Part, &Numbering),
    (lists, of_fine): (&Lists, &[Neighbour]),
    edge: Option<&Edge>,
    ends: &[[u32; 2]],
) -> Result<(Interface, Vec<u32>, CrossTransfer)> {
    let (rank, nodes, rows) = (part.rank, &numbering.to_mesh, vertex_rows(ends));
    let mut number = vec![0; ends.len()];
    rows.iter().zip(0..).for_each(|(row, place)| number[*row as usize] = place);
    let vertices_of = |of: &[u32]| -> Vec<u32> {
        of.iter().filter(|row| is_vertex(ends[**row as usize])).map(|row| number[*row as usize]).collect()
    };
    let of_lists = |[sends, ghosts]: &[Vec<u32>; 2]| [vertices_of(sends), vertices_of(ghosts)];
    let of_vertices: Vec<(usize, [Vec<u32>; 2])> =
        lists.iter().map(|(other, lists)| (*other, of_lists(lists))).collect();
    let neighbours = tell(space, &of_vertices)?;
    let vertex_nodes: Vec<u32> = parallel::map_items(&rows, &|row| nodes[*row as usize]);
    let others = of_nodes(&of_vertices, &neighbours, &vertex_nodes);
    let size = part.components();
    let cross = match edge.and_then(|edge| Some((edge, edge.vertices.as_ref()?))) {
        Some((edge, (level, nodes))) => {
            let row = |node: u32| number[numbering.to_solver[node as usize] as usize];
            edge.cross_rows(part, (&level.matrix, nodes), row, &others)?
        }
        None => CrossRows::new([size; 2]),
    };
    let own = part.own(&vertex_nodes);
    // The middle of an edge is the mean of its ends, which may be of another rank.
    let fine = of_nodes(lists, of_fine, nodes);
    let (mut up, mut down) = (CrossRows::new([size; 2]), CrossRows::new([size; 2]));
    let is_own = |row: usize| part.is_own(nodes[row]);
    let is_cut = |row: usize| !is_vertex(ends[row]) && ends[row].iter().any(|end| is_own(*end as usize) != is_own(row));
    let cut = parallel::flat_map(ends.len(), &|row, cut| cut.extend(is_cut(row).then_some(row)));
    for row in cut {
        let middle = nodes[row];
        for end in ends[row].iter().map(|end| *end as usize) {
            let mask = part.free(middle) & part.free(nodes[end]);
            let mean: Vec<f64> = (0..size * size)
                .map(|k| if k % (size + 1) == 0 && mask >> (k / (size + 1)) & 1 == 1 { 0.5 } else { 0.0 })
                .collect();
            match (others.get(&nodes[end]), fine.get(&middle)) {
                (Some(vertex), None) => up.add(row as u32, *vertex, &mean),
                (None, Some(middle)) => down.add(number[end], *middle, &mean),
                _ => {}
            }
        }
    }
    Ok((Interface { rank, neighbours, rows: cross }, own, CrossTransfer { up, down }))
}
