//! An element of one's own: `cargo run --release --example element`.
//!
//! The linear prism, `N = L_t(xi, eta) (1 -+ zeta) / 2` with the barycentric coordinates L of a triangle. Stiffness, on
//! the host and in kernels, is written over [`Element`]: that of the prism follows from what stands here. To have it in
//! meshes and on GPUs, put it into `kernels-rs/src/element` and name it in `for_each_element!`; docs/extending.md says
//! what the host wants to know beside.

use kernels_rs::assembly::rows::row_of_products;
use kernels_rs::element::{Element, Point, gradients};
use kernels_rs::form::{Elasticity, Form};
use kernels_rs::material::Lame;
use kernels_rs::real::Real;

/// Six nodes: a triangle at zeta = -1, and the same at zeta = 1.
#[derive(Debug, Clone, Copy)]
pub struct Wedge6;

/// Where the two layers of points are: `1 / sqrt(3)`.
const HEIGHT: f64 = 0.577_350_269_189_625_8;

/// Quadratic in the triangle, cubic along the prism.
const fn point(xi: f64, eta: f64, zeta: f64) -> Point {
    ([xi, eta, zeta], 1.0 / 6.0)
}

impl Element for Wedge6 {
    const NAME: &'static str = "wedge6";
    const DIM: usize = 3;
    const N: usize = 6;
    type Nodal<X: Copy> = [X; 6];
    const NODES: &'static [[f64; 3]] =
        &[[0.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]];
    const QUADRATURE: &'static [Point] = &[
        point(1.0 / 6.0, 1.0 / 6.0, -HEIGHT),
        point(2.0 / 3.0, 1.0 / 6.0, -HEIGHT),
        point(1.0 / 6.0, 2.0 / 3.0, -HEIGHT),
        point(1.0 / 6.0, 1.0 / 6.0, HEIGHT),
        point(2.0 / 3.0, 1.0 / 6.0, HEIGHT),
        point(1.0 / 6.0, 2.0 / 3.0, HEIGHT),
    ];
    type Points<X: Copy> = [X; 6];
    const CENTROID: [f64; 3] = [1.0 / 3.0, 1.0 / 3.0, 0.0];

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let (corner, zeta) = (corners(xi)[b % 3], side::<T>(b) * xi[2]);
        T::from_f64(0.5) * corner * (T::ONE + zeta)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let half = T::from_f64(0.5);
        let along = half * (T::ONE + side::<T>(b) * xi[2]);
        let slope = [[-T::ONE, -T::ONE], [T::ONE, T::ZERO], [T::ZERO, T::ONE]][b % 3];
        [slope[0] * along, slope[1] * along, half * side::<T>(b) * corners(xi)[b % 3]]
    }
}

/// Barycentric coordinates in the triangle.
#[inline(always)]
fn corners<T: Real>(xi: [T; 3]) -> [T; 3] {
    [T::ONE - xi[0] - xi[1], xi[0], xi[1]]
}

/// zeta of a node.
#[inline(always)]
fn side<T: Real>(b: usize) -> T {
    if b < 3 { -T::ONE } else { T::ONE }
}

/// `K_ab`, as the assembly's kernels compute it, for nodes at `x`.
fn stiffness<E: Element>(x: &E::Nodal<[f64; 3]>, lame: Lame<f64>) -> Vec<Vec<[[f64; 3]; 3]>> {
    let row = |a| {
        let mut blocks = Vec::new();
        row_of_products::<E, Elasticity, f64>(x, a, |_, product| {
            blocks.push(Elasticity::block::<E, f64>(product, lame));
        });
        blocks
    };
    (0..E::N).map(row).collect()
}

fn main() {
    // A prism that leans and tapers.
    let x: [[f64; 3]; 6] = Wedge6::nodal(|b| {
        let [x, y, z] = Wedge6::NODES[b];
        [x + 0.1 * z + 0.05 * x * z, 0.9 * y - 0.1 * x, 0.7 * z + 0.2 * x]
    });
    let lame = Lame { lambda: 1.2, mu: 0.8 };
    let k = stiffness::<Wedge6>(&x, lame);

    // The energy of a linear field, of which stress and strain are constant: volume times their product over two.
    let slope = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]];
    let u = x.map(|x| slope.map(|row: [f64; 3]| (0..3).map(|j| row[j] * x[j]).sum::<f64>()));
    let mut energy = 0.0;
    for (a, row) in k.iter().enumerate() {
        for (b, block) in row.iter().enumerate() {
            for (i, line) in block.iter().enumerate() {
                energy += 0.5 * u[a][i] * (0..3).map(|j| line[j] * u[b][j]).sum::<f64>();
            }
        }
    }
    let volume: f64 = Wedge6::QUADRATURE.iter().map(|(xi, w)| w * gradients::<Wedge6, f64>(&x, *xi).det_j).sum();
    let strain = |i: usize, j: usize| 0.5 * (slope[i][j] + slope[j][i]);
    let squares: f64 = (0..9).map(|ij| strain(ij / 3, ij % 3).powi(2)).sum();
    let trace: f64 = (0..3).map(|i| strain(i, i)).sum();
    let expected = volume * (0.5 * lame.lambda * trace * trace + lame.mu * squares);
    println!("energy {energy:.12}, volume times energy density {expected:.12}");
    assert!((energy / expected - 1.0).abs() < 1e-12);

    // Translations and rotations cost nothing: the rows of K sum to 0, also with the arm of a rotation.
    for row in &k {
        for i in 0..3 {
            let force = |motion: &dyn Fn([f64; 3]) -> [f64; 3]| -> f64 {
                row.iter().zip(&x).map(|(block, x)| (0..3).map(|j| block[i][j] * motion(*x)[j]).sum::<f64>()).sum()
            };
            assert!(force(&|_| [1.0, 2.0, 3.0]).abs() < 1e-13);
            assert!(force(&|[x, y, z]| [2.0 * z - 3.0 * y, 3.0 * x - z, y - 2.0 * x]).abs() < 1e-13);
        }
    }
}

#[test]
fn it_runs() {
    main();
}
