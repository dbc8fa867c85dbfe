//! What `auto` stands for: how a model is solved on a device, and why. The one place where that is decided.
//!
//! A direct solution costs what its factor does, whatever the body is made of; how long an iteration takes depends on
//! shapes, materials and supports, and is known only roughly beforehand. So the size of the factor decides: it is
//! counted from the graph of the nodes ([`Fill`]) before any number is computed. Flat elements and materials that are
//! hardly compressible take multigrid the most iterations, and are worth a larger factor.
//!
//! | where | direct if |
//! | --- | --- |
//! | anywhere | there are at most [`Limits::small`] unknowns |
//! | the CPU | L has at most [`Limits::easy`] values per unknown; more of a model that iterations find hard |
//! | a GPU with cuDSS | the same with limits of its own |
//! | always | the factor takes at most half of the memory that is free |
//!
//! All else is iterated on, by `preconditioner`.

use crate::assembly::symbolic;
use crate::backend::{Backend, Device, Factors, device, host_memory};
use crate::estimate::{self, STRETCHED};
use crate::model::{Analysis, Model, SolverOptions};
use crate::precond;
use crate::solve::direct::{Dissection, Fill};

/// Values of L per unknown up to which a direct solution is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Unknowns up to which any factor is made in some hundredths of a second.
    pub small: usize,
    /// Of any model.
    pub easy: f64,
    /// Of a body one element thick, or of stretched elements.
    pub flat: f64,
    /// Where Poisson's ratio is near one half.
    pub incompressible: f64,
    /// Of a potential.
    pub potential: f64,
    /// Unknowns from which on the factor is not counted, as it would not be taken.
    pub most: usize,
}

/// On two cores, user and system seconds for fifteen kinds of bodies of 10 to 120 thousand unknowns (docs/solver.md, "What
/// `auto` chooses"): direct is up to 3.6 times as fast as multigrid for plates of one flat element, and a quarter faster with
/// 548 values per unknown and nu = 0.499; multigrid is 1.9 times as fast for beams from 216 on, and 3 times or more for
/// compact bodies. `warpfem-bench auto` measures them.
pub const CPU: Limits =
    Limits { small: 6_000, easy: 150.0, flat: 320.0, incompressible: 700.0, potential: 100.0, most: usize::MAX };

/// On an H200 multigrid takes 0.02 to 0.07 s of 10 to 100 thousand unknowns, and 0.17 s where nu = 0.499; the analysis of a
/// factor by cuDSS, on the host, takes longer (docs/solver.md, "Direct solvers").
pub const GPU: Limits =
    Limits { small: 3_000, easy: 0.0, flat: 0.0, incompressible: 400.0, potential: 0.0, most: 100_000 };

/// Iterations with Jacobi that take as long as a whole solution with multigrid, its set-up included:
/// `a + b / (unknowns + c)`.
///
/// On an H200, once kernels are loaded, some 1,700 for bodies of 10 thousand unknowns, 1,200 of 100 thousand and 550 of a
/// million; 303 for a cube of hex8 with 3.09 million. Each level costs its launches, which is what b is of. On two cores
/// of a CPU 420 (hex8) and 590 (tet4) for 207 thousand, 780 for a bracket of 27 thousand.
const BREAK_EVEN_CPU: [f64; 3] = [600.0, 4e6, 0.0];
const BREAK_EVEN_GPU: [f64; 3] = [300.0, 3e8, 2e5];
/// The same in mixed precision, in which a polynomial is up to 2.3 times as fast as Jacobi, and multigrid 1.2 times.
const MIXED_PACE: f64 = 1.3;

/// Compact bodies in space, with fewer of their nodes on the surface, are known not to have a factor within the limits: a
/// cube has 36 elements along an edge then, and 1,050 values per unknown; plates and beams have more.
const COMPACT: f64 = 1.0 / 6.0;
/// Thin bodies have more of their nodes on the surface.
const MOSTLY_SURFACE: f64 = 0.5;
/// Iterations with Jacobi below which a potential is iterated on: they take less time than the analysis of a factor.
const FEW_ITERATIONS: f64 = 200.0;

