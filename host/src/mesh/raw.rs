//! A mesh as a file gives it, by tags, and its way to a [`Mesh`], by indices.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::gmsh::kinds;
use super::vector::{cross, dot, norm, sub};
use super::{Cells, FLAT, Group, LENGTHS, Mesh, MeshError, check, extent, is_flat, longest_side, middle};
use crate::element::ElementKind;
use warpfem_text::counted;

/// Cells of one kind with their nodes by tag.
pub(super) struct RawCells {
    kind: ElementKind,
    nodes: Vec<u64>,
    tags: Vec<u64>,
}

/// The first element of a type that is not supported.
struct Unknown {
    code: i32,
    tag: u64,
    nodes: Vec<u64>,
    physical: Option<i32>,
}

/// What a file holds.
#[derive(Default)]
pub(crate) struct Raw {
    pub node_tags: Vec<u64>,
    pub coords: Vec<[f64; 3]>,
    /// Names of physical groups by dimension and tag.
    pub names: HashMap<(i32, i32), String>,
    /// Whether the file describes volumes, whether meshed or not.
    pub volume_entities: bool,
    blocks: Vec<RawCells>,
    /// Members of the groups by dimension and tag: position of the block, cells in it.
    groups: BTreeMap<(i32, i32), BTreeMap<usize, Vec<u32>>>,
    unknown: Option<Unknown>,
    n_unknown: usize,
}

impl Raw {
    /// Without elements yet.
    pub fn of_nodes(node_tags: Vec<u64>, coords: Vec<[f64; 3]>) -> Raw {
        Raw { node_tags, coords, ..Raw::default() }
    }

    /// Adds an element.
    pub fn push(&mut self, kind: ElementKind, tag: u64, nodes: &[u64], physical: &[i32]) {
        let position = self.block_of(kind);
        let block = &mut self.blocks[position];
        block.nodes.extend(nodes);
        block.tags.push(tag);
        self.join(position, physical);
    }

