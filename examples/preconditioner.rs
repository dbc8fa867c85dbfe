//! A preconditioner of one's own: `cargo run --release --example preconditioner`.
//!
//! Two steps of the damped Jacobi iteration, `z = w D^-1 r + w D^-1 (r - K w D^-1 r)`. It is symmetric, and positive
//! definite as long as the eigenvalues of `w D^-1 K` are below 2. To have it by name, on the command line and in case
//! files, put it into `host/src/precond`.

use kernels_rs::real::Real;
use std::cell::RefCell;
use std::path::Path;
use warpfem::device::Buffer;
use warpfem::linalg::{Quotient, Space};
use warpfem::model::{Case, Model};
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::precond::{Build, Context, Jacobi, Preconditioner};
use warpfem::result::Plan;
use warpfem::solve::{CgOptions, Equations, Silent, cg};
use warpfem::sparse::LinOp;

/// w: `D^-1 K` of linear bricks has eigenvalues up to about 3.
const DAMPING: f64 = 0.5;

struct TwoSteps<T: Real> {
    /// `D^-1`.
    jacobi: Jacobi<T>,
    /// `[n]` each.
    scratch: RefCell<[Buffer<T>; 2]>,
}

impl<T: Real> Preconditioner<T> for TwoSteps<T> {
    fn apply(&self, space: &Space, k: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> warpfem::result::Result<()> {
        let [first, product] = &mut *self.scratch.borrow_mut();
        self.jacobi.apply(space, k, r, first)?;
        k.apply(space, first, product)?;
        self.jacobi.apply(space, k, product, z)?;
        // So far z = D^-1 K D^-1 r. Next, w (2 D^-1 r - w z).
        space.copy(z, product)?;
        space.fill(T::ZERO, z)?;
        space.axpy(Quotient::ONE.times(2.0 * DAMPING), first, z)?;
        space.axpy(Quotient::ONE.times(-DAMPING * DAMPING), product, z)
    }

    fn products(&self) -> usize {
        1
    }
}

/// A clamped cube under its own weight.
const CASE: &str = r#"
    [mesh]
    generate = { kind = "box", element = "hex8", size = [1.0, 1.0, 1.0], cells = [12, 12, 12] }
    [[material]]
    name = "concrete"
    young = 30e9
    poisson = 0.2
    density = 2400.0
    [[support]]
    on = "xmin"
    fix = "xyz"
    [gravity]
    acceleration = [0.0, 0.0, -9.81]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let case = Case::parse(Path::new("cube.toml"), CASE)?;
    let (model, space) = (Model::resolve(&case, case.mesh()?)?, Space::cpu());
    let (mut phase, mut timings) = (Phase::begin(&Silent, "setup"), Timings::default());
    let System { matrix, f, .. } =
        System::<f64>::assemble(&space, &model, &Plan::plain(&model, true), &mut phase, &mut timings)?;

    let n = matrix.n();
    let jacobi = || Jacobi::build(&space, &matrix, &Context::of_order(1));
    let ours = TwoSteps { jacobi: jacobi()?, scratch: RefCell::new([space.zeros(n)?, space.zeros(n)?]) };
    let iterations = |preconditioner: &dyn Preconditioner<_>| -> warpfem::result::Result<usize> {
        let mut u = space.zeros(n)?;
        let outcome =
            cg(&space, &Equations::new(&matrix, &f), preconditioner, &mut u, CgOptions::new(1e-8, 1000), &Silent)?;
        assert!(outcome.converged);
        Ok(outcome.iterations)
    };
    let [ours, jacobi] = [iterations(&ours)?, iterations(&jacobi()?)?];
    println!("{ours} iterations with two steps, {jacobi} with one");
    assert!(ours < jacobi);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