/// Poisson's ratios above this take multigrid many iterations: 39 with 0.49, and 115 with 0.499.
const INCOMPRESSIBLE: f64 = 0.497;
/// And plates of one quadratic element that is more stretched than this: 18 with tet10 as long as thick, and 43 three times
/// as long.
const FLAT: f64 = 2.0;
/// Where more of the elements than this are one across, the body counts as thin.
const THIN_SHARE: f64 = 0.05;
/// Where most are, multigrid has a hard time. A beam of 3 x 3 tet10 across, where it has not, has a ninth of them in its corners.
const MOSTLY_THIN: f64 = 0.5;
/// What is said of either.
const ONE_ACROSS: &str = "one element across where it is thin";

/// How a system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Preconditioned conjugate gradients.
    #[default]
    Cg,
    /// Cholesky factors.
    Direct,
    /// Element by element, without a matrix.
    Femses,
}

impl Method {
    /// All there are.
    pub const ALL: [Method; 3] = [Method::Cg, Method::Direct, Method::Femses];

    /// Its name in the case file.
    pub fn name(self) -> &'static str {
        match self {
            Method::Cg => "cg",
            Method::Direct => "direct",
            Method::Femses => "femses",
        }
    }

    /// The method of this name; none of `auto`.
    pub fn from_name(name: &str) -> Option<Method> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What a decision depends on beside the model.
pub struct DeviceFacts<'a> {
    /// Whether its memory is the host's.
    pub on_host: bool,
    /// Bytes that can be had, where that is known.
    pub free: Option<u64>,
    /// Its direct solver; to ask may load a library.
    pub factors: Box<dyn Fn() -> Factors + 'a>,
}

impl<'a> DeviceFacts<'a> {
    /// Of a device that is open.
    pub fn of<B: Backend>(backend: &'a B) -> Self {
        DeviceFacts { on_host: B::ON_HOST, free: backend.free_memory(), factors: Box::new(move || backend.factors()) }
    }

    /// Of a device that is not: a GPU is taken to have memory enough.
    pub fn guess(device: Device) -> Self {
        let on_host = device.resolve() == Device::Cpu;
        let free = if on_host { host_memory::available() } else { None };
        DeviceFacts { on_host, free, factors: Box::new(move || device::factors(device)) }
    }

    fn limits(&self) -> Limits {
        if self.on_host { CPU } else { GPU }
    }
}

/// How a model is solved, with every `auto` decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The method.
    pub method: Method,
    /// The preconditioner; `none` of other methods than conjugate gradients.
    pub preconditioner: String,
    /// The precision.
    pub precision: String,
    /// Why, in words: `direct: a thin body, cheap to factorise (227 values per unknown)`.
    pub reason: String,
    /// The size of the factor, if it was counted.
    pub fill: Option<Fill>,
}

/// What stands for the reason where there was nothing to decide.
pub const AS_ASKED: &str = "as asked for";

/// Decides how a model is solved on a device. Whether names exist is for others to say.
pub fn decide(model: &Model, device: &DeviceFacts) -> Decision {
    match Method::from_name(&model.solver.method) {
        Some(Method::Cg) => iterate(model, device, None, None),
        Some(method) => {
            let reason = format!("{}: {AS_ASKED}", method.name());
            Decision { method, preconditioner: "none".into(), precision: double_or(&model.solver), reason, fill: None }
        }
        None => {
            let Verdict { takes, why, fill } = factor(model, device);
            if !takes {
                return iterate(model, device, why, fill);
            }
            let reason = format!("direct: {}", why.unwrap_or_default());
            let (preconditioner, precision) = ("none".into(), double_or(&model.solver));
            Decision { method: Method::Direct, preconditioner, precision, reason, fill }
        }
    }
}

