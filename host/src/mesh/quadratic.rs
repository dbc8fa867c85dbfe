//! From linear meshes to quadratic ones: a node in the middle of every edge, and where the element has more nodes, these
//! inside each cell.
//!
//! The nodes of the linear mesh keep their numbers; those on edges follow, in the order of their edges by lower, then
//! by higher end, then those inside, cell by cell. Edges stay straight.

use rayon::prelude::*;

use super::{Cells, Mesh, MeshError};
use crate::element::ElementKind;
use crate::parallel::{self, PART};

/// The mesh with its solids of a quadratic kind of their shape, its facets of the kind that these have as sides; groups
/// and tags stay.
///
/// # Errors
/// [`MeshError::Generate`] if cells are not linear or not of the kind's shape, [`MeshError::TooLarge`] past 32-bit
/// indices.
pub fn quadratic(mut mesh: Mesh, kind: ElementKind) -> Result<Mesh, MeshError> {
    let edges = Edges::of(&mesh);
    let first = [mesh.coords.len(), mesh.coords.len() + edges.ends.len()];
    let inside = inside(kind);
    let n_solids: usize = mesh.cells.iter().filter(|cells| cells.kind == kind.linear()).map(Cells::len).sum();
    let count = first[1] + n_solids * inside.len();
    if count >= u32::MAX as usize {
        return Err(MeshError::TooLarge { what: "nodes", count: count as u128 });
    }
    let coords = &mesh.coords;
    let middle = |&[a, b]: &[u32; 2]| {
        let (a, b) = (coords[a as usize], coords[b as usize]);
        [0, 1, 2].map(|c| 0.5 * (a[c] + b[c]))
    };
    let mut new: Vec<[f64; 3]> = parallel::map_items(&edges.ends, &middle);
    let linear = &kind.linear().info().shape;
    for cells in mesh.cells.iter().filter(|cells| cells.kind == kind.linear()) {
        for (cell, k) in (0..cells.len()).flat_map(|i| inside.iter().map(move |&k| (cells.cell(i), k))) {
            let xi = kind.info().shape.nodes[k];
            let corners = || cell.iter().map(|&node| coords[node as usize]).enumerate();
            new.push([0, 1, 2].map(|c| corners().map(|(b, x)| (linear.value)(b, xi) * x[c]).sum()));
        }
    }
    mesh.cells = mesh.cells.into_iter().map(|cells| refine(cells, kind, &edges, first)).collect::<Result<_, _>>()?;
    let last = mesh.node_tags.iter().copied().max().unwrap_or(0);
    mesh.node_tags.extend(last + 1..=last + new.len() as u64);
    mesh.coords.extend(new);
    Ok(mesh)
}

/// The nodes of a kind that lie neither at corners nor on edges.
fn inside(kind: ElementKind) -> Vec<usize> {
    let on_edges = kind.edges().concat();
    (0..kind.info().n_nodes).filter(|k| !on_edges.contains(k)).collect()
}

/// All edges of a mesh, each once.
struct Edges {
    /// Lower and higher node, in ascending order.
    ends: Vec<[u32; 2]>,
    /// Where in `ends` the edges with each lower node begin, `[n_nodes + 1]`.
    first: Vec<u32>,
}

