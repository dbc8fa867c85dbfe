//! What a solution will take, before it is begun: memory, iterations, time.
//!
//! **Memory** is the sum of the arrays that live at the same time while the iteration runs, [`Memory`]. Measured
//! against the program's peak on the CPU, for boxes of 60,000 to 130,000 nodes of every solid element: within 15 %.
//!
//! **Iterations** of conjugate gradients with Jacobi's preconditioner go with the square root of the condition number,
//! and that with how many elements lie between a node and what holds it: `c (D / h) ln(1 / tolerance) / ln(1e8)`, with
//! D the largest distance from a node to the nearest one that is supported in the same component, over all components,
//! `h = (volume / nodes)^(1/dim)`, and c of the element: the middle of what 130 boxes, beams, plates and strips took.
//! Thin walls, flat elements and unlike materials take more. Multigrid takes some eighteen of usual elements.
//!
//! **Time** is iterations times the bytes that each has to move (the matrix, and [`vector_bytes`] per unknown, see
//! docs/solver.md) over the bandwidth that is reached, besides what an iteration takes however small the system; with
//! multigrid its set-up too. A direct solution takes its factor's operations at the rate that supernodes reach, its values,
//! which are read and written a few times, and what is done with each unknown and each value of the matrix before.

use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh, pairs, quality};
use crate::model::{Analysis, Model, SolverOptions};
use crate::precond;
use crate::solve::direct::Fill;
use rayon::prelude::*;

/// Bytes per unknown that an iteration's vector steps move, in words of so many bytes: the diagonal is in single
/// precision.
pub const fn vector_bytes(word: u64) -> u64 {
    8 * word + 4
}
/// Vectors that live while the iteration runs.
const VECTORS: u64 = 10;
/// With Jacobi estimated errors are too large: the bracket takes 930 iterations to 1e-6, 990 to a residual of 1e-8.
const JACOBI_EXCESS: f64 = 0.03;
/// Tolerance that [`coefficient`] is of.
const TOLERANCE: f64 = 1e-8;
/// A polynomial of order m takes m + 1 products for what Jacobi does in this many less.
const POLYNOMIAL_LOSS: f64 = 1.2;
/// Iterations with multigrid, to 1e-8. Boxes of 20 to 50 thousand unknowns take 14 (hex8, hex20) and 16 (tet4, tet10),
/// the meshes of `meshes/` 12 to 18, but the thin wall of the vase 34.
const MULTIGRID_ITERATIONS: f64 = 18.0;
/// How many times as many they are with a Poisson's ratio nu above this, as a power of `(1 - 2 nu)^-1`: 172 with hex8 of
/// nu = 0.499, and 178 with tet10.
const USUAL_POISSON: f64 = 0.3;
const POISSON_POWER: f64 = 0.45;
/// And with elements more stretched than this, as a power of the stretch.
const USUAL_STRETCH: f64 = 2.0;
const STRETCH_POWER: f64 = 0.2;
/// And in plates of one linear element: 58 of 100 x 100 hex8. Hex20 of 120 thousand unknowns take 18.
const ONE_ACROSS: f64 = 2.0;
/// Products with the matrix that take as long as a cycle: 5 are products with it, the rest is those with P and its
/// transpose, and the coarser levels. On an H200, of 3 to 10 million unknowns, 10 to 13 (hex8) and 15 to 19 (tet4); on
/// two cores of a CPU that others used too, of 20 to 270 thousand, 12 to 25.
const MULTIGRID_PRODUCTS: u64 = 15;
/// The same of quadratic elements, whose next level has their vertices alone.
const QUADRATIC_PRODUCTS: u64 = 6;
/// Iterations with multigrid that take as long as its set-up. On two cores of a CPU 13 and 20 (hex8 of 21 and 207
/// thousand unknowns), 15 and 19 (tet4 of 28 and 273 thousand), 12 and 26 (tet10 of 21 and 207 thousand); on an H200 10 to
/// 13 from a million unknowns on, and 17 of 28 thousand.
const MULTIGRID_SETUP: f64 = 16.0;
/// What a hierarchy takes while it is made, per node, in blocks of the prolongator: 18 on cubes of tet4 and of hex8.
const MULTIGRID_BLOCKS: u64 = 18;
/// What supernodes store, with the zeros that pad them: 1.12 (plates) to 1.25 times the values of L (cubes).
const FACTOR_PADDING: f64 = 1.25;
/// Solutions with a factor, the first and those that refine it.
const SUBSTITUTIONS: f64 = 2.5;
/// On two cores of a CPU, of 30 to 240 thousand unknowns (`warpfem-bench auto`); the rate is a core's. A cube of hex8 with 207 thousand, of
/// 4.0e11 operations, takes 18 s.
const CPU_DIRECT: DirectSpeed = DirectSpeed { unknown: 1.5e-6, entry: 5e-8, value: 2e-9, rate: 11e9, bandwidth: 0.0 };
/// By cuDSS on an H200, whose analysis is on the host.
const GPU_DIRECT: DirectSpeed = DirectSpeed { unknown: 6e-6, entry: 0.0, value: 1e-9, rate: 2e12, bandwidth: 0.0 };
/// Nodes, and supported nodes, that distances are looked at between.
const SAMPLED: usize = 1500;
/// Cells that volumes are looked at of.
const SAMPLED_CELLS: usize = 10_000;

