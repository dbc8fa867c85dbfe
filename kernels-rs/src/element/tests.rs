//! Properties that every element of the list must have.

use super::*;
use crate::material::{Lame, add_stiffness_block};
use approx::assert_relative_eq;

/// Node coordinates of the reference element, found from `sum_b N_b(xi) x_b = xi`.
fn reference_nodes<E: Element>() -> E::Nodal<[f64; 3]> {
    match E::NAME {
        "tet4" => E::nodal(|b| [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][b]),
        "hex8" => E::nodal(|b| {
            let high = |bit: bool| if bit { 1.0 } else { -1.0 };
            [high(matches!(b % 4, 1 | 2)), high(b % 4 >= 2), high(b >= 4)]
        }),
        other => panic!("no reference nodes for {other}"),
    }
}

/// A distorted element: the reference nodes moved by a smooth map.
fn distorted<E: Element>() -> E::Nodal<[f64; 3]> {
    let nodes = reference_nodes::<E>();
    E::nodal(|b| {
        let [x, y, z] = nodes[b];
        [1.1 * x + 0.2 * y + 0.05 * y * z, 0.9 * y - 0.1 * z + 0.04 * x * z, 1.3 * z + 0.15 * x + 0.03 * x * y]
    })
}

fn stiffness<E: Element>(x: &E::Nodal<[f64; 3]>) -> nalgebra::DMatrix<f64> {
    let lame = Lame { lambda: 1.2, mu: 0.8 };
    let mut ke = nalgebra::DMatrix::zeros(3 * E::N, 3 * E::N);
    for &(xi, weight) in E::QUADRATURE {
        let g = gradients::<E, f64>(x, xi);
        for a in 0..E::N {
            for b in 0..E::N {
                let mut block = [[0.0; 3]; 3];
                add_stiffness_block(&mut block, g.dn_dx[a], g.dn_dx[b], lame, weight * g.det_j);
                for i in 0..3 {
                    for j in 0..3 {
                        ke[(3 * a + i, 3 * b + j)] += block[i][j];
                    }
                }
            }
        }
    }
    ke
}

fn nodal_values_and_partition_of_unity<E: Element>() {
    let nodes = reference_nodes::<E>();
    for a in 0..E::N {
        let shape = E::shape(nodes[a]);
        for b in 0..E::N {
            assert_relative_eq!(shape[b], f64::from(u8::from(a == b)), epsilon = 1e-14);
        }
    }
    let shape = E::shape([0.21, 0.13, 0.34]);
    let sum: f64 = (0..E::N).map(|b| shape[b]).sum();
    assert_relative_eq!(sum, 1.0, epsilon = 1e-14);
}

fn gradients_match_differences<E: Element>() {
    let (xi, h) = ([0.21, 0.13, 0.34], 1e-6);
    let gradient = E::shape_gradient(xi);
    for i in 0..3 {
        let (mut up, mut down) = (xi, xi);
        up[i] += h;
        down[i] -= h;
        let (up, down) = (E::shape(up), E::shape(down));
        for b in 0..E::N {
            assert_relative_eq!(gradient[b][i], (up[b] - down[b]) / (2.0 * h), epsilon = 1e-9);
        }
    }
}

fn linear_fields_are_reproduced<E: Element>() {
    let x = distorted::<E>();
    let h = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]];
    for &(xi, _) in E::QUADRATURE {
        let g = gradients::<E, f64>(&x, xi);
        for i in 0..3 {
            for j in 0..3 {
                let slope: f64 =
                    (0..E::N).map(|b| (0..3).map(|k| h[i][k] * x[b][k]).sum::<f64>() * g.dn_dx[b][j]).sum();
                assert_relative_eq!(slope, h[i][j], epsilon = 1e-12);
            }
        }
    }
}

fn exactly_six_zero_eigenvalues<E: Element>() {
    let eigenvalues = stiffness::<E>(&distorted::<E>()).symmetric_eigenvalues();
    let largest = eigenvalues.amax();
    let zeros = eigenvalues.iter().filter(|v| v.abs() < 1e-10 * largest).count();
    assert_eq!(zeros, 6, "{} {eigenvalues}", E::NAME);
    assert!(eigenvalues.iter().all(|v| *v > -1e-10 * largest));
}

fn quadrature_weights_give_the_volume<E: Element>() {
    let volume: f64 = E::QUADRATURE.iter().map(|(_, weight)| weight).sum();
    let expected = if E::NAME == "tet4" { 1.0 / 6.0 } else { 8.0 };
    assert_relative_eq!(volume, expected, epsilon = 1e-14);
}

macro_rules! properties {
    ($($E:ident),+) => { $(
        #[allow(non_snake_case)]
        mod $E {
            use super::*;
            #[test]
            fn nodal() { nodal_values_and_partition_of_unity::<crate::element::$E>() }
            #[test]
            fn gradient() { gradients_match_differences::<crate::element::$E>() }
            #[test]
            fn linear() { linear_fields_are_reproduced::<crate::element::$E>() }
            #[test]
            fn rigid_modes() { exactly_six_zero_eigenvalues::<crate::element::$E>() }
            #[test]
            fn volume() { quadrature_weights_give_the_volume::<crate::element::$E>() }
        }
    )+ };
}
for_each_element!(properties);
