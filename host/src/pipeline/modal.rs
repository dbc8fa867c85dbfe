//! Natural frequencies and mode shapes.

use super::Run;
use crate::result::{Error, Result, Study};

/// Solves `K u = lambda M u` for the lowest modes.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (what, name) = ("study", run.model.study.name().into());
    Err(Error::NotAvailable { what, name, available: vec![Study::Static.name()] })
}
