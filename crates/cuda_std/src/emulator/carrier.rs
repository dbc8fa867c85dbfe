//! Coroutines that carry emulated threads.
//!
//! A carrier runs threads of the block one after the other. Only when one waits does its stack stay with it, and the
//! worker takes another carrier for the next thread; so threads that never wait share one stack without a single
//! switch. Carriers are kept between blocks and launches.

use super::block::{Block, Event, Yielder};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::io;
use std::rc::Rc;

/// The stack of an emulated thread. Only pages that are touched take memory.
const STACK_BYTES: usize = 256 << 10;

/// One coroutine.
pub struct Carrier(Coroutine<(), Event, ()>);

impl Carrier {
    /// The carrier of number `k` in its worker.
    pub fn new(block: &Rc<Block>, k: usize) -> io::Result<Self> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        let block = Rc::clone(block);
        Ok(Self(Coroutine::with_stack(stack, move |yielder: &Yielder, ()| {
            block.yielders.borrow_mut()[k] = yielder;
            loop {
                block.run_new_threads();
                yielder.suspend(Event::Idle);
            }
        })))
    }

    /// Goes on where the carrier stopped.
    pub fn resume(&mut self) -> Event {
        match self.0.resume(()) {
            CoroutineResult::Yield(event) => event,
            CoroutineResult::Return(()) => Event::Idle,
        }
    }
}
