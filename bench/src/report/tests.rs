//! Verdicts and tables on made-up figures: other figures make other verdicts.

use super::document::make;
use super::run::Run;
use super::speed::speed;
use serde_json::{Value, json};

/// A machine with one list of reports.
pub fn machine(list: &str, reports: Value) -> Run {
    machines(&[(list, reports)])
}

pub fn machines(lists: &[(&str, Value)]) -> Run {
    let session = json!({ "date": "2026-01-02", "driver": "1.2", "commands": ["measure"] });
    let mut file = json!({ "device": "NVIDIA X1", "runs": [session] });
    for (list, reports) in lists {
        file[*list] = reports.clone();
        file[*list].as_array_mut().into_iter().flatten().for_each(|report| report["run"] = json!(0));
    }
    Run::parse("x1.json", &file.to_string()).unwrap()
}

/// What a report begins with.
pub fn head(problem: &str, precision: &str, nodes: usize) -> Value {
    json!({ "device": "NVIDIA X1", "problem": problem, "nodes": nodes, "elements": 6 * nodes, "block_size": 3,
        "dofs": 3 * nodes,
        "blocks": 15 * nodes, "precision": precision, "copy_gb_per_s": 1000.0 })
}

pub fn with(mut report: Value, more: Value) -> Value {
    report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    report
}

/// Iterations per second by format, stopped early.
fn stopped(nodes: usize, device: &str, rates: &[(&str, f64)]) -> Value {
    let row = |(format, rate): &(&str, f64)| {
        json!({ "format": format, "iterations": 200, "converged": false, "setup_s": 0.01, "assembly_s": 0.01,
            "solve_ms": 2e5 / rate,
            "iteration_ms": 1e3 / rate, "iterations_per_s": rate, "of_copy": 0.5, "min_u_z": -1e-6 })
    };
    let rows: Vec<Value> = rates.iter().map(row).collect();
    let report = with(
        head("cube_n", "f64", nodes),
        json!({ "device": device, "tolerance": 1e-8, "max_iterations": 200, "iteration_bytes": 1e6 }),
    );
    with(report, json!({ "rows": rows }))
}

/// Products by format: milliseconds.
fn products(problem: &str, precision: &str, nodes: usize, times: &[(&str, f64)]) -> Value {
    let row = |(format, ms): &(&str, f64)| {
        json!({ "format": format, "layout_s": 0.001, "stored_bytes": 1e6, "padding": 1.0, "spmv_ms": ms,
            "own_bytes": 1e6, "own_of_copy": 0.9,
            "gb_per_s": 1.0, "of_copy": 0.8, "gflops": 1.0 / ms })
    };
    let rows: Vec<Value> = times.iter().map(row).collect();
    with(
        head(problem, precision, nodes),
        json!({ "ordering": "mesh", "degree_window": 1024, "setup_s": 0.1, "min_bytes": 1e6, "rows": rows }),
    )
}

/// Assemblies of WARP's cantilever by strategy: milliseconds.
fn cantilever(elements: usize, times: &[(&str, f64)]) -> Value {
    let row = |(strategy, ms): &(&str, f64)| {
        json!({ "strategy": strategy, "colors": 8, "largest_color": 9, "prepare_s": 0.02, "assembly_ms": ms,
            "elements_per_s": 1e9, "gflops": 100.0 / ms,
            "gb_per_s": 1.0, "of_copy": 0.1, "of_write_floor": 0.1 })
    };
    let rows: Vec<Value> = times.iter().map(row).collect();
    let report = with(
        head("hex8 box 4x1x1 of 16x2x2", "f32", 100),
        json!({ "elements": elements, "format": "csr", "symbolic_s": 0.1 }),
    );
    with(report, json!({ "flops": 1e9, "min_bytes": 1e6, "rows": rows }))
}

/// FEMSES's iterations by unknowns.
fn femses(iterations: &[(usize, usize)]) -> Value {
    let row = |(unknowns, iterations): &(usize, usize)| {
        json!({ "method": "femses", "nodes": unknowns.isqrt(), "unknowns": unknowns, "elements": 2 * unknowns,
            "transfer_ms": 1.0, "setup_ms": 1.0,
            "allocate_ms": 1.0, "assembly_ms": 1.0, "solve_ms": 1.0, "total_ms": 5.0, "iterations": iterations,
            "converged": true,
            "relative_residual": 1e-7, "error": 1e-5 })
    };
    let rows: Vec<Value> = iterations.iter().map(row).collect();
    json!([{ "device": "NVIDIA X1", "precision": "f64", "tolerance": 1e-6, "sides": 2, "rows": rows }])
}

/// The report's lines that begin so.
fn lines(run: Run, begin: &str) -> Vec<String> {
    let (text, _) = make(&[run]);
    let found: Vec<String> = text.lines().filter(|line| line.starts_with(begin)).map(str::to_owned).collect();
    assert!(!found.is_empty(), "no line begins with {begin:?} in\n{text}");
    found
}

