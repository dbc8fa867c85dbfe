//! Heat over time: NAFEMS T3, Heisler's slab and sphere, rates of convergence, chosen steps, changing loads, every method, a stop.

use crate::common::assert_close;
use crate::common::elements::solvable;
use crate::common::meshes::{model, regular_box};
use crate::heat::{UNIT, at, beside, temperatures, times, transient};
use std::cell::Cell;
use std::f64::consts::PI;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad4, Quad8, Tet10, Tri3, Tri6};
use warpfem::linalg::Space;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::pipeline;
use warpfem::result::choices::{Method, Preconditioner};
use warpfem::solve::Monitor;

/// `sin(pi t / 40)` up to 32 s.
fn sine() -> String {
    let points: Vec<String> =
        (0..=640).map(|i| 0.05 * f64::from(i)).map(|t| format!("[{t:?}, {:?}]", (PI * t / 40.0).sin())).collect();
    format!("[{}]", points.join(", "))
}

/// NAFEMS T3: a bar of 0.1 m, 0 C on the left, `100 sin(pi t / 40)` on the right; 36.60 C at x = 0.08 m after 32 s.
#[test]
fn nafems_t3() {
    let material = "[[material]]\nname = \"m\"\nconductivity = 35.0\ndensity = 7200.0\nspecific_heat = 440.5\n";
    let ends = format!(
        "[[support]]\non = \"xmin\"\nvalue = 0.0\n[[support]]\non = \"xmax\"\nvalue = 100.0\namplitude = {}\n",
        sine()
    );
    let time = "end = 32.0\nstep = 0.25\ninitial = 0.0\noutputs = 1\n";
    for (kind, cells) in [
        (Quad8, [10, 1, 1]),
        (Quad4, [40, 1, 1]),
        (Tri6, [10, 1, 1]),
        (Hex20, [10, 1, 1]),
        (Tet10, [10, 1, 1]),
        (Hex8, [40, 1, 1]),
    ] {
        let size = [0.1, 0.01, 0.01];
        let mesh = match kind.info().dim {
            2 => generate_rectangle(kind, [0.1, 0.01], [cells[0], 1]).unwrap(),
            _ => generate_box(kind, size, cells).unwrap(),
        };
        let bar = transient(&format!("{material}{ends}"), time, mesh);
        let found = times(&bar, DeviceName::Cpu);
        let value = at(&bar, &found[0], [0.08, 0.0]);
        println!("T3 {kind:?}: {value:.3} of 36.60");
        assert!((value - 36.60).abs() < 0.2, "{kind:?} {value}");
    }
}

/// The n-th root of `z tan z = Bi` of a slab, or of `1 - z cot z = Bi` of a sphere.
fn root(n: u32, low: f64, above: impl Fn(f64) -> bool) -> f64 {
    let (mut a, mut b) = (f64::from(n) * PI + low, f64::from(n) * PI + low + 0.5 * PI);
    if low > 0.0 {
        (a, b) = (f64::from(n) * PI, f64::from(n + 1) * PI);
    }
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if above(middle) { b = middle } else { a = middle }
    }
    0.5 * (a + b)
}

/// A slab from 1 that convection cools to 0 from x = 1, with Bi = 1.
fn slab(x: f64, t: f64) -> f64 {
    let term = |n: u32| {
        let z = root(n, 0.0, |z| z * z.tan() > 1.0);
        4.0 * z.sin() / (2.0 * z + (2.0 * z).sin()) * (-z * z * t).exp() * (z * x).cos()
    };
    (0..20).map(term).sum()
}

/// A sphere likewise.
fn sphere(r: f64, t: f64) -> f64 {
    let term = |n: u32| {
        let z = root(n, 1.0, |z| 1.0 - z / z.tan() > 1.0);
        let shape = if r == 0.0 { 1.0 } else { (z * r).sin() / (z * r) };
        4.0 * (z.sin() - z * z.cos()) / (2.0 * z - (2.0 * z).sin()) * (-z * z * t).exp() * shape
    };
    (0..20).map(term).sum()
}

const COOLED: &str = "[[convection]]\non = \"xmax\"\ncoefficient = 1.0\nambient = 0.0\n";