impl Edges {
    fn of(mesh: &Mesh) -> Edges {
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for cells in &mesh.cells {
            let local = cells.kind.edges();
            ends.append(&mut parallel::flat_map(cells.len(), &|i, ends| {
                let cell = cells.cell(i);
                ends.extend(local.iter().map(|edge| ascending(cell[edge[0]], cell[edge[1]])));
            }));
        }
        ends.par_sort_unstable();
        ends.dedup();
        let mut first = vec![0; mesh.coords.len() + 1];
        ends.iter().for_each(|edge| first[edge[0] as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        Edges { ends, first }
    }

    fn between(&self, a: u32, b: u32) -> u32 {
        let [low, high] = ascending(a, b);
        let first = self.first[low as usize];
        let last = self.first[low as usize + 1];
        let higher = &self.ends[first as usize..last as usize];
        first + higher.partition_point(|edge| edge[1] < high) as u32
    }
}

fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The cells with the nodes of their edges and those inside, which are numbered from `first` on.
fn refine(cells: Cells, solid: ElementKind, edges: &Edges, first: [usize; 2]) -> Result<Cells, MeshError> {
    let info = cells.kind.info();
    let sides = || std::iter::once(solid).chain(solid.faces().iter().map(|(side, _)| *side));
    if info.is_quadratic() {
        return Err(MeshError::Generate(format!("{} elements are quadratic already", info.name)));
    }
    let kind = sides().find(|side| side.linear() == cells.kind).ok_or_else(|| {
        MeshError::Generate(format!("{} elements are neither {} nor sides of one", info.name, solid.info().name))
    })?;
    let (local, inside) = (kind.edges(), inside(kind));
    let width = kind.info().n_nodes;
    let mut nodes = vec![0; cells.len() * width];
    parallel::map_chunks(&mut nodes, PART * width, &|start, nodes| {
        for (i, to) in (start / width..).zip(nodes.chunks_exact_mut(width)) {
            let from = cells.cell(i);
            to[..from.len()].copy_from_slice(from);
            for edge in local {
                to[edge[2]] = first[0] as u32 + edges.between(from[edge[0]], from[edge[1]]);
            }
            inside.iter().enumerate().for_each(|(j, &k)| to[k] = (first[1] + i * inside.len() + j) as u32);
        }
    });
    Ok(Cells { kind, nodes, tags: cells.tags })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    /// Every node of every cell lies where the linear map of the corners has the node of the reference element.
    fn check_places(mesh: &Mesh) {
        for cells in &mesh.cells {
            for i in 0..cells.len() {
                let x = |k: usize| mesh.coords[cells.cell(i)[k] as usize];
                for edge in cells.kind.edges() {
                    let middle = [0, 1, 2].map(|c| 0.5 * (x(edge[0])[c] + x(edge[1])[c]));
                    assert_eq!(x(edge[2]), middle, "{:?} {edge:?}", cells.kind);
                }
            }
        }
        let kind = mesh.cells[0].kind;
        let (xi, nodes) = (kind.info().shape.nodes, mesh.cells[0].cell(0));
        for edge in kind.edges() {
            let middle = [0, 1, 2].map(|c| 0.5 * (xi[edge[0]][c] + xi[edge[1]][c]));
            assert_eq!(xi[edge[2]], middle, "{kind:?} {edge:?}");
        }
        assert_eq!(nodes.len(), xi.len());
    }

    #[test]
    fn boxes_have_a_node_in_the_middle_of_every_edge() {
        for (linear, kind, facet) in [(Hex8, Hex20, Quad8), (Tet4, Tet10, Tri6)] {
            let (nx, ny, nz) = (3, 2, 4);
            let coarse = generate_box(linear, [1.0, 2.0, 3.0], [nx, ny, nz]).unwrap();
            let mesh = generate_box(kind, [1.0, 2.0, 3.0], [nx, ny, nz]).unwrap();
            assert_eq!((mesh.cells[0].kind, mesh.cells[1].kind), (kind, facet));
            check_places(&mesh);
            let (x, y, z) = (nx + 1, ny + 1, nz + 1);
            let straight = nx * y * z + x * ny * z + x * y * nz;
            let diagonal = nx * ny * z + nx * y * nz + x * ny * nz + nx * ny * nz;
            let edges = straight + if kind == Tet10 { diagonal } else { 0 };
            assert_eq!(mesh.coords.len(), coarse.coords.len() + edges);
            assert_eq!(mesh.coords[..coarse.coords.len()], coarse.coords);
            assert_eq!(mesh.node_tags, (1..=mesh.coords.len() as u64).collect::<Vec<_>>());
            assert_eq!((&mesh.groups, &mesh.cells[0].tags), (&coarse.groups, &coarse.cells[0].tags));
            // No two nodes at one place.
            let mut places: Vec<_> = mesh.coords.iter().map(|x| x.map(f64::to_bits)).collect();
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0] != pair[1]));
            // Facets lie on their sides with all their nodes.
            let on_xmax = mesh.nodes_on("xmax").unwrap();
            assert!(on_xmax.iter().all(|&node| mesh.coords[node as usize][0] == 1.0));
            assert_eq!(on_xmax.len(), mesh.coords.iter().filter(|x| x[0] == 1.0).count());
        }
    }

    #[test]
    fn rectangles_do_too() {
        for (kind, edges) in [(Quad8, 17), (Tri6, 23)] {
            let mesh = generate_rectangle(kind, [2.0, 1.0], [3, 2]).unwrap();
            assert_eq!(mesh.coords.len(), 12 + edges);
            assert_eq!(mesh.cells[1].kind, ElementKind::Line3);
            check_places(&mesh);
        }
    }

    #[test]
    fn numbers_do_not_depend_on_threads_and_twice_is_refused() {
        let with = |threads| on_threads(threads, || generate_box(Tet10, [1.0; 3], [7, 6, 5]).unwrap());
        let mesh = with(1);
        assert_eq!(mesh, with(4));
        assert!(matches!(quadratic(mesh, Tet10), Err(MeshError::Generate(_))));
    }
}
