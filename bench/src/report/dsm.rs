//! DSM: the report's tables I to VII and figures 2 to 11, and what the poster adds.

use super::dsm_counters::{components, dram_sectors, first_cache};
use super::dsm_rates::{convergence, memory, rates, stages, vase};
use super::lookup::{PRECISIONS, iterated, nearest, stopped_in};
use super::markdown::{count, number, percent, table};
use super::paper::exponent;
use super::paper::{Item, Ours, Paper, yes_or_no};
use super::phases::{breakdown, cpu_phases, set_up, totals};
use super::plot::Plots;
use super::run::Run;

/// The formats that run on one thread of the CPU for comparison.
pub const CPU_DENSE: [&str; 2] = ["dense", "dense_block"];

/// The paper.
pub const PAPER: Paper = Paper {
    name: "DSM",
    source: "Hong Lin, Ryan Lau: A Parallel CUDA FEM Solver (report), Simulating Deformation with a Parallel CUDA FEM \
        Solver (poster)",
    hardware: "RTX 2080 and a CPU that it does not name, single precision",
    items: ITEMS,
};

const ITEMS: &[Item] = &[
    Item {
        label: "Table I",
        about: "symbols",
        ours: Ours::Elsewhere("Symbols, not figures: [notation](../notation.md)"),
    },
    Item {
        label: "Table II",
        about: "code for Dirichlet conditions",
        ours: Ours::Nothing(
            "code, not figures; here prescribed values go to the right-hand side, which that code leaves out",
        ),
    },
    Item { label: "Table III", about: "code of conjugate gradients", ours: Ours::Nothing("code, not figures") },
    Item {
        label: "Table IV",
        about: "kernels by their share of the time, 2,199 nodes",
        ours: Ours::Measured {
            claim: "the product with the dense matrix takes 97.5 % of the GPU's time (1,289.50 ms), vector sums 1.4 \
                %, dot products 1.0 %, assembly and loads less than 0.1 %.",
            lists: &["cg"],
            answer: kernels,
        },
    },
    Item {
        label: "Table V",
        about: "throughput of components",
        ours: Ours::Measured {
            claim: "the DRAM is the busiest part and so the bottleneck. Its share of the peak at 229,000 nodes: CSR \
                69.72 %, ELL 74.90 %, ELL-WARP 70.70 %; of the computing units 1.78 %, 15.21 % and 13.06 %. (EBW's \
                row is damaged in the copy at hand.)",
            lists: &["counters"],
            answer: components,
        },
    },
    Item {
        label: "Table VI",
        about: "DRAM sectors",
        ours: Ours::Measured {
            claim: "EBW loads and stores the fewest sectors of 32 bytes, CSR many times more than the ELL formats. At \
                229,000 nodes: CSR 145.34, ELL 17.02, ELL-WARP 16.02, EBW 14.13 million loaded.",
            lists: &["counters", "spmv"],
            answer: dram_sectors,
        },
    },
    Item {
        label: "Table VII",
        about: "first cache, 229,000 nodes",
        ours: Ours::Measured {
            claim: "CSR wastes the cache: it hits the first cache in 1.67 % of its loads and loads 80.08 million \
                sectors from the second; ELL 9.80 % and 24.23 million, ELL-WARP 8.87 % and 24.60, EBW 1.92 % and \
                21.52.",
            lists: &["counters"],
            answer: first_cache,
        },
    },
    Item {
        label: "Figures 1, 2, 3, 4",
        about: "layouts of ELL, ELL-WARP and EBW (figure 1 is missing in the copy at hand)",
        ours: Ours::Elsewhere("Drawings: [formats](../formats.md)"),
    },
    Item {
        label: "Figure 5",
        about: "run time of the serial dense program by size",
        ours: Ours::Measured {
            claim: "it grows rapidly with the mesh: 102.8 s at 3,419 nodes (poster), and beyond some 4,000 nodes the \
                matrix no longer fits in memory.",
            lists: &["cg"],
            answer: serial,
        },
    },
    Item {
        label: "Figure 6",
        about: "phases on the CPU by their share",
        ours: Ours::Measured {
            claim: "conjugate gradients dominate: 99.8 % of the time with a dense matrix of 3,419 nodes (poster).",
            lists: &["solve"],
            answer: cpu_phases,
        },
    },
    Item {
        label: "Figures 7, 8",
        about: "run time and iterations per second by size and format",
        ours: Ours::Measured {
            claim: "on unit cubes the GPU's dense product is 10 (463 nodes) to 34 (3,419) times as fast as the CPU's, \
                CSR 2 (463) to 42 (7,348) times as fast as dense, the ELL formats 5 to 10 times as fast as CSR on \
                large meshes, ELL by columns a third faster than by rows, ELL-WARP 5 to 10 % faster than ELL, and EBW \
                5 to 15 % faster than that (poster: 10 to 20 % over other ELL formats).",
            lists: &["cg", "spmv"],
            answer: rates,
        },
    },
    Item {
        label: "Figure 9",
        about: "set-up time by format",
        ours: Ours::Measured {
            claim: "EBW is set up in noticeably less time than the other ELL formats, as it has a ninth of their \
                indices.",
            lists: &["cg", "spmv"],
            answer: set_up,
        },
    },
    Item {
        label: "Figure 10",
        about: "total run time by format (here to 200 iterations)",
        ours: Ours::Measured { claim: "EBW is the fastest from mesh to solution.", lists: &["cg"], answer: totals },
    },
    Item {
        label: "Figure 11",
        about: "phases on the GPU, small and large meshes",
        ours: Ours::Measured {
            claim: "set-up, which is serial there, is a large share of the run time even on large meshes (N = 1,149 \
                and 229,515; poster: 40.0 % of EBW's at 3,419 nodes).",
            lists: &["cg"],
            answer: breakdown,
        },
    },
    Item {
        label: "poster, stages",
        about: "seconds of each stage, 3,419 nodes",
        ours: Ours::Measured {
            claim: "CPU dense / GPU dense / GPU EBW: set-up 0.1945 / 0.0751 / 0.0685 s, assembly 0.0123 / 0.0001 / \
                0.0001 s, boundary 0.0013 / 0.0010 / 0.0011 s, conjugate gradients 102.8 / 3.019 / 0.1015 s, stress \
                0.0019 / 0.0002 / 0.0002 s: EBW iterates 1,013 times as fast as the CPU with a dense matrix.",
            lists: &["cg"],
            answer: stages,
        },
    },
    Item {
        label: "poster, convergence",
        about: "iterations by size",
        ours: Ours::Measured {
            claim: "iterations to 1e-5 grow as N^0.389 on unit cubes; N = 51,572 took 1,822.",
            lists: &["cg"],
            answer: convergence,
        },
    },
    Item {
        label: "poster, vase",
        about: "iterations on a vase",
        ours: Ours::Measured {
            claim: "iterations are larger by a factor of 10 or more on its mesh of a vase than on a cube of as many \
                tetrahedra.",
            lists: &["precond", "cg"],
            answer: vase,
        },
    },
    Item {
        label: "poster, memory",
        about: "largest meshes",
        ours: Ours::Measured {
            claim: "dense matrices run out of memory (8 GB) beyond some 10,000 nodes; sparse ones reach more than \
                1,000,000.",
            lists: &["cg", "spmv"],
            answer: memory,
        },
    },
    Item {
        label: "poster, drawings",
        about: "symbols, layouts, a picture of stresses",
        ours: Ours::Elsewhere(
            "Drawings: [notation](../notation.md), [formats](../formats.md), and the picture in the \
                [README](../../README.md)",
        ),
    },
];

