//! FEMSES and its accelerations: that it is Jacobi's iteration, what it converges to, and how fast.

use crate::common::elements::solvable;
use crate::common::{assert_close, largest, meshes, reference, rounding, tests_on_every_device};
use kernels_rs::real::Real;
use nalgebra::DMatrix;
use std::f64::consts::PI;
use warpfem::assembly::{ElementOperator, Supports, Symbolic};
use warpfem::element::ElementKind;
use warpfem::linalg::{Scalar, Space};
use warpfem::mesh::annulus::generate_annulus;
use warpfem::mesh::{Cells, Mesh};
use warpfem::model::{Analysis, Model};
use warpfem::result::choices::{Acceleration, Ordering};
use warpfem::result::{Ending, Outcome};
use warpfem::solve::femses::{CHECK_EVERY, Update};
use warpfem::solve::{FemsesOptions, Silent, femses};

const PLAIN: [f64; 3] = [1.0, 0.0, 1.0];
const SCALAR: Scalar = Scalar::new(11);
/// Far more than any iteration here takes.
const MANY: usize = 1_000_000;

fn single_material(mesh: Mesh) -> Model {
    meshes::model(
        &format!("{}{}{}", meshes::analysis(Analysis::Laplace, 1.0), meshes::SOFT, meshes::clamp(Analysis::Laplace)),
        mesh,
    )
}

/// The unit square or cube with values prescribed where there are some.
fn square(kind: ElementKind, n: usize, value: impl Fn([f64; 3]) -> Option<f64>) -> Model {
    let mut model = single_material(meshes::regular_box(kind, [n; 3]));
    meshes::prescribe(&mut model, |x| value(x).map(|value| [value, 0.0, 0.0]));
    model
}

/// x = 0 is held at 0 and x = 1 at 1, and nothing flows through the other sides: the thesis's problem, whose solution
/// is x.
fn two_sided(n: usize) -> Model {
    square(ElementKind::Tri3, n, |x| (x[0] == 0.0 || x[0] == 1.0).then_some(x[0]))
}

/// All four sides are held at 1.
fn four_sided(n: usize) -> Model {
    square(ElementKind::Tri3, n, |x| meshes::on_skin(2, x).then_some(1.0))
}

/// The annulus from radius 1, held at 1, to 2, held at 0, in cells as long as wide.
fn annulus(kind: ElementKind, n: usize) -> Model {
    let mut model = single_material(generate_annulus(kind, [1.0, 2.0], [n, 9 * n]).unwrap());
    meshes::prescribe(&mut model, |x| {
        let r = x[0].hypot(x[1]);
        let value = if r < 1.0 + 1e-9 { 1.0 } else { 0.0 };
        (!(1.0 + 1e-9..=2.0 - 1e-9).contains(&r)).then_some([value, 0.0, 0.0])
    });
    model
}

/// Two materials on distorted cells.
fn distorted(kind: ElementKind) -> Model {
    let mut model = meshes::two_materials_in(Analysis::Laplace, meshes::distorted_box(kind, [4, 3, 3], 0.2));
    meshes::prescribe(&mut model, |x| (x[0] == 0.0 || x[0] == 1.0).then_some([1.0 - 3.0 * x[0], 0.0, 0.0]));
    model
}

/// A square of quadrilaterals, every other of which is cut into two triangles.
fn two_element_types() -> Model {
    let mut mesh = meshes::distorted_box(ElementKind::Quad4, [5, 4, 1], 0.2);
    let position = mesh.cells.iter().position(|cells| cells.kind == ElementKind::Quad4).unwrap();
    let quads = mesh.cells[position].clone();
    let empty = |kind| Cells { kind, nodes: Vec::new(), tags: Vec::new() };
    let (mut kept, mut cut) = (empty(ElementKind::Quad4), empty(ElementKind::Tri3));
    for cell in 0..quads.len() {
        let nodes = quads.cell(cell);
        if cell % 2 == 0 {
            kept.nodes.extend(nodes);
            kept.tags.push(cell as u64 + 1);
        } else {
            cut.nodes.extend([nodes[0], nodes[1], nodes[2], nodes[0], nodes[2], nodes[3]]);
            cut.tags.extend([1000 + 2 * cell as u64, 1001 + 2 * cell as u64]);
        }
    }
    mesh.cells = vec![kept, cut];
    mesh.groups.clear();
    let mut model = single_material(mesh);
    meshes::prescribe(&mut model, |x| (x[0] == 0.0 || x[0] == 1.0).then_some([x[0], 0.0, 0.0]));
    model
}

