//! The block that a worker is running: its threads' states, who runs now, and what went wrong.

use super::dim::Dim3;
use super::error::{EmulatorError, Fault, Place};
use super::panics;
use super::shared::Shared;
use super::warp::Warp;
use crate::launch::Kernel;
use std::any::Any;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr;

/// The most threads of a block, on every device.
pub const MAX_THREADS: usize = 1024;

/// What all blocks of a launch have in common.
pub struct Launch<'a> {
    /// The kernel and its parameters.
    pub kernel: &'a dyn Kernel,
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// The index of each thread in its block, x fastest.
    pub points: Vec<[u32; 3]>,
    /// The order in which threads start and go on.
    pub lanes: Vec<u32>,
    /// Whether all blocks run at the same time, so that they may wait for one another.
    pub together: bool,
}

/// Why a carrier of threads came back.
pub enum Event {
    /// The thread on it waits.
    Waiting,
    /// No thread is on it.
    Idle,
}

/// The way back from a carrier.
pub type Yielder = corosensei::Yielder<(), Event>;

/// Where a thread is.
#[derive(Clone, Copy)]
pub enum State {
    /// Not started.
    New,
    /// Running, or free to.
    Ready,
    /// Waiting at a barrier.
    Barrier(&'static Location<'static>),
    /// Waiting at the grid's barrier.
    Grid(&'static Location<'static>),
    /// Waiting in a warp operation.
    Warp(&'static Location<'static>),
    /// Returned.
    Done,
}

impl State {
    /// Whether it waits for others.
    pub fn waits(self) -> bool {
        matches!(self, State::Barrier(_) | State::Grid(_) | State::Warp(_))
    }
}

/// One thread of the block.
pub struct Thread {
    /// Where it is.
    pub state: Cell<State>,
    /// The carrier whose stack it is on while it waits.
    pub carrier: Cell<usize>,
    /// What its last warp operation gave it.
    pub result: Cell<u64>,
}

/// The payload of the unwinding that ends the waiting threads of a failed block.
pub struct Cancelled;

/// A block. Shared between its worker and the carriers, which take turns on one host thread.
pub struct Block {
    launch: Cell<*const Launch<'static>>,
    index: Cell<[u32; 3]>,
    current: Cell<usize>,
    point: Cell<[u32; 3]>,
    started: Cell<usize>,
    pub(super) carrier: Cell<usize>,
    pub(super) yielders: RefCell<Vec<*const Yielder>>,
    pub(super) threads: Vec<Thread>,
    pub(super) live: Cell<usize>,
    pub(super) at_barrier: Cell<usize>,
    pub(super) at_grid_barrier: Cell<usize>,
    pub(super) barrier: Cell<Option<&'static Location<'static>>>,
    pub(super) divergent: Cell<bool>,
    pub(super) ready: RefCell<VecDeque<usize>>,
    pub(super) warps: RefCell<Vec<Warp>>,
    pub(super) cancelled: Cell<bool>,
    shared: RefCell<Shared>,
    /// What threads have started to copy to shared memory: the thread, to, from, bytes.
    copies: RefCell<Vec<(usize, *mut u8, *const u8, usize)>>,
    fault: RefCell<Option<EmulatorError>>,
}

impl Block {
    /// A block that is running nothing.
    pub fn new() -> Self {
        let thread = || Thread { state: Cell::new(State::Done), carrier: Cell::new(0), result: Cell::new(0) };
        Self {
            launch: Cell::new(ptr::null()),
            index: Cell::new([0; 3]),
            current: Cell::new(0),
            point: Cell::new([0; 3]),
            started: Cell::new(0),
            carrier: Cell::new(0),
            yielders: RefCell::default(),
            threads: (0..MAX_THREADS).map(|_| thread()).collect(),
            live: Cell::new(0),
            at_barrier: Cell::new(0),
            at_grid_barrier: Cell::new(0),
            barrier: Cell::new(None),
            divergent: Cell::new(false),
            ready: RefCell::default(),
            warps: RefCell::new((0..MAX_THREADS / 32).map(|_| Warp::default()).collect()),
            cancelled: Cell::new(false),
            shared: RefCell::new(Shared::new()),
            copies: RefCell::default(),
            fault: RefCell::new(None),
        }
    }

