//! Ctrl-C and its relatives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::flags::RunArgs;
use crate::screen;

/// The first Ctrl-C, or SIGTERM, asks for an end, the second does not ask.
pub(crate) fn stop_on_ctrl_c(args: &RunArgs) -> anyhow::Result<Arc<AtomicBool>> {
    let (stop, checkpoints, quiet) =
        (Arc::new(AtomicBool::new(false)), args.checkpoint.is_some(), args.quiet);
    let (raised, first) = (Arc::clone(&stop), OnceLock::new());
    ctrlc::set_handler(move || {
        let since = first.get_or_init(Instant::now).elapsed();
        if raised.swap(true, Ordering::Relaxed) {
            // Some programs send a signal to a process and to its group, which is one wish.
            if since > Duration::from_millis(500) {
                std::process::exit(1);
            }
            return;
        }
        if !quiet {
            let when = if checkpoints { "after this pass" } else { "soon" };
            screen::note(&format!(
                "\nstopping {when} and keeping the model; press again to quit without one"
            ));
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