/// The assembled system after supports, by the textbook, in the mesh's numbering.
struct Assembled {
    k: DMatrix<f64>,
    /// Lifted.
    f: Vec<f64>,
    fixed: Vec<bool>,
    prescribed: Vec<f64>,
}

fn assembled(model: &Model) -> Assembled {
    let (mut k, prescribed) = (reference::stiffness(model), reference::prescribed(model));
    let n = k.nrows();
    let fixed: Vec<bool> = prescribed.iter().map(Option::is_some).collect();
    let prescribed: Vec<f64> = prescribed.into_iter().map(|value| value.unwrap_or(0.0)).collect();
    let lift = &k * DMatrix::from_column_slice(n, 1, &prescribed);
    let f = (0..n).map(|i| if fixed[i] { 0.0 } else { model.nodal_forces[i][0] - lift[i] }).collect();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j && (fixed[*i] || fixed[*j])) {
        k[(i, j)] = 0.0;
    }
    Assembled { k, f, fixed, prescribed }
}

impl Assembled {
    /// `u_i = (f_i - sum_(j != i) K_ij u_j) / K_ii`.
    fn jacobi(&self, u: &[f64]) -> Vec<f64> {
        let row = |i: usize| {
            let others: f64 = (0..u.len()).filter(|j| *j != i).map(|j| self.k[(i, j)] * u[j]).sum();
            (self.f[i] - others) / self.k[(i, i)]
        };
        (0..u.len()).map(row).collect()
    }

    fn residual(&self, u: &[f64]) -> f64 {
        let r = DMatrix::from_column_slice(u.len(), 1, &self.f) - &self.k * DMatrix::from_column_slice(u.len(), 1, u);
        r.norm()
    }
}

/// Calls `check(operator)` with the element matrices of a model, numbered as the mesh.
fn with_operator<T: Real, X>(space: &Space, model: &Model, check: impl FnOnce(&ElementOperator<T>) -> X) -> X {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    let mesh = meshes::upload(space, model, &symbolic);
    let supports = Supports::new(model, &symbolic.numbering);
    check(&ElementOperator::new(space, &mesh, &supports).unwrap())
}

fn rounded<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|value| T::from_f64(*value)).collect()
}

/// Both forms of FEMSES beside Jacobi's iteration for the assembled matrix.
fn is_jacobi<T: Real>(space: &Space, model: &Model) {
    let system = assembled(model);
    let (n, f) = (system.f.len(), space.upload(&rounded::<T>(&system.f)).unwrap());
    with_operator::<T, _>(space, model, |operator| {
        let zeros = || space.zeros::<T>(n).unwrap();
        let (mut gathered, mut other, mut scratch) = (zeros(), zeros(), zeros());
        let (mut scattered, mut sums, mut next, mut r) = (zeros(), zeros(), zeros(), zeros());
        let mut expected = vec![0.0; n];
        for iteration in 1..=25 {
            let residual = system.residual(&expected);
            expected = system.jacobi(&expected);
            let vectors = [&mut gathered, &mut other, &mut scratch];
            operator.gather(space, PLAIN, &f, vectors, SCALAR).unwrap();
            let [square] = space.read([SCALAR]).unwrap();
            std::mem::swap(&mut gathered, &mut other);
            operator.scatter(space, 96, &f, &scattered, [&mut sums, &mut next, &mut r]).unwrap();
            std::mem::swap(&mut scattered, &mut next);
            let scale = largest(&expected);
            let tolerance = 10.0 * rounding::<T>();
            let what = format!("{} nodes, iteration {iteration}", n);
            assert_close(&what, &space.download(&gathered).unwrap(), &expected, tolerance, scale);
            assert_close(&what, &space.download(&scattered).unwrap(), &expected, tolerance, scale);
            let room = tolerance * scale * system.k.amax() * (n as f64).sqrt();
            assert!((square.sqrt() - residual).abs() <= room, "{what}: {} and {residual}", square.sqrt());
            let r = space.download(&r).unwrap();
            let norm = r.iter().map(|r| r.to_f64().powi(2)).sum::<f64>().sqrt();
            assert!((norm - residual).abs() <= room, "{what}: {norm} and {residual} by atomics");
        }
        assert!((0..n).all(|i| !system.fixed[i] || expected[i] == 0.0));
    });
}

