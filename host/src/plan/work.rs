//! What a solution will take, before it is begun: memory, iterations, time.
//!
//! **Time** is iterations times the bytes that each has to move (the matrix, and [`vector_bytes`] per unknown, see
//! docs/solver.md) over the bandwidth that is reached, besides what an iteration takes however small the system; with
//! multigrid its set-up too. A direct solution takes its factor's operations at the rate that supernodes reach, its values,
//! which are read and written a few times, and what is done with each unknown and each value of the matrix before.

use super::decide::fill;
use super::iterations::{jacobi_iterations, multigrid_iterations};
use super::memory::{DOUBLE, Memory, blocks, factor_bytes, matrix_bytes, matrix_values};
use super::shape::{STRETCHED, is_quadratic, median_height, median_stretch, one_across};
use crate::mesh::{Cells, Mesh};
use crate::model::Model;
use crate::precond;
use crate::result::choices::{Method, Operator, Precision, Preconditioner};
use crate::result::{Fill, Plan};

/// Bytes per unknown that an iteration's vector steps move, in words of so many bytes: the diagonal is in single
/// precision.
pub const fn vector_bytes(word: u64) -> u64 {
    8 * word + 4
}

/// A polynomial of order m takes m + 1 products for what Jacobi does in this many less.
const POLYNOMIAL_LOSS: f64 = 1.2;
/// Products with the matrix that take as long as a cycle: 5 are products with it, the rest is those with P and its
/// transpose, and the coarser levels. On an H200, of 3 to 10 million unknowns, 10 to 13 (hex8) and 15 to 19 (tet4).
const MULTIGRID_PRODUCTS: u64 = 10;
/// The same of linear triangles and tetrahedra, whose matrix has half of the entries.
const SIMPLEX_PRODUCTS: u64 = 15;
/// The same of quadratic elements, whose next level has their vertices alone.
const QUADRATIC_PRODUCTS: u64 = 6;
/// How many times as long an iteration takes on stretched elements, whose coarse levels have more neighbours, and on plates
/// of one quadratic element, whose coarse levels take more steps: both measured on an H200.
const STRETCHED_WEIGHT: f64 = 3.0;
const FLAT_WEIGHT: f64 = 4.0;
/// Cells that are taller than this have no such levels.
const TALL: f64 = 3.0;
/// Iterations with multigrid that take as long as its set-up. On two cores of a CPU 13 and 20 (hex8 of 21 and 207
/// thousand unknowns), 15 and 19 (tet4 of 28 and 273 thousand), 12 and 26 (tet10 of 21 and 207 thousand); on an H200 10 to
/// 13 from a million unknowns on, and 17 of 28 thousand.
const MULTIGRID_SETUP: f64 = 16.0;
/// Bytes per unknown that are copied in the time of a product without a matrix, of quadratic elements in double precision.
const PRODUCT: u64 = 300;
/// Solutions with a factor, the first and those that refine it.
const SUBSTITUTIONS: f64 = 2.5;
/// On two cores of a CPU, of 30 to 240 thousand unknowns (`warpfem-bench auto`); the rate is a core's. A cube of hex8 with 207 thousand, of
/// 4.0e11 operations, takes 18 s.
const CPU_DIRECT: DirectSpeed = DirectSpeed { unknown: 1.5e-6, entry: 5e-8, value: 2e-9, rate: 11e9, bandwidth: 0.0 };
/// By cuDSS on an H200, whose analysis is on the host.
const GPU_DIRECT: DirectSpeed = DirectSpeed { unknown: 6e-6, entry: 0.0, value: 1e-9, rate: 2e12, bandwidth: 0.0 };

/// What an iteration is on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Bytes per second that a copy within the device's memory moves, reads and writes both counted.
    pub bandwidth: f64,
    /// The share of it that an iteration reaches.
    pub reached: f64,
    /// Seconds that an iteration takes however small it is.
    pub latency: f64,
    /// And a multigrid cycle.
    pub cycle: f64,
    /// Seconds that any iterative solution takes besides.
    pub start: f64,
    /// A direct solver on it.
    pub direct: DirectSpeed,
}

/// What a direct solution takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectSpeed {
    /// Seconds per unknown, for the order of elimination.
    pub unknown: f64,
    /// Seconds per entry of the matrix, for the symbolic factorisation.
    pub entry: f64,
    /// Seconds per value of L.
    pub value: f64,
    /// Operations per second, a multiplication and an addition counted as one.
    pub rate: f64,
    /// Bytes per second that substitution reads L with.
    pub bandwidth: f64,
}

impl Speed {
    /// A CPU whose copy bandwidth was measured.
    pub fn cpu(bandwidth: f64) -> Speed {
        let rate = CPU_DIRECT.rate * rayon::current_num_threads() as f64;
        let direct = DirectSpeed { bandwidth: 0.5 * bandwidth, rate, ..CPU_DIRECT };
        Speed { bandwidth, reached: 0.8, latency: 20e-6, cycle: 0.0, start: 0.0, direct }
    }

