//! Shape and volume of the solids.
//!
//! Measures, 1 for the regular element and 0 for a flat one: of tetrahedra `6 sqrt(2) V / l_rms^3` with the
//! root-mean-square of the six edges (Parthasarathy, Graichen, Hathaway 1994), of triangles `4 A / (sqrt(3) l_rms^2)`;
//! of others the smallest scaled Jacobian over the corners (Knupp 2000), a pyramid's over those of its base. Quadratic
//! elements have the measure of their corners, times the least ratio of their Jacobian to that of the straight element (Johnen,
//! Remacle, Geuzaine 2013). One whose Jacobian is not positive everywhere has 0.

use super::faces::Face;
use super::vector::{dot, sub};
use super::{Cells, Group, Mesh, jacobian};
use crate::element::shape::{At, determinant};
use crate::element::{Domain, ElementKind, MAX_NODES};
use crate::parallel::{self, PART};

const WORST: usize = 5;

/// The shapes of all solids.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// The smallest measure.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// How many lie in each tenth of 0 to 1.
    pub histogram: [usize; 10],
    /// Tags and measures of the worst, the worst first.
    pub worst: Vec<(u64, f64)>,
}

impl Mesh {
    /// The shapes of the solids, found when they are first asked for; `None` if there are none.
    pub fn quality(&self) -> Option<&Quality> {
        self.quality.get(|| find(self)).as_ref()
    }
}

fn find(mesh: &Mesh) -> Option<Quality> {
    let mut all = Tally::default();
    for (_, cells) in mesh.solids() {
        let parts = parallel::map_ranges(cells.len(), PART, &|range| {
            let mut part = Tally::default();
            range.for_each(|i| part.count(shape(mesh, cells, i), cells.tags[i]));
            part
        });
        parts.iter().for_each(|part| all.add(part));
    }
    let Tally { sum, histogram, worst } = all;
    let (n, min) = (histogram.iter().sum::<usize>(), worst.first()?.0);
    let worst = worst.into_iter().map(|(measure, tag)| (tag, measure)).collect();
    Some(Quality { min, mean: sum / n as f64, histogram, worst })
}

#[derive(Default)]
struct Tally {
    sum: f64,
    histogram: [usize; 10],
    /// Measures and tags, ascending.
    worst: Vec<(f64, u64)>,
}

impl Tally {
    fn count(&mut self, measure: f64, tag: u64) {
        self.sum += measure;
        self.histogram[((measure * 10.0) as usize).min(9)] += 1;
        self.keep(measure, tag);
    }

    fn add(&mut self, part: &Tally) {
        self.sum += part.sum;
        self.histogram.iter_mut().zip(part.histogram).for_each(|(n, more)| *n += more);
        part.worst.iter().for_each(|&(measure, tag)| self.keep(measure, tag));
    }

    /// Keeps a cell if it is among the worst.
    fn keep(&mut self, measure: f64, tag: u64) {
        let is_worse = |other: &(f64, u64)| measure.total_cmp(&other.0).then(tag.cmp(&other.1)).is_lt();
        let place = self.worst.iter().position(is_worse).unwrap_or(self.worst.len());
        if place < WORST {
            self.worst.truncate(WORST - 1);
            self.worst.insert(place.min(self.worst.len()), (measure, tag));
        }
    }
}

/// The shape measure of cell `i`, between 0 and 1.
pub fn shape(mesh: &Mesh, cells: &Cells, i: usize) -> f64 {
    let (info, cell) = (cells.kind.info(), cells.cell(i));
    let x = |k: usize| mesh.coords[cell[k] as usize];
    let straight = cells.kind.linear().table();
    // A simplex is the same in all corners.
    let points = if info.domain.is_simplex() { 1 } else { straight.nodes.len() };
    let of = |(at, xi): (&At, &[f64; 3])| scaled_jacobian(info.domain, *xi, at.tangents(x));
    let corners = straight.nodes.iter().zip(info.domain.corners()).take(points - usize::from(info.domain.has_apex()));
    let measure = corners.map(of).fold(if points > 1 { 1.0 } else { f64::INFINITY }, f64::min);
    let curving = if info.is_quadratic() { curving(cells, x) } else { 1.0 };
    // An element without volume may have no ratio either: it counts as flat, as does one that is folded inside.
    let measure = measure * curving;
    if measure > 0.0 && jacobian::is_positive(cells.kind, x) { measure.min(1.0) } else { 0.0 }
}

