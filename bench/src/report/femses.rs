//! FEMSES: the thesis's table and figures, by what answers them.

use super::femses_gpu::{allocation, block_sizes, elements_and_assembly, factors, over_serial, share};
use super::femses_iteration::{exact, femses_allocation, growth, others};
use super::femses_serial::{kernels, serial};
use super::paper::{Item, Ours, Paper};
use super::run::{Method, Phases, Run, is_gpu, threads};

/// The thesis.
pub const PAPER: Paper = Paper {
    name: "FEMSES",
    source: "Alex Keating: An Investigation of Decoupling Single Element Solutions from the Mesh in the Finite \
        Element Method on Nvidia GPUs, 2019",
    hardware: "Tesla K40 and Core i5-3570K with MKL, single precision",
    items: ITEMS,
};

const ITEMS: &[Item] = &[
    Item {
        label: "Table 5.1",
        about: "GPUs",
        ours: Ours::Elsewhere("Tesla K40 (288 GB/s), RTX 2080 Super, GTX 780; ours is named in every section"),
    },
    Item {
        label: "Figures 2.1, 2.2, 2.3, 2.4",
        about: "cells and basis functions",
        ours: Ours::Nothing("drawings of definitions"),
    },
    Item {
        label: "Figures 2.5, 2.6, 5.6",
        about: "the problem and its solution",
        ours: Ours::Measured {
            claim: "the potential between two sides is linear in x; the serial program's solution is shown to look \
                the same.",
            lists: &["femses"],
            answer: exact,
        },
    },
    Item {
        label: "Figures 3.1, 3.2, 3.3, 3.4, 3.5, 3.6",
        about: "structure of the serial program, sparsity",
        ours: Ours::Nothing("drawings of its program and of sparse matrices"),
    },
    Item {
        label: "Figures 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8, 4.9, 4.10, 4.11, 4.12",
        about: "GPUs, and structure of the GPU program",
        ours: Ours::Elsewhere("Drawings: [femses](../femses.md) has the method in words"),
    },
    Item {
        label: "Figures 5.1, 5.2, 5.3, 5.4",
        about: "serial program: total, solver and its share",
        ours: Ours::Measured {
            claim: "with sparse matrices the time grows almost linearly, with dense ones faster; sparse is up to \
                5,000 times as fast as dense; the solver takes almost all of the time, dense even more than sparse.",
            lists: &["femses"],
            answer: serial,
        },
    },
    Item {
        label: "Figure 5.5",
        about: "serial program: the other phases",
        ours: Ours::Measured {
            claim: "element matrices, assembly into CSR and the scan of the sparsity grow linearly, dense assembly a \
                little faster.",
            lists: &["femses"],
            answer: kernels,
        },
    },
    Item {
        label: "Figures 5.7, 5.9",
        about: "GPU over serial: totals and solvers",
        ours: Ours::Measured {
            claim: "its GPU's sparse Cholesky is slower than the CPU's at all sizes; dense is about 50 times as fast \
                at 40,000 unknowns; assembled dense and solved sparse up to 100 times as fast as dense.",
            lists: &["femses"],
            answer: over_serial,
        },
    },
    Item {
        label: "Figures 5.8, 5.17, 5.19, 5.20, 5.21",
        about: "threads of a block in its assembly",
        ours: Ours::Nothing(
            "the blocks of our assembly kernels have one size; it is chosen in FEMSES's iteration alone (figures \
                5.28, 5.29)",
        ),
    },
    Item {
        label: "Figure 5.10",
        about: "phases on the GPU, 2,500 unknowns, sparse",
        ours: Ours::Measured {
            claim: "the solver takes 99.5 % of the time, what the thesis wrote itself 0.4 %.",
            lists: &["femses"],
            answer: share,
        },
    },
    Item {
        label: "Figure 5.11",
        about: "sparse over dense factors on the GPU",
        ours: Ours::Measured {
            claim: "sparse factors are up to 10 times as fast as dense ones.",
            lists: &["femses"],
            answer: factors,
        },
    },
    Item {
        label: "Figures 5.12, 5.13, 5.14, 5.15",
        about: "allocation and transfer",
        ours: Ours::Measured {
            claim: "allocating a dense matrix takes longer than a sparse one and grows faster, to the 2nd order of the \
                unknowns; transferring the dense case takes about 70 % of the sparse one's time, as no pattern is \
                sent, and grows linearly.",
            lists: &["femses"],
            answer: allocation,
        },
    },
    Item {
        label: "Figures 5.16, 5.18, 5.22",
        about: "GPU over serial: element matrices and assembly",
        ours: Ours::Measured {
            claim: "element matrices are made up to 5,000 times as fast, CSR assembled 20,000 and dense 100,000 \
                (conclusion: 120,000) times; timed as a whole, kernels are 20 (sparse) and 300 (dense) times as fast.",
            lists: &["femses"],
            answer: elements_and_assembly,
        },
    },
    Item {
        label: "Figures 5.23, 5.24, 5.25, 5.26, 5.30, 5.35, 5.36, 5.37",
        about: "screenshots of a profiler",
        ours: Ours::Nothing("no profile of these kernels was taken"),
    },
    Item {
        label: "Figures 5.27, 5.31",
        about: "FEMSES over the other ways: totals and solvers",
        ours: Ours::Measured {
            claim: "the serial sparse program is faster by far at all sizes, and after an initial increase the ratio \
                decreases; the serial dense one is outperformed, up to 10 times; the GPU's sparse one is initially \
                outperformed, then an exponential decay to orders slower; against the GPU's dense one much the same, \
                but it improves again as the size grows.",
            lists: &["femses"],
            answer: others,
        },
    },
    Item {
        label: "Figures 5.28, 5.29",
        about: "FEMSES by threads of a block",
        ours: Ours::Measured {
            claim: "the time varies erratically with the threads of a block (\"massive amount of variability\").",
            lists: &["femses"],
            answer: block_sizes,
        },
    },
    Item {
        label: "Figures 5.32, 5.33",
        about: "FEMSES: allocation",
        ours: Ours::Measured {
            claim: "it grows linearly, and is up to 7.5 times as fast as that of a dense matrix.",
            lists: &["femses"],
            answer: femses_allocation,
        },
    },
    Item {
        label: "Figure 5.34",
        about: "FEMSES: iterations by unknowns",
        ours: Ours::Measured {
            claim: "they grow faster than linearly with the unknowns; errors stall at 1e-5 to 1e-6, in double precision \
                just as in single, so that it stops at 1e-4. It leaves the cause open, and proposes that a problem held \
                on two sides is the cause, where Fernandez's is held all round.",
            lists: &["femses"],
            answer: growth,
        },
    },
    Item {
        label: "Figures 5.38, 5.39, 5.40, 5.41, 5.42",
        about: "RTX 2080 Super over Tesla K40",
        ours: Ours::Nothing("the files here are of one GPU"),
    },
    Item {
        label: "Figure 6.1",
        about: "a ring, for future work",
        ours: Ours::Elsewhere(
            "No figures there; `warpfem mesh annulus` makes the ring, and [femses](../femses.md) has its solution",
        ),
    },
];

