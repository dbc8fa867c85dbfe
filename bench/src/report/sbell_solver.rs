//! SBELL: tables 3 to 5 and figure 10: polynomial preconditioners.

use super::lookup::{OURS, find, named, preconditioned, storage, title, together};
use super::markdown::{count, median, number, quotient, ratio, span, table};
use super::paper::{in_range, yes_or_no};
use super::plot::Plots;
use super::run::{Precond, Preconditioned, Run, is_gpu};
use super::sbell::MATRICES;

/// Its polynomials.
const POLYNOMIALS: [(&str, &str); 3] =
    [("neumann", "Neumann"), ("chebyshev", "Chebyshev"), ("least_squares", "least squares")];
/// Its choice for table 5 and figure 10.
const BEST: (&str, Option<u32>) = ("least_squares", Some(6));
/// How many times as fast as its CPU its GPU is (figure 10), by format and mixed precision.
const FASTER: [(&str, &str, [f64; 2]); 4] =
    [("csr", "f64", [1.2, 3.8]), ("csr", "f32", [1.8, 4.5]), (OURS, "f64", [5.5, 6.9]), (OURS, "f32", [7.2, 9.1])];
/// What tells those apart.
const FASTER_HEADS: [&str; 4] = ["GPU, CSR", "GPU, CSR, mixed", "GPU, EBW", "GPU, EBW, mixed"];

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
fn by_order(one: &Precond, what: &str, cell: impl Fn(&Preconditioned) -> String) -> String {
    let mut orders: Vec<u32> = one.rows.iter().filter_map(|row| row.order).collect();
    orders.sort_unstable();
    orders.dedup();
    let line = |(name, words): &(&str, &str)| {
        let cells = orders.iter().map(|order| find(one, name, Some(*order), "f64").map_or("-".into(), &cell));
        [vec![(*words).to_owned()], cells.collect()].concat()
    };
    let heads: Vec<String> = orders.iter().map(|order| format!("order {order}")).collect();
    let heads: Vec<&str> = std::iter::once(what).chain(heads.iter().map(String::as_str)).collect();
    let rows: Vec<Vec<String>> = POLYNOMIALS.iter().map(line).collect();
    let measured: Vec<Vec<String>> = rows.into_iter().filter(|row| row[1..].iter().any(|cell| cell != "-")).collect();
    table(&heads, &measured)
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
        "{}; Jacobi takes {} iterations (SBELL: 1,938).\n\n{}\nFewer than Jacobi's. {}\n\nLeast squares converges \
            fastest. {}\n",
        described(one),
        count(jacobi.iterations),
        by_order(one, "iterations, by polynomial", |row| count(row.iterations)),
        yes_or_no(fewer, &format!("{} polynomials", rows.len()), "", "not all take fewer iterations than Jacobi"),
        yes_or_no(
            won == of,
            &format!("it takes the fewest iterations at {won} of {of} orders"),
            "",
            "Chebyshev's polynomial is the better one where the bounds of the spectrum are tight"
        )
    )
}

/// Table 4: in CSR as SBELL measured it, and in EBW.
pub fn times(run: &Run, _: &mut Plots) -> String {
    let mut ones = nearest(run, "quad4", true);
    if ones.is_empty() {
        ones = nearest(run, "quad4", false);
    }
    let of = |format: &str| {
        let same = ones.iter().copied().filter(|one| storage(&one.format) == format);
        let one = same.max_by_key(|one| one.rows.len())?;
        Some((one, find(one, "jacobi", None, "f64")?, find(one, BEST.0, BEST.1, "f64")?))
    };
    let csr = of("csr").map_or(String::new(), |(one, jacobi, best)| {
        let over = together(best) / together(jacobi);
        let measured = format!(
            "in CSR least squares of order 6 takes {} times Jacobi's time, {} and {} ms",
            number(over),
            number(together(best)),
            number(together(jacobi))
        );
        let why = if over < 1.0 { "it saves vector steps and waits" } else { "its products cost more than they save" };
        let verdict = yes_or_no((0.9..1.1).contains(&over), &measured, "", why);
        format!("{}\nLeast squares about the same. {verdict}\n\n{}", in_times(one, jacobi), much_more(one, jacobi))
    });
    let ebw = of(OURS).map_or(String::new(), |(one, jacobi, best)| {
        let measured = format!(
            "In EBW, which SBELL did not run on its CPU, least squares of order 6 takes {} times Jacobi's time.",
            number(together(best) / together(jacobi))
        );
        format!("{}\n{measured}\n\n{}", in_times(one, jacobi), much_more(one, jacobi))
    });
    csr + &ebw
}