/// Bytes per node of coordinates and tag.
const NODE: u64 = 32;
/// Bytes per element beside its nodes: its tag and its place in a group.
const ELEMENT: u64 = 12;
/// Bytes of a node's or a column's number, of an offset, and of a slot.
const INDEX: u64 = 4;
const OFFSET: u64 = 8;
const SLOT: u64 = 2;
/// Bytes of a value in double precision.
const DOUBLE: u64 = 8;

/// Bytes of a mesh of one kind of element.
pub fn mesh_bytes(kind: ElementKind, nodes: u64, elements: u64) -> u64 {
    let of_elements = elements.saturating_mul(ELEMENT + INDEX * kind.info().n_nodes as u64);
    nodes.saturating_mul(NODE).saturating_add(of_elements)
}

/// Bytes of the slots: where each pair of an element's nodes is in the matrix.
pub fn slot_bytes(kind: ElementKind, elements: u64) -> u64 {
    elements.saturating_mul(SLOT * (kind.info().n_nodes as u64).pow(2))
}

/// Bytes of a matrix of `blocks` blocks of `size` x `size` values.
pub fn matrix_bytes(blocks: u64, size: u64, value: u64) -> u64 {
    blocks.saturating_mul(value * size * size + INDEX)
}

/// Bytes that live at the same time while the iteration runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Nodes and elements, on the host.
    pub mesh: u64,
    /// Elements, cells around nodes, and slots.
    pub lists: u64,
    /// The matrix, with the copies that preconditioners have of it.
    pub matrix: u64,
    /// A multigrid hierarchy, while it is made.
    pub hierarchy: u64,
    /// A direct solver's factor.
    pub factor: u64,
    /// Vectors of the iteration.
    pub vectors: u64,
    /// Displacements, stresses and the like, on the host.
    pub results: u64,
}

impl Memory {
    /// All of it, where the host is the device.
    pub fn on_host(&self) -> u64 {
        self.mesh + self.results + self.on_device()
    }

    /// What lies on a device of its own.
    pub fn on_device(&self) -> u64 {
        self.lists + self.matrix + self.hierarchy + self.factor + self.vectors
    }
}

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
        Speed { bandwidth, reached: 0.8, latency: 20e-6, cycle: 0.0, direct }
    }

    /// A GPU by the bandwidth that its memory clock and bus width make: copies reach 0.9 of it on an H200, where
    /// iterations with multigrid take 0.3 to 0.7 ms of 27 to 30 thousand unknowns.
    pub fn gpu(peak: f64) -> Speed {
        let direct = DirectSpeed { bandwidth: 0.5 * peak, ..GPU_DIRECT };
        Speed { bandwidth: 0.9 * peak, reached: 0.9, latency: 8e-6, cycle: 0.5e-3, direct }
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
    /// Iterations that the set-up of the preconditioner takes as long as; 0 but for multigrid.
    pub setup: f64,
    /// The factor of a direct solution.
    pub fill: Option<Fill>,
}

