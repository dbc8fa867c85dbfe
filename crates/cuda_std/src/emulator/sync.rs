//! Waiting: barriers of the block and the grid, warp operations, and what to say when nobody can go on.

use super::block::{Block, Cancelled, Event, State, Thread};
use super::error::Fault;
use super::warp::Arrival;
use std::panic::{Location, resume_unwind};
use std::thread::panicking;

impl Block {
    /// The current thread arrives at a barrier, and leaves it when all live threads have arrived.
    ///
    /// The last to arrive goes straight on, so a barrier costs one switch less than it has threads.
    pub fn sync_threads(&self, location: &'static Location<'static>) {
        // A destructor that runs while its thread unwinds cannot wait for the others.
        if panicking() {
            return;
        }
        self.arrive(location);
        self.at_barrier.set(self.at_barrier.get() + 1);
        if !self.release_barrier() {
            self.wait(State::Barrier(location));
        }
    }

    /// Remembers where the first thread of the block waits, and whether another waits elsewhere.
    fn arrive(&self, location: &'static Location<'static>) {
        match self.barrier.get() {
            None => self.barrier.set(Some(location)),
            Some(first) => self.divergent.set(self.divergent.get() || first != location),
        }
    }

    /// The current thread arrives at the grid's barrier, and leaves it when every thread of the grid has arrived.
    #[track_caller]
    pub fn sync_grid(&self, location: &'static Location<'static>) {
        if panicking() {
            return;
        }
        assert!(self.launch().together, "the grid's barrier in a launch whose blocks need not run at the same time");
        self.arrive(location);
        self.at_grid_barrier.set(self.at_grid_barrier.get() + 1);
        self.wait(State::Grid(location));
    }

    /// Whether every thread of the block waits at the grid's barrier.
    pub fn is_at_grid_barrier(&self) -> bool {
        self.at_grid_barrier.get() == self.launch().lanes.len() && !self.divergent.get()
    }

    /// Lets the threads at the grid's barrier go on.
    pub fn leave_grid_barrier(&self) {
        self.make_ready(|state| matches!(state, State::Grid(_)));
        self.at_grid_barrier.set(0);
        self.barrier.set(None);
    }

    /// Makes the threads in such a state ready, in the order of lanes.
    fn make_ready(&self, waits: impl Fn(State) -> bool) {
        let mut ready = self.ready.borrow_mut();
        for &thread in &self.launch().lanes {
            let state = &self.threads[thread as usize].state;
            if waits(state.get()) {
                state.set(State::Ready);
                ready.push_back(thread as usize);
            }
        }
    }

    /// Lets the threads at the barrier go on if no live thread is missing and all are at the same one; says whether.
    pub fn release_barrier(&self) -> bool {
        if self.at_barrier.get() < self.live.get() || self.divergent.get() {
            return false;
        }
        self.make_ready(|state| matches!(state, State::Barrier(_)));
        self.at_barrier.set(0);
        self.barrier.set(None);
        true
    }

    /// The current thread takes part in a warp operation, and returns with its result.
    pub fn warp_operation(&self, arrival: &Arrival) -> u64 {
        if panicking() {
            return 0;
        }
        let me = self.thread() as usize;
        let first = me - arrival.lane as usize;
        let complete = self.warps.borrow_mut()[me / 32].arrive(arrival);
        let Some(group) = complete else {
            self.wait(State::Warp(arrival.location));
            return self.threads[me].result.get();
        };
        let mut ready = self.ready.borrow_mut();
        for lane in group.lanes().filter(|&lane| lane != arrival.lane) {
            let other = first + lane as usize;
            self.threads[other].result.set(group.result(lane));
            self.threads[other].state.set(State::Ready);
            ready.push_back(other);
        }
        group.result(arrival.lane)
    }

    /// Suspends the current thread until the worker resumes it; unwinds it if the block has failed meanwhile.
    fn wait(&self, state: State) {
        let thread = &self.threads[self.thread() as usize];
        let carrier = self.carrier.get();
        thread.state.set(state);
        thread.carrier.set(carrier);
        let yielder = self.yielders.borrow()[carrier];
        // SAFETY: a carrier's yielder lives as long as its coroutine, on whose stack this very code runs.
        unsafe { &*yielder }.suspend(Event::Waiting);
        if self.cancelled.get() {
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// The lanes of the current thread's warp that have not returned.
    pub fn live_lanes(&self) -> u32 {
        self.live_lanes_of(self.thread() as usize / 32)
    }

    fn live_lanes_of(&self, warp: usize) -> u32 {
        let lanes = self.threads[32 * warp..].iter().take(32).enumerate();
        lanes.filter(|(_, thread)| !matches!(thread.state.get(), State::Done)).map(|(lane, _)| 1 << lane).sum()
    }

    /// Whether threads wait although none is ready or new.
    pub fn is_stalled(&self) -> bool {
        self.live.get() > 0 && self.threads.iter().any(|thread| thread.state.get().waits())
    }

    /// Fails the block because threads wait and none can go on.
    pub fn fail_stalled(&self) {
        if self.at_grid_barrier.get() == self.live.get() && !self.divergent.get() {
            return self.fail_at_grid_barrier();
        }
        let waits = |(k, thread): (usize, &Thread)| match thread.state.get() {
            State::Barrier(location) | State::Grid(location) => Some((k, true, location)),
            State::Warp(location) => Some((k, false, location)),
            _ => None,
        };
        let waiting: Vec<_> = self.threads.iter().enumerate().filter_map(waits).collect();
        for (k, _, location) in waiting.iter().filter(|(_, at_barrier, _)| !at_barrier) {
            let mask = self.warps.borrow()[k / 32].waiting_mask(*k as u32 % 32).unwrap_or(0);
            let gone = mask & !self.live_lanes_of(k / 32);
            if gone != 0 {
                return self.fail(*k, Some((*location).into()), Fault::ExitedLanes { mask, gone });
            }
        }
        let Some(&(k, at_barrier, location)) = waiting.first() else { return };
        let elsewhere = waiting.iter().find(|(.., other)| *other != location);
        let (other, other_at_barrier, other_location) = *elsewhere.or(waiting.get(1)).unwrap_or(&waiting[0]);
        let (thread, place) = (self.launch().points[other], other_location.into());
        let fault = if at_barrier && other_at_barrier {
            Fault::DivergentBarrier { thread, place }
        } else {
            Fault::Deadlock { thread, place }
        };
        self.fail(k, Some(location.into()), fault);
    }

    /// Makes every waiting thread ready, to be resumed and unwound.
    pub fn wake_all(&self) {
        self.make_ready(State::waits);
        self.at_grid_barrier.set(0);
    }

    /// Fails a block that waits at the grid's barrier while other threads of the grid have returned.
    pub fn fail_at_grid_barrier(&self) {
        let first = self.threads.iter().enumerate().find_map(|(k, thread)| match thread.state.get() {
            State::Grid(location) => Some((k, location)),
            _ => None,
        });
        if let Some((k, location)) = first {
            self.fail(k, Some(location.into()), Fault::GridBarrier);
        }
    }
}
