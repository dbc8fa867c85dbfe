//! The report's tables and words.

use super::escape;
use crate::mesh::Mesh;
use crate::model::{AppliedLoad, Quantity, SolverOptions, with_unit};
use crate::output::Summary;
use crate::output::distribution::{Distribution, Peak};
use crate::output::summary::{Elastic, Potential, RISING, Results, Solver, shared};
use warpfem_text::{clean, count, counted, engineering, engineering_beside, vector};

/// A number with a true minus sign.
fn shown(value: f64) -> String {
    engineering(value).replace('-', "−")
}

fn point(x: [f64; 3]) -> String {
    vector(x).replace('-', "−")
}

/// Above all else: whether the results are worth reading on.
pub(super) fn status(summary: &Summary) -> String {
    let solver = &summary.solver;
    let accuracy = summary.accuracy();
    match (solver.converged, summary.warnings.len()) {
        (true, 0) => format!("<p class=\"status good\">Converged: {accuracy}</p>"),
        (true, n) => {
            let warnings = counted(n, "warning");
            format!("<p class=\"status doubtful\">Converged, {warnings}. Equations: {accuracy}</p>")
        }
        (false, _) => format!(
            "<p class=\"status bad\"><strong>Not converged.</strong> The iteration ended short of its tolerance, at an \
             {accuracy}: {}. Nothing below can be relied on.</p>",
            reason(&solver.ending)
        ),
    }
}

/// Across the part that can be turned, where the results are none.
pub(super) fn stamp(summary: &Summary) -> String {
    if summary.solver.converged { String::new() } else { "<div id=\"stamp\">NOT CONVERGED</div>".into() }
}

/// The picture, of which this is the base 64.
pub(super) fn picture(png: Option<String>, converged: bool) -> String {
    match png {
        None if !converged => {
            "<p class=\"status bad\">The solver stopped before its first step: the solution is still 0, \
                               so there is no picture.</p>"
                .into()
        }
        Some(png) => {
            let image = format!("<img alt=\"The part, deformed and coloured\" src=\"data:image/png;base64,{png}\">");
            format!("<figure>\n{image}\n</figure>")
        }
        None => "<p class=\"status bad\">The solution is 0 everywhere, so there is no picture.</p>".into(),
    }
}

/// Why an iteration ended, in words.
fn reason(ending: &str) -> String {
    let words = match ending {
        "limit" => "it reached the limit of iterations",
        "stagnated" => "the residual no longer fell",
        "indefinite" => "the matrix or the preconditioner is not positive definite",
        "diverged" => "the residual grew",
        "cancelled" => "it was stopped",
        other => other,
    };
    escape(words)
}

pub(super) fn subtitle(summary: &Summary, analysis: &str) -> String {
    let (nodes, elements) = (count(summary.nodes), count(summary.elements));
    format!(
        "{} · {nodes} nodes, {elements} elements · {}",
        escape(&analysis.replace('_', " ")),
        escape(&summary.device)
    )
}

/// A number, with its unit if the case names its units.
fn measured(summary: &Summary, value: f64, quantity: Quantity) -> String {
    with_unit(shown(value), summary.units, quantity)
}

/// The few numbers that most readers want.
pub(super) fn cards(summary: &Summary) -> String {
    let peak = |label: &str, quantity, nodal: &Peak, centres: &Distribution| {
        card(label, &measured(summary, nodal.max, quantity), &nodal.beside(centres))
    };
    let (cards, error, note) = match &summary.results {
        Results::Elastic(results) => (
            card("largest displacement", &measured(summary, results.max_displacement, Quantity::Length), "")
                + &peak("largest von Mises stress", Quantity::Stress, &results.von_mises_nodal, &results.von_mises)
                + &away(summary, results)
                + &safety(results),
            results.equilibrium_error,
            "loads plus reactions, relative to all nodal forces",
        ),
        Results::Potential(results) => (
            card("potential", &format!("{} to {}", shown(results.min), shown(results.max)), "")
                + &peak("largest gradient", Quantity::Unlabelled, &results.gradient_nodal, &results.gradient),
            results.equilibrium_error,
            "the sum of all flows, relative to their sizes",
        ),
    };
    let balance = card("force balance error", &format!("{error:.1e}").replace('-', "−"), note);
    format!("<dl class=\"cards\">{cards}{balance}</dl>")
}

