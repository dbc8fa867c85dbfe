//! NVIDIA GPUs, through `cust` and the driver that `cuda_loader` finds at run time.

use super::cudss;
use super::driver::{check, device_address, failure};
use super::graph::Graph;
use super::memory::Memory;
use super::nccl;
use super::ptx;
use super::staging::{FROM_BYTES, Staging};
use super::{DeviceMemory, Launcher, Link, LowerBytes, Recording};
use crate::device::{Factorised, Factors, Grid, MAX_SHARED};
use crate::result::{Error, Result};
use cuda_std::launch::Kernel;
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;

/// An NVIDIA GPU as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, as in `cuda:1`.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Compute capability.
    pub compute: (i32, i32),
    /// Bytes per second that its memory's clock and bus can move.
    pub bandwidth: u64,
}

/// Why no NVIDIA GPU can be used, in words; `None` if one can.
pub fn unavailable() -> Option<String> {
    cuda_loader::available().err()
}

/// The direct solver of CUDA devices.
pub fn factors() -> Factors {
    if cudss::missing().is_none() { Factors::Sparse } else { Factors::Dense }
}

/// The GPUs of this machine; empty where there is no driver.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    if unavailable().is_some() {
        return Ok(Vec::new());
    }
    let list = || -> Result<Vec<DeviceInfo>, CudaError> {
        cust::init(cust::CudaFlags::empty())?;
        Device::devices()?.enumerate().map(|(index, device)| describe(index as u32, device?)).collect()
    };
    list().map_err(|e| failure(e, "list devices"))
}

fn describe(index: u32, device: Device) -> Result<DeviceInfo, CudaError> {
    let major = device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = device.get_attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    // The clock is in kHz, and data move twice in each of its cycles.
    let clock = device.get_attribute(DeviceAttribute::MemoryClockRate)? as u64 * 2000;
    let bandwidth = clock * device.get_attribute(DeviceAttribute::GlobalMemoryBusWidth)? as u64 / 8;
    let (name, memory) = (device.name()?, device.total_memory()? as u64);
    Ok(DeviceInfo { index, name, memory, compute: (major, minor), bandwidth })
}

/// GPU `index`, which is there and can run the embedded device code; it is not opened.
pub fn usable(index: u32) -> Result<Device> {
    if let Some(why) = unavailable() {
        return Err(Error::Device(format!("no NVIDIA GPU can be used: {why}")));
    }
    let find = || -> Result<(Device, DeviceInfo), CudaError> {
        cust::init(cust::CudaFlags::empty())?;
        let device = Device::get_device(index)?;
        Ok((device, describe(index, device)?))
    };
    let (device, info) = find().map_err(|e| failure(e, &format!("open device cuda:{index}")))?;
    match ptx::requirements()?.unmet(cuda_loader::driver_version(), info.compute) {
        Some(why) => Err(Error::Device(format!("cuda:{index} cannot be used: {why}"))),
        None => Ok(device),
    }
}

/// A loaded kernel; the module owns the code.
struct Loaded {
    _module: Module,
    function: sys::CUfunction,
    /// Bytes of dynamic shared memory that a block may have.
    shared_bytes: usize,
}

/// Launches on an NVIDIA GPU, in one stream. Fields drop in order, the context last.
pub struct Cuda {
    kernels: RefCell<HashMap<&'static str, Loaded>>,
    /// What [`Launcher::resident_grid`] has found, by kernel and threads of a block.
    resident: RefCell<HashMap<(&'static str, usize), Grid>>,
    memory: Memory,
    /// For copies of large arrays; made for the first.
    staging: RefCell<Option<Staging>>,
    stream: Rc<Stream>,
    name: String,
    /// Of this GPU alone.
    identity: String,
    multiprocessors: usize,
    full_grid: usize,
    _context: Context,
}

impl Cuda {
    /// Opens GPU `index`.
    pub fn new(index: u32) -> Result<Self> {
        ptx::prepare();
        let device = usable(index)?;
        Self::open(device).map_err(|e| failure(e, &format!("open device cuda:{index}")))?
    }

