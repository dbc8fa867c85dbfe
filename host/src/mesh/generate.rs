//! Structured meshes of boxes.
//!
//! Node `(ix, iy, iz)` has the index `ix + (nx + 1) (iy + (ny + 1) iz)`. A tet4 box cuts every cell into the same six
//! Kuhn tetrahedra round the diagonal from its lowest to its highest corner, so neighbouring cells match. Boxes of
//! quadratic elements are those of the linear ones with [a node on every edge](super::quadratic).

use rayon::prelude::*;
use std::ops::Range;

use super::quadratic::quadratic;
use super::{Cells, Group, Mesh, MeshError};
use crate::element::ElementKind::{self, Hex8, Hex20, Quad4, Tet4, Tet10, Tri3};

/// Corners of a cell in hex8 order, in units of the cell.
const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// The six tetrahedra of a cell by hex8 corners, each of positive volume.
const KUHN: [[usize; 4]; 6] = [[0, 1, 2, 6], [0, 5, 1, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 4, 5, 6], [0, 7, 4, 6]];

/// The sides of a box: name, axis, whether at its upper end, face of the hexahedra that lie there.
const SIDES: [(&str, usize, bool, usize); 6] = [
    ("xmin", 0, false, 5),
    ("xmax", 0, true, 3),
    ("ymin", 1, false, 2),
    ("ymax", 1, true, 4),
    ("zmin", 2, false, 0),
    ("zmax", 2, true, 1),
];

/// A box with one corner at the origin, `size` long and divided into `cells` along x, y and z.
///
/// `kind` is one of [`KINDS`]. Tags count from 1, the solids first. Groups: "body", and the sides "xmin" .. "zmax",
/// whose facets have outward normals.
///
/// # Errors
/// [`MeshError::Generate`] for a size or a division that makes no box, [`MeshError::TooLarge`] past 32-bit indices.
pub fn generate_box(kind: ElementKind, size: [f64; 3], cells: [usize; 3]) -> Result<Mesh, MeshError> {
    check_kind("box", kind, KINDS)?;
    let linear = kind.linear();
    check_size(&size, &cells, if linear == Tet4 { KUHN.len() } else { 1 })?;
    let grid = Grid { cells };
    let facet = if linear == Tet4 { Tri3 } else { Quad4 };
    let sides = SIDES.map(|(name, axis, upper, face)| (name, grid.side(facet, axis, upper, face)));
    with_sides(kind, grid.coords(size), grid.solids(linear), facet, &sides)
}

/// A mesh of solids and of the `facet`s of its sides, given by the nodes of its linear cells, with the groups "body" and
/// those of the sides; with a node on every edge if `kind` is quadratic. Tags count from 1, the solids first.
pub(super) fn with_sides(
    kind: ElementKind,
    coords: Vec<[f64; 3]>,
    solids: Vec<u32>,
    facet: ElementKind,
    sides: &[(&str, Vec<u32>)],
) -> Result<Mesh, MeshError> {
    let (linear, width) = (kind.linear(), facet.info().n_nodes);
    let n_solids = solids.len() / linear.info().n_nodes;
    let group = |name: &str, kind: ElementKind, block, cells: Range<usize>| {
        let members = (cells.start as u32..cells.end as u32).collect();
        Group { name: name.into(), dim: kind.info().dim, members: vec![(block, members)] }
    };
    let mut groups = vec![group("body", linear, 0, 0..n_solids)];
    let mut facets = Vec::new();
    for (name, nodes) in sides {
        let first = facets.len() / width;
        facets.extend(nodes);
        groups.push(group(name, facet, 1, first..facets.len() / width));
    }
    let tags = |from: usize, n: usize| (from as u64 + 1..=(from + n) as u64).collect();
    let facets = Cells { kind: facet, tags: tags(n_solids, facets.len() / width), nodes: facets };
    let solids = Cells { kind: linear, nodes: solids, tags: tags(0, n_solids) };
    let (node_tags, cells) = (tags(0, coords.len()), vec![solids, facets]);
    let mesh = Mesh { coords, node_tags, cells, groups, ..Mesh::default() };
    if kind == linear { Ok(mesh) } else { quadratic(mesh) }
}

