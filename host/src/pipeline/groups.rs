//! Which elements, nodes and materials belong together: connected parts, groups of one part and one material, and the
//! connected pieces of these.

use crate::assembly::Numbering;
use crate::linalg::Space;
use crate::mesh::parts::{find, unite};
use crate::model::{Analysis, Model};
use crate::result::Result;
use crate::solve::energy::{Layout, Members, PartLists};
use crate::stress::Balance;
use std::collections::{BTreeMap, BTreeSet};

/// No number.
const NONE: u32 = u32::MAX;

/// The connected parts of a mesh, in the solver's numbering, and what they are made of.
pub(super) struct Parts {
    /// The rows of each part.
    pub lists: PartLists,
    /// Groups of elements of one part and one material.
    pub layout: Layout,
    /// The group of each cell, by block of the mesh; and the rows of each connected piece of a group. None where each
    /// part has one material: then groups, pieces and parts are the same.
    pub several: Option<(Vec<Vec<u32>>, PartLists)>,
}

/// Groups of elements of one part and one material.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Groups {
    /// The group of each cell, by block of the mesh.
    pub of_cells: Vec<Vec<u32>>,
    /// The nodes of each connected piece of a group.
    pub pieces: Members,
    /// Which parts and groups these belong to.
    pub layout: Layout,
}

impl Parts {
    /// Of a model whose nodes are at `coords`, in the solver's numbering.
    pub(super) fn new(space: &Space, model: &Model, numbering: &Numbering, coords: &[[f64; 3]]) -> Result<Self> {
        let parts = model.coupled_parts();
        let (labels, n_parts) = &*parts;
        let members = match n_parts {
            1 => Members::of_all(labels.len()),
            _ => Members::of_labels(&numbering.gather(labels), *n_parts),
        };
        let groups = Groups::new(model, labels).map(|groups| groups.numbered(numbering));
        Parts::of_members(space, model, (members, groups), coords)
    }

    /// The same, of the rows of each part and the groups.
    pub(super) fn of_members(
        space: &Space,
        model: &Model,
        (members, groups): (Members, Option<Groups>),
        coords: &[[f64; 3]],
    ) -> Result<Self> {
        let (size, rigid) = (model.analysis.components(), model.analysis.rigid_motions());
        let lists = PartLists::new(space, size, rigid, members, coords)?;
        let Some(Groups { of_cells, pieces, layout }) = groups else {
            let layout = Layout { part: vec![], group: vec![], colours: vec![] };
            let mut parts = Parts { lists, layout, several: None };
            parts.unite_materials();
            return Ok(parts);
        };
        Ok(Parts { lists, layout, several: Some((of_cells, PartLists::new(space, size, rigid, pieces, coords)?)) })
    }

    /// The same, whatever they are made of: groups, pieces and parts are the same.
    pub(super) fn unite_materials(&mut self) {
        let all: Vec<u32> = (0..self.lists.n_parts() as u32).collect();
        let colours = vec![(0..self.lists.n_parts()).collect()];
        (self.layout, self.several) = (Layout { part: all.clone(), group: all, colours }, None);
    }

    /// The rows of each part.
    pub(super) fn members(&self) -> &Members {
        self.lists.members()
    }

    /// How far supports and loads of a part are from balance: see [`Balance::error`].
    pub(super) fn balance(&self, part: usize, support_forces: &[f64], applied: &[f64], analysis: Analysis) -> f64 {
        let (size, balanced) = (analysis.components(), analysis.balanced());
        if self.members().n_parts() == 1 {
            return Balance::new(support_forces, applied, size, balanced).error();
        }
        let rows = self.members().of(part).iter().map(|row| size * *row as usize);
        let of = |forces: &[f64]| -> Vec<f64> { rows.clone().flat_map(|k| forces[k..k + size].to_vec()).collect() };
        Balance::new(&of(support_forces), &of(applied), size, balanced).error()
    }
}