/// Table IV. A dense iteration differs from CSR's by its product alone, so what CSR's takes bounds all the rest.
fn kernels(run: &Run, _: &mut Plots) -> String {
    let mut rows = Vec::new();
    let mut shares = Vec::new();
    for precision in PRECISIONS {
        let Some(one) = nearest(&stopped_in(run, true, precision), 2199) else { continue };
        let (Some(dense), Some(csr)) = (iterated(one, "dense"), iterated(one, "csr")) else { continue };
        let share = 1.0 - csr.iteration_ms / dense.iteration_ms;
        shares.push(share);
        rows.push(vec![
            precision.into(),
            count(one.head.nodes),
            number(1e3 * dense.iteration_ms),
            number(1e3 * csr.iteration_ms),
            percent(share),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["precision", "nodes", "dense iteration, µs", "CSR iteration, µs", "dense product, at least"];
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let measured = format!("the dense product takes at least {} of an iteration", percent(least));
    format!(
        "Kernels were not timed one by one; but an iteration with a dense matrix does the same as one with CSR except \
            the product, so the product takes at least the difference.\n\n{}\n{}\n",
        table(&heads, &rows),
        yes_or_no(
            least > 0.9,
            &measured,
            "the product dominates, as there",
            "the vector steps and launches, which the format does not change, are a larger share of an iteration here"
        )
    )
}

/// Figure 5, by iterations.
fn serial(run: &Run, _: &mut Plots) -> String {
    let ones = stopped_in(run, false, "f64");
    let best = |one| CPU_DENSE.iter().filter_map(|name| Some(iterated(one, name)?.iteration_ms)).min_by(f64::total_cmp);
    let found: Vec<_> = ones.iter().filter_map(|one| Some((*one, best(one)?))).collect();
    let points: Vec<(f64, f64)> = found.iter().map(|(one, ms)| (one.head.nodes as f64, *ms)).collect();
    let Some(power) = exponent(&points) else { return String::new() };
    let bytes = |nodes: usize| 72e-6 * (nodes * nodes) as f64;
    let rows: Vec<Vec<String>> =
        found.iter().map(|(one, ms)| vec![count(one.head.nodes), number(*ms), number(bytes(one.head.nodes))]).collect();
    format!(
        "Iterations alone on {}, with the faster of two dense formats in double precision; solutions were not run to \
            their end.\n\n{}\n{}\n",
        found[0].0.head.device,
        table(&["nodes", "iteration, ms", "matrix, MB"], &rows),
        yes_or_no(
            power > 1.5,
            &format!("an iteration grows as {}", super::paper::power(power)),
            "all entries of the dense matrix are read, zeros too, and their number is the square of the nodes'",
            "the measured sizes are too small to show the square"
        )
    )
}
