//! Verdicts and tables on made-up figures: other figures make other verdicts.

use super::document::make;
use super::run::Run;
use super::speed;
use serde_json::{Value, json};

/// The files of the repository, in the order of the report.
pub fn checked_in() -> Vec<Run> {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks"));
    let read = |name: &str| Run::read(&folder.join(name)).unwrap();
    vec![read("cpu-2026-11-21.json"), read("h200-2026-11-21.json")]
}

fn machine(list: &str, reports: Value) -> Run {
    machines(&[(list, reports)])
}

fn machines(lists: &[(&str, Value)]) -> Run {
    let mut file = json!({ "device": "NVIDIA X1", "runs": [{ "date": "2026-01-02" }] });
    for (list, reports) in lists {
        file[*list] = reports.clone();
        file[*list].as_array_mut().into_iter().flatten().for_each(|report| report["run"] = json!(0));
    }
    Run::parse("x1.json", &file.to_string()).unwrap()
}

/// What a report begins with, with more.
fn head(problem: &str, precision: &str, nodes: usize, more: Value) -> Value {
    let mut report = json!({ "device": "NVIDIA X1", "problem": problem, "nodes": nodes, "elements": 6 * nodes,
        "block_size": 3, "dofs": 3 * nodes, "blocks": 15 * nodes, "precision": precision, "copy_gb_per_s": 1000.0 });
    report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    report
}

/// Iterations per second by format, stopped early.
fn stopped(nodes: usize, device: &str, rates: &[(&str, f64)]) -> Value {
    let row = |(format, rate): &(&str, f64)| {
        json!({ "format": format, "iterations": 200, "converged": false, "setup_s": 0.01, "assembly_s": 0.01,
            "solve_ms": 2e5 / rate, "iteration_ms": 1e3 / rate, "iterations_per_s": rate })
    };
    let rows: Vec<Value> = rates.iter().map(row).collect();
    head("cube_n", "f64", nodes, json!({ "device": device, "max_iterations": 200, "rows": rows }))
}

/// Products by format: milliseconds.
fn products(problem: &str, precision: &str, nodes: usize, times: &[(&str, f64)]) -> Value {
    let row = |(format, ms): &(&str, f64)| json!({ "format": format, "padding": 1.0, "spmv_ms": ms, "own_bytes": 1e6, "of_copy": 0.8, "gflops": 1.0 / ms });
    let rows: Vec<Value> = times.iter().map(row).collect();
    head(
        problem,
        precision,
        nodes,
        json!({ "min_bytes": 1e6, "ordering": "mesh", "degree_window": 1024, "rows": rows }),
    )
}

/// All pages.
fn text(run: Run) -> String {
    make(&[run]).into_iter().filter(|(name, _)| name.ends_with(".md")).map(|(_, text)| text).collect()
}