/// What a box can be made of.
pub const KINDS: &[ElementKind] = &[Tet4, Hex8, Tet10, Hex20];

/// Whether a shape can be made of a kind.
pub(super) fn check_kind(shape: &str, kind: ElementKind, kinds: &[ElementKind]) -> Result<(), MeshError> {
    if kinds.contains(&kind) {
        return Ok(());
    }
    let names: Vec<_> = kinds.iter().map(|kind| kind.info().name).collect();
    let (names, name) = (names.join(", "), kind.info().name);
    Err(MeshError::Generate(format!("a {shape} is made of elements of one of the kinds {names}, not of {name}")))
}

/// Whether lengths and numbers of cells make a mesh of `per_cell` elements a cell.
pub(super) fn check_size(size: &[f64], cells: &[usize], per_cell: usize) -> Result<(), MeshError> {
    if cells.contains(&0) {
        return Err(MeshError::Generate(format!("{cells:?} cells; at least one is needed along each axis")));
    }
    if size.iter().any(|&length| !(length > 0.0 && length.is_finite())) {
        return Err(MeshError::Generate(format!("its size is {size:?}; lengths must be positive and finite")));
    }
    let nodes = cells.iter().fold(1u128, |product, &n| product.saturating_mul(n as u128 + 1));
    let elements = cells.iter().fold(per_cell as u128, |product, &n| product.saturating_mul(n as u128));
    for (what, count) in [("nodes", nodes), ("elements", elements)] {
        if count >= u128::from(u32::MAX) {
            return Err(MeshError::TooLarge { what, count });
        }
    }
    Ok(())
}

struct Grid {
    cells: [usize; 3],
}

impl Grid {
    fn node(&self, at: [usize; 3]) -> u32 {
        let [nx, ny, _] = self.cells;
        (at[0] + (nx + 1) * (at[1] + (ny + 1) * at[2])) as u32
    }

    /// The eight corners of the cell at `at`, in hex8 order.
    fn corners(&self, at: [usize; 3]) -> [u32; 8] {
        CORNERS.map(|corner| self.node([at[0] + corner[0], at[1] + corner[1], at[2] + corner[2]]))
    }

    fn coords(&self, size: [f64; 3]) -> Vec<[f64; 3]> {
        let [nx, ny, nz] = self.cells;
        let at = |axis: usize, i: usize| size[axis] * i as f64 / self.cells[axis] as f64;
        let layer = (nx + 1) * (ny + 1);
        let mut coords = vec![[0.0; 3]; layer * (nz + 1)];
        coords.par_chunks_mut(layer).enumerate().for_each(|(iz, layer)| {
            for (i, point) in layer.iter_mut().enumerate() {
                *point = [at(0, i % (nx + 1)), at(1, i / (nx + 1)), at(2, iz)];
            }
        });
        coords
    }

    fn solids(&self, kind: ElementKind) -> Vec<u32> {
        let [nx, ny, nz] = self.cells;
        let per_cell = if kind == Tet4 { KUHN.len() } else { 1 };
        let width = per_cell * kind.info().n_nodes;
        let mut nodes = vec![0; nx * ny * nz * width];
        nodes.par_chunks_mut(nx * ny * width).enumerate().for_each(|(iz, layer)| {
            for (i, cell) in layer.chunks_exact_mut(width).enumerate() {
                let corners = self.corners([i % nx, i / nx, iz]);
                if kind == Tet4 {
                    for (tet, local) in cell.chunks_exact_mut(4).zip(&KUHN) {
                        tet.copy_from_slice(&local.map(|corner| corners[corner]));
                    }
                } else {
                    cell.copy_from_slice(&corners);
                }
            }
        });
        nodes
    }

    /// The outward facets of every cell along one side.
    fn side(&self, facet: ElementKind, axis: usize, upper: bool, face: usize) -> Vec<u32> {
        let local = Hex8.info().faces[face].1;
        let mut nodes = Vec::new();
        let mut at = [0; 3];
        at[axis] = if upper { self.cells[axis] - 1 } else { 0 };
        let (fast, slow) = if axis == 0 { (1, 2) } else { (0, 3 - axis) };
        for j in 0..self.cells[slow] {
            for i in 0..self.cells[fast] {
                (at[fast], at[slow]) = (i, j);
                let corners = self.corners(at);
                let quad = [0, 1, 2, 3].map(|k| corners[local[k]]);
                match facet {
                    Tri3 => nodes.extend(cut(quad).as_flattened()),
                    _ => nodes.extend(quad),
                }
            }
        }
        nodes
    }
}