    fn open(device: Device) -> Result<Result<Self>, CudaError> {
        let context = Context::new(device)?;
        CurrentContext::set_current(&context)?;
        let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)? as usize;
        let per_multiprocessor = device.get_attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)? as usize;
        let stream = Rc::new(Stream::new(StreamFlags::NON_BLOCKING, None)?);
        let (name, memory) = (device.name()?, Memory::new(device, &stream));
        let place = [DeviceAttribute::PciDomainId, DeviceAttribute::PciBusId, DeviceAttribute::PciDeviceId];
        let place: Vec<i32> = place.into_iter().map(|part| device.get_attribute(part)).collect::<Result<_, _>>()?;
        // Of machines without a name, one is as good as another.
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let identity = format!("{} {place:?}", machine.trim());
        Ok(memory.map(|memory| Cuda {
            kernels: RefCell::default(),
            resident: RefCell::default(),
            memory,
            staging: RefCell::default(),
            stream,
            name,
            identity,
            multiprocessors,
            full_grid: multiprocessors * per_multiprocessor / kernels_rs::reduce::BLOCK,
            _context: context,
        }))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        self.memory.allocate(bytes)?.ok_or_else(|| {
            let (needed, available) = (Some(bytes as u64), self.free_memory());
            Error::OutOfMemory { device: self.name.clone(), needed, available }
        })
    }

    /// Copies an array by way of pinned memory, if it is so large that this is worthwhile and that memory can be had.
    fn by_staging(&self, bytes: usize, copy: impl FnOnce(&mut Staging, &Stream) -> Result<()>) -> Option<Result<()>> {
        if bytes < FROM_BYTES {
            return None;
        }
        let mut staging = self.staging.borrow_mut();
        if staging.is_none() {
            *staging = Staging::new().ok();
        }
        staging.as_mut().map(|staging| copy(staging, &self.stream))
    }

    fn function(&self, name: &'static str) -> Result<sys::CUfunction> {
        if let Some(loaded) = self.kernels.borrow().get(name) {
            return Ok(loaded.function);
        }
        let ptx = ptx::module(&[name])?;
        let load = || {
            let module = Module::from_ptx(&ptx, &[])?;
            let function = module.get_function(name)?.to_raw();
            Ok(Loaded { _module: module, function, shared_bytes: MAX_SHARED })
        };
        let loaded = load().map_err(|e| {
            let driver = cuda_loader::driver_version().map_or(String::new(), |version| format!(" (CUDA {version})"));
            failure(e, &format!("compile kernel `{name}` by its driver{driver}; a newer driver may"))
        })?;
        let function = loaded.function;
        self.kernels.borrow_mut().insert(name, loaded);
        Ok(function)
    }

    /// Sees to it that blocks of a loaded kernel may have so much dynamic shared memory.
    fn grant_shared(&self, name: &'static str, bytes: usize) -> Result<()> {
        use sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC;
        let mut kernels = self.kernels.borrow_mut();
        if let Some(loaded) = kernels.get_mut(name).filter(|loaded| loaded.shared_bytes < bytes) {
            // SAFETY: the function is loaded.
            let result = unsafe { sys::cuFuncSetAttribute(loaded.function, MAX_DYNAMIC, bytes as i32) };
            check(result, "grant shared memory")?;
            loaded.shared_bytes = bytes;
        }
        Ok(())
    }
}

impl Launcher for Cuda {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn free_memory(&self) -> Option<u64> {
        self.memory.free()
    }