#[track_caller]
fn says(run: Run, wanted: &[&str]) {
    let text = text(run);
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn formats_are_compared_by_their_rates() {
    let run = |csr: f64| {
        machine("cg", json!([stopped(7400, "NVIDIA X1", &[("dense", 100.0), ("csr", csr), ("ebw", 9000.0)])]))
    };
    says(run(4200.0), &["| the same, 7,348 nodes | 42 | 42 | holds |"]);
    says(run(1000.0), &["| the same, 7,348 nodes | 42 | 10 | falls short |"]);
    says(run(8000.0), &["| the same, 7,348 nodes | 42 | 80 | holds and is exceeded |"]);
}

#[test]
fn a_serial_program_is_one_thread() {
    let on = |device: &str, rate| stopped(463, device, &[("dense", rate), ("ebw", rate)]);
    let run = |rate| machine("cg", json!([on("NVIDIA X1", rate), on("cpu (1 thread)", 100.0)]));
    says(run(1000.0), &["| dense on a GPU over dense on a CPU, 463 nodes | 10 | 10 | holds |"]);
    says(run(100.0), &["| dense on a GPU over dense on a CPU, 463 nodes | 10 | 1 | falls short |"]);
}

#[test]
fn sell_and_the_library_are_compared_by_their_products() {
    let run = |ebw: f64| {
        let variant = |name: &str, ms: f64| json!({ "variant": name, "precision": "f64", "ms": ms });
        let rows = [variant("csr_alg1", 2.98), variant("csr_alg2", 7.0)];
        let library = json!([{ "problem": "tri3 square 9", "block_size": 3, "ordering": "mesh", "rows": rows }]);
        let spmv = products("tri3 square 9", "f64", 100, &[("csr", 3.0), ("sell", 1.25), ("ebw", ebw)]);
        machines(&[("spmv", json!([spmv])), ("cusparse", library)])
    };
    let lines =
        ["SBELL over cuSPARSE's CSR, tri | 2.98 | 2.98 | holds |", "SBELL over SELL, tri | 1.25 | 1.25 | holds |"];
    says(run(1.0), &lines);
    says(run(2.0), &["CSR, tri | 2.98 | 1.49 | falls short |", "over SELL, tri | 1.25 | 0.625 | contradicted |"]);
}

#[test]
fn the_fastest_strategy_decides() {
    let run = |ppni4: f64| {
        let times = [("by_element", 82.0), ("ppni4", ppni4), ("ppni8", 9.0)];
        let row = |(strategy, ms): (&str, f64)| json!({ "strategy": strategy, "assembly_ms": ms, "gflops": 1.0 / ms });
        let more = json!({ "elements": 262_144, "format": "csr", "rows": times.map(row) });
        machine("assembly", json!([head("hex8 box 4x1x1 of 16x2x2", "f32", 100, more)]))
    };
    says(run(8.0), &["fastest. **Holds**: of its strategies `ppni4`", "262,144 elements | 8.2 | 10.2 | holds and is"]);
    says(run(12.0), &["fastest. **Contradicted**: of its strategies `ppni8`", "262,144 elements | 8.2 | 6.83 | falls"]);
}

/// A method of FEMSES at a size: milliseconds of transfer, allocation and in all, and the residual.
fn method(name: &str, unknowns: usize, [transfer, allocate, total]: [f64; 3], residual: f64) -> Value {
    json!({ "method": name, "unknowns": unknowns, "transfer_ms": transfer, "setup_ms": 1.0,
        "allocate_ms": allocate, "assembly_ms": 1.0, "solve_ms": 1.0, "total_ms": total, "iterations": unknowns,
        "converged": residual <= 1e-6, "relative_residual": residual, "error": 1e-5 })
}

fn femses(device: &str, precision: &str, sides: u32, rows: &[Value]) -> Value {
    json!({ "device": device, "precision": precision, "tolerance": 1e-6, "sides": sides, "rows": rows })
}

#[test]
fn allocation_and_transfer_have_a_verdict_each() {
    let run = |transfer: f64, large: f64| {
        let of = |n, dense| [method("dense", n, [transfer, dense, 9.0], 0.0), method("cg", n, [1.0, 1.0, 9.0], 1e-7)];
        let rows = [of(100, 1.0), of(400, large)].concat();
        machine("femses", json!([femses("NVIDIA X1", "f64", 2, &rows)]))
    };
    says(run(0.7, 16.0), &["Allocation. **Holds**: at 400 unknowns the dense matrix takes 16 times", "grows as N^2;"]);
    says(run(0.7, 16.0), &["Transfer. **Holds**: the dense case takes 0.7 times"]);
    says(run(1.6, 2.0), &["Allocation. **Contradicted**", "Transfer. **Contradicted**"]);
}

#[test]
fn femses_is_judged_against_each_of_the_others() {
    let run = |small: f64, large: f64| {
        let total = |name: &str, n: usize, ms: f64| method(name, n, [1.0, 1.0, ms], 1e-7);
        let gpu = [
            total("femses", 100, 10.0),
            total("femses", 400, 10.0),
            total("sparse", 100, small),
            total("sparse", 400, 1.0),
        ];
        let host = [
            total("sparse", 100, 1.0),
            total("dense", 100, 5.0),
            total("sparse", 400, large),
            total("dense", 400, 200.0),
        ];
        machine("femses", json!([femses("NVIDIA X1", "f64", 2, &gpu), femses("cpu (1 thread)", "f64", 2, &host)]))
    };
    let first = [
        "at all sizes. **Holds**: it is at most 0.2 times as fast;",
        "decreases as sizes grow. **Contradicted**: it rises",
        "up to 10 times. **Holds and is exceeded**: it is up to 20 times as fast;",
        "then behind and decaying. **Holds**: from 1.1 to 0.1 times as fast.",
    ];
    says(run(11.0, 2.0), &first);
    says(run(9.0, 0.5), &["decreases as sizes grow. **Holds**: it falls", "decaying. **Contradicted**: from 0.9 to"]);
}

#[test]
fn what_stalls_is_counted_by_precision() {
    let rows = |residual| [100, 400, 1600].map(|n| method("femses", n, [1.0; 3], residual));
    let all = [("f64", 2, 1e-7), ("f32", 2, 2e-6), ("f64", 4, 1e-7)];
    let all = all.map(|(precision, sides, residual)| femses("NVIDIA X1", precision, sides, &rows(residual)));
    let wanted = [
        "Stalls in f32. **Holds**: 3 of 3 runs end above their tolerance, at residuals up to 2e-6;",
        "Stalls in f64. **Contradicted**: 0 of 3 runs",
        "Two sides are the cause. **Contradicted**: held on four sides the iterations grow as N^1;",
        "holds, contradicted (",
    ];
    says(machine("femses", json!(all)), &wanted);
}

#[test]
fn multigrid_is_compared_with_jacobi() {
    let row = |name: &str, storage: &str, iterations: usize, ms: f64| {
        json!({ "preconditioner": name, "order": null, "mixed": storage != "f64", "storage": storage,
            "iterations": iterations, "converged": iterations < 99, "setup_ms": 1.0, "solve_ms": ms - 1.0,
            "multigrid": { "operator_complexity": 1.5 } })
    };
    let rows = [row("jacobi", "f64", 100, 20.0), row("amg", "f64", 10, 5.0), row("amg", "f16", 11, 4.0)];
    let report = head("tet4 cube 20", "f64", 1000, json!({ "format": "ebw", "tolerance": 1e-8, "rows": rows }));
    let line = "| tet4, n = 20 | 1e-8 | 3,000 | 1.5 | 11 | 4 | 100 (not reached) | 20 | 5.00 |";
    says(machine("precond", json!([report])), &[line]);
}

#[test]
fn programs_are_compared_with_the_last() {
    let program = |name: &str, seconds: f64, displacement: f64| {
        json!({ "program": name, "seconds": seconds, "peak_mib": 400.0, "iterations": 7,
            "max_displacement": displacement })
    };
    let programs = [program("Slow", 30.0, 1.0001e-6), program("warpfem, auto", 10.0, 1e-6)];
    let one = json!({ "problem": "hex8 cube 9", "device": "cpu (2 threads)", "dofs": 3000, "programs": programs });
    let run = machine("programs", json!([one]));
    let said = speed::programs(&run);
    assert!(said.contains("2026-01-02, a pressed cube of hex8, n = 9, 3,000 unknowns,"), "{said}");
    assert!(said.contains("Slow: 30 s, 400 MiB; warpfem, auto: 10 s, 400 MiB.\n"), "{said}");
    says(run, &["| hex8, n = 9 | Slow | 7 | 3.00 | 1e-4 |"]);
}

#[test]
fn speed_has_a_line_for_each_mesh() {
    let row = json!({ "format": "ebw", "iterations": 40, "converged": true, "iteration_ms": 2.0, "of_copy": 0.75 });
    let cg = head("tet4 cube 9", "f64", 1000, json!({ "tolerance": 1e-8, "max_iterations": null, "rows": [row] }));
    let spmv = products("tet4 cube 9", "f64", 1000, &[("ebw", 0.5)]);
    let variant = json!({ "variant": "sell32", "precision": "f64", "ms": 0.75 });
    let library = json!([{ "problem": "tet4 cube 9", "block_size": 3, "rows": [variant] }]);
    let peer = json!({ "tet4 cube 9": { "f64": { "iteration_ms": 5.0 } } });
    let lists = [("cg", json!([cg])), ("spmv", json!([spmv])), ("cusparse", library), ("peer", peer)];
    let table = speed::speed(&machines(&lists)).unwrap();
    assert!(table.starts_with("NVIDIA X1, double precision, 2026-01-02; copy: 1,000 GB/s.\n"), "{table}");
    assert!(table.contains("| tet4, n = 9 | 3,000 | 0.5 | 80 % | 1.50 | 40 | 2 | 75 % | 2.50 |"), "{table}");
}

#[test]
fn a_section_names_its_runs_and_their_days() {
    let entry = |run: usize, problem, precision| {
        let mut entry = products(problem, precision, 100, &[("csr", 3.0), ("ebw", 1.0)]);
        entry["run"] = json!(run);
        entry
    };
    let entries = [entry(0, "tet4 cube 20", "f64"), entry(1, "tet4 cube 9", "f32"), entry(2, "bracket", "f64")];
    let days = ["2026-01-02", "2026-01-03", "2026-01-04"].map(|date| json!({ "date": date }));
    let file = json!({ "device": "NVIDIA X1", "spmv": entries, "runs": days });
    let run = Run::parse("x1.json", &file.to_string()).unwrap();
    let table = speed::speed(&run).unwrap();
    assert!(table.starts_with("NVIDIA X1, double precision, 2026-01-04; copy: 1,000 GB/s.\n"), "{table}");
    let files = make(&[run]);
    let by_format = files["measured.md"].split("\n## Sparse product by format\n").nth(1).unwrap();
    assert!(by_format.contains("\n**NVIDIA X1**, 2026-01-02 and 2026-01-04, runs 0 and 2:\n"), "{by_format}");
    assert!(files["report.md"].contains("\n  - run 2, 2026-01-04: `spmv`\n"), "{}", files["report.md"]);
}

#[test]
fn a_single_report_is_a_run() {
    let report = products("tet4 cube 9", "f64", 1000, &[("ebw", 0.5)]);
    let run = Run::parse("one.json", &report.to_string()).unwrap();
    assert_eq!((run.device.as_str(), run.json["spmv"].as_array().unwrap().len()), ("NVIDIA X1", 1));
    for (text, why) in [("[1]", "not an object"), ("{", "EOF"), ("{\"a\": 1}", "neither the figures of a machine")] {
        assert!(Run::parse("one.json", text).unwrap_err().contains(why), "{text}");
    }
}

#[test]
fn counted_sectors_decide() {
    let run = |csr_hits: f64, ebw_read: f64, ebw_second: f64| {
        let row = |format: &str, read: f64, hits: f64, second: f64| {
            json!({ "format": format, "dram_sectors_read": read, "l2_sectors_read": second, "l1_hit_percent": hits,
                "dram_percent_of_peak": 80, "multiprocessor_percent_of_peak": 20 })
        };
        let rows =
            [row("csr", 2e7, csr_hits, 2e7), row("ell", 1.9e7, 37.0, 2e7), row("ebw", ebw_read, 45.0, ebw_second)];
        machine("counters", json!([{ "problem": "--element tet4 --cells 60", "rows": rows }]))
    };
    let first = [
        "Fewest sectors. **Holds**: ebw reads the fewest",
        "CSR against ELL. **Contradicted**: CSR reads 1.05 times",
        "wastes the cache. **Contradicted**: CSR reads 1 times EBW's",
        "| holds (2), contradicted (2) |",
    ];
    says(run(80.0, 1e7, 2e7), &first);
    says(run(2.0, 3e7, 1e7), &["**Contradicted**: ell reads the fewest", "**Holds**: CSR reads 2 times EBW's"]);
}
