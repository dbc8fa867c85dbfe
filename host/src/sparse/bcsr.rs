//! BCSR: the pattern's own arrays, and blocks in their order. See `kernels_rs::sparse::bcsr`.

use super::format::Places;
use super::{Built, Format, Pattern, Plan};
use crate::result::Result;
use kernels_rs::sparse::Bcsr;
use kernels_rs::sparse::bcsr::BcsrStarts;
use std::rc::Rc;

impl<const D: usize> Format for Bcsr<D> {
    type Arrays = Rc<Pattern>;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let pattern = plan.pattern.clone();
        let mut start = plan.space.zeros(plan.n_scalar_rows())?;
        let kernel = BcsrStarts { pattern: pattern.view(), size: D, start: start.view_mut() };
        // SAFETY: a place for every row; both live.
        unsafe { plan.space.run(pattern.n_rows, kernel) }?;
        let places = Places { start: Rc::new(start), block: D * D, column: 1, by_column: false };
        let index_bytes = pattern.row_start.bytes() + pattern.columns.bytes();
        let n_values = (pattern.n_blocks() * D * D) as u64;
        Ok(Built { arrays: pattern, index_bytes, n_values, places })
    }

    fn view(pattern: &Rc<Pattern>) -> Self {
        Bcsr { pattern: pattern.view() }
    }
}
