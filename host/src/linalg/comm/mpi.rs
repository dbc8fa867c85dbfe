//! Ranks that are processes which `mpirun` has started: MPI, whose library is found at run time. Nothing of it is needed to
//! build.
//!
//! Declarations are those of the C interface, MPI 3.1. What Open MPI and MPICH have as handles differs: addresses of objects
//! there, numbers here; both go through a word.

use super::Counters;
use crate::result::{Error, Result};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use std::{env, hint};

#[cfg(unix)]
type Library = libloading::os::unix::Library;
#[cfg(not(unix))]
type Library = libloading::Library;

/// Names of Open MPI's library and of MPICH's, whose interface Intel MPI and others have.
const OPEN_MPI: [&str; 2] = ["libmpi.so.40", "libmpi.so.80"];
const MPICH: [&str; 2] = ["libmpi.so.12", "libmpich.so.12"];
/// Names a library file to be opened instead.
const VARIABLE: &str = "WARPFEM_MPI";
/// What those that start processes tell these: how many there are.
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"];
/// And the number of a process on its machine.
const LOCAL: [&str; 4] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"];

// Values of MPICH's `mpi.h`.
const MPICH_WORLD: usize = 0x4400_0000;
const MPICH_BYTE: usize = 0x4c00_010d;
const MPICH_NO_STATUS: usize = 1;
/// Calls come from one thread at a time.
const SERIALIZED: c_int = 2;
/// The largest piece of a message: lengths have 31 bits.
const PIECE: usize = 1 << 30;
/// Looks at what has not come before a process yields, and before it sleeps.
const LOOKS: usize = 200;
const YIELDS: usize = 2_000;
const NAP: Duration = Duration::from_micros(50);

/// What MPI hands out: an address or a number.
type Handle = usize;
type InitThread = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
type OfWorld = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type Send = unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
type Test = unsafe extern "C" fn(*mut Handle, *mut c_int, *mut c_void) -> c_int;
type Abort = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;

/// MPI, and this process among those that it has started.
pub struct Mpi {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) counters: Counters,
    world: Handle,
    byte: Handle,
    /// What stands for a status that nobody reads.
    no_status: *mut c_void,
    send: Send,
    receive: Receive,
    test: Test,
    abort: Abort,
    finalize: Finalize,
    /// Messages on their way, which stay where they are until they have gone.
    pending: Mutex<Vec<(Handle, Arc<[u8]>)>>,
}

// SAFETY: the addresses are those of the library, which stays; calls are made by one thread at a time.
unsafe impl std::marker::Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

/// The number that the first of some environment variables has.
fn number(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| env::var(name).ok()?.parse().ok())
}

/// The number of this process among those of its machine, if `mpirun` has started it.
pub fn local_rank() -> usize {
    number(&LOCAL).unwrap_or(0)
}

impl Mpi {
    /// Starts MPI if this process was started with others.
    pub(super) fn open() -> Result<Option<Mpi>> {
        // A task of Slurm is one of several processes if it was started by `srun` as one.
        if number(&SIZES).is_none_or(|size| size < 2) {
            return Ok(None);
        }
        let failed =
            |why: String| Error::Device(format!("started with other processes, but MPI cannot be used: {why}"));
        let (library, is_open_mpi) = library().map_err(failed)?;
        // SAFETY: functions of MPI by their names, with the parameters that its C interface gives them.
        let mpi = unsafe { Mpi::start(library, is_open_mpi) }.map_err(|error| failed(error.to_string()))?;
        if mpi.size < 2 {
            let why =
                format!("its library sees this process alone; set {VARIABLE} to that of the `mpirun` that started it");
            return Err(failed(why));
        }
        Ok(Some(mpi))
    }