/// Heisler's series of a slab, for every element, by each scheme.
#[test]
fn a_slab_cools_by_heislers_series() {
    for kind in solvable() {
        let cells = if kind.info().is_quadratic() { [6, 1, 1] } else { [12, 1, 1] };
        let mesh = match kind.info().dim {
            2 => generate_rectangle(kind, [1.0, 0.2], [cells[0], 1]).unwrap(),
            _ => generate_box(kind, [1.0, 0.2, 0.2], cells).unwrap(),
        };
        for (scheme, allowed) in [("bdf2", 2.5e-3), ("backward_euler", 5e-3)] {
            let time = format!("end = 1.0\nstep = 0.02\ninitial = 1.0\noutputs = 2\nscheme = \"{scheme}\"\n");
            let body = transient(&format!("{UNIT}{COOLED}"), &time, mesh.clone());
            let found = times(&body, DeviceName::Cpu);
            assert_eq!(found.iter().map(|of| of.step.value).collect::<Vec<_>>(), [0.5, 1.0]);
            assert_eq!(found[0].step.label, "time 0.5");
            for of in &found {
                let exact: Vec<f64> = body.mesh.coords.iter().map(|x| slab(x[0], of.step.value)).collect();
                assert_close(kind.info().name, temperatures(of), &exact, allowed, 1.0);
                let stored = of.step.row("heat_stored", 0)[0];
                assert_close("what it gives off", &[stored], &[of.reaction_sum[0]], 1e-6, 1.0);
            }
        }
    }
}

/// The same of a sphere, half a section of which goes round the axis.
#[test]
fn a_sphere_cools_by_heislers_series() {
    for (kind, cells) in [(Quad8, [8, 8]), (Tri6, [8, 8]), (Quad4, [24, 24]), (Tri3, [24, 24])] {
        // A hole of a thousandth of the radius is none.
        let mut mesh = generate_rectangle(kind, [1.0, 1.0], cells).unwrap();
        for x in &mut mesh.coords {
            let (r, angle) = (1e-3 + x[0] * (1.0 - 1e-3), PI * (x[1] - 0.5));
            *x = [(r * angle.cos()).max(0.0), r * angle.sin(), 0.0];
        }
        let tables = format!("[analysis]\nkind = \"axisymmetric_heat\"\nstudy = \"transient\"\n{UNIT}{COOLED}");
        let body = model(&format!("{tables}[time]\nend = 0.5\nstep = 0.005\ninitial = 1.0\noutputs = 1\n"), mesh);
        let found = times(&body, DeviceName::Cpu);
        let radius = |x: &[f64; 3]| x[0].hypot(x[1]);
        let exact: Vec<f64> = body.mesh.coords.iter().map(|x| sphere(radius(x), 0.5)).collect();
        assert_close(kind.info().name, temperatures(&found[0]), &exact, 2e-3, 1.0);
    }
}

/// The largest error at the nodes of `cos(pi x) e^(-pi^2 t)` between insulated sides.
fn error_of_a_mode(kind: ElementKind, cells: usize, scheme: &str, step: f64) -> f64 {
    let thick = 1.0 / cells as f64;
    let mesh = match kind.info().dim {
        2 => generate_rectangle(kind, [1.0, thick], [cells, 1]).unwrap(),
        _ => generate_box(kind, [1.0, thick, thick], [cells, 1, 1]).unwrap(),
    };
    let time = format!("end = 0.1\nstep = {step:?}\ninitial = 0.0\noutputs = 1\nscheme = \"{scheme}\"\n");
    let mut body = transient(UNIT, &time, mesh);
    let mode: Vec<f64> = body.mesh.coords.iter().map(|x| (PI * x[0]).cos()).collect();
    body.time.as_mut().unwrap().initial = mode.clone();
    body.solver.tolerance = 1e-11;
    let found = times(&body, DeviceName::Cpu);
    let factor = (-PI * PI * 0.1f64).exp();
    temperatures(&found[0]).iter().zip(mode).map(|(t, mode)| (t - factor * mode).abs()).fold(0.0, f64::max)
}

