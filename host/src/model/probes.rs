//! `[output] probes`: points where results are wanted, `u(x) = sum_b N_b(xi) u_b` in the element around `x = x(xi)`.

use warpfem_text::{engineering, vector};

use super::case::Case;
use super::problems::Problems;
use crate::element::ElementKind;
use crate::element::shape::determinant;
use crate::mesh::vector::{norm, sub};
use crate::mesh::{Cells, Mesh};
use crate::parallel;

/// A point outside of every element by this much of the nearest one's width counts as on its surface: a curved surface
/// bulges out of its elements, by 7 % of their edges where twelve linear ones go round.
const SLACK: f64 = 0.1;
/// A probe that is farther from the surface than this part of the body's longest side is told of.
const SEEN: f64 = 1e-3;
/// What of an element's box is added to it on each side before it is searched: curved elements leave their nodes' box.
pub(super) const MARGIN: f64 = 0.25;
/// Newton's method ends long before, where it converges at all.
const MOST_STEPS: usize = 30;

/// A point of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Its name in the case file.
    pub name: String,
    /// Where it is.
    pub at: [f64; 3],
    /// The nodes of the element around it, and their shape functions there.
    pub shares: Vec<(u32, f64)>,
}

impl Probe {
    /// The value at the point of `values [n_nodes][K]`.
    pub fn of<const K: usize>(&self, values: &[[f64; K]]) -> [f64; K] {
        let sum = |k: usize| self.shares.iter().map(|&(node, share)| share * values[node as usize][k]).sum();
        std::array::from_fn(sum)
    }

    /// A warning where the point is outside of the mesh, and values are those of the surface.
    fn moved(&self, mesh: &Mesh) -> Option<String> {
        let found = self.of(&mesh.coords);
        let distance = norm(sub(found, self.at));
        (distance > SEEN * mesh.longest_side()).then(|| {
            format!(
                "probe `{}` lies {} outside of the mesh: its results are those of the surface, at {}",
                self.name,
                engineering(distance),
                vector(found)
            )
        })
    }

    /// The value at the point of `values [n_nodes][width]`, flat.
    pub fn of_flat(&self, values: &[f64], width: usize) -> Vec<f64> {
        let sum = |k: usize| self.shares.iter().map(|&(node, share)| share * values[node as usize * width + k]).sum();
        (0..width).map(sum).collect()
    }
}

/// The probes of a case, each with the element around it; an error for each that lies outside of the mesh.
pub fn resolve(case: &Case, mesh: &Mesh, problems: &mut Problems, warnings: &mut Vec<String>) -> Vec<Probe> {
    let plane_z = mesh.coords.first().map_or(0.0, |x| x[2]);
    let mut probes = Vec::new();
    for table in case.tables.output.probes.iter().flatten().map(|table| table.get_ref()) {
        let mut at = table.at.get_ref().with_z(plane_z);
        if mesh.dim() == 2 {
            at[2] = plane_z;
        }
        let name = table.name.get_ref().clone();
        match shares(mesh, at) {
            Some(shares) => {
                let probe = Probe { name, at, shares };
                warnings.extend(probe.moved(mesh));
                probes.push(probe);
            }
            None => {
                let message = format!("probe `{name}` lies outside of the mesh");
                problems.add(case.error_at(table.at.span(), message, nearest(mesh, at)));
            }
        }
    }
    probes
}

/// How far the nearest node of an element is, in words.
fn nearest(mesh: &Mesh, at: [f64; 3]) -> String {
    let distance = |node: u32| norm(sub(mesh.coords[node as usize], at));
    let nodes = mesh.solids().flat_map(|(_, cells)| cells.nodes.iter().copied());
    let nearest = nodes.map(|node| (distance(node), node)).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(String::new(), |(distance, node)| {
        let (tag, x) = (mesh.node_tags[node as usize], mesh.coords[node as usize]);
        format!("the nearest node, {tag} at {}, is {} away", vector(x), engineering(distance))
    })
}

/// The element that a point is in, of several the first, as its nodes and their shape functions.
fn shares(mesh: &Mesh, at: [f64; 3]) -> Option<Vec<(u32, f64)>> {
    let found = mesh.solids().flat_map(|(_, cells)| {
        let inside = |cell: usize| inside(mesh, cells, cell, at).map(|(outside, xi)| (outside, cell, xi));
        let all = parallel::flat_map(cells.len(), &|cell, found| found.extend(inside(cell)));
        all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|found| (cells, found))
    });
    let (cells, (_, cell, xi)) = found.min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    Some(shares_in(cells, cell, xi))
}

/// How far a point is outside of a cell, and its reference coordinates; nothing where it is far away.
pub(super) fn inside(mesh: &Mesh, cells: &Cells, cell: usize, at: [f64; 3]) -> Option<(f64, [f64; 3])> {
    let x: Vec<[f64; 3]> = cells.cell(cell).iter().map(|&node| mesh.coords[node as usize]).collect();
    let xi = is_near(&x, at).then(|| local(cells.kind, &x, at)).flatten()?;
    let outside = cells.kind.info().domain.excess(xi).max(0.0);
    (outside <= SLACK).then_some((outside, xi))
}

