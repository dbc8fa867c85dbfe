//! Smoothed aggregation multigrid.

mod common;

use common::meshes::{CLAMP, SOFT, model};
use warpfem::backend::{Backend, CpuBackend};
use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::precond::{self, Context};
use warpfem::solve::{CgOptions, Silent, cg};

fn cube(kind: ElementKind, n: usize) -> Model {
    let tables = format!("{SOFT}{CLAMP}[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 2.0]\n");
    model(&tables, generate_box(kind, [1.0; 3], [n; 3]).unwrap())
}

fn iterations<B: Backend>(backend: &B, model: &Model, name: &str) -> usize {
    let mut phase = Phase::begin(&Silent, "setup");
    let system = System::<_, f64>::assemble(backend, model, "ebw", &mut phase, &mut Timings::default()).unwrap();
    let context = Context::of_nodes(6, system.mesh.coords());
    let start = std::time::Instant::now();
    let preconditioner = precond::build(name, &context, backend, &system.matrix).unwrap();
    let setup = start.elapsed();
    let mut u = backend.zeros(system.norm_f as usize * 0 + warpfem::sparse::Operator::n(&system.matrix)).unwrap();
    let outcome =
        cg(backend, &system.matrix, &*preconditioner, &system.f, &mut u, CgOptions::new(1e-8, 3000), &Silent).unwrap();
    println!("{name} {:?} {} {:?} setup {:?} all {:?}", outcome.ending, outcome.history.iter().position(|r| *r<1e-8).map_or(0, |i| i+1),
        preconditioner.hierarchy().map(|h| (h.operator_complexity(), h.levels.iter().map(|l| (l.rows, l.stencil())).collect::<Vec<_>>())), setup, start.elapsed());
    outcome.iterations
}

#[test]
fn explore() {
    let backend = CpuBackend::default();
    for kind in [ElementKind::Hex8, ElementKind::Tet4] {
        for n in [8, 12, 20] {
            let model = cube(kind, n);
            println!("{kind:?} {n}");
            iterations(&backend, &model, "amg");
            if n <= 12 { iterations(&backend, &model, "jacobi"); }
        }
    }
}