#[test]
fn formats_are_compared_by_their_rates() {
    let run = |csr: f64| {
        machine("cg", json!([stopped(7400, "NVIDIA X1", &[("dense", 100.0), ("csr", csr), ("ebw", 9000.0)])]))
    };
    let line = |csr| lines(run(csr), "| the same, 7,348 nodes").concat();
    assert!(line(4200.0).contains("| 42 | 42 |") && line(4200.0).contains("| holds |"), "{}", line(4200.0));
    assert!(line(1000.0).contains("| 10 |") && line(1000.0).contains("| falls short |"), "{}", line(1000.0));
    assert!(line(8000.0).contains("| holds and is exceeded |"), "{}", line(8000.0));
}

#[test]
fn a_serial_program_is_one_thread() {
    let on = |device: &str, rate| stopped(463, device, &[("dense", rate), ("ebw", rate)]);
    let run = |rate| machine("cg", json!([on("NVIDIA X1", rate), on("cpu (1 thread)", 100.0)]));
    assert!(lines(run(1000.0), "| dense on a GPU over dense on a CPU").concat().contains("| 10 | 10 | holds |"));
    assert!(lines(run(100.0), "| dense on a GPU over dense on a CPU").concat().contains("| 10 | 1 | falls short |"));
}

#[test]
fn sell_and_the_library_are_compared_by_their_products() {
    let run = |ebw: f64| {
        let library = json!([{ "problem": "tri3 square 9", "block_size": 3, "ordering": "mesh",
            "rows": [{ "variant": "csr_alg1", "precision": "f64", "ms": 2.98 }, { "variant": "csr_alg2",
            "precision": "f64", "ms": 7.0 }] }]);
        let spmv = products("tri3 square 9", "f64", 100, &[("csr", 3.0), ("sell", 1.25), ("ebw", ebw)]);
        machines(&[("spmv", json!([spmv])), ("cusparse", library)])
    };
    let line = |ebw, what| lines(run(ebw), &format!("| tri3, n = 9: over {what}")).concat();
    assert!(
        line(1.0, "cuSPARSE's CSR").contains("| 2.98 | 2.98 |") && line(1.0, "cuSPARSE's CSR").contains("| holds |")
    );
    assert!(line(2.0, "cuSPARSE's CSR").contains("| falls short |"));
    assert!(line(1.0, "SELL").contains("| holds |") && line(0.5, "SELL").contains("| holds and is exceeded |"));
    let fastest =
        |ebw| lines(run(ebw), "**").into_iter().find(|line| line.contains("SBELL is the fastest of these")).unwrap();
    assert!(fastest(1.0).starts_with("**Holds**: SBELL is the fastest of these in 1 of 1"));
    assert!(fastest(2.0).starts_with("**Contradicted**: SBELL is the fastest of these in 0 of 1"));
}

#[test]
fn strategies_are_compared_with_assembly_by_element() {
    let run = |ppni4: f64| {
        machine("assembly", json!([cantilever(262_144, &[("by_element", 8.2), ("by_warp4", 2.0), ("ppni4", ppni4)])]))
    };
    let line = |ppni4| lines(run(ppni4), "| PPNI, 4 threads, 262,144 elements").concat();
    assert!(line(1.0).contains("| 8.2 | 8.2 | holds |"), "{}", line(1.0));
    assert!(line(4.0).contains("| falls short |"), "{}", line(4.0));
    let fastest = |ppni4| lines(run(ppni4), "PPNI with 4 threads is the fastest").concat();
    assert!(fastest(1.0).contains("**Holds**") && fastest(4.0).contains("`by_warp4` is the fastest"));
}

#[test]
fn growth_is_an_exponent() {
    let line = |last| {
        lines(machine("femses", femses(&[(100, 100), (400, 400), (1600, last)])), "Faster than linearly").concat()
    };
    assert!(line(1600).contains("**Contradicted**: iterations grow as N^1;"), "{}", line(1600));
    assert!(line(4000).contains("**Holds**"), "{}", line(4000));
}

#[test]
fn speed_has_the_peers_beside_ours() {
    let iteration = json!({ "format": "ebw", "iterations": 40, "converged": true, "setup_s": 0.1,
        "assembly_s": 0.1, "solve_ms": 80.0,
        "iteration_ms": 2.0, "iterations_per_s": 500.0, "of_copy": 0.75, "min_u_z": -1e-6 });
    let cg = with(
        head("tet4 cube 9", "f64", 1000),
        json!({ "tolerance": 1e-8, "max_iterations": null, "iteration_bytes": 1e6, "rows": [iteration] }),
    );
    let cusparse = json!([{ "problem": "tet4 cube 9", "block_size": 3, "ordering": "mesh",
        "rows": [{ "variant": "sell32", "precision": "f64", "ms": 0.75 }] }]);
    let run = machines(&[
        ("spmv", json!([products("tet4 cube 9", "f64", 1000, &[("ebw", 0.5)])])),
        ("cg", json!([cg])),
        ("cusparse", cusparse),
        ("peer", json!({ "tet4 cube 9": { "f64": { "tolerance": 1e-8, "iterations": 41, "iteration_ms": 5.0 } } })),
    ]);
    let table = speed(&run).unwrap();
    assert!(table.starts_with("NVIDIA X1, double precision, 2026-01-02; copy: 1,000 GB/s.\n"), "{table}");
    assert!(table.contains("| tet4, n = 9 | 3,000 | 0.5 | 80 % | 1.50 | 40 | 2 | 75 % | 2.50 |"), "{table}");
}

