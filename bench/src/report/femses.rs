//! FEMSES: the thesis's table and figures, by what answers them.

use super::run::{Method, Phases, Run, is_gpu, threads};

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
