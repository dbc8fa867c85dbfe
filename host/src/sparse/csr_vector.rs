//! CSR multiplied by a warp per row. See `kernels_rs::sparse::csr_vector`.

use super::csr::{self, CsrArrays};
use super::{Built, Format, Plan};
use crate::result::Result;
use kernels_rs::sparse::CsrVector;

impl Format for CsrVector {
    type Arrays = CsrArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        csr::build(plan)
    }

    fn view(arrays: &CsrArrays) -> Self {
        CsrVector { csr: csr::view(arrays) }
    }
}
