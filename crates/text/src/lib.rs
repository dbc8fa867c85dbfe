//! Numbers, points, times, names and files in words for people.

pub mod files;
pub mod names;

use std::borrow::Cow;

/// Components below this fraction of a point's largest one are rounding.
const ROUNDING: f64 = 1e-6;

/// A whole number with thousands separated: 12,567.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let group = |(i, c): (usize, char)| {
        let comma = i > 0 && (digits.len() - i).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([c])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

/// `1 node`, `23,049 nodes`.
pub fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A number of bytes in a sensible decimal unit.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut scaled = n as f64;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1e3;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && scaled < 99.95);
    format!("{scaled:.digits$} {}", UNITS[unit])
}

/// A time in a sensible unit.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 0.9995 => format!("{:.1} ms", s * 1e3),
        s if s < 59.95 => format!("{s:.2} s"),
        s => {
            let whole = s.round() as u64;
            format!("{} min {} s", whole / 60, whole % 60)
        }
    }
}

/// A number with a few significant digits: plain where that is short, with an exponent otherwise.
pub fn number(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    match rounded != 0.0 && !(1e-4..1e6).contains(&rounded.abs()) {
        true => format!("{rounded:e}"),
        // Adding 0 makes -0 a 0.
        false => format!("{}", rounded + 0.0),
    }
}

/// A part of something in hundredths, with two significant digits.
pub fn percent(part: f64) -> String {
    format!("{} %", number(100.0 * part, 2))
}

/// A number with four significant digits: plain, or with an exponent that is a multiple of three, as units go.
pub fn engineering(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        // Below, powers of ten are beyond all numbers.
        size if size < 1e-300 => format!("{value:.3e}"),
        size if size.is_finite() => with_exponent(significant(scaled(value, exponent(size)), 4), exponent(size)),
        _ => format!("{value}"),
    }
}

/// The same with the exponent that `largest` has, for numbers that are compared; one too small for that keeps its own.
pub fn engineering_beside(value: f64, largest: f64) -> String {
    let exponent = if largest.is_normal() { exponent(largest.abs()) } else { return engineering(value) };
    let part = scaled(value, exponent);
    match value.is_finite() && part.abs() >= LEAST_BESIDE {
        true => with_exponent(significant(part, 4), exponent),
        false => engineering(value),
    }
}

/// Numbers this far below the unit of those beside them are zeros for the most part.
const LEAST_BESIDE: f64 = 1e-4;

/// The exponent of a positive number: 0 where it is short without. Rounded first: 999.96e6 is 1.000e9, and 99,999 is
/// 100.0e3.
fn exponent(size: f64) -> i32 {
    let rounded = format!("{size:.3e}").parse().unwrap_or(size);
    if (1e-2..1e5).contains(&rounded) { 0 } else { thousands(rounded * (1.0 + 1e-9)) }
}

fn with_exponent(digits: String, exponent: i32) -> String {
    if exponent == 0 { digits } else { format!("{digits}e{exponent}") }
}

/// `value` with `digits` significant digits, or all those before the point.
fn significant(value: f64, digits: i32) -> String {
    // Rounding may carry into one more place: 9.9999 has as many decimals as 10.00.
    let text = format!("{value:.*e}", digits as usize - 1);
    let exponent: i32 = text.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    format!("{value:.*}", (digits - 1 - exponent).max(0) as usize)
}

/// The largest multiple of three that ten can be raised to below `size`.
pub fn thousands(size: f64) -> i32 {
    (size.log10().floor() as i32).div_euclid(3) * 3
}

/// `value / 10^exponent`, by division where that is exact.
pub fn scaled(value: f64, exponent: i32) -> f64 {
    if exponent < 0 { value * 10f64.powi(-exponent) } else { value / 10f64.powi(exponent) }
}

/// `value`, or 0 where it is smaller than `least`: a rounding error.
pub fn clean(value: f64, least: f64) -> f64 {
    if value.abs() < least { 0.0 } else { value }
}

/// `(a, b, c)` in [`engineering`] numbers; components smaller than `least` are rounding errors, and 0.
pub fn vector_above(v: [f64; 3], least: f64) -> String {
    format!("({})", v.map(|c| engineering(clean(c, least))).join(", "))
}

/// The same with one exponent, that of `largest`.
pub fn vector_beside(v: [f64; 3], least: f64, largest: f64) -> String {
    format!("({})", v.map(|c| engineering_beside(clean(c, least), largest)).join(", "))
}

/// `(a, b, c)` in [`engineering`] numbers; components below a 10^9th of the largest are 0.
pub fn vector(v: [f64; 3]) -> String {
    vector_above(v, 1e-9 * v.iter().fold(0.0, |most: f64, c| most.max(c.abs())))
}

/// `(a, b, c)`, in the plane `(a, b)`, with four significant digits.
pub fn point(x: [f64; 3], dim: usize) -> String {
    let x = &x[..dim];
    let size = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let clean = x.iter().map(|&v| number(if v.abs() < ROUNDING * size { 0.0 } else { v }, 4));
    format!("({})", clean.collect::<Vec<_>>().join(", "))
}

/// The date so many days after 1970-01-01, in the Gregorian calendar: years begin in March, so that leap days end them.
pub fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    format!("{:04}-{month:02}-{day:02}", year + 400 * era)
}

