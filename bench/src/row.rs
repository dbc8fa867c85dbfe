//! A row of a report: the figures of a format or a strategy, or the bytes it would need where it does not fit in
//! memory.

use serde::Serialize;
use warpfem::result::{Error, Result};
use warpfem_text::bytes;

/// What a row is of, by its name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// A storage format.
    Format(&'static str),
    /// An assembly strategy.
    Strategy(&'static str),
    /// A product, by what it is computed from.
    Product(&'static str),
}

/// The row of one format or strategy.
#[derive(Debug, Serialize)]
pub struct Row<F> {
    /// `format` or `strategy`: its name.
    #[serde(flatten)]
    pub of: Of,
    /// Bytes that are not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_bytes: Option<u64>,
    /// Why it cannot hold or assemble this matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub figures: Option<F>,
}

impl<F> Row<F> {
    /// Measures a format or a strategy.
    ///
    /// # Errors
    ///
    /// Those of `measure`, but for [`Error::OutOfMemory`], [`Error::TooLarge`] and [`Error::Unsuited`].
    pub fn measure(of: Of, measure: impl FnOnce() -> Result<F>) -> Result<Self> {
        let mut row = Row { of, needed_bytes: None, left_out: None, figures: None };
        match measure() {
            Err(Error::OutOfMemory { needed: Some(needed), .. }) => row.needed_bytes = Some(needed),
            Err(Error::OutOfMemory { needed: None, .. }) => row.left_out = Some(needs(None)),
            Err(Error::TooLarge(why) | Error::Unsuited { why, .. }) => row.left_out = Some(why),
            measured => row.figures = Some(measured?),
        }
        Ok(row)
    }
}

/// What stands in a table for what had too little memory: the bytes it asked for, where it is known how many.
pub fn needs(needed: Option<u64>) -> String {
    needed.map_or("no room".into(), |needed| format!("needs {}", bytes(needed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_what_it_needs() {
        let row = |measured| Row::<f64>::measure(Of::Format("dense"), || measured);
        let said = |measured| row(measured).map(|row| (row.figures, row.needed_bytes, row.left_out)).unwrap();
        assert_eq!(said(Ok(0.5)), (Some(0.5), None, None));
        let full = |needed| Err(Error::OutOfMemory { device: "one".into(), needed, available: None });
        assert_eq!(said(full(Some(2_000))), (None, Some(2_000), None));
        assert_eq!(said(full(None)), (None, None, Some("no room".into())));
        assert_eq!(said(Err(Error::TooLarge("far apart".into()))), (None, None, Some("far apart".into())));
        let unsuited = Error::Unsuited {
            what: "assembly strategy",
            name: "ppni4",
            why: "needs warps".into(),
            available: Vec::new(),
        };
        assert_eq!(said(Err(unsuited)), (None, None, Some("needs warps".into())));
        assert!(row(Err(Error::Breakdown)).is_err());
    }

    #[test]
    fn a_name_stands_under_what_it_names() {
        #[derive(Serialize)]
        struct Figures {
            ms: f64,
        }
        let json = |of| serde_json::to_string(&Row::measure(of, || Ok(Figures { ms: 0.5 })).unwrap()).unwrap();
        assert_eq!(json(Of::Format("csr")), r#"{"format":"csr","ms":0.5}"#);
        assert_eq!(json(Of::Strategy("atomic")), r#"{"strategy":"atomic","ms":0.5}"#);
    }
}
