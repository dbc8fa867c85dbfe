//! GPUs that reach each other by NVIDIA's NCCL, where its library is found at run time. Nothing of it is needed to build.
//!
//! Declarations as in `nccl.h` of version 2.

use super::driver::{device_address, failure, load};
use super::{DeviceMemory, Link, Piece};
use crate::result::{Error, Result};
use cuda_loader::{Library, libloading};
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use cust::sys;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The library, beside what the environment variable names.
const LIBRARY: &str = "libnccl.so.2";
/// Names a library file to be opened instead.
const VARIABLE: &str = "WARPFEM_NCCL";

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Name([u8; 128]);

type Status = c_int;

/// `ncclComm_t`; none once it has been ended.
struct Communicator {
    handle: AtomicPtr<c_void>,
    is_in_use: AtomicBool,
}

/// A call that takes longer waits for other devices, and may be ended by another thread.
const LONGEST_CALL: Duration = Duration::from_secs(1);

impl Communicator {
    /// Makes a call with it.
    fn call(&self, call: impl FnOnce(*mut c_void) -> Result<()>) -> Result<()> {
        self.is_in_use.store(true, Ordering::SeqCst);
        let handle = self.handle.load(Ordering::SeqCst);
        let result = if handle.is_null() { Err(Error::Abandoned) } else { call(handle) };
        self.is_in_use.store(false, Ordering::SeqCst);
        result
    }

    /// Ends it here, without the others: some may have given up.
    fn abort(&self, functions: &Functions) {
        let handle = self.handle.swap(null_mut(), Ordering::SeqCst);
        if handle.is_null() {
            return;
        }
        let since = Instant::now();
        while self.is_in_use.load(Ordering::SeqCst) && since.elapsed() < LONGEST_CALL {
            thread::yield_now();
        }
        // SAFETY: nobody gets it any more; a call that waits still returns with an error.
        unsafe { (functions.abort)(handle) };
    }
}

/// Higher than any driver allows, which takes its highest instead.
const HIGHEST_PRIORITY: i32 = -100;

// Values of `nccl.h`.
const SUCCESS: Status = 0;
const BYTES: c_int = 1;

struct Functions {
    version: unsafe extern "C" fn(*mut c_int) -> Status,
    new_name: unsafe extern "C" fn(*mut Name) -> Status,
    join: unsafe extern "C" fn(*mut *mut c_void, c_int, Name, c_int) -> Status,
    abort: unsafe extern "C" fn(*mut c_void) -> Status,
    begin: unsafe extern "C" fn() -> Status,
    end: unsafe extern "C" fn() -> Status,
    send: unsafe extern "C" fn(sys::CUdeviceptr, usize, c_int, c_int, *mut c_void, sys::CUstream) -> Status,
    receive: unsafe extern "C" fn(sys::CUdeviceptr, usize, c_int, c_int, *mut c_void, sys::CUstream) -> Status,
    gather:
        unsafe extern "C" fn(sys::CUdeviceptr, sys::CUdeviceptr, usize, c_int, *mut c_void, sys::CUstream) -> Status,
}

impl Functions {
    fn of(library: &'static Library) -> Result<Self, String> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field that it goes into has the type that `nccl.h` declares for this name.
                *unsafe { library.get($name) }.map_err(|error: libloading::Error| error.to_string())?
            };
        }
        Ok(Functions {
            version: function!(b"ncclGetVersion\0"),
            new_name: function!(b"ncclGetUniqueId\0"),
            join: function!(b"ncclCommInitRank\0"),
            abort: function!(b"ncclCommAbort\0"),
            begin: function!(b"ncclGroupStart\0"),
            end: function!(b"ncclGroupEnd\0"),
            send: function!(b"ncclSend\0"),
            receive: function!(b"ncclRecv\0"),
            gather: function!(b"ncclAllGather\0"),
        })
    }
}

fn functions() -> Result<&'static Functions, &'static str> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    FOUND.get_or_init(|| load(VARIABLE, &[LIBRARY], Functions::of)).as_ref().map_err(String::as_str)
}

/// Why there is no NCCL, if there is none.
pub(super) fn missing() -> Option<String> {
    functions().err().map(|why| format!("{why}; {VARIABLE}=FILE names another"))
}

fn found() -> Result<&'static Functions> {
    functions().map_err(|why| Error::Device(format!("NCCL cannot be used: {why}")))
}

fn success(status: Status, doing: &str) -> Result<()> {
    let why = || format!("NCCL failed to {doing}: error {status}; `NCCL_DEBUG=WARN` in the environment says more");
    if status == SUCCESS { Ok(()) } else { Err(Error::Device(why())) }
}

/// The name of a new link.
pub(super) fn new_name() -> Result<Vec<u8>> {
    let mut name = Name([0; 128]);
    // SAFETY: it writes the name.
    success(unsafe { (found()?.new_name)(&raw mut name) }, "begin")?;
    Ok(name.0.to_vec())
}

/// Joins a link as the rank of this number among so many.
pub(super) fn link(stream: &Rc<Stream>, name: &[u8], [rank, size]: [usize; 2]) -> Result<Box<dyn Link>> {
    let (functions, mut communicator, mut of) = (found()?, null_mut(), Name([0; 128]));
    of.0.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    let beside = Stream::new(StreamFlags::NON_BLOCKING, Some(HIGHEST_PRIORITY))
        .map_err(|error| failure(error, "make a stream"))?;
    // SAFETY: it writes a communicator; the thread's context is that of its GPU.
    let status = unsafe { (functions.join)(&raw mut communicator, size as c_int, of, rank as c_int) };
    success(status, "join the other GPUs")?;
    let communicator =
        Arc::new(Communicator { handle: AtomicPtr::new(communicator), is_in_use: AtomicBool::new(false) });
    Ok(Box::new(Nccl { functions, communicator, stream: stream.clone(), beside, clock: RefCell::default() }))
}

