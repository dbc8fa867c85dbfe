//! `cust` on top of the forwarders: it must link, start, and report the truth on machines with and without a driver.

use cust::error::CudaError;
use cust::{CudaFlags, sys};

#[test]
fn cust_starts_exactly_where_a_device_is_available() {
    match (cuda_loader::available(), cust::init(CudaFlags::empty())) {
        (Ok(()), result) => result.expect("an available device initialises"),
        (Err(reason), Ok(())) => assert!(reason.contains("sees no device"), "{reason}"),
        (Err(_), Err(error)) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn without_a_driver_calls_return_no_device() {
    if cuda_loader::driver_version().is_some() {
        eprintln!("skipped: there is a driver");
        return;
    }
    assert_eq!(cust::init(CudaFlags::empty()), Err(CudaError::NoDevice));
    assert_eq!(CudaError::NoDevice.to_string(), "\"no CUDA-capable device is detected\"");
    assert!(cust::device::Device::num_devices().is_err());
}

/// References, without calling them, to what callers use of `cust::sys` beside `cust` itself.
#[test]
fn the_functions_that_cust_does_not_wrap_are_exported() {
    let addresses = [
        sys::cuStreamBeginCapture_v2 as *const () as usize,
        sys::cuStreamEndCapture as *const () as usize,
        sys::cuStreamIsCapturing as *const () as usize,
        sys::cuGraphInstantiate_v2 as *const () as usize,
        sys::cuGraphLaunch as *const () as usize,
        sys::cuGraphExecDestroy as *const () as usize,
        sys::cuGraphDestroy as *const () as usize,
        sys::cuLaunchCooperativeKernel as *const () as usize,
        sys::cuFuncSetAttribute as *const () as usize,
        sys::cuModuleLoadDataEx as *const () as usize,
        sys::cuMemGetInfo_v2 as *const () as usize,
        sys::cuMemcpyPeerAsync as *const () as usize,
        sys::cuCtxEnablePeerAccess as *const () as usize,
        sys::cuMemHostRegister_v2 as *const () as usize,
    ];
    assert!(addresses.iter().all(|&address| address != 0));
}
