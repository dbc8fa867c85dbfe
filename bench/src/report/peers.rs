//! What users would pick instead, on the same device: cuSPARSE, a fused CG with cuSPARSE, CuPy, SciPy,
//! CalculiX.

use super::iterations::times_as_fast;
use super::lookup::{OURS, iterated, iterations, library, name, peer, products, row, title};
use super::markdown::{count, number, quotient, ratio, span, table};
use super::plot::Plots;
use super::run::{PeerAssembled, Run};

pub fn cusparse(run: &Run, _: &mut Plots) -> String {
    const VARIANTS: [&str; 5] = ["csr_alg", "bsr", "sell32", "cupy_csr", "torch_csr"];
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for one in products(run) {
        let times = VARIANTS.map(|variant| library(run, &one.head, variant, None));
        let best = times.iter().copied().flatten().min_by(f64::total_cmp);
        let ours = row(one, OURS).map(|row| row.spmv_ms);
        if best.is_some() {
            found.extend(quotient(best, ours));
            let name = name(&one.head);
            rows.push([vec![name], times.map(number).to_vec(), vec![number(ours), ratio(best, ours)]].concat());
        }
    }
    let text = table(
        &["problem", "CSR, ms", "BSR, ms", "SELL-32, ms", "CuPy CSR, ms", "PyTorch CSR, ms", "ebw, ms", "x best"],
        &rows,
    );
    if found.is_empty() {
        text
    } else {
        format!("{text}\nEBW is {} times as fast as the best of them.\n", span(&found))
    }
}

pub fn fused(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for one in iterations(run) {
        let (Some(other), Some(ours)) = (peer(run, &one.head), iterated(one, OURS)) else { continue };
        found.push((one.head.precision.as_str(), other.iteration_ms / ours.iteration_ms));
        rows.push(vec![
            name(&one.head),
            count(one.head.dofs),
            number(other.iteration_ms),
            number(ours.iteration_ms),
            ratio(other.iteration_ms, ours.iteration_ms),
        ]);
    }
    if found.is_empty() {
        return String::new();
    }
    let text = table(&["problem", "unknowns", "fused CG, ms", "warpfem, ms", "x fused CG"], &rows);
    text + &times_as_fast(&found)
}

/// CuPy's figures on a problem.
pub fn cupy_on<'a>(run: &'a Run, problem: &str) -> Option<&'a PeerAssembled> {
    run.peer_assembly.iter().flat_map(|one| &one.rows).find(|row| row.problem == problem)
}

pub fn cupy(run: &Run, _: &mut Plots) -> String {
    let line = |one: &super::run::Assembly| {
        let theirs = cupy_on(run, &one.head.problem)?;
        let fastest = one.rows.iter().filter_map(|row| Some((row.figures.as_ref()?.assembly_ms, &row.format)));
        let (ms, strategy) = fastest.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let cells = [theirs.element_matrices_ms, theirs.scatter_ms, theirs.assembly_ms, ms].map(number);
        Some(
            [
                vec![title(&one.head.problem), count(theirs.elements)],
                cells.to_vec(),
                vec![strategy.clone(), ratio(theirs.assembly_ms, ms)],
            ]
            .concat(),
        )
    };
    let rows: Vec<Vec<String>> = super::lookup::assemblies(run, "f64", OURS).into_iter().filter_map(line).collect();
    let heads =
        ["problem", "elements", "element matrices, ms", "addition, ms", "together, ms", "warpfem, ms", "by.", "x CuPy"];
    let by = run.peer_assembly.first().map_or("CuPy", |one| &one.peer_assembly);
    if rows.is_empty() { String::new() } else { format!("{by}.\n\n{}", table(&heads, &rows)) }
}

pub fn programs(run: &Run, _: &mut Plots) -> String {
    let mut rows = Vec::new();
    for one in &run.programs {
        let (Some(peer), Some(last)) = (one.programs.first(), one.programs.last()) else { continue };
        for found in &one.programs {
            let off = (found.max_displacement / last.max_displacement - 1.0).abs();
            rows.push(vec![
                format!("{}, {}", title(&one.problem), one.device),
                count(one.dofs),
                found.program.clone(),
                count(found.iterations),
                number(found.seconds),
                number(found.peak_mib),
                format!("{:.7e}", found.max_displacement),
                match off {
                    _ if std::ptr::eq(found, last) => "-".into(),
                    0.0 => "0".into(),
                    _ => format!("{off:.0e}"),
                },
                ratio(peer.seconds, found.seconds),
                ratio(peer.peak_mib, found.peak_mib),
            ]);
        }
    }
    let heads = [
        "problem",
        "unknowns",
        "program.",
        "iterations",
        "whole run, s",
        "memory, MiB",
        "largest displacement, m",
        "off by",
        "x as fast",
        "x less memory",
    ];
    table(&heads, &rows)
}
