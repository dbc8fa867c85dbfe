//! Structured meshes of boxes.
//!
//! Node `(ix, iy, iz)` has the index `ix + (nx + 1) (iy + (ny + 1) iz)`. Every cell is cut alike: into six Kuhn tetrahedra
//! round the diagonal from its lowest to its highest corner; into two wedges along z; into six pyramids round a node in
//! its middle, which follow the others. So neighbouring cells match. Boxes of quadratic elements are those of the linear
//! ones with [further nodes](super::quadratic).

use std::collections::BTreeMap;

use super::quadratic::quadratic;
use super::{Cells, Group, Mesh, MeshError};
use crate::element::{Domain, ElementKind};
use crate::parallel;

/// Corners of a cell in hex8 order, in units of the cell.
const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
/// The place behind the corners: the middle of the cell.
const MIDDLE: usize = 8;

/// What a cell is cut into, by hex8 corners, each of positive volume.
fn cut(domain: Domain) -> &'static [&'static [usize]] {
    match domain {
        Domain::Tetrahedron => {
            &[&[0, 1, 2, 6], &[0, 5, 1, 6], &[0, 2, 3, 6], &[0, 3, 7, 6], &[0, 4, 5, 6], &[0, 7, 4, 6]]
        }
        Domain::Wedge => &[&[0, 1, 2, 4, 5, 6], &[0, 2, 3, 4, 6, 7]],
        Domain::Pyramid => &[
            &[0, 1, 2, 3, MIDDLE],
            &[4, 7, 6, 5, MIDDLE],
            &[0, 4, 5, 1, MIDDLE],
            &[1, 5, 6, 2, MIDDLE],
            &[2, 6, 7, 3, MIDDLE],
            &[3, 7, 4, 0, MIDDLE],
        ],
        _ => &[&[0, 1, 2, 3, 4, 5, 6, 7]],
    }
}

/// How many elements of a shape a cell of a box, or of a rectangle, is cut into.
pub fn per_cell(domain: Domain) -> usize {
    if domain == Domain::Triangle { 2 } else { cut(domain).len() }
}

/// The sides of a box: name, axis, whether at its upper end.
const SIDES: [(&str, usize, bool); 6] = [
    ("xmin", 0, false),
    ("xmax", 0, true),
    ("ymin", 1, false),
    ("ymax", 1, true),
    ("zmin", 2, false),
    ("zmax", 2, true),
];

/// What boxes, or rectangles, can be made of.
pub fn kinds(dim: usize) -> Vec<ElementKind> {
    ElementKind::ALL.iter().copied().filter(|kind| kind.is_solvable() && kind.info().dim == dim).collect()
}

/// The names of all elements that can be solved with.
pub fn every_name() -> Vec<&'static str> {
    [kinds(2), kinds(3)].concat().into_iter().map(|kind| kind.info().name).collect()
}

/// A box with one corner at the origin, `size` long and divided into `cells` along x, y and z.
///
/// `kind` is a solid. Tags count from 1, the solids first. Groups: "body", and the sides "xmin" .. "zmax", whose facets
/// have outward normals.
///
/// # Errors
/// [`MeshError::Generate`] for a size or a division that makes no box, [`MeshError::TooLarge`] past 32-bit indices.
pub fn generate_box(kind: ElementKind, size: [f64; 3], cells: [usize; 3]) -> Result<Mesh, MeshError> {
    check_kind("box", kind, 3)?;
    let linear = kind.linear();
    check_size(&size, &cells, per_cell(linear.info().domain))?;
    let grid = Grid { cells };
    let mut coords = grid.coords(size);
    if cut(linear.info().domain).concat().contains(&MIDDLE) {
        coords.extend(grid.middles(size));
    }
    let sides = SIDES.map(|(name, axis, upper)| (name, grid.side(linear, axis, upper)));
    with_sides(kind, coords, grid.solids(linear), &sides)
}

/// Facets by their kinds: nodes one after the other.
pub(super) type Facets = BTreeMap<ElementKind, Vec<u32>>;

