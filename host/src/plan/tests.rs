//! What `auto` takes, body by body.

use super::decide::{CPU, break_even, decide, fill, hard as what_is_hard};
use super::facts::DeviceFacts;
use super::iterations::jacobi_iterations;
use super::memory::factor_bytes;
use super::resolve::resolve;
use super::words::AS_ASKED;
use super::work::Work;
use crate::device::Factors;
use crate::model::{Case, Model, SolverOptions, Study};
use crate::result::choices::{Method, Operator, Precision, Preconditioner};
use crate::result::{Hard, Plan};
use std::path::Path;

/// A case of `meshes/`.
pub(super) fn model(case: &str) -> Model {
    Model::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(case)).unwrap()
}

/// A clamped box of these cells.
pub(super) fn clamped_box(element: &str, size: [u32; 3], cells: [u32; 3]) -> Model {
    clamped(element, size.map(f64::from), cells, 0.3)
}

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
fn taken(model: &Model, device: &DeviceFacts) -> (&'static str, String) {
    let plan = decide(model, device);
    (plan.preconditioner.map_or(plan.method.name(), Preconditioner::name), plan.reason())
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
    assert_taken(&plate, &cpu(), "direct", "a thin body, cheap to solve directly (its factor has 1");
    assert_eq!(decide(&plate, &cpu()).fill, Some(fill(&plate)));
    let beam = clamped("tet10", [40.0, 1.0, 1.0], [80, 2, 2], 0.3);
    assert_taken(&beam, &cpu(), "direct", "a thin body");
    // 41 cells: 14 % of the nodes are on the surface, and no graph is looked at.
    assert_taken(&clamped("hex8", [1.0; 3], [41; 3], 0.3), &cpu(), "amg", "a compact body (14 %");
    let cube = clamped("hex8", [1.0; 3], [26; 3], 0.3);
    assert_taken(&cube, &cpu(), "amg", "a direct solution would cost more");
    // Multigrid takes ten iterations for a beam, whose factor is larger than a plate's.
    let beam = clamped("hex8", [100.0, 1.25, 1.25], [300, 5, 5], 0.3);
    assert_taken(&beam, &cpu(), "amg", "cost more (its factor has 1");
}

#[test]
fn what_iterations_find_hard_may_have_a_larger_factor() {
    let hard = |size, poisson| clamped("hex8", size, [20; 3], poisson);
    assert_taken(&hard([1.0; 3], 0.3), &cpu(), "amg", "a direct solution would cost more");
    assert_taken(
        &hard([1.0; 3], 0.499),
        &cpu(),
        "direct",
        "Poisson's ratio is 0.499, which iterations find hard (its factor has",
    );
    let why = |model: &Model| what_is_hard(model, CPU).map(|(_, why)| why);
    assert_eq!(why(&hard([1.0; 3], 0.3)), None);
    let stretched = why(&hard([20.0, 1.0, 1.0], 0.3)).unwrap();
    assert_eq!(stretched.to_string(), "elements are 20 times as long as wide");
    let sheet = |size| why(&clamped("hex20", [size, size, 1.0], [8, 8, 1], 0.3));
    assert_eq!(sheet(20.0), Some(Hard::OneAcross));
    assert_eq!(sheet(8.0), None);
}

#[test]
fn a_factor_needs_memory_and_a_solver() {
    let plate = clamped("hex8", [1.0, 1.0, 0.01], [40, 40, 1], 0.3);
    let bytes = factor_bytes(&fill(&plate));
    assert_taken(&plate, &facts(true, Some(2 * bytes), Factors::Sparse), "direct", "thin");
    assert_taken(&plate, &facts(true, Some(2 * bytes - 1), Factors::Sparse), "amg", "too little memory for a factor");
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
        (beam.solver.method, beam.solver.preconditioner) = (Method::from_name(method), Preconditioner::from_name(name));
        beam.solver.precision = Precision::from_name(precision);
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
    let of_100 = jacobi_iterations(&cube) * 100.0 / 12.0;
    assert!(of_100 > 1.5 * even, "{of_100}");
    // So few unknowns take less time with Jacobi, but for plates.
    assert_taken(&cube, &facts(false, None, Factors::None), "jacobi", "iterations with Jacobi");
    let plate = clamped("hex8", [1.0, 1.0, 0.01], [40, 40, 1], 0.3);
    assert_taken(&plate, &facts(false, None, Factors::Sparse), "amg", &Hard::OneAcross.to_string());
}

