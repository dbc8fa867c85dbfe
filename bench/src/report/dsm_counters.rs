//! DSM's tables V to VII: what products do to the memory, by the counters of Nsight Compute.

use super::lookup::{product, row, title};
use super::markdown::{number, quotient, table};
use super::paper::yes_or_no;
use super::plot::Plots;
use super::run::{Counted, Counters, Run};

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// From how many million cells the matrix is larger than caches: DSM's large mesh and beyond.
const LARGE: usize = 40;
/// The formats that DSM counted.
const COUNTED: [&str; 5] = ["dense", "csr", "ell", "ell_warp", "ebw"];

/// The problem and precision of the arguments that counters.py was given.
fn problem(arguments: &str) -> (String, &'static str) {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let option = |name: &str| words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let precision = if option("--precision") == Some("single") { "f32" } else { "f64" };
    let Some(cells) = option("--cells") else {
        let file = words.iter().find(|word| word.ends_with(".msh")).copied().unwrap_or(arguments);
        let name = file.rsplit('/').next().unwrap_or(file);
        return (name.trim_end_matches(".msh").into(), precision);
    };
    let element = option("--element").unwrap_or("tet4");
    let shape = if element.starts_with("tri") || element.starts_with("quad") { "square" } else { "cube" };
    (format!("{element} {shape} {cells}"), precision)
}

/// Whether a counted problem is beyond the caches.
fn is_large(one: &Counters) -> bool {
    let (problem, _) = problem(&one.problem);
    problem.rsplit(' ').next().and_then(|cells| cells.parse().ok()).is_none_or(|cells: usize| cells >= LARGE)
}

fn tables(run: &Run, heads: &[&str], cells: impl Fn(&Counted) -> Vec<String>) -> String {
    let mut out = String::new();
    for one in &run.counters {
        let (problem, precision) = problem(&one.problem);
        let rows: Vec<Vec<String>> =
            one.rows.iter().map(|row| [vec![row.format.clone()], cells(row)].concat()).collect();
        out += &format!("\n{}, {precision}:\n\n{}", title(&problem), table(heads, &rows));
    }
    out
}

fn large(run: &Run) -> Option<&Counters> {
    run.counters.iter().find(|one| is_large(one))
}

fn counted<'a>(one: &'a Counters, format: &str) -> Option<&'a Counted> {
    one.rows.iter().find(|row| row.format == format)
}

/// Table V.
pub fn components(run: &Run, _: &mut Plots) -> String {
    let Some(one) = large(run) else { return String::new() };
    let heads = ["format", "DRAM, % of peak", "multiprocessors, % of peak"];
    let tables =
        tables(run, &heads, |row| vec![number(row.dram_percent_of_peak), number(row.multiprocessor_percent_of_peak)]);
    let theirs = || one.rows.iter().filter(|row| COUNTED.contains(&row.format.as_str()));
    let busier = theirs().filter(|row| row.dram_percent_of_peak > row.multiprocessor_percent_of_peak).count();
    let measured = format!(
        "beyond the caches the DRAM is nearer its peak than the multiprocessors in {busier} of DSM's {} formats",
        theirs().count()
    );
    let why = "a product does two operations for every value it reads";
    format!(
        "Throughput of the two caches was not counted.\n{tables}\n{}\n",
        yes_or_no(busier == theirs().count(), &measured, why, "")
    )
}

/// Table VI.
pub fn dram_sectors(run: &Run, _: &mut Plots) -> String {
    let Some(one) = large(run) else { return String::new() };
    let (named, precision) = problem(&one.problem);
    let report = product(run, &named, precision);
    let heads = ["format", "read, million sectors", "written, million sectors"];
    let tables =
        tables(run, &heads, |row| vec![number(row.dram_sectors_read / 1e6), number(row.dram_sectors_written / 1e6)]);
    let mut stored = Vec::new();
    for counted in &one.rows {
        let own = report.and_then(|one| row(one, &counted.format)).map(|row| row.own_bytes / SECTOR / 1e6);
        if let Some(own) = own {
            stored.push(format!("{} {}", counted.format, number(own)));
        }
    }
    let read = |format| counted(one, format).map(|row| row.dram_sectors_read);
    let least = one.rows.iter().min_by(|a, b| a.dram_sectors_read.total_cmp(&b.dram_sectors_read));
    let is_least = least.is_some_and(|row| row.format == "ebw");
    let csr = quotient(read("csr"), read("ell"));
    let first = yes_or_no(
        is_least,
        &format!("{} reads the fewest sectors beyond the caches", least.map_or("-", |row| &row.format)),
        "its blocks share an index and its padding is small",
        "",
    );
    let second = yes_or_no(
        csr.is_some_and(|csr| csr > 2.0),
        &format!("CSR reads {} times what ELL reads (DSM: {})", number(csr), number(145.34 / 17.02)),
        "",
        "on this GPU the second cache keeps the lines that CSR's lanes read in part until the others want them, so \
            that each is fetched about once",
    );
    let stored = match stored.is_empty() {
        true => String::new(),
        false => {
            format!("\nWhat each format stores, x and y once, in the same unit (list `spmv`): {}.\n", stored.join(", "))
        }
    };
    format!("{tables}{stored}\nFewest sectors. {first}\n\nCSR against ELL. {second}\n")
}