/// The largest stress away from where it grows with every refinement, if it is another than the largest.
fn away(summary: &Summary, results: &Elastic) -> String {
    let note = format!("and from point loads and sharp inner corners{}", if results.rises() { RISING } else { "" });
    let of = |peak: &Peak| measured(summary, peak.max, Quantity::Stress);
    results.away().map_or(String::new(), |peak| card("von Mises stress away from supports", &of(peak), &note))
}

/// The smallest safety factor, in red where the material yields.
fn safety(results: &Elastic) -> String {
    let Some(factor) = results.min_safety_factor.filter(|factor| factor.value.is_finite()) else {
        return String::new();
    };
    let yields = factor.value < 1.0;
    let note = if yields { "the material yields" } else { "yield strength over von Mises stress" };
    let note = match results.min_safety_factor_away {
        Some(away) if away.value.is_finite() && away.value > factor.value => {
            format!("{note}; {} away from supports and corners", shown(away.value))
        }
        _ => note.into(),
    };
    let card = card("smallest safety factor", &shown(factor.value), &(note + factor.doubt()));
    if yields { card.replacen("<dd>", "<dd class=\"bad\">", 1) } else { card }
}

/// A number with its name above and a note below, if there is one.
fn card(label: &str, value: &str, note: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<dd class=\"note\">{note}</dd>") };
    format!("<div><dt>{label}</dt><dd>{value}</dd>{note}</div>")
}

pub(super) fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings.iter().map(|warning| format!("<li>{}</li>", escape(warning))).collect();
    format!("<section class=\"warnings\"><h2>Warnings</h2><ul>{items}</ul></section>")
}

pub(super) fn forces(summary: &Summary, loads: &[AppliedLoad]) -> String {
    match &summary.results {
        Results::Elastic(results) => elastic_forces(summary, results, loads),
        Results::Potential(results) => flows(results, loads, summary.least_force()),
    }
}

fn elastic_forces(summary: &Summary, results: &Elastic, loads: &[AppliedLoad]) -> String {
    let least = summary.least_force();
    let mut rows: Vec<(String, [f64; 3])> = loads.iter().map(|load| (load.name.clone(), load.total)).collect();
    rows.extend(left_over(results.applied, loads, ("gravity", least)));
    let applied = rows.iter().fold([0.0; 3], |sum: [f64; 3], row| std::array::from_fn(|i| sum[i] + row.1[i]));
    rows.extend(results.reactions.iter().map(|(name, force)| (format!("reaction of {name}"), *force)));
    let largest = rows.iter().flat_map(|row| row.1).fold(results.largest_force(), |most, c| most.max(c.abs()));
    let sums = [
        ("all loads", applied),
        ("all reactions", results.reaction_sum),
        ("loads + reactions", std::array::from_fn(|i| applied[i] + results.reaction_sum[i])),
    ];
    let cell = |c: f64| engineering_beside(clean(c, least), largest);
    let table = balance(["x", "y", "z"], &rows, &sums, cell);
    let note = note(results.shared_nodes);
    let energy = format!("<p>Strain energy {}.</p>", measured(summary, results.strain_energy, Quantity::Energy));
    let unit = summary.units.and_then(|units| units.label(Quantity::Force));
    let unit = unit.map_or(String::new(), |unit| format!(" [{unit}]"));
    format!("<h2>Loads and reactions{unit}</h2>{table}{note}{energy}")
}

