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
    /// What was measured.
    #[serde(flatten)]
    pub figures: Option<F>,
}

impl<F> Row<F> {
    /// Measures a format.
    ///
    /// # Errors
    ///
    /// Those of `measure`, but for [`Error::OutOfMemory`].
    pub fn measure(format: &str, measure: impl FnOnce() -> Result<F>) -> Result<Self> {
        let (needed_bytes, figures) = match measure() {
            Err(Error::OutOfMemory { needed, .. }) => (Some(needed), None),
            measured => (None, Some(measured?)),
        };
        Ok(Row { format: format.to_owned(), needed_bytes, figures })
    }

    /// Its cells in a table: the format, and what `cells` makes of the figures.
    pub fn cells(&self, cells: impl FnOnce(&F) -> Vec<String>) -> Vec<String> {
        let more = match &self.figures {
            Some(figures) => cells(figures),
            None => vec![format!("needs {}", print::bytes(self.needed_bytes.unwrap_or(0)))],
        };
        [vec![self.format.clone()], more].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_what_it_needs() {
        let cells =
            |measured| Row::measure("dense", || measured).map(|row: Row<f64>| row.cells(|ms| vec![ms.to_string()]));
        assert_eq!(cells(Ok(0.5)).unwrap(), ["dense", "0.5"]);
        let full = Error::OutOfMemory { device: "one".into(), needed: 2_000, available: None };
        assert_eq!(cells(Err(full)).unwrap(), ["dense", "needs 2.0 kB"]);
        assert!(cells(Err(Error::Breakdown)).is_err());
    }
}
