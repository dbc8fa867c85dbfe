//! The device's copy bandwidth, the yardstick of everything that is limited by memory.

use super::median;
use crate::Result;
use crate::backend::Backend;
use std::hint::black_box;
use std::time::Instant;

/// Bytes copied at a time: far more than any cache holds.
const GPU_BYTES: usize = 4 << 30;
const HOST_BYTES: usize = 256 << 20;

/// Gigabytes per second of a copy within the device's memory, reads and writes both counted; the median of `samples`.
pub fn copy<B: Backend>(backend: &B, is_gpu: bool, samples: u32) -> Result<f64> {
    copy_of(backend, if is_gpu { GPU_BYTES } else { HOST_BYTES }, samples)
}

/// The same of this many bytes.
pub fn copy_of<B: Backend>(backend: &B, bytes: usize, samples: u32) -> Result<f64> {
    let n = bytes / size_of::<f64>();
    let (from, mut to) = (backend.zeros::<f64>(n)?, backend.zeros::<f64>(n)?);
    let seconds = time(backend, samples, || {
        backend.copy(&from, &mut to)?;
        // Nobody reads the copy, so on the host the compiler would leave it out.
        black_box(&mut to);
        Ok(())
    })?;
    Ok(2.0 * (n * size_of::<f64>()) as f64 / seconds / 1e9)
}

/// Seconds of one `run`: the median of `samples`, each of as many runs as take at least two milliseconds, after a
/// warm-up. Host clock around a wait, so a sample's error is the wait's few microseconds.
pub fn time<B: Backend>(backend: &B, samples: u32, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    backend.finish()?;
    let start = Instant::now();
    run()?;
    backend.finish()?;
    let repeats = (2e-3 / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1000.0);
    let mut times = Vec::new();
    for _ in 0..samples {
        let start = Instant::now();
        for _ in 0..repeats as usize {
            run()?;
        }
        backend.finish()?;
        times.push(start.elapsed().as_secs_f64() / repeats);
    }
    Ok(median(times))
}
