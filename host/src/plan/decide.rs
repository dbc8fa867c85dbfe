//! What `auto` stands for: how a model is solved on a device, and why. `expected` predicts what takes the place of
//! multigrid where memory is short, and the solution finds it out.
//!
//! A direct solution costs what its factor does, whatever the body is made of; how long an iteration takes depends on
//! shapes, materials and supports, and is known only roughly beforehand. So the size of the factor decides: it is
//! counted from the graph of the nodes ([`Fill`]) before any number is computed. Flat elements and materials that are
//! hardly compressible take multigrid the most iterations, and are worth a larger factor.
//!
//! | where | direct if |
//! | --- | --- |
//! | with a direct solver | there are at most [`Limits::small`] unknowns |
//! | the CPU | L has at most [`Limits::easy`] values per unknown; more of a model that iterations find hard |
//! | a GPU with cuDSS | the same with limits of its own |
//! | either, of more unknowns | besides, the factor takes at most half of the memory that is free |
//!
//! All else is iterated on, by `preconditioner`.

use super::facts::DeviceFacts;
use super::iterations::jacobi_iterations;
use super::memory::factor_bytes;
use super::operator;
use super::rounding::stiffness_ratio;
use super::shape::{STRETCHED, is_quadratic, largest_poisson, median_stretch, on_surface, one_across};
use crate::assembly::symbolic;
use crate::device::Factors;
use crate::model::{Model, SolverOptions, Study};
use crate::precond;
use crate::result::choices::{Acceleration, Method, Operator, Ordering, Precision, Preconditioner, Strategy};
use crate::result::{Body, Fill, Hard, Plan, Reason};
use crate::solve::direct::Dissection;
use crate::sparse;

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

impl DeviceFacts<'_> {
    fn limits(&self) -> Limits {
        if self.on_host { CPU } else { GPU }
    }
}

impl Plan {
    /// As far as nothing has to be decided by the body: conjugate gradients, with a matrix as asked for.
    pub fn plain(model: &Model, on_host: bool) -> Plan {
        let solver = &model.solver;
        let kinds = model.mesh.solids().map(|(_, cells)| cells.kind);
        Plan {
            study: model.study,
            method: Method::Cg,
            acceleration: Acceleration::None,
            preconditioner: Some(precond::AUTO),
            order: None,
            precision: double_or(solver),
            operator: Some(Operator::Assembled),
            format: Some(solver.format.unwrap_or(sparse::AUTO)),
            ordering: solver.ordering.unwrap_or_else(|| Ordering::auto(&model.mesh)),
            assembly: Some(solver.assembly.unwrap_or_else(|| Strategy::auto(on_host, model.form(), kinds))),
            fill: None,
            reasons: Vec::new(),
        }
    }

    fn direct(model: &Model, device: &DeviceFacts, why: Option<Reason>, fill: Option<Fill>) -> Plan {
        let reasons = why.into_iter().collect();
        Plan { method: Method::Direct, preconditioner: None, fill, reasons, ..Plan::plain(model, device.on_host) }
    }

    fn femses(model: &Model, device: &DeviceFacts) -> Plan {
        let acceleration = model.solver.acceleration;
        Plan {
            method: Method::Femses,
            acceleration,
            preconditioner: None,
            order: (acceleration == Acceleration::Cg).then_some(model.solver.order),
            operator: None,
            format: None,
            assembly: None,
            ..Plan::plain(model, device.on_host)
        }
    }

    /// LOBPCG with a matrix, by a factor where statics would take one, or else by multigrid, unless another preconditioner is
    /// asked for.
    fn of_modes(model: &Model, device: &DeviceFacts) -> Plan {
        match model.solver.method {
            Some(Method::Direct) => return Plan::direct(model, device, None, None),
            Some(_) => {}
            None => {
                if let Verdict { takes: true, why, fill } = factor(model, device) {
                    return Plan::direct(model, device, why, fill);
                }
            }
        }
        let asked = model.solver.preconditioner;
        let reasons = if asked.is_none() { vec![Reason::Modes] } else { vec![] };
        let mut plan = Plan { reasons, ..Plan::plain(model, device.on_host) };
        plan.precondition(asked.unwrap_or(Preconditioner::Amg), model.solver.order);
        plan.rounded(model, device)
    }

