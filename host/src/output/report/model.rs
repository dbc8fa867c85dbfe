//! The report's words on the model: what was solved, of which files, how it is held and loaded, and in which units.

use super::{Origin, escape};
use crate::model::{Directions, Material, Model, Quantity, Rotation, Study, Support, Units, with_unit};
use crate::output::Summary;
use std::time::UNIX_EPOCH;
use warpfem_text::{clean, counted, date, engineering, vector, vector_above};

/// Case, mesh, date, version, supports and loads in words, then the materials.
pub(super) fn model(model: &Model, summary: &Summary, origin: &Origin) -> String {
    let seconds = origin.written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let minutes = seconds / 60;
    let time = format!("{}, {:02}:{:02} UTC", date(seconds / 86_400), minutes / 60 % 24, minutes % 60);
    let rows = [
        ("case", origin.case.to_owned()),
        ("mesh", origin.mesh.to_owned()),
        ("analysis", model.analysis.name().replace('_', " ")),
        ("study", model.study.name().to_owned()),
        ("solved", time),
        ("program", format!("warpfem {}", env!("CARGO_PKG_VERSION"))),
    ];
    let units = summary.units.map(|units| ("units", units.name().to_owned()));
    let mass = summary.mass.map(|of| {
        let mass = with_unit(engineering(of.mass), summary.units, Quantity::Mass);
        ("mass", format!("{mass}, centre {}", vector(of.centre)))
    });
    let rows: String = rows
        .iter()
        .chain(&units)
        .chain(&mass)
        .map(|(name, text)| format!("<tr><th>{name}</th><td>{}</td></tr>", escape(text)))
        .collect();
    let is_potential = model.analysis.physics().is_scalar();
    let note = if summary.units.is_some() { FORM.to_owned() } else { format!("{UNITS} {FORM}") };
    let joints = model.constraints.notes.iter().map(|(table, note)| format!("{table} {note}"));
    let dim = model.mesh.dim();
    let later = model.others.iter().flat_map(|other| {
        let first = other.step_name(0).into_owned();
        other.supports.iter().map(move |support| format!("from {first} on {}", held(support, is_potential, dim)))
    });
    let held = model.supports.iter().map(|support| held(support, is_potential, dim)).chain(later).chain(joints);
    let springs = model.springs.iter().map(|spring| {
        let per_area = if spring.is_per_area() { " per area" } else { "" };
        let rates: Vec<String> = spring.rate.1.iter().map(|rate| engineering(*rate)).collect();
        let nodes = counted(spring.holds.nodes.len(), "node");
        format!("{}: {} of {}{per_area} ({nodes})", spring.name, spring.kind(), rates.join(", "))
    });
    let is_loaded = model.study != Study::Modal || model.response.is_some();
    let loads = match is_loaded {
        true => loads(model, summary.least_force(), is_potential),
        false => masses(model).collect(),
    };
    format!(
        "<h2>Model</h2><table class=\"facts\"><tbody>{rows}</tbody></table>{}{}{}<p class=\"note\">{note}</p>",
        list("Supports", held.chain(springs).collect()),
        list(if is_loaded { "Loads" } else { "Masses" }, loads),
        materials(&model.materials, is_potential, summary.units)
    )
}

/// What numbers mean, as the case file has no units.
const UNITS: &str =
    "Numbers are in the units of the case file, which must be consistent: N, mm and MPa, or N, m and Pa.";
const FORM: &str = "A number such as 176.6e6 is 176.6 × 10<sup>6</sup>.";

fn list(heading: &str, items: Vec<String>) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(&item.replace('-', "−")))).collect();
    format!("<h3>{heading}</h3><ul>{items}</ul>")
}

/// `bolts: held in x, y and z (402 nodes)`.
fn held(support: &Support, is_potential: bool, dim: usize) -> String {
    let axes = if is_potential { 1 } else { dim };
    let letters = support.directions.letters();
    let given = || support.displacement.iter().take(axes).zip(letters).filter_map(|(u, axis)| Some(((*u)?, axis)));
    let fixed: Vec<&str> = given().filter(|(u, _)| *u == 0.0).map(|(_, axis)| axis).collect();
    let mut parts = Vec::new();
    if is_potential {
        parts.extend(given().map(|(value, _)| format!("held at {}", engineering(value))));
    } else {
        if let [rest @ .., last] = fixed.as_slice() {
            let rest = if rest.is_empty() { String::new() } else { format!("{} and ", rest.join(", ")) };
            parts.push(format!("held in {rest}{last}"));
        }
        parts.extend(
            given().filter(|(u, _)| *u != 0.0).map(|(u, axis)| format!("moved by {} in {axis}", engineering(u))),
        );
    }
    if matches!(support.directions, Directions::Axes(_)) {
        parts.push("in its own axes".into());
    }
    format!("{}: {} ({})", support.name, parts.join(", "), counted(support.nodes.len(), "node"))
}

