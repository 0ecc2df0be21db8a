//! Large blocks of memory go back to the system when they are freed, where a limit is to be kept.
//!
//! glibc keeps blocks of up to 32 MB for itself once some of that size were freed, and they stay in memory. With a fixed
//! bound larger ones are always mapped and unmapped. Other C libraries do so by themselves.
//!
//! Why this is sound: `mallopt` is glibc's own, takes two numbers, and may be called at any time; what it changes is where
//! blocks are taken from, not what they hold.

/// Gives blocks from 1 MB on back when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(crate) fn give_back() {
    /// From malloc.h.
    const M_MMAP_THRESHOLD: i32 = -3;
    unsafe extern "C" {
        fn mallopt(param: i32, value: i32) -> i32;
    }
    // SAFETY: see the head of the file.
    unsafe { mallopt(M_MMAP_THRESHOLD, 1 << 20) };
}

/// Nothing to do.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}
