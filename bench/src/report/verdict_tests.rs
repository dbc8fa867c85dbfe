//! Verdicts on made-up figures of FEMSES and of the vase, and what the tables of multigrid, phases and iterations say.

use super::document::make;
use super::run::Run;
use super::speed;
use super::tests::{head, machine, machines, with};
use serde_json::{Value, json};

/// The report's text.
fn text(run: Run) -> String {
    make(&[run]).0
}

/// A method of FEMSES at a size: milliseconds of transfer, allocation and the rest, iterations, residual.
fn method(
    name: &str,
    unknowns: usize,
    [transfer, allocate, total]: [f64; 3],
    iterations: usize,
    residual: f64,
) -> Value {
    json!({ "method": name, "nodes": unknowns.isqrt(), "unknowns": unknowns, "transfer_ms": transfer, "setup_ms": 1.0,
        "allocate_ms": allocate, "assembly_ms": 1.0, "solve_ms": 1.0, "total_ms": total, "iterations": iterations,
        "converged": residual <= 1e-6, "relative_residual": residual, "error": 1e-5 })
}

fn femses(device: &str, precision: &str, sides: u32, rows: &[Value]) -> Value {
    json!({ "device": device, "precision": precision, "tolerance": 1e-6, "sides": sides, "rows": rows })
}

#[test]
fn allocation_and_transfer_have_a_verdict_each() {
    let run = |transfer: f64, large: f64| {
        let rows = [
            method("dense", 100, [transfer, 1.0, 9.0], 1, 0.0),
            method("cg", 100, [1.0, 1.0, 9.0], 9, 1e-7),
            method("dense", 400, [transfer, large, 9.0], 1, 0.0),
            method("cg", 400, [1.0, 1.0, 9.0], 9, 1e-7),
        ];
        text(machine("femses", json!([femses("NVIDIA X1", "f64", 2, &rows)])))
    };
    let square = run(0.7, 16.0);
    assert!(square.contains("Allocation. **Holds**: at 400 unknowns the dense matrix takes 16 times"), "{square}");
    assert!(square.contains("grows as N^2;") && square.contains("Transfer. **Holds**: the dense case takes 0.7 times"));
    let flat = run(1.6, 2.0);
    assert!(flat.contains("Allocation. **Contradicted**") && flat.contains("Transfer. **Contradicted**"), "{flat}");
}

#[test]
fn femses_is_judged_against_each_of_the_others() {
    let run = |small: f64, large: f64| {
        let own = [100, 400].map(|n| method("femses", n, [1.0, 1.0, 10.0], n, 1e-7));
        let gpu = [method("sparse", 100, [1.0, 1.0, small], 1, 0.0), method("sparse", 400, [1.0, 1.0, 1.0], 1, 0.0)];
        let serial = |n: usize, ms: f64, dense: f64| {
            [method("sparse", n, [1.0, 1.0, ms], 1, 0.0), method("dense", n, [1.0, 1.0, dense], 1, 0.0)]
        };
        let host = [serial(100, 1.0, 5.0), serial(400, large, 200.0)].concat();
        let all = json!([
            femses("NVIDIA X1", "f64", 2, &[own.to_vec(), gpu.to_vec()].concat()),
            femses("cpu (1 thread)", "f64", 2, &host)
        ]);
        text(machine("femses", all))
    };
    let first = run(11.0, 2.0);
    for wanted in [
        "at all sizes. **Holds**: 0.1 at 100 unknowns, 0.2 at 400;",
        "decreases as sizes grow. **Contradicted**: it rises",
        "up to 10 times. **Holds and is exceeded**: 0.5 at 100 unknowns, 20 at 400;",
        "then behind and decaying. **Holds**: 1.1 at 100 unknowns, 0.1 at 400.",
    ] {
        assert!(first.contains(wanted), "{wanted}: {first}");
    }
    let second = run(9.0, 0.5);
    assert!(second.contains("decreases as sizes grow. **Holds**: it falls"), "{second}");
    assert!(second.contains("then behind and decaying. **Contradicted**: 0.9 at 100"), "{second}");
}