    /// Becomes block `index` of a launch, with no thread started. The launch must outlive the run of the block.
    pub fn begin(&self, launch: &Launch, index: [u32; 3]) {
        let n_threads = launch.lanes.len();
        self.launch.set(ptr::from_ref(launch).cast());
        self.index.set(index);
        self.started.set(0);
        self.live.set(n_threads);
        self.at_barrier.set(0);
        self.at_grid_barrier.set(0);
        self.barrier.set(None);
        self.divergent.set(false);
        self.cancelled.set(false);
        for (k, thread) in self.threads[..n_threads.next_multiple_of(32)].iter().enumerate() {
            thread.state.set(if k < n_threads { State::New } else { State::Done });
        }
        self.shared().begin_block();
        self.copies.borrow_mut().clear();
    }

    /// The launch whose block this is.
    pub fn launch(&self) -> &Launch<'_> {
        // SAFETY: set by `begin`; only called while the block runs, and the launch outlives that.
        unsafe { &*self.launch.get() }
    }

    /// Checks shared memory, and says how the block ended.
    pub fn end(&self) -> Result<(), EmulatorError> {
        if self.cancelled.get() {
            self.warps.borrow_mut().iter_mut().for_each(Warp::clear);
        }
        if !self.shared().end_block() {
            self.fail(self.current.get(), None, Fault::SharedOverrun);
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Whether a thread is left to start.
    pub fn has_new(&self) -> bool {
        !self.cancelled.get() && self.started.get() < self.launch().lanes.len()
    }

    /// The next thread that waited and may go on.
    pub fn next_ready(&self) -> Option<usize> {
        self.ready.borrow_mut().pop_front()
    }

    /// Makes a thread the current one.
    pub fn make_current(&self, thread: usize) {
        self.current.set(thread);
        self.point.set(self.launch().points[thread]);
        self.threads[thread].state.set(State::Ready);
    }

    /// Starts threads in order and runs them, until none is new or one that waited may go on. Runs on a carrier.
    pub fn run_new_threads(&self) {
        while self.has_new() {
            let launch = self.launch();
            let position = self.started.get();
            self.started.set(position + 1);
            self.make_current(launch.lanes[position] as usize);
            // SAFETY: the promise made to `Emulator::launch`.
            let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { launch.kernel.run_thread() }));
            self.finish(outcome);
            if !self.ready.borrow().is_empty() {
                return;
            }
        }
    }

    /// The current thread has returned or unwound.
    fn finish(&self, outcome: Result<(), Box<dyn Any + Send>>) {
        let thread = self.current.get();
        self.threads[thread].state.set(State::Done);
        self.live.set(self.live.get() - 1);
        match outcome {
            Err(payload) if !payload.is::<Cancelled>() => {
                let (message, place) = panics::take();
                self.fail(thread, place, Fault::Panic(message));
            }
            _ if self.at_barrier.get() > 0 => _ = self.release_barrier(),
            _ => {}
        }
    }

    /// Records the first fault; every thread that waits is to unwind.
    pub fn fail(&self, thread: usize, place: Option<Place>, fault: Fault) {
        self.cancelled.set(true);
        let (kernel, block) = (self.launch().kernel.name(), self.index.get());
        let thread = self.launch().points[thread];
        self.fault.borrow_mut().get_or_insert(EmulatorError { kernel, block, thread, place, fault });
    }

    /// Index of the current thread in the block, x fastest.
    pub fn thread(&self) -> u32 {
        self.current.get() as u32
    }

    /// Index of the current thread.
    pub fn thread_idx(&self) -> [u32; 3] {
        self.point.get()
    }

    /// Index of the block.
    pub fn block_idx(&self) -> [u32; 3] {
        self.index.get()
    }

    /// Threads of the block.
    pub fn block_dim(&self) -> [u32; 3] {
        self.launch().block.array()
    }

    /// Blocks of the grid.
    pub fn grid_dim(&self) -> [u32; 3] {
        self.launch().grid.array()
    }

    /// Notes a copy that the current thread starts.
    pub fn start_copy(&self, to: *mut u8, from: *const u8, bytes: usize) {
        self.copies.borrow_mut().push((self.current.get(), to, from, bytes));
    }

    /// Does the copies that the current thread has started.
    pub fn finish_copies(&self) {
        self.copies.borrow_mut().retain(|&(thread, to, from, bytes)| {
            let is_own = thread == self.current.get();
            if is_own {
                // SAFETY: the promise made to `copy_async`: both places are there, and are different memory.
                unsafe { to.copy_from_nonoverlapping(from, bytes) };
            }
            !is_own
        });
    }

    /// The block's shared memory.
    pub fn shared(&self) -> RefMut<'_, Shared> {
        self.shared.borrow_mut()
    }
}
