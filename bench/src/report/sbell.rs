//! SBELL: tables 1 and 2, figures 6 to 9: products of matrices of four elements. Its product is `ebw` here.

use super::lookup::{PRECISIONS, is_file, library, products_in, row, title};
use super::markdown::{count, median, number, quotient, ratio, span, table};
use super::paper::{Verdict, yes_or_no};
use super::plot::Plots;
use super::products::library_gflops;
use super::run::{Run, Spmv};

/// One of its matrices.
pub struct Matrix {
    pub element: &'static str,
    /// Its name.
    pub name: &'static str,
    pub unknowns: usize,
    /// Non-zero entries (table 1).
    entries: usize,
    /// GFLOP/s of its product (figure 8).
    gflops: f64,
    /// How many times as fast as cuSPARSE's CSR, and as SELL, it is (section 5.2).
    over_csr: f64,
    over_sell: f64,
    /// Its speed in double over that in single precision (figure 9).
    of_single: f64,
}

/// Its matrices (table 1).
pub const MATRICES: [Matrix; 4] = [
    Matrix {
        element: "tri3",
        name: "tri",
        unknowns: 1_060_112,
        entries: 14_813_544,
        gflops: 3.33,
        over_csr: 2.98,
        over_sell: 1.2472,
        of_single: 0.544,
    },
    Matrix {
        element: "quad4",
        name: "quad",
        unknowns: 321_602,
        entries: 5_769_604,
        gflops: 3.52,
        over_csr: 5.52,
        over_sell: 1.2378,
        of_single: 0.573,
    },
    Matrix {
        element: "tet4",
        name: "tet",
        unknowns: 624_579,
        entries: 27_482_265,
        gflops: 2.44,
        over_csr: 1.94,
        over_sell: 1.7222,
        of_single: 0.748,
    },
    Matrix {
        element: "hex8",
        name: "hex",
        unknowns: 499_125,
        entries: 38_976_723,
        gflops: 3.64,
        over_csr: 2.22,
        over_sell: 1.2486,
        of_single: 0.511,
    },
];
/// Its formats, and ours of the same layout.
const FORMATS: [(&str, &str); 5] =
    [("CSR (vector)", "csr_vector"), ("ELLPACK", "ell"), ("SELL", "sell"), ("BELL", "bell"), ("SBELL", "ebw")];
const SLICES: [&str; 3] = ["ebw", "ebw64", "ebw128"];
/// Unstructured meshes of at least so many unknowns stand beside its four.
const LARGE: usize = 2_000_000;

/// For each of its matrices the problem of the same element nearest in size; and large meshes from files.
fn compared<'a>(run: &'a Run, precision: &str) -> Vec<(Option<&'static Matrix>, &'a Spmv)> {
    let ones: Vec<&Spmv> = products_in(run, precision)
        .into_iter()
        .filter(|one| row(one, "ebw").is_some() && row(one, "sell").is_some())
        .collect();
    let of = |matrix: &'static Matrix| {
        let same = ones.iter().filter(|one| one.head.problem.starts_with(&format!("{} ", matrix.element)));
        Some((Some(matrix), *same.min_by_key(|one| one.head.dofs.abs_diff(matrix.unknowns))?))
    };
    let files = ones.iter().filter(|one| is_file(&one.head.problem) && one.head.dofs > LARGE);
    MATRICES.iter().filter_map(of).chain(files.map(|one| (None, *one))).collect()
}

fn entries(one: &Spmv) -> usize {
    one.head.blocks * one.head.block_size.pow(2)
}

