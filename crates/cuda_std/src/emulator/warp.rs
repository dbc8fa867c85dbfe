//! Warp operations in progress: who has arrived with what, and the results once all of the mask are there.

use crate::shuffle::Shuffle;
use std::panic::Location;

/// What the lanes do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Wait.
    Sync,
    /// One bit per lane.
    Ballot,
    /// Exchange values, in segments of this width.
    Shuffle(Shuffle, u32),
}

/// One operation and the lanes that have arrived at it.
pub struct Group {
    mask: u32,
    operation: Operation,
    location: &'static Location<'static>,
    arrived: u32,
    values: [u64; 32],
    sources: [u8; 32],
}

/// The operations in progress of one warp: one, unless its lanes have diverged.
#[derive(Default)]
pub struct Warp {
    groups: Vec<Group>,
}

/// What one lane brings to an operation.
pub struct Arrival {
    /// The lane.
    pub lane: u32,
    /// The lanes that take part.
    pub mask: u32,
    /// What they do.
    pub operation: Operation,
    /// The call.
    pub location: &'static Location<'static>,
    /// The lane's value; a vote's predicate.
    pub value: u64,
    /// The lane whose value it asks for.
    pub source: u32,
}

impl Warp {
    /// Forgets operations that a cancelled block left behind.
    pub fn clear(&mut self) {
        self.groups.clear();
    }

    /// Takes in a lane; returns the group when it is the last of its mask.
    pub fn arrive(&mut self, arrival: &Arrival) -> Option<Group> {
        let k = match self.groups.iter().position(|group| group.takes(arrival)) {
            Some(k) => k,
            None => {
                self.groups.push(Group::new(arrival));
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[k];
        group.arrived |= 1 << arrival.lane;
        group.values[arrival.lane as usize] = arrival.value;
        group.sources[arrival.lane as usize] = arrival.source as u8;
        (group.arrived == group.mask).then(|| self.groups.swap_remove(k))
    }

    /// The mask of the operation that a lane waits in.
    pub fn waiting_mask(&self, lane: u32) -> Option<u32> {
        self.groups.iter().find(|group| group.arrived >> lane & 1 == 1).map(|group| group.mask)
    }
}

impl Group {
    fn new(arrival: &Arrival) -> Self {
        let Arrival { mask, operation, location, .. } = *arrival;
        Self { mask, operation, location, arrived: 0, values: [0; 32], sources: [0; 32] }
    }

    fn takes(&self, arrival: &Arrival) -> bool {
        (self.mask, self.operation, self.location) == (arrival.mask, arrival.operation, arrival.location)
    }

    /// The lanes of the operation.
    pub fn lanes(&self) -> impl Iterator<Item = u32> {
        let mask = self.mask;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// What a lane gets. A shuffle from a lane outside the mask is undefined on a device; here all bits are set.
    pub fn result(&self, lane: u32) -> u64 {
        match self.operation {
            Operation::Sync => 0,
            Operation::Ballot => self.lanes().map(|other| self.values[other as usize] << other).sum(),
            Operation::Shuffle(..) => {
                let source = self.sources[lane as usize];
                if self.mask >> source & 1 == 1 { self.values[source as usize] } else { u64::MAX }
            }
        }
    }
}
