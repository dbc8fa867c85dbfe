//! Forces and diagonal blocks of one cell against the stiffness of assembly, for every element, form and precision.

use super::cell::{Tables, forces, node_blocks};
use super::{CurvedTet10, FixedCell, LinearTet4, Plane, Ring, SerendipityHex20, Solid, StraightTet10, TrilinearHex8};
use crate::element::*;
use crate::form::{Elasticity, Flux, Form, General, Scalar, size};
use crate::material::Lame;
use crate::real::Real;
use cuda_std::Lanes;
use cuda_std::prelude::*;

/// The reference nodes moved by a smooth map, away from the axis of a body of revolution.
fn distorted<E: Element>() -> Vec<[f64; 3]> {
    let plane = E::DIM == 2;
    let place = |[x, y, z]: [f64; 3]| {
        let bent =
            [3.0 + 1.1 * x + 0.2 * y + 0.05 * y * z + 0.06 * y * y, 0.9 * y - 0.1 * z + 0.04 * x * z + 0.05 * x * x];
        [bent[0], bent[1], if plane { 0.0 } else { 1.3 * z + 0.15 * x + 0.03 * x * y }]
    };
    E::NODES.iter().map(|xi| place(*xi)).collect()
}

/// Numbers that follow no pattern, of magnitude up to 1.
fn value(i: usize) -> f64 {
    (crate::real::mixed(i) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// `K_e` by the blocks of assembly.
fn stiffness<E: Element, P: Form>(x: &[[f64; 3]], constants: P::Constants<f64>) -> nalgebra::DMatrix<f64> {
    let (size, x) = (size::<E, P>(), E::nodal(|b| x[b]));
    let mut k = nalgebra::DMatrix::zeros(size * E::N, size * E::N);
    for &(xi, weight) in E::QUADRATURE {
        let at = gradients::<E, f64>(&x, xi);
        for a in 0..E::N {
            for b in 0..E::N {
                let mut product = P::zero();
                P::add::<E, f64>(&mut product, at.dn_dx[a].map(|g| weight * at.det_j * g), at.dn_dx[b]);
                let block = P::block::<E, f64>(product, constants);
                for i in 0..size {
                    for j in 0..size {
                        k[(size * a + i, size * b + j)] += block[i][j];
                    }
                }
            }
        }
    }
    k
}

/// Checks an element; `S` stands for all of its dimension.
fn check<E: Element, S: Element, P: Flux, T: Real>(stored: P::Stored, tolerance: f64) {
    let (size, x) = (size::<E, P>(), distorted::<E>());
    let k = stiffness::<E, P>(&x, P::constants(stored));
    let u: Vec<f64> = (0..size * E::N).map(value).collect();
    let expected = &k * nalgebra::DVector::from_column_slice(&u);
    let (mut weights, mut shape, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
    for &(xi, weight) in E::QUADRATURE {
        weights.push(T::from_f64(weight));
        let xi = xi.map(T::from_f64);
        shape.extend((0..E::N).map(|b| E::shape(b, xi)));
        slopes.extend((0..E::N).map(|b| E::shape_gradient(b, xi)));
    }
    let views = (View::from_slice(&weights), View::from_slice(&shape), View::from_slice(&slopes));
    let tables = Tables { n: E::N, weights: views.0, shape: views.1, slopes: views.2 };
    let origin = if E::REVOLVED { [0.0; 3] } else { x[0] };
    let x = |b: usize| core::array::from_fn(|i| T::from_f64(x[b][i] - origin[i]));
    let u = |b: usize| core::array::from_fn(|i| if i < size { T::from_f64(u[size * b + i]) } else { T::ZERO });
    let (mut found, mut diagonal) = (vec![T::ZERO; size * E::N], k.clone());
    diagonal.fill(0.0);
    // SAFETY: the tables live, and have entries for every point and node.
    unsafe {
        forces::<S, P, T>(tables, P::constants(stored), x, u, |b, force| {
            (0..size).for_each(|i| found[size * b + i] += force[i]);
        });
        node_blocks::<S, P, T>(tables, P::constants(stored), x, |b, block| {
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                diagonal[(size * b + i, size * b + j)] += block[i][j].to_f64();
            }
        });
    }
    for (i, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
        let off = (found.to_f64() - expected).abs();
        assert!(off <= tolerance * k.amax(), "{} {}: {i} is {found}, not {expected}", E::NAME, T::NAME);
    }
    for i in 0..k.nrows() {
        for j in (0..k.nrows()).filter(|j| i / size == j / size) {
            let off = (diagonal[(i, j)] - k[(i, j)]).abs();
            assert!(off <= tolerance * k.amax(), "{} {}: block entry ({i}, {j})", E::NAME, T::NAME);
        }
    }
}

/// In all forms that an element has.
fn check_all<E: Element>() {
    let anisotropic: [f64; 21] = core::array::from_fn(|i| 1.0 + value(i));
    let tensor = [3.0, 0.5, -0.4, 2.0, 0.3, 1.0];
    if E::REVOLVED {
        check::<E, Ring, General, f64>(anisotropic, 1e-14);
        check::<E, Ring, Scalar, f64>(tensor, 1e-14);
    } else if E::DIM == 2 {
        check::<E, Plane, Elasticity, f64>([1.2, 0.8], 1e-14);
        check::<E, Plane, Elasticity, f32>([1.2, 0.8], 3e-6);
        check::<E, Plane, General, f64>(anisotropic, 1e-14);
        check::<E, Plane, Scalar, f64>(tensor, 1e-14);
    } else {
        check::<E, Solid, Elasticity, f64>([1.2, 0.8], 1e-14);
        check::<E, Solid, Elasticity, f32>([1.2, 0.8], 3e-6);
        check::<E, Solid, General, f64>(anisotropic, 1e-14);
        check::<E, Solid, Scalar, f64>(tensor, 1e-14);
    }
}

macro_rules! of_every_element {
    ($($E:ty),+) => { $(check_all::<$E>();)+ };
}

#[test]
fn forces_and_blocks_are_those_of_assembly() {
    crate::for_each_body!(of_every_element);
}

#[test]
fn so_are_those_of_reduced_integration() {
    check_all::<Quad8R>();
    check_all::<Hex20R>();
    check_all::<Revolved<Quad8R>>();
}

/// The formulas of an element, on a cell with nodes there: of three displacements at once, and of the last alone.
fn check_formulas<C: FixedCell, T: Real>(x: &[[f64; 3]], tolerance: f64) {
    let (n, lame) = (C::Element::N, Lame { lambda: 1.2, mu: 0.8 });
    let k = stiffness::<C::Element, Elasticity>(x, lame);
    let u: Vec<f64> = (0..9 * n).map(value).collect();
    let expected = &k * nalgebra::DMatrix::from_column_slice(3 * n, 3, &u);
    let (mut found, mut alone) = (vec![f64::NAN; 9 * n], vec![f64::NAN; 3 * n]);
    let place = |b: usize| core::array::from_fn(|i| T::from_f64(x[b][i] - x[0][i]));
    let moved = |m: usize, b: usize| core::array::from_fn(|i| T::from_f64(u[3 * (m * n + b) + i]));
    let lame = Lame { lambda: T::from_f64(lame.lambda), mu: T::from_f64(lame.mu) };
    let write = |to: &mut [f64], force: [T; 3]| to.iter_mut().zip(force).for_each(|(to, f)| *to = f.to_f64());
    C::forces::<3, T>(lame, place, moved, |m, b, force| write(&mut found[3 * (m * n + b)..][..3], force));
    C::forces::<1, T>(lame, place, |_, b| moved(2, b), |_, b, force| write(&mut alone[3 * b..][..3], force));
    for (found, expected) in found.iter().zip(expected.iter()) {
        assert!((found - expected).abs() <= tolerance * k.amax(), "{}: {found}, not {expected}", T::NAME);
    }
    assert_eq!(found[6 * n..], alone, "{}", T::NAME);
    check_lanes::<C, T>(place);
}

/// Each lane of a vector, with a cell, a material and displacements of its own, has the bits of that cell alone.
fn check_lanes<C: FixedCell, T: Real>(place: impl Fn(usize) -> [T; 3]) {
    let factor = |lane: usize| T::from_f64(1.0 + 0.1 * lane as f64);
    let placed = |lane: usize, b: usize| place(b).map(|x| factor(lane) * x);
    let moved = |lane: usize, b: usize| core::array::from_fn(|i| T::from_f64(value(3 * (20 * lane + b) + i)));
    let lame = |lane: usize| Lame { lambda: factor(lane), mu: factor(2 * lane) };
    let in_lanes = |of: &dyn Fn(usize) -> T| {
        let mut lanes = T::Lanes::ZERO;
        lanes.lanes().iter_mut().enumerate().for_each(|(lane, to)| *to = of(lane));
        lanes
    };
    let vector = |of: &dyn Fn(usize) -> [T; 3]| core::array::from_fn(|i| in_lanes(&|lane| of(lane)[i]));
    let mut found = vec![[T::Lanes::ZERO; 3]; C::Element::N];
    C::forces::<1, T::Lanes>(
        Lame { lambda: in_lanes(&|lane| lame(lane).lambda), mu: in_lanes(&|lane| lame(lane).mu) },
        |b| vector(&|lane| placed(lane, b)),
        |_, b| vector(&|lane| moved(lane, b)),
        |_, b, force| found[b] = force,
    );
    for lane in 0..T::Lanes::N {
        let set = |_, b: usize, force: [T; 3]| {
            let found: [T; 3] = core::array::from_fn(|i| found[b][i].lanes()[lane]);
            assert_eq!(found, force, "{}: lane {lane}, node {b}", T::NAME);
        };
        C::forces::<1, T>(lame(lane), |b| placed(lane, b), |_, b| moved(lane, b), set);
    }
}

#[test]
fn formulas_are_those_of_assembly() {
    let curved = distorted::<Tet10>();
    let straight: Vec<[f64; 3]> = Tet10::NODES
        .iter()
        .map(|xi| {
            let of = |b: usize, c: usize| Tet4::shape(b, *xi) * curved[b][c];
            [0, 1, 2].map(|c| (0..4).map(|b| of(b, c)).sum())
        })
        .collect();
    check_formulas::<StraightTet10, f64>(&straight, 1e-14);
    check_formulas::<StraightTet10, f32>(&straight, 3e-6);
    check_formulas::<CurvedTet10, f64>(&straight, 1e-14);
    check_formulas::<CurvedTet10, f64>(&curved, 1e-14);
    check_formulas::<CurvedTet10, f32>(&curved, 3e-6);
    check_formulas::<LinearTet4, f64>(&distorted::<Tet4>(), 1e-14);
    check_formulas::<LinearTet4, f32>(&distorted::<Tet4>(), 3e-6);
    check_formulas::<TrilinearHex8, f64>(&distorted::<Hex8>(), 1e-14);
    check_formulas::<TrilinearHex8, f32>(&distorted::<Hex8>(), 3e-6);
    check_formulas::<SerendipityHex20, f64>(&distorted::<Hex20>(), 1e-14);
    check_formulas::<SerendipityHex20, f32>(&distorted::<Hex20>(), 3e-6);
}
