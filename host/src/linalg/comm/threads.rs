//! Ranks that are threads of this process.

use super::Counters;
use crate::result::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// One of some threads.
#[derive(Clone)]
pub struct Member {
    rank: usize,
    boxes: Arc<Mailboxes>,
    pub(super) counters: Arc<Counters>,
}

/// Messages on their way between threads.
struct Mailboxes {
    /// `[from][to]`.
    queues: Vec<Mailbox>,
    size: usize,
    /// Whether a rank has given up, so that the others must not wait for it.
    is_abandoned: AtomicBool,
    /// What ends the ways of the ranks' devices to each other then, by rank.
    breakers: Vec<Mutex<Option<Breaker>>>,
}

/// What ends a way of devices to each other.
pub type Breaker = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Mailbox {
    messages: Mutex<VecDeque<Vec<u8>>>,
    arrival: Condvar,
}

/// Looks at an empty mailbox before a thread goes to sleep, and how long it sleeps before it sees whether all are alive.
const LOOKS: usize = 2_000;
const NAP: Duration = Duration::from_millis(20);

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// So many, in the order of their ranks.
    pub fn all(size: usize) -> Vec<Member> {
        let queues = (0..size * size).map(|_| Mailbox::default()).collect();
        let breakers = (0..size).map(|_| Mutex::default()).collect();
        let boxes = Arc::new(Mailboxes { queues, size, is_abandoned: AtomicBool::new(false), breakers });
        (0..size).map(|rank| Member { rank, boxes: boxes.clone(), counters: Arc::default() }).collect()
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn size(&self) -> usize {
        self.boxes.size
    }

    pub(super) fn send(&self, to: usize, message: Vec<u8>) {
        let mailbox = &self.boxes.queues[self.rank * self.boxes.size + to];
        mailbox.lock().push_back(message);
        mailbox.arrival.notify_one();
    }

    pub(super) fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let mailbox = &self.boxes.queues[from * self.boxes.size + self.rank];
        for _ in 0..LOOKS {
            if let Some(message) = mailbox.lock().pop_front() {
                return Ok(message);
            }
            thread::yield_now();
        }
        let mut messages = mailbox.lock();
        loop {
            if let Some(message) = messages.pop_front() {
                return Ok(message);
            }
            if self.is_abandoned() {
                return Err(Error::Abandoned);
            }
            messages = mailbox.arrival.wait_timeout(messages, NAP).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.boxes.is_abandoned.load(Ordering::Acquire)
    }

    pub(super) fn abandon(&self) {
        self.boxes.is_abandoned.store(true, Ordering::Release);
        (0..self.size()).for_each(|rank| self.break_link(rank));
    }

    pub(super) fn break_by(&self, breaker: Breaker) {
        *self.breaker(self.rank) = Some(breaker);
        // A rank that has given up meanwhile has not seen it.
        if self.is_abandoned() {
            self.break_link(self.rank);
        }
    }

    fn breaker(&self, rank: usize) -> MutexGuard<'_, Option<Breaker>> {
        self.boxes.breakers[rank].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn break_link(&self, rank: usize) {
        let breaker = self.breaker(rank).take();
        breaker.into_iter().for_each(|breaker| breaker());
    }
}