/// Table VII.
pub fn first_cache(run: &Run, _: &mut Plots) -> String {
    let Some(one) = large(run) else { return String::new() };
    let heads = ["format", "first cache, hits, %", "second cache, million sectors read", "second cache, hits, %"];
    let tables = tables(run, &heads, |row| {
        vec![number(row.l1_hit_percent), number(row.l2_sectors_read / 1e6), number(row.l2_hit_percent)]
    });
    let (Some(csr), Some(ebw)) = (counted(one, "csr"), counted(one, "ebw")) else { return String::new() };
    let sectors = csr.l2_sectors_read / ebw.l2_sectors_read;
    let measured = format!(
        "CSR reads {} times EBW's sectors from the second cache (DSM: {}) and hits the first in {} % of its loads \
            (EBW: {} %)",
        number(sectors),
        number(80.08 / 21.52),
        number(csr.l1_hit_percent),
        number(ebw.l1_hit_percent)
    );
    let verdict = yes_or_no(
        csr.l1_hit_percent < ebw.l1_hit_percent && sectors > 1.0,
        &measured,
        "",
        "the first cache of this GPU is large enough to keep the lines that CSR's threads read piece by piece",
    );
    format!("Sectors read by the first cache were not counted.\n{tables}\n{verdict}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(csr_hits: f64, ebw_read: f64) -> Run {
        let row = |format: &str, read: f64, hits: f64| {
            format!(
                r#"{{"format": "{format}", "dram_sectors_read": {read}, "dram_sectors_written": 1e4,
                "l2_sectors_read": 2e7,
                "l1_hit_percent": {hits}, "l2_hit_percent": 6, "dram_percent_of_peak": 80,
                "multiprocessor_percent_of_peak": 20}}"#
            )
        };
        let rows = [row("csr", 2e7, csr_hits), row("ell", 1.9e7, 37.0), row("ebw", ebw_read, 45.0)].join(",");
        let text = format!(
            r#"{{"runs": [], "device": "GPU", "counters": [{{"problem": "--element tet4 --cells 60", "rows":
            [{rows}]}}]}}"#
        );
        Run::parse("a.json", &text).unwrap()
    }

    #[test]
    fn the_fewest_sectors_decide() {
        let text = dram_sectors(&run(80.0, 1e7), &mut Plots::default());
        assert!(text.contains("Fewest sectors. **Holds**: ebw reads the fewest"), "{text}");
        assert!(text.contains("CSR against ELL. **Contradicted**: CSR reads 1.05 times"), "{text}");
        let text = dram_sectors(&run(80.0, 3e7), &mut Plots::default());
        assert!(text.contains("Fewest sectors. **Contradicted**: ell reads the fewest"), "{text}");
    }

    #[test]
    fn a_cache_that_is_missed_is_wasted() {
        assert!(first_cache(&run(80.0, 1e7), &mut Plots::default()).contains("**Contradicted**"));
        let mut missed = run(2.0, 1e7);
        missed.counters[0].rows[2].l2_sectors_read = 1e7;
        assert!(first_cache(&missed, &mut Plots::default()).contains("**Holds**: CSR reads 2 times"));
    }

    #[test]
    fn arguments_name_the_problem() {
        assert_eq!(problem("--element tet4 --cells 19"), ("tet4 cube 19".into(), "f64"));
        assert_eq!(problem("--element quad4 --cells 9 --precision single"), ("quad4 square 9".into(), "f32"));
        assert_eq!(problem("meshes/car.msh --block-size 3"), ("car".into(), "f64"));
    }
}
