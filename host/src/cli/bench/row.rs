//! A row of a report: a format's figures, or the bytes it would need where it does not fit in memory.

use crate::cli::print;
use serde::Serialize;
use warpfem::{Error, Result};

/// The row of one format.
#[derive(Debug, Serialize)]
pub struct Row<F> {
    /// Its name.
    pub format: String,
    /// Bytes that are not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_bytes: Option<u64>,
    /// Why the format cannot hold this matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub figures: Option<F>,
}

impl<F> Row<F> {
    /// Measures a format.
    ///
    /// # Errors
    ///
    /// Those of `measure`, but for [`Error::OutOfMemory`] and [`Error::TooLarge`].
    pub fn measure(format: &str, measure: impl FnOnce() -> Result<F>) -> Result<Self> {
        let mut row = Row { format: format.to_owned(), needed_bytes: None, left_out: None, figures: None };
        match measure() {
            Err(Error::OutOfMemory { needed, .. }) => row.needed_bytes = Some(needed),
            Err(Error::TooLarge(why)) => row.left_out = Some(why),
            measured => row.figures = Some(measured?),
        }
        Ok(row)
    }

    /// Its cells in a table: the format, and what `cells` makes of the figures.
    pub fn cells(&self, cells: impl FnOnce(&F) -> Vec<String>) -> Vec<String> {
        let more = match (&self.figures, &self.left_out) {
            (Some(figures), _) => cells(figures),
            (None, Some(why)) => vec![why.clone()],
            (None, None) => vec![format!("needs {}", print::bytes(self.needed_bytes.unwrap_or(0)))],
        };
        [vec![self.format.clone()], more].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_what_it_needs() {
        let cells = |measured| {
            Row::measure(if matches!(measured, Err(Error::TooLarge(_))) { "ebw16" } else { "dense" }, || measured)
                .map(|row: Row<f64>| row.cells(|ms| vec![ms.to_string()]))
        };
        assert_eq!(cells(Ok(0.5)).unwrap(), ["dense", "0.5"]);
        let full = Error::OutOfMemory { device: "one".into(), needed: 2_000, available: None };
        assert_eq!(cells(Err(full)).unwrap(), ["dense", "needs 2.0 kB"]);
        assert_eq!(cells(Err(Error::TooLarge("far apart".into()))).unwrap(), ["ebw16", "far apart"]);
        assert!(cells(Err(Error::Breakdown)).is_err());
    }
}