/// The same where a factor was decided on and could not be made.
pub fn without_factor(model: &Model, device: &DeviceFacts, why: String) -> Decision {
    iterate(model, device, Some(why), None)
}

/// The size of a model's factor, by the graph of its nodes.
pub fn fill(model: &Model) -> Fill {
    let graph = symbolic::neighbours(&model.mesh);
    let dissection = Dissection::new(&graph, &model.mesh.coords);
    Fill::of(&graph, &dissection, model.analysis.components())
}

/// Whether a factor is taken, and why, where there is a reason worth saying.
struct Verdict {
    takes: bool,
    why: Option<String>,
    fill: Option<Fill>,
}

impl Verdict {
    /// Not taken, and not counted.
    fn no(why: Option<String>) -> Verdict {
        Verdict { takes: false, why, fill: None }
    }
}

/// Judges a factor by what is known of it at once.
fn factor(model: &Model, device: &DeviceFacts) -> Verdict {
    let solver = &model.solver;
    if solver.preconditioner != "auto" || double_or(solver) != "double" || solver.acceleration != "none" {
        return Verdict::no(None);
    }
    let (unknowns, limits) = (unknowns(model), device.limits());
    if unknowns <= limits.small {
        return match (device.factors)() {
            Factors::None => Verdict::no(None),
            _ => Verdict { takes: true, why: Some("a small model".into()), fill: None },
        };
    }
    let is_potential = model.analysis == Analysis::Laplace;
    let most = if is_potential { limits.potential } else { limits.easy.max(limits.flat).max(limits.incompressible) };
    if unknowns > limits.most || most == 0.0 {
        return Verdict::no(None);
    }
    if is_potential && estimate::jacobi_iterations(model) < FEW_ITERATIONS {
        return Verdict::no(None);
    }
    let on_surface = estimate::on_surface(&model.mesh);
    if model.mesh.dim() == 3 && on_surface < COMPACT {
        let why = format!(
            "a compact body ({:.0} % of its nodes on the surface), too costly to factorise",
            100.0 * on_surface
        );
        return Verdict::no(Some(why));
    }
    match (device.factors)() {
        Factors::Sparse => counted(model, device, on_surface),
        _ => Verdict::no(None),
    }
}

/// Judges a factor by its size.
fn counted(model: &Model, device: &DeviceFacts, on_surface: f64) -> Verdict {
    let (fill, limits) = (fill(model), device.limits());
    let verdict = |takes, why| Verdict { takes, why: Some(why), fill: Some(fill) };
    let bytes = estimate::factor_bytes(&fill);
    if device.free.is_some_and(|free| bytes > free / 2) {
        return verdict(false, format!("too little memory for a factor of {}", warpfem_text::bytes(bytes)));
    }
    let per = fill.nonzeros as f64 / unknowns(model) as f64;
    let is_potential = model.analysis == Analysis::Laplace;
    if per <= if is_potential { limits.potential } else { limits.easy } {
        let kind = match () {
            () if model.mesh.dim() == 2 => "a plane problem",
            () if on_surface > MOSTLY_SURFACE => "a thin body",
            () => "a body of few elements",
        };
        return verdict(true, format!("{kind}, cheap to factorise ({per:.0} values per unknown)"));
    }
    match hard(model, limits).filter(|(most, _)| !is_potential && per <= *most) {
        Some((_, why)) => {
            verdict(true, format!("{why}, which iterations find hard (the factor has {per:.0} values per unknown)"))
        }
        None => verdict(false, format!("too costly to factorise ({per:.0} values per unknown)")),
    }
}

/// The limit of a model that takes multigrid many iterations, and why it does.
fn hard(model: &Model, limits: Limits) -> Option<(f64, String)> {
    let poisson = estimate::largest_poisson(model);
    if poisson > INCOMPRESSIBLE {
        return Some((limits.incompressible, format!("Poisson's ratio is {poisson}")));
    }
    let stretch = estimate::median_stretch(&model.mesh);
    if stretch > STRETCHED {
        return Some((limits.flat, format!("elements are {stretch:.0} times as long as wide")));
    }
    let is_even = estimate::is_quadratic(&model.mesh) && stretch <= FLAT;
    let is_hard = !is_even && estimate::one_across(&model.mesh) >= MOSTLY_THIN;
    is_hard.then(|| (limits.flat, ONE_ACROSS.into()))
}

