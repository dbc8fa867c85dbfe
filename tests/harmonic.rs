//! Vibration under loads: against the exact answer of a bar, statics at frequency 0, and on all devices.

use crate::common::meshes::{distorted_box, model};
use crate::common::{assert_close, emulators};
use nalgebra::Complex;
use std::f64::consts::TAU;
use warpfem::element::ElementKind::{Hex8, Hex20, Quad8};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::Model;
use warpfem::pipeline;
use warpfem::result::{Moment, Series, Step, Steps};
use warpfem::solve::Silent;
use warpfem::verify;

const STEEL: &str = "[[material]]\nname = \"steel\"\nyoung = 200e9\npoisson = 0.3\ndensity = 8000.0\n";

fn response(space: &Space, model: &Model) -> Series {
    let mut sink = Steps::default();
    let solutions = pipeline::solve_into(space, model, &mut sink, &Silent).unwrap();
    assert!(solutions.iter().all(|mode| mode.outcome.converged));
    assert_eq!(sink.series.len(), 1);
    sink.series.swap_remove(0)
}

/// A bar of length 1 that moves along x alone under a force of 1000 at its end: `E A k tan(k L)` with a modulus of
/// `E (1 + i beta W)` is its stiffness there if its other end is held, and `- E A k cot(k L)` if that is free.
#[test]
fn a_bar_vibrates_as_it_does_exactly() {
    let (h, beta, force) = (0.1, 2e-5, 1000.0);
    let sides = ["y", "z"].map(|axis| {
        ["min", "max"].map(|end| format!("[[support]]\non = \"{axis}{end}\"\nfix = \"{axis}\"\n")).concat()
    });
    let rest = format!(
        "{}[[force]]\non = \"xmax\"\ntotal = [{force}, 0.0, 0.0]\n\
         [harmonic]\nfrom = 200.0\nto = 3500.0\npoints = 9\nrayleigh = [0.0, {beta}]\n\
         [output]\nprobes = [{{ name = \"end\", at = [1.0, 0.05, 0.05] }}]\n",
        sides.concat()
    );
    let bar = STEEL.replace("poisson = 0.3", "poisson = 0.0");
    let tan = |x: Complex<f64>| x.tan();
    let cot = |x: Complex<f64>| -x.tan().inv();
    for (held, of_length, first) in
        [("[[support]]\non = \"xmin\"\nfix = \"x\"\n", &tan as &dyn Fn(_) -> _, 1250.0), ("", &cot, 2500.0)]
    {
        let case = format!("[analysis]\nstudy = \"modal\"\nmodes = 20\n{bar}{held}{rest}");
        let series = response(&Space::cpu(), &model(&case, generate_box(Hex20, [1.0, h, h], [30, 1, 1]).unwrap()));
        let exact = |frequency: f64| {
            let speed = Complex::from(TAU * frequency);
            let modulus = 200e9 * Complex::new(1.0, beta * speed.re);
            let k = speed * (8000.0 / modulus).sqrt();
            force * of_length(k) / (modulus * h * h * k)
        };
        assert!(series.at.len() > 9 + 6 && series.at.is_sorted(), "{:?}", series.at);
        let largest = series.at.iter().map(|at| exact(*at).norm()).fold(0.0, f64::max);
        for (at, row) in series.at.iter().zip(&series.curves[0].rows) {
            let found = Complex::from_polar(row[1], row[4].to_radians());
            assert!((found - exact(*at)).norm() < 4e-3 * largest, "{held} at {at}: {found} for {}", exact(*at));
            assert!(
                row[2..4].iter().all(|across| *across < 1e-6 * largest) && (row[0] - row[1]).abs() < 1e-6 * largest
            );
        }
        assert!(series.at.iter().any(|at| (at - first).abs() < 2.0), "{:?}", series.at);
    }
}

