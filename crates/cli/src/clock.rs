//! Time by the wall, and time that threads have worked.

use std::time::Instant;

/// Whose work counts.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// That of all threads of this process.
    Process,
    /// That of this thread.
    Thread,
}

/// When something began.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    whose: Work,
    wall: Instant,
    cpu: Option<f64>,
}

impl Clock {
    pub(crate) fn start(whose: Work) -> Clock {
        Clock { whose, wall: Instant::now(), cpu: seconds(whose) }
    }

    /// Seconds since then, and those that were worked.
    pub(crate) fn passed(&self) -> (f64, Option<f64>) {
        let cpu = seconds(self.whose).zip(self.cpu).map(|(now, before)| now - before);
        (self.wall.elapsed().as_secs_f64(), cpu)
    }
}

/// Seconds worked since the process or thread began; none where the system does not say.
fn seconds(whose: Work) -> Option<f64> {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(match whose {
            Work::Process => ClockId::ProcessCPUTime,
            Work::Thread => ClockId::ThreadCPUTime,
        });
        #[allow(clippy::cast_precision_loss)] // seconds since the process began
        Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    }
    #[cfg(not(unix))]
    {
        let _ = whose;
        None
    }
}

/// The most memory that this process has held so far, in bytes; none where the system does not say.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_told() {
        assert!(peak_memory().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[cfg(unix)]
    #[test]
    fn work_counts_and_waiting_does_not() {
        let clock = Clock::start(Work::Thread);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let (wall, cpu) = clock.passed();
        assert!(wall >= 0.05 && cpu.is_some_and(|cpu| cpu < 0.04), "{wall} {cpu:?}");
    }
}
