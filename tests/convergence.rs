//! Convergence by manufactured solutions (Roache 1998): for a displacement u given in closed form the load is
//! `b = -(lambda + mu) grad div u - mu laplace u`; with u prescribed on the boundary, elements of degree p miss it by
//! `O(h^(p+1))` in displacement and by `O(h^p)` in energy (Strang and Fix 1973, sec. 3.2).
//!
//! Meshes are images of regular ones under a smooth map that keeps the unit square or cube: cells of all sizes and
//! shapes, with curved edges, that tend to parallelograms as they are refined. On cells that stay general
//! quadrilaterals serendipity elements are not of full order (Arnold, Boffi and Falk 2002).

use crate::common::elements::solvable;
use crate::common::fields::{Displacement, add_body_force, errors, lame, rates, solve};
use crate::common::meshes::{SOFT, analyses, analysis, model, on_skin, prescribe, regular_box};
use warpfem::element::ElementKind::{self, *};
use warpfem::model::{Analysis, Model};

/// `u = (sin 2x e^y, cos x sin 2y)`.
fn plane_displacement([x, y, _]: [f64; 3]) -> Displacement {
    let u = [(2.0 * x).sin() * y.exp(), x.cos() * (2.0 * y).sin(), 0.0];
    let h = [
        [2.0 * (2.0 * x).cos() * y.exp(), u[0], 0.0],
        [-x.sin() * (2.0 * y).sin(), 2.0 * x.cos() * (2.0 * y).cos(), 0.0],
        [0.0; 3],
    ];
    Displacement { u, h }
}

/// The gradient of its divergence, and its Laplacian.
fn plane_derivatives([x, y, z]: [f64; 3]) -> [[f64; 3]; 2] {
    let u = plane_displacement([x, y, z]).u;
    let along_x = -4.0 * u[0] - 2.0 * x.sin() * (2.0 * y).cos();
    let along_y = 2.0 * (2.0 * x).cos() * y.exp() - 4.0 * u[1];
    [[along_x, along_y, 0.0], [-3.0 * u[0], -5.0 * u[1], 0.0]]
}

/// `u = (sin 2x e^y cos z, cos x sin 2y e^z, e^x cos y sin 2z)`.
fn solid_displacement([x, y, z]: [f64; 3]) -> Displacement {
    let u =
        [(2.0 * x).sin() * y.exp() * z.cos(), x.cos() * (2.0 * y).sin() * z.exp(), x.exp() * y.cos() * (2.0 * z).sin()];
    let h = [
        [2.0 * (2.0 * x).cos() * y.exp() * z.cos(), u[0], -(2.0 * x).sin() * y.exp() * z.sin()],
        [-x.sin() * (2.0 * y).sin() * z.exp(), 2.0 * x.cos() * (2.0 * y).cos() * z.exp(), u[1]],
        [u[2], -x.exp() * y.sin() * (2.0 * z).sin(), 2.0 * x.exp() * y.cos() * (2.0 * z).cos()],
    ];
    Displacement { u, h }
}

/// The gradient of its divergence, and its Laplacian.
fn solid_derivatives([x, y, z]: [f64; 3]) -> [[f64; 3]; 2] {
    let Displacement { u, h } = solid_displacement([x, y, z]);
    let [xx, yy, zz] = [0, 1, 2].map(|i| h[i][i]);
    let along_x = -4.0 * u[0] - 2.0 * x.sin() * (2.0 * y).cos() * z.exp() + zz;
    let along_y = xx - 4.0 * u[1] - 2.0 * x.exp() * y.sin() * (2.0 * z).cos();
    let along_z = -2.0 * (2.0 * x).cos() * y.exp() * z.sin() + yy - 4.0 * u[2];
    [[along_x, along_y, along_z], u.map(|u| -4.0 * u)]
}

/// A smooth map of the unit cube, or square, onto itself.
fn bent(dim: usize, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let bump = |x: f64| x * (1.0 - x);
    let z_part = if dim == 3 { z } else { 0.3 };
    [
        x + 0.3 * bump(x) * (y + 0.5 * z_part - 0.6),
        y + 0.3 * bump(y) * (0.7 - x),
        if dim == 3 { z + 0.3 * bump(z) * (x - y) } else { z },
    ]
}

