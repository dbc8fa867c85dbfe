//! Properties that every element of the list must have.

use super::*;
use crate::material::{Lame, stiffness_block};
use approx::assert_relative_eq;

/// A distorted element: the reference nodes moved by a smooth map.
fn distorted<E: Element>() -> E::Nodal<[f64; 3]> {
    let plane = E::DIM == 2;
    E::nodal(|b| {
        let [x, y, z] = E::NODES[b];
        let bent = [1.1 * x + 0.2 * y + 0.05 * y * z + 0.06 * y * y, 0.9 * y - 0.1 * z + 0.04 * x * z + 0.05 * x * x];
        [bent[0], bent[1], if plane { 0.0 } else { 1.3 * z + 0.15 * x + 0.03 * x * y }]
    })
}

fn stiffness<E: Element>(x: &E::Nodal<[f64; 3]>, rule: &[Point]) -> nalgebra::DMatrix<f64> {
    let (dim, lame) = (E::DIM, Lame { lambda: 1.2, mu: 0.8 });
    nalgebra::DMatrix::from_fn(dim * E::N, dim * E::N, |row, column| {
        let mut product = [[0.0; 3]; 3];
        for &(xi, weight) in rule {
            let g = gradients::<E, f64>(x, xi);
            let ga = g.dn_dx[row / dim].map(|slope| weight * g.det_j * slope);
            add_outer(dim, &mut product, ga, g.dn_dx[column / dim]);
        }
        stiffness_block(dim, product, lame)[row % dim][column % dim]
    })
}

fn nodal_values_and_partition_of_unity<E: Element>() {
    assert_eq!(E::NODES.len(), E::N);
    for a in 0..E::N {
        for b in 0..E::N {
            assert_relative_eq!(E::shape(b, E::NODES[a]), f64::from(u8::from(a == b)), epsilon = 1e-14);
        }
    }
    let sum: f64 = (0..E::N).map(|b| E::shape(b, [0.21, 0.13, 0.34])).sum();
    assert_relative_eq!(sum, 1.0, epsilon = 1e-14);
}

fn gradients_match_differences<E: Element>() {
    let (xi, h) = ([0.21, 0.13, 0.34], 1e-6);
    for i in 0..E::DIM {
        let (mut up, mut down) = (xi, xi);
        up[i] += h;
        down[i] -= h;
        for b in 0..E::N {
            let slope = (E::shape(b, up) - E::shape(b, down)) / (2.0 * h);
            assert_relative_eq!(E::shape_gradient(b, xi)[i], slope, epsilon = 1e-9);
        }
    }
}

fn linear_fields_are_reproduced<E: Element>() {
    let x = distorted::<E>();
    let h = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]];
    for &(xi, _) in E::QUADRATURE {
        let g = gradients::<E, f64>(&x, xi);
        for i in 0..E::DIM {
            for j in 0..E::DIM {
                let slope: f64 =
                    (0..E::N).map(|b| (0..E::DIM).map(|k| h[i][k] * x[b][k]).sum::<f64>() * g.dn_dx[b][j]).sum();
                assert_relative_eq!(slope, h[i][j], epsilon = 1e-12);
            }
        }
    }
}

/// Motions beside the rigid ones that strain none of the points: of elements of reduced integration.
fn spurious<E: Element>() -> usize {
    match E::NAME {
        "quad8r" => 1,
        "hex20r" => 6,
        _ => 0,
    }
}

fn rigid_motions_alone_cost_nothing<E: Element>() {
    let eigenvalues = stiffness::<E>(&distorted::<E>(), E::QUADRATURE).symmetric_eigenvalues();
    let largest = eigenvalues.amax();
    let zeros = eigenvalues.iter().filter(|v| v.abs() < 1e-10 * largest).count();
    assert_eq!(zeros, if E::DIM == 2 { 3 } else { 6 } + spurious::<E>(), "{} {eigenvalues}", E::NAME);
    assert!(eigenvalues.iter().all(|v| *v > -1e-10 * largest));
}

/// Three Gauss points a direction, brought to the shape, are enough for the stiffness of every undistorted element.
fn the_rule_is_exact_for_the_stiffness<E: Element>() {
    let nodes = E::nodal(|b| E::NODES[b]);
    let fine: Vec<Point> = if E::DIM == 2 { rules::SQUARE_3.to_vec() } else { rules::CUBE_3.to_vec() };
    let bring = |(u, weight): Point| {
        let (xi, scale) = E::DOMAIN.collapsed(u);
        (xi, scale * weight)
    };
    let fine: Vec<Point> = fine.into_iter().map(bring).collect();
    let [coarse, fine] = [E::QUADRATURE, &fine].map(|rule| stiffness::<E>(&nodes, rule));
    assert!((&coarse - &fine).amax() < 1e-13 * fine.amax(), "{} {}", E::NAME, (&coarse - &fine).amax());
}

macro_rules! properties {
    ($($E:ident),+) => { $(
        #[allow(non_snake_case)]
        #[test]
        fn $E() {
            nodal_values_and_partition_of_unity::<super::$E>();
            gradients_match_differences::<super::$E>();
            if super::$E::DIM > 1 {
                linear_fields_are_reproduced::<super::$E>();
                rigid_motions_alone_cost_nothing::<super::$E>();
                if spurious::<super::$E>() == 0 {
                    the_rule_is_exact_for_the_stiffness::<super::$E>();
                }
            }
        }
    )+ };
}
for_each_kind!(properties);
