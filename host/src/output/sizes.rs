//! Element sizes for a wanted error, as a view that Gmsh takes for a background mesh.
//!
//! Elements of order p whose size changes from h to `x h` change their error to `x^p ||e||`, and their number by `x^-d` in d
//! dimensions. The fewest elements of an error `eta` have `x = c ||e||^(-2 / (2 p + d))`, by a multiplier of the sum
//! `sum x^(2 p) ||e||^2 = eta^2`, which gives c. All new elements have then the same error t, and `x = (t / ||e||)^(2 / (2 p + d))`.
//!
//! At a singular point the error of the element that touches it falls as `x^s`, s from 0.5 at a crack to 1 (Zienkiewicz and
//! Zhu, IJNME 24, 1987, sec. 5), and its size is multiplied by `x = (t / ||e||)^(1 / s)`. Such an element touches what may be
//! [singular](super::away), and has an error above those around it, or one far above these.

use std::io::{self, BufWriter, Write};

use crate::element::Domain;
use crate::mesh::vector::{norm, sub};
use crate::mesh::{Cells, Mesh};

/// A mesh that is made by sizes has some more error than predicted: this part is aimed at.
const AIM: f64 = 0.9;
/// How much smaller and larger a size may become at once: predictions farther away are worth little.
const CHANGE: [f64; 2] = [0.1, 2.0];
/// How much smaller at a singular point.
const LEAST: f64 = 0.05;
/// s there: that of a clamped edge of 90 degrees.
const SINGULAR: f64 = 0.7;
/// The mean length of the edges of tetrahedra that Gmsh makes of a size, relative to that; triangles have that size.
const EDGES: f64 = 1.29;
/// By how many times an element's error is above those around it where it is singular: one that touches such a place, and any
/// other. Where errors vary smoothly they differ by less than half of themselves from element to element.
const OUTLIER: [f64; 2] = [1.2, 2.0];
/// By how much of their distance sizes of neighbours may differ. Elements of equal errors at an edge of s = 0.7 have `h ~ r^0.66`,
/// which at `r = h` is that.
const GROWTH: f64 = 0.66;

/// Sizes at the corners of a mesh's elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// `[n_nodes]`; not a number elsewhere.
    pub at_nodes: Vec<f64>,
    /// How many elements a mesh of these has.
    pub n_elements: f64,
}

/// Those for the error `wanted` in each of the cases, whose elements have these relative errors: `error` of the
/// [list](crate::result::FIELDS); the nodes for which `may_be_singular` are what stresses may be infinite at.
pub fn sizes(mesh: &Mesh, cases: &[&[Vec<f64>]], wanted: f64, may_be_singular: impl Fn(u32) -> bool) -> Sizes {
    let factors: Vec<_> = cases.iter().map(|errors| factors(mesh, errors, AIM * wanted, &may_be_singular)).collect();
    let size = |(block, i): (usize, usize)| {
        let factor = factors.iter().map(|case| case[block][i]).fold(f64::INFINITY, f64::min);
        factor * length(mesh, &mesh.cells[block], i)
    };
    let mut at_nodes = means(mesh, size);
    limit_growth(mesh, &mut at_nodes);
    let n_of = |cells: &Cells, i: usize| {
        let corners = cells.corners(i);
        let mean = corners.iter().map(|node| at_nodes[*node as usize]).sum::<f64>() / corners.len() as f64;
        (length(mesh, cells, i) / mean).powi(mesh.dim() as i32)
    };
    let n_elements = mesh.solids().map(|(_, cells)| (0..cells.len()).map(|i| n_of(cells, i)).sum::<f64>()).sum();
    Sizes { at_nodes, n_elements }
}

/// At each corner the geometric mean of its elements' values; not a number elsewhere.
fn means(mesh: &Mesh, value: impl Fn((usize, usize)) -> f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); mesh.coords.len()];
    for (block, cells) in mesh.solids() {
        for i in 0..cells.len() {
            let log = value((block, i)).ln();
            for node in cells.corners(i) {
                let (sum, n) = &mut sums[*node as usize];
                (*sum, *n) = (*sum + log, *n + 1.0);
            }
        }
    }
    sums.into_iter().map(|(sum, n)| f64::exp(sum / n)).collect()
}