/// The two triangles the Kuhn tetrahedra leave on a face: cut from its lowest to its highest corner.
fn cut(mut quad: [u32; 4]) -> [[u32; 3]; 2] {
    let lowest = (0..4).min_by_key(|&k| quad[k]).unwrap_or(0);
    quad.rotate_left(lowest);
    let [a, b, c, d] = quad;
    [[a, b, c], [a, c, d]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(mesh: &Mesh, cell: &[u32]) -> [[f64; 3]; 3] {
        let x = |k: usize| mesh.coords[cell[k] as usize];
        [1, 2, 3].map(|k| [0, 1, 2].map(|c| x(k)[c] - x(0)[c]))
    }

    fn det([a, b, c]: [[f64; 3]; 3]) -> f64 {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    }

    #[test]
    fn kuhn_tets_are_positive_and_fill_the_box() {
        let mesh = generate_box(Tet4, [2.0, 3.0, 0.5], [3, 2, 4]).unwrap();
        let volumes: Vec<f64> = mesh.cells[0].nodes.chunks(4).map(|cell| det(edges(&mesh, cell)) / 6.0).collect();
        assert_eq!(volumes.len(), 6 * 24);
        assert!(volumes.iter().all(|&v| (v - 3.0 / 144.0).abs() < 1e-14));
        assert!(mesh.cells[0].nodes.chunks(4).all(|cell| {
            let (low, high) = (*cell.iter().min().unwrap(), *cell.iter().max().unwrap());
            high - low == 1 + 4 + 12
        }));
    }

    #[test]
    fn hex8_corners_follow_the_numbering() {
        let mesh = generate_box(Hex8, [1.0, 1.0, 1.0], [2, 3, 2]).unwrap();
        assert_eq!(mesh.coords.len(), 3 * 4 * 3);
        assert_eq!(mesh.cells[0].cell(0), [0, 1, 4, 3, 12, 13, 16, 15]);
        assert_eq!(mesh.coords[1 + 3 * (2 + 4)], [0.5, 2.0 / 3.0, 0.5]);
        assert_eq!(mesh.coords.last(), Some(&[1.0, 1.0, 1.0]));
    }

    #[test]
    fn groups_hold_the_sides() {
        for (kind, per_face) in [(Hex8, 1), (Tet4, 2)] {
            let mesh = generate_box(kind, [1.0, 2.0, 3.0], [2, 3, 4]).unwrap();
            let sizes: Vec<usize> = mesh.groups.iter().map(|g| g.members[0].1.len()).collect();
            let sides = [12, 12, 8, 8, 6, 6].map(|n| n * per_face);
            assert_eq!(sizes[0], mesh.cells[0].len());
            assert_eq!(sizes[1..], sides);
            for (group, (name, axis, upper, _)) in mesh.groups[1..].iter().zip(SIDES) {
                assert_eq!(group.name, name);
                let plane = if upper { [1.0, 2.0, 3.0][axis] } else { 0.0 };
                for &facet in &group.members[0].1 {
                    let on = |&n: &u32| mesh.coords[n as usize][axis] == plane;
                    assert!(mesh.cells[1].cell(facet as usize).iter().all(on));
                }
            }
        }
    }

    #[test]
    fn impossible_boxes_are_errors() {
        for (kind, length, n) in [(Tet4, 1.0, 0), (Tet4, f64::NAN, 1), (Tet4, 0.0, 1), (Tri3, 1.0, 1)] {
            let found = generate_box(kind, [1.0, length, 1.0], [2, n, 2]);
            assert!(matches!(found, Err(MeshError::Generate(_))), "{kind:?} {length} {n}");
        }
        assert!(matches!(generate_box(Tet4, [1.0; 3], [1500; 3]), Err(MeshError::TooLarge { what: "elements", .. })));
        assert!(matches!(generate_box(Hex8, [1.0; 3], [usize::MAX; 3]), Err(MeshError::TooLarge { .. })));
    }
}