/// Of first and second order in time; of second order in space, of elements of second order at the nodes of more than third.
#[test]
fn errors_fall_at_their_rates() {
    for (scheme, order) in [("backward_euler", 1.0), ("bdf2", 2.0)] {
        let errors = [0.01, 0.005, 0.0025].map(|step| error_of_a_mode(Quad8, 24, scheme, step));
        let rate = (errors[1] / errors[2]).log2();
        println!("in time, {scheme}: {errors:?}, {rate:.3}");
        assert!((rate - order).abs() < 0.15 && errors[2] < 0.02, "{scheme} {errors:?}");
    }
    for kind in solvable() {
        let order = if kind.info().is_quadratic() { 3.0 } else { 2.0 };
        let errors = [4, 8].map(|cells| error_of_a_mode(kind, cells, "bdf2", 1e-4));
        let rate = (errors[0] / errors[1]).log2();
        println!("in space, {kind:?}: {errors:?}, {rate:.3}");
        assert!(rate > order - 0.3 && errors[1] < 1.5e-2, "{kind:?} {errors:?} {rate}");
    }
}

/// Steps chosen by their error: fewer where little happens, and an error that follows the tolerance.
#[test]
fn steps_are_as_long_as_their_error_allows() {
    let run = |tolerance: f64| {
        let time = format!("end = 2.0\ntolerance = {tolerance:e}\ninitial = 1.0\noutputs = 1\n");
        let mut body =
            transient(&format!("{UNIT}{COOLED}"), &time, generate_rectangle(Quad8, [1.0, 0.1], [20, 1]).unwrap());
        body.solver.method = Some(Method::Direct);
        let found = times(&body, DeviceName::Cpu);
        let middle = at(&body, &found[0], [0.0, 0.0]);
        (found[0].outcome.spmvs, (middle - slab(0.0, 2.0)).abs())
    };
    let [coarse, fine] = [run(1e-3), run(1e-5)];
    println!("chosen steps: {coarse:?} {fine:?}");
    assert!(coarse.1 < 0.02 && fine.1 < 1e-3 && fine.1 < coarse.1, "{coarse:?} {fine:?}");
    assert!(fine.0 > 2 * coarse.0 && fine.0 < 10_000, "{coarse:?} {fine:?}");
}

/// A flux that rises evenly warms an insulated body by its integral; a second source by its own; ambients may change too.
#[test]
fn loads_change_in_time() {
    let loads = "[[flux]]\non = \"xmax\"\nvalue = 3.0\namplitude = [[0.0, 0.0], [2.0, 2.0]]\n\
                 [source]\nvalue = 4.0\namplitude = [[0.0, 1.0], [2.0, 0.0]]\n";
    let body = transient(
        &format!("{UNIT}{loads}"),
        "end = 2.0\nstep = 0.05\ninitial = 1.0\ntimes = [1.0, 2.0]\n",
        regular_box(Hex8, [3, 2, 2]),
    );
    let found = times(&body, DeviceName::Cpu);
    // C = 1. The flux brings 3 t^2 / 2, the source 4 (t - t^2 / 4). The first step of backward Euler is off by its square.
    for (of, brought) in found.iter().zip([1.5 + 3.0, 6.0 + 4.0]) {
        let mean = temperatures(of).iter().sum::<f64>() / temperatures(of).len() as f64;
        let stored = of.step.row("heat_stored", 0)[0];
        let rate = if of.step.value == 1.0 { 3.0 + 2.0 } else { 6.0 };
        assert_close("what is taken up", &[stored], &[rate], 1e-6, 6.0);
        assert!((mean - 1.0 - brought).abs() < 0.2, "{mean} {brought}");
        assert_close("applied", &[of.applied[0]], &[rate], 1e-9, 6.0);
    }
    let ambient = "[[convection]]\non = [\"xmin\", \"xmax\"]\ncoefficient = 1e4\nambient = 10.0\namplitude = [[0.0, 0.0], [1.0, 1.0]]\n";
    let body = transient(
        &format!("{UNIT}{ambient}"),
        "end = 3.0\nstep = 0.05\ninitial = 0.0\noutputs = 1\n",
        regular_box(Quad8, [4, 2, 1]),
    );
    let found = times(&body, DeviceName::Cpu);
    assert!(temperatures(&found[0]).iter().all(|t| (t - 10.0).abs() < 1e-3), "{:?}", temperatures(&found[0]));
}

