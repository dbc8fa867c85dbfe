//! Copies of large arrays between the host and a GPU by way of pinned memory.
//!
//! The driver copies what lies anywhere on the host in one thread, some GB/s. Here the GPU copies a piece to or from pinned memory
//! while threads move the piece before or after it.

use super::driver::{check, failure};
use crate::parallel;
use crate::result::Result;
use cust::memory::LockedBuffer;
use cust::stream::Stream;
use cust::sys;

/// Arrays of fewer bytes are left to the driver.
pub const FROM_BYTES: usize = 2 << 20;
/// Bytes of a piece.
const PIECE: usize = 4 << 20;
/// Bytes that a thread moves at once.
const PART: usize = 1 << 18;

/// Pinned memory for two pieces.
pub struct Staging {
    pieces: [LockedBuffer<u8>; 2],
}

impl Staging {
    /// Takes the memory.
    pub fn new() -> Result<Self> {
        let piece = || LockedBuffer::new(&0, PIECE).map_err(|error| failure(error, "take pinned memory"));
        Ok(Staging { pieces: [piece()?, piece()?] })
    }

    /// Copies from a device; waits.
    ///
    /// # Safety
    ///
    /// As many bytes are there.
    pub unsafe fn download(&mut self, stream: &Stream, from: sys::CUdeviceptr, to: &mut [u8]) -> Result<()> {
        let n = to.len();
        let bytes_of = |k: usize| n.saturating_sub(k * PIECE).min(PIECE);
        let begin = |k: usize, piece: &mut LockedBuffer<u8>| {
            let (piece, from) = (piece.as_mut_ptr().cast(), from + (k * PIECE) as sys::CUdeviceptr);
            // SAFETY: the caller's, and a piece holds the bytes, which are used after the stream has come to them.
            let result = unsafe { sys::cuMemcpyDtoHAsync_v2(piece, from, bytes_of(k), stream.as_inner()) };
            check(result, "copy from its memory")
        };
        begin(0, &mut self.pieces[0])?;
        for (k, to) in to.chunks_mut(PIECE).enumerate() {
            wait(stream)?;
            if bytes_of(k + 1) > 0 {
                begin(k + 1, &mut self.pieces[(k + 1) % 2])?;
            }
            move_bytes(&self.pieces[k % 2], to);
        }
        Ok(())
    }

    /// Copies to a device; waits.
    ///
    /// # Safety
    ///
    /// There is room for as many bytes.
    pub unsafe fn upload(&mut self, stream: &Stream, from: &[u8], to: sys::CUdeviceptr) -> Result<()> {
        for (k, from) in from.chunks(PIECE).enumerate() {
            let piece = &mut self.pieces[k % 2];
            move_bytes(from, &mut piece[..from.len()]);
            // The piece before is on its way, and the one before that has been.
            wait(stream)?;
            let (piece, to) = (piece.as_ptr(), to + (k * PIECE) as sys::CUdeviceptr);
            // SAFETY: the caller's, and the piece is kept as it is until the stream has come to it.
            let result = unsafe { sys::cuMemcpyHtoDAsync_v2(to, piece.cast(), from.len(), stream.as_inner()) };
            check(result, "copy to its memory")?;
        }
        wait(stream)
    }
}

fn wait(stream: &Stream) -> Result<()> {
    stream.synchronize().map_err(|error| failure(error, "copy"))
}

/// Copies as many bytes as there is room for.
fn move_bytes(from: &[u8], to: &mut [u8]) {
    parallel::map_chunks(to, PART, &|first, part| part.copy_from_slice(&from[first..first + part.len()]));
}
