//! WARP: tables 1 to 4 and figures 9 to 14: assembly of hex8 by strategies, on its cantilever.

use super::lookup::{OURS, PRECISIONS, assembled, assemblies};
use super::markdown::{count, number, quotient, ratio, table};
use super::paper::{Claim, Verdict, claims, in_range, yes_or_no};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Assembly, Run};

/// Elements of its four meshes (table 3).
const MESHES: [usize; 4] = [110_592, 262_144, 1_000_000, 2_097_152];
/// Its strategies, and what they are called here.
const STRATEGIES: [(&str, &str); 6] = [
    ("by element", "by_element"),
    ("by warp, 4 threads", "by_warp4"),
    ("by warp, 8 threads", "by_warp8"),
    ("PPNI, 4 threads", "ppni4"),
    ("PPNI, 8 threads", "ppni8"),
    ("two kernels", "two_kernels"),
];
/// Ways to sum a Jacobian in a warp, and its seconds (table 1).
const JACOBIANS: [(&str, &str, f64); 3] = [
    ("by_warp4_atomic", "atomic additions", 1.39),
    ("by_warp4_shared", "shared memory", 1.09),
    ("by_warp4", "shuffles", 1.03),
];

/// Its meshes, small ones first, with what is stored in `storage`; its own is CSR.
fn cantilevers<'a>(run: &'a Run, precision: &str, storage: &str) -> Vec<&'a Assembly> {
    let mut ones = assemblies(run, precision, storage);
    ones.retain(|one| one.head.problem.starts_with("hex8 box ") && one.head.problem.ends_with(" of 16x2x2"));
    ones
}

fn ms(one: &Assembly, strategy: &str) -> Option<f64> {
    assembled(one, strategy).map(|row| row.assembly_ms)
}

/// The largest of its meshes that was measured.
fn largest<'a>(run: &'a Run, precision: &str) -> Option<&'a Assembly> {
    cantilevers(run, precision, "csr").pop()
}

/// Table 1.
pub fn jacobians(run: &Run, _: &mut Plots) -> String {
    let mut out = String::new();
    for precision in PRECISIONS {
        let Some(one) = largest(run, precision) else { continue };
        let base = ms(one, "by_warp4");
        let line = |(name, way, theirs): &(&str, &str, f64)| {
            vec![
                (*way).to_owned(),
                number(*theirs),
                ratio(*theirs, JACOBIANS[2].2),
                number(ms(one, name)),
                ratio(ms(one, name), base),
            ]
        };
        let rows: Vec<Vec<String>> = JACOBIANS.iter().map(line).collect();
        let fastest = JACOBIANS
            .iter()
            .filter_map(|(name, way, _)| Some((ms(one, name)?, *way)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, fastest)) = fastest else { continue };
        let heads = ["Jacobian by", "WARP, s", "WARP, in shuffles' time", "here, ms", "here, in shuffles' time"];
        let why = "nine lanes that sum in shared memory are done sooner here than the rounds of shuffles of all";
        out += &format!(
            "\n{} elements, {precision}:\n\n{}\n{}\n",
            count(one.head.elements),
            table(&heads, &rows),
            yes_or_no(fastest == "shuffles", &format!("the fastest way is by {fastest}"), "", why)
        );
    }
    out
}

