//! Slips that TOML has no word for: a missing comma between values, a decimal comma, a number with a unit.
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
    if let Some((whole, digits)) = decimal_comma(value) {
        // As in 210,000, but not in 0,285.
        let is_of_thousands = digits.len() == 3
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && !whole.trim_start_matches(['+', '-']).starts_with('0');
        let (what, help) = match is_of_thousands {
            true => ("comma", format!("write {whole}{digits} if it separates thousands, {whole}.{digits} if not")),
            false => ("decimal comma", format!("numbers have a decimal point: {whole}.{digits}")),
        };
        return Some((format!("`{whole},{digits}` has a {what}"), help));
    }
    if let Some(word) = pieces().flatten().find(|word| has_two_points(word)) {
        return Some((format!("`{word}` has two decimal points"), "a number has one decimal point, or none".into()));
    }
    let (number, unit) = pieces().find_map(|words| with_unit(&words.join(" ")))?;
    let scaled = match unit.as_str() {
        "GPa" => format!("; {number} GPa are {number}e9 in Pa"),
        "MPa" => format!("; {number} MPa are {number}e6 in Pa"),
        "kN" => format!("; {number} kN are {number}e3 in N"),
        _ => String::new(),
    };
    let help = format!("write the number alone, in the units of the mesh and of the other numbers{scaled}");
    Some((format!("`{unit}` after the number {number}: numbers have no unit here"), help))
}

/// The digits before and after the comma of a value that is `0,3`, and no list.
fn decimal_comma(value: &str) -> Option<(&str, &str)> {
    let (whole, digits) = value.trim().split_once(',')?;
    let is_number = format!("{whole}.{digits}").parse::<f64>().is_ok();
    let is_digits = digits.starts_with(|c: char| c.is_ascii_digit()) && whole.ends_with(|c: char| c.is_ascii_digit());
    (is_number && is_digits).then_some((whole, digits))
}

/// Whether a word is digits with two points among them.
fn has_two_points(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|c| c.is_ascii_digit() || c == b'.')
        && digits.matches('.').count() > 1
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
        has("young = 210 GPa", "`GPa` after the number 210: numbers have no unit");
        has("young = 210GPa # steel", "210 GPa are 210e9 in Pa");
        has("total = [0.0, -5 kN]", "5 kN are -5e3 in N");
        has("poisson = 0,3", "`0,3` has a decimal comma: numbers have a decimal point: 0.3");
        has("poisson = 0,285", "`0,285` has a decimal comma: numbers have a decimal point: 0.285");
        has("young = 210,000", "`210,000` has a comma: write 210000 if it separates thousands, 210.000 if not");
        has("value = -1,5e3 # down", "a decimal point: -1.5e3");
        has("value = 2e6Pa", "`Pa` after the number 2e6");
        has("g = [0.0, -9.81.0]", "`-9.81.0` has two decimal points");
        for line in ["on = left", "young = 210e9", "young 210", "x = [1, 2]", "ö = 3 # 4 mm", "inf"] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
