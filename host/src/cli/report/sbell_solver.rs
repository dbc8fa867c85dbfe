//! SBELL: tables 3 to 5 and figure 10: polynomial preconditioners.

use super::lookup::{OURS, find, preconditioned, storage, title, together};
use super::markdown::{count, number, quotient, ratio, table};
use super::paper::yes_or_no;
use super::plot::Plots;
use super::run::{Precond, Preconditioned, Run};
use super::sbell::MATRICES;

/// Its polynomials.
const POLYNOMIALS: [(&str, &str); 3] =
    [("neumann", "Neumann"), ("chebyshev", "Chebyshev"), ("least_squares", "least squares")];
/// Its choice for table 5 and figure 10.
const BEST: (&str, Option<u32>) = ("least_squares", Some(6));
/// How many times as fast as its CPU its GPU is (figure 10), by format and mixed precision.
const FASTER: [(&str, &str, &str); 4] = [
    ("csr", "f64", "1.2 to 3.8"),
    ("csr", "f32", "1.8 to 4.5"),
    (OURS, "f64", "5.5 to 6.9"),
    (OURS, "f32", "7.2 to 9.1"),
];

/// The reports on the problem of an element that is nearest in unknowns to its matrix.
fn nearest<'a>(run: &'a Run, element: &str, gpu: bool) -> Vec<&'a Precond> {
    let unknowns = MATRICES.iter().find(|matrix| matrix.element == element).map_or(0, |matrix| matrix.unknowns);
    let mut ones = preconditioned(run, gpu);
    ones.retain(|one| one.head.problem.starts_with(&format!("{element} ")) && one.head.precision == "f64");
    let problem = ones.iter().min_by_key(|one| one.head.dofs.abs_diff(unknowns)).map(|one| one.head.problem.clone());
    ones.retain(|one| Some(&one.head.problem) == problem.as_ref());
    ones
}

/// The report of most rows on quad, with Jacobi's figures: on the GPU, else on processors.
fn quad(run: &Run) -> Option<(&Precond, &Preconditioned)> {
    let one = [true, false]
        .into_iter()
        .find_map(|gpu| nearest(run, "quad4", gpu).into_iter().max_by_key(|one| one.rows.len()))?;
    Some((one, find(one, "jacobi", None, "f64")?))
}

/// A table of the polynomials by order.
fn by_order(one: &Precond, cell: impl Fn(&Preconditioned) -> String) -> String {
    let mut orders: Vec<u32> = one.rows.iter().filter_map(|row| row.order).collect();
    orders.sort_unstable();
    orders.dedup();
    let line = |(name, words): &(&str, &str)| {
        let cells = orders.iter().map(|order| find(one, name, Some(*order), "f64").map_or("-".into(), &cell));
        [vec![(*words).to_owned()], cells.collect()].concat()
    };
    let heads: Vec<String> = orders.iter().map(|order| format!("order {order}")).collect();
    let heads: Vec<&str> = std::iter::once("polynomial").chain(heads.iter().map(String::as_str)).collect();
    table(&heads, &POLYNOMIALS.iter().map(line).collect::<Vec<_>>())
}

/// The polynomials in double precision that converged.
fn polynomials(one: &Precond) -> Vec<&Preconditioned> {
    one.rows.iter().filter(|row| row.order.is_some() && row.storage == "f64" && row.converged).collect()
}

fn described(one: &Precond) -> String {
    format!("{} in {}, to {:.0e}", title(&one.head.problem), storage(&one.format), one.tolerance)
}

/// Table 3.
pub fn iterations(run: &Run, _: &mut Plots) -> String {
    let Some((one, jacobi)) = quad(run) else { return String::new() };
    let rows = polynomials(one);
    if rows.is_empty() {
        return String::new();
    }
    let fewer = rows.iter().all(|row| row.iterations < jacobi.iterations);
    let mut orders: Vec<Option<u32>> = rows.iter().map(|row| row.order).collect();
    orders.sort_unstable();
    orders.dedup();
    let fewest = |order: &Option<u32>, name: &str| {
        let same = rows.iter().filter(|row| row.order == *order && (name.is_empty() || row.preconditioner == name));
        same.map(|row| row.iterations).min()
    };
    let of = orders.len();
    let won = orders.iter().filter(|order| fewest(order, BEST.0) == fewest(order, "")).count();
    format!(
        "{}; Jacobi takes {} iterations (SBELL: 1,938).\n\n{}\nFewer than Jacobi's: {}\n\nLeast squares converges \
            fastest: {}\n",
        described(one),
        count(jacobi.iterations),
        by_order(one, |row| count(row.iterations)),
        yes_or_no(fewer, &format!("{} polynomials", rows.len()), "", "not all take fewer iterations than Jacobi"),
        yes_or_no(
            won == of,
            &format!("it takes the fewest iterations at {won} of {of} orders"),
            "",
            "Chebyshev's polynomial is the better one where the bounds of the spectrum are tight"
        )
    )
}

