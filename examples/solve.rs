//! A cantilever solved from Rust: `cargo run --release --example solve`.

use std::path::Path;
use warpfem::device::DeviceName;
use warpfem::model::{Case, Model};
use warpfem::pipeline;
use warpfem::solve::Silent;

/// A steel beam, 1 m long, clamped at one end and pulled down by 1 kN at the other. The text is that of a case file.
const CASE: &str = r#"
    [mesh]
    generate = { kind = "box", element = "hex20", size = [1.0, 0.1, 0.1], cells = [20, 2, 2] }
    [[material]]
    name = "steel"
    young = 210e9
    poisson = 0.3
    [[support]]
    on = "xmin"
    fix = "xyz"
    [[force]]
    on = "xmax"
    total = [0.0, 0.0, -1000.0]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let case = Case::parse(Path::new("cantilever.toml"), CASE)?;
    let model = Model::resolve(&case, case.mesh()?)?;
    let solution = pipeline::solve(&model, DeviceName::Auto, &Silent)?;
    assert!(solution.outcome.converged, "{:?}", solution.outcome);

    let lowest = solution.displacement().iter().map(|u| u[2]).fold(0.0, f64::min);
    // F L^3 / (3 E I) with I = h^4 / 12: Euler and Bernoulli's beam.
    let beam = -1000.0 / (3.0 * 210e9 * 0.1_f64.powi(4) / 12.0);
    println!("{} iterations on {}", solution.outcome.iterations, solution.used.device);
    println!("the tip sinks by {:.4} mm; as a slender beam by {:.4} mm", -1e3 * lowest, -1e3 * beam);
    assert!((lowest / beam - 1.0).abs() < 0.02, "{lowest} is not {beam}");
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