/// The Jacobian at a corner over that of the regular element with edges as long: in each factor of the shape the root mean
/// square of its edges, in a pyramid those at the corner.
fn scaled_jacobian(domain: Domain, corner: [f64; 3], tangents: [[f64; 3]; 3]) -> f64 {
    let (det, length) = (determinant(domain.dim(), tangents), |v: [f64; 3]| dot(v, v).sqrt());
    if domain.has_apex() {
        let [r, s, t] = tangents;
        let up = [0, 1, 2].map(|c| t[c] - corner[0] * r[c] - corner[1] * s[c]);
        return 2f64.sqrt() * det / (length(r) * length(s) * length(up));
    }
    let (mut regular, mut first) = (1.0, 0);
    for &n in domain.factors() {
        let own = &tangents[first..first + n];
        let between = (0..n).flat_map(|i| (0..i).map(move |j| sub(own[i], own[j])));
        let squares = own.iter().copied().chain(between).map(|edge| dot(edge, edge)).sum::<f64>();
        let size = (squares / (n * (n + 1) / 2) as f64).sqrt().powi(n as i32);
        regular *= size * [1.0, 0.75f64.sqrt(), 0.5f64.sqrt()][n - 1];
        first += n;
    }
    det / regular
}

/// The least ratio, at most 1, of the Jacobian to that of the straight element of the same corners, over the nodes.
fn curving(cells: &Cells, x: impl Fn(usize) -> [f64; 3]) -> f64 {
    let (info, table) = (cells.kind.info(), cells.kind.table());
    let mut curved = [[0.0; 3]; MAX_NODES];
    (0..info.n_nodes).for_each(|k| curved[k] = x(k));
    let (mut straight, linear) = (curved, &cells.kind.linear().info().shape);
    for (node, xi) in straight.iter_mut().zip(info.shape.nodes).skip(info.n_corners) {
        let sum = |c: usize| (0..info.n_corners).map(|b| (linear.value)(b, *xi) * curved[b][c]).sum();
        *node = [0, 1, 2].map(sum);
    }
    let det = |at: &At, x: &[[f64; 3]; MAX_NODES]| determinant(info.dim, at.tangents(|k| x[k]));
    table.nodes.iter().map(|at| det(at, &curved) / det(at, &straight)).fold(1.0, f64::min)
}

/// The volume of the solids (in two dimensions, the area).
///
/// Exact to rounding, for curved elements too.
pub fn volume(mesh: &Mesh) -> f64 {
    let blocks = mesh.solids().map(|(_, cells)| {
        let of = |cell: usize| cell_volume(mesh, cells, cells.cell(cell));
        let parts: Vec<f64> = parallel::map_ranges(cells.len(), PART, &|part| part.map(of).sum());
        parts.iter().sum::<f64>()
    });
    blocks.sum()
}

fn cell_volume(mesh: &Mesh, cells: &Cells, cell: &[u32]) -> f64 {
    let at = |at: &At| at.weight * determinant(cells.kind.info().dim, at.tangents(|b| mesh.coords[cell[b] as usize]));
    cells.kind.table().rule.iter().map(at).sum()
}

/// The volume, area or length of some cells of a block, whatever way they are turned; 0 of points.
///
/// Exact to rounding for cells that are flat, and close for curved faces and edges.
pub fn measure(mesh: &Mesh, cells: &Cells, members: &[u32]) -> f64 {
    if cells.kind.info().dim == 0 {
        return 0.0;
    }
    let of = |&member: &u32| content_of(mesh, cells.kind, cells.cell(member as usize));
    let parts: Vec<f64> = parallel::map_ranges(members.len(), PART, &|part| members[part].iter().map(of).sum());
    parts.iter().sum()
}

/// The area of a face (in two dimensions, the length of an edge).
pub fn area(mesh: &Mesh, face: &Face) -> f64 {
    content_of(mesh, face.kind, face.nodes())
}

