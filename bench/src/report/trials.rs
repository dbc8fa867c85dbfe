//! The table of products that were tried beside EBW's.

use super::markdown::{number, ratio, table};
use super::plot::Plots;
use super::run::{Run, Trial, Tried};

/// The products and how they are called in the files; the first is what the others are compared with.
const TRIED: [(&str, &[&str]); 10] = [
    ("as EBW was", &["ebw"]),
    ("launch bound: 2 blocks of 256 (kept)", &["1 a row, bound 2"]),
    ("launch bound: 4 blocks", &["1 a row, bound 4"]),
    ("2 threads a row", &["2 a row, bound 0", "2 a row, bound 2", "2 a row, bound 4"]),
    ("4 threads a row", &["4 a row, bound 0", "4 a row, bound 2", "4 a row, bound 4"]),
    ("8 threads a row", &["8 a row, bound 0", "8 a row, bound 2", "8 a row, bound 4"]),
    ("loop unrolled", &["unrolled by 2", "unrolled by 4"]),
    ("half the blocks, atomics", &["half, atomics"]),
    ("f64 sums; x, y f32", &["f64 sums, x, y f32"]),
    ("f64 sums; x, y f64", &["f64 sums, x, y f64"]),
];
/// What warpfem does now, in blocks of so many threads.
const KEPT: (&str, usize) = ("1 a row, bound 2", 256);

/// The fastest row of some products.
fn best<'a>(one: &'a Trial, names: &[&str], precision: &str) -> Option<&'a Tried> {
    let same = one
        .rows
        .iter()
        .filter(|row| names.contains(&row.product.as_str()) && row.precision.split(',').next() == Some(precision));
    same.filter(|row| row.product != KEPT.0 || row.threads == KEPT.1).min_by(|a, b| a.ms.total_cmp(&b.ms))
}

pub fn trials(run: &Run, _: &mut Plots) -> String {
    let mut ones: Vec<&Trial> = run.trials.iter().collect();
    ones.sort_by_key(|one| (one.element != "tet4", one.cells));
    let mut out = String::new();
    for precision in ["f64", "f32"] {
        let ebw: Vec<Option<&Tried>> = ones.iter().map(|one| best(one, TRIED[0].1, precision)).collect();
        let line = |(name, products): &(&str, &[&str])| {
            let found: Vec<Option<&Tried>> = ones.iter().map(|one| best(one, products, precision)).collect();
            let bytes =
                found.iter().zip(&ebw).rev().find_map(|(row, ebw)| Some((*row)?.own_bytes / (*ebw)?.own_bytes))?;
            let times = found.iter().zip(&ebw).map(|(row, ebw)| ratio(ebw.map(|ebw| ebw.ms), row.map(|row| row.ms)));
            Some([(*name).to_owned(), number(bytes)].into_iter().chain(times).collect())
        };
        let rows: Vec<Vec<String>> = TRIED.iter().filter_map(line).collect();
        let titles: Vec<String> = ones.iter().map(|one| format!("{}, n = {}", one.element, one.cells)).collect();
        let heads: Vec<&str> = ["product, times as fast", "bytes over EBW's"]
            .into_iter()
            .chain(titles.iter().map(String::as_str))
            .collect();
        let times: Vec<String> = ebw.iter().map(|row| number(row.map(|row| row.ms))).collect();
        if !rows.is_empty() {
            out +=
                &format!("\n{precision}, times of the first row: {} ms.\n\n{}", times.join(", "), table(&heads, &rows));
        }
    }
    out
}
