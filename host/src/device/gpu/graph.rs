//! Launches that are recorded once and made again in one go: a CUDA graph.

use super::Recording;
use super::driver::check;
use crate::result::Result;
use cust::stream::Stream;
use cust::sys;
use std::rc::Rc;

/// Launches that the driver makes in one go, in a stream.
pub(super) struct Graph {
    executable: sys::CUgraphExec,
    stream: Rc<Stream>,
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made by `record`, and nobody else has it. A failure leaves nothing to be done.
        unsafe { sys::cuGraphExecDestroy(self.executable) };
    }
}

impl Graph {
    /// What `work` launches in a stream, which does none of it yet.
    pub(super) fn record(stream: &Rc<Stream>, work: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
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
            Ok(Graph { executable, stream: stream.clone() })
        });
        if !graph.is_null() {
            // SAFETY: as above; the executable graph does not need it.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        made
    }
}

impl Recording for Graph {
    unsafe fn replay(&self) -> Result<()> {
        // SAFETY: the graph is executable; the caller promises the rest.
        check(unsafe { sys::cuGraphLaunch(self.executable, self.stream.as_inner()) }, "repeat launches")
    }
}