impl Work {
    /// Of a model that can be solved by conjugate gradients with a preconditioner.
    pub fn of(model: &Model, preconditioner: &str, precision: &str) -> Work {
        let (mesh, size) = (&model.mesh, model.analysis.components() as u64);
        let nodes = mesh.coords.len() as u64;
        let blocks = nodes + 2 * pairs::coupled_pairs(mesh) as u64;
        let unknowns = nodes * size;
        let memory = Memory {
            mesh: nodes * NODE
                + mesh.solids().map(|(_, cells)| mesh_bytes(cells.kind, 0, cells.len() as u64)).sum::<u64>(),
            lists: mesh.solids().map(|(_, cells)| list_bytes(cells.kind, nodes, cells.len() as u64)).sum(),
            matrix: matrix_values(precision).into_iter().map(|value| matrix_bytes(blocks, size, value)).sum(),
            hierarchy: if preconditioner == precond::MULTIGRID { hierarchy_bytes(model) } else { 0 },
            factor: 0,
            vectors: VECTORS * DOUBLE * unknowns,
            results: result_bytes(model),
        };
        let iteration = Some(iteration(model, preconditioner, precision, [blocks, unknowns]));
        let setup = if preconditioner == precond::MULTIGRID { MULTIGRID_SETUP } else { 0.0 };
        Work { unknowns: unknowns as usize, entries: blocks * size * size, memory, iteration, setup, fill: None }
    }

    /// Of a model that can be solved by another method: directly, with a factor of this size, or without a matrix.
    pub fn without_iteration(model: &Model, fill: Option<Fill>) -> Work {
        let precision = model.solver.precision.as_str();
        let mut work = Work { iteration: None, fill, ..Work::of(model, "none", precision) };
        let value = if matches!(precision, "auto" | "double") { DOUBLE } else { DOUBLE / 2 };
        work.memory.factor = fill.map_or(0, |fill| factor_bytes(&fill) * value / DOUBLE);
        work
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
        self.iteration.map(|(n, bytes)| [self.setup, n].map(|n| n * one(bytes)))
    }
}

/// Bytes of a factor in double while it is made.
pub fn factor_bytes(fill: &Fill) -> u64 {
    (FACTOR_PADDING * (DOUBLE * fill.nonzeros) as f64) as u64
}

fn list_bytes(kind: ElementKind, nodes: u64, elements: u64) -> u64 {
    let entries = elements * kind.info().n_nodes as u64;
    slot_bytes(kind, elements) + 2 * INDEX * entries + OFFSET * nodes
}

/// Six stresses and their invariant, or a gradient and its magnitude, per element and per node; there also what was
/// solved for and reactions.
fn result_bytes(model: &Model) -> u64 {
    let elements: usize = model.mesh.solids().map(|(_, cells)| cells.len()).sum();
    let (per_element, per_node) = if model.analysis == Analysis::Laplace { (4, 8) } else { (7, 13) };
    DOUBLE * (per_element * elements as u64 + per_node * model.mesh.coords.len() as u64)
}

/// Bytes of a value of the matrix, and of the copy that a preconditioner in lower precision has of it.
fn matrix_values(precision: &str) -> Vec<u64> {
    match precision {
        "single" => vec![4],
        "mixed" => vec![8, 4],
        "mixed_half" => vec![8, 2],
        _ => vec![8],
    }
}

/// Bytes of a multigrid hierarchy while it is made.
pub fn hierarchy_bytes(model: &Model) -> u64 {
    let (nodes, size) = (model.mesh.coords.len() as u64, model.analysis.components() as u64);
    let modes = size * (size + 1) / 2;
    MULTIGRID_BLOCKS * DOUBLE * size * modes * nodes
}

/// The square of a distance.
fn square(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum()
}

