//! The device code, and what it needs of driver and GPU.
//!
//! The driver compiles a module when it is loaded. A module per kernel, loaded when the kernel is first launched, means
//! that a program waits only for the kernels it uses, and that the driver's cache has each of them by itself.

use crate::result::{Error, Result};
use cuda_loader::DriverVersion;
use ptx_archive::{Archive, ArchiveError};
use std::sync::LazyLock;

/// PTX of every kernel, made by `build.rs`. A solution launches 40 to 120 of 600 kernels: what they need stands in the index, and their texts are inflated
/// while the device is opened. Named in one place: of a constant the program would have a copy for each unit of code that names it.
static KERNELS: LazyLock<Result<Archive<'static>, ArchiveError>> =
    LazyLock::new(|| Archive::open(include_bytes!(env!("WARPFEM_PTX"))));

/// Inflates all of it, beside what else takes time when a device is opened.
pub fn prepare() {
    // By a thread of the pool: memory may have no room for one more.
    rayon::spawn(|| {
        if let Ok(archive) = KERNELS.as_ref() {
            archive.prepare();
        }
    });
}

/// What the driver is given for these entry points.
pub fn module(entries: &[&str]) -> Result<String> {
    let text = KERNELS.as_ref().map_err(ArchiveError::clone).and_then(|archive| archive.module(entries));
    text.map_err(|error| Error::Device(format!("the embedded device code cannot be used: {error}")))
}

/// What a module of device code needs of driver and GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Version of the PTX language: `.version 7.4`.
    version: (u32, u32),
    /// Compute capability times ten: `.target sm_80`.
    target: u32,
}

/// What the embedded device code needs.
pub fn requirements() -> Result<Requirements> {
    module(&[]).map(|text| Requirements::of(&text))
}

/// The first version of the driver that knows each version of PTX: the versions of both rise in step between these
/// (NVIDIA, "PTX ISA", release notes).
const FIRST_DRIVERS: [((u32, u32), (u32, u32)); 4] =
    [((7, 0), (11, 0)), ((8, 0), (12, 0)), ((8, 7), (12, 8)), ((9, 0), (13, 0))];

impl Requirements {
    /// By the module's header; none where it has no such line.
    fn of(ptx: &str) -> Requirements {
        let after = |key: &str| ptx.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("").trim();
        let number = |text: &str| text.parse().unwrap_or(0);
        let (major, minor) = after(".version").split_once('.').unwrap_or(("0", "0"));
        let target = after(".target sm_").split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        Requirements { version: (number(major), number(minor)), target: number(target) }
    }

    /// The oldest driver that takes it, by the CUDA version that it is for.
    fn driver(&self) -> (u32, u32) {
        let known = FIRST_DRIVERS.iter().rev().find(|(version, _)| *version <= self.version);
        known.map_or((0, 0), |((_, from), (major, minor))| (*major, minor + self.version.1 - from))
    }

    /// Why it cannot run with this driver on a GPU of this compute capability, in words, with what to do.
    pub fn unmet(&self, driver: Option<DriverVersion>, compute: (i32, i32)) -> Option<String> {
        let (major, minor) = self.driver();
        if let Some(driver) = driver
            && (driver.major, driver.minor) < (major, minor)
        {
            return Some(format!(
                "its driver is for CUDA {driver}, and the kernels need one for {major}.{minor} or newer"
            ));
        }
        let (has, needs) = (10 * compute.0 + compute.1, self.target as i32);
        (has < needs).then(|| {
            let (major, minor) = (needs / 10, needs % 10);
            format!(
                "its compute capability is {}.{}, and the kernels need {major}.{minor} or more",
                compute.0, compute.1
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_drivers_and_old_gpus_are_refused_in_words() {
        let needs = Requirements::of("// made by rustc\n.version 7.4\n.target sm_80, debug\n.address_size 64\n");
        assert_eq!(needs, Requirements { version: (7, 4), target: 80 });
        let driver = |major, minor| Some(DriverVersion { major, minor });
        assert_eq!(needs.unmet(driver(11, 4), (8, 0)), None);
        assert_eq!(needs.unmet(driver(13, 0), (12, 0)), None);
        assert_eq!(needs.unmet(None, (9, 0)), None);
        let old = needs.unmet(driver(11, 3), (8, 0)).unwrap();
        assert_eq!(old, "its driver is for CUDA 11.3, and the kernels need one for 11.4 or newer");
        assert!(needs.unmet(driver(10, 2), (8, 0)).is_some());
        let turing = needs.unmet(driver(12, 4), (7, 5)).unwrap();
        assert_eq!(turing, "its compute capability is 7.5, and the kernels need 8.0 or more");
        let newer = |version: &str| Requirements::of(&format!(".version {version}\n.target sm_90\n")).driver();
        assert_eq!(["7.8", "8.0", "8.4", "8.7", "9.0"].map(newer), [(11, 8), (12, 0), (12, 4), (12, 8), (13, 0)]);
    }

    #[test]
    fn the_embedded_code_says_what_it_needs() {
        let needs = requirements().unwrap();
        assert!(needs.version >= (7, 0) && needs.target >= 80, "{needs:?}");
        assert!(needs.driver() >= (11, 0));
    }

    #[test]
    fn a_module_is_of_one_kernel() {
        let text = module(&["axpy_f64"]).unwrap();
        assert!(text.starts_with(".version ") && text.matches(".entry ").count() == 1);
        assert_eq!(Requirements::of(&text), requirements().unwrap());
        let error = module(&["no_such_kernel"]).unwrap_err().to_string();
        assert!(
            error.contains("the embedded device code cannot be used") && error.contains("`no_such_kernel`"),
            "{error}"
        );
    }
}