#[test]
fn femses_is_jacobi_s_iteration() {
    let space = Space::cpu();
    let elements = [ElementKind::Tri3, ElementKind::Quad4, ElementKind::Tri6, ElementKind::Tet4, ElementKind::Hex8];
    let mut models = vec![two_sided(6), four_sided(5), annulus(ElementKind::Tri3, 3), two_element_types()];
    models.extend(elements.map(distorted));
    for model in &models {
        is_jacobi::<f64>(&space, model);
        is_jacobi::<f32>(&space, model);
    }
}

/// Solves with element matrices; the potential too.
fn run<T: Real>(space: &Space, model: &Model, options: FemsesOptions) -> (Vec<f64>, Outcome) {
    let system = assembled(model);
    let f = space.upload(&rounded::<T>(&system.f)).unwrap();
    with_operator::<T, _>(space, model, |operator| {
        let mut v = space.zeros(system.f.len()).unwrap();
        let outcome = femses(space, operator, &f, None, &mut v, options, &Silent).unwrap();
        let v = space.download(&v).unwrap();
        (v.iter().zip(&system.prescribed).map(|(v, prescribed)| v.to_f64() + prescribed).collect(), outcome)
    })
}

fn options(acceleration: Acceleration, tolerance: f64) -> FemsesOptions {
    FemsesOptions::new(tolerance, MANY, acceleration)
}

/// Steps until the residual is small enough, of an iteration in double precision.
fn iterations(model: &Model, acceleration: Acceleration, tolerance: f64) -> usize {
    let (_, outcome) = run::<f64>(&Space::cpu(), model, options(acceleration, tolerance));
    assert!(outcome.converged, "{outcome:?}");
    outcome.history.iter().position(|residual| *residual <= tolerance).unwrap() + 1
}

#[test]
fn linear_potentials_are_found_on_every_element() {
    for kind in solvable().filter(|kind| kind.is_of_papers()) {
        let (n, all) =
            if kind == ElementKind::Tri3 { (12, &Acceleration::ALL[..]) } else { (3, &Acceleration::ALL[1..]) };
        let model = square(kind, n, |x| (x[0] == 0.0 || x[0] == 1.0).then_some(x[0]));
        for acceleration in all {
            let (u, outcome) = run::<f64>(&Space::cpu(), &model, options(*acceleration, 1e-12));
            assert_eq!(outcome.ending, Ending::Converged, "{kind:?}, {acceleration:?}");
            let expected: Vec<f64> = model.mesh.coords.iter().map(|x| x[0]).collect();
            assert_close(kind.info().name, &u, &expected, 1e-9, 1.0);
        }
    }
}

#[test]
fn the_annulus_converges_to_the_logarithm_at_second_order() {
    let error = |n: usize| {
        let model = annulus(ElementKind::Tri3, n);
        let (u, outcome) = run::<f64>(&Space::cpu(), &model, options(Acceleration::None, 1e-10));
        assert!(outcome.converged, "{:?}", outcome.ending);
        let miss = |(u, x): (&f64, &[f64; 3])| (u - (1.0 - x[0].hypot(x[1]).ln() / 2f64.ln())).abs();
        u.iter().zip(&model.mesh.coords).map(miss).fold(0.0, f64::max)
    };
    let errors = [4, 8].map(error);
    let order = (errors[0] / errors[1]).log2();
    assert!((1.7..2.3).contains(&order), "{errors:?}: order {order}");
}

