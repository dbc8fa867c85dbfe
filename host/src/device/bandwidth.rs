//! Times of work on a device, and the bandwidth of a copy within its memory.

use super::Device;
use crate::result::Result;
use std::hint::black_box;
use std::time::Instant;

/// Gigabytes per second of a copy of this many bytes within the device's memory, reads and writes both counted; the
/// median of `samples`. It is the memory's bandwidth if no cache holds the bytes.
pub fn copy(device: &Device, bytes: usize, samples: u32) -> Result<f64> {
    let n = bytes / size_of::<f64>();
    let (from, mut to) = (device.zeros::<f64>(n)?, device.zeros::<f64>(n)?);
    let seconds = time(device, samples, || {
        device.copy(&from, &mut to)?;
        // Nobody reads the copy, so on the host the compiler would leave it out.
        black_box(&mut to);
        Ok(())
    })?;
    Ok(2.0 * (n * size_of::<f64>()) as f64 / seconds / 1e9)
}

/// Seconds of one `run`: the median of `samples`, each of as many runs as take at least two milliseconds, after a
/// warm-up. Host clock around a wait, so a sample's error is the wait's few microseconds.
pub fn time(device: &Device, samples: u32, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    device.finish()?;
    let start = Instant::now();
    run()?;
    device.finish()?;
    let repeats = (2e-3 / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1000.0);
    let mut times = Vec::new();
    for _ in 0..samples {
        let start = Instant::now();
        for _ in 0..repeats as usize {
            run()?;
        }
        device.finish()?;
        times.push(start.elapsed().as_secs_f64() / repeats);
    }
    Ok(median(times))
}

/// The median of some times, of which there is at least one; of an even number the larger of the two in the middle.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