/// The same by every method, on both devices, and with parts that are tied.
#[test]
fn every_way_goes_through_time_alike() {
    let time = "end = 0.2\nstep = 0.02\ninitial = 1.0\noutputs = 2\n";
    let tables = format!("{UNIT}{COOLED}[[support]]\non = \"xmin\"\nvalue = 0.5\n");
    let whole = transient(&tables, time, regular_box(Hex8, [6, 3, 3]));
    let expected = times(&whole, DeviceName::Cpu);
    for device in [DeviceName::Cpu, DeviceName::Emulate] {
        for (method, by) in [
            (Method::Direct, None),
            (Method::Cg, Some(Preconditioner::Amg)),
            (Method::Cg, Some(Preconditioner::Jacobi)),
        ] {
            let mut again = transient(&tables, time, regular_box(Hex8, [6, 3, 3]));
            (again.solver.method, again.solver.preconditioner) = (Some(method), by);
            again.solver.tolerance = 1e-9;
            for (of, expected) in times(&again, device).iter().zip(&expected) {
                assert_close(
                    &format!("{device:?} {method:?} {by:?}"),
                    temperatures(of),
                    temperatures(expected),
                    1e-7,
                    1.0,
                );
            }
        }
    }
    let half = regular_box(Hex8, [3, 3, 3]);
    let mut halves = beside(&half, &half);
    halves.coords.iter_mut().for_each(|x| x[0] *= 0.5);
    let tied = tables.replace("\"xmax\"", "\"right_xmax\"").replace("\"xmin\"", "\"left_xmin\"")
        + "[[tie]]\nslave = \"left_xmax\"\nmaster = \"right_xmin\"\n";
    let tied = transient(&tied, time, halves);
    for (of, expected) in times(&tied, DeviceName::Cpu).iter().zip(&expected) {
        for (x, t) in tied.mesh.coords.iter().zip(temperatures(of)) {
            let same = |y: &[f64; 3]| (0..3).all(|c| (x[c] - y[c]).abs() < 1e-9);
            let node = whole.mesh.coords.iter().position(same).unwrap();
            assert!((t - temperatures(expected)[node]).abs() < 1e-8, "{x:?} {t}");
        }
    }
}

/// Each step begins near its end, and stops by its own change: what adds up over a hundred is a millionth of the range, beside steps
/// that a factor solves.
#[test]
fn many_steps_are_as_right_as_one() {
    let run = |method, device| {
        let time = "end = 1.0\nstep = 0.01\ninitial = 1.0\noutputs = 1\n";
        let tables =
            format!("{UNIT}{COOLED}[[support]]\non = \"xmin\"\nvalue = 0.0\namplitude = [[0.0, 1.0], [0.5, 0.0]]\n");
        let mut body = transient(&format!("{tables}[source]\nvalue = 2.0\n"), time, regular_box(Hex20, [5, 3, 3]));
        (body.solver.method, body.solver.preconditioner) = method;
        temperatures(&times(&body, device)[0]).to_vec()
    };
    let exact = run((Some(Method::Direct), None), DeviceName::Cpu);
    for device in [DeviceName::Cpu, DeviceName::Emulate] {
        let found = run((Some(Method::Cg), Some(Preconditioner::Amg)), device);
        assert_close("a hundred steps", &found, &exact, 1e-6, 1.0);
    }
}

/// Asks to stop after so many solutions.
struct StopAfter(Cell<usize>);

impl Monitor for StopAfter {
    fn case(&self, number: usize, _: usize) {
        if number > 2 {
            self.0.set(1);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.get() > 0
    }
}

#[test]
fn what_was_reached_before_a_stop_is_kept() {
    let mut body = transient(
        &format!("{UNIT}{COOLED}"),
        "end = 1.0\nstep = 0.1\ninitial = 1.0\noutputs = 5\n",
        regular_box(Quad4, [8, 2, 1]),
    );
    body.solver.preconditioner = Some(Preconditioner::Jacobi);
    body.solver.method = Some(Method::Cg);
    let found = pipeline::solve_cases(&Space::open(DeviceName::Cpu).unwrap(), &body, &StopAfter(Cell::new(0))).unwrap();
    assert_eq!(found.iter().map(|of| of.step.label.as_str()).collect::<Vec<_>>(), ["time 0.2", "time 0.4"]);
    assert!(found.iter().all(|of| of.outcome.converged));
}