/// A table of loads and supports with the sums below.
fn balance<const N: usize>(
    heads: [&str; N],
    rows: &[(String, [f64; N])],
    sums: &[(&str, [f64; N])],
    number: impl Fn(f64) -> String,
) -> String {
    let line = |class: &str, name: &str, values: [f64; N]| {
        let cells = values.map(|value| format!("<td>{}</td>", number(value).replace('-', "−"))).concat();
        format!("<tr{class}><th>{}</th>{cells}</tr>", escape(name))
    };
    let heads = heads.map(|head| format!("<th>{head}</th>")).concat();
    let body: String = rows.iter().map(|(name, values)| line("", name, *values)).collect();
    let sums: String = sums.iter().map(|(name, values)| line(" class=\"sum\"", name, *values)).collect();
    format!(
        "<div class=\"wide\"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody><tbody>{sums}</tbody>\
         </table></div>"
    )
}

/// What is applied to the volume: all that is applied, less the other loads, where that is no rounding error.
fn left_over(applied: [f64; 3], loads: &[AppliedLoad], (name, least): (&str, f64)) -> Option<(String, [f64; 3])> {
    let rest: [f64; 3] = std::array::from_fn(|i| applied[i] - loads.iter().map(|load| load.total[i]).sum::<f64>());
    let size = loads.iter().flat_map(|load| load.total).chain(applied).fold(0.0, |most: f64, c| most.max(c.abs()));
    rest.iter().any(|c| c.abs() > least.max(1e-9 * size)).then(|| (name.into(), rest))
}

fn flows(results: &Potential, loads: &[AppliedLoad], least: f64) -> String {
    let mut rows: Vec<(String, [f64; 1])> = loads.iter().map(|load| (load.name.clone(), [load.total[0]])).collect();
    rows.extend(left_over([results.applied, 0.0, 0.0], loads, ("source", least)).map(|(name, flow)| (name, [flow[0]])));
    let applied: f64 = rows.iter().map(|row| row.1[0]).sum();
    rows.extend(results.flows.iter().map(|(name, of)| (format!("held at {name}"), [*of])));
    let sums = [("all supports", [results.flow_sum]), ("sum", [applied + results.flow_sum])];
    let table = balance(["flow into the body"], &rows, &sums, |flow| engineering(clean(flow, least)));
    format!("<h2>Flows</h2>{table}{}", note(results.shared_nodes))
}

/// A paragraph on nodes that are in several supports.
fn note(shared_nodes: usize) -> String {
    shared(shared_nodes).map_or(String::new(), |note| format!("<p class=\"note\">Of the sums: {note}.</p>"))
}

/// Largest values and where they are.
pub(super) fn extremes(summary: &Summary) -> String {
    let row = |name: &str, value: f64, quantity, place: String| {
        let value = measured(summary, value, quantity);
        format!("<tr><th>{name}</th><td>{value}</td><td class=\"place\">{place}</td></tr>")
    };
    let node = |x| format!("node at {}", point(x));
    let at_node = |peak: &Peak| format!("node {} at {}", peak.max_node, point(peak.max_at));
    // The largest at nodes, at centres, and what most centres are below.
    let both = |name: &str, quantity, nodal: &Peak, centres: &Distribution| {
        let middle = format!("element {} at {}", centres.max_element, point(centres.max_at));
        row(name, nodal.max, quantity, at_node(nodal))
            + &row("largest at the centre of an element", centres.max, quantity, middle)
            + &row("99 % of the element centres below", centres.p99, quantity, String::new())
    };
    let rows = match &summary.results {
        Results::Elastic(results) => {
            let at = node(results.max_displacement_at);
            let first = row("largest displacement", results.max_displacement, Quantity::Length, at);
            let away = results.away().map(|peak| {
                let name = "largest away from supports, point loads and sharp inner corners";
                row(name, peak.max, Quantity::Stress, at_node(peak))
            });
            let safety = results.min_safety_factor.filter(|factor| factor.value.is_finite()).map(|safety| {
                let at = format!("node {} at {}{}", safety.node, point(safety.at), safety.doubt());
                row("smallest safety factor", safety.value, Quantity::Unlabelled, at)
            });
            let (nodal, centres) = (&results.von_mises_nodal, &results.von_mises);
            let largest = both("largest von Mises stress", Quantity::Stress, nodal, centres);
            first + &largest + &away.unwrap_or_default() + &safety.unwrap_or_default()
        }
        Results::Potential(results) => {
            let ends = row("smallest potential", results.min, Quantity::Unlabelled, node(results.min_at))
                + &row("largest potential", results.max, Quantity::Unlabelled, node(results.max_at));
            ends + &both("largest gradient", Quantity::Unlabelled, &results.gradient_nodal, &results.gradient)
        }
    };
    format!(
        "<h2>Extremes</h2><div class=\"wide\"><table><tbody>{rows}</tbody></table></div><p class=\"note\">Colours and the largest \
         value are nodal averages: values are taken where elements are most accurate, extended to the nodes, and averaged over \
         the elements of one material. If the value at the centre of an element is larger than the average, neighbouring \
         elements disagree, as coarse linear ones do: the gap is a measure of the error. At sharp inner corners, at the edges of \
         supports and at point loads the largest value grows with every refinement: do not rely on it there.</p>"
    )
}

