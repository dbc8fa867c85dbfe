//! Numbers and points in messages.

/// Components below this fraction of a point's largest one are rounding.
const ROUNDING: f64 = 1e-6;

/// A number with a few significant digits: plain where that is short, with an exponent otherwise.
pub fn number(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    match rounded != 0.0 && !(1e-4..1e6).contains(&rounded.abs()) {
        true => format!("{rounded:e}"),
        // Adding 0 makes -0 a 0.
        false => format!("{}", rounded + 0.0),
    }
}

/// `(a, b, c)`, in the plane `(a, b)`, with four significant digits.
pub fn point(x: [f64; 3], dim: usize) -> String {
    let x = &x[..dim];
    let size = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let clean = x.iter().map(|&v| number(if v.abs() < ROUNDING * size { 0.0 } else { v }, 4));
    format!("({})", clean.collect::<Vec<_>>().join(", "))
}

/// `17, 18, 19, ..`: some of many tags.
pub fn some(items: &[u64], shown: usize) -> String {
    let listed: Vec<String> = items.iter().take(shown).map(u64::to_string).collect();
    format!("{}{}", listed.join(", "), if items.len() > shown { ", .." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([210e9, 210e3, 0.00981].map(|v| number(v, 3)), ["2.1e11", "210000", "0.00981"]);
        assert_eq!([-0.0, 1.0 / 3.0, 1234567.0, 2e-5].map(|v| number(v, 4)), ["0", "0.3333", "1.235e6", "2e-5"]);
        assert_eq!(point([1.0, 1e-9, -0.5], 3), "(1, 0, -0.5)");
        assert_eq!(point([0.0, 2.0, 7.0], 2), "(0, 2)");
        assert_eq!((some(&[1, 2], 2), some(&[1, 2, 3], 2)), ("1, 2".into(), "1, 2, ..".into()));
    }
}
