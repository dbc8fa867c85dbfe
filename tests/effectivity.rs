//! The estimated error beside the true one, in the energy norm, on problems with exact solutions: their ratio is the
//! effectivity. `cargo test --test library effectivity -- --nocapture` prints the table of docs/benchmarks/mesh_error.md.

use crate::common::elements::{Reference, solvable};
use crate::common::fields::solve;
use crate::common::meshes::{SOFT, all_analyses, analysis, model, on_skin, prescribe};
use crate::common::reference;
use crate::convergence::{self, manufactured};
use nalgebra::SVector;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use warpfem::element::ElementKind;
use warpfem::model::{Analysis, Model, Physics};
use warpfem::verify::cylinder::{self, POISSON, YOUNG, stretch};
use warpfem::verify::meshes::mapped;
use warpfem::verify::revolution;

/// A displacement, or a potential and zeros.
type Exact = Box<dyn Fn([f64; 3]) -> [f64; 3]>;

/// Its derivatives, by central differences: right to ten digits.
fn slopes(exact: &Exact, x: [f64; 3]) -> [[f64; 3]; 3] {
    const STEP: f64 = 1e-5;
    let along = |j: usize| {
        let at = |step: f64| exact(std::array::from_fn(|i| x[i] + if i == j { step } else { 0.0 }));
        let (p, q) = (at(STEP), at(-STEP));
        [0, 1, 2].map(|i| (p[i] - q[i]) / (2.0 * STEP))
    };
    let columns = [0, 1, 2].map(along);
    std::array::from_fn(|i| [0, 1, 2].map(|j| columns[j][i]))
}

/// `(int (eps - eps_h) : D (eps - eps_h) dV / int eps : D eps dV)^(1/2)`; of a potential of gradients.
fn true_error(model: &Model, u: &[f64], exact: &Exact) -> f64 {
    let dim = model.mesh.dim();
    let [mut missed, mut whole] = [0.0; 2];
    reference::for_each_cell(model, |kind, nodes, x, material, _| {
        let material = &model.materials[material];
        for point in Reference::of(kind).fine.iter().map(|at| at.of(x)) {
            let place = [0, 1, 2].map(|i| point.shape.iter().zip(x).map(|(shape, x)| shape * x[i]).sum());
            let (h, volume) = (slopes(exact, place), reference::volume(model, &point, x));
            let energy = |own: SVector<f64, 6>, eps: SVector<f64, 6>| match model.analysis.physics() {
                Physics::Potential | Physics::Heat => material.conductivity[0] * (eps - own).norm_squared(),
                Physics::Elasticity => {
                    let d = reference::elasticity(model.analysis, material, place);
                    (eps - own).dot(&(d * (eps - own)))
                }
            };
            let (eps, own) = match model.analysis.physics() {
                Physics::Potential | Physics::Heat => {
                    let terms = nodes.iter().zip(&point.gradients);
                    let own =
                        terms.map(|(node, g)| u[*node as usize] * SVector::from([g[0], g[1], g[2], 0.0, 0.0, 0.0]));
                    let third = if dim == 3 { h[0][2] } else { 0.0 };
                    (SVector::from([h[0][0], h[0][1], third, 0.0, 0.0, 0.0]), own.sum())
                }
                Physics::Elasticity => {
                    let round = if model.analysis.is_revolved() { exact(place)[0] / place[0] } else { h[2][2] };
                    let shears = [h[0][1] + h[1][0], h[1][2] + h[2][1], h[0][2] + h[2][0]];
                    let shears = if dim == 2 { [shears[0], 0.0, 0.0] } else { shears };
                    let eps = SVector::from([h[0][0], h[1][1], round, shears[0], shears[1], shears[2]]);
                    (eps, reference::strain(model.analysis, &point, nodes, x, u))
                }
            };
            missed += volume * energy(own, eps);
            whole += volume * energy(SVector::zeros(), eps);
        }
    });
    (missed / whole).sqrt()
}

/// The true error and the estimated one.
fn errors(mut model: Model, exact: &Exact) -> [f64; 2] {
    model.fields.push("error".into());
    let solution = solve(&mut model, 1e-10);
    let (unknown, dim) = match model.analysis.physics() {
        Physics::Potential | Physics::Heat => ("potential", 1),
        Physics::Elasticity => ("displacement", 3),
    };
    // Displacements of the plane have a third component, of 0.
    let n = model.analysis.components();
    let u: Vec<f64> = solution.step.nodes(unknown).chunks(dim).flat_map(|u| u[..n].to_vec()).collect();
    let estimated = solution.step.row("mesh_error", 0)[0];
    let of_cells: f64 = solution.step.lists("error").iter().flatten().map(|error| error * error).sum();
    assert!((of_cells.sqrt() / estimated - 1.0).abs() < 1e-9, "the whole is the sum of the elements");
    [true_error(&model, &u, exact), estimated]
}