    /// Adds elements; `order` says which of a kind's nodes each list has at each place, empty where they are in order.
    pub fn push_block<'a>(
        &mut self,
        kind: ElementKind,
        tags: &[u64],
        nodes: impl Iterator<Item = &'a [u64]>,
        order: &[usize],
    ) {
        let position = self.block_of(kind);
        let block = &mut self.blocks[position];
        block.tags.extend(tags);
        for listed in nodes {
            let start = block.nodes.len();
            block.nodes.extend(listed);
            order.iter().zip(listed).for_each(|(place, node)| block.nodes[start + place] = *node);
        }
    }

    /// Adds an element of MSH 2; one that repeats the last of its kind, for another group, only joins that group.
    pub fn push_or_join(&mut self, kind: ElementKind, tag: u64, nodes: &[u64], physical: &[i32]) {
        let position = self.block_of(kind);
        match !physical.is_empty() && self.blocks[position].nodes.ends_with(nodes) {
            true => self.join(position, physical),
            false => self.push(kind, tag, nodes, physical),
        }
    }

    /// Adds a group of elements of one dimension: their kinds, and which of each by their order.
    pub fn add_group(&mut self, name: String, dim: usize, members: Vec<(ElementKind, Vec<u32>)>) {
        let key = (dim as i32, self.groups.len() as i32 + 1);
        let members = members.into_iter().map(|(kind, cells)| (self.block_of(kind), cells)).collect();
        self.names.insert(key, name);
        self.groups.insert(key, members);
    }

    /// Notes an element of a type that is not supported.
    pub fn push_unknown(&mut self, code: i32, tag: u64, nodes: &[u64], physical: &[i32]) {
        self.n_unknown += 1;
        let physical = physical.first().map(|group| group.abs());
        self.unknown.get_or_insert_with(|| Unknown { code, tag, nodes: nodes.to_vec(), physical });
    }

    /// Position of the block of a kind, made if there is none.
    fn block_of(&mut self, kind: ElementKind) -> usize {
        self.blocks.iter().position(|block| block.kind == kind).unwrap_or_else(|| {
            self.blocks.push(RawCells { kind, nodes: Vec::new(), tags: Vec::new() });
            self.blocks.len() - 1
        })
    }

    /// Takes the last cell of a block into groups.
    fn join(&mut self, position: usize, physical: &[i32]) {
        let block = &self.blocks[position];
        let cell = (block.tags.len() - 1) as u32;
        for &group in physical {
            // Gmsh negates the tag where the group takes the entity the other way round.
            let key = (block.kind.info().dim as i32, group.abs());
            let members = self.groups.entry(key).or_default().entry(position).or_default();
            if members.last() != Some(&cell) {
                members.push(cell);
            }
        }
    }

    /// Resolves tags, drops what no solid uses, and checks the mesh.
    pub fn into_mesh(self) -> Result<Mesh, MeshError> {
        let (mesh, bad) = self.into_reviewed()?;
        MeshError::of_elements(bad).map(|()| mesh)
    }

    /// The same, with what is wrong with elements beside the mesh.
    pub fn into_reviewed(self) -> Result<(Mesh, Vec<MeshError>), MeshError> {
        self.check_kinds()?;
        self.check_dimension()?;
        self.check_nodes()?;
        self.check_extent()?;
        self.check_element_tags()?;
        let index = TagIndex::new(&self.node_tags)?;
        let mut cells = Vec::new();
        for block in &self.blocks {
            cells.push(resolve(block, &index)?);
        }
        let (groups, warnings) = self.named_groups();
        let (coords, node_tags) = (self.coords, self.node_tags);
        let mut mesh = Mesh { coords, node_tags, cells, groups, warnings, ..Mesh::default() };
        drop_orphans(&mut mesh);
        if mesh.dim() == 2 {
            flatten(&mut mesh.coords);
        }
        let bad = check::review(&mut mesh);
        Ok((mesh, bad))
    }

    /// Refuses elements that are not supported, and says where the first of them is.
    pub fn check_kinds(&self) -> Result<(), MeshError> {
        let Some(Unknown { code, tag, nodes, physical }) = &self.unknown else { return Ok(()) };
        let of_node = |tag: &u64| self.node_tags.iter().position(|known| known == tag).and_then(|i| self.coords.get(i));
        let corners: Option<Vec<[f64; 3]>> = nodes.iter().map(|tag| of_node(tag).copied()).collect();
        let name = kinds::gmsh_kind(*code).map_or("unknown", |(name, _)| name);
        let group = physical.map(|tag| self.name_of(&(kinds::dimension(name), tag)));
        Err(MeshError::UnknownKind {
            element: *tag,
            name: name.into(),
            code: (*code).into(),
            at: corners
                .filter(|x| !x.is_empty())
                .map(|x| middle(x.into_iter()))
                .filter(|x| x.iter().all(|c| c.is_finite())),
            group,
            more: self.n_unknown - 1,
        })
    }

    fn check_dimension(&self) -> Result<(), MeshError> {
        let dim = self.blocks.iter().map(|block| block.kind.info().dim).max().unwrap_or(0);
        let (has_volume, grouped) = (self.volume_entities, !self.groups.is_empty());
        match dim {
            3 => Ok(()),
            2 if is_flat(&self.coords) && !has_volume => Ok(()),
            0 | 1 if !has_volume => Err(MeshError::NoElements),
            2 if !has_volume && is_in_a_plane(&self.coords) => Err(MeshError::Tilted),
            _ => match self.is_closed() {
                false if !has_volume && !grouped => Err(MeshError::Shell),
                is_closed => Err(MeshError::NoVolume { faces: self.facets().count(), has_volume, grouped, is_closed }),
            },
        }
    }

    /// Whether every edge of the facets is shared by another one.
    fn is_closed(&self) -> bool {
        let edges = self.facets().flat_map(|(kind, cell)| {
            kind.faces().iter().map(|(_, ends)| {
                let [a, b] = [cell[ends[0]], cell[ends[1]]];
                [a.min(b), a.max(b)]
            })
        });
        let mut edges: Vec<[u64; 2]> = edges.collect();
        edges.par_sort_unstable();
        edges.chunk_by(|a, b| a == b).all(|shared| shared.len() > 1)
    }

    fn facets(&self) -> impl Iterator<Item = (ElementKind, &[u64])> {
        let blocks = self.blocks.iter().filter(|block| block.kind.info().dim == 2);
        blocks.flat_map(|block| block.nodes.chunks_exact(block.kind.info().n_nodes).map(|cell| (block.kind, cell)))
    }

    fn check_nodes(&self) -> Result<(), MeshError> {
        let count = self.coords.len() as u128;
        if count >= u128::from(u32::MAX) {
            return Err(MeshError::TooLarge { what: "nodes", count });
        }
        match self.coords.iter().position(|x| x.iter().any(|c| !c.is_finite())) {
            Some(i) => Err(MeshError::NonFinite(self.node_tags[i])),
            None => Ok(()),
        }
    }

    fn check_extent(&self) -> Result<(), MeshError> {
        let (low, high) = extent(&self.coords);
        let size = longest_side((low, high));
        let farthest = low.iter().chain(&high).fold(size, |far, c| far.max(c.abs()));
        match size == 0.0 || LENGTHS.contains(&size) && LENGTHS.contains(&farthest) {
            true => Ok(()),
            false => Err(MeshError::Extent { size, farthest }),
        }
    }

    fn check_element_tags(&self) -> Result<(), MeshError> {
        let mut tags: Vec<u64> = self.blocks.iter().flat_map(|block| &block.tags).copied().collect();
        if tags.len() >= u32::MAX as usize {
            return Err(MeshError::TooLarge { what: "elements", count: tags.len() as u128 });
        }
        tags.par_sort_unstable();
        match tags.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(MeshError::DuplicateElement(pair[0])),
            None => Ok(()),
        }
    }

    fn name_of(&self, key: &(i32, i32)) -> String {
        self.names.get(key).cloned().unwrap_or_else(|| format!("group{}", key.1))
    }

    /// The groups in the order of their dimensions and tags. Those of one dimension that have one name, which Gmsh
    /// allows, are one group, and a warning says so.
    fn named_groups(&self) -> (Vec<Group>, Vec<String>) {
        let mut groups: Vec<Group> = Vec::new();
        let mut tags: Vec<Vec<i32>> = Vec::new();
        for (key, blocks) in &self.groups {
            let (name, dim) = (self.name_of(key), key.0 as usize);
            let members: Vec<(usize, Vec<u32>)> = blocks.iter().map(|(&block, cells)| (block, cells.clone())).collect();
            match groups.iter().position(|group| group.dim == dim && group.name == name) {
                Some(same) => {
                    groups[same].add(&members);
                    tags[same].push(key.1);
                }
                None => {
                    groups.push(Group { name, dim, members });
                    tags.push(vec![key.1]);
                }
            }
        }
        let shared = groups.iter().zip(&tags).filter(|(_, tags)| tags.len() > 1);
        let warnings = shared.map(|(Group { name, .. }, tags)| {
            let tags: Vec<String> = tags.iter().map(i32::to_string).collect();
            let (n, tags) = (tags.len(), tags.join(", "));
            format!("{n} physical groups are called `{name}` (their tags: {tags}) and are taken as one")
        });
        let warnings = warnings.collect();
        (groups, warnings)
    }
}

