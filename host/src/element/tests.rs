//! The tables of every kind against its reference element.

use approx::assert_relative_eq;
use kernels_rs::element::Element;

use super::shape::determinant;
use super::vector::{cross, dot, sub};
use super::*;

#[test]
fn names_and_nodes_are_those_of_the_device_code() {
    macro_rules! check {
        ($($E:ident),+) => { $({
            type E = kernels_rs::element::$E;
            let info = ElementKind::$E.info();
            assert_eq!((info.name, info.dim, info.n_nodes), (E::NAME, E::DIM, E::N));
        })+ };
    }
    kernels_rs::for_each_element!(check);
    assert_eq!((MAX_NODES, MAX_FACE_NODES), (20, 8));
    assert!(ElementKind::ALL.iter().all(|kind| kind.info().dim == 3 || kind.info().n_corners <= MAX_FACE_CORNERS));
}

#[test]
fn middle_nodes_of_faces_lie_in_the_middle_of_their_edges() {
    for kind in ElementKind::ALL {
        let info = kind.info();
        for (face, local) in info.faces {
            assert_eq!(local.len(), face.info().n_nodes, "{kind:?}");
            assert!(local[..face.info().n_corners].iter().all(|&k| k < info.n_corners), "{kind:?} {local:?}");
            for edge in face.info().edges().iter().filter(|edge| edge.len() == 3) {
                let x = |k: usize| info.shape.nodes[local[edge[k]]];
                assert_eq!(x(2), middle([x(0), x(1)].into_iter()), "{kind:?} {local:?} {edge:?}");
            }
        }
        let mut nodes: Vec<usize> = info.edges().concat();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes, (0..if info.dim > 0 { info.n_nodes } else { 0 }).collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn faces_point_outward_and_close_the_element() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.info().dim > 1) {
        let info = kind.info();
        let mut closed = [0.0; 3];
        for (face, local) in info.faces {
            let x: Vec<[f64; 3]> = local.iter().map(|&k| info.shape.nodes[k]).collect();
            let out = sub(middle(x.iter().copied()), info.middle());
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
    use ElementKind::*;
    for (linear, quadratic) in [(Line2, Line3), (Tri3, Tri6), (Quad4, Quad8), (Tet4, Tet10), (Hex8, Hex20)] {
        assert_eq!((linear.quadratic(), quadratic.linear()), (Some(quadratic), linear));
        assert_eq!((quadratic.quadratic(), linear.linear()), (Some(quadratic), linear));
        assert!(quadratic.info().is_quadratic() && !linear.info().is_quadratic());
    }
    assert_eq!(Point1.quadratic(), Some(Point1));
}

#[test]
fn the_order_of_vtk_is_a_permutation_that_keeps_the_corners() {
    for info in ElementKind::ALL.iter().map(|kind| kind.info()).filter(|info| !info.vtk_order.is_empty()) {
        let mut order = info.vtk_order.to_vec();
        assert!(order[..info.n_corners].iter().copied().eq(0..info.n_corners), "{}", info.name);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..info.n_nodes), "{}", info.name);
    }
}

#[test]
fn edges_have_their_shape_functions() {
    for kind in [ElementKind::Line2, ElementKind::Line3] {
        let shape = &kind.info().shape;
        let n = shape.nodes.len();
        for (a, &xi) in shape.nodes.iter().enumerate() {
            (0..n).for_each(|b| assert_eq!((shape.value)(b, xi), f64::from(u8::from(a == b))));
        }
        for b in 0..n {
            let at = |x: f64| (shape.value)(b, [x, 0.0, 0.0]);
            assert_relative_eq!((shape.gradient)(b, [0.3, 0.0, 0.0])[0], (at(0.4) - at(0.2)) / 0.2, epsilon = 1e-12);
        }
    }
}

/// `int x^a y^b z^c` over the reference element.
fn monomial(info: &ElementInfo, powers: [u32; 3]) -> f64 {
    if info.is_simplex() {
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        return powers.map(factorial).iter().product::<f64>() / factorial(powers.iter().sum::<u32>() + info.dim as u32);
    }
    let along = |&p: &u32| if p % 2 == 1 { 0.0 } else { 2.0 / f64::from(p + 1) };
    powers[..info.dim].iter().map(along).product()
}

#[test]
fn rules_of_curved_elements_have_their_degree() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.info().is_quadratic()) {
        let info = kind.info();
        let degree = match (info.is_simplex(), info.dim) {
            (true, 2) => 4,
            (true, _) => 3,
            (false, _) => 5,
        };
        for powers in (0..6u32.pow(3)).map(|k| [k % 6, k / 6 % 6, k / 36]) {
            let within = powers[info.dim..].iter().all(|&p| p == 0);
            if within && (!info.is_simplex() || powers.iter().sum::<u32>() <= degree) {
                let value = |at: &shape::At| {
                    let x = |c: usize| at.n.iter().zip(info.shape.nodes).map(|(n, x)| n * x[c]).sum::<f64>();
                    (0..3).map(|c| x(c).powi(powers[c] as i32)).product::<f64>()
                };
                let sum: f64 = kind.table().rule.iter().map(|at| at.weight * value(at)).sum();
                assert_relative_eq!(sum, monomial(info, powers), epsilon = 1e-14);
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
            assert_relative_eq!(upright, 1.0, epsilon = 1e-14);
            assert_relative_eq!(turned, -1.0, epsilon = 1e-14);
        }
    }
}
