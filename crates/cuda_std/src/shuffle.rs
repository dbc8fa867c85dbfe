//! Which lane a shuffle reads.

/// How a shuffle picks its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// This lane's index xor delta.
    Xor,
    /// This lane's index plus delta.
    Down,
    /// This lane's index minus delta.
    Up,
    /// Delta itself.
    Idx,
}

impl Shuffle {
    /// The source lane, and whether it is in range; out of range the source is the lane itself.
    /// PTX ISA, `shfl.sync`: a segment never reads above its own last lane, but `xor` may read below it.
    #[inline(always)]
    pub fn source(self, lane: u32, delta: u32, width: u32) -> (u32, bool) {
        let first = lane & !(width - 1);
        let last = first + width - 1;
        let delta = delta & 31;
        let (source, valid) = match self {
            Shuffle::Xor => (lane ^ delta, lane ^ delta <= last),
            Shuffle::Down => (lane + delta, lane + delta <= last),
            Shuffle::Up => (lane.wrapping_sub(delta), lane >= first + delta),
            Shuffle::Idx => (first | delta & (width - 1), true),
        };
        (if valid { source } else { lane }, valid)
    }
}
