//! The device code's elements against their definition, by its nodes and monomials.

use crate::common::elements::Reference;
use crate::common::{Random, assert_close};
use kernels_rs::element::Element;
use kernels_rs::for_each_solvable;
use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::write::{Form, to_bytes};
use warpfem::model::Model;

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

/// A mesh file does not say how its elements are integrated; the case does.
#[test]
fn a_case_says_which_kind_the_elements_of_a_file_are() {
    let folder = std::env::temp_dir().join(format!("warpfem-kinds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mesh = generate_box(ElementKind::Hex20R, [1.0; 3], [2, 2, 1]).unwrap();
    std::fs::write(folder.join("box.msh"), to_bytes(&mesh, Form::Binary)).unwrap();
    let load = |element: &str| {
        let path = folder.join("case.toml");
        let material = "[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.3\n";
        let clamp = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
        std::fs::write(&path, format!("[mesh]\nfile = \"box.msh\"\n{element}\n{material}{clamp}")).unwrap();
        Model::load(&path)
    };
    let kind = |element: &str| load(element).unwrap().mesh.cells.iter().map(|cells| cells.kind).max().unwrap();
    assert_eq!((kind(""), kind("element = \"hex20r\"")), (ElementKind::Hex20, ElementKind::Hex20R));
    for (wrong, said) in [("hex8", "no element of the mesh can be hex8"), ("hex21", "element `hex21`")] {
        let error = load(&format!("element = {wrong:?}")).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
