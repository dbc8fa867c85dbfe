//! Keys of the case file that belong to other analyses than its own, brackets of the wrong number, and old names.
//!
//! They are found in the tree of the text, and the first two are named at their place.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::model::keys::Keys;
use crate::model::{Analysis, CaseError, Place, Source};

/// Tables that appear once, and tables that may appear several times.
pub(super) const SINGLE: &[&str] = &[
    "mesh",
    "analysis",
    "time",
    "gravity",
    "rotation",
    "temperature",
    "inertia_relief",
    "harmonic",
    "solver",
    "output",
];
pub(super) const REPEATED: &[&str] = &[
    "material",
    "support",
    "spring",
    "mass",
    "tie",
    "remote",
    "cyclic",
    "bolt",
    "equation",
    "pressure",
    "traction",
    "force",
    "load",
    "point_force",
    "push",
    "flux",
    "convection",
    "source",
    "load_case",
];

type Entry<'a, 'i> = (Place, &'a Spanned<DeValue<'i>>);

/// The place of a key and its value.
fn entry<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<Entry<'a, 'i>> {
    table.iter().find(|(k, _)| k.get_ref().as_ref() == key).map(|(k, v)| (k.span(), v))
}

/// The table or tables under a key; nothing if it is neither.
fn tables<'a, 'i>(root: &'a DeTable<'i>, key: &str) -> Vec<&'a DeTable<'i>> {
    match entry(root, key).map(|(_, value)| value.get_ref()) {
        Some(DeValue::Table(table)) => vec![table],
        Some(DeValue::Array(array)) => array.iter().filter_map(|item| item.get_ref().as_table()).collect(),
        _ => Vec::new(),
    }
}

/// An error for each key of other analyses than the case's, at its first place.
pub fn of_other_analyses(source: &Source, root: &DeTable<'_>) -> Vec<CaseError> {
    let kind = tables(root, "analysis").into_iter().find_map(|table| entry(table, "kind"));
    let kind = kind.and_then(|(_, value)| value.get_ref().as_str()).unwrap_or(Analysis::default().name());
    // A name that is no analysis has its own message.
    let Some(analysis) = Analysis::from_name(kind) else { return Vec::new() };
    let own = analysis.keys();
    let mut others: Vec<&Keys> = Analysis::ALL.iter().map(|of| of.keys()).filter(|of| of.whose != own.whose).collect();
    others.dedup_by_key(|of| of.whose);
    let foreign = others.iter().flat_map(|of| of.own.iter().map(|key| (*key, of.whose)));
    let found = foreign.filter_map(|((name, key), whose)| {
        let holders = if name.is_empty() { vec![root] } else { tables(root, name) };
        let (place, _) = holders.into_iter().find_map(|table| entry(table, key))?;
        let message = format!("`{key}` belongs to {whose}, and this is a case of {kind}");
        let own: Vec<&str> = own.own.iter().filter(|(table, _)| *table == name).map(|(_, key)| *key).collect();
        let help = format!("{kind} has {}; or change [analysis] kind", own.join(", "));
        Some(*source.error_at(place, message, help))
    });
    found.collect()
}

/// `[[mesh]]` and `[support]` say so themselves rather than as a wrong type; they are read as what they should be.
pub fn mend_brackets(source: &Source, root: &mut DeTable<'_>) -> Vec<CaseError> {
    let mut errors = Vec::new();
    for (key, value) in root.iter_mut() {
        let (name, place) = (key.get_ref().as_ref(), value.span());
        let (message, brackets) = match value.get_mut() {
            DeValue::Array(items) if SINGLE.contains(&name) => {
                if let Some(first) = items.first().filter(|item| item.get_ref().is_table()).cloned() {
                    *value = first;
                }
                (format!("there can be only one `{name}` table"), "once, in single brackets")
            }
            DeValue::Table(_) if REPEATED.contains(&name) => {
                *value = Spanned::new(place, DeValue::Array(std::iter::once(value.clone()).collect()));
                // Most bodies have one source, and `[source]` is enough.
                if name == "source" {
                    continue;
                }
                (format!("`{name}` tables form a list"), "in double brackets")
            }
            _ => continue,
        };
        errors.push(*source.error_at(key.span(), message, format!("write {}, {brackets}", header(name))));
    }
    errors
}

/// Gives `[[contact]]` its new name; what to say of it, if it is there.
pub fn rename_contact(root: &mut DeTable<'_>) -> Option<String> {
    let (key, value) = root.remove_entry("contact")?;
    match root.get_mut("push").map(Spanned::get_mut) {
        Some(DeValue::Array(pushes)) => match value.into_inner() {
            DeValue::Array(old) => old.into_iter().for_each(|table| pushes.push(table)),
            table => pushes.push(Spanned::new(key.span(), table)),
        },
        Some(_) => {}
        None => {
            root.insert(Spanned::new(key.span(), "push".into()), value);
        }
    }
    Some("[[contact]] is now called [[push]]: it pushes and does not detect contact".into())
}

/// The header of a table of this name.
pub fn header(name: &str) -> String {
    if REPEATED.contains(&name) { format!("`[[{name}]]`") } else { format!("`[{name}]`") }
}