/// A mesh of solids and of the facets of its sides, given by the nodes of its linear cells, with the groups "body" and
/// those of the sides; with the nodes of a quadratic `kind` if it is one. Tags count from 1, the solids first.
pub(super) fn with_sides(
    kind: ElementKind,
    coords: Vec<[f64; 3]>,
    solids: Vec<u32>,
    sides: &[(&str, Facets)],
) -> Result<Mesh, MeshError> {
    let linear = if kind.info().is_quadratic() { kind.linear() } else { kind };
    let n_solids = solids.len() / linear.info().n_nodes;
    let mut cells = vec![Cells { kind: linear, nodes: solids, tags: (1..=n_solids as u64).collect() }];
    let group = |name: &str, dim, members| Group { name: name.into(), dim, members };
    let mut groups = vec![group("body", linear.info().dim, vec![(0, (0..n_solids as u32).collect())])];
    let mut blocks: Facets = sides.iter().flat_map(|(_, facets)| facets.keys().map(|&kind| (kind, vec![]))).collect();
    for (name, facets) in sides {
        let mut members = Vec::new();
        for (i, (kind, all)) in blocks.iter_mut().enumerate() {
            let Some(nodes) = facets.get(kind) else { continue };
            let first = (all.len() / kind.info().n_nodes) as u32;
            all.extend(nodes);
            members.push((1 + i, (first..(all.len() / kind.info().n_nodes) as u32).collect()));
        }
        groups.push(group(name, linear.info().dim - 1, members));
    }
    let mut last = n_solids as u64;
    for (kind, nodes) in blocks {
        let n = (nodes.len() / kind.info().n_nodes) as u64;
        cells.push(Cells { kind, nodes, tags: (last + 1..=last + n).collect() });
        last += n;
    }
    let node_tags = (1..=coords.len() as u64).collect();
    let mesh = Mesh { coords, node_tags, cells, groups, ..Mesh::default() };
    if kind == linear { Ok(mesh) } else { quadratic(mesh, kind) }
}

/// Whether a shape can be made of a kind.
pub(super) fn check_kind(shape: &str, kind: ElementKind, dim: usize) -> Result<(), MeshError> {
    let kinds = kinds(dim);
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

    /// The eight corners of the cell at `at`, in hex8 order, and the node in its middle if there is one.
    fn corners(&self, at: [usize; 3]) -> [u32; 9] {
        let [nx, ny, nz] = self.cells;
        let lattice = (nx + 1) * (ny + 1) * (nz + 1);
        std::array::from_fn(|k| match CORNERS.get(k) {
            Some(corner) => self.node([0, 1, 2].map(|c| at[c] + corner[c])),
            None => (lattice + at[0] + nx * (at[1] + ny * at[2])) as u32,
        })
    }

    /// The middles of the cells.
    fn middles(&self, size: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
        let [nx, ny, nz] = self.cells;
        let place = move |at: [usize; 3]| [0, 1, 2].map(|c| size[c] * (at[c] as f64 + 0.5) / [nx, ny, nz][c] as f64);
        (0..nx * ny * nz).map(move |i| place([i % nx, i / nx % ny, i / (nx * ny)]))
    }

    fn coords(&self, size: [f64; 3]) -> Vec<[f64; 3]> {
        let [nx, ny, nz] = self.cells;
        let at = |axis: usize, i: usize| size[axis] * i as f64 / self.cells[axis] as f64;
        let layer = (nx + 1) * (ny + 1);
        let mut coords = vec![[0.0; 3]; layer * (nz + 1)];
        parallel::map_chunks(&mut coords, layer, &|first, points| {
            for (i, point) in points.iter_mut().enumerate() {
                *point = [at(0, i % (nx + 1)), at(1, i / (nx + 1)), at(2, first / layer)];
            }
        });
        coords
    }

    fn solids(&self, kind: ElementKind) -> Vec<u32> {
        let [nx, ny, nz] = self.cells;
        let local = cut(kind.info().domain).concat();
        let layer = nx * ny * local.len();
        let mut nodes = vec![0; layer * nz];
        parallel::map_chunks(&mut nodes, layer, &|first, nodes| {
            for (i, cell) in nodes.chunks_exact_mut(local.len()).enumerate() {
                let corners = self.corners([i % nx, i / nx, first / layer]);
                cell.iter_mut().zip(&local).for_each(|(node, &k)| *node = corners[k]);
            }
        });
        nodes
    }

    /// The outward facets of every cell along one side.
    fn side(&self, kind: ElementKind, axis: usize, upper: bool) -> Facets {
        let is_on = |k: usize| k != MIDDLE && (CORNERS[k][axis] == 1) == upper;
        let of_part = |part: &&[usize]| {
            let faces = kind.faces().iter().map(|(side, local)| (*side, local.iter().map(|&k| part[k]).collect()));
            faces.filter(|(_, nodes): &(_, Vec<usize>)| nodes.iter().all(|&k| is_on(k))).collect::<Vec<_>>()
        };
        let faces: Vec<(ElementKind, Vec<usize>)> = cut(kind.info().domain).iter().flat_map(of_part).collect();
        let (mut facets, mut at) = (Facets::new(), [0; 3]);
        at[axis] = if upper { self.cells[axis] - 1 } else { 0 };
        let (fast, slow) = if axis == 0 { (1, 2) } else { (0, 3 - axis) };
        for j in 0..self.cells[slow] {
            for i in 0..self.cells[fast] {
                (at[fast], at[slow]) = (i, j);
                let corners = self.corners(at);
                for (kind, local) in &faces {
                    facets.entry(*kind).or_default().extend(local.iter().map(|&k| corners[k]));
                }
            }
        }
        facets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Tet4, Tri3};

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
            for (group, (name, axis, upper)) in mesh.groups[1..].iter().zip(SIDES) {
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
