//! Slips that TOML has no word for: a comma that is missing between values, and a number with a unit.
//!
//! TOML takes what follows for a text without quotes, and says so.

use crate::model::Place;

/// What is wrong in the line of a complaint of TOML, and what to do, if it is such a slip.
pub fn reason(text: &str, place: &Place) -> Option<(String, String)> {
    let at = place.start.min(text.len());
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    let value = line.split('#').next()?;
    let value = value.split_once('=').map_or(value, |(_, value)| value);
    let pieces = || value.split(['[', ']', ',', '{', '}']).map(|piece| piece.split_whitespace().collect::<Vec<_>>());
    let is_value = |word: &&str| {
        word.parse::<f64>().is_ok() || word.len() > 1 && word.starts_with(['"', '\'']) && word.ends_with(['"', '\''])
    };
    if let Some(words) = pieces().find(|words| words.len() > 1 && words.iter().all(is_value)) {
        let message = format!("a comma is missing between {} and {}", words[0], words[1]);
        return Some((message, format!("a list has commas between its values: {}", words.join(", "))));
    }
    let (number, unit) = pieces().find_map(|words| with_unit(&words.join(" ")))?;
    let scaled = match unit.as_str() {
        "GPa" => format!("; {number} GPa are {number}e9 in Pa"),
        "MPa" => format!("; {number} MPa are {number}e6 in Pa"),
        "kN" => format!("; {number} kN are {number}e3 in N"),
        _ => String::new(),
    };
    let help = format!("write the number alone, in the units of the mesh and of the other numbers{scaled}");
    Some((format!("`{unit}` stands behind the number {number}: numbers have no unit"), help))
}

/// The number and the unit of `210 GPa` or `210GPa`.
fn with_unit(words: &str) -> Option<(String, String)> {
    let ends = words.char_indices().map(|(i, _)| i).chain([words.len()]);
    let number = ends.map(|end| &words[..end]).rfind(|start| start.trim().parse::<f64>().is_ok())?;
    let unit = words[number.len()..].trim();
    let is_unit = unit.starts_with(|c: char| c.is_alphabetic() || "%°µ".contains(c));
    is_unit.then(|| (number.trim().to_string(), unit.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_units_are_named() {
        let said = |line: &str| {
            let text = format!("[a]\n{line}\nb = 1\n");
            let place = text.find(line).unwrap() + line.len() - 1;
            reason(&text, &(place..place + 1)).map(|(message, help)| format!("{message}: {help}"))
        };
        let has = |line: &str, words: &str| assert!(said(line).unwrap().contains(words), "{:?}", said(line));
        has("total = [0.0 0.0, -1000.0]", "a comma is missing between 0.0 and 0.0");
        has("on = [\"a\" \"b\"]", "a comma is missing between \"a\" and \"b\"");
        has("young = 210 GPa", "`GPa` stands behind the number 210: numbers have no unit");
        has("young = 210GPa # steel", "210 GPa are 210e9 in Pa");
        has("total = [0.0, -5 kN]", "5 kN are -5e3 in N");
        has("value = 2e6Pa", "`Pa` stands behind the number 2e6");
        for line in ["on = left", "young = 210e9", "young 210", "x = [1, 2]", "ö = 3 # 4 mm", "inf"] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