    fn upload(&self, data: &[u8]) -> Result<DeviceMemory> {
        let memory = self.allocate(data.len())?;
        if !data.is_empty() {
            let to = device_address(&memory);
            // SAFETY: the memory was allocated for these bytes.
            let copied = self.by_staging(data.len(), |staging, stream| unsafe { staging.upload(stream, data, to) });
            if let Some(copied) = copied {
                return copied.map(|()| memory);
            }
            let from = data.as_ptr().cast::<c_void>();
            // SAFETY: both sides hold these bytes. In the stream of the kernels that will read them: a copy in another
            // stream may still be on its way when it returns.
            let result = unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, data.len(), self.stream.as_inner()) };
            check(result, "copy to its memory")?;
            self.finish()?;
        }
        Ok(memory)
    }

    fn zeros(&self, bytes: usize) -> Result<DeviceMemory> {
        let memory = self.allocate(bytes)?;
        // SAFETY: it holds these bytes.
        let result = unsafe { sys::cuMemsetD8Async(device_address(&memory), 0, bytes, self.stream.as_inner()) };
        check(result, "clear memory")?;
        Ok(memory)
    }

    fn download(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        assert!(first + to.len() <= from.bytes(), "{} bytes from {first} on, of {}", to.len(), from.bytes());
        if to.is_empty() {
            return Ok(());
        }
        let from = device_address(from) + first as sys::CUdeviceptr;
        // SAFETY: the bytes are there, as asserted.
        let copied = self.by_staging(to.len(), |staging, stream| unsafe { staging.download(stream, from, to) });
        if let Some(copied) = copied {
            return copied;
        }
        let (to, bytes) = (to.as_mut_ptr().cast::<c_void>(), to.len());
        // SAFETY: both sides hold these bytes, and `finish` waits before `to` is used.
        let result = unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, self.stream.as_inner()) };
        check(result, "copy from its memory")?;
        self.finish()
    }

    fn copy(&self, from: &DeviceMemory, to: &mut DeviceMemory) -> Result<()> {
        assert_eq!(from.bytes(), to.bytes(), "copy between arrays of different lengths");
        let (to, bytes) = (device_address(to), from.bytes());
        // SAFETY: both hold these bytes.
        let result = unsafe { sys::cuMemcpyDtoDAsync_v2(to, device_address(from), bytes, self.stream.as_inner()) };
        check(result, "copy within its memory")
    }

    unsafe fn launch(&self, grid: Grid, kernel: &dyn Kernel) -> Result<()> {
        let function = self.function(kernel.name())?;
        self.grant_shared(kernel.name(), grid.shared_bytes)?;
        let mut params = kernel.params();
        // SAFETY: the parameters are the kernel's own, in its order; the caller keeps its contract.
        let result = unsafe {
            sys::cuLaunchKernel(
                function,
                grid.blocks as u32,
                1,
                1,
                grid.threads as u32,
                1,
                1,
                grid.shared_bytes as u32,
                self.stream.as_inner(),
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        check(result, &format!("launch kernel `{}`", kernel.name()))
    }

    unsafe fn launch_cooperative(&self, grid: Grid, kernel: &dyn Kernel) -> Result<bool> {
        use sys::cudaError_enum::{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_SUPPORTED};
        let function = self.function(kernel.name())?;
        let (mut params, stream) = (kernel.params(), self.stream.as_inner());
        let [blocks, threads, bytes] = [grid.blocks, grid.threads, grid.shared_bytes].map(|n| n as u32);
        // SAFETY: as for `launch`.
        let result = unsafe {
            sys::cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, bytes, stream, params.as_mut_ptr())
        };
        if matches!(result, CUDA_ERROR_NOT_SUPPORTED | CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
            return Ok(false);
        }
        check(result, &format!("launch kernel `{}`", kernel.name())).map(|()| true)
    }

    fn resident_grid(&self, threads: usize, kernel: &dyn Kernel) -> Result<Grid> {
        use sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC;
        if let Some(grid) = self.resident.borrow().get(&(kernel.name(), threads)) {
            return Ok(*grid);
        }
        let (function, mut blocks, mut bytes) = (self.function(kernel.name())?, 0, 0);
        // SAFETY: the function is loaded, and `blocks` and `bytes` receive one number each.
        unsafe {
            let (n_threads, doing) = (threads as i32, "say how many blocks it can run");
            check(sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, n_threads, 0), doing)?;
            if blocks > 0 {
                check(
                    sys::cuOccupancyAvailableDynamicSMemPerBlock(&raw mut bytes, function, blocks, n_threads),
                    doing,
                )?;
                check(sys::cuFuncSetAttribute(function, MAX_DYNAMIC, bytes as i32), "grant shared memory")?;
            }
        }
        let grid = Grid { blocks: blocks.max(0) as usize * self.multiprocessors, threads, shared_bytes: bytes };
        self.resident.borrow_mut().insert((kernel.name(), threads), grid);
        Ok(grid)
    }

    fn record(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        Ok(Some(Box::new(Graph::record(&self.stream, work)?)))
    }

    fn factors(&self) -> Factors {
        factors()
    }

    fn lacks_factors(&self) -> Option<String> {
        cudss::missing()
    }

    fn factorise(&self, lower: LowerBytes, smallest: f64) -> Result<Factorised> {
        cudss::factorise(self, &self.stream, lower, smallest)
    }

    fn identity(&self) -> Option<String> {
        nccl::missing().is_none().then(|| self.identity.clone())
    }

    fn new_link(&self) -> Option<Vec<u8>> {
        nccl::new_name().ok()
    }

    fn link(&self, name: &[u8], rank: usize, size: usize) -> Result<Box<dyn Link>> {
        nccl::link(&self.stream, name, [rank, size])
    }

    fn finish(&self) -> Result<()> {
        self.stream.synchronize().map_err(|e| failure(e, "finish its work"))
    }

    fn full_grid(&self) -> usize {
        self.full_grid
    }
}