    /// A GPU by the bandwidth that its memory clock and bus width make: copies reach 0.9 of it on an H200, where
    /// iterations with multigrid take 0.3 to 0.7 ms of 27 to 30 thousand unknowns.
    pub fn gpu(peak: f64) -> Speed {
        let direct = DirectSpeed { bandwidth: 0.5 * peak, ..GPU_DIRECT };
        Speed { bandwidth: 0.9 * peak, reached: 0.9, latency: 8e-6, cycle: 0.4e-3, start: 2.5e-3, direct }
    }
}

/// What the iteration of a model has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Unknowns.
    pub unknowns: usize,
    /// Entries of the matrix.
    pub entries: u64,
    /// Bytes.
    pub memory: Memory,
    /// Iterations, and bytes that each moves, or could in its time; none if the method is not conjugate gradients.
    pub iteration: Option<(f64, u64)>,
    /// How many times as long each takes as usual.
    pub weight: f64,
    /// Iterations that the set-up of the preconditioner takes as long as; 0 but for multigrid.
    pub setup: f64,
    /// The factor of a direct solution.
    pub fill: Option<Fill>,
}

impl Work {
    /// Of a model that is solved as planned.
    pub fn planned(model: &Model, plan: &Plan) -> Work {
        match (plan.method, plan.preconditioner) {
            (Method::Cg, Some(preconditioner)) => {
                let work = Work::of(model, preconditioner, plan.precision);
                match plan.operator {
                    Some(Operator::MatrixFree) => work.without_matrix(model, preconditioner, plan.precision),
                    _ => work,
                }
            }
            (Method::Direct, _) => {
                Work::without_iteration(model, plan.precision, Some(plan.fill.unwrap_or_else(|| fill(model))))
            }
            _ => Work::without_iteration(model, plan.precision, None),
        }
    }

    /// Of a model that can be solved by conjugate gradients with a preconditioner.
    pub fn of(model: &Model, preconditioner: Preconditioner, precision: Precision) -> Work {
        let mut work = Work::without_method(model, preconditioner, precision);
        let size = model.analysis.components() as u64;
        let bytes = |value: u64| matrix_bytes(work.entries / (size * size), size, value);
        work.iteration = Some(iteration(model, preconditioner, precision, bytes));
        if preconditioner == Preconditioner::Amg {
            (work.setup, work.weight) = (MULTIGRID_SETUP, weight(model));
        }
        work
    }

    /// The same where products are computed without the matrix.
    fn without_matrix(mut self, model: &Model, preconditioner: Preconditioner, precision: Precision) -> Work {
        let bytes = |value: u64| PRODUCT * value / DOUBLE * self.unknowns as u64;
        self.iteration = Some(iteration(model, preconditioner, precision, bytes));
        self.memory = self.memory.without_matrix(model, preconditioner, precision);
        self
    }

    /// Of a model that can be solved by another method: directly, with a factor of this size, or without a matrix.
    pub fn without_iteration(model: &Model, precision: Precision, fill: Option<Fill>) -> Work {
        let mut work = Work { fill, ..Work::without_method(model, Preconditioner::Identity, precision) };
        let value = if precision == Precision::Double { DOUBLE } else { DOUBLE / 2 };
        work.memory.factor = fill.map_or(0, |fill| factor_bytes(&fill) * value / DOUBLE);
        work
    }

    /// Of a model and its matrix, whatever solves it.
    fn without_method(model: &Model, preconditioner: Preconditioner, precision: Precision) -> Work {
        let (nodes, size) = (model.mesh.coords.len(), model.analysis.components());
        let blocks = blocks(model);
        Work {
            unknowns: nodes * size,
            entries: blocks * (size * size) as u64,
            memory: Memory::of(model, preconditioner, precision, blocks),
            iteration: None,
            weight: 1.0,
            setup: 0.0,
            fill: None,
        }
    }

    /// Seconds of the preconditioner's set-up and of the iteration on a device, or of the factor and of substitution with
    /// it; none where neither is known.
    pub fn seconds(&self, on: &Speed) -> Option<[f64; 2]> {
        if let Some(fill) = &self.fill {
            let DirectSpeed { unknown, entry, value, rate, bandwidth } = on.direct;
            let values = fill.nonzeros as f64;
            let before = unknown * self.unknowns as f64 + entry * self.entries as f64;
            let factor = before + value * values + fill.operations / rate;
            return Some([factor, SUBSTITUTIONS * 2.0 * DOUBLE as f64 * values / bandwidth]);
        }
        let cycle = if self.setup > 0.0 { on.cycle } else { 0.0 };
        let one = |bytes| on.latency + cycle + bytes as f64 / (on.reached * on.bandwidth);
        self.iteration.map(|(n, bytes)| [self.setup * one(bytes), on.start + n * self.weight * one(bytes)])
    }
}

