//! Tables for people: words to the left, figures to the right, every column as wide as it needs.

/// The lines of a table of figures, but for the first column. A row may have fewer cells than there are heads; its last
/// cell then says why, however long.
pub fn text(heads: &[&str], rows: &[Vec<String>]) -> String {
    aligned(heads, rows, |column| column == 0, |_, padded| padded)
}

/// The lines of a table whose columns `is_left` tells to hold words; `paint` may put colours round a cell that has been
/// padded.
pub fn aligned(
    heads: &[&str],
    rows: &[Vec<String>],
    is_left: impl Fn(usize) -> bool,
    paint: impl Fn(&str, String) -> String,
) -> String {
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let full = || std::iter::once(&heads).chain(rows).filter(|row| row.len() == heads.len());
    let width = |column: usize| full().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let first = rows.iter().filter_map(|row| Some(row.first()?.chars().count())).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..heads.len()).map(width).collect();
    widths[0] = widths[0].max(first);
    let mut out = String::new();
    for row in std::iter::once(&heads).chain(rows) {
        let is_short = row.len() < heads.len();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let padded = match column {
                0 => format!("{cell:<width$}"),
                _ if is_short || is_left(column) && column + 1 == heads.len() => cell.clone(),
                _ if is_left(column) => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            };
            out.push_str(if column > 0 { "  " } else { "" });
            out.push_str(&paint(cell, padded));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up_and_short_rows_do_not_widen_them() {
        let rows = [vec!["csr".into(), "1.25".into(), "9".into()], vec!["dense_block".into(), "needs 1.2 TB".into()]];
        let text = super::text(&["format", "ms", "GB/s"], &rows);
        assert_eq!(text, "format         ms  GB/s\ncsr          1.25     9\ndense_block  needs 1.2 TB\n");
    }
}
