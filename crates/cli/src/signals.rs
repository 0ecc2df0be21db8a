//! Ctrl-C and its relatives.
//!
//! A signal that was ignored when the program started stays ignored: `nohup` does that to the end of a terminal, and
//! shells to Ctrl-C for what runs in the background.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::flags::RunArgs;
use crate::screen;

/// Some programs send a signal to a process and to its group, which is one wish.
const ONE_WISH: Duration = Duration::from_millis(500);

/// What signals and a run tell each other.
#[derive(Clone, Default)]
pub(crate) struct Wish {
    /// Somebody wants the run to stop.
    pub(crate) stop: Arc<AtomicBool>,
    trained: Arc<AtomicBool>, // no pass is left that could be stopped
    waits: Arc<AtomicBool>,   // for somebody who may never come
}

impl Wish {
    /// Passes are over and the model is written. To a file that takes a moment, which is worth while; a pipe waits
    /// until it is read, so from now on a signal ends the program as if nobody had listened.
    pub(crate) fn trained(&self, model: &Path) {
        let waits = model.metadata().is_ok_and(|m| !m.is_file());
        self.waits.store(waits, Ordering::Relaxed);
        self.trained.store(true, Ordering::Relaxed);
    }
}

/// The first Ctrl-C, or SIGTERM, asks for an end, the second does not ask.
pub(crate) fn stop_on_ctrl_c(args: &RunArgs) -> anyhow::Result<Wish> {
    let (wish, checkpoints, quiet) = (Wish::default(), args.checkpoint.is_some(), args.quiet);
    let (heard, first) = (wish.clone(), OnceLock::new());
    listen(move || {
        let since = first.get_or_init(Instant::now).elapsed();
        let again = heard.stop.swap(true, Ordering::Relaxed);
        if again && since <= ONE_WISH {
            return false;
        }
        if again || heard.waits.load(Ordering::Relaxed) {
            return true;
        }
        if !quiet {
            let what = match (heard.trained.load(Ordering::Relaxed), checkpoints) {
                (true, _) => "writing the model",
                (false, true) => "stopping after this pass and keeping the model",
                (false, false) => "stopping soon and keeping the model",
            };
            screen::note(&format!("\n{what}; press again to quit without one"));
        }
        false
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(wish)
}

/// The first Ctrl-C raises the flag, the second ends the program: for work that is kept piece by piece.
pub(crate) fn stop_quietly(quiet: bool) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let (heard, first) = (Arc::clone(&stop), OnceLock::new());
    listen(move || {
        let since = first.get_or_init(Instant::now).elapsed();
        let again = heard.swap(true, Ordering::Relaxed);
        if !again && !quiet {
            screen::note("\nstopping; what has ended is kept");
        }
        again && since > ONE_WISH
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// Calls `ends` at each signal; if it says so, the program ends as it would have without us.
#[cfg(unix)]
fn listen(ends: impl Fn() -> bool + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if ends() {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(1);
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn listen(ends: impl Fn() -> bool + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        if ends() {
            std::process::exit(1);
        }
    })
}

/// The signals that Linux says a process ignores, signal n as bit n - 1; none where that cannot be read.
#[cfg(unix)]
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn masks_are_read() {
        assert_eq!(ignored("Name:\tx\nSigBlk:\t00000000000000ff\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("SigIgn:\tnone\n"), 0);
        assert_eq!(ignored(""), 0);
    }
}
