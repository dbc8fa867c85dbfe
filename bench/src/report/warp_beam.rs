//! WARP: its cantilever solved (table 2, figure 9), and what its kernels take (table 4).

use super::markdown::{count, digits, number, table};
use super::paper::Verdict;
use super::plot::Plots;
use super::run::{Run, Solve};

/// The cantilever of `benches/cantilever_N.toml`: lengths in m, E in Pa, Poisson's ratio, and the force at its end in
/// N.
const LENGTH: f64 = 16.0;
const HEIGHT: f64 = 2.0;
const YOUNG: f64 = 200e9;
const POISSON: f64 = 0.333;
const FORCE: f64 = 1e6;

/// Deflection of the loaded end in m: bending and shear, with Cowper's coefficient for a rectangle (1966).
fn timoshenko() -> f64 {
    let (inertia, area) = (HEIGHT.powi(4) / 12.0, HEIGHT.powi(2));
    let shear = YOUNG / (2.0 * (1.0 + POISSON)) * area * 10.0 * (1.0 + POISSON) / (12.0 + 11.0 * POISSON);
    FORCE * LENGTH.powi(3) / (3.0 * YOUNG * inertia) + FORCE * LENGTH / shear
}

/// Table 2 and figure 9: the force does twice the strain energy's work, on the mean deflection of the end.
pub fn cantilever(run: &Run, _: &mut Plots) -> String {
    let mut ones: Vec<&Solve> =
        run.solve.iter().filter(|one| one.case.starts_with("cantilever_") && one.device == run.device).collect();
    ones.sort_by_key(|one| one.elements);
    let exact = timoshenko();
    let found: Vec<(&Solve, f64)> =
        ones.into_iter().filter_map(|one| Some((one, 2.0 * one.results.strain_energy? / FORCE))).collect();
    let off = |deflection: f64| deflection / exact - 1.0;
    let line = |(one, deflection): &(&Solve, f64)| {
        vec![
            count(one.elements),
            count(one.dofs),
            format!("{:.5}", 1e3 * deflection),
            format!("{:+.3} %", 100.0 * off(*deflection)),
            count(one.solver.iterations),
            number(one.timings_s.get("solve").copied()),
            number(one.timings_s.get("total").copied()),
        ]
    };
    let Some(worst) = found.iter().map(|pair| off(pair.1).abs()).max_by(f64::total_cmp) else { return String::new() };
    let heads =
        ["elements", "unknowns", "deflection of the end, mm", "off Timoshenko's", "iterations", "solve, s", "total, s"];
    let measured = format!(
        "the deflection is at most {} % off the formula's {} mm",
        digits(100.0 * worst, 2),
        digits(1e3 * exact, 6)
    );
    let rows: Vec<Vec<String>> = found.iter().map(line).collect();
    let close = if worst < 0.02 { "The solution is the beam's" } else { "The solution is not the beam's" };
    format!(
        "{}\n{close}: {measured}. A full clamp keeps the end from contracting, which the formula leaves free.\n",
        table(&heads, &rows)
    )
}

/// Table 4, by what ptxas says.
pub fn metrics(run: &Run, _: &mut Plots) -> String {
    let mut out = String::new();
    for one in &run.registers {
        let begins = ["by_", "ppni", "geometry", "stiffness"];
        let wanted = one
            .kernels
            .iter()
            .filter(|(name, _)| name.contains("_hex8_") && begins.iter().any(|begin| name.starts_with(begin)));
        let rows: Vec<Vec<String>> = wanted
            .clone()
            .map(|(name, kernel)| vec![name.clone(), count(kernel.registers), count(kernel.spilled_bytes)])
            .collect();
        let spills: Vec<&str> =
            wanted.filter(|(_, kernel)| kernel.spilled_bytes > 0).map(|(name, _)| name.as_str()).collect();
        if rows.is_empty() {
            continue;
        }
        let named = if spills.is_empty() { "none".into() } else { spills.join(", ") };
        out += &format!(
            "Occupancy, cache hits and traffic of local memory were not counted; registers and spills are ptxas's for \
                {}.\n\n{}\n{}\n",
            one.architecture,
            table(&["kernel", "registers a thread", "bytes spilled"], &rows),
            Verdict::Incomparable.sentence(
                &format!("of WARP's strategies these kernels spill registers: {named}"),
                "WARP counted traffic, cache hits and occupancy of runs, and these are what the compiler reserved"
            )
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_bending_and_shear() {
        // F L^3 / (3 E I) = 5.12 mm; F L / (k G A) = 62.65 um with k = 0.851 and G = 75.02 GPa.
        assert!((timoshenko() - 5.18265e-3).abs() < 1e-8, "{}", timoshenko());
    }
}