/// `17, 18, 19, ..`: some of many tags.
pub fn some(items: &[u64], shown: usize) -> String {
    let listed: Vec<String> = items.iter().take(shown).map(u64::to_string).collect();
    format!("{}{}", listed.join(", "), if items.len() > shown { ", .." } else { "" })
}

/// Whether a character does something to the text around it instead of showing: control characters (C0, C1, DEL), and
/// those that turn the direction of writing or end a line. Line feeds and tabs are meant.
fn is_unseen(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || matches!(c, '\u{2028}' | '\u{2029}') || c.is_control() && !"\n\t".contains(c)
}

/// Text for a terminal or a picture: what names may have in them to deceive is written out, as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out.into()
}

/// Text as HTML or SVG, in an element or an attribute; as [`visible`].
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if is_unseen(c) && c != '\r' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_bytes_and_times_have_sensible_units() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(12_567), "12,567");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_240_000_000_000), "1.2 TB");
        assert_eq!(bytes(999_900), "1.0 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
        assert_eq!(seconds(2.5e-5), "25 µs");
        assert_eq!(seconds(0.25), "250.0 ms");
        assert_eq!(seconds(0.9999), "1.00 s");
        assert_eq!(seconds(3.456), "3.46 s");
        assert_eq!(seconds(59.99), "1 min 0 s");
        assert_eq!(seconds(125.4), "2 min 5 s");
    }

    #[test]
    fn engineering_numbers_keep_four_digits() {
        let cases = [(0.0, "0"), (1234.56, "1235"), (0.012_345, "0.01235"), (2.5e8, "250.0e6"), (-3.0, "-3.000")];
        cases.iter().for_each(|(value, text)| assert_eq!(engineering(*value), *text));
        let cases = [
            (9.999_96, "10.00"),
            (1e9, "1.000e9"),
            (-1.5e-3, "-1.500e-3"),
            (3.678e-4, "367.8e-6"),
            (1e-300, "1.000e-300"),
            (999.96e6, "1.000e9"),
            (1e-310, "1.000e-310"),
        ];
        cases.iter().for_each(|(value, text)| assert_eq!(engineering(*value), *text));
    }

    #[test]
    fn numbers_side_by_side_have_one_exponent() {
        let beside = |values: [f64; 3], largest| values.map(|value| engineering_beside(value, largest));
        assert_eq!(beside([48_692.0, -176.6e6, 0.0], 176.6e6), ["0.04869e6", "-176.6e6", "0"]);
        assert_eq!(beside([100_000.0, -99_999.999_9, 0.5], 1e5), ["100.0e3", "-100.0e3", "0.0005000e3"]);
        assert_eq!(beside([5252.0, 0.002, 2e-9], 5252.0), ["5252", "0.002000", "2.000e-9"]);
        assert_eq!([99_999.999_9, 99_994.0].map(engineering), ["100.0e3", "99994"]);
        assert_eq!(vector_beside([1e5, -2.0, 1e-3], 0.1, 1e5), "(100.0e3, -0.002000e3, 0)");
    }

    #[test]
    fn rounding_errors_in_vectors_are_zero() {
        assert_eq!(vector([8.0, -1.9594e-15, 100.0]), "(8.000, 0, 100.0)");
        assert_eq!(vector([0.0, 1.5, -2e7]), "(0, 1.500, -20.00e6)");
        assert_eq!(vector([2e-9, 0.0, 1.0]), "(2.000e-9, 0, 1.000)");
        assert_eq!(vector_above([0.0, -5.1e-7, 0.0], 1.5e-6), "(0, 0, 0)");
        assert_eq!(vector_above([0.0, -5.1e-6, 0.0], 1.5e-6), "(0, -5.100e-6, 0)");
        assert_eq!(vector([f64::NAN, 1.0, 0.0]), "(NaN, 1.000, 0)");
    }

    #[test]
    fn days_become_dates() {
        let dates =
            [(0, "1970-01-01"), (58, "1970-02-28"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_779, "2026-11-22")];
        for (days, expected) in dates {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([210e9, 210e3, 0.00981].map(|v| number(v, 3)), ["2.1e11", "210000", "0.00981"]);
        assert_eq!([-0.0, 1.0 / 3.0, 1234567.0, 2e-5].map(|v| number(v, 4)), ["0", "0.3333", "1.235e6", "2e-5"]);
        assert_eq!(point([1.0, 1e-9, -0.5], 3), "(1, 0, -0.5)");
        assert_eq!(point([0.0, 2.0, 7.0], 2), "(0, 2)");
        assert_eq!((some(&[1, 2], 2), some(&[1, 2, 3], 2)), ("1, 2".into(), "1, 2, ..".into()));
    }

    #[test]
    fn what_deceives_is_written_out() {
        assert!(matches!(visible("Größe 1 µm\n\tb"), Cow::Borrowed(_)));
        let cases = [
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb\u{7f}", "a\\u{d}b\\u{7f}"),
            ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
            ("steel\u{202e}dab\u{2066}", "steel\\u{202e}dab\\u{2066}"),
        ];
        for (text, shown) in cases {
            assert_eq!(visible(text), shown);
            assert_eq!(
                escape(&format!("<{}>", text.replace('\r', ""))),
                format!("&lt;{}&gt;", shown.replace("\\u{d}", ""))
            );
        }
    }
}
