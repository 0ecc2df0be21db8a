//! Whether standard output was closed when the program started (`seqoia predict ... >&-`).
//!
//! Before `main` Rust opens `/dev/null` in place of what is closed, so that results would be lost without a word, and
//! afterwards this looks like `>/dev/null`, which is a wish. So one look is taken earlier, by a function in the list
//! that the loader calls.
//!
//! `unsafe` because the compiler cannot check what is put into that list: it must be a function with this signature,
//! which it is. It runs before the program, in one thread; it asks the system whether a name exists and stores a
//! flag, and neither needs anything that `main` would set up.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)] // see above

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
// SAFETY: a function that takes and gives nothing, as the list wants it.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = {
    extern "C" fn look() {
        let there = |name| std::fs::symlink_metadata(name).is_ok();
        CLOSED.store(there("/proc/self/fd") && !there("/proc/self/fd/1"), Ordering::Relaxed);
    }
    look
};

/// Whether it was.
pub(crate) fn output() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