/// The volume of all cells, by that of some.
fn volume(model: &Model) -> f64 {
    let of_cells = |cells: &Cells| {
        let some: Vec<u32> = (0..cells.len() as u32).step_by(cells.len().div_ceil(SAMPLED_CELLS).max(1)).collect();
        quality::measure(&model.mesh, cells, &some) * cells.len() as f64 / some.len().max(1) as f64
    };
    model.mesh.solids().map(|(_, cells)| of_cells(cells)).sum()
}

/// How many iterations, and what each moves.
fn iteration(model: &Model, name: &str, precision: &str, [blocks, unknowns]: [u64; 2]) -> (f64, u64) {
    let solver = &model.solver;
    let values = matrix_values(precision);
    let size = model.analysis.components() as u64;
    let product = |value: Option<&u64>| value.map_or(0, |&value| matrix_bytes(blocks, size, value));
    let own = product(values.first()) + vector_bytes(values[0]) * unknowns;
    if name == precond::MULTIGRID {
        let needed = multigrid_iterations(model) * digits(solver, 1.0);
        let iterations = needed.min(solver.max_iterations as f64);
        let products = [MULTIGRID_PRODUCTS, QUADRATIC_PRODUCTS][usize::from(is_quadratic(&model.mesh))];
        return (iterations, own + products * product(values.last()));
    }
    let jacobi = jacobi_iterations(model).min(solver.max_iterations as f64);
    match precond::has_order(name) {
        true => {
            let order = solver.order as u64;
            (POLYNOMIAL_LOSS * jacobi / (order + 1) as f64, own + order * product(values.last()))
        }
        false => (jacobi, own),
    }
}

/// Iterations with multigrid to [`TOLERANCE`].
fn multigrid_iterations(model: &Model) -> f64 {
    let mesh = &model.mesh;
    let beyond = |value: f64, usual: f64, power: f64| (value / usual).max(1.0).powf(power);
    let mut more = beyond(median_stretch(mesh), USUAL_STRETCH, STRETCH_POWER);
    if model.analysis == Analysis::Elasticity {
        more *= beyond(1.0 - 2.0 * USUAL_POISSON, 1.0 - 2.0 * largest_poisson(model), POISSON_POWER);
        if !is_quadratic(mesh) && one_across(mesh) == 1.0 {
            more *= ONE_ACROSS;
        }
    }
    MULTIGRID_ITERATIONS * more
}

/// Whether all elements are of second order.
fn is_quadratic(mesh: &Mesh) -> bool {
    mesh.solids().map(|(_, cells)| cells.kind.info()).all(|info| info.n_nodes > info.n_corners)
}

/// The share of the elements that have all their corners on the skin: those of a body one element across, and a few in
/// corners and along edges of others.
pub fn one_across(mesh: &Mesh) -> f64 {
    let is_on = skin_nodes(mesh);
    let (mut found, mut all) = (0, 0);
    for (_, cells) in mesh.solids() {
        let n = cells.kind.info().n_corners;
        found += (0..cells.len()).filter(|i| cells.cell(*i)[..n].iter().all(|node| is_on[*node as usize])).count();
        all += cells.len();
    }
    found as f64 / all.max(1) as f64
}

/// Whether each node is on the skin.
fn skin_nodes(mesh: &Mesh) -> Vec<bool> {
    let mut is_on = vec![false; mesh.coords.len()];
    mesh.skin().iter().flat_map(|face| face.nodes()).for_each(|node| is_on[*node as usize] = true);
    is_on
}

/// The largest Poisson's ratio of a model.
pub fn largest_poisson(model: &Model) -> f64 {
    model.materials.iter().map(|material| material.poisson).fold(0.0, f64::max)
}

/// The longest edge over the shortest one, the median of some elements.
pub fn median_stretch(mesh: &Mesh) -> f64 {
    let mut all = Vec::new();
    for (_, cells) in mesh.solids() {
        let edges = cells.kind.info().edges();
        for i in (0..cells.len()).step_by(cells.len().div_ceil(SAMPLED_CELLS).max(1)) {
            let x = |k: usize| mesh.coords[cells.cell(i)[k] as usize];
            let square = |edge: &Vec<usize>| -> f64 {
                let (a, b) = (x(edge[0]), x(edge[1]));
                (0..3).map(|c| (a[c] - b[c]).powi(2)).sum()
            };
            let (low, high) = edges
                .iter()
                .map(square)
                .fold((f64::INFINITY, 0.0), |(low, high), edge: f64| (edge.min(low), edge.max(high)));
            all.push((high / low).sqrt());
        }
    }
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(1.0)
}