    /// Takes another preconditioner instead of multigrid, for which there is too little memory.
    pub fn without_multigrid(&mut self, order: usize) {
        self.precondition(precond::without_multigrid(self.precision), order);
        self.reasons.retain(|reason| *reason == Reason::FactorFailed);
        self.reasons.push(Reason::MultigridTooLarge);
    }

    /// Takes another preconditioner.
    pub fn precondition(&mut self, by: Preconditioner, order: usize) {
        (self.preconditioner, self.order) = (Some(by), precond::has_order(by).then_some(order));
    }
}

/// Decides how a model is solved on a device. Whether what is asked for goes together is for others to say.
pub fn decide(model: &Model, device: &DeviceFacts) -> Plan {
    if model.study.is_of_modes() {
        return Plan::of_modes(model, device);
    }
    // To K another matrix is added where there are times.
    let of_operator = |plan: Plan| match model.study {
        Study::Transient => plan,
        _ => plan.with_operator(model, device),
    };
    match model.solver.method {
        Some(Method::Cg) => of_operator(iterate(model, device, None, None)).rounded(model, device),
        Some(Method::Direct) => Plan::direct(model, device, None, None),
        Some(Method::Femses) => Plan::femses(model, device),
        None => match factor(model, device) {
            Verdict { takes: true, why, fill } => Plan::direct(model, device, why, fill),
            Verdict { why, fill, .. } => of_operator(iterate(model, device, why, fill)).rounded(model, device),
        },
    }
}

/// The same where a factor was decided on and cannot be had, for some reason: the matrix is there then.
pub fn without_factor(model: &Model, device: &DeviceFacts, why: Reason) -> Plan {
    iterate(model, device, Some(why), None).rounded(model, device)
}

/// The size of a model's factor, by the graph of its nodes.
pub fn fill(model: &Model) -> Fill {
    let graph = symbolic::neighbours(&model.mesh, &model.constraints.pairs());
    let dissection = Dissection::new(&graph, &model.mesh.coords);
    Fill::of(&graph, &dissection, model.analysis.components())
}

/// Whether a factor is taken, and why, where there is a reason worth saying.
struct Verdict {
    takes: bool,
    why: Option<Reason>,
    fill: Option<Fill>,
}

impl Verdict {
    /// Not taken, and not counted.
    fn no(why: Option<Reason>) -> Verdict {
        Verdict { takes: false, why, fill: None }
    }
}