/// From 0 to 1, with steps that grow by a factor of seven.
fn graded(s: f64) -> f64 {
    // The ends stay where they are, to the last bit.
    if s == 1.0 { s } else { ((2.0 * s).exp() - 1.0) / (2f64.exp() - 1.0) }
}

/// A model with its radii between 1 and 2 graded, if they are to be.
fn with_radii(mut model: Model, is_graded: bool) -> Model {
    if is_graded {
        for x in &mut Arc::make_mut(&mut model.mesh).coords {
            let r = if model.analysis.is_revolved() { x[0] } else { x[0].hypot(x[1]) };
            let factor = (1.0 + graded(r - 1.0)) / r;
            x[0] *= factor;
            if !model.analysis.is_revolved() {
                x[1] *= factor;
            }
        }
    }
    model
}

/// A quarter of a ring in the plane, graded along its radius or not.
fn quarter(kind: ElementKind, n: usize, outer: f64, is_graded: bool) -> warpfem::mesh::Mesh {
    let along = |s: f64| if is_graded { graded(s) } else { s };
    let place = |[s, t, z]: [f64; 3]| {
        let ((sin, cos), r) = ((FRAC_PI_2 * t).sin_cos(), 1.0 + (outer - 1.0) * along(s));
        [if t == 1.0 { 0.0 } else { r * cos }, r * sin, z]
    };
    mapped(kind, [n, 2 * n, 1], place).unwrap()
}

const ROLLERS: &str = "[[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n";

/// A plate with a hole of radius 1 that is pulled along x far away (Kirsch 1898; Timoshenko and Goodier, art. 35): the
/// displacement of the infinite plate is prescribed at radius 4.
fn kirsch(kind: ElementKind, n: usize, is_graded: bool) -> (Model, Exact) {
    let of = analysis(Analysis::PlaneStress, 1.0);
    let mut model = model(&format!("{of}{SOFT}{ROLLERS}"), quarter(kind, n, 4.0, is_graded));
    let (mu, kappa) = (YOUNG / (2.0 * (1.0 + POISSON)), (3.0 - POISSON) / (1.0 + POISSON));
    let exact: Exact = Box::new(move |[x, y, _]| {
        let (r, (sin, cos)) = (x.hypot(y), y.atan2(x).sin_cos());
        let (double, twice, p, q) = (cos * cos - sin * sin, 2.0 * sin * cos, 1.0 / r, 1.0 / (r * r * r));
        let radial = r * (0.5 * (kappa - 1.0) + double) + p * (1.0 + (1.0 + kappa) * double) - q * double;
        let round = ((1.0 - kappa) * p - r - q) * twice;
        [radial * cos - round * sin, radial * sin + round * cos, 0.0].map(|u| u / (4.0 * mu))
    });
    let supports = std::mem::take(&mut model.supports);
    prescribe(&mut model, |x| (x[0].hypot(x[1]) > 4.0 - 1e-9).then(|| exact(x)));
    model.supports.extend(supports);
    (model, exact)
}

/// A disc with a hole that spins, in plane stress (Timoshenko and Goodier, art. 32).
fn disc(kind: ElementKind, n: usize, is_graded: bool) -> (Model, Exact) {
    let of = analysis(Analysis::PlaneStress, 1.0);
    let tables = format!("{of}{SOFT}{ROLLERS}[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 5.0\n");
    let model = model(&tables, quarter(kind, n, 2.0, is_graded));
    let (nu, load, b) = (POISSON, 2.0 * 25.0, 4.0);
    let exact: Exact = Box::new(move |[x, y, _]| {
        let square = x * x + y * y;
        let terms = 1.0 + b + (1.0 + nu) / (1.0 - nu) * b / square - (1.0 + nu) / (3.0 + nu) * square;
        let stretch = load * (3.0 + nu) * (1.0 - nu) / (8.0 * YOUNG) * terms;
        [x * stretch, y * stretch, 0.0]
    });
    (model, exact)
}

/// `e^x sin y`, in space `e^x sin(0.6 y) cos(0.8 z)`, is prescribed all round.
fn harmonic(kind: ElementKind, n: usize, is_graded: bool) -> (Model, Exact) {
    let dim = kind.info().dim;
    let mut mesh = crate::common::meshes::regular_box(kind, [n; 3]);
    if is_graded {
        mesh.coords.iter_mut().for_each(|x| *x = x.map(graded));
    }
    let of = analysis(Analysis::Laplace, 1.0);
    let mut model = model(&format!("{of}{SOFT}[[support]]\non = \"xmin\"\nvalue = 0.0\n"), mesh);
    let exact: Exact = Box::new(move |[x, y, z]| {
        let across = if dim == 2 { y.sin() } else { (0.6 * y).sin() * (0.8 * z).cos() };
        [x.exp() * across, 0.0, 0.0]
    });
    prescribe(&mut model, |x| on_skin(dim, x).then(|| exact(x)));
    (model, exact)
}