#[test]
fn the_same_figures_make_the_same_bytes() {
    let run =
        || machine("cg", json!([stopped(7400, "NVIDIA X1", &[("dense", 100.0), ("csr", 4000.0), ("ebw", 9000.0)])]));
    let ((first, plots), (second, again)) = (make(&[run()]), make(&[run()]));
    assert_eq!(first, second);
    assert_eq!(plots.0, again.0);
    assert!(plots.0.keys().all(|name| name.starts_with("x1-")), "{:?}", plots.0.keys());
    for name in plots.0.keys() {
        assert!(first.contains(&format!("](plots/{name})")), "{name} is not shown");
    }
}

#[test]
fn a_section_names_its_runs_and_their_days() {
    let session = |date: &str| json!({ "date": date, "commands": [date] });
    let entry = |run: usize, problem, precision| {
        with(products(problem, precision, 100, &[("csr", 3.0), ("ebw", 1.0)]), json!({ "run": run }))
    };
    let entries = [entry(0, "tet4 cube 9", "f64"), entry(1, "tet4 cube 9", "f32"), entry(2, "bracket", "f64")];
    let file = json!({ "device": "NVIDIA X1", "spmv": entries,
        "runs": [session("2026-01-02"), session("2026-01-03"), session("2026-01-04")] });
    let run = || Run::parse("x1.json", &file.to_string()).unwrap();
    let (text, _) = make(&[run()]);
    let here = |heading: &str| {
        let section = text.split(&format!("\n### {heading}\n")).nth(1).unwrap();
        section.lines().find(|line| line.starts_with("**Here**")).unwrap()
    };
    assert_eq!(
        here("Sparse product"),
        "**Here** (NVIDIA X1, 2026-01-02, 2026-01-03 and 2026-01-04; [`x1.json`](x1.json), `spmv`, `cusparse`, \
            [runs 0 to 2](#measured-on)):"
    );
    assert!(text.contains("\n  - run 2, 2026-01-04: `spmv`.\n    - `2026-01-04`\n"), "{text}");
    // The table in speed.md is of double precision.
    let table = speed(&run()).unwrap();
    assert!(table.starts_with("NVIDIA X1, double precision, 2026-01-04; copy: 1,000 GB/s.\n"), "{table}");
}

#[test]
fn a_single_report_is_a_run() {
    let report = products("tet4 cube 9", "f64", 1000, &[("ebw", 0.5)]);
    let run = Run::parse("one.json", &report.to_string()).unwrap();
    assert_eq!((run.device.as_str(), run.spmv.len(), run.cg.len()), ("NVIDIA X1", 1, 0));
    for (text, why) in [("[1]", "not an object"), ("{", "EOF"), ("{\"a\": 1}", "neither the figures of a machine")] {
        assert!(Run::parse("one.json", text).unwrap_err().contains(why), "{text}");
    }
}

/// Counted products.
fn counters(csr_hits: f64, ebw_read: f64, ebw_second: f64) -> String {
    let row = |format: &str, read: f64, hits: f64, second: f64| {
        format!(
            r#"{{"format": "{format}", "dram_sectors_read": {read}, "dram_sectors_written": 1e4,
            "l2_sectors_read": {second},
            "l1_hit_percent": {hits}, "l2_hit_percent": 6, "dram_percent_of_peak": 80,
            "multiprocessor_percent_of_peak": 20}}"#
        )
    };
    let rows = [row("csr", 2e7, csr_hits, 2e7), row("ell", 1.9e7, 37.0, 2e7), row("ebw", ebw_read, 45.0, ebw_second)]
        .join(",");
    let text = format!(
        r#"{{"runs": [], "device": "GPU", "counters": [{{"problem": "--element tet4 --cells 60", "rows":
        [{rows}]}}]}}"#
    );
    make(&[Run::parse("a.json", &text).unwrap()]).0
}

#[test]
fn the_fewest_sectors_decide() {
    let text = counters(80.0, 1e7, 2e7);
    assert!(text.contains("Fewest sectors. **Holds**: ebw reads the fewest"), "{text}");
    assert!(text.contains("CSR against ELL. **Contradicted**: CSR reads 1.05 times"), "{text}");
    assert!(counters(80.0, 3e7, 2e7).contains("Fewest sectors. **Contradicted**: ell reads the fewest"));
}

#[test]
fn a_cache_that_is_missed_is_wasted() {
    assert!(counters(80.0, 1e7, 2e7).contains("**Contradicted**: CSR reads 1 times EBW's"));
    assert!(counters(2.0, 1e7, 1e7).contains("**Holds**: CSR reads 2 times EBW's"));
}
