//! The device code's elements against their definition, by its nodes and monomials.

use crate::common::elements::Reference;
use crate::common::{Random, assert_close};
use kernels_rs::element::Element;
use kernels_rs::for_each_solvable;
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

macro_rules! every {
    (($check:ident) $($E:ident),+) => { $($check::<kernels_rs::element::$E>();)+ };
}

#[test]
fn elements_are_what_their_nodes_and_monomials_define() {
    for_each_solvable!(every, (is_the_defined_element));
}