#[test]
fn the_cycle_of_large_compact_bodies_is_in_single_precision_on_a_gpu() {
    let precision = |model: &Model, device: &DeviceFacts| decide(model, device).precision;
    let gpu = facts(false, Some(80 << 30), Factors::None);
    let mut cube = clamped("hex8", [1.0; 3], [44; 3], 0.3);
    cube.solver.preconditioner = Some(Preconditioner::Amg);
    assert_eq!((precision(&cube, &gpu), precision(&cube, &cpu())), (Precision::Mixed, Precision::Double));
    assert_eq!(precision(&cube, &facts(false, Some(1 << 30), Factors::None)), Precision::Double);
    let mut soft = cube.materials[0].clone();
    soft.set_isotropic(1e-4 * soft.law.young(), soft.law.poisson());
    cube.materials.push(soft);
    assert_eq!(precision(&cube, &gpu), Precision::Double);
    cube.solver.precision = Some(Precision::Single);
    assert_eq!(precision(&cube, &gpu), Precision::Single);
    let mut beam = clamped("hex8", [100.0, 1.0, 1.0], [1000, 8, 8], 0.3);
    beam.solver.preconditioner = Some(Preconditioner::Amg);
    assert_eq!(precision(&beam, &gpu), Precision::Double);
    let mut stretched = clamped("hex8", [20.0, 1.0, 1.0], [44; 3], 0.3);
    stretched.solver.preconditioner = Some(Preconditioner::Amg);
    assert_eq!(precision(&stretched, &gpu), Precision::Double);
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

#[test]
fn modes_are_found_by_a_factor_where_statics_has_one_and_by_multigrid() {
    let mut small = clamped("hex8", [1.0; 3], [6; 3], 0.3);
    small.study = Study::Modal;
    assert_taken(&small, &cpu(), "direct", "a small model");
    let mut model = clamped("hex8", [1.0; 3], [14; 3], 0.3);
    model.study = Study::Modal;
    assert_taken(&model, &cpu(), "amg", "LOBPCG");
    let plan = resolve(&model, &cpu()).unwrap();
    assert_eq!((plan.study, plan.method, plan.precision), (Study::Modal, Method::Cg, Precision::Double));
    model.solver.preconditioner = Some(Preconditioner::Jacobi);
    assert_taken(&model, &cpu(), "jacobi", AS_ASKED);
    let said = |change: &dyn Fn(&mut SolverOptions)| {
        let mut solver = model.solver.clone();
        change(&mut solver);
        let mut other = clamped("hex8", [1.0; 3], [6; 3], 0.3);
        (other.study, other.solver) = (Study::Modal, solver);
        resolve(&other, &cpu()).unwrap_err().to_string()
    };
    let femses = said(&|solver| solver.method = Some(Method::Femses));
    let expected = "method `femses` does not go with study `modal`, which LOBPCG solves; available here: auto, cg";
    assert_eq!(femses, expected);
    assert!(said(&|solver| solver.precision = Some(Precision::Single)).ends_with("available here: auto, double"));
    assert!(said(&|solver| solver.operator = Some(Operator::MatrixFree)).ends_with("available here: auto, assembled"));
}

/// A body whose matrix has no room is solved without it, and without multigrid where that has none either. One that has none
/// at all stays as it is.
#[test]
fn without_room_for_the_matrix_there_is_none() {
    let model = clamped("hex8", [1.0; 3], [24; 3], 0.3);
    let on = |free| decide(&model, &facts(false, free, Factors::None));
    let bytes = Work::planned(&model, &on(None)).memory.on_device();
    assert_ne!(on(Some(bytes)).operator, Some(Operator::MatrixFree));
    let without = on(Some(bytes - 1));
    assert!(without.reason().contains("too little memory"), "{}", without.reason());
    assert_eq!((without.operator, without.preconditioner), (Some(Operator::MatrixFree), on(None).preconditioner));
    assert!(Work::planned(&model, &without).memory.on_device() < bytes);
    // A CPU takes multigrid, as long as it has room.
    let on_host = |model: &Model, free| decide(model, &facts(true, Some(free), Factors::None));
    let least = Plan { preconditioner: Some(Preconditioner::Jacobi), ..without };
    let least = Work::planned(&model, &least).memory.on_host();
    let jacobi = on_host(&model, least);
    let expected = (Some(Operator::MatrixFree), Some(Preconditioner::Jacobi));
    assert_eq!((jacobi.operator, jacobi.preconditioner), expected, "{}", jacobi.reason());
    assert!(jacobi.reason().starts_with("jacobi: multigrid has too little memory; "), "{}", jacobi.reason());
    assert_eq!(on_host(&model, least - 1).operator, Some(Operator::Assembled));
    // What is asked for stays.
    let mut asked = model;
    asked.solver.preconditioner = Some(Preconditioner::Amg);
    let plan = on_host(&asked, least);
    assert_eq!((plan.operator, plan.preconditioner), (Some(Operator::Assembled), Some(Preconditioner::Amg)));
}
