//! Structured meshes of rectangles in the plane z = 0.
//!
//! Node `(ix, iy)` has the index `ix + (nx + 1) iy`. A tri3 rectangle cuts every cell from its lowest to its highest
//! corner, as a tet4 box cuts its sides, or the other way, as FEMSES does (fig. 2.5). Quadratic elements have [a node
//! on every edge](super::quadratic) besides.

use super::generate::{Facets, check_kind, check_size, per_cell, with_sides};
use super::{Mesh, MeshError};
use crate::element::{Domain, ElementKind};
use crate::parallel;

/// Which way the cells of a rectangle are cut into triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Diagonals {
    /// From the lower left to the upper right corner.
    #[default]
    Up,
    /// From the upper left to the lower right corner.
    Down,
}

impl Diagonals {
    /// What the case file and the command line call them.
    pub const NAMES: [&str; 2] = ["up", "down"];

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Diagonals::Up, Diagonals::Down].into_iter().zip(Self::NAMES).find(|(_, known)| *known == name).map(|(d, _)| d)
    }
}

/// The two triangles of a cell with these quad4 corners, both counterclockwise.
fn split([a, b, c, d]: [u32; 4], diagonals: Diagonals) -> [[u32; 3]; 2] {
    match diagonals {
        Diagonals::Up => [[a, b, c], [a, c, d]],
        Diagonals::Down => [[a, b, d], [b, c, d]],
    }
}

/// A rectangle with one corner at the origin, `size` long and divided into `cells` along x and y.
///
/// `kind` is of the plane. Tags count from 1, the faces first. Groups: "body", and the edges "xmin" .. "ymax",
/// with the body on their left.
///
/// # Errors
/// [`MeshError::Generate`] for a size or a division that makes no rectangle, [`MeshError::TooLarge`] past 32-bit
/// indices.
pub fn generate_rectangle(kind: ElementKind, size: [f64; 2], cells: [usize; 2]) -> Result<Mesh, MeshError> {
    generate_cut_rectangle(kind, size, cells, Diagonals::default())
}

/// The same whose cells are cut into triangles this way, if it is made of triangles.
pub fn generate_cut_rectangle(
    kind: ElementKind,
    size: [f64; 2],
    cells: [usize; 2],
    diagonals: Diagonals,
) -> Result<Mesh, MeshError> {
    check_kind("rectangle", kind, 2)?;
    let linear = kind.linear();
    check_size(&size, &cells, per_cell(linear.info().domain))?;
    let [nx, ny] = cells;
    let row = nx + 1;
    let at = |axis: usize, i: usize| size[axis] * i as f64 / cells[axis] as f64;
    let coords: Vec<[f64; 3]> = parallel::map_indices(row * (ny + 1), &|i| [at(0, i % row), at(1, i / row), 0.0]);
    let node = |ix, iy| (ix + row * iy) as u32;
    with_sides(kind, coords, faces(linear, cells, diagonals, node), &edges(cells, node).map(as_facets))
}

