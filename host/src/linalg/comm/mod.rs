//! What ranks say to each other: messages of bytes, and sums that all of them have alike.
//!
//! A rank is one device with its part of a body. Sums of ranks are gathered and added in the order of the ranks, so all of
//! them have the same bits, run after run, and come to the same decisions.

mod mpi;
mod threads;

use crate::result::{Error, Result};
use bytemuck::{Pod, Zeroable};
use mpi::Mpi;
pub use mpi::local_rank;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use threads::{Breaker, Member};

/// What a rank has had to do with the others so far.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Traffic {
    /// Messages that it has sent, by the devices' own way too.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds in which it waited for messages.
    pub waited_s: f64,
}

impl Traffic {
    /// What has been added since.
    pub fn since(self, before: Traffic) -> Traffic {
        let Traffic { messages, bytes, waited_s } = before;
        Traffic { messages: self.messages - messages, bytes: self.bytes - bytes, waited_s: self.waited_s - waited_s }
    }
}

/// The same as it grows: messages, bytes and nanoseconds.
#[derive(Default)]
struct Counters([AtomicU64; 3]);

impl Counters {
    fn add(&self, more: [u64; 3]) {
        self.0.iter().zip(more).for_each(|(sum, more)| {
            sum.fetch_add(more, Ordering::Relaxed);
        });
    }

    fn traffic(&self) -> Traffic {
        let [messages, bytes, nanoseconds] = [0, 1, 2].map(|k: usize| self.0[k].load(Ordering::Relaxed));
        Traffic { messages, bytes, waited_s: 1e-9 * nanoseconds as f64 }
    }
}

/// How a rank reaches the others.
#[derive(Clone)]
pub enum Comm {
    /// There are none.
    Alone,
    /// They are threads of this process.
    Threads(Member),
    /// They are processes that `mpirun` has started.
    Mpi(Arc<Mpi>),
}

/// The values that a message has, of a plain type.
pub fn values_in<T: Pod>(message: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); message.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(message);
    values
}

impl Comm {
    /// Those of so many threads, in the order of their ranks.
    pub fn threads(size: usize) -> Vec<Comm> {
        Member::all(size).into_iter().map(Comm::Threads).collect()
    }

    /// That of a process that `mpirun` has started with others; else nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] where there are others and MPI cannot be loaded.
    pub fn mpi() -> Result<Option<Comm>> {
        Ok(Mpi::open()?.map(|mpi| Comm::Mpi(Arc::new(mpi))))
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        match self {
            Comm::Alone => 0,
            Comm::Threads(member) => member.rank(),
            Comm::Mpi(mpi) => mpi.rank,
        }
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        match self {
            Comm::Alone => 1,
            Comm::Threads(member) => member.size(),
            Comm::Mpi(mpi) => mpi.size,
        }
    }

    /// What this rank has had to do with the others so far.
    pub fn traffic(&self) -> Traffic {
        self.counters().map_or_else(Zeroable::zeroed, Counters::traffic)
    }

    fn counters(&self) -> Option<&Counters> {
        match self {
            Comm::Alone => None,
            Comm::Threads(member) => Some(&member.counters),
            Comm::Mpi(mpi) => Some(&mpi.counters),
        }
    }

    /// Counts messages of so many bytes.
    pub fn count(&self, messages: impl Iterator<Item = usize>) {
        if let Some(counters) = self.counters() {
            messages.for_each(|bytes| counters.add([1, bytes as u64, 0]));
        }
    }

    /// Sends a message to another rank; does not wait.
    pub fn send(&self, to: usize, message: Vec<u8>) {
        self.count([message.len()].into_iter());
        match self {
            Comm::Alone => {}
            Comm::Threads(member) => member.send(to, message),
            Comm::Mpi(mpi) => mpi.send(to, message),
        }
    }

    /// The next message from another rank; waits.
    ///
    /// # Errors
    ///
    /// [`Error::Abandoned`] where a rank has given up.
    pub fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let since = Instant::now();
        let message = match self {
            Comm::Alone => Err(Error::Abandoned),
            Comm::Threads(member) => member.receive(from),
            Comm::Mpi(mpi) => Ok(mpi.receive(from)),
        };
        self.counters().inspect(|counters| counters.add([0, 0, since.elapsed().as_nanos() as u64]));
        message
    }

    /// Gives up: no thread waits for this rank any more. Processes end with [`Comm::abort`].
    pub fn abandon(&self) {
        if let Comm::Threads(member) = self {
            member.abandon();
        }
    }

    /// Whether a rank has given up.
    pub fn is_abandoned(&self) -> bool {
        if let Comm::Threads(member) = self { member.is_abandoned() } else { false }
    }

    /// What is to end this rank's way to the others' devices once a rank has given up. Processes are ended.
    pub fn break_by(&self, breaker: Breaker) {
        if let Comm::Threads(member) = self {
            member.break_by(breaker);
        }
    }

    /// Ends all processes with an exit code, if ranks are processes.
    pub fn abort(&self, code: u8) {
        if let Comm::Mpi(mpi) = self {
            mpi.abort(code);
        }
    }

    /// Ends well, if ranks are processes: nothing is sent any more.
    pub fn end(&self) {
        if let Comm::Mpi(mpi) = self {
            mpi.end();
        }
    }

    /// What each rank has, in the order of ranks; all ranks ask at once.
    pub fn gather(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.all_to_all(vec![own; self.size()])
    }

    /// Sends each rank its message; those that come, in the order of ranks, the rank's own among them.
    pub fn all_to_all(&self, mut messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let others = || (0..self.size()).filter(|rank| *rank != self.rank());
        others().for_each(|to| self.send(to, take(&mut messages[to])));
        for from in others() {
            messages[from] = self.receive(from)?;
        }
        Ok(messages)
    }

    /// Combines numbers of all ranks, the same bits on each: `by` takes them in the order of ranks.
    pub fn reduce(&self, values: &mut [f64], by: fn(f64, f64) -> f64) -> Result<()> {
        if self.size() == 1 {
            return Ok(());
        }
        let all = self.gather(bytemuck::cast_slice(values).to_vec())?;
        for (rank, of_rank) in all.iter().enumerate() {
            for (value, other) in values.iter_mut().zip(values_in(of_rank)) {
                *value = if rank == 0 { other } else { by(*value, other) };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_ranks_have_the_same_bits_in_the_order_of_ranks() {
        let term = |rank: usize| [1.0 / (rank as f64 + 3.0), (rank as f64).sin(), 1e16 * (rank as f64 - 2.0)];
        for size in [1, 2, 3, 4, 7] {
            let exact = (1..size).map(term).fold(term(0), |sum, more| [0, 1, 2].map(|k| sum[k] + more[k]));
            let of_rank = |comm: Comm| {
                let mut values = term(comm.rank());
                comm.reduce(&mut values, |a, b| a + b).unwrap();
                let others = comm.gather(vec![comm.rank() as u8; comm.rank()]).unwrap();
                assert!(others.iter().enumerate().all(|(rank, of)| *of == vec![rank as u8; rank]));
                let Traffic { messages, bytes, .. } = comm.traffic();
                assert_eq!(messages, 2 * (size as u64 - 1));
                assert_eq!(bytes, (24 + comm.rank() as u64) * (size as u64 - 1));
                values
            };
            let found: Vec<[f64; 3]> = thread::scope(|scope| {
                let ranks: Vec<_> = Comm::threads(size).into_iter().map(|comm| scope.spawn(|| of_rank(comm))).collect();
                ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
            });
            assert!(found.iter().all(|values| *values == exact), "{size} ranks: {found:?}");
        }
    }
}