fn content_of(mesh: &Mesh, kind: ElementKind, nodes: &[u32]) -> f64 {
    let of = |at: &At| at.weight * content(kind.info().dim, at.tangents(|b| mesh.coords[nodes[b] as usize]));
    kind.table().rule.iter().map(of).sum()
}

/// What the tangents span: a volume, an area or a length.
fn content(dim: usize, [r, s, t]: [[f64; 3]; 3]) -> f64 {
    match dim {
        3 => determinant(3, [r, s, t]).abs(),
        // Lagrange: |r x s|^2 = |r|^2 |s|^2 - (r . s)^2.
        2 => (dot(r, r) * dot(s, s) - dot(r, s).powi(2)).max(0.0).sqrt(),
        _ => dot(r, r).sqrt(),
    }
}

/// The volume, area or length of a group; 0 of a group of points. A facet that is there twice counts once.
pub fn measure_of(mesh: &Mesh, group: &Group) -> f64 {
    if group.dim > 0 && group.dim + 1 == mesh.dim() {
        let mut facets = vec![Vec::new(); mesh.cells.len()];
        mesh.distinct_facets(group).iter().for_each(|&(_, block, cell)| facets[block].push(cell));
        return mesh.cells.iter().zip(&facets).map(|(cells, members)| measure(mesh, cells, members)).sum();
    }
    group.members.iter().map(|(block, members)| measure(mesh, &mesh.cells[*block], members)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    #[test]
    fn straight_quadratic_elements_have_the_measure_of_linear_ones() {
        for (linear, kind) in [(Tet4, Tet10), (Hex8, Hex20)] {
            let measures = [linear, kind].map(|kind| {
                let mut mesh = generate_box(kind, [1.0, 2.0, 3.0], [2; 3]).unwrap();
                mesh.coords.iter_mut().for_each(|x| x[0] += 0.2 * x[1] + 0.1 * x[2]);
                let quality = find(&mesh).unwrap();
                (quality.min, quality.mean, volume(&mesh))
            });
            assert!((measures[0].0 - measures[1].0).abs() < 1e-12, "{measures:?}");
            assert!((measures[0].1 - measures[1].1).abs() < 1e-12, "{measures:?}");
            assert!(measures.iter().all(|m| (m.2 - 6.0).abs() < 1e-12), "{measures:?}");
        }
        for kind in [Tri3, Quad4, Tri6, Quad8] {
            let mesh = generate_rectangle(kind, [3.0, 2.0], [2, 2]).unwrap();
            assert!((volume(&mesh) - 6.0).abs() < 1e-12, "{kind:?}");
        }
    }

    /// `(x, y, z) -> (x + a y^2, y + b z^2, z)` keeps volumes, and quadratic elements follow it exactly.
    #[test]
    fn curved_elements_have_their_volume_and_a_lower_measure() {
        for kind in [Tet10, Hex20] {
            let mut mesh = cube(kind, 1);
            let straight = find(&mesh).unwrap().min;
            mesh.coords.iter_mut().for_each(|x| *x = [x[0] + 0.3 * x[1] * x[1], x[1] + 0.2 * x[2] * x[2], x[2]]);
            assert!((volume(&mesh) - 1.0).abs() < 1e-13, "{kind:?} {}", volume(&mesh));
            assert!(find(&mesh).unwrap().min < straight, "{kind:?}");
        }
        // A quarter of a ring: two edges are arcs, taken as parabolas through their middles.
        let mut ring = generate_rectangle(Quad8, [1.0, 1.0], [1, 1]).unwrap();
        ring.coords.iter_mut().for_each(|x| {
            let (r, phi) = (1.0 + x[0], std::f64::consts::FRAC_PI_2 * x[1]);
            *x = [r * phi.cos(), r * phi.sin(), 0.0];
        });
        // Between chord and parabola lie two thirds of chord times height, and both scale with the radius squared.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let under = 0.5 + 2.0 / 3.0 * 2f64.sqrt() * (1.0 - half);
        assert!((volume(&ring) - 3.0 * under).abs() < 1e-13, "{} {}", volume(&ring), 3.0 * under);
        assert!(find(&ring).unwrap().min < 0.9);
    }

    #[test]
    fn groups_have_volumes_areas_and_lengths() {
        for kind in [Tet4, Hex8, Tet10, Hex20] {
            let mut mesh = generate_box(kind, [1.0, 2.0, 3.0], [2, 2, 2]).unwrap();
            // However the box is turned.
            mesh.coords.iter_mut().for_each(|x| *x = [0.6 * x[0] - 0.8 * x[2], x[1], 0.8 * x[0] + 0.6 * x[2]]);
            for (name, expected) in [("body", 6.0), ("xmin", 6.0), ("ymax", 3.0), ("zmin", 2.0)] {
                let found = measure_of(&mesh, mesh.group(name).unwrap());
                assert!((found - expected).abs() < 1e-12, "{kind:?} {name}: {found}");
            }
        }
        for kind in [Tri3, Quad8] {
            let mesh = generate_rectangle(kind, [3.0, 2.0], [2, 2]).unwrap();
            let of = |name| measure_of(&mesh, mesh.group(name).unwrap());
            assert!((of("body") - 6.0).abs() < 1e-12 && (of("xmin") - 2.0).abs() < 1e-12, "{kind:?}");
        }
    }

    #[test]
    fn cubes_are_perfect_and_volumes_add_up() {
        let hexes = generate_box(Hex8, [2.0, 2.0, 2.0], [3; 3]).unwrap();
        let quality = find(&hexes).unwrap();
        assert!((quality.min - 1.0).abs() < 1e-12 && quality.histogram[9] == 27 && quality.worst.len() == 5);
        assert!((volume(&hexes) - 8.0).abs() < 1e-12);
        let tets = generate_box(Tet4, [1.0, 2.0, 4.0], [4, 3, 2]).unwrap();
        assert!((volume(&tets) - 8.0).abs() < 1e-12);
        assert_eq!(find(&tets).unwrap().histogram.iter().sum::<usize>(), 144);
    }

    #[test]
    fn the_regular_tet_has_measure_one_and_a_sliver_is_worst() {
        let mut mesh = cube(Tet4, 1);
        mesh.coords = vec![[1., 1., 1.], [-1., -1., 1.], [-1., 1., -1.], [1., -1., -1.], [0.0, 0.0, 0.999]];
        mesh.cells.truncate(1);
        mesh.cells[0] = Cells { kind: Tet4, nodes: vec![0, 2, 1, 3, 0, 2, 1, 4], tags: vec![7, 9] };
        let one = shape(&mesh, &mesh.cells[0], 0).max(shape(
            &mesh,
            &Cells { nodes: vec![0, 1, 2, 3], ..mesh.cells[0].clone() },
            0,
        ));
        assert!((one - 1.0).abs() < 1e-12, "{one}");
        mesh.cells[0].nodes = vec![0, 1, 2, 3, 0, 1, 2, 4];
        let worst = &find(&mesh).unwrap().worst;
        assert_eq!(worst[0].0, 9);
        assert!(worst[0].1 < worst[1].1);
    }

    #[test]
    fn a_warped_hexahedron_has_the_volume_of_its_quadrature() {
        let mut mesh = cube(Hex8, 1);
        mesh.coords[7] = [1.3, 1.1, 1.4];
        mesh.coords[4] = [0.1, -0.2, 0.9];
        let gauss = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
        let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
        let mut expected = 0.0;
        for point in 0..8 {
            let xi = [gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2]];
            let mut rows = [[0.0; 3]; 3];
            for (corner, &node) in corners.iter().zip(mesh.cells[0].cell(0)) {
                let n = |c: usize| if corner[c] == 1 { xi[c] } else { 1.0 - xi[c] };
                for c in 0..3 {
                    let slope = if corner[c] == 1 { 1.0 } else { -1.0 } * n((c + 1) % 3) * n((c + 2) % 3);
                    (0..3).for_each(|d| rows[c][d] += slope * mesh.coords[node as usize][d]);
                }
            }
            expected += determinant(3, rows) / 8.0;
        }
        assert!((volume(&mesh) - expected).abs() < 1e-13, "{} {expected}", volume(&mesh));
    }
}