/// A side of straight edges.
pub(super) fn as_facets((name, edges): (&'static str, Vec<u32>)) -> (&'static str, Facets) {
    (name, Facets::from([(ElementKind::Line2, edges)]))
}

/// The faces of `kind` that `nx` by `ny` cells are, or are cut into, between these nodes of a lattice.
pub(super) fn faces(
    kind: ElementKind,
    [nx, ny]: [usize; 2],
    diagonals: Diagonals,
    node: impl Fn(usize, usize) -> u32 + Sync,
) -> Vec<u32> {
    let width = per_cell(kind.info().domain) * kind.info().n_nodes;
    let mut nodes = vec![0; nx * ny * width];
    parallel::map_chunks(&mut nodes, nx * width, &|first, row| {
        let iy = first / (nx * width);
        for (ix, cell) in row.chunks_exact_mut(width).enumerate() {
            let corners = [node(ix, iy), node(ix + 1, iy), node(ix + 1, iy + 1), node(ix, iy + 1)];
            match kind.info().domain {
                Domain::Triangle => cell.copy_from_slice(split(corners, diagonals).as_flattened()),
                _ => cell.copy_from_slice(&corners),
            }
        }
    });
    nodes
}

fn edges([nx, ny]: [usize; 2], node: impl Fn(usize, usize) -> u32) -> [(&'static str, Vec<u32>); 4] {
    [
        ("xmin", (0..ny).flat_map(|i| [node(0, i + 1), node(0, i)]).collect()),
        ("xmax", (0..ny).flat_map(|i| [node(nx, i), node(nx, i + 1)]).collect()),
        ("ymin", (0..nx).flat_map(|i| [node(i, 0), node(i + 1, 0)]).collect()),
        ("ymax", (0..nx).flat_map(|i| [node(i + 1, ny), node(i, ny)]).collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Quad4, Tri3};

    fn area(mesh: &Mesh, cell: &[u32]) -> f64 {
        let x = |k: usize| mesh.coords[cell[k % cell.len()] as usize];
        (0..cell.len()).map(|k| x(k)[0] * x(k + 1)[1] - x(k + 1)[0] * x(k)[1]).sum::<f64>() / 2.0
    }

    #[test]
    fn faces_are_counterclockwise_and_fill_the_rectangle() {
        for (kind, per_cell) in [(Tri3, 2), (Quad4, 1)] {
            let mesh = generate_rectangle(kind, [3.0, 1.0], [4, 5]).unwrap();
            assert_eq!((mesh.dim(), mesh.coords.len(), mesh.cells[0].len()), (2, 30, 20 * per_cell));
            let expected = 3.0 / (20 * per_cell) as f64;
            for cell in mesh.cells[0].nodes.chunks(kind.info().n_nodes) {
                assert!((area(&mesh, cell) - expected).abs() < 1e-14, "{cell:?}");
            }
        }
    }

    #[test]
    fn diagonals_go_up_or_down() {
        for (diagonals, corners) in [(Diagonals::Up, [0, 3]), (Diagonals::Down, [1, 2])] {
            let mesh = generate_cut_rectangle(Tri3, [1.0, 1.0], [1, 1], diagonals).unwrap();
            for cell in mesh.cells[0].nodes.chunks(3) {
                assert!(corners.iter().all(|corner| cell.contains(corner)), "{diagonals:?} {cell:?}");
                assert!((area(&mesh, cell) - 0.5).abs() < 1e-14);
            }
        }
        for name in Diagonals::NAMES {
            assert!(Diagonals::from_name(name).is_some());
        }
        assert_eq!(Diagonals::from_name("left"), None);
    }

    #[test]
    fn edges_lie_on_their_sides_and_go_round_the_body() {
        let mesh = generate_rectangle(Quad4, [2.0, 3.0], [2, 3]).unwrap();
        let sizes: Vec<usize> = mesh.groups.iter().map(|group| group.members[0].1.len()).collect();
        assert_eq!(sizes, [6, 3, 3, 2, 2]);
        for (group, (axis, plane)) in mesh.groups[1..].iter().zip([(0, 0.0), (0, 2.0), (1, 0.0), (1, 3.0)]) {
            for &edge in &group.members[0].1 {
                let on = |&node: &u32| mesh.coords[node as usize][axis] == plane;
                assert!(mesh.cells[1].cell(edge as usize).iter().all(on), "{}", group.name);
            }
        }
        // Every node of the boundary is left as often as it is reached.
        let (mut from, mut to): (Vec<u32>, Vec<u32>) = mesh.cells[1].nodes.chunks(2).map(|e| (e[0], e[1])).unzip();
        from.sort_unstable();
        to.sort_unstable();
        assert_eq!(from, to);
        let last = [mesh.cells[0].tags.last(), mesh.cells[1].tags.first(), mesh.cells[1].tags.last()];
        assert_eq!(last, [Some(&6), Some(&7), Some(&16)]);
    }

    #[test]
    fn impossible_rectangles_are_errors() {
        let make = |kind, size, cells| generate_rectangle(kind, size, cells).unwrap_err();
        for (kind, length, n) in [(ElementKind::Hex8, 1.0, 1), (Quad4, 1.0, 0), (Quad4, -1.0, 2)] {
            assert!(matches!(make(kind, [1.0, length], [n, 3]), MeshError::Generate(_)), "{kind:?} {length} {n}");
        }
        assert!(matches!(make(Tri3, [1.0; 2], [60_000; 2]), MeshError::TooLarge { what: "elements", .. }));
        assert!(matches!(make(Quad4, [1.0; 2], [usize::MAX; 2]), MeshError::TooLarge { .. }));
    }
}