/// Milliseconds of the polynomials by order, and the same in Jacobi's time.
fn in_times(one: &Precond, jacobi: &Preconditioned) -> String {
    format!(
        "{}, set-up included. Jacobi: {} ms (SBELL: 64.92 s on its CPU).\n\n{}\n{}",
        described(one),
        number(together(jacobi)),
        by_order(one, "ms, by polynomial", |row| number(together(row))),
        by_order(one, "in Jacobi's time, by polynomial", |row| ratio(together(row), together(jacobi))),
    )
}

/// Whether the other two polynomials take much more than Jacobi, those that were measured.
fn much_more(one: &Precond, jacobi: &Preconditioned) -> String {
    let mut out = String::new();
    for (name, words) in &POLYNOMIALS[..2] {
        let same = one.rows.iter().filter(|row| row.preconditioner == *name && row.storage == "f64" && row.converged);
        let ratios: Vec<f64> = same.map(|row| together(row) / together(jacobi)).collect();
        out += &match median(&ratios) {
            Some(middle) => {
                let measured = format!("{} times Jacobi's time", span(&ratios));
                format!("{words}'s takes much more. {}\n\n", yes_or_no(middle > 1.2, &measured, "", ""))
            }
            None => format!("{words}'s was not measured in {}.\n\n", storage(&one.format)),
        };
    }
    out
}

/// Table 5.
pub fn jacobi(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut mixed, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for matrix in &MATRICES {
        for one in [true, false].into_iter().flat_map(|gpu| nearest(run, matrix.element, gpu)) {
            let Some(jacobi) = find(one, "jacobi", None, "f64") else { continue };
            let format = storage(&one.format);
            let first = vec![matrix.name.to_owned(), named(run, &one.head), format.into()];
            let cells = |kept: &str| {
                let best = find(one, BEST.0, BEST.1, kept);
                let time = best.map(together);
                [count(best.map(|best| best.iterations)), number(time), ratio(together(jacobi), time)].to_vec()
            };
            let own = vec![count(jacobi.iterations), number(together(jacobi))];
            rows.push([first.clone(), own, cells("f64")].concat());
            let low = [cells("f32"), cells("f16")].concat();
            if low.iter().any(|cell| cell != "-") {
                mixed.push([first, low].concat());
            }
            let ratio = find(one, BEST.0, BEST.1, "f64").map(|best| together(best) / together(jacobi));
            ratios.extend(ratio.map(|ratio| (is_gpu(&one.head.device), format, ratio)));
        }
    }
    if ratios.is_empty() {
        return String::new();
    }
    let heads = [
        "SBELL's",
        "here.",
        "format.",
        "Jacobi, iterations",
        "Jacobi, ms",
        "least squares 6, iterations",
        "least squares 6, ms",
        "x Jacobi",
    ];
    let low = [
        "with f32, iterations",
        "with f32, ms",
        "with f32, x Jacobi",
        "with f16, iterations",
        "with f16, ms",
        "with f16, x Jacobi",
    ];
    let low = [&heads[..3], &low[..]].concat();
    format!(
        "`x Jacobi`: times as fast as Jacobi in f64, set-up included.\n\n{}\nThe same with the polynomial of a copy of \
            the matrix in fewer bits, against the same Jacobi:\n\n{}\n{}",
        table(&heads, &rows),
        table(&low, &mixed),
        almost_the_same(&ratios)
    )
}

