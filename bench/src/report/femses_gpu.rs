//! FEMSES: figures 5.7 to 5.22 and 5.28, 5.29: the GPU against one thread of its host, phase by phase.

use super::femses::{Found, at, both, by_size, found, is_of_blocks, serial_device, sizes};
use super::femses_table::{PHASES, phases};
use super::markdown::{count, median, number, percent, quotient, span, table};
use super::paper::{exponent, in_range, power, yes_or_no};
use super::plot::Plots;
use super::run::{Phases, Run, is_gpu};

/// A phase of a method on the GPU over the same on one thread: what it is called, the methods there and here, the
/// phase, and the thesis's ratio.
type Over = (&'static str, [&'static str; 2], fn(&Phases) -> f64, Option<f64>);

/// A table of ratios by size, and the largest of each.
fn ratios(run: &Run, what: &[Over]) -> Option<(String, Vec<Option<f64>>)> {
    let (gpu, serial) = both(run);
    let sizes: Vec<usize> =
        sizes(&serial).into_iter().filter(|size| gpu.iter().any(|found| found.0.unknowns == *size)).collect();
    let (mut lines, mut largest) = (Vec::new(), Vec::new());
    for (name, [there, here], phase, thesis) in what {
        let of = |size: &usize| quotient(at(&serial, there, *size).map(phase), at(&gpu, here, *size).map(phase));
        let found: Vec<Option<f64>> = sizes.iter().map(of).collect();
        largest.push(found.iter().copied().flatten().max_by(f64::total_cmp));
        lines.push(
            [
                vec![(*name).to_owned()],
                found.into_iter().map(number).collect(),
                vec![thesis.map_or("-".into(), |most| count(most as usize))],
            ]
            .concat(),
        );
    }
    let heads: Vec<String> = sizes.iter().map(|size| format!("{} unknowns", count(*size))).collect();
    let heads: Vec<&str> = std::iter::once("times as fast as one thread")
        .chain(heads.iter().map(String::as_str))
        .chain(["thesis, up to"])
        .collect();
    let text = format!("Against {}, f64.\n\n{}", serial_device(run)?, table(&heads, &lines));
    largest.iter().any(Option::is_some).then_some((text, largest))
}

/// Figures 5.7 and 5.9.
pub fn over_serial(run: &Run, _: &mut Plots) -> String {
    let total: fn(&Phases) -> f64 = |phases| phases.total_ms;
    let solve: fn(&Phases) -> f64 = |phases| phases.solve_ms;
    let what = [
        ("sparse, total", ["sparse", "sparse"], total, None),
        ("sparse, solver", ["sparse", "sparse"], solve, None),
        ("dense, total", ["dense", "dense"], total, Some(50.0)),
        ("dense, solver", ["dense", "dense"], solve, Some(50.0)),
        (
            "dense made sparse (ours then by CG, the thesis's by sparse Cholesky), total, over dense",
            ["dense", "dense_to_csr"],
            total,
            Some(100.0),
        ),
        ("CG, total", ["cg", "cg"], total, None),
        ("CG, solver", ["cg", "cg"], solve, None),
    ];
    let Some((text, largest)) = ratios(run, &what) else { return String::new() };
    let sparse = largest[0].map_or(String::new(), |most| {
        let measured =
            format!("the GPU is at most {} times as fast with sparse factors (on the GPU cuDSS's)", number(most));
        format!(
            "\nSparse factors are slower on the GPU. {}\n",
            yes_or_no(
                most < 1.0,
                &measured,
                "a factorisation of a plane mesh is many small steps that wait for each other",
                ""
            )
        )
    });
    let dense = largest[2].map_or(String::new(), |most| {
        let measured = format!("the GPU is up to {} times as fast with dense factors", number(most));
        format!(
            "\nDense is some 50 times as fast. {}\n",
            in_range(
                most,
                [50.0, 50.0],
                &measured,
                ["", "the serial one is nalgebra's, on one thread and without MKL", ""]
            )
        )
    });
    format!("{text}{sparse}{dense}")
}

