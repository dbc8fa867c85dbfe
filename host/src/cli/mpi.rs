//! `mpirun -n N warpfem solve ..`: the first process reads, speaks and writes, the others serve it.

use crate::device::DeviceName;
use crate::linalg::{Comm, Space, local_rank};
use crate::pipeline;
use crate::result::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How this process reaches the others; nothing if there are none.
static COMM: OnceLock<Option<Comm>> = OnceLock::new();

/// Whether nobody waits for this process any more.
static HAS_SOLVED: AtomicBool = AtomicBool::new(false);

/// Joins the other processes, if there are any.
///
/// # Errors
///
/// [`Error::Device`] where MPI cannot be loaded.
pub fn join() -> Result<Option<&'static Comm>> {
    let comm = Comm::mpi()?;
    Ok(COMM.get_or_init(|| comm).as_ref())
}

/// Whether this process is the one that speaks.
pub fn speaks() -> bool {
    COMM.get().and_then(Option::as_ref).is_none_or(|comm| comm.rank() == 0)
}

/// All have solved what there was to solve.
pub fn has_solved() {
    HAS_SOLVED.store(true, Ordering::Relaxed);
}

/// Leaves the other processes; if not all has been solved, they end with this one.
pub fn leave(code: u8) {
    let Some(Some(comm)) = COMM.get() else { return };
    if HAS_SOLVED.load(Ordering::Relaxed) { comm.end() } else { comm.abort(code) }
}

/// The device of this process: the GPUs of a machine go to its processes in turn.
pub fn open(device: DeviceName, comm: &Comm) -> Result<Space> {
    let own = device.several(local_rank() + 1).pop().unwrap_or(device);
    Space::of_rank(own.open()?, comm.clone())
}

/// Waits until all others have opened their devices.
///
/// # Errors
///
/// [`Error::Rank`]
pub fn all_are_ready(comm: &Comm) -> Result<()> {
    (1..comm.size()).try_for_each(|rank| {
        let said = comm.receive(rank)?;
        let Some((code, message)) = said.split_first() else { return Ok(()) };
        let error = Error::Said { message: String::from_utf8_lossy(message).into_owned(), code: *code };
        Err(Error::Rank { rank, error: Box::new(error) })
    })
}

/// Serves the first process.
///
/// # Errors
///
/// Those of solving, which the first has not heard of.
pub fn serve(device: DeviceName, comm: &Comm) -> Result<()> {
    let space = match open(device, comm) {
        Ok(space) => space,
        Err(error) => {
            comm.send(0, [&[error.exit_code()], error.to_string().as_bytes()].concat());
            // The first ends all.
            comm.receive(0)?;
            return Ok(());
        }
    };
    comm.send(0, vec![]);
    pipeline::ranks::serve(&space).map_err(|error| Error::Rank { rank: comm.rank(), error: Box::new(error) })?;
    has_solved();
    Ok(())
}
