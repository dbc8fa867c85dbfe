//! A launcher that counts what it is asked for: the launches of the GPU device, run on the emulator.

use cuda_std::launch::Kernel;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use warpfem::device::gpu::{DeviceMemory, Launcher};
use warpfem::device::{Device, Emulated, Factors, Grid};
use warpfem::linalg::{Comm, N_SCALARS, Space};
use warpfem::result::{Error, Result};

/// How often each thing was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Launches by entry point.
    pub launches: BTreeMap<&'static str, usize>,
    /// Copies within the device.
    pub copies: usize,
    /// Arrays copied to the device.
    pub uploads: usize,
    /// Their bytes.
    pub bytes_uploaded: usize,
    /// Reads of the bank of scalars.
    pub reads: usize,
    /// Other arrays copied back.
    pub downloads: usize,
    /// Waits for the device alone.
    pub waits: usize,
    /// Arrays made.
    pub allocations: usize,
}

/// Bytes of arrays that live, and the most so far.
#[derive(Debug, Clone, Default)]
pub struct Usage(Rc<Cell<[usize; 2]>>);

impl Usage {
    /// The most bytes that have been in use at once.
    pub fn most(&self) -> usize {
        self.0.get()[1]
    }

    fn is(&self, now: usize) {
        self.0.set([now, now.max(self.most())]);
    }

    /// An array that counts while it lives.
    fn counting(&self, memory: DeviceMemory) -> DeviceMemory {
        self.is(self.0.get()[0] + memory.bytes());
        // SAFETY: the bytes of another array, which lives as long.
        unsafe { DeviceMemory::new(memory.address(), memory.bytes(), Counted(self.clone(), memory)) }
    }
}

struct Counted(Usage, DeviceMemory);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.is(self.0.0.get()[0] - self.1.bytes());
    }
}

/// The emulator, counting. What a clone is asked for counts too.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    pub emulated: Emulated,
    pub counted: Rc<RefCell<Counts>>,
    /// Memory in use.
    pub usage: Usage,
    /// Bytes of memory.
    pub room: Option<u64>,
    /// Whether it has dense factors for `auto` to choose.
    pub has_factors: bool,
    /// Whether it lacks launches whose blocks wait for one another.
    pub refuses_cooperation: bool,
    /// Bytes of shared memory for a block of those that run at the same time.
    pub shared_bytes: Option<usize>,
    /// So many arrays have room, and the next has none.
    pub full_at: Option<usize>,
    /// All arrays have room but the one after so many.
    pub refused: Option<usize>,
}

impl Recorder {
    /// Whether there is room for an array of so many bytes.
    fn make_room(&self, needed: usize) -> Result<()> {
        let counts = self.counted.borrow();
        let arrays = counts.uploads + counts.allocations;
        if self.full_at.is_some_and(|room| arrays > room) || self.refused.is_some_and(|room| arrays == room + 1) {
            let (device, needed) = ("a small GPU".into(), Some(needed as u64));
            return Err(Error::OutOfMemory { device, needed, available: Some(0) });
        }
        Ok(())
    }

    /// A space on this device.
    pub fn space(&self) -> Result<Space> {
        Space::gpu(self.clone())
    }

    /// The space of a rank on this device.
    pub fn space_of_rank(&self, comm: Comm) -> Result<Space> {
        Space::of_rank(Device::Gpu(Box::new(self.clone())), comm)
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counted.borrow().clone()
    }
}

impl Launcher for Recorder {
    fn name(&self) -> String {
        self.emulated.name()
    }

    fn free_memory(&self) -> Option<u64> {
        self.room.or(self.emulated.free_memory())
    }

    fn factors(&self) -> Factors {
        if self.has_factors { Factors::Dense } else { self.emulated.factors() }
    }

    fn upload(&self, data: &[u8]) -> Result<DeviceMemory> {
        self.counted.borrow_mut().uploads += 1;
        self.counted.borrow_mut().bytes_uploaded += data.len();
        self.make_room(data.len())?;
        self.emulated.upload(data).map(|memory| self.usage.counting(memory))
    }

    fn zeros(&self, bytes: usize) -> Result<DeviceMemory> {
        self.counted.borrow_mut().allocations += 1;
        self.make_room(bytes)?;
        self.emulated.zeros(bytes).map(|memory| self.usage.counting(memory))
    }

    fn download(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        let is_bank = from.bytes() == N_SCALARS * size_of::<f64>();
        let mut counts = self.counted.borrow_mut();
        *if is_bank { &mut counts.reads } else { &mut counts.downloads } += 1;
        self.emulated.download(from, first, to)
    }

    fn copy(&self, from: &DeviceMemory, to: &mut DeviceMemory) -> Result<()> {
        self.counted.borrow_mut().copies += 1;
        self.emulated.copy(from, to)
    }

    unsafe fn launch(&self, grid: Grid, kernel: &dyn Kernel) -> Result<()> {
        *self.counted.borrow_mut().launches.entry(kernel.name()).or_default() += 1;
        // SAFETY: the caller keeps the kernel's contract.
        unsafe { self.emulated.launch(grid, kernel) }
    }

    unsafe fn launch_cooperative(&self, grid: Grid, kernel: &dyn Kernel) -> Result<bool> {
        if self.refuses_cooperation {
            return Ok(false);
        }
        *self.counted.borrow_mut().launches.entry(kernel.name()).or_default() += 1;
        // SAFETY: the caller keeps the kernel's contract.
        unsafe { self.emulated.launch_cooperative(grid, kernel) }
    }

    fn resident_grid(&self, threads: usize, kernel: &dyn Kernel) -> Result<Grid> {
        let grid = self.emulated.resident_grid(threads, kernel)?;
        Ok(Grid { shared_bytes: self.shared_bytes.unwrap_or(grid.shared_bytes), ..grid })
    }

    fn finish(&self) -> Result<()> {
        self.counted.borrow_mut().waits += 1;
        self.emulated.finish()
    }

    fn full_grid(&self) -> usize {
        self.emulated.full_grid()
    }
}
