//! A row of a report: a format's figures, or the bytes it would need where it does not fit in memory.

use crate::cli::{memory, print};
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
    /// Measures a format if the `least` bytes that it takes may fit.
    ///
    /// # Errors
    ///
    /// Those of `measure`, but for [`Error::OutOfMemory`].
    pub fn measure(format: &str, least: u64, on_host: bool, measure: impl FnOnce() -> Result<F>) -> Result<Self> {
        // Host memory that is not there is not refused but killed for.
        let is_refused = on_host && memory::available().is_some_and(|available| least > available);
        let (needed_bytes, figures) = if is_refused {
            (Some(least), None)
        } else {
            match measure() {
                Err(Error::OutOfMemory { needed, .. }) => (Some(needed.max(least)), None),
                measured => (None, Some(measured?)),
            }
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

    fn row(least: u64, on_host: bool, measured: Result<f64>) -> Row<f64> {
        Row::measure("dense", least, on_host, || measured).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_not_tried_and_says_what_it_needs() {
        let cells = |row: Row<f64>| row.cells(|ms| vec![ms.to_string()]);
        assert_eq!(cells(row(1, true, Ok(0.5))), ["dense", "0.5"]);
        if memory::available().is_some() {
            let never = Row::<f64>::measure("dense", u64::MAX, true, || panic!("this was refused"));
            assert_eq!(cells(never.unwrap()), ["dense", "needs 18.4 EB"]);
        }
        let full = || Error::OutOfMemory { device: "one".into(), needed: 2_000, available: None };
        assert_eq!(cells(row(1, false, Err(full()))), ["dense", "needs 2.0 kB"]);
        assert_eq!(cells(row(3_000, false, Err(full()))), ["dense", "needs 3.0 kB"]);
        assert!(Row::<f64>::measure("dense", 1, false, || Err(Error::Breakdown)).is_err());
    }
}
