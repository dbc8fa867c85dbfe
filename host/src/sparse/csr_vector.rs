//! CSR multiplied by a warp per row. See `kernels_rs::sparse::csr_vector`.

use super::csr::{self, CsrArrays};
use super::{Built, Format, Plan};
use crate::backend::Backend;
use crate::result::Result;
use kernels_rs::sparse::CsrVector;

impl Format for CsrVector {
    type Arrays<B: Backend> = CsrArrays<B>;

    fn build<B: Backend>(plan: &Plan<B>) -> Result<Built<B, Self>> {
        csr::build(plan)
    }

    fn view<B: Backend>(arrays: &CsrArrays<B>) -> Self {
        CsrVector { csr: csr::view(arrays) }
    }
}