/// The share of the nodes of a mesh that are on its skin.
pub fn on_surface(mesh: &Mesh) -> f64 {
    let is_on = skin_nodes(mesh);
    is_on.iter().filter(|is_on| **is_on).count() as f64 / is_on.len().max(1) as f64
}

/// Iterations that a tolerance takes relative to [`TOLERANCE`]; an error within it is `excess` times as small.
fn digits(solver: &SolverOptions, excess: f64) -> f64 {
    solver.residual_tolerance.unwrap_or(excess * solver.tolerance).log(TOLERANCE)
}

/// Iterations with Jacobi's preconditioner, see the module.
pub fn jacobi_iterations(model: &Model) -> f64 {
    let mesh = &model.mesh;
    let solids = mesh.solids().max_by_key(|(_, cells)| cells.len());
    let c = solids.map_or(0.0, |(_, cells)| coefficient(cells.kind, model.analysis));
    let h = (volume(model) / mesh.coords.len() as f64).powf(1.0 / mesh.dim() as f64);
    (c * reach(model) / h * digits(&model.solver, JACOBI_EXCESS)).max(1.0)
}

/// Iterations to a residual of 1e-8 per element on the way from a node to its support: the median of boxes, beams
/// and plates in elasticity, of boxes for potentials.
fn coefficient(kind: ElementKind, analysis: Analysis) -> f64 {
    let (elastic, potential) = match kind {
        ElementKind::Tet4 => (19.0, 6.6),
        ElementKind::Hex8 => (8.4, 2.0),
        ElementKind::Tet10 => (25.0, 6.5),
        ElementKind::Hex20 => (15.0, 2.4),
        ElementKind::Tri3 => (10.0, 4.2),
        ElementKind::Quad4 => (5.6, 1.0),
        ElementKind::Tri6 => (12.0, 2.0),
        _ => (9.0, 2.1),
    };
    if analysis == Analysis::Laplace { potential } else { elastic }
}

/// The largest distance from a node to the nearest one that is supported in the same component: a roller under all of a
/// plate does not keep it from stretching, and long waves in its plane are what takes iterations.
fn reach(model: &Model) -> f64 {
    (0..model.analysis.components()).map(|c| reach_of(model, c)).fold(0.0, f64::max)
}

