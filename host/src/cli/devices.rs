//! `warpfem devices`.

use super::print;
use crate::device::DeviceName;
use crate::device::bandwidth;
use crate::linalg::Space;
use crate::plan::Speed;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::fmt::Write;

/// Bytes that are copied to see how fast the host's memory is: more than caches hold, and a few hundredths of a second.
const COPIED: usize = 64 << 20;

/// Reads a device; shells complete its names.
#[derive(Debug, Clone)]
pub struct Parser<T>(fn(&str) -> Result<T, String>);

/// Reads a device.
pub fn parser() -> Parser<DeviceName> {
    Parser(str::parse)
}

/// Reads a device and keeps what was said.
pub fn named() -> Parser<String> {
    Parser(|text| text.parse::<DeviceName>().map(|_| text.to_owned()))
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Parser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let read = self.0;
        StringValueParser::new().try_map(move |text| read(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(["auto", "cpu", "cuda", "emulate"].map(PossibleValue::new).into_iter()))
    }
}

/// A device that can solve, and how fast it is.
pub struct Computer {
    /// What `--device` calls it.
    pub name: String,
    /// Its own memory; none if it is the host's.
    pub memory: Option<u64>,
    /// What an iteration is on it.
    pub speed: Speed,
    /// Where its bandwidth is from.
    pub how: &'static str,
}

/// The devices of this machine; those that cannot be asked are left out.
pub fn computers() -> Vec<Computer> {
    let copied = bandwidth::copy(&Space::cpu(), COPIED, 3).ok();
    let cpu = copied.map(|gb| Computer {
        name: "cpu".into(),
        memory: None,
        speed: Speed::cpu(1e9 * gb),
        how: "a copy, measured",
    });
    cpu.into_iter().chain(gpus()).collect()
}

#[cfg(feature = "cuda")]
fn gpus() -> Vec<Computer> {
    let gpus = crate::device::gpu::devices().unwrap_or_default();
    let of = |gpu: crate::device::gpu::DeviceInfo| Computer {
        name: format!("cuda:{}", gpu.index),
        memory: Some(gpu.memory),
        speed: Speed::gpu(gpu.bandwidth as f64),
        how: "0.9 of what its memory clock allows",
    };
    gpus.into_iter().map(of).collect()
}

#[cfg(not(feature = "cuda"))]
fn gpus() -> Vec<Computer> {
    Vec::new()
}

/// Lists the devices.
pub fn run() -> anyhow::Result<()> {
    let mut out = format!("cpu       {} threads\n", rayon::current_num_threads());
    out.push_str("emulate   the GPU's kernels on the CPU, for tests\n");
    list_gpus(&mut out)?;
    print::text(&out)
}

#[cfg(feature = "cuda")]
fn list_gpus(out: &mut String) -> anyhow::Result<()> {
    use crate::device::gpu;
    for gpu in gpu::devices()? {
        let (major, minor) = gpu.compute;
        let gib = gpu.memory as f64 / f64::from(1 << 30);
        let name = format!("cuda:{}", gpu.index);
        writeln!(out, "{name:<9} {}, {gib:.1} GiB, compute capability {major}.{minor}", gpu.name)?;
    }
    if let Some(why) = gpu::unavailable() {
        writeln!(out, "cuda      none: {why}")?;
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn list_gpus(out: &mut String) -> anyhow::Result<()> {
    writeln!(out, "cuda      none: built without the `cuda` feature")?;
    Ok(())
}