/// How many times as long an iteration with multigrid takes as usual.
fn weight(model: &Model) -> f64 {
    match () {
        () if !model.analysis.is_solid() => 1.0,
        () if one_across(&model.mesh) == 1.0 => {
            if is_quadratic(&model.mesh) && median_height(&model.mesh) <= TALL {
                FLAT_WEIGHT
            } else {
                1.0
            }
        }
        () if median_stretch(&model.mesh) > STRETCHED => STRETCHED_WEIGHT,
        () => 1.0,
    }
}

/// Products with the matrix that take as long as a cycle.
fn products(mesh: &Mesh) -> u64 {
    let is_simplex = |(_, cells): (usize, &Cells)| cells.kind.info().domain.is_simplex();
    match () {
        () if is_quadratic(mesh) => QUADRATIC_PRODUCTS,
        () if mesh.solids().all(is_simplex) => SIMPLEX_PRODUCTS,
        () => MULTIGRID_PRODUCTS,
    }
}

/// How many iterations, and what each moves; `bytes` are those of a product with values of so many.
fn iteration(
    model: &Model,
    preconditioner: Preconditioner,
    precision: Precision,
    bytes: impl Fn(u64) -> u64,
) -> (f64, u64) {
    let solver = &model.solver;
    let values = matrix_values(precision);
    let unknowns = (model.mesh.coords.len() * model.analysis.components()) as u64;
    let product = |value: Option<&u64>| value.map_or(0, |&value| bytes(value));
    let own = product(values.first()) + vector_bytes(values[0]) * unknowns;
    if preconditioner == Preconditioner::Amg {
        let iterations = multigrid_iterations(model).min(solver.max_iterations as f64);
        return (iterations, own + products(&model.mesh) * product(values.last()));
    }
    let jacobi = jacobi_iterations(model).min(solver.max_iterations as f64);
    match precond::has_order(preconditioner) {
        true => {
            let order = solver.order as u64;
            (POLYNOMIAL_LOSS * jacobi / (order + 1) as f64, own + order * product(values.last()))
        }
        false => (jacobi, own),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{clamped_box, model};
    use super::*;

    /// Seconds of set-up and of an iteration on an H200, measured, of 3 million unknowns; within a factor of two.
    #[test]
    fn time_of_multigrid_is_met() {
        let speed = Speed::gpu(4.8e12);
        for (element, rows, setup, iteration) in [("tet4", 14.8, 73.8e-3, 6.0e-3), ("hex8", 26.5, 83.8e-3, 7.4e-3)] {
            let mut work = Work::of(&clamped_box(element, [1; 3], [2; 3]), Preconditioner::Amg, Precision::Double);
            let (n, nodes) = (work.iteration.unwrap().0, 1_030_301.0);
            let own = matrix_bytes((nodes * rows) as u64, 3, 8) + vector_bytes(DOUBLE) * 3 * nodes as u64;
            work.iteration = Some((n, own + MULTIGRID_PRODUCTS * matrix_bytes((nodes * rows) as u64, 3, 8)));
            let [found, all] = work.seconds(&speed).unwrap();
            for off in [found / setup, all / n / iteration] {
                assert!((0.5..2.0).contains(&off), "{element}: {found} s, {} s", all / n);
            }
        }
    }

    #[test]
    fn time_is_bytes_over_bandwidth_and_operations_over_their_rate() {
        let cube = model("cube_463.toml");
        let work = Work::of(&cube, Preconditioner::Jacobi, Precision::Double);
        let (n, bytes) = work.iteration.unwrap();
        let direct = DirectSpeed { unknown: 1e-3, entry: 1e-5, value: 1e-6, rate: 1e9, bandwidth: 1e9 };
        let speed = Speed { bandwidth: 1e9, reached: 0.5, latency: 1e-3, cycle: 1e-2, start: 0.5, direct };
        assert_eq!(work.seconds(&speed), Some([0.0, 0.5 + n * (1e-3 + bytes as f64 / 0.5e9)]));
        let multigrid = Work::of(&cube, Preconditioner::Amg, Precision::Double);
        let (iterations, moved) = multigrid.iteration.unwrap();
        let one = 1e-3 + 1e-2 + moved as f64 / 0.5e9;
        assert_eq!(multigrid.seconds(&speed), Some([MULTIGRID_SETUP * one, 0.5 + iterations * one]));
        // Values of 3 x 3 blocks and their columns, and eight and a half words per unknown.
        assert_eq!((work.memory.matrix % 76, work.memory.matrix + 68 * work.unknowns as u64), (0, bytes));
        let (fewer, more) = Work::of(&cube, Preconditioner::Chebyshev, Precision::Mixed).iteration.unwrap();
        assert!(fewer < n / 4.0 && more > 3 * bytes);
        let fill = Fill { nonzeros: 1_000_000, operations: 3e9 };
        let direct = Work::without_iteration(&cube, Precision::Mixed, Some(fill));
        let before = 1e-3 * cube.mesh.coords.len() as f64 * 3.0 + 1e-5 * direct.entries as f64;
        let expected = [before + 1.0 + 3.0, 0.04];
        let found = direct.seconds(&speed).unwrap();
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
        assert_eq!(Work::without_iteration(&cube, Precision::Mixed, None).seconds(&speed), None);
    }
}