#[test]
fn what_stalls_is_counted_by_precision() {
    let sizes = [(100, 100), (400, 400), (1600, 1600)];
    let rows = |residual| sizes.map(|(n, iterations)| method("femses", n, [1.0; 3], iterations, residual));
    let text = text(machine(
        "femses",
        json!([
            femses("NVIDIA X1", "f64", 2, &rows(1e-7)),
            femses("NVIDIA X1", "f32", 2, &rows(2e-6)),
            femses("NVIDIA X1", "f64", 4, &rows(1e-7))
        ]),
    ));
    for wanted in [
        "Stalls in f32. **Holds**: 3 of 3 runs end above their tolerance, at residuals of 2e-6 to 2e-6: femses from \
            100 unknowns on;",
        "Stalls in f64. **Contradicted**: 0 of 3 runs",
        "Two sides are the cause. **Contradicted**: held on four sides the iterations grow as N^1;",
        "| femses | 1e-5 | 1e-5 | 1e-5 |",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// A preconditioner's row: what it keeps, iterations and milliseconds.
fn kept(name: &str, storage: &str, iterations: usize, ms: f64) -> Value {
    json!({ "preconditioner": name, "order": null, "mixed": storage != "f64", "storage": storage,
        "iterations": iterations, "spmvs": iterations, "converged": true, "setup_ms": 1.0, "solve_ms": ms - 1.0,
        "spmv_ms": 0.1, "history": [], "multigrid": if name == "amg" {
            json!({ "operator_complexity": 1.5, "levels": levels() }) } else { Value::Null } })
}

fn preconditioned(problem: &str, elements: usize, rows: &[Value]) -> Value {
    let report = with(head(problem, "f64", 1000), json!({ "elements": elements, "format": "ebw", "tolerance": 1e-8 }));
    with(report, json!({ "rows": rows }))
}

#[test]
fn multigrid_says_what_its_hierarchy_is_kept_in() {
    let rows = [
        kept("jacobi", "f64", 100, 20.0),
        kept("chebyshev", "f32", 50, 8.0),
        kept("amg", "f64", 10, 5.0),
        kept("amg", "f16", 11, 4.0),
    ];
    let text = text(machine("precond", json!([preconditioned("tet4 cube 9", 6000, &rows)])));
    assert!(text.contains("| tet4, n = 9 | 1e-8 | 3,000 | 2 | 1.5 | 10 | 1 + 4 | 11 | 1 + 3 |"), "{text}");
    assert!(text.contains("| tet4, n = 9 | 1e-8 | 4 | f16 | 100 | 20 | 5.00 | chebyshev, f32 | 8 | 2.00 |"), "{text}");
}

fn levels() -> Value {
    json!([{ "unknowns": 3000, "stencil": 15.0 }, { "unknowns": 60, "stencil": 4.5 }])
}

#[test]
fn multigrid_says_what_is_left_of_its_set_up() {
    let solution = |what: &str, iterations: usize, setup_ms: f64| {
        let times =
            json!({ "aggregation": 1e-3, "symbolic": 2e-3, "numeric": 3e-3, "smoothing": 4e-3, "coarsest": 5e-3 });
        let multigrid =
            json!({ "operator_complexity": 1.5, "bytes": 25_000_000, "setup_s": times, "levels": levels() });
        json!({ "what": what, "storage": "f64", "iterations": iterations, "setup_ms": setup_ms, "solve_ms": 7.0,
            "multigrid": multigrid })
    };
    let solutions = [solution("first", 20, 16.0), solution("new load", 21, 0.0), solution("new materials", 22, 9.0)];
    let report = with(head("tet4 cube 9", "f64", 1000), json!({ "elements": 6000, "solutions": solutions }));
    let text = text(machine("amg", json!([report])));
    for line in [
        "| tet4, n = 9 | 3,000 / 60 | 15 / 4.5 | 1.5 | 25 |",
        "| tet4, n = 9 | 1 | 2 | 3 | 4 | 5 | 16 |",
        "| tet4, n = 9 | f64 | 20 | 16 + 7 | 21 | 7 | 22 | 9 + 7 |",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_vase_is_compared_with_a_cube_of_as_many_elements() {
    let cube = |cells: usize, elements: usize, iterations: usize| {
        let row = json!({ "format": "ebw", "iterations": iterations, "converged": true, "relative_residual": 1e-9,
            "setup_s": 0.1, "assembly_s": 0.1, "solve_ms": 80.0, "iteration_ms": 2.0, "iterations_per_s": 500.0,
            "of_copy": 0.75, "min_u_z": -1e-6 });
        let report = with(head(&format!("tet4 cube {cells}"), "f64", 1000), json!({ "elements": elements }));
        with(report, json!({ "tolerance": 1e-8, "max_iterations": null, "iteration_bytes": 1e6, "rows": [row] }))
    };
    let run = |iterations| {
        let vase = preconditioned("vase", 4000, &[kept("jacobi", "f64", iterations, 9.0)]);
        let cubes = json!([cube(1, 1000, 100), cube(2, 16_000, 400)]);
        text(machines(&[("precond", json!([vase])), ("cg", cubes)]))
    };
    // Iterations of the cubes are as the root of the elements: 200 at 4,000.
    assert!(run(2400).contains("**Holds**: 12 times as many as a cube of as many tetrahedra, which would take 200"));
    assert!(run(1600).contains("**Falls short**: 8 times as many"));
}

#[test]
fn whole_programs_are_compared_with_the_first_and_their_answers_with_the_last() {
    let program = |name: &str, seconds: f64, peak: f64, displacement: f64| {
        json!({ "program": name, "samples_s": [seconds], "seconds": seconds, "peak_mib": peak, "iterations": 7,
            "max_displacement": displacement })
    };
    let programs = [program("Slow", 30.0, 1000.0, 1.0001e-6), program("quick", 10.0, 400.0, 1e-6)];
    let one = json!({ "problem": "hex8 cube 9", "device": "cpu (2 threads)", "dofs": 3000, "programs": programs });
    let run = machine("programs", json!([one]));
    let said = speed::programs(&run);
    assert!(
        said.contains("a pressed cube of hex8, n = 9, 3,000 unknowns,") && said.contains("quick: 10 s, 400 MiB.\n"),
        "{said}"
    );
    let text = text(run);
    for line in [
        "Slow | 7 | 30 | 1000 | 1.0001000e-6 | 1e-4 | 1.00 | 1.00 |",
        "quick | 7 | 10 | 400 | 1.0000000e-6 | - | 3.00 | 2.50 |",
    ] {
        assert!(text.contains(&format!("| hex8, n = 9, cpu (2 threads) | 3,000 | {line}")), "{text}");
    }
}

#[test]
fn what_no_phase_has_is_listed() {
    let solve = json!({ "case": "cube_9", "elements": 6000, "dofs": 3000, "device": "NVIDIA X1",
        "solver": { "iterations": 40 }, "results": { "strain_energy": 1.0 },
        "timings_s": { "read": 1.0, "setup": 0.5, "assembly": 0.5, "boundary": 0.5, "solve": 4.0, "stress": 0.5,
            "write": 1.0, "total": 10.0 } });
    let text = text(machine("solve", json!([solve])));
    assert!(
        text.contains("| cube_9, 6,000 elements | 3,000 | 40 | 1 | 0.5 | 0.5 | 0.5 | 4 | 0.5 | 1 | 2 | 10 |"),
        "{text}"
    );
}

#[test]
fn iterations_that_did_not_come_to_their_tolerance_are_not_counted() {
    let run = |converged: bool| {
        let row = json!({ "format": "ebw", "iterations": 455, "converged": converged, "relative_residual": 9e-4,
            "setup_s": 0.1, "assembly_s": 0.1, "solve_ms": 80.0, "iteration_ms": 2.0, "iterations_per_s": 500.0,
            "of_copy": 0.75, "min_u_z": -1e-6 });
        let cg = json!({ "tolerance": 1e-5, "max_iterations": null, "iteration_bytes": 1e6, "rows": [row] });
        let peer = json!({ "tet4 cube 9": { "f32": { "tolerance": 1e-5, "iterations": 351, "iteration_ms": 5.0,
            "true_residual": 2e-3 } } });
        text(machines(&[("cg", json!([with(head("tet4 cube 9", "f32", 1000), cg)])), ("peer", peer)]))
    };
    let text = run(false);
    assert!(
        text.contains("| tet4, n = 9, f32 | 1e-5 (not reached) | 9e-4 | 2 | 75 % | 2.50 | -1.000000e-6 |"),
        "{text}"
    );
    assert!(text.contains("ends at 9e-4 to 9e-4, the fused CG's at 2e-3 to 2e-3,"), "{text}");
    assert!(text.contains("An iteration is 2.5 (f32) times as fast as the fused CG's."), "{text}");
    let reached = run(true);
    assert!(reached.contains("| 1e-5 | 9e-4 | 455 | 80 | 2 |") && !reached.contains("does not come to"), "{reached}");
}