/// By what each element's size is to be multiplied.
fn factors(mesh: &Mesh, errors: &[Vec<f64>], wanted: f64, may_be_singular: &impl Fn(u32) -> bool) -> Vec<Vec<f64>> {
    let is_quadratic = mesh.solids().any(|(_, cells)| cells.kind.info().is_quadratic());
    let (order, dim) = (if is_quadratic { 2.0 } else { 1.0 }, mesh.dim() as f64);
    let power = 2.0 / (2.0 * order + dim);
    // Elements without any error have a logarithm, too.
    let error = |(block, i): (usize, usize)| errors[block][i].max(f64::MIN_POSITIVE);
    let around = means(mesh, error);
    let is_outlier = |(block, i): (usize, usize)| {
        let corners = mesh.cells[block].corners(i);
        let log = corners.iter().map(|node| around[*node as usize].ln()).sum::<f64>() / corners.len() as f64;
        let touches = corners.iter().any(|node| may_be_singular(*node));
        error((block, i)) > OUTLIER[usize::from(!touches)] * log.exp()
    };
    let all = || mesh.solids().flat_map(|(block, cells)| (0..cells.len()).map(move |i| (block, i)));
    let sum: f64 = all().filter(|cell| !is_outlier(*cell)).map(|cell| error(cell).powf(power * dim)).sum();
    // Outliers, which have as much each, shall not use up more than is wanted.
    let n_outliers = all().filter(|cell| is_outlier(*cell)).count().max(1) as f64;
    let each = (wanted * wanted / sum).powf(0.5 / (order * power)).min(wanted / n_outliers.sqrt());
    let factor = |cell| {
        let is_singular = error(cell) > each && is_outlier(cell);
        let (power, least) = if is_singular { (1.0 / SINGULAR, LEAST) } else { (power, CHANGE[0]) };
        (each / error(cell)).powf(power).clamp(least, CHANGE[1])
    };
    let mut factors: Vec<Vec<f64>> = errors.iter().map(|block| Vec::with_capacity(block.len())).collect();
    all().for_each(|cell| factors[cell.0].push(factor(cell)));
    factors
}

/// The size that Gmsh makes an element of, by the mean length of its edges between their ends.
fn length(mesh: &Mesh, cells: &Cells, i: usize) -> f64 {
    let (nodes, edges) = (cells.cell(i), cells.kind.edges());
    let x = |b: usize| mesh.coords[nodes[b] as usize];
    let mean = edges.iter().map(|edge| norm(sub(x(edge[1]), x(edge[0])))).sum::<f64>() / edges.len() as f64;
    if cells.kind.info().domain == Domain::Tetrahedron { mean / EDGES } else { mean }
}

/// Makes sizes smaller where they grow too fast along an edge.
fn limit_growth(mesh: &Mesh, sizes: &mut [f64]) {
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for (_, cells) in mesh.solids() {
            for (i, edge) in (0..cells.len()).flat_map(|i| cells.kind.edges().iter().map(move |edge| (i, edge))) {
                let [a, b] = [edge[0], edge[1]].map(|end| cells.cell(i)[end] as usize);
                let step = GROWTH * norm(sub(mesh.coords[a], mesh.coords[b]));
                for (from, to) in [(a, b), (b, a)] {
                    // By more than rounding, so that it ends.
                    if sizes[to] > (1.0 + 1e-9) * (sizes[from] + step) {
                        (sizes[to], is_changed) = (sizes[from] + step, true);
                    }
                }
            }
        }
    }
}