fn unknowns(model: &Model) -> usize {
    model.mesh.coords.len() * model.analysis.components()
}

/// Conjugate gradients; `why` not a factor.
fn iterate(model: &Model, device: &DeviceFacts, why: Option<String>, fill: Option<Fill>) -> Decision {
    let (name, chosen) = preconditioner(model, device.on_host);
    let reason = match (why, chosen) {
        (Some(why), Some(chosen)) => format!("{name}: {why}; {chosen}"),
        (why, chosen) => format!("{name}: {}", why.or(chosen).unwrap_or_else(|| AS_ASKED.into())),
    };
    let precision = if is_rounded(model, device, &name) { "mixed".into() } else { double_or(&model.solver) };
    Decision { method: Method::Cg, preconditioner: name, precision, reason, fill }
}

/// The precision asked for; double if none is.
pub(crate) fn double_or(solver: &SolverOptions) -> String {
    if solver.precision == "auto" { "double" } else { &solver.precision }.into()
}

/// Unknowns from which on multigrid's cycle is bound by the memory of a GPU.
const MANY: usize = 200_000;
/// Bytes per unknown of a matrix, a copy of it in single precision and a hierarchy, at most: those of hex20.
const WITH_A_COPY: u64 = 5_000;
/// Ratio of stiffnesses up to which single precision tells materials apart.
const MOST_RATIO: f64 = 1e3;

/// How much more of a compact body's nodes are on the surface than of a cube's. A plate 50 times as wide as thick has 4.5
/// times as many there, a beam 100 times as long as thick 3.
const MORE_SURFACE: f64 = 1.5;

/// Whether multigrid's cycle is in single precision where nobody asked for another: on an H200 that saves a sixth to a
/// fifth of the time of cubes of 0.8 to 3 million unknowns, at as many iterations. A beam 100 times as long as thick takes
/// 62 iterations instead of 10, and one of stretched hexahedra, 80 x 80 x 80, takes 18 instead of 12: so compact bodies
/// of compact elements only.
fn is_rounded(model: &Model, device: &DeviceFacts, preconditioner: &str) -> bool {
    let n = unknowns(model);
    let is_asked = model.solver.precision != "auto" || preconditioner != precond::MULTIGRID;
    if is_asked || device.on_host || n < MANY || model.mesh.dim() != 3 || model.analysis == Analysis::Laplace {
        return false;
    }
    let has_room = device.free.is_none_or(|free| free > WITH_A_COPY * n as u64);
    let of_a_cube = 6.0 / (model.mesh.coords.len() as f64).cbrt();
    let is_compact = || estimate::on_surface(&model.mesh) <= MORE_SURFACE * of_a_cube;
    stiffness_ratio(model) <= MOST_RATIO
        && has_room
        && estimate::median_stretch(&model.mesh) <= STRETCHED
        && is_compact()
}

/// How many times the softest material's modulus the hardest one's is.
fn stiffness_ratio(model: &Model) -> f64 {
    let young = || model.materials.iter().map(|material| material.young);
    young().fold(0.0, f64::max) / young().fold(f64::INFINITY, f64::min)
}

/// Unknowns up to which an iteration with Jacobi costs too little to look further.
const FEW_UNKNOWNS: usize = 3_000;
/// Ratio of stiffnesses from which on Jacobi's estimate of the error is too rough for the stress of the hard material: with
/// 1e6 it ends after 20,000 iterations, where multigrid takes 25.
const FAR_APART: f64 = 1e5;