fn everything_on(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for model in [two_sided(4), two_element_types()] {
        for acceleration in Acceleration::ALL {
            let (u, outcome) = run::<f64>(space, &model, options(acceleration, 1e-6));
            assert!(outcome.converged, "{acceleration:?}: {:?}", outcome.ending);
            let expected: Vec<f64> = model.mesh.coords.iter().map(|x| x[0]).collect();
            assert_close(acceleration.name(), &u, &expected, 1e-5, 1.0);
            found.extend(crate::common::bits(&u));
        }
    }
    let mut atomic = options(Acceleration::None, 1e-6);
    for threads in [32, 64, 256] {
        atomic.update = Update::Atomic { threads };
        let (u, outcome) = run::<f64>(space, &two_sided(4), atomic);
        assert!(outcome.converged, "{threads} threads: {:?}", outcome.ending);
        let expected: Vec<f64> = two_sided(4).mesh.coords.iter().map(|x| x[0]).collect();
        assert_close("by atomics", &u, &expected, 1e-5, 1.0);
    }
    found
}

tests_on_every_device! {
    every_device_gives_the_same_result_in_every_order: everything_on;
}

/// The factor per step of the residual at the end of the iteration, over an even number of steps: the spectrum of
/// Jacobi's iteration is symmetric on this mesh, so that residuals may alternate.
fn spectral_radius(model: &Model) -> f64 {
    let (_, outcome) = run::<f64>(&Space::cpu(), model, options(Acceleration::None, 1e-10));
    let last = outcome.history.len() - 2;
    let steps = 20;
    (outcome.history[last] / outcome.history[last - steps]).powf(1.0 / steps as f64)
}

#[test]
fn the_spectral_radius_is_1_less_what_is_of_the_order_of_h_squared() {
    // On the square the matrix is that of the five-point stencil: cosines along sides through which nothing flows,
    // sines where a value is held.
    for n in [8, 16, 32] {
        let c = (PI / n as f64).cos();
        for (what, model, expected) in [("two", two_sided(n), 0.5 * (1.0 + c)), ("four", four_sided(n), c)] {
            let found = spectral_radius(&model);
            let off = ((1.0 - found) / (1.0 - expected) - 1.0).abs();
            println!("{what}-sided, h = 1/{n}: {found:.6}, expected {expected:.6}");
            assert!(off < 0.02, "{what}-sided, {n}: {found}, not {expected}");
        }
    }
}

/// The exponent of growth between the last two of some pairs.
fn exponent(pairs: &[(f64, f64)]) -> f64 {
    let [.., (x, y), (x2, y2)] = pairs else { panic!("two pairs at least") };
    (y2 / y).ln() / (x2 / x).ln()
}

#[test]
fn iterations_grow_like_the_unknowns_whatever_the_boundary_conditions() {
    let sizes = [8, 16, 32];
    let count = |model: fn(usize) -> Model, acceleration| -> Vec<(f64, f64)> {
        let of = |n: usize| {
            let model = model(n);
            let unknowns = model.mesh.coords.len() - model.supports.len();
            (unknowns as f64, iterations(&model, acceleration, 1e-8) as f64)
        };
        sizes.map(of).to_vec()
    };
    let [two, four] = [two_sided, four_sided].map(|model| count(model, Acceleration::None));
    println!("two-sided {two:?}\nfour-sided {four:?}");
    for pairs in [&two, &four] {
        assert!((0.9..1.1).contains(&exponent(pairs)), "{pairs:?}: {}", exponent(pairs));
    }
    for (two, four) in two.iter().zip(&four) {
        assert!((1.4..2.6).contains(&(two.1 / four.1)), "{two:?}, {four:?}");
    }
    for acceleration in [Acceleration::Chebyshev, Acceleration::Cg] {
        let fast = count(two_sided, acceleration);
        println!("{acceleration:?} {fast:?}");
        // To this constant the square root of what plain FEMSES takes: with 18 / lambda for that and 19 / (2
        // lambda)^(1/2) for Chebyshev with a known spectrum it is 3.2; finding the lower end takes the rest, and a look
        // more on small meshes.
        for (plain, fast) in two.iter().zip(&fast) {
            assert!(fast.1 <= 5.0 * plain.1.sqrt() + CHECK_EVERY as f64, "{acceleration:?}: {fast:?} for {plain:?}");
        }
    }
}