/// Judges a factor by what is known of it at once.
fn factor(model: &Model, device: &DeviceFacts) -> Verdict {
    let solver = &model.solver;
    let is_asked = solver.preconditioner.is_some()
        || solver.acceleration != Acceleration::None
        || solver.operator == Some(Operator::MatrixFree);
    if is_asked || double_or(solver) != Precision::Double {
        return Verdict::no(None);
    }
    let (unknowns, limits) = (unknowns(model), device.limits());
    if unknowns <= limits.small {
        return match (device.factors)() {
            Factors::None => Verdict::no(None),
            _ => Verdict { takes: true, why: Some(Reason::SmallModel), fill: None },
        };
    }
    let is_potential = model.analysis.physics().is_scalar();
    let most = if is_potential { limits.potential } else { limits.easy.max(limits.flat).max(limits.incompressible) };
    if unknowns > limits.most || most == 0.0 {
        return Verdict::no(None);
    }
    if is_potential && jacobi_iterations(model) < FEW_ITERATIONS {
        return Verdict::no(None);
    }
    let on_surface = on_surface(&model.mesh);
    if model.mesh.dim() == 3 && on_surface < COMPACT {
        return Verdict::no(Some(Reason::Compact(on_surface)));
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
    let bytes = factor_bytes(&fill);
    if device.free.is_some_and(|free| bytes > free / 2) {
        return verdict(false, Reason::FactorTooLarge(bytes));
    }
    let per = fill.nonzeros as f64 / unknowns(model) as f64;
    let is_potential = model.analysis.physics().is_scalar();
    if per <= if is_potential { limits.potential } else { limits.easy } {
        let body = match () {
            () if model.mesh.dim() == 2 => Body::Plane,
            () if on_surface > MOSTLY_SURFACE => Body::Thin,
            () => Body::Coarse,
        };
        return verdict(true, Reason::CheapFactor(body, per));
    }
    match hard(model, limits).filter(|(most, _)| !is_potential && per <= *most) {
        Some((_, why)) => verdict(true, Reason::ManyIterations(why, per)),
        None => verdict(false, Reason::CostlyFactor(per)),
    }
}

/// The limit of a model that takes multigrid many iterations, and why it does.
pub(super) fn hard(model: &Model, limits: Limits) -> Option<(f64, Hard)> {
    let poisson = largest_poisson(model);
    if poisson > INCOMPRESSIBLE {
        return Some((limits.incompressible, Hard::Poisson(poisson)));
    }
    let stretch = median_stretch(&model.mesh);
    if stretch > STRETCHED {
        return Some((limits.flat, Hard::Stretched(stretch)));
    }
    let is_even = is_quadratic(&model.mesh) && stretch <= FLAT;
    let is_hard = !is_even && one_across(&model.mesh) >= MOSTLY_THIN;
    is_hard.then_some((limits.flat, Hard::OneAcross))
}

fn unknowns(model: &Model) -> usize {
    model.mesh.coords.len() * model.analysis.components()
}

/// Conjugate gradients; `why` not a factor.
fn iterate(model: &Model, device: &DeviceFacts, why: Option<Reason>, fill: Option<Fill>) -> Plan {
    let (preconditioner, chosen) = preconditioner(model, device.on_host);
    let reasons = why.into_iter().chain(chosen).collect();
    let mut plan = Plan { fill, reasons, ..Plan::plain(model, device.on_host) };
    plan.precondition(preconditioner, model.solver.order);
    plan
}

/// The precision asked for; double if none is.
fn double_or(solver: &SolverOptions) -> Precision {
    solver.precision.unwrap_or(Precision::Double)
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
fn preconditioner(model: &Model, on_host: bool) -> (Preconditioner, Option<Reason>) {
    let solver = &model.solver;
    if let Some(asked) = solver.preconditioner {
        return (asked, None);
    }
    let precision = double_or(solver);
    let other = precond::without_multigrid(precision);
    if solver.operator == Some(Operator::MatrixFree) && !operator::has_multigrid(model) {
        return (other, None);
    }
    let unknowns = unknowns(model);
    // Single precision throughout seldom comes as far as multigrid pays, and 16 bits are asked for to compare.
    let pace = match precision {
        Precision::Double => 1.0,
        Precision::Mixed => MIXED_PACE,
        _ => return (other, Some(Reason::OfPrecision(precision))),
    };
    let even = pace * break_even(unknowns, on_host);
    let iterations = jacobi_iterations(model);
    let is_elastic = !model.analysis.physics().is_scalar();
    let is_thin = || one_across(&model.mesh) >= THIN_SHARE;
    if is_elastic && precision == Precision::Double && unknowns > FEW_UNKNOWNS {
        if on_host {
            return (Preconditioner::Amg, Some(Reason::FastestOnCpu));
        }
        if is_thin() {
            return (Preconditioner::Amg, Some(Reason::Needed(Hard::OneAcross)));
        }
        let ratio = stiffness_ratio(model);
        if ratio >= FAR_APART {
            return (Preconditioner::Amg, Some(Reason::Needed(Hard::StiffnessRatio(ratio))));
        }
    }
    let beside = Reason::Iterations { jacobi: iterations, multigrid: even };
    match iterations > even {
        true => (Preconditioner::Amg, Some(beside)),
        false => (other, Some(beside)),
    }
}

/// See [`BREAK_EVEN_CPU`].
pub(super) fn break_even(unknowns: usize, on_host: bool) -> f64 {
    let [a, b, c] = if on_host { BREAK_EVEN_CPU } else { BREAK_EVEN_GPU };
    a + b / (unknowns as f64 + c)
}
