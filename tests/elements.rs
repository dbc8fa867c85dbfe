//! The device code's elements against their definition, and their gradients on curved cells against differences.

use crate::common::elements::Reference;
use crate::common::{Random, assert_close};
use kernels_rs::element::{Element, gradients};
use kernels_rs::for_each_element;
use warpfem::element::ElementKind;

/// Points inside every reference element.
fn inside() -> Vec<[f64; 3]> {
    let mut random = Random(11);
    (0..20).map(|_| [(); 3].map(|()| 0.2 + 0.1 * random.next())).collect()
}

/// A point without its coordinates past the element's.
fn in_element<E: Element>(xi: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| if i < E::DIM { xi[i] } else { 0.0 })
}

/// Nodes in Gmsh's order; the polynomials of the element's monomials that are 1 at one node and 0 at the others.
fn is_the_defined_element<E: Element>() {
    let reference = Reference::of(ElementKind::from_name(E::NAME).unwrap());
    assert_eq!((E::DIM, E::N, E::NODES), (reference.dim, reference.nodes.len(), &reference.nodes[..]), "{}", E::NAME);
    for xi in inside().into_iter().map(in_element::<E>) {
        let at = reference.at(xi, 1.0);
        let shape: Vec<f64> = (0..E::N).map(|b| E::shape(b, xi)).collect();
        let slopes: Vec<[f64; 3]> = (0..E::N).map(|b| E::shape_gradient(b, xi)).collect();
        assert_close(E::NAME, &shape, &at.shape, 1e-14, 1.0);
        assert_close(E::NAME, slopes.as_flattened(), at.slopes.as_flattened(), 1e-13, 1.0);
        let single: Vec<f32> = (0..E::N).map(|b| E::shape(b, xi.map(|x| x as f32))).collect();
        assert_close(E::NAME, &single, &at.shape, 1e-6, 1.0);
    }
    let weight = |points: &[([f64; 3], f64)]| points.iter().map(|(_, weight)| weight).sum::<f64>();
    let volume: f64 = reference.rule.iter().map(|at| at.of(&reference.nodes).weight).sum();
    assert_close(E::NAME, &[weight(E::QUADRATURE)], &[volume], 1e-14, volume);
    assert_eq!(E::QUADRATURE.len(), reference.rule.len());
}

/// Along a short way `dx` in a curved cell a shape function changes by `dN_b/dx . dx`, and space by `det J` of what the
/// reference element is.
fn gradients_are_those_in_space<E: Element>() {
    let mut random = Random(12);
    let x = E::nodal(|b| in_element::<E>([0, 1, 2].map(|i| 2.0 * E::NODES[b][i] + 0.15 * random.next())));
    let place = |xi: [f64; 3]| {
        let mut sum = [0.0; 3];
        for b in 0..E::N {
            (0..3).for_each(|i| sum[i] += E::shape(b, xi) * x[b][i]);
        }
        sum
    };
    let h = 1e-6;
    for xi in inside().into_iter().map(in_element::<E>) {
        let at = gradients::<E, f64>(&x, xi);
        let mut tangents = nalgebra::Matrix3::identity();
        for i in 0..E::DIM {
            let [ahead, behind] = [h, -h].map(|h| [0, 1, 2].map(|k| if k == i { xi[k] + h } else { xi[k] }));
            let way = [0, 1, 2].map(|k| place(ahead)[k] - place(behind)[k]);
            (0..3).for_each(|k| tangents[(k, i)] = way[k] / (2.0 * h));
            for b in 0..E::N {
                let change: f64 = (0..3).map(|k| at.dn_dx[b][k] * way[k]).sum();
                let exact = E::shape(b, ahead) - E::shape(b, behind);
                assert_close(E::NAME, &[change / h], &[exact / h], 1e-8, 1.0);
            }
        }
        assert!(at.det_j > 0.0);
        assert_close(E::NAME, &[at.det_j], &[tangents.determinant()], 1e-8, at.det_j);
    }
}

macro_rules! every {
    (($check:ident) $($E:ident),+) => { $($check::<kernels_rs::element::$E>();)+ };
}

#[test]
fn elements_are_what_their_nodes_and_monomials_define() {
    for_each_element!(every, (is_the_defined_element));
}

#[test]
fn gradients_on_curved_cells_match_differences() {
    for_each_element!(every, (gradients_are_those_in_space));
}
