//! Time, and what a solution takes of processors meanwhile.

use std::time::Instant;

/// A stopwatch, of time and of processors' time.
pub struct Clock {
    since: Instant,
    cpu: Option<f64>,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Clock {
        Clock { since: Instant::now(), cpu: cpu_seconds() }
    }

    /// Seconds since, and those of processors.
    pub fn seconds(&self) -> (f64, Option<f64>) {
        let cpu = self.cpu.zip(cpu_seconds()).map(|(before, now)| now - before);
        (self.since.elapsed().as_secs_f64(), cpu)
    }
}

/// What the process has taken of processors, with what the system did for it.
#[cfg(target_os = "linux")]
fn cpu_seconds() -> Option<f64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: there is room for what is written.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: it has been written.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(not(target_os = "linux"))]
fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_a_processor_and_sleep_does_not() {
        let clock = Clock::start();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let (slept, _) = clock.seconds();
        let mut x = 1.0_f64;
        while clock.seconds().0 < slept + 0.05 {
            x = std::hint::black_box(x.sqrt());
        }
        let (seconds, of_processors) = clock.seconds();
        assert!(seconds >= 0.08);
        if cfg!(target_os = "linux") {
            assert!(of_processors.is_some_and(|seconds| seconds > 0.0));
        }
    }
}
