//! Tables as Markdown, and what is said of several numbers.

use warpfem_text::number;

/// `1.2` or `1.2 to 3.4`: the smallest and the largest of some values.
pub fn span(values: &[f64]) -> String {
    let of = |best: fn(f64, f64) -> f64| values.iter().copied().reduce(best);
    let [low, high] = [of(f64::min), of(f64::max)].map(|value| value.map_or("-".into(), |value| number(value, 3)));
    if low == high { low } else { format!("{low} to {high}") }
}

/// The middle of some values, if there are any.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
}

/// A table, its first column text and the others figures but those whose head ends in a full stop, which is left away.
/// Nothing without rows; columns in which no row has a figure are left out.
pub fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let is_shown = |i: &usize| *i == 0 || rows.iter().any(|row| row.get(*i).is_some_and(|cell| cell != "-"));
    let shown: Vec<usize> = (0..heads.len()).filter(is_shown).collect();
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let rule = shown.iter().map(|&i| if i == 0 || heads[i].ends_with('.') { "---" } else { "---:" });
    let mut out = line(shown.iter().map(|&i| heads[i].trim_end_matches('.')).collect()) + &line(rule.collect());
    for row in rows {
        out += &line(shown.iter().map(|&i| row.get(i).map_or("-", |cell| cell)).collect());
    }
    out
}

/// Where GitHub puts a heading: what a link to it ends in.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_leaves_out_what_nobody_measured() {
        let rows =
            [vec!["csr".into(), "1.5".into(), "-".into(), "why".into()], vec!["ebw".into(), "-".into(), "-".into()]];
        let text = table(&["format", "ms", "x", "remark."], &rows);
        assert_eq!(text, "| format | ms | remark |\n| --- | ---: | --- |\n| csr | 1.5 | why |\n| ebw | - | - |\n");
        assert_eq!(table(&["format"], &[]), "");
    }

    #[test]
    fn spans_and_medians_are_of_what_there_is() {
        assert_eq!((span(&[3.0, 1.0]), span(&[2.0]), span(&[])), ("1 to 3".into(), "2".into(), "-".into()));
        assert_eq!((median(&[4.0, 1.0, 2.0]), median(&[1.0, 2.0]), median(&[])), (Some(2.0), Some(1.5), None));
    }

    #[test]
    fn anchors_are_those_of_the_page() {
        assert_eq!(anchor("DSM, Table IV: CUDA kernels (N = 2,199)"), "dsm-table-iv-cuda-kernels-n--2199");
    }
}