/// Figures 5.16, 5.18 and 5.22.
pub fn elements_and_assembly(run: &Run, _: &mut Plots) -> String {
    let assembly: fn(&Phases) -> f64 = |phases| phases.assembly_ms;
    let what = [
        // Of the form that was measured at every size.
        ("element matrices", ["femses_cg", "femses_cg"], assembly, Some(5000.0)),
        ("sparse assembly", ["cg", "cg"], assembly, Some(20_000.0)),
        ("dense assembly", ["dense", "dense"], assembly, Some(120_000.0)),
    ];
    let Some((text, largest)) = ratios(run, &what) else { return String::new() };
    let Some(most) = largest.iter().flatten().copied().max_by(f64::total_cmp) else { return String::new() };
    let measured = format!("the largest ratio is {}", number(most));
    let why = "the thesis takes the clocks of single threads for the GPU's time; here whole phases are timed, \
        launches and waits among them. What compares is its figure 5.22, of whole kernels";
    format!("{text}\n{}\n", in_range(most, [5000.0, 120_000.0], &measured, ["", "", why]))
}

/// Figure 5.10.
pub fn share(run: &Run, _: &mut Plots) -> String {
    let gpu = found(run, is_gpu, "f64");
    let line = |method: &str| {
        let found = at(&gpu, method, 2500)?;
        let shares = [found.allocate_ms, found.transfer_ms].map(|ms| percent(ms / found.total_ms));
        let cells = [vec![method.to_owned()], phases(found).to_vec(), shares.to_vec()].concat();
        Some((cells, found.solve_ms / found.total_ms))
    };
    let found: Vec<(Vec<String>, f64)> =
        ["sparse", "dense", "cg", "femses", "femses_cg"].into_iter().filter_map(line).collect();
    let Some(of_sparse) = at(&gpu, "sparse", 2500).map(|phases| phases.solve_ms / phases.total_ms) else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = found.into_iter().map(|pair| pair.0).collect();
    let heads = [["method"].as_slice(), &PHASES, &["allocation's share", "transfer's share"]].concat();
    let measured = format!("the sparse solver takes {}", percent(of_sparse));
    format!(
        "{}\n{}\n",
        table(&heads, &rows),
        yes_or_no(of_sparse > 0.9, &measured, "all else is parallel over cells or nodes, and factors are not", "")
    )
}

/// Figure 5.11.
pub fn factors(run: &Run, _: &mut Plots) -> String {
    let gpu = found(run, is_gpu, "f64");
    let line = |unknowns: usize| {
        let (dense, sparse) = (at(&gpu, "dense", unknowns)?.solve_ms, at(&gpu, "sparse", unknowns)?.solve_ms);
        Some((vec![count(unknowns), number(dense), number(sparse), number(dense / sparse)], dense / sparse))
    };
    let lines: Vec<(Vec<String>, f64)> = sizes(&gpu).into_iter().filter_map(line).collect();
    let Some(most) = lines.iter().map(|pair| pair.1).max_by(f64::total_cmp) else { return String::new() };
    let rows: Vec<Vec<String>> = lines.into_iter().map(|pair| pair.0).collect();
    let measured = format!("sparse factors are up to {} times as fast as dense ones", number(most));
    format!(
        "Dense by our own kernels, sparse by cuDSS.\n\n{}\n{}\n",
        table(&["unknowns", "dense, ms", "sparse, ms", "sparse, times as fast"], &rows),
        in_range(
            most,
            [10.0, 10.0],
            &measured,
            ["", "dense work grows as the cube of the unknowns", "the sizes at which dense factors fit are small"]
        )
    )
}

