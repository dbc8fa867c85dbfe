//! What the emulator reports.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::panic::Location;

/// A launch that failed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatorError {
    /// The kernel's entry point.
    pub kernel: &'static str,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in the block.
    pub thread: [u32; 3],
    /// The source line that the thread was executing, if known.
    pub place: Option<Place>,
    /// What happened.
    pub fault: Fault,
}

/// A kind of failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The kernel panicked, with this message; an index out of a view's bounds is one.
    #[error("{0}")]
    Panic(String),
    /// The thread waits at a barrier while another thread of its block waits at a barrier elsewhere in the source.
    #[error("this barrier is not reached by thread {thread:?}, which waits at the barrier at {place}")]
    DivergentBarrier {
        /// The other thread.
        thread: [u32; 3],
        /// Its barrier.
        place: Place,
    },
    /// The thread waits in a warp operation for lanes that have returned or never existed.
    #[error("warp operation with mask {mask:#010x}, but lanes {gone:#010x} of it have returned")]
    ExitedLanes {
        /// The lanes that the operation names.
        mask: u32,
        /// Those of them that are gone.
        gone: u32,
    },
    /// The thread waits for ever: every other thread of its block waits as well, and this one elsewhere.
    #[error("the block waits for ever: here this thread, and thread {thread:?} at {place}")]
    Deadlock {
        /// Another thread that waits.
        thread: [u32; 3],
        /// What it waits in.
        place: Place,
    },
    /// The block waits at the grid's barrier, and other threads of the grid have returned.
    #[error("this barrier of the grid is not reached by every thread of the grid")]
    GridBarrier,
    /// A thread wrote past the end of this block's shared memory.
    #[error("a thread wrote past the end of an array in shared memory")]
    SharedOverrun,
    /// A launch that no device would take, or that the host has no memory for.
    #[error("{0}")]
    Launch(String),
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&Location<'_>> for Place {
    fn from(location: &Location<'_>) -> Self {
        Self { file: location.file().to_owned(), line: location.line(), column: location.column() }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Display for EmulatorError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Fault::Launch(reason) = &self.fault {
            return write!(f, "kernel {} cannot be launched: {reason}", self.kernel);
        }
        write!(f, "kernel {}, block {:?}, thread {:?}", self.kernel, self.block, self.thread)?;
        if let Some(place) = &self.place {
            write!(f, ", {place}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl Error for EmulatorError {}
