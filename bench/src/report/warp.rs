//! WARP: tables 1 to 4 and figures 9 to 14: assembly of hex8 by strategies, on its cantilever.

use super::lookup::{OURS, assembled, assemblies};
use super::markdown::{count, number, ratio, table};
use super::paper::{Verdict, yes_or_no};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Assembly, Run};

/// Elements of its four meshes (table 3).
const MESHES: [usize; 4] = [110_592, 262_144, 1_000_000, 2_097_152];

/// Its meshes, small ones first, with what is stored in `storage`; its own is CSR.
fn cantilevers<'a>(run: &'a Run, precision: &str, storage: &str) -> Vec<&'a Assembly> {
    let mut ones = assemblies(run, precision, storage);
    ones.retain(|one| one.head.problem.starts_with("hex8 box ") && one.head.problem.ends_with(" of 16x2x2"));
    ones
}

fn ms(one: &Assembly, strategy: &str) -> Option<f64> {
    assembled(one, strategy).map(|row| row.assembly_ms)
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

/// Figures 12 and 14.
pub fn strategies(run: &Run, plots: &mut Plots) -> String {
    let mut out = String::new();
    for (precision, storage) in [("f32", "csr"), ("f64", "csr"), ("f32", OURS), ("f64", OURS)] {
        out += &strategies_in(run, precision, storage, plots);
    }
    out
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