fn masses(model: &Model) -> impl Iterator<Item = String> + '_ {
    model.masses.iter().map(|of| format!("mass {}: {}", of.name, engineering(of.mass)))
}

/// `force on tip: (0, 0, −1500) in all`; what acts on the volume last.
fn loads(model: &Model, least: f64, is_potential: bool) -> Vec<String> {
    let total = |total: [f64; 3]| match is_potential {
        true => engineering(clean(total[0], least)),
        false => vector_above(total, least),
    };
    let with_total = model.applied.iter().filter(|load| !load.is_preload());
    let on_surfaces = with_total.map(|load| format!("{}: {} in all", load.name, total(load.total)));
    let gravity = model.gravity.map(|g| format!("gravity: acceleration {}", vector(g)));
    let speed = |rotation: Rotation| format!("rotation: {} radians per time", engineering(rotation.speed));
    let rotation = model.rotation.map(speed);
    let warm = model.temperature.as_ref().map(|of| {
        let ((low, high), reference) = (of.range().unwrap_or_default(), of.reference);
        let [low, high, reference] = [low + reference, high + reference, reference].map(engineering);
        format!("temperature: {low} to {high}, without thermal strain at {reference}")
    });
    let free = (!model.pins.is_empty()).then(|| "inertia of the free body".to_string());
    on_surfaces.chain(masses(model)).chain(gravity).chain(rotation).chain(warm).chain(free).collect()
}

const OF_ELASTICITY: [(&str, Quantity); 4] = [
    ("Young’s modulus", Quantity::Stress),
    ("Poisson’s ratio", Quantity::Unlabelled),
    ("density", Quantity::Density),
    ("yield strength", Quantity::Stress),
];

fn materials(materials: &[Material], is_potential: bool, units: Option<Units>) -> String {
    if materials.is_empty() {
        return String::new();
    }
    let value = |v: String| format!("<td>{v}</td>");
    let constant = |m: &Material, key: &str| {
        let constants = m.law.constants();
        let numbers = constants.iter().find(|(name, ..)| *name == key).map(|(_, numbers, _)| numbers.as_slice());
        let numbers = numbers.unwrap_or(&[f64::NAN]).iter().map(|v| engineering(*v));
        numbers.collect::<Vec<_>>().join(", ")
    };
    let optional = |v: Option<f64>| engineering(v.unwrap_or(f64::NAN));
    let heads: &[(&str, Quantity)] =
        if is_potential { &[("conductivity", Quantity::Unlabelled)] } else { &OF_ELASTICITY };
    let cells = |m: &Material| match is_potential {
        true if m.is_isotropic() => vec![engineering(m.conductivity[0])],
        true => vec![m.conductivity.map(engineering).join(", ")],
        false => vec![constant(m, "young"), constant(m, "poisson"), optional(m.density), optional(m.yield_strength)],
    };
    let head = |(name, quantity): &(&str, Quantity)| match units.and_then(|units| units.label(*quantity)) {
        Some(unit) => format!("<th>{name} [{unit}]</th>"),
        None => format!("<th>{name}</th>"),
    };
    let head: String = heads.iter().map(head).collect();
    let row = |material: &Material| {
        let values: String = cells(material).into_iter().map(value).collect();
        format!("<tr><th>{}</th>{}</tr>", escape(&material.name), values.replace("NaN", "–").replace('-', "−"))
    };
    let body: String = materials.iter().map(row).collect();
    format!(
        "<h3>Materials</h3><div class=\"wide\"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_told_in_words() {
        let support =
            |displacement| Support { name: "bolts".into(), nodes: vec![1, 2], displacement, ..Support::default() };
        for (displacement, dim, words) in [
            ([Some(0.0); 3], 3, "bolts: held in x, y and z (2 nodes)"),
            ([Some(0.0), Some(0.0), None], 2, "bolts: held in x and y (2 nodes)"),
            ([None, Some(0.0), Some(-1e-3)], 3, "bolts: held in y, moved by -1.000e-3 in z (2 nodes)"),
            ([None, None, Some(0.0)], 3, "bolts: held in z (2 nodes)"),
        ] {
            assert_eq!(held(&support(displacement), false, dim), words);
        }
        let one = Support {
            name: "inner".into(),
            nodes: vec![7],
            displacement: [Some(20.0), None, None],
            ..Support::default()
        };
        assert_eq!(held(&one, true, 2), "inner: held at 20.00 (1 node)");
    }
}