impl Sizes {
    /// Writes Gmsh's view: each element by its corners, and the sizes there.
    pub fn write<W: Write>(&self, out: W, mesh: &Mesh) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        writeln!(out, "View \"size\" {{")?;
        for (_, cells) in mesh.solids() {
            for i in 0..cells.len() {
                let corners = cells.corners(i).iter().map(|node| *node as usize);
                let places: Vec<String> =
                    corners.clone().flat_map(|node| mesh.coords[node]).map(|c| c.to_string()).collect();
                let sizes: Vec<String> = corners.map(|node| format!("{:.6e}", self.at_nodes[node])).collect();
                let code = code(cells.kind.info().domain);
                writeln!(out, "{code}({}){{{}}};", places.join(","), sizes.join(","))?;
            }
        }
        writeln!(out, "}};")?;
        out.flush()
    }
}

/// What views call a scalar on a shape.
fn code(domain: Domain) -> &'static str {
    match domain {
        Domain::Point => "SP",
        Domain::Line => "SL",
        Domain::Triangle => "ST",
        Domain::Quadrilateral => "SQ",
        Domain::Tetrahedron => "SS",
        Domain::Hexahedron => "SH",
        Domain::Wedge => "SI",
        Domain::Pyramid => "SY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Quad4, Tri3, Tri6};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    /// Errors that are equal everywhere: uniform refinement, by the order of the elements.
    #[test]
    fn equal_errors_are_refined_by_the_order() {
        for (kind, order) in [(Tri3, 1.0), (Tri6, 2.0), (Quad4, 1.0)] {
            let mesh = generate_rectangle(kind, [4.0, 4.0], [4, 4]).unwrap();
            let block = mesh.solids().next().unwrap().0;
            let n = mesh.cells[block].len();
            let mut errors = vec![vec![]; mesh.cells.len()];
            errors[block] = vec![0.2 / (n as f64).sqrt(); n];
            let found = sizes(&mesh, &[&errors], 0.1 / AIM, |_| false);
            let expected = n as f64 * 4f64.powf(1.0 / order);
            assert!((found.n_elements / expected - 1.0).abs() < 0.2, "{kind:?}: {} {expected}", found.n_elements);
        }
    }

    #[test]
    fn a_spot_is_refined_alone_and_sizes_grow_slowly_from_it() {
        let mesh = generate_box(Hex8, [8.0, 1.0, 1.0], [8, 1, 1]).unwrap();
        let block = mesh.solids().next().unwrap().0;
        let mut errors = vec![vec![]; mesh.cells.len()];
        errors[block] = vec![1e-4; 8];
        errors[block][0] = 0.2;
        let found = sizes(&mesh, &[&errors], 0.01, |_| false);
        let at = |x: f64| {
            let nodes = mesh.coords.iter().zip(&found.at_nodes).filter(|(at, _)| at[0] == x);
            nodes.map(|(_, size)| *size).fold(0.0, f64::max)
        };
        assert!((at(0.0) - LEAST).abs() < 1e-12, "{}", at(0.0));
        assert!((0..8).all(|x| at(f64::from(x) + 1.0) <= at(f64::from(x)) + GROWTH + 1e-9));
        assert!((at(8.0) - CHANGE[1]).abs() < 1e-9, "{}", at(8.0));
        // What another case needs is kept.
        let mut other = errors.clone();
        other[block].reverse();
        let both = sizes(&mesh, &[&errors, &other], 0.01, |_| false);
        assert!((both.at_nodes[0] - found.at_nodes[0]).abs() < 1e-12 && both.n_elements > found.n_elements);
    }

    #[test]
    fn a_view_has_every_element_with_its_corners() {
        let mesh = generate_rectangle(Tri6, [2.0, 1.0], [1, 1]).unwrap();
        let sizes = Sizes { at_nodes: vec![0.5; mesh.coords.len()], n_elements: 2.0 };
        let mut text = Vec::new();
        sizes.write(&mut text, &mesh).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("View \"size\" {\nST(0,0,0,2,0,0,"), "{text}");
        assert_eq!(text.matches("ST(").count(), 2);
        assert_eq!(text.matches("{5.000000e-1,5.000000e-1,5.000000e-1};").count(), 2, "{text}");
    }
}