/// Whether points lie in a plane, however it is turned, but for noise.
fn is_in_a_plane(coords: &[[f64; 3]]) -> bool {
    let Some(&first) = coords.first() else { return false };
    let farthest = |size: &dyn Fn([f64; 3]) -> f64| {
        coords.iter().map(|x| sub(*x, first)).max_by(|a, b| size(*a).total_cmp(&size(*b))).unwrap_or_default()
    };
    let along = farthest(&|x| dot(x, x));
    let across = farthest(&|x| dot(cross(along, x), cross(along, x)));
    let normal = cross(along, across);
    let tolerance = FLAT * norm(along) * norm(normal);
    coords.iter().all(|x| dot(sub(*x, first), normal).abs() <= tolerance)
}

/// Takes the noise out of z: 0 if that is within it, or else its middle.
fn flatten(coords: &mut [[f64; 3]]) {
    let (low, high) = extent(coords);
    let z = if low[2] <= 0.0 && high[2] >= 0.0 { 0.0 } else { 0.5 * (low[2] + high[2]) };
    coords.iter_mut().for_each(|x| x[2] = z);
}

/// Node tags to indices: a table where the tags are dense, a sorted list where they are sparse.
enum TagIndex {
    Table(Vec<u32>),
    Sorted(Vec<(u64, u32)>),
}