/// The preconditioner of conjugate gradients, and why, where that is decided here. `auto` is multigrid where more
/// iterations with Jacobi are expected than take as long as a whole solution with multigrid. For elastic bodies in double
/// precision it always is on the CPU, as it was as fast or faster on each of those that [`CPU`] is of, and on a GPU where
/// they are one element thick, which takes Jacobi thousands of iterations, however few unknowns they have, or of materials
/// far apart.
fn preconditioner(model: &Model, on_host: bool) -> (String, Option<String>) {
    let solver = &model.solver;
    if solver.preconditioner != "auto" {
        return (solver.preconditioner.clone(), None);
    }
    let precision = double_or(solver);
    let precision = precision.as_str();
    let other = precond::without_multigrid(precision);
    let unknowns = unknowns(model);
    // Single precision throughout seldom comes as far as multigrid pays, and 16 bits are asked for to compare.
    let pace = match precision {
        "double" => 1.0,
        "mixed" => MIXED_PACE,
        _ => return (other.into(), Some(format!("the preconditioner of {precision} precision"))),
    };
    let even = pace * break_even(unknowns, on_host);
    let iterations = estimate::jacobi_iterations(model);
    let is_elastic = model.analysis != Analysis::Laplace;
    let is_thin = || estimate::one_across(&model.mesh) >= THIN_SHARE;
    if is_elastic && precision == "double" && unknowns > FEW_UNKNOWNS {
        if on_host {
            return (precond::MULTIGRID.into(), Some("multigrid is the fastest iteration on a CPU".into()));
        }
        if is_thin() {
            return (precond::MULTIGRID.into(), Some(ONE_ACROSS.into()));
        }
        let ratio = stiffness_ratio(model);
        if ratio >= FAR_APART {
            return (precond::MULTIGRID.into(), Some(format!("one material is {ratio:.0e} times as stiff as another")));
        }
    }
    let beside =
        format!("about {iterations:.0} iterations with Jacobi are expected, and multigrid costs as much as {even:.0}");
    match iterations > even {
        true => (precond::MULTIGRID.into(), Some(beside)),
        false => (other.into(), Some(beside)),
    }
}