/// Table 1.
pub fn matrices(run: &Run, _: &mut Plots) -> String {
    let line = |(matrix, one): (Option<&Matrix>, &Spmv)| {
        let per_row = |entries: usize, dofs: usize| number(entries as f64 / dofs as f64);
        let theirs = match matrix {
            Some(m) => [m.name.into(), count(m.unknowns), count(m.entries), per_row(m.entries, m.unknowns)],
            None => ["-"; 4].map(String::from),
        };
        let own =
            [title(&one.head.problem), count(one.head.dofs), count(entries(one)), per_row(entries(one), one.head.dofs)];
        theirs.into_iter().chain(own).collect()
    };
    let rows: Vec<Vec<String>> = compared(run, "f64").into_iter().map(line).collect();
    let heads = [
        "SBELL's",
        "SBELL's unknowns",
        "SBELL's entries",
        "SBELL's entries per row",
        "here.",
        "unknowns",
        "entries",
        "entries per row",
    ];
    table(&heads, &rows)
}

/// Table 2.
pub fn storage(run: &Run, _: &mut Plots) -> String {
    let ones = compared(run, "f64");
    let cell = |one: &Spmv, name: &str| {
        let (csr, found) = (row(one, "csr"), row(one, name));
        found.map_or("-".into(), |found| {
            format!("{} ({})", number(found.padding), ratio(found.stored_bytes, csr.map(|csr| csr.stored_bytes)))
        })
    };
    let rows: Vec<Vec<String>> = ones
        .iter()
        .map(|(_, one)| {
            [vec![title(&one.head.problem)], ["ell", "sell", "bell", "ebw"].map(|name| cell(one, name)).to_vec()]
                .concat()
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let worst = |names: [&str; 2], files: bool| {
        let wanted = ones.iter().filter(|(_, one)| is_file(&one.head.problem) == files);
        let paddings = wanted.flat_map(|(_, one)| names.map(|name| row(one, name).map(|row| row.padding)));
        paddings.flatten().max_by(f64::total_cmp)
    };
    let verdict = match (worst(["ell", "bell"], true), worst(["sell", "ebw"], true)) {
        (Some(whole), Some(sliced)) => {
            let measured = format!(
                "on unstructured meshes ELL and BELL store up to {} values for one, SELL and SBELL up to {}; on \
                    generated meshes up to {} and {}",
                number(whole),
                number(sliced),
                number(worst(["ell", "bell"], false)),
                number(worst(["sell", "ebw"], false))
            );
            yes_or_no(
                whole > 1.2 && sliced < 1.1,
                &measured,
                "a slice is as wide as its longest row, a matrix as the longest of all",
                "",
            )
        }
        _ => String::new(),
    };
    let heads = ["values stored over CSR's (bytes over CSR's)", "ELL", "SELL", "BELL", "SBELL (ebw)"];
    format!(
        "Padding included; in brackets all that is stored, indices too, f64.\n\n{}\n{verdict}\n",
        table(&heads, &rows)
    )
}

/// Figure 7.
pub fn slices(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut slower) = (Vec::new(), Vec::new());
    for precision in PRECISIONS {
        for (_, one) in compared(run, precision) {
            let speeds = SLICES.map(|name| row(one, name).map(|row| row.gflops));
            rows.push([vec![title(&one.head.problem), precision.into()], speeds.map(number).to_vec()].concat());
            slower.extend(quotient(speeds[2], speeds[0]));
        }
    }
    let Some(middle) = median(&slower) else { return String::new() };
    let measured = format!(
        "slices of 128 rows have {} times the speed of slices of 32, half of them more than {}",
        span(&slower),
        number(middle)
    );
    let why = "a slice of any of these heights is read in whole lines, and on most of these meshes larger ones are \
        padded little more";
    let heads = ["GFLOP/s", "precision.", "32 rows", "64 rows", "128 rows"];
    format!("{}\n{}\n", table(&heads, &rows), yes_or_no(middle < 0.95, &measured, "larger slices are padded more", why))
}

/// Figure 8: every format, and the ratios.
pub fn speed(run: &Run, _: &mut Plots) -> String {
    let (mut out, mut fastest, mut of) = (String::new(), 0, 0);
    for precision in PRECISIONS {
        let mut rows = Vec::new();
        for (matrix, one) in compared(run, precision) {
            let theirs = library_gflops(run, one, "csr_alg");
            let speeds: Vec<Option<f64>> =
                FORMATS.iter().map(|(_, name)| row(one, name).map(|row| row.gflops)).collect();
            let best = speeds.iter().copied().flatten().chain(theirs).max_by(f64::total_cmp);
            (fastest, of) = (fastest + usize::from(speeds.last() == Some(&best)), of + 1);
            let paper = matrix.filter(|_| precision == "f64").map(|matrix| matrix.gflops);
            let cells = std::iter::once(theirs).chain(speeds).chain([paper]).map(number);
            rows.push(std::iter::once(title(&one.head.problem)).chain(cells).collect());
        }
        let head = format!("GFLOP/s, {precision}");
        let names = FORMATS.iter().map(|pair| pair.0);
        let heads: Vec<&str> =
            [head.as_str(), "cuSPARSE CSR"].into_iter().chain(names).chain(["the paper's SBELL"]).collect();
        out += &format!("{}\n", table(&heads, &rows));
    }
    if of == 0 {
        return String::new();
    }
    let measured = format!("SBELL is the fastest of these in {fastest} of {of} cases");
    let why = "where rows are equally long, BELL has as few bytes and no slices to look up";
    let verdict = yes_or_no(fastest == of, &measured, "it has few indices and little padding", why);
    let intro = "A ratio holds within a tenth. cuSPARSE is today's. `bytes alone` is what the \
        bytes of the two formats say, where both run at the bandwidth of the memory.";
    format!("{out}{verdict}\n\n{intro}\n\n{}", ratios(run))
}

fn ratios(run: &Run) -> String {
    let mut rows = Vec::new();
    for (matrix, one) in compared(run, "f64") {
        let (Some(ours), Some(sell)) = (row(one, "ebw"), row(one, "sell")) else { continue };
        let csr = library(run, &one.head, "csr_alg", None);
        let found = [quotient(csr, ours.spmv_ms), quotient(sell.spmv_ms, ours.spmv_ms)];
        let claimed = [matrix.map(|matrix| matrix.over_csr), matrix.map(|matrix| matrix.over_sell)];
        let bytes =
            [row(one, "csr"), Some(sell)].map(|other| quotient(other.map(|other| other.own_bytes), ours.own_bytes));
        for (i, what) in ["cuSPARSE's CSR", "SELL"].into_iter().enumerate() {
            rows.push(vec![
                format!("{}: over {what}", title(&one.head.problem)),
                number(claimed[i]),
                number(found[i]),
                number(bytes[i]),
                met(found[i], claimed[i]),
            ]);
        }
    }
    table(&["SBELL's product in f64, times as fast", "SBELL", "here", "bytes alone", "claim."], &rows)
}

/// A verdict on one number.
fn met(found: Option<f64>, claimed: Option<f64>) -> String {
    let verdict = found.zip(claimed).and_then(|(found, claimed)| Verdict::of(&[found], claimed, claimed));
    verdict.map_or("-", Verdict::words).into()
}

/// Figure 9.
pub fn precisions(run: &Run, _: &mut Plots) -> String {
    let single = compared(run, "f32");
    let mut rows = Vec::new();
    for (matrix, one) in compared(run, "f64") {
        let half = single
            .iter()
            .find(|(_, other)| other.head.problem == one.head.problem)
            .and_then(|(_, other)| row(other, "ebw"));
        let (Some(half), Some(whole)) = (half, row(one, "ebw")) else { continue };
        let found = half.spmv_ms / whole.spmv_ms;
        let claimed = matrix.map(|matrix| matrix.of_single);
        rows.push(vec![
            title(&one.head.problem),
            number(claimed),
            number(found),
            number(half.own_bytes / whole.own_bytes),
            met(Some(found), claimed),
        ]);
    }
    table(&["speed in f64 over that in f32", "SBELL", "here", "bytes alone", "claim."], &rows)
}