/// The same of one component; of some nodes where there are many. 0 of one that no support holds: others hold it by
/// their lever arms.
fn reach_of(model: &Model, component: usize) -> f64 {
    let coords = &model.mesh.coords;
    let supports = || model.supports.iter().filter(|support| support.displacement[component].is_some());
    let held: usize = supports().map(|support| support.nodes.len()).sum();
    let all = supports().flat_map(|support| &support.nodes);
    let supported: Vec<[f64; 3]> = all.step_by(held.div_ceil(SAMPLED).max(1)).map(|&n| coords[n as usize]).collect();
    let nearest = |x: &[f64; 3]| supported.iter().map(|s| square(x, s)).fold(f64::INFINITY, f64::min);
    let nodes: Vec<&[f64; 3]> = coords.iter().step_by(coords.len().div_ceil(SAMPLED).max(1)).collect();
    let furthest = nodes.into_par_iter().map(nearest).reduce(|| 0.0, f64::max);
    if furthest.is_finite() { furthest.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn model(case: &str) -> Model {
        Model::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(case)).unwrap()
    }

    fn clamped_box(element: &str, size: [u32; 3], cells: [u32; 3]) -> Model {
        let text = format!(
            "[mesh]\ngenerate = {{ kind = \"box\", element = \"{element}\", size = {size:?}, cells = {cells:?} }}\n\
             [[material]]\nname = \"m\"\nyoung = 1e6\npoisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n"
        );
        let case = crate::model::Case::parse(Path::new("a.toml"), &text).unwrap();
        Model::resolve(&case, case.mesh().unwrap()).unwrap()
    }

    /// Iterations to 1e-8 as SciPy counts them (meshes/README.md).
    #[test]
    fn iterations_of_known_cases_are_met_within_a_factor_of_three() {
        for (case, iterations) in [
            ("cube_463", 141.0),
            ("cube_1149", 184.0),
            ("cube_3419", 288.0),
            ("bracket", 981.0),
            ("car", 794.0),
            ("vase", 3000.0),
            ("hole", 280.0),
        ] {
            let (found, _) = Work::of(&model(&format!("{case}.toml")), "jacobi", "double").iteration.unwrap();
            let off = found / iterations;
            assert!((1.0 / 3.0..3.0).contains(&off), "{case}: {found:.0} against {iterations}");
        }
    }

    /// A plate that lies on a plane of symmetry, of 6,363 nodes, takes 410 iterations, as all of it but one end is free
    /// in its plane.
    #[test]
    fn supports_of_one_component_do_not_shorten_the_way() {
        let text = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [100, 20, 2], cells = [100, 20, 2] }\n\
                    [[material]]\nname = \"m\"\nyoung = 1e3\npoisson = 0.3\n[[support]]\non = \"zmin\"\nfix = \"z\"\n\
                    [[support]]\non = \"xmin\"\nfix = \"xy\"\n";
        let case = crate::model::Case::parse(Path::new("a.toml"), text).unwrap();
        let model = Model::resolve(&case, case.mesh().unwrap()).unwrap();
        let off = jacobi_iterations(&model) / 410.0;
        assert!((1.0 / 3.0..3.0).contains(&off), "{off}");
        let components: Vec<f64> = (0..3).map(|c| reach_of(&model, c)).collect();
        // Some of the supported nodes are looked at, and so the nearest may be the next but one.
        assert!(components[..2] == [100.0; 2] && (2.0..3.0).contains(&components[2]), "{components:?}");
    }

    /// Iterations to 1e-8 with multigrid, measured; within a factor of three.
    #[test]
    fn iterations_with_multigrid_are_met() {
        let expected = |model: &Model| Work::of(model, "amg", "double").iteration.unwrap().0;
        let near = |found: f64, measured: f64| (1.0 / 3.0..3.0).contains(&(found / measured));
        for (case, measured) in [
            ("cube_463", 14.0),
            ("cube_1149", 12.0),
            ("cube_3419", 16.0),
            ("cube_7348", 18.0),
            ("bracket", 18.0),
            ("car", 18.0),
            ("vase", 34.0),
            ("hole", 12.0),
        ] {
            let mut model = model(&format!("{case}.toml"));
            model.solver.residual_tolerance = Some(TOLERANCE);
            assert!(near(expected(&model), measured), "{case}: {}", expected(&model));
        }
        for (element, measured) in [("hex8", 14.0), ("tet4", 16.0), ("tet10", 16.0)] {
            let off = expected(&clamped_box(element, [1; 3], [4; 3])) / measured;
            assert!((0.8..1.4).contains(&off), "{element}: {off}");
        }
    }

    /// Iterations to 1e-8, measured, where multigrid has a hard time; within a factor of two.
    #[test]
    fn iterations_of_multigrid_are_met_where_they_are_many() {
        let cube = |element, size, cells, poisson| {
            let mut model = clamped_box(element, size, cells);
            model.materials[0].poisson = poisson;
            model
        };
        for (model, measured) in [
            (cube("hex8", [1, 1, 1], [20; 3], 0.499), 172.0),
            (cube("tet10", [1, 1, 1], [10; 3], 0.499), 178.0),
            (cube("hex8", [20, 1, 1], [24; 3], 0.3), 32.0),
            (cube("tet4", [20, 1, 1], [20; 3], 0.3), 36.0),
            (cube("hex8", [100, 100, 1], [100, 100, 1], 0.3), 58.0),
            (cube("tet10", [40, 40, 1], [40, 40, 1], 0.3), 32.0),
        ] {
            let off = multigrid_iterations(&model) / measured;
            assert!((0.5..2.0).contains(&off), "{measured}: {off}");
        }
    }

    /// Seconds of set-up and of an iteration on an H200, measured, of 3 million unknowns; within a factor of two.
    #[test]
    fn time_of_multigrid_is_met() {
        let speed = Speed::gpu(4.8e12);
        for (element, rows, setup, iteration) in [("tet4", 14.8, 73.8e-3, 6.0e-3), ("hex8", 26.5, 83.8e-3, 7.4e-3)] {
            let mut work = Work::of(&clamped_box(element, [1; 3], [2; 3]), "amg", "double");
            let (n, nodes) = (work.iteration.unwrap().0, 1_030_301.0);
            let own = matrix_bytes((nodes * rows) as u64, 3, 8) + vector_bytes(DOUBLE) * 3 * nodes as u64;
            work.iteration = Some((n, own + MULTIGRID_PRODUCTS * matrix_bytes((nodes * rows) as u64, 3, 8)));
            let [found, all] = work.seconds(&speed).unwrap();
            for off in [found / setup, all / n / iteration] {
                assert!((0.5..2.0).contains(&off), "{element}: {found} s, {} s", all / n);
            }
        }
    }

    /// Peaks of the program on the CPU, measured.
    #[test]
    fn memory_of_boxes_is_met() {
        for (element, cells, peak) in
            [("hex8", 50, 363e6), ("tet4", 50, 289e6), ("tet10", 24, 359e6), ("hex20", 24, 316e6)]
        {
            let model = clamped_box(element, [1, 1, 1], [cells; 3]);
            let off = Work::of(&model, "jacobi", "double").memory.on_host() as f64 / peak;
            assert!((0.8..1.2).contains(&off), "{element}: {off}");
        }
    }

    /// The same of the peak above Jacobi's, with multigrid.
    #[test]
    fn memory_of_hierarchies_is_met() {
        for (element, more) in [("hex8", 179e6), ("tet4", 177e6)] {
            let model = clamped_box(element, [1, 1, 1], [40; 3]);
            let [jacobi, amg] = ["jacobi", "amg"].map(|name| Work::of(&model, name, "double").memory.on_host() as f64);
            let off = (amg - jacobi) / more;
            assert!((0.8..1.2).contains(&off), "{element}: {off}");
        }
    }

    #[test]
    fn time_is_bytes_over_bandwidth_and_operations_over_their_rate() {
        let mut cube = model("cube_463.toml");
        let work = Work::of(&cube, "jacobi", "double");
        let (n, bytes) = work.iteration.unwrap();
        let direct = DirectSpeed { unknown: 1e-3, entry: 1e-5, value: 1e-6, rate: 1e9, bandwidth: 1e9 };
        let speed = Speed { bandwidth: 1e9, reached: 0.5, latency: 1e-3, cycle: 1e-2, direct };
        assert_eq!(work.seconds(&speed), Some([0.0, n * (1e-3 + bytes as f64 / 0.5e9)]));
        let multigrid = Work::of(&cube, "amg", "double");
        let (iterations, moved) = multigrid.iteration.unwrap();
        let one = 1e-3 + 1e-2 + moved as f64 / 0.5e9;
        assert_eq!(multigrid.seconds(&speed), Some([MULTIGRID_SETUP * one, iterations * one]));
        // Values of 3 x 3 blocks and their columns, and eight and a half words per unknown.
        assert_eq!((work.memory.matrix % 76, work.memory.matrix + 68 * work.unknowns as u64), (0, bytes));
        cube.solver.precision = "mixed".into();
        let (fewer, more) = Work::of(&cube, "chebyshev", "mixed").iteration.unwrap();
        assert!(fewer < n / 4.0 && more > 3 * bytes);
        let fill = Fill { nonzeros: 1_000_000, operations: 3e9 };
        let direct = Work::without_iteration(&cube, Some(fill));
        let before = 1e-3 * cube.mesh.coords.len() as f64 * 3.0 + 1e-5 * direct.entries as f64;
        let expected = [before + 1.0 + 3.0, 0.04];
        let found = direct.seconds(&speed).unwrap();
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
        assert_eq!(Work::without_iteration(&cube, None).seconds(&speed), None);
    }
}