/// Two modes of a beam a hundred times as long as it is high, and what the others add at rest: all of the deflection.
#[test]
fn modes_that_are_not_found_add_what_they_do_at_rest() {
    let rest = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [100.0, 0.0, -1.0]\n\
                [output]\nprobes = [{ name = \"tip\", at = [1.0, 0.005, 0.005] }, { name = \"root\", at = [0.1, 0.005, 0.01] }]\n";
    let of = |head: &str, tail: &str| {
        model(&format!("{head}{STEEL}{rest}{tail}"), generate_box(Hex20, [1.0, 0.01, 0.01], [50, 1, 1]).unwrap())
    };
    let still = of("", "");
    let solution = pipeline::solve_on(&Space::cpu(), &still, &Silent).unwrap();
    let modal = of("[analysis]\nstudy = \"modal\"\nmodes = 2\n", "[harmonic]\nfrequencies = [0.0]\ndamping = 0.02\n");
    let series = response(&Space::cpu(), &modal);
    for (probe, curve) in still.probes.iter().zip(&series.curves) {
        let expected = probe.of_flat(solution.step.nodes("displacement"), 3);
        let largest = expected.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
        let found: Vec<f64> = (0..3).map(|c| curve.rows[0][1 + c] * curve.rows[0][4 + c].to_radians().cos()).collect();
        assert_close(&curve.name, &found, &expected, 1e-4, largest);
    }
}

const PROBES: &str =
    "[output]\nprobes = [{ name = \"a\", at = [1.0, 0.5, 0.5] }, { name = \"b\", at = [0.7, 0.2, 0.1] }]\n";

/// A few cells under several loads, with a coupling, on a slope.
fn whole(study: &str, harmonic: &str) -> Option<Model> {
    let rest = "[[support]]\non = \"xmin\"\nfix = \"normal\"\n[[support]]\non = \"ymin\"\nfix = \"xy\"\naxes = { x = [1.0, 0.0, 1.0], y = [0.0, 1.0, 0.0] }\n\
                [[support]]\nnodes = [1]\nfix = \"xyz\"\n[[remote]]\nname = \"pin\"\non = \"xmax\"\nat = [1.2, 0.5, 0.5]\nforce = [10.0, -20.0, 30.0]\n\
                [[pressure]]\non = \"zmax\"\nvalue = 40.0\n[gravity]\nacceleration = [1.0, 2.0, -9.81]\n";
    let case = format!("[analysis]\n{study}{STEEL}{rest}{harmonic}{PROBES}");
    verify::model(&case, distorted_box(Hex8, [2, 1, 1], 0.1)).ok()
}

#[test]
fn all_modes_together_are_statics_at_frequency_0() {
    let harmonic = "[harmonic]\nfrequencies = [0.0, 100.0]\ndamping = 0.02\n";
    // As many as there are unknowns that nothing holds: more are refused.
    let of = |modes: usize| whole(&format!("study = \"modal\"\nmodes = {modes}\n"), harmonic);
    let free = (1..=36).rev().find_map(of).unwrap();
    assert!(free.modes > 12, "{}", free.modes);
    let still = whole("", "").unwrap();
    let solution = pipeline::solve_on(&Space::cpu(), &still, &Silent).unwrap();
    let expected: Vec<f64> =
        still.probes.iter().flat_map(|probe| probe.of_flat(solution.step.nodes("displacement"), 3)).collect();
    let of_first = |series: &Series| -> Vec<f64> {
        let signed = |row: &Vec<f64>, c: usize| row[1 + c] * row[4 + c].to_radians().cos();
        series.curves.iter().flat_map(|curve| (0..3).map(|c| signed(&curve.rows[0], c)).collect::<Vec<_>>()).collect()
    };
    let series = response(&Space::cpu(), &free);
    let largest = expected.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    assert_close("at 0", &of_first(&series), &expected, 1e-6, largest);
    for space in emulators() {
        let other = response(&space, &free);
        for (one, other) in series.curves.iter().zip(&other.curves) {
            assert_close("devices", &other.rows[1][..4], &one.rows[1][..4], 1e-6, one.rows[1][0]);
        }
    }
}

/// In the plane there is no displacement across it.
#[test]
fn a_plate_in_its_plane() {
    let rest = "[[support]]\non = \"xmin\"\nfix = \"xy\"\n[[traction]]\non = \"xmax\"\nvector = [0.0, 1e5]\n\
                [harmonic]\nfrequencies = [50.0]\ndamping = 0.02\n[output]\nprobes = [{ name = \"tip\", at = [1.0, 0.1] }]\n";
    let case = format!("[analysis]\nkind = \"plane_stress\"\nstudy = \"modal\"\nmodes = 6\n{STEEL}{rest}");
    let mesh: Mesh = generate_rectangle(Quad8, [1.0, 0.1], [10, 2]).unwrap();
    let series = response(&Space::cpu(), &model(&case, mesh));
    let row = &series.curves[0].rows[0];
    // Below the first mode, about 81, it moves as the force does, a little later: by the first mode's magnification.
    let first = 81.0_f64;
    let expected = (1e5 * 0.1) / (3.0 * 200e9 * 0.1_f64.powi(3) / 12.0) / (1.0 - (50.0 / first).powi(2));
    assert!((row[2] / expected - 1.0).abs() < 0.05 && row[3] == 0.0, "{row:?} {expected}");
    assert!(row[5] < 0.0 && row[5] > -5.0, "{row:?}");
}

/// The bar above, shaken at its end by u0: `u0 / cos(k L)` at the other. Fields at a frequency are what probes have there, and
/// what supports and loads do adds up.
#[test]
fn supports_that_move() {
    let sides = ["y", "z"].map(|axis| {
        ["min", "max"].map(|end| format!("[[support]]\non = \"{axis}{end}\"\nfix = \"{axis}\"\n")).concat()
    });
    let (base, force) = (
        "[[support]]\non = \"xmin\"\ndisplacement = { x = 1e-3 }\n",
        "[[force]]\non = \"xmax\"\ntotal = [1e5, 0.0, 0.0]\n",
    );
    let still = base.replace("1e-3", "0.0");
    let bar = STEEL.replace("poisson = 0.3", "poisson = 0.0");
    let at = [300.0, 700.0, 1600.0];
    let of = |more: &str| {
        let rest = "[harmonic]\nfrequencies = [300.0, 700.0, 1600.0]\nfields = [700.0]\nrayleigh = [0.0, 1e-8]\n\
                    [output]\nprobes = [{ name = \"end\", at = [1.0, 0.05, 0.05] }]\n";
        let case = format!("[analysis]\nstudy = \"modal\"\nmodes = 20\n{bar}{}{more}{rest}", sides.concat());
        let model = model(&case, generate_box(Hex20, [1.0, 0.1, 0.1], [30, 1, 1]).unwrap());
        let mut sink = Steps { fields: vec!["displacement".into(), "stress_nodal".into()], ..Steps::default() };
        pipeline::solve_into(&Space::cpu(), &model, &mut sink, &Silent).unwrap();
        let row = &sink.series[0].curves[0].rows;
        let end: Vec<Complex<f64>> = row.iter().map(|row| Complex::from_polar(row[1], row[4].to_radians())).collect();
        let [real, imaginary] = &sink.steps[20..] else { panic!("{} steps", sink.steps.len()) };
        assert_eq!((&*real.label, real.value, imaginary.moment), ("response 1, real", 700.0, Some(Moment::Imaginary)));
        let tip = |step: &Step| model.probes[0].of_flat(step.nodes("displacement"), 3)[0];
        assert!((Complex::new(tip(real), tip(imaginary)) - end[1]).norm() < 1e-9 * end[1].norm(), "{end:?}");
        let at_base = model.mesh.coords.iter().position(|x| x[0] == 0.0).unwrap();
        (end, real.vectors::<3>("displacement")[at_base][0], real.vectors::<6>("stress_nodal")[at_base][0])
    };
    let (shaken, base_moves, stress) = of(base);
    let speed = (200e9f64 / 8000.0).sqrt();
    for (found, at) in shaken.iter().zip(at) {
        let expected = 1e-3 / (TAU * at / speed).cos();
        assert!((found.re / expected - 1.0).abs() < 2e-6, "{at}: {found} {expected}");
    }
    // At the base: the displacement prescribed, and the stress E u0 k tan(k L).
    let k = TAU * 700.0 / speed;
    assert!((base_moves - 1e-3).abs() < 1e-12 && (stress / (200e9 * 1e-3 * k * k.tan()) - 1.0).abs() < 1e-3);
    let (pulled, stands, _) = of(&format!("{still}{force}"));
    let (both, ..) = of(&format!("{base}{force}"));
    assert_eq!(stands, 0.0);
    let sums = shaken.iter().zip(&pulled).map(|(one, other)| one + other);
    assert!(both.iter().zip(sums).all(|(both, sum)| (both - sum).norm() < 1e-6 * sum.norm()));
}