/// What was measured of a method.
pub type Found<'a> = (&'a Method, &'a Phases);

/// Whether a report compares sizes of blocks.
pub fn is_of_blocks(one: &super::run::Femses) -> bool {
    let mut blocks: Vec<Option<u32>> = one.rows.iter().map(|row| row.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() > 2
}

/// What was measured between two sides, of those devices and that precision.
pub fn found<'a>(run: &'a Run, device: impl Fn(&str) -> bool, precision: &str) -> Vec<Found<'a>> {
    let ones = run.femses.iter().filter(|one| {
        (one.sides, one.precision.as_str()) == (2, precision) && device(&one.device) && !is_of_blocks(one)
    });
    let mut rows: Vec<Found> =
        ones.flat_map(|one| &one.rows).filter_map(|row| Some((row, row.figures.as_ref()?))).collect();
    rows.sort_by_key(|(row, _)| row.unknowns);
    rows
}

/// The processor of the fewest threads, whose program stands for the serial one.
pub fn serial_device(run: &Run) -> Option<&str> {
    let processors = run.femses.iter().map(|one| one.device.as_str()).filter(|device| device.starts_with("cpu"));
    processors.min_by_key(|device| threads(device).unwrap_or(usize::MAX))
}

/// What was measured on the GPU, and on its host serially, in double precision.
pub fn both(run: &Run) -> (Vec<Found<'_>>, Vec<Found<'_>>) {
    let serial = serial_device(run);
    (found(run, is_gpu, "f64"), found(run, |device| Some(device) == serial, "f64"))
}

/// What was measured on the GPU, else on processors, in one precision and between so many sides, by FEMSES's own
/// iteration and its accelerations.
pub fn own_iterations<'a>(run: &'a Run, sides: u32, precision: &str) -> Vec<Found<'a>> {
    let of = |gpu: bool| {
        let ones = run.femses.iter().filter(move |one| {
            (one.sides, one.precision.as_str(), is_gpu(&one.device)) == (sides, precision, gpu) && !is_of_blocks(one)
        });
        let rows = ones.flat_map(|one| &one.rows).filter(|row| row.method.starts_with("femses"));
        rows.filter_map(|row| Some((row, row.figures.as_ref()?))).collect::<Vec<Found>>()
    };
    let mut rows = of(true);
    if rows.is_empty() {
        rows = of(false);
    }
    rows.sort_by_key(|(row, _)| row.unknowns);
    rows
}

/// A method's figures at a size.
pub fn at<'a>(rows: &[Found<'a>], method: &str, unknowns: usize) -> Option<&'a Phases> {
    rows.iter().find(|(row, _)| row.method == method && row.unknowns == unknowns).map(|found| found.1)
}

/// The sizes that were measured, small ones first.
pub fn sizes(rows: &[Found]) -> Vec<usize> {
    let mut sizes: Vec<usize> = rows.iter().map(|found| found.0.unknowns).collect();
    sizes.dedup();
    sizes
}

/// A quantity of a method by unknowns, where it was measured.
pub fn by_size(rows: &[Found], method: &str, value: fn(&Phases) -> f64) -> Vec<(f64, f64)> {
    let of_method = rows.iter().filter(|(row, _)| row.method == method);
    of_method.map(|(row, phases)| (row.unknowns as f64, value(phases))).filter(|point| point.1 > 0.0).collect()
}