impl Groups {
    /// The groups, from the part of each node; none where each part has one material.
    pub(super) fn new(model: &Model, labels: &[u32]) -> Option<Self> {
        if model.materials.len() < 2 {
            return None;
        }
        let mut numbers = BTreeMap::new();
        let mut part = Vec::new();
        let mut of_cells = vec![Vec::new(); model.mesh.cells.len()];
        for (block, cells) in model.mesh.solids() {
            let n = cells.kind.info().n_nodes;
            let materials = &model.cell_material[block];
            of_cells[block] = cells
                .nodes
                .chunks_exact(n)
                .zip(materials)
                .map(|(cell, material)| {
                    let label = labels[cell[0] as usize];
                    *numbers.entry((label, *material)).or_insert_with(|| {
                        part.push(label);
                        part.len() as u32 - 1
                    })
                })
                .collect();
        }
        let parts: BTreeSet<u32> = part.iter().copied().collect();
        if parts.len() == part.len() {
            return None;
        }
        let (pieces, group, of_nodes) = pieces(model, &of_cells, part.len());
        let colours = colour(model, &of_nodes, group.len());
        Some(Groups { of_cells, pieces, layout: Layout { part, group, colours } })
    }

    /// The same with rows instead of nodes.
    pub(super) fn numbered(mut self, numbering: &Numbering) -> Self {
        self.pieces.rows.iter_mut().for_each(|node| *node = numbering.to_solver[*node as usize]);
        self
    }
}

/// The nodes of each connected piece of a group, its group, and the pieces at each node.
fn pieces(model: &Model, of_cells: &[Vec<u32>], n_groups: usize) -> (Members, Vec<u32>, Vec<Vec<u32>>) {
    let n_nodes = model.mesh.coords.len();
    let mut cells_of = vec![Vec::new(); n_groups];
    for (block, cells) in model.mesh.solids() {
        let n = cells.kind.info().n_nodes;
        for (cell, group) in cells.nodes.chunks_exact(n).zip(&of_cells[block]) {
            cells_of[*group as usize].push(cell);
        }
    }
    let (mut local, mut of_nodes) = (vec![NONE; n_nodes], vec![Vec::new(); n_nodes]);
    let mut members = Members { start: vec![0], rows: Vec::new() };
    let mut group = Vec::new();
    for (number, cells) in cells_of.iter().enumerate() {
        // Trees over the nodes of the group alone, numbered as they are met.
        let (mut nodes, mut parent) = (Vec::new(), Vec::new());
        for cell in cells {
            for node in *cell {
                let place = &mut local[*node as usize];
                if *place == NONE {
                    *place = nodes.len() as u32;
                    parent.push(*place);
                    nodes.push(*node);
                }
            }
            let mut root = find(&mut parent, local[cell[0] as usize]);
            for node in &cell[1..] {
                let other = find(&mut parent, local[*node as usize]);
                root = unite(&mut parent, root, other);
            }
        }
        let mut of_root = BTreeMap::<u32, Vec<u32>>::new();
        for (place, node) in nodes.iter().enumerate() {
            of_root.entry(find(&mut parent, place as u32)).or_default().push(*node);
            local[*node as usize] = NONE;
        }
        for nodes in of_root.into_values() {
            nodes.iter().for_each(|node| of_nodes[*node as usize].push(group.len() as u32));
            members.rows.extend(nodes);
            members.start.push(members.rows.len());
            group.push(number as u32);
        }
    }
    (members, group, of_nodes)
}

/// Pieces by colours: two that an element has nodes of are of different ones.
fn colour(model: &Model, of_nodes: &[Vec<u32>], n_pieces: usize) -> Vec<Vec<usize>> {
    let mut neighbours = vec![BTreeSet::new(); n_pieces];
    for (_, cells) in model.mesh.solids() {
        for cell in cells.nodes.chunks_exact(cells.kind.info().n_nodes) {
            if cell.iter().all(|node| of_nodes[*node as usize].len() == 1) {
                continue;
            }
            let around: BTreeSet<u32> = cell.iter().flat_map(|node| of_nodes[*node as usize].iter().copied()).collect();
            for piece in &around {
                neighbours[*piece as usize].extend(around.iter().copied().filter(|other| other != piece));
            }
        }
    }
    let mut colours: Vec<Vec<usize>> = Vec::new();
    let mut of_piece = vec![usize::MAX; n_pieces];
    for piece in 0..n_pieces {
        let taken: BTreeSet<usize> = neighbours[piece].iter().map(|other| of_piece[*other as usize]).collect();
        let first = (0..).find(|colour| !taken.contains(colour)).unwrap_or(0);
        if first == colours.len() {
            colours.push(Vec::new());
        }
        colours[first].push(piece);
        of_piece[piece] = first;
    }
    colours
}