/// Figures 5.12 to 5.15.
pub fn allocation(run: &Run, _: &mut Plots) -> String {
    let gpu = found(run, is_gpu, "f64");
    let pair = |unknowns: usize| Some((at(&gpu, "dense", unknowns)?, at(&gpu, "cg", unknowns)?));
    let found: Vec<(usize, (&Phases, &Phases))> =
        sizes(&gpu).into_iter().filter_map(|size| Some((size, pair(size)?))).collect();
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|(size, (dense, sparse))| {
            let cells = [dense.allocate_ms, sparse.allocate_ms, dense.transfer_ms, sparse.transfer_ms].map(number);
            [vec![count(*size)], cells.to_vec()].concat()
        })
        .collect();
    let [.., (before, (smaller, _)), (size, (dense, sparse))] = &found[..] else { return String::new() };
    let allocate = dense.allocate_ms / sparse.allocate_ms;
    let order = (dense.allocate_ms / smaller.allocate_ms).ln() / (*size as f64 / *before as f64).ln();
    let allocated = format!(
        "at {} unknowns the dense matrix takes {} times the sparse one's allocation, and between the two largest sizes \
            its own grows as {}",
        count(*size),
        number(allocate),
        power(order)
    );
    let transfers: Vec<f64> = found.iter().map(|(_, (dense, sparse))| dense.transfer_ms / sparse.transfer_ms).collect();
    let transferred =
        format!("the dense case takes {} times the sparse one's transfer (thesis: 0.7)", span(&transfers));

    format!(
        "{}\nAllocation. {}\n\nTransfer. {}\n",
        table(
            &[
                "unknowns",
                "allocation, dense, ms",
                "allocation, sparse, ms",
                "transfer, dense, ms",
                "transfer, sparse, ms"
            ],
            &rows
        ),
        yes_or_no(
            allocate > 1.0 && order > 1.5,
            &allocated,
            "a dense matrix is larger by far; of small ones the time is that of the allocation, not of its size",
            "allocations are from the driver's pool, whose time hardly depends on the size"
        ),
        yes_or_no(
            median(&transfers).is_some_and(|ratio| ratio < 0.8),
            &transferred,
            "",
            "what is transferred is the same mesh for both, as patterns are made on the GPU and not sent"
        )
    )
}

/// Figures 5.28 and 5.29: microseconds of an iteration by atomics.
pub fn block_sizes(run: &Run, _: &mut Plots) -> String {
    let (mut lines, mut widest, mut middles) = (Vec::new(), 0.0f64, Vec::new());
    for one in run.femses.iter().filter(|one| is_of_blocks(one) && is_gpu(&one.device)) {
        let rows: Vec<Found> = one.rows.iter().filter_map(|row| Some((row, row.figures.as_ref()?))).collect();
        for unknowns in sizes(&rows) {
            let each = |found: &&Found| found.1.solve_ms / found.1.iterations.max(1) as f64;
            let same: Vec<&Found> = rows.iter().filter(|found| found.0.unknowns == unknowns).collect();
            let (low, high) =
                same.iter().map(each).fold((f64::INFINITY, 0.0f64), |(low, high), ms| (low.min(ms), high.max(ms)));
            widest = widest.max(high / low);
            let times: Vec<f64> = same.iter().map(each).collect();
            let middle = median(&times).unwrap_or_default();
            let off = median(&times.iter().map(|ms| (ms / middle - 1.0).abs()).collect::<Vec<_>>()).unwrap_or_default();
            middles.push(off);
            let cell = |found: &&Found| {
                format!("{} ({})", number(1e3 * each(found)), count(found.0.block.map(|n| n as usize)))
            };
            lines.push(vec![
                one.precision.clone(),
                count(unknowns),
                same.iter().map(cell).collect::<Vec<_>>().join(", "),
                format!("{:.1} %", 100.0 * off),
                number(high / low),
            ]);
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let most = middles.iter().copied().fold(0.0, f64::max);
    let measured = format!(
        "half of the sizes of blocks are within {:.1} % of the median of their row, or less; the slowest is up to {} \
            times the fastest, which is single outliers",
        100.0 * most,
        number(widest)
    );
    let why = "an iteration is a few short launches whose time hardly depends on the block";
    let heads = [
        "precision",
        "unknowns",
        "iteration, µs (threads of a block).",
        "median distance from the median",
        "slowest over fastest",
    ];
    format!(
        "By atomics, as the thesis does it. Erratic is a median distance of more than a tenth.\n\n{}\n{}\n",
        table(&heads, &lines),
        yes_or_no(most > 0.1, &measured, "", why)
    )
}

/// How a phase grows with the unknowns, in words.
pub fn grows(rows: &[Found], method: &str, value: fn(&Phases) -> f64) -> String {
    exponent(&by_size(rows, method, value)).map_or("-".into(), power)
}
