//! A host thread's share of the emulator: the block it runs, and the carriers it has made so far.

use super::block::{Block, Event, Launch};
use super::carrier::Carrier;
use super::error::{EmulatorError, Fault};
use super::target::set_current;
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

thread_local! {
    static POOL: Cell<Option<Worker>> = const { Cell::new(None) };
    static TOGETHER: Cell<Vec<Worker>> = const { Cell::new(Vec::new()) };
}

/// The stacks that all workers together keep between launches. Each takes two of the 65530 mappings of a Linux process.
const MAX_STACKS: usize = 16384;

/// Runs blocks on the current host thread.
pub struct Worker {
    carriers: Vec<Carrier>,
    idle: Vec<usize>,
    block: Rc<Block>,
}

/// Runs all blocks of a launch at the same time, on this host thread: each from one barrier of the grid to the next.
/// `workers` are one per block, in the order in which they run.
pub fn run_together(workers: &mut [Worker], launch: &Launch, indices: &[[u32; 3]]) -> Result<(), EmulatorError> {
    workers.iter().zip(indices).for_each(|(worker, index)| worker.block.begin(launch, *index));
    loop {
        workers.iter_mut().for_each(Worker::go_on);
        let waiting = |worker: &&mut Worker| worker.block.is_at_grid_barrier();
        let n_waiting = workers.iter_mut().filter(waiting).count();
        if n_waiting == 0 {
            break;
        }
        if n_waiting == workers.len() {
            workers.iter().for_each(|worker| worker.block.leave_grid_barrier());
        } else {
            // They are to unwind; the first fault is what is reported.
            workers.iter_mut().filter(waiting).for_each(|worker| worker.block.fail_at_grid_barrier());
        }
    }
    // Every block is to end, whatever the others say. A fault of its own comes before what it did to the rest.
    let faults: Vec<EmulatorError> = workers.iter().filter_map(|worker| worker.block.end().err()).collect();
    let own = faults.iter().find(|error| error.fault != Fault::GridBarrier).or(faults.first());
    own.map_or(Ok(()), |error| Err(error.clone()))
}

/// The most workers for blocks of this size.
pub fn max_workers(block_threads: usize) -> usize {
    MAX_STACKS / block_threads.max(1)
}

/// Lends `n` workers of this host thread to `work`.
pub fn with_workers<R>(n: usize, work: impl FnOnce(&mut [Worker]) -> R) -> R {
    let mut workers = TOGETHER.take();
    workers.resize_with(n.max(workers.len()), Worker::new);
    let result = work(&mut workers[..n]);
    TOGETHER.set(workers);
    result
}

/// Lends this host thread's worker to `work`.
pub fn with_worker<R>(work: impl FnOnce(&mut Worker) -> R) -> R {
    let mut worker = POOL.take().unwrap_or_else(Worker::new);
    let result = work(&mut worker);
    worker.trim(MAX_STACKS / rayon::current_num_threads());
    POOL.set(Some(worker));
    result
}

impl Worker {
    fn new() -> Self {
        Self { carriers: Vec::new(), idle: Vec::new(), block: Rc::new(Block::new()) }
    }

    /// Drops carriers beyond `n`; all are idle between launches.
    fn trim(&mut self, n: usize) {
        self.carriers.truncate(n);
        self.idle.retain(|&k| k < n);
    }

    /// Gives the blocks to come their dynamic shared memory.
    pub fn begin_launch(&self, dynamic_bytes: usize, poison: bool) {
        self.block.shared().begin_launch(dynamic_bytes, poison);
    }

    /// Runs one block to its end.
    pub fn run_block(&mut self, launch: &Launch, index: [u32; 3]) -> Result<(), EmulatorError> {
        self.block.begin(launch, index);
        self.go_on();
        self.block.end()
    }

    /// Runs the block until all of its threads have returned or wait at the grid's barrier.
    fn go_on(&mut self) {
        set_current(Rc::as_ptr(&self.block));
        self.run_threads();
        set_current(ptr::null());
    }

    fn run_threads(&mut self) {
        loop {
            if let Some(thread) = self.block.next_ready() {
                self.block.make_current(thread);
                self.resume(self.block.threads[thread].carrier.get());
            } else if self.block.has_new() {
                match self.idle_carrier() {
                    Ok(k) => self.resume(k),
                    Err(error) => self.block.fail(0, None, Fault::Launch(format!("no stack for a thread: {error}"))),
                }
            } else if self.block.is_at_grid_barrier() && !self.block.cancelled.get() {
                return;
            } else if self.block.is_stalled() {
                if !self.block.cancelled.get() {
                    self.block.fail_stalled();
                }
                self.block.wake_all();
            } else {
                return;
            }
        }
    }

    fn resume(&mut self, k: usize) {
        self.block.carrier.set(k);
        if let Event::Idle = self.carriers[k].resume() {
            self.idle.push(k);
        }
    }

    fn idle_carrier(&mut self) -> std::io::Result<usize> {
        if let Some(k) = self.idle.pop() {
            return Ok(k);
        }
        let k = self.carriers.len();
        self.block.yielders.borrow_mut().resize(k + 1, ptr::null());
        self.carriers.push(Carrier::new(&self.block, k)?);
        Ok(k)
    }
}