impl TagIndex {
    fn new(tags: &[u64]) -> Result<TagIndex, MeshError> {
        let last = tags.iter().copied().max().unwrap_or(0);
        if last <= 4 * tags.len() as u64 + 1024 {
            let mut table = vec![u32::MAX; last as usize + 1];
            for (i, &tag) in tags.iter().enumerate() {
                if std::mem::replace(&mut table[tag as usize], i as u32) != u32::MAX {
                    return Err(MeshError::DuplicateNode(tag));
                }
            }
            return Ok(TagIndex::Table(table));
        }
        let mut pairs: Vec<_> = tags.iter().copied().zip(0..).collect();
        pairs.par_sort_unstable();
        match pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(MeshError::DuplicateNode(pair[0].0)),
            None => Ok(TagIndex::Sorted(pairs)),
        }
    }

    fn get(&self, tag: u64) -> Option<u32> {
        match self {
            TagIndex::Table(table) => table.get(tag as usize).copied().filter(|&i| i != u32::MAX),
            TagIndex::Sorted(pairs) => pairs.binary_search_by_key(&tag, |pair| pair.0).ok().map(|i| pairs[i].1),
        }
    }
}

fn resolve(block: &RawCells, index: &TagIndex) -> Result<Cells, MeshError> {
    let width = block.kind.info().n_nodes;
    let mut nodes = Vec::with_capacity(block.nodes.len());
    for (i, &node) in block.nodes.iter().enumerate() {
        let found = index.get(node).ok_or(MeshError::MissingNode { element: block.tags[i / width], node })?;
        nodes.push(found);
    }
    Ok(Cells { kind: block.kind, nodes, tags: block.tags.clone() })
}

/// Drops the nodes that no solid uses, and the lower cells that stand on them.
fn drop_orphans(mesh: &mut Mesh) {
    let mut used = vec![false; mesh.coords.len()];
    mesh.solids().flat_map(|(_, block)| &block.nodes).for_each(|&node| used[node as usize] = true);
    let orphans = used.iter().filter(|&&used| !used).count();
    if orphans == 0 {
        return;
    }
    let first = used.iter().position(|&used| !used).map_or(0, |i| mesh.node_tags[i]);
    let (nodes, were) = (counted(orphans, "node"), if orphans == 1 { "was" } else { "were" });
    mesh.warnings.push(format!("{nodes} of no element {were} left out (the first is node {first})"));
    let new = ranks(&used);
    let keep = |i: usize| used[i];
    mesh.coords = (0..used.len()).filter(|&i| keep(i)).map(|i| mesh.coords[i]).collect();
    mesh.node_tags = (0..used.len()).filter(|&i| keep(i)).map(|i| mesh.node_tags[i]).collect();
    for position in 0..mesh.cells.len() {
        let kept = renumber(&mut mesh.cells[position], &used, &new);
        for (block, members) in mesh.groups.iter_mut().flat_map(|group| &mut group.members) {
            if *block == position {
                members.retain(|&cell| kept[cell as usize].is_some());
                members.iter_mut().for_each(|cell| *cell = kept[*cell as usize].unwrap_or(*cell));
            }
        }
    }
}

/// Keeps the cells all of whose nodes are used, under the new node numbers; returns each cell's new index.
fn renumber(cells: &mut Cells, used: &[bool], new: &[u32]) -> Vec<Option<u32>> {
    let width = cells.kind.info().n_nodes;
    let whole: Vec<bool> = cells.nodes.chunks_exact(width).map(|c| c.iter().all(|&n| used[n as usize])).collect();
    let mut keep = whole.iter().copied();
    cells.tags.retain(|_| keep.next().unwrap_or(false));
    let pairs = cells.nodes.chunks_exact(width).zip(&whole).filter(|(_, whole)| **whole);
    cells.nodes = pairs.flat_map(|(c, _)| c).map(|&n| new[n as usize]).collect();
    ranks(&whole).into_iter().zip(&whole).map(|(rank, whole)| whole.then_some(rank)).collect()
}

/// How many before each are kept.
fn ranks(kept: &[bool]) -> Vec<u32> {
    let before = kept.iter().scan(0, |count, &kept| {
        let rank = *count;
        *count += u32::from(kept);
        Some(rank)
    });
    before.collect()
}