fn pressed(model: Model, is_graded: bool) -> (Model, Exact) {
    let is_revolved = model.analysis.is_revolved();
    let exact: Exact = Box::new(move |[x, y, _]| {
        let s = stretch(if is_revolved { x } else { x.hypot(y) });
        [s * x, if is_revolved { 0.0 } else { s * y }, 0.0]
    });
    (with_radii(model, is_graded), exact)
}

fn hollow_sphere(kind: ElementKind, n: usize) -> (Model, Exact) {
    let model = revolution::sphere(kind, n, [1.0; 2]).unwrap().model;
    let exact: Exact = Box::new(|[x, y, _]| {
        let r3 = x.hypot(y).powi(3);
        let factor = cylinder::PRESSURE / (YOUNG * 7.0);
        let stretch = factor * ((1.0 - 2.0 * POISSON) + (1.0 + POISSON) * 8.0 / (2.0 * r3));
        [x * stretch, y * stretch, 0.0]
    });
    (model, exact)
}

/// Cells a side: fewer of second order and in space.
fn cells(kind: ElementKind) -> usize {
    match (kind.info().dim, kind.info().is_quadratic()) {
        (2, false) => 16,
        (2, true) => 12,
        (_, false) => 8,
        (_, true) => 6,
    }
}

/// Prints a row of the table; the effectivity is to be between 0.7 and 1.3.
#[track_caller]
fn check(problem: &str, kind: ElementKind, is_graded: bool, (model, exact): (Model, Exact)) {
    let mesh = if is_graded { "graded" } else { "uniform" };
    let [error, estimated] = errors(model, &exact);
    let ratio = estimated / error;
    println!(
        "| {problem} | {} | {mesh} | {:.2} % | {:.2} % | {ratio:.2} |",
        kind.info().name,
        100.0 * error,
        100.0 * estimated
    );
    assert!((0.7..=1.3).contains(&ratio), "{problem}, {kind:?}, {mesh}: {ratio:.3}");
}

/// Modes are not in the reference's strains.
fn kinds() -> impl Iterator<Item = ElementKind> {
    solvable().filter(|kind| !kind.has_modes())
}

fn plane() -> impl Iterator<Item = ElementKind> {
    kinds().filter(|kind| kind.info().dim == 2)
}

#[test]
fn manufactured_displacements() {
    for kind in kinds() {
        let dim = kind.info().dim;
        let is_here = |of: &Analysis| of.physics() == Physics::Elasticity && !of.is_revolved();
        for of in all_analyses(kind).into_iter().filter(is_here) {
            for is_graded in [false, true] {
                let place = |x: [f64; 3]| if is_graded { x.map(graded) } else { x };
                let place = |x: [f64; 3]| if dim == 2 { [place(x)[0], place(x)[1], x[2]] } else { place(x) };
                let model = manufactured(kind, of, cells(kind), place);
                check(of.name(), kind, is_graded, (model, Box::new(move |x| convergence::exact(dim, x).u)));
            }
        }
    }
}

#[test]
fn potentials() {
    for kind in kinds() {
        [false, true].into_iter().for_each(|is| check("potential", kind, is, harmonic(kind, cells(kind), is)));
    }
}

#[test]
fn cylinders_under_pressure() {
    for kind in kinds() {
        for is_graded in [false, true] {
            let model = cylinder::cylinder(kind, cells(kind), [1.0; 2]).unwrap().model;
            check("cylinder", kind, is_graded, pressed(model, is_graded));
        }
    }
}

#[test]
fn bodies_of_revolution() {
    for kind in plane() {
        for is_graded in [false, true] {
            let model = revolution::cylinder(kind, cells(kind), [1.0; 2]).unwrap().model;
            check("cylinder of revolution", kind, is_graded, pressed(model, is_graded));
        }
        check("hollow sphere", kind, false, hollow_sphere(kind, cells(kind)));
    }
}

#[test]
fn plates() {
    for kind in plane() {
        for is_graded in [false, true] {
            check("plate with a hole", kind, is_graded, kirsch(kind, cells(kind), is_graded));
            check("spinning disc", kind, is_graded, disc(kind, cells(kind), is_graded));
        }
    }
}