/// A GPU among others.
struct Nccl {
    functions: &'static Functions,
    communicator: Arc<Communicator>,
    /// The kernels' own.
    stream: Rc<Stream>,
    /// That of exchanges, whose few blocks come before those of kernels.
    beside: Stream,
    clock: RefCell<Clock>,
}

/// How long work on a stream has taken.
#[derive(Default)]
struct Clock {
    seconds: f64,
    /// Where pieces of work began and ended that have not been added up.
    open: VecDeque<[Event; 2]>,
    free: Vec<Event>,
}

impl Clock {
    /// So many pieces are open at most.
    const MOST: usize = 256;

    fn event(&mut self, stream: &Stream) -> Result<Event, CudaError> {
        let event = self.free.pop().map_or_else(|| Event::new(EventFlags::DEFAULT), Ok)?;
        event.record(stream)?;
        Ok(event)
    }

    /// Adds up until so many pieces are open; waits for them.
    fn add_up(&mut self, open: usize) -> Result<f64, CudaError> {
        while self.open.len() > open
            && let Some([begin, end]) = self.open.pop_front()
        {
            end.synchronize()?;
            self.seconds += 1e-3 * f64::from(end.elapsed_time_f32(&begin)?);
            self.free.extend([begin, end]);
        }
        Ok(self.seconds)
    }
}

impl Nccl {
    /// What follows on a stream waits for what is on another now.
    fn order(&self, before: &Stream, after: &Stream) -> Result<()> {
        let ordered = || {
            let event = Event::new(EventFlags::DISABLE_TIMING)?;
            event.record(before)?;
            after.wait_event(event, StreamWaitEventFlags::DEFAULT)
        };
        ordered().map_err(|error| failure(error, "order an exchange"))
    }

    /// Does some work with the communicator, whose time on the stream counts.
    fn timed(&self, stream: &Stream, work: impl FnOnce(*mut c_void) -> Result<()>) -> Result<()> {
        let clock = &mut *self.clock.borrow_mut();
        let failed = |error| failure(error, "note the time");
        clock.add_up(Clock::MOST).map_err(failed)?;
        let begin = clock.event(stream).map_err(failed)?;
        self.communicator.call(work)?;
        let end = clock.event(stream).map_err(failed)?;
        clock.open.push_back([begin, end]);
        Ok(())
    }
}

impl Link for Nccl {
    fn name(&self) -> String {
        let mut version = 0;
        // SAFETY: it writes one number, 22803 for 2.28.3.
        unsafe { (self.functions.version)(&raw mut version) };
        format!("NCCL {}.{}", version / 10_000, version / 100 % 100)
    }

    fn begin_exchange(&self, from: &DeviceMemory, sent: &[Piece], to: &mut DeviceMemory, come: &[Piece]) -> Result<()> {
        let is_within = |pieces: &[Piece], all: usize| pieces.iter().all(|piece| piece.first + piece.bytes <= all);
        assert!(is_within(sent, from.bytes()) && is_within(come, to.bytes()), "pieces of other arrays");
        let (from, to, stream) = (device_address(from), device_address(to), self.beside.as_inner());
        self.order(&self.stream, &self.beside)?;
        // SAFETY: the arrays hold these bytes, as asserted, and live until the kernels' stream has waited for this one, in whose
        // order they are freed.
        self.timed(&self.beside, |communicator| unsafe {
            success((self.functions.begin)(), "begin an exchange")?;
            let sent = sent.iter().try_for_each(|Piece { rank, first, bytes }| {
                let at = from + *first as sys::CUdeviceptr;
                success((self.functions.send)(at, *bytes, BYTES, *rank as c_int, communicator, stream), "send")
            });
            let come = come.iter().try_for_each(|Piece { rank, first, bytes }| {
                let at = to + *first as sys::CUdeviceptr;
                success((self.functions.receive)(at, *bytes, BYTES, *rank as c_int, communicator, stream), "receive")
            });
            // What has begun must end, or the thread's later calls wait for it.
            let ended = success((self.functions.end)(), "exchange");
            sent.and(come).and(ended)
        })
    }

    fn end_exchange(&self) -> Result<()> {
        self.order(&self.beside, &self.stream)
    }

    fn gather(&self, own: &DeviceMemory, to: &mut DeviceMemory) -> Result<()> {
        assert!(to.bytes().is_multiple_of(own.bytes().max(1)), "what each rank has is of one length");
        let (from, bytes, to) = (device_address(own), own.bytes(), device_address(to));
        let stream = self.stream.as_inner();
        // SAFETY: all ranks have as many bytes, for which there is room.
        let gather = |communicator| unsafe { (self.functions.gather)(from, to, bytes, BYTES, communicator, stream) };
        self.timed(&self.stream, |communicator| success(gather(communicator), "gather"))
    }

    fn seconds(&self) -> Result<f64> {
        self.clock.borrow_mut().add_up(0).map_err(|error| failure(error, "read the time"))
    }

    fn breaker(&self) -> Box<dyn FnOnce() + Send> {
        let (functions, communicator) = (self.functions, self.communicator.clone());
        Box::new(move || communicator.abort(functions))
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        self.communicator.abort(self.functions);
    }
}