/// See [`BREAK_EVEN_CPU`].
fn break_even(unknowns: usize, on_host: bool) -> f64 {
    let [a, b, c] = if on_host { BREAK_EVEN_CPU } else { BREAK_EVEN_GPU };
    a + b / (unknowns as f64 + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Case;
    use std::path::Path;

    /// A clamped box of these cells with a Poisson's ratio.
    fn clamped(element: &str, size: [f64; 3], cells: [u32; 3], poisson: f64) -> Model {
        let text = format!(
            "[mesh]\ngenerate = {{ kind = \"box\", element = \"{element}\", size = {size:?}, cells = {cells:?} }}\n\
             [[material]]\nname = \"m\"\nyoung = 1e6\npoisson = {poisson}\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n"
        );
        let case = Case::parse(Path::new("a.toml"), &text).unwrap();
        Model::resolve(&case, case.mesh().unwrap()).unwrap()
    }

    fn facts(on_host: bool, free: Option<u64>, factors: Factors) -> DeviceFacts<'static> {
        DeviceFacts { on_host, free, factors: Box::new(move || factors) }
    }

    fn cpu() -> DeviceFacts<'static> {
        facts(true, None, Factors::Sparse)
    }

    /// What is taken, in a word, and why.
    fn taken(model: &Model, device: &DeviceFacts) -> (String, String) {
        let Decision { method, preconditioner, reason, .. } = decide(model, device);
        (if method == Method::Cg { preconditioner } else { method.name().into() }, reason)
    }

    #[track_caller]
    fn assert_taken(model: &Model, device: &DeviceFacts, expected: &str, words: &str) {
        let (taken, reason) = taken(model, device);
        assert!(taken == expected && reason.starts_with(expected) && reason.contains(words), "{taken}: {reason}");
    }

    #[test]
    fn thin_bodies_are_solved_directly_and_compact_ones_by_multigrid_on_a_cpu() {
        assert_taken(&clamped("hex8", [1.0; 3], [6; 3], 0.3), &cpu(), "direct", "a small model");
        let plate = clamped("hex8", [1.0, 1.0, 0.01], [40, 40, 1], 0.3);
        assert_taken(&plate, &cpu(), "direct", "a thin body, cheap to factorise (1");
        let fill = decide(&plate, &cpu()).fill.unwrap();
        assert_eq!(fill, super::fill(&plate));
        let beam = clamped("tet10", [40.0, 1.0, 1.0], [80, 2, 2], 0.3);
        assert_taken(&beam, &cpu(), "direct", "a thin body");
        // 41 cells: 14 % of the nodes are on the surface, and no graph is looked at.
        assert_taken(&clamped("hex8", [1.0; 3], [41; 3], 0.3), &cpu(), "amg", "a compact body (14 %");
        let cube = clamped("hex8", [1.0; 3], [26; 3], 0.3);
        assert_taken(&cube, &cpu(), "amg", "too costly to factorise");
        // Multigrid takes ten iterations for a beam, whose factor is larger than a plate's.
        let beam = clamped("hex8", [100.0, 1.25, 1.25], [300, 5, 5], 0.3);
        assert_taken(&beam, &cpu(), "amg", "too costly to factorise (1");
    }

    #[test]
    fn what_iterations_find_hard_may_have_a_larger_factor() {
        let hard = |size, poisson| clamped("hex8", size, [20; 3], poisson);
        assert_taken(&hard([1.0; 3], 0.3), &cpu(), "amg", "too costly to factorise");
        assert_taken(
            &hard([1.0; 3], 0.499),
            &cpu(),
            "direct",
            "Poisson's ratio is 0.499, which iterations find hard (the factor has",
        );
        let why = |model: &Model| super::hard(model, CPU).map(|(_, why)| why);
        assert_eq!(why(&hard([1.0; 3], 0.3)), None);
        let stretched = why(&hard([20.0, 1.0, 1.0], 0.3)).unwrap();
        assert_eq!(stretched, "elements are 20 times as long as wide");
        let sheet = |size| why(&clamped("hex20", [size, size, 1.0], [8, 8, 1], 0.3));
        assert_eq!(sheet(20.0).unwrap(), "one element across where it is thin");
        assert_eq!(sheet(8.0), None);
    }

    #[test]
    fn a_factor_needs_memory_and_a_solver() {
        let plate = clamped("hex8", [1.0, 1.0, 0.01], [40, 40, 1], 0.3);
        let bytes = estimate::factor_bytes(&fill(&plate));
        assert_taken(&plate, &facts(true, Some(2 * bytes), Factors::Sparse), "direct", "thin");
        assert_taken(
            &plate,
            &facts(true, Some(2 * bytes - 1), Factors::Sparse),
            "amg",
            "too little memory for a factor",
        );
        assert_taken(&plate, &facts(true, None, Factors::None), "amg", "");
        let small = clamped("hex8", [1.0; 3], [6; 3], 0.3);
        assert_taken(&small, &facts(false, None, Factors::None), "jacobi", "iterations with Jacobi");
        for factors in [Factors::Dense, Factors::Sparse] {
            assert_taken(&small, &facts(false, None, factors), "direct", "a small model");
        }
    }

    #[test]
    fn what_is_named_is_taken() {
        let mut beam = clamped("hex8", [50.0, 1.0, 1.0], [150, 3, 3], 0.3);
        // A limit does not make another choice the better one.
        (beam.solver.max_iterations, beam.solver.residual_tolerance) = (100, Some(1e-8));
        for (method, name, precision, expected) in [
            ("auto", "auto", "double", "direct"),
            ("auto", "amg", "double", "amg"),
            ("auto", "none", "double", "none"),
            ("cg", "auto", "double", "amg"),
            ("cg", "none", "double", "none"),
            ("auto", "auto", "mixed", "amg"),
            ("cg", "auto", "mixed_half", "chebyshev"),
            ("auto", "auto", "single", "jacobi"),
            ("direct", "auto", "double", "direct"),
            ("direct", "auto", "mixed", "direct"),
            ("femses", "auto", "double", "femses"),
        ] {
            (beam.solver.method, beam.solver.preconditioner) = (method.into(), name.into());
            beam.solver.precision = precision.into();
            let (found, reason) = taken(&beam, &cpu());
            assert!(found == expected, "{method} {name} {precision}: {found}, {reason}");
            let is_named = method == "direct" || method == "femses" || name != "auto";
            assert_eq!(reason.ends_with(AS_ASKED), is_named, "{reason}");
        }
    }

    /// A cube of hex8 with 3.09 million unknowns on an H200: multigrid takes as long as 303 iterations with Jacobi, of
    /// which 910 are needed.
    #[test]
    fn multigrid_is_taken_where_it_is_faster_on_a_gpu() {
        let even = break_even(3_090_903, false);
        assert!((250.0..450.0).contains(&even), "{even}");
        let cube = clamped("hex8", [1.0; 3], [12; 3], 0.3);
        let of_100 = estimate::jacobi_iterations(&cube) * 100.0 / 12.0;
        assert!(of_100 > 1.5 * even, "{of_100}");
        // So few unknowns take less time with Jacobi, but for plates.
        assert_taken(&cube, &facts(false, None, Factors::None), "jacobi", "iterations with Jacobi");
        let plate = clamped("hex8", [1.0, 1.0, 0.01], [40, 40, 1], 0.3);
        assert_taken(&plate, &facts(false, None, Factors::Sparse), "amg", ONE_ACROSS);
    }

    #[test]
    fn the_cycle_of_large_compact_bodies_is_in_single_precision_on_a_gpu() {
        let precision = |model: &Model, device: &DeviceFacts| decide(model, device).precision;
        let gpu = facts(false, Some(80 << 30), Factors::None);
        let mut cube = clamped("hex8", [1.0; 3], [44; 3], 0.3);
        cube.solver.preconditioner = "amg".into();
        assert_eq!((precision(&cube, &gpu), precision(&cube, &cpu())), ("mixed".into(), "double".into()));
        assert_eq!(precision(&cube, &facts(false, Some(1 << 30), Factors::None)), "double");
        let mut soft = cube.materials[0].clone();
        soft.young *= 1e-4;
        cube.materials.push(soft);
        assert_eq!(precision(&cube, &gpu), "double");
        cube.solver.precision = "single".into();
        assert_eq!(precision(&cube, &gpu), "single");
        let mut beam = clamped("hex8", [100.0, 1.0, 1.0], [1000, 8, 8], 0.3);
        beam.solver.preconditioner = "amg".into();
        assert_eq!(precision(&beam, &gpu), "double");
        let mut stretched = clamped("hex8", [20.0, 1.0, 1.0], [44; 3], 0.3);
        stretched.solver.preconditioner = "amg".into();
        assert_eq!(precision(&stretched, &gpu), "double");
    }

    #[test]
    fn potentials_are_solved_directly_in_the_plane() {
        let potential = |mesh: &str| {
            let text = format!(
                "[mesh]\ngenerate = {{ {mesh} }}\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 1.0\n\
                 [[support]]\non = \"xmin\"\nvalue = 0.0\n[source]\nvalue = 1.0\n"
            );
            let case = Case::parse(Path::new("a.toml"), &text).unwrap();
            Model::resolve(&case, case.mesh().unwrap()).unwrap()
        };
        let square = potential("kind = \"rectangle\", element = \"tri3\", size = [1.0, 1.0], cells = [100, 100]");
        assert_taken(&square, &cpu(), "direct", "a plane problem");
        let cube = potential("kind = \"box\", element = \"hex8\", size = [1.0, 1.0, 1.0], cells = [20, 20, 20]");
        assert_taken(&cube, &cpu(), "jacobi", "iterations with Jacobi");
    }
}
