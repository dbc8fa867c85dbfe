use super::*;
use crate::model::{Analysis, AppliedLoad, Material, Support};
use crate::output::distribution::{Distribution, Peak, Range};
use crate::output::picture::Shown;
use crate::output::solver::History;
use crate::output::summary::Results;
use crate::output::tests::{ORIGIN, elastic, model, of_hex_pair, values, zero};
use crate::result::{Physics, Step, When};
use std::time::Duration;

fn page(model: &Model, step: &Step, summary: &Summary, origin: Origin) -> String {
    let shown = Shown::new(&model.mesh, step, &[], None);
    let mut out = Vec::new();
    Report::new(model, summary, origin, Some(&shown)).write(&mut out, Some(b"png")).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page of [`elastic`].
fn page_of(model: &Model, summary: &Summary) -> String {
    page(model, &elastic(), summary, ORIGIN)
}

fn summary() -> Summary {
    let mut summary = Summary { case: "pair".into(), nodes: 12, elements: 2, ..Summary::default() };
    summary.solver.converged = true;
    summary.solver.history = History::of(&[1.0, 1e-3, 1e-6, 1e-9]);
    let reactions = vec![("wall".into(), vec![-7.0, 0.0, 30.0])];
    let centres =
        Distribution { max: 2.5, max_at: [0.5, 0.0, 1.0], max_element: 42, p99: 2.25, ..Distribution::default() };
    let nodal = Peak { max: 3.5, max_at: [2.0, 1e-17, 1.0], max_node: 9 };
    let (applied, reaction_sum) = (vec![7.0, 0.0, -30.0], vec![-7.0, 0.0, 30.0]);
    summary.results = Results { reactions, applied, reaction_sum, centres, nodal, ..Results::default() };
    summary
}

/// Results of a potential with these flows.
fn flows(flows: &[(&str, f64)]) -> Results {
    let reactions = flows.iter().map(|(name, flow)| (String::from(*name), vec![*flow])).collect();
    let (applied, reaction_sum) = (vec![0.0], vec![0.0]);
    Results { physics: Physics::Potential, reactions, applied, reaction_sum, ..Results::default() }
}

fn load(name: &str, total: [f64; 3]) -> AppliedLoad {
    AppliedLoad { name: name.into(), total, nodes: vec![] }
}

/// The row of this head.
fn row<'a>(table: &'a str, name: &str) -> &'a str {
    table.split("<tr").find(|row| row.contains(&format!("<th>{name}</th>"))).unwrap()
}

#[test]
fn the_frame_is_filled_completely_and_asks_for_nothing_from_outside() {
    let page = page_of(&model(), &summary());
    assert!(!page.contains("{{") && !page.contains("}}"), "a part is missing");
    for request in ["http:", "https:", "src=\"/", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(request), "{request}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("data:image/png;base64,cG5n\""), "the picture");
    for heading in ["Loads and reactions", "Extremes", "Model", "Mesh", "Solution", "Residual", "Time", "Case file"] {
        assert!(page.contains(&format!(">{heading}</h")), "{heading}");
    }
}

#[test]
fn what_a_user_writes_stays_text() {
    let nasty = "</pre><script>alert('x')</script> & \"{{style}}\" \u{7}";
    let mut summary = summary();
    summary.case = "</title><script>".into();
    summary.warnings = vec!["<b>hot</b>".into()];
    summary.results.reactions[0].0 = "<i>wall</i>".into();
    let mut model = model();
    model.applied = vec![load("force on <u>", [7.0, 0.0, 0.0])];
    let (density, yield_strength) = (None, None);
    model.materials = vec![Material { density, yield_strength, ..Material::isotropic("<s>", 1.0, 0.0) }];
    model.case_text = nasty.into();
    let page = page_of(&model, &summary);
    assert_eq!(page.matches("<script").count(), 3, "the skin's header, the skin, the program");
    assert!(
        page.contains("&lt;/pre&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;{{style}}&quot; \\u{7}")
    );
    for tag in ["<b>", "<i>", "<u>", "<s>"] {
        assert!(!page.contains(tag), "{tag}");
    }
}

#[test]
fn loads_that_are_not_on_surfaces_are_gravity_and_all_is_summed() {
    let table = parts::forces(&summary(), &[load("force on tip", [7.0, 0.0, 0.0])]);
    let row = |name| row(&table, name);
    assert!(row("gravity").contains("<td>0</td><td>0</td><td>−30.00</td>"), "{table}");
    assert!(row("all loads").contains("<td>7.000</td><td>0</td><td>−30.00</td>"), "{table}");
    assert!(row("loads + reactions").contains("<td>0</td><td>0</td><td>0</td>"), "{table}");
}

/// Two supports that have all their nodes in common.
#[test]
fn nodes_of_several_supports_count_once() {
    let mut summary = summary();
    summary.results.reactions.push(("wall again".into(), vec![-7.0, 0.0, 30.0]));
    summary.results.shared_nodes = 4;
    let table = parts::forces(&summary, &[]);
    let row = |name| row(&table, name);
    assert!(row("all reactions").contains("<td>−7.000</td><td>0</td><td>30.00</td>"), "{table}");
    assert!(row("loads + reactions").contains("<td>0</td><td>0</td><td>0</td>"), "{table}");
    assert!(table.contains("4 nodes are in several supports, counted once here"), "{table}");
    let results = Results { shared_nodes: 1, ..flows(&[("inner", 4.5), ("ring", 4.5), ("outer", -4.5)]) };
    let table = parts::forces(&Summary { results, ..Summary::default() }, &[]);
    assert!(table.contains("<th>sum</th><td>0</td>") && table.contains("1 node is in several supports"), "{table}");
}

