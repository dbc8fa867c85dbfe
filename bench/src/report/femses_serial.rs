//! FEMSES: figures 5.1 to 5.5, the serial program.

use super::femses::{Found, at, by_size, found, serial_device, sizes};
use super::markdown::{count, number, percent, quotient, table};
use super::paper::{exponent, in_range, power, yes_or_no};
use super::plot::Plots;
use super::run::{Phases, Run};

/// What was measured on the fewest threads, and the device.
fn rows(run: &Run) -> (Vec<Found<'_>>, &str) {
    let device = serial_device(run);
    (found(run, |name| Some(name) == device, "f64"), device.unwrap_or_default())
}

fn share(phases: Option<&Phases>) -> Option<f64> {
    quotient(phases.map(|phases| phases.solve_ms), phases.map(|phases| phases.total_ms))
}

/// Figures 5.1 to 5.4.
pub fn serial(run: &Run, _: &mut Plots) -> String {
    let (rows, device) = rows(run);
    let mut lines = Vec::new();
    let (mut fastest, mut least) = (None, f64::INFINITY);
    for unknowns in sizes(&rows) {
        let (dense, sparse) = (at(&rows, "dense", unknowns), at(&rows, "sparse", unknowns));
        let over = quotient(dense.map(|phases| phases.total_ms), sparse.map(|phases| phases.total_ms));
        fastest = over.map(|over| (over, unknowns)).or(fastest);
        least = [share(dense), share(sparse)].into_iter().flatten().fold(least, f64::min);
        let times = [dense, sparse].map(|phases| number(phases.map(|phases| phases.total_ms)));
        let shares = [dense, sparse].map(|phases| percent(share(phases)));
        lines.push([vec![count(unknowns)], times.to_vec(), vec![number(over)], shares.to_vec()].concat());
    }
    let Some((over, unknowns)) = fastest else { return String::new() };
    let heads = [
        "unknowns",
        "dense, ms",
        "sparse, ms",
        "sparse, times as fast",
        "solver of dense, of total",
        "solver of sparse, of total",
    ];
    let ratio = format!("sparse is {} times as fast as dense at {} unknowns", number(over), count(unknowns));
    let cholesky =
        "our sparse solver is faer's, and one thread of it factors in little more than it takes to number and assemble";
    format!(
        "{device}, f64; dense by nalgebra, sparse by faer.\n\n{}\nSparse is up to 5,000 times as fast. {}\n\nThe \
            solver takes almost all of the time. {}\n",
        table(&heads, &lines),
        in_range(
            over,
            [5000.0, 5000.0],
            &ratio,
            ["", "", "the ratio grows with the size, and larger dense matrices were not factored"]
        ),
        yes_or_no(least > 0.9, &format!("its smallest share is {}", percent(least)), "", cholesky)
    )
}

/// A phase: what it is called, a method that has it, and its time.
type Kind = (&'static str, &'static str, fn(&Phases) -> f64);

/// Figure 5.5.
pub fn kernels(run: &Run, _: &mut Plots) -> String {
    let (rows, device) = rows(run);
    let kinds: [Kind; 4] = [
        ("element matrices", "femses", |phases| phases.assembly_ms),
        ("assembly, sparse", "cg", |phases| phases.assembly_ms),
        ("assembly, dense", "dense", |phases| phases.assembly_ms),
        ("sparsity", "cg", |phases| phases.setup_ms),
    ];
    let all = sizes(&rows);
    let line = |(name, method, value): &Kind| {
        let cells = all.iter().map(|unknowns| number(at(&rows, method, *unknowns).map(value)));
        let grows = exponent(&by_size(&rows, method, *value)).map_or("-".into(), power);
        [vec![(*name).to_owned()], cells.collect(), vec![grows]].concat()
    };
    let lines: Vec<Vec<String>> = kinds.iter().map(line).collect();
    let exponents: Vec<f64> =
        kinds.iter().filter_map(|(_, method, value)| exponent(&by_size(&rows, method, *value))).collect();
    let [elements, sparse, dense, sparsity] = exponents[..] else { return String::new() };
    let heads: Vec<String> = all.iter().map(|unknowns| count(*unknowns)).collect();
    let heads: Vec<&str> =
        std::iter::once("ms, by unknowns").chain(heads.iter().map(String::as_str)).chain(["grows as"]).collect();
    let linear = [elements, sparse, sparsity].iter().all(|power| *power < 1.25);
    let measured = format!(
        "element matrices, sparse assembly and sparsity grow as N^{} to N^{}, dense assembly as {}",
        number([elements, sparse, sparsity].into_iter().fold(f64::INFINITY, f64::min)),
        number([elements, sparse, sparsity].into_iter().fold(0.0, f64::max)),
        power(dense)
    );
    format!(
        "{device}, f64.\n\n{}\n{}\n",
        table(&heads, &lines),
        yes_or_no(linear && dense > 1.0, &measured, "a dense matrix is cleared before it is assembled", "")
    )
}