/// What the models of [`manufactured`] are to be solved for.
pub fn exact(dim: usize, x: [f64; 3]) -> Displacement {
    if dim == 2 { plane_displacement(x) } else { solid_displacement(x) }
}

/// The model of it on a mesh of `n` cells a side whose nodes are moved to `place`, which keeps the unit square or cube.
pub fn manufactured(kind: ElementKind, plane: Analysis, n: usize, place: impl Fn([f64; 3]) -> [f64; 3]) -> Model {
    let dim = kind.info().dim;
    let mut mesh = regular_box(kind, [n; 3]);
    let skin: Vec<bool> = mesh.coords.iter().map(|x| on_skin(dim, *x)).collect();
    mesh.coords.iter_mut().for_each(|x| *x = place(*x));
    assert!(mesh.coords.iter().zip(&skin).all(|(x, skin)| on_skin(dim, *x) == *skin));
    let clamp = format!("[[support]]\non = \"xmin\"\nfix = \"{}\"\n", &"xyz"[..dim]);
    let mut model = model(&format!("{}{SOFT}{clamp}", analysis(plane, 1.0)), mesh);
    let derivatives = if dim == 2 { plane_derivatives } else { solid_derivatives };
    prescribe(&mut model, |x| on_skin(dim, x).then(|| exact(dim, x).u));
    let [lambda, mu] = lame(&model);
    add_body_force(&mut model, |x| {
        let [grad_div, laplace] = derivatives(x);
        [0, 1, 2].map(|i| -(lambda + mu) * grad_div[i] - mu * laplace[i])
    });
    model
}

/// Relative errors of displacement and energy on a mesh of `n` cells a side.
fn errors_on(kind: ElementKind, plane: Analysis, n: usize) -> [f64; 2] {
    let dim = kind.info().dim;
    let mut model = manufactured(kind, plane, n, |x| bent(dim, x));
    let solution = solve(&mut model, 1e-11);
    errors(&model, solution.displacement(), |x| exact(dim, x))
}

/// Cells a side of the three meshes, and the largest relative errors of displacement and energy on the finest that are
/// taken for right, a tenth above what was found: a wrong constant shows in these, a wrong order in the rates.
fn expected(kind: ElementKind) -> ([usize; 3], [f64; 2]) {
    match kind {
        Tri3 => ([8, 16, 32], [3.6e-4, 2.4e-2]),
        Quad4 => ([8, 16, 32], [3.5e-4, 2.25e-2]),
        Tri6 => ([4, 8, 16], [1.53e-5, 9.1e-4]),
        Quad8 => ([4, 8, 16], [1.08e-5, 6.1e-4]),
        Tet4 => ([4, 8, 12], [3.1e-3, 6.4e-2]),
        Hex8 | Hex8I => ([4, 8, 12], [2.8e-3, 5.6e-2]),
        Tet10 => ([2, 4, 6], [3.5e-4, 7.1e-3]),
        Wedge6 => ([4, 8, 12], [3.0e-3, 5.9e-2]),
        Pyramid5 => ([4, 8, 12], [2.0e-3, 4.8e-2]),
        Wedge15 => ([2, 4, 6], [2.6e-4, 5.0e-3]),
        Pyramid13 => ([2, 4, 6], [1.5e-4, 3.4e-3]),
        _ => ([2, 4, 6], [2.2e-4, 4.15e-3]),
    }
}

fn converges(kind: ElementKind) {
    let p = if kind.info().is_quadratic() { 2.0 } else { 1.0 };
    let (cells, most) = expected(kind);
    for plane in analyses(kind) {
        let found = cells.map(|n| errors_on(kind, plane, n));
        for (i, (what, rate)) in [("displacement", p + 1.0), ("energy", p)].into_iter().enumerate() {
            let errors = found.map(|errors| errors[i]);
            let rates = rates(&errors, &cells);
            println!("{kind:?}, {plane:?}, {what}: errors {errors:?}, rates {rates:.3?}");
            assert!((rates[1] - rate).abs() < 0.1, "{kind:?}, {plane:?}, {what}: rates {rates:?}, not {rate}");
            assert!(errors[2] < most[i], "{kind:?}, {plane:?}, {what}: {errors:?}, more than {}", most[i]);
        }
    }
}

#[test]
fn elements_converge_at_their_order() {
    solvable().for_each(converges);
}
