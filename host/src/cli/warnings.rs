//! What `check` and `solve` warn of. Both say [`of_model`]; a solution adds what only its end tells.

use crate::model::Model;
use crate::output::away::endless;
use crate::output::summary::Results;
use crate::pipeline::{ModeCount, Solution};
use crate::result::choices::Precision;
use crate::result::{Ending, Quantity};
use crate::solve::MOST_LOAD_ERROR;
use warpfem_text::{engineering as number, vector};

/// Shapes below this are worth a warning: such elements are nearly flat.
const FLAT: f64 = 0.02;

/// What is known before anything is solved.
pub fn of_model(model: &Model) -> Vec<String> {
    model.warnings.iter().cloned().chain(model.solver.warning()).chain(flat(model)).collect()
}

/// The same, and what the solution shows.
pub fn of_solution(model: &Model, solution: &Solution, results: &Results) -> Vec<String> {
    let mut warnings = of_model(model);
    warnings.extend(unbalanced(solution));
    warnings.extend(solution.outcome.changes.iter().map(ToString::to_string));
    if results.has_no_loads() {
        warnings.extend(solution.used.count.filter(|count| count.counted != count.found).map(|count| {
            let ModeCount { below, counted, found } = count;
            format!(
                "a factor counts {counted} modes below {}, and {found} were found: ask for a smaller tolerance",
                number(below)
            )
        }));
        return warnings;
    }
    warnings.extend(short_of_tolerance(model, solution));
    warnings.extend(rounded(solution));
    warnings.extend(large_displacement(model, solution, results));
    warnings.extend(endless(&results.singular, results.physics.words().intensity[1]));
    warnings.extend(results.doubt());
    warnings.extend(yielding(results));
    warnings
}

/// The warnings of steps, from those of each: what all of them say once, of each case whether it can be relied on, and
/// all that the governing one says.
pub fn of_cases(each: &[Vec<String>], names: &[String], governing: usize) -> Vec<String> {
    let mut said: Vec<String> =
        each[0].iter().filter(|warning| each.iter().all(|of| of.contains(warning))).cloned().collect();
    for (case, warnings) in each.iter().enumerate() {
        let own: Vec<&String> = warnings.iter().filter(|warning| !said.contains(warning)).collect();
        let shown = own.into_iter().filter(|warning| case == governing || warning.contains(UNRELIABLE));
        let shown: Vec<String> = shown.map(|warning| format!("load case `{}`: {warning}", names[case])).collect();
        said.extend(shown);
    }
    said
}

/// What ends a warning of results that are none.
const UNRELIABLE: &str = "Do not use these results";

fn yielding(results: &Results) -> Option<String> {
    let smallest = results.min_safety_factor.filter(|factor| factor.value < 1.0)?;
    let (smallest, place) = (number(smallest.value), vector(smallest.at));
    let near = || {
        format!(
            "the safety factor is {smallest} at {place}, near a support, a point load or a sharp corner: refine there to \
             see whether it settles"
        )
    };
    Some(match results.min_safety_factor_away {
        Some(away) if away.value >= 1.0 => format!("{}. Further away the smallest is {}", near(), number(away.value)),
        None if results.rises() => near(),
        _ => format!(
            "the material yields: the safety factor is {smallest} at {place}. Linear results do not hold beyond the yield \
             strength"
        ),
    })
}

/// The worst element, if it is nearly flat.
fn flat(model: &Model) -> Option<String> {
    let quality = model.mesh.quality().filter(|quality| quality.min < FLAT)?;
    let element = quality.worst.first()?.0;
    Some(format!(
        "element {element} is nearly flat: stresses there are wrong, and the solver takes more iterations. Mesh again \
         with smaller elements there, or without the narrow face that causes it"
    ))
}

/// A linear theory is for displacements below this fraction of the body's size.
const MOST_OF_EXTENT: f64 = 0.1;

/// `12 % of`, or `3.5e6 times` what would be hard to read so.
fn share(of_whole: f64) -> String {
    if of_whole < 10.0 { format!("{:.0} % of", 100.0 * of_whole) } else { format!("{} times", number(of_whole)) }
}

fn large_displacement(model: &Model, solution: &Solution, results: &Results) -> Option<String> {
    let (largest, extent) = (results.unknown.max, model.mesh.longest_side());
    let is_large = results.unknown_unit() == Quantity::Length && largest > MOST_OF_EXTENT * extent;
    (solution.outcome.converged && is_large).then(|| {
        format!(
            "the largest displacement is {} the body's size ({} of {}), too large for a linear theory. Check that \
             loads, materials and lengths have matching units",
            share(largest / extent),
            number(largest),
            number(extent)
        )
    })
}

/// Single precision that has not met the tolerance on the residual. A tolerance that it hardly can meet is one of
/// [`of_model`].
fn short_of_tolerance(model: &Model, solution: &Solution) -> Option<String> {
    let outcome = &solution.outcome;
    let tolerance =
        model.solver.residual_tolerance.filter(|_| !outcome.converged && model.solver.warning().is_none())?;
    (solution.used.plan.precision == Precision::Single).then(|| {
        format!(
            "single precision reached a relative residual of {:.1e}, not the tolerance of {tolerance:.1e}",
            outcome.relative_residual
        )
    })
}

/// An answer that rounding has ended, though it is good enough.
fn rounded(solution: &Solution) -> Option<String> {
    let outcome = &solution.outcome;
    let error = outcome.error_estimate.filter(|_| outcome.converged && outcome.ending == Ending::Stagnated)?;
    let digits = outcome.digits.unwrap_or_default();
    Some(format!(
        "rounding allows about {digits} digits on this model: the estimated error is {error:.0e}, the tolerance {:.0e}",
        outcome.tolerance
    ))
}

/// A force balance error above this, relative to the sum of all magnitudes, is said.
const UNBALANCED: f64 = 1e-4;

/// Reactions of a part that do not equal its loads.
fn unbalanced(solution: &Solution) -> Option<String> {
    let is_rounded = !solution.outcome.converged && solution.outcome.ending == Ending::Stagnated;
    if solution.load_error > MOST_LOAD_ERROR && is_rounded {
        return Some(format!(
            "reactions differ from the loads by {} %: the body is too slender, or stiffnesses differ too much, for double \
             precision. Do not use these results",
            warpfem_text::number(100.0 * solution.load_error, 2)
        ));
    }
    let errors = solution.part_balance.iter().enumerate();
    let (part, worst) = errors.max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, error)| **error > UNBALANCED)?;
    let of = if solution.part_balance.len() > 1 { format!(" of part {}", part + 1) } else { String::new() };
    Some(format!(
        "reactions{of} do not equal the loads: the force balance error is {worst:.0e}. Do not use these results"
    ))
}
