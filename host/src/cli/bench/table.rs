//! Tables for people: the first column to the left, figures to the right, every column as wide as it needs.

/// The lines of a table. A row may have fewer cells than there are heads; its last cell then says why, however long.
pub fn text(heads: &[&str], rows: &[Vec<String>]) -> String {
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
            match column {
                0 => out.push_str(&format!("{cell:<width$}")),
                _ if is_short => out.push_str(&format!("  {cell}")),
                _ => out.push_str(&format!("  {cell:>width$}")),
            }
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