    /// # Safety
    /// The library is MPI's, of that kind.
    unsafe fn start(library: &'static Library, is_open_mpi: bool) -> Result<Mpi, libloading::Error> {
        // SAFETY: the caller's promise.
        unsafe {
            let [world, byte] = match is_open_mpi {
                true => {
                    let object = |name: &[u8]| Ok(*library.get::<*mut c_void>(name)? as Handle);
                    [object(b"ompi_mpi_comm_world\0")?, object(b"ompi_mpi_byte\0")?]
                }
                false => [MPICH_WORLD, MPICH_BYTE],
            };
            let init: InitThread = *library.get(b"MPI_Init_thread\0")?;
            let (rank_of, size_of): (OfWorld, OfWorld) =
                (*library.get(b"MPI_Comm_rank\0")?, *library.get(b"MPI_Comm_size\0")?);
            let (mut provided, mut rank, mut size) = (0, 0, 0);
            init(null_mut(), null_mut(), SERIALIZED, &raw mut provided);
            rank_of(world, &raw mut rank);
            size_of(world, &raw mut size);
            Ok(Mpi {
                rank: rank as usize,
                size: size as usize,
                counters: Counters::default(),
                world,
                byte,
                no_status: if is_open_mpi { null_mut() } else { MPICH_NO_STATUS as *mut c_void },
                send: *library.get(b"MPI_Isend\0")?,
                receive: *library.get(b"MPI_Irecv\0")?,
                test: *library.get(b"MPI_Test\0")?,
                abort: *library.get(b"MPI_Abort\0")?,
                finalize: *library.get(b"MPI_Finalize\0")?,
                pending: Mutex::default(),
            })
        }
    }

    /// Whether what a request stands for is done.
    fn is_done(&self, request: &mut Handle) -> bool {
        let mut done = 0;
        // SAFETY: a request of this library, which waits for nothing else.
        unsafe { (self.test)(request, &raw mut done, self.no_status) };
        done != 0
    }

    pub(super) fn send(&self, to: usize, message: Vec<u8>) {
        let length: Arc<[u8]> = (message.len() as u64).to_le_bytes().into();
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain_mut(|(request, _)| !self.is_done(request));
        for message in [length, message.into()] {
            for piece in message.chunks(PIECE) {
                let (mut request, from, n) = (0, piece.as_ptr().cast(), piece.len() as c_int);
                // SAFETY: the message lives where it is until the request is done.
                unsafe { (self.send)(from, n, self.byte, to as c_int, 0, self.world, &raw mut request) };
                pending.push((request, message.clone()));
            }
        }
    }

    pub(super) fn receive(&self, from: usize) -> Vec<u8> {
        let mut length = [0; size_of::<u64>()];
        self.receive_into(from, &mut length);
        let mut message = vec![0; u64::from_le_bytes(length) as usize];
        message.chunks_mut(PIECE).for_each(|piece| self.receive_into(from, piece));
        message
    }

    fn receive_into(&self, from: usize, piece: &mut [u8]) {
        let (mut request, n) = (0, piece.len() as c_int);
        let to = piece.as_mut_ptr().cast();
        // SAFETY: the piece is borrowed until the request is done.
        unsafe { (self.receive)(to, n, self.byte, from as c_int, 0, self.world, &raw mut request) };
        let mut looks = 0;
        while !self.is_done(&mut request) {
            looks += 1;
            match looks {
                ..LOOKS => hint::spin_loop(),
                LOOKS..YIELDS => thread::yield_now(),
                _ => thread::sleep(NAP),
            }
        }
    }

    /// Ends what is on its way, and MPI.
    pub(super) fn end(&self) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        while pending.iter_mut().any(|(request, _)| !self.is_done(request)) {
            thread::yield_now();
        }
        // SAFETY: nothing is on its way any more.
        unsafe { (self.finalize)() };
    }

    pub(super) fn abort(&self, code: u8) {
        // SAFETY: it ends this process.
        unsafe { (self.abort)(self.world, code.into()) };
    }
}

/// MPI's library, which stays open, and whether it is Open MPI's.
fn library() -> Result<(&'static Library, bool), String> {
    let named = env::var(VARIABLE).ok();
    let names = named.as_deref().map_or_else(|| [OPEN_MPI, MPICH].concat(), |name| vec![name]);
    let mut why = String::new();
    for name in names {
        match open(name) {
            Ok(library) => {
                let library: &'static Library = Box::leak(Box::new(library));
                // SAFETY: the name is looked up, and what it stands for not used.
                let is_open_mpi = unsafe { library.get::<*mut c_void>(b"ompi_mpi_comm_world\0") }.is_ok();
                return Ok((library, is_open_mpi));
            }
            Err(error) => why = error.to_string(),
        }
    }
    Err(format!("{why}; set {VARIABLE} to the file of its library"))
}

fn open(name: &str) -> Result<Library, libloading::Error> {
    // SAFETY: MPI's initialisers are fit to run. Its own plugins look for its names among those of the process.
    unsafe {
        cfg_select! {
            unix => {{
                use libloading::os::unix::{RTLD_GLOBAL, RTLD_NOW};
                Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL)
            }}
            _ => Library::new(name),
        }
    }
}