/// The verdict in CSR on a CPU, which is what SBELL measured, or else on the GPU; and the same of what it did not run.
fn almost_the_same(ratios: &[(bool, &str, f64)]) -> String {
    let said = |gpu: bool, format: &str| {
        let same = ratios.iter().filter(|row| (row.0, row.1) == (gpu, format));
        let same: Vec<f64> = same.map(|row| row.2).collect();
        let close = same.iter().filter(|ratio| (0.9..1.1).contains(*ratio)).count();
        let text = format!(
            "least squares of order 6 in f64 takes {} times Jacobi's time; within a tenth of it in {close} of {} cases",
            span(&same),
            same.len()
        );
        (!same.is_empty()).then_some((text, close == same.len()))
    };
    let why = "what a polynomial saves beside products depends on the device and the size";
    let judged = [(false, "on the CPU"), (true, "on the GPU")]
        .into_iter()
        .find_map(|(gpu, place)| said(gpu, "csr").map(|found| (gpu, place, found)));
    let Some((judged_on_gpu, place, (text, all))) = judged else { return String::new() };
    let mut out = format!("{}\n", yes_or_no(all, &format!("{place}, in CSR, {text}"), "", why));
    for (gpu, format, what) in [(true, "csr", "On the GPU, in CSR"), (true, OURS, "On the GPU, in EBW")] {
        if let Some((text, _)) = said(gpu, format).filter(|_| (gpu, format) != (judged_on_gpu, "csr")) {
            out += &format!("\n{what}, {text}.\n");
        }
    }
    out
}

/// Figure 10.
pub fn devices(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut copies, mut all) = (Vec::new(), Vec::new(), [const { Vec::new() }; 4]);
    for matrix in &MATRICES {
        let (here, there) = (nearest(run, matrix.element, true), nearest(run, matrix.element, false));
        let same = here.iter().zip(&there).all(|(a, b)| a.head.problem == b.head.problem);
        let bases = there.iter().filter(|_| same).flat_map(|base| [(base, "f64"), (base, "f32")]);
        for (base, kept) in bases {
            let Some(slow) = find(base, BEST.0, BEST.1, kept).map(together) else { continue };
            let of = |format: &str, kept: &str| {
                let one = here.iter().find(|one| storage(&one.format) == format)?;
                quotient(Some(slow), find(one, BEST.0, BEST.1, kept).map(together))
            };
            let found = FASTER.map(|(format, kept, _)| of(format, kept));
            if found.iter().all(Option::is_none) {
                continue;
            }
            let format = storage(&base.format);
            copies.extend(here.first().map(|one| one.head.copy_gb_per_s / base.head.copy_gb_per_s));
            // SBELL's own comparison.
            if (format, kept) == ("csr", "f64") {
                all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
            }
            let on_cpu = format!("{}, {format}{}", base.head.device, if kept == "f32" { ", mixed" } else { "" });
            rows.push(
                [
                    vec![matrix.name.into(), on_cpu, number(slow)],
                    found.map(number).to_vec(),
                    vec![number(copies.last().copied())],
                ]
                .concat(),
            );
        }
    }
    if rows.is_empty() {
        let half = match (preconditioned(run, true).is_empty(), preconditioned(run, false).is_empty()) {
            (false, true) => "CPU",
            (true, false) => "GPU",
            _ => return String::new(),
        };
        return format!(
            "Not measured: this needs the {half} half, the same solutions there; table 5 has those at hand."
        );
    }
    let theirs = FASTER.map(|(_, _, range)| span(&range));
    rows.push([vec!["SBELL".into(), "one CPU, csr".into(), "-".into()], theirs.to_vec(), vec!["-".into()]].concat());
    let heads = [&["SBELL's", "on the CPU.", "on the CPU, ms"], FASTER_HEADS.as_slice(), &["copying"]].concat();
    let more =
        format!("this GPU copies {} times as fast as its host, and iterations are traffic with memory", span(&copies));
    let mut out = format!(
        "How many times as fast as on the CPU, least squares of order 6; and the bandwidths of copies.\n\n{}",
        table(&heads, &rows)
    );
    for ((name, (_, _, range)), found) in FASTER_HEADS.iter().zip(FASTER).zip(&all) {
        let measured = format!("{} times as fast", span(found));
        let verdict = median(found).map(|middle| in_range(middle, range, &measured, ["", &more, &more]));
        out += &verdict.map_or(String::new(), |verdict| format!("\n{name}. {verdict}\n"));
    }
    out
}