#[test]
fn single_precision_stalls_at_its_rounding_times_the_condition() {
    for n in [8, 16, 32] {
        let model = two_sided(n);
        let (u, outcome) = run::<f32>(&Space::cpu(), &model, options(Acceleration::None, 1e-12));
        assert_eq!(outcome.ending, Ending::Stagnated, "{n}");
        let error = u.iter().zip(&model.mesh.coords).map(|(u, x)| (u - x[0]).abs()).fold(0.0, f64::max);
        // What rounding adds in a step, half a unit in the last place of u, adds up to 1 / (1 - spectral radius) of it.
        let steps = 2.0 / (1.0 - (PI / n as f64).cos());
        let unit = f64::from(f32::EPSILON);
        println!(
            "n {n}: {} steps, residual {:.2e}, error {error:.2e}, {:.3} of epsilon / (1 - radius)",
            outcome.iterations,
            outcome.relative_residual,
            error / (unit * steps)
        );
        assert!(error < unit * steps, "{n}: {error:e}, more than {:e}", unit * steps);
        assert!(error > 0.01 * unit * steps, "{n}: {error:e}, much less than {:e}", unit * steps);
        let double = run::<f64>(&Space::cpu(), &model, options(Acceleration::None, 1e-12));
        assert!(double.1.converged, "{n}");
    }
}

#[test]
fn elongated_cells_make_femses_diverge_and_acceleration_mends_it() {
    let mut model = single_material(
        warpfem::mesh::rectangle::generate_rectangle(ElementKind::Quad4, [1.0, 4.0], [16, 16]).unwrap(),
    );
    meshes::prescribe(&mut model, |x| (x[0] == 0.0 || x[0] == 1.0).then_some([x[0] * x[1], 0.0, 0.0]));
    let (u, plain) = run::<f64>(&Space::cpu(), &model, options(Acceleration::None, 1e-8));
    assert_eq!((plain.ending, plain.converged), (Ending::Diverged, false));
    // What is left is the best that was seen, here the start.
    assert!(plain.history.last().unwrap() > &1e7 && plain.relative_residual <= 1.0, "{}", plain.relative_residual);
    assert!(largest(&u) < 10.0, "{}", largest(&u));
    for acceleration in [Acceleration::Chebyshev, Acceleration::Cg] {
        let (_, outcome) = run::<f64>(&Space::cpu(), &model, options(acceleration, 1e-8));
        assert!(outcome.converged && outcome.iterations < 400, "{acceleration:?}: {outcome:?}");
    }
}

#[test]
fn limits_and_trivial_systems_end_at_once() {
    let space = Space::cpu();
    for acceleration in Acceleration::ALL {
        let few = FemsesOptions { max_iterations: 3, ..options(acceleration, 1e-14) };
        let (_, outcome) = run::<f64>(&space, &two_sided(8), few);
        assert_eq!((outcome.iterations, outcome.ending, outcome.history.len()), (3, Ending::Limit, 3));
        let nothing = square(ElementKind::Tri3, 4, |x| (x[0] == 0.0).then_some(0.0));
        let (u, outcome) = run::<f64>(&space, &nothing, options(acceleration, 1e-8));
        assert_eq!((outcome.iterations, outcome.converged), (0, true));
        assert!(u.iter().all(|u| *u == 0.0));
    }
}