pub(super) fn mesh(mesh: &Mesh) -> String {
    let kinds = mesh.solids().filter(|(_, cells)| !cells.is_empty());
    let rows: String = kinds
        .map(|(_, cells)| format!("<tr><th>{}</th><td>{}</td></tr>", cells.kind.info().name, count(cells.len())))
        .collect();
    let (low, high) = mesh.extent();
    let extent = format!("<p>From {} to {}.</p>", point(low), point(high));
    let nodes = format!("<tr><th>nodes</th><td>{}</td></tr>", count(mesh.coords.len()));
    let shapes = mesh.quality().map_or(String::new(), |quality| {
        let worst: Vec<String> = quality.worst.iter().map(|(tag, q)| format!("{tag} ({q:.3})")).collect();
        format!(
            "<h3>Shape of the elements</h3><p>From 0, flat, to 1, regular: {:.3} at worst, {:.3} in the mean.</p>{}\
             <p class=\"note\">Worst elements: {}.</p>",
            quality.min,
            quality.mean,
            super::plots::histogram(&quality.histogram),
            worst.join(", ")
        )
    });
    format!("<h2>Mesh</h2><table><tbody>{nodes}{rows}</tbody></table>{extent}{shapes}")
}

/// A small number, or nothing.
fn power(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.1e}"))
}

pub(super) fn solver(summary: &Summary, asked: &SolverOptions) -> String {
    let s: &Solver = &summary.solver;
    let tolerance = asked.residual_tolerance.is_none().then_some(asked.tolerance);
    let order = s.order.map_or(String::new(), |order| format!(" of order {order}"));
    let mut rows = vec![
        ("method", s.method.clone()),
        ("preconditioner", format!("{}{order}", s.preconditioner)),
        ("storage format", s.format.clone()),
        ("order of the nodes", s.ordering.clone()),
        ("assembly", s.assembly.clone()),
        ("precision", s.precision.clone()),
        ("tolerance on the error", power(tolerance)),
        ("estimated error", power(s.error_estimate)),
        ("tolerance on the residual", power(asked.residual_tolerance)),
        ("relative residual", power(Some(s.relative_residual))),
        ("backward error", power(s.backward_error)),
        ("iterations", count(s.iterations)),
        ("products with the matrix", count(s.spmvs)),
        ("unknowns", count(summary.dofs)),
    ];
    rows.extend(s.factor_nonzeros.map(|n| ("values in the factors", count(n as usize))));
    rows.push(("ended", s.ending.clone()));
    let line = |(name, text): (&str, String)| format!("<tr><th>{name}</th><td>{}</td></tr>", escape(&text));
    let body: String = rows.into_iter().filter(|row| !row.1.is_empty()).map(line).collect();
    format!("<h2>Solution</h2><table><tbody>{body}</tbody></table>")
}
