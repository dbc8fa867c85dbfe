//! Launches that are recorded once and made again in one go: a CUDA graph.

use super::cuda::check;
use crate::error::Result;
use cust::stream::Stream;
use cust::sys;

/// Launches that the driver makes in one go.
pub struct Graph(sys::CUgraphExec);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made by `record`, and nobody else has it. A failure leaves nothing to be done.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

impl Graph {
    /// What `work` launches in a stream, which does none of it yet.
    pub(super) fn record(stream: &Stream, work: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream lives; what is called between the two only launches and copies.
        let (done, ended) = unsafe {
            check(sys::cuStreamBeginCapture_v2(stream.as_inner(), mode), "begin to record launches")?;
            (work(), sys::cuStreamEndCapture(stream.as_inner(), &raw mut graph))
        };
        let made = done.and_then(|()| check(ended, "record launches")).and_then(|()| {
            let mut executable = std::ptr::null_mut();
            // SAFETY: the graph was just made.
            check(unsafe { sys::cuGraphInstantiateWithFlags(&raw mut executable, graph, 0) }, "prepare launches")?;
            Ok(Graph(executable))
        });
        if !graph.is_null() {
            // SAFETY: as above; the executable graph does not need it.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        made
    }

    /// Makes the launches.
    ///
    /// # Safety
    /// What they use lives still.
    pub(super) unsafe fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the graph is executable; the caller promises the rest.
        check(unsafe { sys::cuGraphLaunch(self.0, stream.as_inner()) }, "repeat launches")
    }
}
