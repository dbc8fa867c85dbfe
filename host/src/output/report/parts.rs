//! The report's tables and words.

use super::escape;
use crate::mesh::Mesh;
use crate::model::{AppliedLoad, SolverOptions};
use crate::output::Summary;
use crate::output::distribution::{Distribution, Peak, Range};
use crate::output::modes::Mode;
use crate::output::solver::Solver;
use crate::output::summary::{RISING, Results, shared};
use crate::result::{BUCKLING, Extremes, MODES, Quantity, REVERSED, Table, with_unit};
use warpfem_text::{clean, count, counted, engineering, engineering_beside, percent, vector};

/// A number with a true minus sign.
pub(super) fn shown(value: f64) -> String {
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
pub(super) fn measured(summary: &Summary, value: f64, quantity: Quantity) -> String {
    with_unit(shown(value), summary.units, quantity)
}

/// The few numbers that most readers want.
pub(super) fn cards(summary: &Summary) -> String {
    let peak = |label: &str, quantity, nodal: &Peak, centres: &Distribution| {
        card(label, &measured(summary, nodal.max, quantity), &nodal.beside(centres))
    };
    let (results, words) = (&summary.results, summary.results.physics.words());
    if let Some(mode) = results.mode {
        let note = match mode {
            Mode::Vibration { eigenvalue, .. } => format!("eigenvalue {}", shown(eigenvalue)),
            Mode::Buckling { .. } => "times the loads".into(),
        };
        let card = card(mode.name(), &measured(summary, mode.value(), mode.quantity()), &note);
        return format!("<dl class=\"cards\">{card}</dl>");
    }
    let unknown = |value: f64| measured(summary, value, results.unknown_unit());
    let first = match words.extremes {
        Extremes::Largest(_) => card(&format!("largest {}", words.unknown), &unknown(results.unknown.max), ""),
        Extremes::Both(_) => {
            let range = format!("{} to {}", shown(results.unknown.min), unknown(results.unknown.max));
            card(words.unknown, &range, "")
        }
    };
    let largest = format!("largest {}", words.intensity[0]);
    let cards = first
        + &peak(&largest, results.intensity_unit(), &results.nodal, &results.centres)
        + &away(summary, results)
        + &safety(results)
        + &results.mesh_error.map_or(String::new(), |error| {
            card("estimated mesh error", &percent(error), "of the stress, in the energy norm")
        });
    let error = format!("{:.1e}", results.equilibrium_error).replace('-', "−");
    format!("<dl class=\"cards\">{cards}{}</dl>", card("force balance error", &error, words.balance_note))
}

/// The largest stress away from where it grows with every refinement, if it is another than the largest.
fn away(summary: &Summary, results: &Results) -> String {
    let note = format!("and from point loads and sharp inner corners{}", if results.rises() { RISING } else { "" });
    let of = |peak: &Peak| measured(summary, peak.max, results.intensity_unit());
    results.away().map_or(String::new(), |peak| {
        card(&format!("{} away from supports", results.physics.words().intensity[0]), &of(peak), &note)
    })
}

/// The smallest safety factor, in red where the material yields.
fn safety(results: &Results) -> String {
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

/// Loads and reactions, their balance, and the tables of results; of a mode the tables alone.
pub(super) fn forces(summary: &Summary, loads: &[AppliedLoad]) -> String {
    let (results, least) = (&summary.results, summary.least_force());
    let words = results.physics.words();
    // What tells modes apart stands above them.
    let is_shown = |of: &&Table| ![MODES.name, BUCKLING.name, REVERSED.name].contains(&of.info.name);
    let tables: String = results.tables.iter().filter(is_shown).map(|of| further(summary, of)).collect();
    if results.has_no_loads() {
        return tables;
    }
    let columns = results.physics.tables().find(|table| table.name == words.reactions[0]);
    let (heads, unit) = columns.map_or((vec![], Quantity::Unlabelled), |table| {
        (table.columns.iter().map(|column| column.0).collect(), table.unit())
    });
    let n = heads.len();
    let mut rows: Rows = loads.iter().map(|load| (load.name.clone(), load.total[..n].to_vec())).collect();
    let is_free = results.tables.iter().any(|table| table.info.name == "inertia_relief");
    let in_volume = if is_free { "inertia" } else { "gravity" };
    rows.extend(left_over(&results.applied, &rows, (in_volume, least)));
    let sum = |mut sum: Vec<f64>, row: &[f64]| {
        sum.iter_mut().zip(row).for_each(|(sum, c)| *sum += c);
        sum
    };
    let applied = rows.iter().fold(vec![0.0; n], |total, row| sum(total, &row.1));
    rows.extend(results.reactions.iter().map(|(name, force)| (format!("{} {name}", words.held), force.clone())));
    let largest = rows.iter().flat_map(|row| &row.1).fold(results.largest_force(), |most, c| most.max(c.abs()));
    let both = sum(applied.clone(), &results.reaction_sum);
    let sums = words.sums.iter().zip([applied, results.reaction_sum.clone(), both]);
    let sums: Rows = sums.filter_map(|(name, values)| Some((String::from((*name)?), values))).collect();
    // Numbers that stand beside each other share their power of ten.
    let cell = |c: f64| match n {
        1 => engineering(clean(c, least)),
        _ => engineering_beside(clean(c, least), largest),
    };
    let energy = results.strain_energy.map_or(String::new(), |energy| {
        format!("<p>Strain energy {}.</p>", measured(summary, energy, Quantity::Energy))
    });
    let heading = heading(summary, words.balance, unit);
    format!("{heading}{}{}{energy}{tables}", table(&heads, &rows, &sums, cell), note(results.shared_nodes))
}

/// A name, and numbers.
type Rows = Vec<(String, Vec<f64>)>;

/// A heading with the unit of what is below.
fn heading(summary: &Summary, text: &str, unit: Quantity) -> String {
    let unit = summary.units.and_then(|units| units.label(unit));
    format!("<h2>{text}{}</h2>", unit.map_or(String::new(), |unit| format!(" [{unit}]")))
}

/// A table of the results that has no other place.
fn further(summary: &Summary, of: &Table) -> String {
    let name = of.info.name.replace('_', " ");
    let title = name[..1].to_uppercase() + &name[1..];
    let heads: Vec<&str> = of.info.columns.iter().map(|column| column.0).collect();
    let largest = of.rows.iter().flat_map(|row| &row.1).fold(0.0, |most: f64, c| most.max(c.abs()));
    let cell = |c: f64| engineering_beside(clean(c, 1e-9 * largest), largest);
    heading(summary, &title, of.info.unit()) + &table(&heads, &of.rows, &vec![], cell)
}

/// A table of rows with the sums below.
fn table(heads: &[&str], rows: &Rows, sums: &Rows, number: impl Fn(f64) -> String) -> String {
    let line = |class: &str, (name, values): &(String, Vec<f64>)| {
        let cells: String =
            values.iter().map(|value| format!("<td>{}</td>", number(*value).replace('-', "−"))).collect();
        format!("<tr{class}><th>{}</th>{cells}</tr>", escape(name))
    };
    let heads: String = heads.iter().map(|head| format!("<th>{head}</th>")).collect();
    let body: String = rows.iter().map(|row| line("", row)).collect();
    let sums: String = sums.iter().map(|row| line(" class=\"sum\"", row)).collect();
    format!(
        "<div class=\"wide\"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody><tbody>{sums}</tbody>\
         </table></div>"
    )
}

/// What is applied to the volume: all that is applied, less the other loads, where that is no rounding error.
fn left_over(applied: &[f64], loads: &Rows, (name, least): (&str, f64)) -> Option<(String, Vec<f64>)> {
    let of_loads = |i: usize| loads.iter().map(|load| load.1[i]).sum::<f64>();
    let rest: Vec<f64> = applied.iter().enumerate().map(|(i, all)| all - of_loads(i)).collect();
    let size = loads.iter().flat_map(|load| &load.1).chain(applied).fold(0.0, |most: f64, c| most.max(c.abs()));
    rest.iter().any(|c| c.abs() > least.max(1e-9 * size)).then(|| (name.into(), rest))
}

/// A paragraph on nodes that are in several supports.
fn note(shared_nodes: usize) -> String {
    shared(shared_nodes).map_or(String::new(), |note| format!("<p class=\"note\">Of the sums: {note}.</p>"))
}

/// Largest values and where they are; nothing of a mode, which has no scale.
pub(super) fn extremes(summary: &Summary) -> String {
    if summary.results.mode.is_some() {
        return String::new();
    }
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
    let (results, words) = (&summary.results, summary.results.physics.words());
    let end = |which: &str, value: f64, at| {
        row(&format!("{which} {}", words.unknown), value, results.unknown_unit(), node(at))
    };
    let Range { min, min_at, max, max_at } = results.unknown;
    let smallest = match words.extremes {
        Extremes::Largest(_) => String::new(),
        Extremes::Both(_) => end("smallest", min, min_at),
    };
    let first = smallest + &end("largest", max, max_at);
    let away = results.away().map(|peak| {
        let name = "largest away from supports, point loads and sharp inner corners";
        row(name, peak.max, results.intensity_unit(), at_node(peak))
    });
    let safety = results.min_safety_factor.filter(|factor| factor.value.is_finite()).map(|safety| {
        let at = format!("node {} at {}{}", safety.node, point(safety.at), safety.doubt());
        row("smallest safety factor", safety.value, Quantity::Unlabelled, at)
    });
    let largest = format!("largest {}", words.intensity[0]);
    let largest = both(&largest, results.intensity_unit(), &results.nodal, &results.centres);
    let asked = results.ranges.iter().map(|(name, unit, range)| {
        let name = name.replace('_', " ");
        let end = |which, value, at| row(&format!("{which} {name}"), value, *unit, format!("at {}", point(at)));
        end("smallest", range.min, range.min_at) + &end("largest", range.max, range.max_at)
    });
    let asked: String = asked.collect();
    let rows = first + &largest + &away.unwrap_or_default() + &safety.unwrap_or_default() + &asked;
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
        ("products", s.operator.replace('_', " ")),
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
