//! The tables of every kind against its reference element.

use approx::assert_relative_eq;

use super::shape::determinant;
use super::vector::{cross, dot, sub};
use super::*;

#[test]
fn arrays_of_nodes_are_long_enough() {
    for info in ElementKind::ALL.iter().map(|kind| kind.info()) {
        assert!(info.n_nodes <= if info.dim == 3 { MAX_NODES } else { MAX_FACE_NODES }, "{}", info.name);
        assert!(info.dim == 3 || info.n_corners <= MAX_FACE_CORNERS, "{}", info.name);
    }
    let names: std::collections::BTreeSet<_> = ElementKind::ALL.iter().map(|kind| kind.info().name).collect();
    assert!(names.len() == ElementKind::ALL.len() && ElementKind::ALL.iter().all(|k| k.info().gmsh > 0));
}

#[test]
fn middle_nodes_of_faces_lie_in_the_middle_of_their_edges() {
    for kind in ElementKind::ALL {
        let info = kind.info();
        assert!(info.shape.nodes.starts_with(info.domain.corners()), "{kind:?}");
        for (face, local) in kind.faces() {
            assert_eq!(local.len(), face.info().n_nodes, "{kind:?}");
            assert!(local[..face.info().n_corners].iter().all(|&k| k < info.n_corners), "{kind:?} {local:?}");
            for edge in face.edges().iter().filter(|edge| edge.len() == 3) {
                let x = |k: usize| info.shape.nodes[local[edge[k]]];
                assert_eq!(x(2), middle([x(0), x(1)].into_iter()), "{kind:?} {local:?} {edge:?}");
            }
        }
        let mut nodes: Vec<usize> = kind.edges().concat();
        nodes.sort_unstable();
        nodes.dedup();
        // All but those of a point, and those in the middle of the whole.
        let on_edges = (0..info.n_nodes).filter(|&k| info.dim > 0 && info.shape.nodes[k] != info.domain.centroid());
        assert!(info.dim == 1 || nodes == on_edges.collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn faces_point_outward_and_close_the_element() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.info().dim > 1) {
        let info = kind.info();
        let mut closed = [0.0; 3];
        for (face, local) in kind.faces() {
            let x: Vec<[f64; 3]> = local.iter().map(|&k| info.shape.nodes[k]).collect();
            let out = sub(middle(x.iter().copied()), info.domain.centroid());
            for at in &face.table().rule {
                let [s, t, _] = at.tangents(|b| x[b]);
                let normal = if info.dim == 2 { [s[1], -s[0], 0.0] } else { cross(s, t) };
                assert!(dot(normal, out) > 0.0, "{kind:?} {local:?}");
                (0..3).for_each(|c| closed[c] += at.weight * normal[c]);
            }
        }
        assert!(closed.iter().all(|c| c.abs() < 1e-14), "{kind:?} {closed:?}");
    }
}

#[test]
fn linear_and_quadratic_kinds_of_one_shape_find_each_other() {
    let is_one =
        |kind: &&ElementKind| kind.info().dim > 0 && !kind.info().is_quadratic() && kind.of_kernels() == **kind;
    for &linear in ElementKind::ALL.iter().filter(is_one) {
        let quadratic = linear.quadratic().unwrap();
        assert_eq!((quadratic.linear(), linear.linear(), quadratic.quadratic()), (linear, linear, Some(quadratic)));
        assert!(quadratic.info().is_quadratic() && quadratic.info().domain == linear.info().domain);
    }
    assert_eq!(ElementKind::Point1.quadratic(), Some(ElementKind::Point1));
}

/// VTK's edges in the order of their nodes (Schroeder, Martin, Lorensen, "The Visualization Toolkit"; file formats).
fn vtk_edges(domain: Domain) -> &'static [[usize; 2]] {
    match domain {
        Domain::Point => &[],
        Domain::Line => &[[0, 1]],
        Domain::Triangle => &[[0, 1], [1, 2], [2, 0]],
        Domain::Quadrilateral => &[[0, 1], [1, 2], [2, 3], [3, 0]],
        Domain::Tetrahedron => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
        Domain::Wedge => &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]],
        Domain::Pyramid => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
        Domain::Hexahedron => {
            &[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
        }
    }
}

#[test]
fn the_order_of_vtk_is_a_permutation_that_puts_nodes_on_its_edges() {
    for info in ElementKind::ALL.iter().map(|kind| kind.info()) {
        let order = if info.vtk_order.is_empty() { (0..info.n_nodes).collect() } else { info.vtk_order.to_vec() };
        let mut sorted = [order[..info.n_corners].to_vec(), order[info.n_corners..].to_vec()];
        sorted.iter_mut().for_each(|part| part.sort_unstable());
        assert!(sorted.concat().into_iter().eq(0..info.n_nodes), "{}", info.name);
        let x = |k: usize| info.shape.nodes[order[k]];
        for (&[a, b], k) in vtk_edges(info.domain).iter().zip(info.n_corners..info.n_nodes) {
            assert_eq!(x(k), middle([x(a), x(b)].into_iter()), "{}", info.name);
        }
    }
}

