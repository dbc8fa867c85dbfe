//! From a deck's geometry to a mesh: its sets and surfaces become groups.

use super::geometry::{Block, Geometry, Surface};
use crate::element::ElementKind;
use crate::mesh::{Cells, Group, Mesh, MeshError, Raw};

/// A group of faces that a load is on: its name, elements and numbers of faces.
pub type Faces = (String, Vec<(u64, usize)>);

impl Geometry {
    /// The mesh of the bodies. Sets of elements, sets of nodes and surfaces are groups, and so are `faces`; what has no body is left out.
    ///
    /// # Errors
    ///
    /// What is wrong with elements, and a deck without any.
    pub fn mesh(&self, faces: &[Faces]) -> Result<Mesh, MeshError> {
        // Nodes of no body are those of references, not forgotten ones.
        let all = self.node_tags.iter().zip(&self.coords).zip(self.in_bodies());
        let (tags, coords) = all.filter(|(_, is_used)| *is_used).map(|((tag, x), _)| (*tag, *x)).unzip();
        let mut raw = Raw::of_nodes(tags, coords);
        for block in &self.blocks {
            let Some((_, kind)) = block.solid else { continue };
            raw.push_block(kind, &block.tags, block.nodes.chunks_exact(block.n_nodes), kind.info().vtk_order);
        }
        let mut mesh = raw.into_mesh()?;
        let mut groups = Groups::new(self, &mut mesh);
        for (name, tags) in &self.element_sets {
            groups.add_bodies(name, tags);
        }
        for (name, surface) in &self.surfaces {
            match surface {
                Surface::Nodes(tags) => groups.add_points(name, tags),
                Surface::Faces(faces) => groups.add_faces(name, faces),
            }
        }
        for (name, tags) in &self.node_sets {
            groups.add_points(name, tags);
        }
        for (name, on) in faces {
            groups.add_faces(name, on);
        }
        Ok(mesh)
    }
}

/// Adds groups to a mesh.
struct Groups<'a> {
    geometry: &'a Geometry,
    mesh: &'a mut Mesh,
    /// For the blocks of the deck, in which block of the mesh their elements are, and from where.
    places: Vec<Option<(usize, u32)>>,
    /// What is added gets tags from here.
    next_tag: u64,
}

impl<'a> Groups<'a> {
    fn new(geometry: &'a Geometry, mesh: &'a mut Mesh) -> Groups<'a> {
        let mut lengths = vec![0; mesh.cells.len()];
        let place = |block: &Block| {
            let (_, kind) = block.solid?;
            let at = mesh.cells.iter().position(|cells| cells.kind == kind)?;
            let start = lengths[at];
            lengths[at] += block.tags.len() as u32;
            Some((at, start))
        };
        let places = geometry.blocks.iter().map(place).collect();
        let next_tag = geometry.blocks.iter().flat_map(|block| &block.tags).max().map_or(1, |tag| tag.wrapping_add(1));
        Groups { geometry, mesh, places, next_tag }
    }

    /// The node with a tag, if an element has it. The mesh has the deck's order.
    fn node(&self, tag: u64) -> Option<u32> {
        self.mesh.node_tags.binary_search(&tag).ok().map(|node| node as u32)
    }

    /// Block and number of an element in the mesh.
    fn element(&self, tag: u64) -> Option<(usize, u32)> {
        let (block, i) = self.geometry.place_of_element(tag)?;
        let (at, start) = self.places[block]?;
        Some((at, start + i as u32))
    }

    fn add_bodies(&mut self, name: &str, tags: &[u64]) {
        let found = tags.iter().filter_map(|tag| self.element(*tag)).collect();
        self.add(name, self.mesh.dim(), found);
    }

    fn add_points(&mut self, name: &str, tags: &[u64]) {
        let cells: Vec<u32> = tags.iter().filter_map(|tag| self.node(*tag)).collect();
        let found = cells.into_iter().map(|node| self.push(ElementKind::Point1, &[node])).collect();
        self.add(name, 0, found);
    }

    fn add_faces(&mut self, name: &str, faces: &[(u64, usize)]) {
        let cells: Vec<(ElementKind, Vec<u32>)> =
            faces.iter().filter_map(|(tag, face)| self.face(*tag, *face)).collect();
        let found = cells.into_iter().map(|(kind, nodes)| self.push(kind, &nodes)).collect();
        self.add(name, self.mesh.dim() - 1, found);
    }

    /// The kind and the nodes of a face.
    fn face(&self, tag: u64, face: usize) -> Option<(ElementKind, Vec<u32>)> {
        let (kind, tags) = self.geometry.side(tag, face)?;
        Some((kind, tags.into_iter().map(|tag| self.node(tag)).collect::<Option<_>>()?))
    }

    /// Adds a cell; returns where it is.
    fn push(&mut self, kind: ElementKind, nodes: &[u32]) -> (usize, u32) {
        let cells = &mut self.mesh.cells;
        let block = cells.iter().position(|cells| cells.kind == kind).unwrap_or_else(|| {
            cells.push(Cells { kind, nodes: Vec::new(), tags: Vec::new() });
            cells.len() - 1
        });
        cells[block].nodes.extend(nodes);
        cells[block].tags.push(self.next_tag);
        self.next_tag = self.next_tag.wrapping_add(1);
        (block, cells[block].len() as u32 - 1)
    }

    fn add(&mut self, name: &str, dim: usize, mut cells: Vec<(usize, u32)>) {
        cells.sort_unstable();
        cells.dedup();
        let members = cells.chunk_by(|a, b| a.0 == b.0).map(|of| (of[0].0, of.iter().map(|(_, cell)| *cell).collect()));
        let members: Vec<_> = members.collect();
        if !members.is_empty() {
            self.mesh.groups.push(Group { name: name.to_string(), dim, members });
        }
    }
}