/// Table 4.
pub fn times(run: &Run, _: &mut Plots) -> String {
    let Some((one, jacobi)) = quad(run) else { return String::new() };
    let Some(best) = find(one, BEST.0, BEST.1, "f64") else { return String::new() };
    let over = together(best) / together(jacobi);
    let measured = format!("least squares of order 6 takes {} times Jacobi's time", number(over));
    let why = "on a GPU a polynomial saves vector steps, dot products and waits, and its products are faster than \
        those of CSR on a CPU";
    format!(
        "{}, set-up included. Jacobi: {} ms (SBELL: 64.92 s on its CPU).\n\nMilliseconds:\n\n{}\nIn Jacobi's \
            time:\n\n{}\n{}\n",
        described(one),
        number(together(jacobi)),
        by_order(one, |row| number(together(row))),
        by_order(one, |row| ratio(together(row), together(jacobi))),
        yes_or_no(
            (0.9..1.1).contains(&over),
            &measured,
            "",
            if over < 1.0 { why } else { "products are nearly all of an iteration's time here" }
        )
    )
}

/// Table 5.
pub fn jacobi(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for matrix in &MATRICES {
        for one in [true, false].into_iter().flat_map(|gpu| nearest(run, matrix.element, gpu)) {
            let Some(jacobi) = find(one, "jacobi", None, "f64") else { continue };
            let mut cells = vec![
                matrix.name.into(),
                title(&one.head.problem),
                one.head.device.clone(),
                storage(&one.format).into(),
                count(jacobi.iterations),
                number(together(jacobi)),
            ];
            for kept in ["f64", "f32", "f16"] {
                let best = find(one, BEST.0, BEST.1, kept);
                let time = best.map(together);
                cells.extend([count(best.map(|best| best.iterations)), number(time), ratio(together(jacobi), time)]);
                ratios.extend(time.filter(|_| kept == "f64").map(|time| time / together(jacobi)));
            }
            rows.push(cells);
        }
    }
    if ratios.is_empty() {
        return String::new();
    }
    let heads = [
        "SBELL's",
        "here.",
        "device.",
        "format.",
        "Jacobi, iterations",
        "ms",
        "least squares 6, iterations",
        "ms",
        "x Jacobi",
        "with f32, iterations",
        "ms",
        "x Jacobi",
        "with f16, iterations",
        "ms",
        "x Jacobi",
    ];
    let close = ratios.iter().filter(|ratio| (0.9..1.1).contains(*ratio)).count();
    let measured = format!(
        "least squares of order 6 in f64 takes {} times Jacobi's time; within a tenth of it in {close} of {} cases",
        super::markdown::span(&ratios),
        ratios.len()
    );
    let verdict = yes_or_no(
        close == ratios.len(),
        &measured,
        "",
        "what a polynomial saves beside products depends on the device and the size",
    );
    format!(
        "`x Jacobi`: times as fast as Jacobi in f64, set-up included; f32 and f16 are mixed \
            precisions.\n\n{}\n{verdict}\n",
        table(&heads, &rows)
    )
}

/// Figure 10.
pub fn devices(run: &Run, _: &mut Plots) -> String {
    let mut rows = Vec::new();
    for matrix in &MATRICES {
        let (here, there) = (nearest(run, matrix.element, true), nearest(run, matrix.element, false));
        let same = here.iter().zip(&there).all(|(a, b)| a.head.problem == b.head.problem);
        for base in there.iter().filter(|_| same) {
            let slow = find(base, BEST.0, BEST.1, "f64").map(together);
            let of = |format: &str, kept: &str| {
                let one = here.iter().find(|one| storage(&one.format) == format)?;
                quotient(slow, find(one, BEST.0, BEST.1, kept).map(together))
            };
            let cells = FASTER.map(|(format, kept, _)| number(of(format, kept)));
            if cells.iter().any(|cell| cell != "-") {
                rows.push(
                    [
                        vec![
                            matrix.name.into(),
                            format!("{}, {}", base.head.device, storage(&base.format)),
                            number(slow),
                        ],
                        cells.to_vec(),
                    ]
                    .concat(),
                );
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    rows.push(
        [vec!["SBELL".into(), "one CPU, csr".into(), "-".into()], FASTER.map(|(_, _, theirs)| theirs.into()).to_vec()]
            .concat(),
    );
    let heads = ["SBELL's", "on the CPU.", "ms", "GPU, CSR", "CSR, mixed", "EBW", "EBW, mixed"];
    format!("How many times as fast as in f64 on the CPU, least squares of order 6.\n\n{}", table(&heads, &rows))
}