#[test]
fn rounding_errors_are_zero_beside_the_loads() {
    let mut summary = summary();
    // A pressure all round, whose sum is what rounding leaves of it.
    let reaction_sum = vec![0.0; 3];
    let results = Results { applied: vec![3e-14; 3], reaction_sum, nodal_forces: 1.0, ..Results::default() };
    let balanced = Summary { results, ..Summary::default() };
    let table = parts::forces(&balanced, &[load("pressure on skin", [1e-14; 3])]);
    assert!(table.contains("skin</th><td>0</td><td>0</td><td>0</td>") && !table.contains("gravity"), "{table}");
    // What an iteration leaves is none of its results.
    for (left, residual, row) in [
        (-2.9e-8, 1e-11, "<td>−7.000</td><td>0</td><td>30.00</td>"),
        (-2.9e-7, 1e-11, "<td>−7.000</td><td>−290.0e−9</td><td>30.00</td>"),
        (-2.9e-7, 1e-9, "<td>−7.000</td><td>0</td><td>30.00</td>"),
    ] {
        summary.results.reactions[0].1 = vec![-7.0, left, 30.0];
        summary.solver.relative_residual = residual;
        assert!(parts::forces(&summary, &[]).contains(row), "{left} {residual}");
    }
}

#[test]
fn the_largest_value_is_that_of_the_nodes_with_that_of_the_centres_beside() {
    let table = parts::extremes(&summary());
    for row in [
        "largest von Mises stress</th><td>3.500</td><td class=\"place\">node 9 at (2.000, 0, 1.000)",
        "largest at the centre of an element</th><td>2.500</td><td class=\"place\">element 42 at (0.5000, 0, 1.000)",
        "99 % of the element centres below</th><td>2.250",
    ] {
        assert!(table.contains(row), "{row} is not in {table}");
    }
    assert!(parts::cards(&summary()).contains(
        "largest von Mises stress</dt><dd>3.500</dd><dd class=\"note\">nodal average; 2.500 at element centres</dd>"
    ));
    let mut coarse = summary();
    coarse.results.centres.max = 4.2;
    let cards = parts::cards(&coarse);
    assert!(cards.contains("nodal average; 4.200 at element centres, 20 % more"), "{cards}");
    assert!(coarse.results.doubt().unwrap().contains("mesh too coarse near ("));
    assert_eq!(summary().results.doubt(), None);
}

#[test]
fn warnings_take_the_green_from_converged() {
    let mut summary = summary();
    assert!(parts::status(&summary).contains("status good\">Converged: "));
    summary.warnings = vec!["hot".into(), "cold".into()];
    let status = parts::status(&summary);
    assert!(status.contains("status doubtful\">Converged, 2 warnings") && !status.contains("good"), "{status}");
}

#[test]
fn the_model_is_told_in_words() {
    let mut model = model();
    model.supports =
        vec![Support { name: "wall".into(), nodes: vec![0, 3], displacement: [Some(0.0); 3], ..Support::default() }];
    model.applied = vec![load("force on tip", [7.0, 0.0, -30.0])];
    model.gravity = Some([0.0, 0.0, -9.81]);
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(20_779 * 86_400 + 7 * 3600 + 5 * 60 + 59);
    let page = page(&model, &elastic(), &summary(), Origin { written, ..ORIGIN });
    for words in [
        "case</th><td>pair.toml<",
        "mesh</th><td>pair.msh<",
        "2026-11-22, 07:05 UTC",
        concat!("<td>warpfem ", env!("CARGO_PKG_VERSION"), "<"),
        "<li>wall: held in x, y and z (2 nodes)</li>",
        "<li>force on tip: (7.000, 0, −30.00) in all</li>",
        "<li>gravity: acceleration (0, 0, −9.810)</li>",
        "N, mm and MPa, or N, m and Pa",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // What most readers do not ask comes last, and closed.
    let details = page.find("<details>").unwrap();
    assert!(page.find(">Case file</h").unwrap() < details && details < page.find(">Solution</h").unwrap());
}

#[test]
fn results_that_did_not_converge_are_marked_first() {
    let mut summary = summary();
    summary.solver.converged = false;
    summary.solver.ending = "limit".into();
    let page = page_of(&model(), &summary);
    let mark = page.find("Not converged").unwrap();
    assert!(mark < page.find("class=\"cards\"").unwrap() && page.contains("status bad"));
    assert!(page.contains(">NOT CONVERGED</div>"));
    assert!(!page.contains("Converged:"));
}

#[test]
fn a_potential_has_flows_and_no_reactions() {
    let mut summary = summary();
    let unknown = Range { max: 5.5, ..Range::default() };
    summary.results = Results { unknown, ..flows(&[("inner", 4.5), ("outer", -4.5)]) };
    let mut model = model();
    model.analysis = Analysis::Laplace;
    let page = page(&model, &of_hex_pair(Physics::Potential, When::Usual), &summary, ORIGIN);
    assert!(page.contains("held at inner</th><td>4.500") && page.contains("largest gradient"));
    assert!(!page.contains("von Mises") && page.contains("[\"potential\",\"gradient\"]"));
}

#[test]
fn results_without_a_size_and_without_a_history_make_a_page() {
    let model = model();
    let mut results = zero(&model.mesh);
    values(&mut results, "displacement").fill(f64::NAN);
    let summary = Summary { case: "nothing".into(), ..Summary::default() };
    let page = page(&model, &results, &summary, ORIGIN);
    assert!(!page.contains(">Residual</h") && page.contains("\"moves\":false"));
}