/// The nodes of a cell and their shape functions at the point of it that is nearest to reference coordinates.
pub(super) fn shares_in(cells: &Cells, cell: usize, xi: [f64; 3]) -> Vec<(u32, f64)> {
    let (shape, xi) = (&cells.kind.info().shape, cells.kind.info().domain.nearest(xi));
    cells.cell(cell).iter().enumerate().map(|(b, &node)| (node, (shape.value)(b, xi))).collect()
}

/// Whether a point is in the box round some nodes, or near it.
fn is_near(x: &[[f64; 3]], at: [f64; 3]) -> bool {
    let bounds = |c: usize| x.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x[c]), high.max(x[c])));
    let longest = (0..3).map(|c| bounds(c).1 - bounds(c).0).fold(0.0, f64::max);
    (0..3).all(|c| bounds(c).0 - MARGIN * longest <= at[c] && at[c] <= bounds(c).1 + MARGIN * longest)
}

/// The reference coordinates of a point, by Newton's method on `x(xi) = at`; nothing where it does not converge.
fn local(kind: ElementKind, x: &[[f64; 3]], at: [f64; 3]) -> Option<[f64; 3]> {
    let (info, shape) = (kind.info(), &kind.info().shape);
    let mut xi = info.domain.centroid();
    for _ in 0..MOST_STEPS {
        let (mut rest, mut tangents) = (at, [[0.0; 3]; 3]);
        for (b, x) in x.iter().enumerate() {
            let (value, slopes) = ((shape.value)(b, xi), (shape.gradient)(b, xi));
            for c in 0..3 {
                rest[c] -= value * x[c];
                (0..3).for_each(|j| tangents[j][c] += slopes[j] * x[c]);
            }
        }
        let det = determinant(info.dim, tangents);
        // Cramer's rule: the remainder in the place of each tangent.
        let mut step = [0.0; 3];
        for j in 0..info.dim {
            let mut columns = tangents;
            columns[j] = rest;
            step[j] = determinant(info.dim, columns) / det;
            xi[j] += step[j];
        }
        if !xi.iter().all(|xi| xi.abs() < 10.0) {
            return None;
        }
        if step.iter().all(|step| step.abs() < 1e-12) {
            return Some(xi);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::annulus::generate_annulus;
    use crate::mesh::generate::{self, generate_box};
    use crate::mesh::rectangle::generate_rectangle;

    /// A linear field and the place itself, interpolated at points, are those of the points.
    fn assert_reproduced(mesh: &Mesh, points: &[[f64; 3]]) {
        let field = |x: &[f64; 3]| 1.0 + 2.0 * x[0] - 3.0 * x[1] + 0.5 * x[2];
        let values: Vec<f64> = mesh.coords.iter().map(field).collect();
        for &at in points {
            let probe = Probe { name: String::new(), at, shares: shares(mesh, at).unwrap() };
            assert!((probe.of_flat(&values, 1)[0] - field(&at)).abs() < 1e-12, "{at:?}");
            let place = probe.of(&mesh.coords);
            assert!((0..3).all(|c| (place[c] - at[c]).abs() < 1e-12), "{at:?} {place:?}");
        }
    }

    #[test]
    fn every_element_reproduces_linear_fields_at_any_point() {
        let points = [[0.0; 3], [2.0, 1.0, 0.5], [0.3, 0.7, 0.21], [1.0, 0.5, 0.25], [1.99, 1e-13, 0.4]];
        for kind in generate::kinds(3) {
            let mut mesh = generate_box(kind, [2.0, 1.0, 0.5], [3, 2, 2]).unwrap();
            assert_reproduced(&mesh, &points);
            assert_eq!(shares(&mesh, [2.1, 0.5, 0.2]), None);
            // Outside by rounding, and by what a curved surface may bulge.
            assert!(shares(&mesh, [2.0 + 1e-9, 0.5, 0.2]).is_some() && shares(&mesh, [2.04, 0.5, 0.2]).is_some());
            // There the surface's values are taken.
            let outside =
                Probe { name: "p".into(), at: [2.04, 0.5, 0.2], shares: shares(&mesh, [2.04, 0.5, 0.2]).unwrap() };
            assert!((outside.of(&mesh.coords)[0] - 2.0).abs() < 1e-12);
            assert!(
                outside.moved(&mesh).unwrap().contains(" outside of the mesh: its results are those of the surface")
            );
            mesh.coords.iter_mut().for_each(|x| *x = [x[0] + 0.1 * x[1] * x[2], x[1] + 0.1 * x[0] * x[2], x[2]]);
            assert_reproduced(&mesh, &[[1.0, 0.6, 0.3], [0.5, 0.5, 0.1]]);
        }
        for kind in generate::kinds(2) {
            let mesh = generate_rectangle(kind, [2.0, 1.0], [3, 2]).unwrap();
            assert_reproduced(&mesh, &points.map(|[x, y, _]| [x, y, 0.0]));
            let ring = generate_annulus(kind, [1.0, 2.0], [2, 24]).unwrap();
            assert_reproduced(&ring, &[[1.5, 0.0, 0.0], [-0.9, 1.1, 0.0]]);
            assert_eq!(shares(&ring, [0.2, 0.1, 0.0]), None);
        }
    }
}