/// Table 3.
pub fn meshes(run: &Run, _: &mut Plots) -> String {
    let paper = [(120_625, 361_875), (279_873, 1_055_499), (1_043_001, 3_129_003), (2_167_425, 6_502_275)];
    let mut rows = Vec::new();
    let mut slips = Vec::new();
    for one in cantilevers(run, "f64", "csr") {
        let Some(i) = MESHES.iter().position(|n| *n == one.head.elements) else { continue };
        let (nodes, unknowns) = paper[i];
        let same = if unknowns == one.head.dofs { "yes" } else { "no" };
        let own = [one.head.elements, nodes, one.head.nodes, unknowns, one.head.dofs].map(count);
        rows.push([own.to_vec(), vec![same.into()]].concat());
        if unknowns != one.head.dofs {
            let three =
                if 3 * nodes == unknowns { "it is three for each of its nodes" } else { "WARP's number is a slip" };
            slips.push(format!("{three}: 3 x {} = {}, not {}", count(nodes), count(3 * nodes), count(unknowns)));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let measured = format!("{} of {} meshes have as many unknowns", rows.len() - slips.len(), rows.len());
    let heads = ["elements", "nodes, WARP", "nodes, here", "unknowns, WARP", "unknowns, here", "same."];
    let why = slips.join("; ");
    format!("{}\n{}\n", table(&heads, &rows), yes_or_no(slips.is_empty(), &measured, "", &why))
}

/// A table of its strategies by mesh, in both precisions.
fn by_mesh(run: &Run, what: &str, cell: fn(&Assembly, &str) -> Option<f64>) -> String {
    let mut out = String::new();
    for precision in PRECISIONS {
        let ones = cantilevers(run, precision, "csr");
        let sizes: Vec<String> = ones.iter().map(|one| format!("{} elements", count(one.head.elements))).collect();
        let line = |(theirs, name): &(&str, &str)| {
            let cells = ones.iter().map(|one| number(cell(one, name)));
            [vec![(*theirs).to_owned()], cells.collect()].concat()
        };
        let head = format!("{what}, {precision}");
        let heads: Vec<&str> = std::iter::once(head.as_str()).chain(sizes.iter().map(String::as_str)).collect();
        if !ones.is_empty() {
            out += &format!("{}\n", table(&heads, &STRATEGIES.iter().map(line).collect::<Vec<_>>()));
        }
    }
    out
}

/// GFLOP/s of assembly by element, and the least of its other strategies (figure 10).
const BY_ELEMENT: f64 = 0.213;
const LEAST: f64 = 181.0;

/// Figure 10.
pub fn throughput(run: &Run, _: &mut Plots) -> String {
    let tables = by_mesh(run, "GFLOP/s", |one, name| assembled(one, name).map(|row| row.gflops));
    let found = largest(run, "f32").and_then(|one| {
        let of = |name| assembled(one, name).map(|row| row.gflops);
        let best = STRATEGIES[1..].iter().filter_map(|pair| of(pair.1)).max_by(f64::total_cmp)?;
        Some((of("by_element")?, best))
    });
    let Some((base, best)) = found else { return tables };
    let measured = format!(
        "the best of its strategies does {} times the operations per second of assembly by element, {} and {} GFLOP/s in \
            f32 on the largest mesh (WARP: {} times or more)",
        number(best / base),
        number(best),
        number(base),
        count((LEAST / BY_ELEMENT).round() as usize)
    );
    let why = "assembly by element, which spills registers there, spills none here; and WARP counts what a strategy \
        computes twice, for which there is no count here";
    format!(
        "Every element's matrix is counted once, whatever a strategy computes.\n\n{tables}{}\n",
        in_range(best / base, [LEAST / BY_ELEMENT, f64::INFINITY], &measured, ["", "", why])
    )
}

/// Figure 11.
pub fn bandwidth(run: &Run, _: &mut Plots) -> String {
    let tables = by_mesh(run, "least bytes, % of the copy bandwidth", |one, name| {
        assembled(one, name).map(|row| 100.0 * row.of_copy)
    });
    let Some(one) = largest(run, "f32") else { return tables };
    if ms(one, "ppni4").is_none() {
        return tables;
    }
    let shares = STRATEGIES.iter().filter_map(|pair| assembled(one, pair.1)).map(|row| row.of_copy);
    let Some(best) = shares.max_by(f64::total_cmp) else { return tables };
    let measured = format!(
        "the best of its strategies reaches {} of the copy bandwidth in f32 on the largest mesh",
        super::markdown::percent(best)
    );
    let why = "these are the least bytes, the matrix's values once and what an element reads, where WARP's are all that \
        passed between the chip and its DRAM, which was not counted here";
    format!("{tables}{}\n", Verdict::Incomparable.sentence(&measured, why))
}

/// What it says of its strategies.
const CLAIMS: &[Claim] = &[
    Claim {
        what: "PPNI, 4 threads, 262,144 elements",
        range: [8.2, 8.2],
        measured: |run, p| over(run, p, "ppni4", 262_144),
        why: LESS,
    },
    Claim {
        what: "PPNI, 4 threads, 2,097,152 elements",
        range: [7.09, 7.09],
        measured: |run, p| over(run, p, "ppni4", 2_097_152),
        why: ["", "", "the same"],
    },
    Claim {
        what: "by warp, 4 threads, 2,097,152 elements",
        range: [5.82, 5.82],
        measured: |run, p| over(run, p, "by_warp4", 2_097_152),
        why: ["", "", "the same"],
    },
    Claim {
        what: "by warp, 8 threads, 2,097,152 elements",
        range: [5.17, 5.17],
        measured: |run, p| over(run, p, "by_warp8", 2_097_152),
        why: ["", "", "the same"],
    },
    Claim {
        what: "two kernels, all meshes",
        range: [5.17, 6.05],
        measured: all_two_kernels,
        why: ["", "", "the same"],
    },
];
const LESS: [&str; 3] = ["", "", "assembly by element, which spills registers there, spills none here"];

fn over(run: &Run, precision: &str, strategy: &str, elements: usize) -> Vec<f64> {
    let one = cantilevers(run, precision, "csr").into_iter().find(|one| one.head.elements == elements);
    one.and_then(|one| quotient(ms(one, "by_element"), ms(one, strategy))).into_iter().collect()
}

fn all_two_kernels(run: &Run, precision: &str) -> Vec<f64> {
    MESHES.iter().flat_map(|elements| over(run, precision, "two_kernels", *elements)).collect()
}

/// Figures 12 and 14.
pub fn strategies(run: &Run, plots: &mut Plots) -> String {
    let mut out = String::new();
    for (precision, storage) in [("f32", "csr"), ("f64", "csr"), ("f32", OURS), ("f64", OURS)] {
        out += &strategies_in(run, precision, storage, plots);
    }
    let claims = claims("WARP", run, CLAIMS);
    let fastest = largest(run, "f32").and_then(|one| {
        let all = one.rows.iter().filter_map(|row| Some((row.figures.as_ref()?.assembly_ms, row.format.as_str())));
        let theirs = all.clone().filter(|found| STRATEGIES.iter().any(|pair| pair.1 == found.1));
        let best = |a: &(f64, &str), b: &(f64, &str)| a.0.total_cmp(&b.0);
        Some((theirs.min_by(best)?.1, all.min_by(best)?.1))
    });
    let has_warps = largest(run, "f32").is_some_and(|one| ms(one, "ppni4").is_some());
    let Some((theirs, all)) = fastest.filter(|_| has_warps) else { return out };
    let measured = format!("of its strategies `{theirs}` is the fastest in f32 on the largest mesh, of all `{all}`");
    let why = match theirs {
        "ppni8" => "eight threads to a row of the matrix write along it, and so have fewer sectors to add to",
        _ => "",
    };
    let verdict = yes_or_no(theirs == "ppni4", &measured, "", why);
    format!(
        "{out}\nTimes as fast as assembly by element, into CSR; a claim holds within a tenth.\n\n{claims}\nPPNI with \
            4 threads is the fastest. {verdict}\n"
    )
}

fn strategies_in(run: &Run, precision: &str, storage: &str, plots: &mut Plots) -> String {
    let ones = cantilevers(run, precision, storage);
    let Some(last) = ones.last() else { return String::new() };
    let names: Vec<&str> = last.rows.iter().map(|row| row.format.as_str()).collect();
    let line = |name: &&str| {
        let times = ones.iter().map(|one| number(ms(one, name)));
        let over = ones.iter().map(|one| ratio(ms(one, "by_element"), ms(one, name)));
        std::iter::once((*name).to_owned()).chain(times).chain(over).collect()
    };
    let rows: Vec<Vec<String>> = names.iter().map(line).collect();
    let sizes = ones.iter().map(|one| format!("{} elements, ms", count(one.head.elements)));
    let ratios = ones.iter().map(|one| format!("x by_element, {}", count(one.head.elements)));
    let heads: Vec<String> = std::iter::once("strategy".into()).chain(sizes).chain(ratios).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = format!("Assembly of WARP's cantilever into {storage}, {}, {precision}", run.device);
    let series = names.iter().map(|name| {
        Series::new(name, Style::Line, ones.iter().map(|one| (Some(one.head.elements as f64), ms(one, name))))
    });
    let chart = Chart {
        title: title.clone(),
        x: Axis::log("elements"),
        y: Axis::log("time of an assembly [ms]"),
        series: series.collect(),
    };
    let plot = match ones.len() {
        1 => String::new(),
        _ => plots.add(format!("{}-warp-{precision}", run.stem()), &title, chart.svg()),
    };
    format!("\nInto {storage}, {precision}:\n\n{}{plot}", table(&heads, &rows))
}

/// Time to colour, and colours.
pub fn colors(run: &Run, _: &mut Plots) -> String {
    let mut ones = cantilevers(run, "f64", "csr");
    ones.extend(assemblies(run, "f64", OURS));
    let line = |one: &&Assembly| {
        let row = one.rows.iter().filter_map(|row| row.figures.as_ref()).find(|row| row.colors > 0)?;
        let size = [one.head.problem.clone(), count(one.head.elements)];
        Some(
            size.into_iter()
                .chain([count(row.colors), count(row.largest_color), number(1e3 * row.prepare_s)])
                .collect(),
        )
    };
    let rows: Vec<Vec<String>> = ones.iter().filter_map(line).collect();
    let theirs = ones.iter().find(|one| one.head.elements == MESHES[3] && one.head.problem.starts_with("hex8 "));
    let seconds = theirs.and_then(|one| {
        Some(one.rows.iter().filter_map(|row| row.figures.as_ref()).find(|row| row.colors > 0)?.prepare_s)
    });
    let verdict = seconds.map_or(String::new(), |seconds| {
        let measured = format!(
            "{} elements of hex8 take {} ms, with all that is prepared",
            count(MESHES[3]),
            number(1e3 * seconds)
        );
        Verdict::Incomparable.sentence(&measured, "here they are coloured on the GPU, there on a CPU")
    });
    let heads = ["problem", "elements", "colours", "elements of the largest", "coloured in, ms"];
    if rows.is_empty() { String::new() } else { format!("{}\n{verdict}\n", table(&heads, &rows)) }
}