#[test]
fn values_at_points_reach_the_nodes_without_much_amplification() {
    for &kind in ElementKind::ALL {
        let (info, n) = (kind.info(), kind.info().shape.sampled.len());
        let step = (1..4).rev().find(|&step| info.domain.has_monomial(step, [1, 0, 0]) && n > info.dim);
        for (xi, row) in info.shape.nodes.iter().zip(kind.table().extended.chunks(n)) {
            assert!(row.iter().map(|share| share.abs()).sum::<f64>() <= 10.0, "{kind:?} {row:?}");
            // Constants; and linear functions where there are points enough in all directions.
            let heights = || info.shape.sampled.iter().map(|(xi, _)| xi[2]);
            let is_flat = info.dim == 3 && heights().all(|z| z == info.shape.sampled[0].0[2]);
            for f in [|_: &[f64; 3]| 1.0, |x: &[f64; 3]| 0.5 + x[0] - 2.0 * x[1] + 3.0 * x[2]] {
                let found: f64 = row.iter().zip(info.shape.sampled).map(|(share, (xi, _))| share * f(xi)).sum();
                if f(&[0.0; 3]) == 1.0 || step.is_some() && !is_flat {
                    assert_relative_eq!(found, f(xi), epsilon = 1e-13);
                }
            }
        }
    }
}

#[test]
fn points_are_inside_or_outside() {
    for domain in ElementKind::ALL.iter().map(|kind| kind.info().domain).filter(|domain| domain.dim() > 0) {
        let centroid = domain.centroid();
        for corner in domain.corners() {
            let at = |share: f64| [0, 1, 2].map(|c| centroid[c] + share * (corner[c] - centroid[c]));
            assert!(domain.excess(*corner).abs() < 1e-15 && domain.excess(centroid) < -0.1, "{domain:?}");
            assert!(domain.excess(at(0.9)) < 0.0 && domain.excess(at(1.2)) > 0.0, "{domain:?}");
            assert_eq!(domain.nearest(at(0.9)), at(0.9), "{domain:?}");
            assert!(domain.excess(domain.nearest(at(1.2))) < 1e-15, "{domain:?}");
        }
    }
}

/// `int x^a y^b z^c` over the reference element, by its factors.
fn monomial(domain: Domain, powers: [u32; 3]) -> f64 {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let along = |p: u32| if p % 2 == 1 { 0.0 } else { 2.0 / f64::from(p + 1) };
    if domain.has_apex() {
        // `int t^(a + b + 2) (1 - t)^c dt` is a beta function.
        let [a, b, c] = powers;
        return along(a) * along(b) * factorial(a + b + 2) * factorial(c) / factorial(a + b + c + 3);
    }
    let mut first = 0;
    let of = domain.factors().iter().map(|&n| {
        let own = &powers[first..first + n];
        first += n;
        match n {
            1 => along(own[0]),
            _ => own.iter().map(|&p| factorial(p)).product::<f64>() / factorial(own.iter().sum::<u32>() + n as u32),
        }
    });
    of.product()
}

#[test]
fn rules_of_curved_elements_have_their_degree() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.info().is_quadratic() && !kind.is_reduced()) {
        let info = kind.info();
        for powers in (0..6u32.pow(3)).map(|k| [k % 6, k / 6 % 6, k / 36]) {
            let mut first = 0;
            let within = info.domain.factors().iter().all(|&n| {
                first += n;
                // Drawing together costs a degree for each further coordinate.
                let sum = powers[first - n..first].iter().sum::<u32>();
                sum <= 6 - n as u32 && !(info.domain.has_apex() && powers.iter().sum::<u32>() > 3)
            });
            if within && powers[info.dim..].iter().all(|&p| p == 0) {
                let value = |at: &shape::At| {
                    let x = |c: usize| at.n.iter().zip(info.shape.nodes).map(|(n, x)| n * x[c]).sum::<f64>();
                    (0..3).map(|c| x(c).powi(powers[c] as i32)).product::<f64>()
                };
                let sum: f64 = kind.table().rule.iter().map(|at| at.weight * value(at)).sum();
                assert_relative_eq!(sum, monomial(info.domain, powers), epsilon = 1e-13);
            }
        }
    }
}

#[test]
fn the_other_way_round_is_the_mirrored_element_and_back() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.info().dim > 1) {
        let (info, mirrored) = (kind.info(), &kind.table().mirrored);
        assert!((0..info.n_nodes).all(|k| mirrored[mirrored[k]] == k), "{kind:?}");
        for at in &kind.table().quadrature {
            let upright = determinant(info.dim, at.tangents(|b| info.shape.nodes[b]));
            let turned = determinant(info.dim, at.tangents(|b| info.shape.nodes[mirrored[b]]));
            assert_relative_eq!(upright, 1.0, epsilon = 1e-13);
            assert_relative_eq!(turned, -1.0, epsilon = 1e-13);
        }
    }
}
