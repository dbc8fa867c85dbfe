//! Names in messages: the nearest known one, and lists of them.

/// Names with a likeness above this are near.
const NEAR: f64 = 0.75;
/// The likeness of words that differ by one letter left out, put in, changed or swapped with the next.
const ONE_SLIP: f64 = 0.9;
/// Names of a list that are shown before it is cut short.
const LISTED: usize = 30;

/// The known name nearest to `word`, if it is near enough to be a slip of the pen, or else one that contains it.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let score = |name: &str| {
        let name = name.to_lowercase();
        // The measure sees no likeness in short words with two letters swapped, as `fxi`.
        let one_slip = name.chars().count() > 2 && strsim::damerau_levenshtein(&lower, &name) == 1;
        strsim::jaro_winkler(&lower, &name).max(if one_slip { ONE_SLIP } else { 0.0 })
    };
    let best = known.iter().map(|&name| (score(name), name)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let contains = || known.iter().copied().find(|name| lower.len() > 2 && name.to_lowercase().contains(&lower));
    if best.0 > NEAR { Some(best.1) } else { contains() }
}

/// `a, b, c`, cut short when there are many.
pub fn list(names: &[&str]) -> String {
    match names.len() {
        0 => "none".to_string(),
        n if n <= LISTED => names.join(", "),
        n => format!("{} and {} more", names[..LISTED].join(", "), n - LISTED),
    }
}

/// `did you mean `b`? <what>: a, b, c`.
pub fn suggest(word: &str, what: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(name) => format!("did you mean `{name}`? {what}: {}", list(known)),
        None => format!("{what}: {}", list(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let known = ["body", "flange", "bolts"];
        assert_eq!(nearest("flnge", &known), Some("flange"));
        assert_eq!(nearest("Bolt", &known), Some("bolts"));
        assert_eq!(nearest("wxyz", &known), None);
        assert_eq!(nearest("mises", &["stress_xx", "von_mises"]), Some("von_mises"));
        assert_eq!(nearest("fxi", &["on", "box", "fix"]), Some("fix"));
        assert_eq!(nearest("o", &["on"]), Some("on"));
        assert_eq!(suggest("flnge", "groups", &known), "did you mean `flange`? groups: body, flange, bolts");
        assert_eq!(suggest("q", "groups", &[]), "groups: none");
    }

    #[test]
    fn long_lists_are_cut() {
        let names = vec!["g"; LISTED + 5];
        assert!(list(&names).ends_with("and 5 more"));
    }
}
